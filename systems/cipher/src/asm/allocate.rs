//! Allocates registers for a block in a given order: the value whose next use is farthest is
//! evicted.
//!
//! A sliced cipher is one long block: thousands of operations without a branch, and several times
//! as many values alive as there are registers. A compiler's allocator colours a graph of all
//! values, since it has branches to think of, and where the graph has too few colours it guesses
//! what to spill. In a block whose order is fixed nothing need be guessed. When a register is
//! wanted and none is free, the value to give up is the one that is needed again last: in the time
//! that this frees a register, any other choice would have to bring its own value back. (Belady
//! proved it for pages of memory, which are all equally dear to bring back.)
//!
//! 1. A walk backwards ([`Allocator::start`]) notes at each use when the same value is used next.
//!    From then on the question is a look into a table.
//! 2. A walk forwards takes the steps in their order: operands get registers (`fetch`), values
//!    whose last use this is give theirs back, and the result takes one (`take`), often just that.
//!
//! Four things make registers different from pages:
//!
//! - **Some values cost no store to lose.** The caller's words, constants and what was spilled
//!   before are in memory anyway. Their distance counts half as much again. That is a guess, and
//!   the search for an order is there to find the orders for which it is a good one.
//! - **Some operands need no register.** Where an instruction takes an operand from memory, the
//!   load is folded into it; of two candidates, the one that is needed again later stays in memory.
//! - **Some instructions overwrite an operand**, as most of x86's do for general registers. Best is
//!   one that dies here, next one that would be loaded for this step alone; else it is copied.
//! - **A loop has to end as it began.** A carried value that lives in a register must be back in
//!   the same one after the last step ([`Header`]). Its register is `wanted` from the start of the
//!   walk, and `finish` moves what still lies elsewhere.
//!
//! The walk tells a [`Sink`] what it does. [`Count`] adds up; the model of a core times it; the
//! emitter writes it down. So the figures by which orders are chosen are those of the code that is
//! emitted, and a search may walk through a block tens of thousands of times.
//!
//! Source: Belady, "A study of replacement algorithms for a virtual-storage computer", 1966.

use super::sink::{Count, Sink, ValuePlace};
use super::steps::{Block, FRAME, Memory, Step, StepKind, Value, ValueOrigin};

/// What the allocator knows of a target.
#[derive(Debug, Clone, Copy)]
pub struct Registers {
    /// Registers that hold values.
    pub n: usize,
    /// They are vector registers, and addresses have registers of their own.
    pub is_vector: bool,
    /// Shifts and rotations can take their operand from memory.
    pub folds_shifts: bool,
    /// The other operations can take an operand from memory. If not, a load widens the word first.
    pub folds_words: bool,
    /// Bits of a word in memory.
    pub word_bits: u32,
}

const NO: u8 = u8::MAX;
const NEVER: u32 = u32::MAX;

/// What a register holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Held {
    Nothing,
    Value(Value),
    Address(u32),
}

/// What registers and memory hold when a part of a block begins, and what is needed after it.
#[derive(Debug, Clone, Default)]
pub struct Edge {
    /// Values with the register or the place in memory that they have.
    pub held: Vec<(Value, Option<u8>, Option<ValuePlace>)>,
    /// Values used after the part, with their next use, counted from its beginning.
    pub later: Vec<(Value, u32)>,
}

/// Which carried values have a register from iteration to iteration, by
/// their place in [`Block::carried`].
pub type Header = Vec<Option<u8>>;

/// Allocates registers of one block.
pub struct Allocator<'a> {
    block: &'a Block,
    constants: &'a [[u64; 2]],
    registers: Registers,
    edge: Edge,
    /// The next use after each use; three for each position.
    after: Vec<[u32; 3]>,
    /// The next use of each value.
    next: Vec<u32>,
    /// The register of each value, or [`NO`].
    register_of: Vec<u8>,
    homes: Vec<Option<ValuePlace>>,
    wanted: Vec<u8>,
    held: [Held; 32],
    free_slots: Vec<u32>,
    n_slots: u32,
    /// The positions that need each address, the next one last.
    address_uses: Vec<Vec<u32>>,
    at: u32,
}

