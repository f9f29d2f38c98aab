//! The products of a program in the order of their execution, each operand as linear forms.
//!
//! What a product or a refresh makes has fresh shares, so its bits are new variables; so are the
//! bits of keys and inputs. Constants do not matter to a probe and are left out.
//!
//! ```text
//! t = and a, b             t -> t
//! y = xor t, a      --->   y -> y        y is as fresh as t, of which nothing else is made:
//! z = and y, a             (y, a)        it is the variable, which keeps forms short
//! ```

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use std::rc::Rc;

use report::Diagnostic;

use super::space::{Form, sum};
use super::unmaskable;
use crate::emit_c::{Source, Unit};
use crate::ir::visit::{n_equations, places};
use crate::ir::{Body, Eq, Node, NodeId, Op, Operand, Program, Ref, Stmt, VarId};
use crate::passes::order::{Cells, set};

/// An operand of a product in the text of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Site {
    pub node: NodeId,
    /// The number of its equation among those of the node, each loop body counted once.
    pub equation: usize,
    /// The operand: 0 for the first, 1 for the second.
    pub side: usize,
}

/// A product that is executed.
#[derive(Debug)]
pub struct Product {
    /// Its node, and its equation there.
    pub at: (NodeId, usize),
    /// A form for each bit of each operand.
    pub operands: [Rc<Vec<Form>>; 2],
}

/// What one part of a program executes.
#[derive(Debug, Clone, Copy, Default, serde::Serialize)]
pub struct GadgetCount {
    /// Products of two shared words.
    pub products: u64,
    pub refreshes: u64,
}

/// A program as the adversary sees it.
#[derive(Debug, Default)]
pub struct SharedCircuit {
    /// In the order of execution.
    pub products: Vec<Product>,
    /// Of the key schedule.
    pub keys: GadgetCount,
    /// Of the node that works on blocks.
    pub entry: GadgetCount,
}

/// A word: a form for each bit from the most significant, and whether nothing else is made of
/// the variables that are its bits.
#[derive(Debug, Clone)]
struct SharedWord {
    bits: Rc<Vec<Form>>,
    is_own: bool,
}

/// The circuit of a unit's schedule and entry with these operands refreshed. `is_keyless` leaves
/// out the schedule and takes all but the input for known: what the blocks of a batch do not share.
///
/// Errors: an operation that has no masked form.
pub fn circuit(
    program: &Program,
    unit: &Unit,
    refreshed: &HashSet<Site>,
    is_keyless: bool,
) -> Result<SharedCircuit, Vec<Diagnostic>> {
    let uses = program.nodes.iter().map(own_words).collect();
    let mut walk = CircuitWalk {
        program,
        refreshed,
        uses,
        n_columns: 0,
        executed: GadgetCount::default(),
        products: vec![],
    };
    let mut fields: HashMap<usize, Vec<SharedWord>> = HashMap::default();
    let mut schedule: Vec<SharedWord> = Vec::new();
    let mut keys = GadgetCount::default();
    for stage in unit.schedule.iter().chain([&unit.entry]) {
        let node = &program.nodes[stage.node.idx()];
        let mut args: Vec<SharedWord> = Vec::new();
        for (source, var) in stage.params.iter().zip(&node.params) {
            let (n, m) = (node.vars[var.idx()].len as usize, node.vars[var.idx()].ty.m);
            match source {
                Source::Schedule(at) => args.extend_from_slice(&schedule[*at..at + n]),
                Source::Field(idx) => {
                    let is_known = is_keyless && unit.fields[*idx].name != "input";
                    let words = fields.entry(*idx).or_insert_with(|| {
                        (0..n)
                            .map(|_| if is_known { SharedWord::known(m) } else { walk.fresh(m) })
                            .collect()
                    });
                    args.extend_from_slice(words);
                }
            }
        }
        if std::ptr::eq(stage, &unit.entry) {
            walk.call(stage.node, args)?;
        } else if is_keyless {
            let words = node.words(&node.results);
            schedule = words.iter().map(|place| SharedWord::known(node.ty(place).m)).collect();
        } else {
            schedule = walk.call(stage.node, args)?;
            keys = std::mem::take(&mut walk.executed);
        }
    }
    Ok(SharedCircuit { products: walk.products, keys, entry: walk.executed })
}

