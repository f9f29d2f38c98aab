//! SPARC V8 words: which kind of work each is, for the machine file and for counting.

use machine::in_order::Class;

/// The kind of work of an instruction.
pub fn class(word: u32) -> Class {
    let op3 = word >> 19 & 63;
    match word >> 30 {
        0 => match word >> 22 & 7 {
            4 if word == 0x0100_0000 => Class::Nop,
            4 => Class::Constant,
            2 | 6 | 7 => Class::Branch,
            _ => Class::System,
        },
        1 => Class::Call,
        2 => match op3 {
            0x38 => Class::Jump,
            0x39 => Class::Return,
            0x3c | 0x3d => Class::Window,
            0x28..=0x2b | 0x30..=0x33 | 0x3a | 0x3b => Class::System,
            0x25..=0x27 => Class::Shift,
            0x0a | 0x0b | 0x1a | 0x1b => Class::Mul,
            0x0e | 0x0f | 0x1e | 0x1f => Class::Div,
            0x34..=0x37 => Class::Float,
            _ => Class::Alu,
        },
        _ => match op3 {
            0x03 => Class::LoadDouble,
            0x04..=0x06 => Class::Store,
            0x07 => Class::StoreDouble,
            0x0d | 0x0f => Class::Atomic,
            0x20..=0x3f => Class::Float,
            _ => Class::Load,
        },
    }
}

pub fn is_save(word: u32) -> bool {
    word >> 30 == 2 && word >> 19 & 63 == 0x3c
}

pub fn is_restore(word: u32) -> bool {
    word >> 30 == 2 && word >> 19 & 63 == 0x3d
}

/// True for an instruction that may trap in a program without mistakes: `save`,
/// `restore`, `ta`, floating point.
pub fn may_trap(word: u32) -> bool {
    is_save(word)
        || is_restore(word)
        || word >> 30 == 2 && word >> 19 & 63 == 0x3a
        || is_float(word)
}

/// True for a load or store.
pub fn is_memory(word: u32) -> bool {
    word >> 30 == 3
}

/// True for an instruction of the floating point unit.
pub fn is_float(word: u32) -> bool {
    class(word) == Class::Float
}

/// Where control goes after an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Control {
    /// To the next one.
    Next,
    /// To the target, or on.
    Branch {
        target: u32,
        /// It never goes on.
        is_always: bool,
        /// Without the delay slot if it goes on, or if it is always taken.
        annuls: bool,
    },
    /// A branch that never goes.
    Never {
        /// Without the delay slot.
        annuls: bool,
    },
    /// To the target, and back after the delay slot.
    Call {
        target: u32,
    },
    /// Back to the caller: `ret`, `retl`.
    Return,
    /// To an address in a register that it adds to another, with the way back in a global register.
    Table,
    /// To an address in a register.
    Jump,
    TrapReturn,
    /// `ta` and its like.
    Trap,
    /// `wr REGISTER, 0x20, %psr`: traps go on if they were off, and off if they were on.
    SwitchTraps,
}

/// What the instruction at `pc` does to control.
pub fn control(word: u32, pc: u32) -> Control {
    let (op3, rd, rs1) = (word >> 19 & 63, word >> 25 & 31, word >> 14 & 31);
    let annuls = word >> 29 & 1 == 1;
    match word >> 30 {
        0 if matches!(word >> 22 & 7, 2 | 6 | 7) => match word >> 25 & 15 {
            0 => Control::Never { annuls },
            condition => {
                let target =
                    pc.wrapping_add((word << 10).cast_signed().wrapping_shr(8).cast_unsigned());
                Control::Branch { target, is_always: condition == 8, annuls }
            }
        },
        1 => Control::Call { target: pc.wrapping_add(word << 2) },
        2 if op3 == 0x38 => match (rd, rs1, word & 0x3fff) {
            (0, 15 | 31, 0x2008) => Control::Return,
            (1..=7, _, _) => Control::Table,
            _ => Control::Jump,
        },
        2 if op3 == 0x39 => Control::TrapReturn,
        2 if op3 == 0x3a => Control::Trap,
        2 if op3 == 0x31 && word >> 13 & 1 == 1 && word & 0x20 != 0 => Control::SwitchTraps,
        _ => Control::Next,
    }
}

pub fn is_trap_return(word: u32) -> bool {
    control(word, 0) == Control::TrapReturn
}

/// True for the first store of a window: `std %l0, [REGISTER + 0]`.
pub fn stores_window(word: u32) -> bool {
    word & 0xfff8_3fff == (3 << 30 | 16 << 25 | 0x07 << 19 | 1 << 13)
}

/// True for the first load of a window: `ldd [REGISTER + 0], %l0`.
pub fn loads_window(word: u32) -> bool {
    word & 0xfff8_3fff == (3 << 30 | 16 << 25 | 0x03 << 19 | 1 << 13)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_as_objdump_shows_them() {
        let words = [
            (0x9de3_bfa0, Class::Window),      // save %sp, -96, %sp
            (0x81e8_0000, Class::Window),      // restore
            (0xe03b_a000, Class::StoreDouble), // std %l0, [%sp]
            (0xe01b_a000, Class::LoadDouble),  // ldd [%sp], %l0
            (0x8748_0000, Class::System),      // rd %psr, %g3
            (0x22bf_fff5, Class::Branch),      // be,a
            (0x81c3_e008, Class::Jump),        // retl
            (0x81cc_8000, Class::Return),      // rett %l2
            (0x0100_0000, Class::Nop),
            (0x1500_000c, Class::Constant), // sethi
            (0x8089_2001, Class::Alu),      // btst 1, %g4
            (0xca01_e010, Class::Load),     // ld [%g7 + 16], %g5
        ];
        for (word, expected) in words {
            assert_eq!(class(word), expected, "{word:08x}");
        }
        assert!(
            stores_window(0xe03b_a000)
                && !stores_window(0xe43b_a008)
                && !stores_window(0xe01b_a000)
        );
        assert!(loads_window(0xe01b_a000) && !loads_window(0xe41b_a008));
        assert!(is_save(0x9de3_bfa0) && is_restore(0x81e8_0000) && may_trap(0x91d0_2000));
    }
}
