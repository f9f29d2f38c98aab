//! Door: whether turns can gain anything: only if more threads are ready than there are processors,
//! and those that would run at once are known to ask for more than their link carries. Else the
//! kernel schedules alone, which nobody has to know anything for.

use std::time::Duration;

/// Of what a link carries: asked for this much it is short. Programs on a full link show no more
/// than it gives them.
const SHORT: f64 = 0.9;
/// While turns are cut they go on until less is asked for.
const STILL_SHORT: f64 = 0.8;
/// Quanta in a row in which turns would gain before they are cut.
const SURE: u32 = 3;

/// What is known when it is decided.
#[derive(Debug, Clone)]
pub struct Known<'a> {
    pub n_cpus: usize,
    pub n_links: usize,
    /// MB/s that a link carries, if two readers fill it or the user said so.
    pub capacity_mbps: Option<f64>,
    /// The programs that compute all the time.
    pub programs: &'a [Asks],
    pub quantum: Duration,
    /// How long a program may be without a turn at most.
    pub longest_wait: Duration,
}

/// One program that computes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Asks {
    pub n_threads: usize,
    /// MB/s of each thread, if anything was seen of it.
    pub mbps: Option<f64>,
}

/// Who schedules, and why.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Judgement {
    /// Turns are cut: more is asked for than the links carry.
    Cut,
    /// Nothing is known yet.
    #[default]
    Begins,
    Fits,
    NoCapacity,
    NoRate,
    Wide,
    /// Whoever runs, the link is short.
    NoChoice,
    /// A round of turns takes longer than a program may wait.
    TooMany,
    /// Nothing can be demoted here so that it counts.
    NoWay,
    /// The idle class of one says nothing to the others.
    Apart,
}

impl Judgement {
    /// Why, in a few words.
    pub fn text(self) -> &'static str {
        match self {
            Judgement::Cut => {
                "more is ready than processors, and asks for more than the link carries"
            }
            Judgement::Begins => "nothing is known of the programs yet",
            Judgement::Fits => "no more programs compute than there are processors",
            Judgement::NoCapacity => "what the link carries is not known",
            Judgement::NoRate => "what the programs move is not known",
            Judgement::Wide => "the link carries what the programs ask for",
            Judgement::NoChoice => "the link is short whichever programs run",
            Judgement::TooMany => "a round of turns would take longer than --longest-wait",
            Judgement::NoWay => "no program can be put into the idle class here",
            Judgement::Apart => {
                "the programs' scheduling groups are not in one group, where one could yield to another"
            }
        }
    }
}

/// Whether turns are cut; a moment's figures do not begin them.
#[derive(Debug, Default)]
pub struct Pays {
    is_cutting: bool,
    n_in_a_row: u32,
}

impl Pays {
    /// True if turns are to be cut in this quantum, and why or why not.
    pub fn judge(&mut self, known: &Known<'_>) -> (bool, Judgement) {
        let found = judge(known, if self.is_cutting { STILL_SHORT } else { SHORT });
        self.n_in_a_row = if found == Judgement::Cut { self.n_in_a_row + 1 } else { 0 };
        self.is_cutting = self.n_in_a_row >= SURE;
        (self.is_cutting, found)
    }
}

