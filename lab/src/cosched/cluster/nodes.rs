//! Nodes of two halves: what is free, which jobs share a node, and until when a node is expected to
//! be taken.

use std::collections::BTreeMap;

/// Steps in which the demand of half a node is counted.
pub const N_LEVELS: usize = 64;
/// The demand of the highest level, as a share of a node's link.
const HIGHEST: f64 = 2.0;

/// The level of a demand.
pub fn level(demand: f64) -> usize {
    ((demand / HIGHEST * (N_LEVELS - 1) as f64).ceil() as usize).min(N_LEVELS - 1)
}

/// The demand of a level: the most in it.
pub fn demand(level: usize) -> f64 {
    level as f64 * HIGHEST / (N_LEVELS - 1) as f64
}

/// A job on one half of a node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Half {
    pub job: usize,
    /// The level of what it asks for there.
    pub level: usize,
    /// Its share of the node's memory.
    pub memory: f64,
}

#[derive(Debug, Clone, Default)]
struct Node {
    halves: [Option<Half>; 2],
    /// It may not be shared.
    is_whole: bool,
    /// When its last job is expected to end.
    free_s: f64,
    /// Its place in the list that it is in.
    place: usize,
}

#[derive(Debug)]
pub struct Nodes {
    nodes: Vec<Node>,
    free: Vec<usize>,
    /// Nodes with one half free, by the level of the other.
    open: Vec<Vec<usize>>,
    /// For each expected end (in milliseconds) how many nodes are free then.
    ends: BTreeMap<u64, usize>,
}

/// Halves of nodes for one job: the node and how many of its halves.
pub type Places = Vec<(usize, usize)>;

/// What a job wants.
#[derive(Debug, Clone, Copy)]
pub struct Want {
    pub n_halves: usize,
    /// Whole nodes, without a neighbour.
    pub n_nodes: usize,
    /// No job may be beside it.
    pub is_whole: bool,
    /// The level of each half, and its share of a node's memory.
    pub level: usize,
    pub memory: f64,
    /// Most that both halves of a node may ask for together.
    pub most: f64,
}

fn key(time_s: f64) -> u64 {
    (time_s * 1000.0) as u64
}

impl Nodes {
    /// So many, all free.
    pub fn new(n: usize) -> Nodes {
        let nodes = (0..n).map(|place| Node { place, ..Node::default() }).collect();
        Nodes {
            nodes,
            free: (0..n).collect(),
            open: vec![Vec::new(); N_LEVELS],
            ends: BTreeMap::new(),
        }
    }

    /// How many are free now.
    pub fn n_free(&self) -> usize {
        self.free.len()
    }

    /// How many halves or whole nodes are taken, as nodes.
    pub fn n_taken(&self) -> f64 {
        (self.nodes.len() - self.free.len()) as f64
            - 0.5 * self.open.iter().map(Vec::len).sum::<usize>() as f64
    }

    /// The places that a job could have now.
    pub fn find(&self, want: &Want) -> Option<Places> {
        if want.is_whole {
            return (self.free.len() >= want.n_nodes)
                .then(|| self.free.iter().rev().take(want.n_nodes).map(|it| (*it, 2)).collect());
        }
        let mut places = Places::new();
        // Beside the neighbours that leave least of the link idle.
        let highest =
            (0..N_LEVELS).rev().find(|idx| demand(*idx) + demand(want.level) <= want.most);
        for level in (0..=highest.unwrap_or(0)).rev().filter(|_| highest.is_some()) {
            for &node in self.open[level].iter().rev() {
                if places.len() == want.n_halves {
                    return Some(places);
                }
                let other = self.nodes[node].halves[0]
                    .or(self.nodes[node].halves[1])
                    .map_or(0.0, |halve| halve.memory);
                if other + want.memory <= 1.0 + 1e-9 {
                    places.push((node, 1));
                }
            }
        }
        let rest = want.n_halves - places.len();
        let n_free = self.free.len();
        if rest > 2 * n_free {
            return None;
        }
        // One half a node while there are enough, where its own halves would be too much for a link
        // or too large for a node.
        let crowds = 2.0 * demand(want.level) > want.most || 2.0 * want.memory > 1.0 + 1e-9;
        if 2.0 * want.memory > 1.0 + 1e-9 && rest > n_free {
            return None;
        }
        // A job is as fast as its slowest half: either none of them is beside its own kind, or all
        // may be.
        if crowds && rest > n_free {
            let whole = want.n_halves.div_ceil(2);
            return (n_free >= whole && 2.0 * want.memory <= 1.0 + 1e-9)
                .then(|| self.pack(want.n_halves));
        }
        let n_single = if crowds { rest } else { rest % 2 };
        let mut free = self.free.iter().rev();
        places.extend(free.by_ref().take(n_single).map(|free| (*free, 1)));
        places.extend(free.take((rest - n_single) / 2).map(|free| (*free, 2)));
        Some(places)
    }

