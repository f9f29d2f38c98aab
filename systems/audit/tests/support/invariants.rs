//! What holds for every instruction that a decoder returns.

use audit::decode::Isa;
use audit::decode::code::{Delay, Flow, Instruction, Operation, Reg, Value};

/// Decodes the beginning of `bytes` and checks the answer, whatever it is.
///
/// Panics: if the answer breaks an invariant.
pub fn check(isa: Isa, address: u64, bytes: &[u8]) {
    let answer = isa.decode(address, bytes);
    assert_eq!(answer, isa.decode(address, bytes), "equal bytes decode equally");
    match answer {
        Ok(it) => check_instruction(isa, address, bytes, &it),
        Err(error) => {
            assert_eq!(error.address, address, "{error}: a refusal says where");
            assert!(!error.why.is_empty(), "{error}: a refusal says why");
        }
    }
}

fn check_instruction(isa: Isa, address: u64, bytes: &[u8], it: &Instruction) {
    let conventions = isa.conventions();
    let all = if conventions.bits == 64 { u64::MAX } else { (1 << conventions.bits) - 1 };
    let check_register = |reg: Reg, bits: u64| {
        let name = conventions.names.get(reg.0 as usize);
        assert!(name.is_some(), "{it:?}: register {} has a name", reg.0);
        assert_ne!(
            Some(reg),
            conventions.zero,
            "{it:?}: the zero register is neither read nor written"
        );
        assert_ne!(bits, 0, "{it:?}: some bits are read or written");
        let most = if conventions.flags.contains(&reg) { 1 } else { all };
        assert_eq!(bits & !most, 0, "{it:?}: {name:?} has no such bits");
    };
    assert_eq!(it.address, address, "{it:?}");
    assert!(
        matches!(it.length, 2 | 4) && usize::from(it.length) <= bytes.len(),
        "{it:?}: the length is that of bytes that are there"
    );
    assert!(!it.text.is_empty(), "{it:?}: there is a text");
    assert_eq!(it.text.trim(), it.text, "{it:?}: nothing stands around the text");
    assert!(!it.text.contains(char::is_control), "{it:?}: the text is one line");
    it.reads.iter().for_each(|read| check_register(read.reg, read.bits));
    it.writes.iter().for_each(|write| check_register(write.reg, write.bits));
    for access in &it.accesses {
        assert_ne!(access.width, 0, "{it:?}: something is accessed");
        for reg in access.base.into_iter().chain(access.index.map(|index| index.0)) {
            assert!(
                it.reads.iter().any(|read| read.reg == reg),
                "{it:?}: the registers of an address are read"
            );
        }
    }
    if let Some(operation) = &it.operation {
        check_operation(it, operation);
    }
    assert!(isa == Isa::Sparc || it.delay == Delay::None, "{it:?}: only SPARC has delay slots");
    if let Flow::Branch { target, .. } | Flow::Call { target: Some(target) } = it.flow {
        assert_eq!(target & !all, 0, "{it:?}: the target is an address");
    }
}

fn check_operation(it: &Instruction, operation: &Operation) {
    assert!(matches!(operation.width, 8 | 16 | 32 | 64), "{it:?}: operations have a usual width");
    if let Some(result) = operation.result {
        assert!(it.writes.iter().any(|write| write.reg == result), "{it:?}: the result is written");
    }
    for value in [operation.a, operation.b] {
        match value {
            // A read of no bits is left out: `and` with 0 reads nothing.
            Value::Reg(_) | Value::Const(_) => {}
            Value::Shifted(_, _, amount) => {
                assert!(amount < 64, "{it:?}: a shift by a constant leaves something")
            }
            Value::Extended(_, of, amount) => {
                assert!(of.bits < operation.width && amount < 5, "{it:?}: an extension extends")
            }
        }
    }
}
