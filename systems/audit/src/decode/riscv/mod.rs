//! RISC-V, RV32 and RV64: IMAFDC with Zicsr and Zifencei, Zba, Zbb, Zbs and Zicond.
//!
//! A compressed instruction is shown as the one it stands for, with a length of 2.
//! Source: The RISC-V Instruction Set Manual, volume I, version 20191213; the control and
//! status registers are those of volume II, version 20211203.

mod compressed;
mod csr;
mod extended;
mod float;
mod multiply;

use super::build::{ALL, low_bits, number, refused, sign_extend};
use super::{Conventions, first};
use crate::decode::code::{
    Access, Class, Extends, Flow, IndexForm, Instruction, Op, Operation, Out, Reg, Relation, Role,
    Shift, Undecodable, Value,
};

/// Registers by number; then all control and status registers as one, the reservation of `lr`, and
/// the registers of floating point.
const NAMES: [&str; 66] = {
    let mut names = [""; 66];
    let fixed = [
        "zero",
        "ra",
        "sp",
        "gp",
        "tp",
        "t0",
        "t1",
        "t2",
        "s0",
        "s1",
        "a0",
        "a1",
        "a2",
        "a3",
        "a4",
        "a5",
        "a6",
        "a7",
        "s2",
        "s3",
        "s4",
        "s5",
        "s6",
        "s7",
        "s8",
        "s9",
        "s10",
        "s11",
        "t3",
        "t4",
        "t5",
        "t6",
        "csr",
        "reservation",
    ];
    let mut n = 0;
    while n < names.len() {
        names[n] = if n < fixed.len() { fixed[n] } else { float::float_name(n - fixed.len()) };
        n += 1;
    }
    names
};

/// The control and status registers, all as one.
const CSR: Option<Reg> = Some(Reg(32));

/// What `lr` leaves for `sc`.
const RESERVATION: Option<Reg> = Some(Reg(33));

/// The first register of floating point.
const F0: u32 = 34;

/// What the registers are for. Source: RISC-V ABIs Specification, version
/// 1.0, integer calling convention.
pub(super) const CONVENTIONS_32: Conventions = conventions(32);

/// The same on RV64.
pub(super) const CONVENTIONS_64: Conventions = conventions(64);

const fn conventions(bits: u8) -> Conventions {
    Conventions {
        names: &NAMES,
        bits,
        stack_pointer: Reg(2),
        frame_pointer: Some(Reg(8)),
        link: Some(Reg(1)),
        zero: Some(Reg(0)),
        arguments: &[Reg(10), Reg(11), Reg(12), Reg(13), Reg(14), Reg(15), Reg(16), Reg(17)],
        results: &[Reg(10), Reg(11)],
        saved: &[
            Reg(2),
            Reg(8),
            Reg(9),
            Reg(18),
            Reg(19),
            Reg(20),
            Reg(21),
            Reg(22),
            Reg(23),
            Reg(24),
            Reg(25),
            Reg(26),
            Reg(27),
        ],
        scratch: &[
            Reg(1),
            Reg(5),
            Reg(6),
            Reg(7),
            Reg(10),
            Reg(11),
            Reg(12),
            Reg(13),
            Reg(14),
            Reg(15),
            Reg(16),
            Reg(17),
            Reg(28),
            Reg(29),
            Reg(30),
            Reg(31),
        ],
        reserved: &[(Reg(3), "global pointer"), (Reg(4), "thread pointer")],
        flags: &[],
    }
}

/// How long the instruction at the beginning of `bytes` is, in bytes, by its lowest bits.
/// Source: the manual's chapter 1.5, "Base instruction-length encoding".
pub(super) fn length(bytes: &[u8]) -> usize {
    let low = bytes.first().copied().unwrap_or(0);
    match low {
        _ if low & 3 != 3 => 2,
        _ if low & 0x1f != 0x1f => 4,
        _ if low & 0x3f == 0x1f => 6,
        _ if low & 0x7f == 0x3f => 8,
        // Longer ones are reserved.
        _ => 2,
    }
}

