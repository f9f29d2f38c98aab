//! Threads that compute with floating point get what the same C computes here, whatever runs
//! between their instructions.

use crate::support;

use std::process::Command;

use regwin::Scheme;
use support::{Build, SCHEMES};

/// What the threads compute; compiled for SPARC and for this machine. `seed` and `steps` say what.
const WORK: &str = r#"
struct job { unsigned seed, steps, floats; double x; float y; unsigned long long n; };

static unsigned next(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

/* Keeps many values in registers at once, so that an interrupt comes while they are there. */
static __attribute__((noinline)) double series(double x, unsigned n)
{
    double a = x, b = x + 1, c = x * 0.5, d = 1 / x, e = x * x, f = 0;
    float g = (float)x, h = 1.5f;
    for (unsigned i = 1; i <= n; i++) {
        a = a * 0.999 + b / i;
        b = b - c * 1e-3;
        c = c + d * a;
        d = 1 / (1 + c * c);
        e = __builtin_sqrt(e + a);
        f += e - d;
        g = g * 0.75f + h;
        h = h / (1 + g * g);
    }
    return a + b + c + d + e + f + (double)g + (double)h;
}

static __attribute__((noinline)) double nested(struct job *job, unsigned depth, double x, float y)
{
    double kept = x * 1.000001 + depth;
    float small = y * 0.5f + (float)(int)(next(&job->seed) & 1023);
    YIELD(job->seed);
    if (depth > 0)
        x = nested(job, depth - 1, kept, small);
    YIELD(job->seed >> 3);
    double from = 2 + (double)(next(&job->seed) & 15);
    x = x / 3 + kept * (double)small - series(from, next(&job->seed) & 63);
    return x / (1 + __builtin_fabs(x) * 0.01); /* below 100 */
}

static void work(struct job *job)
{
    for (unsigned i = 0; i < job->steps; i++) {
        if (job->floats) {
            job->x = job->x * 1e-3 + nested(job, next(&job->seed) % 9, job->x, job->y);
            job->y = (float)job->x * 0.25f;
            job->n += (unsigned)(int)(job->y * 4096);
        } else {
            job->n = job->n * 6364136223846793005ull + next(&job->seed);
            YIELD(job->seed);
        }
    }
}

static void make(struct job *job, unsigned seed, unsigned i)
{
    job->seed = seed + 7919 * i;
    job->steps = 5 + next(&job->seed) % 20;
    job->floats = i % 3 != 2;
    job->x = 1.25 + i;
    job->y = 0.5f;
    job->n = i;
}
"#;

/// A job's result as bits.
const SHOW: &str = r"
static void show(const struct job *job)
{
    union { double d; unsigned w[2]; } x = {job->x};
    union { float f; unsigned w; } y = {job->y};
    HEX(x.w[FIRST]); HEX(x.w[1 - FIRST]); HEX(y.w); HEX((unsigned)(job->n >> 32)); HEX((unsigned)job->n);
}
";

const HERE: &str = r#"
#include <stdio.h>
#define YIELD(x) (void)(x)
#define HEX(x) printf("%08x ", x)
#define FIRST (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
#define MAIN int main(void) { struct job job; for (unsigned i = 0; i < N; i++) { make(&job, SEED, i); work(&job); show(&job); printf("\n"); } return 0; }
"#;

const THERE: &str = r#"
#include "regwin.h"
#define YIELD(x) do { if (SWITCHES && (x) % 3 == 0) thr_yield(); } while (0)
#define HEX(x) (console_hex(x), console_text(" "))
#define FIRST 0
#define MAIN \
    static struct job jobs[N]; static struct thr threads[N]; static unsigned stacks[N][1024] __attribute__((aligned(8))); \
    static void run(void *x) { work(x); } \
    int main(void) { \
        double boot = 0.1; \
        for (unsigned i = 0; i < N; i++) { \
            make(&jobs[i], SEED, i); \
            thr_create(&threads[i], "t", stacks[i], sizeof stacks[i], run, &jobs[i]); \
            boot = boot * 1.5 + i; \
        } \
        START; \
        return boot < 0; \
    } \
    void machine_idle(void *x) { (void)x; for (unsigned i = 0; i < N; i++) { show(&jobs[i]); console_text("\n"); } thr_report(); machine_stop(); }
"#;

fn source(begins: &str, defines: &[(&str, String)]) -> String {
    let defines: String =
        defines.iter().map(|(name, value)| format!("#define {name} {value}\n")).collect();
    format!("{defines}{begins}{WORK}{SHOW}MAIN\n")
}

/// What this machine computes.
fn here(n_threads: u32, seed: u32) -> String {
    let folder = measure::scratch::folder().expect("a folder");
    let text = source(HERE, &[("N", n_threads.to_string()), ("SEED", format!("{seed}u"))]);
    std::fs::write(folder.path().join("here.c"), text).expect("the program");
    let mut gcc = Command::new("gcc");
    support::run(gcc.current_dir(folder.path()).args([
        "-O2",
        "-std=gnu11",
        "-ffp-contract=off",
        "here.c",
        "-lm",
        "-o",
        "here",
    ]));
    support::run(&mut Command::new(folder.path().join("here")))
}

/// What the runtime's threads compute; `quantum` is the ticks between interrupts, 0 for threads
/// that switch by themselves.
fn there(build: Build, n_threads: u32, seed: u32, quantum: u32) -> String {
    let switches = u32::from(quantum == 0 || seed.is_multiple_of(2));
    let start = if quantum == 0 { String::new() } else { format!("thr_preempt({quantum})") };
    let n = ("N", n_threads.to_string());
    support::printed(
        build,
        &source(
            THERE,
            &[
                n,
                ("SEED", format!("{seed}u")),
                ("SWITCHES", switches.to_string()),
                ("START", start),
            ],
        ),
    )
}

fn compare(options: &[&str], quantum: impl Fn(&mut fastrand::Rng) -> u32) {
    for (seed, scheme) in SCHEMES.into_iter().cycle().take(3 * SCHEMES.len()).enumerate() {
        let mut rng = fastrand::Rng::with_seed(seed as u64);
        let build = Build {
            options,
            flags: &["-fno-math-errno"],
            clang: seed % 5 == 4,
            windows: rng.u32(4..=32),
            ..Build::of(scheme)
        };
        let (n_threads, quantum) = (rng.u32(2..=9), quantum(&mut rng));
        let what = format!(
            "seed {seed}, {build:?}, {n_threads} threads, an interrupt each {quantum} ticks"
        );
        assert_eq!(
            there(build, n_threads, seed as u32, quantum),
            here(n_threads, seed as u32) + "regwin: done\n",
            "{what}"
        );
    }
}

#[test]
fn threads_that_switch_compute_what_is_computed_here() {
    compare(&["fpu"], |_| 0);
}

/// Interrupts come between any two instructions, with all registers of floating point in use.
#[test]
fn threads_that_are_interrupted_compute_what_is_computed_here() {
    compare(&["fpu", "preempt"], |rng| rng.u32(3..60));
}

fn main_and(threads: &str, main: &str) -> String {
    format!(
        "#include \"regwin.h\"\n{threads}\nint main(void) {{ {main} return 0; }}\n\
         void machine_idle(void *x) {{ (void)x; thr_report(); machine_stop(); }}\n"
    )
}

/// Each thread adds thirds with its own rounding, in turns with the others; the sums differ
/// in their last bits.
#[test]
fn rounding_is_each_threads_own() {
    let threads = r#"
static struct thr threads[3];
static unsigned stacks[3][512] __attribute__((aligned(8)));
static volatile double one = 1, three = 3;
static void add(void *x)
{
    unsigned fsr = (unsigned)x << 30;
    double sum = 0;
    __asm__ volatile("ld [%0], %%fsr" : : "r"(&fsr) : "memory");
    for (int i = 0; i < 1000; i++) {
        sum += one / three;
        thr_yield();
    }
    union { double d; unsigned w[2]; } bits = {sum};
    console_hex(bits.w[0]); console_hex(bits.w[1]); console_text("\n");
}
"#;
    let main = "for (unsigned i = 0; i < 3; i++) thr_create(&threads[i], \"t\", stacks[i], sizeof stacks[i], add, (void *)(i + (i > 0)));";
    // To nearest, up, down: 2 and 3 in bits 31 and 30 of the state.
    let here = r#"
#include <fenv.h>
#include <stdio.h>
#include <string.h>
int main(void)
{
    const int modes[3] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD};
    for (int m = 0; m < 3; m++) {
        volatile double one = 1, three = 3, sum = 0;
        unsigned long long bits;
        fesetround(modes[m]);
        for (int i = 0; i < 1000; i++) sum = sum + one / three;
        double s = sum;
        memcpy(&bits, &s, 8);
        printf("%016llx\n", bits);
    }
    return 0;
}
"#;
    let folder = measure::scratch::folder().expect("a folder");
    std::fs::write(folder.path().join("here.c"), here).expect("the program");
    support::run(Command::new("gcc").current_dir(folder.path()).args([
        "-O1",
        "-frounding-math",
        "here.c",
        "-lm",
        "-o",
        "here",
    ]));
    let expected = support::run(&mut Command::new(folder.path().join("here")));
    let mut sums: Vec<&str> = expected.lines().collect();
    sums.dedup();
    assert_eq!(sums.len(), 3, "the sums tell the modes apart: {expected}");
    for scheme in SCHEMES {
        let build = Build { options: &["fpu"], ..Build::of(scheme) };
        assert_eq!(
            support::printed(build, &main_and(threads, main)),
            format!("{expected}regwin: done\n"),
            "{scheme:?}"
        );
    }
}

