//! What must stay in order on a trace, why, and for how many cycles.
//!
//! ```text
//! 0  ldr r0, [r4]
//! 1  and r3, r0, #3      1 waits for 0: r0, 3 cycles
//! 2  cmp r3, #1          2 waits for 1: r3, 1 cycle
//! 3  beq slow            3 waits for 2: Z, 1 cycle; nothing may pass it that writes memory
//! 4  ldr r3, [ip, #4]    4 follows 2, which reads the old r3; a fresh register undoes this
//! ```
//!
//! A [`Licence`] says which of these orders may be given up. Needs: a trace of the function.
//! Costs: for memory, the product of stores and accesses between two calls.

use std::collections::{BTreeMap, BTreeSet};

use machine::in_order::Core;

use crate::decode::code::{
    Access, Class, Flow, Guard, IndexForm, Instruction, Op, Out, Read, Reg, Role, Value,
};
use crate::facts::frame::StackFrame;
use crate::facts::liveness::RegSet;
use crate::facts::pinned::{pinned, surely_pinned};
use crate::facts::spills::in_own_frame;
use crate::facts::trace::{Trace, seams};
use crate::program::function::Function;
use crate::timing::meeting::{MemoryPlace, Origin, Overlap, overlap};
use crate::timing::pieces::{
    blocks, flag_writes, guards, is_call, is_exit, is_near, is_speculable, keeps_for_caller,
    slot_of, stretches,
};

/// What a compiler, or a programmer, would have to be allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Licence {
    /// A result may go to another register than the one it goes to.
    pub renames: bool,
    /// What may cross a side exit.
    pub crosses: Crossing,
    /// A load may go before a store that perhaps writes what it reads.
    pub reorders_memory: bool,
}

/// What may cross a side exit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Crossing {
    #[default]
    Nothing,
    /// What cannot fault: arithmetic, loads from the stack or beside the code, loads through a
    /// pointer that was followed before.
    Proved,
    /// Every load, because the programmer promises that its address is good.
    Promised,
}

/// Why one instruction follows another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// It reads what the other wrote, in this role.
    Value(Reg, Role),
    /// It writes a register that the other reads or writes.
    Rewrite(Reg),
    /// It writes a register that the other is still storing.
    Lock(Reg),
    /// Both access memory, perhaps the same.
    Memory,
    /// One of them is a side exit, a call, or changes the state of the system.
    Control,
}

/// `to` starts `cycles` after `from` at the earliest, and after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    /// The earlier one, as a place in the trace.
    pub from: u32,
    pub to: u32,
    /// From start to start.
    pub cycles: u32,
    pub why: Why,
}

/// All edges of a trace under a licence, those to one instruction together, in the
/// order of the trace.
pub fn dependences(
    function: &Function,
    frame: &StackFrame,
    trace: &Trace,
    core: &Core,
    licence: Licence,
) -> Vec<Edge> {
    all_of(Builder::new(function, frame, trace, core, licence))
}

/// The same where functions of which it is not known have one argument at most.
pub fn sure_dependences(
    function: &Function,
    frame: &StackFrame,
    trace: &Trace,
    core: &Core,
    licence: Licence,
) -> Vec<Edge> {
    let pinned = surely_pinned(function, trace);
    all_of(Builder { pinned, ..Builder::new(function, frame, trace, core, licence) })
}

fn all_of(mut builder: Builder) -> Vec<Edge> {
    for at in 0..builder.trace.places.len() {
        let first = builder.edges.len();
        builder.registers(at);
        builder.memory(at);
        builder.control(at);
        builder.remember(at);
        builder.edges[first..].sort_by_key(|edge| edge.from);
    }
    builder.edges
}

/// The edges that take cycles, as the trace is written: what a timing in its own order needs,
/// without the orders, of which there are as many as pairs of instructions.
pub fn latencies(function: &Function, frame: &StackFrame, trace: &Trace, core: &Core) -> Vec<Edge> {
    let mut builder = Builder::new(function, frame, trace, core, Licence::default());
    for at in 0..trace.places.len() {
        builder.registers(at);
        builder.remember(at);
    }
    builder.edges.retain(|edge| edge.cycles > 0);
    builder.edges.sort_by_key(|edge| (edge.to, edge.from));
    builder.edges
}

