//! SPARC: what depends on a special register too soon after it was written.
//!
//! ```text
//! wr   %l0, 0, %psr      may move to another window
//! nop
//! save %sp, -96, %sp     the second of the three instructions that may still see the old window
//! ```
//!
//! A write to `%psr`, `%wim` or `%tbr` may take effect up to three instructions later. Until then
//! what the new value decides is unpredictable. The three are followed along every path, delay
//! slots too. Of `%psr`, only the fields that the write can change count: they are known where its
//! value was read from `%psr` and changed by constants.
//!
//! **Needs** the instructions of one piece of code in the order of their addresses.
//! **Source**: The SPARC Architecture Manual, Version 8, section B.29.

use std::collections::BTreeMap;

use crate::decode::Isa;
use crate::decode::code::{Class, Delay, Flow, Instruction, Op, Reg, Value};
use crate::finding::{Finding, Kind};

/// How many instructions may still see the old value.
const WINDOW: usize = 3;

const ICC: u64 = 0x00f0_0000;
const EF: u64 = 1 << 12;
const S: u64 = 1 << 7;
const ET: u64 = 1 << 5;
const CWP: u64 = 31;
const ALL: u64 = 0xffff_ffff;

/// A special register whose writes are late.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Late {
    /// `%psr`, of which the write can change these bits.
    Psr(u64),
    Wim,
    Tbr,
}

/// All hazards, in the order of the code.
///
/// Panics: never for instructions that were decoded as SPARC.
pub fn lint(instructions: &[Instruction]) -> Vec<Finding> {
    // By place and write: the nearest path asks for most.
    let mut missing: BTreeMap<(usize, usize), (usize, Late)> = BTreeMap::new();
    for (write, late) in writes(instructions) {
        for (path, idx) in following(instructions, write) {
            if dependence(&instructions[idx], late).is_some() {
                let known = missing.entry((idx, write)).or_insert((0, late));
                known.0 = known.0.max(WINDOW + 1 - path);
            }
        }
    }
    missing
        .into_iter()
        .map(|((idx, write), (missing, late))| finding(instructions, idx, write, missing, late))
        .collect()
}

fn finding(
    instructions: &[Instruction],
    idx: usize,
    write: usize,
    missing: usize,
    late: Late,
) -> Finding {
    let name = match late {
        Late::Psr(_) => "%psr",
        Late::Wim => "%wim",
        Late::Tbr => "%tbr",
    };
    let why = dependence(&instructions[idx], late).expect("only what depends is reported");
    let address = instructions[write].address;
    let why = format!(
        "{why}, and the write to {name} at {address:#x} may take effect only behind the third instruction after it"
    );
    Finding {
        cycles: 0,
        fill: Some(format!(
            "{missing} more instruction{} between them, such as `nop`",
            if missing == 1 { "" } else { "s" }
        )),
        ..Finding::new(idx, Kind::Hazard, instructions[idx].text.clone(), why)
    }
}

/// The writes, each with what it may change.
fn writes(instructions: &[Instruction]) -> Vec<(usize, Late)> {
    let targets: Vec<u64> = instructions
        .iter()
        .filter_map(|instruction| match instruction.flow {
            Flow::Branch { target, .. } => Some(target),
            Flow::Next
            | Flow::Call { .. }
            | Flow::LastCall
            | Flow::Return
            | Flow::Resume
            | Flow::Jump
            | Flow::Stop => None,
        })
        .collect();
    let mut values = Values::default();
    let mut found = Vec::new();
    let mut forgets_behind = false;
    for (idx, it) in instructions.iter().enumerate() {
        if targets.contains(&it.address) {
            values = Values::default();
        }
        let op3 = it.word >> 19 & 63;
        let late = match (it.word >> 30, op3) {
            (2, 0x31) => Some(Late::Psr(values.changed_by(it))),
            (2, 0x32) => Some(Late::Wim),
            (2, 0x33) => Some(Late::Tbr),
            _ => None,
        };
        found.extend(late.map(|late| (idx, late)));
        values.step(it, late);
        // Behind a call or jump and its delay slot nothing is known.
        if forgets_behind {
            values = Values::default();
        }
        forgets_behind = !matches!(it.flow, Flow::Next | Flow::Branch { .. });
    }
    found
}

/// What is known of registers on the straight way to an instruction.
#[derive(Debug, Default)]
struct Values {
    known: BTreeMap<Reg, KnownRegisters>,
}

#[derive(Debug, Clone, Copy)]
enum KnownRegisters {
    /// `%psr` as it is now, but for these bits.
    Psr(u64),
    Constant(u64),
}