impl<'a> Allocator<'a> {
    /// An allocator for a block of a function with these constants.
    pub fn new(block: &'a Block, constants: &'a [[u64; 2]], registers: Registers) -> Self {
        let n = block.origins.len();
        Allocator {
            block,
            constants,
            registers,
            edge: Edge::default(),
            after: Vec::new(),
            next: vec![NEVER; n],
            register_of: vec![NO; n],
            homes: vec![None; n],
            wanted: vec![NO; n],
            held: [Held::Nothing; 32],
            free_slots: Vec::new(),
            n_slots: 0,
            address_uses: Vec::new(),
            at: 0,
        }
    }

    /// An allocator for a part of a longer block.
    pub fn part(
        block: &'a Block,
        constants: &'a [[u64; 2]],
        registers: Registers,
        edge: Edge,
    ) -> Self {
        Allocator { edge, ..Allocator::new(block, constants, registers) }
    }

    /// Where a value is now.
    pub fn whereabouts(&self, value: Value) -> (Option<u8>, Option<ValuePlace>) {
        let register = self.register_of[value as usize];
        ((register != NO).then_some(register), self.homes[value as usize])
    }

    /// Walks through the block in this order; returns how many spill slots it used.
    pub fn run(
        &mut self,
        order: &[u32],
        header: &Header,
        buffer: Option<u32>,
        sink: &mut impl Sink,
    ) -> u32 {
        self.run_steps(order, order.len(), header, buffer, sink);
        self.at = order.len() as u32;
        self.finish(header, sink);
        self.n_slots
    }

    /// The same, stopping before the step at `end` with its state kept.
    pub fn run_steps(
        &mut self,
        order: &[u32],
        end: usize,
        header: &Header,
        buffer: Option<u32>,
        sink: &mut impl Sink,
    ) {
        self.start(order, header, buffer);
        for (at, idx) in order[..end].iter().enumerate() {
            self.at = at as u32;
            let block = self.block;
            let step = &block.steps[*idx as usize];
            if let StepKind::Keep(k) = step.kind
                && header[k as usize].is_some()
            {
                self.next[step.args[0] as usize] = self.after[at][0];
                continue;
            }
            self.step(step, buffer, sink);
        }
    }

    fn start(&mut self, order: &[u32], header: &Header, buffer: Option<u32>) {
        let block = self.block;
        self.held = [Held::Nothing; 32];
        self.free_slots.clear();
        self.n_slots = 0;
        self.next.fill(NEVER);
        self.register_of.fill(NO);
        self.wanted.fill(NO);
        self.after.clear();
        self.after.resize(order.len(), [NEVER; 3]);
        for (home, origin) in self.homes.iter_mut().zip(&block.origins) {
            *home = match origin {
                ValueOrigin::Memory(memory) => Some(ValuePlace::Memory(*memory)),
                ValueOrigin::Constant(id) => Some(ValuePlace::Constant(*id)),
                ValueOrigin::Step | ValueOrigin::Carried(_) => None,
            };
        }
        for (carried, register) in block.carried.iter().zip(header) {
            match register {
                Some(register) => {
                    self.register_of[carried.from as usize] = *register;
                    self.held[*register as usize] = Held::Value(carried.from);
                    self.next[carried.next as usize] = order.len() as u32;
                    self.wanted[carried.next as usize] = *register;
                }
                None => {
                    let address = buffer.expect("carried values in memory have buffers");
                    self.homes[carried.from as usize] =
                        Some(ValuePlace::Memory(Memory { address, offset: carried.offset }));
                }
            }
        }
        for (value, register, home) in &self.edge.held {
            if let Some(register) = register {
                self.register_of[*value as usize] = *register;
                self.held[*register as usize] = Held::Value(*value);
            }
            if let Some(ValuePlace::Slot(slot)) = home {
                self.n_slots = self.n_slots.max(slot + 1);
            }
            self.homes[*value as usize] = *home;
        }
        for (value, at) in &self.edge.later {
            self.next[*value as usize] = *at;
        }
        for (at, idx) in order.iter().enumerate().rev() {
            for (k, arg) in block.steps[*idx as usize].args.iter().enumerate() {
                self.after[at][k] = self.next[*arg as usize];
            }
            for arg in &block.steps[*idx as usize].args {
                self.next[*arg as usize] = at as u32;
            }
        }
        if !self.registers.is_vector {
            self.note_addresses(order, header, buffer);
        }
        for k in 0..32 {
            if let Held::Value(value) = self.held[k]
                && self.next[value as usize] == NEVER
            {
                self.drop_value(value);
            }
        }
    }

