//! One run of the passes: what each needs besides the program, what is refused between them, and
//! which schedule and how many batches the model of the machine takes.

use std::rc::Rc;

use report::Diagnostic;

use crate::circuit::Found;
use crate::ir::{self, Body, Node, Program, Stmt, Unrolled};
use crate::options::{Fixslice, Interleave, Options, Schedule, Slicing, Unroll};
use crate::passes::inline::Inline;
use crate::passes::{
    arrays, bitslice, copy_propagation, cse, dead_code, estimate, fixslice, fold_constants, hslice,
    inline, interleave, loops, schedule_bitslice, schedule_depth, schedule_mslice, tables, ternary,
    vslice,
};
/// Equations above which a program is refused before it is bitsliced.
const EQUATIONS_MAX: usize = 3_000_000;
/// At the end every call is inlined into a node of at most this many equations.
const INLINED_MAX: usize = 8_000;
/// `Schedule::Bitslice` leaves the order as it is unless the model predicts at most this share of
/// the cycles.
const BITSLICE_KEEPS: f64 = 0.98;
/// `Schedule::Auto` takes the bitslice scheduler if the model predicts at most this share of the
/// cycles. C compilers vary by a third either way on large blocks, so only a large
/// predicted gain is safe.
const AUTO_BITSLICE: f64 = 0.5;
/// It takes the depth scheduler for vectors if the model predicts at most this share of the spills.
/// Programs with 0.41 to 0.70 were measured, and are as fast or faster with both gcc and clang.
const AUTO_DEPTH: f64 = 0.75;
/// The share of the cycles for the mslice scheduler.
const AUTO_MSLICE: f64 = 0.9;
/// `Fixslice::Auto` puts permutations off if that saves this share of all steps. It is off for less,
/// as other patterns need other constants.
const AUTO_FIXSLICE: f64 = 0.03;
/// `Interleave::Auto` takes more batches if the model predicts at most this share of the cycles of
/// each.
const AUTO_INTERLEAVE: f64 = 0.98;
/// It takes two batches only if they add at most this many loads and stores of spilled values for
/// each equation. C compilers spill more than the model, so they lose more than it predicts.
const AUTO_SPILLS: f64 = 0.4;
/// The same for three and four batches, and for horizontal words that are turned and masked: two
/// batches of AES on general registers, 0.34, took 1.4 times as long with gcc.
const AUTO_SPILLS_MORE: f64 = 0.1;

/// Equations up to which `Unroll::Auto` writes a loop out: about what 32 KiB of instructions hold.
/// Bitsliced rounds are nearly everywhere faster rolled, as the speed table of the report shows.
fn unrolled_max(slicing: Slicing) -> u64 {
    if slicing == Slicing::Bit { 2_500 } else { 8_000 }
}

pub(crate) fn all_bits(program: &Program) -> bool {
    program.nodes.iter().flat_map(|n| &n.vars).all(|v| v.ty.m == 1)
}

/// The pass that slices.
pub(crate) fn slice_pass(slicing: Slicing) -> &'static str {
    match slicing {
        Slicing::Bit => "bitslice",
        Slicing::Vertical => "vslice",
        Slicing::Horizontal => "hslice",
    }
}

pub(crate) fn each(program: &mut Program, pass: impl FnMut(&mut Node)) {
    program.nodes.iter_mut().filter(|n| !n.no_opt).for_each(pass);
}

/// An operation as the source writes it.
pub(crate) fn symbol(op: &ir::Op) -> String {
    match op {
        ir::Op::Add => "`+`".into(),
        ir::Op::Sub => "`-`".into(),
        ir::Op::Mul => "`*`".into(),
        ir::Op::Div => "`/`".into(),
        ir::Op::Mod => "`%`".into(),
        ir::Op::Pack(_) => "Pack".into(),
        other => format!("`{other}`"),
    }
}

pub(crate) fn too_large(what: &str) -> Vec<Diagnostic> {
    let message = format!("the program has more than {EQUATIONS_MAX} equations after {what}");
    vec![Diagnostic {
        message,
        spans: vec![],
        help: Some("keep loops with -X unroll=no, or calls with -X inline=none".into()),
    }]
}

pub(crate) struct Run<'a> {
    pub(crate) options: &'a Options,
    pub(crate) warnings: Vec<Diagnostic>,
    pub(crate) circuits: Vec<(Rc<str>, Rc<Found>)>,
    pub(crate) dump: Option<String>,
}

