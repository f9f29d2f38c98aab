//! A better order as code: what moves, and what never does.

use std::collections::BTreeSet;

use audit::decode::Isa;
use audit::facts::trace::Guide;
use audit::order::lines::{Listing, without_lines};
use audit::order::{NewOrder, is_made, order};
use audit::program::Program;
use audit::program::function::Function;
use audit::program::toolchain::{Build, assembled};
use machine::in_order::Core;

/// The function, what was made, in which order and as text.
type Tried = (Function, Function, NewOrder, String);

const CPU: &str = "cortex-a53";

fn function_of(text: &str) -> Function {
    let object = assembled(&without_lines(text), Isa::A64, CPU, &Build::default());
    let program = Program::parse("test.o", &object.expect("it assembles")).expect("it is ELF");
    let symbol = program.symbol("f").expect("it has one function");
    program.decode(symbol).expect("it is code").function
}

/// A function of these lines.
fn framed(body: &str) -> String {
    format!("\t.text\n\t.global f\n\t.type f, %function\nf:\n{body}\tret\n\t.size f, .-f\n")
}

fn ordered(text: &str, stays: &BTreeSet<usize>) -> Option<Tried> {
    let function = function_of(text);
    let listing = Listing::of(text, &function);
    let core = Core::bundled(CPU).expect("it is bundled");
    let new = order(&function, &listing, &core, &Guide::of(&function), stays)?;
    let better = listing.reordered(&new);
    let made = function_of(&better);
    Some((function, made, new, better))
}

/// The instructions of the better text, one a line.
fn better(body: &str) -> Option<Vec<String>> {
    let (function, made, new, text) = ordered(&framed(body), &BTreeSet::new())?;
    assert!(is_made(&function, &made, &new), "{text}");
    Some(made.instructions.iter().map(|instruction| instruction.text.clone()).collect())
}

/// Where the instruction that begins so stands.
fn place(lines: &[String], begins: &str) -> usize {
    let found = lines.iter().position(|line| line.starts_with(begins));
    found.unwrap_or_else(|| panic!("there is no `{begins}` in {lines:?}"))
}

#[test]
fn what_waits_makes_room_for_what_need_not() {
    let body =
        "\tldr x2, [x0]\n\tadd x2, x2, #1\n\tldr x3, [x1]\n\tadd x3, x3, #1\n\tadd x0, x2, x3\n";
    let lines = better(body).expect("the second load goes up");
    assert!(place(&lines, "ldr x3") < place(&lines, "add x2"), "{lines:?}");
    assert_eq!(better("\tadd x2, x0, #1\n\tadd x3, x1, #1\n"), None, "nothing waits");
}

#[test]
fn a_load_passes_no_store_that_it_may_meet_and_no_barrier() {
    let between = |what: &str| {
        format!(
            "\tldr x2, [x0]\n\tadd x2, x2, #1\n{what}\tldr x3, [x1]\n\tadd x3, x3, #1\n\tadd x0, x2, x3\n"
        )
    };
    for what in ["\tdmb ish\n", "\tldar x4, [x5]\n", "\tisb\n", "\tbl g\n", "\tsvc #0\n"] {
        let lines = better(&between(what));
        let stays = lines.is_none_or(|lines| {
            let name = what.trim().split(' ').next().expect("it has a name");
            place(&lines, "ldr x3") > place(&lines, name)
        });
        assert!(stays, "{what}");
    }
    let stored = better(&between("\tstr x2, [x4]\n"));
    let stays = stored.is_none_or(|lines| place(&lines, "ldr x3") > place(&lines, "str x2"));
    assert!(stays, "the store may write what is loaded");
    // Another object of the same base: it passes.
    let lines = better(
        "\tldr x2, [x0]\n\tadd x2, x2, #1\n\tstr x2, [x1, #8]\n\tldr x3, [x1]\n\tadd x3, x3, #1\n\tadd x0, x2, x3\n",
    );
    let lines = lines.expect("it cannot meet");
    assert!(place(&lines, "ldr x3") < place(&lines, "add x2"), "{lines:?}");
}

#[test]
fn above_an_exit_goes_only_what_does_no_harm_there() {
    let exit = |second: &str| {
        format!(
            "\tldr x2, [x0]\n\tldr x4, [x0, #16]\n\tcbz x2, 1f\n\tldr x3, {second}\n\tadd x3, x3, #1\n\tadd x0, x2, x3\n\tret\n1:\tmov x0, #0\n"
        )
    };
    let proved = better(&exit("[x0, #8]")).expect("it lies between what was read above the exit");
    assert!(place(&proved, "ldr x3") < place(&proved, "cbz"), "{proved:?}");
    // A string may end there, and with it the page.
    let beyond = better(&exit("[x0, #24]"));
    assert!(beyond.is_none_or(|lines| place(&lines, "ldr x3") > place(&lines, "cbz")));
    let unproved = better(&exit("[x1]"));
    assert!(unproved.is_none_or(|lines| place(&lines, "ldr x3") > place(&lines, "cbz")));
    // Its old value is wanted there.
    let wanted = exit("[x0, #8]").replace("mov x0, #0", "mov x0, x3");
    assert!(better(&wanted).is_none_or(|lines| place(&lines, "ldr x3") > place(&lines, "cbz")));
}