    /// Notes the uses of addresses where general registers hold them too.
    fn note_addresses(&mut self, order: &[u32], header: &Header, buffer: Option<u32>) {
        self.address_uses.iter_mut().for_each(Vec::clear);
        let block = self.block;
        let mut note = |address: u32, at: usize| {
            if self.address_uses.len() <= address as usize {
                self.address_uses.resize(address as usize + 1, Vec::new());
            }
            self.address_uses[address as usize].push(at as u32);
        };
        for (at, idx) in order.iter().enumerate().rev() {
            let step = &block.steps[*idx as usize];
            for arg in &step.args {
                match block.origins[*arg as usize] {
                    ValueOrigin::Memory(memory) => note(memory.address, at),
                    ValueOrigin::Carried(k) if header[k as usize].is_none() => {
                        note(buffer.expect("it has buffers"), at)
                    }
                    _ => {}
                }
            }
            match step.kind {
                StepKind::Store(memory) => note(memory.address, at),
                StepKind::Keep(k) if header[k as usize].is_none() => {
                    note(buffer.expect("it has buffers") + 1, at)
                }
                _ => {}
            }
        }
    }

    fn next_of(&mut self, held: Held) -> u32 {
        match held {
            Held::Nothing => NEVER,
            Held::Value(value) => self.next[value as usize],
            Held::Address(address) => {
                let at = self.at;
                let Some(uses) = self.address_uses.get_mut(address as usize) else { return NEVER };
                while uses.last().is_some_and(|found| *found < at) {
                    uses.pop();
                }
                uses.last().copied().unwrap_or(NEVER)
            }
        }
    }

    /// A value as an immediate, if it fits.
    fn immediate(&self, value: Value) -> Option<ValuePlace> {
        let ValueOrigin::Constant(id) = self.block.origins[value as usize] else { return None };
        let word = self.constants[id as usize][0];
        let word =
            if self.registers.word_bits <= 32 { i64::from(word as i32) } else { word as i64 };
        let fits = !self.registers.is_vector && i32::try_from(word).is_ok();
        fits.then_some(ValuePlace::Immediate(word))
    }

    fn drop_value(&mut self, value: Value) {
        let register = std::mem::replace(&mut self.register_of[value as usize], NO);
        if register != NO {
            self.held[register as usize] = Held::Nothing;
        }
        if let Some(ValuePlace::Slot(slot)) = self.homes[value as usize] {
            self.free_slots.push(slot);
            self.homes[value as usize] = None;
        }
    }

    /// A register for a new value: a free one, else that of the value needed last. Registers in
    /// `pinned` stay.
    fn take(&mut self, pinned: u32, wanted: u8, sink: &mut impl Sink) -> u8 {
        if wanted != NO && pinned >> wanted & 1 == 0 && self.held[wanted as usize] == Held::Nothing
        {
            return wanted;
        }
        let mut best = (0, NO);
        let mut free = NO;
        for register in 0..self.registers.n {
            if pinned >> register & 1 == 1 {
                continue;
            }
            let held = self.held[register];
            if held == Held::Nothing {
                free = register as u8;
                continue;
            }
            if free != NO {
                continue;
            }
            let distance = self.next_of(held).saturating_sub(self.at).min(1 << 28);
            let is_clean = match held {
                Held::Value(value) => self.homes[value as usize].is_some(),
                _ => true,
            };
            // A value that is in memory already needs no store.
            let score = if is_clean { distance + distance / 2 } else { distance };
            if best.1 == NO || score > best.0 {
                best = (score, register as u8);
            }
        }
        if free != NO {
            return free;
        }
        let register = best.1;
        assert!(register != NO, "an instruction needs fewer registers than there are");
        if let Held::Value(value) = self.held[register as usize] {
            self.evict(value, register, sink);
        }
        self.held[register as usize] = Held::Nothing;
        register
    }