/// Registers have numbers of one byte.
const REGS_MAX: usize = 256;

/// Two values that are added, the lesser first.
type Sum = [(Origin, i64); 2];

struct Builder<'a> {
    function: &'a Function,
    frame: &'a StackFrame,
    trace: &'a Trace,
    core: &'a Core,
    licence: Licence,
    edges: Vec<Edge>,
    /// By register, its writers whose value may still be there: one that surely writes, and
    /// guarded ones after it.
    writers: Vec<Vec<(u32, Out)>>,
    /// Readers since, by register.
    readers: Vec<Vec<u32>>,
    /// What each register holds, as an origin and a distance.
    values: Vec<(Origin, i64)>,
    /// Accesses since the last barrier.
    accesses: Vec<(u32, Access, MemoryPlace)>,
    /// Addresses that the linker knows.
    statics: BTreeSet<Origin>,
    /// Pointers that were followed, with the place in the trace.
    followed: BTreeMap<Origin, u32>,
    /// Likewise sums of two registers, as of a base and an index.
    followed_sums: BTreeMap<Sum, u32>,
    /// Registers that hold such a sum.
    sums: BTreeMap<Origin, Sum>,
    barrier: Option<u32>,
    /// How many exits lie before the current instruction.
    n_exits: usize,
    /// Instructions that went below every exit so far.
    sinking: Vec<usize>,
    /// For each instruction of the trace: it is an exit.
    is_exit: Vec<bool>,
    /// Instructions that access slots which no pointer leads to.
    own: BTreeSet<usize>,
    /// The block of each instruction of the trace, by number.
    blocks: Vec<u32>,
    /// Likewise the stretch between two borders of loops, which nothing crosses.
    stretches: Vec<u32>,
    /// Likewise how many tests of loops the path left out.
    seams: Vec<u32>,
    /// Likewise whether it is an `it` of Thumb or one that it guards.
    guards: Vec<bool>,
    /// The last of those so far.
    guard: Option<u32>,
    /// The registers in which conventions want the value that each instruction of
    /// the trace leaves there.
    pinned: Vec<RegSet>,
    /// By register, the readers and writers of a value of it that no other register could hold,
    /// since one was last written.
    bound: Vec<Vec<u32>>,
    /// How often flags were written before each instruction of the trace.
    flags: Vec<u32>,
}

