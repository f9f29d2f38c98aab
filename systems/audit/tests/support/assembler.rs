//! Assembly as a function, through llvm-mc.

use std::process::Command;
use std::time::Duration;

use audit::decode::{Isa, Linear};
use audit::program::function::Function;

/// What a tool says.
pub fn run(tool: &str, arguments: &[&str], input: &str) -> String {
    let ran = measure::tool::run(
        Command::new(tool).args(arguments),
        input.as_bytes(),
        Duration::from_secs(60),
    );
    ran.and_then(measure::tool::Ran::ok).unwrap_or_else(|error| panic!("{error}")).text()
}

/// The options of LLVM's tools for a set.
pub fn triple(isa: Isa) -> [&'static str; 2] {
    match isa {
        Isa::A32 => ["--triple=armv6k", "--mattr=+vfp2"],
        Isa::T32 => ["--triple=thumbv7em-none-eabi", "--mattr=+fp-armv8d16sp"],
        Isa::A64 => ["--triple=aarch64", "--mattr=+neon,+aes"],
        Isa::Riscv64 => ["--triple=riscv64", "--mattr=+m,+a,+f,+d,+zbb"],
        _ => panic!("not compared here"),
    }
}

/// The function that this assembly is.
pub fn assembled(isa: Isa, text: &str) -> Function {
    let said = run("llvm-mc-19", &[&triple(isa)[..], &["--show-encoding"]].concat(), text);
    let encodings =
        said.lines().filter_map(|line| line.split("encoding: [").nth(1)?.split(']').next());
    let bytes: Vec<u8> = encodings
        .flat_map(|encoding| {
            encoding.split(',').map(|byte| {
                u8::from_str_radix(byte.trim().trim_start_matches("0x"), 16)
                    .expect("an encoding is hexadecimal")
            })
        })
        .collect();
    let (mut linear, mut instructions) = (Linear::new(isa), Vec::new());
    let mut at = 0;
    while at < bytes.len() {
        let instruction =
            linear.decode(at as u64, &bytes[at..]).expect("llvm-mc makes instructions");
        at += usize::from(instruction.length);
        instructions.push(instruction);
    }
    assert_eq!(instructions.len(), text.lines().count(), "one instruction a line");
    let frames = vec![Vec::new(); instructions.len()];
    Function {
        name: "random".to_owned(),
        isa,
        instructions,
        frames,
        callees: Default::default(),
        is_cold: false,
        constants: Default::default(),
        tables: Default::default(),
        cases: Default::default(),
        arguments: Default::default(),
        addresses: Default::default(),
    }
}
