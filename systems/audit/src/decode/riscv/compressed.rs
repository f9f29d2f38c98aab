//! The C extension: 16 bits in, the 32 bits they stand for out.
//!
//! Source: The RISC-V Instruction Set Manual, volume I, version 20191213, chapter 16.

/// The word that `half` stands for; `None` if it is reserved.
pub(super) fn expand(half: u16, is_64: bool) -> Option<u32> {
    let it = Half(half.into());
    let (rd, rd_low, rs1_low, rs2) =
        (it.bits(11, 7), it.bits(4, 2) + 8, it.bits(9, 7) + 8, it.bits(6, 2));
    match (it.bits(1, 0), it.bits(15, 13)) {
        (0, 0) => {
            let offset = it.bits(12, 11) << 4
                | it.bits(10, 7) << 6
                | it.bits(6, 6) << 2
                | it.bits(5, 5) << 3;
            (offset != 0).then(|| immediate(0x13, 0, rd_low, 2, offset))
        }
        (0, 1) => Some(immediate(0x07, 3, rd_low, rs1_low, it.offset_8())),
        (0, 2) => Some(immediate(0x03, 2, rd_low, rs1_low, it.offset_4())),
        (0, 3) if is_64 => Some(immediate(0x03, 3, rd_low, rs1_low, it.offset_8())),
        (0, 3) => Some(immediate(0x07, 2, rd_low, rs1_low, it.offset_4())),
        (0, 5) => Some(float_store(3, rd_low, rs1_low, it.offset_8())),
        (0, 6) => Some(store(2, rd_low, rs1_low, it.offset_4())),
        (0, 7) if is_64 => Some(store(3, rd_low, rs1_low, it.offset_8())),
        (0, 7) => Some(float_store(2, rd_low, rs1_low, it.offset_4())),
        (1, 0) => Some(immediate(0x13, 0, rd, rd, it.immediate())),
        (1, 1) if is_64 => (rd != 0).then(|| immediate(0x1b, 0, rd, rd, it.immediate())),
        (1, 1) => Some(jump(1, it.jump_offset())),
        (1, 2) => Some(immediate(0x13, 0, rd, 0, it.immediate())),
        (1, 3) if rd == 2 => {
            let offset = it.bits(6, 6) << 4
                | it.bits(5, 5) << 6
                | it.bits(4, 3) << 7
                | it.bits(2, 2) << 5
                | it.sign() << 9;
            (offset != 0).then(|| immediate(0x13, 0, 2, 2, offset))
        }
        (1, 3) => (it.immediate() != 0).then(|| it.immediate() << 12 | rd << 7 | 0x37),
        (1, 4) => it.arithmetic(rs1_low, rd_low, is_64),
        (1, 5) => Some(jump(0, it.jump_offset())),
        (1, 6) => Some(branch(0, rs1_low, it.branch_offset())),
        (1, 7) => Some(branch(1, rs1_low, it.branch_offset())),
        (2, 0) => it.amount(is_64).map(|amount| immediate(0x13, 1, rd, rd, amount)),
        (2, 1) => Some(immediate(0x07, 3, rd, 2, it.stack_8())),
        (2, 2) => (rd != 0).then(|| immediate(0x03, 2, rd, 2, it.stack_4())),
        (2, 3) if is_64 => (rd != 0).then(|| immediate(0x03, 3, rd, 2, it.stack_8())),
        (2, 3) => Some(immediate(0x07, 2, rd, 2, it.stack_4())),
        (2, 4) => match (it.bits(12, 12), rd, rs2) {
            (0, 0, 0) => None,
            (0, _, 0) => Some(immediate(0x67, 0, 0, rd, 0)),
            (0, ..) => Some(register(0x33, 0, 0, rd, 0, rs2)),
            (_, 0, 0) => Some(0x0010_0073),
            (_, _, 0) => Some(immediate(0x67, 0, 1, rd, 0)),
            _ => Some(register(0x33, 0, 0, rd, rd, rs2)),
        },
        (2, 5) => Some(float_store(3, rs2, 2, it.bits(12, 10) << 3 | it.bits(9, 7) << 6)),
        (2, 6) => Some(store(2, rs2, 2, it.bits(12, 9) << 2 | it.bits(8, 7) << 6)),
        (2, 7) if is_64 => Some(store(3, rs2, 2, it.bits(12, 10) << 3 | it.bits(9, 7) << 6)),
        (2, 7) => Some(float_store(2, rs2, 2, it.bits(12, 9) << 2 | it.bits(8, 7) << 6)),
        _ => None,
    }
}

