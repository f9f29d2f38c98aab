//! What straight code computes, bit by bit, as a function of what was there before it. Two pieces
//! of code after which the registers hold equal words do the same.
//!
//! ```text
//! lsr  w0, w0, #4        bits 0 to 27 of w0 are bits 4 to 31 of what it was
//! and  w0, w0, #15       bits 0 to 3 are bits 4 to 7 of what it was, and zeros above
//! ubfx w0, w0, #4, #4    the same
//! ```
//!
//! A bit is a truth table over at most four leaves: bits of registers as they were at the
//! beginning, of what was loaded, carries. What would need a fifth leaf is a leaf of its own, named
//! by how it was made. Equal bits are therefore equal functions, and equality is a proof; bits that
//! differ may still be equal.

use std::collections::HashMap;
use std::rc::Rc;

use crate::decode::Isa;
use crate::decode::code::{
    Access, Class, Extends, IndexForm, Instruction, Op, Operation, Out, Reg, Relation, Role, Shift,
    Value,
};
use crate::facts::bits::Known;

type Leaf = u32;

const NONE: Leaf = Leaf::MAX;

/// A function of at most four leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bit {
    /// In ascending order, those that it depends on; [`NONE`] after the last.
    leaves: [Leaf; 4],
    /// Its value for each of the 16 states of them.
    table: u16,
}

/// What a register holds, the lowest bit first.
pub type Word = Rc<[Bit]>;

/// What a leaf is a bit of.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Node {
    /// A register at the beginning.
    Input(Reg),
    /// The truth table's four rows, of two bits that have too many leaves together.
    Gate(u8, Bit, Bit),
    Majority([Bit; 3]),
    /// None of these is set.
    Zero(Vec<Bit>),
    Less(Word, Word, bool),
    /// Carry or overflow of a sum.
    Flag(&'static str, Word, Word, Bit),
    Product(Word, Word),
    /// Shifted by a register.
    Shifted(u8, Word, Word),
    /// So many bytes at an address, after these stores.
    Load(Word, u8, u32),
    Store(u32, Word, Word),
    /// What an instruction that is not followed makes of all that it reads.
    Opaque(usize, Reg, Vec<Word>, u32),
}

/// What registers and memory hold, and whether the branch at the end is taken.
#[derive(Debug, Clone)]
pub struct State {
    words: HashMap<Reg, Word>,
    /// The stores so far, in their order.
    pub memory: u32,
    pub taken: Option<Bit>,
}

/// All nodes of one piece of code.
#[derive(Debug)]
pub struct Meaning {
    isa: Isa,
    bits: usize,
    nodes: HashMap<Node, u32>,
    /// Of a difference: a word that is zero exactly where it is.
    differences: HashMap<Word, Vec<Bit>>,
}

impl State {
    /// Those that are not as they were, and perhaps others.
    pub fn registers(&self) -> impl Iterator<Item = Reg> {
        self.words.keys().copied()
    }
}

impl Bit {
    const ZERO: Bit = Bit { leaves: [NONE; 4], table: 0 };
    const ONE: Bit = Bit { leaves: [NONE; 4], table: u16::MAX };

    fn constant(value: bool) -> Bit {
        if value { Bit::ONE } else { Bit::ZERO }
    }

    fn of(leaf: Leaf) -> Bit {
        Bit { leaves: [leaf, NONE, NONE, NONE], table: 0xaaaa }
    }

    /// Its value if it depends on nothing.
    fn known(self) -> Option<bool> {
        (self.leaves[0] == NONE).then_some(self.table != 0)
    }

    fn not(self) -> Bit {
        Bit { table: !self.table, ..self }
    }

    /// Its table over other leaves, which include its own.
    fn over(self, leaves: &[Leaf; 4]) -> u16 {
        if self.leaves == *leaves {
            return self.table;
        }
        let place = |leaf: Leaf| leaves.iter().position(|other| *other == leaf);
        let places: Vec<usize> = self
            .leaves
            .iter()
            .filter(|leaf| **leaf != NONE)
            .filter_map(|leaf| place(*leaf))
            .collect();
        let row = |state: usize| {
            places.iter().enumerate().fold(0, |row, (at, place)| row | (state >> place & 1) << at)
        };
        (0..16).fold(0, |table, state| table | (self.table >> row(state) & 1) << state)
    }

