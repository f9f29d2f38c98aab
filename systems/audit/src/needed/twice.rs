//! Values and loads that are computed again although they were there.
//!
//! ```text
//! ldr r3, [r0, #8]     int x = p->next->a + p->next->b;
//! ldr r2, [r3]
//! ldr r3, [r0, #8]     again: nothing stored between
//! ldr r3, [r3, #4]     node *n = p->next; int x = n->a + n->b;
//! ```

use std::collections::HashMap;

use super::Subject;
use crate::decode::code::{Class, Flow, Op, Reg, Value};
use crate::finding::{Edit, Finding, Kind};

/// A value by its number; equal numbers are equal values.
type Number = u32;

/// What a value is computed from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Key {
    Load { base: Number, disp: i64, width: u8, is_signed: bool, to: u8 },
    Operation { op: String, width: u8, a: Part, b: Part },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Part {
    Number(Number),
    Const(u64),
    Shifted(Number, u8, u8),
}

/// All of them, in pieces that only their first instruction can be entered at.
pub fn find(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let n = subject.function.instructions.len();
    let mut is_entered = vec![false; n];
    for to in (0..n).filter_map(|idx| subject.function.target(idx)) {
        is_entered[to] = true;
    }
    let mut piece = Piece::default();
    for (idx, entered) in is_entered.iter().enumerate() {
        if *entered {
            piece = Piece { next: piece.next, ..Piece::default() };
        }
        findings.extend(piece.step(subject, idx));
    }
}

/// What is known in one piece.
#[derive(Debug, Default)]
struct Piece {
    next: Number,
    values: HashMap<Reg, Number>,
    computed: HashMap<Key, (Number, usize)>,
    /// The last store or call, which may have changed what was loaded before.
    last_store: Option<usize>,
}

impl Piece {
    fn fresh(&mut self) -> Number {
        self.next += 1;
        self.next
    }

    fn value(&mut self, reg: Reg) -> Number {
        if let Some(number) = self.values.get(&reg) {
            return *number;
        }
        let number = self.fresh();
        self.values.insert(reg, number);
        number
    }

    fn part(&mut self, value: Value) -> Part {
        match value {
            Value::Reg(reg) => Part::Number(self.value(reg)),
            Value::Const(it) => Part::Const(it),
            Value::Shifted(reg, shift, by) => Part::Shifted(self.value(reg), shift as u8, by),
        }
    }

    fn step(&mut self, subject: &Subject<'_>, idx: usize) -> Option<Finding> {
        let instruction = subject.at(idx);
        let key = self.key(subject, idx);
        let is_move = instruction.operation.is_some_and(|it| it.op == Op::Move);
        let copied = match instruction.operation.map(|it| it.a) {
            Some(Value::Reg(from)) if is_move && !instruction.is_guarded => Some(self.value(from)),
            _ => None,
        };
        let known = key.as_ref().and_then(|it| self.computed.get(it).copied());
        let number = copied.or(known.map(|it| it.0)).unwrap_or_else(|| self.fresh());
        let mut finding = None;
        if let Some((_, before)) = known {
            finding = self.again(subject, idx, before);
        }
        for write in &instruction.writes {
            let is_result = instruction.operation.and_then(|it| it.result) == Some(write.reg) && !instruction.is_guarded;
            let number = if is_result { number } else { self.fresh() };
            self.values.insert(write.reg, number);
        }
        if let Some(key) = key {
            self.computed.insert(key, (number, idx));
        }
        let is_call = matches!(instruction.flow, Flow::Call { .. });
        if is_call {
            self.values.clear();
        }
        let is_store = instruction.accesses.iter().any(|it| it.is_store);
        if is_call || is_store || matches!(instruction.class, Class::System | Class::Window | Class::Atomic) {
            self.last_store = Some(idx);
            if is_call {
                self.computed.retain(|key, _| !matches!(key, Key::Load { .. }));
            }
        }
        finding
    }

