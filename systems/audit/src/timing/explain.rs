//! Stalls as sentences: what waits, for what, how long, what could fill the wait, what prevents the
//! compiler.

use std::cell::OnceCell;

use machine::in_order::Core;

use crate::decode::Isa;
use crate::decode::code::{Access, Class, Flow, Instruction, Op, Read, Reg, Role, Value};
use crate::facts::bits::Bits;
use crate::facts::frame::StackFrame;
use crate::facts::liveness::{Liveness, RegSet};
use crate::facts::nests::Nests;
use crate::facts::pinned::guesses;
use crate::facts::trace::Exit;
use crate::finding::{Finding, Kind, Way};
use crate::program::function::Function;
use crate::program::names::shown;
use crate::timing::Timed;
use crate::timing::bound::bound_cycles;
use crate::timing::depend::{Edge, Why, dependences, sure_dependences};
use crate::timing::licence::{Step, crossings, fill, past_stores, sinkings, smallest};
use crate::timing::pieces::blocks;
use crate::timing::pipe::Need;
use crate::timing::stalls::{Cause, CauseKind, time};
use crate::timing::words::{Path, counted};

/// One finding for each stall.
pub fn explain(function: &Function, core: &Core, timed: &Timed) -> Vec<Finding> {
    let crossings =
        timed.reached.iter().map(|found| crossings(&found.found.order, &timed.trace)).collect();
    let path = Path { function, core, places: &timed.trace.places };
    let told = Stalls {
        path,
        timed,
        crossings,
        bits: OnceCell::new(),
        reads: OnceCell::new(),
        likely: OnceCell::new(),
        guessed: OnceCell::new(),
    };
    (0..timed.timing.starts.len())
        .filter(|at| timed.timing.stall_cycles[*at] > 0)
        .map(|at| told.stall(at))
        .collect()
}

/// So many instructions are named as what could fill a wait.
const FILL_MAX: usize = 3;

/// What is said of a wait that some order avoids.
#[derive(Debug, Default)]
struct Answer {
    /// What could fill it: the place of each, and its name.
    fillers: Vec<(usize, String)>,
    prevents: Option<String>,
    /// The access that would have to move, by its place.
    mover: Option<usize>,
    ways: Vec<Way>,
}

struct Stalls<'a> {
    path: Path<'a>,
    timed: &'a Timed,
    /// For each licence, which instructions cross which exit.
    crossings: Vec<Vec<(u32, u32)>>,
    /// What is read, if the function has one result.
    bits: OnceCell<Bits>,
    /// What instructions read, calls aside.
    reads: OnceCell<Liveness>,
    /// What somebody reads in code that a compiler made.
    likely: OnceCell<Liveness>,
    /// Calls of which is guessed how many arguments they have.
    guessed: OnceCell<Vec<(usize, usize)>>,
}

