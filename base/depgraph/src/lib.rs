//! Steps and their dependences: topological order with the cycle when there is none, depth, critical path.
//!
//! Edges are kept in two flat arrays sorted by step (compressed rows), so half a million steps
//! are a few megabytes and every walk is linear.

mod cycle;
mod order;
mod path;

pub use path::CriticalPath;

/// Number of a step in the user's order, from 0.
pub type Step = u32;

/// Steps `0..n_steps` and the edges between them; built by [`Builder`].
#[derive(Debug, Clone)]
pub struct DepGraph {
    /// Edges leaving each step.
    forward: Rows,
    /// Edges reaching each step.
    backward: Rows,
}

/// One end of an edge, seen from the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    /// The step at the other end.
    pub step: Step,
    /// Cycles from the start of the earlier step to the earliest start of the later one.
    pub latency_cycles: u32,
}

/// Edges sorted by the step they belong to: those of step `i` are `edges[starts[i]..starts[i + 1]]`.
#[derive(Debug, Clone)]
struct Rows {
    starts: Vec<u32>,
    edges: Vec<Edge>,
}

impl Rows {
    fn of(&self, step: Step) -> &[Edge] {
        let step = step as usize;
        &self.edges[self.starts[step] as usize..self.starts[step + 1] as usize]
    }

    /// Counting sort of `(owner, edge)` by owner; edges of one owner keep their order.
    fn collect(n_steps: usize, owned: impl Iterator<Item = (Step, Edge)> + Clone) -> Rows {
        let mut starts = vec![0u32; n_steps + 1];
        for (owner, _) in owned.clone() {
            starts[owner as usize + 1] += 1;
        }
        for idx in 0..n_steps {
            starts[idx + 1] += starts[idx];
        }
        let mut next = starts.clone();
        let mut edges = vec![Edge { step: 0, latency_cycles: 0 }; starts[n_steps] as usize];
        for (owner, edge) in owned {
            let place = &mut next[owner as usize];
            edges[*place as usize] = edge;
            *place += 1;
        }
        Rows { starts, edges }
    }
}

/// Collects edges for a [`DepGraph`].
#[derive(Debug, Clone)]
pub struct Builder {
    n_steps: u32,
    edges: Vec<(Step, Step, u32)>,
}

impl Builder {
    /// A graph of `n_steps` steps and no edges yet.
    pub fn new(n_steps: u32) -> Builder {
        Builder { n_steps, edges: Vec::new() }
    }

    /// Says that `to` needs `from`, and may start `latency_cycles` after it. The same edge may
    /// be added several times.
    pub fn edge(&mut self, from: Step, to: Step, latency_cycles: u32) {
        assert!(from < self.n_steps && to < self.n_steps, "edge {from} -> {to} in a graph of {} steps", self.n_steps);
        self.edges.push((from, to, latency_cycles));
    }

    /// The finished graph.
    pub fn build(self) -> DepGraph {
        assert!(u32::try_from(self.edges.len()).is_ok(), "more edges than a 32-bit index can hold");
        let n_steps = self.n_steps as usize;
        let edges = &self.edges;
        let forward = edges.iter().map(|&(from, to, latency_cycles)| (from, Edge { step: to, latency_cycles }));
        let backward = edges.iter().map(|&(from, to, latency_cycles)| (to, Edge { step: from, latency_cycles }));
        DepGraph { forward: Rows::collect(n_steps, forward), backward: Rows::collect(n_steps, backward) }
    }
}

impl DepGraph {
    /// How many steps there are.
    pub fn n_steps(&self) -> u32 {
        u32::try_from(self.forward.starts.len() - 1).expect("the builder counts steps in 32 bits")
    }

    /// How many edges there are.
    pub fn n_edges(&self) -> usize {
        self.forward.edges.len()
    }

    /// The edges to the steps that need `step`.
    pub fn successors(&self, step: Step) -> &[Edge] {
        self.forward.of(step)
    }

    /// The edges from the steps that `step` needs.
    pub fn predecessors(&self, step: Step) -> &[Edge] {
        self.backward.of(step)
    }

    /// How many edges reach each step: the counters a list scheduler counts down.
    pub fn in_degrees(&self) -> Vec<u32> {
        self.backward.starts.windows(2).map(|pair| pair[1] - pair[0]).collect()
    }
}