/// The instruction at the beginning of `bytes`.
pub(super) fn decode(address: u64, bytes: &[u8], is_64: bool) -> Result<Instruction, Undecodable> {
    let Some(half) = first(bytes).map(u16::from_le_bytes) else {
        return refused(address, 0, "the code ends inside the instruction");
    };
    if half == 0 {
        // Zeros are illegal by definition, and are how compilers stop where nothing should come.
        return Ok(
            Instruction::new(address, 2, 0, Class::System, "unimp".to_owned()).flows(Flow::Stop)
        );
    }
    if half & 3 != 3 {
        let Some(word) = compressed::expand(half, is_64) else {
            return refused(address, half.into(), "the compressed form is reserved");
        };
        let expanded = RiscvWord { address, word, length: 2, is_64 }.decode();
        let mut it = expanded.map_err(|error| Undecodable { word: half.into(), ..error })?;
        it.word = half.into();
        return Ok(it);
    }
    let Some(word) = first(bytes).map(u32::from_le_bytes) else {
        return refused(address, half.into(), "the code ends inside the instruction");
    };
    RiscvWord { address, word, length: 4, is_64 }.decode()
}

/// A word of 32 bits, as read or as expanded.
struct RiscvWord {
    address: u64,
    word: u32,
    length: u8,
    is_64: bool,
}

/// Register `n`; the zero register is none.
fn reg(n: u32) -> Option<Reg> {
    (n != 0).then_some(Reg(n as u8))
}

fn value(n: u32) -> Value {
    reg(n).map_or(Value::Const(0), Value::Reg)
}

fn name(n: u32) -> &'static str {
    NAMES[n as usize]
}

fn constant(value: i64) -> Value {
    Value::Const(value as u64)
}

impl RiscvWord {
    fn decode(&self) -> Result<Instruction, Undecodable> {
        match self.word & 0x7f {
            0x37 | 0x17 => Ok(self.upper_immediate()),
            0x6f => Ok(self.jump_and_link()),
            0x67 if self.funct3() == 0 => Ok(self.jump_register()),
            0x63 => self.branch(),
            0x03 => self.load(),
            0x23 => self.store(),
            0x13 => self.arithmetic_immediate(false),
            0x1b if self.is_64 => self.arithmetic_immediate(true),
            0x33 => self.arithmetic(false),
            0x3b if self.is_64 => self.arithmetic(true),
            0x0f => self.fence(),
            0x2f => self.atomic(),
            0x73 => self.system(),
            0x1b | 0x3b => self.refuse("it is of RV64"),
            0x07 => self.float_load(),
            0x27 => self.float_store(),
            0x43 | 0x47 | 0x4b | 0x4f => self.float_fused(),
            0x53 => self.float_operation(),
            opcode if opcode & 0x1f == 0x1f => {
                self.refuse("instructions longer than 32 bits are reserved")
            }
            _ => self.refuse("the opcode is reserved"),
        }
    }

    fn refuse<T>(&self, why: &str) -> Result<T, Undecodable> {
        refused(self.address, self.word.into(), why)
    }

    fn rd(&self) -> u32 {
        self.word >> 7 & 31
    }
    fn rs1(&self) -> u32 {
        self.word >> 15 & 31
    }
    fn rs2(&self) -> u32 {
        self.word >> 20 & 31
    }
    fn funct3(&self) -> u32 {
        self.word >> 12 & 7
    }
    fn funct7(&self) -> u32 {
        self.word >> 25
    }
    /// The immediate of loads, `jalr` and arithmetic.
    fn immediate(&self) -> i64 {
        sign_extend((self.word >> 20).into(), 12)
    }
    /// The immediate of stores.
    fn store_immediate(&self) -> i64 {
        sign_extend((self.funct7() << 5 | self.rd()).into(), 12)
    }
    /// Bits of a register.
    fn xlen(&self) -> u8 {
        if self.is_64 { 64 } else { 32 }
    }
    /// All bits of a register.
    fn all(&self) -> u64 {
        low_bits(self.xlen().into())
    }
    /// `address + offset`, cut to the width of an address.
    fn relative(&self, offset: i64) -> u64 {
        self.address.wrapping_add_signed(offset) & self.all()
    }

