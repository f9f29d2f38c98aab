//! The path without a recording: the way that compilers predict, in every instruction set.

use crate::support::assembler;

use assembler::assembled;
use audit::decode::Isa;
use audit::decode::code::Flow;
use audit::facts::predicted::taken_share;
use audit::facts::trace::{Guide, hot_trace};
use audit::program::Program;
use audit::program::toolchain::{self, Build};

/// The places of the path through this assembly, whose branches say how far they go.
fn path(isa: Isa, lines: &[&str]) -> Vec<usize> {
    let function = assembled(isa, &lines.join("\n"));
    hot_trace(&Guide::of(&function)).places
}

/// An error stands straight on, as where a compiler optimizes for size or a programmer wrote it.
#[test]
fn errors_are_returned_seldom() {
    let sets: [(Isa, &[&str]); 6] = [
        // ARMv6-M has no other way to a negative number.
        (
            Isa::T32,
            &[
                "cmp r1, #3",
                "bne #4",
                "movs r0, #1",
                "rsbs r0, r0, #0",
                "bx lr",
                "movs r0, #0",
                "bx lr",
            ],
        ),
        (Isa::A64, &["tbz w1, #0, #12", "mov w0, #-22", "ret", "mov w0, #0", "ret"]),
        (Isa::A32, &["cmp r1, #3", "bne #4", "mvn r0, #21", "bx lr", "mov r0, #0", "bx lr"]),
        (Isa::T32, &["cmp r1, #3", "bne #4", "mov.w r0, #-1", "bx lr", "movs r0, #0", "bx lr"]),
        (Isa::Riscv64, &["bgeu a1, a2, 12", "li a0, -5", "ret", "li a0, 0", "ret"]),
        // By way of a register that is kept, and a common way out.
        (
            Isa::A64,
            &[
                "cmp x1, #9",
                "b.ls #16",
                "mov w19, #-12",
                "b #12",
                "nop",
                "mov w19, #0",
                "mov w0, w19",
                "ldr x19, [sp], #16",
                "ret",
            ],
        ),
    ];
    for (isa, lines) in sets {
        let path = path(isa, lines);
        let error = lines
            .iter()
            .position(|line| line.contains('-') || line.contains("mvn") || line.contains("rsbs"));
        assert!(!path.contains(&error.expect("there is one")), "{lines:?}: {path:?}");
    }
}

#[test]
fn pointers_are_seldom_null() {
    let sets: [(Isa, &[&str]); 4] = [
        (Isa::A64, &["cbnz x0, #12", "mov w0, #7", "ret", "ldr w0, [x0, #4]", "ret"]),
        (Isa::A32, &["cmp r0, #0", "bne #4", "mov r0, #7", "bx lr", "ldr r0, [r0]", "bx lr"]),
        (Isa::T32, &["cbnz r0, #2", "movs r0, #7", "bx lr", "ldr r0, [r0]", "bx lr"]),
        (Isa::Riscv64, &["bnez a0, 12", "li a0, 7", "ret", "lw a0, 4(a0)", "ret"]),
    ];
    for (isa, lines) in sets {
        let path = path(isa, lines);
        let load = lines.iter().position(|line| line.contains('[') || line.contains("lw"));
        assert!(path.contains(&load.expect("there is one")), "{lines:?}: {path:?}");
    }
}

