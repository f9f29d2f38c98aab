//! Which loops lie around each place of a function, and the flow of control they are found in.

use std::collections::{BTreeMap, BTreeSet};

use petgraph::algo::tarjan_scc;
use petgraph::graph::DiGraph;
use petgraph::visit::DfsPostOrder;

use crate::decode::code::Delay;
use crate::facts::cases::Computed;
use crate::facts::landings::behind;
use crate::program::function::Function;

/// Which loops each place belongs to: what is done once and what is done in each round are told
/// apart by it. Other than those of [`super::loops`] they may be entered in several places, and the
/// place of their code says nothing: a jump to an earlier address leads around a loop only if it
/// can be reached from there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nests {
    heads: BTreeSet<usize>,
    /// For each place, the heads of the loops around it, in order.
    around: Vec<Vec<usize>>,
}

impl Nests {
    /// Those of this function.
    pub fn of(function: &Function) -> Nests {
        let n = function.instructions.len();
        let mut nests = Nests { heads: BTreeSet::new(), around: vec![Vec::new(); n] };
        let leads_back: Vec<(usize, usize)> = (0..n)
            .filter_map(|idx| Some((idx, function.target(idx)?)))
            .filter(|(from, to)| to <= from)
            .collect();
        let computed = Computed::of(function);
        // Only jumps to earlier addresses close a loop.
        if leads_back.is_empty() && computed.n_jumps() == 0 {
            return nests;
        }
        let edges = edges(function, &computed);
        let mut flow = DiGraph::<(), (), usize>::from_edges(&edges);
        // Places at the end that nothing leads to or from, such as a branch in a delay slot, are in
        // no edge.
        (flow.node_count()..n).for_each(|_| _ = flow.add_node(()));
        let mut before = vec![Vec::new(); n];
        edges.iter().for_each(|(from, to)| before[*to].push(*from));
        let order = order(&flow, n);
        let mut circle = vec![0; n];
        for (nth, places) in tarjan_scc(&flow).iter().enumerate() {
            places.iter().for_each(|place| circle[place.index()] = nth);
        }
        let mut bodies: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for &(from, head) in
            edges.iter().filter(|(from, head)| order[*from] > 0 && order[*from] <= order[*head])
        {
            let body =
                natural(&before, head, from).into_iter().filter(|idx| circle[*idx] == circle[head]);
            bodies.entry(head).or_default().extend(body);
        }
        // Where it is not known what leads where, each jump back may close a loop.
        let is_unknown = |from: usize| computed.n_several() > 0 || order[from] == 0;
        for &(from, head) in leads_back.iter().filter(|(from, _)| is_unknown(*from)) {
            bodies.entry(head).or_default().extend(head..=from);
        }
        for (head, body) in bodies {
            nests.heads.insert(head);
            body.iter().for_each(|idx| nests.around[*idx].push(head));
        }
        // A delay slot belongs to its branch.
        for idx in (1..n).filter(|idx| function.instructions[*idx - 1].delay != Delay::None) {
            nests.around[idx] = nests.around[idx - 1].clone();
        }
        nests
    }

    /// Some loop is around this place.
    pub fn is_in_one(&self, at: usize) -> bool {
        !self.around[at].is_empty()
    }

    /// How many of the loops around the one place are not around the other.
    pub fn left(&self, from: usize, to: usize) -> usize {
        self.around[from].iter().filter(|head| !self.around[to].contains(head)).count()
    }

    /// A loop begins or ends between two places that follow each other on a path.
    pub fn is_border(&self, from: usize, to: usize) -> bool {
        self.heads.contains(&to) || self.around[from] != self.around[to]
    }
}

/// When a walk in depth from the first place leaves each of the `n` places; 0 for those that
/// it does not reach.
pub(super) fn order(flow: &DiGraph<(), (), usize>, n: usize) -> Vec<usize> {
    let mut order = vec![0; n];
    let mut walk = DfsPostOrder::new(flow, 0.into());
    for nth in 1.. {
        let Some(place) = walk.next(flow) else { break };
        order[place.index()] = nth;
    }
    order
}

/// All that reaches `from` without passing `head`, and both.
pub(super) fn natural(before: &[Vec<usize>], head: usize, from: usize) -> BTreeSet<usize> {
    let mut body = BTreeSet::from([head]);
    let mut open = vec![from];
    while let Some(idx) = open.pop() {
        if body.insert(idx) {
            open.extend(&before[idx]);
        }
    }
    body
}

/// From where to where control may go, as places; a delay slot belongs to its branch.
pub(super) fn edges(function: &Function, computed: &Computed) -> Vec<(usize, usize)> {
    let n = function.instructions.len();
    let mut edges = Vec::new();
    for idx in 0..n {
        if idx > 0 && function.instructions[idx - 1].delay != Delay::None {
            continue;
        }
        let (behind, goes_on) = behind(function, idx);
        let has_slot = behind == idx + 2;
        let follow = goes_on
            .then_some(behind)
            .into_iter()
            .chain(function.target(idx))
            .chain(has_slot.then_some(idx + 1));
        let follow = follow.chain(computed.cases(idx).into_iter().flatten().copied());
        edges.extend(follow.filter(|follow| *follow < n).map(|to| (idx, to)));
    }
    // Which of several jumps leads there is not known, so every way may.
    edges.extend(computed.shared.iter().map(|to| (0, *to)));
    edges
}
