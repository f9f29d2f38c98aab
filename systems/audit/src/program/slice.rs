//! What a register holds before a computed jump, by the code that leads straight there: a number, or
//! one that follows from an index.
//!
//! ```text
//! cmp  w0, #7                  the index is 7 at most
//! b.hi default
//! adrp x1, table               a number
//! add  x1, x1, :lo12:table
//! ldrb w2, [x1, w0, uxtw]      what memory has there, for each index
//! adr  x3, base
//! add  x3, x3, w2, sxtb #2
//! br   x3
//! ```

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use crate::decode::Isa;
use crate::decode::code::{
    Access, Extends, Flow, IndexForm, Instruction, Op, Operation, Reg, Relation, Value,
};
use crate::program::addresses::upper_half;
use crate::program::memory::Memory;

/// The code straight before a jump is no longer.
const STRAIGHT_MAX: usize = 96;
/// Numbers that were made before it are followed so far.
const DEPTH_MAX: usize = 3;
/// For one row so many registers are looked at: what is made of two of them has two ways back.
const LOOKS_MAX: usize = 1 << 10;
/// No table has more rows.
pub(super) const ROWS_MAX: u64 = 1 << 12;

/// The code of a function, with all that is known of where its instructions lead.
pub(super) struct Ways<'a> {
    pub(super) isa: Isa,
    pub(super) code: &'a [Instruction],
    pub(super) memory: &'a Memory,
    /// For each instruction, from where control may come.
    before: Vec<Vec<usize>>,
    /// Nothing leads there but computed jumps, and what unwinds the stack.
    is_hidden: Vec<bool>,
    looks: Cell<usize>,
    /// Numbers that are known already, by place and register.
    numbers: RefCell<BTreeMap<(usize, Reg), Option<u64>>>,
}

/// A register that is not made of numbers alone, with the place on the way by which it was made.
pub(super) type Unknown = (Reg, usize);

/// What an instruction of the way has as operand, with the place on the way where it does; none
/// is what it loads.
type Operand = (usize, Option<Value>);

/// The straight way to a place: from each instruction to the only one before it.
pub(super) struct Slice<'a> {
    ways: &'a Ways<'a>,
    /// The place itself first.
    way: Vec<usize>,
    /// The largest number that each of these may be where control goes this way.
    limits: BTreeMap<Unknown, u64>,
    depth: usize,
}

/// Where computed jumps lead, by their addresses.
pub(super) type Cases = BTreeMap<u64, Vec<u64>>;