/// A failed assertion stops for a debugger, if there is one, and goes on.
#[test]
fn assertions_seldom_fail() {
    let sets: [(Isa, &[&str]); 4] = [
        (
            Isa::T32,
            &["cmp r0, #1", "bls #8", "lsls r3, r3, #31", "bpl #0", "bkpt #0", "movs r0, #0"],
        ),
        // It goes on elsewhere.
        (
            Isa::T32,
            &["cmp r0, #1", "bls #8", "lsls r3, r3, #31", "bpl #4", "bkpt #0", "movs r0, #0"],
        ),
        (Isa::A64, &["cmp w0, #1", "b.ls #20", "cbz w3, #8", "brk #0", "mov w0, #0", "ret"]),
        (Isa::Riscv64, &["bgeu a1, a2, 20", "beqz a3, 8", "ebreak", "li a0, 0", "ret"]),
    ];
    for (isa, failed) in sets {
        let held = match isa {
            Isa::T32 => &["bx lr", "movs r0, #7", "bx lr"][..],
            Isa::A64 => &["mov w0, #7", "ret"],
            _ => &["li a0, 7", "ret"],
        };
        let lines = [failed, held].concat();
        let stop = lines.iter().position(|line| line.contains("bk") || line.contains("br"));
        let path = path(isa, &lines);
        assert!(!path.contains(&(stop.expect("there is one") - 1)), "{lines:?}: {path:?}");
    }
    // What is checked, and does not go on, stands on the usual way, too.
    let checked = [
        "cmp w0, #9",
        "b.ls #16",
        "cbz w3, #20",
        "mov w0, #0",
        "ret",
        "mov w0, #7",
        "ret",
        "brk #1",
    ];
    assert_eq!(path(Isa::A64, &checked), [0, 1, 2, 3, 4]);
}

/// What a name says: cbz w0, bad; ..; ret; bad: bl; .., and the other way round.
#[test]
fn a_failure_is_seldom_reported() {
    let lines = ["cbz w0, #16", "mov x0, x1", "bl #64", "ret", "mov w0, #7", "ret"];
    let path = |callee: &str| {
        let mut function = assembled(Isa::A64, &lines.join("\n"));
        function.callees.insert(8, callee.to_owned());
        hot_trace(&Guide::of(&function)).places
    };
    let failures = ["JS_ThrowTypeError", "vm_panic", "raise", "report_error", "irq_unhandled"];
    for callee in failures.into_iter().chain(["luaL_argerror", "yyerror"]) {
        assert_eq!(path(callee), [0, 4, 5], "{callee}");
    }
    for callee in
        ["throwaway", "get_error", "praise", "error_count", "clear_last_error", "clearerror"]
    {
        assert_eq!(path(callee), [0, 1, 2, 3], "{callee}");
    }
}

/// Where nothing speaks for the other way, the one straight on is the compiler's.
#[test]
fn without_a_sign_the_path_goes_straight_on() {
    for lines in [
        // A number that is tested, and no address.
        &["cbnz w0, #12", "mov w0, #7", "ret", "add w0, w0, #4", "ret"],
        // Both return errors; both return numbers.
        &["tbz w1, #0, #12", "mov w0, #-22", "ret", "mov w0, #-5", "ret"],
        &["tbz w1, #0, #12", "mov w0, #3", "ret", "mov w0, #5", "ret"],
        // A negative number that is none of an error's.
        &["tbz w1, #0, #12", "movn w0, #0x7fff", "ret", "mov w0, #5", "ret"],
        // It is stored, not returned.
        &["tbz w1, #0, #12", "mov w1, #-22", "ret", "mov w0, #5", "ret"],
        // Null goes straight on by the address of another object.
        &["cbnz x0, #12", "mov w0, #7", "ret", "ldr w0, [x1, #4]", "ret"],
    ] {
        assert_eq!(path(Isa::A64, lines), [0, 1, 2], "{lines:?}");
    }
}

/// Where a branch does not reach, it skips a jump that does: straight on is behind that.
#[test]
fn a_jump_that_lengthens_a_branch_is_not_straight_on() {
    let way = ["mov w0, #7", "ret", "mov w0, #1", "ret"];
    let far = [&["cmp w0, #3", "b.ls #8", "b #12"][..], &way].concat();
    assert_eq!(path(Isa::A64, &far), [0, 1, 3, 4]);
    let thumb = ["cmp r1, #3", "bls #0", "b #2", "movs r0, #7", "bx lr", "movs r0, #1", "bx lr"];
    assert_eq!(path(Isa::T32, &thumb), [0, 1, 3, 4]);
    let riscv = ["bgeu a1, a2, 8", "j 12", "li a0, 7", "ret", "li a0, 1", "ret"];
    assert_eq!(path(Isa::Riscv64, &riscv), [0, 2, 3]);
    // Something is done before the jump: a block of its own.
    let block = [&["cmp w0, #3", "b.ls #12", "add w1, w1, #1", "b #12"][..], &way].concat();
    assert_eq!(path(Isa::A64, &block)[..4], [0, 1, 2, 3]);
}

