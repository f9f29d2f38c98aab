//! Thumb in ELF files: which functions are Thumb, where their branches go, which of their bytes are
//! data.

use std::path::Path;

use audit::audit::Options;
use audit::audit::audit;
use audit::decode::Isa;
use audit::decode::code::Flow;
use audit::finding::Kind;
use audit::program::Program;
use audit::program::function::Function;
use audit::program::toolchain::{self, Build};
use audit::timing::licence::Effort;
use machine::in_order::Core;

/// Compiles with a compiler of the user's own, or with the usual one for the Cortex-M4.
fn compiled(name: &str, text: &str, cc: Option<&str>) -> Program {
    let bytes = object(name, text, cc);
    Program::parse("thumb.o", &bytes).unwrap_or_else(|error| panic!("{error}"))
}

/// The same, linked to lie at 0x10000.
fn linked(text: &str) -> Program {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let [object_file, program] = ["f.o", "f.elf"].map(|name| folder.path().join(name));
    std::fs::write(&object_file, object("f.s", text, None)).expect("a scratch file");
    let mut command = std::process::Command::new("ld.lld-19");
    command.args(["-e", "f", "-Ttext=0x10000"]).arg("-o").arg(&program).arg(&object_file);
    assert!(command.status().expect("it runs").success(), "{text}");
    let bytes = std::fs::read(&program).expect("what was linked");
    Program::parse("f.elf", &bytes).unwrap_or_else(|error| panic!("{error}"))
}

fn object(name: &str, text: &str, cc: Option<&str>) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join(name);
    std::fs::write(&path, text).expect("a scratch file");
    let build = Build { cc: cc.map(str::to_owned), flags: vec!["-O2".to_owned()], folder: None };
    toolchain::compile(Path::new(&path), Isa::T32, "cortex-m4", &build)
        .unwrap_or_else(|error| panic!("{error}"))
}

fn function(program: &Program, name: &str) -> Function {
    let symbol = program.symbol(name).unwrap_or_else(|error| panic!("{error}"));
    let decoded = program.decode(symbol).unwrap_or_else(|error| panic!("{error}"));
    assert!(decoded.undecodable.is_empty(), "{name}: {:?}", decoded.undecodable);
    decoded.function
}

fn texts(function: &Function) -> Vec<&str> {
    function.instructions.iter().map(|instruction| instruction.text.as_str()).collect()
}

const HEAD: &str = ".syntax unified\n.cpu cortex-a7\n";

/// A function of assembly.
fn defined(name: &str, set: &str, body: &str) -> String {
    format!(
        ".{set}\n.global {name}\n.type {name}, %function\n{name}:\n{body}\n.size {name}, .-{name}\n"
    )
}

#[test]
fn a_block_guards_what_follows_it() {
    let body = "cmp r0, #3\nitte eq\naddeq r0, r0, #1\nmuleq r0, r1, r0\nsubne r0, r0, #1\nadds r0, r0, #1\nbx lr";
    let program = compiled("f.s", &format!("{HEAD}{}", defined("f", "thumb", body)), None);
    let f = function(&program, "f");
    assert_eq!(
        texts(&f),
        [
            "cmp r0, #3",
            "itte eq",
            "addeq r0, #1",
            "muleq r0, r1, r0",
            "subne r0, #1",
            "adds r0, #1",
            "bx lr"
        ]
    );
    assert_eq!(
        f.instructions.iter().map(|instruction| instruction.is_guarded()).collect::<Vec<_>>(),
        [false, false, true, true, true, false, false]
    );
    let z = Isa::T32.register("Z").expect("it is a flag");
    let [reads, writes] = [2, 5].map(|idx| {
        let it = &f.instructions[idx];
        (it.reads.iter().any(|read| read.reg == z), it.writes.iter().any(|write| write.reg == z))
    });
    assert_eq!(
        (reads, writes),
        ((true, false), (false, true)),
        "a guarded addition reads flags and sets none"
    );
}

