//! A stack that is too small is a fault that names the thread, before any window is stored below
//! it.

use crate::support;

use regwin::image::{Program, Recipe};
use regwin::{Behaviour, Schedule, Scheme, Variant, sim, spell};
use support::{Build, SCHEMES};

/// Memory below a stack that no thread writes; when the machine stops it says how many words there
/// have changed. A first thread, with all the room it wants, does what `a` will do, and finds out
/// how many bytes that takes; `a` gets `SPARE` more, or as many as `STACK` says.
const BEGINNING: &str = r#"
#include "regwin.h"
#define WORDS 256
static struct thr first, a, b;
static unsigned first_stack[8192] __attribute__((aligned(8))), b_stack[512] __attribute__((aligned(8)));
static struct { unsigned below[WORDS], stack[8192]; } a_memory __attribute__((aligned(8)));
static unsigned used;
void __real_machine_stop(void) __attribute__((noreturn));
void __wrap_machine_stop(void)
{
    unsigned n = 0;
    for (unsigned i = 0; i < WORDS; i++)
        n += a_memory.below[i] != 0x5a5a5a5a;
    console_number(n);
    console_text(" below\n");
    __real_machine_stop();
}
static __attribute__((noinline)) unsigned deep(unsigned n)
{
    if (n == 0) {
        unsigned sp;
        __asm__ volatile("mov %%sp, %0" : "=r"(sp));
        if (thr_self() == &first)
            used = (unsigned)first_stack + sizeof first_stack - sp;
        THERE;
        return 0;
    }
    unsigned k = deep(n - 1);
    __asm__ volatile("" : "+r"(k));
    return k + n;
}
static void goes_deep(void *x)
{
    (void)x;
    unsigned sum = deep(DEPTH);
    if (thr_self() == &first) {
        thr_create(&a, "a", a_memory.stack, STACK, goes_deep, 0);
        thr_create(&b, "b", b_stack, sizeof b_stack, (void (*)(void *))thr_yield, 0);
        START;
    } else {
        console_number(sum);
        console_text("\n");
    }
}
int main(void)
{
    for (unsigned i = 0; i < WORDS; i++)
        a_memory.below[i] = 0x5a5a5a5a;
    thr_create(&first, "first", first_stack, sizeof first_stack, goes_deep, 0);
    return 0;
}
void machine_idle(void *x)
{
    (void)x;
    thr_report();
    machine_stop();
}
"#;

/// `a` goes `depth` deep on a stack of so many bytes and does this there.
fn program(stack: &str, depth: u32, there: &str, start: &str) -> String {
    let defines =
        [("STACK", stack), ("DEPTH", &depth.to_string()), ("THERE", there), ("START", start)];
    defines.iter().map(|(name, value)| format!("#define {name} {value}\n")).collect::<String>()
        + BEGINNING
}

fn printed(build: Build, program: &str) -> String {
    support::printed(Build { wraps_stop: true, ..build }, program)
}

const FAULT: &str = "regwin: overflow a\n0 below\n";

#[test]
fn a_window_overflow_below_the_stack_names_the_thread() {
    for scheme in SCHEMES {
        for windows in [4, 8] {
            let build = Build { windows, ..Build::of(scheme) };
            assert_eq!(
                printed(build, &program("640", 200, "", "")),
                FAULT,
                "{scheme:?}, {windows} windows"
            );
            let large = "unsigned room[200]; __asm__ volatile(\"\" : : \"r\"(room)); thr_yield()";
            assert_eq!(
                printed(build, &program("2048", 9, large, "")),
                FAULT,
                "{scheme:?}, {windows} windows, large frames"
            );
        }
    }
}

/// With so many windows nothing is stored before the switch, and no other thread sees the last
/// frame, below the stack or on its guard.
#[test]
fn a_switch_below_the_stack_names_the_thread() {
    for scheme in SCHEMES {
        for (switch, stack) in [
            ("thr_yield()", "used - 56"),
            ("thr_yield_flush()", "used - 56"),
            ("thr_yield()", "used"),
        ] {
            let build = Build { windows: 32, ..Build::of(scheme) };
            assert_eq!(
                printed(build, &program(stack, 12, switch, "")),
                FAULT,
                "{scheme:?}, {switch}, {stack} bytes"
            );
        }
    }
}

