//! Worked examples of the papers, and the effects of both schedulers on the bundled primitives.

use crate::support;

use std::rc::Rc;

use cipher::emit_c::Arch;
use cipher::ir::{Body, Dir, Eq, Node, Op, Operand, Program, Ref, Stmt, Ty, VarId};
use cipher::native::Cc;
use cipher::options::{Fixslice, Schedule, Slicing, Unroll};
use cipher::passes::schedule_mslice::schedule_mslice;
use cipher::recipe::Recipe;
use cipher::syntax::Loc;
use cipher::target::Target;
use cipher::unit::Subject;
use machine::{Class, Kind, Machine};
use support::inorder::{Step, timeline};

const WORD: Ty = Ty { m: 32, dir: Dir::V };

/// A node of equations `name = a op b` over parameters and each other; every defined name is also
/// a result, so that all values stay live to the end.
fn node(params: &[&str], eqs: &[(&str, Op, &str, &str)]) -> Node {
    let mut node = Node::new("example");
    for name in params {
        let var = node.var(Rc::from(*name), 1, WORD);
        node.params.push(var);
    }
    let mut stmts = Vec::new();
    for (name, op, a, b) in eqs {
        let at = |node: &Node, name: &str| {
            let var = node
                .vars
                .iter()
                .position(|v| &*v.name == name)
                .unwrap_or_else(|| panic!("{name} is defined"));
            Operand::Ref(Ref::at(VarId(var as u32), 0))
        };
        let args = vec![at(&node, a), at(&node, b)];
        let dst = node.var(Rc::from(*name), 1, WORD);
        stmts.push(Stmt::Eq(Eq {
            dst: Ref::at(dst, 0),
            op: op.clone(),
            args: args.into(),
            loc: Loc::default(),
        }));
    }
    node.body = Body::Stmts(stmts);
    node
}

fn names(node: &Node) -> Vec<String> {
    let Body::Stmts(stmts) = &node.body else { panic!("a node of equations") };
    let name = |s: &Stmt| {
        if let Stmt::Eq(eq) = s {
            node.vars[eq.dst.var.idx()].name.to_string()
        } else {
            String::new()
        }
    };
    stmts.iter().map(name).collect()
}

fn two_wide() -> Target {
    Target { machine: Machine::in_order(2), kind: Kind::General, n_registers: 32 }
}

/// Cycles of the node's equations on two equal units, in order.
fn cycles(node: &Node) -> u64 {
    let Body::Stmts(stmts) = &node.body else { panic!("a node of equations") };
    let machine = Machine::in_order(2);
    let mut writer = std::collections::HashMap::new();
    let mut steps = Vec::new();
    for (at, stmt) in stmts.iter().enumerate() {
        let Stmt::Eq(eq) = stmt else { panic!("equations only") };
        let var = |a: &Operand| if let Operand::Ref(r) = a { Some(r.var) } else { None };
        let reads: Vec<usize> =
            eq.args.iter().filter_map(|a| var(a).and_then(|v| writer.get(&v).copied())).collect();
        steps.push(Step::new(&reads, machine.operation(Kind::General, Class::Logic)));
        writer.insert(eq.dst.var, at);
    }
    timeline(&machine, &steps).cycles
}

#[test]
fn u_v_w_x_takes_2_cycles_instead_of_3() {
    let eqs = [
        ("u", Op::Add, "a", "b"),
        ("v", Op::Add, "u", "two"),
        ("w", Op::Add, "c", "d"),
        ("x", Op::Add, "e", "f"),
    ];
    let mut node = node(&["a", "b", "c", "d", "e", "f", "two"], &eqs);
    assert_eq!(cycles(&node), 3);
    schedule_mslice(&mut node, 1, &two_wide());
    assert_eq!(names(&node), ["u", "w", "v", "x"]);
    assert_eq!(cycles(&node), 2);
}