#[test]
fn both_sets_in_one_file_call_each_other() {
    let a = defined("a", "arm", "push {r4, lr}\nblx t\nbl a\npop {r4, pc}");
    let t = defined("t", "thumb", "push {r4, lr}\nblx a\nbl t\nb.w elsewhere");
    let program = compiled("both.s", &format!("{HEAD}{a}{t}"), None);
    assert_eq!(program.isas().into_iter().collect::<Vec<_>>(), [Isa::A32, Isa::T32]);
    for (name, isa, callees) in
        [("a", Isa::A32, &["t", "a"][..]), ("t", Isa::T32, &["a", "t", "elsewhere"][..])]
    {
        let it = function(&program, name);
        assert_eq!(
            (it.isa, it.callees.values().map(String::as_str).collect::<Vec<_>>()),
            (isa, callees.to_vec()),
            "{name}"
        );
    }
}

#[test]
fn a_veneer_changes_the_set_on_its_way() {
    let body = "bx pc\nnop\n.arm\nb elsewhere";
    let program = compiled(
        "veneer.s",
        &format!("{HEAD}.thumb\n.align 2\n{}", defined("v", "thumb", body)),
        None,
    );
    let v = function(&program, "v");
    assert_eq!(
        v.instructions.iter().map(|instruction| instruction.length).collect::<Vec<_>>(),
        [2, 2, 4]
    );
    assert_eq!((v.instructions[0].text.as_str(), v.instructions[0].flow), ("bx pc", Flow::Jump));
    assert_eq!(v.callees.values().collect::<Vec<_>>(), ["elsewhere"]);
}

#[test]
fn branches_of_every_length_lead_where_the_linker_would() {
    // Global labels, so that the assembler leaves every branch to the linker.
    let body = ".global near\nnear: cbz r0, near_too\nbeq.n near\nb.n near\nbeq.w near\nb.w near\nbl near\nnear_too: bx lr\n";
    let program = compiled("near.s", &format!("{HEAD}{}", defined("f", "thumb", body)), None);
    let f = function(&program, "f");
    let targets: Vec<Option<usize>> = (0..6).map(|idx| f.target(idx)).collect();
    assert_eq!(targets, [Some(6), Some(0), Some(0), Some(0), Some(0), None], "{:?}", texts(&f));
    assert_eq!(f.callees.len(), 1, "{:?}", f.callees);
}

#[test]
fn tables_and_constants_between_instructions_are_none() {
    let table = "tbb [pc, r0]\n1: .byte (2f-1b)/2, (3f-1b)/2\n2: ldr r0, =0x12345678\nbx lr\n3: ldr r0, =elsewhere\nbx lr\n.ltorg";
    let program = compiled("table.s", &format!("{HEAD}{}", defined("f", "thumb", table)), None);
    let f = function(&program, "f");
    assert_eq!(
        texts(&f),
        ["tbb [pc, r0]", "ldr r0, [pc, #8]", "bx lr", "ldr r0, [pc, #8]", "bx lr"]
    );
    assert_eq!(
        f.constants.values().copied().collect::<Vec<_>>(),
        [0x1234_5678],
        "what a linker writes is not known"
    );
}

#[test]
fn halves_of_an_address_are_not_known_before_the_linker() {
    let body = "movw r0, #:lower16:elsewhere\nmovt r0, #:upper16:elsewhere\nmovw r1, #7\nbx lr";
    let program = compiled("halves.s", &format!("{HEAD}{}", defined("f", "thumb", body)), None);
    let f = function(&program, "f");
    assert_eq!(
        f.instructions
            .iter()
            .map(|instruction| instruction.operation.is_some())
            .collect::<Vec<_>>(),
        [false, false, true, false]
    );
}

#[test]
fn a_call_into_the_function_itself_is_a_long_jump() {
    let long = |end: &str| {
        let program = compiled(
            "far.s",
            &format!(
                "{HEAD}{}",
                defined("f", "thumb", &format!("push {{r4, lr}}\nbl 1f\nmovs r0, #1\n1: {end}"))
            ),
            None,
        );
        function(&program, "f").instructions[1].flow
    };
    assert!(matches!(long("pop {r4, pc}"), Flow::Branch { is_conditional: false, .. }));
    // What returns through the link may be called by the function itself.
    assert!(matches!(long("bx lr"), Flow::Call { .. }));
}