    fn plain(&self, class: Class, text: String) -> Instruction {
        Instruction::new(self.address, self.length, self.word.into(), class, text)
    }

    /// `op` on all bits of a register, or on the low 32 with the sign above.
    fn operation(&self, op: Op, is_word: bool, a: Value, b: Value) -> Operation {
        let width = if is_word { 32 } else { self.xlen() };
        Operation {
            op,
            width,
            extends: if is_word { Extends::Sign } else { Extends::Zero },
            result: reg(self.rd()),
            a,
            b,
        }
    }

    fn upper_immediate(&self) -> Instruction {
        let rd = self.rd();
        let shown = self.word >> 12;
        let offset = i64::from((self.word & 0xffff_f000) as i32);
        let (mnemonic, result) = if self.word & 0x20 == 0 {
            ("auipc", self.relative(offset) as i64)
        } else {
            ("lui", offset)
        };
        self.plain(Class::Constant, format!("{mnemonic} {}, {shown:#x}", name(rd)))
            .writes(reg(rd), self.all(), Out::Result)
            .computes(self.operation(Op::Move, false, constant(result), Value::Const(0)))
    }

    fn jump_and_link(&self) -> Instruction {
        let word = self.word;
        let offset = (word >> 31 & 1) << 20
            | (word >> 12 & 0xff) << 12
            | (word >> 20 & 1) << 11
            | (word >> 21 & 0x3ff) << 1;
        let target = self.relative(sign_extend(offset.into(), 21));
        match self.rd() {
            0 => self
                .plain(Class::Branch, format!("j {target:#x}"))
                .flows(Flow::Branch { target, is_conditional: false }),
            rd => {
                let text = if rd == 1 {
                    format!("jal {target:#x}")
                } else {
                    format!("jal {}, {target:#x}", name(rd))
                };
                self.plain(Class::Call, text)
                    .writes(reg(rd), self.all(), Out::Link)
                    .flows(Flow::Call { target: Some(target) })
            }
        }
    }

    fn jump_register(&self) -> Instruction {
        let (rd, rs1, imm) = (self.rd(), self.rs1(), self.immediate());
        let is_return = rd == 0 && imm == 0 && (rs1 == 1 || rs1 == 5);
        let (class, flow) = match rd {
            // Behind `t0` stand routines that keep all other registers, such as those that save
            // them for a function.
            0 if is_return => (Class::Return, if rs1 == 1 { Flow::Return } else { Flow::Jump }),
            0 => (Class::Jump, Flow::Jump),
            _ => (Class::Jump, Flow::Call { target: None }),
        };
        let place =
            if imm == 0 { name(rs1).to_owned() } else { format!("{}({})", number(imm), name(rs1)) };
        let text = match rd {
            0 if is_return && rs1 == 1 => "ret".to_owned(),
            0 => format!("jr {place}"),
            1 => format!("jalr {place}"),
            _ => format!("jalr {}, {place}", name(rd)),
        };
        // Bit 0 of the sum is cleared, so bit 0 of the register matters only if it can carry.
        let bits = if imm & 1 == 0 { self.all() & !1 } else { self.all() };
        self.plain(class, text)
            .reads(reg(rs1), bits, Role::Target)
            .writes(reg(rd), self.all(), Out::Link)
            .flows(flow)
    }

