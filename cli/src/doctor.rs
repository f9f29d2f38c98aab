//! `meanwhile doctor`: which external tools each system needs, and which are there.

use clap::builder::PossibleValuesParser;
use measure::machine::{self, Feature, Machine};
use report::{Cell, Table, Tone};
use serde_json::json;

use crate::output::{Failure, Output};

/// Arguments of `meanwhile doctor`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only what one system or task needs.
    #[arg(long, value_name = "NAME", value_parser = system())]
    system: Option<String>,
}

/// A system that needs tools.
fn system() -> PossibleValuesParser {
    let mut known: Vec<&str> = TOOLS.iter().map(|tool| tool.system).collect();
    known.sort_unstable();
    known.dedup();
    PossibleValuesParser::new(known)
}

/// Where a missing tool comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum From {
    Debian(&'static str),
    /// A toolchain of rustup.
    Rustup(&'static str),
    /// A program on crates.io.
    Cargo(&'static str),
}

#[derive(Debug)]
struct Tool {
    /// The system or task that needs it.
    system: &'static str,
    name: &'static str,
    /// What it is needed for.
    used_for: &'static str,
    /// The command that makes it say its version.
    asks: (&'static str, &'static [&'static str]),
    /// Where it comes from.
    from: From,
}

const VERSION: &[&str] = &["--version"];

const TOOLS: &[Tool] = &[
    Tool {
        system: "cipher",
        name: "gcc",
        used_for: "compiles and runs the emitted C",
        asks: ("gcc", VERSION),
        from: From::Debian("build-essential"),
    },
    Tool {
        system: "cipher",
        name: "clang-19",
        used_for: "the second compiler",
        asks: ("clang-19", VERSION),
        from: From::Debian("clang-19"),
    },
    Tool {
        system: "cipher",
        name: "aarch64-linux-gnu-gcc",
        used_for: "compiles Neon code",
        asks: ("aarch64-linux-gnu-gcc", VERSION),
        from: From::Debian("gcc-aarch64-linux-gnu"),
    },
    Tool {
        system: "cipher",
        name: "qemu-aarch64",
        used_for: "runs Neon code",
        asks: ("qemu-aarch64", VERSION),
        from: From::Debian("qemu-user"),
    },
    Tool {
        system: "cipher",
        name: "s390x-linux-gnu-gcc",
        used_for: "compiles plain C for a big-endian processor in tests",
        asks: ("s390x-linux-gnu-gcc", VERSION),
        from: From::Debian("gcc-s390x-linux-gnu"),
    },
    Tool {
        system: "cipher",
        name: "riscv64-linux-gnu-gcc",
        used_for: "compiles packages for RISC-V in tests",
        asks: ("riscv64-linux-gnu-gcc", VERSION),
        from: From::Debian("gcc-riscv64-linux-gnu"),
    },
    Tool {
        system: "cipher",
        name: "arm-linux-gnueabihf-gcc",
        used_for: "compiles packages for 32-bit Arm in tests",
        asks: ("arm-linux-gnueabihf-gcc", VERSION),
        from: From::Debian("gcc-arm-linux-gnueabihf"),
    },
    Tool {
        system: "cipher",
        name: "qemu-s390x",
        used_for: "runs it",
        asks: ("qemu-s390x", VERSION),
        from: From::Debian("qemu-user"),
    },
    Tool {
        system: "cipher",
        name: "valgrind",
        used_for: "checks the emitted C",
        asks: ("valgrind", VERSION),
        from: From::Debian("valgrind"),
    },
    Tool {
        system: "cipher",
        name: "openssl",
        used_for: "streams are compared with its own",
        asks: ("openssl", &["version"]),
        from: From::Debian("openssl"),
    },
    Tool {
        system: "cipher",
        name: "libgcrypt",
        used_for: "Serpent is compared with its own",
        asks: ("libgcrypt-config", VERSION),
        from: From::Debian("libgcrypt20-dev"),
    },
    Tool {
        system: "cipher",
        name: "pkg-config",
        used_for: "finds packages of C in tests",
        asks: ("pkg-config", VERSION),
        from: From::Debian("pkg-config"),
    },
    Tool {
        system: "cipher",
        name: "pip",
        used_for: "builds Python packages in tests",
        asks: ("pip3", VERSION),
        from: From::Debian("python3-pip"),
    },
    Tool {
        system: "audit",
        name: "llvm-mc-19",
        used_for: "checks the decoders in tests",
        asks: ("llvm-mc-19", VERSION),
        from: From::Debian("llvm-19"),
    },
    Tool {
        system: "audit",
        name: "qemu-arm",
        used_for: "checks in tests what instructions read and write",
        asks: ("qemu-arm", VERSION),
        from: From::Debian("qemu-user"),
    },
    Tool {
        system: "audit",
        name: "qemu-system-sparc",
        used_for: "the same for SPARC",
        asks: ("qemu-system-sparc", VERSION),
        from: From::Debian("qemu-system-sparc"),
    },
    Tool {
        system: "audit",
        name: "arm-linux-gnueabi-gcc",
        used_for: "compiles C and assembly for Arm cores",
        asks: ("arm-linux-gnueabi-gcc", VERSION),
        from: From::Debian("gcc-arm-linux-gnueabi"),
    },
    Tool {
        system: "audit",
        name: "arm-linux-gnueabi-g++",
        used_for: "compiles C++ for Arm cores",
        asks: ("arm-linux-gnueabi-g++", VERSION),
        from: From::Debian("g++-arm-linux-gnueabi"),
    },
    Tool {
        system: "audit",
        name: "aarch64-linux-gnu-gcc",
        used_for: "compiles C for 64-bit Arm cores",
        asks: ("aarch64-linux-gnu-gcc", VERSION),
        from: From::Debian("gcc-aarch64-linux-gnu"),
    },
    Tool {
        system: "audit",
        name: "qemu-aarch64",
        used_for: "compares what edits do on 64-bit Arm",
        asks: ("qemu-aarch64", VERSION),
        from: From::Debian("qemu-user"),
    },
    Tool {
        system: "audit",
        name: "aarch64-linux-gnu-g++",
        used_for: "compiles C++ for 64-bit Arm cores",
        asks: ("aarch64-linux-gnu-g++", VERSION),
        from: From::Debian("g++-aarch64-linux-gnu"),
    },
    Tool {
        system: "audit",
        name: "arm-none-eabi-gcc",
        used_for: "the same for Cortex-M and the other cores of Thumb",
        asks: ("arm-none-eabi-gcc", VERSION),
        from: From::Debian("gcc-arm-none-eabi"),
    },
    Tool {
        system: "audit",
        name: "riscv64-unknown-elf-gcc",
        used_for: "is asked what it believes of RISC-V's cores",
        asks: ("riscv64-unknown-elf-gcc", VERSION),
        from: From::Debian("gcc-riscv64-unknown-elf"),
    },
    Tool {
        system: "audit",
        name: "llvm-mca-19",
        used_for: "the same of LLVM, and the pipeline beside ours in tests",
        asks: ("llvm-mca-19", VERSION),
        from: From::Debian("llvm-19"),
    },
    Tool {
        system: "audit",
        name: "qemu-arm",
        used_for: "runs the case study",
        asks: ("qemu-arm", VERSION),
        from: From::Debian("qemu-user"),
    },
    Tool {
        system: "tests",
        name: "chromium",
        used_for: "opens the page of an audit in a test",
        asks: ("chromium", VERSION),
        from: From::Debian("chromium"),
    },
    Tool {
        system: "tests",
        name: "chromedriver",
        used_for: "clicks on it",
        asks: ("chromedriver", VERSION),
        from: From::Debian("chromium-driver"),
    },
    Tool {
        system: "cosched",
        name: "setsid",
        used_for: "starts programs in sessions of their own where there are no control groups",
        asks: ("setsid", VERSION),
        from: From::Debian("util-linux"),
    },
    Tool {
        system: "cosched",
        name: "cc",
        used_for: "builds the library for OpenMP programs",
        asks: ("cc", VERSION),
        from: From::Debian("build-essential"),
    },
    Tool {
        system: "cosched",
        name: "slurmd",
        used_for: "runs a Slurm of its own in tests",
        asks: ("slurmd", &["-V"]),
        from: From::Debian("slurmd"),
    },
    Tool {
        system: "cosched",
        name: "slurmctld",
        used_for: "the same",
        asks: ("slurmctld", &["-V"]),
        from: From::Debian("slurmctld"),
    },
    Tool {
        system: "cosched",
        name: "srun",
        used_for: "submits jobs in tests",
        asks: ("srun", VERSION),
        from: From::Debian("slurm-client"),
    },
    Tool {
        system: "regwin",
        name: "sparc64-linux-gnu-gcc",
        used_for: "compiles the threads runtime",
        asks: ("sparc64-linux-gnu-gcc", VERSION),
        from: From::Debian("gcc-sparc64-linux-gnu"),
    },
    Tool {
        system: "regwin",
        name: "clang-19",
        used_for: "the second compiler",
        asks: ("clang-19", VERSION),
        from: From::Debian("clang-19"),
    },
    Tool {
        system: "regwin",
        name: "qemu-system-sparc",
        used_for: "runs the threads runtime",
        asks: ("qemu-system-sparc", VERSION),
        from: From::Debian("qemu-system-sparc"),
    },
    Tool {
        system: "regwin",
        name: "gdb-multiarch",
        used_for: "shows the frames of threads in tests",
        asks: ("gdb-multiarch", VERSION),
        from: From::Debian("gdb-multiarch"),
    },
    Tool {
        system: "regwin",
        name: "clang-22",
        used_for: "compiles the runtime for Xtensa",
        asks: ("clang-22", VERSION),
        from: From::Debian("clang-22"),
    },
    Tool {
        system: "regwin",
        name: "llvm-mc-22",
        used_for: "assembles it",
        asks: ("llvm-mc-22", VERSION),
        from: From::Debian("llvm-22"),
    },
    Tool {
        system: "regwin",
        name: "xtensa-lx106-elf-ld",
        used_for: "links it",
        asks: ("xtensa-lx106-elf-ld", VERSION),
        from: From::Debian("binutils-xtensa-lx106"),
    },
    Tool {
        system: "regwin",
        name: "qemu-system-xtensa",
        used_for: "runs it",
        asks: ("qemu-system-xtensa", VERSION),
        from: From::Debian("qemu-system-misc"),
    },
    Tool {
        system: "overlap",
        name: "clang-19",
        used_for: "compiles MPI programs with the plugin",
        asks: ("clang-19", VERSION),
        from: From::Debian("clang-19"),
    },
    Tool {
        system: "overlap",
        name: "llvm-config-19",
        used_for: "builds the plugin",
        asks: ("llvm-config-19", VERSION),
        from: From::Debian("llvm-19-dev"),
    },
    Tool {
        system: "overlap",
        name: "clang-22",
        used_for: "the same with the other LLVM",
        asks: ("clang-22", VERSION),
        from: From::Debian("clang-22"),
    },
    Tool {
        system: "overlap",
        name: "llvm-config-22",
        used_for: "builds the plugin for it",
        asks: ("llvm-config-22", VERSION),
        from: From::Debian("llvm-22-dev"),
    },
    Tool {
        system: "overlap",
        name: "ld.lld-22",
        used_for: "links whole programs with it",
        asks: ("ld.lld-22", VERSION),
        from: From::Debian("lld-22"),
    },
    Tool {
        system: "overlap",
        name: "FileCheck-22",
        used_for: "checks it in tests",
        asks: ("FileCheck-22", VERSION),
        from: From::Debian("llvm-22-tools"),
    },
    Tool {
        system: "overlap",
        name: "cmake",
        used_for: "builds the plugin",
        asks: ("cmake", VERSION),
        from: From::Debian("cmake"),
    },
    Tool {
        system: "overlap",
        name: "ninja",
        used_for: "builds the plugin",
        asks: ("ninja", VERSION),
        from: From::Debian("ninja-build"),
    },
    Tool {
        system: "overlap",
        name: "flang-new-19",
        used_for: "compiles Fortran",
        asks: ("flang-new-19", VERSION),
        from: From::Debian("flang-19"),
    },
    Tool {
        system: "overlap",
        name: "ld.lld-19",
        used_for: "links whole programs with the plugin",
        asks: ("ld.lld-19", VERSION),
        from: From::Debian("lld-19"),
    },
    Tool {
        system: "overlap",
        name: "FileCheck-19",
        used_for: "checks the plugin in tests",
        asks: ("FileCheck-19", VERSION),
        from: From::Debian("llvm-19-tools"),
    },
    Tool {
        system: "overlap",
        name: "mpicc.openmpi",
        used_for: "compiles for OpenMPI",
        asks: ("mpicc.openmpi", &["--showme:version"]),
        from: From::Debian("libopenmpi-dev"),
    },
    Tool {
        system: "overlap",
        name: "mpirun.openmpi",
        used_for: "runs programs of OpenMPI",
        asks: ("mpirun.openmpi", VERSION),
        from: From::Debian("openmpi-bin"),
    },
    Tool {
        system: "overlap",
        name: "mpicc.mpich",
        used_for: "compiles for MPICH",
        asks: ("mpicc.mpich", &["-v"]),
        from: From::Debian("libmpich-dev"),
    },
    Tool {
        system: "overlap",
        name: "mpirun.mpich",
        used_for: "runs programs of MPICH",
        asks: ("mpirun.mpich", VERSION),
        from: From::Debian("mpich"),
    },
    Tool {
        system: "overlap",
        name: "ip",
        used_for: "makes the network of the benchmark",
        asks: ("ip", &["-V"]),
        from: From::Debian("iproute2"),
    },
    Tool {
        system: "fuzz",
        name: "rustc nightly",
        used_for: "builds the fuzz targets",
        asks: ("rustup", &["run", "nightly", "rustc", "--version"]),
        from: From::Rustup("nightly"),
    },
    Tool {
        system: "fuzz",
        name: "cargo-fuzz",
        used_for: "runs the fuzz targets",
        asks: ("cargo-fuzz", VERSION),
        from: From::Cargo("cargo-fuzz"),
    },
];

/// Runs the command; exit 1 if a tool is missing, so that a script can ask.
pub fn run(args: Args, out: &mut Output) -> Result<(), Failure> {
    let tools: Vec<&Tool> = TOOLS
        .iter()
        .filter(|tool| args.system.as_deref().is_none_or(|name| tool.system == name))
        .collect();
    let machine = Machine::here();
    let features = machine::features();
    let versions: Vec<Found> = tools.iter().map(|tool| found(tool)).collect();
    let missing: Vec<&Tool> = tools
        .iter()
        .zip(&versions)
        .filter(|(_, it)| **it == Found::Missing)
        .map(|pair| *pair.0)
        .collect();
    let install = install_command(&missing);

    out.line(&tool_table(&tools, &versions).terminal(None));
    out.line(&machine_text(&machine, &features));
    match &install {
        Some(command) => out.line(&format!("to install the rest: {command}")),
        None => out.line("nothing is missing"),
    }
    out.object(&json!({
        "ok": missing.is_empty(),
        "rows": tools.iter().zip(&versions).map(|(tool, found)| json!({
            "system": tool.system,
            "tool": tool.name,
            "used_for": tool.used_for,
            "present": *found != Found::Missing,
            "version": if let Found::Version(it) = found { Some(it) } else { None },
            "install": install_command(&[tool]),
        })).collect::<Vec<_>>(),
        "machine": {
            "cpu": machine.cpu,
            "cores": machine.n_cores,
            "virtualised": machine.virtualised,
            "os": format!("{}, {}", machine.distribution, machine.kernel),
        },
        "features": features.iter().map(|feature| json!({"name": feature.name, "present": feature.present})).collect::<Vec<_>>(),
        "install": install,
    }));
    if missing.is_empty() { Ok(()) } else { Err(Failure::Reported) }
}

/// What is known of a tool here.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Found {
    /// What it says of its version.
    Version(String),
    /// It is there and says nothing: Slurm's commands do so where no cluster is configured.
    There,
    Missing,
}

fn found(tool: &Tool) -> Found {
    let (program, args) = tool.asks;
    let is_there = program == tool.name && measure::tool::find(program).is_some();
    let silent = if is_there { Found::There } else { Found::Missing };
    machine::version(program, args).map_or(silent, Found::Version)
}

fn tool_table(tools: &[&Tool], versions: &[Found]) -> Table {
    let mut table = Table::new("External tools", &["system", "tool", "version", "used for"]);
    for (tool, found) in tools.iter().zip(versions) {
        let version = match found {
            Found::Version(line) => Cell::words(version_number(line)),
            Found::There => Cell::words("there"),
            Found::Missing => Cell::words("missing").tone(Tone::Bad),
        };
        table.push(vec![
            Cell::words(tool.system),
            Cell::words(tool.name),
            version,
            Cell::words(tool.used_for),
        ]);
    }
    table
}

fn machine_text(machine: &Machine, features: &[Feature]) -> String {
    let list = |present: bool| -> String {
        let names: Vec<&str> = features
            .iter()
            .filter(|feature| feature.present == present)
            .map(|feature| feature.name)
            .collect();
        if names.is_empty() { "none".to_owned() } else { names.join(" ") }
    };
    let world = if machine.virtualised { ", virtual machine" } else { "" };
    format!(
        "machine: {}, {} cores{world}\nsystem: {}, {}\ncpu features present: {}\ncpu features absent: {}\n",
        machine.cpu,
        machine.n_cores,
        machine.distribution,
        machine.kernel,
        list(true),
        list(false)
    )
}

/// True if `program` is one of the external tools.
pub fn lists(program: &str) -> bool {
    TOOLS.iter().any(|tool| tool.asks.0 == program)
}

/// One command that installs `tools`; `None` if there are none.
fn install_command(tools: &[&Tool]) -> Option<String> {
    let mut packages: Vec<&str> = Vec::new();
    let mut others: Vec<String> = Vec::new();
    for tool in tools {
        match tool.from {
            From::Debian(name) if packages.contains(&name) => {}
            From::Debian(name) => packages.push(name),
            From::Rustup(name) => others.push(format!("rustup toolchain install {name}")),
            From::Cargo(name) => others.push(format!("cargo install --locked {name}")),
        }
    }
    if !packages.is_empty() {
        others.insert(0, format!("sudo apt-get install {}", packages.join(" ")));
    }
    (!others.is_empty()).then(|| others.join(" && "))
}

/// The first number with a dot in what a tool says about its version, or all of it.
fn version_number(line: &str) -> &str {
    let is_part = |letter: char| letter.is_ascii_digit() || letter == '.';
    let mut numbers =
        line.split(|letter: char| !is_part(letter)).map(|part| part.trim_matches('.'));
    numbers.find(|number| number.contains('.')).unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_versions() {
        let said = [
            ("gcc (Debian 12.2.0-14+deb12u1) 12.2.0", "12.2.0"),
            ("Debian clang version 19.1.7 (3~deb12u1)", "19.1.7"),
            ("valgrind-3.19.0", "3.19.0"),
            ("rustc 1.98.0-nightly (0123456789 2026-05-01)", "1.98.0"),
            ("a tool without a number", "a tool without a number"),
        ];
        for (line, number) in said {
            assert_eq!(version_number(line), number);
        }
    }

    #[test]
    fn one_command_installs_everything() {
        let tools: Vec<&Tool> = TOOLS.iter().collect();
        let command = install_command(&tools).expect("there are tools");
        assert!(command.starts_with("sudo apt-get install build-essential clang-19 "), "{command}");
        assert!(
            command
                .ends_with("rustup toolchain install nightly && cargo install --locked cargo-fuzz"),
            "{command}"
        );
        assert_eq!(install_command(&[]), None);
    }
}
