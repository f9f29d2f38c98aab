//! What compilers believe of a core: cycles from the start of an instruction to that of an addition
//! that needs its result, in gcc's schedule of a small function and in llvm-mca's timeline.
//!
//! ```text
//! long mul(long a, long b, long c) { return (a * b) ^ c; }
//!   gcc -fdump-rtl-sched2        0--> i 8 x0=x0*x1     2--> i 14 x0=x0^x2      gcc believes 2
//! mul x0, x1, x2; add x3, x0, x4
//!   llvm-mca --timeline          CycleIssued 0, 3                               LLVM believes 3
//! ```

use machine::in_order::{Class, Core};
use measure::tool::ToolError;
use serde_json::Value;

use crate::decode::Isa;
use crate::program::toolchain;

/// A kind of work that both are asked about.
struct Probe {
    /// Its name in the C and in the assembly.
    name: &'static str,
    /// What gcc is given, with `T` for an integer as wide as a register.
    c: &'static str,
    /// What the line of the schedule must have, else the compiler made something else of it.
    sign: char,
}

const PROBES: [Probe; 4] = [
    Probe { name: "alu", c: "T alu(T a, T b, T c) { return (a - b) ^ c; }", sign: '-' },
    Probe { name: "mul", c: "T mul(T a, T b, T c) { return (a * b) ^ c; }", sign: '*' },
    Probe { name: "load", c: "T load(T *a, T c) { return *a ^ c; }", sign: '[' },
    Probe { name: "div", c: "T div_(T a, T b, T c) { return (a / b) ^ c; }", sign: '/' },
];

/// What is known of one kind of work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BeliefRow {
    /// The kind, as the machine file has it.
    pub class: Class,
    /// Cycles by the machine file.
    pub here: u32,
    /// By gcc; none if it makes something else of it, or is not there.
    pub gcc: Option<u32>,
    pub llvm: Option<u32>,
}

/// What compilers believe of one core.
#[derive(Debug, Clone)]
pub struct Beliefs {
    /// By kind of work.
    pub rows: Vec<BeliefRow>,
    /// Why gcc said nothing, if it did not.
    pub gcc_failed: Option<ToolError>,
    /// The same of llvm-mca.
    pub llvm_failed: Option<ToolError>,
}

/// Asks both compilers, each once.
pub fn ask(core: &Core) -> Beliefs {
    let isa = core
        .sets
        .first()
        .and_then(|set| Isa::named(set))
        .expect("a core runs a set that is decoded");
    let (gcc, gcc_failed) = answered(gcc(core, isa), read_schedule);
    let (llvm, llvm_failed) = answered(llvm(core, isa), read_timeline);
    let rows = PROBES.iter().zip(gcc).zip(llvm).map(|((probe, gcc), llvm)| {
        let class = class(probe.name, isa);
        BeliefRow { class, here: core.to_addition(class), gcc, llvm }
    });
    // What both make something else of, the core does not have.
    let rows = rows.filter(|row| row.gcc.is_some() || row.llvm.is_some());
    Beliefs { rows: rows.collect(), gcc_failed, llvm_failed }
}

type Cycles = [Option<u32>; PROBES.len()];

fn answered(
    said: Result<String, ToolError>,
    read: fn(&str) -> Cycles,
) -> (Cycles, Option<ToolError>) {
    match said {
        Ok(text) => (read(&text), None),
        Err(error) => ([None; PROBES.len()], Some(error)),
    }
}

/// The row of the machine file that a probe falls under.
fn class(name: &str, isa: Isa) -> Class {
    match name {
        "alu" => Class::Alu,
        // AArch64's machine files tell whole registers apart.
        "mul" if isa == Isa::A64 => Class::MulWide,
        "mul" => Class::Mul,
        "load" => Class::Load,
        "div" => Class::Div,
        other => panic!("every probe has a class, but `{other}` has none"),
    }
}

/// gcc's schedule of all probes.
fn gcc(core: &Core, isa: Isa) -> Result<String, ToolError> {
    let cpu = format!("-mcpu={}", core.name);
    let (program, flags): (&str, Vec<&str>) = match (isa, core.name.as_str()) {
        (Isa::A64, _) => ("aarch64-linux-gnu-gcc", vec![&cpu]),
        (Isa::T32, _) => ("arm-none-eabi-gcc", vec!["-mthumb", &cpu]),
        (Isa::A32, _) => ("arm-none-eabi-gcc", vec!["-marm", &cpu]),
        (_, "sifive-u74") => (
            "riscv64-unknown-elf-gcc",
            vec!["-march=rv64gc", "-mabi=lp64d", "-mtune=sifive-7-series"],
        ),
        (Isa::Riscv64 | Isa::Riscv32, _) => {
            ("riscv64-unknown-elf-gcc", vec!["-march=rv64gc", "-mabi=lp64d", "-mtune=rocket"])
        }
        (_, "erc32") => ("sparc64-linux-gnu-gcc", vec!["-m32", "-mcpu=cypress"]),
        (Isa::Sparc | Isa::X86, _) => ("sparc64-linux-gnu-gcc", vec!["-m32", &cpu]),
    };
    let word = if isa.conventions().bits == 64 { "long" } else { "int" };
    let text: String =
        PROBES.iter().map(|probe| format!("typedef {word} T;\n{}\n", probe.c)).collect();
    toolchain::schedule(program, &flags, &text)
}