/// A sign for the way straight on changes nothing.
#[test]
fn signs_for_the_way_straight_on_agree_with_it() {
    let error = ["tbz w1, #0, #12", "mov w0, #1", "ret", "mov w0, #-22", "ret"];
    assert_eq!(path(Isa::A64, &error), [0, 1, 2]);
    let null = ["cbz x0, #12", "ldr w0, [x0, #4]", "ret", "mov w0, #7", "ret"];
    assert_eq!(path(Isa::A64, &null), [0, 1, 2]);
}

/// An error beats an address: 98 % against 70 %.
#[test]
fn signs_are_put_together() {
    let lines = ["cbnz x0, #12", "ldr w0, [x1]", "ret", "ldr w1, [x0]", "mov w0, #-22", "ret"];
    assert_eq!(path(Isa::A64, &lines), [0, 1, 2]);
}

/// Null goes straight on by a pointer that is followed further on, by way of a copy, or in an
/// argument; where it is an index or a number the way straight on stays.
#[test]
fn pointers_are_told_from_numbers_on_all_ways() {
    let null = ["cbnz x0, #12", "mov w0, #7", "ret"];
    let pointers: [&[&str]; 6] = [
        // A function's.
        &["mov x9, x0", "mov x0, x1", "blr x9", "ret"],
        // On one of two ways: cbz w1; .. ; ldr.
        &["cbz w1, #12", "mov w0, #1", "ret", "ldr w0, [x0, #4]", "ret"],
        &["cbz w1, #12", "ldr w0, [x0, #4]", "ret", "mov w0, #1", "ret"],
        // After a loop.
        &["ldrb w2, [x1], #1", "cbnz w2, #-4", "str w2, [x0]", "ret"],
        // A copy is kept over a call.
        &["mov x19, x0", "bl #64", "ldr w0, [x19]", "ret"],
        &["mov x19, x0", "mov x0, x1", "bl #64", "mov x1, x19", "ldr w0, [x1]", "ret"],
    ];
    for lines in pointers {
        let lines = [&null[..], lines].concat();
        assert_eq!(path(Isa::A64, &lines)[..2], [0, 3], "{lines:?}");
    }
    let copied = ["mov x3, x0", "cbnz x0, #12", "mov w0, #7", "ret", "ldr w0, [x3]", "ret"];
    assert_eq!(path(Isa::A64, &copied), [0, 1, 4, 5]);
    let tested = ["subs r4, r1, #0", "bne #2", "movs r0, #7", "bx lr", "ldr r0, [r1]", "bx lr"];
    assert_eq!(path(Isa::T32, &tested), [0, 1, 4, 5]);
    let tested = ["movs r4, r1", "bne #2", "movs r0, #7", "bx lr", "ldr r0, [r4]", "bx lr"];
    assert_eq!(path(Isa::T32, &tested), [0, 1, 4, 5]);
    for (number, expected) in
        [("movs r4, #0", &[0, 1, 2, 5, 6][..]), ("movs r4, #1", &[0, 1, 2, 3, 4])]
    {
        let tested =
            [number, "cmp r1, r4", "bne #2", "movs r0, #7", "bx lr", "ldr r0, [r1]", "bx lr"];
        assert_eq!(path(Isa::T32, &tested), expected, "{number}");
    }
    // Something else than the pointer is zero.
    let tested = ["subs r4, r1, #4", "bne #2", "movs r0, #7", "bx lr", "ldr r0, [r1]", "bx lr"];
    assert_eq!(path(Isa::T32, &tested), [0, 1, 2, 3]);
    let numbers: [&[&str]; 5] = [
        &["cbz w1, #12", "mov w0, #1", "ret", "ldr w0, [x2, x0, lsl #2]", "ret"],
        // Another value is followed.
        &["cbz w1, #12", "mov w0, #1", "ret", "add x0, x0, x1", "ldr w0, [x0]", "ret"],
        &["bl #64", "ldr w0, [x0]", "ret"],
        // A half of it is copied.
        &["mov w3, w0", "ldr w0, [x3]", "ret"],
        &["cbz w1, #8", "add w0, w0, #1", "ret"],
    ];
    for lines in numbers {
        let lines = [&null[..], lines].concat();
        assert_eq!(path(Isa::A64, &lines), [0, 1, 2], "{lines:?}");
    }
    let moved = ["mov x3, x0", "add x0, x0, #1", "cbnz x0, #12", "mov w0, #7", "ret"];
    let moved = [&moved[..], &["ldr w0, [x3]", "ret"]].concat();
    assert_eq!(path(Isa::A64, &moved), [0, 1, 2, 3, 4]);
}