    fn branch(&self) -> Result<Instruction, Undecodable> {
        let (word, rs1, rs2) = (self.word, self.rs1(), self.rs2());
        let offset = (word >> 31 & 1) << 12
            | (word >> 7 & 1) << 11
            | (word >> 25 & 0x3f) << 5
            | (word >> 8 & 0xf) << 1;
        let target = self.relative(sign_extend(offset.into(), 13));
        let mnemonic = ["beq", "bne", "", "", "blt", "bge", "bltu", "bgeu"][self.funct3() as usize];
        let text = match (mnemonic, rs1, rs2) {
            ("", ..) => return self.refuse("the condition is reserved"),
            ("bge", 0, _) => format!("blez {}, {target:#x}", name(rs2)),
            ("beq" | "bne" | "blt" | "bge", _, 0) => {
                format!("{mnemonic}z {}, {target:#x}", name(rs1))
            }
            ("blt", 0, _) => format!("bgtz {}, {target:#x}", name(rs2)),
            _ => format!("{mnemonic} {}, {}, {target:#x}", name(rs1), name(rs2)),
        };
        let is_signed = !mnemonic.ends_with('u');
        let relation = match self.funct3() {
            0 => Relation::Equal,
            1 => Relation::Different,
            4 | 6 => Relation::Less { is_signed },
            _ => Relation::NotLess { is_signed },
        };
        // Of a register that is compared with zero for its sign, only the sign matters.
        let sign_only = matches!((mnemonic, rs2), ("blt" | "bge", 0));
        let bits = if sign_only { 1 << (self.xlen() - 1) } else { self.all() };
        Ok(self
            .plain(Class::Branch, text)
            .reads(reg(rs1), bits, Role::Condition)
            .reads(reg(rs2), self.all(), Role::Condition)
            .flows(Flow::Branch { target, is_conditional: true })
            .computes(Operation {
                result: None,
                ..self.operation(Op::BranchIf(relation), false, value(rs1), value(rs2))
            }))
    }

    fn load(&self) -> Result<Instruction, Undecodable> {
        let (rd, rs1, imm) = (self.rd(), self.rs1(), self.immediate());
        let (mnemonic, width, is_signed) = match self.funct3() {
            0 => ("lb", 1, true),
            1 => ("lh", 2, true),
            2 => ("lw", 4, true),
            3 if self.is_64 => ("ld", 8, true),
            4 => ("lbu", 1, false),
            5 => ("lhu", 2, false),
            6 if self.is_64 => ("lwu", 4, false),
            3 | 6 => return self.refuse("it is of RV64"),
            _ => return self.refuse("the width is reserved"),
        };
        // Some cores take a cycle more to extend what is narrower than a word.
        let class = if width < 4 { Class::LoadSlow } else { Class::Load };
        Ok(self
            .plain(class, format!("{mnemonic} {}, {}({})", name(rd), number(imm), name(rs1)))
            .reads(reg(rs1), self.all(), Role::Base)
            .writes(reg(rd), self.all(), Out::Result)
            .loads(reg(rs1), imm, width)
            .computes(self.operation(
                Op::Load { is_signed },
                false,
                Value::Const(0),
                Value::Const(0),
            )))
    }

    fn store(&self) -> Result<Instruction, Undecodable> {
        let (rs1, rs2, imm) = (self.rs1(), self.rs2(), self.store_immediate());
        let (mnemonic, width) = match self.funct3() {
            0 => ("sb", 1),
            1 => ("sh", 2),
            2 => ("sw", 4),
            3 if self.is_64 => ("sd", 8),
            3 => return self.refuse("it is of RV64"),
            _ => return self.refuse("the width is reserved"),
        };
        Ok(self
            .plain(
                Class::Store,
                format!("{mnemonic} {}, {}({})", name(rs2), number(imm), name(rs1)),
            )
            .reads(reg(rs1), self.all(), Role::Base)
            .reads(reg(rs2), low_bits(u32::from(width) * 8), Role::Data)
            .stores(reg(rs1), imm, width))
    }