#[test]
fn a_flush_below_the_stack_names_the_thread() {
    for scheme in SCHEMES {
        let build = Build { windows: 32, ..Build::of(scheme) };
        assert_eq!(
            printed(build, &program("used - 56", 12, "thr_flush()", "")),
            FAULT,
            "{scheme:?}"
        );
    }
}

/// What an interrupt keeps goes below the interrupted frame.
#[test]
fn an_interrupt_without_room_on_the_stack_names_the_thread() {
    for scheme in SCHEMES {
        for stack in ["used + 8", "used + 72"] {
            let build = Build { windows: 32, options: &["preempt"], ..Build::of(scheme) };
            let spins = program(
                stack,
                12,
                "if (thr_self() == &a) for (;;) __asm__ volatile(\"\")",
                "thr_preempt(100)",
            );
            assert_eq!(printed(build, &spins), FAULT, "{scheme:?}, {stack} bytes");
        }
    }
}

#[test]
fn main_is_told_apart() {
    for scheme in SCHEMES {
        let main = program("4096", 3, "", "")
            .replace("int main(void)\n{", "int main(void)\n{\n    deep(100);");
        let changed = "regwin: overflow boot\n256 below\n"; // main has not prepared them yet
        assert_eq!(printed(Build::of(scheme), &main), changed, "{scheme:?}");
    }
}

/// The same programs with just enough room end.
#[test]
fn a_stack_with_room_is_no_fault() {
    for scheme in SCHEMES {
        for (windows, switch) in [(4, "thr_yield_flush()"), (8, "thr_flush()"), (32, "thr_yield()")]
        {
            let build = Build { windows, ..Build::of(scheme) };
            let fits = program("used + 8", 60, switch, "");
            assert_eq!(
                printed(build, &fits),
                "1830\nregwin: done\n0 below\n",
                "{scheme:?}, {windows} windows, {switch}"
            );
        }
    }
}

/// The handlers that compare keep the flags for the program, as they do without.
#[test]
fn flags_live_on_over_a_window_overflow() {
    let flags = r#"
unsigned flags(unsigned n);
__asm__(".section .text.flags,\"ax\"\n.global flags\nflags:\n"
        "cmp %o0, %o0\n save %sp, -96, %sp\n bne 1f\n nop\n cmp %i0, 0\n be 2f\n clr %l0\n"
        "call flags\n sub %i0, 1, %o0\n mov %o0, %l0\n 2: ret\n restore %l0, 0, %o0\n"
        "1: ret\n restore %g0, 1, %o0\n.previous\n");
static __attribute__((noinline)) unsigned deep"#;
    for scheme in SCHEMES {
        for windows in [4, 8] {
            let calls = program("8192", 3, "", "")
                .replace("static __attribute__((noinline)) unsigned deep", flags);
            let calls = calls.replace("deep(DEPTH)", "flags(40)");
            let build = Build { windows, ..Build::of(scheme) };
            assert_eq!(
                printed(build, &calls),
                "0\nregwin: done\n0 below\n",
                "{scheme:?}, {windows} windows"
            );
        }
    }
}

/// Without the check the same thread goes on: the option does what it says.
#[test]
fn an_unchecked_build_does_not_look() {
    let build = Build { windows: 32, options: &["unchecked"], ..Build::of(Scheme::Sp) };
    let text = printed(build, &program("used - 56", 12, "thr_yield()", ""));
    assert!(text.starts_with("78\n"), "{text}");
}

/// What the checks cost where the spell checker switches most, and stores least.
#[test]
fn the_checks_cost_little() {
    let threads = spell::THREADS.map(str::to_owned);
    for scheme in Scheme::windowed() {
        let cycles = [Variant::Plain, Variant::Checked].map(|variant| {
            let recipe = Recipe { variant, ..Recipe::new(Program::Spell, scheme, Schedule::Fifo) };
            let done = sim::run(&recipe, 32, &spell::blobs(Behaviour::HighFine), &threads)
                .unwrap_or_else(|fault| panic!("{fault:?}"));
            done.counts.cycles.map(|cycle| cycle.total() as f64)
        });
        let more = [0, 1].map(|machine| cycles[1][machine] / cycles[0][machine] - 1.0);
        assert!(more.iter().all(|word| (0.0..0.03).contains(word)), "{scheme:?}: {more:?}");
    }
}
