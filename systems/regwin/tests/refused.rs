//! What would run wild is refused, under each scheme: threads that cannot be made, and a program
//! without any.

use crate::support;

use support::{Build, SCHEMES, printed};

const FRAME: &str = r#"
#include "regwin.h"
static struct KIND a BEGINS, b BEGINS;
static unsigned first[512] __attribute__((aligned(8))), second[512] __attribute__((aligned(8)));
static void work(void *argument) { for (int i = 0; i < 3; i++) thr_yield(); console_text(argument); }
static void says(int result) { console_text(result == THR_REFUSED ? "refused\n" : "made\n"); }
void machine_idle(void *unused) { (void)unused; thr_report(); machine_stop(); }
int main(void)
{
    BODY
    return 0;
}
"#;

const OPTIONS: [&[&str]; 4] =
    [&[], &["preempt"], &["preempt", "priorities", "fpu", "tls"], &["priorities", "working-set"]];

fn prints(body: &str, expected: &str) {
    for scheme in SCHEMES {
        for options in OPTIONS {
            for (clang, windows) in [(false, 4), (true, 8)] {
                let is_tls = options.contains(&"tls");
                let program = FRAME.replace("BEGINS", if is_tls { "= THR_TLS_RECORD" } else { "" });
                let program = program
                    .replace("KIND", if is_tls { "thr_tls" } else { "thr" })
                    .replace("BODY", body);
                let program = program
                    .replace("&a", if is_tls { "&a.thr" } else { "&a" })
                    .replace("&b", if is_tls { "&b.thr" } else { "&b" });
                let flags: &[&str] = &["-Wno-unused-function", "-Wno-unused-variable"];
                let build = Build { options, flags, clang, windows, ..Build::of(scheme) };
                assert_eq!(printed(build, &program), expected, "{build:?}");
            }
        }
    }
}

#[test]
fn a_program_without_threads_ends() {
    prints("", "regwin: done\n");
}

#[test]
fn a_thread_that_has_not_ended_is_not_made_again() {
    let body = r#"
    says(thr_create(&a, "a", first, sizeof first, work, "a\n"));
    says(thr_create(&a, "a", second, sizeof second, work, "wrong\n"));
    says(thr_create(&b, "b", second, sizeof second, work, "b\n"));
    says(thr_create(&b, "b", second, sizeof second, work, "wrong\n"));
    "#;
    prints(body, "made\nrefused\nmade\nrefused\na\nb\nregwin: done\n");
}

#[test]
fn a_stack_that_is_not_aligned_or_too_small_is_refused() {
    let body = r#"
    says(thr_create(&a, "a", (char *)first + 4, 1024, work, "wrong\n"));
    says(thr_create(&a, "a", (char *)first + 1, 1024, work, "wrong\n"));
    says(thr_create(&a, "a", first, THR_STACK_MIN - 1, work, "wrong\n"));
    says(thr_create(&b, "b", second, 1027, work, "b\n"));
    "#;
    prints(body, "refused\nrefused\nrefused\nmade\nb\nregwin: done\n");
}
