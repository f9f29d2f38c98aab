//! Runs the core form: a program must give equal results before and after a pass.

use super::{Body, Node, NodeId, Op, Operand, Program, Ref, Stmt, Table, Ty};
use crate::passes::order::{Cells, set};

/// The words of the results of `id` for the given words of its parameters, both flattened.
pub fn eval(program: &Program, id: NodeId, args: &[u64]) -> Vec<u64> {
    let node = &program.nodes[id.idx()];
    match &node.body {
        Body::Perm(list) => list.iter().map(|at| args[*at as usize]).collect(),
        Body::Table(table) => {
            let tys: Vec<Ty> = node.words(&node.params).iter().map(|r| node.ty(r)).collect();
            let out: Vec<Ty> = node.words(&node.results).iter().map(|r| node.ty(r)).collect();
            lookup(table, args, &tys, &out)
        }
        Body::Stmts(stmts) => {
            let cells = Cells::new(&node.vars);
            let mut frame = Frame {
                program,
                node,
                values: vec![0; cells.count()],
                cells,
                counters: Vec::new(),
            };
            for (place, value) in node.words(&node.params).iter().zip(args) {
                let cell = frame.cells.of(place, &[]);
                frame.values[cell] = value & node.ty(place).mask();
            }
            frame.stmts(stmts);
            node.words(&node.results)
                .iter()
                .map(|place| frame.values[frame.cells.of(place, &[])])
                .collect()
        }
    }
}

struct Frame<'a> {
    program: &'a Program,
    node: &'a Node,
    values: Vec<u64>,
    cells: Cells,
    counters: Vec<i64>,
}

impl Frame<'_> {
    fn get(&self, operand: &Operand) -> u64 {
        match operand {
            Operand::Const(value) => *value,
            Operand::Ref(place) => self.values[self.cells.of(place, &self.counters)],
        }
    }

    fn put(&mut self, place: &Ref, value: u64) {
        let cell = self.cells.of(place, &self.counters);
        self.values[cell] = value & self.node.ty(place).mask();
    }

    fn stmts(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            match stmt {
                Stmt::Eq(eq) => {
                    let args: Vec<u64> = eq.args.iter().map(|a| self.get(a)).collect();
                    self.put(&eq.dst, apply(&eq.op, &args, self.node.ty(&eq.dst).m));
                }
                Stmt::Call(call) => {
                    let args: Vec<u64> = call.args.iter().map(|a| self.get(a)).collect();
                    let results = eval(self.program, call.node, &args);
                    for (dst, value) in call.dsts.iter().zip(results) {
                        self.put(dst, value);
                    }
                }
                Stmt::Loop(it) => {
                    for carried in &it.carried {
                        let value = self.get(&carried.init);
                        self.put(&Ref::at(carried.var, 0), value);
                    }
                    for k in 0..it.n {
                        set(&mut self.counters, it.id, k.into());
                        self.stmts(&it.body);
                        let next: Vec<u64> = it.carried.iter().map(|c| self.get(&c.next)).collect();
                        for (carried, value) in it.carried.iter().zip(next) {
                            self.put(&Ref::at(carried.var, 0), value);
                        }
                    }
                }
                Stmt::Unrolled(it) => it.iterations.iter().for_each(|body| self.stmts(body)),
            }
        }
    }
}

/// One operation on words of `m` bits.
pub fn apply(op: &Op, args: &[u64], m: u32) -> u64 {
    let a = args[0];
    let b = args.get(1).copied().unwrap_or(0);
    let mask = u64::MAX >> (64 - m);
    let value = match op {
        Op::Copy | Op::Refresh => a,
        Op::Not => !a,
        Op::And => a & b,
        Op::Or => a | b,
        Op::Xor => a ^ b,
        Op::AndNot => a & !b,
        Op::Ternary(table) => {
            let bit = |i: u32| (a >> i & 1) << 2 | (b >> i & 1) << 1 | (args[2] >> i & 1);
            (0..m).fold(0, |out, i| out | u64::from(table >> bit(i) & 1) << i)
        }
        Op::Add => a.wrapping_add(b),
        Op::Sub => a.wrapping_sub(b),
        Op::Mul => a.wrapping_mul(b),
        Op::Div => a.checked_div(b).unwrap_or(0),
        Op::Mod => a.checked_rem(b).unwrap_or(0),
        Op::Shl(n) => a << n,
        Op::Shr(n) => a >> n,
        Op::Sar(n) => {
            let sign = if a >> (m - 1) & 1 == 1 { !mask } else { 0 };
            ((a | sign) as i64 >> n) as u64
        }
        Op::Rotl(n) => a << n | a >> (m - n),
        Op::Shuffle(pattern) => pattern.iter().fold(0, |out, p| {
            out << 1 | if u32::from(*p) < m { a >> (m - 1 - u32::from(*p)) & 1 } else { 0 }
        }),
        Op::Bitmask(n) => 0u64.wrapping_sub(a >> n & 1),
        Op::Pack(low) => a << low | b,
    };
    value & mask
}

fn lookup(table: &Table, args: &[u64], tys: &[Ty], out: &[Ty]) -> Vec<u64> {
    let order =
        |value: u64, n: u32| if table.lsb_first { value.reverse_bits() >> (64 - n) } else { value };
    if table.n_inputs as usize == args.len() {
        let mut results = vec![0u64; out.len()];
        for bit in 0..tys[0].m {
            let index = args.iter().fold(0, |index, a| index << 1 | (a >> bit & 1));
            let entry =
                order(table.entries[order(index, table.n_inputs) as usize], table.n_outputs);
            for (i, word) in results.iter_mut().enumerate() {
                *word |= (entry >> (out.len() - 1 - i) & 1) << bit;
            }
        }
        return results;
    }
    let index = args.iter().zip(tys).fold(0, |index, (a, ty)| index << ty.m | a);
    let entry = order(table.entries[order(index, table.n_inputs) as usize], table.n_outputs);
    let mut left = table.n_outputs;
    out.iter()
        .map(|ty| {
            left -= ty.m;
            entry >> left & ty.mask()
        })
        .collect()
}
