//! Which slot of the stack frame each instruction touches: the stack pointer followed along
//! all branches.

use crate::decode::Isa;
use crate::decode::code::{Access, Delay, Flow, Instruction, Op, Out, Reg, Role, Value};
use crate::program::function::Function;

/// A slot: its distance in bytes from the stack pointer at the function's entry. A pointer that is
/// aligned on the way starts a new count, so that equal slots are equal numbers only in one count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot {
    /// 0, or the place of the instruction that aligned the pointer plus one.
    pub count: usize,
    /// Bytes from where the count starts.
    pub offset: i64,
}

impl Slot {
    /// It lies above where the stack pointer stood at the entry: an argument, or the caller's.
    pub fn is_argument(self) -> bool {
        self.count == 0 && self.offset >= 0
    }
}

/// What is known of the two registers that point into the frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FrameState {
    stack: Option<Slot>,
    frame: Option<Slot>,
}

/// The slots of one function.
#[derive(Debug)]
pub struct StackFrame {
    isa: Isa,
    /// Before each instruction; `None` where no path leads.
    states: Vec<Option<FrameState>>,
}

impl StackFrame {
    /// Follows the stack pointer through `function`.
    pub fn of(function: &Function) -> StackFrame {
        StackFrame::along(function, |_, _| true)
    }

    /// The same along some ways only: from one place to another.
    fn along(function: &Function, is_open: impl Fn(usize, usize) -> bool) -> StackFrame {
        let mut frame =
            StackFrame { isa: function.isa, states: vec![None; function.instructions.len()] };
        let mut open = Vec::new();
        if !function.instructions.is_empty() {
            frame.states[0] =
                Some(FrameState { stack: Some(Slot { count: 0, offset: 0 }), frame: None });
            open.push(0);
        }
        while let Some(idx) = open.pop() {
            let Some(after) = frame.after(function, idx) else { continue };
            for to in successors(function, idx).into_iter().filter(|to| is_open(idx, *to)) {
                let merged = match frame.states[to] {
                    None => after,
                    Some(known) => FrameState {
                        stack: same(known.stack, after.stack),
                        frame: same(known.frame, after.frame),
                    },
                };
                if frame.states[to] != Some(merged) {
                    frame.states[to] = Some(merged);
                    open.push(to);
                }
            }
        }
        frame
    }

    /// What is known after an instruction.
    fn after(&self, function: &Function, idx: usize) -> Option<FrameState> {
        let conventions = self.isa.conventions();
        Some(step(
            &function.instructions[idx],
            idx,
            self.states[idx]?,
            conventions.stack_pointer,
            conventions.frame_pointer,
        ))
    }

    /// The slot of an access of instruction `idx`; `None` if it is none of the frame, or not known.
    pub fn slot(&self, idx: usize, access: &Access) -> Option<Slot> {
        if access.index.is_some() {
            return None;
        }
        self.pointer(idx, access.base?, access.disp)
    }

    /// The slot that `reg` plus `disp` points to before instruction `idx`.
    pub fn pointer(&self, idx: usize, reg: Reg, disp: i64) -> Option<Slot> {
        let base = self.base(idx, reg)?;
        Some(Slot { count: base.count, offset: base.offset.wrapping_add(disp) })
    }

    fn base(&self, idx: usize, reg: Reg) -> Option<Slot> {
        let state = self.states[idx]?;
        let conventions = self.isa.conventions();
        if reg == conventions.stack_pointer {
            state.stack
        } else if Some(reg) == conventions.frame_pointer {
            state.frame
        } else {
            None
        }
    }
}

/// Which instructions may come after this one, as places.
pub fn successors(function: &Function, idx: usize) -> Vec<usize> {
    let instruction = &function.instructions[idx];
    let falls_through = instruction.is_guarded() || instruction.delay != Delay::None;
    let goes_on = match instruction.flow {
        Flow::Branch { is_conditional, .. } => is_conditional || falls_through,
        Flow::Return | Flow::Resume | Flow::Jump | Flow::LastCall => falls_through,
        Flow::Stop => false,
        Flow::Next | Flow::Call { .. } => true,
    };
    let mut next: Vec<usize> =
        function.target(idx).into_iter().chain(function.fixup(idx).flatten()).collect();
    next.extend(function.cases_of(idx).into_iter().flatten());
    if goes_on && idx + 1 < function.instructions.len() {
        next.push(idx + 1);
    }
    next
}

