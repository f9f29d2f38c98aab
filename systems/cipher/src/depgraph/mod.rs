//! Steps and their dependences: topological order, and the cycle when there is none.
//!
//! Edges are kept in two flat arrays sorted by step (compressed rows), so half a million steps
//! are a few megabytes and every walk is linear.

mod cycle;
mod order;

/// Number of a step in the user's order, from 0.
pub type Step = u32;

/// Steps `0..n_steps` and the edges between them; built by [`DependenceBuilder`].
#[derive(Debug, Clone)]
pub struct DepGraph {
    /// Edges leaving each step.
    forward: Rows,
    /// Edges reaching each step.
    backward: Rows,
}

/// The steps at the other end of each edge, sorted by the step at this end: those of step `i` are
/// `edges[starts[i]..starts[i + 1]]`.
#[derive(Debug, Clone)]
struct Rows {
    starts: Vec<u32>,
    edges: Vec<Step>,
}

impl Rows {
    fn of(&self, step: Step) -> &[Step] {
        let step = step as usize;
        &self.edges[self.starts[step] as usize..self.starts[step + 1] as usize]
    }

    /// Counting sort of `(owner, other)` by owner; edges of one owner keep their order.
    fn collect(n_steps: usize, owned: impl Iterator<Item = (Step, Step)> + Clone) -> Rows {
        let mut starts = vec![0u32; n_steps + 1];
        for (owner, _) in owned.clone() {
            starts[owner as usize + 1] += 1;
        }
        for idx in 0..n_steps {
            starts[idx + 1] += starts[idx];
        }
        let mut next = starts.clone();
        let mut edges = vec![0; starts[n_steps] as usize];
        for (owner, other) in owned {
            let place = &mut next[owner as usize];
            edges[*place as usize] = other;
            *place += 1;
        }
        Rows { starts, edges }
    }
}

/// Collects edges for a [`DepGraph`].
#[derive(Debug, Clone)]
pub struct DependenceBuilder {
    n_steps: u32,
    edges: Vec<(Step, Step)>,
}

impl DependenceBuilder {
    /// A graph of `n_steps` steps and no edges yet.
    pub fn new(n_steps: u32) -> DependenceBuilder {
        DependenceBuilder { n_steps, edges: Vec::new() }
    }

    /// Says that `to` needs `from`. The same edge may be added several times.
    pub fn edge(&mut self, from: Step, to: Step) {
        assert!(
            from < self.n_steps && to < self.n_steps,
            "edge {from} -> {to} in a graph of {} steps",
            self.n_steps
        );
        self.edges.push((from, to));
    }

    pub fn build(self) -> DepGraph {
        assert!(u32::try_from(self.edges.len()).is_ok(), "more edges than a 32-bit index can hold");
        let n_steps = self.n_steps as usize;
        let edges = &self.edges;
        let forward = edges.iter().copied();
        let backward = edges.iter().map(|&(from, to)| (to, from));
        DepGraph {
            forward: Rows::collect(n_steps, forward),
            backward: Rows::collect(n_steps, backward),
        }
    }
}

impl DepGraph {
    /// How many steps there are.
    pub fn n_steps(&self) -> u32 {
        u32::try_from(self.forward.starts.len() - 1).expect("the builder counts steps in 32 bits")
    }

    /// The steps that need `step`.
    pub fn successors(&self, step: Step) -> &[Step] {
        self.forward.of(step)
    }

    /// The steps that `step` needs.
    pub fn predecessors(&self, step: Step) -> &[Step] {
        self.backward.of(step)
    }

    /// How many edges reach each step: the counters a list scheduler counts down.
    pub fn in_degrees(&self) -> Vec<u32> {
        self.backward.starts.windows(2).map(|pair| pair[1] - pair[0]).collect()
    }
}