impl Values {
    fn value(&self, value: Value) -> Option<KnownRegisters> {
        match value {
            Value::Reg(reg) => self.known.get(&reg).copied(),
            Value::Const(value) => Some(KnownRegisters::Constant(value & ALL)),
            Value::Shifted(..) | Value::Extended(..) => None,
        }
    }

    /// The bits of `%psr` that this write to it can change: it writes the exclusive
    /// or of its operands.
    fn changed_by(&self, it: &Instruction) -> u64 {
        let first = Reg((it.word >> 14 & 31) as u8);
        let second = Reg((it.word & 31) as u8);
        let register = |reg: Reg| if reg == Reg(0) { Value::Const(0) } else { Value::Reg(reg) };
        let immediate = ((it.word << 51) as i64 >> 51) as u64;
        let second =
            if it.word >> 13 & 1 == 1 { Value::Const(immediate) } else { register(second) };
        match (self.value(register(first)), self.value(second)) {
            (Some(KnownRegisters::Psr(mask)), Some(KnownRegisters::Constant(value)))
            | (Some(KnownRegisters::Constant(value)), Some(KnownRegisters::Psr(mask))) => {
                mask | value
            }
            _ => ALL,
        }
    }

    fn step(&mut self, it: &Instruction, late: Option<Late>) {
        if let Some(Late::Psr(changed)) = late {
            self.psr_changes(changed);
        }
        if it.class == Class::Window {
            self.known.retain(|reg, _| reg.0 < 8);
            self.psr_changes(CWP);
            return;
        }
        let is_read_of_psr = it.word >> 30 == 2 && it.word >> 19 & 63 == 0x29;
        let computed = it.operation.and_then(|operation| {
            let (a, b) = (self.value(operation.a)?, self.value(operation.b)?);
            use KnownRegisters::{Constant, Psr};
            match (operation.op, a, b) {
                (Op::Move, a, _) => Some(a),
                (Op::And, Psr(mask), Constant(value)) | (Op::And, Constant(value), Psr(mask)) => {
                    Some(Psr(mask | ALL & !value))
                }
                (Op::Or | Op::Xor | Op::AndNot, Psr(mask), Constant(value))
                | (Op::Or | Op::Xor, Constant(value), Psr(mask)) => Some(Psr(mask | value)),
                (Op::OrNot, Psr(mask), Constant(value)) => Some(Psr(mask | ALL & !value)),
                (Op::Or, Constant(a), Constant(b)) => Some(Constant(a | b)),
                (Op::Xor, Constant(a), Constant(b)) => Some(Constant(a ^ b)),
                (Op::Add, Constant(a), Constant(b)) => Some(Constant(a.wrapping_add(b) & ALL)),
                _ => None,
            }
        });
        for write in &it.writes {
            self.known.remove(&write.reg);
        }
        if let Some(result) = it.writes.iter().find(|write| write.reg.0 < 32) {
            let known = if is_read_of_psr { Some(KnownRegisters::Psr(0)) } else { computed };
            known.map(|known| self.known.insert(result.reg, known));
        }
        if writes_flags(it) {
            self.psr_changes(ICC);
        }
    }

    /// Copies of `%psr` differ from it in these bits too.
    fn psr_changes(&mut self, bits: u64) {
        for known in self.known.values_mut() {
            if let KnownRegisters::Psr(mask) = known {
                *mask |= bits;
            }
        }
    }
}

fn is_flag(reg: Reg) -> bool {
    Isa::Sparc.conventions().flags.contains(&reg)
}

fn writes_flags(it: &Instruction) -> bool {
    it.writes.iter().any(|write| is_flag(write.reg))
}