    fn evict(&mut self, value: Value, register: u8, sink: &mut impl Sink) {
        if self.homes[value as usize].is_none() {
            let slot = self.free_slots.pop().unwrap_or_else(|| {
                self.n_slots += 1;
                self.n_slots - 1
            });
            self.homes[value as usize] = Some(ValuePlace::Slot(slot));
            sink.store(ValuePlace::Slot(slot), register);
        }
        self.register_of[value as usize] = NO;
    }

    fn hold(&mut self, value: Value, register: u8) {
        self.held[register as usize] = Held::Value(value);
        self.register_of[value as usize] = register;
    }

    /// A place in memory as an operand; its address gets a register if it has none.
    fn reach(&mut self, place: ValuePlace, pinned: &mut u32, sink: &mut impl Sink) -> ValuePlace {
        let ValuePlace::Memory(memory) = place else { return place };
        if self.registers.is_vector || memory.address == FRAME {
            return place;
        }
        let known = (0..self.registers.n).find(|r| self.held[*r] == Held::Address(memory.address));
        let register = known.map_or_else(
            || {
                let register = self.take(*pinned, NO, sink);
                sink.load_address(register, memory.address);
                self.held[register as usize] = Held::Address(memory.address);
                register
            },
            |r| r as u8,
        );
        *pinned |= 1 << register;
        ValuePlace::Based(register, memory.offset)
    }

    fn load(&mut self, value: Value, pinned: &mut u32, sink: &mut impl Sink) -> u8 {
        if let Some(place) = self.immediate(value) {
            let register = self.take(*pinned, NO, sink);
            sink.load(register, place);
            self.hold(value, register);
            *pinned |= 1 << register;
            return register;
        }
        let home = self.homes[value as usize].expect("what has no register is in memory");
        if let (ValueOrigin::Carried(k), ValuePlace::Memory(_)) =
            (self.block.origins[value as usize], home)
        {
            sink.carried(k);
        }
        let mut reached = *pinned;
        let place = self.reach(home, &mut reached, sink);
        let wanted = self.wanted[value as usize];
        let register = self.take(reached, wanted, sink);
        sink.load(register, place);
        self.hold(value, register);
        *pinned |= 1 << register;
        register
    }

    fn step(&mut self, step: &Step, buffer: Option<u32>, sink: &mut impl Sink) {
        let after = self.after[self.at as usize];
        for (k, arg) in step.args.iter().enumerate() {
            self.next[*arg as usize] = after[k];
        }
        match step.kind {
            StepKind::Store(memory) => self.store(step, memory, sink),
            StepKind::Keep(k) => {
                let address = buffer.expect("carried values in memory have buffers") + 1;
                let offset = self.block.carried[k as usize].offset;
                self.store(step, Memory { address, offset }, sink);
                sink.kept(k);
            }
            kind if self.destroys(kind, step) => self.destructive(step, sink),
            _ => self.three_operands(step, sink),
        }
    }

    fn destroys(&self, kind: StepKind, step: &Step) -> bool {
        match kind {
            StepKind::Ternary(_) => true,
            _ if self.registers.is_vector => false,
            StepKind::Add => !self.is_plain_sum(step),
            _ => true,
        }
    }

