//! Hints, barriers, and system registers.

use super::{A64Word, ALL, C, MONITOR, N, SYSTEM, V, Z, name, reg, writes_flags};
use crate::decode::code::{Class, Instruction, Out, Role, Undecodable};

/// Registers that have a name here, by op0, op1, CRn, CRm, op2; the others are written in the
/// generic way. Source: DDI 0487, chapter D19.
const NAMES: &[([u32; 5], &str)] = &[
    ([3, 0, 0, 0, 0], "midr_el1"),
    ([3, 0, 0, 0, 5], "mpidr_el1"),
    ([3, 0, 1, 0, 0], "sctlr_el1"),
    ([3, 0, 2, 0, 0], "ttbr0_el1"),
    ([3, 0, 2, 0, 1], "ttbr1_el1"),
    ([3, 0, 2, 0, 2], "tcr_el1"),
    ([3, 0, 4, 0, 0], "spsr_el1"),
    ([3, 0, 4, 0, 1], "elr_el1"),
    ([3, 0, 4, 1, 0], "sp_el0"),
    ([3, 0, 4, 2, 0], "spsel"),
    ([3, 0, 4, 2, 2], "currentel"),
    ([3, 0, 5, 2, 0], "esr_el1"),
    ([3, 0, 6, 0, 0], "far_el1"),
    ([3, 0, 12, 0, 0], "vbar_el1"),
    ([3, 0, 13, 0, 1], "contextidr_el1"),
    ([3, 0, 13, 0, 4], "tpidr_el1"),
    ([3, 3, 0, 0, 1], "ctr_el0"),
    ([3, 3, 0, 0, 7], "dczid_el0"),
    ([3, 3, 4, 2, 0], "nzcv"),
    ([3, 3, 4, 2, 1], "daif"),
    ([3, 3, 4, 4, 0], "fpcr"),
    ([3, 3, 4, 4, 1], "fpsr"),
    ([3, 3, 9, 13, 0], "pmccntr_el0"),
    ([3, 3, 13, 0, 2], "tpidr_el0"),
    ([3, 3, 13, 0, 3], "tpidrro_el0"),
    ([3, 3, 14, 0, 0], "cntfrq_el0"),
    ([3, 3, 14, 0, 1], "cntpct_el0"),
    ([3, 3, 14, 0, 2], "cntvct_el0"),
    ([3, 4, 4, 0, 0], "spsr_el2"),
    ([3, 4, 4, 0, 1], "elr_el2"),
    ([3, 4, 12, 0, 0], "vbar_el2"),
    ([3, 4, 13, 0, 2], "tpidr_el2"),
];

const BARRIERS: [&str; 16] = [
    "", "oshld", "oshst", "osh", "", "nshld", "nshst", "nsh", "", "ishld", "ishst", "ish", "",
    "ld", "st", "sy",
];

impl A64Word {
    pub(super) fn system(&self) -> Result<Instruction, Undecodable> {
        let (op0, op1, crn, crm, op2, rt) = (
            self.field(20, 19),
            self.field(18, 16),
            self.field(15, 12),
            self.field(11, 8),
            self.field(7, 5),
            self.rd(),
        );
        let is_read = self.bit(21);
        match op0 {
            0 if (is_read, op1, crn, crm) == (false, 3, 1, 0) && op2 < 2 => {
                let text = format!("wf{}t {}", ["e", "i"][op2 as usize], name(rt, true));
                Ok(self.plain(Class::System, text).reads(reg(rt), ALL, Role::Source))
            }
            0 if is_read || rt != 31 => self.refuse("the system instruction is reserved"),
            0 => match (op1, crn) {
                (3, 2) => Ok(self.hint(crm << 3 | op2)),
                (3, 3) => self.barrier(crm, op2),
                (0, 4) if op2 < 3 && crm == 0 => Ok(self.turned_flags(op2)),
                (0, 4) if op2 < 3 => {
                    self.refuse("bits that must be zero are not, which is unpredictable")
                }
                (_, 4) => self.state_field(op1, crm, op2),
                _ => self.refuse("the system instruction is reserved"),
            },
            1 if is_read => {
                let it = self.plain(
                    Class::System,
                    format!("sysl {}, #{op1}, c{crn}, c{crm}, #{op2}", name(rt, true)),
                );
                Ok(it.reads(SYSTEM, ALL, Role::Source).writes(reg(rt), ALL, Out::Result))
            }
            1 => {
                let place = format!("#{op1}, c{crn}, c{crm}, #{op2}");
                let text = if rt == 31 {
                    format!("sys {place}")
                } else {
                    format!("sys {place}, {}", name(rt, true))
                };
                let it = self.plain(Class::System, text).reads(reg(rt), ALL, Role::Source).reads(
                    SYSTEM,
                    ALL,
                    Role::Source,
                );
                Ok(it.writes(SYSTEM, ALL, Out::Result))
            }
            _ => Ok(self.move_system(is_read, [op0, op1, crn, crm, op2])),
        }
    }