impl Run<'_> {
    pub(crate) fn dump(&mut self, pass: &str, program: &Program) {
        if self.options.recipe.dump_after.as_deref() == Some(pass) {
            self.dump = Some(program.to_string());
        }
    }

    pub(crate) fn after(&mut self, pass: &str, program: &Program) {
        if cfg!(debug_assertions) {
            ir::verify::verify(program, pass);
        }
        self.dump(pass, program);
    }

    /// Words of a fixed direction fit only that slicing.
    pub(crate) fn check_directions(
        &self,
        program: &Program,
        slicing: Slicing,
    ) -> Result<(), Vec<Diagnostic>> {
        for node in &program.nodes {
            for var in &node.vars {
                let fits = match var.ty.dir {
                    ir::Dir::H => slicing == Slicing::Horizontal,
                    ir::Dir::V => slicing == Slicing::Vertical,
                    ir::Dir::B => slicing == Slicing::Bit,
                    ir::Dir::Slice(_) => false,
                    ir::Dir::Any => true,
                };
                if !fits && var.ty.m > 1 {
                    let message = format!(
                        "`{}` of `{}` is {}, which --slicing {} does not have",
                        var.name,
                        node.name,
                        var.ty,
                        slicing.letter()
                    );
                    let help = match var.ty.dir {
                        ir::Dir::Slice(_) => "no back end has generalised m-slicing; write the type without a direction".to_string(),
                        _ => "write the type without a direction, or choose its slicing".to_string(),
                    };
                    let mut error = program.sources.error(node.loc, message, "in this node");
                    error.help = Some(help);
                    return Err(vec![error]);
                }
            }
        }
        Ok(())
    }

    pub(crate) fn loops(&mut self, program: &mut Program, slicing: Slicing) {
        let costs = costs(program, slicing);
        let (unroll, warnings) = (self.options.recipe.unroll, &mut self.warnings);
        for node in &mut program.nodes {
            let sizes: Vec<u64> = node
                .vars
                .iter()
                .map(|v| if slicing == Slicing::Bit { v.ty.m.into() } else { 1 })
                .collect();
            let keep = |unrolled: &Unrolled| match (unroll, unrolled.unroll) {
                (Unroll::Yes, Some(false))
                | (Unroll::No, None | Some(false))
                | (Unroll::Auto, Some(false)) => true,
                (Unroll::Yes, _) | (Unroll::No | Unroll::Auto, Some(true)) => false,
                (Unroll::Auto, None) => {
                    unrolled
                        .iterations
                        .iter()
                        .map(|body| cost(body, &sizes, &costs))
                        .fold(0, u64::saturating_add)
                        > unrolled_max(slicing)
                }
            };
            for note in loops::loops(node, &keep) {
                // With `auto` only loops marked `_no_unroll` were meant to be kept.
                let asked = self.options.recipe.unroll == Unroll::No || note.asked;
                if note.reason == loops::Reason::OneIteration || !asked {
                    continue;
                }
                let message =
                    format!("the loop over `{}` was unrolled: {}", note.name, note.reason.text());
                if !warnings.iter().any(|w| w.message == message) {
                    warnings.push(program.sources.error(note.loc, message, "this loop"));
                }
            }
        }
    }

    /// Copies, folding and common expressions until little changes; then unused equations go.
    pub(crate) fn simplify(&mut self, program: &mut Program) {
        for _ in 0..3 {
            let mut n_changed = 0;
            each(program, copy_propagation::copy_propagation);
            self.after("copy_propagation", program);
            each(program, |node| n_changed += fold_constants::fold_constants(node));
            self.after("fold_constants", program);
            each(program, |node| n_changed += cse::cse(node));
            self.after("cse", program);
            if n_changed == 0 {
                break;
            }
        }
        each(program, copy_propagation::copy_propagation);
        self.after("copy_propagation", program);
        each(program, dead_code::dead_code);
        self.after("dead_code", program);
        each(program, arrays::arrays);
        self.after("arrays", program);
    }

    pub(crate) fn tables(&mut self, program: &mut Program) {
        let mut cache = tables::Cache::new();
        // The circuit without and-not keeps more words alive, for which bitsliced code has no room.
        let options = &self.options;
        let has_and_not = !options.complements || options.recipe.slicing == Slicing::Bit;
        for node in &mut program.nodes {
            if let Some(found) = tables::tables(node, &mut cache, has_and_not) {
                self.circuits.push((node.name.clone(), found));
            }
        }
    }

    /// Puts off the permutations of a program; says what that saves.
    pub(crate) fn fixslice(&self, program: &mut Program, slicing: Slicing) -> Option<String> {
        if slicing == Slicing::Bit || self.options.recipe.fixslice == Fixslice::No {
            return None;
        }
        let target = &self.options.target;
        let pays = |found: &fixslice::Fixsliced| {
            let saved = (found.before - found.after) as f64;
            self.options.recipe.fixslice == Fixslice::Yes
                || saved >= AUTO_FIXSLICE * (found.before + found.others) as f64
        };
        let steps = |pattern: &[u8]| estimate::steps(pattern, target, slicing);
        let rotates = slicing == Slicing::Vertical;
        let found = fixslice::fixslice(program, &self.options.keys, rotates, &steps, &pays)?;
        let fixslice::Fixsliced { before, after, others } = found;
        Some(format!("{after} steps move bits instead of {before}, beside {others} others"))
    }

    /// The last passes, with the scheduler of the options or the one that the model prefers.
    pub(crate) fn schedule(
        &mut self,
        program: Program,
        slicing: Slicing,
    ) -> (Program, Schedule, Option<String>) {
        let (asked, target) = (self.options.recipe.schedule, &self.options.target);
        if matches!(asked, Schedule::None | Schedule::Depth | Schedule::Mslice) {
            return (self.finish(program, asked), asked, None);
        }
        let plain = self.finish(program.clone(), Schedule::None);
        if asked == Schedule::Auto
            && slicing != Slicing::Bit
            && !matches!(self.options.recipe.interleave, Interleave::Times(_))
        {
            let (n, _) = self.batches(&plain, slicing);
            if n > 1 {
                // Steps of other batches lie between an equation and those it reads already; moved
                // apart further they spill.
                return (
                    plain,
                    Schedule::None,
                    Some(format!("{n} batches in turn leave nothing to move apart")),
                );
            }
        }
        let before = estimate::entry(&plain, target, slicing);
        // With general registers C compilers order such blocks well themselves.
        if asked == Schedule::Auto
            && slicing == Slicing::Bit
            && target.kind != machine::Kind::General
        {
            let ordered = self.finish(program.clone(), Schedule::Depth);
            let after = estimate::entry(&ordered, target, slicing);
            if after.spills < before.spills * AUTO_DEPTH {
                let spills = |cost: &estimate::Cost| {
                    format!("{:.0} loads and stores of spilled values", cost.spills)
                };
                let reason = format!(
                    "model {}: none {}, depth {:.0}",
                    target.machine.name,
                    spills(&before),
                    after.spills
                );
                return (ordered, Schedule::Depth, Some(reason));
            }
        }
        let other = if asked == Schedule::Bitslice || slicing == Slicing::Bit {
            Schedule::Bitslice
        } else {
            Schedule::Mslice
        };
        let ordered = self.finish(program, other);
        let after = estimate::entry(&ordered, target, slicing);
        let gain = match (asked, other) {
            (Schedule::Auto, Schedule::Bitslice) => AUTO_BITSLICE,
            (Schedule::Auto, _) => AUTO_MSLICE,
            _ => BITSLICE_KEEPS,
        };
        let is_kept = after.cycles / before.cycles >= gain;
        let mut reason = format!(
            "model {}: none {:.0} cycles, {} {:.0} cycles",
            target.machine.name,
            before.cycles,
            other.name(),
            after.cycles
        );
        if asked == Schedule::Bitslice && is_kept {
            reason += "; nothing to gain, so the order stays";
        } else if is_kept && after.cycles < before.cycles {
            let least = 100.0 * (1.0 - gain);
            reason += &format!(
                "; a predicted gain below {least:.0} % is not taken, as C compilers order the code anew"
            );
        }
        let (program, schedule) = if is_kept { (plain, Schedule::None) } else { (ordered, other) };
        (program, if asked == Schedule::Auto { schedule } else { asked }, Some(reason))
    }

    /// The last pass, with the number of batches of the options or the one that the model prefers.
    pub(crate) fn interleave(
        &mut self,
        mut program: Program,
        slicing: Slicing,
    ) -> (Program, u32, Option<String>) {
        let (n, reason) = self.batches(&program, slicing);
        let one = interleave::interleave(&mut program, 0, n);
        if n > 1 {
            program.entries.push(one);
            interleave::forget_unused(&mut program);
        }
        self.after("interleave", &program);
        (program, n, reason)
    }

    /// The number of batches, and why if the model chose it.
    pub(crate) fn batches(&self, program: &Program, slicing: Slicing) -> (u32, Option<String>) {
        let most = match self.options.recipe.interleave {
            Interleave::Times(n) => return (n, None),
            Interleave::Auto => interleave::MOST,
            Interleave::AtMost(most) => most,
        };
        let target = &self.options.target;
        let most = match interleave::n_inner_loops(program) {
            0 => most,
            1 => most.min(2),
            _ => {
                let reason = "a processor goes on with the next iteration of a short loop, which the model does not see";
                return (1, Some(format!("loops inside loops: {reason}")));
            }
        };
        let one = estimate::entry(program, target, slicing);
        let of_equation = |cost: &estimate::Cost| cost.spills / cost.equations.max(1.0);
        let mut best = (1, one.cycles);
        let mut texts = vec![format!("1 {:.0}", one.cycles)];
        // Why the least of these numbers is not the one taken.
        let mut but = (one.cycles, String::new());
        for n in 2..=most {
            let mut several = program.clone();
            interleave::interleave(&mut several, 0, n);
            let cost = estimate::entry(&several, target, slicing);
            let cycles = cost.cycles / f64::from(n);
            texts.push(format!("{n} {cycles:.0}"));
            // General registers hold masks and their products as well, which compilers recompute.
            let is_turned = slicing == Slicing::Horizontal && target.kind == machine::Kind::General;
            let spills_max = if n == 2 && !is_turned { AUTO_SPILLS } else { AUTO_SPILLS_MORE };
            let fits = interleave::n_equations(&several) <= unrolled_max(slicing) as usize;
            let spills = of_equation(&cost) - of_equation(&one);
            if fits && cycles < best.1 * AUTO_INTERLEAVE && spills <= spills_max {
                best = (n, cycles);
                but = (cycles, String::new());
            } else if cycles < but.0 {
                let why = match (fits, spills <= spills_max) {
                    (false, _) => "are more code than the processor holds ready",
                    (true, false) => {
                        "spill more registers, which C compilers make worse than the model"
                    }
                    (true, true) => "gain less than 2 %",
                };
                but = (cycles, format!("; {n} {why}"));
            }
        }
        (
            best.0,
            Some(format!(
                "model {}: cycles of a batch, of {}{}",
                target.machine.name,
                texts.join(", of "),
                but.1
            )),
        )
    }

    pub(crate) fn finish(&mut self, mut program: Program, schedule: Schedule) -> Program {
        let options = self.options;
        if schedule == Schedule::Bitslice {
            each(&mut program, |node| schedule_bitslice::schedule_bitslice(node, &options.target));
            self.after("schedule_bitslice", &program);
        }
        if options.recipe.inline == Inline::Auto || schedule == Schedule::Depth {
            let changed = inline::inline_small(&mut program, INLINED_MAX);
            self.after("inline_small", &program);
            if changed {
                self.simplify(&mut program);
            }
        }
        if options.ternary {
            each(&mut program, ternary::ternary);
            each(&mut program, dead_code::dead_code);
            self.after("ternary", &program);
        }
        if schedule == Schedule::Depth {
            each(&mut program, |node| schedule_depth::schedule_depth(node, &options.target));
            self.after("schedule_depth", &program);
        }
        if schedule == Schedule::Mslice {
            each(&mut program, |node| {
                schedule_mslice::schedule_mslice(node, options.recipe.look_behind, &options.target)
            });
        }
        each(&mut program, arrays::arrays);
        self.after("schedule_mslice", &program);
        program
    }

    pub(crate) fn slice(
        &mut self,
        program: &mut Program,
        slicing: Slicing,
    ) -> Result<u32, Vec<Diagnostic>> {
        match slicing {
            Slicing::Bit => {
                let n: usize = program.nodes.iter().map(bitsliced_size).sum();
                if n > EQUATIONS_MAX {
                    return Err(too_large("bitslicing"));
                }
                let sources = program.sources.clone();
                bitslice::bitslice(program, self.options.recipe.specialise).map_err(|no| {
                    let mut error = sources.error(
                        no.loc,
                        format!("{} has no bitsliced form", symbol(&no.op)),
                        "only + and - do",
                    );
                    error.help = Some("compile with --slicing v".into());
                    vec![error]
                })?;
                Ok(1)
            }
            Slicing::Vertical => {
                let sources = program.sources.clone();
                vslice::vslice(program).map_err(|no| {
                    let mut error = sources.error(
                        no.loc,
                        format!(
                            "{} does not run in constant time on any processor",
                            symbol(&no.op)
                        ),
                        "here",
                    );
                    error.help = Some("divide by powers of two with a shift".into());
                    vec![error]
                })
            }
            Slicing::Horizontal => {
                let sources = program.sources.clone();
                hslice::hslice(program).map_err(|no| {
                    let (message, loc) = match no {
                        hslice::HsliceRefused::Sizes(a, b, loc) => {
                            (format!("horizontal slicing needs one word size, this program has {a} and {b} bits"), loc)
                        }
                        hslice::HsliceRefused::Size(m, loc) => {
                            (format!("horizontal slicing needs words of 2, 4, 8, 16, 32 or 64 bits, not {m}"), loc)
                        }
                    };
                    let mut error = sources.error(loc, message, "in this node");
                    error.help = Some("compile with --slicing b or v".into());
                    vec![error]
                })
            }
        }
    }

    pub(crate) fn no_lookups(&self, program: &Program) -> Result<(), Vec<Diagnostic>> {
        let Some(node) = program.nodes.iter().find(|n| matches!(n.body, Body::Table(_))) else {
            return Ok(());
        };
        let message = format!(
            "table `{}` looks up the bits of one word, which is not constant time",
            node.name
        );
        let help = "bitslice with --slicing b, or declare its input with one word for each bit, as in `v4`";
        Err(vec![Diagnostic { message, spans: vec![], help: Some(help.into()) }])
    }
}

