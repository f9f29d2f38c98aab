//! Turns a network with complemented edges into gates, with as few `not`s as it finds.
//!
//! Each wire carries a node or its complement. Which of the two follows from the wires it
//! reads: `and` of two complements is the complement of an `or`, `and` of one is `AndNot`,
//! and `xor` passes complements on. So a `not` is needed only at outputs that come out
//! complemented, or earlier, where one `not` corrects several of them.

use super::network::{Lit, Network, Op, is_flipped, node_of};
use super::{Circuit, Gate, Wire};

/// The gates of `net` that its outputs need.
pub(super) fn emit(net: &Network) -> Circuit {
    let live = net.live();
    let turned = choose_nots(net, &live);
    let plan = EmitPlan::new(net, &live, &turned);
    let mut out = Emitter {
        circuit: Circuit { n_inputs: net.n_inputs, gates: Vec::new(), outputs: Vec::new() },
    };
    // For each node the wire that its readers use, and the wire before its `not`, if it has one.
    let mut wires: Vec<(Wire, Option<Wire>)> = vec![(0, None); live.len()];
    for node in 1..live.len() {
        if !live[node] {
            continue;
        }
        let plain = match node.checked_sub(net.first_gate()) {
            None => node as Wire - 1,
            Some(gate) => {
                let gate = net.gates[gate];
                let (a, b) = (wires[node_of(gate.a)].0, wires[node_of(gate.b)].0);
                out.push(match (gate.op, plan.is_off(gate.a), plan.is_off(gate.b)) {
                    (Op::Xor, ..) => Gate::Xor(a, b),
                    (Op::And, false, false) => Gate::And(a, b),
                    (Op::And, false, true) => Gate::AndNot(a, b),
                    (Op::And, true, false) => Gate::AndNot(b, a),
                    (Op::And, true, true) => Gate::Or(a, b),
                })
            }
        };
        wires[node] = match turned[node] {
            true => (out.push(Gate::Not(plain)), Some(plain)),
            false => (plain, None),
        };
    }
    for &output in &net.outputs {
        let wire = out.output(output, wires[node_of(output)], &plan);
        out.circuit.outputs.push(wire);
    }
    out.circuit
}

/// How many `not`s [`emit`] will use; `limit` if it is that many or more.
pub(super) fn n_nots(net: &Network, limit: usize) -> usize {
    let live = net.live();
    let late = EmitPlan::new(net, &live, &vec![false; live.len()]).n_nots;
    if late == 0 || limit <= 1 {
        return late.min(limit);
    }
    let turned = choose_nots(net, &live);
    EmitPlan::new(net, &live, &turned).n_nots.min(limit)
}

struct Emitter {
    circuit: Circuit,
}

impl Emitter {
    fn push(&mut self, gate: Gate) -> Wire {
        if let Gate::Not(_) | Gate::Zero | Gate::One = gate
            && let Some(at) = self.circuit.gates.iter().position(|&old| old == gate)
        {
            return self.circuit.n_inputs + at as Wire;
        }
        self.circuit.gates.push(gate);
        self.circuit.n_inputs + self.circuit.gates.len() as Wire - 1
    }

    fn output(&mut self, lit: Lit, wires: (Wire, Option<Wire>), plan: &EmitPlan) -> Wire {
        match (node_of(lit), plan.is_off(lit), wires) {
            (0, ..) => self.push(if is_flipped(lit) { Gate::One } else { Gate::Zero }),
            (_, false, (wire, _)) | (_, true, (_, Some(wire))) => wire,
            (_, true, (wire, None)) => self.push(Gate::Not(wire)),
        }
    }
}

/// What each wire carries once the `not`s are placed.
struct EmitPlan {
    /// True where the wire of a node carries its complement.
    carries_complement: Vec<bool>,
    n_nots: usize,
}

impl EmitPlan {
    fn new(net: &Network, live: &[bool], turned: &[bool]) -> EmitPlan {
        let mut plan = EmitPlan { carries_complement: vec![false; live.len()], n_nots: 0 };
        for node in 1..live.len() {
            if !live[node] {
                continue;
            }
            let plain = node.checked_sub(net.first_gate()).is_some_and(|gate| {
                let gate = net.gates[gate];
                match gate.op {
                    Op::And => plan.is_off(gate.a) && plan.is_off(gate.b),
                    Op::Xor => plan.is_off(gate.a) != plan.is_off(gate.b),
                }
            });
            plan.carries_complement[node] = plain != turned[node];
            plan.n_nots += usize::from(turned[node]);
        }
        for (idx, &output) in net.outputs.iter().enumerate() {
            let node = node_of(output);
            let is_repeated = net.outputs[..idx].contains(&output);
            if node != 0 && plan.is_off(output) && !turned[node] && !is_repeated {
                plan.n_nots += 1;
            }
        }
        plan
    }

    /// True if the wire of the literal's node carries the literal's complement.
    fn is_off(&self, lit: Lit) -> bool {
        self.carries_complement[node_of(lit)] != is_flipped(lit)
    }
}

/// In larger networks each output that needs a `not` gets its own.
const N_NODES_SEARCHED_MAX: usize = 2_000;

/// The nodes to be followed by a `not`: adds or removes one at a time as long as that saves some.
fn choose_nots(net: &Network, live: &[bool]) -> Vec<bool> {
    let mut turned = vec![false; live.len()];
    let mut n_nots = EmitPlan::new(net, live, &turned).n_nots;
    while n_nots > 1 && live.len() <= N_NODES_SEARCHED_MAX {
        let candidates: Vec<usize> = (1..live.len()).filter(|&node| live[node]).collect();
        let saving = candidates.iter().find_map(|&node| {
            turned[node] = !turned[node];
            let now = EmitPlan::new(net, live, &turned).n_nots;
            turned[node] = !turned[node];
            (now < n_nots).then_some((node, now))
        });
        let Some((node, now)) = saving else { break };
        turned[node] = !turned[node];
        n_nots = now;
    }
    turned
}

#[cfg(test)]
mod tests {
    use crate::circuit::network::NetworkBuilder;

    use super::*;

    #[test]
    fn complements_inside_are_free() {
        let mut net = NetworkBuilder::new(2);
        let (a, b) = (net.input(0), net.input(1));
        let nor = net.and(a ^ 1, b ^ 1);
        let circuit = emit(&net.finish(vec![nor ^ 1]));
        assert_eq!(circuit.gates, [Gate::Or(0, 1)]);
    }

    #[test]
    fn one_not_serves_two_outputs() {
        let mut net = NetworkBuilder::new(4);
        let x: Vec<Lit> = (0..4).map(|input| net.input(input)).collect();
        let shared = net.xor(x[0], x[1]);
        let outputs = vec![net.xor(shared, x[2]) ^ 1, net.xor(shared, x[3]) ^ 1];
        assert_eq!(emit(&net.finish(outputs)).n_gates(), 4);
    }
}