impl<'a> Ways<'a> {
    /// The ways of this code, and those of the jumps whose tables are known.
    pub(super) fn of(
        isa: Isa,
        code: &'a [Instruction],
        memory: &'a Memory,
        cases: &Cases,
    ) -> Ways<'a> {
        let at = |address: u64| code.binary_search_by_key(&address, |other| other.address).ok();
        let mut before = vec![Vec::new(); code.len()];
        for (idx, instruction) in code.iter().enumerate() {
            let (goes_on, target) = leads(instruction);
            let behind = instruction.address + u64::from(instruction.length);
            let next = goes_on.then(|| at(behind)).flatten();
            let there = target.and_then(at);
            let known = cases.get(&instruction.address).into_iter().flatten();
            let known = known.filter_map(|case| at(*case));
            next.into_iter().chain(there).chain(known).for_each(|to| before[to].push(idx));
        }
        // What nothing leads to is reached by some jump whose target is computed.
        let is_jump = |idx: &usize| code[*idx].flow == Flow::Jump;
        let jumps: Vec<usize> = (0..code.len()).filter(is_jump).collect();
        let is_hidden: Vec<bool> = before.iter().map(Vec::is_empty).collect();
        for idx in (1..code.len()).filter(|idx| is_hidden[*idx]) {
            before[idx].clone_from(&jumps);
        }
        let (looks, numbers) = (Cell::new(0), RefCell::default());
        Ways { isa, code, memory, before, is_hidden, looks, numbers }
    }

    /// What is asked next is of another row.
    pub(super) fn begin_row(&self) {
        self.looks.set(0);
    }

    fn writes(&self, idx: usize, reg: Reg) -> bool {
        let instruction = &self.code[idx];
        instruction.writes.iter().any(|write| write.reg == reg)
            || matches!(instruction.flow, Flow::Call { .. })
                && self.isa.conventions().scratch.contains(&reg)
    }

    /// The number that the register holds at a place, the same whichever way control came.
    fn number(&self, place: usize, reg: Reg, depth: usize) -> Option<u64> {
        let known = self.numbers.borrow().get(&(place, reg)).copied();
        known.unwrap_or_else(|| {
            let number = self.find_number(place, reg, depth);
            if depth == 0 {
                self.numbers.borrow_mut().insert((place, reg), number);
            }
            number
        })
    }

    fn find_number(&self, place: usize, reg: Reg, depth: usize) -> Option<u64> {
        let (mut open, mut seen) = (vec![place], BTreeSet::new());
        let mut found = None;
        while let Some(idx) = open.pop() {
            // It comes from the caller.
            if idx == 0 || depth == DEPTH_MAX {
                return None;
            }
            for before in &self.before[idx] {
                if !seen.insert(*before) {
                    continue;
                }
                if !self.writes(*before, reg) {
                    open.push(*before);
                    continue;
                }
                if self.code[*before].is_guarded() {
                    return None;
                }
                let number = Slice::to(self, *before, depth + 1).made(0, reg, None)?.ok()?;
                if found.is_some_and(|found| found != number) {
                    return None;
                }
                found = Some(number);
            }
        }
        found
    }
}

/// Whether control may go on behind an instruction, and where it may go besides.
fn leads(instruction: &Instruction) -> (bool, Option<u64>) {
    match instruction.flow {
        Flow::Next | Flow::Call { .. } => (true, None),
        Flow::Branch { target, is_conditional } => (is_conditional, Some(target)),
        Flow::Return | Flow::Resume | Flow::Jump | Flow::LastCall | Flow::Stop => {
            (instruction.is_guarded(), None)
        }
    }
}