fn judge(known: &Known<'_>, short: f64) -> Judgement {
    let threads: usize = known.programs.iter().map(|program| program.n_threads).sum();
    if threads <= known.n_cpus {
        return Judgement::Fits;
    }
    let Some(capacity) = known.capacity_mbps else { return Judgement::NoCapacity };
    let n_turns = known.longest_wait.as_secs_f64() / known.quantum.as_secs_f64();
    if threads as f64 > known.n_cpus as f64 * (n_turns + 1.0) {
        return Judgement::TooMany;
    }
    let each = |asks: &Asks| Some(vec![asks.mbps?; asks.n_threads]);
    let Some(rates) = known.programs.iter().map(each).collect::<Option<Vec<Vec<f64>>>>() else {
        return Judgement::NoRate;
    };
    let mut rates = rates.concat();
    rates.sort_by(f64::total_cmp);
    let n_at_once = known.n_cpus.div_ceil(known.n_links.max(1));
    let least: f64 = rates.iter().take(n_at_once).sum();
    let most: f64 = rates.iter().rev().take(n_at_once).sum();
    if most < short * capacity {
        Judgement::Wide
    } else if least >= short * capacity {
        Judgement::NoChoice
    } else {
        Judgement::Cut
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(programs: &[Asks]) -> Known<'_> {
        Known {
            n_cpus: 2,
            n_links: 1,
            capacity_mbps: Some(17_000.0),
            programs,
            quantum: Duration::from_millis(100),
            longest_wait: Duration::from_millis(200),
        }
    }

    fn asks(mbps: f64) -> Asks {
        Asks { n_threads: 1, mbps: Some(mbps) }
    }

    #[test]
    fn turns_are_cut_only_where_they_can_gain() {
        let of = |programs: &[Asks]| judge(&known(programs), SHORT);
        let (stream, little) = (asks(9000.0), asks(100.0));
        assert_eq!(of(&[stream, stream, little, little]), Judgement::Cut);
        assert_eq!(of(&[stream, stream]), Judgement::Fits);
        assert_eq!(of(&[]), Judgement::Fits);
        assert_eq!(of(&[stream, little, little]), Judgement::Wide, "two are never short");
        assert_eq!(of(&[stream; 4]), Judgement::NoChoice);
        assert_eq!(of(&[little; 200]), Judgement::TooMany);
        let team = Asks { n_threads: 2, ..stream };
        assert_eq!(of(&[team, little, little]), Judgement::Cut, "its threads are two");
    }

    #[test]
    fn what_is_not_known_is_no_reason_to_do_anything() {
        let (stream, little) = (asks(9000.0), asks(100.0));
        let unknown = Asks { n_threads: 1, mbps: None };
        let programs = [stream, stream, little, unknown];
        assert_eq!(judge(&known(&programs), SHORT), Judgement::NoRate);
        let programs = [stream, stream, little, little];
        let no_capacity = Known { capacity_mbps: None, ..known(&programs) };
        assert_eq!(judge(&no_capacity, SHORT), Judgement::NoCapacity);
    }

    #[test]
    fn nobody_waits_longer_than_allowed() {
        let (stream, little) = (asks(9000.0), asks(100.0));
        let six = [stream, stream, little, little, little, little];
        assert_eq!(judge(&known(&six), SHORT), Judgement::Cut, "every third quantum");
        let seven = [six.as_slice(), &[little]].concat();
        assert_eq!(judge(&known(&seven), SHORT), Judgement::TooMany);
        let longer = Known { longest_wait: Duration::from_millis(300), ..known(&seven) };
        assert_eq!(judge(&longer, SHORT), Judgement::Cut);
    }

    #[test]
    fn a_moment_begins_nothing_and_ends_everything() {
        let (stream, little) = (asks(8000.0), asks(100.0));
        let four = [stream, stream, little, little];
        let mut pays = Pays::default();
        let cuts: Vec<bool> = (0..4).map(|_| pays.judge(&known(&four)).0).collect();
        assert_eq!(cuts, [false, false, true, true]);
        // Alone with its kind each shows less than it asks for: that does not end it.
        let less = [asks(7000.0), asks(7000.0), little, little];
        assert_eq!(pays.judge(&known(&less)), (true, Judgement::Cut));
        assert_eq!(pays.judge(&known(&four[..2])), (false, Judgement::Fits));
        assert!(!pays.judge(&known(&four)).0, "and it has to be seen anew");
        let mut fresh = Pays::default();
        assert!((0..9).all(|_| !fresh.judge(&known(&less)).0), "it never looked short");
    }
}
