//! What the paper says of its policies, sentence by sentence, beside what the simulator finds.

use super::like_paper::{PAPER, Row};
use cosched::policies::Name::{self, B2adss, B2arr, Dss, Lqg, Rr};

/// How far the simulator agrees with a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Agrees,
    /// The sign, not the size.
    Sign,
    Disagrees,
}

impl Verdict {
    pub fn text(self) -> &'static str {
        match self {
            Verdict::Agrees => "agrees",
            Verdict::Sign => "sign only",
            Verdict::Disagrees => "disagrees",
        }
    }
}

/// A sentence of section 5, and how it is tried.
#[derive(Debug, Clone)]
pub struct Statement {
    pub says: &'static str,
    try_it: Try,
}

#[derive(Debug, Clone)]
enum Try {
    /// Percent of the mean turnaround of the second that the first saves, the mean of the workloads.
    Mean(Name, Option<Name>, f64),
    /// The workloads on which one of these loses to the second, and no other.
    Losers(&'static [Name], Option<Name>, &'static [&'static str]),
    /// The most that one of these loses to the second.
    Loss(&'static [Name], Option<Name>, f64),
    /// On so many of nine workloads the first is better.
    Wins(Name, Name, std::ops::RangeInclusive<usize>),
    /// On so many workloads the first is worse by 5 % or more.
    Severe(Name, Name, usize),
    /// The mean without the three worst workloads.
    MeanOfSix(Name, Name, f64),
    /// On this workload.
    On(&'static str, Name, Name, f64),
}

/// The paper's nine workloads, in the order of Table 1.
const WORKLOADS: [&str; 9] = ["A.1", "A.2", "A.3", "B.1", "B.2", "B.3", "C.1", "C.2", "C.3"];
/// Sizes agree if they are so near, as a share of the paper's, or in percent.
const NEAR: f64 = 1.0 / 3.0;
const NEAR_PERCENT: f64 = 2.0;
/// Policies whose means are nearer, in percent, end alike.
const ALIKE: f64 = 0.5;

/// In the order of section 5; `None` is Linux.
pub static STATEMENTS: [Statement; 23] = [
    is("rr saves 11 % over Linux", Try::Mean(Rr, None, 11.0)),
    is("dss saves 14 % over Linux", Try::Mean(Dss, None, 14.0)),
    is(
        "rr or dss loses to Linux on A.1, B.2, C.3 only",
        Try::Losers(&[Rr, Dss], None, &["A.1", "B.2", "C.3"]),
    ),
    is("and by up to 3.2 %", Try::Loss(&[Rr, Dss], None, 3.2)),
    is("lqg saves 9 % over Linux", Try::Mean(Lqg, None, 9.0)),
    is("b2arr saves 23 % over Linux", Try::Mean(B2arr, None, 23.0)),
    is("b2adss saves 18 % over Linux", Try::Mean(B2adss, None, 18.0)),
    is("lqg loses to Linux on A.1, C.1 only", Try::Losers(&[Lqg], None, &["A.1", "C.1"])),
    is("lqg is 1 % worse than rr", Try::Mean(Lqg, Some(Rr), -1.0)),
    is("lqg is better than rr on most workloads", Try::Wins(Lqg, Rr, 5..=8)),
    is("on three it is severely worse (here 5 % or more)", Try::Severe(Lqg, Rr, 3)),
    is("without the three worst it saves 4 % over rr", Try::MeanOfSix(Lqg, Rr, 4.0)),
    is("on C.3 lqg is 4 % worse than rr", Try::On("C.3", Lqg, Rr, -4.0)),
    is("b2arr saves 28 % over rr (text; Figure 4 gives 13)", Try::Mean(B2arr, Some(Rr), 28.0)),
    is("b2adss saves 17 % over rr (text; Figure 4 gives 8)", Try::Mean(B2adss, Some(Rr), 17.0)),
    is("b2arr saves 13 % over lqg", Try::Mean(B2arr, Some(Lqg), 13.0)),
    is("b2adss saves 9 % over lqg", Try::Mean(B2adss, Some(Lqg), 9.0)),
    is(
        "b2adss loses to lqg on A.2, B.2, C.2 only",
        Try::Losers(&[B2adss], Some(Lqg), &["A.2", "B.2", "C.2"]),
    ),
    is("and by up to 3 %", Try::Loss(&[B2adss], Some(Lqg), 3.0)),
    is("b2arr is better than rr on all nine", Try::Wins(B2arr, Rr, 9..=9)),
    is("b2adss is better than dss on all nine", Try::Wins(B2adss, Dss, 9..=9)),
    is("b2arr saves 13 % over rr", Try::Mean(B2arr, Some(Rr), 13.0)),
    is("b2adss saves 5 % over dss", Try::Mean(B2adss, Some(Dss), 5.0)),
];

const fn is(says: &'static str, try_it: Try) -> Statement {
    Statement { says, try_it }
}

impl Statement {
    /// What is found under these assumptions, and whether that agrees.
    pub fn on(&self, row: &Row) -> (String, Verdict) {
        let size = |found: f64, paper: f64| (format!("{found:.1}"), size(found, paper));
        match &self.try_it {
            Try::Mean(policy, base, paper) => size(mean(&gains(row, *policy, *base)), *paper),
            Try::MeanOfSix(policy, base, paper) => {
                let mut all = gains(row, *policy, Some(*base));
                all.sort_by(f64::total_cmp);
                size(mean(&all[3..]), *paper)
            }
            Try::On(workload, policy, base, paper) => {
                let place = WORKLOADS.iter().position(|name| name == workload);
                size(gains(row, *policy, Some(*base))[place.expect("one of the nine")], *paper)
            }
            Try::Loss(policies, base, paper) => {
                let least = least(row, policies, *base).into_iter().fold(f64::MAX, f64::min);
                size(-least, *paper)
            }
            Try::Losers(policies, base, paper) => {
                let least = least(row, policies, *base);
                let found: Vec<&str> = WORKLOADS
                    .iter()
                    .zip(&least)
                    .filter(|(_, gain)| **gain < -ALIKE)
                    .map(|(name, _)| *name)
                    .collect();
                let verdict = if found == *paper { Verdict::Agrees } else { Verdict::Disagrees };
                (if found.is_empty() { "none".to_owned() } else { found.join(", ") }, verdict)
            }
            Try::Wins(policy, base, paper) => {
                let all = gains(row, *policy, Some(*base));
                count(all.iter().filter(|gain| **gain > ALIKE).count(), paper)
            }
            Try::Severe(policy, base, paper) => {
                let all = gains(row, *policy, Some(*base));
                count(all.iter().filter(|gain| **gain <= -5.0).count(), &(*paper..=*paper))
            }
        }
    }
}

fn count(n: usize, paper: &std::ops::RangeInclusive<usize>) -> (String, Verdict) {
    let verdict = if paper.contains(&n) { Verdict::Agrees } else { Verdict::Disagrees };
    (format!("{n} of 9"), verdict)
}

fn size(found: f64, paper: f64) -> Verdict {
    if (found - paper).abs() <= (NEAR * paper.abs()).max(NEAR_PERCENT) && found * paper > 0.0 {
        Verdict::Agrees
    } else if found * paper > 0.0 && found.abs() >= ALIKE {
        Verdict::Sign
    } else {
        Verdict::Disagrees
    }
}

fn mean(all: &[f64]) -> f64 {
    all.iter().sum::<f64>() / all.len() as f64
}

/// Percent of the time of `base` that the policy saves on each workload.
fn gains(row: &Row, policy: Name, base: Option<Name>) -> Vec<f64> {
    let place =
        |name: Name| PAPER.iter().position(|(other, _)| *other == name).expect("the paper has it");
    let left = |saved: &[f64; 5], name: Name| 1.0 - saved[place(name)] / 100.0;
    row.workloads
        .iter()
        .map(|saved| {
            100.0 * (1.0 - left(saved, policy) / base.map_or(1.0, |base| left(saved, base)))
        })
        .collect()
}

/// The least of these policies' gains on each workload.
fn least(row: &Row, policies: &[Name], base: Option<Name>) -> Vec<f64> {
    let all: Vec<Vec<f64>> = policies.iter().map(|policy| gains(row, *policy, base)).collect();
    (0..WORKLOADS.len())
        .map(|idx| all.iter().map(|one| one[idx]).fold(f64::MAX, f64::min))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The paper's own means on every workload alike.
    fn flat() -> Row {
        let saved = std::array::from_fn(|idx| PAPER[idx].1);
        Row { assumed: "the paper".to_owned(), workloads: vec![saved; 9] }
    }

    #[test]
    fn the_papers_means_agree_with_themselves_and_not_with_its_text() {
        let verdict = |says: &str| {
            let one = STATEMENTS.iter().find(|statement| statement.says.starts_with(says));
            one.expect("it is there").on(&flat())
        };
        assert_eq!(verdict("rr saves"), ("11.0".to_owned(), Verdict::Agrees));
        assert_eq!(verdict("b2arr saves 13 % over rr"), ("13.5".to_owned(), Verdict::Agrees));
        assert_eq!(verdict("b2arr saves 28"), ("13.5".to_owned(), Verdict::Sign));
        assert_eq!(verdict("b2adss saves 17"), ("7.9".to_owned(), Verdict::Sign));
        assert_eq!(verdict("b2arr is better"), ("9 of 9".to_owned(), Verdict::Agrees));
        assert_eq!(verdict("lqg loses"), ("none".to_owned(), Verdict::Disagrees));
        assert_eq!(verdict("and by up to 3.2").1, Verdict::Disagrees, "a gain is no loss");
    }

    #[test]
    fn a_workload_that_loses_is_named() {
        let mut row = flat();
        row.workloads[0][0] = -3.0;
        row.workloads[4][1] = -1.0;
        row.workloads[8][0] = -2.0;
        let (found, verdict) = STATEMENTS[2].on(&row);
        assert_eq!((found.as_str(), verdict), ("A.1, B.2, C.3", Verdict::Agrees));
        assert_eq!(STATEMENTS[3].on(&row), ("3.0".to_owned(), Verdict::Agrees));
    }
}
