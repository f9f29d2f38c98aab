//! Programs of users on regwin's library: ordinary C and C++ that links and computes what it says,
//! and mistakes that are named.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Output};

fn built(args: &[&str], folder: &Path) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_meanwhile"));
    let ran = command
        .args(["regwin", "build", "-o"])
        .arg(folder)
        .args(args)
        .output()
        .expect("the binary runs");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}

fn make(folder: &Path, args: &[&str]) -> Output {
    Command::new("make").arg("-s").args(args).current_dir(folder).output().expect("make runs")
}

/// What `program` prints, linked with a library of these options.
fn printed(options: &[&str], compiler: &str, program: &str) -> String {
    let folder = tempfile::tempdir().expect("a scratch folder");
    built(&[&["--scheme", "adaptive"], options].concat(), folder.path());
    std::fs::write(folder.path().join("example/main.c"), program).expect("a program");
    let ran = make(folder.path(), &["run", "CFLAGS=-O1 -g -Wall", &format!("COMPILER={compiler}")]);
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8_lossy(&ran.stdout).into_owned()
}

const IDLE: &str = "void machine_idle(void) { thr_report(); machine_stop(); }\n";

/// Each operation of a 64-bit machine, as C writes it and as Rust computes it.
fn operations(a: u64, b: u64) -> Vec<(&'static str, u64)> {
    let n = (b & 63) as u32;
    let (low, d) = (a as u32, a as f64);
    let small = b as u32 | 1;
    vec![
        ("a << n", a << n),
        ("a >> n", a >> n),
        ("(s)a >> n", ((a as i64) >> n) as u64),
        ("__builtin_popcount(low)", u64::from(low.count_ones())),
        ("__builtin_popcountll(a)", u64::from(a.count_ones())),
        ("__builtin_clz(small)", u64::from(small.leading_zeros())),
        ("__builtin_clzll(b | 1)", u64::from((b | 1).leading_zeros())),
        ("__builtin_ctz(low | 1u << 31)", u64::from((low | 1 << 31).trailing_zeros())),
        ("__builtin_ctzll(a | 1ull << 63)", u64::from((a | 1 << 63).trailing_zeros())),
        ("__builtin_ffsll(a)", if a == 0 { 0 } else { u64::from(a.trailing_zeros()) + 1 }),
        ("__builtin_parity(low)", u64::from(low.count_ones() & 1)),
        ("__builtin_parityll(a)", u64::from(a.count_ones() & 1)),
        ("__builtin_bswap32(low)", u64::from(low.swap_bytes())),
        ("__builtin_bswap64(a)", a.swap_bytes()),
        ("bits((double)a)", d.to_bits()),
        ("bits((double)(s)a)", (a as i64 as f64).to_bits()),
        ("bits_of_float((float)a)", u64::from((a as f32).to_bits())),
        ("bits_of_float((float)(s)a)", u64::from((a as i64 as f32).to_bits())),
        ("(u)((double)a * 0.25)", (d * 0.25) as u64),
        ("(u)((s)((double)(s)a * 0.25))", ((a as i64 as f64) * 0.25) as i64 as u64),
        ("(u)((float)a * 0.25f)", (a as f32 * 0.25) as u64),
        ("(u)((s)((float)(s)a * 0.25f))", ((a as i64 as f32) * 0.25) as i64 as u64),
        ("__atomic_fetch_add(&word, low, 5)", 7),
        ("__atomic_exchange_n(&word, small, 5)", u64::from(low.wrapping_add(7))),
        ("__sync_val_compare_and_swap(&word, small, 9)", u64::from(small)),
        ("__atomic_load_n(&word, 5)", 9),
        ("__atomic_fetch_xor(&wide, a, 5)", 3),
        ("(u)__sync_bool_compare_and_swap(&wide, a ^ 3, b)", 1),
        ("__atomic_load_n(&wide, 5)", b),
        ("(u)__atomic_fetch_sub(&byte, 2, 5)", 1),
        ("(u)__atomic_load_n(&byte, 5)", 255),
    ]
}