#[test]
fn objects_of_three_compilers_are_read() {
    let source = "int table(int n, int *p) {\n switch (n) { case 0: return p[1]; case 1: return p[3] * 7; case 2: return p[5] & 9;\n\
                  case 3: return p[7] + n; case 4: return p[1] ^ 77; case 5: return p[4] / 3; }\n return n; }\n\
                  extern int other(int);\nint calls(int *p, int n) { return table(n, p) + other(n > 3 ? n : 9); }\n";
    for cc in [None, Some("clang-19"), Some("arm-linux-gnueabi-gcc -mthumb -march=armv7-a")] {
        let program = compiled("three.c", source, cc);
        assert_eq!(program.isa, Isa::T32, "{cc:?}");
        let calls = function(&program, "calls");
        assert!(
            calls.callees.values().any(|callee| callee == "other"),
            "{cc:?}: {:?}",
            calls.callees
        );
        assert!(
            calls.frames.iter().flatten().any(|frame| frame.line == 6),
            "{cc:?}: lines are those of the source"
        );
        function(&program, "table");
    }
}

/// What is needless in a function of assembly: kind and reason.
fn needless(body: &str) -> Vec<(Kind, String)> {
    needless_in(&compiled("f.s", &format!("{HEAD}{}", defined("f", "thumb", body)), None))
}

fn needless_in(program: &Program) -> Vec<(Kind, String)> {
    let symbol = program.symbol("f").unwrap_or_else(|error| panic!("{error}"));
    let options =
        Options { avoid: Vec::new(), through: Vec::new(), effort: Effort::Bounds, recorded: None };
    let audit = audit(program, symbol, "cortex-a9", None, &options)
        .unwrap_or_else(|error| panic!("{error}"));
    audit.findings.into_iter().map(|finding| (finding.kind, finding.why)).collect()
}

#[test]
fn constants_that_one_instruction_makes_or_none() {
    let loaded = |value: &str| {
        let found = needless(&format!(
            "ldr r0, 1f\nadd.w r0, r0, r1, lsl #2\nbx lr\n.align 2\n1: .word {value}"
        ));
        found
            .iter()
            .filter(|pair| pair.0 == Kind::SplitImmediate)
            .map(|pair| pair.1.clone())
            .collect::<Vec<_>>()
    };
    for value in
        ["0xffff", "0x1fe0", "0xff00ff00", "0x00ab00ab", "0x10001", "0x5b5b5b5b", "0xffffff00"]
    {
        assert_eq!(
            loaded(value),
            [format!("{value} is loaded, and one instruction would make it").replace("0x00", "0x")]
        );
    }
    for value in ["0x12345678", "0x1ff00000", "0xab00cd00"] {
        assert!(loaded(value).is_empty(), "{value}");
    }
    // ARMv6-M has bytes only, and nothing else here is newer.
    assert!(needless("ldr r0, 1f\nbx lr\n.align 2\n1: .word 0xffff").is_empty());
}

/// How far objects lie from one another, the linker decides; devices lie where the source says.
#[test]
fn addresses_of_the_program_are_no_constants_of_the_source() {
    let loaded = |first: &str, second: &str| {
        let body = format!(
            "ldr r0, 1f\nldr r1, 2f\nadd.w r0, r0, r1, lsl #2\nbx lr\n.align 2\n\
             1: .word {first}\n2: .word {second}\n3: .word 0, 0"
        );
        let found = needless_in(&linked(&format!("{HEAD}{}", defined("f", "thumb", &body))));
        found.into_iter().filter(|pair| pair.0 == Kind::SplitImmediate).count()
    };
    assert_eq!(loaded("0x40012404", "0x40012504"), 1);
    assert_eq!(loaded("3f", "3f + 4"), 0);
}

#[test]
fn constants_in_two_steps() {
    let found = needless("movw r0, #0x5678\nmovt r0, #0x9abc\nbx lr");
    assert_eq!(
        found[0].1,
        "0x9abc5678 takes two instructions: an immediate of Thumb is eight bits, in one place or repeated, or the lower sixteen"
    );
    let found = needless("bic r0, r0, #0xff0\nbic r0, r0, #15\nbx lr");
    assert_eq!(
        found[0].1,
        "clearing the bits of 0xfff takes two instructions: `bfc` clears neighbours in one"
    );
    // ARMv6-M; a byte it makes at once, so the first part is wanted by itself.
    let found = needless("movs r0, #200\nadds r0, #100\nbx lr");
    assert_eq!(found[0].1, "0x12c takes two instructions: an immediate of ARMv6-M is eight bits");
    assert!(needless("movs r0, #100\nstrh r0, [r1]\nadds r0, #100\nbx lr").is_empty());
    // What a linker writes may be any address.
    assert!(
        needless("movw r0, #:lower16:elsewhere\nmovt r0, #:upper16:elsewhere\nbx lr").is_empty()
    );
}

