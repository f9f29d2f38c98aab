//! Door: single instructions run under QEMU, each from registers and memory of its own.
//!
//! All instructions of a batch go into one program: a hand-written part (`stubs/`) that loads the
//! registers of a record, runs its slot, and stores them again; the slots, each with one word; and
//! the records. So one process runs thousands of words.

use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use audit::decode::Isa;
use audit::decode::code::Reg;
use object::{Object, ObjectSection};

/// Where the program stands, its code, its slots, and its records.
const BASE: u64 = 0x4000_0000;
const CODE: u64 = 0x4000_1000;
const SLOTS: u64 = 0x4000_8000;
/// Thumb's way to the stub: two places just before the slots.
const BRIDGES: u64 = SLOTS - 16;
const DATA: u64 = 0x4100_0000;
const RECORDS: u64 = 0x4101_0000;

/// Bytes of memory that an instruction may touch, and where they stand; their bytes are
/// put there before each.
pub const MEMORY: usize = 256;
pub const MEMORY_ADDRESS: u64 = 0x4100_c000;

/// Registers and memory before or after an instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    /// The words of the machine's records; see [`Machine::places`].
    pub words: Vec<u64>,
    /// The memory at [`MEMORY_ADDRESS`].
    pub memory: Vec<u8>,
}

/// How an instruction ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Next,
    /// Control went to the place that branches lead to.
    Taken,
    /// The instruction after a branch was done.
    Delay,
    Trap,
}

/// What stands after a SPARC word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Behind {
    Nop,
    /// A trap that tells that it was done.
    Marker,
}

/// One word to run, in a slot of its own.
pub struct Slot {
    /// Two bytes before it: an `it` that guards it, or nothing.
    pub before: Vec<u8>,
    /// The bytes of the instruction, in memory order.
    pub bytes: Vec<u8>,
    pub behind: Behind,
}

/// The layout for one instruction set.
pub struct Machine {
    pub isa: Isa,
    /// Bytes of a word.
    word: usize,
    /// Words of the registers.
    pub n_words: usize,
    /// Where the registers stand after, and the memory.
    after: usize,
    memory: usize,
    slot_bytes: u64,
}

impl Machine {
    pub fn new(isa: Isa) -> Machine {
        let (word, n_words, before, slot_bytes): (usize, usize, usize, u64) = match isa {
            Isa::A32 => (4, 80, 8, 16),
            Isa::T32 => (4, 80, 8, 20),
            Isa::A64 => (8, 98, 16, 16),
            Isa::Riscv32 => (4, 31, 8, 16),
            Isa::Riscv64 => (8, 31, 16, 16),
            Isa::Sparc => (4, 34, 8, 24),
            Isa::X86 => panic!("x86-64 has no machine here: its decoder is not ours"),
        };
        let after = before + n_words * word;
        let memory = (after + n_words * word).next_multiple_of(16);
        Machine { isa, word, n_words, after, memory, slot_bytes }
    }

    /// Where the bits of a register stand: word, shift, mask. Empty if the machine
    /// does not keep them.
    pub fn places(&self, reg: Reg) -> Vec<(usize, u32, u64)> {
        let n = reg.0 as usize;
        let full = if self.word == 8 { u64::MAX } else { 0xffff_ffff };
        match (self.isa, n) {
            (Isa::A32 | Isa::T32, 0..=14) => vec![(n, 0, full)],
            (Isa::A32 | Isa::T32, 16..=19) => vec![(15, [31, 30, 29, 28][n - 16], 1)],
            (Isa::A32 | Isa::T32, 20) => vec![(15, 27, 1)],
            (Isa::A32 | Isa::T32, 21..=24) => vec![(15, n as u32 - 5, 1)],
            (Isa::A32 | Isa::T32, 28..=59) => vec![(n - 12, 0, full)],
            (Isa::A32 | Isa::T32, 62..=77) => {
                vec![(48 + 2 * (n - 62), 0, full), (49 + 2 * (n - 62), 0, full)]
            }
            (Isa::A64, 0..=31) => vec![(n, 0, full)],
            (Isa::A64, 32..=35) => vec![(32, [31, 30, 29, 28][n - 32], 1)],
            (Isa::A64, 40..=71) => vec![(34 + 2 * (n - 40), 0, full), (35 + 2 * (n - 40), 0, full)],
            (Isa::Riscv32 | Isa::Riscv64, 1..=31) => vec![(n - 1, 0, full)],
            (Isa::Sparc, 1..=31) => vec![(n, 0, full)],
            (Isa::Sparc, 32..=35) => vec![(32, [23, 22, 21, 20][n - 32], 1)],
            (Isa::Sparc, 36) => vec![(33, 0, full)],
            _ => Vec::new(),
        }
    }