#[test]
fn ordinary_c_links_and_computes_the_same() {
    let mut random = fastrand::Rng::with_seed(20);
    let edges = [
        0,
        1,
        2,
        0xff,
        0x8000_0000,
        0xffff_ffff,
        1 << 32,
        1 << 52,
        (1 << 53) + 1,
        1 << 63,
        u64::MAX,
        0x7fff_ffff_ffff_fdff,
    ];
    let mut numbers: Vec<(u64, u64)> = edges.iter().map(|&edge| (edge, random.u64(..))).collect();
    numbers.extend((0..12).map(|_| (random.u64(..) >> random.u32(0..64), random.u64(..))));
    let of_c: Vec<&str> = operations(0, 1).iter().map(|operation| operation.0).collect();
    let mut text = String::from(
        "#include <regwin.h>\ntypedef unsigned long long u;\ntypedef long long s;\nstatic u bits(double d) { union { double d; u n; } x = {d}; return x.n; }\n\
         static u bits_of_float(float f) { union { float f; unsigned n; } x = {f}; return x.n; }\n\
         static volatile unsigned word;\nstatic volatile u wide;\nstatic volatile unsigned char byte;\n\
         static __attribute__((noinline)) void all(u a, u b)\n{\n    unsigned n = b & 63, low = (unsigned)a, small = (unsigned)b | 1;\n    word = 7, wide = 3, byte = 1;\n",
    );
    for operation in &of_c {
        let _ = writeln!(
            text,
            "    {{ u r = {operation}; console_hex((unsigned)(r >> 32)); console_text(\" \"); console_hex((unsigned)r); console_text(\"\\n\"); }}"
        );
    }
    text += "}\nint main(void)\n{\n";
    let mut expected = String::new();
    for (a, b) in numbers {
        let _ = writeln!(text, "    all({a:#x}ull, {b:#x}ull);");
        for (_, result) in operations(a, b) {
            let _ = writeln!(expected, "{:08x} {:08x}", result >> 32, result & 0xffff_ffff);
        }
    }
    let _ = write!(text, "    return 0;\n}}\n{IDLE}");
    expected += "regwin: done\n";
    for (compiler, options) in [("gcc", "fpu"), ("clang", "fpu"), ("clang", "fpu,preempt")] {
        let got = printed(&["--options", options], compiler, &text);
        for (idx, (got, wanted)) in got.lines().zip(expected.lines()).enumerate() {
            assert_eq!(got, wanted, "{compiler}, {options}: {}", of_c[idx % of_c.len()]);
        }
        assert_eq!(got.lines().count(), expected.lines().count(), "{compiler}");
    }
}

#[test]
fn constructors_of_cpp_run_before_main() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    built(&["--scheme", "sp"], folder.path());
    let program = "#include <regwin.h>\nextern volatile int seed;\nvolatile int seed = 41;\n\
         struct Base { int n; Base(int k) : n(k) {} virtual int next() { return n++; } };\n\
         struct Twice : Base { Twice(int k) : Base(k) {} int next() override { n += 2; return n; } };\n\
         static Twice global(seed + 1);\nstatic Base other(seed);\n\
         static unsigned char stack[4096] __attribute__((aligned(8)));\nstatic thr thread;\n\
         static void run(void *x) { Base *b = static_cast<Base *>(x); console_number(b->next()); console_text(\"\\n\"); console_number(other.next()); console_text(\"\\n\"); }\n\
         int main() { thr_create(&thread, \"thread\", stack, sizeof stack, run, &global); return 0; }\n\
         void machine_idle() { thr_report(); machine_stop(); }\n";
    std::fs::write(folder.path().join("main.cpp"), program).expect("a program");
    let rule = "include regwin.mk\nexample.elf: main.cpp\n\tclang++-19 $(filter-out -std=gnu11,$(REGWIN_CFLAGS)) -O1 -fno-exceptions -fno-rtti -fno-threadsafe-statics -c main.cpp -o main.o\n\
         \t$(REGWIN_LD) $(REGWIN_LDFLAGS) main.o $(REGWIN_LIBS) -o $@\nrun: example.elf\n\tqemu-system-sparc -M leon3_generic -nographic -monitor none -serial stdio -kernel example.elf </dev/null\n";
    std::fs::write(folder.path().join("own.mk"), rule).expect("a makefile");
    let ran = make(folder.path(), &["-f", "own.mk", "run", "COMPILER=clang"]);
    assert_eq!(
        String::from_utf8_lossy(&ran.stdout),
        "44\n41\nregwin: done\n",
        "{}",
        String::from_utf8_lossy(&ran.stderr)
    );
}