/// Lines of the source that the path through `f` passes, and how likely its first test is taken.
fn path_of_source(isa: Isa, cpu: &str, text: &str) -> (Vec<u32>, f64) {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join("f.c");
    std::fs::write(&path, text).expect("a scratch file");
    let flags = ["-Os", "-g"].map(str::to_owned).to_vec();
    let build = Build { cc: None, flags, folder: None };
    let bytes =
        toolchain::compile(&path, isa, cpu, &build).unwrap_or_else(|error| panic!("{error}"));
    let program = Program::parse("f.o", &bytes).unwrap_or_else(|error| panic!("{error}"));
    let symbol = program.symbol("f").expect("it is defined");
    let function = program.decode(symbol).unwrap_or_else(|error| panic!("{error}")).function;
    let places = hot_trace(&Guide::of(&function)).places;
    let frames = places.iter().flat_map(|place| &function.frames[*place]);
    let test = (0..function.instructions.len()).find_map(|idx| {
        let flow = function.instructions[idx].flow;
        let is_test = matches!(flow, Flow::Branch { is_conditional: true, .. });
        is_test.then(|| taken_share(&function, idx, function.target(idx).expect("it stays")))
    });
    (frames.map(|frame| frame.line).collect(), test.expect("there is a test"))
}

/// What is only handed on is a pointer if its declaration says so: as `print_string_ptr` of cJSON
/// is given its buffer, or a device its queue; and what is a number is none.
#[test]
fn pointers_that_are_handed_on_are_declared() {
    const WITHOUT_SIGN: f64 = 1.0 - 0.65;
    let print = |kind: &str| {
        format!(
            "struct buffer {{ unsigned char *at; }};\n\
             unsigned char *ensure({kind} to, unsigned n);\n\
             int f(const unsigned char *text, {kind} to)\n{{\n\
             if (to == 0)\nreturn 0;\n\
             unsigned n = 0;\nwhile (text[n] != 0)\nn += text[n] < 32 ? 5 : 1;\n\
             unsigned char *out = ensure(to, n);\nif (out == 0)\nreturn 0;\n\
             *out = 1;\nreturn 1;\n}}\n"
        )
    };
    let queue = |kind: &str| {
        format!(
            "struct queue {{ int n; }};\nstruct device {{ {kind} queue; }};\n\
             int put({kind} to, int it), count(void);\n\
             int f(struct device *of, int it, {kind} to)\n{{\n\
             if (!to)\nreturn 7;\nof->queue = to;\n\
             return count() + it;\n}}\n"
        )
    };
    let sets = [
        (Isa::T32, "cortex-m4"),
        (Isa::T32, "cortex-m0plus"),
        (Isa::A64, "cortex-a53"),
        (Isa::Riscv64, "sifive-u74"),
    ];
    for (isa, cpu) in sets {
        for (text, behind) in [(print("struct buffer *"), 10), (queue("struct queue *"), 9)] {
            let (lines, share) = path_of_source(isa, cpu, &text);
            assert!(lines.contains(&behind), "{cpu}: {lines:?} of\n{text}");
            assert_ne!(share, WITHOUT_SIGN, "{cpu}: {text}");
        }
        for text in [print("unsigned"), queue("unsigned")] {
            let (_, share) = path_of_source(isa, cpu, &text);
            assert_eq!(share, WITHOUT_SIGN, "{cpu}: {text}");
        }
    }
}