/// A thread that does not compute with floating point never gets it, and one that ended leaves it
/// free: its record and its stack are used for other things at once.
#[test]
fn threads_without_floating_point_never_get_it() {
    let threads = r#"
extern struct thr *fpu_owner;
static struct thr floats, whole, again;
static unsigned sf[512] __attribute__((aligned(8))), sw[512] __attribute__((aligned(8))), sa[512] __attribute__((aligned(8)));
static volatile double x = 1.5;
static volatile int n_taken, n_done;
static void compute(void *arg) { (void)arg; for (int i = 0; i < 50; i++) { x = x * 1.25 - 0.125; thr_yield(); } n_done++; }
static void count(void *arg)
{
    (void)arg;
    thr_yield();
    while (n_done == 0) {
        unsigned psr;
        __asm__ volatile("rd %%psr, %0" : "=r"(psr));
        n_taken += fpu_owner != &floats || psr >> 12 & 1;
        thr_yield();
    }
    n_taken += fpu_owner != 0;
    for (unsigned i = 0; i < sizeof floats / 4; i++) ((unsigned *)&floats)[i] = 0xdeadbeef;
    thr_create(&again, "again", sa, sizeof sa, compute, 0);
    while (n_done == 1) thr_yield();
    for (unsigned i = 0; i < sizeof floats / 4; i++) n_taken += ((unsigned *)&floats)[i] != 0xdeadbeef;
    console_number(n_taken); console_text("\n");
}
"#;
    let main = "thr_create(&floats, \"f\", sf, sizeof sf, compute, 0); thr_create(&whole, \"w\", sw, sizeof sw, count, 0);";
    for scheme in SCHEMES {
        for windows in [4, 32] {
            let build = Build { options: &["fpu"], windows, ..Build::of(scheme) };
            assert_eq!(
                support::printed(build, &main_and(threads, main)),
                "0\nregwin: done\n",
                "{scheme:?}, {windows} windows"
            );
        }
    }
}