impl<'a> Slice<'a> {
    pub(super) fn before(ways: &'a Ways<'a>, jump: usize) -> Slice<'a> {
        let mut slice = Slice::to(ways, jump, 0);
        slice.limits = slice.compared();
        slice
    }

    fn to(ways: &'a Ways<'a>, place: usize, depth: usize) -> Slice<'a> {
        let mut way = vec![place];
        let mut last = place;
        while let [only] = ways.before[last][..]
            && last != 0
            && !ways.is_hidden[last]
            && way.len() < STRAIGHT_MAX
            && !way.contains(&only)
        {
            way.push(only);
            last = only;
        }
        Slice { ways, way, limits: BTreeMap::new(), depth }
    }

    fn at(&self, nth: usize) -> &'a Instruction {
        &self.ways.code[self.way[nth]]
    }

    /// Which instruction of the way made what the register holds before the `nth`; the place behind
    /// the last, if none of them did.
    fn maker(&self, nth: usize, reg: Reg) -> usize {
        let way = self.way.iter().skip(nth + 1);
        let later = way.take_while(|place| !self.ways.writes(**place, reg)).count();
        nth + 1 + later
    }

    /// What a register holds before the `nth` instruction, for this index; without one what it is
    /// that would have to be known.
    pub(super) fn register(
        &self,
        nth: usize,
        reg: Reg,
        index: Option<(Unknown, u64)>,
    ) -> Result<u64, Unknown> {
        if self.ways.isa.conventions().zero == Some(reg) {
            return Ok(0);
        }
        let maker = self.maker(nth, reg);
        let own = (reg, maker);
        self.ways.looks.set(self.ways.looks.get() + 1);
        if self.ways.looks.get() > LOOKS_MAX {
            return Err(own);
        }
        if let Some((_, number)) = index.filter(|(unknown, _)| *unknown == own) {
            return Ok(number);
        }
        if self.limits.contains_key(&own) {
            return Err(own);
        }
        let Some(&last) = self.way.get(maker) else {
            let begin = *self.way.last().expect("it has a place");
            return self.ways.number(begin, reg, self.depth).ok_or(own);
        };
        let is_cut = self.ways.code[last].is_guarded();
        match self.made(maker, reg, index).filter(|_| !is_cut) {
            None => Err(own),
            // What bounds the index best is what is compared.
            Some(Err(inner)) if !self.limits.contains_key(&inner) && self.mask(own).is_some() => {
                Err(own)
            }
            Some(made) => made,
        }
    }

    /// What the `nth` instruction writes into a register, if that is followed.
    fn made(
        &self,
        nth: usize,
        reg: Reg,
        index: Option<(Unknown, u64)>,
    ) -> Option<Result<u64, Unknown>> {
        let instruction = self.at(nth);
        if let Some(upper) = upper_half(self.ways.isa, instruction) {
            let low = self.register(nth, reg, index);
            return Some(low.map(|low| low & 0xffff | u64::from(upper) << 16));
        }
        let made = instruction.operation.filter(|made| made.result == Some(reg))?;
        self.operation(nth, made, index)
    }

    /// The result of an operation that the `nth` instruction does.
    pub(super) fn operation(
        &self,
        nth: usize,
        made: Operation,
        index: Option<(Unknown, u64)>,
    ) -> Option<Result<u64, Unknown>> {
        if let Op::Load { is_signed } = made.op {
            let [access] = &self.at(nth).accesses[..] else { return None };
            return match self.address(nth, access, index)? {
                Ok(address) => {
                    let number = self.ways.memory.number(address, access.width)?;
                    Some(Ok(extended(number, access.width, is_signed, made)))
                }
                Err(unknown) => Some(Err(unknown)),
            };
        }
        let addend = match made.op {
            Op::Multiply { addend, .. } => addend,
            _ => Value::Const(0),
        };
        let mut registers = BTreeMap::new();
        for value in [made.a, made.b, addend] {
            let (Value::Reg(reg) | Value::Shifted(reg, ..) | Value::Extended(reg, ..)) = value
            else {
                continue;
            };
            match self.register(nth, reg, index) {
                Ok(number) => _ = registers.insert(reg, number),
                Err(unknown) => return Some(Err(unknown)),
            }
        }
        made.value(|reg| registers.get(&reg).copied().unwrap_or(0)).map(Ok)
    }

    /// Where an access of the `nth` instruction goes; none if its index enters the address in a way
    /// that is not followed.
    pub(super) fn address(
        &self,
        nth: usize,
        access: &Access,
        index: Option<(Unknown, u64)>,
    ) -> Option<Result<u64, Unknown>> {
        let mut address = access.disp as u64;
        if let Some(base) = access.base {
            match self.register(nth, base, index) {
                Ok(base) => address = address.wrapping_add(base),
                unknown => return Some(unknown),
            }
        }
        if let Some((reg, shift)) = access.index {
            let number = match self.register(nth, reg, index) {
                Ok(number) => number,
                unknown => return Some(unknown),
            };
            let number = match access.index_form {
                IndexForm::Whole => number,
                IndexForm::Word => u64::from(number as u32),
                IndexForm::SignedWord => i64::from(number as i32) as u64,
                IndexForm::Negative | IndexForm::Other => return None,
            };
            address = address.wrapping_add(number << shift);
        }
        Some(Ok(self.cut(address)))
    }

    /// The bits that an address has.
    pub(super) fn cut(&self, address: u64) -> u64 {
        address & u64::MAX >> (64 - self.ways.isa.conventions().bits)
    }

    /// The largest number that an index may be: by a comparison on the way, else by the bits that
    /// are left of it.
    pub(super) fn limit(&self, index: Unknown) -> Option<u64> {
        self.limits.get(&index).copied().or_else(|| self.mask(index))
    }

    /// An index was compared on the way.
    pub(super) fn is_compared(&self, index: Unknown) -> bool {
        self.limits.contains_key(&index)
    }

    fn mask(&self, (reg, maker): Unknown) -> Option<u64> {
        let instruction = &self.ways.code[*self.way.get(maker)?];
        // What may not be done leaves any number there.
        let made = instruction.operation.filter(|_| !instruction.is_guarded())?;
        let mask = match made.op {
            Op::And => [made.b, made.a]
                .into_iter()
                .find_map(|value| self.constant((maker, Some(value))))?,
            Op::ZeroExtend { bits } | Op::Field { bits, is_signed: false, .. } if bits < 16 => {
                (1 << bits) - 1
            }
            _ => return None,
        };
        let is_mask = mask < ROWS_MAX && mask & (mask + 1) == 0;
        (made.result == Some(reg) && is_mask).then_some(mask)
    }

    /// What comparisons on the way say of registers, by the way that control took.
    fn compared(&self) -> BTreeMap<Unknown, u64> {
        let mut limits = BTreeMap::new();
        for nth in 0..self.way.len() {
            let instruction = self.at(nth);
            let behind = instruction.address + u64::from(instruction.length);
            let follows = nth.checked_sub(1).map(|next| self.at(next).address);
            let holds = match instruction.flow {
                Flow::Branch { target, is_conditional: true } if target != behind => {
                    follows == Some(target)
                }
                Flow::Jump if instruction.is_guarded() && nth == 0 => true,
                Flow::Return | Flow::Resume | Flow::LastCall if instruction.is_guarded() => false,
                _ => continue,
            };
            let Some((less, more, is_less)) = self.order(nth) else { continue };
            // less < more or, if that does not hold, more <= less.
            let (bounded, bound, and_itself) =
                if is_less == holds { (less, more, 0) } else { (more, less, 1) };
            let Some(bound) = self.constant(bound) else { continue };
            let limit = bound.checked_add(and_itself).and_then(|bound| bound.checked_sub(1));
            if let Some(limit) = limit.filter(|limit| *limit < ROWS_MAX) {
                for own in self.bounded(bounded) {
                    let known = limits.entry(own).or_insert(limit);
                    *known = limit.min(*known);
                }
            }
        }
        limits
    }

    /// What a comparison says something of: the value that is compared, if it has no more bits than
    /// those, else what has these bits of it alone.
    fn bounded(&self, operand: Operand) -> Vec<Unknown> {
        if operand.1.is_none() {
            return self.loaded_again(operand.0);
        }
        let Some(own) = self.root(operand) else { return Vec::new() };
        let made = |maker: usize| {
            let instruction = self.ways.code.get(*self.way.get(maker)?)?;
            instruction.operation.filter(|_| !instruction.is_guarded())
        };
        let width = made(operand.0).map_or(64, |compare| compare.width);
        let is_narrow = |made: Operation| match made.op {
            Op::ZeroExtend { bits } => bits <= width,
            Op::Load { is_signed: false } => {
                self.at(own.1).accesses.iter().all(|access| access.width <= width / 8)
            }
            _ => false,
        };
        let maker = made(own.1).filter(|made| made.result == Some(own.0));
        if width >= 32 || maker.is_some_and(is_narrow) {
            return vec![own];
        }
        let part = |maker: usize| {
            let made = made(maker).filter(|made| made.op == Op::ZeroExtend { bits: width })?;
            (self.root((maker, Some(made.a))) == Some(own)).then_some((made.result?, maker))
        };
        (0..self.way.len()).filter_map(part).collect()
    }

    /// What is loaded behind the `nth` instruction from where it loads, before anything is stored
    /// or the address changes.
    fn loaded_again(&self, nth: usize) -> Vec<Unknown> {
        let compare = self.at(nth);
        let mut found = Vec::new();
        for maker in (0..nth).rev() {
            let it = self.at(maker);
            let loads = |made: &Operation| made.op == Op::Load { is_signed: false };
            if let Some(made) = it.operation.filter(loads)
                && it.accesses == compare.accesses
                && !it.is_guarded()
            {
                found.extend(made.result.map(|reg| (reg, maker)));
            }
            let moves = |access: &Access| {
                let index = access.index.map(|(index, _)| index);
                access
                    .base
                    .into_iter()
                    .chain(index)
                    .any(|reg| self.ways.writes(self.way[maker], reg))
            };
            if it.accesses.iter().any(|access| access.is_store)
                || matches!(it.flow, Flow::Call { .. })
                || compare.accesses.iter().any(moves)
            {
                break;
            }
        }
        found
    }

    /// What the `nth` instruction, which is conditional, asks: whether the first is less than the
    /// second, both without a sign, or not.
    fn order(&self, nth: usize) -> Option<(Operand, Operand, bool)> {
        let instruction = self.at(nth);
        if let Some(made) = instruction.operation {
            match made.op {
                Op::BranchIf(Relation::Less { is_signed: false }) => {
                    return Some(((nth, Some(made.a)), (nth, Some(made.b)), true));
                }
                Op::BranchIf(Relation::NotLess { is_signed: false }) => {
                    return Some(((nth, Some(made.a)), (nth, Some(made.b)), false));
                }
                _ => {}
            }
        }
        let name = instruction.text.split_whitespace().next()?;
        let name = name.trim_end_matches(".n").trim_end_matches(".w");
        let is = |names: &[&str]| names.iter().any(|ending| name.ends_with(ending));
        let (is_above, is_less) = match () {
            () if is(&["hi", "ja"]) => (true, true),
            () if is(&["ls", "jbe"]) => (true, false),
            () if is(&["lo", "cc", "jb"]) => (false, true),
            () if is(&["hs", "cs", "jae"]) => (false, false),
            () => return None,
        };
        let flags = self.ways.isa.conventions().flags;
        let sets_flag = |found: &Instruction| {
            found.writes.iter().any(|write| flags.contains(&write.reg))
                || matches!(found.flow, Flow::Call { .. })
        };
        let by = (nth + 1..self.way.len()).find(|by| sets_flag(self.at(*by)))?;
        let compare = self.at(by).operation?;
        let a = match compare.op {
            Op::Compare => Some(compare.a),
            Op::CompareLoaded => None,
            _ => return None,
        };
        if self.at(by).is_guarded() {
            return None;
        }
        let (a, b) = ((by, a), (by, Some(compare.b)));
        Some(if is_above { (b, a, is_less) } else { (a, b, is_less) })
    }

    /// The register that a compared value is, by where it was made. What it is a copy of, and what
    /// has its low 32 bits, is the same: an index that was compared has no more.
    fn root(&self, (mut nth, value): Operand) -> Option<Unknown> {
        let Some(Value::Reg(mut reg)) = value else { return None };
        loop {
            let maker = self.maker(nth, reg);
            let made = self.way.get(maker).and_then(|place| self.ways.code[*place].operation);
            match made.filter(|made| made.result == Some(reg)).map(|made| (made.op, made.a)) {
                Some((
                    Op::Move | Op::SignExtend { bits: 32 } | Op::ZeroExtend { bits: 32 },
                    Value::Reg(from),
                )) if !self.at(maker).is_guarded() => (nth, reg) = (maker, from),
                _ => return Some((reg, maker)),
            }
        }
    }

    fn constant(&self, (nth, value): Operand) -> Option<u64> {
        match value? {
            Value::Const(number) => Some(number),
            Value::Reg(reg) => self.register(nth, reg, None).ok(),
            Value::Shifted(..) | Value::Extended(..) => None,
        }
    }
}

/// What a load of so many bytes leaves in its register.
fn extended(number: u64, n_bytes: u8, is_signed: bool, made: Operation) -> u64 {
    let above = 64 - 8 * u32::from(n_bytes.min(8));
    let number = if is_signed { ((number << above) as i64 >> above) as u64 } else { number };
    let beyond = 64 - u32::from(made.width);
    match made.extends {
        Extends::Zero => number << beyond >> beyond,
        Extends::Sign => ((number << beyond) as i64 >> beyond) as u64,
    }
}