impl<'a> Builder<'a> {
    fn new(
        function: &'a Function,
        frame: &'a StackFrame,
        trace: &'a Trace,
        core: &'a Core,
        licence: Licence,
    ) -> Builder<'a> {
        Builder {
            function,
            frame,
            trace,
            core,
            licence,
            edges: Vec::new(),
            writers: vec![Vec::new(); REGS_MAX],
            readers: vec![Vec::new(); REGS_MAX],
            values: (0..=u8::MAX).map(|idx| (Origin::Before(Reg(idx)), 0)).collect(),
            accesses: Vec::new(),
            statics: BTreeSet::new(),
            followed: BTreeMap::new(),
            followed_sums: BTreeMap::new(),
            sums: BTreeMap::new(),
            barrier: None,
            n_exits: 0,
            sinking: Vec::new(),
            is_exit: is_exit(trace),
            own: in_own_frame(function, frame),
            blocks: blocks(function, trace),
            stretches: stretches(function, trace),
            seams: seams(function, trace),
            guards: guards(function, trace),
            guard: None,
            pinned: if licence.renames { pinned(function, trace) } else { Vec::new() },
            bound: vec![Vec::new(); REGS_MAX],
            flags: flag_writes(function, trace),
        }
    }

    fn instruction(&self, at: usize) -> &'a Instruction {
        &self.function.instructions[self.trace.places[at]]
    }

    /// Nothing passes it, in either direction; what is written over when the kernel
    /// runs may be anything.
    fn is_barrier(&self, at: usize) -> bool {
        self.instruction(at).is_barrier() || self.function.is_open(self.trace.places[at])
    }

    fn edge(&mut self, from: u32, to: usize, cycles: i32, why: Why) {
        let is_call = is_call(self.instruction(from as usize));
        // Across a call everything arrives in time: the callee takes longer than any result.
        let crosses_call =
            self.barrier.is_some_and(|barrier| from < barrier && is_call_at(self, barrier));
        // So it does where the path leaves out the test of a loop.
        let crosses_test = self.seams[from as usize] != self.seams[to];
        let cycles =
            if crosses_call || crosses_test || is_call { 0 } else { cycles.max(0).cast_unsigned() };
        self.edges.push(Edge { from, to: to as u32, cycles, why });
    }

    fn registers(&mut self, at: usize) {
        let instruction = self.instruction(at);
        let zero = self.function.isa.conventions().zero;
        for read in &instruction.reads {
            if Some(read.reg) == zero {
                continue;
            }
            for (from, out) in self.read_from(at, read.reg) {
                let writer = self.instruction(from as usize);
                let is_whole = writer.accesses.iter().all(|access| {
                    u32::from(access.width) * 8 == u32::from(self.function.isa.conventions().bits)
                });
                let work = self.core.work_of(writer.class, writer.is_quad);
                // What is loaded as many bytes comes with the last of them.
                let n_bytes = writer
                    .accesses
                    .iter()
                    .filter(|access| !access.is_store)
                    .map(|access| u32::from(access.width))
                    .sum();
                let later = if out == Out::BaseUpdate {
                    0
                } else {
                    work.byte_cycles(n_bytes).saturating_sub(1)
                };
                let latency = (work.latency_as(out, read.role, is_whole) + later).cast_signed();
                let early = self.core.early_cycles(instruction.class, read.role, writer.class);
                // Of a word that is not decoded nothing is known, how long it takes neither.
                let is_unknown = instruction.is_unknown() || writer.is_unknown();
                let cycles =
                    if read.role == Role::Carried || is_unknown { 0 } else { latency + early };
                self.edge(from, at, cycles, Why::Value(read.reg, read.role));
            }
        }
        for write in &instruction.writes {
            if Some(write.reg) == zero {
                continue;
            }
            // A written-back base, and what is changed in part, keeps the name that it had.
            let is_part = self.function.isa.leaves_part(write);
            for (from, _) in self.read_from(at, write.reg).into_iter().filter(|_| is_part) {
                self.edge(from, at, 0, Why::Value(write.reg, Role::Carried));
            }
            let is_same = is_part || write.out == Out::BaseUpdate;
            self.rewrite(at, write.reg, instruction.is_guarded() || is_same);
        }
        if is_call(instruction) {
            for &reg in self.function.isa.conventions().scratch {
                self.rewrite(at, reg, true);
            }
            // What the callee gets.
            for &reg in self.function.isa.conventions().arguments {
                for nth in 0..self.writers[usize::from(reg.0)].len() {
                    let (from, _) = self.writers[usize::from(reg.0)][nth];
                    self.edge(from, at, 0, Why::Control);
                }
            }
        }
    }

    /// The writers that `reg` may come from where instruction `at` reads it: not those whose
    /// condition excludes its own under the same flags, nor those that later ones have written over
    /// whenever `at` is done. `movne r3, #0` is nothing to `ldreq r3, [r3]`.
    fn read_from(&self, at: usize, reg: Reg) -> Vec<(u32, Out)> {
        let mut open = self.instruction(at).guard.unwrap_or(Guard::ALWAYS);
        let mut found = Vec::new();
        for &(from, out) in self.writers[usize::from(reg.0)].iter().rev() {
            if open == Guard::NEVER {
                break;
            }
            match self
                .instruction(from as usize)
                .guard
                .filter(|_| self.flags[from as usize] == self.flags[at])
            {
                Some(guard) if guard.excludes(open) => continue,
                Some(guard) => open = open.without(guard),
                None => {}
            }
            found.push((from, out));
        }
        found.reverse();
        found
    }

    /// Only one of the two is done: their conditions exclude each other, and the
    /// flags are the same.
    fn exclude_each_other(&self, from: u32, at: usize) -> bool {
        match (self.instruction(from as usize).guard, self.instruction(at).guard) {
            (Some(one), Some(other)) => {
                self.flags[from as usize] == self.flags[at] && one.excludes(other)
            }
            _ => false,
        }
    }

    /// Instruction `at` writes a register over. A fresh one would do, unless
    /// the value belongs there.
    fn rewrite(&mut self, at: usize, reg: Reg, is_fixed: bool) {
        let conventions = self.function.isa.conventions();
        let can_rename =
            !is_fixed && !conventions.flags.contains(&reg) && reg != conventions.stack_pointer;
        if self.licence.renames && can_rename {
            // The value belongs there: it cannot come before those who need the one that had to be
            // there, too. A register that is the caller's is kept first, and so would be any other
            // that outlives a call.
            if self.is_pinned(at, reg) || self.is_callers(reg) && self.was_there(reg) {
                for nth in 0..self.bound[usize::from(reg.0)].len() {
                    self.edge(self.bound[usize::from(reg.0)][nth], at, 0, Why::Rewrite(reg));
                }
            }
            return;
        }
        for nth in 0..self.readers[usize::from(reg.0)].len() {
            let from = self.readers[usize::from(reg.0)][nth];
            let reader = self.instruction(from as usize);
            let nth = reader
                .reads
                .iter()
                .filter(|read| read.role == Role::Data)
                .position(|read| read.reg == reg);
            let lock = nth.map_or(0, |nth| self.core.work(reader.class).lock(nth));
            let why = if lock > 0 { Why::Lock(reg) } else { Why::Rewrite(reg) };
            // Flags are read to know whether anything is done.
            let is_done = conventions.flags.contains(&reg) || !self.exclude_each_other(from, at);
            if from as usize != at && is_done {
                self.edge(from, at, lock.cast_signed(), why);
            }
        }
        for nth in 0..self.writers[usize::from(reg.0)].len() {
            let (from, _) = self.writers[usize::from(reg.0)][nth];
            if !self.exclude_each_other(from, at) {
                self.edge(from, at, 0, Why::Rewrite(reg));
            }
        }
    }

    /// Conventions want what instruction `at` leaves in `reg` to be there.
    fn is_pinned(&self, at: usize, reg: Reg) -> bool {
        self.pinned.get(at).is_some_and(|pinned| pinned.contains(reg))
    }

    /// The caller wants it back, or it says where to go back.
    fn is_callers(&self, reg: Reg) -> bool {
        let conventions = self.function.isa.conventions();
        conventions.saved.contains(&reg) || conventions.link == Some(reg)
    }

    /// What `reg` holds now it may have held before the path.
    fn was_there(&self, reg: Reg) -> bool {
        self.writers[usize::from(reg.0)]
            .iter()
            .all(|(it, _)| self.instruction(*it as usize).is_guarded())
    }

    /// What `reg` holds now could be in no other register: it was there before, a call left it
    /// there, or conventions want it there. A register that is the caller's is not given to another
    /// value for nothing, which would have to be kept in turn.
    fn is_bound(&self, reg: Reg) -> bool {
        let writers = &self.writers[usize::from(reg.0)];
        let is_bound = |number: &u32| {
            is_call(self.instruction(*number as usize)) || self.is_pinned(*number as usize, reg)
        };
        self.was_there(reg) || self.is_callers(reg) || writers.iter().any(|(it, _)| is_bound(it))
    }

    fn memory(&mut self, at: usize) {
        let instruction = self.instruction(at);
        for access in &instruction.accesses {
            let place = self.place(at, access);
            for idx in 0..self.accesses.len() {
                let (from, other, other_place) = self.accesses[idx];
                if !access.is_store && !other.is_store {
                    continue;
                }
                let overlap = overlap(place, access, other_place, &other);
                let is_load_past_store = other.is_store && !access.is_store;
                let is_given_up = is_load_past_store
                    && self.licence.reorders_memory
                    && overlap == Overlap::Perhaps;
                let is_other = from as usize != at && !self.exclude_each_other(from, at);
                if overlap != Overlap::Never && !is_given_up && is_other {
                    self.edge(from, at, 0, Why::Memory);
                }
            }
        }
        for access in &instruction.accesses {
            let place = self.place(at, access);
            self.accesses.push((at as u32, *access, place));
        }
    }

    fn place(&self, at: usize, access: &Access) -> MemoryPlace {
        if let Some(slot) = self.frame.slot(self.trace.places[at], access) {
            let is_own = self.own.contains(&self.trace.places[at])
                || keeps_for_caller(self.function, self.instruction(at));
            return if slot.count == 0 && is_own {
                MemoryPlace::Own(slot.offset)
            } else {
                MemoryPlace::Slot(slot.count, slot.offset)
            };
        }
        let is_static = |base: Reg| self.statics.contains(&self.value(base).0);
        match (access.base, access.index, access.index_form) {
            (Some(base), None, IndexForm::Whole) if is_static(base) => {
                let (origin, distance) = self.value(base);
                MemoryPlace::Static(Some((origin, distance.wrapping_add(access.disp))))
            }
            // What the linker has still to write.
            (Some(base), Some((index, 0)), IndexForm::Other)
                if base == index && is_static(base) =>
            {
                MemoryPlace::Static(None)
            }
            (None, None, _) if !access.is_store && is_near(self.instruction(at), access) => {
                MemoryPlace::Constant
            }
            (Some(base), None, IndexForm::Whole) => {
                let (origin, distance) = self.value(base);
                MemoryPlace::At(origin, distance.wrapping_add(access.disp))
            }
            _ => MemoryPlace::Unknown,
        }
    }

    fn value(&self, reg: Reg) -> (Origin, i64) {
        self.values[usize::from(reg.0)]
    }

    fn control(&mut self, at: usize) {
        let instruction = self.instruction(at);
        if let Some(barrier) = self.barrier {
            self.edge(barrier, at, 0, Why::Control);
        }
        if self.is_barrier(at)
            || at + 1 == self.trace.places.len() && instruction.flow != Flow::Next
        {
            for from in self.barrier.map_or(0, |barrier| barrier + 1)..at as u32 {
                self.edge(from, at, 0, Why::Control);
            }
        }
        self.guarded(at);
        let stretch = self.stretches[at];
        let mut from = at;
        while from > 0 && self.stretches[from - 1] + 1 >= stretch {
            from -= 1;
            if self.stretches[from] != stretch {
                self.edge(from as u32, at, 0, Why::Control);
            }
        }
        if self.licence.crosses == Crossing::Nothing {
            self.inside_blocks(at);
        } else {
            self.across_exits(at);
        }
    }

    /// What an `it` guards follows it, and nothing else: the block stays where it is,
    /// and nothing crosses it.
    fn guarded(&mut self, at: usize) {
        if let Some(guard) = self.guard {
            self.edge(guard, at, 0, Why::Control);
        }
        if self.guards[at] {
            for from in self.guard.map_or(0, |guard| guard + 1)..at as u32 {
                self.edge(from, at, 0, Why::Control);
            }
            self.guard = Some(at as u32);
        }
    }

    /// Everything stays in its block, and the branch at its end.
    fn inside_blocks(&mut self, at: usize) {
        let block = self.blocks[at];
        let is_branch = self.instruction(at).flow != Flow::Next || self.is_exit[at];
        let mut from = at;
        while from > 0 && self.blocks[from - 1] + 1 >= block {
            from -= 1;
            if self.blocks[from] != block || is_branch {
                self.edge(from as u32, at, 0, Why::Control);
            }
        }
    }

    /// Exits stay in their order; what may not cross one of them stays where it is. One edge says
    /// it for all exits on the same side, because these follow each other.
    fn across_exits(&mut self, at: usize) {
        for exit_idx in (0..self.n_exits).rev() {
            let exit_at = self.trace.exits[exit_idx].at;
            // The instruction in a delay slot is done whichever way control goes: it stands before
            // its branch.
            if slot_of(self.function, self.trace, exit_at) != Some(at)
                && !self.may_rise(at, exit_idx)
            {
                self.edge(exit_at as u32, at, 0, Why::Control);
                break;
            }
        }
        if let Some(exit) = self.trace.exits.get(self.n_exits).filter(|exit| exit.at == at) {
            let (sinking, pinned): (Vec<usize>, Vec<usize>) =
                self.sinking.iter().partition(|it| self.may_sink(**it, &exit.live));
            for from in pinned {
                self.edge(from as u32, at, 0, Why::Control);
            }
            self.sinking = sinking;
            self.n_exits += 1;
        }
        self.sinking.push(at);
    }

    /// May instruction `at` go above the exit?
    fn may_rise(&self, at: usize, exit_idx: usize) -> bool {
        let instruction = self.instruction(at);
        let exit = &self.trace.exits[exit_idx];
        // Exits stay in their order, those that are loads too.
        if !is_speculable(instruction) || self.is_exit[at] {
            return false;
        }
        let is_good = match self.licence.crosses {
            Crossing::Nothing => false,
            Crossing::Promised => true,
            Crossing::Proved => instruction
                .accesses
                .iter()
                .all(|access| self.cannot_fault(at, access, exit.at as u32)),
        };
        let conventions = self.function.isa.conventions();
        let clobbers = instruction.writes.iter().any(|write| {
            let is_fixed = write.out == Out::BaseUpdate
                || self.function.isa.leaves_part(write)
                || write.reg == conventions.stack_pointer
                || conventions.flags.contains(&write.reg);
            let can_rename = self.licence.renames && !is_fixed && !self.is_pinned(at, write.reg);
            exit.live.contains(write.reg) && !can_rename
        });
        is_good && !clobbers
    }

    /// The address is good at the exit already.
    fn cannot_fault(&self, at: usize, access: &Access, exit_at: u32) -> bool {
        match self.place(at, access) {
            MemoryPlace::Constant | MemoryPlace::Slot(..) | MemoryPlace::Own(_) => true,
            MemoryPlace::At(origin, _) | MemoryPlace::Static(Some((origin, _))) => {
                let sum = self.sums.get(&origin).and_then(|sum| self.followed_sums.get(sum));
                self.followed
                    .get(&origin)
                    .into_iter()
                    .chain(sum)
                    .any(|followed| *followed < exit_at)
            }
            MemoryPlace::Unknown | MemoryPlace::Static(None) => false,
        }
    }

    /// It makes an address that the linker knows: of nothing, as `adrp` and `lui`, of a word beside
    /// the code, or of the first half of it.
    fn makes_static(&self, instruction: &Instruction) -> bool {
        let is_literal = instruction
            .accesses
            .iter()
            .all(|access| !access.is_store && access.base.is_none() && access.index.is_none());
        let is_known = matches!(
            instruction.class,
            Class::Alu | Class::Constant | Class::Load | Class::LoadSlow
        );
        let continues = instruction.operation.is_none() && instruction.accesses.is_empty();
        let mut reads = instruction.reads.iter();
        let reads_static =
            |read: &Read| continues && self.statics.contains(&self.value(read.reg).0);
        is_known
            && is_literal
            && !instruction.is_guarded()
            && reads.all(|read| {
                read.role == Role::Base && !instruction.accesses.is_empty() || reads_static(read)
            })
    }

    /// May instruction `from` go below an exit where `live` is read?
    fn may_sink(&self, from: usize, live: &RegSet) -> bool {
        let instruction = self.instruction(from);
        let conventions = self.function.isa.conventions();
        // Whoever is called on the way out finds the frames by it, though no word reads it.
        let makes_frame = |reg: Reg| {
            let stack = conventions.stack_pointer;
            Some(reg) == conventions.frame_pointer
                && instruction.reads.iter().any(|read| read.reg == stack)
        };
        let is_needed = instruction
            .writes
            .iter()
            .any(|write| live.contains(write.reg) || makes_frame(write.reg));
        is_speculable(instruction) && !is_needed && !self.is_exit[from]
    }

    /// What is known after instruction `at`.
    fn remember(&mut self, at: usize) {
        let instruction = self.instruction(at);
        self.follow(at);
        for read in &instruction.reads {
            self.readers[usize::from(read.reg.0)].push(at as u32);
            if self.licence.renames && self.is_bound(read.reg) {
                self.bound[usize::from(read.reg.0)].push(at as u32);
            }
        }
        let computed = self.computed(instruction);
        let makes_static = self.makes_static(instruction);
        for write in &instruction.writes {
            let writers = &mut self.writers[usize::from(write.reg.0)];
            if !instruction.is_guarded() && !self.function.isa.leaves_part(write) {
                writers.clear();
                self.readers[usize::from(write.reg.0)].clear();
            }
            writers.push((at as u32, write.out));
            if self.licence.renames && self.is_bound(write.reg) {
                // A pinned one follows all of them.
                let follows = self.is_pinned(at, write.reg)
                    && !instruction.is_guarded()
                    && write.out != Out::BaseUpdate;
                let bound = &mut self.bound[usize::from(write.reg.0)];
                if follows {
                    bound.clear();
                }
                bound.push(at as u32);
            }
            let (origin, distance) = self.values[usize::from(write.reg.0)];
            let moved = instruction.base_moves.filter(|_| write.out == Out::BaseUpdate);
            let value = match (computed, moved) {
                _ if instruction.is_guarded() => (Origin::Written(at as u32, write.reg), 0),
                (Some((reg, value)), _) if reg == write.reg => value,
                (_, Some(by)) => (origin, distance.wrapping_add(by)),
                _ => (Origin::Written(at as u32, write.reg), 0),
            };
            self.values[usize::from(write.reg.0)] = value;
            if makes_static {
                self.statics.insert(value.0);
            }
        }
        if is_call(instruction) {
            for &reg in self.function.isa.conventions().scratch {
                self.writers[usize::from(reg.0)].clear();
                self.writers[usize::from(reg.0)].push((at as u32, Out::Link));
                self.bound[usize::from(reg.0)].clear();
                self.readers[usize::from(reg.0)].clear();
                self.values[usize::from(reg.0)] = (Origin::Written(at as u32, reg), 0);
            }
        }
        if self.is_barrier(at) {
            self.barrier = Some(at as u32);
            self.accesses.clear();
        }
    }

    /// What the accesses of instruction `at` say of addresses, and what sum it makes. A load that may
    /// not have been done proves nothing.
    fn follow(&mut self, at: usize) {
        let instruction = self.instruction(at);
        if instruction.is_guarded() {
            return;
        }
        for access in &instruction.accesses {
            match (access.base, access.index, access.index_form) {
                (Some(base), None, _) => {
                    let (origin, _) = self.value(base);
                    self.followed.entry(origin).or_insert(at as u32);
                }
                (Some(base), Some((index, 0)), IndexForm::Whole) => {
                    let sum = self.sum(base, index);
                    self.followed_sums.entry(sum).or_insert(at as u32);
                }
                _ => {}
            }
        }
        let bits = self.function.isa.conventions().bits;
        if let Some(operation) = instruction.operation.filter(|operation| operation.width == bits)
            && let (Op::Add, Value::Reg(a), Value::Reg(b)) =
                (operation.op, operation.a, operation.b)
            && let Some(result) = operation.result
        {
            let sum = self.sum(a, b);
            self.sums.insert(Origin::Written(at as u32, result), sum);
        }
    }

    fn sum(&self, a: Reg, b: Reg) -> Sum {
        let mut sum = [self.value(a), self.value(b)];
        sum.sort_unstable();
        sum
    }

    /// A register that holds a known distance from an older value.
    fn computed(&self, instruction: &Instruction) -> Option<(Reg, (Origin, i64))> {
        let operation = instruction.operation?;
        let (reg, by) = match (operation.op, operation.a, operation.b) {
            (Op::Move, Value::Reg(reg), _) => (reg, 0),
            // Copies of sets that have no other: zero is added, or a register of zero.
            (Op::Add | Op::Or, Value::Const(0), Value::Reg(reg)) => (reg, 0),
            (Op::Or, Value::Reg(reg), Value::Const(0)) => (reg, 0),
            (Op::Add, Value::Reg(reg), Value::Const(by)) => (reg, by as i64),
            (Op::Sub, Value::Reg(reg), Value::Const(by)) => (reg, (by as i64).wrapping_neg()),
            _ => return None,
        };
        let (origin, distance) = self.value(reg);
        Some((operation.result?, (origin, distance.wrapping_add(by))))
    }
}

fn is_call_at(builder: &Builder, at: u32) -> bool {
    is_call(builder.instruction(at as usize))
}