/// Calls that do not return although they are not marked so: other ways lead to what stands
/// after them, with another frame. A compiler puts the blocks of a function after each
/// other as it likes.
///
/// ```text
/// slow: bl slowpath        called before the frame was made
/// cold: bl restore         reached from elsewhere, with the frame
///       b go
/// ```
pub fn last_calls(function: &Function) -> Vec<usize> {
    let is_led_to = function.led_to();
    let may_end = |idx: usize, to: usize| {
        matches!(function.instructions[idx].flow, Flow::Call { .. })
            && is_led_to.get(to) == Some(&true)
    };
    let calls: Vec<usize> =
        (0..function.instructions.len()).filter(|&idx| may_end(idx, idx + 1)).collect();
    if calls.is_empty() {
        return calls;
    }
    let frame = StackFrame::along(function, |idx, to| to != idx + 1 || !may_end(idx, to));
    let stack = |state: Option<FrameState>| state.and_then(|state| state.stack);
    let differs =
        |idx: &usize| match (stack(frame.after(function, *idx)), stack(frame.states[*idx + 1])) {
            (Some(left), Some(there)) => left != there,
            _ => false,
        };
    calls.into_iter().filter(differs).collect()
}

fn same(a: Option<Slot>, b: Option<Slot>) -> Option<Slot> {
    a.filter(|_| a == b)
}

fn step(
    instruction: &Instruction,
    idx: usize,
    state: FrameState,
    stack_pointer: Reg,
    frame_pointer: Option<Reg>,
) -> FrameState {
    let value = |reg: Reg| {
        if reg == stack_pointer {
            state.stack
        } else if Some(reg) == frame_pointer {
            state.frame
        } else {
            None
        }
    };
    let mut after = state;
    for write in &instruction.writes {
        let is_stack = write.reg == stack_pointer;
        if !is_stack && Some(write.reg) != frame_pointer {
            continue;
        }
        let new = match write.out {
            Out::BaseUpdate => {
                moved(instruction, write.reg).and_then(|by| shifted(value(write.reg)?, by))
            }
            Out::Result => computed(instruction, write.reg, idx, &value),
            Out::High | Out::Carried | Out::Nth(_) | Out::Flag | Out::Link => None,
        };
        if is_stack {
            after.stack = if instruction.is_guarded() { same(new, after.stack) } else { new };
        } else {
            after.frame = if instruction.is_guarded() { same(new, after.frame) } else { new };
        }
    }
    after
}

/// By how much an access with write-back moves its base: a push to the lowest address that it
/// writes, a pop after the highest that it reads. A call and its return cancel out.
fn moved(instruction: &Instruction, base: Reg) -> Option<i64> {
    if instruction.base_moves.is_some() {
        return instruction.base_moves;
    }
    if matches!(instruction.flow, Flow::Call { .. }) {
        return Some(0);
    }
    let own = || {
        instruction
            .accesses
            .iter()
            .filter(|access| access.base == Some(base) && access.index.is_none())
    };
    if let Some(down) = own().filter(|own| own.is_store).map(|own| own.disp).min() {
        return Some(down);
    }
    own().filter(|own| !own.is_store).map(|own| own.disp.wrapping_add(i64::from(own.width))).max()
}

fn shifted(slot: Slot, by: i64) -> Option<Slot> {
    Some(Slot { count: slot.count, offset: slot.offset.checked_add(by)? })
}

fn computed(
    instruction: &Instruction,
    result: Reg,
    idx: usize,
    value: &impl Fn(Reg) -> Option<Slot>,
) -> Option<Slot> {
    let operation = instruction.operation.filter(|operation| operation.result == Some(result))?;
    match (operation.op, operation.a, operation.b) {
        (Op::Move, Value::Reg(from), _) => value(from),
        (Op::Add, Value::Reg(from), Value::Const(by))
        | (Op::Add, Value::Const(by), Value::Reg(from)) => shifted(value(from)?, by as i64),
        (Op::Sub, Value::Reg(from), Value::Const(by)) => {
            shifted(value(from)?, (by as i64).checked_neg()?)
        }
        // Aligned: where it points now is not known, so it is where the next count starts.
        (Op::And | Op::AndNot, Value::Reg(from), Value::Const(_)) if value(from).is_some() => {
            Some(Slot { count: idx + 1, offset: 0 })
        }
        _ => None,
    }
}

/// Nothing but the function itself knows where its frame lies: no instruction copies the stack
/// pointer or the frame pointer, but into each other.
pub fn is_private(function: &Function) -> bool {
    let conventions = function.isa.conventions();
    let points =
        |reg: Reg| reg == conventions.stack_pointer || Some(reg) == conventions.frame_pointer;
    let copies = |instruction: &Instruction| {
        let reads = instruction
            .reads
            .iter()
            .any(|read| points(read.reg) && !matches!(read.role, Role::Base | Role::Carried));
        // A frame pointer is saved like any other register; the stack pointer seldom is.
        let only_saves = instruction
            .accesses
            .iter()
            .any(|access| access.is_store && access.base.is_some_and(points));
        reads
            && !only_saves
            && !instruction
                .writes
                .iter()
                .all(|write| points(write.reg) || conventions.flags.contains(&write.reg))
    };
    let stores_pointer = |instruction: &Instruction| {
        let data = instruction.reads.iter().any(|read| read.role == Role::Data && points(read.reg));
        data && !instruction.accesses.iter().all(|access| access.base.is_some_and(points))
    };
    !function
        .instructions
        .iter()
        .any(|instruction| copies(instruction) || stores_pointer(instruction))
}
