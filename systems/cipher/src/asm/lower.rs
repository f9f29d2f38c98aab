//! A node without calls as machine operations: straight blocks, and the loops that the program
//! keeps.
//!
//! A word used in only one block becomes a value. Words used in several blocks, and arrays that a
//! counter indexes, stay in memory: the caller's or the stack frame. What a loop carries from
//! iteration to iteration is a value if its body is a single block; otherwise it lies in two
//! buffers, one read and one written, which are swapped at the end of the iteration.

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use smallvec::smallvec;

use super::ops::Maker;
use super::steps::{
    Address, Base, Block, BodyItem, CarriedValue, FRAME, Memory, NONE, Step, StepFunction,
    StepKind, StepLoop, Value, ValueOrigin,
};
use crate::emit_c::Shape;
use crate::ir::{self, Body, Node, Op, Operand, Ref, Stmt, VarId};

/// Why a node is left to the C compiler.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AssemblyRefused {
    /// It calls another node.
    Calls,
    /// An operation that the target does not have.
    Operation(String),
}

impl AssemblyRefused {
    /// The reason, as the end of a sentence.
    pub fn text(&self) -> String {
        match self {
            AssemblyRefused::Calls => "it calls nodes that are not inlined".into(),
            AssemblyRefused::Operation(op) => format!("the target has no {op}"),
        }
    }
}

/// The function `name` of a node.
pub fn lower(node: &Node, shape: Shape, name: &str) -> Result<StepFunction, AssemblyRefused> {
    let Body::Stmts(stmts) = &node.body else { return Err(AssemblyRefused::Calls) };
    let function = StepFunction {
        name: name.into(),
        addresses: vec![Address { base: Base::Frame(0), terms: vec![] }],
        word_bytes: shape.register_bits() as i32 / 8,
        ..StepFunction::default()
    };
    let mut lower = Lower {
        node,
        shape,
        function,
        homes: HashMap::default(),
        shared: shared_words(node, stmts),
        tables: HashMap::default(),
        carried: HashMap::default(),
        block: Open::default(),
    };
    lower.homes(stmts);
    let mut items = Vec::new();
    lower.stmts(stmts, &mut items)?;
    lower.close(&mut items);
    lower.function.items = items;
    Ok(lower.function)
}

/// Words that more than one block uses, by variable and index, and variables
/// that a counter indexes.
struct Shared {
    words: HashSet<(VarId, i64)>,
    indexed: HashSet<VarId>,
}

fn shared_words(node: &Node, stmts: &[Stmt]) -> Shared {
    let mut shared = Shared { words: HashSet::default(), indexed: HashSet::default() };
    let mut first: HashMap<(VarId, i64), u32> = HashMap::default();
    let mut touch = |place: &Ref, block: u32| {
        if !place.index.terms.is_empty() {
            shared.indexed.insert(place.var);
        } else if *first.entry((place.var, place.index.base())).or_insert(block) != block {
            shared.words.insert((place.var, place.index.base()));
        }
    };
    touches(stmts, &mut 0, &mut touch);
    shared.indexed.retain(|var| !node.params.contains(var) && !node.results.contains(var));
    shared
}

/// Calls `touch` with every place and the number of its block, in the order in
/// which [`Lower`] closes blocks.
fn touches(stmts: &[Stmt], block: &mut u32, touch: &mut dyn FnMut(&Ref, u32)) {
    fn operand(operand: &Operand, block: u32, touch: &mut dyn FnMut(&Ref, u32)) {
        if let Operand::Ref(place) = operand {
            touch(place, block);
        }
    }
    for stmt in stmts {
        match stmt {
            Stmt::Eq(eq) => {
                eq.args.iter().for_each(|arg| operand(arg, *block, touch));
                touch(&eq.dst, *block);
            }
            Stmt::Loop(it) => {
                it.carried.iter().for_each(|c| operand(&c.init, *block, touch));
                *block += 1;
                touches(&it.body, block, touch);
                it.carried.iter().for_each(|c| operand(&c.next, *block, touch));
                *block += 1;
            }
            Stmt::Call(_) | Stmt::Unrolled(_) => {}
        }
    }
}

/// The block under construction.
#[derive(Default)]
struct Open {
    block: Block,
    /// The value of each place.
    known: HashMap<Ref, Value>,
    /// Stores to places that a counter indexes.
    stored: Vec<(Ref, u32)>,
}

struct Lower<'a> {
    node: &'a Node,
    shape: Shape,
    function: StepFunction,
    /// The memory of each variable or shared word; a whole variable has index -1.
    homes: HashMap<(VarId, i64), Memory>,
    shared: Shared,
    tables: HashMap<VarId, u32>,
    /// The memory from which carried variables are read.
    carried: HashMap<VarId, Memory>,
    block: Open,
}