    /// The same function without the leaves that it does not depend on.
    fn reduced(leaves: [Leaf; 4], table: u16) -> Bit {
        let matters = |at: usize| {
            let is_set = [0xaaaa_u16, 0xcccc, 0xf0f0, 0xff00][at];
            (table & is_set) >> (1 << at) != table & !is_set
        };
        let mut kept = [NONE; 4];
        let own = (0..4).filter(|at| leaves[*at] != NONE && matters(*at)).map(|at| leaves[at]);
        own.enumerate().for_each(|(at, leaf)| kept[at] = leaf);
        if kept == leaves {
            return Bit { leaves, table };
        }
        let place = |leaf: Leaf| leaves.iter().position(|other| *other == leaf);
        let places: Vec<usize> =
            kept.iter().filter(|leaf| **leaf != NONE).filter_map(|leaf| place(*leaf)).collect();
        let row = |state: usize| {
            places.iter().enumerate().fold(0, |row, (at, place)| row | (state >> at & 1) << place)
        };
        let table = (0..16).fold(0, |smaller, state| smaller | (table >> row(state) & 1) << state);
        Bit { leaves: kept, table }
    }
}

/// The four rows of the operations on two bits: the second operand counts twice.
const AND: u8 = 0b1000;
const OR: u8 = 0b1110;
const XOR: u8 = 0b0110;

impl Meaning {
    pub fn new(isa: Isa) -> Meaning {
        let bits = usize::from(isa.conventions().bits);
        Meaning { isa, bits, nodes: HashMap::new(), differences: HashMap::new() }
    }

    /// Before the first instruction.
    pub fn start(&mut self) -> State {
        State { words: HashMap::new(), memory: 0, taken: None }
    }

    /// A register starts with bits that are known.
    pub fn knows(&mut self, state: &mut State, reg: Reg, known: Known) {
        let mut word = self.word(state, reg).to_vec();
        let n_signs = usize::from(known.n_signs).min(self.bits);
        let top = word[self.bits - 1];
        word[self.bits - n_signs..].fill(top);
        for (at, bit) in word.iter_mut().enumerate() {
            if known.zeros >> at & 1 != 0 {
                *bit = Bit::ZERO;
            } else if known.ones >> at & 1 != 0 {
                *bit = Bit::ONE;
            }
        }
        state.words.insert(reg, word.into());
    }

    /// What a register holds.
    pub fn word(&mut self, state: &State, reg: Reg) -> Word {
        if let Some(word) = state.words.get(&reg) {
            return word.clone();
        }
        if self.isa.conventions().zero == Some(reg) {
            return vec![Bit::ZERO; self.bits].into();
        }
        self.leaves(Node::Input(reg), self.bits).into()
    }

    /// These bits of a register are the same in both states.
    pub fn is_same(&mut self, one: &State, other: &State, reg: Reg, bits: u64) -> bool {
        let (one, other) = (self.word(one, reg), self.word(other, reg));
        std::rc::Rc::ptr_eq(&one, &other)
            || (0..self.bits).all(|at| bits >> at & 1 == 0 || one[at] == other[at])
    }

