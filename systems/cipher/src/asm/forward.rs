//! A starting order for the search: of the tables and steps that are ready, the one with the most
//! recently used operands goes next.

use crate::passes::schedule_depth::DependenceGraph;

/// Goes forward from the inputs; the last `n_registers` values used count as near.
pub fn forward(graph: &DependenceGraph, n_registers: usize) -> Vec<u32> {
    let n_clusters = graph.members.len();
    let n = graph.needs.len();
    let mut walk = ForwardWalk {
        graph,
        waits: vec![0; n_clusters],
        touched: vec![0; n],
        users_left: graph.users.iter().map(|user| user.len() as u32).collect(),
        clock: 0,
        n_registers: n_registers as u32,
    };
    for at in 0..n {
        for from in &graph.needs[at] {
            walk.waits[graph.cluster[at] as usize] +=
                u32::from(graph.cluster[*from as usize] != graph.cluster[at]);
        }
    }
    let mut ready: Vec<u32> =
        (0..n_clusters as u32).filter(|idx| walk.waits[*idx as usize] == 0).collect();
    let mut order = Vec::with_capacity(n);
    while !ready.is_empty() {
        // Among equals the first in the text; only the first `LOOKED_AT` are compared.
        let best = (0..ready.len().min(LOOKED_AT))
            .min_by_key(|k| walk.score(ready[*k]))
            .expect("one is ready");
        let cluster = ready.remove(best);
        walk.take(cluster, &mut order, &mut ready);
    }
    order
}

/// How many ready clusters are compared.
const LOOKED_AT: usize = 400;

struct ForwardWalk<'a> {
    graph: &'a DependenceGraph,
    /// Operands from other clusters that are not computed yet.
    waits: Vec<u32>,
    /// When a step's result was last written or read, counted in values.
    touched: Vec<u32>,
    users_left: Vec<u32>,
    clock: u32,
    n_registers: u32,
}

impl ForwardWalk<'_> {
    /// Far operands, values that stay alive, and how long ago the last one was
    /// used: smaller is better.
    fn score(&self, cluster: u32) -> (u32, i32, u32) {
        let (mut n_far, mut alive, mut latest) = (0, 0i32, 0);
        for member in &self.graph.members[cluster as usize] {
            for from in &self.graph.needs[*member as usize] {
                if self.graph.cluster[*from as usize] == cluster {
                    continue;
                }
                let touched = self.touched[*from as usize];
                n_far += u32::from(self.clock - touched > self.n_registers);
                alive -= i32::from(self.users_left[*from as usize] == 1);
                latest = latest.max(touched);
            }
            let is_outside = |user: &&u32| self.graph.cluster[**user as usize] != cluster;
            alive +=
                i32::from(self.graph.users[*member as usize].iter().any(|user| is_outside(&user)));
        }
        (n_far, alive, self.clock - latest)
    }

    fn take(&mut self, cluster: u32, order: &mut Vec<u32>, ready: &mut Vec<u32>) {
        for member in &self.graph.members[cluster as usize] {
            order.push(*member);
            for from in &self.graph.needs[*member as usize] {
                self.users_left[*from as usize] -= 1;
                self.touched[*from as usize] = self.clock;
            }
            let is_outside = |user: &u32| self.graph.cluster[*user as usize] != cluster;
            if self.graph.users[*member as usize].iter().any(is_outside) {
                self.clock += 1;
            }
            self.touched[*member as usize] = self.clock;
            for user in &self.graph.users[*member as usize] {
                let other = self.graph.cluster[*user as usize];
                if other != cluster {
                    self.waits[other as usize] -= 1;
                    if self.waits[other as usize] == 0 {
                        let place = ready.partition_point(|ready| *ready < other);
                        ready.insert(place, other);
                    }
                }
            }
        }
    }
}