    /// The instruction's value as a key, if it is one that could have been kept.
    fn key(&mut self, subject: &Subject<'_>, idx: usize) -> Option<Key> {
        let instruction = subject.at(idx);
        let operation = instruction.operation.filter(|_| !instruction.is_guarded)?;
        let result = operation.result?;
        if let Op::Load { is_signed } = operation.op {
            let [access] = instruction.accesses[..] else { return None };
            let base = access.base.filter(|_| access.index.is_none())?;
            // A loaded register that is its own base is another value afterwards; the key is of before.
            let base = self.value(base);
            return Some(Key::Load { base, disp: access.disp, width: access.width, is_signed, to: operation.width });
        }
        let trivial = matches!(operation.op, Op::Move | Op::Not) && matches!(operation.a, Value::Const(_));
        let reads_flags = instruction.reads.iter().any(|it| subject.is_flag(it.reg));
        let stack = subject.function.isa.conventions().stack_pointer;
        if trivial || operation.op == Op::Move || reads_flags || result == stack {
            return None;
        }
        let (a, b) = (self.part(operation.a), self.part(operation.b));
        Some(Key::Operation { op: format!("{:?}", operation.op), width: operation.width, a, b })
    }

    fn again(&self, subject: &Subject<'_>, idx: usize, before: usize) -> Option<Finding> {
        let is_load = !subject.at(idx).accesses.is_empty();
        let store = self.last_store.filter(|&it| is_load && it > before);
        let mut finding = subject.finding(idx, Kind::ComputedTwice, format!("{} has it already", subject.named(before)));
        if let Some(store) = store {
            finding.why += ", but a store came between";
            finding.prevents = Some(format!("{} may change the object: the compiler cannot know that it does not", subject.named(store)));
        }
        let what = if is_load { "load" } else { "value" };
        let unless = if is_load { ", unless the object is `volatile`" } else { "" };
        let edit = match (subject.line(before), subject.line(idx)) {
            (Some(first), Some(second)) if first != second => {
                format!("put the {what} of line {first} into a local variable and use it on line {second} too")
            }
            (_, Some(line)) => format!("put the {what} into a local variable before line {line} and use it there twice"),
            _ => format!("keep the {what} in a register"),
        };
        finding.edit = Some(Edit::unverified(edit + unless));
        Some(finding)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{RETURN, found, places};
    use super::*;

    const NEXT3: u32 = 0xe590_3008; // ldr r3, [r0, #8]
    const NEXT2: u32 = 0xe590_2008; // ldr r2, [r0, #8]
    const SUM: u32 = 0xe083_0002; // add r0, r3, r2
    const STORE: u32 = 0xe581_3000; // str r3, [r1]

    #[test]
    fn a_load_again() {
        let all = found(&[NEXT3, NEXT2, SUM, RETURN]);
        assert_eq!((all[0].0, all[0].1), (1, Kind::ComputedTwice));
        assert_eq!(all[0].2, "`ldr r3, [r0, #8]` at 0x0 has it already");
    }

    #[test]
    fn a_store_between_may_change_it() {
        let all = found(&[NEXT3, STORE, NEXT2, SUM, RETURN]);
        assert_eq!(all[0].2, "`ldr r3, [r0, #8]` at 0x0 has it already, but a store came between");
    }

    #[test]
    fn through_another_value_of_the_register_it_is_another_load() {
        assert!(places(&[NEXT3, 0xe280_0004, NEXT2, SUM, RETURN], Kind::ComputedTwice).is_empty()); // add r0, r0, #4
        assert!(places(&[NEXT3, 0xe590_200c, SUM, RETURN], Kind::ComputedTwice).is_empty()); // ldr r2, [r0, #12]
    }

    #[test]
    fn a_value_again() {
        // and r3, r1, #12; and r2, r1, #12
        assert_eq!(places(&[0xe201_300c, 0xe201_200c, SUM, RETURN], Kind::ComputedTwice), [1]);
        assert!(places(&[0xe201_300c, 0xe201_2008, SUM, RETURN], Kind::ComputedTwice).is_empty());
    }

    #[test]
    fn what_is_entered_from_elsewhere_knows_nothing() {
        // cmp r1, #0; beq to the second load
        assert!(places(&[0xe351_0000, 0x0a00_0000, NEXT3, NEXT2, SUM, RETURN], Kind::ComputedTwice).is_empty());
    }
}
