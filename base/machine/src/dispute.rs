//! Figures of a machine file that another source gives otherwise, from the `other` of its rows.
//!
//! ```toml
//! latency_cycles = 5
//! other = [{ latency_cycles = 4, source = "LLVM 19", of = "mul x0, x0, x1" }]
//! source = "bench: mul of 64 bits 4.02 a step"
//! ```

use std::collections::BTreeMap;

use report::Diagnostic;
use serde::{Deserialize, Serialize};
use toml::Spanned;

use crate::reader::Reader;

/// One figure on which two sources differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Dispute {
    /// The kinds of work of the row, as in the file.
    pub work: Vec<String>,
    /// The key of the figure: `latency_cycles`, `late.factor`, `quad.latency_cycles`.
    pub figure: String,
    /// The figure of the machine file, which is used.
    pub here: u32,
    /// The figure of the other source.
    pub other: u32,
    /// Which source that is.
    pub source: String,
    /// An instruction of this kind, of which the other source says so. It needs its own result, so
    /// that two in a row are a chain; of `addition_cycles` an addition follows that needs it.
    pub of: Option<String>,
    /// Where the figure that counts comes from.
    pub here_source: String,
}

/// What another source says of a row, as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Other {
    latency_cycles: Option<Spanned<u32>>,
    address_cycles: Option<Spanned<u32>>,
    unit_cycles: Option<Spanned<u32>>,
    bytes_a_cycle: Option<Spanned<u32>>,
    micro_ops: Option<Spanned<u32>>,
    addition_cycles: Option<Spanned<u32>>,
    #[serde(default)]
    late: BTreeMap<Spanned<String>, Spanned<u32>>,
    quad: Option<OtherQuad>,
    of: Option<String>,
    source: Spanned<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OtherQuad {
    latency_cycles: Spanned<u32>,
}

impl Other {
    /// Its figures: their keys and values.
    fn figures(&self) -> Vec<(String, &Spanned<u32>)> {
        let plain = [
            ("latency_cycles", &self.latency_cycles),
            ("address_cycles", &self.address_cycles),
            ("unit_cycles", &self.unit_cycles),
            ("bytes_a_cycle", &self.bytes_a_cycle),
            ("micro_ops", &self.micro_ops),
            ("addition_cycles", &self.addition_cycles),
        ];
        let mut figures: Vec<(String, &Spanned<u32>)> = Vec::new();
        figures
            .extend(plain.into_iter().filter_map(|(key, it)| Some((key.to_owned(), it.as_ref()?))));
        figures.extend(self.late.iter().map(|(role, it)| (format!("late.{}", role.get_ref()), it)));
        figures.extend(
            self.quad.iter().map(|found| ("quad.latency_cycles".to_owned(), &found.latency_cycles)),
        );
        figures
    }
}

impl Reader {
    /// The disputes of one row: `here` gives its own figure for a key, none if the row
    /// has no such figure.
    pub(crate) fn disputes(
        &self,
        work: &[String],
        here_source: &str,
        others: &[Spanned<Other>],
        here: impl Fn(&str) -> Option<u32>,
    ) -> Result<Vec<Dispute>, Diagnostic> {
        let mut disputes = Vec::new();
        for other in others {
            let (span, other) = (other.span(), other.get_ref());
            let source = self.source(&other.source)?;
            let figures = other.figures();
            if figures.is_empty() {
                return Err(self.fault(
                    "another source without a figure",
                    span,
                    "say what it says, such as `latency_cycles = 3`",
                ));
            }
            for (figure, cycles) in figures {
                let value = self.number(cycles, 0)?;
                let Some(here) = here(&figure) else {
                    let message = format!("`{figure}` is disputed, and the row does not say it");
                    return Err(self.fault(message, cycles.span(), "say in the row what counts"));
                };
                if here == value {
                    let message = format!("`{figure}` is {here} by both sources");
                    return Err(self.fault(message, cycles.span(), "name the second in `source`"));
                }
                disputes.push(Dispute {
                    work: work.to_vec(),
                    figure,
                    here,
                    other: value,
                    source: source.clone(),
                    of: other.of.clone(),
                    here_source: here_source.to_owned(),
                });
            }
        }
        Ok(disputes)
    }
}