#[test]
fn a_window_of_2_moves_c1_and_a_window_of_1_does_not() {
    let eqs = [
        ("a1", Op::Xor, "x1", "x2"),
        ("a2", Op::Xor, "x3", "x4"),
        ("b1", Op::Xor, "a1", "x5"),
        ("b2", Op::Xor, "a2", "x6"),
        ("c1", Op::Xor, "x7", "x8"),
        ("c2", Op::Xor, "c1", "x9"),
    ];
    let params = ["x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9"];
    let mut one = node(&params, &eqs);
    assert_eq!(cycles(&one), 4);
    schedule_mslice(&mut one, 1, &two_wide());
    assert_eq!(names(&one), ["a1", "a2", "b1", "b2", "c1", "c2"]);
    let mut two = node(&params, &eqs);
    schedule_mslice(&mut two, 2, &two_wide());
    assert_eq!(names(&two), ["a1", "a2", "c1", "b1", "b2", "c2"]);
    assert_eq!(cycles(&two), 3);
}

#[test]
fn in_a_narrow_text_the_longest_path_goes_first() {
    let eqs = [
        ("s", Op::Xor, "a", "b"),
        ("p1", Op::Xor, "s", "x1"),
        ("p2", Op::Xor, "s", "x2"),
        ("p3", Op::Xor, "s", "x3"),
        ("q", Op::Xor, "s", "x4"),
        ("r", Op::Xor, "q", "x5"),
        ("t", Op::Xor, "r", "x6"),
        ("u", Op::Xor, "t", "x7"),
    ];
    let mut node = node(&["a", "b", "x1", "x2", "x3", "x4", "x5", "x6", "x7"], &eqs);
    assert_eq!(cycles(&node), 6);
    schedule_mslice(&mut node, 10, &two_wide());
    assert_eq!(names(&node), ["s", "q", "p1", "r", "p2", "t", "p3", "u"]);
    assert_eq!(cycles(&node), 5);
}

fn compiled(
    name: &str,
    slicing: Slicing,
    unroll: Unroll,
    schedule: Schedule,
    dump_after: &str,
) -> String {
    let subject = Subject::bundled(name).expect("it is bundled").expect("it is right");
    let mut recipe = Recipe::new(slicing, Arch::Avx2, Cc::Clang, unroll, "-O3");
    recipe.schedule = schedule;
    recipe.dump_after = Some(dump_after.into());
    recipe.make(&subject).expect("it compiles").compiled.dump.expect("the pass runs")
}

/// The lines of one node of a dump.
fn body<'a>(dump: &'a str, node: &str) -> Vec<&'a str> {
    let start = format!("node {node}(");
    let lines = dump.lines().skip_while(|l| !l.contains(&start)).skip(1);
    lines.take_while(|l| l.starts_with(' ')).map(str::trim).collect()
}

#[test]
fn rectangle_adds_four_key_bits_before_each_s_box() {
    let dump = compiled(
        "rectangle-80",
        Slicing::Bit,
        Unroll::Yes,
        Schedule::Bitslice,
        "schedule_bitslice",
    );
    let kinds: Vec<bool> = body(&dump, "rectangle").iter().map(|l| l.contains("sbox")).collect();
    // Four additions of a key bit, an S-box, and so on; in the last round the final addition of a
    // key follows each S-box at once.
    let expected: Vec<bool> =
        (0..24 * 16).flat_map(|_| [false, false, false, false, true]).collect();
    assert!(kinds[..expected.len()] == expected, "not in the order of the listing");
    let last: Vec<usize> =
        kinds[expected.len()..].split(|is_call| *is_call).map(<[bool]>::len).collect();
    assert_eq!(last, [vec![4], vec![8; 15], vec![4]].concat());
}

/// How often neighbouring lines belong to different threads of computation, for the given labels.
fn changes(labels: &[usize]) -> usize {
    labels.windows(2).filter(|w| w[0] != w[1]).count()
}

