//! Two accesses as a pair, an access that moves its base, zeros stored without a register for them.

use super::{Shortening, StraightRun};
use crate::decode::Isa;
use crate::decode::code::{Access, Class, IndexForm, Instruction, Op, Reg, Role, Value};
use crate::decode::encode::decoded;

/// What a single load or store moves, by its words.
struct Single {
    access: Access,
    data: Reg,
    base: Reg,
    /// The value is extended with its sign, or only in the low half of a register.
    is_signed: bool,
    width: u8,
}

fn single(it: &Instruction) -> Option<Single> {
    let [access] = it.accesses[..] else { return None };
    let base =
        access.base.filter(|_| access.index.is_none() && access.index_form == IndexForm::Whole)?;
    let is_plain = matches!(it.class, Class::Load | Class::LoadSlow | Class::Store);
    if !is_plain || it.base_moves.is_some() || it.is_guarded() {
        return None;
    }
    let (data, is_signed, width) = if access.is_store {
        let data = it.reads.iter().find(|read| read.role == Role::Data)?.reg;
        (data, false, access.width)
    } else {
        let operation = it.operation?;
        let Op::Load { is_signed } = operation.op else { return None };
        (operation.result?, is_signed, operation.width)
    };
    Some(Single { access, data, base, is_signed, width })
}

/// Another access, or a sum before it, that `idx` could do as well.
pub fn shorter(piece: &mut StraightRun<'_>, idx: usize) -> Option<Shortening> {
    let own = single(piece.subject.at(idx))?;
    stored_zero(piece, idx, &own).or_else(|| pair(piece, idx, &own, pair_word)).or_else(|| {
        // The base moved just before: `add x1, x1, #8; ldr x2, [x1]`.
        let from = piece.reaches(idx);
        let moves =
            |at: &usize| piece.subject.at(*at).writes.iter().any(|write| write.reg == own.base);
        let sum = (from..idx).rev().find(moves)?;
        let by = moved_by(piece, sum, own.base).filter(|_| own.access.disp == 0)?;
        let word = moving_word(piece.subject.function.isa, &own, by, true)?;
        replaced(piece, vec![sum, idx], idx, word, None)
    })
}

/// A load beside another one, before it, where code has no wide words: `ldm` moves its base past
/// both, which nothing may read afterwards.
pub fn narrow(piece: &mut StraightRun<'_>, idx: usize) -> Option<Shortening> {
    let own = single(piece.subject.at(idx)).filter(|own| !own.access.is_store)?;
    pair(piece, idx, &own, multiple_word)
}

/// `idx` adds a number to a base that an access before it used.
pub fn moved_base(piece: &mut StraightRun<'_>, idx: usize) -> Option<Shortening> {
    let operation = piece.subject.at(idx).operation?;
    let base = operation.result?;
    let by = moved_by(piece, idx, base)?;
    let from = piece.reaches(idx);
    let uses = |at: &usize| {
        let it = piece.subject.at(*at);
        it.reads.iter().any(|read| read.reg == base)
            || it.writes.iter().any(|write| write.reg == base)
    };
    let at = (from..idx).rev().find(uses)?;
    let own = single(piece.subject.at(at))
        .filter(|own| own.base == base && own.access.disp == 0 && own.data != base)?;
    let word = moving_word(piece.subject.function.isa, &own, by, false)?;
    replaced(piece, vec![at, idx], at, word, None)
}

/// By how much the sum at `idx` moves a register.
fn moved_by(piece: &StraightRun<'_>, idx: usize, reg: Reg) -> Option<i64> {
    let it = piece.subject.at(idx);
    let operation = it.operation.filter(|_| !it.is_guarded())?;
    let bits = piece.subject.function.isa.conventions().bits;
    let is_own = operation.result == Some(reg)
        && operation.a == Value::Reg(reg)
        && operation.width == bits
        && it
            .writes
            .iter()
            .all(|write| write.reg == reg || piece.bits.demanded(idx, write.reg) == 0);
    match (operation.op, operation.b) {
        (Op::Add, Value::Const(by)) if is_own => Some(by as i64),
        (Op::Sub, Value::Const(by)) if is_own => Some((by as i64).wrapping_neg()),
        _ => None,
    }
}

/// The change, if the word is an instruction and does the same.
fn replaced(
    piece: &mut StraightRun<'_>,
    removed: Vec<usize>,
    at: usize,
    word: u32,
    provided: Option<&'static str>,
) -> Option<Shortening> {
    let last = *removed.last().expect("something is replaced");
    let address = piece.subject.at(at).address;
    let replacement = decoded(piece.subject.function.isa, address, word)?;
    let provided = provided.map(str::to_owned).into_iter().collect();
    let change = Shortening { provided, ..Shortening::new(removed, Some((at, replacement))) };
    piece.is_proved(&change, last).then_some(change)
}