impl Stalls<'_> {
    fn stall(&self, at: usize) -> Finding {
        let causes = &self.timed.causes[at];
        let why: Vec<String> = causes.iter().map(|cause| self.path.cause(at, cause)).collect();
        let producer = causes.first().map_or(at as u32, |cause| cause.producer);
        let answer = smallest(&self.timed.reached, &self.timed.timing, at);
        let Answer { fillers, prevents, mover, ways } = match answer {
            Some((idx, gained)) => self.answer(idx, gained, at, producer),
            None if self.timed.reached.len() < Step::ALL.len() => Answer::default(),
            None => {
                Answer { prevents: Some(self.inherent(at, causes.first())), ..Answer::default() }
            }
        };
        let names: Vec<&str> = fillers.iter().map(|(_, name)| &name[..]).collect();
        let instruction = self.path.instruction(at as u32).text.clone();
        let place = self.timed.trace.places[at];
        Finding {
            cycles: self.timed.timing.stall_cycles[at],
            fill: (!names.is_empty()).then(|| names.join(", ")),
            fillers,
            mover,
            prevents,
            ways,
            disputed: self.path.disputed(at, causes),
            ..Finding::new(place, Kind::Stall, instruction, why.join("; "))
        }
    }

    fn inherent(&self, at: usize, cause: Option<&Cause>) -> String {
        let is_proved = self.timed.reached.last().is_some_and(|reached| reached.found.is_optimal());
        let is_shorter = self.timed.cycles.best_cycles < self.timed.cycles.total_cycles;
        if is_proved {
            // A wait may go where another one comes; what is known is that the path as a whole
            // keeps it.
            let what = if is_shorter {
                "an order as fast as any waits here too"
            } else {
                "no order of these instructions is faster"
            };
            let is_it = |number: &usize| {
                self.path.function.isa == Isa::T32
                    && self.path.class(*number as u32) == Class::Nop
                    && self.path.instruction(*number as u32).text.starts_with("it")
            };
            let stays = (0..self.timed.trace.places.len()).any(|idx| is_it(&idx));
            format!(
                "nothing: {what}{}{}",
                self.guess(at),
                if stays { "; what `it` guards stays where it is" } else { "" }
            )
        } else {
            let busy = cause
                .filter(|cause| cause.kind == CauseKind::Unit)
                .and_then(|cause| self.busy(cause.producer));
            let found = if is_shorter {
                "the best order found waits here too"
            } else {
                "no better order was found"
            };
            format!("unknown: {found}, and none is proved impossible{}", busy.unwrap_or_default())
        }
    }

    /// What is not known but taken for granted where an order is said to be the best: how many
    /// arguments the next function has that the path calls, if another number could make it faster.
    fn guess(&self, at: usize) -> String {
        let (path, trace) = (&self.path, &self.timed.trace);
        let calls = |number: &usize| {
            let flow = path.instruction(*number as u32).flow;
            matches!(flow, Flow::Call { .. } | Flow::LastCall)
        };
        let n = trace.places.len();
        let next = (at..n).find(calls).unwrap_or(n - 1);
        let guesses = self.guessed.get_or_init(|| self.guesses());
        let Some((_, n)) = guesses.iter().find(|guess| guess.0 == next) else {
            return String::new();
        };
        let instruction = path.instruction(next as u32);
        let named = path.function.callees.get(&instruction.address);
        let callee =
            named.map_or_else(|| path.named(next as u32), |name| format!("`{}`", shown(name)));
        format!(", if {callee} has {n} arguments")
    }

    /// The calls whose arguments are guessed, and how many; none if no other number could help.
    fn guesses(&self) -> Vec<(usize, usize)> {
        let (path, trace) = (&self.path, &self.timed.trace);
        let guesses = guesses(path.function, trace);
        let Some(last) = self.timed.reached.last().filter(|_| !guesses.is_empty()) else {
            return Vec::new();
        };
        let frame = StackFrame::of(path.function);
        let edges = sure_dependences(path.function, &frame, trace, path.core, last.step.licence());
        let needs = Need::of_trace(path.function, trace, path.core);
        let total = last.timing.total_cycles;
        if bound_cycles(&needs, &edges, path.core, total) >= total { Vec::new() } else { guesses }
    }

    /// How long the path needs the unit that the instruction at `at` takes.
    fn busy(&self, at: u32) -> Option<String> {
        let needs = Need::of_trace(self.path.function, &self.timed.trace, self.path.core);
        let units = needs[at as usize].units;
        let name = units
            .iter()
            .next()
            .filter(|_| units.count() == 1)
            .map(|unit| &self.path.core.units[unit])?;
        let cycles: u32 =
            needs.iter().filter(|need| need.units == units).map(|need| need.unit_cycles).sum();
        Some(format!(
            "; all that needs {name} takes {cycles} of the path's {}",
            counted(self.timed.cycles.total_cycles)
        ))
    }

    fn answer(&self, idx: usize, gained: u32, at: usize, producer: u32) -> Answer {
        let reached = &self.timed.reached[idx];
        let order = &reached.found.order;
        let is_work = |number: &u32| {
            self.path.instruction(*number).flow == Flow::Next
                && !does_nothing(self.path.instruction(*number))
        };
        let place = |number: u32| self.timed.trace.places[number as usize];
        let left = self.timed.timing.stall_cycles[at] - gained;
        let goes = if left == 0 {
            "it goes".to_owned()
        } else {
            format!("{gained} of {} go", counted(gained + left))
        };
        // What moved for this stall: what fills it, what it waits for, or itself.
        let all = fill(order, producer, at as u32);
        let is_meant = |number: &u32| {
            (*number == producer || *number == at as u32 || all.contains(number)) && is_work(number)
        };
        let moved = &self.crossings[idx];
        let crossing: Vec<u32> =
            moved.iter().map(|found| found.0).filter(|number| is_meant(number)).collect();
        let crosses = matches!(reached.step, Step::ProvedLoad | Step::PromisedLoad);
        // Where these stay below, others may stand between than in the faster order.
        let without = |movers: &[u32]| {
            let is_asked = crosses && !movers.is_empty();
            if is_asked { self.below(idx, movers, at) } else { None }
        };
        // Something of the same block has to stand there.
        let is_inside = |order: &Vec<u32>| {
            let blocks = blocks(self.path.function, &self.timed.trace);
            let between = fill(order, producer, at as u32);
            !between.is_empty()
                && between.iter().all(|number| blocks[*number as usize] == blocks[at])
        };
        let below = without(&crossing).filter(is_inside);
        let stays = below.is_some();
        // A load saves another cycle where what needs no promise fills this wait.
        let loads: Vec<u32> =
            crossing.iter().copied().filter(|number| self.is_load(*number)).collect();
        let below_loads =
            if stays || loads.len() == crossing.len() { None } else { without(&loads) };
        let without_loads = below_loads.is_some();
        let order = below.as_ref().or(below_loads.as_ref()).unwrap_or(order);
        let between = fill(order, producer, at as u32);
        let fillers: Vec<(usize, String)> = between
            .iter()
            .copied()
            .filter(is_work)
            .take(FILL_MAX)
            .map(|found| (place(found), self.path.named(found)))
            .collect();
        let is_named = |it: &u32| is_meant(it) && !(without_loads && loads.contains(it));
        let crossed = moved
            .iter()
            .find(|(it, _)| is_named(it) && self.is_load(*it))
            .or_else(|| moved.iter().find(|(it, _)| is_named(it)));
        let crossed = crossed.copied();
        let sunk = || {
            let all = sinkings(order, &self.timed.trace);
            all.into_iter().find(|(number, _)| is_meant(number))
        };
        let jump = || {
            let is_jump = |number: &u32| {
                let flow = self.path.instruction(*number).flow;
                matches!(flow, Flow::Branch { is_conditional: false, .. })
            };
            let jump = between.iter().copied().find(is_jump)?;
            let named = self.path.named(jump);
            // What it leads to has to stand behind it, or this does.
            Some(if (jump as usize) < at {
                format!(
                    "{named} leads here: {goes} where a copy of what it leads to stands before it"
                )
            } else {
                format!("{named} leads away: {goes} behind it, in a copy of what it leads to")
            })
        };
        // What has to do with this wait moves in none of the ways that the step allows.
        let elsewhere = |others: &str| {
            let joined = self.joined(order, &is_meant);
            self.without_licence(sunk(), jump(), joined, others, &goes)
        };
        let mut mover = None;
        let (prevents, ways) = match reached.step {
            // It goes inside the block; what crosses an exit saves another cycle.
            _ if stays => {
                let is_fresh = between.iter().any(|number| self.needs_register(order, *number));
                let prevents =
                    if is_fresh { fresh(&goes) } else { self.table(producer, at, &goes) };
                (prevents, Vec::new())
            }
            // Which line would have to change, nobody can say from here.
            Step::InsideBlocks => (self.table(producer, at, &goes), Vec::new()),
            Step::Renaming => (fresh(&goes), Vec::new()),
            Step::ProvedLoad | Step::PromisedLoad => match crossed {
                Some((number, exit)) => {
                    mover = Some(number);
                    self.exit(reached.step, order, number, exit, &goes)
                }
                None => (elsewhere("others cross a side exit"), Vec::new()),
            },
            Step::PastStore => match self.past(order, &is_meant) {
                Some((load, store)) => {
                    mover = Some(load);
                    let exit = moved.iter().find(|(number, _)| *number == load);
                    let exit = exit.filter(|_| self.below(idx, &[load], at).is_none());
                    self.store(order, load, store, exit.map(|found| found.1), &goes)
                }
                None => {
                    (elsewhere("a load passes a store that may write what it reads"), Vec::new())
                }
            },
        };
        let mover =
            mover.filter(|number| !self.path.instruction(*number).accesses.is_empty()).map(place);
        let prevents = prevents + &self.moved_elsewhere(idx);
        let prevents = match reached.lacks_registers {
            Some(n) => {
                format!("{prevents}; the order would need {n} registers, more than there are")
            }
            None => prevents,
        };
        Answer { fillers, prevents: Some(prevents), mover, ways }
    }

    /// Of the waits that one licence takes away some may only go to others: what it gains in all,
    /// if that is less.
    fn moved_elsewhere(&self, idx: usize) -> String {
        let (reached, written) = (&self.timed.reached, &self.timed.timing);
        let before = idx
            .checked_sub(1)
            .map_or(written.total_cycles, |number| reached[number].timing.total_cycles);
        let gained = before - reached[idx].timing.total_cycles;
        let answers = (0..written.stall_cycles.len())
            .filter(|at| written.stall_cycles[*at] > 0)
            .filter_map(|at| smallest(reached, written, at));
        let told: u32 = answers.filter(|answer| answer.0 == idx).map(|answer| answer.1).sum();
        if told > gained {
            let verb = if gained == 1 { "is" } else { "are" };
            format!(
                "; of {} that go so, {gained} {verb} gained, others wait instead",
                counted(told)
            )
        } else {
            String::new()
        }
    }

    fn is_load(&self, at: u32) -> bool {
        self.path.instruction(at).accesses.iter().any(|access| !access.is_store)
    }

    /// Nothing but the order: does a compiler take the result to be there earlier than it is?
    fn table(&self, producer: u32, at: usize, goes: &str) -> String {
        let class = self.path.class(producer);
        let own = self.path.core.to_addition(class);
        let starts = &self.timed.timing.starts;
        let beliefs = self
            .path
            .core
            .beliefs
            .iter()
            .filter(|belief| belief.class == class && belief.latency_cycles < own)
            // Beliefs are of additions: another use may want it earlier or later.
            .filter(|_| starts[at].saturating_sub(starts[producer as usize]) == own);
        let beliefs: String = beliefs
            .map(|belief| {
                format!(
                    "; {} believes that the result takes {} where it takes {}",
                    belief.compiler,
                    counted(belief.latency_cycles),
                    counted(own)
                )
            })
            .collect();
        format!("nothing: {goes} with another order inside the block{beliefs}")
    }

    /// Nothing that has to do with this wait goes above a side exit, or before a store.
    fn without_licence(
        &self,
        sunk: Option<(u32, u32)>,
        jump: Option<String>,
        joined: Option<(u32, u32)>,
        others: &str,
        goes: &str,
    ) -> String {
        match (sunk, jump, joined) {
            (Some((mover, exit)), _, _) => format!(
                "{} stays above {}, though it would do no harm below it; {goes} below it",
                self.path.named(mover),
                self.path.named(exit)
            ),
            (None, Some(jump), _) => jump,
            (None, None, Some((mover, entry))) => format!(
                "{} stays behind {:#x}, where another way comes in: {goes} before it, with a copy on that way",
                self.path.named(mover),
                self.path.instruction(entry).address
            ),
            // What moves fills another wait, and this one goes with it.
            (None, None, None) => format!(
                "nothing by itself: {goes} in a faster order of the path, in which {others}"
            ),
        }
    }

    /// An instruction that goes before a place where another way comes into the path, and the
    /// instruction that is there.
    fn joined(&self, order: &[u32], is_meant: &dyn Fn(&u32) -> bool) -> Option<(u32, u32)> {
        let (function, places) = (self.path.function, self.path.places);
        let enters = |at: &u32| {
            let (here, before) = (places[*at as usize], places[*at as usize - 1]);
            let all = 0..function.instructions.len();
            all.into_iter().any(|from| from != before && function.leads(from, here))
        };
        let entries: Vec<u32> = (1..places.len() as u32).filter(enters).collect();
        let position = |at: u32| order.iter().position(|number| *number == at);
        (0..places.len() as u32).filter(is_meant).find_map(|mover| {
            let entry = entries.iter().rev().find(|entry| {
                let passed = (0..**entry).any(|at| position(at) > position(mover));
                **entry <= mover && passed
            });
            entry.map(|entry| (mover, *entry))
        })
    }

    /// The register that `mover` writes is in use where it goes in this order.
    fn needs_register(&self, order: &[u32], mover: u32) -> bool {
        let zero = self.path.function.isa.conventions().zero;
        let to = order.iter().position(|number| *number == mover).unwrap_or(0);
        let passed = |at: usize| {
            let place = order.iter().position(|number| *number as usize == at);
            at < mover as usize && place.is_some_and(|place| place > to)
        };
        let writes = &self.path.instruction(mover).writes;
        let in_use = |reg: Reg| {
            let exits = self.timed.trace.exits.iter().filter(|exit| passed(exit.at));
            let uses = |at: usize| {
                let instruction = self.path.instruction(at as u32);
                instruction.reads.iter().any(|read| read.reg == reg)
                    || instruction.writes.iter().any(|write| write.reg == reg)
            };
            exits.into_iter().any(|exit| self.is_wanted(exit, reg))
                || (0..mover as usize).any(|at| passed(at) && uses(at))
        };
        writes.iter().any(|write| Some(write.reg) != zero && in_use(write.reg))
    }

    /// What is said where it goes in this order only with another result register.
    fn another_register(&self, order: &[u32], mover: u32) -> &'static str {
        if self.needs_register(order, mover) { "in another register " } else { "" }
    }

    /// Behind this exit somebody reads the register: an instruction, or a call, if it was written
    /// since the call before. How many arguments a callee has, code does not say.
    fn is_wanted(&self, exit: &Exit, reg: Reg) -> bool {
        let (function, place) = (self.path.function, self.path.places[exit.at]);
        // Few functions return a second result, of which code says nothing.
        let bits = self.bits.get_or_init(|| Bits::with_one_result(function));
        if !exit.live.contains(reg) || bits.demanded(place, reg) == 0 {
            return false;
        }
        let to = exit.leads_to(function, place);
        let Some(to) = to.filter(|to| *to < function.instructions.len()) else { return true };
        let is_old = |at: usize| {
            let instruction = self.path.instruction(at as u32);
            let is_written = instruction.writes.iter().any(|write| write.reg == reg);
            let is_call = matches!(instruction.flow, Flow::Call { .. });
            (is_call || is_written).then_some(is_call)
        };
        let likely = self.likely.get_or_init(|| Liveness::likely(function));
        if !likely.before(to).contains(reg) {
            return false;
        }
        let reads = self.reads.get_or_init(|| Liveness::of_reads(function));
        !(0..exit.at).rev().find_map(is_old).unwrap_or(false) || reads.before(to).contains(reg)
    }

    fn exit(
        &self,
        step: Step,
        order: &[u32],
        mover: u32,
        exit: u32,
        goes: &str,
    ) -> (String, Vec<Way>) {
        let another = self.another_register(order, mover);
        let above = &match another.trim_end() {
            "" => "above it".to_owned(),
            another => format!("above it {another}"),
        };
        let (mover_name, exit_name) = (self.path.named(mover), self.path.named(exit));
        let loads = self.is_load(mover);
        if self.path.instruction(exit).flow == Flow::Next {
            return (
                format!(
                    "{mover_name} stays below {exit_name}, whose fault goes on elsewhere; {goes} {above}"
                ),
                Vec::new(),
            );
        }
        if step == Step::PromisedLoad
            && let Some(test) = self.null_test(mover, exit)
        {
            let prevents = format!(
                "{mover_name} stays below {}, which asks whether its pointer is null; {goes} {above}",
                self.path.named(test)
            );
            return (prevents, Vec::new());
        }
        let needs_promise = step == Step::PromisedLoad && loads && self.needs_promise(mover, exit);
        if needs_promise && self.is_object(mover) {
            return (
                format!(
                    "{mover_name} stays below {exit_name}; {goes} {above}, unless the object is `volatile`"
                ),
                Vec::new(),
            );
        }
        if needs_promise && let Some(test) = self.end_of_loop(mover, exit) {
            let why = "which ends the loop: behind the last round its address may be bad";
            return (
                format!(
                    "{mover_name} may not go above {}, {why}; {goes} {above}",
                    self.path.named(test)
                ),
                Vec::new(),
            );
        }
        // What is no load, a compiler may have made of anything.
        let ways = if loads && !self.has_no_line(mover) { vec![Way::Earlier] } else { Vec::new() };
        let prevents = if needs_promise {
            let why = "the compiler cannot know that its address is good there";
            let aside = aside(another);
            format!(
                "{mover_name} may not go above {exit_name}: {why}; {goes}{aside} if the programmer vouches for it"
            )
        } else {
            format!(
                "{mover_name} stays below {exit_name}, though {another}it would do no harm above it; {goes} above it"
            )
        };
        (prevents, ways)
    }

    /// No line of the source loads what this loads: a constant from beside the code, or what was
    /// kept in the frame, for the caller or because a register was wanted.
    fn has_no_line(&self, at: u32) -> bool {
        let isa = self.path.function.isa;
        let is_arm = matches!(isa, Isa::A32 | Isa::T32 | Isa::A64);
        let is_literal =
            |access: &Access| is_arm && access.base.is_none() && access.index.is_none();
        let is_kept = |access: &Access| {
            access.base == Some(isa.conventions().stack_pointer) && access.index.is_none()
        };
        let accesses = &self.path.instruction(at).accesses;
        accesses.iter().all(is_literal) || accesses.iter().all(is_kept)
    }

    /// The load is of an object whose address the linker knows: it is good everywhere.
    fn is_object(&self, at: u32) -> bool {
        let mut statics = Statics::default();
        for before in 0..at {
            statics.remember(self.path.instruction(before));
        }
        self.path
            .instruction(at)
            .accesses
            .iter()
            .all(|access| access.base.is_some_and(|base| statics.holds(base)))
    }

    /// Of the exits from `exit` on that the load at `mover` goes above, one that leaves the loop
    /// which the load is in.
    fn end_of_loop(&self, mover: u32, exit: u32) -> Option<u32> {
        let nests = Nests::of(self.path.function);
        let mover_place = self.path.places[mover as usize];
        let ends = |exit: &Exit| {
            let place = self.path.places[exit.at];
            let leaves = exit.leads_to(self.path.function, place).is_none_or(|to| {
                to >= self.path.function.instructions.len() || nests.left(place, to) > 0
            });
            // The cases of a `switch` are taken to stay in the loop.
            let is_switch = self.path.function.cases_of(place).is_some();
            leaves
                && !is_switch
                && nests.is_in_one(mover_place)
                && nests.left(mover_place, place) == 0
        };
        let mut exits = self
            .timed
            .trace
            .exits
            .iter()
            .filter(|found| (exit as usize..mover as usize).contains(&found.at));
        exits.find(|exit| ends(exit)).map(|exit| exit.at as u32)
    }

    /// Above an exit from `exit` on the load at `mover` is only good if the programmer says so.
    fn needs_promise(&self, mover: u32, exit: u32) -> bool {
        let frame = StackFrame::of(self.path.function);
        let edges = dependences(
            self.path.function,
            &frame,
            &self.timed.trace,
            self.path.core,
            Step::ProvedLoad.licence(),
        );
        let exits: Vec<u32> = self
            .timed
            .trace
            .exits
            .iter()
            .map(|exit| exit.at as u32)
            .filter(|found| *found >= exit)
            .collect();
        edges
            .iter()
            .any(|edge| edge.to == mover && edge.why == Why::Control && exits.contains(&edge.from))
    }

    /// Of the exits from `exit` on that the load at `mover` goes above, one that asks whether its
    /// own pointer is null.
    fn null_test(&self, mover: u32, exit: u32) -> Option<u32> {
        let base =
            self.path.instruction(mover).accesses.iter().find(|access| !access.is_store)?.base?;
        let conventions = self.path.function.isa.conventions();
        let writes = |at: u32, reg: Reg| {
            self.path.instruction(at).writes.iter().any(|write| write.reg == reg)
        };
        let is_flag = |read: &Read| conventions.flags.contains(&read.reg);
        let asks = |at: u32| {
            let branch = self.path.instruction(at);
            let mut reads = branch.reads.iter().filter(|read| Some(read.reg) != conventions.zero);
            match (reads.next(), reads.next()) {
                (Some(read), None) if !is_flag(read) => read.reg == base,
                (Some(read), _) if is_flag(read) => {
                    let compare = (0..at).rev().find(|idx| writes(*idx, read.reg));
                    let operation =
                        compare.and_then(|compare| self.path.instruction(compare).operation);
                    let is_unchanged =
                        compare.is_some_and(|it| !(it..at).any(|it| writes(it, base)));
                    is_unchanged
                        && operation.is_some_and(|operation| {
                            operation.op == Op::Compare
                                && operation.a == Value::Reg(base)
                                && operation.b == Value::Const(0)
                        })
                }
                _ => false,
            }
        };
        let exits = self
            .timed
            .trace
            .exits
            .iter()
            .map(|exit| exit.at as u32)
            .filter(|word| (exit..mover).contains(word));
        exits.filter(|it| !(*it..mover).any(|it| writes(it, base))).find(|exit| asks(*exit))
    }

    /// Of the loads that went past a store, one that has to do with this stall, and the store.
    fn past(&self, order: &[u32], is_meant: &dyn Fn(&u32) -> bool) -> Option<(u32, u32)> {
        let past = past_stores(order, &self.timed.edges);
        let meant = past
            .iter()
            .find(|(load, _)| is_meant(load))
            .or_else(|| past.iter().find(|(_, store)| is_meant(store)));
        meant.copied()
    }

    /// The order in which these stay below the exits that they went above, if the wait of the
    /// instruction at `at` goes as well there, and the path is faster than it was.
    fn below(&self, idx: usize, movers: &[u32], at: usize) -> Option<Vec<u32>> {
        let (path, trace, reached) = (&self.path, &self.timed.trace, &self.timed.reached);
        let frame = StackFrame::of(path.function);
        let licence = reached[idx].step.licence();
        let edges = dependences(path.function, &frame, trace, path.core, licence);
        let mut order = reached[idx].found.order.clone();
        for mover in movers.iter().rev() {
            let position = |number: u32| order.iter().position(|found| *found == number);
            let exits = trace.exits.iter().map(|exit| exit.at as u32);
            let below = exits.filter(|exit| exit < mover).filter_map(position).max();
            let (from, to) = (position(*mover)?, below?);
            let to = to.max(from);
            let is_read = |edge: &Edge| edge.from == *mover && order[from..=to].contains(&edge.to);
            if edges.iter().any(is_read) {
                return None;
            }
            order[from..=to].rotate_left(1);
        }
        let needs = Need::of_trace(path.function, trace, path.core);
        let timing = time(&needs, &edges, &order, path.core);
        let is_as_good = timing.total_cycles < self.timed.timing.total_cycles
            && timing.stall_cycles[at] <= reached[idx].timing.stall_cycles[at];
        is_as_good.then_some(order)
    }

    /// What types and the source say of the two, code does not. A load that goes above an exit, too,
    /// has to be good there besides.
    fn store(
        &self,
        order: &[u32],
        load: u32,
        store: u32,
        exit: Option<u32>,
        goes: &str,
    ) -> (String, Vec<Way>) {
        let store = self.path.named(store);
        if let Some(exit) = exit {
            let (above, ways) = self.exit(Step::PromisedLoad, order, load, exit, goes);
            let prevents = format!(
                "{above}, as far as it does not read what {store} writes, which their addresses do not show"
            );
            return (prevents, ways);
        }
        let aside = aside(self.another_register(order, load));
        let load = self.path.named(load);
        let prevents = format!(
            "{load} may read what {store} writes, as far as their addresses show; {goes}{aside} if it does not"
        );
        (prevents, vec![Way::Restrict, Way::LocalCopy, Way::Earlier])
    }
}

