//! Gives every bit of every word a register of its own; shifts become renamings.
//!
//! ```text
//! node f(x[2]:u4)                 node f(x[8]:u1)
//!   t = rotl(1) x[0]      --->      t[0] = copy x[1]; t[1] = copy x[2]; ...
//!   y = xor t, x[1]                 y[0] = xor t[0], x[4]; ...
//! ```
//!
//! Bits are numbered from the most significant. With `specialise`, a node that works on each bit
//! by itself, such as an S-box, is not widened: it becomes a node over one-bit words and is called
//! once for each bit, so that few values are live at a time.
//!
//! Needs:   every loop kept or written out; permutations and tables over whole words replaced.
//! Keeps:   the interface of the entries, bit for bit.
//! Costs:   m times the equations; `+` and `-` cost 5 equations a bit.
//! Source:  "Optimizing the automatic bitslicing", Mercadier 2020.

use crate::ir::{
    Args, Body, Call, Dir, Eq, Loop, Node, NodeId, Op, Operand, Program, Ref, Stmt, Ty, Var, VarId,
};
use crate::syntax::Loc;

/// The type of every word afterwards.
pub const BIT: Ty = Ty { m: 1, dir: Dir::B };

/// An operation that has no bitsliced form.
#[derive(Debug, Clone)]
pub struct BitsliceRefused {
    pub op: Op,
    pub loc: Loc,
}

/// Bitslices the whole program.
pub fn bitslice(program: &mut Program, specialise: bool) -> Result<(), BitsliceRefused> {
    // The common word size of a node that can be specialised.
    let mut narrow: Vec<Option<u32>> = Vec::new();
    for idx in 0..program.nodes.len() {
        let is_entry = program.entries.contains(&NodeId(idx as u32));
        let size =
            if specialise && !is_entry { bitwise_size(&program.nodes[idx], &narrow) } else { None };
        narrow.push(size);
    }
    for idx in 0..program.nodes.len() {
        let mut node = program.nodes[idx].clone();
        if narrow[idx].is_some() {
            narrow_node(&mut node);
        } else {
            widen_node(&mut node, &narrow)?;
        }
        program.nodes[idx] = node;
    }
    Ok(())
}

/// The word size of a node that works on each bit by itself; a node of equations over single
/// bits needs no change.
fn bitwise_size(node: &Node, narrow: &[Option<u32>]) -> Option<u32> {
    let m = node.vars[node.params.first()?.idx()].ty.m;
    let interface = node.params.iter().chain(&node.results);
    match &node.body {
        Body::Perm(_) => interface.clone().all(|v| node.vars[v.idx()].ty.m == m).then_some(m),
        Body::Table(table) => {
            let n_words: u32 = node.params.iter().map(|v| node.vars[v.idx()].len).sum();
            let same = interface.clone().all(|v| node.vars[v.idx()].ty.m == m);
            (same && n_words == table.n_inputs).then_some(m)
        }
        Body::Stmts(stmts) => {
            let same = node.vars.iter().all(|v| v.ty.m == m);
            (same && m > 1 && stmts.iter().all(|s| is_bitwise(s, m, narrow))).then_some(m)
        }
    }
}

fn is_bitwise(stmt: &Stmt, m: u32, narrow: &[Option<u32>]) -> bool {
    let uniform = |arg: &Operand| match arg {
        Operand::Ref(_) => true,
        Operand::Const(c) => *c == 0 || *c == Ty { m, ..BIT }.mask(),
    };
    match stmt {
        Stmt::Eq(eq) => eq.op.is_bitwise() && eq.args.iter().all(uniform),
        Stmt::Call(call) => narrow[call.node.idx()] == Some(m) && call.args.iter().all(uniform),
        Stmt::Loop(it) => it.body.iter().all(|s| is_bitwise(s, m, narrow)),
        Stmt::Unrolled(_) => false,
    }
}