/// What goes wrong in silence or far from its cause: threads that cannot be, handlers that wait,
/// the clock's own level.
#[test]
fn mistakes_are_refused_or_named() {
    let head = "#include <regwin.h>\nstatic unsigned char one[4096] __attribute__((aligned(8))), two[4096] __attribute__((aligned(8)));\n\
                static struct thr a, b;\nstatic volatile unsigned n;\n";
    let refused = "static void run(void *x) { (void)x; }\nint main(void)\n{\n    int none = thr_create(&a, \"a\", one, sizeof one, 0, 0);\n\
                   int beyond = thr_create(&a, \"a\", one, 0xfffffff8u, run, 0), last = thr_create(&a, \"a\", one, -(unsigned)one + 8, run, 0);\n\
                   console_text(none && beyond && last ? \"refused\\n\" : \"taken\\n\");\n    return thr_create(&a, \"a\", one, sizeof one, run, 0);\n}\n";
    assert_eq!(printed(&[], "gcc", &format!("{head}{refused}{IDLE}")), "refused\nregwin: done\n");

    let options = ["--options", "preempt,priorities"];
    // Two wakes in a row, of a thread that sleeps and of one that runs.
    let woken = "static void sleeps(void *x) { (void)x; thr_block(THR_LEAVE); n++; thr_wake(thr_self()); thr_yield(); n++; }\n\
                 static void wakes(void *x) { (void)x; thr_wake(&a); thr_wake(&a); thr_yield(); thr_yield(); }\n\
                 int main(void)\n{\n    thr_create(&a, \"a\", one, sizeof one, sleeps, 0);\n    return thr_create(&b, \"b\", two, sizeof two, wakes, 0);\n}\n\
                 void machine_idle(void) { console_number(n); console_text(\"\\n\"); thr_report(); machine_stop(); }\n";
    assert_eq!(printed(&options, "gcc", &format!("{head}{woken}")), "2\nregwin: done\n");

    let handlers = [
        ("thr_sleep(1)", "regwin: a handler calls thr_sleep\n"),
        ("thr_yield()", "regwin: a handler calls thr_yield\n"),
        ("thr_block(THR_FLUSH)", "regwin: a handler calls thr_block\n"),
        ("semaphore_take(&s)", "regwin: a handler waits for the semaphore\n"),
        ("thr_join(&b)", "regwin: a handler waits for b\n"),
        ("semaphore_give(&s), thr_wake(&a)", "handled\nregwin: done\n"),
    ];
    for (call, expected) in handlers {
        let text = format!(
            "{head}static struct semaphore s;\nstatic void handler(void *x) {{ (void)x; {call}; console_text(\"handled\\n\"); }}\n\
             static void run(void *x) {{ (void)x; irq_raise(5); thr_yield(); }}\nstatic void other(void *x) {{ (void)x; thr_yield(); }}\n\
             int main(void)\n{{\n    semaphore_open(&s, \"the semaphore\", 0);\n    irq_attach(5, handler, 0);\n    thr_create(&b, \"b\", two, sizeof two, other, 0);\n\
             return thr_create(&a, \"a\", one, sizeof one, run, 0);\n}}\n{IDLE}"
        );
        assert_eq!(printed(&options, "gcc", &text), expected, "{call}");
    }

    let clock = "static void mine(void *x) { (void)x; n++; }\n\
                 int main(void)\n{\n    console_text(irq_attach(5, 0, 0) ? \"refused\\n\" : \"taken\\n\");\n    irq_attach(THR_TIMER_IRQ, mine, 0);\n\
                 thr_preempt(1000);\n    console_text(\"goes on\\n\");\n    return 0;\n}\n";
    let expected = "refused\nregwin: thr_preempt finds another handler at THR_TIMER_IRQ\n";
    assert_eq!(printed(&options, "gcc", &format!("{head}{clock}{IDLE}")), expected);
    let twice =
        "int main(void) { thr_preempt(1000); thr_preempt(500); thr_preempt(0); return 0; }\n";
    assert_eq!(printed(&options, "gcc", &format!("{head}{twice}{IDLE}")), "regwin: done\n");
}

/// The parts in orbit need workarounds that the runtime does not have.
#[test]
fn options_for_errata_are_refused() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    built(&["--scheme", "sp"], folder.path());
    for flags in [
        "CFLAGS=-O2 -mfix-gr712rc",
        "CFLAGS=-mfix-ut700",
        "CFLAGS=-O2 -D__FIX_LEON3FT_B2BST",
        "CFLAGS=-D__FIX_LEON3FT_TN0018",
    ] {
        let ran = make(folder.path(), &[flags]);
        let said = String::from_utf8_lossy(&ran.stderr);
        assert!(
            !ran.status.success() && said.contains("GRLIB-TN-0009") && said.contains("GR712RC"),
            "{flags}: {said}"
        );
    }
    assert!(make(folder.path(), &["CFLAGS=-O2"]).status.success());
}
