//! Walks over the places that statements read and write.

use super::{Operand, Ref, Stmt};

/// Calls `read` for every operand and `write` for every written place, loops included.
pub fn places<'a>(
    stmts: &'a [Stmt],
    read: &mut impl FnMut(&'a Operand),
    write: &mut impl FnMut(&'a Ref),
) {
    for stmt in stmts {
        match stmt {
            Stmt::Eq(eq) => {
                eq.args.iter().for_each(&mut *read);
                write(&eq.dst);
            }
            Stmt::Call(call) => {
                call.args.iter().for_each(&mut *read);
                call.dsts.iter().for_each(&mut *write);
            }
            Stmt::Loop(it) => {
                it.carried.iter().for_each(|c| read(&c.init));
                places(&it.body, read, write);
                it.carried.iter().for_each(|c| read(&c.next));
            }
            Stmt::Unrolled(it) => it.iterations.iter().for_each(|body| places(body, read, write)),
        }
    }
}

/// Lets `change` rewrite every place, read or written; `true` marks a write.
pub fn places_mut(stmts: &mut [Stmt], change: &mut impl FnMut(&mut Ref, bool)) {
    for stmt in stmts {
        match stmt {
            Stmt::Eq(eq) => {
                operands_mut(&mut eq.args, change);
                change(&mut eq.dst, true);
            }
            Stmt::Call(call) => {
                operands_mut(&mut call.args, change);
                call.dsts.iter_mut().for_each(|dst| change(dst, true));
            }
            Stmt::Loop(it) => {
                for carried in &mut it.carried {
                    operands_mut(std::slice::from_mut(&mut carried.init), change);
                    operands_mut(std::slice::from_mut(&mut carried.next), change);
                    let mut place = Ref::at(carried.var, 0);
                    change(&mut place, true);
                    carried.var = place.var;
                }
                places_mut(&mut it.body, change);
            }
            Stmt::Unrolled(it) => {
                it.iterations.iter_mut().for_each(|body| places_mut(body, change))
            }
        }
    }
}

fn operands_mut(args: &mut [Operand], change: &mut impl FnMut(&mut Ref, bool)) {
    for arg in args {
        if let Operand::Ref(place) = arg {
            change(place, false);
        }
    }
}

/// Number of equations and calls, each loop body counted once.
pub fn n_equations(stmts: &[Stmt]) -> usize {
    stmts
        .iter()
        .map(|stmt| match stmt {
            Stmt::Eq(_) | Stmt::Call(_) => 1,
            Stmt::Loop(it) => n_equations(&it.body),
            Stmt::Unrolled(it) => it.iterations.iter().map(|body| n_equations(body)).sum(),
        })
        .sum()
}

/// Calls `visit` for every call, loops included.
pub fn calls<'a>(stmts: &'a [Stmt], visit: &mut impl FnMut(&'a super::Call)) {
    for stmt in stmts {
        match stmt {
            Stmt::Eq(_) => {}
            Stmt::Call(call) => visit(call),
            Stmt::Loop(it) => calls(&it.body, visit),
            Stmt::Unrolled(it) => it.iterations.iter().for_each(|body| calls(body, visit)),
        }
    }
}