/// llvm-mca's timelines of all probes.
fn llvm(core: &Core, isa: Isa) -> Result<String, ToolError> {
    let lines = |name: &str| match isa {
        Isa::A64 => match name {
            "alu" => "sub x0, x1, x2\nadd x3, x0, x4",
            "mul" => "mul x0, x1, x2\nadd x3, x0, x4",
            "load" => "ldr x0, [x1]\nadd x3, x0, x4",
            _ => "sdiv x0, x1, x2\nadd x3, x0, x4",
        },
        Isa::Riscv64 | Isa::Riscv32 => match name {
            "alu" => "sub a0, a1, a2\nadd a3, a0, a4",
            "mul" => "mul a0, a1, a2\nadd a3, a0, a4",
            "load" => "ld a0, 0(a1)\nadd a3, a0, a4",
            _ => "div a0, a1, a2\nadd a3, a0, a4",
        },
        Isa::Sparc => "sub %o0, %o1, %o2\nadd %o2, %o3, %o4",
        Isa::A32 | Isa::T32 | Isa::X86 => match name {
            "alu" => "sub r0, r1, r2\nadd r3, r0, r4",
            "mul" => "mul r0, r1, r2\nadd r3, r0, r4",
            "load" => "ldr r0, [r1]\nadd r3, r0, r4",
            _ => "sdiv r0, r1, r2\nadd r3, r0, r4",
        },
    };
    let region = |probe: &Probe| {
        format!("# LLVM-MCA-BEGIN {0}\n{1}\n# LLVM-MCA-END {0}\n", probe.name, lines(probe.name))
    };
    let triple = match isa {
        Isa::A64 => "--mtriple=aarch64",
        Isa::A32 => "--mtriple=arm",
        Isa::T32 | Isa::X86 => "--mtriple=thumb",
        Isa::Riscv64 | Isa::Riscv32 => "--mtriple=riscv64",
        Isa::Sparc => "--mtriple=sparc",
    };
    let cpu = if core.name == "rocket" { "rocket-rv64" } else { &core.name };
    let flags = [
        triple,
        &format!("--mcpu={cpu}"),
        if triple.ends_with("riscv64") { "--mattr=+m" } else { "--mattr=" },
    ];
    toolchain::timeline(
        &flags,
        &PROBES.iter().map(region).collect::<String>().replace('#', comment(isa)),
    )
}

/// How a comment begins.
fn comment(isa: Isa) -> &'static str {
    if matches!(isa, Isa::A32 | Isa::T32) { "@" } else { "#" }
}

/// When the second instruction starts after the first, of each function of gcc's dump.
fn read_schedule(text: &str) -> Cycles {
    let functions: Vec<&str> = text.split("\n;; Function ").collect();
    std::array::from_fn(|nth| {
        let Probe { name, sign, .. } = &PROBES[nth];
        let function = functions.iter().find(|function| {
            function.starts_with(&format!("{name} ")) || function.starts_with(&format!("{name}_ "))
        })?;
        let mut starts = function
            .lines()
            .filter_map(scheduled)
            .filter(|(_, what)| what.contains('=') && !what.contains("unspec"));
        let (first, producer) = starts.next()?;
        let (second, consumer) = starts.next()?;
        (producer.contains(*sign) && !producer.contains("call") && consumer.contains('^'))
            .then(|| second - first)
    })
}

/// A line such as `;;  2--> b  0: i  14 x0=x0^x2  :slot`: the cycle, and what starts there.
fn scheduled(line: &str) -> Option<(u32, &str)> {
    let (cycle, rest) = line.strip_prefix(";;")?.split_once("-->")?;
    let what = rest.split(": i ").nth(1)?.trim_start();
    let what = what.split_once(' ')?.1;
    Some((cycle.trim().parse().ok()?, what.rsplit_once(':').map_or(what, |(it, _)| it).trim()))
}

/// The same of llvm-mca's answer.
fn read_timeline(text: &str) -> Cycles {
    let answer: Value = serde_json::from_str(text).unwrap_or_default();
    std::array::from_fn(|nth| {
        let regions = answer["CodeRegions"].as_array()?;
        let region = regions.iter().find(|region| region["Name"] == PROBES[nth].name)?;
        let starts = &region["TimelineView"]["TimelineInfo"];
        let start = |nth: usize| starts[nth]["CycleIssued"].as_u64();
        u32::try_from(start(1)?.checked_sub(start(0)?)?).ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schedule_is_read_by_what_starts_in_it() {
        let text = "\n;; Function mul (mul, funcdef_no=1)\n\
                    ;;\t  0--> b  0: i  23 unspec/v[0xa0] 4                        :nothing\n\
                    ;;\t  1--> b  0: i   8 x0=x0*x1                                :(slot_any+imul)\n\
                    ;;\t\tReady-->Q: insn 14: queued for 2 cycles (change queue index).\n\
                    ;;\t  3--> b  0: i  14 x0=x0^x2                                :slot_any\n\
                    ;; Function div_ (div_, funcdef_no=3)\n\
                    ;;\t  0--> b  0: i   4 r4=r2                                   :core*32\n\
                    ;;\t 69--> b  0: i  12 r0=r0^r4                                :core\n";
        assert_eq!(read_schedule(text), [None, Some(2), None, None]);
    }
}
