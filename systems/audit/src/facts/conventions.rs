//! Whether a function without branches is one that a compiler could have made: it keeps what the
//! conventions of calls promise.
//!
//! ```text
//! ldr r0, [r12]        no argument comes in r12
//! mov r4, r0           r4 is the caller's, and is not kept
//! bx lr
//! ```

use crate::decode::code::{Flow, Instruction, Op, Out, Reg, Role, Value};
use crate::program::function::Function;

/// It ends by returning, reads no register that a caller does not hand it, and leaves those of the
/// caller as they were.
pub fn keeps_conventions(function: &Function) -> bool {
    let conventions = function.isa.conventions();
    let stack = conventions.stack_pointer;
    let ends =
        function.instructions.iter().rev().find(|instruction| instruction.flow != Flow::Next);
    if ends.is_none_or(|end| end.flow != Flow::Return || end.is_guarded()) {
        return false;
    }
    let is_listed = |list: &[Reg], reg: Reg| list.contains(&reg);
    let is_reserved = |reg: Reg| conventions.reserved.iter().any(|pair| pair.0 == reg);
    // What a caller may find changed, and what stands for nothing of its own.
    let is_free = |reg: Reg| {
        is_listed(conventions.scratch, reg)
            || is_listed(conventions.flags, reg)
            || conventions.link == Some(reg)
    };
    let unlisted: Vec<Reg> = conventions.unlisted().collect();
    let (mut written, mut saved) = (Vec::new(), Vec::new());
    for it in &function.instructions {
        // A call into the system is said to touch everything; a word that is not decoded may.
        if it.reaches_all_memory() {
            if it.text.starts_with('.') {
                return false;
            }
            continue;
        }
        let saves = it.accesses.iter().any(|access| access.is_store && access.base == Some(stack));
        for read in &it.reads {
            let is_given = is_listed(conventions.arguments, read.reg)
                || is_reserved(read.reg)
                || read.reg == stack;
            if is_given || written.contains(&read.reg) || unlisted.contains(&read.reg) {
                continue;
            }
            if saves && read.role == Role::Data {
                saved.push(read.reg);
            } else if conventions.link != Some(read.reg) || it.flow != Flow::Return {
                return false;
            }
        }
        for write in &it.writes {
            let is_kept =
                is_free(write.reg) || saved.contains(&write.reg) || unlisted.contains(&write.reg);
            if !is_kept && (write.reg != stack || !moves_stack(it, stack)) {
                return false;
            }
            written.push(write.reg);
        }
    }
    true
}

/// The stack pointer goes on from where it was.
fn moves_stack(it: &Instruction, stack: Reg) -> bool {
    let is_update =
        it.writes.iter().any(|write| write.reg == stack && write.out == Out::BaseUpdate);
    let is_sum = it.operation.is_some_and(|operation| {
        let is_own = operation.a == Value::Reg(stack) && matches!(operation.b, Value::Const(_));
        matches!(operation.op, Op::Add | Op::Sub) && is_own
    });
    is_update || is_sum
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::decode::{Isa, Linear};

    fn check(isa: Isa, words: &[u32]) -> bool {
        let mut linear = Linear::new(isa);
        let decode = |(nth, word): (usize, &u32)| {
            linear.decode(4 * nth as u64, &word.to_le_bytes()).expect("it is an instruction")
        };
        let instructions: Vec<Instruction> = words.iter().enumerate().map(decode).collect();
        let frames = vec![Vec::new(); instructions.len()];
        let (callees, constants) = (BTreeMap::new(), BTreeMap::new());
        keeps_conventions(&Function {
            name: "f".into(),
            isa,
            instructions,
            frames,
            callees,
            is_cold: false,
            constants,
            tables: Default::default(),
            cases: Default::default(),
            arguments: Default::default(),
            addresses: Default::default(),
        })
    }

    #[test]
    fn functions_of_compilers() {
        assert!(check(Isa::A32, &[0xe280_0001, 0xe12f_ff1e])); // add r0, r0, #1; bx lr
        assert!(check(Isa::A32, &[0xe92d_4010, 0xe1a0_4000, 0xe1a0_0004, 0xe8bd_8010])); // push {r4, lr}; mov r4, r0; mov r0, r4; pop {r4, pc}
        assert!(check(Isa::A64, &[0xd100_43ff, 0xf900_03e0, 0x9100_43ff, 0xd65f_03c0])); // sub sp, sp, #16; str x0, [sp]; add sp, sp, #16; ret
        assert!(check(Isa::Riscv64, &[0x0015_051b, 0x0000_8067])); // addiw a0, a0, 1; ret
        assert!(check(Isa::A32, &[0xe3a0_c004, 0xef00_0000, 0xe12f_ff1e])); // mov ip, #4; svc #0; bx lr
    }

    #[test]
    fn what_only_assembly_does() {
        assert!(!check(Isa::A32, &[0xe59c_0000, 0xe12f_ff1e])); // ldr r0, [ip]; bx lr
        assert!(!check(Isa::A32, &[0xe1a0_4000, 0xe12f_ff1e])); // mov r4, r0; bx lr
        assert!(!check(Isa::A32, &[0xe3a0_7004, 0xef00_0000, 0xe12f_ff1e])); // mov r7, #4; svc #0; bx lr
        assert!(!check(Isa::A32, &[0xe1a0_000e, 0xe12f_ff1e])); // mov r0, lr; bx lr
        assert!(!check(Isa::A32, &[0xe1a0_d000, 0xe12f_ff1e])); // mov sp, r0; bx lr
        assert!(!check(Isa::A32, &[0xe280_0001])); // add r0, r0, #1, and on into whatever follows
        assert!(!check(Isa::A64, &[0xf940_0120, 0xd65f_03c0])); // ldr x0, [x9]; ret
        assert!(!check(Isa::A64, &[0xaa00_03f3, 0xd65f_03c0])); // mov x19, x0; ret
        assert!(!check(Isa::Riscv64, &[0x0002_b503, 0x0000_8067])); // ld a0, 0(t0); ret
        assert!(!check(Isa::Riscv64, &[0x0000_0073, 0x1020_0073])); // ecall; sret
    }
}
