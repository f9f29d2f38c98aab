//! Door: compiles the library that OpenMP programs are started with, so that the machines they run
//! on need no compiler.

use std::path::PathBuf;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=preload/team.c");
    let made =
        PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo says where")).join("team.so");
    // What links Rust programs compiles this.
    let mut command = Command::new("cc");
    command
        .args(["-std=gnu11", "-O2", "-fPIC", "-shared", "-o"])
        .arg(&made)
        .args(["preload/team.c", "-ldl"]);
    let ran = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(ran.status.success(), "{command:?}: {}", String::from_utf8_lossy(&ran.stderr));
}