    /// `is_word`: the forms of RV64 that work on the low 32 bits.
    fn arithmetic_immediate(&self, is_word: bool) -> Result<Instruction, Undecodable> {
        let (rd, rs1, imm) = (self.rd(), self.rs1(), self.immediate());
        let (d, s) = (name(rd), name(rs1));
        let all = if is_word { low_bits(32) } else { self.all() };
        if matches!(self.funct3(), 1 | 5) {
            return self
                .extended_immediate(is_word)
                .map_or_else(|| self.shift_immediate(is_word), Ok);
        }
        let (class, bits, op, b, text) = match self.funct3() {
            0 if is_word && imm == 0 => {
                (Class::Extend, all, Op::SignExtend { bits: 32 }, 0, format!("sext.w {d}, {s}"))
            }
            0 if is_word => {
                (Class::Alu, all, Op::Add, imm, format!("addiw {d}, {s}, {}", number(imm)))
            }
            _ if is_word => return self.refuse("the operation is reserved"),
            0 if rd == 0 && rs1 == 0 && imm == 0 => {
                (Class::Nop, all, Op::Move, 0, "nop".to_owned())
            }
            0 if rs1 == 0 => {
                (Class::Constant, all, Op::Add, imm, format!("li {d}, {}", number(imm)))
            }
            0 if imm == 0 => (Class::Alu, all, Op::Move, 0, format!("mv {d}, {s}")),
            0 => (Class::Alu, all, Op::Add, imm, format!("addi {d}, {s}, {}", number(imm))),
            2 => (
                Class::Alu,
                all,
                Op::SetLess { is_signed: true },
                imm,
                format!("slti {d}, {s}, {}", number(imm)),
            ),
            3 if imm == 1 => {
                (Class::Alu, all, Op::SetLess { is_signed: false }, imm, format!("seqz {d}, {s}"))
            }
            3 => (
                Class::Alu,
                all,
                Op::SetLess { is_signed: false },
                imm,
                format!("sltiu {d}, {s}, {}", number(imm)),
            ),
            4 if imm == -1 => (Class::Alu, all, Op::Not, 0, format!("not {d}, {s}")),
            4 => (Class::Alu, all, Op::Xor, imm, format!("xori {d}, {s}, {}", number(imm))),
            6 => (
                Class::Alu,
                all & !(imm as u64),
                Op::Or,
                imm,
                format!("ori {d}, {s}, {}", number(imm)),
            ),
            7 if imm == 255 => {
                (Class::Extend, 255, Op::ZeroExtend { bits: 8 }, 0, format!("zext.b {d}, {s}"))
            }
            _ => (
                Class::Alu,
                all & imm as u64,
                Op::And,
                imm,
                format!("andi {d}, {s}, {}", number(imm)),
            ),
        };
        // Nothing is less than 0 without a sign; the sign decides what is less than 0 with one.
        let bits = match (self.funct3(), imm) {
            (2, 0) => 1 << (self.xlen() - 1),
            (3, 0) => 0,
            _ => bits,
        };
        // `sext.w` is followed as what it is for, an extension, over the whole register.
        let operation = self.operation(op, is_word && imm != 0, value(rs1), constant(b));
        Ok(self
            .plain(class, text)
            .reads(reg(rs1), bits, Role::Source)
            .writes(reg(rd), self.all(), Out::Result)
            .computes(operation))
    }

    fn shift_immediate(&self, is_word: bool) -> Result<Instruction, Undecodable> {
        let (rd, rs1) = (self.rd(), self.rs1());
        let n_bits = if is_word { 32 } else { u32::from(self.xlen()) };
        let amount = if n_bits == 64 { self.word >> 20 & 63 } else { self.rs2() };
        let rest = if n_bits == 64 { self.word >> 26 << 1 } else { self.funct7() };
        let all = low_bits(n_bits);
        let (mnemonic, shift, bits) = match (self.funct3(), rest) {
            (1, 0) => ("slli", Shift::Left, all >> amount),
            (5, 0) => ("srli", Shift::Right, all & (ALL << amount)),
            (5, 0x20) => ("srai", Shift::RightSigned, all & (ALL << amount)),
            _ => return self.refuse("the shift is reserved"),
        };
        let suffix = if is_word { "w" } else { "" };
        Ok(self
            .plain(
                Class::Shift,
                format!("{mnemonic}{suffix} {}, {}, {amount}", name(rd), name(rs1)),
            )
            .reads(reg(rs1), bits, Role::Source)
            .writes(reg(rd), self.all(), Out::Result)
            .computes(self.operation(
                Op::Shift(shift),
                is_word,
                value(rs1),
                Value::Const(amount.into()),
            )))
    }