/// The variables of a node that are read once, by an equation in the block that writes them.
fn own_words(node: &Node) -> HashSet<VarId> {
    let Body::Stmts(stmts) = &node.body else { return HashSet::default() };
    let mut reads: HashMap<VarId, usize> = HashMap::default();
    let mut read = |operand: &Operand| {
        if let Operand::Ref(place) = operand {
            *reads.entry(place.var).or_default() += 1;
        }
    };
    places(stmts, &mut read, &mut |_| {});
    let mut own = HashSet::default();
    own_in_block(stmts, &mut |var| {
        if node.vars[var.idx()].len == 1 && reads.get(&var) == Some(&1) {
            own.insert(var);
        }
    });
    node.results.iter().chain(&node.params).for_each(|var| {
        own.remove(var);
    });
    own
}

/// Calls `found` with the variables that an equation of a block writes and one of it reads.
fn own_in_block(stmts: &[Stmt], found: &mut impl FnMut(VarId)) {
    let mut written = HashSet::default();
    for stmt in stmts {
        match stmt {
            Stmt::Eq(eq) => {
                for arg in &eq.args {
                    if let Operand::Ref(place) = arg
                        && written.contains(&place.var)
                    {
                        found(place.var);
                    }
                }
                written.insert(eq.dst.var);
            }
            Stmt::Loop(it) => own_in_block(&it.body, found),
            Stmt::Call(_) | Stmt::Unrolled(_) => {}
        }
    }
}

struct CircuitWalk<'a> {
    program: &'a Program,
    refreshed: &'a HashSet<Site>,
    /// Of each node, the variables that [`own_words`] finds.
    uses: Vec<HashSet<VarId>>,
    n_columns: u32,
    executed: GadgetCount,
    products: Vec<Product>,
}

struct CircuitFrame<'a> {
    id: NodeId,
    node: &'a Node,
    cells: Cells,
    values: Vec<Option<SharedWord>>,
    counters: Vec<i64>,
}

impl SharedWord {
    fn known(m: u32) -> SharedWord {
        SharedWord { bits: Rc::new(vec![Form::new(); m as usize]), is_own: false }
    }

    /// The bits in other places, or left out.
    fn moved(&self, op: &Op, is_bijective: bool) -> SharedWord {
        let m = self.bits.len() as u32;
        let bit =
            |j| op.source_bit(j, m).map_or_else(Form::new, |from| self.bits[from as usize].clone());
        SharedWord { bits: Rc::new((0..m).map(bit).collect()), is_own: self.is_own && is_bijective }
    }

    fn xor(&self, other: &SharedWord) -> SharedWord {
        if self.is_own {
            return self.clone();
        }
        if other.is_own {
            return other.clone();
        }
        let bits = self.bits.iter().zip(other.bits.iter()).map(|(a, b)| sum(a, b)).collect();
        SharedWord { bits: Rc::new(bits), is_own: false }
    }

    /// Bits that a constant leaves, from the least significant.
    fn kept(&self, mask: u64) -> SharedWord {
        let m = self.bits.len();
        let bit = |(j, form): (usize, &Form)| {
            if mask >> (m - 1 - j) & 1 == 1 { form.clone() } else { Form::new() }
        };
        SharedWord { bits: Rc::new(self.bits.iter().enumerate().map(bit).collect()), is_own: false }
    }
}

impl CircuitFrame<'_> {
    fn word(&self, operand: &Operand, m: u32) -> SharedWord {
        match operand {
            Operand::Const(_) => SharedWord::known(m),
            Operand::Ref(place) => self.values[self.cells.of(place, &self.counters)]
                .clone()
                .expect("words are written before they are read"),
        }
    }

    fn put(&mut self, place: &Ref, word: SharedWord) {
        let cell = self.cells.of(place, &self.counters);
        self.values[cell] = Some(word);
    }
}

impl<'a> CircuitWalk<'a> {
    /// A word of new variables.
    fn fresh(&mut self, m: u32) -> SharedWord {
        let bits = (self.n_columns..self.n_columns + m).map(|column| vec![column]).collect();
        self.n_columns += m;
        SharedWord { bits: Rc::new(bits), is_own: false }
    }

    /// The results of a node.
    fn call(
        &mut self,
        id: NodeId,
        args: Vec<SharedWord>,
    ) -> Result<Vec<SharedWord>, Vec<Diagnostic>> {
        let node = &self.program.nodes[id.idx()];
        let Body::Stmts(stmts) = &node.body else {
            panic!("lookups and permutations are equations by now")
        };
        let cells = Cells::new(&node.vars);
        let values = vec![None; cells.count()];
        let mut frame = CircuitFrame { id, node, cells, values, counters: Vec::new() };
        for (place, word) in node.words(&node.params).iter().zip(args) {
            frame.put(place, SharedWord { is_own: false, ..word });
        }
        self.stmts(&mut frame, stmts, 0)?;
        let words = node.words(&node.results);
        Ok(words.into_iter().map(|place| frame.word(&place.into(), 0)).collect())
    }

