//! The targets: one row of facts for each, which the passes, both back ends, the doors to compilers
//! and the packages read.
//!
//! A new target is a variant and a row. Code that no row can express, such as a shuffle in C,
//! matches on the variants, and the compiler reports each place.

use machine::{Kind, Machine};

#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
pub enum Arch {
    #[serde(rename = "x86-64")]
    X86_64,
    /// 128-bit registers, SSSE3 for byte shuffles.
    #[serde(rename = "sse")]
    Sse,
    /// 256-bit registers, 16 of them.
    #[serde(rename = "avx2")]
    Avx2,
    /// 256-bit registers, 32 of them, with the instructions of AVX-512: for what messages leave
    /// for less than a batch of 512-bit registers.
    #[serde(rename = "avx512vl")]
    Avx512vl,
    /// 512-bit registers, 32 of them, ternary logic.
    #[serde(rename = "avx512")]
    Avx512,
    /// 128-bit registers of AArch64.
    #[serde(rename = "neon")]
    Neon,
}

/// The facts of a target.
#[derive(Debug)]
pub struct Row {
    pub arch: Arch,
    /// As on the command line.
    pub name: &'static str,
    /// The preprocessor's macro for the processor.
    pub processor: &'static str,
    /// A macro that its flags define.
    pub macro_of_flags: &'static str,
    /// Flags that both compilers take; `avx2` keeps to 16 registers and no ternary logic.
    pub flags: &'static [&'static str],
    /// The features that the processor needs, as in `/proc/cpuinfo`.
    pub needs: &'static [&'static str],
    /// Compilers and emulator of a target that is not x86-64.
    pub emulator: Option<Emulator>,
    /// Bits of the registers used for bitsliced and horizontal code.
    pub register_bits: u32,
    /// Which registers hold values.
    pub kind: Kind,
    /// How many of them a machine file has.
    pub n_registers: fn(&Machine) -> Option<u32>,
    /// Registers that the assembly back end has for values, if it has this target.
    pub assembly_registers: Option<usize>,
    /// The machine that schedulers optimise for unless one is named.
    pub machine: &'static str,
    /// A pass of the moves of bytes takes 2 to this power of registers.
    pub log_move_group: usize,
    /// Functions of three words, rotations of 32 and 64-bit lanes, products and arithmetic shifts
    /// of 64-bit lanes, memory operands of shifts: what AVX-512 added.
    pub has_ternary: bool,
    /// Packages have it only for streams without round keys, whose rests of a batch of a wider
    /// target it makes. It is the best target of no processor.
    pub is_for_rests: bool,
    /// Rotations by whole bytes are shuffles.
    pub rotates_by_shuffle: bool,
    pub runs_under_valgrind: bool,
    /// Its speed is measured where all are; of two targets with the same registers, one.
    pub is_measured: bool,
}

/// Compilers and emulator for programs of another processor.
#[derive(Debug)]
pub struct Emulator {
    pub program: &'static str,
    /// GNU C for it.
    pub gcc: &'static str,
    pub clang: &'static str,
}

