//! Puts every word into a lane of the same width; narrower words keep zeros above them.
//!
//! ```text
//! t:u5 = not x      --->    t:u8 = xor x, 0x1f
//! t:u5 = shl(2) x   --->    s = shl(2) x; t = and s, 0x1f
//! ```
//!
//! A program whose words all have the lane's width is left as it is.
//!
//! Needs:   every loop kept or written out; permutations and tables replaced.
//! Keeps:   the value of every word.
//! Costs:   one or two operations more for each that could carry bits out of a narrow word.

use smallvec::smallvec;

use crate::ir::{Args, Body, Dir, Eq, Loop, Node, Op, Operand, Program, Ref, Stmt, Ty};
use crate::syntax::Loc;

/// An operation that has no vertical form.
#[derive(Debug, Clone)]
pub struct Refused {
    pub op: Op,
    pub loc: Loc,
}

/// Widens every word; returns the lane's width in bits: 8, 16, 32 or 64.
pub fn vslice(program: &mut Program) -> Result<u32, Refused> {
    let widest = program.nodes.iter().flat_map(|n| &n.vars).map(|v| v.ty.m).max().unwrap_or(8);
    let lane = widest.next_power_of_two().max(8);
    for node in &mut program.nodes {
        let sizes: Vec<u32> = node.vars.iter().map(|v| v.ty.m).collect();
        node.vars.iter_mut().for_each(|v| v.ty = Ty { m: lane, dir: Dir::V });
        let Some(stmts) = node.take_stmts() else { continue };
        let mut laner = Laner { node, sizes, lane, out: Vec::new() };
        laner.stmts(stmts)?;
        let out = laner.out;
        node.body = Body::Stmts(out);
    }
    Ok(lane)
}

struct Laner<'a> {
    node: &'a mut Node,
    sizes: Vec<u32>,
    lane: u32,
    out: Vec<Stmt>,
}

impl Laner<'_> {
    fn stmts(&mut self, stmts: Vec<Stmt>) -> Result<(), Refused> {
        for stmt in stmts {
            match stmt {
                Stmt::Eq(eq) => self.eq(eq)?,
                Stmt::Call(_) => self.out.push(stmt),
                Stmt::Loop(it) => {
                    let outer = std::mem::take(&mut self.out);
                    self.stmts(it.body)?;
                    let body = std::mem::replace(&mut self.out, outer);
                    self.out.push(Stmt::Loop(Loop { body, ..it }));
                }
                Stmt::Unrolled(_) => panic!("`loops` comes before `vslice`"),
            }
        }
        Ok(())
    }

    fn temp(&mut self, op: Op, args: Args, loc: Loc) -> Operand {
        let var = self.node.var("w", 1, Ty { m: self.lane, dir: Dir::V });
        self.sizes.push(self.lane);
        let dst = Ref::at(var, 0);
        self.out.push(Stmt::Eq(Eq { dst: dst.clone(), op, args, loc }));
        dst.into()
    }

    fn eq(&mut self, eq: Eq) -> Result<(), Refused> {
        let (m, lane, loc) = (self.sizes[eq.dst.var.idx()], self.lane, eq.loc);
        if matches!(eq.op, Op::Div | Op::Mod) {
            return Err(Refused { op: eq.op, loc });
        }
        if let Op::Pack(low) = eq.op {
            let high = self.temp(Op::Shl(low), smallvec![eq.args[0].clone()], loc);
            self.out.push(Stmt::Eq(Eq {
                op: Op::Or,
                args: smallvec![high, eq.args[1].clone()],
                ..eq
            }));
            return Ok(());
        }
        if m == lane {
            self.out.push(Stmt::Eq(eq));
            return Ok(());
        }
        let mask = Operand::Const(Ty { m, dir: Dir::V }.mask());
        let arg = eq.args[0].clone();
        let (op, args) = match &eq.op {
            Op::Copy | Op::And | Op::Or | Op::Xor | Op::AndNot | Op::Shr(_) => {
                (eq.op.clone(), eq.args.clone())
            }
            Op::Not => (Op::Xor, smallvec![arg, mask]),
            Op::Shl(_) | Op::Add | Op::Sub | Op::Mul | Op::Ternary(_) => {
                (Op::And, smallvec![self.temp(eq.op.clone(), eq.args.clone(), loc), mask])
            }
            Op::Rotl(n) => {
                let up = self.temp(Op::Shl(*n), smallvec![arg.clone()], loc);
                let up = self.temp(Op::And, smallvec![up, mask], loc);
                (Op::Or, smallvec![up, self.temp(Op::Shr(m - n), smallvec![arg], loc)])
            }
            Op::Sar(n) => {
                let top = self.temp(Op::Shl(lane - m), smallvec![arg], loc);
                let wide = self.temp(Op::Sar(lane - m + n), smallvec![top], loc);
                (Op::And, smallvec![wide, mask])
            }
            Op::Bitmask(n) => {
                (Op::And, smallvec![self.temp(Op::Bitmask(*n), smallvec![arg], loc), mask])
            }
            Op::Shuffle(pattern) => {
                // The word sits in the low bits of the lane, so positions move by the difference.
                let above = (lane - m) as u8;
                let zero = super::hslice::ZERO;
                let moved = pattern.iter().map(|p| if *p == zero { zero } else { p + above });
                let wide = std::iter::repeat_n(zero, above as usize).chain(moved).collect();
                (Op::Shuffle(wide), smallvec![arg])
            }
            Op::Pack(_) | Op::Div | Op::Mod => panic!("handled above"),
            Op::Refresh => panic!("refreshes come last"),
        };
        self.out.push(Stmt::Eq(Eq { op, args, ..eq }));
        Ok(())
    }
}