fn fresh(goes: &str) -> String {
    format!("a register is used again too soon; {goes} with a fresh one")
}

/// The same words inside a sentence.
fn aside(words: &str) -> String {
    if words.is_empty() { String::new() } else { format!(", {},", words.trim_end()) }
}

/// It is there for its place only.
fn does_nothing(instruction: &Instruction) -> bool {
    instruction.class == Class::Nop || instruction.text == "nop" || instruction.is_filler()
}

/// Registers that hold an address which the linker knows.
#[derive(Debug, Default)]
struct Statics(RegSet);

impl Statics {
    fn holds(&self, reg: Reg) -> bool {
        self.0.contains(reg)
    }

    /// What is known after the instruction: an address is made of nothing, of a word beside the
    /// code, or of the first half of it.
    fn remember(&mut self, instruction: &Instruction) {
        let is_literal = instruction
            .accesses
            .iter()
            .all(|access| !access.is_store && access.base.is_none() && access.index.is_none());
        let is_known = matches!(
            instruction.class,
            Class::Alu | Class::Constant | Class::Load | Class::LoadSlow
        ) && !instruction.is_guarded();
        let is_made = instruction.reads.iter().all(|read| {
            read.role == Role::Base && !instruction.accesses.is_empty() || self.holds(read.reg)
        });
        let makes = is_literal && is_known && is_made;
        for write in &instruction.writes {
            if makes { self.0.insert(write.reg) } else { self.0.remove(write.reg) }
        }
    }
}