    /// The bits of each word that belong to some register.
    pub fn kept(&self) -> Vec<u64> {
        let mut kept = vec![0; self.n_words];
        for n in 0..self.isa.conventions().names.len() as u8 {
            for (word, shift, mask) in self.places(Reg(n)) {
                kept[word] |= mask << shift;
            }
        }
        kept
    }

    /// The value of a register.
    pub fn value(&self, state: &State, reg: Reg) -> u64 {
        self.places(reg).first().map_or(0, |&(word, shift, mask)| state.words[word] >> shift & mask)
    }

    /// Where the word of slot `n` stands.
    pub fn word_address(&self, n: usize) -> u64 {
        let first = match self.isa {
            // The slot begins with the instruction that brings back the last register.
            Isa::A32 | Isa::A64 | Isa::Riscv32 | Isa::Riscv64 => 4,
            // Then stands what guards the word, or an instruction that does nothing.
            Isa::T32 => 6,
            Isa::Sparc | Isa::X86 => 0,
        };
        SLOTS + n as u64 * self.slot_bytes + first
    }

    /// Where a branch in slot `n` must lead to be seen, for a word of `length` bytes.
    pub fn taken_address(&self, n: usize, length: u64) -> u64 {
        self.word_address(n) + if self.isa == Isa::Sparc { 16 } else { length + 4 }
    }

    fn record_bytes(&self) -> usize {
        self.memory + MEMORY
    }

    fn number(&self, value: u64) -> Vec<u8> {
        match (self.isa, self.word) {
            (Isa::Sparc, _) => (value as u32).to_be_bytes().to_vec(),
            (_, 4) => (value as u32).to_le_bytes().to_vec(),
            _ => value.to_le_bytes().to_vec(),
        }
    }

    fn read(&self, bytes: &[u8]) -> u64 {
        let places = bytes.iter().take(self.word);
        match self.isa {
            Isa::Sparc => places.fold(0, |value, &it| value << 8 | u64::from(it)),
            _ => places.rev().fold(0, |value, &it| value << 8 | u64::from(it)),
        }
    }

    fn slot(&self, n: usize, slot: &Slot) -> Vec<u8> {
        let le = |word: u32| word.to_le_bytes().to_vec();
        let at = self.word_address(n);
        let ends: [u64; 2] = [at + slot.bytes.len() as u64, at + slot.bytes.len() as u64 + 4];
        let mut bytes = match self.isa {
            Isa::A32 => le(0xee1d_ef50),
            Isa::T32 => {
                let before: &[u8] =
                    if slot.before.is_empty() { &[0x00, 0xbf] } else { &slot.before };
                [&[0x1d, 0xee, 0x50, 0xef], before].concat()
            }
            Isa::A64 => le(0xd53b_d05e),
            Isa::Riscv32 => le(0xe00f_8fd3),
            Isa::Riscv64 => le(0xe20f_8fd3),
            Isa::Sparc | Isa::X86 => Vec::new(),
        };
        bytes.extend(&slot.bytes);
        if self.isa == Isa::Sparc {
            const NOP: u32 = 0x0100_0000;
            const TRAP: u32 = 0x91d0_2000;
            let behind = if slot.behind == Behind::Nop { NOP } else { TRAP + 3 };
            for word in [behind, TRAP + 1, NOP, TRAP + 2, NOP] {
                bytes.extend(word.to_be_bytes());
            }
        } else {
            // Jumps to the second and third word of the stub.
            for (idx, from) in ends.into_iter().enumerate() {
                if self.isa == Isa::T32 {
                    bytes.extend(far_branch(from, BRIDGES + 8 * idx as u64));
                    continue;
                }
                let offset = (CODE + 4 + 4 * idx as u64).wrapping_sub(from) as u32;
                bytes.extend(le(match self.isa {
                    Isa::A32 => 0xea00_0000 | offset.wrapping_sub(8) >> 2 & 0xff_ffff,
                    Isa::A64 => 0x1400_0000 | offset >> 2 & 0x3ff_ffff,
                    _ => {
                        (offset >> 20 & 1) << 31
                            | (offset >> 1 & 0x3ff) << 21
                            | (offset >> 11 & 1) << 20
                            | (offset >> 12 & 0xff) << 12
                            | 0x6f
                    }
                }));
            }
        }
        bytes.resize(self.slot_bytes as usize, 0);
        bytes
    }

