//! In which registers callees have their arguments, as far as that is known.

use std::collections::BTreeMap;

use audit::decode::Isa;
use audit::decode::code::Flow;
use audit::facts::liveness::Liveness;
use audit::program::Program;
use audit::program::function::Function;
use audit::program::toolchain::{self, Build};

/// The first function of a text in the file `name`.
fn compiled(name: &str, text: &str, (isa, cpu): (Isa, &str)) -> Function {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join(name);
    std::fs::write(&path, text).expect("a scratch file");
    let bytes = toolchain::compile(&path, isa, cpu, &Build::default())
        .unwrap_or_else(|error| panic!("{error}"));
    let program = Program::parse(name, &bytes).unwrap_or_else(|error| panic!("{error}"));
    let symbol = &program.symbols[0];
    program.decode(symbol).unwrap_or_else(|error| panic!("{error}")).function
}

/// What the calls of `f` are known to pass, by callee.
fn passed(name: &str, text: &str, isa: Isa, cpu: &str) -> BTreeMap<String, String> {
    let function = compiled(name, text, (isa, cpu));
    let names = |regs: &[audit::decode::code::Reg]| {
        let names: Vec<&str> = regs.iter().map(|reg| isa.register_name(*reg)).collect();
        names.join(" ")
    };
    let known = |(at, callee): (&u64, &String)| {
        let place = function.at(*at).expect("a call");
        let registers = function.arguments_at(place).map_or("?".to_owned(), names);
        (callee.clone(), registers)
    };
    function.callees.iter().map(known).collect()
}

const CALLS: &str = "\
#include <string.h>
struct ring { long head, tail; };
struct three { long a, b, c; };
void put(struct ring *ring, unsigned char byte);
void wide(int first, long long second);
void none(void);
int any(const char *text, ...);
void before();
void whole(struct three three, int n);
struct three made(int n);
__attribute__((noreturn)) void leave(const char *text, int line);
int f(struct ring *ring, int n)
{
    if (!n)
        leave(\"\", 3);
    put(ring, n);
    wide(n, 3);
    none();
    any(\"\", n);
    before(n);
    struct three three = made(n);
    whole(three, n);
    return memcmp(ring, ring + n, n) + any(\"\");
}
";

#[test]
fn declarations_say_which_arguments_there_are() {
    let said = |isa, cpu| {
        let all = passed("calls.c", CALLS, isa, cpu);
        let one = |name: &str| all.get(name).map_or("", String::as_str).to_owned();
        // A structure, any number, and what no prototype says, are not taken apart.
        for name in ["any", "before", "whole", "made"] {
            assert_eq!(one(name), "?", "{cpu}: {name}");
        }
        ["leave", "put", "wide", "none", "memcmp"].map(one).join(", ")
    };
    assert_eq!(said(Isa::T32, "cortex-m4"), "r0 r1, r0 r1, r0 r2 r3, , r0 r1 r2");
    assert_eq!(said(Isa::A32, "arm1136jf-s"), "r0 r1, r0 r1, r0 r2 r3, , r0 r1 r2");
    assert_eq!(said(Isa::A64, "cortex-a53"), "x0 x1, x0 x1, x0 x1, , x0 x1 x2");
    assert_eq!(said(Isa::Riscv64, "sifive-u74"), "a0 a1, a0 a1, a0 a1, , a0 a1 a2");
}

/// Without debug information what a callee of the file reads itself, if what it calls is no matter.
#[test]
fn code_says_which_arguments_there_are() {
    let defined = |name: &str, body: &str| {
        format!(
            ".global {name}\n.type {name}, %function\n{name}:\n{body}\n.size {name}, .-{name}\n"
        )
    };
    let text = [
        defined("f", "push {r4, lr}\nbl two\nbl same\nbl calls\nbl first\npop {r4, pc}"),
        defined("two", "add r0, r0, r1\nmov r2, #0\nmov r3, #0\nbx lr"),
        // The upper half of a result may be that of an argument.
        defined("same", "orr r0, r0, #1\nbx lr"),
        defined("calls", "push {r4, lr}\nbl elsewhere\npop {r4, pc}"),
        defined(
            "first",
            "push {r4, lr}\nmov r1, #1\nmov r2, #2\nmov r3, #3\nbl elsewhere\npop {r4, pc}",
        ),
    ];
    let all = passed("code.s", &text.concat(), Isa::A32, "arm1136jf-s");
    let one = |name: &str| all.get(name).map_or("", String::as_str).to_owned();
    assert_eq!(["two", "same", "calls", "first"].map(one).join(", "), "r0 r1, ?, ?, r0");
}

/// A landing pad is entered out of a call: what a call may change is not read there.
#[test]
fn who_unwinds_the_stack_hands_no_arguments_on() {
    let text = "struct S { S(int); ~S(); int n; };\nint g(S &, int);\nint h(int);\n\
        int f(int a, int b)\n{\n  if (b)\n    return h(a);\n  S s(a);\n  return g(s, b);\n}\n";
    let (isa, cpu) = (Isa::A64, "cortex-a53");
    let function = compiled("pad.cc", text, (isa, cpu));
    let unwinds = function.callees.values().any(|name| name == "_Unwind_Resume");
    assert!(unwinds, "{cpu}: it has a landing pad");
    let last = *isa.conventions().arguments.last().expect("there are some");
    assert!(!Liveness::of(&function).before(0).contains(last), "{cpu}");
    assert!(Liveness::of(&function).before(0).contains(isa.conventions().arguments[1]), "{cpu}");
}

/// What a caller wants back is free where nobody comes back to it, and not where an exception does.
#[test]
fn what_is_saved_is_free_before_the_end_of_the_program_but_not_before_an_exception() {
    let (isa, cpu) = (Isa::A64, "cortex-a53");
    let is_free = |callee: &str| {
        let body = format!(
            "cbz x0, 1f\nstp x29, x30, [sp, #-32]!\nbl {callee}\n1: mov w0, #0\nret\n.size f, .-f\n"
        );
        let text = format!(".global f\n.type f, %function\nf:\n{body}");
        let function = compiled("last.s", &text, (isa, cpu));
        assert_eq!(function.instructions[2].flow, Flow::LastCall, "{callee}");
        let saved = isa.conventions().saved[0];
        !Liveness::of(&function).before(2).contains(saved)
    };
    for callee in ["abort", "__assert_func", "__stack_chk_fail"] {
        assert!(is_free(callee), "{callee}");
    }
    for callee in ["__cxa_throw", "_Unwind_Resume", "_ZSt20__throw_length_errorPKc"] {
        assert!(!is_free(callee), "{callee}");
    }
}
