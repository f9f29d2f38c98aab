//! Puts distance between an equation and the equations it reads, and spreads the execution units.
//!
//! ```text
//! a1 = x1 ^ x2        a1 = x1 ^ x2
//! a2 = x3 ^ x4        a2 = x3 ^ x4
//! b1 = a1 ^ x5        c1 = x7 ^ x8
//! b2 = a2 ^ x6  --->  b1 = a1 ^ x5       look_behind = 2
//! c1 = x7 ^ x8        b2 = a2 ^ x6
//! c2 = c1 ^ x9        c2 = c1 ^ x9
//! ```
//!
//! Of the equations that are ready, the first in the order of the text goes next that reads
//! nothing of the last `look_behind` equations and whose unit is still free in this cycle. If there
//! is none, the window shrinks; in a narrow text, where the critical path takes longer than the
//! work on all units, the most urgent step goes instead. When clearly more values are live than
//! there are registers or than in the text, steps that free one go first.
//!
//! Needs:   executable order; everything that should be mixed is inlined.
//! Keeps:   the set of statements and all dependences.
//! Costs:   statements times the logarithm of those ready at once; the window costs nothing.
//! Source:  "mslicing", Mercadier 2020; the limit on live values and the narrow texts are ours.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, VecDeque};

use machine::{Class, UnitSet};

use crate::ir::{Node, Op, Operand, Stmt, VarId};
use crate::target::Target;

use super::list::{deps, reads};
use super::order::{apply, each_level};

/// The window of the original.
pub const LOOK_BEHIND: usize = 10;

/// Reorders every level of the node.
pub fn schedule_mslice(node: &mut Node, look_behind: usize, target: &Target) {
    each_level(node, |node, stmts, live_out| level(node, stmts, live_out, look_behind, target));
}

fn level(
    node: &Node,
    stmts: Vec<Stmt>,
    live_out: &BTreeSet<VarId>,
    look_behind: usize,
    target: &Target,
) -> Vec<Stmt> {
    let order = order(node, &stmts, live_out, look_behind, target);
    apply(stmts, &order)
}

/// The class of an operation, for the tables of the machine.
pub fn class(op: &Op) -> Class {
    match op {
        Op::Copy | Op::Refresh => Class::Move,
        Op::Not | Op::And | Op::Or | Op::Xor | Op::AndNot => Class::Logic,
        Op::Ternary(_) => Class::Ternary,
        Op::Add | Op::Sub => Class::Add,
        Op::Mul | Op::Div | Op::Mod => Class::Mul,
        Op::Shl(_) | Op::Shr(_) | Op::Sar(_) | Op::Bitmask(_) | Op::Pack(_) => Class::Shift,
        Op::Rotl(_) => Class::Rotate,
        Op::Shuffle(_) => Class::Shuffle,
    }
}

/// Steps that may go next.
struct Ready {
    /// Far enough from what they read, by class, the first in the text on top.
    ripe: Vec<BinaryHeap<Reverse<u32>>>,
    /// The others in the order in which their last operand was computed, with its place.
    fresh: VecDeque<(u32, u32)>,
}

