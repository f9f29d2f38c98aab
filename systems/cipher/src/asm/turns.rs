//! Starting orders for several batches of blocks in one function: some steps of one batch, then as
//! many of the next.
//!
//! Statement by statement, as the `interleave` pass leaves them, two batches want twice the
//! registers, and where those do not suffice each step spills. One after the other they want no
//! more registers than one, and the chains of one batch leave units idle. In turns of some dozens
//! of steps the registers belong to one batch at a time, while the core, which looks a few hundred
//! instructions ahead, works on both: ChaCha20 on AVX2, whose 16 words fill the registers, goes
//! from 0.72 to 0.60 cycles a byte (`experiments/cipher-tune/best.json`).

use crate::passes::schedule_depth::DependenceGraph;

/// Steps of a turn. Short ones spill more, long ones leave less to the core's window.
const TURNS: [usize; 6] = [16, 32, 48, 64, 96, 128];

/// The steps of each of `n_batches`, in the order of the text; empty if there is one, or if the
/// block is not made of so many equal parts that share no step. (The columns of a cipher's round
/// are such parts, too, and no batches.)
pub fn batches(graph: &DependenceGraph, n_batches: u32) -> Vec<Vec<u32>> {
    const NONE: u32 = u32::MAX;
    let n = graph.needs.len();
    let mut part = vec![NONE; n];
    let mut parts: Vec<Vec<u32>> = Vec::new();
    for first in 0..n as u32 {
        if part[first as usize] != NONE {
            continue;
        }
        let own = parts.len() as u32;
        part[first as usize] = own;
        let mut members = vec![first];
        let mut seen = 0;
        while let Some(at) = members.get(seen).copied() {
            seen += 1;
            for next in graph.needs[at as usize].iter().chain(&graph.users[at as usize]) {
                if part[*next as usize] == NONE {
                    part[*next as usize] = own;
                    members.push(*next);
                }
            }
        }
        members.sort_unstable();
        parts.push(members);
    }
    let is_equal = parts.windows(2).all(|window| window[0].len() == window[1].len());
    if n_batches > 1 && is_equal && parts.len() == n_batches as usize { parts } else { Vec::new() }
}

/// The batches in turns, of each of several lengths.
pub fn orders(batches: &[Vec<u32>]) -> Vec<Vec<u32>> {
    let Some(first) = batches.first() else { return Vec::new() };
    let of_length = |length: usize| {
        let begins = (0..first.len()).step_by(length);
        begins
            .flat_map(|from| {
                batches.iter().flat_map(move |batch| batch.iter().skip(from).take(length).copied())
            })
            .collect()
    };
    TURNS.into_iter().filter(|length| *length < first.len()).map(of_length).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Chains of these lengths, their steps in turn.
    fn chains(lengths: &[u32]) -> DependenceGraph {
        let n_max = lengths.iter().copied().max().unwrap_or(0);
        let mut last = vec![None; lengths.len()];
        let mut needs = Vec::new();
        for k in 0..n_max {
            for chain in (0..lengths.len()).filter(|idx| k < lengths[*idx]) {
                let at = needs.len() as u32;
                needs.push(last[chain].replace(at).into_iter().collect());
            }
        }
        let places = vec![None; needs.len()];
        DependenceGraph::new(needs, &places)
    }

    #[test]
    fn batches_take_turns_and_keep_their_own_order() {
        let graph = chains(&[40, 40, 40]);
        let batches = batches(&graph, 3);
        assert_eq!(batches[1][..4], [1, 4, 7, 10]);
        let orders = orders(&batches);
        assert_eq!(orders.len(), 2, "turns of 16 and of 32 steps");
        assert_eq!(orders[0][14..18], [42, 45, 1, 4], "16 steps of the first, then the second");
        for order in orders {
            let mut place = vec![0; order.len()];
            order.iter().enumerate().for_each(|(at, step)| place[*step as usize] = at);
            let is_legal = |step: usize| {
                graph.needs[step].iter().all(|need| place[*need as usize] < place[step])
            };
            assert!(order.len() == 120 && (0..120).all(is_legal), "{order:?}");
        }
    }

    #[test]
    fn one_batch_parts_that_differ_or_are_of_another_number_and_short_ones_are_left_alone() {
        for (lengths, n) in
            [(&[80][..], 1), (&[40, 41], 2), (&[20; 4], 1), (&[20; 4], 2), (&[16; 2], 2)]
        {
            assert!(orders(&batches(&chains(lengths), n)).is_empty(), "{lengths:?} {n}");
        }
    }
}
