//! What a program costs on a machine, from its text alone: spills by Belady's rule, cycles on a
//! simple out-of-order core. A model, good for comparing two orders of the same equations, not for
//! more.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap as HashMap;

use machine::{Class, Kind, Machine};

use crate::ir::{Body, Node, Op, Operand, Program, Stmt, VarId};
use crate::options::Slicing;
use crate::target::Target;

use super::hslice::shifts;
use super::schedule_mslice::class;
use super::turns;

/// The loads and stores of spills when `n_registers` registers hold values: the value
/// whose next use is farthest gives up its register, and is stored unless it was before.
/// Calls and loops empty the registers. Source: Belady, "A study of replacement
/// algorithms for a virtual-storage computer", 1966.
pub fn spills(node: &Node, stmts: &[Stmt], live_out: &BTreeSet<VarId>, n_registers: usize) -> u64 {
    let mut registers = RegisterFile::new(node, stmts, live_out, n_registers);
    let mut traffic = 0;
    for (at, stmt) in stmts.iter().enumerate() {
        let moved = registers.step(stmt, at as u32);
        traffic += (moved.loads.len() + moved.stores) as u64;
    }
    traffic
}

/// What one call of a node costs.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Cost {
    pub cycles: f64,
    /// Loads and stores of spilled values.
    pub spills: f64,
    pub equations: f64,
}

impl Cost {
    fn add(&mut self, other: Cost, times: f64) {
        self.cycles += other.cycles * times;
        self.spills += other.spills * times;
        self.equations += other.equations * times;
    }
}

/// Model: one call of the first entry, the one that works on blocks; a key schedule runs once.
pub fn entry(program: &Program, target: &Target, slicing: Slicing) -> Cost {
    let mut by_node: Vec<Cost> = Vec::new();
    for node in &program.nodes {
        let cost = match &node.body {
            Body::Stmts(stmts) => level(node, stmts, &BTreeSet::new(), (target, slicing), &by_node),
            Body::Perm(_) | Body::Table(_) => Cost::default(),
        };
        by_node.push(cost);
    }
    program.entries.first().map_or(Cost::default(), |id| by_node[id.idx()])
}

/// Cycles that a call adds to those of the callee: words are passed through memory, both ways.
const CALL_CYCLES: f64 = 12.0;

/// A shuffle of the bits of a word in a lane: how many parts of it move, and how many there are,
/// each masked and joined to the others.
fn shifted_parts(pattern: &[u8]) -> (usize, usize) {
    let parts = shifts(pattern, pattern.len() as u32);
    (parts.iter().filter(|part| part.0 != 0).count(), parts.len())
}

/// The cycle of the result of a shuffle.
fn shuffle(core: &mut Core, pattern: &[u8], slicing: Slicing, ready: u64) -> u64 {
    if slicing == Slicing::Horizontal {
        let is_general = core.kind == Kind::General;
        return core.start(if is_general { Class::Rotate } else { Class::Shuffle }, ready);
    }
    let (n_moved, n) = shifted_parts(pattern);
    let moved = (0..n_moved).map(|_| core.start(Class::Shift, ready)).max().unwrap_or(ready);
    let masked = (0..n).map(|_| core.start(Class::Logic, moved)).max().unwrap_or(moved);
    (1..n).fold(masked, |done, _| core.start(Class::Logic, done))
}

/// Horizontal words of `m` bits have to be turned, as no instruction moves their elements at will.
pub fn has_turns(target: &Target, m: u32) -> bool {
    target.kind == Kind::General || m > 16
}

/// Instructions for a move of the bits of words, with this pattern.
pub fn steps(pattern: &[u8], target: &Target, slicing: Slicing) -> u64 {
    let m = pattern.len() as u32;
    if slicing == Slicing::Horizontal {
        return if has_turns(target, m) { turns::steps(pattern) } else { 1 };
    }
    let all = u64::MAX >> (64 - m);
    let kept = |shift: i64| all & if shift < 0 { all >> -shift } else { all << shift };
    let rotates = m >= 32 && target.kind != Kind::Vector;
    match shifts(pattern, m)[..] {
        _ if turns::rotation(pattern).is_some() => return if rotates { 1 } else { 3 },
        [(shift, mask)] if mask == kept(shift) => return 1,
        _ => {}
    }
    let (n_moved, n) = shifted_parts(pattern);
    (n_moved + (2 * n).max(1) - 1) as u64
}