    /// One of the values that a register may hold: leaves are bits of `seed`.
    pub fn sample(&mut self, state: &State, reg: Reg, seed: u64) -> u64 {
        let value = |leaf: Leaf| {
            let mixed = (u64::from(leaf) + 1 + (seed << 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 63
        };
        let word = self.word(state, reg);
        word.iter().enumerate().fold(0, |number, (at, bit)| {
            let leaves = bit.leaves.iter().enumerate().filter(|(_, leaf)| **leaf != NONE);
            let row = leaves.fold(0, |row, (place, leaf)| row | value(*leaf) << place);
            number | u64::from(bit.table >> row & 1) << at
        })
    }

    fn node(&mut self, node: Node) -> u32 {
        let next = self.nodes.len() as u32 + 1;
        *self.nodes.entry(node).or_insert(next)
    }

    fn leaf(&mut self, node: Node) -> Bit {
        Bit::of(self.node(node) << 6)
    }

    fn leaves(&mut self, node: Node, n: usize) -> Vec<Bit> {
        let first = self.node(node) << 6;
        (0..n as u32).map(|at| Bit::of(first + at)).collect()
    }

    fn gate(&mut self, rows: u8, a: Bit, b: Bit) -> Bit {
        let mut leaves = [NONE; 4];
        let mut n = 0;
        for leaf in a.leaves.into_iter().chain(b.leaves).filter(|leaf| *leaf != NONE) {
            if leaves[..n].contains(&leaf) {
                continue;
            }
            if n == 4 {
                // All three are symmetric.
                return self.leaf(Node::Gate(rows, a.min(b), a.max(b)));
            }
            leaves[n] = leaf;
            n += 1;
        }
        leaves[..n].sort_unstable();
        let (a, b) = (a.over(&leaves), b.over(&leaves));
        let table = match rows {
            AND => a & b,
            OR => a | b,
            _ => a ^ b,
        };
        Bit::reduced(leaves, table)
    }

    fn gates(&mut self, rows: u8, a: &[Bit], b: &[Bit]) -> Vec<Bit> {
        a.iter().zip(b).map(|(a, b)| self.gate(rows, *a, *b)).collect()
    }

    fn majority(&mut self, a: Bit, b: Bit, c: Bit) -> Bit {
        let mut all = [a, b, c];
        all.sort_unstable();
        let [a, b, c] = all;
        for (known, first, second) in [(a, b, c), (b, a, c), (c, a, b)] {
            match known.known() {
                Some(false) => return self.gate(AND, first, second),
                Some(true) => return self.gate(OR, first, second),
                None => {}
            }
            if first == second {
                return first;
            }
            if first == second.not() {
                return known;
            }
        }
        self.leaf(Node::Majority(all))
    }

    fn sum(&mut self, a: &[Bit], b: &[Bit], mut carry: Bit) -> Vec<Bit> {
        let mut sum = Vec::with_capacity(a.len());
        for (a, b) in a.iter().zip(b) {
            let half = self.gate(XOR, *a, *b);
            sum.push(self.gate(XOR, half, carry));
            carry = self.majority(*a, *b, carry);
        }
        sum
    }

    /// `a - b`, and what is zero exactly where it is.
    fn difference(&mut self, a: &[Bit], b: &[Bit]) -> Vec<Bit> {
        let result = match number(b) {
            Some(by) => self.sum(a, &constant(by.wrapping_neg(), a.len()), Bit::ZERO),
            None => self.sum(a, &inverted(b), Bit::ONE),
        };
        let apart = self.gates(XOR, a, b);
        self.differences.entry(result.clone().into()).or_insert(apart);
        result
    }

    fn product(&mut self, a: &[Bit], b: &[Bit]) -> Vec<Bit> {
        let (low, high) = if a <= b { (a, b) } else { (b, a) };
        self.leaves(Node::Product(low.into(), high.into()), a.len())
    }

    fn zero(&mut self, word: &[Bit]) -> Bit {
        let word = self.differences.get(word).cloned().unwrap_or_else(|| word.to_vec());
        let mut open: Vec<Bit> = word.into_iter().filter(|bit| *bit != Bit::ZERO).collect();
        open.sort_unstable();
        open.dedup();
        match open[..] {
            [] => Bit::ONE,
            [one] => one.not(),
            _ if open.contains(&Bit::ONE) => Bit::ZERO,
            _ => self.leaf(Node::Zero(open)),
        }
    }

    fn less(&mut self, a: &[Bit], b: &[Bit], is_signed: bool) -> Bit {
        match (is_signed, number(a), number(b)) {
            (true, _, Some(0)) => a[a.len() - 1],
            (false, _, Some(0)) => Bit::ZERO,
            (false, _, Some(1)) => self.zero(a),
            (false, Some(0), _) => self.zero(b).not(),
            _ => self.leaf(Node::Less(a.into(), b.into(), is_signed)),
        }
    }

    /// An operand, cut to a width.
    fn value(&mut self, state: &State, value: Value, width: usize) -> Vec<Bit> {
        match value {
            Value::Const(it) => constant(it, width),
            Value::Reg(reg) => self.word(state, reg)[..width].to_vec(),
            Value::Shifted(reg, shift, by) => {
                shifted(&self.word(state, reg)[..width], shift, usize::from(by))
            }
            Value::Extended(reg, of, by) => {
                let low = extended(&self.word(state, reg)[..of.bits.into()], width, of.is_signed);
                shifted(&low, Shift::Left, by.into())
            }
        }
    }

    /// The result of an operation, or the difference, sum or mask of a comparison, in its width.
    fn compute(&mut self, state: &State, operation: &Operation) -> Option<Vec<Bit>> {
        let width = usize::from(operation.width);
        let a = self.value(state, operation.a, width);
        let b = self.value(state, operation.b, width);
        Some(match operation.op {
            Op::Move => a,
            Op::Not => inverted(&a),
            Op::And | Op::Test => self.gates(AND, &a, &b),
            Op::Or => self.gates(OR, &a, &b),
            Op::Xor | Op::TestEqual => self.gates(XOR, &a, &b),
            Op::AndNot => self.gates(AND, &a, &inverted(&b)),
            Op::OrNot => self.gates(OR, &a, &inverted(&b)),
            Op::Add | Op::CompareNegative => {
                let result = self.sum(&a, &b, Bit::ZERO);
                if let Some(by) = number(&b) {
                    let apart = self.gates(XOR, &a, &constant(by.wrapping_neg(), width));
                    self.differences.entry(result.clone().into()).or_insert(apart);
                }
                result
            }
            Op::Sub | Op::Compare => self.difference(&a, &b),
            Op::ReverseSub => self.difference(&b, &a),
            Op::Shift(shift) => match operation.b {
                Value::Const(by) => shifted(&a, shift, (by & 63) as usize),
                _ => {
                    let node = Node::Shifted(shift as u8, a.into(), b.into());
                    self.leaves(node, width)
                }
            },
            Op::ZeroExtend { bits } => extended(&a[..usize::from(bits).min(width)], width, false),
            Op::SignExtend { bits } => extended(&a[..usize::from(bits).min(width)], width, true),
            Op::Field { low, bits, is_signed } => {
                let low = usize::from(low);
                extended(&a[low..(low + usize::from(bits)).min(width)], width, is_signed)
            }
            Op::SetLess { is_signed } => {
                let less = self.less(&a, &b, is_signed);
                extended(&[less], width, false)
            }
            Op::Multiply { addend, is_negated } => {
                let product = self.product(&a, &b);
                let addend = self.value(state, addend, width);
                if is_negated {
                    self.difference(&addend, &product)
                } else {
                    self.sum(&addend, &product, Bit::ZERO)
                }
            }
            Op::Load { .. } | Op::CompareLoaded | Op::BranchIf(_) => return None,
        })
    }

    fn address(&mut self, state: &State, access: &Access) -> Option<Word> {
        let base = match access.base {
            Some(base) => self.word(state, base).to_vec(),
            None => constant(0, self.bits),
        };
        let index = match (access.index, access.index_form) {
            (None, _) => constant(0, self.bits),
            (Some((reg, by)), IndexForm::Whole) => {
                shifted(&self.word(state, reg), Shift::Left, usize::from(by))
            }
            _ => return None,
        };
        let sum = self.sum(&base, &index, Bit::ZERO);
        Some(self.sum(&sum, &constant(access.disp as u64, self.bits), Bit::ZERO).into())
    }

    fn load(
        &mut self,
        state: &State,
        access: &Access,
        is_signed: bool,
        to: usize,
    ) -> Option<Vec<Bit>> {
        let address = self.address(state, access)?;
        let n = (8 * usize::from(access.width)).min(to);
        let loaded = self.leaves(Node::Load(address, access.width, state.memory), n);
        Some(extended(&loaded, to, is_signed))
    }

    /// What an instruction does to a state. One that is not followed makes of all that it reads what
    /// no other instruction makes; `idx` tells it apart.
    pub fn step(&mut self, state: &mut State, idx: usize, instruction: &Instruction) {
        let mut inputs: Vec<Word> = Vec::new();
        for read in &instruction.reads {
            inputs.push(self.word(state, read.reg));
        }
        let mut new: Vec<(Reg, Word)> = Vec::new();
        for write in &instruction.writes {
            let old = self.word(state, write.reg);
            let followed = match instruction.is_guarded() {
                false => self.written(state, instruction, write.reg, write.out),
                true => None,
            };
            let mut word = followed.unwrap_or_else(|| {
                let inputs = inputs.iter().cloned().chain([old.clone()]).collect();
                self.leaves(Node::Opaque(idx, write.reg, inputs, state.memory), self.bits)
            });
            word.resize(self.bits, Bit::ZERO);
            let kept = (0..self.bits).filter(|at| write.bits >> at & 1 == 0);
            kept.for_each(|at| word[at] = old[at]);
            new.push((write.reg, word.into()));
        }
        state.taken = self.taken(state, idx, instruction, &inputs);
        state.memory = self.stored(state, idx, instruction, inputs);
        state.words.extend(new);
    }

    /// What is written into a register or flag, where that is followed.
    fn written(
        &mut self,
        state: &State,
        instruction: &Instruction,
        reg: Reg,
        out: Out,
    ) -> Option<Vec<Bit>> {
        if let (Class::LoadDouble | Class::LoadMultiple, Out::Nth(nth)) = (instruction.class, out) {
            // What extends signs, or is of other modes, says so in its text alone.
            let access = accesses(instruction).get(usize::from(nth)).copied()?;
            let is_plain =
                !instruction.text.starts_with("ldpsw") && !instruction.text.contains('^');
            return is_plain.then(|| self.load(state, &access, false, self.bits))?;
        }
        let is_base = instruction.accesses.first().is_some_and(|access| access.base == Some(reg));
        let result = instruction.operation.and_then(|operation| operation.result);
        if let (Some(by), true) = (instruction.base_moves, is_base && result != Some(reg)) {
            let base = self.word(state, reg);
            return Some(self.sum(&base, &constant(by as u64, self.bits), Bit::ZERO));
        }
        let operation = instruction.operation?;
        let width = usize::from(operation.width);
        if result != Some(reg) {
            let is_flag = self.isa.conventions().flags.contains(&reg);
            return if is_flag { self.flag(state, &operation, reg) } else { None };
        }
        let narrow = match operation.op {
            Op::Load { is_signed } => {
                self.load(state, instruction.accesses.first()?, is_signed, width)?
            }
            _ => self.compute(state, &operation)?,
        };
        Some(extended(&narrow, self.bits, operation.extends == Extends::Sign))
    }

    fn flag(&mut self, state: &State, operation: &Operation, flag: Reg) -> Option<Vec<Bit>> {
        let result = self.compute(state, operation)?;
        let is_sum = matches!(
            operation.op,
            Op::Add | Op::Sub | Op::ReverseSub | Op::Compare | Op::CompareNegative
        );
        let bit = match self.isa.register_name(flag) {
            "n" | "N" => result[result.len() - 1],
            "z" | "Z" => self.zero(&result),
            name @ ("c" | "C" | "v" | "V") if is_sum => {
                let a = self.value(state, operation.a, result.len());
                let b = self.value(state, operation.b, result.len());
                let (a, b, carry) = match operation.op {
                    Op::Add | Op::CompareNegative => (a, b, Bit::ZERO),
                    Op::ReverseSub => (b, inverted(&a), Bit::ONE),
                    _ => (a, inverted(&b), Bit::ONE),
                };
                self.leaf(Node::Flag(name, a.into(), b.into(), carry))
            }
            _ => return None,
        };
        Some(vec![bit])
    }

    fn taken(
        &mut self,
        state: &State,
        idx: usize,
        it: &Instruction,
        inputs: &[Word],
    ) -> Option<Bit> {
        let Some(Operation { op: Op::BranchIf(relation), width, a, b, .. }) = it.operation else {
            let is_branch = !matches!(it.flow, crate::decode::code::Flow::Next);
            let node = || Node::Opaque(idx, Reg(u8::MAX), inputs.to_vec(), 0);
            return is_branch.then(|| self.leaf(node()));
        };
        let width = usize::from(width).min(self.bits);
        let (a, b) = (self.value(state, a, width), self.value(state, b, width));
        let (holds, is_opposite) = match relation {
            Relation::Equal | Relation::Different => {
                let apart = self.gates(XOR, &a, &b);
                (self.zero(&apart), relation == Relation::Different)
            }
            Relation::Less { is_signed } => (self.less(&a, &b, is_signed), false),
            Relation::NotLess { is_signed } => (self.less(&a, &b, is_signed), true),
            Relation::Clear | Relation::NotClear => {
                let is_whole = b.iter().all(|bit| *bit == Bit::ONE);
                let kept = if is_whole { a } else { self.gates(AND, &a, &b) };
                (self.zero(&kept), relation == Relation::NotClear)
            }
        };
        Some(if is_opposite { holds.not() } else { holds })
    }

    /// The stores so far, with those of an instruction.
    fn stored(&mut self, state: &State, idx: usize, it: &Instruction, inputs: Vec<Word>) -> u32 {
        if !it.accesses.iter().any(|access| access.is_store) {
            return state.memory;
        }
        let data: Vec<Reg> =
            it.reads.iter().filter(|read| read.role == Role::Data).map(|read| read.reg).collect();
        let is_plain = matches!(it.class, Class::Store | Class::StoreDouble) && !it.is_guarded();
        // One register that is stored twice is read once, and zeros are not read at all.
        let accesses = accesses(it);
        let is_zero = accesses.len() == 1 && data.is_empty();
        let addresses: Vec<Option<Word>> =
            accesses.iter().map(|access| self.address(state, access)).collect();
        if !is_plain || data.len() != accesses.len() && !is_zero || addresses.contains(&None) {
            return self.node(Node::Opaque(idx, Reg(u8::MAX), inputs, state.memory));
        }
        let mut memory = state.memory;
        for (at, (access, address)) in
            accesses.iter().zip(addresses.into_iter().flatten()).enumerate()
        {
            let word = data.get(at).map(|reg| self.word(state, *reg));
            let width = (8 * usize::from(access.width)).min(self.bits);
            let bits = word.map_or_else(|| constant(0, width), |word| word[..width].to_vec());
            memory = self.node(Node::Store(memory, address, bits.into()));
        }
        memory
    }
}

/// Its accesses, one a register: some sets tell a pair of words as one of both.
fn accesses(it: &Instruction) -> Vec<Access> {
    match (&it.accesses[..], it.class) {
        ([whole], Class::LoadDouble | Class::StoreDouble) => {
            let width = whole.width / 2;
            let high = whole.disp.wrapping_add(width.into());
            vec![Access { width, ..*whole }, Access { width, disp: high, ..*whole }]
        }
        (all, _) => all.to_vec(),
    }
}

fn constant(value: u64, width: usize) -> Vec<Bit> {
    (0..width).map(|at| Bit::constant(value >> at & 1 != 0)).collect()
}

/// The value of a word that is known, extended with its sign.
fn number(word: &[Bit]) -> Option<u64> {
    let mut value = 0;
    for (at, bit) in word.iter().enumerate() {
        value |= u64::from(bit.known()?) << at;
    }
    let above = 64 - word.len() as u32;
    Some(((value << above) as i64 >> above) as u64)
}

fn inverted(word: &[Bit]) -> Vec<Bit> {
    word.iter().map(|bit| bit.not()).collect()
}

/// `bits`, and zeros or copies of the highest above.
fn extended(bits: &[Bit], width: usize, is_signed: bool) -> Vec<Bit> {
    let above = if is_signed { bits[bits.len() - 1] } else { Bit::ZERO };
    let mut word = bits.to_vec();
    word.resize(width, above);
    word
}

fn shifted(word: &[Bit], shift: Shift, by: usize) -> Vec<Bit> {
    let width = word.len();
    let sign = word[width - 1];
    let at = |place: usize| match shift {
        Shift::Left => place.checked_sub(by).map_or(Bit::ZERO, |from| word[from]),
        Shift::Right => word.get(place + by).copied().unwrap_or(Bit::ZERO),
        Shift::RightSigned => word.get(place + by).copied().unwrap_or(sign),
        Shift::Rotate => word[(place + by) % width],
    };
    (0..width).map(at).collect()
}