/// The access with its base moved after it or, if `is_first`, before it.
fn moving_word(isa: Isa, own: &Single, by: i64, is_first: bool) -> Option<u32> {
    let (data, base) = (u32::from(own.data.0), u32::from(own.base.0));
    let size = own.access.width.trailing_zeros();
    let is_load = u32::from(!own.access.is_store);
    match isa {
        Isa::A64 => {
            let by = (-256..256).contains(&by).then_some(by as u32 & 0x1ff)?;
            let opc = match (own.is_signed, own.width) {
                (false, _) => is_load,
                (true, 64) => 2,
                (true, _) => 3,
            };
            let mode = if is_first { 0xc00 } else { 0x400 };
            Some(0x3800_0000 | size << 30 | opc << 22 | by << 12 | mode | base << 5 | data)
        }
        Isa::A32 if !own.is_signed && size != 1 => {
            let amount = u32::try_from(by.unsigned_abs()).ok().filter(|by| *by < 0x1000)?;
            let mode = if is_first { 0x0120_0000 } else { 0 };
            let form = u32::from(by >= 0) << 23 | u32::from(size == 0) << 22 | is_load << 20;
            Some(0xe400_0000 | mode | form | base << 16 | data << 12 | amount)
        }
        Isa::T32 => {
            let amount = u32::try_from(by.unsigned_abs()).ok().filter(|by| *by < 0x100)?;
            let mode = if is_first { 0xd00 } else { 0x900 } | u32::from(by >= 0) << 9;
            let form = u32::from(own.is_signed) << 24 | size << 21 | is_load << 20;
            Some(0xf800_0000 | form | base << 16 | data << 12 | mode | amount)
        }
        _ => None,
    }
}

/// The word of two accesses, the lower one and the register of the higher, and what it asks for.
type PairWord = fn(Isa, &Single, Reg) -> Option<(u32, Option<&'static str>)>;

/// Another access beside this one, before it.
fn pair(
    piece: &mut StraightRun<'_>,
    idx: usize,
    own: &Single,
    word_of: PairWord,
) -> Option<Shortening> {
    let from = piece.reaches(idx);
    for at in (from..idx).rev() {
        let Some(other) = single(piece.subject.at(at)) else { continue };
        let is_like = other.access.is_store == own.access.is_store
            && (other.access.width, other.is_signed, other.width)
                == (own.access.width, own.is_signed, own.width)
            && other.base == own.base
            && (other.access.disp - own.access.disp).unsigned_abs() == u64::from(own.access.width);
        if !is_like {
            continue;
        }
        let (low, high) =
            if own.access.disp < other.access.disp { (own, &other) } else { (&other, own) };
        let isa = piece.subject.function.isa;
        let Some((word, provided)) = word_of(isa, low, high.data) else { continue };
        // Where the one stands or the other, as what is between them allows.
        for place in [at, idx] {
            let change = replaced(piece, vec![at, idx], place, word, provided);
            if change.is_some() {
                return change;
            }
        }
    }
    None
}

fn pair_word(isa: Isa, low: &Single, second: Reg) -> Option<(u32, Option<&'static str>)> {
    let (first, second, base) = (u32::from(low.data.0), u32::from(second.0), u32::from(low.base.0));
    let (width, disp) = (i64::from(low.access.width), low.access.disp);
    let is_load = u32::from(!low.access.is_store);
    match isa {
        Isa::A64 if width >= 4 && !low.is_signed && disp % width == 0 => {
            let at = (-64..64).contains(&(disp / width)).then_some((disp / width) as u32 & 0x7f)?;
            let opc = if width == 8 { 2 } else { 0 };
            let fields = at << 15 | second << 10 | base << 5 | first;
            Some((0x2900_0000 | opc << 30 | is_load << 22 | fields, None))
        }
        Isa::T32 if width == 4 && disp % 4 == 0 => {
            let at = u32::try_from(disp.unsigned_abs() / 4).ok().filter(|at| *at < 0x100)?;
            let fields = base << 16 | first << 12 | second << 8 | at;
            let word = 0xe940_0000 | u32::from(disp >= 0) << 23 | is_load << 20 | fields;
            Some((word, Some("if the address is a multiple of 4")))
        }
        Isa::A32 if width == 4 && first & 1 == 0 && second == first + 1 => {
            let at = u32::try_from(disp.unsigned_abs()).ok().filter(|at| *at < 0x100)?;
            let form = if is_load == 1 { 0xd0 } else { 0xf0 };
            let fields = base << 16 | first << 12 | (at >> 4) << 8 | at & 15;
            let word = 0xe140_0000 | u32::from(disp >= 0) << 23 | form | fields;
            Some((word, Some("if the address is a multiple of 8, or of 4 since ARMv7")))
        }
        _ => None,
    }
}

fn multiple_word(_: Isa, low: &Single, second: Reg) -> Option<(u32, Option<&'static str>)> {
    let (first, second, base) = (low.data.0, second.0, low.base.0);
    let is_plain = low.access.width == 4 && low.access.disp == 0;
    (is_plain && first < second && second < 8 && base < 8).then(|| {
        let word = 0xc800 | u32::from(base) << 8 | 1 << first | 1 << second;
        (word, Some("if the address is a multiple of 4"))
    })
}

/// A register that is zero, only to be stored.
fn stored_zero(piece: &mut StraightRun<'_>, idx: usize, own: &Single) -> Option<Shortening> {
    let it = piece.subject.at(idx);
    let word = u32::try_from(it.word).ok().filter(|_| own.access.is_store && it.length == 4)?;
    let word = match piece.subject.function.isa {
        Isa::A64 => word | 31,
        Isa::Riscv32 | Isa::Riscv64 => word & !(31 << 20),
        _ => return None,
    };
    let from = piece.reaches(idx);
    let writes =
        |at: &usize| piece.subject.at(*at).writes.iter().any(|write| write.reg == own.data);
    let zero = (from..idx).rev().find(writes)?;
    let made = piece.subject.at(zero).operation?;
    (made.result == Some(own.data)).then_some(())?;
    let is_read = (zero + 1..idx)
        .any(|at| piece.subject.at(at).reads.iter().any(|read| read.reg == own.data));
    if is_read || piece.bits.demanded(idx, own.data) != 0 {
        return None;
    }
    replaced(piece, vec![zero, idx], idx, word, None)
}