/// The instructions that come first, second and third after `write` on any path, each with
/// its place on it.
fn following(instructions: &[Instruction], write: usize) -> Vec<(usize, usize)> {
    let at = |address: u64| {
        instructions.binary_search_by_key(&address, |instruction| instruction.address).ok()
    };
    let mut found = Vec::new();
    // Two addresses, as the machine has them: the next instruction, and the one after it.
    let first = instructions[write].address + 4;
    let mut paths = vec![(first, first + 4)];
    for place in 1..=WINDOW {
        let mut next = Vec::new();
        for (pc, npc) in paths {
            let Some(idx) = at(pc) else { continue };
            found.push((place, idx));
            let it = &instructions[idx];
            let is_late = it.delay != Delay::None;
            match it.flow {
                Flow::Next => next.push((npc, npc + 4)),
                Flow::Branch { target, is_conditional } => {
                    let is_skipped = it.delay == Delay::Annulled;
                    match (is_late, is_conditional) {
                        (false, _) => next.push((target, target + 4)),
                        (true, false) if is_skipped => next.push((target, target + 4)),
                        (true, false) => next.push((npc, target)),
                        (true, true) => {
                            next.push((npc, target));
                            next.push(if is_skipped { (npc + 4, npc + 8) } else { (npc, npc + 4) });
                        }
                    }
                }
                // The delay slot is still here; where control goes then may be elsewhere.
                Flow::Call { target: Some(target) } => next.push((npc, target)),
                Flow::Call { target: None }
                | Flow::LastCall
                | Flow::Return
                | Flow::Resume
                | Flow::Jump
                    if is_late =>
                {
                    next.push((npc, u64::MAX - 7))
                }
                Flow::Call { target: None }
                | Flow::LastCall
                | Flow::Return
                | Flow::Resume
                | Flow::Jump
                | Flow::Stop => {}
            }
        }
        paths = next;
    }
    found
}