    /// Executes statements, the first of which has this number.
    fn stmts(
        &mut self,
        frame: &mut CircuitFrame<'a>,
        stmts: &'a [Stmt],
        first: usize,
    ) -> Result<(), Vec<Diagnostic>> {
        let mut number = first;
        for stmt in stmts {
            match stmt {
                Stmt::Eq(eq) => {
                    let word = self.equation(frame, eq, number)?;
                    let is_own = word.is_own && self.uses[frame.id.idx()].contains(&eq.dst.var);
                    frame.put(&eq.dst, SharedWord { is_own, ..word });
                }
                Stmt::Call(call) => {
                    let callee = &self.program.nodes[call.node.idx()];
                    let params = callee.words(&callee.params);
                    let args = call.args.iter().zip(&params);
                    let args = args.map(|(arg, param)| frame.word(arg, callee.ty(param).m));
                    let results = self.call(call.node, args.collect())?;
                    for (dst, word) in call.dsts.iter().zip(results) {
                        frame.put(dst, SharedWord { is_own: false, ..word });
                    }
                }
                Stmt::Loop(it) => {
                    let carried =
                        |frame: &CircuitFrame, of: fn(&crate::ir::Carried) -> &Operand| {
                            let word = |carried| {
                                let m = frame.node.vars[(carried as &crate::ir::Carried).var.idx()]
                                    .ty
                                    .m;
                                SharedWord { is_own: false, ..frame.word(of(carried), m) }
                            };
                            it.carried.iter().map(word).collect::<Vec<_>>()
                        };
                    let mut next = carried(frame, |carried| &carried.init);
                    for k in 0..it.n {
                        for (carried, word) in it.carried.iter().zip(next) {
                            frame.put(&Ref::at(carried.var, 0), word);
                        }
                        set(&mut frame.counters, it.id, k.into());
                        self.stmts(frame, &it.body, number)?;
                        next = carried(frame, |carried| &carried.next);
                    }
                    for (carried, word) in it.carried.iter().zip(next) {
                        frame.put(&Ref::at(carried.var, 0), word);
                    }
                }
                Stmt::Unrolled(_) => panic!("`loops` has decided about every loop"),
            }
            number += n_equations(std::slice::from_ref(stmt));
        }
        Ok(())
    }

    fn equation(
        &mut self,
        frame: &CircuitFrame,
        eq: &Eq,
        number: usize,
    ) -> Result<SharedWord, Vec<Diagnostic>> {
        let m = frame.node.ty(&eq.dst).m;
        let arg = |side: usize| frame.word(&eq.args[side], m);
        Ok(match &eq.op {
            Op::Copy | Op::Not => arg(0),
            Op::Xor => arg(0).xor(&arg(1)),
            Op::And | Op::Or | Op::AndNot => match (&eq.args[0], &eq.args[1]) {
                (Operand::Const(_), Operand::Const(_)) => SharedWord::known(m),
                (Operand::Const(mask), _) => arg(1).kept(kept_bits(&eq.op, 0, *mask)),
                (_, Operand::Const(mask)) => arg(0).kept(kept_bits(&eq.op, 1, *mask)),
                _ => {
                    let mut operands = [0, 1].map(|side| arg(side).bits);
                    for (side, operand) in operands.iter_mut().enumerate() {
                        let site = Site { node: frame.id, equation: number, side };
                        if self.refreshed.contains(&site) {
                            self.executed.refreshes += 1;
                            *operand = self.fresh(m).bits;
                        }
                    }
                    self.executed.products += 1;
                    self.products.push(Product { at: (frame.id, number), operands });
                    SharedWord { is_own: true, ..self.fresh(m) }
                }
            },
            Op::Refresh => {
                self.executed.refreshes += 1;
                self.fresh(m)
            }
            Op::Rotl(_) => arg(0).moved(&eq.op, true),
            Op::Shl(_) | Op::Shr(_) | Op::Sar(_) | Op::Shuffle(_) | Op::Bitmask(_) => {
                arg(0).moved(&eq.op, false)
            }
            Op::Add | Op::Sub | Op::Mul | Op::Div | Op::Mod | Op::Pack(_) | Op::Ternary(_) => {
                return Err(unmaskable(&eq.op));
            }
        })
    }
}

/// The bits of one operand that a product keeps if the other, on this side, is a constant.
fn kept_bits(op: &Op, constant_side: usize, constant: u64) -> u64 {
    match (op, constant_side) {
        (Op::And, _) | (Op::AndNot, 0) => constant,
        _ => !constant,
    }
}
