//! What an [`Operation`] says, computed.

use audit::decode::code::{Extends, Op, Operation, Reg, Shift, Value};

/// The result of `operation`, where `value_of` tells what registers hold and `loaded` is what its
/// access reads: the number and its bits. `None` for operations that only set flags.
pub fn result(
    operation: &Operation,
    value_of: impl Fn(Reg) -> u64,
    loaded: (u64, u32),
) -> Option<u64> {
    let width = u32::from(operation.width);
    let mask = low(width);
    let shifted = |value: u64, shift: Shift, amount: u32| {
        let value = value & mask;
        match shift {
            Shift::Left => value.checked_shl(amount).unwrap_or(0) & mask,
            Shift::Right => value.checked_shr(amount).unwrap_or(0),
            Shift::RightSigned => (signed(value, width) >> amount.min(width - 1)) as u64 & mask,
            Shift::Rotate => {
                (value >> (amount % width) | value << ((width - amount % width) % width)) & mask
            }
        }
    };
    let value = |it: Value| match it {
        Value::Reg(reg) => value_of(reg) & mask,
        Value::Const(value) => value & mask,
        Value::Shifted(reg, shift, amount) => shifted(value_of(reg), shift, amount.into()),
    };
    let (a, b) = (value(operation.a), value(operation.b));
    let extended = |value: u64, bits: u32, is_signed: bool| {
        if is_signed { signed(value & low(bits), bits) as u64 } else { value & low(bits) }
    };
    let result = match operation.op {
        Op::Move => a,
        Op::Not => !a,
        Op::And => a & b,
        Op::Or => a | b,
        Op::Xor => a ^ b,
        Op::AndNot => a & !b,
        Op::OrNot => a | !b,
        Op::Add => a.wrapping_add(b),
        Op::Sub => a.wrapping_sub(b),
        Op::ReverseSub => b.wrapping_sub(a),
        Op::Shift(shift) => {
            let is_constant = matches!(operation.b, Value::Const(_));
            shifted(a, shift, if is_constant { b as u32 } else { b as u32 % width })
        }
        Op::ZeroExtend { bits } => extended(a, bits.into(), false),
        Op::SignExtend { bits } => extended(a, bits.into(), true),
        Op::Field { low, bits, is_signed } => extended(a >> low, bits.into(), is_signed),
        Op::Load { is_signed } => extended(loaded.0, loaded.1, is_signed),
        Op::Compare | Op::CompareNegative | Op::Test | Op::TestEqual => return None,
        Op::SetLess { is_signed: true } => u64::from(signed(a, width) < signed(b, width)),
        Op::SetLess { is_signed: false } => u64::from(a < b),
    };
    let result = result & mask;
    Some(match operation.extends {
        Extends::Zero => result,
        Extends::Sign => signed(result, width) as u64,
    })
}

fn low(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

fn signed(value: u64, bits: u32) -> i64 {
    ((value << (64 - bits)) as i64) >> (64 - bits)
}
