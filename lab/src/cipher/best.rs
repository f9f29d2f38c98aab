//! The best of all that cipher makes, beside the best C of one batch in the paper's orders.

use std::time::Duration;

use cipher::emit_c::Arch;
use cipher::native;
use cipher::options::{Emit, Recipe};
use cipher::speed::Sampling;
use cipher::speed::{Processor, configs};
use cipher::tune::{self, Ask, Orders};
use cipher::unit::Subject;
use measure::stats::geometric_mean;
use measure::tool::ToolError;
use report::page::Block;
use report::svg::{Chart, Ratio, RatioChart};
use report::{Cell, Kind, Table};
use serde::Serialize;
use serde_json::{Value, json};

use meanwhile::cipher_cmd::{bounds, tune as tune_cmd};

use crate::study::Study;
use terminal::output::Failure;

pub struct Best {
    /// Primitives and targets; all of those that are not named.
    pub names: Vec<String>,
    pub arch: Vec<Arch>,
    /// For each of two searches of a row.
    pub budget: Duration,
    pub sampling: Sampling,
    pub processor: Processor,
}

impl Study for Best {
    type Cell = Config;

    fn cells(&self) -> Vec<Self::Cell> {
        cells(&self.names, &self.arch)
    }

    fn name(&self, cell: &Self::Cell) -> String {
        format!("{} {}", cell.primitive, cell.arch.name())
    }

    fn runs_here(&self, cell: &Self::Cell) -> bool {
        native::missing_feature(cell.arch).is_none()
    }

    fn measure(&self, cell: &Self::Cell, step: &(dyn Fn(&str) + Sync)) -> Result<Value, Failure> {
        measure(cell, self.budget, self.sampling, &self.processor, step).map_err(Failure::tool)
    }

    fn blocks(rows: &[Value]) -> Vec<Block> {
        let mut blocks: Vec<Block> = means(rows).into_iter().map(Block::Text).collect();
        for arch in Arch::ALL {
            let own: Vec<Ratio> =
                rows.iter().filter(|row| row["arch"] == arch.name()).map(ratio).collect();
            if !own.is_empty() {
                let title = format!("before / best: {}", arch.name());
                let meaning = "above 1 the best of all is faster than the best C of before; the line is the interval".into();
                blocks.push(Block::Chart(
                    RatioChart { title, meaning, kind: Kind::Measured, rows: own }.for_page(),
                ));
            }
        }
        blocks.push(Block::Table(table(rows)));
        blocks
    }
}

/// A primitive on a target.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Config {
    /// Name of the primitive.
    pub primitive: String,
    pub arch: Arch,
}

/// One variant of each of the 17 primitives on every target that has assembly; empty lists are all.
fn cells(names: &[String], archs: &[Arch]) -> Vec<Config> {
    let mut primitives: Vec<String> =
        configs(false, names).into_iter().map(|config| config.primitive).collect();
    primitives.dedup();
    let archs = Arch::ALL
        .into_iter()
        .filter(|arch| arch.has_assembly() && (archs.is_empty() || archs.contains(arch)));
    archs
        .flat_map(|arch| {
            primitives.iter().map(move |primitive| Config { primitive: primitive.clone(), arch })
        })
        .collect()
}

