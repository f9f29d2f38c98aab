//! Who builds the runtime in a folder of his own, by the words of its header, gets a program that boots and is preempted.

use std::path::Path;
use std::process::{Command, Stdio};

const HEADER: &str = include_str!("../runtime/regwin.h");

/// The words behind `gcc:` or `link:` in the header.
fn words(of: &str) -> Vec<&'static str> {
    HEADER.lines().filter_map(|line| line.trim_start_matches([' ', '*']).strip_prefix(of)).flat_map(str::split_whitespace).collect()
}

fn run(command: &mut Command) -> String {
    let out = command.stdin(Stdio::null()).output().expect("the tool starts");
    let text = format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    assert!(out.status.success(), "{command:?}: {text}");
    text
}

/// What this program prints, built with more flags for its C.
fn printed(more: &[&str], program: &str) -> String {
    let folder = measure::scratch::folder().expect("a folder");
    let runtime = Path::new(env!("CARGO_MANIFEST_DIR")).join("runtime");
    for file in std::fs::read_dir(runtime).expect("the runtime") {
        let file = file.expect("a file");
        std::fs::copy(file.path(), folder.path().join(file.file_name())).expect("a copy");
    }
    std::fs::write(folder.path().join("program.c"), program).expect("the program");
    let files = "boot.S ready.S threads.c streams.c int64.c console.c overflow_sharing.S underflow_sharing.S \
                 flush_sharing.S switch_sp.S preempt.S program.c";
    let mut gcc = Command::new("sparc64-linux-gnu-gcc");
    run(gcc
        .current_dir(folder.path())
        .args(words("gcc:"))
        .args(["-DSCHEME_SP", "-DPREEMPT", "-I.", "-c"])
        .args(more)
        .args(files.split(' ')));
    let objects = files.split(' ').map(|it| format!("{}.o", it.rsplit_once('.').expect("an ending").0));
    run(Command::new("sparc64-linux-gnu-ld").current_dir(folder.path()).args(words("link:")).args(["-o", "x.elf"]).args(objects));
    let qemu = "20 qemu-system-sparc -M leon3_generic -cpu LEON3,nwindows=8 -nographic -monitor none -serial stdio -kernel x.elf";
    run(Command::new("timeout").current_dir(folder.path()).args(qemu.split(' ')))
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
    assert_eq!(printed(&[], SPINNER), "seen\nregwin: done\n");
}

#[test]
fn functions_in_sections_of_their_own_are_preempted() {
    assert_eq!(printed(&["-ffunction-sections"], SPINNER), "seen\nregwin: done\n");
}

#[test]
fn a_function_in_a_section_with_the_users_name_is_preempted() {
    let named = SPINNER.replace("static void spin", "__attribute__((section(\".text.mine\"))) static void spin");
    assert_eq!(printed(&[], &named), "seen\nregwin: done\n");
}