    /// A sum whose operands stay in use, so that `lea` puts it into another register.
    fn is_plain_sum(&self, step: &Step) -> bool {
        let is_there = |value: Value| self.register_of[value as usize] != NO;
        let dies = |value: Value| self.next[value as usize] == NEVER;
        let (a, b) = (step.args[0], step.args[1]);
        step.lane >= 32
            && a != b
            && ((is_there(a) && is_there(b) && !dies(a) && !dies(b))
                || (is_there(a) && !dies(a) && self.immediate(b).is_some()))
    }

    fn store(&mut self, step: &Step, memory: Memory, sink: &mut impl Sink) {
        let value = step.args[0];
        let mut pinned = 0;
        let mut register = self.register_of[value as usize];
        if register == NO {
            register = self.load(value, &mut pinned, sink);
        }
        pinned |= 1 << register;
        let place = self.reach(ValuePlace::Memory(memory), &mut pinned, sink);
        sink.store(place, register);
        if matches!(self.block.origins[value as usize], ValueOrigin::Step | ValueOrigin::Carried(_))
            && !matches!(self.homes[value as usize], Some(ValuePlace::Memory(_)))
        {
            if let Some(ValuePlace::Slot(slot)) = self.homes[value as usize] {
                self.free_slots.push(slot);
            }
            self.homes[value as usize] = Some(ValuePlace::Memory(memory));
        }
        self.end_of_uses(step);
    }

    fn end_of_uses(&mut self, step: &Step) {
        for arg in &step.args {
            if self.next[*arg as usize] == NEVER {
                self.drop_value(*arg);
            }
        }
    }

    /// The operands that may come from memory: bit k for operand k.
    fn foldable(&self, step: &Step) -> u8 {
        if !self.registers.folds_words {
            return 0;
        }
        match step.kind {
            kind if kind.is_commutative() => 0b11,
            StepKind::AndNot => 0b01,
            StepKind::Sub | StepKind::Bytes => 0b10,
            StepKind::Ternary(_) => 0b111,
            StepKind::Swap => 1,
            StepKind::Shl(_) | StepKind::Shr(_) | StepKind::Sar(_) | StepKind::Rotl(_)
                if self.registers.folds_shifts =>
            {
                1
            }
            _ => 0,
        }
    }

    /// Loads the operands, except one that may stay in memory and is returned;
    /// `skipped` needs no register.
    fn fetch(
        &mut self,
        step: &Step,
        skipped: Option<usize>,
        pinned: &mut u32,
        sink: &mut impl Sink,
    ) -> Option<usize> {
        let foldable = self.foldable(step);
        for arg in &step.args {
            let register = self.register_of[*arg as usize];
            if register != NO {
                *pinned |= 1 << register;
            }
        }
        let mut folded: Option<usize> = None;
        for (k, arg) in step.args.iter().enumerate() {
            let is_twice = step.args.iter().filter(|found| *found == arg).count() > 1;
            let is_missing =
                self.register_of[*arg as usize] == NO && self.immediate(*arg).is_none();
            if is_missing && Some(k) != skipped && foldable >> k & 1 == 1 && !is_twice {
                let later = |k: usize| self.next[step.args[k] as usize];
                if folded.is_none_or(|other| later(k) > later(other)) {
                    folded = Some(k);
                }
            }
        }
        for (k, arg) in step.args.iter().enumerate() {
            let takes_immediate =
                k == 1 && self.immediate(*arg).is_some() && !matches!(step.kind, StepKind::Mul);
            if self.register_of[*arg as usize] == NO
                && Some(k) != skipped
                && Some(k) != folded
                && !takes_immediate
            {
                self.load(*arg, pinned, sink);
            }
        }
        folded
    }

    fn place_of(
        &mut self,
        k: usize,
        step: &Step,
        pinned: &mut u32,
        sink: &mut impl Sink,
    ) -> ValuePlace {
        let value = step.args[k];
        match self.register_of[value as usize] {
            NO => match self.immediate(value) {
                Some(place) => place,
                None => {
                    let home =
                        self.homes[value as usize].expect("what has no register is in memory");
                    if let (ValueOrigin::Carried(k), ValuePlace::Memory(_)) =
                        (self.block.origins[value as usize], home)
                    {
                        sink.carried(k);
                    }
                    self.reach(home, pinned, sink)
                }
            },
            register => ValuePlace::Register(register),
        }
    }

