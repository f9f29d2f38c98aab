//! The text of the file of an in-order core; what is wrong with it is said with file and line.

use std::collections::BTreeMap;

use report::{Diagnostic, did_you_mean};
use serde::Deserialize;
use toml::Spanned;

use super::{Belief, Class, Compilers, Core, Pairing, Role, Work};
use crate::UnitSet;
use crate::dispute::{Dispute, Other};
use crate::identity::IdentityTable;
use crate::reader::{Reader, Units};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CoreFile {
    name: String,
    title: String,
    source: Spanned<String>,
    sets: Vec<String>,
    nearest: Option<String>,
    issue: Spanned<CoreIssue>,
    units: Spanned<Units>,
    #[serde(default)]
    forwarding: Option<Forwarding>,
    pairing: Option<PairingRow>,
    trap: Option<Trap>,
    identity: Option<IdentityTable>,
    #[serde(default)]
    belief: Vec<BeliefRow>,
    compilers: CompilersRow,
    work: Vec<Spanned<WorkRow>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CoreIssue {
    width: Spanned<u32>,
    source: Spanned<String>,
}

/// What hinders two instructions of one cycle.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PairingRow {
    first_only: Vec<String>,
    wide_immediates_shift: bool,
    source: Spanned<String>,
}

/// What it costs to enter a trap handler.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Trap {
    cycles: Spanned<u32>,
    source: Spanned<String>,
}