/// Why `it` depends on what was written, if it does.
fn dependence(it: &Instruction, late: Late) -> Option<&'static str> {
    let op3 = if it.word >> 30 == 2 { it.word >> 19 & 63 } else { 64 };
    let moves_window = it.class == Class::Window || op3 == 0x39;
    let is_trap = op3 == 0x3a;
    match late {
        Late::Wim if moves_window => Some("it traps or not by %wim"),
        Late::Wim => (op3 == 0x2a).then_some("it reads %wim"),
        Late::Tbr if is_trap => Some("it traps to where %tbr says"),
        Late::Tbr => (op3 == 0x2b).then_some("it reads %tbr"),
        Late::Psr(changed) => {
            let registers = || {
                it.reads.iter().map(|read| read.reg).chain(it.writes.iter().map(|write| write.reg))
            };
            let is_windowed = |reg: Reg| (8..32).contains(&reg.0);
            let is_float = it.class == Class::Float
                || registers().any(|reg| Isa::Sparc.register_name(reg) == "fcc");
            let is_privileged = matches!(op3, 0x29..=0x2b | 0x31..=0x33 | 0x39)
                || it.word >> 30 == 3 && it.word >> 23 & 3 == 1;
            if changed == 0 {
                None
            } else if op3 == 0x29 {
                Some("it reads %psr")
            } else if changed & CWP != 0 && moves_window {
                Some("it moves to the window beside the current one")
            } else if changed & CWP != 0 && registers().any(is_windowed) {
                Some("its registers are those of the current window")
            } else if changed & ICC != 0 && registers().any(is_flag) && op3 != 0x31 {
                Some("it reads or sets the condition codes")
            } else if changed & EF != 0 && is_float {
                Some("it traps or not by the floating-point bit of %psr")
            } else if changed & S != 0 && is_privileged && op3 != 0x31 {
                Some("it is for supervisors only")
            } else if changed & ET != 0 && (is_trap || op3 == 0x39) {
                Some("it traps or stops the machine by the trap bit of %psr")
            } else {
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(words: &[u32], expected: Expect) {
        let decode = |(n, word): (usize, &u32)| {
            Isa::Sparc
                .decode(0x1000 + 4 * n as u64, &word.to_be_bytes())
                .unwrap_or_else(|error| panic!("{error}"))
        };
        let instructions: Vec<Instruction> = words.iter().enumerate().map(decode).collect();
        let line = |finding: Finding| {
            format!(
                "{:#x} {}: {}; {}\n",
                instructions[finding.idx].address,
                finding.instruction,
                finding.why,
                finding.fill.unwrap_or_default()
            )
        };
        expected.assert_eq(&lint(&instructions).into_iter().map(line).collect::<String>());
    }

    const NOP: u32 = 0x0100_0000;
    const RD_PSR_L0: u32 = 0xa148_0000;
    const WR_L0_PSR: u32 = 0x818c_2000;
    const WR_WIM_0: u32 = 0x8190_2000;
    const WR_L0_TBR: u32 = 0x819c_2000;
    const SAVE: u32 = 0x9de3_bfa0;
    const ADD_O0: u32 = 0x9002_2001;
    const ADD_G1: u32 = 0x8200_6001;
    const TA_0: u32 = 0x91d0_2000;

    #[test]
    fn three_instructions_are_enough() {
        check(&[WR_L0_PSR, NOP, NOP, NOP, SAVE], expect![[""]]);
        check(&[WR_WIM_0, NOP, NOP, NOP, SAVE], expect![[""]]);
        check(&[WR_L0_TBR, NOP, NOP, NOP, TA_0], expect![[""]]);
    }

    #[test]
    fn two_are_not() {
        check(
            &[WR_L0_PSR, NOP, NOP, SAVE],
            expect![[r#"
            0x100c save %sp, -96, %sp: it moves to the window beside the current one, and the write to %psr at 0x1000 may take effect only behind the third instruction after it; 1 more instruction between them, such as `nop`
        "#]],
        );
        check(
            &[WR_WIM_0, NOP, NOP, SAVE],
            expect![[r#"
            0x100c save %sp, -96, %sp: it traps or not by %wim, and the write to %wim at 0x1000 may take effect only behind the third instruction after it; 1 more instruction between them, such as `nop`
        "#]],
        );
        check(
            &[WR_L0_TBR, NOP, NOP, TA_0],
            expect![[r#"
            0x100c ta 0: it traps to where %tbr says, and the write to %tbr at 0x1000 may take effect only behind the third instruction after it; 1 more instruction between them, such as `nop`
        "#]],
        );
    }

    #[test]
    fn registers_of_the_window_and_global_ones() {
        check(
            &[WR_L0_PSR, ADD_O0, ADD_G1, NOP],
            expect![[r#"
            0x1004 add %o0, 1, %o0: its registers are those of the current window, and the write to %psr at 0x1000 may take effect only behind the third instruction after it; 3 more instructions between them, such as `nop`
        "#]],
        );
    }

    #[test]
    fn a_field_that_is_not_changed_cannot_be_late() {
        // rd %psr, %l0; wr %l0, 0x20, %psr toggles only the trap bit.
        check(
            &[RD_PSR_L0, 0x818c_2020, SAVE, TA_0, NOP],
            expect![[r#"
            0x100c ta 0: it traps or stops the machine by the trap bit of %psr, and the write to %psr at 0x1004 may take effect only behind the third instruction after it; 2 more instructions between them, such as `nop`
        "#]],
        );
        // andn %l0, 31, %l0 before it may change the window.
        check(
            &[RD_PSR_L0, 0xa02c_201f, WR_L0_PSR, SAVE, NOP],
            expect![[r#"
            0x100c save %sp, -96, %sp: it moves to the window beside the current one, and the write to %psr at 0x1008 may take effect only behind the third instruction after it; 3 more instructions between them, such as `nop`
        "#]],
        );
        // A constant in two steps: sethi 4, %g1; or %l0, %g1, %l0 is the floating-point bit.
        check(
            &[RD_PSR_L0, 0x0300_0004, 0xa014_0001, WR_L0_PSR, SAVE, 0x91a0_0840],
            expect![[r#"
            0x1014 faddd %f0, %f0, %f8: it traps or not by the floating-point bit of %psr, and the write to %psr at 0x100c may take effect only behind the third instruction after it; 2 more instructions between them, such as `nop`
        "#]],
        );
        // Behind another save the copy in %l0 is another register.
        check(
            &[RD_PSR_L0, SAVE, WR_L0_PSR, SAVE],
            expect![[r#"
            0x100c save %sp, -96, %sp: it moves to the window beside the current one, and the write to %psr at 0x1008 may take effect only behind the third instruction after it; 3 more instructions between them, such as `nop`
        "#]],
        );
    }

    #[test]
    fn delay_slots_and_both_ways_of_a_branch() {
        // wr; be .+12 with save in its delay slot; nop; the target reads %psr.
        check(
            &[WR_L0_PSR, 0x0280_0003, SAVE, NOP, RD_PSR_L0],
            expect![[r#"
            0x1004 be 0x1010: it reads or sets the condition codes, and the write to %psr at 0x1000 may take effect only behind the third instruction after it; 3 more instructions between them, such as `nop`
            0x1008 save %sp, -96, %sp: it moves to the window beside the current one, and the write to %psr at 0x1000 may take effect only behind the third instruction after it; 2 more instructions between them, such as `nop`
            0x1010 rd %psr, %l0: it reads %psr, and the write to %psr at 0x1000 may take effect only behind the third instruction after it; 1 more instruction between them, such as `nop`
        "#]],
        );
        // Annulled and always taken: the save is never done.
        check(&[WR_WIM_0, 0x3080_0003, SAVE, NOP, NOP], expect![[""]]);
    }

    #[test]
    fn writes_in_a_row_are_not_reported() {
        // wr %g1, 0, %psr
        check(&[WR_L0_PSR, 0x8188_6000, NOP, NOP, NOP], expect![[""]]);
    }
}