fn order(
    node: &Node,
    stmts: &[Stmt],
    live_out: &BTreeSet<VarId>,
    look_behind: usize,
    target: &Target,
) -> Vec<u32> {
    let deps = deps(node, stmts);
    let classes: Vec<usize> = stmts
        .iter()
        .map(|s| if let Stmt::Eq(eq) = s { class(&eq.op) as usize } else { Class::Move as usize })
        .collect();
    let mut missing: Vec<u32> = deps.needs.iter().map(|n| n.len() as u32).collect();
    let mut ready =
        Ready { ripe: vec![BinaryHeap::new(); Class::ALL.len()], fresh: VecDeque::new() };
    let mut waiting: BTreeSet<u32> = BTreeSet::new();
    for at in 0..stmts.len() {
        if missing[at] == 0 {
            ready.ripe[classes[at]].push(Reverse(at as u32));
            waiting.insert(at as u32);
        }
    }
    let mut live = Live { node, left: reads(node, stmts, live_out), n: 0 };
    let live_max =
        live.most(stmts).max(target.n_registers as i64) + target.n_registers as i64 / SLACK;
    let mut cycle = Cycle { used: UnitSet(0), n: 0, width: target.machine.issue_width };
    let mut urgency = Urgency::of(&deps.users, &classes, target);
    let mut placed = vec![false; stmts.len()];
    let mut order: Vec<u32> = Vec::with_capacity(stmts.len());
    while order.len() < stmts.len() {
        let now = order.len() as u32;
        while let Some((at, last)) = ready.fresh.front().copied() {
            if u64::from(now) < u64::from(last) + 1 + look_behind as u64 {
                break;
            }
            ready.fresh.pop_front();
            ready.ripe[classes[at as usize]].push(Reverse(at));
        }
        for heap in &mut ready.ripe {
            while heap.peek().is_some_and(|Reverse(at)| placed[*at as usize]) {
                heap.pop();
            }
        }
        while ready.fresh.front().is_some_and(|(at, _)| placed[*at as usize]) {
            ready.fresh.pop_front();
        }
        let crowded = live.n >= live_max;
        let pick = if crowded {
            live.relief(stmts, &waiting)
        } else if let Some(ripe) = cycle.pick(&ready, &classes, target) {
            ripe
        } else {
            let mut fresh = ready.fresh.iter().map(|f| f.0).filter(|at| !placed[*at as usize]);
            let first = if urgency.is_narrow {
                fresh.take(LOOKED_AT_MAX).max_by_key(|at| (urgency.of_step(*at), Reverse(*at)))
            } else {
                fresh.next()
            };
            first.expect("without cycles some step is ready")
        };
        placed[pick as usize] = true;
        urgency.take(pick, &deps.users, cycle.is_full());
        waiting.remove(&pick);
        cycle.take(classes[pick as usize], target);
        live.place(&stmts[pick as usize]);
        order.push(pick);
        for user in &deps.users[pick as usize] {
            missing[*user as usize] -= 1;
            if missing[*user as usize] == 0 {
                waiting.insert(*user);
                ready.fresh.push_back((*user, now));
            }
        }
    }
    order
}

/// The operations that start together.
struct Cycle {
    used: UnitSet,
    n: u32,
    width: u32,
}

impl Cycle {
    fn fits(&self, class: usize, target: &Target) -> bool {
        let units = target.machine.operation(target.kind, Class::ALL[class]).units;
        self.is_full() || units.0 == 0 || units.0 & !self.used.0 != 0
    }

    /// The first ripe step whose unit is free, else the first ripe one.
    fn pick(&self, ready: &Ready, classes: &[usize], target: &Target) -> Option<u32> {
        let tops = ready.ripe.iter().filter_map(|heap| heap.peek().map(|Reverse(at)| *at));
        let free = tops.clone().filter(|at| self.fits(classes[*at as usize], target)).min();
        free.or_else(|| tops.min())
    }

    fn is_full(&self) -> bool {
        self.n >= self.width
    }

    fn take(&mut self, class: usize, target: &Target) {
        if self.is_full() {
            (self.n, self.used) = (0, UnitSet(0));
        }
        let units = target.machine.operation(target.kind, Class::ALL[class]).units;
        let free = units.0 & !self.used.0;
        self.used = UnitSet(self.used.0 | (free & free.wrapping_neg()));
        self.n += 1;
    }
}

/// The weight of a cycle of waiting against a cycle of the path to the end. With 1 or 3 the
/// programs of the tables stay within a percent.
const WAIT_WEIGHT: i64 = 2;

/// How many ready steps are compared.
const LOOKED_AT_MAX: usize = 64;

/// How long the rest of the text waits for each step.
struct Urgency {
    /// Cycles from the start of a step to the end of the longest path through it.
    height: Vec<u32>,
    /// The cycle in which the operands of a step are ready.
    available: Vec<u32>,
    latency: Vec<u32>,
    cycle: u32,
    /// The longest path takes more cycles than the work does on all units.
    is_narrow: bool,
}