/// Where forwarded operands come from.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Forwarding {
    from: Vec<Spanned<String>>,
    source: Spanned<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CompilersRow {
    gcc: String,
    llvm: String,
    source: Spanned<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BeliefRow {
    compiler: String,
    class: Spanned<String>,
    latency_cycles: Spanned<u32>,
    source: Spanned<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WorkRow {
    classes: Vec<Spanned<String>>,
    #[serde(default)]
    units: Vec<Spanned<String>>,
    issue_cycles: Option<Spanned<u32>>,
    unit_cycles: Option<Spanned<u32>>,
    #[serde(default)]
    holds: BTreeMap<Spanned<String>, Spanned<u32>>,
    register_cycles: Option<Spanned<u32>>,
    jump_cycles: Option<Spanned<u32>>,
    registers_a_cycle: Option<Spanned<u32>>,
    bytes_a_cycle: Option<Spanned<u32>>,
    quad: Option<Quad>,
    taken_cycles: Option<Spanned<u32>>,
    latency_cycles: Spanned<u32>,
    address_cycles: Option<Spanned<u32>>,
    high_cycles: Option<Spanned<u32>>,
    base_cycles: Option<Spanned<u32>>,
    base_reuse_cycles: Option<Spanned<u32>>,
    flags_cycles: Option<Spanned<u32>>,
    #[serde(default)]
    loaded_cycles: Vec<Spanned<u32>>,
    #[serde(default)]
    lock_cycles: Vec<Spanned<u32>>,
    #[serde(default)]
    early: BTreeMap<Spanned<String>, Spanned<u32>>,
    #[serde(default)]
    late: BTreeMap<Spanned<String>, Spanned<u32>>,
    #[serde(default)]
    forwarded: BTreeMap<Spanned<String>, Spanned<u32>>,
    slots: Option<Spanned<u32>>,
    base_slots: Option<Spanned<u32>>,
    #[serde(default)]
    other: Vec<Spanned<Other>>,
    source: Spanned<String>,
}

/// What is different for whole vector registers of 128 bits.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Quad {
    #[serde(default)]
    units: Vec<Spanned<String>>,
    #[serde(default)]
    holds: BTreeMap<Spanned<String>, Spanned<u32>>,
    unit_cycles: Option<Spanned<u32>>,
    latency_cycles: Option<Spanned<u32>>,
}

impl Core {
    /// The core that `text` describes; `name` is the file's, for messages.
    pub fn parse(name: &str, text: &str) -> Result<Core, Diagnostic> {
        let mut reader = Reader::new(name, text);
        let parsed: CoreFile = toml::from_str(text).map_err(|error| reader.syntax(&error))?;
        reader.units(parsed.units.get_ref(), parsed.units.span())?;
        reader.source(&parsed.units.get_ref().source)?;
        reader.source(&parsed.issue.get_ref().source)?;
        let mut rows: Vec<Option<(Work, Work)>> = vec![None; Class::ALL.len()];
        for row in &parsed.work {
            let work = reader.work(row.get_ref())?;
            let quad = reader.quad(row.get_ref(), &work)?;
            for name in &row.get_ref().classes {
                let slot = &mut rows[reader.class(name)? as usize];
                if slot.is_some() {
                    return Err(reader.fault(
                        format!("`{}` has two rows", name.get_ref()),
                        name.span(),
                        "again here",
                    ));
                }
                *slot = Some((work.clone(), quad.clone()));
            }
        }
        for part in Class::ALL.iter().filter(|class| class.is_part_of_float()) {
            if rows[*part as usize].is_none() {
                rows[*part as usize] = rows[Class::Float as usize].clone();
            }
        }
        let missing: Vec<&str> = Class::ALL
            .iter()
            .filter(|class| rows[**class as usize].is_none() && !class.is_part_of_float())
            .map(|found| found.name())
            .collect();
        if !missing.is_empty() {
            let message = format!("no row says what these cost: {}", missing.join(", "));
            return Err(reader.fault(message, 0..0, "in this file"));
        }
        let forwarding = match &parsed.forwarding {
            None => Vec::new(),
            Some(it) => {
                reader.source(&it.source)?;
                it.from.iter().map(|found| reader.class(found)).collect::<Result<_, _>>()?
            }
        };
        let beliefs =
            parsed.belief.iter().map(|found| reader.belief(found)).collect::<Result<_, _>>()?;
        let trap_cycles = match &parsed.trap {
            None => None,
            Some(it) => {
                reader.source(&it.source)?;
                Some(reader.number(&it.cycles, 1)?)
            }
        };
        let identity = parsed.identity.map(|table| reader.identity(&table)).transpose()?;
        let pairing = match parsed.pairing {
            None => None,
            Some(it) => Some(Pairing {
                source: reader.source(&it.source)?,
                first_only: it.first_only,
                wide_immediates_shift: it.wide_immediates_shift,
            }),
        };
        let (rows, quad_rows) = rows.into_iter().flatten().unzip();
        let mut core = Core {
            trap_cycles,
            name: parsed.name,
            title: parsed.title,
            source: reader.source(&parsed.source)?,
            sets: parsed.sets,
            nearest: parsed.nearest,
            issue_width: reader.number(&parsed.issue.get_ref().width, 1)?,
            units: reader.units.clone(),
            beliefs,
            compilers: Compilers {
                gcc: parsed.compilers.gcc.clone(),
                llvm: parsed.compilers.llvm.clone(),
                source: reader.source(&parsed.compilers.source)?,
            },
            disputes: Vec::new(),
            rows,
            quad_rows,
            forwarding,
            pairing,
            identity,
        };
        for row in &parsed.work {
            core.disputes.extend(reader.work_disputes(row.get_ref(), &core)?);
        }
        Ok(core)
    }
}

impl Reader {
    fn class(&self, name: &Spanned<String>) -> Result<Class, Diagnostic> {
        Class::named(name.get_ref()).ok_or_else(|| {
            self.unknown("kind of work", name, Class::ALL.map(Class::name).into_iter())
        })
    }

    fn unknown<'a>(
        &self,
        what: &str,
        name: &Spanned<String>,
        known: impl Iterator<Item = &'a str>,
    ) -> Diagnostic {
        let fault =
            self.fault(format!("there is no {what} `{}`", name.get_ref()), name.span(), "here");
        match did_you_mean(name.get_ref(), known) {
            Some(meant) => fault.with_help(meant),
            None => fault,
        }
    }

    fn belief(&self, row: &BeliefRow) -> Result<Belief, Diagnostic> {
        Ok(Belief {
            compiler: row.compiler.clone(),
            class: self.class(&row.class)?,
            latency_cycles: self.number(&row.latency_cycles, 0)?,
            source: self.source(&row.source)?,
        })
    }

    fn unit(&self, name: &Spanned<String>) -> Result<UnitSet, Diagnostic> {
        let idx = self.units.iter().position(|unit| unit == name.get_ref());
        idx.ok_or_else(|| self.unknown("unit", name, self.units.iter().map(String::as_str)))
            .map(|idx| UnitSet(1 << idx))
    }

    fn set(&self, names: &[Spanned<String>]) -> Result<UnitSet, Diagnostic> {
        let mut units = UnitSet::default();
        for name in names {
            units.0 |= self.unit(name)?.0;
        }
        Ok(units)
    }

    fn holds(
        &self,
        held: &BTreeMap<Spanned<String>, Spanned<u32>>,
    ) -> Result<Option<(UnitSet, u32)>, Diagnostic> {
        let mut holds = None;
        for (name, cycles) in held {
            if holds.is_some() {
                return Err(self.fault(
                    "one unit is held at most".to_owned(),
                    name.span(),
                    "a second one",
                ));
            }
            holds = Some((self.unit(name)?, self.number(cycles, 1)?));
        }
        Ok(holds)
    }

    /// The row for whole vector registers.
    fn quad(&self, row: &WorkRow, work: &Work) -> Result<Work, Diagnostic> {
        let mut quad = work.clone();
        let Some(other) = &row.quad else { return Ok(quad) };
        if !other.units.is_empty() {
            quad.units = self.set(&other.units)?;
        }
        if !other.holds.is_empty() {
            quad.holds = self.holds(&other.holds)?;
        }
        if let Some(cycles) = &other.unit_cycles {
            quad.unit_cycles = self.number(cycles, 1)?;
        }
        if let Some(cycles) = &other.latency_cycles {
            quad.latency_cycles = self.number(cycles, 0)?;
        }
        Ok(quad)
    }

    fn work_disputes(&self, row: &WorkRow, core: &Core) -> Result<Vec<Dispute>, Diagnostic> {
        let names: Vec<String> = row.classes.iter().map(|class| class.get_ref().clone()).collect();
        let Some(class) = names.first().and_then(|name| Class::named(name)) else {
            return Ok(Vec::new());
        };
        let (work, quad) = (core.work(class), core.work_of(class, true));
        self.disputes(&names, &work.source, &row.other, |figure| match figure.split_once('.') {
            Some(("late", role)) => {
                let role = Role::named(role)?;
                let late = work.early.iter().find(|(it, cycles)| *it == role && *cycles <= 0);
                Some(late.map_or(0, |(_, cycles)| cycles.unsigned_abs()))
            }
            Some(("quad", _)) => Some(quad.latency_cycles),
            _ => match figure {
                "latency_cycles" => Some(work.latency_cycles),
                "address_cycles" => work.address_cycles,
                "unit_cycles" => Some(work.unit_cycles),
                "bytes_a_cycle" => work.bytes_a_cycle,
                "addition_cycles" => Some(core.to_addition(class)),
                _ => None,
            },
        })
    }

    fn work(&self, row: &WorkRow) -> Result<Work, Diagnostic> {
        let (units, holds) = (self.set(&row.units)?, self.holds(&row.holds)?);
        let optional = |option: &Option<Spanned<u32>>| {
            option.as_ref().map(|found| self.number(found, 0)).transpose()
        };
        let list = |them: &[Spanned<u32>]| {
            them.iter().map(|found| self.number(found, 0)).collect::<Result<Vec<u32>, _>>()
        };
        let roles = |them: &BTreeMap<Spanned<String>, Spanned<u32>>, sign: i32| {
            let each = them.iter().map(|(name, cycles)| {
                let role = Role::named(name.get_ref()).ok_or_else(|| {
                    self.unknown("role", name, Role::ALL.map(Role::name).into_iter())
                })?;
                Ok((role, sign * self.number(cycles, 0)?.cast_signed()))
            });
            each.collect::<Result<Vec<(Role, i32)>, Diagnostic>>()
        };
        let registers_a_cycle = match &row.registers_a_cycle {
            Some(it) => Some(self.number(it, 1)?),
            None => None,
        };
        // Which of them is taken would decide what can start later, and an earlier start could end
        // later.
        let keeps = row
            .unit_cycles
            .as_ref()
            .filter(|unit_cycle| *unit_cycle.get_ref() > 1)
            .map(Spanned::span);
        let keeps = keeps.or_else(|| row.registers_a_cycle.as_ref().map(Spanned::span));
        if let Some(at) = keeps.filter(|_| row.units.len() > 1) {
            return Err(self.fault(
                "what may take any of several units takes it for one cycle".to_owned(),
                at,
                "here",
            ));
        }
        Ok(Work {
            units,
            issue_cycles: optional(&row.issue_cycles)?.unwrap_or(1),
            source: self.source(&row.source)?,
            slots: optional(&row.slots)?.unwrap_or(1),
            base_slots: optional(&row.base_slots)?.unwrap_or(0),
            unit_cycles: optional(&row.unit_cycles)?.unwrap_or(1),
            holds,
            register_cycles: optional(&row.register_cycles)?.unwrap_or(0),
            jump_cycles: optional(&row.jump_cycles)?,
            registers_a_cycle,
            bytes_a_cycle: row
                .bytes_a_cycle
                .as_ref()
                .map(|bytes_a_cycle| self.number(bytes_a_cycle, 1))
                .transpose()?,
            taken_cycles: optional(&row.taken_cycles)?,
            latency_cycles: self.number(&row.latency_cycles, 0)?,
            address_cycles: optional(&row.address_cycles)?,
            high_cycles: optional(&row.high_cycles)?,
            base_cycles: optional(&row.base_cycles)?,
            base_reuse_cycles: optional(&row.base_reuse_cycles)?,
            flags_cycles: optional(&row.flags_cycles)?,
            loaded_cycles: list(&row.loaded_cycles)?,
            lock_cycles: list(&row.lock_cycles)?,
            early: [roles(&row.early, 1)?, roles(&row.late, -1)?].concat(),
            forwarded: roles(&row.forwarded, 1)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::in_order::Out;

    const GOOD: &str = include_str!("../../machines/arm1136jf-s.toml");

    /// What is said about a file in which `to` stands for the first `from`.
    fn check(from: &str, to: &str, expected: Expect) {
        assert!(GOOD.contains(from), "{from}");
        let fault =
            Core::parse("my.toml", &GOOD.replacen(from, to, 1)).expect_err("the file is wrong");
        expected.assert_eq(&format!("{fault}"));
    }

    #[test]
    fn every_bundled_core_is_right() {
        for name in Core::names() {
            let core = Core::bundled(name).expect("it is listed");
            assert_eq!(core.name, name);
            assert!(!core.sets.is_empty(), "{name}");
        }
        assert_eq!(Core::bundled("z80"), None);
    }

    #[test]
    fn numbers_arrive_where_they_belong() {
        let core = Core::bundled("arm1136jf-s").expect("it is bundled");
        let many = core.work(Class::LoadMultiple);
        let loaded: Vec<u32> = (0..9).map(|nth| many.latency(Out::Nth(nth))).collect();
        assert_eq!(loaded, [3, 3, 4, 4, 5, 5, 6, 7, 7]);
        assert_eq!(
            (many.unit_cycles(7, 28), many.unit_cycles(2, 8), many.latency(Out::BaseUpdate)),
            (4, 1, 1)
        );
        assert_eq!(
            (0..7).map(|nth| core.work(Class::StoreMultiple).lock(nth)).collect::<Vec<_>>(),
            [1, 2, 2, 3, 3, 4, 4]
        );
        assert_eq!(core.early_cycles(Class::Load, Role::Base, Class::Alu), 1);
        assert_eq!(core.early_cycles(Class::AluShiftReg, Role::Source, Class::Alu), -1);
        assert_eq!(core.clone().with_branch_cost(0).work(Class::Branch).issue_cycles, 0);
        let core = core.with_branch_cost(3);
        assert_eq!(
            (core.work(Class::Branch).issue_cycles, core.work(Class::Branch).taken_cycles()),
            (1, Some(3))
        );
        let core = Core::bundled("cortex-a55").expect("it is bundled");
        assert_eq!(core.early_cycles(Class::Alu, Role::Source, Class::Mul), -2);
        assert_eq!(core.early_cycles(Class::Alu, Role::Source, Class::Load), 0);
        assert_eq!(
            (
                core.work(Class::Alu).latency(Out::Flag),
                core.early_cycles(Class::Alu, Role::Condition, Class::Alu)
            ),
            (1, 0)
        );
        assert!(
            Core::bundled("cortex-m7")
                .expect("it is bundled")
                .pairing
                .is_some_and(|pairing| pairing.first_only.iter().any(|name| name == "rev"))
        );
        let core = Core::bundled("cortex-a53").expect("it is bundled");
        let load = core.work(Class::Load);
        let as_base = |is_whole| load.latency_as(Out::Result, Role::Base, is_whole);
        assert_eq!(
            (as_base(true), as_base(false), load.latency_as(Out::Result, Role::Source, true)),
            (3, 4, 4)
        );
    }

    #[test]
    fn refuses_what_is_left_out_or_said_twice() {
        check("\"load-slow\"", "\"load\"", expect!["my.toml:124:12: `load` has two rows"]);
        check(", \"nop\"", "", expect!["my.toml:1:1: no row says what these cost: nop"]);
    }

    #[test]
    fn a_choice_of_units_lasts_one_cycle() {
        let two = GOOD.replacen("names = [\"memory\"]", "names = [\"memory\", \"other\"]", 1);
        let check = |row: &str| {
            let rows = "[[work]]\nclasses = [\"system\"]\n";
            Core::parse("my.toml", &two.replacen(rows, &format!("{rows}{row}\n"), 1))
                .map(|_| ())
                .map_err(|error| error.to_string())
        };
        assert_eq!(check("units = [\"memory\"]\nunit_cycles = 2"), Ok(()));
        assert_eq!(check("units = [\"memory\", \"other\"]\nunit_cycles = 1"), Ok(()));
        for row in ["unit_cycles = 2", "registers_a_cycle = 2"] {
            let fault = check(&format!("units = [\"memory\", \"other\"]\n{row}"))
                .expect_err("a choice for longer");
            assert!(
                fault.ends_with("what may take any of several units takes it for one cycle"),
                "{fault}"
            );
        }
    }

    #[test]
    fn refuses_names_that_are_not_there() {
        check(
            "\"load-slow\"",
            "\"load-slwo\"",
            expect!["my.toml:124:12: there is no kind of work `load-slwo`"],
        );
        check(
            "early = { base = 1",
            "early = { bass = 1",
            expect!["my.toml:120:11: there is no role `bass`"],
        );
        check(
            "units = [\"memory\"]",
            "units = [\"mem\"]",
            expect!["my.toml:116:10: there is no unit `mem`"],
        );
    }

    #[test]
    fn what_a_trap_costs_is_said_where_it_matters() {
        let cost = |name| Core::bundled(name).expect("it is bundled").trap_cycles;
        assert_eq!((cost("erc32"), cost("leon3"), cost("rocket")), (Some(4), Some(5), None));
    }

    /// An access that takes long, of a list or of floating point, has its base as
    /// early as any other.
    #[test]
    fn a_written_back_base_waits_for_no_data() {
        let loads = [Class::LoadDouble, Class::LoadMultiple, Class::FloatLoad];
        let stores = [
            Class::Store,
            Class::StoreSlow,
            Class::StoreDouble,
            Class::StoreMultiple,
            Class::FloatStore,
        ];
        let accesses = [&loads[..], &stores[..]].concat();
        for name in Core::names() {
            let core = Core::bundled(name).expect("it is listed");
            // The others write no base back.
            if !core.sets.iter().any(|set| ["a32", "t32", "a64"].contains(&set.as_str())) {
                continue;
            }
            let base = |class: Class| core.work(class).latency(Out::BaseUpdate);
            for class in &accesses {
                assert!(
                    base(*class) <= base(Class::Load).max(base(Class::LoadSlow)),
                    "{name}: {} {}",
                    class.name(),
                    base(*class)
                );
            }
        }
    }

    #[test]
    fn a_second_source_is_a_second_figure() {
        let load = "classes = [\"load\"]\n";
        let with = |other: &str| {
            Core::parse("my.toml", &GOOD.replacen(load, &format!("{load}other = [{other}]\n"), 1))
        };
        let core = with(
            "{ latency_cycles = 2, late = { base = 1 }, source = \"gcc\", of = \"ldr r0, [r0]\" }",
        )
        .expect("two figures");
        let said: Vec<_> = core
            .disputed(Class::Load)
            .map(|disputed| {
                (disputed.figure.as_str(), disputed.here, disputed.other, disputed.source.as_str())
            })
            .collect();
        assert_eq!(said, [("latency_cycles", 3, 2, "gcc"), ("late.base", 0, 1, "gcc")]);
        assert_eq!(core.disputed(Class::Store).count(), 0);
        let fault = |other: &str| with(other).expect_err("the file is wrong").to_string();
        expect!["my.toml:116:29: `latency_cycles` is 3 by both sources"]
            .assert_eq(&fault("{ latency_cycles = 3, source = \"gcc\" }"));
        expect!["my.toml:116:10: another source without a figure"]
            .assert_eq(&fault("{ source = \"gcc\" }"));
        expect!["my.toml:116:28: `bytes_a_cycle` is disputed, and the row does not say it"]
            .assert_eq(&fault("{ bytes_a_cycle = 3, source = \"gcc\" }"));
        expect!["my.toml:116:10: `source` is missing"].assert_eq(&fault("{ latency_cycles = 2 }"));
        expect!["my.toml:116:41: `source` is empty"]
            .assert_eq(&fault("{ latency_cycles = 2, source = \"\" }"));
        expect!["my.toml:116:28: `late.bass` is disputed, and the row does not say it"]
            .assert_eq(&fault("{ late = { bass = 1 }, source = \"gcc\" }"));
    }

    #[test]
    fn refuses_a_row_without_source() {
        let at = GOOD.rfind("source = ").expect("the last row has a source");
        let fault = Core::parse("my.toml", &GOOD[..at]).expect_err("a source is missing");
        assert!(fault.to_string().contains("`source` is missing"), "{fault}");
    }
}