const ROWS: [Row; 6] = [
    Row {
        arch: Arch::X86_64,
        name: "x86-64",
        processor: "__x86_64__",
        macro_of_flags: "",
        flags: &["-m64", "-mno-avx", "-mno-sse3"],
        needs: &[],
        emulator: None,
        register_bits: 64,
        kind: Kind::General,
        n_registers: |it| Some(it.registers.general),
        assembly_registers: Some(15),
        machine: machine::DEFAULT,
        log_move_group: 3,
        has_ternary: false,
        is_for_rests: false,
        rotates_by_shuffle: false,
        runs_under_valgrind: true,
        is_measured: true,
    },
    Row {
        arch: Arch::Sse,
        name: "sse",
        processor: "__x86_64__",
        macro_of_flags: "__SSSE3__",
        flags: &["-m64", "-mssse3", "-mno-avx"],
        needs: &["ssse3"],
        emulator: None,
        register_bits: 128,
        kind: Kind::Vector,
        n_registers: |it| it.registers.sse,
        assembly_registers: None,
        machine: machine::DEFAULT,
        log_move_group: 3,
        has_ternary: false,
        is_for_rests: false,
        rotates_by_shuffle: true,
        runs_under_valgrind: true,
        is_measured: false,
    },
    Row {
        arch: Arch::Avx2,
        name: "avx2",
        processor: "__x86_64__",
        macro_of_flags: "__AVX2__",
        flags: &["-m64", "-mavx2", "-mno-avx512f"],
        needs: &["avx2"],
        emulator: None,
        register_bits: 256,
        kind: Kind::Vector,
        n_registers: |it| it.registers.avx2,
        assembly_registers: Some(16),
        machine: machine::DEFAULT,
        log_move_group: 3,
        has_ternary: false,
        is_for_rests: false,
        rotates_by_shuffle: true,
        runs_under_valgrind: true,
        is_measured: true,
    },
    Row {
        arch: Arch::Avx512vl,
        name: "avx512vl",
        processor: "__x86_64__",
        macro_of_flags: "__AVX512VL__",
        flags: &[
            "-m64",
            "-mavx512f",
            "-mavx512bw",
            "-mavx512vl",
            "-mavx512dq",
            "-mprefer-vector-width=256",
        ],
        needs: &["avx512f", "avx512bw", "avx512vl", "avx512dq"],
        emulator: None,
        register_bits: 256,
        kind: Kind::Vector,
        n_registers: |machine| machine.registers.avx512,
        assembly_registers: None,
        machine: machine::DEFAULT,
        log_move_group: 3,
        has_ternary: true,
        is_for_rests: true,
        rotates_by_shuffle: false,
        runs_under_valgrind: false,
        is_measured: false,
    },
    Row {
        arch: Arch::Avx512,
        name: "avx512",
        processor: "__x86_64__",
        macro_of_flags: "__AVX512BW__",
        flags: &[
            "-m64",
            "-mavx512f",
            "-mavx512bw",
            "-mavx512vl",
            "-mavx512dq",
            "-mprefer-vector-width=512",
        ],
        needs: &["avx512f", "avx512bw", "avx512vl", "avx512dq"],
        emulator: None,
        register_bits: 512,
        kind: Kind::Vector512,
        n_registers: |it| it.registers.avx512,
        assembly_registers: Some(32),
        machine: machine::DEFAULT,
        log_move_group: 4,
        has_ternary: true,
        is_for_rests: false,
        rotates_by_shuffle: false,
        runs_under_valgrind: false,
        is_measured: true,
    },
    Row {
        arch: Arch::Neon,
        name: "neon",
        processor: "__aarch64__",
        macro_of_flags: "",
        flags: &[],
        needs: &[],
        emulator: Some(Emulator {
            program: "qemu-aarch64",
            gcc: "aarch64-linux-gnu-gcc",
            clang: "--target=aarch64-linux-gnu",
        }),
        register_bits: 128,
        kind: Kind::Vector,
        n_registers: |it| it.registers.neon,
        assembly_registers: None,
        machine: "cortex-a72",
        log_move_group: 4,
        has_ternary: false,
        is_for_rests: false,
        rotates_by_shuffle: false,
        runs_under_valgrind: false,
        is_measured: false,
    },
];

impl Arch {
    pub const ALL: [Arch; ROWS.len()] = {
        let mut all = [Arch::X86_64; ROWS.len()];
        let mut k = 0;
        while k < ROWS.len() {
            assert!(ROWS[k].arch as usize == k, "rows stand in the order of the variants");
            all[k] = ROWS[k].arch;
            k += 1;
        }
        all
    };

    /// Those whose speed is measured.
    pub fn measured() -> impl Iterator<Item = Arch> {
        Arch::ALL.into_iter().filter(|arch| arch.row().is_measured)
    }

    pub fn row(self) -> &'static Row {
        static ALL: [Row; ROWS.len()] = ROWS;
        &ALL[self as usize]
    }

    /// As on the command line.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The target of this name.
    pub fn from_name(name: &str) -> Option<Arch> {
        Arch::ALL.into_iter().find(|a| a.name() == name)
    }

    /// Bits of the registers used for bitsliced and horizontal code.
    pub fn register_bits(self) -> u32 {
        self.row().register_bits
    }

    /// Flags that both compilers take.
    pub fn flags(self) -> &'static [&'static str] {
        self.row().flags
    }

    /// The features that the processor needs.
    pub fn needs(self) -> &'static [&'static str] {
        self.row().needs
    }

    /// The target has functions of three words.
    pub fn has_ternary(self) -> bool {
        self.row().has_ternary
    }

    /// The assembly back end has it.
    pub fn has_assembly(self) -> bool {
        self.row().assembly_registers.is_some()
    }

    /// The processor for schedulers; `None` if the machine has no such registers.
    pub fn target(self, machine: &Machine) -> Option<Target> {
        let n_registers = (self.row().n_registers)(machine)? as usize;
        Some(Target { machine: machine.clone(), kind: self.row().kind, n_registers })
    }

    /// Its registers hold several words.
    pub fn is_vector(self) -> bool {
        self.row().kind != Kind::General
    }
}

/// The processor, as far as schedulers and the model need it.
#[derive(Debug, Clone)]
pub struct Target {
    /// Units, latencies and issue width.
    pub machine: Machine,
    /// Which registers hold the values.
    pub kind: Kind,
    /// How many of them.
    pub n_registers: usize,
}

impl Target {
    /// General registers of the default machine.
    pub fn generic() -> Target {
        let machine = Machine::bundled(machine::DEFAULT).expect("the default machine is bundled");
        Target { n_registers: machine.registers.general as usize, kind: Kind::General, machine }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_different_names_and_machines_with_their_registers() {
        for arch in Arch::ALL {
            assert_eq!(Arch::from_name(arch.name()), Some(arch));
            let machine = Machine::bundled(arch.row().machine).expect("it is bundled");
            let n_registers = arch.target(&machine).expect("it has such registers").n_registers;
            assert!(
                arch.row().assembly_registers.is_none_or(|n| n <= n_registers),
                "{}",
                arch.name()
            );
        }
    }
}