#[test]
fn what_else_is_needless_in_thumb() {
    let kinds = |body: &str| needless(body).into_iter().map(|pair| pair.0).collect::<Vec<_>>();
    assert_eq!(kinds("ldrb r0, [r0]\nuxtb r0, r0\nbx lr"), [Kind::RedundantExtension]);
    assert_eq!(kinds("movs r3, #1\nldr r3, [r0]\nmov r0, r3\nbx lr"), [Kind::DeadValue]);
    // In a block the value may be the one from before.
    assert!(kinds("movs r3, #1\ncmp r0, #0\nit eq\nmoveq r3, #2\nmov r0, r3\nbx lr").is_empty());
    assert_eq!(
        kinds("add.w r0, r0, r1\ncmp r0, #0\nbeq.n 1f\nmovs r0, #7\n1: bx lr"),
        [Kind::FlagIdiom]
    );
    // ARMv6-M has no `movs` from a high register.
    assert!(kinds("mov r0, r8\ncmp r0, #0\nbeq.n 1f\nmovs r0, #7\n1: bx lr").is_empty());
    let spilled = "push {r4, lr}\nsub sp, #8\nstr r0, [sp, #4]\nbl g\nldr r0, [sp, #4]\nadd sp, #8\npop {r4, pc}";
    assert_eq!(kinds(spilled), [Kind::Spill, Kind::Reload]);
}

/// Why instructions of a function of assembly wait: who, and for what.
fn waits(cpu: &str, body: &str) -> Vec<(String, String)> {
    let program = compiled("f.s", &format!("{HEAD}{}", defined("f", "thumb", body)), None);
    let symbol = program.symbol("f").unwrap_or_else(|error| panic!("{error}"));
    let core = Core::bundled(cpu).expect("it is bundled");
    let options =
        Options { avoid: Vec::new(), through: Vec::new(), effort: Effort::Search, recorded: None };
    let audit = audit(&program, symbol, cpu, Some(&core), &options)
        .unwrap_or_else(|error| panic!("{error}"));
    let stalls = audit.findings.iter().filter(|finding| finding.kind == Kind::Stall);
    stalls.map(|stall| (stall.instruction.clone(), stall.why.clone())).collect()
}

/// Only one of the two halves of a block is done: neither waits for the other.
#[test]
fn the_halves_of_a_block_do_not_wait_for_each_other() {
    let waits = |cpu: &str, block: &str| {
        let all = waits(cpu, &format!("cmp r2, #0\n{block}\nmov r0, r3\nbx lr"));
        all.into_iter()
            .filter(|pair| pair.0.starts_with("ldr") && pair.1.contains("mov"))
            .map(|pair| pair.0)
            .collect::<Vec<_>>()
    };
    let none: [&str; 0] = [];
    assert_eq!(waits("cortex-m4", "ite ne\nmovne r3, #0\nldreq r3, [r3, r2, lsl #2]"), none);
    assert_eq!(
        waits("cortex-m4", "itt eq\nmoveq r3, #0\nldreq r3, [r3, r2, lsl #2]"),
        ["ldreq.w r3, [r3, r2, lsl #2]"]
    );
    // `hi` and `eq`, two blocks, on the Cortex-R5.
    assert_eq!(waits("cortex-r5", "it hi\nmovhi r3, #0\nit eq\nldreq r3, [r3, #4]"), none);
    assert_eq!(
        waits("cortex-r5", "it hs\nmovhs r3, #0\nit eq\nldreq r3, [r3, #4]"),
        ["ldreq r3, [r3, #4]"]
    );
}

