//! What an [`Operation`] says, computed.

use audit::decode::code::{Extends, Op, Operation, Reg};

/// The result of `operation`, where `value_of` tells what registers hold and `loaded` is what its
/// access reads: the number and its bits. `None` for operations that only set flags.
pub fn result(
    operation: &Operation,
    value_of: impl Fn(Reg) -> u64,
    loaded: (u64, u32),
) -> Option<u64> {
    let Op::Load { is_signed } = operation.op else { return operation.value(value_of) };
    let extended = |value: u64, bits: u32, is_signed: bool| {
        let high = value << (64 - bits);
        if is_signed { (high as i64 >> (64 - bits)) as u64 } else { high >> (64 - bits) }
    };
    let width = u32::from(operation.width);
    let result = extended(extended(loaded.0, loaded.1, is_signed), width, false);
    Some(extended(result, width, operation.extends == Extends::Sign))
}