    fn arithmetic(&self, is_word: bool) -> Result<Instruction, Undecodable> {
        let (rd, rs1, rs2) = (self.rd(), self.rs1(), self.rs2());
        if self.funct7() == 1 {
            return self.multiply(is_word);
        }
        if let Some(it) = self.extended(is_word) {
            return Ok(it);
        }
        let less = |is_signed| Op::SetLess { is_signed };
        let (mnemonic, op) = match (self.funct7(), self.funct3()) {
            (0, 0) => ("add", Op::Add),
            (0x20, 0) => ("sub", Op::Sub),
            (0, 1) => ("sll", Op::Shift(Shift::Left)),
            (0, 5) => ("srl", Op::Shift(Shift::Right)),
            (0x20, 5) => ("sra", Op::Shift(Shift::RightSigned)),
            _ if is_word => return self.refuse("the operation is reserved"),
            (0, 2) => ("slt", less(true)),
            (0, 3) => ("sltu", less(false)),
            (0, 4) => ("xor", Op::Xor),
            (0, 6) => ("or", Op::Or),
            (0, 7) => ("and", Op::And),
            _ => return self.refuse("the operation is reserved"),
        };
        let suffix = if is_word { "w" } else { "" };
        let (d, s, t) = (name(rd), name(rs1), name(rs2));
        let text = match (mnemonic, rs1, rs2) {
            ("sub", 0, _) => format!("neg{suffix} {d}, {t}"),
            ("slt", _, 0) => format!("sltz {d}, {s}"),
            ("slt", 0, _) => format!("sgtz {d}, {t}"),
            ("sltu", 0, _) => format!("snez {d}, {t}"),
            // The compressed form of `mv` stands for this one.
            ("add", 0, _) if !is_word && self.length == 2 => format!("mv {d}, {t}"),
            _ => format!("{mnemonic}{suffix} {d}, {s}, {t}"),
        };
        let n_bits = if is_word { 32 } else { self.xlen() };
        let all = low_bits(n_bits.into());
        let is_shift = matches!(op, Op::Shift(_));
        // Only the low bits of an amount count.
        let (role, bits) =
            if is_shift { (Role::Amount, u64::from(n_bits) - 1) } else { (Role::Source, all) };
        // The sign decides what is less than 0; without a sign nothing is.
        let first_bits = match (mnemonic, rs2) {
            ("slt", 0) => 1 << (self.xlen() - 1),
            ("sltu", 0) => 0,
            _ => all,
        };
        Ok(self
            .plain(if is_shift { Class::Shift } else { Class::Alu }, text)
            .reads(reg(rs1), first_bits, Role::Source)
            .reads(reg(rs2), bits, role)
            .writes(reg(rd), self.all(), Out::Result)
            .computes(self.operation(op, is_word, value(rs1), value(rs2))))
    }

    /// What is done to a block of a cache (Zicbom, Zicboz).
    fn cache_block(&self) -> Result<Instruction, Undecodable> {
        let (rs1, kind) = (self.rs1(), self.word >> 20);
        let Some(mnemonic) = ["cbo.inval", "cbo.clean", "cbo.flush", "", "cbo.zero"]
            .get(kind as usize)
            .filter(|recorded| !recorded.is_empty())
        else {
            return self.refuse("the fence is reserved");
        };
        if self.rd() != 0 {
            return self.refuse("the fence is reserved");
        }
        let it = self.plain(Class::System, format!("{mnemonic} ({})", name(rs1))).reads(
            reg(rs1),
            self.all(),
            Role::Base,
        );
        // How long a block is no word says: anywhere.
        let access = Access {
            is_store: true,
            base: None,
            index: reg(rs1).map(|reg| (reg, 0)),
            index_form: IndexForm::Other,
            disp: 0,
            width: 128,
        };
        Ok(it.accesses(access))
    }

