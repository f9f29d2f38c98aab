//! Types of words while a node is elaborated: how two of them join, and how messages name them.

use crate::ir::{Dir, Operand, RIGID, Ty};
use crate::syntax::ast::{self, Size, Type};

use super::Instance;

/// One word of a value.
#[derive(Debug, Clone)]
pub struct Atom {
    pub op: Operand,
    pub ty: Ty,
}

impl Instance {
    /// The word type of a declared type (not nat).
    pub fn word_ty(&self, ty: &Type) -> Ty {
        let Type::Words { dir, m, .. } = ty else { panic!("nat parameters have no word type") };
        let dir = match dir {
            ast::Dir::H => Dir::H,
            ast::Dir::V => Dir::V,
            ast::Dir::B => Dir::B,
            ast::Dir::Slice(n) => Dir::Slice(*n),
            ast::Dir::Var(name) => {
                self.dirs.get(name).or_else(|| self.dirs.get("D")).copied().unwrap_or(Dir::Any)
            }
        };
        let m = match m {
            Size::Fixed(m) => *m,
            Size::Var(name) => self.sizes.get(name).copied().unwrap_or(RIGID),
        };
        Ty { m, dir }
    }
}

/// The common type of two words, if they can be operands of one operation.
pub fn join(a: Ty, b: Ty) -> Option<Ty> {
    let m = match (a.m >= RIGID, b.m >= RIGID) {
        (false, false) if a.m != b.m => return None,
        (true, false) => b.m,
        _ => a.m,
    };
    let dir = match (a.dir, b.dir) {
        (Dir::Any, dir) | (dir, Dir::Any) => dir,
        (a, b) if a == b => a,
        _ => return None,
    };
    Some(Ty { m, dir })
}

/// A value's type in words: `u16x8`, `b64`, `2 words of 16 and 8 bits`.
pub fn describe(tys: &[Ty]) -> String {
    let Some(first) = tys.first() else { return "nothing".into() };
    if tys.iter().any(|ty| ty != first) {
        let sizes: Vec<String> = tys.iter().take(8).map(Ty::to_string).collect();
        let more = if tys.len() > 8 { ", .." } else { "" };
        return format!("{} words ({}{more})", tys.len(), sizes.join(", "));
    }
    match (first.m, tys.len()) {
        (1, n) => format!("b{n}"),
        (_, 1) => first.to_string(),
        (_, n) => format!("{first}x{n}"),
    }
}