/// For each equation the only root that it descends from; equations with several
/// roots are left out.
fn threads(program: &Program, roots: impl Fn(usize) -> Option<usize>) -> Vec<usize> {
    let node = &program.nodes[program.entries[0].idx()];
    let Body::Stmts(stmts) = &node.body else { panic!("a node of equations") };
    let mut of: std::collections::HashMap<VarId, Option<usize>> = std::collections::HashMap::new();
    let mut labels = Vec::new();
    for stmt in stmts {
        let Stmt::Eq(eq) = stmt else { continue };
        let mut own: Vec<Option<usize>> = Vec::new();
        for arg in &eq.args {
            if let Operand::Ref(place) = arg {
                let label = if node.params.contains(&place.var) {
                    roots(place.index.base() as usize)
                } else {
                    of.get(&place.var).copied().flatten()
                };
                own.push(label);
            }
        }
        own.dedup();
        let label = if own.len() == 1 { own[0] } else { None };
        of.insert(eq.dst.var, label);
        labels.extend(label);
    }
    labels
}

fn program(name: &str, schedule: Schedule) -> Program {
    sliced(name, Slicing::Vertical, schedule)
}

fn sliced(name: &str, slicing: Slicing, schedule: Schedule) -> Program {
    let subject = Subject::bundled(name).expect("it is bundled").expect("it is right");
    let mut recipe = Recipe::new(slicing, Arch::Avx2, Cc::Clang, Unroll::Yes, "-O3");
    recipe.schedule = schedule;
    recipe.make(&subject).expect("it compiles").compiled.program
}

#[test]
fn chacha20s_four_quarter_rounds_are_interleaved() {
    // Word i of the state belongs to column i mod 4 in the first quarter rounds.
    let off = threads(&program("chacha20", Schedule::None), |i| Some(i % 4));
    let on = threads(&program("chacha20", Schedule::Mslice), |i| Some(i % 4));
    let n = off.len().min(48);
    assert!(
        changes(&off[..n]) <= 4,
        "the text has one quarter round after the other: {:?}",
        &off[..n]
    );
    assert!(changes(&on[..n]) >= 3 * n / 4, "the schedule interleaves them: {:?}", &on[..n]);
}

#[test]
fn aces_three_simeck_boxes_are_interleaved() {
    // Words 0, 1 are A, 4, 5 are C, 8, 9 are E.
    let root = |i: usize| [Some(0), None, Some(1), None, Some(2)][i / 2];
    let off = threads(&program("ace", Schedule::None), root);
    let on = threads(&program("ace", Schedule::Mslice), root);
    let n = off.len().min(60);
    assert!(changes(&off[..n]) <= 4, "the text has one box after the other: {:?}", &off[..n]);
    assert!(changes(&on[..n]) >= n / 2, "the schedule mixes them: {:?}", &on[..n]);
}

/// The operations of the entry in order.
fn ops(program: &Program) -> Vec<&Op> {
    let Body::Stmts(stmts) = &program.nodes[program.entries[0].idx()].body else {
        panic!("a node of equations")
    };
    stmts.iter().filter_map(|s| if let Stmt::Eq(eq) = s { Some(&eq.op) } else { None }).collect()
}