    fn fence(&self) -> Result<Instruction, Undecodable> {
        let word = self.word;
        if self.funct3() == 2 {
            return self.cache_block();
        }
        let set = |bits: u32| -> String {
            let letters: String = "wroi"
                .chars()
                .enumerate()
                .filter(|(n, _)| bits >> n & 1 != 0)
                .map(|pair| pair.1)
                .collect();
            if letters.is_empty() { "0".to_owned() } else { letters.chars().rev().collect() }
        };
        let text = match (self.funct3(), word >> 28, word >> 24 & 15, word >> 20 & 15) {
            // The other fields are for finer fences of the future, and ignored.
            (1, ..) => "fence.i".to_owned(),
            (0, 8, 3, 3) => "fence.tso".to_owned(),
            (0, 0, 15, 15) => "fence".to_owned(),
            (0, 0, from, to) => format!("fence {}, {}", set(from), set(to)),
            (0, ..) => return self.refuse("the mode of the fence is reserved"),
            _ => return self.refuse("the fence is reserved"),
        };
        if (word & 0x000f_8f80) != 0 || self.funct3() == 1 && word >> 20 != 0 {
            return self.refuse("fields of the fence that must be 0 are not");
        }
        Ok(self.plain(Class::System, text))
    }

    fn atomic(&self) -> Result<Instruction, Undecodable> {
        let (rd, rs1, rs2) = (self.rd(), self.rs1(), self.rs2());
        let (letter, width) = match self.funct3() {
            2 => ("w", 4),
            3 if self.is_64 => ("d", 8),
            3 => return self.refuse("it is of RV64"),
            _ => return self.refuse("the width is reserved"),
        };
        let order = ["", ".rl", ".aq", ".aqrl"][(self.word >> 25 & 3) as usize];
        let (d, s, base) = (name(rd), name(rs2), name(rs1));
        let bits = low_bits(u32::from(width) * 8);
        match self.word >> 27 {
            2 if rs2 == 0 => Ok(self
                .plain(Class::Load, format!("lr.{letter}{order} {d}, ({base})"))
                .reads(reg(rs1), self.all(), Role::Base)
                .writes(reg(rd), self.all(), Out::Result)
                .writes(RESERVATION, 1, Out::Flag)
                .loads(reg(rs1), 0, width)
                .computes(self.operation(
                    Op::Load { is_signed: true },
                    false,
                    Value::Const(0),
                    Value::Const(0),
                ))),
            2 => self.refuse("a field that must be 0 is not"),
            3 => Ok(self
                .plain(Class::Atomic, format!("sc.{letter}{order} {d}, {s}, ({base})"))
                .reads(reg(rs1), self.all(), Role::Base)
                .reads(reg(rs2), bits, Role::Data)
                .reads(RESERVATION, 1, Role::Condition)
                .writes(reg(rd), self.all(), Out::Result)
                .writes(RESERVATION, 1, Out::Flag)
                .stores(reg(rs1), 0, width)),
            operation => {
                let mnemonic = match operation {
                    0x00 => "amoadd",
                    0x01 => "amoswap",
                    0x04 => "amoxor",
                    0x08 => "amoor",
                    0x0c => "amoand",
                    0x10 => "amomin",
                    0x14 => "amomax",
                    0x18 => "amominu",
                    0x1c => "amomaxu",
                    _ => return self.refuse("the operation is reserved"),
                };
                Ok(self
                    .plain(Class::Atomic, format!("{mnemonic}.{letter}{order} {d}, {s}, ({base})"))
                    .reads(reg(rs1), self.all(), Role::Base)
                    .reads(reg(rs2), bits, Role::Data)
                    .writes(reg(rd), self.all(), Out::Result)
                    .loads(reg(rs1), 0, width)
                    .stores(reg(rs1), 0, width))
            }
        }
    }