/// What a row says beside its configuration.
fn measure(
    config: &Config,
    budget: Duration,
    sampling: Sampling,
    processor: &Processor,
    tick: &(dyn Fn(&str) + Sync),
) -> Result<Value, ToolError> {
    let Ok(subject) = Subject::named(&config.primitive) else { return Ok(json!({})) };
    let ask = Ask {
        arch: config.arch,
        word: None,
        slicing: None,
        orders: Orders::All,
        emits: vec![Emit::C, Emit::Asm],
        budget,
    };
    let Some(it) = tune::best(&subject, &ask, sampling, processor, tick)? else {
        return Ok(json!({}));
    };
    let pair = it.against_before.as_ref();
    let model = it.model_against_best.as_ref();
    Ok(json!({
        "before": it.before,
        "best": it.way,
        "by_model": it.by_model,
        "cycles_per_byte_before": pair.map_or(it.cycles_per_byte, |pair| pair.a_median),
        "cycles_per_byte": it.cycles_per_byte,
        "ratio": pair.map_or(1.0, |pair| pair.ratio),
        "interval": pair.map(|pair| [pair.ratio_low, pair.ratio_high]),
        "pairs": pair.map(|pair| pair.n),
        "best_by_model": model.map(|model| model.ratio),
        "best_by_model_interval": model.map(|model| [model.ratio_low, model.ratio_high]),
        "bound": it.bound,
        "budget_s": budget.as_secs(),
        "judged": it.tuned.n_judged,
        "is_cut": it.tuned.is_cut,
        "tried": it.tuned.tried.iter().map(tune_cmd::row).collect::<Vec<Value>>(),
    }))
}

/// Of the rows that were measured.
fn table(rows: &[Value]) -> Table {
    let columns = [
        "primitive",
        "target",
        "before",
        "best",
        "before / best",
        "interval",
        "bound [model]",
        "best / bound",
        "by the model / best",
        "the best",
    ];
    let note = "time-stamp cycles a byte of output, moves between bytes and registers excluded; before: the fastest C of one batch in the \
                order of the text or of the paper's schedulers, of both compilers, any slicing, loops and flag; best: of all, in turn with it";
    let mut table = Table::new("The best of all beside the best C of before", &columns)
        .kind(Kind::Measured)
        .note(note);
    for row in rows.iter().filter(|row| row["ratio"].is_f64()) {
        let number = |it: &Value| it.as_f64().map_or("-".to_owned(), |it| format!("{it:.2}"));
        let way = serde_json::from_value::<Recipe>(row["best"].clone())
            .map_or(String::new(), |it| tune_cmd::said(&it));
        let words = |name: &str| Cell::words(row[name].as_str().unwrap_or_default().to_owned());
        let [bound, above] = bounds::cells(row["cycles_per_byte"].as_f64(), Some(&row["bound"]));
        let model = row["best_by_model"].as_f64().map_or(Value::Null, |number| json!(1.0 / number));
        table.push(vec![
            words("primitive"),
            words("arch"),
            Cell::number(number(&row["cycles_per_byte_before"])),
            Cell::number(number(&row["cycles_per_byte"])),
            Cell::number(number(&row["ratio"])),
            Cell::number(if row["interval"].is_null() {
                "-".to_owned()
            } else {
                format!("{}..{}", number(&row["interval"][0]), number(&row["interval"][1]))
            }),
            bound,
            above,
            Cell::number(number(&model)),
            Cell::words(way),
        ]);
    }
    table
}

/// Geometric means by target: what was gained, and what the model's choice loses.
fn means(rows: &[Value]) -> Vec<String> {
    let line = |arch: &Arch| {
        let own: Vec<&Value> = rows.iter().filter(|row| row["arch"] == arch.name()).collect();
        let of = |name: &str| own.iter().filter_map(|it| it[name].as_f64()).collect::<Vec<f64>>();
        let (gain, model) = (of("ratio"), of("best_by_model"));
        (!gain.is_empty()).then(|| {
            let least = gain.iter().copied().fold(f64::MAX, f64::min);
            let (gained, lost, n) = (geometric_mean(&gain), 1.0 / geometric_mean(&model), gain.len());
            format!(
                "geometric mean {}: {gained:.2}, least {least:.2} ({n} rows); the model's choice takes {lost:.2} of the best's time",
                arch.name()
            )
        })
    };
    Arch::ALL.iter().filter_map(line).collect()
}

pub fn ratio(row: &Value) -> Ratio {
    let value = |value: &Value| value.as_f64().unwrap_or(1.0);
    let name = row["primitive"].as_str().unwrap_or_default().to_owned();
    Ratio {
        name,
        ratio: value(&row["ratio"]),
        low: value(&row["interval"][0]),
        high: value(&row["interval"][1]),
    }
}
