//! Advanced SIMD (NEON): elements and structures in memory, `vld1` to `vld4` and `vst1` to `vst4`
//! in all their forms.
//!
//! Source: Arm Architecture Reference Manual, DDI 0406C, A7.7. Thumb's words have the same fields.

use super::float_register::{Float, read, write};
use super::vector::{part, write_part};
use super::word::{NO_PC, UNDEFINED, Word, name};
use super::{PC, SP};
use crate::decode::code::{Access, Class, IndexForm, Out, Role};

const BEYOND: &str = "unpredictable: the list goes beyond the last register";

/// What is moved: how many structures' parts, in which registers.
struct MovedRegisters {
    /// Elements of a structure, which the name says.
    n: u32,
    /// Registers, the first from the word on.
    n_registers: u32,
    /// From one to the next.
    step: u32,
    /// 8 bits, shifted left by so much, are an element.
    size: u32,
    lanes: Lanes,
    /// Bits to which the address is said to be aligned; 0 for none.
    aligned_bits: u32,
    n_bytes: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Lanes {
    /// All, each from memory.
    Each,
    /// All, from one element.
    Same,
    /// The element of this number.
    One(u32),
}

/// A load or store: bits 23 to 0 as in A32.
pub fn structures(word: &mut Word) -> Result<(), &'static str> {
    let is_load = word.bit(21);
    let moved = match (word.bit(23), word.field(10, 2)) {
        (false, _) => whole(word)?,
        (true, 3) if is_load => to_all_lanes(word)?,
        (true, 3) => return Err(UNDEFINED),
        (true, size) => one_lane(word, size)?,
    };
    let first = word.field(22, 1) << 4 | word.field(12, 4);
    if first + (moved.n_registers - 1) * moved.step > 31 {
        return Err(BEYOND);
    }
    let base = word.reg(16).map_err(|_| NO_PC)?;
    let registers: Vec<u32> = (0..moved.n_registers).map(|idx| first + idx * moved.step).collect();
    word.set_class(if is_load { Class::FloatLoad } else { Class::FloatStore });
    word.read(base, Role::Base);
    let update = match word.field(0, 4) {
        PC => String::new(),
        it if it == u32::from(SP.0) => "!".to_owned(),
        _ => {
            let by = word.reg(0)?;
            word.read(by, Role::Index);
            format!(", {}", name(by.0.into()))
        }
    };
    if word.field(0, 4) != PC {
        word.write(base, Out::BaseUpdate);
    }
    let bits = 8 << moved.size;
    for (nth, &d) in registers.iter().enumerate() {
        let out = Out::Nth(nth as u8);
        match (is_load, moved.lanes) {
            (true, Lanes::One(lane)) => write_part(word, d, lane * bits, bits, out),
            (true, _) => write(word, Float::double(d), out),
            (false, Lanes::One(lane)) => {
                let (reg, part) = part(d, lane * bits, bits);
                word.read_bits(reg, Role::Data, part);
            }
            (false, _) => read(word, Float::double(d), Role::Data),
        }
    }
    let whole = IndexForm::Whole;
    word.access(Access {
        is_store: !is_load,
        base: Some(base),
        index: None,
        index_form: whole,
        disp: 0,
        width: moved.n_bytes as u8,
    });
    let lane = match moved.lanes {
        Lanes::Each => String::new(),
        Lanes::Same => "[]".to_owned(),
        Lanes::One(lane) => format!("[{lane}]"),
    };
    let list: Vec<String> = registers.iter().map(|register| format!("d{register}{lane}")).collect();
    let aligned =
        if moved.aligned_bits == 0 { String::new() } else { format!(":{}", moved.aligned_bits) };
    let operands = format!("{{{}}}, [{}{aligned}]{update}", list.join(", "), name(base.0.into()));
    word.typed_text(
        &format!("{}{}", if is_load { "vld" } else { "vst" }, moved.n),
        &format!(".{bits}"),
        &operands,
    );
    Ok(())
}

fn whole(word: &Word) -> Result<MovedRegisters, &'static str> {
    let (size, align) = (word.field(6, 2), word.field(4, 2));
    let (n, n_registers, step) = match word.field(8, 4) {
        0 => (4, 4, 1),
        1 => (4, 4, 2),
        2 => (1, 4, 1),
        3 => (2, 4, 1),
        4 => (3, 3, 1),
        5 => (3, 3, 2),
        6 => (1, 3, 1),
        7 => (1, 1, 1),
        8 => (2, 2, 1),
        9 => (2, 2, 2),
        10 => (1, 2, 1),
        _ => return Err(UNDEFINED),
    };
    // The alignment is at most what is moved, and of three registers that of one.
    let most = match n_registers {
        2 => 2,
        4 => 3,
        _ => 1,
    };
    if n != 1 && size == 3 || align > most {
        return Err(UNDEFINED);
    }
    let aligned_bits = if align == 0 { 0 } else { 32 << align };
    Ok(MovedRegisters {
        n,
        n_registers,
        step,
        size,
        lanes: Lanes::Each,
        aligned_bits,
        n_bytes: 8 * n_registers,
    })
}

fn one_lane(word: &Word, size: u32) -> Result<MovedRegisters, &'static str> {
    let n = 1 + word.field(8, 2);
    let align = word.field(4, 4) & ((1 << size.max(1)) - 1);
    let lane = word.field(5 + size, 3 - size);
    // Between the lane and the alignment stands, but for bytes, whether every other register is
    // meant.
    let is_spaced = size > 0 && word.bit(4 + size);
    let align = if size == 2 { align & 3 } else { align & 1 };
    if n == 1 && is_spaced {
        return Err(UNDEFINED);
    }
    let element = 8 << size;
    let aligned_bits = match (n, align) {
        (1, 0) | (2..=4, 0) => 0,
        (1, 1) if size == 1 => 16,
        (1, 3) if size == 2 => 32,
        (2, 1) => 2 * element,
        (4, 1) if size < 2 => 4 * element,
        (4, 1 | 2) => 32 << align,
        _ => return Err(UNDEFINED),
    };
    let step = 1 + u32::from(is_spaced);
    Ok(MovedRegisters {
        n,
        n_registers: n,
        step,
        size,
        lanes: Lanes::One(lane),
        aligned_bits,
        n_bytes: n << size,
    })
}

fn to_all_lanes(word: &Word) -> Result<MovedRegisters, &'static str> {
    let (n, size, is_second, is_aligned) =
        (1 + word.field(8, 2), word.field(6, 2), word.bit(5), word.bit(4));
    // Four words aligned to 16 bytes have a size of their own.
    if size == 3 && !(n == 4 && is_aligned)
        || n == 3 && is_aligned
        || n == 1 && size == 0 && is_aligned
    {
        return Err(UNDEFINED);
    }
    let aligned_bits = match (is_aligned, n, size) {
        (false, ..) => 0,
        (true, 4, 3) => 128,
        (true, 4, 2) => 64,
        (true, ..) => n * (8 << size),
    };
    let size = size.min(2);
    let (n_registers, step) =
        if n == 1 { (1 + u32::from(is_second), 1) } else { (n, 1 + u32::from(is_second)) };
    Ok(MovedRegisters {
        n,
        n_registers,
        step,
        size,
        lanes: Lanes::Same,
        aligned_bits,
        n_bytes: n << size,
    })
}