/// 16 bits, in the low half.
struct Half(u32);

impl Half {
    fn bits(&self, high: u32, low: u32) -> u32 {
        self.0 >> low & ((2 << (high - low)) - 1)
    }

    /// All ones if bit 12 is set, from which signed immediates take their upper bits.
    fn sign(&self) -> u32 {
        0_u32.wrapping_sub(self.bits(12, 12))
    }

    fn immediate(&self) -> u32 {
        self.sign() << 5 | self.bits(6, 2)
    }

    fn offset_4(&self) -> u32 {
        self.bits(12, 10) << 3 | self.bits(6, 6) << 2 | self.bits(5, 5) << 6
    }

    /// Offsets of loads from the stack.
    fn stack_4(&self) -> u32 {
        self.bits(12, 12) << 5 | self.bits(6, 4) << 2 | self.bits(3, 2) << 6
    }

    fn stack_8(&self) -> u32 {
        self.bits(12, 12) << 5 | self.bits(6, 5) << 3 | self.bits(4, 2) << 6
    }

    fn offset_8(&self) -> u32 {
        self.bits(12, 10) << 3 | self.bits(6, 5) << 6
    }

    fn jump_offset(&self) -> u32 {
        let low = self.bits(11, 11) << 4
            | self.bits(10, 9) << 8
            | self.bits(8, 8) << 10
            | self.bits(7, 7) << 6;
        low | self.bits(6, 6) << 7 | self.bits(5, 3) << 1 | self.bits(2, 2) << 5 | self.sign() << 11
    }

    fn branch_offset(&self) -> u32 {
        let low = self.bits(11, 10) << 3 | self.bits(6, 5) << 6 | self.bits(4, 3) << 1;
        low | self.bits(2, 2) << 5 | self.sign() << 8
    }

    /// The amount of a shift; a sixth bit is for RV64 only.
    fn amount(&self, is_64: bool) -> Option<u32> {
        (is_64 || self.bits(12, 12) == 0).then(|| self.bits(12, 12) << 5 | self.bits(6, 2))
    }

    fn arithmetic(&self, rd: u32, rs2: u32, is_64: bool) -> Option<u32> {
        match (self.bits(11, 10), self.bits(12, 12), self.bits(6, 5)) {
            (0, ..) => self.amount(is_64).map(|amount| immediate(0x13, 5, rd, rd, amount)),
            (1, ..) => self.amount(is_64).map(|amount| immediate(0x13, 5, rd, rd, 0x400 | amount)),
            (2, ..) => Some(immediate(0x13, 7, rd, rd, self.immediate())),
            (_, 0, 0) => Some(register(0x33, 0x20, 0, rd, rd, rs2)),
            (_, 0, 1) => Some(register(0x33, 0, 4, rd, rd, rs2)),
            (_, 0, 2) => Some(register(0x33, 0, 6, rd, rd, rs2)),
            (_, 0, _) => Some(register(0x33, 0, 7, rd, rd, rs2)),
            (_, _, 0) if is_64 => Some(register(0x3b, 0x20, 0, rd, rd, rs2)),
            (_, _, 1) if is_64 => Some(register(0x3b, 0, 0, rd, rd, rs2)),
            _ => None,
        }
    }
}

fn immediate(opcode: u32, funct3: u32, rd: u32, rs1: u32, immediate: u32) -> u32 {
    immediate << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | opcode
}

fn register(opcode: u32, funct7: u32, funct3: u32, rd: u32, rs1: u32, rs2: u32) -> u32 {
    funct7 << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | opcode
}

/// The store of a register of floating point.
fn float_store(funct3: u32, rs2: u32, rs1: u32, offset: u32) -> u32 {
    store(funct3, rs2, rs1, offset) | 0x04
}

fn store(funct3: u32, rs2: u32, rs1: u32, offset: u32) -> u32 {
    (offset >> 5 & 0x7f) << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 | (offset & 31) << 7 | 0x23
}

fn jump(rd: u32, offset: u32) -> u32 {
    (offset >> 20 & 1) << 31
        | (offset >> 1 & 0x3ff) << 21
        | (offset >> 11 & 1) << 20
        | (offset >> 12 & 0xff) << 12
        | rd << 7
        | 0x6f
}

fn branch(funct3: u32, rs1: u32, offset: u32) -> u32 {
    let high = (offset >> 12 & 1) << 31 | (offset >> 5 & 0x3f) << 25;
    high | rs1 << 15 | funct3 << 12 | (offset >> 1 & 15) << 8 | (offset >> 11 & 1) << 7 | 0x63
}
