//! What both kinds of machine files are read with: places, sources, numbers, units.

use std::ops::Range;
use std::sync::Arc;

use report::{Diagnostic, SourceFile, Span, did_you_mean};
use serde::Deserialize;
use toml::Spanned;

use crate::UnitSet;

/// Cycles and counts beyond this are slips of the pen.
const NUMBER_MAX: u32 = 1000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Units {
    pub(crate) names: Vec<Spanned<String>>,
    pub(crate) source: Spanned<String>,
}

/// What both kinds of machine files are read with.
pub(crate) struct Reader {
    file: Arc<SourceFile>,
    pub(crate) units: Vec<String>,
}

impl Reader {
    pub(crate) fn new(name: &str, text: &str) -> Reader {
        Reader { file: SourceFile::new(name, text), units: Vec::new() }
    }

    pub(crate) fn fault(
        &self,
        message: impl Into<String>,
        range: Range<usize>,
        label: &str,
    ) -> Diagnostic {
        Diagnostic::new(message).at(Span::new(&self.file, range), label)
    }

    /// What the TOML reader says, in our words where it matters.
    pub(crate) fn syntax(&self, error: &toml::de::Error) -> Diagnostic {
        let said = error.message().lines().next().unwrap_or("it is not TOML");
        // A table's range may span the whole table; its first line is the place to look at.
        let range = error.span().unwrap_or(0..0);
        let first_line = self
            .file
            .text
            .get(range.clone())
            .and_then(|text| text.find('\n'))
            .map_or(range.end, |n| range.start + n);
        let range = range.start..first_line;
        match said.strip_prefix("missing field ") {
            Some(key) => self.fault(format!("{key} is missing"), range, "in this table"),
            None => self.fault(said, range, "here"),
        }
    }

    /// A source must say something.
    pub(crate) fn source(&self, source: &Spanned<String>) -> Result<String, Diagnostic> {
        if source.get_ref().trim().is_empty() {
            return Err(self.fault(
                "`source` is empty",
                source.span(),
                "say where the numbers come from",
            ));
        }
        Ok(source.get_ref().clone())
    }

    pub(crate) fn number(&self, number: &Spanned<u32>, least: u32) -> Result<u32, Diagnostic> {
        let value = *number.get_ref();
        if (least..=NUMBER_MAX).contains(&value) {
            return Ok(value);
        }
        Err(self.fault(
            format!("{value} is not between {least} and {NUMBER_MAX}"),
            number.span(),
            "here",
        ))
    }

    pub(crate) fn units(&mut self, units: &Units, table: Range<usize>) -> Result<(), Diagnostic> {
        for unit in &units.names {
            if self.units.contains(unit.get_ref()) {
                return Err(self.fault(
                    format!("the unit `{}` is named twice", unit.get_ref()),
                    unit.span(),
                    "again here",
                ));
            }
            self.units.push(unit.get_ref().clone());
        }
        if !(1..=UnitSet::MAX as usize).contains(&self.units.len()) {
            let message =
                format!("{} units, but a machine has 1 to {}", self.units.len(), UnitSet::MAX);
            return Err(self.fault(message, table.start..table.start, "in this table"));
        }
        Ok(())
    }

    /// At least one unit, and only those that there are.
    pub(crate) fn unit_set(
        &self,
        units: &Spanned<Vec<Spanned<String>>>,
    ) -> Result<UnitSet, Diagnostic> {
        let names = units.get_ref();
        if names.is_empty() {
            return Err(self.fault(
                "an operation without a unit",
                units.span(),
                "name at least one",
            ));
        }
        let mut set = UnitSet::default();
        for name in names {
            let Some(idx) = self.units.iter().position(|unit| unit == name.get_ref()) else {
                let fault = self.fault(
                    format!("there is no unit `{}`", name.get_ref()),
                    name.span(),
                    "not in `[units]`",
                );
                let meant = did_you_mean(name.get_ref(), self.units.iter().map(String::as_str));
                return Err(match meant {
                    Some(meant) => fault.with_help(meant),
                    None => fault,
                });
            };
            set.0 |= 1 << idx;
        }
        Ok(set)
    }
}