    /// Memory of a guest, by the hypervisor (H).
    fn guest(&self) -> Result<Instruction, Undecodable> {
        let (rd, rs1, rs2, funct7) = (self.rd(), self.rs1(), self.rs2(), self.funct7());
        let size = (funct7 >> 1 & 3) as usize;
        let letter = ["b", "h", "w", "d"][size];
        if funct7 >> 3 != 6 || size == 3 && !self.is_64 {
            return self.refuse("the system instruction is reserved");
        }
        let address = format!("({})", name(rs1));
        if funct7 & 1 == 1 {
            if rd != 0 {
                return self.refuse("the system instruction is reserved");
            }
            let it = self
                .plain(Class::System, format!("hsv.{letter} {}, {address}", name(rs2)))
                .reads(reg(rs1), self.all(), Role::Base);
            return Ok(it.reads(reg(rs2), low_bits(8 << size), Role::Data).stores(
                reg(rs1),
                0,
                1 << size,
            ));
        }
        let mnemonic = match (rs2, size) {
            (0, _) => format!("hlv.{letter}"),
            (1, 0 | 1) => format!("hlv.{letter}u"),
            (1, 2) if self.is_64 => "hlv.wu".to_owned(),
            (3, 1 | 2) => format!("hlvx.{letter}u"),
            _ => return self.refuse("the system instruction is reserved"),
        };
        let it = self.plain(Class::System, format!("{mnemonic} {}, {address}", name(rd))).reads(
            reg(rs1),
            self.all(),
            Role::Base,
        );
        Ok(it.writes(reg(rd), self.all(), Out::Result).loads(reg(rs1), 0, 1 << size))
    }

    fn system(&self) -> Result<Instruction, Undecodable> {
        if self.funct3() == 4 {
            return self.guest();
        }
        if self.funct3() != 0 {
            return csr::decode(self);
        }
        let (text, flow) = match (self.word >> 20, self.rd(), self.rs1()) {
            (0, 0, 0) => {
                let conventions = if self.is_64 { &CONVENTIONS_64 } else { &CONVENTIONS_32 };
                return Ok(self.plain(Class::System, "ecall".to_owned()).calls_system(conventions));
            }
            (1, 0, 0) => ("ebreak", Flow::Stop),
            (0x102, 0, 0) => ("sret", Flow::Resume),
            (0x302, 0, 0) => ("mret", Flow::Resume),
            (0x105, 0, 0) => ("wfi", Flow::Next),
            (_, 0, rs1) if self.funct7() == 9 => {
                let text = match (rs1, self.rs2()) {
                    (0, 0) => "sfence.vma".to_owned(),
                    (_, 0) => format!("sfence.vma {}", name(rs1)),
                    (_, rs2) => format!("sfence.vma {}, {}", name(rs1), name(rs2)),
                };
                let it = self.plain(Class::System, text).reads(reg(rs1), self.all(), Role::Source);
                return Ok(it.reads(reg(self.rs2()), self.all(), Role::Source));
            }
            (0x00d, 0, 0) => ("wrs.nto", Flow::Next),
            (0x01d, 0, 0) => ("wrs.sto", Flow::Next),
            (0x180, 0, 0) => ("sfence.w.inval", Flow::Next),
            (0x181, 0, 0) => ("sfence.inval.ir", Flow::Next),
            (_, 0, rs1) if let Some(mnemonic) = translations(self.funct7()) => {
                let text = format!("{mnemonic} {}, {}", name(rs1), name(self.rs2()));
                let it = self.plain(Class::System, text).reads(reg(rs1), self.all(), Role::Source);
                return Ok(it.reads(reg(self.rs2()), self.all(), Role::Source));
            }
            _ => return self.refuse("the system instruction is reserved"),
        };
        let it = self
            .plain(
                if flow == Flow::Resume { Class::Return } else { Class::System },
                text.to_owned(),
            )
            .flows(flow);
        // Returns from a trap go where a control register says, and change the status.
        Ok(if flow == Flow::Resume {
            it.reads(CSR, self.all(), Role::Target).writes(CSR, self.all(), Out::Result)
        } else {
            it
        })
    }
}

/// Fences of translations by the number in their upper bits (Svinval, H).
fn translations(funct7: u32) -> Option<&'static str> {
    Some(match funct7 {
        0x0b => "sinval.vma",
        0x11 => "hfence.vvma",
        0x13 => "hinval.vvma",
        0x31 => "hfence.gvma",
        0x33 => "hinval.gvma",
        _ => return None,
    })
}
