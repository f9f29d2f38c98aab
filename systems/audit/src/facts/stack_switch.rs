//! Functions that go on with another stack: a thread's registers are loaded from it, and the code
//! after the return sees them all.
//!
//! ```text
//! ld sp, 0(a0)         the stack of another thread
//! ld a2, 80(sp)        its register, which no convention of calls gives up
//! ret
//! ```

use crate::decode::code::{Class, Instruction, Op, Out, Reg, Value, Write};
use crate::program::function::Function;

/// The stack pointer is loaded from memory that is not the frame, is a constant, or is a copy of a
/// register that was so loaded.
pub fn switches_stack(function: &Function) -> bool {
    let conventions = function.isa.conventions();
    let stack = conventions.stack_pointer;
    let is_own = |reg: Reg| reg == stack || Some(reg) == conventions.frame_pointer;
    let is_loaded = |instruction: &Instruction, reg: Reg| {
        let is_result = |write: &Write| write.reg == reg && write.out != Out::BaseUpdate;
        let from_elsewhere = instruction
            .accesses
            .iter()
            .any(|access| !access.is_store && !access.base.is_some_and(is_own));
        instruction.writes.iter().any(is_result) && from_elsewhere
    };
    let is_saved = |instruction: &Instruction| {
        instruction.reads.iter().any(|read| is_own(read.reg)) && instruction.accesses.is_empty()
    };
    function.instructions.iter().any(|it| {
        let moved = it.operation.filter(|operation| {
            matches!(operation.op, Op::Move | Op::Add) && operation.result == Some(stack)
        });
        let from = moved.and_then(|operation| match (operation.a, operation.b) {
            (Value::Reg(zero), Value::Reg(from)) if Some(zero) == conventions.zero => Some(from),
            (Value::Reg(from), Value::Const(_)) | (Value::Const(_), Value::Reg(from)) => Some(from),
            _ => None,
        });
        let is_constant =
            it.class == Class::Constant && it.writes.iter().any(|write| write.reg == stack);
        let Some(from) = from.filter(|from| !is_own(*from)) else {
            return is_constant || is_loaded(it, stack);
        };
        let writers: Vec<&Instruction> = function
            .instructions
            .iter()
            .filter(|instruction| instruction.writes.iter().any(|write| write.reg == from))
            .collect();
        writers.iter().any(|writer| is_loaded(writer, from))
            && !writers.iter().any(|it| is_saved(it))
    })
}