fn narrow_node(node: &mut Node) {
    node.vars.iter_mut().for_each(|v| v.ty = BIT);
    if let Body::Stmts(stmts) = &mut node.body {
        narrow_stmts(stmts);
    }
}

fn narrow_stmts(stmts: &mut [Stmt]) {
    let narrow = |args: &mut [Operand]| {
        for arg in args {
            if let Operand::Const(c) = arg {
                *c &= 1;
            }
        }
    };
    for stmt in stmts {
        match stmt {
            Stmt::Eq(eq) => narrow(&mut eq.args),
            Stmt::Call(call) => narrow(&mut call.args),
            Stmt::Loop(it) => narrow_stmts(&mut it.body),
            Stmt::Unrolled(_) => panic!("`loops` comes before `bitslice`"),
        }
    }
}

fn widen_node(node: &mut Node, narrow: &[Option<u32>]) -> Result<(), BitsliceRefused> {
    let sizes: Vec<u32> = node.vars.iter().map(|v| v.ty.m).collect();
    for var in &mut node.vars {
        *var = Var { len: var.len * var.ty.m, ty: BIT, name: var.name.clone() };
    }
    let Some(stmts) = node.take_stmts() else { return Ok(()) };
    let mut widener = Widener { node, sizes, narrow, out: Vec::new() };
    widener.stmts(stmts)?;
    let out = widener.out;
    node.body = Body::Stmts(out);
    Ok(())
}

struct Widener<'a> {
    node: &'a mut Node,
    sizes: Vec<u32>,
    narrow: &'a [Option<u32>],
    out: Vec<Stmt>,
}

