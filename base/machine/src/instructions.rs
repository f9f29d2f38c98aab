//! What single instructions take of a machine, by their form: for bounds on code that is there
//! already, where the classes of [`Operation`](crate::Operation) are too coarse.
//!
//! ```text
//! add r64, r64      the row that names the form, else
//! add               the row that names its mnemonic
//! load y            on x86-64 what an operand in memory takes besides, by its register
//! ```

use std::collections::BTreeMap;

use report::Diagnostic;
use serde::Deserialize;
use toml::Spanned;

use crate::UnitSet;
use crate::reader::Reader;

/// The instructions of a machine that reorders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instructions {
    /// The instruction sets that they are of.
    pub sets: Vec<String>,
    /// Taken branches that may be done in one cycle.
    pub taken_a_cycle: u32,
    /// Cycles from the data of a store to a load of the same bytes, at least, besides
    /// the latency of neither.
    pub forwarding_cycles: u32,
    /// A comparison and the conditional branch behind it enter as one.
    pub fuses: bool,
    rows: Vec<InstructionRow>,
    by_form: BTreeMap<String, usize>,
}

/// How the instructions of one row run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstructionRow {
    /// Cycles of any one of these units.
    pub uses: Vec<(UnitSet, u32)>,
    /// Cycles from its start until its result can be used, at least.
    pub latency_cycles: u32,
    /// The same for the sum that another instruction adds to, if the row of
    /// that one has this figure, too.
    pub accumulate_cycles: Option<u32>,
    /// Places among those that enter in a cycle.
    pub micro_ops: u32,
    pub source: String,
}

impl Instructions {
    /// The row of a form, or of its mnemonic.
    pub fn row(&self, form: &str) -> Option<&InstructionRow> {
        let mnemonic = || form.split(' ').next().unwrap_or_default();
        let idx = self.by_form.get(form).or_else(|| self.by_form.get(mnemonic()))?;
        Some(&self.rows[*idx])
    }

    /// All forms and mnemonics that have a row.
    pub fn forms(&self) -> impl Iterator<Item = (&str, &InstructionRow)> {
        self.by_form.iter().map(|(form, idx)| (form.as_str(), &self.rows[*idx]))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BoundsTable {
    sets: Vec<String>,
    taken_a_cycle: Spanned<u32>,
    forwarding_cycles: Spanned<u32>,
    #[serde(default)]
    fuses: bool,
    source: Spanned<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RowTable {
    forms: Spanned<Vec<Spanned<String>>>,
    #[serde(default)]
    uses: Vec<Use>,
    latency_cycles: Spanned<u32>,
    accumulate_cycles: Option<Spanned<u32>>,
    micro_ops: Option<Spanned<u32>>,
    source: Spanned<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Use {
    units: Spanned<Vec<Spanned<String>>>,
    cycles: Option<Spanned<u32>>,
}

impl Reader {
    pub(crate) fn instructions(
        &self,
        bounds: &BoundsTable,
        tables: &[Spanned<RowTable>],
    ) -> Result<Instructions, Diagnostic> {
        self.source(&bounds.source)?;
        let mut made = Instructions {
            sets: bounds.sets.clone(),
            taken_a_cycle: self.number(&bounds.taken_a_cycle, 1)?,
            forwarding_cycles: self.number(&bounds.forwarding_cycles, 0)?,
            fuses: bounds.fuses,
            rows: Vec::with_capacity(tables.len()),
            by_form: BTreeMap::new(),
        };
        for table in tables {
            let table = table.get_ref();
            for form in table.forms.get_ref() {
                if made.by_form.insert(form.get_ref().clone(), made.rows.len()).is_some() {
                    return Err(self.fault(
                        format!("`{}` is in two rows", form.get_ref()),
                        form.span(),
                        "again here",
                    ));
                }
            }
            let uses = table.uses.iter().map(|of| {
                let cycles = of.cycles.as_ref().map_or(Ok(1), |cycles| self.number(cycles, 1))?;
                Ok((self.unit_set(&of.units)?, cycles))
            });
            let count = |option: &Option<Spanned<u32>>| {
                option.as_ref().map(|found| self.number(found, 0)).transpose()
            };
            made.rows.push(InstructionRow {
                uses: uses.collect::<Result<_, Diagnostic>>()?,
                latency_cycles: self.number(&table.latency_cycles, 0)?,
                accumulate_cycles: count(&table.accumulate_cycles)?,
                micro_ops: count(&table.micro_ops)?.unwrap_or(1),
                source: self.source(&table.source)?,
            });
        }
        Ok(made)
    }
}