impl Lower<'_> {
    fn address(&mut self, address: Address) -> u32 {
        let known = self.function.addresses.iter().position(|it| *it == address);
        known.unwrap_or_else(|| {
            self.function.addresses.push(address);
            self.function.addresses.len() - 1
        }) as u32
    }

    fn room(&mut self, words: i32) -> i32 {
        let at = self.function.frame_bytes;
        self.function.frame_bytes += words * self.function.word_bytes;
        at
    }

    /// Gives parameters, results, indexed arrays and shared words their places.
    fn homes(&mut self, stmts: &[Stmt]) {
        let interface: Vec<VarId> =
            self.node.params.iter().chain(&self.node.results).copied().collect();
        for (k, var) in interface.iter().enumerate() {
            let address = self.address(Address { base: Base::Pointer(k as u32), terms: vec![] });
            self.homes.insert((*var, -1), Memory { address, offset: 0 });
        }
        let mut indexed: Vec<VarId> = self.shared.indexed.iter().copied().collect();
        indexed.sort_unstable();
        let tables = constant_arrays(stmts);
        for var in indexed {
            if tables.get(&var) == Some(&true) {
                let table = self.function.tables.len() as u32;
                self.function.tables.push(vec![None; self.node.vars[var.idx()].len as usize]);
                let address = self.address(Address { base: Base::Table(table), terms: vec![] });
                self.homes.insert((var, -1), Memory { address, offset: 0 });
                self.tables.insert(var, table);
                continue;
            }
            let offset = self.room(self.node.vars[var.idx()].len as i32);
            self.homes.insert((var, -1), Memory { address: FRAME, offset });
        }
        let mut carried = HashSet::default();
        loops(stmts, &mut |it| carried.extend(it.carried.iter().map(|c| c.var)));
        let mut words: Vec<(VarId, i64)> = self.shared.words.iter().copied().collect();
        words.sort_unstable();
        for word in words {
            if !carried.contains(&word.0) && !self.homes.contains_key(&(word.0, -1)) {
                let offset = self.room(1);
                self.homes.insert(word, Memory { address: FRAME, offset });
            }
        }
    }

    /// The memory of a word, if it has any.
    fn memory(&mut self, place: &Ref) -> Option<Memory> {
        if let Some(memory) = self.carried.get(&place.var) {
            return Some(*memory);
        }
        let size = i64::from(self.function.word_bytes);
        let Some(home) = self.homes.get(&(place.var, -1)).copied() else {
            return self.homes.get(&(place.var, place.index.base())).copied();
        };
        let offset = place.index.base() * size;
        if place.index.terms.is_empty() {
            return Some(Memory { address: home.address, offset: home.offset + offset as i32 });
        }
        // Each counter moves its own address; in the frame that starts at the array's first word.
        let terms = place.index.terms.iter().map(|(id, k)| (*id, k * size)).collect();
        let base = if home.address == FRAME {
            Base::Frame(home.offset)
        } else {
            self.function.addresses[home.address as usize].base
        };
        let address = self.address(Address { base, terms });
        Some(Memory { address, offset: offset as i32 })
    }

    fn maker(&mut self, place: u32) -> Maker<'_> {
        Maker {
            shape: self.shape,
            block: &mut self.block.block,
            constants: &mut self.function.constants,
            place,
        }
    }

    fn operand(&mut self, operand: &Operand, place: u32) -> Value {
        let at = match operand {
            Operand::Const(value) => return self.maker(place).constant(*value),
            Operand::Ref(at) => at,
        };
        if let Some(value) = self.block.known.get(at) {
            return *value;
        }
        let memory = self.memory(at).expect("a word of another block lies in memory");
        let value = self.maker(place).value(ValueOrigin::Memory(memory));
        for (stored, step) in &self.block.stored {
            if stored.var == at.var && stored.index.terms != at.index.terms {
                self.block.block.after.push((value, *step));
            }
        }
        self.block.known.insert(at.clone(), value);
        value
    }

    fn define(&mut self, dst: &Ref, value: Value, place: u32) {
        self.block.known.insert(dst.clone(), value);
        if let Some(table) = self.tables.get(&dst.var) {
            let ValueOrigin::Constant(id) = self.block.block.origins[value as usize] else {
                panic!("a table has constants")
            };
            self.function.tables[*table as usize][dst.index.base() as usize] = Some(id);
            return;
        }
        if let Some(memory) = self.memory(dst) {
            self.maker(place).store(value, memory);
            self.block.stored.push((dst.clone(), self.block.block.steps.len() as u32 - 1));
        }
    }

    fn stmts(&mut self, stmts: &[Stmt], items: &mut Vec<BodyItem>) -> Result<(), AssemblyRefused> {
        for stmt in stmts {
            match stmt {
                Stmt::Eq(eq) => {
                    let place = eq.loc.start;
                    let args: Vec<Value> =
                        eq.args.iter().map(|arg| self.operand(arg, place)).collect();
                    let value = self.maker(place).op(&eq.op, &args);
                    let value = value.ok_or_else(|| {
                        AssemblyRefused::Operation(format!("`{}` on words of this size", eq.op))
                    })?;
                    self.define(&eq.dst, value, place);
                }
                Stmt::Loop(it) => self.kept_loop(it, items)?,
                Stmt::Call(_) => return Err(AssemblyRefused::Calls),
                Stmt::Unrolled(_) => panic!("`loops` has decided about every loop"),
            }
        }
        Ok(())
    }

    fn close(&mut self, items: &mut Vec<BodyItem>) {
        let open = std::mem::take(&mut self.block);
        if !open.block.steps.is_empty() || !open.block.carried.is_empty() {
            items.push(BodyItem::Block(open.block));
        }
    }

    fn kept_loop(
        &mut self,
        it: &ir::Loop,
        items: &mut Vec<BodyItem>,
    ) -> Result<(), AssemblyRefused> {
        let pair = (!it.carried.is_empty()).then(|| self.pair(it, items));
        self.close(items);
        let mut body = Vec::new();
        let is_straight = it.body.iter().all(|stmt| matches!(stmt, Stmt::Eq(_)));
        if is_straight {
            for (k, carried) in it.carried.iter().enumerate() {
                let from = self.maker(0).value(ValueOrigin::Carried(k as u32));
                self.block.known.insert(Ref::at(carried.var, 0), from);
                self.block.block.carried.push(CarriedValue {
                    from,
                    next: 0,
                    offset: k as i32 * self.function.word_bytes,
                });
            }
        }
        self.stmts(&it.body, &mut body)?;
        for (k, carried) in it.carried.iter().enumerate() {
            let next = self.operand(&carried.next, 0);
            if is_straight {
                self.block.block.carried[k].next = next;
                let step = Step {
                    kind: StepKind::Keep(k as u32),
                    lane: 0,
                    dst: NONE,
                    args: smallvec![next],
                    place: 0,
                };
                self.block.block.steps.push(step);
            } else {
                let address = self.address(Address {
                    base: Base::Buffer(pair.expect("it carries"), true),
                    terms: vec![],
                });
                let offset = k as i32 * self.function.word_bytes;
                self.maker(0).store(next, Memory { address, offset });
            }
        }
        self.close(&mut body);
        items.push(BodyItem::Loop(StepLoop { id: it.id, n: it.n, body, pair }));
        Ok(())
    }

    /// Allocates the buffers of a loop and stores the first values there.
    fn pair(&mut self, it: &ir::Loop, _items: &mut Vec<BodyItem>) -> u32 {
        let pair = self.function.pairs.len() as u32;
        let n = it.carried.len() as i32;
        let buffers = [self.room(n), self.room(n)];
        self.function.pairs.push(buffers);
        let address = self.address(Address { base: Base::Buffer(pair, false), terms: vec![] });
        let _written = self.address(Address { base: Base::Buffer(pair, true), terms: vec![] });
        for (k, carried) in it.carried.iter().enumerate() {
            let memory = Memory { address, offset: k as i32 * self.function.word_bytes };
            let init = self.operand(&carried.init, 0);
            self.maker(0).store(init, memory);
            self.carried.insert(carried.var, memory);
        }
        pair
    }
}

/// The variables that are written, and whether only with constants at constant indices.
fn constant_arrays(stmts: &[Stmt]) -> HashMap<VarId, bool> {
    let mut arrays: HashMap<VarId, bool> = HashMap::default();
    fn walk(stmts: &[Stmt], arrays: &mut HashMap<VarId, bool>) {
        for stmt in stmts {
            match stmt {
                Stmt::Eq(eq) => {
                    let is_constant = eq.op == Op::Copy
                        && matches!(eq.args[0], Operand::Const(_))
                        && eq.dst.index.constant().is_some();
                    *arrays.entry(eq.dst.var).or_insert(true) &= is_constant;
                }
                Stmt::Loop(it) => walk(&it.body, arrays),
                Stmt::Call(_) | Stmt::Unrolled(_) => {}
            }
        }
    }
    walk(stmts, &mut arrays);
    arrays
}

fn loops<'a>(stmts: &'a [Stmt], visit: &mut impl FnMut(&'a ir::Loop)) {
    for stmt in stmts {
        if let Stmt::Loop(it) = stmt {
            visit(it);
            loops(&it.body, visit);
        }
    }
}
