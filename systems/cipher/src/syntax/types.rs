//! Types as they stand in declarations: `u32x4[26]`, `u<H>16x8`, `b64`, `v4`, `u'm`.

use super::ast::{AExprKind, Dir, Size, Type};
use super::lexer::Token;
use super::parser::{Parsed, Parser};
use super::source::Loc;

/// Most words of one variable: a million, more than any cipher's key schedule needs.
pub const ATOMS_MAX: u64 = 1 << 20;

impl Parser<'_> {
    pub(super) fn ty(&mut self) -> Parsed<Type> {
        let start = self.loc();
        if self.eat_word("nat") {
            return Ok(Type::Nat);
        }
        let Token::Word(word) = self.peek().clone() else {
            return self.fail("a type such as `u32x4`, `b64` or `v4`");
        };
        self.next();
        let (head, rest) = word.split_at(1);
        if !matches!(head, "u" | "b" | "v") {
            return self.bad_type(start);
        }
        let mut dir = Dir::Var("D".into());
        let mut rest: String = rest.to_string();
        if rest.is_empty() {
            if self.eat_punct("<") {
                dir = self.dir()?;
                self.expect(">")?;
            }
            match self.peek().clone() {
                Token::Int(int) => rest = int.to_string(),
                Token::Quoted(name) => rest = format!("'{name}"),
                _ => return self.bad_type(start),
            }
            self.next();
        }
        // The `xn` may have become a word of its own: `u<H>16x8`, `u'm x4`.
        if let Token::Word(next) = self.peek().clone()
            && let Some(digits) = next.strip_prefix('x')
            && digits.bytes().all(|b| b.is_ascii_digit())
            && head == "u"
        {
            self.next();
            let count = if digits.is_empty() {
                self.small_int()?.0.to_string()
            } else {
                digits.to_string()
            };
            rest = format!("{rest}x{count}");
        }
        let Some((m, vector)) = base_type(head, &rest) else { return self.bad_type(start) };
        let base_loc = self.since(start);
        if let Size::Fixed(bits) = m
            && !(1..=64).contains(&bits)
        {
            return self.fail_at(
                base_loc,
                format!("a word has 1 to 64 bits, not {bits}"),
                "write an array for more",
            );
        }
        let mut dims = Vec::new();
        while self.eat_punct("[") {
            let size = self.aexpr()?;
            match size.kind {
                AExprKind::Int(n) if (1..=u32::MAX.into()).contains(&n) => dims.push(n as u32),
                AExprKind::Int(n) => {
                    return self.fail_at(
                        size.loc,
                        format!("an array cannot have {n} elements"),
                        "at least 1",
                    );
                }
                _ => {
                    return self.fail_at(
                        size.loc,
                        "the size of an array must be a number".into(),
                        "no names here",
                    );
                }
            }
            self.expect("]")?;
        }
        dims.extend(vector);
        let n_atoms = dims.iter().try_fold(1u64, |n, d| n.checked_mul(u64::from(*d)));
        if n_atoms.is_none_or(|n| n > ATOMS_MAX) {
            return self.fail_at(
                self.since(start),
                format!("a variable has at most {ATOMS_MAX} words"),
                "too large",
            );
        }
        if dims.contains(&0) {
            return self.fail_at(
                base_loc,
                "a vector needs at least one element".into(),
                "0 elements",
            );
        }
        Ok(Type::Words { dir, m, dims })
    }

    fn bad_type<T>(&mut self, start: Loc) -> Parsed<T> {
        let loc = self.since(start);
        self.fail_at(
            loc,
            "this is not a type".into(),
            "types look like `u32`, `u16x4`, `u<H>16x8`, `b64`, `v4`, `u32x4[26]`, `nat`",
        )
    }

    fn dir(&mut self) -> Parsed<Dir> {
        let loc = self.loc();
        match self.next() {
            Token::Word(w) if &*w == "H" => Ok(Dir::H),
            Token::Word(w) if &*w == "V" => Ok(Dir::V),
            Token::Word(w) if &*w == "B" => Ok(Dir::B),
            Token::Quoted(name) => Ok(Dir::Var(name)),
            Token::Int(int) if u32::try_from(&int).is_ok_and(|n| n > 0) => {
                Ok(Dir::Slice(u32::try_from(&int).unwrap_or(1)))
            }
            _ => self.fail_at(
                loc,
                "a direction is H, V, B, a number or a variable such as 'D".into(),
                "here",
            ),
        }
    }
}

/// The word size and vector length after `u`, `b` or `v`: `32x4`, `'m`, `'mx4`, `64`.
fn base_type(head: &str, rest: &str) -> Option<(Size, Option<u32>)> {
    if head != "u" {
        let n = plain_int(rest)?;
        let m = if head == "b" { Size::Fixed(1) } else { Size::Var("m".into()) };
        return Some((m, Some(n)));
    }
    let (m, n) = match rest.rfind('x') {
        Some(at)
            if !rest[at + 1..].is_empty() && rest[at + 1..].bytes().all(|b| b.is_ascii_digit()) =>
        {
            (&rest[..at], Some(plain_int(&rest[at + 1..])?))
        }
        _ => (rest, None),
    };
    match m.strip_prefix('\'') {
        Some("") => None,
        Some(name) => Some((Size::Var(name.into()), n)),
        None => Some((Size::Fixed(plain_int(m)?), n)),
    }
}

fn plain_int(text: &str) -> Option<u32> {
    if text.bytes().all(|b| b.is_ascii_digit()) { text.parse().ok() } else { None }
}