#[test]
fn aes_shuffles_of_shift_rows_are_mixed_with_other_steps() {
    // The runs of operations of one execution unit, the shuffles.
    let runs = |program: &Program| {
        let is_shuffle: Vec<bool> =
            ops(program).iter().map(|op| matches!(op, Op::Shuffle(_))).collect();
        let runs: Vec<usize> =
            is_shuffle.split(|shuffle| !shuffle).map(<[bool]>::len).filter(|n| *n > 0).collect();
        runs
    };
    let with_shuffles = |schedule| {
        let aes = Subject::bundled("aes-128").expect("it is bundled").expect("it is right");
        let mut recipe = Recipe::new(Slicing::Horizontal, Arch::Avx2, Cc::Gcc, Unroll::Yes, "-O1");
        (recipe.schedule, recipe.fixslice) = (schedule, Fixslice::No);
        recipe.make(&aes).expect("it compiles").compiled.program
    };
    let off = runs(&with_shuffles(Schedule::None));
    let on = runs(&with_shuffles(Schedule::Mslice));
    assert_eq!(off.iter().sum::<usize>(), on.iter().sum::<usize>());
    assert!(
        off.iter().filter(|n| **n >= 8).count() >= 10,
        "the text has the eight shuffles of each round in a row: {off:?}"
    );
    assert!(
        on.iter().filter(|n| **n >= 8).count() == 0,
        "the schedule puts other steps between them: {on:?}"
    );
}

#[test]
fn clydes_lboxes_begin_before_the_s_box_has_ended() {
    const N_ROUNDS: usize = 12;
    // In how many rounds the first rotation, which is of an lbox, comes before the last
    // conjunction, which is of the S-box.
    let overlapped = |program: &Program| {
        let ops = ops(program);
        let at =
            |kind: fn(&Op) -> bool| (0..ops.len()).filter(|at| kind(ops[*at])).collect::<Vec<_>>();
        let rotations = at(|op| matches!(op, Op::Rotl(_)));
        let conjunctions = at(|op| matches!(op, Op::And | Op::Or | Op::AndNot));
        let (n_rotations, n_conjunctions) =
            (rotations.len() / N_ROUNDS, conjunctions.len() / N_ROUNDS);
        assert!(
            n_rotations > 0 && n_conjunctions > 0,
            "{n_rotations} rotations, {n_conjunctions} conjunctions a round"
        );
        (0..N_ROUNDS)
            .filter(|r| rotations[r * n_rotations] < conjunctions[(r + 1) * n_conjunctions - 1])
            .count()
    };
    assert_eq!(overlapped(&program("clyde-128", Schedule::None)), 0);
    assert_eq!(overlapped(&program("clyde-128", Schedule::Mslice)), N_ROUNDS);
}

/// A round of four S-boxes in the order of the text, and the words that each output needs.
const ROUNDS: &str = "
table sbox (x : b4) returns (y : b4) { 6, 5, 12, 10, 1, 14, 7, 9, 11, 0, 3, 13, 8, 15, 4, 2 }
node f (x : b64) returns (y : b64)
vars s : b64
let
    forall i in [0, 15] { s[4 * i .. 4 * i + 3] = sbox(x[4 * i .. 4 * i + 3]) }
    forall i in [0, 15] {
        y[4 * i] = s[4 * i] ^ s[4 * i + 3];
        y[4 * i + 1] = s[4 * i + 1] ^ s[4 * i + 2];
        y[4 * i + 2] = s[4 * i + 2] ^ x[4 * i];
        y[4 * i + 3] = s[4 * i + 3] ^ s[4 * i + 1]
    }
tel
";

#[test]
fn depth_computes_each_table_just_before_its_outputs_and_auto_takes_it_for_vectors() {
    let subject =
        Subject::text("rounds.ua", ROUNDS, None).unwrap_or_else(|errors| panic!("{}", errors[0]));
    let cost = |schedule: Schedule, arch: Arch| {
        let mut recipe = Recipe::new(Slicing::Bit, arch, Cc::Gcc, Unroll::Yes, "-O1");
        (recipe.word, recipe.schedule) = (Some(1), schedule);
        let made = recipe.make(&subject).unwrap_or_else(|errors| panic!("{}", errors[0]));
        (
            made.compiled.schedule,
            cipher::passes::estimate::entry(
                &made.compiled.program,
                &recipe.target(),
                recipe.slicing,
            )
            .spills,
        )
    };
    let spills = |schedule: Schedule| cost(schedule, Arch::Avx2).1;
    assert!(
        spills(Schedule::None) > 40.0,
        "64 words do not fit into 16 registers: {}",
        spills(Schedule::None)
    );
    assert_eq!(spills(Schedule::Depth), 0.0, "one table at a time needs no spills");
    assert_eq!(cost(Schedule::Auto, Arch::Avx2).0, Schedule::Depth);
    assert_ne!(
        cost(Schedule::Auto, Arch::X86_64).0,
        Schedule::Depth,
        "general registers keep the order"
    );
}