impl Urgency {
    fn of(users: &[Vec<u32>], classes: &[usize], target: &Target) -> Urgency {
        let operation = |class: &usize| target.machine.operation(target.kind, Class::ALL[*class]);
        let latency: Vec<u32> =
            classes.iter().map(|class| operation(class).latency_cycles).collect();
        let work: u64 = classes.iter().map(|class| u64::from(operation(class).micro_ops)).sum();
        let mut height = vec![0; users.len()];
        for at in (0..users.len()).rev() {
            let rest = users[at].iter().map(|user| height[*user as usize]).max().unwrap_or(0);
            height[at] = rest + latency[at];
        }
        let path = u64::from(height.iter().copied().max().unwrap_or(0));
        let n_units = u64::from(target.machine.operation(target.kind, Class::Logic).units.count());
        Urgency {
            available: vec![0; height.len()],
            height,
            latency,
            cycle: 0,
            is_narrow: work < path * n_units,
        }
    }

    fn of_step(&self, at: u32) -> i64 {
        let wait = self.available[at as usize].saturating_sub(self.cycle);
        i64::from(self.height[at as usize]) - WAIT_WEIGHT * i64::from(wait)
    }

    /// `at` goes next, in a new cycle if the last is full.
    fn take(&mut self, at: u32, users: &[Vec<u32>], is_full: bool) {
        let cycle = self.cycle + u32::from(is_full);
        self.cycle = cycle.max(self.available[at as usize]);
        let end = self.cycle + self.latency[at as usize];
        for user in &users[at as usize] {
            let available = &mut self.available[*user as usize];
            *available = end.max(*available);
        }
    }
}

/// Live values: computed, with readers to come.
struct Live<'a> {
    node: &'a Node,
    left: Vec<u32>,
    n: i64,
}

/// The schedule may keep as many values live as the text does, or as there are registers, and this
/// share of the registers more: a few spills cost less than waiting, many cost more.
const SLACK: i64 = 4;

/// How many waiting steps are looked at when registers are short.
const RELIEF_MAX: usize = 32;

impl Live<'_> {
    fn is_value(&self, var: VarId) -> bool {
        self.node.vars[var.idx()].len == 1
            && !self.node.params.contains(&var)
            && !self.node.results.contains(&var)
    }

    /// Change in the number of live values if `stmt` goes next.
    fn change(&self, stmt: &Stmt) -> i64 {
        let Stmt::Eq(eq) = stmt else { return 0 };
        let mut vars: Vec<VarId> = eq
            .args
            .iter()
            .filter_map(|a| if let Operand::Ref(p) = a { Some(p.var) } else { None })
            .collect();
        vars.sort_unstable();
        let mut change = i64::from(self.is_value(eq.dst.var) && self.left[eq.dst.var.idx()] > 0);
        let mut at = 0;
        while at < vars.len() {
            let n = vars[at..].iter().take_while(|v| **v == vars[at]).count();
            change -= i64::from(self.is_value(vars[at]) && self.left[vars[at].idx()] as usize == n);
            at += n;
        }
        change
    }

    /// The most values live at once in the order of the text.
    fn most(&self, stmts: &[Stmt]) -> i64 {
        let mut trial = Live { node: self.node, left: self.left.clone(), n: 0 };
        let mut most = 0;
        for stmt in stmts {
            trial.place(stmt);
            most = most.max(trial.n);
        }
        most
    }

    /// The first waiting step that frees a register; if there is none, the first in the text.
    fn relief(&self, stmts: &[Stmt], waiting: &BTreeSet<u32>) -> u32 {
        let best =
            waiting.iter().take(RELIEF_MAX).find(|at| self.change(&stmts[**at as usize]) < 0);
        *best.or_else(|| waiting.first()).expect("without cycles some step is ready")
    }

    fn place(&mut self, stmt: &Stmt) {
        self.n += self.change(stmt);
        if let Stmt::Eq(eq) = stmt {
            for arg in &eq.args {
                if let Operand::Ref(place) = arg {
                    let left = &mut self.left[place.var.idx()];
                    *left = left.saturating_sub(1);
                }
            }
        }
    }
}