/// Without the option it is a trap that is named, also for a thread that has another one after it.
#[test]
fn without_the_option_a_float_is_a_named_trap() {
    for (name, what) in [("adds", "x = x + 1;"), ("compares", "if (x > 1) console_text(\"more\");")]
    {
        let thread = format!(
            "static volatile float x; static struct thr t; static unsigned s[512] __attribute__((aligned(8)));\n\
             static void run(void *arg) {{ (void)arg; {what} }}"
        );
        let main = format!("thr_create(&t, \"{name}\", s, sizeof s, run, 0);");
        for scheme in SCHEMES {
            let text = support::printed(Build::of(scheme), &main_and(&thread, &main));
            assert!(
                text.starts_with("regwin: trap 00000004 at ")
                    && text.ends_with(&format!(" in {name}\n")),
                "{scheme:?}: {text}"
            );
        }
    }
}

/// No library for it can be had: the header says so, and to whom it does not matter.
#[test]
fn software_floating_point_is_refused_with_a_reason() {
    let folder = measure::scratch::folder().expect("a folder");
    std::fs::write(
        folder.path().join("program.c"),
        main_and("double x; void f(void) { x = x * 2; }", ""),
    )
    .expect("the program");
    let build = Build::of(Scheme::Sp);
    let compile = |more: &[&str]| {
        let out = support::compiler(&build)
            .current_dir(folder.path())
            .args(more)
            .arg("program.c")
            .output()
            .expect("the compiler starts");
        (out.status.success(), String::from_utf8_lossy(&out.stderr).into_owned())
    };
    let (done, said) = compile(&["-msoft-float"]);
    assert!(
        !done && said.contains("-msoft-float needs __adddf3") && said.contains("use FPU"),
        "{said}"
    );
    let (done, said) = compile(&["-msoft-float", "-DTHR_SOFT_FLOAT"]);
    assert!(done, "{said}");
    let (done, said) = compile(&[]);
    assert!(done, "{said}");
}