#[test]
fn names_of_places_directives_and_macros_are_borders() {
    let apart = |between: &str, after: &str| {
        let body = format!(
            "\tldr x2, [x0]\n\tadd x2, x2, #1\n{between}\tldr x3, [x1]\n\tadd x3, x3, #1\n\tadd x0, x2, x3\n"
        );
        let text = framed(&body) + after;
        ordered(&text, &BTreeSet::new()).map(|(function, made, new, text)| {
            assert!(is_made(&function, &made, &new), "{text}");
            let all = made.instructions.iter().map(|instruction| instruction.text.clone());
            let lines: Vec<String> = all.collect();
            place(&lines, "ldr x3") < place(&lines, "add x2")
        })
    };
    let moves = Some(true);
    assert_eq!(apart("", ""), moves);
    assert_eq!(apart(".Lunused:\n", ""), moves, "a name that nothing uses");
    assert_eq!(apart("// a comment\n", ""), moves);
    assert_ne!(apart("mark:\n", "\t.data\n\t.xword mark\n"), moves, "data names the place");
    assert_ne!(apart("\t.p2align 4\n", ""), moves);
    assert_ne!(apart("#APP\n", ""), moves, "what a person wrote begins");
    assert_ne!(apart("\tadr x5, .\n", ""), moves);
    let two = ".macro two\n\tldr x3, [x1]\n\tadd x3, x3, #1\n.endm\n";
    let body = "\tldr x2, [x0]\n\tadd x2, x2, #1\n\ttwo\n\tadd x0, x2, x3\n";
    let text = two.to_owned() + &framed(body);
    assert!(ordered(&text, &BTreeSet::new()).is_none(), "two of one line stay");
}

#[test]
fn rows_of_the_unwinder_and_lines_of_the_source_move_with_their_instruction() {
    let body = "\t.cfi_startproc\n\t.loc 1 1 1\n\tstp x29, x30, [sp, -32]!\n\t.cfi_def_cfa_offset 32\n\t.loc 1 2 1\n\tldr x2, [x0]\n\t.loc 1 3 1\n\tadd x2, x2, #1\n\tstr x19, [sp, 16]\n\t.cfi_offset 19, -16\n\t.loc 1 4 1\n\tldr x3, [x1]\n\tadd x3, x3, #1\n\tadd x0, x2, x3\n\tldr x19, [sp, 16]\n\tldp x29, x30, [sp], 32\n\t.cfi_restore 19\n";
    let text = framed(body).replace("\tret\n", "\tret\n\t.cfi_endproc\n");
    let text = format!("\t.file 1 \"a.c\"\n{text}");
    let (function, made, new, better) =
        ordered(&text, &BTreeSet::new()).expect("the second load goes up");
    assert!(is_made(&function, &made, &new));
    let lines: Vec<&str> = better.lines().map(str::trim).collect();
    let at = |what: &str| {
        lines.iter().position(|line| line.starts_with(what)).expect("all lines are there")
    };
    assert_eq!(lines[at("ldr x3") - 1], ".loc 1 4 1");
    assert_eq!(lines[at("stp") + 1], ".cfi_def_cfa_offset 32");
    assert_eq!(lines[at("str x19") + 1], ".cfi_offset 19, -16");
    assert!(at("stp") < at("str x19") && at("ldr x3") < at("add x2"), "{better}");
    let sorted = |text: &str| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted(&text), sorted(&better), "no line is lost and none is made");
}

#[test]
fn what_is_to_stay_stays_and_nothing_passes_it() {
    let body = "\tldr x2, [x0]\n\tadd x2, x2, #1\n\tldr x4, [x5]\n\tldr x3, [x1]\n\tadd x3, x3, #1\n\tadd x0, x2, x3\n\tadd x0, x0, x4\n";
    let text = framed(body);
    let free = ordered(&text, &BTreeSet::new()).expect("a faster order");
    assert_ne!(free.2.places[2], 2, "the third instruction moves if it may");
    let held = ordered(&text, &BTreeSet::from([2]));
    let is_held = |new: &NewOrder| new.places[2] == 2 && new.places[..2].iter().all(|idx| *idx < 2);
    assert!(held.is_none_or(|(_, _, new, _)| is_held(&new)));
}