    /// So many halves of free nodes, two a node.
    fn pack(&self, n_halves: usize) -> Places {
        let whole = self.free.iter().rev().take(n_halves.div_ceil(2));
        whole.enumerate().map(|(k, node)| (*node, (n_halves - 2 * k).min(2))).collect()
    }

    /// Gives a job its places until about `end_s`; calls `beside` with the node's other job for
    /// each half that gets a neighbour, and with the job itself where it is its own.
    pub fn take(
        &mut self,
        places: &Places,
        half: Half,
        is_whole: bool,
        end_s: f64,
        mut beside: impl FnMut(Half),
    ) {
        for &(node, n) in places {
            self.leave_list(node);
            let other = self.nodes[node].halves.iter().flatten().next().copied();
            let it = &mut self.nodes[node];
            for place in it.halves.iter_mut().filter(|halve| halve.is_none()).take(n) {
                *place = Some(half);
            }
            it.is_whole = is_whole;
            it.free_s = it.free_s.max(end_s);
            *self.ends.entry(key(it.free_s)).or_default() += 1;
            if let Some(other) = other {
                beside(other);
            } else if n == 2 && !is_whole {
                beside(half);
            }
            self.enter_list(node);
        }
    }

    /// Takes its places from a job at `now_s`; calls `beside` with each neighbour that it leaves.
    /// `end_of` says when a job is expected to end.
    pub fn give(
        &mut self,
        places: &Places,
        job: usize,
        now_s: f64,
        end_of: impl Fn(usize) -> f64,
        mut beside: impl FnMut(Half),
    ) {
        for &(node, _) in places {
            self.leave_list(node);
            let it = &mut self.nodes[node];
            it.halves
                .iter_mut()
                .filter(|it| it.is_some_and(|it| it.job == job))
                .for_each(|halve| *halve = None);
            let other = it.halves.iter().flatten().next().copied();
            it.is_whole = false;
            it.free_s = other.map_or(0.0, |other| end_of(other.job).max(now_s));
            if let Some(other) = other {
                *self.ends.entry(key(it.free_s)).or_default() += 1;
                beside(other);
            }
            self.enter_list(node);
        }
    }

    /// When so many whole nodes are expected to be free, and how many more are free then.
    pub fn expected(&self, n: usize, now_s: f64) -> (f64, usize) {
        let mut sum = self.free.len();
        if sum >= n {
            return (now_s, sum - n);
        }
        for (end, count) in &self.ends {
            sum += count;
            if sum >= n {
                return ((*end as f64 / 1000.0).max(now_s), sum - n);
            }
        }
        (f64::INFINITY, 0)
    }

    /// How many of these nodes are expected to be free at a time.
    pub fn n_free_at(&self, places: &Places, time_s: f64) -> usize {
        places.iter().filter(|place| self.nodes[place.0].free_s <= time_s).count()
    }

    fn list(&mut self, node: usize) -> Option<&mut Vec<usize>> {
        let it = &self.nodes[node];
        match (it.halves, it.is_whole) {
            ([None, None], _) => Some(&mut self.free),
            ([Some(half), None] | [None, Some(half)], false) => Some(&mut self.open[half.level]),
            _ => None,
        }
    }

    fn leave_list(&mut self, node: usize) {
        let place = self.nodes[node].place;
        if let Some(list) = self.list(node) {
            list.swap_remove(place);
            if let Some(&moved) = list.get(place) {
                self.nodes[moved].place = place;
            }
        }
        let it = &self.nodes[node];
        if it.halves != [None, None] {
            let key = key(it.free_s);
            let count = self.ends.get_mut(&key).expect("a node that is taken has an end");
            *count -= 1;
            if *count == 0 {
                self.ends.remove(&key);
            }
        }
    }

    fn enter_list(&mut self, node: usize) {
        if let Some(list) = self.list(node) {
            list.push(node);
            self.nodes[node].place = list.len() - 1;
        }
    }
}
