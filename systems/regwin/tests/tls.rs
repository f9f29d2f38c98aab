//! `__thread`: variables that each thread has for itself, with gcc and clang, under each scheme.

use crate::support;

use std::process::Command;

use support::{Build, SCHEMES, printed};

const PROGRAM: &str = r#"
#include "regwin.h"
static __thread unsigned counted = 7, zero;
static __thread char name[5] = "none";
__thread unsigned long long wide = 0x100000002ull;
static struct thr_tls a = THR_TLS_RECORD, b = THR_TLS_RECORD;
static struct thr bare;
static unsigned sa[512] __attribute__((aligned(8))), sb[512] __attribute__((aligned(8)));
static unsigned wrong;
static __attribute__((noinline)) void deep(unsigned depth, unsigned step)
{
    if (depth)
        deep(depth - 1, step);
    counted += step;
    zero += 2 * step;
    wide += step;
    thr_yield();
}
static void work(void *argument)
{
    unsigned step = (unsigned)argument;
    wrong += counted != 7 || zero != 0 || wide != 0x100000002ull || name[0] != 'n' || name[4];
    name[0] = (char)('a' + step);
    for (int i = 0; i < 20; i++)
        deep(10, step);
    wrong += counted != 7 + 220 * step || zero != 440 * step || wide != 0x100000002ull + 220 * step || name[0] != (char)('a' + step);
}
static void again(void *argument)
{
    work(argument);
    thr_join(&a.thr);
    thr_create(&a.thr, "a", sa, sizeof sa, work, (void *)3); /* begins with what the first one began with */
    thr_join(&a.thr);
    console_text(wrong ? "wrong\n" : "right\n");
#ifdef PREEMPT
    thr_preempt(0);
#endif
}
int main(void)
{
    counted++;
    if (thr_create(&bare, "bare", sa, sizeof sa, work, 0) != THR_REFUSED || counted != 8 || wide != 0x100000002ull)
        console_text("main\n");
    thr_create(&a.thr, "a", sa, sizeof sa, work, (void *)1);
    thr_create(&b.thr, "b", sb, sizeof sb, again, (void *)2);
#ifdef PREEMPT
    thr_preempt(40);
#endif
    return 0;
}
void machine_idle(void *unused)
{
    (void)unused;
    if (counted != 7)
        console_text("idle\n");
    thr_report();
    machine_stop();
}
"#;

#[test]
fn each_thread_has_its_own() {
    for scheme in SCHEMES {
        for options in [&["tls"][..], &["tls", "preempt", "priorities", "fpu"]] {
            for clang in [false, true] {
                let build = Build { options, clang, ..Build::of(scheme) };
                assert_eq!(printed(build, PROGRAM), "right\nregwin: done\n", "{build:?}");
            }
        }
    }
}

/// What the linker says of a program.
fn link(options: &[&str], program: &str) -> String {
    let build = Build { options, ..Build::of(SCHEMES[2]) };
    let folder = measure::scratch::folder().expect("a folder");
    std::fs::write(folder.path().join("program.c"), program).expect("the program");
    support::run(support::compiler(&build).current_dir(folder.path()).arg("program.c"));
    let library = support::library(&build).join("lib");
    let mut link = Command::new("sparc64-linux-gnu-ld");
    link.current_dir(folder.path())
        .args(regwin::library::LINK)
        .arg("-T")
        .arg(library.join("regwin.ld"))
        .args(["-o", "x.elf", "program.o"]);
    let out = link.arg(library.join("librw-sp.a")).output().expect("the linker starts");
    assert!(!out.status.success(), "{options:?}: it was linked");
    String::from_utf8_lossy(&out.stderr).into_owned()
}

#[test]
fn what_does_not_fit_is_not_linked() {
    let program = |bytes: u32| {
        format!(
            "#include \"regwin.h\"\n__thread char its[{bytes}];\nint main(void) {{ return its[0]; }}\nvoid machine_idle(void *x) {{ (void)x; machine_stop(); }}\n"
        )
    };
    assert!(link(&[], &program(4)).contains("regwin: __thread needs the option tls"));
    assert!(link(&["tls"], &program(129)).contains("regwin: more than 128 bytes of __thread"));
}
