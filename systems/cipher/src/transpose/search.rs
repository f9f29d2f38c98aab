//! The cheapest steps from one arrangement of address bits to another: A* over what the places of a
//! register hold.
//!
//! A state is the label at every bit of the place, and which labels are still to be complemented;
//! the other labels are bits of register numbers, in an order that costs nothing. A step is tried
//! only if it brings in a wanted label.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{LazyLock, Mutex, PoisonError};

use rustc_hash::FxHashMap;

use crate::emit_c::Arch;

use super::{BLOCK, Exchange, Flips, Label, MoveStep, Within, is_general};

/// Steps and the arrangement that they lead to.
#[derive(Clone)]
pub struct FoundMoves {
    pub steps: Vec<MoveStep>,
    pub end: Vec<Label>,
    /// The label of each slot after the steps.
    pub slots: Vec<Label>,
}

/// States visited before the search gives up; the bundled layouts need a few thousand at most.
const STATES_MAX: usize = 400_000;

/// The bits of a place in the widest register.
const PLACES_MAX: usize = 9;

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct SearchState {
    at: [Label; PLACES_MAX],
    complements: u32,
}

struct Search<'a> {
    arch: Arch,
    n: usize,
    goal: &'a [Option<Label>],
    slots: &'a [Label],
    start: &'a [Label],
    orders: [Vec<Vec<usize>>; 5],
}

/// What a search begins with: target, start, goal, complements and slots.
type Problem = (Arch, Vec<Label>, Vec<Option<Label>>, u32, Vec<Label>);

/// The steps from `start` to `goal`, where `None` is any block; the labels of `slots` are
/// in register numbers at first. All candidates of a tuning ask for the same few, so each
/// is searched for once.
pub fn search(
    arch: Arch,
    start: &[Label],
    goal: &[Option<Label>],
    complements: u32,
    slots: &[Label],
) -> Option<FoundMoves> {
    static KNOWN: LazyLock<Mutex<FxHashMap<Problem, Option<FoundMoves>>>> =
        LazyLock::new(Mutex::default);
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let problem = (arch, start.to_vec(), goal.to_vec(), complements, slots.to_vec());
    if let Some(found) = known().get(&problem) {
        return found.clone();
    }
    let found = cheapest(arch, start, goal, complements, slots);
    known().insert(problem, found.clone());
    found
}

fn cheapest(
    arch: Arch,
    start: &[Label],
    goal: &[Option<Label>],
    complements: u32,
    slots: &[Label],
) -> Option<FoundMoves> {
    let search =
        Search { arch, n: start.len(), goal, slots, start, orders: std::array::from_fn(orders) };
    let mut first = SearchState { at: [Label::MAX; PLACES_MAX], complements };
    first.at[..start.len()].copy_from_slice(start);
    let mut nodes: Vec<(SearchState, u32, usize, Option<MoveStep>)> = vec![(first, 0, 0, None)];
    let mut best: FxHashMap<SearchState, u32> = FxHashMap::from_iter([(search.class(&first), 0)]);
    let mut queue = BinaryHeap::from([(Reverse(search.rest(&first)), 0u32, Reverse(0usize))]);
    while let Some((_, _, Reverse(idx))) = queue.pop() {
        let (state, cost, ..) = nodes[idx];
        if best[&search.class(&state)] < cost {
            continue;
        }
        if search.is_goal(&state) {
            return Some(search.found(&nodes, idx));
        }
        if nodes.len() > STATES_MAX {
            return None;
        }
        for (next, price, step) in search.steps(&state) {
            let total = cost + price;
            let class = search.class(&next);
            if best.get(&class).is_none_or(|known| *known > total) {
                best.insert(class, total);
                nodes.push((next, total, idx, Some(step)));
                queue.push((Reverse(total + search.rest(&next)), total, Reverse(nodes.len() - 1)));
            }
        }
    }
    None
}

