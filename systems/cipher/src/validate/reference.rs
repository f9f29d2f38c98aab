//! What the dataflow program computes, as terms: every word a register of granules, loops played
//! through.

use std::rc::Rc;

use crate::emit_c::Shape;
use crate::ir::{Body, Node, NodeId, Op, Operand, Program, Ref, Stmt};
use crate::options::Slicing;
use crate::passes::hslice::ZERO;
use crate::passes::order::{Cells, set};

use super::moves::{self, Move};
use super::operation::Operation;
use super::terms::{Graph, Term, Value};

/// Bits of a granule: what the operations of such a program keep together.
pub fn granule(shape: Shape) -> u32 {
    match shape.slicing {
        Slicing::Bit => 64,
        Slicing::Vertical => shape.word_bits,
        Slicing::Horizontal if shape.element_bits() >= 8 => shape.element_bits(),
        Slicing::Horizontal => 64,
    }
}

/// The words of the results of a node for given words of its parameters, both flattened.
pub fn results(
    graph: &mut Graph,
    program: &Program,
    shape: Shape,
    id: NodeId,
    args: &[Value],
) -> Vec<Value> {
    let node = &program.nodes[id.idx()];
    let stmts = match &node.body {
        Body::Perm(list) => return list.iter().map(|at| args[*at as usize].clone()).collect(),
        Body::Table(_) => panic!("tables are gone when C is made"),
        Body::Stmts(stmts) => stmts,
    };
    let cells = Cells::new(&node.vars);
    let mut frame = ReferenceFrame {
        graph,
        program,
        node,
        shape,
        values: vec![Value::new(); cells.count()],
        cells,
        counters: Vec::new(),
    };
    for (place, value) in node.words(&node.params).iter().zip(args) {
        frame.put(place, value.clone());
    }
    frame.stmts(stmts);
    node.words(&node.results).iter().map(|place| frame.get(&Operand::Ref(place.clone()))).collect()
}

struct ReferenceFrame<'a> {
    graph: &'a mut Graph,
    program: &'a Program,
    node: &'a Node,
    shape: Shape,
    values: Vec<Value>,
    cells: Cells,
    counters: Vec<i64>,
}

impl ReferenceFrame<'_> {
    fn get(&mut self, operand: &Operand) -> Value {
        match operand {
            Operand::Const(value) => constant(self.graph, self.shape, *value),
            Operand::Ref(place) => {
                let value = &self.values[self.cells.of(place, &self.counters)];
                assert!(
                    !value.is_empty(),
                    "`{}` of `{}` is written before it is read",
                    self.node.vars[place.var.idx()].name,
                    self.node.name
                );
                value.clone()
            }
        }
    }

    fn put(&mut self, place: &Ref, value: Value) {
        let cell = self.cells.of(place, &self.counters);
        self.values[cell] = value;
    }

    fn all(&mut self, operands: &[Operand]) -> Vec<Value> {
        operands.iter().map(|operand| self.get(operand)).collect()
    }

    fn stmts(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            match stmt {
                Stmt::Eq(eq) => {
                    let args = self.all(&eq.args);
                    let value = apply(self.graph, self.shape, &eq.op, &args);
                    self.put(&eq.dst, value);
                }
                Stmt::Call(call) => {
                    let args = self.all(&call.args);
                    let results = results(self.graph, self.program, self.shape, call.node, &args);
                    call.dsts.iter().zip(results).for_each(|(dst, value)| self.put(dst, value));
                }
                Stmt::Loop(it) => {
                    for carried in &it.carried {
                        let value = self.get(&carried.init);
                        self.put(&Ref::at(carried.var, 0), value);
                    }
                    for k in 0..it.n {
                        set(&mut self.counters, it.id, k.into());
                        self.stmts(&it.body);
                        let next: Vec<Value> =
                            it.carried.iter().map(|carried| self.get(&carried.next)).collect();
                        it.carried
                            .iter()
                            .zip(next)
                            .for_each(|(carried, value)| self.put(&Ref::at(carried.var, 0), value));
                    }
                }
                Stmt::Unrolled(_) => panic!("`loops` has decided about every loop"),
            }
        }
    }
}

