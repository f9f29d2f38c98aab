//! The loops of a function, and the path that one round of each takes.
//!
//! ```text
//! 1: ldr x3, [x0], #8     the head: the branch below leads back to it
//!    cbz x3, 2f           leaves the loop: not on the path of a round
//!    add x2, x2, x3
//!    subs x1, x1, #1
//!    b.ne 1b
//! ```
//!
//! A loop is an edge back to a head that every way to the edge passes, and all that reaches the
//! edge without passing the head (a natural loop); what is entered in two places is none. The path
//! of a round stays in the loop, avoids what is cold, and goes straight on where both is possible;
//! an inner loop is passed once. The first computed jump on it of which that is known, as of a
//! `switch`, makes a path of each of its [cases](crate::facts::cases).

use std::collections::{BTreeMap, BTreeSet};

use petgraph::algo::dominators::simple_fast;
use petgraph::graph::DiGraph;

use crate::facts::cases::Computed;
use crate::facts::liveness::Liveness;
use crate::facts::nests::{edges, natural, order};
use crate::facts::trace::{End, Guide, Trace, step};
use crate::program::function::Function;

/// A loop, as places in the function's instructions.
#[derive(Debug, Clone)]
pub struct Loop {
    /// Where a round begins.
    pub head: usize,
    /// All that belongs to it.
    pub body: BTreeSet<usize>,
    /// The path of one round.
    pub round: Trace,
    /// Where the computed jump on this path leads in this round.
    pub case: Option<usize>,
    /// There may be more cases, and this is the last of those that were looked at.
    pub has_more_cases: bool,
    pub depth: usize,
    /// Another loop lies on its path, which the path passes once.
    pub has_inner: bool,
    /// Rounds each time that it is entered, if that was recorded.
    pub rounds: Option<f64>,
}

/// So many rounds of one loop are told apart by their cases.
pub const CASES_MAX: usize = 32;

/// All loops that are not cold, by their heads; one with a computed jump comes once a case.
pub fn loops(function: &Function, guide: &Guide) -> Vec<Loop> {
    let n = function.instructions.len();
    let computed = Computed::of(function);
    let edges = edges(function, &computed);
    let mut before = vec![Vec::new(); n];
    edges.iter().for_each(|(from, to)| before[*to].push(*from));
    let flow = DiGraph::<(), (), usize>::from_edges(&edges);
    if flow.node_count() == 0 {
        return Vec::new();
    }
    let dominators = simple_fast(&flow, 0.into());
    // An edge back is one that leads to an earlier place of every walk in depth.
    let order = order(&flow, n);
    // The bodies of loops with one head are one loop.
    let mut bodies: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    let mut backs: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for &(from, head) in &edges {
        let is_back = order[from] <= order[head]
            && dominators
                .dominators(from.into())
                .is_some_and(|mut all| all.any(|it| it.index() == head));
        if is_back && !guide.is_cold(from) {
            backs.entry(head).or_default().push(from);
            bodies.entry(head).or_default().extend(natural(&before, head, from));
        }
    }
    let liveness = Liveness::of(function);
    let mut loops = Vec::new();
    for (&head, body) in &bodies {
        let around = bodies
            .iter()
            .filter(|(other, it)| **other != head && it.contains(&head) && it.is_superset(body));
        let depth = around.count();
        let inside =
            Inside { function, liveness: &liveness, head, body, guide, computed: &computed };
        let (rounds, is_cut) = inside.rounds();
        let last = rounds.len().saturating_sub(1);
        for (nth, (round, case)) in rounds.into_iter().enumerate() {
            let has_inner = bodies.iter().any(|(other, it)| {
                *other != head
                    && body.contains(other)
                    && body.is_superset(it)
                    && round.places.contains(other)
            });
            let rounds = guide.rounds(head, &backs[&head]);
            let has_more_cases = is_cut && nth == last;
            loops.push(Loop {
                head,
                body: body.clone(),
                round,
                case,
                has_more_cases,
                depth,
                has_inner,
                rounds,
            });
        }
    }
    loops
}

/// One loop, and what its rounds are found by.
struct Inside<'a> {
    function: &'a Function,
    liveness: &'a Liveness,
    head: usize,
    body: &'a BTreeSet<usize>,
    guide: &'a Guide<'a>,
    computed: &'a Computed,
}

/// Where a walk through a round ended.
enum Walked {
    /// At the head again.
    Round(Trace),
    /// At the computed jump, of which no case was chosen.
    Jump(usize),
    /// Out of the loop, or where it has been.
    Nowhere,
}

impl Inside<'_> {
    /// The rounds there are, each with the case that it takes, and whether there may be more.
    fn rounds(&self) -> (Vec<(Trace, Option<usize>)>, bool) {
        let jump = match self.walk(None) {
            Walked::Round(round) => return (vec![(round, None)], false),
            Walked::Nowhere => return (Vec::new(), false),
            Walked::Jump(jump) => jump,
        };
        let cases = self.computed.cases(jump).unwrap_or_default().iter().copied();
        let cases = cases.filter(|case| self.body.contains(case) && !self.guide.is_cold(*case));
        let mut rounds = cases.filter_map(|case| match self.walk(Some((jump, case))) {
            Walked::Round(round) => Some((round, Some(case))),
            Walked::Jump(_) | Walked::Nowhere => None,
        });
        let first = rounds.by_ref().take(CASES_MAX).collect();
        (first, rounds.next().is_some())
    }

    /// The path from the head back to it, if one way leads there; this computed jump leads to this
    /// case, and others to one that stays in the loop.
    fn walk(&self, case: Option<(usize, usize)>) -> Walked {
        let Inside { function, head, body, guide, .. } = *self;
        let mut is_seen = BTreeSet::new();
        let mut places = Vec::new();
        let mut idx = head;
        loop {
            if !body.contains(&idx) || !is_seen.insert(idx) {
                return Walked::Nowhere;
            }
            places.push(idx);
            let is_open = |number: usize| body.contains(&number) && !is_seen.contains(&number);
            // The way back to the head is taken where nothing else is left, and what is cold where
            // the loop has nothing else.
            let (next, slot) =
                step(function, idx, |there, behind| match (is_open(there), is_open(behind)) {
                    (true, true) => guide.is_taken(idx, there, behind, is_open),
                    (true, false) => !(behind == head && guide.is_cold(there)),
                    (false, true) => there == head && guide.is_cold(behind),
                    (false, false) => there == head,
                });
            places.extend(slot);
            let next = match (self.computed.cases(idx), case) {
                (Some(_), None) => return Walked::Jump(idx),
                (Some(_), Some((jump, case))) if jump == idx => Some(case),
                (Some(cases), Some(_)) => {
                    let open = cases.iter().copied().filter(|case| is_open(*case) || *case == head);
                    guide.case(open, |_| 0)
                }
                (None, _) => next,
            };
            match next {
                Some(next) if next == head => {
                    return Walked::Round(Trace::through(
                        function,
                        self.liveness,
                        places,
                        Some(head),
                        End::Loop,
                    ));
                }
                Some(next) => idx = next,
                None => return Walked::Nowhere,
            }
        }
    }
}