    /// A field of the processor's state becomes a constant.
    fn state_field(&self, op1: u32, crm: u32, op2: u32) -> Result<Instruction, Undecodable> {
        let field = match (op1, op2) {
            (0, 5) => "spsel",
            (3, 6) => "daifset",
            (3, 7) => "daifclr",
            (0, 3) if crm < 2 => "uao",
            (0, 4) if crm < 2 => "pan",
            (1, 0) if crm < 2 => "allint",
            (3, 1) if crm < 2 => "ssbs",
            (3, 2) if crm < 2 => "dit",
            (3, 4) if crm < 2 => "tco",
            _ => return self.refuse("the field of the state is of a later version"),
        };
        let it = self.plain(Class::System, format!("msr {field}, #{crm}")).writes(
            SYSTEM,
            ALL,
            Out::Result,
        );
        Ok(if field == "spsel" { changes_stack(it) } else { it })
    }

    /// The carry inverted, or all flags brought into another form. Of version 8.4 and 8.5.
    fn turned_flags(&self, op2: u32) -> Instruction {
        let it = self.plain(Class::Alu, ["cfinv", "xaflag", "axflag"][op2 as usize].to_owned());
        if op2 == 0 {
            return it.reads(C, 1, Role::Condition).writes(C, 1, Out::Flag);
        }
        let it = [N, Z, C, V].into_iter().fold(it, |it, flag| it.reads(flag, 1, Role::Source));
        writes_flags(it)
    }

    fn hint(&self, number: u32) -> Instruction {
        let known = ["nop", "yield", "wfe", "wfi", "sev", "sevl"];
        match known.get(number as usize) {
            Some(&"nop") => self.plain(Class::Nop, "nop".to_owned()),
            None if number == 20 => self.plain(Class::System, "csdb".to_owned()),
            Some(text) => self.plain(Class::System, (*text).to_owned()),
            None => self.plain(Class::System, format!("hint #{number}")),
        }
    }

    fn barrier(&self, crm: u32, op2: u32) -> Result<Instruction, Undecodable> {
        let (mnemonic, plain) = match op2 {
            2 => ("clrex", true),
            4 => ("dsb", false),
            5 => ("dmb", false),
            6 => ("isb", true),
            1 if crm & 3 == 2 => {
                let domain = ["oshnxs", "nshnxs", "ishnxs", "synxs"][(crm >> 2) as usize];
                return Ok(self.plain(Class::System, format!("dsb {domain}")));
            }
            7 if crm != 0 => {
                return self.refuse("bits that must be zero are not, which is unpredictable");
            }
            7 => return Ok(self.plain(Class::System, "sb".to_owned())),
            _ => return self.refuse("the barrier is of a later version"),
        };
        let text = match (plain, BARRIERS[crm as usize]) {
            (true, "sy") => mnemonic.to_owned(),
            // These two hold back speculation only.
            (false, "") if op2 == 4 && crm == 0 => "ssbb".to_owned(),
            (false, "") if op2 == 4 && crm == 4 => "pssbb".to_owned(),
            (true, _) | (false, "") => format!("{mnemonic} #{crm}"),
            (false, domain) => format!("{mnemonic} {domain}"),
        };
        let it = self.plain(Class::System, text);
        Ok(if op2 == 2 { it.writes(MONITOR, 1, Out::Flag) } else { it })
    }

    fn move_system(&self, is_read: bool, place: [u32; 5]) -> Instruction {
        let [op0, op1, crn, crm, op2] = place;
        let known = NAMES.iter().find(|name| name.0 == place).map(|name| name.1.to_owned());
        let system = known.unwrap_or_else(|| format!("s{op0}_{op1}_c{crn}_c{crm}_{op2}"));
        let (rt, is_flags) = (self.rd(), system == "nzcv");
        if is_read {
            let it = self.plain(Class::System, format!("mrs {}, {system}", name(rt, true))).writes(
                reg(rt),
                ALL,
                Out::Result,
            );
            // A random number says in the flags whether it is one.
            let it =
                if op1 == 3 && (crn, crm) == (2, 4) && op2 < 2 { writes_flags(it) } else { it };
            return match is_flags {
                true => {
                    [N, Z, C, V].into_iter().fold(it, |it, flag| it.reads(flag, 1, Role::Source))
                }
                false => it.reads(SYSTEM, ALL, Role::Source),
            };
        }
        let it = self.plain(Class::System, format!("msr {system}, {}", name(rt, true)));
        if system == "spsel" {
            return changes_stack(it.reads(reg(rt), ALL, Role::Source).writes(
                SYSTEM,
                ALL,
                Out::Result,
            ));
        }
        match is_flags {
            true => writes_flags(it.reads(reg(rt), 0xf000_0000, Role::Source)),
            false => it.reads(reg(rt), ALL, Role::Source).writes(SYSTEM, ALL, Out::Result),
        }
    }
}

/// The stack pointer is another one then, and the former is kept.
fn changes_stack(it: Instruction) -> Instruction {
    let pointer = Some(super::CONVENTIONS.stack_pointer);
    it.reads(pointer, ALL, Role::Source).writes(pointer, ALL, Out::Link)
}