    fn three_operands(&mut self, step: &Step, sink: &mut impl Sink) {
        let mut pinned = 0;
        let folded = self.fetch(step, None, &mut pinned, sink);
        let mut args = [ValuePlace::Immediate(0); 3];
        for (k, place) in args.iter_mut().enumerate().take(step.args.len()) {
            *place = self.place_of(k, step, &mut pinned, sink);
        }
        let n = step.args.len();
        if folded == Some(0) && step.kind.is_commutative() {
            args.swap(0, 1);
        }
        // The result may go into the register of an operand, but not into one that holds its
        // address.
        let addresses = args.iter().fold(0, |mask, it| {
            if let ValuePlace::Based(register, _) = it { mask | 1 << register } else { mask }
        });
        for arg in step.args.iter().filter(|arg| self.next[**arg as usize] == NEVER) {
            let register = std::mem::replace(&mut self.register_of[*arg as usize], NO);
            if register != NO {
                self.held[register as usize] = Held::Nothing;
            }
        }
        let register = self.take(addresses, self.wanted[step.dst as usize], sink);
        sink.operate(step, step.kind, register, &args[..n]);
        // Only now: a value evicted above must not be stored where an operand is still to be read.
        self.end_of_uses(step);
        self.made(step.dst, register);
    }

    fn made(&mut self, value: Value, register: u8) {
        if self.next[value as usize] != NEVER {
            self.hold(value, register);
        }
    }

    /// The operand that the result overwrites: if possible one that dies here, else one
    /// that is loaded anyway.
    fn destroyed(&self, step: &Step) -> usize {
        let candidates = match step.kind {
            StepKind::Ternary(_) => 3,
            kind if kind.is_commutative() => 2,
            _ => 1,
        };
        let rank = |k: &usize| {
            let value = step.args[*k];
            let is_there = self.register_of[value as usize] != NO;
            match () {
                () if is_there && self.next[value as usize] == NEVER => 0,
                () if !is_there && self.immediate(value).is_none() => 1,
                () if is_there => 2,
                () => 3,
            }
        };
        (0..candidates).min_by_key(rank).expect("an operation has operands")
    }

    fn destructive(&mut self, step: &Step, sink: &mut impl Sink) {
        let mut step = step.clone();
        let destroyed = self.destroyed(&step);
        let mut kind = step.kind;
        if destroyed > 0 {
            step.args.swap(0, destroyed);
            kind = swapped(kind, destroyed);
            step.kind = kind;
        }
        let mut pinned = 0;
        let first = step.args[0];
        let is_missing = self.register_of[first as usize] == NO;
        let folded = self.fetch(&step, is_missing.then_some(0), &mut pinned, sink);
        if kind_is_ternary(kind) && folded == Some(1) {
            step.args.swap(1, 2);
            kind = swapped_last(kind);
            step.kind = kind;
        }
        let n = step.args.len();
        let mut args = [ValuePlace::Immediate(0); 3];
        for (k, place) in args.iter_mut().enumerate().take(n) {
            *place = self.place_of(k, &step, &mut pinned, sink);
        }
        let dies =
            !is_missing && self.next[first as usize] == NEVER && !step.args[1..].contains(&first);
        let register = match args[0] {
            ValuePlace::Register(register) if dies => register,
            place => {
                let others = args[1..n].iter().fold(0, |mask, it| match it {
                    ValuePlace::Register(r) | ValuePlace::Based(r, _) => mask | 1 << r,
                    _ => mask,
                });
                let own = if let ValuePlace::Register(r) | ValuePlace::Based(r, _) = place {
                    1 << r
                } else {
                    0
                };
                let register = self.take(others | own, self.wanted[step.dst as usize], sink);
                match place {
                    ValuePlace::Register(from) => sink.copy(register, from),
                    place => sink.load(register, place),
                }
                register
            }
        };
        args[0] = ValuePlace::Register(register);
        sink.operate(&step, kind, register, &args[..n]);
        self.end_of_uses(&step);
        self.made(step.dst, register);
    }