fn level(
    node: &Node,
    stmts: &[Stmt],
    live_out: &BTreeSet<VarId>,
    (target, slicing): (&Target, Slicing),
    callees: &[Cost],
) -> Cost {
    let mut registers = RegisterFile::new(node, stmts, live_out, target.n_registers);
    let mut core = Core::new(&target.machine, target.kind);
    let mut cost = Cost::default();
    // When the value of each variable is ready.
    let mut known: HashMap<VarId, u64> = HashMap::default();
    for (at, stmt) in stmts.iter().enumerate() {
        let moved = registers.step(stmt, at as u32);
        cost.spills += (moved.loads.len() + moved.stores) as f64;
        (0..moved.stores).for_each(|_| {
            core.start(Class::Store, 0);
        });
        match stmt {
            Stmt::Eq(eq) => {
                cost.equations += 1.0;
                for var in moved.loads {
                    let ready = core.start(Class::Load, known.get(&var).copied().unwrap_or(0));
                    known.insert(var, ready);
                }
                let mut ready = 0;
                for arg in &eq.args {
                    let Operand::Ref(place) = arg else { continue };
                    ready = ready.max(match known.get(&place.var) {
                        Some(ready) => *ready,
                        None if registers.is_value(place.var) => 0,
                        None => core.start(Class::Load, 0),
                    });
                }
                let done = match &eq.op {
                    Op::Shuffle(pattern) => shuffle(&mut core, pattern, slicing, ready),
                    op => core.start(class(op), ready),
                };
                if registers.is_value(eq.dst.var) {
                    known.insert(eq.dst.var, done);
                } else {
                    core.start(Class::Store, done);
                }
            }
            Stmt::Call(call) => {
                cost.cycles += CALL_CYCLES;
                cost.add(callees[call.node.idx()], 1.0);
            }
            Stmt::Loop(it) => {
                let next = it.carried.iter().filter_map(|c| {
                    if let Operand::Ref(place) = &c.next { Some(place.var) } else { None }
                });
                cost.add(
                    level(node, &it.body, &next.collect(), (target, slicing), callees),
                    f64::from(it.n),
                );
            }
            Stmt::Unrolled(_) => panic!("`loops` has decided about every loop"),
        }
    }
    cost.cycles += core.end as f64;
    cost
}

/// Which values are in registers.
struct RegisterFile<'a> {
    live_out: &'a BTreeSet<VarId>,
    n: usize,
    uses: HashMap<VarId, Vec<u32>>,
    /// Position in `uses` of the next use.
    next: HashMap<VarId, usize>,
    /// Values in registers by next use.
    held: BTreeSet<(u32, VarId)>,
    by_var: BTreeMap<VarId, u32>,
    stored: BTreeSet<VarId>,
    is_value: Vec<bool>,
}

/// Loads and stores that a step caused.
#[derive(Default)]
struct Moved {
    loads: Vec<VarId>,
    stores: usize,
}

const DEAD: u32 = u32::MAX;

impl<'a> RegisterFile<'a> {
    fn new(node: &Node, stmts: &[Stmt], live_out: &'a BTreeSet<VarId>, n: usize) -> Self {
        let mut is_value: Vec<bool> = node.vars.iter().map(|v| v.len == 1).collect();
        for var in node.params.iter().chain(&node.results) {
            is_value[var.idx()] = false;
        }
        let mut registers = RegisterFile {
            live_out,
            n,
            uses: HashMap::default(),
            next: HashMap::default(),
            held: BTreeSet::new(),
            by_var: BTreeMap::new(),
            stored: BTreeSet::new(),
            is_value,
        };
        for (at, stmt) in stmts.iter().enumerate() {
            for var in registers.read_by(stmt) {
                registers.uses.entry(var).or_default().push(at as u32);
            }
        }
        registers
    }