impl Search<'_> {
    fn swap_cost(&self) -> u32 {
        if self.arch.has_ternary() { 4 } else { 6 }
    }

    /// How many places only swaps reach.
    fn n_by_swap(&self) -> usize {
        if is_general(self.arch) { self.n } else { 3 }
    }

    fn fits(&self, place: usize, label: Label) -> bool {
        self.goal[place].map_or(label >= BLOCK, |want| want == label)
    }

    /// The label belongs in a place of the registers.
    fn is_wanted(&self, label: Label) -> bool {
        self.goal.contains(&Some(label)) || (label >= BLOCK && self.goal.contains(&None))
    }

    /// The state with equivalent labels made equal: those that are not wanted, and blocks that no
    /// place asks for by number.
    fn class(&self, state: &SearchState) -> SearchState {
        let mut class = *state;
        for label in &mut class.at[..self.n] {
            if !self.goal.contains(&Some(*label)) {
                *label = if self.is_wanted(*label) { BLOCK } else { Label::MAX - 1 };
            }
        }
        class
    }

    fn is_goal(&self, state: &SearchState) -> bool {
        (0..self.n).all(|p| self.fits(p, state.at[p]) && !self.is_complemented(state, state.at[p]))
    }

    fn is_complemented(&self, state: &SearchState, label: Label) -> bool {
        state.complements >> label & 1 == 1
    }

    /// A lower bound of the remaining cost.
    fn rest(&self, state: &SearchState) -> u32 {
        let at = &state.at[..self.n];
        let n_swaps = (0..self.n_by_swap().min(self.n)).filter(|p| !self.fits(*p, at[*p])).count();
        let n_blocks = self.goal.iter().filter(|g| g.is_none_or(|l| l >= BLOCK)).count();
        let n_free = n_blocks.saturating_sub(at.iter().filter(|l| **l >= BLOCK).count());
        let is_fixed = self.goal.iter().all(Option::is_some);
        let n_missing = if is_fixed {
            self.goal.iter().flatten().filter(|l| !at.contains(l)).count()
        } else {
            self.goal.iter().flatten().filter(|l| **l < BLOCK && !at.contains(l)).count() + n_free
        };
        let last = u32::from(n_swaps == 0 && n_missing == 0 && !self.is_goal(state)) * 2;
        if is_general(self.arch) {
            return n_missing as u32 * self.swap_cost() + last;
        }
        n_swaps as u32 * self.swap_cost() + n_missing.saturating_sub(n_swaps) as u32 * 2 + last
    }

    fn steps(&self, state: &SearchState) -> Vec<(SearchState, u32, MoveStep)> {
        let mut all = Vec::new();
        let (n, arch) = (self.n, self.arch);
        // In any order, all blocks are equivalent.
        let any_block = self.goal.contains(&None);
        let mut waiting: Vec<Label> = self
            .slots
            .iter()
            .chain(self.start)
            .copied()
            .filter(|l| !state.at[..n].contains(l) && self.is_wanted(*l))
            .collect();
        waiting.sort_unstable();
        if any_block {
            let named = |l: &Label| *l < BLOCK || self.goal.contains(&Some(*l));
            let first = waiting.iter().copied().find(|l| !named(l));
            waiting.retain(|l| named(l) || Some(*l) == first);
        }
        // A swap that puts a label where it belongs makes nothing else costlier, so no other step
        // is tried.
        let swap =
            (0..self.n_by_swap().min(n)).filter(|p| !self.fits(*p, state.at[*p])).find_map(|p| {
                let label = waiting.iter().copied().find(|l| self.fits(p, *l))?;
                Some((p, label))
            });
        if let Some((place, label)) = swap {
            let kind = Exchange::Swap(place as u32);
            let (next, flips) = exchanged(state, kind, label);
            return vec![(
                next,
                self.swap_cost(),
                MoveStep::Exchange(kind, usize::from(label), flips),
            )];
        }
        for label in waiting {
            let mut exchange = |kind: Exchange, cost: u32| {
                let (next, flips) = exchanged(state, kind, label);
                all.push((next, cost, MoveStep::Exchange(kind, usize::from(label), flips)));
            };
            if !is_general(arch) {
                (3..7).for_each(|unit| exchange(Exchange::Interleave(unit), 2));
            }
            match arch {
                Arch::Avx2 | Arch::Avx512vl => exchange(Exchange::Halves, 2),
                Arch::Avx512 => {
                    exchange(Exchange::Outer, 2);
                    exchange(Exchange::Lanes, 2);
                }
                Arch::X86_64 | Arch::Sse | Arch::Neon => {}
            }
        }
        if is_general(arch) {
            if n > 3 {
                let labels = &state.at[3..n];
                let next = SearchState {
                    complements: labels.iter().fold(state.complements, |c, l| c ^ 1 << l),
                    ..*state
                };
                all.push((next, 2, MoveStep::Within(Within::Reverse)));
            }
        } else {
            self.permute(state, 3..7, 2, &mut all);
            if n > 7 {
                self.permute(state, 5..n, 3, &mut all);
            }
        }
        let n_bits = if is_general(arch) { n } else { 3 };
        for p in 0..n_bits.min(n) {
            if self.is_complemented(state, state.at[p]) && self.fits(p, state.at[p]) {
                let next =
                    SearchState { complements: state.complements ^ 1 << state.at[p], ..*state };
                all.push((next, 10, MoveStep::Within(Within::Complement(p as u32))));
            }
            for q in p + 1..n.min(6) {
                if !self.fits(p, state.at[p])
                    && (self.fits(p, state.at[q]) || self.fits(q, state.at[p]))
                {
                    let mut next = *state;
                    next.at.swap(p, q);
                    all.push((
                        next,
                        2 * self.swap_cost(),
                        MoveStep::Within(Within::Delta(p as u32, q as u32)),
                    ));
                }
            }
        }
        all
    }

    /// All permutations of some places, with the complements that are due there.
    fn permute(
        &self,
        state: &SearchState,
        places: std::ops::Range<usize>,
        cost: u32,
        all: &mut Vec<(SearchState, u32, MoveStep)>,
    ) {
        let own: Vec<Label> = state.at[places.clone()].to_vec();
        let complements = own.iter().fold(state.complements, |c, l| c & !(1 << l));
        for order in &self.orders[own.len()] {
            let mut next = SearchState { complements, ..*state };
            order.iter().enumerate().for_each(|(to, from)| next.at[places.start + to] = own[*from]);
            if next == *state {
                continue;
            }
            // Unit i comes from the unit with bit `from` set in its number where i has bit `to`
            // set.
            let flips = own
                .iter()
                .enumerate()
                .filter(|(_, l)| self.is_complemented(state, **l))
                .fold(0usize, |f, (k, _)| f | 1 << k);
            let pattern = (0..1usize << own.len())
                .map(|i| {
                    (order.iter().enumerate().fold(0, |u, (to, from)| u | (i >> to & 1) << from)
                        ^ flips) as u8
                })
                .collect();
            let within =
                if places.start == 3 { Within::Bytes(pattern) } else { Within::Units(pattern) };
            all.push((next, cost, MoveStep::Within(within)));
        }
    }

    fn found(
        &self,
        nodes: &[(SearchState, u32, usize, Option<MoveStep>)],
        mut idx: usize,
    ) -> FoundMoves {
        let end = nodes[idx].0.at[..self.n].to_vec();
        let mut path = Vec::new();
        while let (_, _, from, Some(step)) = &nodes[idx] {
            path.push((nodes[*from].0, step.clone()));
            idx = *from;
        }
        let mut slots = self.slots.to_vec();
        let mut steps = Vec::new();
        for (state, step) in path.into_iter().rev() {
            steps.push(match step {
                // In the search the label stands for the slot that holds it, which is known only
                // now.
                MoveStep::Exchange(kind, label, flips) => {
                    let slot = slots
                        .iter()
                        .position(|l| usize::from(*l) == label)
                        .expect("a label that waits is in a register's number");
                    slots[slot] = state.at[leaves(kind) as usize];
                    MoveStep::Exchange(kind, slot, flips)
                }
                within => within,
            });
        }
        FoundMoves { steps, end, slots }
    }
}

