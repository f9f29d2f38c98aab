//! Two functions are executed on the same inputs: what differs is found, whatever it is that differs.

use audit::behaviour::{Behaviour, Executed, compare};
use audit::decode::Isa;
use audit::program::Program;
use audit::program::toolchain::{self, Build};
use audit::program::types::Signature;

/// Compiles C for a machine.
fn object(isa: Isa, cpu: &str, source: &str) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join("f.c");
    std::fs::write(&path, source).expect("a scratch file");
    toolchain::compile(&path, isa, cpu, &Build::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn compared_on(isa: Isa, cpu: &str, before: &str, after: &str, may_alias: bool) -> Behaviour {
    let [before, after] = [before, after].map(|source| object(isa, cpu, source));
    let program = Program::parse("f.o", &before).unwrap_or_else(|error| panic!("{error}"));
    let symbol = program.symbol("f").unwrap_or_else(|error| panic!("{error}"));
    let signature = program.lines.signature(symbol.address, "f").expect("it has debug information");
    let called: Vec<(String, Option<Signature>)> = program
        .called_names()
        .into_iter()
        .map(|name| (name.to_owned(), program.lines.signature(symbol.address, name)))
        .collect();
    let subject = Executed {
        isa,
        function: "f",
        signature: &signature,
        called: &called,
        may_alias,
        may_fault: false,
        ends: &program.lines.never_return(symbol.address),
    };
    compare(&subject, &before, &after)
}

/// Compares on AArch64, where pointers may alias.
fn compared(before: &str, after: &str) -> Behaviour {
    compared_on(Isa::A64, "cortex-a53", before, after, true)
}

fn differs(before: &str, after: &str) -> bool {
    matches!(compared(before, after), Behaviour::Differs(_))
}

#[test]
fn results_memory_objects_and_calls_are_compared() {
    // Only one input in some has another result.
    assert!(differs(
        "int f(unsigned char x) { return x; }",
        "int f(unsigned char x) { return x == 7 ? 8 : x; }"
    ));
    assert!(differs(
        "void f(short *p, int n) { p[n & 7] = n; }",
        "void f(short *p, int n) { p[n & 7] = n; p[3] = p[3]; p[n & 3] = n; }"
    ));
    assert!(differs(
        "static int count; int *f(void) { count++; return &count; }",
        "static int count; int *f(void) { count += 2; return &count; }"
    ));
    assert!(differs(
        "void g(int), h(int); void f(int x) { g(x); h(x); }",
        "void g(int), h(int); void f(int x) { h(x); g(x); }"
    ));
    assert!(differs(
        "void g(int); void f(int x) { g(x); }",
        "void g(int); void f(int x) { g(x + 1); }"
    ));
    assert!(differs(
        "struct list { struct list *next; int n; }; int f(struct list *l) { return l->next->n; }",
        "struct list { struct list *next; int n; }; int f(struct list *l) { return l->n; }"
    ));
    assert!(differs("int f(int *p) { return *p; }", "int f(int *p) { return *p + *(int *)8; }"));
}

#[test]
fn the_same_in_other_words_is_the_same() {
    for (before, after) in [
        ("int f(int x) { return x * 3; }", "int f(int x) { return x + x + x; }"),
        (
            "int table[4]; int f(unsigned i) { return table[i & 3]++; }",
            "int table[4]; int f(unsigned i) { int *p = table + i % 4; *p += 1; return *p - 1; }",
        ),
        (
            "int g(int *); int f(int *p, _Bool b) { return b ? g(p) : 0; }",
            "int g(int *); int f(int *p, _Bool b) { if (!b) return 0; return g(p); }",
        ),
        (
            "#include <string.h>\nvoid f(char *p, char *q) { memcpy(p, q, 64); }",
            "void f(char *p, char *q) { __builtin_memcpy(p, q, 64); }",
        ),
        (
            "double f(double x, long n) { return x * n; }",
            "double f(double x, long n) { return n * x; }",
        ),
    ] {
        assert!(
            matches!(compared(before, after), Behaviour::Same(_)),
            "{before}: {:?}",
            compared(before, after)
        );
    }
}

/// Pointers that may lead to one object do so in half of the runs, unless that was promised not to be.
#[test]
fn aliases_are_tried_unless_they_are_excluded() {
    let before = "int f(int *p, int *q) { int a = *q; *p = 1; return a + *q; }";
    let after = "int f(int *p, int *q) { int a = *q; *p = 1; return a + a; }";
    let with = |may_alias| compared_on(Isa::A64, "cortex-a53", before, after, may_alias);
    assert!(matches!(with(true), Behaviour::Differs(_)), "{:?}", with(true));
    assert!(matches!(with(false), Behaviour::Same(_)), "{:?}", with(false));
}

#[test]
fn every_set_that_can_be_executed_is() {
    let (same, other) = (
        "long f(long *p, int n) { return p[n & 15] + n; }",
        "long f(long *p, int n) { return p[n & 15] - n; }",
    );
    for (isa, cpu) in [
        (Isa::A32, "arm1136jf-s"),
        (Isa::T32, "cortex-m4"),
        (Isa::A64, "cortex-a53"),
        (Isa::Riscv64, "sifive-u74"),
        (Isa::X86, "x86-64"),
    ] {
        let said = compared_on(isa, cpu, same, same, true);
        assert!(matches!(&said, Behaviour::Same(_)), "{cpu}: {said:?}");
        let said = compared_on(isa, cpu, same, other, true);
        assert!(matches!(&said, Behaviour::Differs(_)), "{cpu}: {said:?}");
    }
}

#[test]
fn what_cannot_be_executed_says_why() {
    for (source, why) in [
        ("int f(int (*g)(int)) { return g(1); }", "parameter 1 is a function's address"),
        (
            "struct s { int a[9]; }; int f(int n, struct s s) { return s.a[n]; }",
            "parameter 2 is a structure",
        ),
        ("int f(int n, ...) { return n; }", "it takes any number of arguments"),
        (
            "int f(int *p) { return *(volatile int *)0; }",
            "none of 256 random runs comes to its end",
        ),
    ] {
        let said = compared(source, source);
        assert!(matches!(&said, Behaviour::NotRun(it) if it.contains(why)), "{source}: {said:?}");
    }
}

/// A loop without an end is no difference, and does not take the time of all others.
#[test]
fn what_does_not_end_is_left_out() {
    let source = "int f(unsigned char n, volatile int *p) { while (n == 3) *p; return n; }";
    let said = compared(source, source);
    assert!(matches!(&said, Behaviour::Same(_)), "{said:?}");
}

/// Which object of another file is mentioned first is no difference.
#[test]
fn objects_of_others_are_known_by_their_names() {
    let reads = |order: [&str; 3]| {
        let [first, second, third] =
            order.map(|name| format!("int from_{name} = *(volatile int *)&{name};"));
        format!(
            "extern int left, middle, right; int f(void) {{ {first} {second} {third} return from_left \
             - 3 * from_middle + 5 * from_right; }}"
        )
    };
    let before = reads(["left", "middle", "right"]);
    for order in [["right", "middle", "left"], ["middle", "left", "right"]] {
        let after = reads(order);
        assert!(matches!(compared(&before, &after), Behaviour::Same(_)), "{order:?}");
    }
    let other = before.replace("5 * from_right", "5 * from_left");
    assert!(differs(&before, &other));
}

/// A run that ends just before a limit and one that ends just after it are the same; one that never
/// ends is not.
#[test]
fn a_limit_that_is_met_by_chance_is_no_difference() {
    let counts = |times: u32| {
        format!(
            "int f(unsigned char x) {{ volatile unsigned n; for (n = 0; n < x * {times}u; n++); return x; }}"
        )
    };
    for times in [20_000, 60_000] {
        let said = compared(&counts(times), &counts(2 * times));
        assert!(matches!(said, Behaviour::Same(_)), "{times}: {said:?}");
    }
    assert!(differs(
        "int f(unsigned char x) { return x; }",
        "int f(unsigned char x) { while (x == 7) __asm__ volatile(\"\"); return x; }"
    ));
}