    fn is_value(&self, var: VarId) -> bool {
        self.is_value[var.idx()]
    }

    fn read_by(&self, stmt: &Stmt) -> Vec<VarId> {
        let Stmt::Eq(eq) = stmt else { return Vec::new() };
        let vars = eq
            .args
            .iter()
            .filter_map(|a| if let Operand::Ref(place) = a { Some(place.var) } else { None });
        let mut vars: Vec<VarId> = vars.filter(|v| self.is_value(*v)).collect();
        vars.sort_unstable();
        vars.dedup();
        vars
    }

    fn step(&mut self, stmt: &Stmt, at: u32) -> Moved {
        let mut moved = Moved::default();
        let Stmt::Eq(eq) = stmt else {
            moved.stores = self.flush();
            return moved;
        };
        let vars = self.read_by(stmt);
        for var in &vars {
            if !self.by_var.contains_key(var) {
                moved.loads.push(*var);
                self.stored.insert(*var);
            }
        }
        for var in vars {
            if let Some(old) = self.by_var.remove(&var) {
                self.held.remove(&(old, var));
            }
            let next = self.next.entry(var).or_insert(0);
            while self.uses[&var].get(*next).is_some_and(|u| *u <= at) {
                *next += 1;
            }
            moved.stores += self.insert(var);
        }
        if self.is_value(eq.dst.var) {
            moved.stores += self.insert(eq.dst.var);
        }
        moved
    }

    /// Holds a value in a register; returns the stores that this costs.
    fn insert(&mut self, var: VarId) -> usize {
        let at = self.next.get(&var).copied().unwrap_or(0);
        let end = if self.live_out.contains(&var) { DEAD - 1 } else { DEAD };
        let next = self.uses.get(&var).and_then(|u| u.get(at)).copied().unwrap_or(end);
        if next == DEAD {
            return 0;
        }
        self.held.insert((next, var));
        self.by_var.insert(var, next);
        let mut stores = 0;
        while self.held.len() > self.n {
            let (_, out) = self.held.pop_last().expect("more than n values are held");
            self.by_var.remove(&out);
            stores += usize::from(self.stored.insert(out));
        }
        stores
    }

    fn flush(&mut self) -> usize {
        let mut stores = 0;
        while let Some((_, out)) = self.held.pop_last() {
            self.by_var.remove(&out);
            stores += usize::from(self.stored.insert(out));
        }
        stores
    }
}

/// A core that starts operations within its window as soon as operands are ready and
/// a unit is free.
struct Core<'a> {
    machine: &'a Machine,
    kind: Kind,
    /// First free cycle of each unit.
    free: Vec<u64>,
    /// The cycles in which the operations in the window retire.
    done: std::collections::VecDeque<u64>,
    n_started: u64,
    last_done: u64,
    end: u64,
}

impl<'a> Core<'a> {
    fn new(machine: &'a Machine, kind: Kind) -> Self {
        let free = vec![0; machine.units.len()];
        Core {
            machine,
            kind,
            free,
            done: std::collections::VecDeque::new(),
            n_started: 0,
            last_done: 0,
            end: 0,
        }
    }

    /// Starts an operation whose operands are ready in cycle `ready`; returns the
    /// cycle of its result.
    fn start(&mut self, class: Class, ready: u64) -> u64 {
        let operation = self.machine.operation(self.kind, class);
        let mut at = ready;
        for _ in 0..operation.micro_ops.max(1) {
            let fetched = self.n_started / u64::from(self.machine.issue_width);
            let room = if self.done.len() >= self.machine.window as usize {
                self.done.pop_front().unwrap_or(0)
            } else {
                0
            };
            at = at.max(fetched).max(room);
            let units = (0..self.free.len()).filter(|u| operation.units.0 >> u & 1 == 1);
            if let Some(unit) = units.min_by_key(|u| self.free[*u]) {
                at = at.max(self.free[unit]);
                self.free[unit] = at + 1;
            }
            self.n_started += 1;
            self.last_done = self.last_done.max(at + 1);
            self.done.push_back(self.last_done);
        }
        let result = at + u64::from(operation.latency_cycles);
        self.end = self.end.max(result);
        result
    }
}