pub(crate) fn bitsliced_size(node: &Node) -> usize {
    let Body::Stmts(stmts) = &node.body else { return 0 };
    let widest = node.vars.iter().map(|v| v.ty.m).max().unwrap_or(1) as usize;
    ir::visit::n_equations(stmts).saturating_mul(widest)
}

/// Equations that each node runs, including those of its calls.
pub(crate) fn costs(program: &Program, slicing: Slicing) -> Vec<u64> {
    let mut costs: Vec<u64> = Vec::new();
    for node in &program.nodes {
        let sizes: Vec<u64> = node
            .vars
            .iter()
            .map(|v| if slicing == Slicing::Bit { v.ty.m.into() } else { 1 })
            .collect();
        let words = |vars: &[ir::VarId]| {
            vars.iter().map(|v| u64::from(node.vars[v.idx()].len)).sum::<u64>()
        };
        let m = node.params.first().map_or(1, |v| sizes[v.idx()]);
        costs.push(match &node.body {
            Body::Stmts(stmts) => cost(stmts, &sizes, &costs),
            Body::Perm(_) => 0,
            // A circuit has some gates for each input and output; exact counts do not matter here.
            Body::Table(_) => (words(&node.params) * words(&node.results)).saturating_mul(m),
        });
    }
    costs
}

pub(crate) fn cost(stmts: &[Stmt], sizes: &[u64], costs: &[u64]) -> u64 {
    let mut sum = 0u64;
    for stmt in stmts {
        let one = match stmt {
            Stmt::Eq(eq) if eq.op == ir::Op::Copy => 0,
            // A sum of words of several bits, each in a register of its own, is a ripple of full
            // adders.
            Stmt::Eq(eq)
                if matches!(eq.op, ir::Op::Add | ir::Op::Sub) && sizes[eq.dst.var.idx()] > 1 =>
            {
                5 * sizes[eq.dst.var.idx()]
            }
            Stmt::Eq(eq) => sizes[eq.dst.var.idx()],
            Stmt::Call(call) => costs.get(call.node.idx()).copied().unwrap_or(0),
            Stmt::Loop(it) => cost(&it.body, sizes, costs).saturating_mul(it.n.into()),
            Stmt::Unrolled(it) => it
                .iterations
                .iter()
                .map(|body| cost(body, sizes, costs))
                .fold(0, u64::saturating_add),
        };
        sum = sum.saturating_add(one);
    }
    sum
}