/// A compiler could move a block as a whole, and no order here does: where one is on the path, it
/// is said beside what no order avoids.
#[test]
fn what_stays_because_of_a_block_is_said_to() {
    let prevents = |cpu: &str, body: &str| {
        let program = compiled("f.s", &format!("{HEAD}{}", defined("f", "thumb", body)), None);
        let symbol = program.symbol("f").unwrap_or_else(|error| panic!("{error}"));
        let core = Core::bundled(cpu).expect("it is bundled");
        let options = Options {
            avoid: Vec::new(),
            through: Vec::new(),
            effort: Effort::Search,
            recorded: None,
        };
        let audit = audit(&program, symbol, cpu, Some(&core), &options)
            .unwrap_or_else(|error| panic!("{error}"));
        let all = audit.findings.into_iter().filter(|finding| finding.kind == Kind::Stall);
        all.filter_map(|finding| finding.prevents).collect::<Vec<_>>()
    };
    let none = "nothing: no order of these instructions is faster";
    let blocked = format!("{none}; what `it` guards stays where it is");
    let wait = "ldr r1, [r0]\nldr r1, [r1]";
    assert_eq!(
        prevents("cortex-m4", &format!("{wait}\ncmp r1, #0\nit eq\nmoveq r1, #1\nbx lr"))[0],
        blocked
    );
    assert_eq!(prevents("cortex-m4", &format!("{wait}\nbx lr"))[0], none);
    // On another core, in a longer block, and where a wait goes elsewhere: one of two can be
    // filled.
    let two = "ldr r1, [r0]\nadd r2, r1, #1\nldr r3, [r2]\nadd r3, r3, #1\nmov ip, #1";
    let kept = "nothing: an order as fast as any waits here too";
    assert!(prevents("cortex-r5", &format!("{two}\nbx lr")).iter().any(|prevent| prevent == kept));
    let with_block = prevents(
        "cortex-r5",
        &format!("{two}\ncmp r2, #0\nite ne\nmovne r0, #1\nmoveq r0, #2\nbx lr"),
    );
    assert!(
        with_block.iter().any(|it| *it == format!("{kept}; what `it` guards stays where it is")),
        "{with_block:?}"
    );
}

/// ARMv6-M's compilers call libgcc, which jumps by the table behind the call.
#[test]
fn tables_of_libgcc_are_read() {
    let cases = |kind: &str, table: &str, n: usize| {
        let labels: String =
            (0..n).map(|nth| format!("c{nth}: movs r0, #{nth}\nbx lr\n")).collect();
        let body = format!(
            "push {{r4, lr}}\nbl __gnu_thumb1_case_{kind}\n{table}\n{labels}pop {{r4, pc}}"
        );
        let head = ".syntax unified\n.cpu cortex-m0\n";
        let program = compiled("f.s", &format!("{head}{}", defined("f", "thumb", &body)), None);
        let function = function(&program, "f");
        let jump = function.at(function.instructions[1].address).expect("the call");
        assert_eq!(function.instructions[jump].flow, Flow::Jump, "{kind}");
        let places = function.cases_of(jump).expect("its table is read");
        let texts: Vec<&str> =
            places.iter().map(|place| function.instructions[*place].text.as_str()).collect();
        texts.join("; ")
    };
    // The first label is no row of the table, and a byte fills it up.
    let rows = |directive: &str, from: &str, labels: &[&str]| {
        let rows = labels.iter().map(|label| format!("(({label}) - {from}) / 2"));
        format!("t: .{directive} {}\n.p2align 1", rows.collect::<Vec<_>>().join(", "))
    };
    let two = "movs r0, #1; movs r0, #2";
    assert_eq!(cases("uqi", &rows("byte", "t", &["c2", "c1", "c2"]), 3), two);
    assert_eq!(cases("sqi", &rows("byte", "t", &["c1", "c2"]), 3), two);
    assert_eq!(cases("uhi", &rows("short", "t", &["c1", "c2", "c1"]), 3), two);
    assert_eq!(cases("shi", &rows("short", "t", &["c2", "c1"]), 3), two);
    let words = ".p2align 2\nt: .word c1 - t, c2 - t";
    assert_eq!(cases("si", words, 3), two);
}

