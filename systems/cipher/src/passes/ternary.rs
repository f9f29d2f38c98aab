//! Fuses bitwise operations into functions of three words, which AVX-512 computes at once.
//!
//! ```text
//! t = and a, b
//! y = xor t, c    --->    y = ternary(0x6a) a, b, c       t has no other reader
//! ```
//!
//! Needs:   executable order; the target has `vpternlog`.
//! Keeps:   values that several equations read.
//! Costs:   one operation instead of two or three.
//! Source:  Intel, "Intel 64 and IA-32 Architectures Software Developer's Manual", VPTERNLOGD/Q.

use crate::ir::visit::places;
use crate::ir::{Args, Body, Node, Op, Operand, Ref, Stmt};

/// A function of up to three words that an equation computes.
#[derive(Clone)]
struct Cone {
    leaves: Vec<Operand>,
    /// Bit `4a + 2b + c` is the value, for leaves a, b, c.
    table: u8,
    /// Two-input operations in it.
    n_ops: u32,
}

const LEAF: [u8; 3] = [0xf0, 0xcc, 0xaa];

/// Fuses what has one reader.
pub fn ternary(node: &mut Node) {
    let Some(mut stmts) = node.take_stmts() else { return };
    let n_reads = std::cell::RefCell::new(vec![0u32; node.vars.len()]);
    let mut read = |operand: &Operand| {
        if let Operand::Ref(place) = operand {
            n_reads.borrow_mut()[place.var.idx()] += 1;
        }
    };
    places(&stmts, &mut read, &mut |_| {});
    for var in &node.results {
        n_reads.borrow_mut()[var.idx()] += 2;
    }
    let mut cones: Vec<Option<Cone>> = vec![None; node.vars.len()];
    fuse(node, &mut stmts, &n_reads.into_inner(), &mut cones);
    node.body = Body::Stmts(stmts);
}

fn fuse(node: &Node, stmts: &mut [Stmt], n_reads: &[u32], cones: &mut [Option<Cone>]) {
    for stmt in stmts {
        match stmt {
            Stmt::Eq(eq) => {
                let Some(cone) = cone_of(&eq.op, &eq.args, n_reads, cones) else { continue };
                if cone.n_ops >= 2 {
                    let mut args: Args = cone.leaves.iter().cloned().collect();
                    while args.len() < 3 {
                        args.push(args[0].clone());
                    }
                    eq.op = Op::Ternary(cone.table);
                    eq.args = args;
                }
                if node.vars[eq.dst.var.idx()].len == 1 {
                    cones[eq.dst.var.idx()] = Some(cone);
                }
            }
            Stmt::Call(_) => {}
            Stmt::Loop(it) => {
                // What is computed before the loop stays there.
                let mut inner = vec![None; cones.len()];
                fuse(node, &mut it.body, n_reads, &mut inner);
            }
            Stmt::Unrolled(_) => panic!("`loops` comes before `ternary`"),
        }
    }
}

fn cone_of(op: &Op, args: &[Operand], n_reads: &[u32], cones: &[Option<Cone>]) -> Option<Cone> {
    let inner = |operand: &Operand| match operand {
        Operand::Ref(Ref { var, .. }) => {
            cones[var.idx()].clone().filter(|c| n_reads[var.idx()] == 1 || c.n_ops == 0)
        }
        Operand::Const(_) => None,
    };
    if !matches!(op, Op::Not | Op::And | Op::Or | Op::Xor | Op::AndNot)
        || args.iter().any(|a| matches!(a, Operand::Const(_)))
    {
        return None;
    }
    let leaf = |operand: &Operand| Cone { leaves: vec![operand.clone()], table: LEAF[0], n_ops: 0 };
    let plain: Vec<Cone> = args.iter().map(leaf).collect();
    let grown: Vec<Cone> = args.iter().map(|a| inner(a).unwrap_or_else(|| leaf(a))).collect();
    // The deepest of the two choices for each argument that stays within three leaves.
    let mut best: Option<Cone> = None;
    for choice in 0..1u32 << args.len() {
        let parts: Vec<&Cone> = (0..args.len())
            .map(|i| if choice >> i & 1 == 1 { &grown[i] } else { &plain[i] })
            .collect();
        if let Some(cone) = combine(op, &parts)
            && best.as_ref().is_none_or(|b| cone.n_ops > b.n_ops)
        {
            best = Some(cone);
        }
    }
    best
}

fn combine(op: &Op, parts: &[&Cone]) -> Option<Cone> {
    let mut leaves: Vec<Operand> = Vec::new();
    for part in parts {
        for leaf in &part.leaves {
            if !leaves.contains(leaf) {
                leaves.push(leaf.clone());
            }
        }
    }
    if leaves.len() > 3 {
        return None;
    }
    let over = |part: &Cone| {
        let place =
            |leaf: &Operand| leaves.iter().position(|l| l == leaf).expect("collected above");
        let places: Vec<usize> = part.leaves.iter().map(place).collect();
        (0..8u8).fold(0u8, |table, row| {
            let index = places
                .iter()
                .enumerate()
                .fold(0u8, |index, (i, at)| index | (row >> (2 - at) & 1) << (2 - i));
            // Leaves that the part does not have do not change it.
            table | (part.table >> index & 1) << row
        })
    };
    let tables: Vec<u8> = parts.iter().map(|p| over(p)).collect();
    let table = match op {
        Op::Not => !tables[0],
        Op::And => tables[0] & tables[1],
        Op::Or => tables[0] | tables[1],
        Op::Xor => tables[0] ^ tables[1],
        Op::AndNot => tables[0] & !tables[1],
        other => panic!("`{other}` is not fused"),
    };
    let own = u32::from(*op != Op::Not);
    Some(Cone { leaves, table, n_ops: own + parts.iter().map(|p| p.n_ops).sum::<u32>() })
}
