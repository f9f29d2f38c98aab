//! Door: compiles the library that OpenMP programs are started with, so that the machines they run
//! on need no compiler. It names no version of the C library, and so fits whatever one they have.

use std::path::PathBuf;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=preload/team.c");
    let made =
        PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo says where")).join("team.so");
    let of = |name: &str| std::env::var(name).expect("cargo says it");
    // What links Rust programs compiles this; for another processor Debian's compiler for that.
    let (target, host) = (of("CARGO_CFG_TARGET_ARCH"), of("HOST"));
    let compiler = match host.starts_with(&target) {
        true => "cc".to_owned(),
        false => format!("{target}-linux-gnu-gcc"),
    };
    let mut command = Command::new(compiler);
    command
        .args(["-std=gnu11", "-O2", "-fPIC", "-shared", "-nostdlib", "-o"])
        .arg(&made)
        .args(["preload/team.c", "-lgcc"]);
    let ran = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(ran.status.success(), "{command:?}: {}", String::from_utf8_lossy(&ran.stderr));
}