/// From ARMv7-M on an instruction does it: two tables in a function are told apart.
#[test]
fn tables_behind_their_jumps_are_read() {
    let body = "cmp r0, #2\nbhi 9f\ntbb [pc, r0]\n\
        t: .byte (c1 - t) / 2, (c0 - t) / 2, (c1 - t) / 2\n.p2align 1\n\
        c0: movs r0, #10\nbx lr\nc1: cmp r1, #1\nbhi 9f\ntbh [pc, r1, lsl #1]\n\
        u: .short (d1 - u) / 2, (d2 - u) / 2\n\
        d0: movs r0, #20\nbx lr\nd1: movs r0, #21\nbx lr\nd2: movs r0, #22\nbx lr\n\
        9: movs r0, #0\nbx lr";
    let head = ".syntax unified\n.cpu cortex-m4\n";
    let program = compiled("f.s", &format!("{head}{}", defined("f", "thumb", body)), None);
    let function = function(&program, "f");
    let text = |place: &usize| function.instructions[*place].text.as_str();
    let of = |mnemonic: &str| {
        let jump = function.instructions.iter().position(|it| it.text.starts_with(mnemonic));
        let cases = function.cases_of(jump.expect("it is there")).expect("its table is read");
        cases.iter().map(text).collect::<Vec<_>>().join("; ")
    };
    assert_eq!(of("tbb"), "movs r0, #10; cmp r1, #1");
    assert_eq!(of("tbh"), "movs r0, #21; movs r0, #22");
    // A base other than pc: the table may be anywhere.
    let elsewhere = "tbb [r1, r0]\nt: .byte 1, 1\nmovs r0, #1\nbx lr";
    let program = compiled("g.s", &format!("{head}{}", defined("f", "thumb", elsewhere)), None);
    assert!(self::function(&program, "f").cases.is_empty());
}

/// A part of the function that keeps the link is called.
#[test]
fn a_subroutine_inside_a_function_is_no_long_jump() {
    let flows = |body: &str| {
        let head = ".syntax unified\n.cpu cortex-m0\n";
        let program = compiled("f.s", &format!("{head}{}", defined("f", "thumb", body)), None);
        let function = function(&program, "f");
        let all = function.instructions.into_iter().filter(|one| one.text.starts_with("bl "));
        all.map(|found| matches!(found.flow, Flow::Call { .. })).collect::<Vec<bool>>()
    };
    let part = "1: push {lr}\nadds r0, #1\npop {pc}";
    assert_eq!(flows(&format!("push {{lr}}\nbl 1f\nmovs r1, r0\npop {{pc}}\n{part}")), [true]);
    // Called twice, and entered where something branches to as well.
    let twice = "push {lr}\nbl 1f\n2: cmp r0, #9\nbl 1f\nblt 2b\npop {pc}";
    assert_eq!(flows(&format!("{twice}\n{part}")), [true, true]);
    // Its way back is in a register.
    let moved = "push {lr}\nbl 1f\nmovs r1, r0\npop {pc}\n1: mov r3, lr\nadds r0, #1\nmov pc, r3";
    assert_eq!(flows(moved)[..], [true]);
    // A long jump: what is behind it is led to by the branch over it.
    let far = "push {lr}\nbeq 2f\nbl 1f\n2: movs r1, r0\npop {pc}\n1: adds r0, #1\npop {pc}";
    assert_eq!(flows(far), [false]);
}

/// A callee gets the address of a variable in a case alone: it cannot be in a register.
#[test]
fn what_is_passed_by_address_in_a_case_has_to_be_in_the_frame() {
    let text = "int get(int *to); int put(int);\n\
        int f(int kind, int n)\n{\n  int local = n;\n  switch (kind) {\n\
        case 0: return put(1);\n case 1: return put(n + 3);\n case 2: return put(n * 5);\n\
        case 3: get(&local); return local;\n case 4: return put(n - 7);\n\
        case 5: return put(n ^ 9);\n default: return put(0);\n  }\n}\n";
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join("switch.c");
    std::fs::write(&path, text).expect("a scratch file");
    let build = Build { cc: None, flags: vec!["-Os".to_owned()], folder: None };
    let bytes = toolchain::compile(Path::new(&path), Isa::T32, "cortex-m0plus", &build)
        .unwrap_or_else(|error| panic!("{error}"));
    let program = Program::parse("switch.o", &bytes).unwrap_or_else(|error| panic!("{error}"));
    let function = function(&program, "f");
    let helper = function.callees.values().find(|name| name.starts_with("__gnu_thumb1_case_"));
    assert!(helper.is_some(), "it is compiled with a table of libgcc");
    let all = needless_in(&program);
    assert!(all.iter().all(|found| found.0 != Kind::Spill), "{all:?}");
    assert_eq!(function.cases.values().next().map(Vec::len), Some(6), "one is not in the table");
}
