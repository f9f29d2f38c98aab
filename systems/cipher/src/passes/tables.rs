//! Turns a lookup table into a circuit, so that no address depends on data.
//!
//! ```text
//! table f(x:v2) {0, 1, 3, 2}    --->    y[0] = copy x[0]; y[1] = xor x[0], x[1]
//! ```
//!
//! Needs:   as many input words as index bits; a table over the bits of wider words is left to
//!          `bitslice`.
//! Keeps:   the interface.
//! Costs:   the gates of the circuit, instead of a load that leaks its address through the cache.
//! Source:  the circuits and their papers are in `circuit`.

use std::collections::HashMap;
use std::rc::Rc;

use crate::circuit::{BitOrder, Circuit, Found, Gate, circuit_for};
use crate::ir::{Body, Eq, Node, Op, Operand, Ref, Stmt};
use crate::syntax::Loc;

/// Circuits that were already looked up: the same table often serves several nodes.
pub type Cache = HashMap<(Rc<[u64]>, u32, u32, bool), Rc<Found>>;

/// Gives a table node a body of gates; returns where the circuit came from.
pub fn tables(node: &mut Node, cache: &mut Cache, has_and_not: bool) -> Option<Rc<Found>> {
    let Body::Table(table) = &node.body else { return None };
    let inputs = node.words(&node.params);
    if inputs.len() != table.n_inputs as usize {
        return None;
    }
    let key = (table.entries.clone(), table.n_inputs, table.n_outputs, table.lsb_first);
    let order = if table.lsb_first { BitOrder::LsbFirst } else { BitOrder::MsbFirst };
    let found = cache.entry(key).or_insert_with(|| {
        let entries = (&table.entries[..], table.n_inputs, table.n_outputs);
        Rc::new(circuit_for(entries, order, has_and_not))
    });
    let found = found.clone();
    let stmts = gates(node, &found.circuit, inputs);
    node.body = Body::Stmts(stmts);
    Some(found)
}

fn gates(node: &mut Node, circuit: &Circuit, inputs: Vec<Ref>) -> Vec<Stmt> {
    let ty = node.ty(&inputs[0]);
    let mut wires: Vec<Operand> = inputs.into_iter().map(Operand::Ref).collect();
    let mut stmts = Vec::new();
    for gate in &circuit.gates {
        let (op, args) = match gate {
            Gate::And(a, b) => (Op::And, vec![*a, *b]),
            Gate::Or(a, b) => (Op::Or, vec![*a, *b]),
            Gate::Xor(a, b) => (Op::Xor, vec![*a, *b]),
            Gate::AndNot(a, b) => (Op::AndNot, vec![*a, *b]),
            Gate::Not(a) => (Op::Not, vec![*a]),
            Gate::Zero | Gate::One => {
                wires.push(Operand::Const(if *gate == Gate::Zero { 0 } else { ty.mask() }));
                continue;
            }
        };
        let dst = Ref::at(node.var("g", 1, ty), 0);
        let args = args.iter().map(|w| wires[*w as usize].clone()).collect();
        wires.push(dst.clone().into());
        stmts.push(Stmt::Eq(Eq { dst, op, args, loc: Loc::default() }));
    }
    for (dst, wire) in node.words(&node.results).into_iter().zip(&circuit.outputs) {
        stmts.push(Stmt::copy(dst, wires[*wire as usize].clone(), Loc::default()));
    }
    stmts
}