/// A constant: the same word in every block.
fn constant(graph: &mut Graph, shape: Shape, value: u64) -> Value {
    let bits = shape.register_bits();
    match shape.slicing {
        Slicing::Bit if value & 1 == 1 => graph.number_of_ones(bits),
        Slicing::Bit => graph.assemble(bits, &[], &[]),
        Slicing::Vertical => {
            let term = graph.constant(value);
            (0..graph.n_granules(bits)).map(|_| term).collect()
        }
        Slicing::Horizontal => {
            let is_set = |at: u32| {
                value >> (shape.word_bits - 1 - at % shape.spread_bits() / shape.element_bits()) & 1
                    == 1
            };
            let set = moves::each(bits, shape.element_bits()).filter(|at| is_set(*at));
            let moves: Vec<Move> =
                set.map(|at| Move::first(at, at, shape.element_bits())).collect();
            let ones = graph.number_of_ones(bits);
            graph.assemble(bits, &[&ones], &moves)
        }
    }
}

fn apply(graph: &mut Graph, shape: Shape, op: &Op, args: &[Value]) -> Value {
    let a = &args[0];
    let (bits, m) = (shape.register_bits(), shape.word_bits);
    let by_two = |graph: &mut Graph, f: fn(&mut Graph, Term, Term) -> Term| -> Value {
        a.iter().zip(&args[1]).map(|(a, b)| f(graph, *a, *b)).collect()
    };
    match op {
        Op::Copy => a.clone(),
        Op::Not => a.iter().map(|found| !*found).collect(),
        Op::And => by_two(graph, Graph::and),
        Op::Or => by_two(graph, Graph::or),
        Op::Xor => by_two(graph, Graph::xor),
        Op::AndNot => by_two(graph, |graph, a, b| graph.and(a, !b)),
        Op::Ternary(table) => {
            (0..a.len()).map(|i| graph.ternary(*table, a[i], args[1][i], args[2][i])).collect()
        }
        Op::Add => graph.elements(Operation::Add, m, a, &args[1]),
        Op::Sub => graph.difference(m, a, &args[1]),
        Op::Mul => graph.elements(Operation::Mul, m, a, &args[1]),
        Op::Shl(n) => graph.assemble(bits, &[a], &moves::left(bits, m, *n)),
        Op::Shr(n) => graph.assemble(bits, &[a], &moves::right(bits, m, *n, false)),
        Op::Sar(n) => graph.assemble(bits, &[a], &moves::right(bits, m, *n, true)),
        Op::Rotl(n) => graph.assemble(bits, &[a], &moves::turned(bits, m, *n)),
        Op::Bitmask(n) => {
            let moves: Vec<Move> = moves::each(bits, m)
                .flat_map(|at| (0..m).map(move |i| Move::first(at + n, at + i, 1)))
                .collect();
            graph.assemble(bits, &[a], &moves)
        }
        Op::Shuffle(pattern) => graph.assemble(bits, &[a], &shuffled(shape, pattern)),
        Op::Div | Op::Mod | Op::Pack(_) | Op::Refresh => {
            panic!("`{op}` does not reach the back end")
        }
    }
}

/// Moves of the bits of a word, whether they lie together or in elements.
fn shuffled(shape: Shape, pattern: &[u8]) -> Vec<Move> {
    let (bits, m) = (shape.register_bits(), shape.word_bits);
    // How far apart bits of a word lie, and where bit j, counted from the most significant, is.
    let (part, element) = match shape.slicing {
        Slicing::Horizontal => (shape.spread_bits(), shape.element_bits()),
        _ => (m, 1),
    };
    let place = |j: u32| if shape.slicing == Slicing::Horizontal { j * element } else { m - 1 - j };
    let used = pattern.iter().enumerate().filter(|pair| *pair.1 != ZERO && u32::from(*pair.1) < m);
    let used: Rc<[(u32, u32)]> =
        used.map(|(j, from)| (place(u32::from(*from)), place(j as u32))).collect();
    moves::each(bits, part)
        .flat_map(|at| {
            used.iter()
                .map(move |(from, to)| Move::first(at + from, at + to, element))
                .collect::<Vec<_>>()
        })
        .collect()
}