/// Cycles of the model for 64 of these operations, each on the result of the one before.
fn chain(step: &str, slicing: Slicing, arch: Arch) -> f64 {
    let text = format!(
        "node f(x:u16, k:u16) returns (y:u16)\nvars t:u16[65]\nlet t[0] = x;\nforall i in [0, 63] {{ t[i+1] = {step} }} y = t[64] tel\n"
    );
    let subject =
        Subject::text("chain.ua", &text, None).unwrap_or_else(|errors| panic!("{}", errors[0]));
    let mut recipe = Recipe::new(slicing, arch, Cc::Gcc, Unroll::Yes, "-O1");
    (recipe.schedule, recipe.fixslice) = (Schedule::None, Fixslice::No);
    let made = recipe.make(&subject).unwrap_or_else(|errors| panic!("{}", errors[0]));
    cipher::passes::estimate::entry(&made.compiled.program, &recipe.target(), slicing).cycles
}

#[test]
fn a_shuffle_costs_what_its_c_does() {
    let near = |a: f64, b: f64| (a / b - 1.0).abs() < 0.1;
    // A horizontal word in a general register is rotated by one instruction, as a vertical one is.
    let rotation = chain("t[i] <<< 5", Slicing::Vertical, Arch::X86_64);
    assert!(near(chain("t[i] <<< 5", Slicing::Horizontal, Arch::X86_64), rotation));
    assert!(near(
        chain(
            "Shuffle(t[i], [1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,0])",
            Slicing::Horizontal,
            Arch::X86_64
        ),
        rotation
    ));
    // Two halves that move apart are turned, joined by three operations, and turned.
    let halves = "Shuffle(t[i], [1,2,3,4,5,6,7,0,9,10,11,12,13,14,15,8])";
    let xors = |n: usize, slicing: Slicing, arch: Arch| {
        chain(&format!("t[i]{}", " ^ k".repeat(n)), slicing, arch)
    };
    let of_halves = chain(halves, Slicing::Horizontal, Arch::X86_64);
    assert!(of_halves > 2.5 * rotation, "{of_halves} {rotation}");
    // Vertical words have no shuffle on any target, horizontal ones in vectors have.
    let [v, h] =
        [Slicing::Vertical, Slicing::Horizontal].map(|found| chain(halves, found, Arch::Avx2));
    assert!(v > 2.5 * h && near(h, xors(1, Slicing::Horizontal, Arch::Avx2)), "{v} {h}");
}

#[test]
fn depth_and_auto_give_the_results_without_a_scheduler() {
    for name in ["aes-128", "present-80", "skinny-128-128"] {
        for schedule in [Schedule::Depth, Schedule::Auto] {
            let filter = cipher::suite::Filter {
                names: vec![name.into()],
                slicing: Some(Slicing::Bit),
                arch: Some(Arch::Avx2),
                cc: Some(Cc::Gcc),
                unroll: Some(Unroll::No),
                ..cipher::suite::Filter::default()
            };
            for row in cipher::suite::covering(&filter) {
                let row = cipher::suite::SuiteRow { schedule, opt: "-O1", ..row };
                let outcome = cipher::suite::test(&row).expect("compiler and program run");
                assert!(
                    matches!(
                        outcome,
                        cipher::suite::Outcome::Passed | cipher::suite::Outcome::Skipped(_)
                    ),
                    "{row:?}: {outcome:?}"
                );
            }
        }
    }
}