/// The place of the label that an exchange moves out.
fn leaves(kind: Exchange) -> u32 {
    match kind {
        Exchange::Swap(place) => place,
        Exchange::Interleave(_) => 6,
        Exchange::Halves | Exchange::Lanes => 7,
        Exchange::Outer => 8,
    }
}

fn exchanged(state: &SearchState, kind: Exchange, label: Label) -> (SearchState, Flips) {
    let mut next = *state;
    let is_complemented = |label: Label| state.complements >> label & 1 == 1;
    let left = state.at[leaves(kind) as usize];
    match kind {
        Exchange::Swap(place) => next.at[place as usize] = label,
        Exchange::Interleave(unit) => {
            let unit = unit as usize;
            next.at.copy_within(unit..6, unit + 1);
            next.at[unit] = label;
        }
        Exchange::Halves => next.at[7] = label,
        Exchange::Outer => next.at[8] = label,
        Exchange::Lanes => {
            next.at[7] = state.at[8];
            next.at[8] = label;
        }
    }
    next.complements &= !(1 << label | 1 << left);
    (next, Flips { before: is_complemented(label), after: is_complemented(left) })
}

/// All orders of n things.
fn orders(n: usize) -> Vec<Vec<usize>> {
    let mut all = vec![vec![]];
    for k in 0..n {
        all = all
            .into_iter()
            .flat_map(|order: Vec<usize>| {
                (0..=k).map(move |at| [&order[..at], &[k], &order[at..]].concat())
            })
            .collect();
    }
    all
}