#[test]
fn another_order_than_the_chosen_one_is_not_taken_for_it() {
    let body =
        "\tldr x2, [x0]\n\tadd x2, x2, #1\n\tldr x3, [x1]\n\tadd x3, x3, #1\n\tadd x0, x2, x3\n";
    let (function, made, new, text) =
        ordered(&framed(body), &BTreeSet::new()).expect("a faster order");
    assert!(is_made(&function, &made, &new));
    assert!(!is_made(&function, &function, &new), "as it was written");
    let damaged = function_of(&text.replace("[x1]", "[x1, 8]"));
    assert!(!is_made(&function, &damaged, &new), "another address");
}

#[test]
fn an_iteration_in_the_steady_state_decides_and_not_the_first() {
    // The load of the next step of the chain comes first: its address is ready early.
    let body = "1:\tldr x3, [x0], #8\n\tadd x2, x2, x3\n\teor x4, x4, x2\n\tldr x5, [x1], #8\n\tadd x6, x6, x5\n\tsubs x7, x7, #1\n\tb.ne 1b\n";
    let lines = better(body).expect("a faster iteration");
    assert!(place(&lines, "ldr x5") < place(&lines, "add x2"), "{lines:?}");
    assert!(place(&lines, "b.ne") > place(&lines, "add x6"), "{lines:?}");
}

#[test]
fn a_constant_made_in_halves_is_one_value_for_the_bound_too() {
    let body = "\tldr x2, [x0]\n\tadd x3, x2, #1\n\tmov x2, 1234\n\tmovk x2, 0x5678, lsl 16\n\tmul x0, x2, x3\n";
    let function = function_of(&framed(body));
    let frame = audit::facts::frame::StackFrame::of(&function);
    let trace = audit::facts::trace::hot_trace(&Guide::of(&function));
    let core = Core::bundled(CPU).expect("it is bundled");
    let licence = audit::timing::licence::Step::PastStore.licence();
    let edges = audit::timing::depend::dependences(&function, &frame, &trace, &core, licence);
    assert!(edges.iter().any(|edge| (edge.from, edge.to) == (2, 3)), "movk follows mov");
    assert!(!edges.iter().any(|edge| (edge.from, edge.to) == (1, 2)), "mov is a fresh value");
}

#[test]
fn accesses_to_the_frame_keep_their_side_of_what_moves_the_stack() {
    // The last load would fill the wait, and what it reads lies below the stack pointer then.
    let body = "\tsub sp, sp, #32\n\tmov x4, sp\n\tstr x1, [x4]\n\tldr x2, [x0]\n\tadd x2, x2, #1\n\tldr x3, [x4, #8]\n\tadd sp, sp, #32\n\tadd x0, x2, x3\n";
    if let Some(lines) = better(body) {
        let (down, up) = (place(&lines, "sub sp"), place(&lines, "add sp"));
        for access in ["mov x4, sp", "str x1", "ldr x3"] {
            assert!((down..up).contains(&place(&lines, access)), "{lines:?}");
        }
    }
    let plain = "\tmov x4, x7\n\tstr x1, [x4]\n\tldr x2, [x0]\n\tadd x2, x2, #1\n\tldr x3, [x4, #8]\n\tadd x7, x7, #32\n\tadd x0, x2, x3\n";
    let lines = better(plain).expect("another register is none of the stack");
    assert!(place(&lines, "ldr x3") < place(&lines, "add x2"), "{lines:?}");
}

#[test]
fn what_a_person_wrote_and_what_fills_time_stays() {
    let held = |first: &str, second: &str| {
        let body = format!(
            "\tldr x2, [x0]\n{first}\tadd x2, x2, #1\n{second}\tldr x3, [x1]\n\tadd x3, x3, #1\n\tadd x0, x2, x3\n"
        );
        better(&body).is_none_or(|lines| place(&lines, "ldr x3") > place(&lines, "add x2"))
    };
    assert!(!held("", ""));
    assert!(held("//APP\n", "//NO_APP\n"));
    assert!(held("", "\tnop\n"));
    // A number may be the label of several places.
    assert!(held("7:\n", "\tadr x5, 7b\n"));
}

#[test]
fn a_word_beside_the_code_is_constant_only_if_the_compiler_made_it() {
    let held = |load: &str, data: &str| {
        let body = format!(
            "\tldr x2, [x0]\n\tadd x2, x2, #1\n\tstr x2, [x1]\n\t{load}\n\tadd x3, x3, #1\n\tadd x0, x2, x3\n"
        );
        let text = framed(&body) + data;
        let found = ordered(&text, &BTreeSet::new());
        found.is_none_or(|(_, made, _, _)| {
            let all = made.instructions.iter().map(|instruction| instruction.text.clone());
            let lines: Vec<String> = all.collect();
            place(&lines, "ldr x3") > place(&lines, "str x2")
        })
    };
    assert!(held("ldr x3, object", "\t.data\nobject:\t.xword 5\n"), "it may be what is stored");
    assert!(!held("ldr x3, .L5", ".L5:\t.xword 5\n"));
}
