//! The paper's figures beside the simulator's, under each assumption about its machine.

use cosched::assumptions::{ASLEEP_EVERY_S, Assumptions, SEEDS, SWITCHES};
use cosched::contention::{Base, Model};
use cosched::machine::Machine;
use cosched::policies::{Name, Settings};
use cosched::{sim, workload};

/// Percent of Linux's mean turnaround that these policies save, over the nine workloads. Source:
/// the paper, section 5.
pub const PAPER: [(Name, f64); 5] = [
    (Name::Rr, 11.0),
    (Name::Dss, 14.0),
    (Name::Lqg, 9.0),
    (Name::B2arr, 23.0),
    (Name::B2adss, 18.0),
];

/// The paper's figures under some assumptions.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// What is assumed, in words.
    pub assumed: String,
    /// Percent saved over Linux on each workload of Table 1, in the order of [`PAPER`]; with churn,
    /// the mean of five runs.
    pub workloads: Vec<[f64; 5]>,
}

impl Row {
    /// Percent saved over Linux, the means of the workloads.
    pub fn percent(&self) -> [f64; 5] {
        let n = self.workloads.len() as f64;
        std::array::from_fn(|idx| self.workloads.iter().map(|saved| saved[idx]).sum::<f64>() / n)
    }

    /// Root of the mean square of the differences to the paper, in percent.
    pub fn distance(&self) -> f64 {
        let squares =
            self.percent().into_iter().zip(PAPER).map(|(ours, (_, paper))| (ours - paper).powi(2));
        (squares.sum::<f64>() / PAPER.len() as f64).sqrt()
    }
}

/// Rows that [`like_paper`] computes.
pub const N_ROWS: u64 = (1 << SWITCHES.len()) + ASLEEP_EVERY_S.len() as u64;

/// The figures with no switch, with each alone, with other rates of churn, and with all; and
/// with the set of all possible ones that comes nearest to the paper. `tell` is called behind
/// each of the [`N_ROWS`].
pub fn like_paper(tell: impl Fn()) -> (Vec<Row>, Row) {
    let of = |assumed: String, assumptions: Assumptions| {
        let row = row(assumed, assumptions);
        tell();
        row
    };
    let all = (1u32 << SWITCHES.len()) - 1;
    let words = |bits: u32| {
        let names: Vec<&str> = SWITCHES
            .iter()
            .enumerate()
            .filter(|(k, _)| bits >> k & 1 == 1)
            .map(|(_, it)| it.name)
            .collect();
        if names.is_empty() { "nothing more".to_owned() } else { names.join(", ") }
    };
    let rows: Vec<Row> = (0..=all).map(|bits| of(words(bits), Assumptions::of(bits))).collect();
    let churn = ASLEEP_EVERY_S.map(|churn_s| {
        of(format!("churn, {churn_s} s"), Assumptions { churn_s, ..Assumptions::default() })
    });
    let nearest = rows
        .iter()
        .min_by(|a, b| a.distance().total_cmp(&b.distance()))
        .expect("there are rows")
        .clone();
    let alone = (1..SWITCHES.len()).map(|k| rows[1 << k].clone());
    let everything = Row { assumed: "all of them".to_owned(), ..rows[all as usize].clone() };
    ([rows[0].clone()].into_iter().chain(churn).chain(alone).chain([everything]).collect(), nearest)
}

/// The figures under these assumptions, which are called so.
pub fn row(assumed: String, assumptions: Assumptions) -> Row {
    let settings = Settings { no_affinity: assumptions.no_affinity, ..Settings::default() };
    let machine = Machine::paper(4);
    let workloads = workload::table_1();
    let n_runs = if assumptions.churn_s > 0 { SEEDS.len() } else { 1 };
    let mut saved = vec![[0.0; 5]; workloads.len()];
    for run in 0..n_runs {
        let assumptions = Assumptions { run, ..assumptions };
        for ((_, workload), saved) in workloads.iter().zip(&mut saved) {
            let mean = |name: Name| {
                sim::run_assuming(
                    workload,
                    &machine,
                    Model::plain(Base::M2),
                    name.policy(settings).as_mut(),
                    assumptions,
                )
                .mean_s()
            };
            let linux = mean(Name::Linux);
            for (sum, (name, _)) in saved.iter_mut().zip(PAPER) {
                *sum += 100.0 * (1.0 - mean(name) / linux) / n_runs as f64;
            }
        }
    }
    Row { assumed, workloads: saved }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(it: &Row) -> String {
        let numbers: Vec<String> =
            it.percent().into_iter().chain([it.distance()]).map(|it| format!("{it:.1}")).collect();
        format!("| {} | {} |\n", it.assumed, numbers.join(" | "))
    }

    /// The whole table under MEANWHILE_LONG; else its rows without chance, and one run with chance.
    #[test]
    fn the_page_says_what_carries_the_papers_sizes() {
        let page = include_str!("../../../docs/explain/cosched.md");
        let has = |line: &str| {
            assert!(page.contains(line), "docs/explain/cosched.md should have\n{line}")
        };
        let named = |name: &str| super::row(name.to_owned(), Assumptions::named(&[name]));
        ["nothing more", "cold-caches", "no-affinity", "spinning", "one-by-one"]
            .iter()
            .for_each(|word| has(&line(&named(word))));
        if std::env::var_os("MEANWHILE_LONG").is_some() {
            let (rows, nearest) = super::like_paper(|| ());
            has(&rows.iter().map(line).collect::<String>());
            has(&line(&Row { assumed: format!("nearest: {}", nearest.assumed), ..nearest }));
        }
    }
}