    /// Runs all records, each in its slot. Slots may serve several records.
    pub fn run(&self, slots: &[Slot], records: &[(usize, State)]) -> Vec<(End, State)> {
        assert!(
            self.isa == Isa::A64 || slots.len() < 40_000,
            "jumps from the slots must reach the stub"
        );
        let folder = tempfile::tempdir().expect("there is room for temporary files");
        let path = folder.path().join("program");
        let mut code = self.stub(folder.path());
        code.resize((SLOTS - if self.isa == Isa::Sparc { BASE } else { CODE }) as usize, 0);
        if self.isa == Isa::T32 {
            // `bx pc` leaves Thumb without a register: to a branch of A32 after it, which goes to
            // the stub.
            let at = (BRIDGES - CODE) as usize;
            for idx in 0..2u32 {
                let from = BRIDGES as u32 + 8 * idx + 4;
                let branch = 0xea00_0000
                    | (CODE as u32 + 4 + 4 * idx).wrapping_sub(from + 8) >> 2 & 0xff_ffff;
                let bridge = [&[0x78, 0x47, 0x00, 0xbf][..], &branch.to_le_bytes()].concat();
                code[at + 8 * idx as usize..][..8].copy_from_slice(&bridge);
            }
        }
        for (n, slot) in slots.iter().enumerate() {
            code.extend(self.slot(n, slot));
        }
        let end = RECORDS + (records.len() * self.record_bytes()) as u64;
        let mut data = [self.number(RECORDS), self.number(end)].concat();
        data.resize((RECORDS - DATA) as usize, 0);
        for (slot, state) in records {
            let from = data.len();
            let begin = SLOTS + *slot as u64 * self.slot_bytes + u64::from(self.isa == Isa::T32);
            data.extend(self.number(begin));
            data.extend(self.number(0));
            data.extend(state.words.iter().flat_map(|&word| self.number(word)));
            data.resize(from + self.memory, 0);
            data.extend(&state.memory);
        }
        std::fs::write(&path, self.program(&code, &data))
            .expect("there is room for temporary files");
        // QEMU wants a program that the system would run too.
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700))
            .expect("the file is ours");
        let bytes = self.execute(&path, folder.path(), records.len());
        self.results(&bytes, records.len())
    }

    fn results(&self, bytes: &[u8], n_records: usize) -> Vec<(End, State)> {
        let size = self.record_bytes();
        assert_eq!(bytes.len(), n_records * size, "the program wrote all records");
        let states = bytes.chunks(size).map(|chunk| {
            let (status, after, memory) =
                (self.read(&chunk[self.word..]), &chunk[self.after..], &chunk[self.memory..]);
            let end = match (self.isa, status) {
                (Isa::Sparc, 0x81)
                | (Isa::A32 | Isa::T32 | Isa::A64 | Isa::Riscv32 | Isa::Riscv64, 1) => End::Next,
                (Isa::Sparc, 0x82)
                | (Isa::A32 | Isa::T32 | Isa::A64 | Isa::Riscv32 | Isa::Riscv64, 2) => End::Taken,
                (Isa::Sparc, 0x83) => End::Delay,
                (_, 0) => panic!("the stub ran every record"),
                _ => End::Trap,
            };
            let words =
                after.chunks(self.word).take(self.n_words).map(|chunk| self.read(chunk)).collect();
            (end, State { words, memory: memory.to_vec() })
        });
        states.collect()
    }

    fn execute(&self, program: &Path, folder: &Path, n_records: usize) -> Vec<u8> {
        let limit = Duration::from_secs(300);
        let run = |command: &mut Command| {
            measure::tool::run(command, b"", limit)
                .and_then(measure::tool::Ran::ok)
                .unwrap_or_else(|error| panic!("{error}"))
        };
        let (emulator, cpu) = match self.isa {
            Isa::A32 | Isa::T32 => ("qemu-arm", "max"),
            Isa::A64 => ("qemu-aarch64", "max"),
            Isa::Riscv32 => ("qemu-riscv32", "rv32"),
            Isa::Riscv64 => ("qemu-riscv64", "rv64"),
            Isa::Sparc | Isa::X86 => {
                // The memory of the machine is a file, which holds the records when it has stopped.
                let memory = folder.join("memory");
                let mut command = Command::new("qemu-system-sparc");
                command.args([
                    "-M",
                    "leon3_generic,memory-backend=ram",
                    "-cpu",
                    "LEON3",
                    "-m",
                    "128",
                ]);
                command
                    .args(["-display", "none", "-monitor", "none", "-serial", "none", "-object"]);
                command.arg(format!(
                    "memory-backend-file,id=ram,size=128M,mem-path={},share=on",
                    memory.display()
                ));
                run(command.arg("-kernel").arg(program));
                let mut file = std::fs::File::open(memory).expect("the machine made the file");
                file.seek(SeekFrom::Start(RECORDS - BASE)).expect("the memory is larger");
                let mut bytes = vec![0; n_records * self.record_bytes()];
                file.read_exact(&mut bytes).expect("the memory is larger");
                return bytes;
            }
        };
        run(Command::new(emulator).args(["-cpu", cpu]).arg(program)).stdout
    }

    /// The hand-written part, assembled.
    fn stub(&self, folder: &Path) -> Vec<u8> {
        let (name, arguments): (_, &[&str]) = match self.isa {
            Isa::A32 | Isa::T32 => ("a32", &["--target=armv7a-none-eabi", "-mfpu=neon"]),
            Isa::A64 => ("a64", &["--target=aarch64-none-elf"]),
            Isa::Riscv32 => {
                ("rv32", &["--target=riscv32-unknown-elf", "-march=rv32imafd", "-mno-relax"])
            }
            Isa::Riscv64 => {
                ("rv64", &["--target=riscv64-unknown-elf", "-march=rv64imafd", "-mno-relax"])
            }
            Isa::Sparc | Isa::X86 => ("sparc", &["--target=sparc-none-elf", "-mcpu=leon3"]),
        };
        let source: PathBuf =
            [env!("CARGO_MANIFEST_DIR"), "tests/support/stubs", &format!("{name}.s")]
                .iter()
                .collect();
        let object = folder.join("stub.o");
        let mut command = Command::new("clang-19");
        command.args(arguments).arg("-c").arg(source).arg("-o").arg(&object);
        measure::tool::run(&mut command, b"", Duration::from_secs(60))
            .and_then(measure::tool::Ran::ok)
            .unwrap_or_else(|error| panic!("{error}"));
        let bytes = std::fs::read(&object).expect("the assembler wrote its output");
        let file = object::File::parse(&*bytes).expect("the assembler writes ELF");
        let text = file.section_by_name(".text").expect("the stub has code");
        assert_eq!(text.relocations().count(), 0, "the stub needs no linker");
        text.data().expect("the code is in the file").to_vec()
    }

    /// An ELF program of two parts that may all be read, written and run.
    fn program(&self, code: &[u8], data: &[u8]) -> Vec<u8> {
        let is_64 = self.word == 8;
        let (machine, flags, begin) = match self.isa {
            Isa::A32 | Isa::T32 => (40, 0x0500_0000, CODE),
            Isa::A64 => (183, 0, CODE),
            Isa::Riscv32 | Isa::Riscv64 => (243, 0, CODE),
            Isa::Sparc | Isa::X86 => (2, 0, BASE),
        };
        let is_big = self.isa == Isa::Sparc;
        let number = |value: u64, n: usize| {
            if is_big {
                value.to_be_bytes()[8 - n..].to_vec()
            } else {
                value.to_le_bytes()[..n].to_vec()
            }
        };
        let word = if is_64 { 8 } else { 4 };
        let mut file = vec![
            0x7f,
            b'E',
            b'L',
            b'F',
            if is_64 { 2 } else { 1 },
            if is_big { 2 } else { 1 },
            1,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
        ];
        let header_bytes = if is_64 { 64 } else { 52 };
        let part_bytes = if is_64 { 56 } else { 32 };
        file.extend(
            [
                number(2, 2),
                number(machine, 2),
                number(1, 4),
                number(begin, word),
                number(header_bytes, word),
                number(0, word),
            ]
            .concat(),
        );
        // The size of a section's header must be right, though there are no sections.
        let sizes = [flags, header_bytes, part_bytes, 2, if is_64 { 64 } else { 40 }, 0, 0];
        for (value, n) in sizes.into_iter().zip([4, 2, 2, 2, 2, 2, 2]) {
            file.extend(number(value, n));
        }
        let data_offset = (0x1000 + code.len() as u64).next_multiple_of(0x1000);
        for (offset, address, n) in
            [(0x1000, begin, code.len() as u64), (data_offset, DATA, data.len() as u64)]
        {
            file.extend(number(1, 4));
            if is_64 {
                file.extend(number(7, 4));
            }
            for value in [offset, address, address, n, n] {
                file.extend(number(value, word));
            }
            if !is_64 {
                file.extend(number(7, 4));
            }
            file.extend(number(0x1000, word));
        }
        file.resize(0x1000, 0);
        file.extend(code);
        file.resize(data_offset as usize, 0);
        file.extend(data);
        file
    }
}

/// Thumb's long branch without a condition.
fn far_branch(from: u64, to: u64) -> Vec<u8> {
    let by = to.wrapping_sub(from + 4) as u32;
    let sign = by >> 24 & 1;
    let [first, second] = [23, 22].map(|at| by >> at & 1 ^ sign ^ 1);
    let halves = [
        0xf000 | sign << 10 | by >> 12 & 0x3ff,
        0x9000 | first << 13 | second << 11 | by >> 1 & 0x7ff,
    ];
    halves.iter().flat_map(|halve| (*halve as u16).to_le_bytes()).collect()
}