    /// Moves carried values into the registers where the next iteration expects them.
    fn finish(&mut self, header: &Header, sink: &mut impl Sink) {
        let block = self.block;
        let mut moves: Vec<(u8, u8)> = Vec::new();
        let mut loads: Vec<(u8, Value)> = Vec::new();
        let mut targets = 0u32;
        for (carried, register) in block.carried.iter().zip(header) {
            let Some(register) = *register else { continue };
            targets |= 1 << register;
            match self.register_of[carried.next as usize] {
                NO => loads.push((register, carried.next)),
                from if from != register => moves.push((register, from)),
                _ => {}
            }
        }
        while !moves.is_empty() {
            let ready = moves
                .iter()
                .position(|(to, _)| !moves.iter().any(|(other, from)| from == to && other != to));
            match ready {
                Some(k) => {
                    let (to, from) = moves.swap_remove(k);
                    sink.copy(to, from);
                }
                None => {
                    // Only cycles of carried values are left.
                    let scratch = (0..self.registers.n as u8)
                        .find(|r| targets >> r & 1 == 0)
                        .expect("one register carries nothing");
                    let (_, from) = moves[0];
                    sink.copy(scratch, from);
                    moves
                        .iter_mut()
                        .filter(|pair| pair.1 == from)
                        .for_each(|pair| pair.1 = scratch);
                }
            }
        }
        for (register, value) in loads {
            let place = self
                .immediate(value)
                .or(self.homes[value as usize])
                .expect("what has no register is in memory");
            let place = match place {
                ValuePlace::Memory(memory)
                    if !self.registers.is_vector && memory.address != FRAME =>
                {
                    sink.load_address(register, memory.address);
                    ValuePlace::Based(register, memory.offset)
                }
                place => place,
            };
            sink.load(register, place);
        }
    }
}

fn kind_is_ternary(kind: StepKind) -> bool {
    matches!(kind, StepKind::Ternary(_))
}

/// The operation after its first operand and another have changed places.
fn swapped(kind: StepKind, other: usize) -> StepKind {
    let StepKind::Ternary(table) = kind else { return kind };
    let (own, bit) = (4u8, if other == 1 { 2u8 } else { 1 });
    StepKind::Ternary(permuted(table, own, bit))
}

fn swapped_last(kind: StepKind) -> StepKind {
    let StepKind::Ternary(table) = kind else { return kind };
    StepKind::Ternary(permuted(table, 2, 1))
}

/// The table after two bits of its index have changed places.
fn permuted(table: u8, a: u8, b: u8) -> u8 {
    (0..8u8).fold(0, |out, idx| {
        let (has_a, has_b) = (idx & a != 0, idx & b != 0);
        let from = (idx & !(a | b)) | if has_a { b } else { 0 } | if has_b { a } else { 0 };
        out | (table >> from & 1) << idx
    })
}

/// The registers in which this order leaves the next value of each carried one; if two share one,
/// the second gets a free one.
pub fn ends(
    block: &Block,
    constants: &[[u64; 2]],
    registers: Registers,
    order: &[u32],
    header: &Header,
    buffer: Option<u32>,
) -> Header {
    let mut allocator = Allocator::new(block, constants, registers);
    allocator.run(order, header, buffer, &mut Count::default());
    let mut taken = 0u32;
    let mut ends: Header = vec![None; header.len()];
    for (k, carried) in block.carried.iter().enumerate() {
        let register = allocator.register_of[carried.next as usize];
        if header[k].is_some() && register != NO && taken >> register & 1 == 0 {
            taken |= 1 << register;
            ends[k] = Some(register);
        }
    }
    for k in 0..header.len() {
        if header[k].is_some() && ends[k].is_none() {
            let register = (0..registers.n as u8)
                .find(|r| taken >> r & 1 == 0)
                .expect("as many registers as before");
            taken |= 1 << register;
            ends[k] = Some(register);
        }
    }
    ends
}