impl Widener<'_> {
    fn size(&self, var: VarId) -> u32 {
        self.sizes[var.idx()]
    }

    fn bit(&self, place: &Ref, j: u32) -> Ref {
        Ref { var: place.var, index: place.index.scaled(self.size(place.var).into(), j.into()) }
    }

    /// Bit `j` of an operand of `m` bits.
    fn operand(&self, operand: &Operand, m: u32, j: u32) -> Operand {
        match operand {
            Operand::Ref(place) => self.bit(place, j).into(),
            Operand::Const(c) => Operand::Const(c >> (m - 1 - j) & 1),
        }
    }

    fn push(&mut self, dst: Ref, op: Op, args: impl Into<Args>, loc: Loc) {
        self.out.push(Stmt::Eq(Eq { dst, op, args: args.into(), loc }));
    }

    fn temp(&mut self, op: Op, args: Vec<Operand>, loc: Loc) -> Operand {
        let var = self.node.var("c", 1, BIT);
        self.sizes.push(1);
        let dst = Ref::at(var, 0);
        self.push(dst.clone(), op, args, loc);
        dst.into()
    }

    fn stmts(&mut self, stmts: Vec<Stmt>) -> Result<(), BitsliceRefused> {
        for stmt in stmts {
            match stmt {
                Stmt::Eq(eq) => self.eq(&eq)?,
                Stmt::Call(call) => self.call(&call),
                Stmt::Loop(it) => {
                    let outer = std::mem::take(&mut self.out);
                    self.stmts(it.body)?;
                    let body = std::mem::replace(&mut self.out, outer);
                    self.out.push(Stmt::Loop(Loop { body, ..it }));
                }
                Stmt::Unrolled(_) => panic!("`loops` comes before `bitslice`"),
            }
        }
        Ok(())
    }

    fn eq(&mut self, eq: &Eq) -> Result<(), BitsliceRefused> {
        let m = self.size(eq.dst.var);
        match &eq.op {
            Op::Copy | Op::Not | Op::And | Op::Or | Op::Xor | Op::AndNot | Op::Ternary(_) => {
                for j in 0..m {
                    let args: Args = eq.args.iter().map(|a| self.operand(a, m, j)).collect();
                    self.push(self.bit(&eq.dst, j), eq.op.clone(), args, eq.loc);
                }
            }
            Op::Shl(_)
            | Op::Shr(_)
            | Op::Sar(_)
            | Op::Rotl(_)
            | Op::Shuffle(_)
            | Op::Bitmask(_) => {
                for j in 0..m {
                    let arg = eq
                        .op
                        .source_bit(j, m)
                        .map_or(Operand::Const(0), |k| self.operand(&eq.args[0], m, k));
                    self.push(self.bit(&eq.dst, j), Op::Copy, vec![arg], eq.loc);
                }
            }
            Op::Pack(low) => {
                let low = *low;
                for j in 0..m {
                    let high = m - low;
                    let arg = if j < high {
                        self.operand(&eq.args[0], high, j)
                    } else {
                        self.operand(&eq.args[1], low, j - high)
                    };
                    self.push(self.bit(&eq.dst, j), Op::Copy, vec![arg], eq.loc);
                }
            }
            Op::Add | Op::Sub => self.adder(eq, m),
            Op::Refresh => panic!("refreshes come last"),
            Op::Mul | Op::Div | Op::Mod => {
                return Err(BitsliceRefused { op: eq.op.clone(), loc: eq.loc });
            }
        }
        Ok(())
    }

    /// A ripple adder from the least significant bit: with carry c, the sum is a ^ b ^ c and the
    /// next carry the majority, c ^ ((a ^ c) & (b ^ c)); a borrow has ~a in place of a.
    fn adder(&mut self, eq: &Eq, m: u32) {
        let mut carry: Option<Operand> = None;
        for j in (0..m).rev() {
            let (a, b) = (self.operand(&eq.args[0], m, j), self.operand(&eq.args[1], m, j));
            let (dst, loc, last) = (self.bit(&eq.dst, j), eq.loc, j == 0);
            let is_add = eq.op == Op::Add;
            let Some(c) = carry else {
                self.push(dst, Op::Xor, vec![a.clone(), b.clone()], loc);
                if !last {
                    let (op, args) =
                        if is_add { (Op::And, vec![a, b]) } else { (Op::AndNot, vec![b, a]) };
                    carry = Some(self.temp(op, args, loc));
                }
                continue;
            };
            let a_c = self.temp(Op::Xor, vec![a, c.clone()], loc);
            self.push(dst, Op::Xor, vec![a_c.clone(), b.clone()], loc);
            carry = Some(c.clone());
            if !last {
                let b_c = self.temp(Op::Xor, vec![b, c.clone()], loc);
                let (op, args) =
                    if is_add { (Op::And, vec![a_c, b_c]) } else { (Op::AndNot, vec![b_c, a_c]) };
                let both = self.temp(op, args, loc);
                carry = Some(self.temp(Op::Xor, vec![both, c], loc));
            }
        }
    }

    fn call(&mut self, call: &Call) {
        // Sizes of the words of the callee's interface are those of the places the results go to.
        if let Some(m) = self.narrow[call.node.idx()] {
            for j in 0..m {
                let args = call.args.iter().map(|a| self.operand(a, m, j)).collect();
                let dsts = call.dsts.iter().map(|d| self.bit(d, j)).collect();
                self.out.push(Stmt::Call(Call { args, dsts, ..call.clone() }));
            }
            return;
        }
        let mut args = Vec::new();
        for (i, arg) in call.args.iter().enumerate() {
            let m = match arg {
                Operand::Ref(place) => self.size(place.var),
                Operand::Const(_) => call.arg_bits[i],
            };
            args.extend((0..m).map(|j| self.operand(arg, m, j)));
        }
        let dsts = call
            .dsts
            .iter()
            .flat_map(|d| (0..self.size(d.var)).map(|j| self.bit(d, j)).collect::<Vec<_>>())
            .collect();
        self.out.push(Stmt::Call(Call {
            arg_bits: vec![1; args.len()],
            args,
            dsts,
            ..call.clone()
        }));
    }
}
