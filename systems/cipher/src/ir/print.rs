//! The core form as text, for `--dump-after` and for golden tests.

use std::fmt::{Display, Formatter, Result};

use super::{Body, Index, Node, Op, Operand, Program, Ref, Stmt, Table};

impl Display for Program {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        for (idx, node) in self.nodes.iter().enumerate() {
            let mark = if self.entries.iter().any(|e| e.idx() == idx) { "entry " } else { "" };
            write!(f, "{mark}")?;
            self.node(f, node)?;
        }
        Ok(())
    }
}

impl Program {
    fn node(&self, f: &mut Formatter<'_>, node: &Node) -> Result {
        let list = |vars: &[super::VarId]| -> Vec<String> {
            vars.iter()
                .map(|v| {
                    let var = &node.vars[v.idx()];
                    format!("{}[{}]:{}", var_name(node, *v), var.len, var.ty)
                })
                .collect()
        };
        writeln!(
            f,
            "node {}({}) -> ({})",
            node.name,
            list(&node.params).join(", "),
            list(&node.results).join(", ")
        )?;
        match &node.body {
            Body::Stmts(stmts) => self.stmts(f, node, stmts, 1),
            Body::Perm(list) => writeln!(f, "  perm {list:?}"),
            Body::Table(table) => writeln!(f, "  {table}"),
        }
    }

    fn stmts(&self, f: &mut Formatter<'_>, node: &Node, stmts: &[Stmt], depth: usize) -> Result {
        let pad = "  ".repeat(depth);
        for stmt in stmts {
            match stmt {
                Stmt::Eq(eq) => {
                    let args: Vec<String> = eq.args.iter().map(|a| operand(node, a)).collect();
                    writeln!(f, "{pad}{} = {} {}", place(node, &eq.dst), eq.op, args.join(", "))?;
                }
                Stmt::Call(call) => {
                    let dsts: Vec<String> = call.dsts.iter().map(|d| place(node, d)).collect();
                    let args: Vec<String> = call.args.iter().map(|a| operand(node, a)).collect();
                    writeln!(
                        f,
                        "{pad}{} = {}({})",
                        dsts.join(", "),
                        self.nodes[call.node.idx()].name,
                        args.join(", ")
                    )?;
                }
                Stmt::Loop(it) => {
                    writeln!(f, "{pad}loop i{} < {}:", it.id.0, it.n)?;
                    for c in &it.carried {
                        let (init, next) = (operand(node, &c.init), operand(node, &c.next));
                        writeln!(
                            f,
                            "{pad}  carried {} from {init} to {next}",
                            var_name(node, c.var)
                        )?;
                    }
                    self.stmts(f, node, &it.body, depth + 1)?;
                }
                Stmt::Unrolled(it) => {
                    for (k, body) in it.iterations.iter().enumerate() {
                        writeln!(f, "{pad}iteration {k} of {}:", it.name)?;
                        self.stmts(f, node, body, depth + 1)?;
                    }
                }
            }
        }
        Ok(())
    }
}

fn var_name(node: &Node, var: super::VarId) -> String {
    format!("{}.{}", node.vars[var.idx()].name, var.0)
}

fn place(node: &Node, place: &Ref) -> String {
    let name = var_name(node, place.var);
    if node.vars[place.var.idx()].len == 1 { name } else { format!("{name}[{}]", place.index) }
}

fn operand(node: &Node, operand: &Operand) -> String {
    match operand {
        Operand::Ref(at) => place(node, at),
        Operand::Const(value) => format!("{value:#x}"),
    }
}

impl Display for Index {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{}", self.base())?;
        self.terms.iter().try_for_each(|(id, k)| write!(f, "{k:+}*i{}", id.0))
    }
}

impl Display for Table {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let order = if self.lsb_first { "lsb" } else { "msb" };
        write!(f, "table {} -> {} {order} first {:?}", self.n_inputs, self.n_outputs, self.entries)
    }
}

impl Display for super::Ty {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let dir = match self.dir {
            super::Dir::H => "<H>".into(),
            super::Dir::V => "<V>".into(),
            super::Dir::B => "<B>".into(),
            super::Dir::Slice(n) => format!("<{n}>"),
            super::Dir::Any => String::new(),
        };
        if self.m >= super::RIGID { write!(f, "u{dir}'m") } else { write!(f, "u{dir}{}", self.m) }
    }
}

impl Display for Op {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Op::Copy => write!(f, "copy"),
            Op::Not => write!(f, "not"),
            Op::And => write!(f, "and"),
            Op::Or => write!(f, "or"),
            Op::Xor => write!(f, "xor"),
            Op::AndNot => write!(f, "andnot"),
            Op::Ternary(table) => write!(f, "ternary({table:#04x})"),
            Op::Add => write!(f, "add"),
            Op::Sub => write!(f, "sub"),
            Op::Mul => write!(f, "mul"),
            Op::Div => write!(f, "div"),
            Op::Mod => write!(f, "mod"),
            Op::Shl(n) => write!(f, "shl({n})"),
            Op::Shr(n) => write!(f, "shr({n})"),
            Op::Sar(n) => write!(f, "sar({n})"),
            Op::Rotl(n) => write!(f, "rotl({n})"),
            Op::Shuffle(pattern) => write!(f, "shuffle({pattern:?})"),
            Op::Bitmask(n) => write!(f, "bitmask({n})"),
            Op::Pack(low) => write!(f, "pack({low})"),
            Op::Refresh => write!(f, "refresh"),
        }
    }
}
