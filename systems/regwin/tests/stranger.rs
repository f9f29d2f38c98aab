//! The runtime built in a folder outside the tree, by the words of its header, gives a program that
//! boots and is preempted.

use crate::support;

use regwin::Scheme;
use support::{Build, SCHEMES};

/// What this program prints, built with more flags for its C.
fn printed(flags: &[&str], program: &str) -> String {
    support::printed(Build { flags, options: &["preempt"], ..Build::of(Scheme::Sp) }, program)
}

/// A thread that spins until another, made after it, has run: it ends only if it is interrupted.
const SPINNER: &str = r#"
#include "regwin.h"
static struct thr a, b;
static unsigned sa[512] __attribute__((aligned(8))), sb[512] __attribute__((aligned(8)));
static volatile int seen;
static void spin(void *x) { (void)x; while (!seen) ; console_text("seen\n"); thr_preempt(0); }
static void set(void *x) { (void)x; seen = 1; }
int main(void) { thr_create(&a, "a", sa, sizeof sa, spin, 0); thr_create(&b, "b", sb, sizeof sb, set, 0); thr_preempt(1000); return 0; }
void machine_idle(void *x) { (void)x; thr_report(); machine_stop(); }
"#;

#[test]
fn the_flags_of_the_header_build_a_program_that_is_preempted() {
    for scheme in SCHEMES {
        let build = Build { options: &["preempt"], ..Build::of(scheme) };
        assert_eq!(support::printed(build, SPINNER), "seen\nregwin: done\n", "{scheme:?}");
    }
}

#[test]
fn functions_in_sections_of_their_own_are_preempted() {
    assert_eq!(printed(&["-ffunction-sections"], SPINNER), "seen\nregwin: done\n");
}

#[test]
fn a_function_in_a_section_with_the_users_name_is_preempted() {
    let named = SPINNER
        .replace("static void spin", "__attribute__((section(\".text.mine\"))) static void spin");
    assert_eq!(printed(&[], &named), "seen\nregwin: done\n");
}

/// Threads that come and go in one piece of memory, which is used for something else between them.
const SHORT: &str = r#"
#include "regwin.h"
static struct thr maker, one, others[6];
static unsigned sm[512] __attribute__((aligned(8))), so[256] __attribute__((aligned(8)));
static unsigned st[6][256] __attribute__((aligned(8)));
static volatile int n, stop;
static void count(void *x) { (void)x; n++; }
static void stay(void *x) { (void)x; while (!stop) thr_yield(); }
static void make(void *x)
{
    (void)x;
    for (int i = 0; i < 6; i++)
        thr_create(&others[i], "stays", st[i], sizeof st[i], stay, 0);
    for (int i = 0; i < 100; i++) {
        if (thr_create(&one, "short", so, sizeof so, count, 0) != 0)
            console_text("no room\n");
        while (n != i + 1)
            thr_yield();
        thr_yield();
        for (unsigned at = 0; at < sizeof so / 4; at++)
            so[at] = 0xdeadbeefu;
        one.name = "something else";
    }
    stop = 1;
    console_text(n == 100 ? "all\n" : "some\n");
}
int main(void) { return thr_create(&maker, "maker", sm, sizeof sm, make, 0); }
void machine_idle(void *x) { (void)x; thr_report(); machine_stop(); }
"#;

#[test]
fn threads_that_ended_make_room_and_leave_their_memory() {
    assert_eq!(printed(&[], SHORT), "all\nregwin: done\n");
}

/// A thread that breaks its guard and ends is named, also if its memory looks whole again later.
const BROKEN: &str = r#"
#include "regwin.h"
static struct thr bad, good;
static unsigned sb[256] __attribute__((aligned(8))), sg[256] __attribute__((aligned(8)));
static void breaks(void *x) { (void)x; sb[0] = 1; }
static void mends(void *x) { (void)x; thr_yield(); sb[0] = THR_GUARD; }
int main(void) { thr_create(&bad, "bad", sb, sizeof sb, breaks, 0); return thr_create(&good, "good", sg, sizeof sg, mends, 0); }
void machine_idle(void *x) { (void)x; thr_report(); machine_stop(); }
"#;

#[test]
fn a_broken_stack_is_named_after_its_thread_has_ended() {
    assert_eq!(printed(&[], BROKEN), "regwin: overflow bad\n");
}

/// The machine has 3 windows at least: then each scheme says that they are too few, whatever
/// else it can do.
#[test]
fn too_few_windows_are_said_at_boot() {
    for scheme in SCHEMES {
        for options in [&["preempt", "fpu"][..], &["preempt"]] {
            let build = |windows| Build { options, windows, ..Build::of(scheme) };
            assert_eq!(
                support::printed(build(3), SPINNER),
                "regwin: fewer than 4 windows\n",
                "{scheme:?}, {options:?}"
            );
            assert_eq!(
                support::printed(build(4), SPINNER),
                "seen\nregwin: done\n",
                "{scheme:?}, {options:?}"
            );
        }
    }
}
