//! A chain as it was compiled: the path of a round, and how many cycles the model says one takes.

use machine::in_order::{Class, Core, Out, Role};
use report::Diagnostic;

use super::chains::TimedChain;
use super::source::symbol;
use crate::decode::code::{Flow, Instruction, Reg};
use crate::facts::frame::StackFrame;
use crate::facts::liveness::Liveness;
use crate::facts::trace::{End, Trace};
use crate::program::Program;
use crate::program::function::Function;
use crate::timing::depend::Why;
use crate::timing::pipe::Need;
use crate::timing::stalls::time;
use crate::timing::steady::{Carried, carried, unrolled};

/// Rounds that are timed, and the first that counts: pairs are in step by then.
const ROUNDS: usize = 6;
const SETTLED: usize = 2;

/// One chain in the object file.
#[derive(Debug)]
pub struct Round {
    pub name: String,
    function: Function,
    frame: StackFrame,
    trace: Trace,
    /// What waits for what, if that is what the chain is about.
    pub link: Option<Dependence>,
    /// Steps in a round.
    pub n_steps: usize,
    /// Kinds of work in a step.
    pub classes: Vec<Class>,
}

/// A result and the operand that it becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dependence {
    pub writer: Class,
    pub out: Out,
    /// All of the register was loaded.
    pub is_whole: bool,
    pub reader: Class,
    pub role: Role,
}

impl Round {
    /// The chain number `nth` of a compiled file; none if its guard left it out.
    pub fn of(
        program: &Program,
        nth: usize,
        chain: &TimedChain,
    ) -> Result<Option<Round>, Diagnostic> {
        let Some(symbol) = program.only(&symbol(nth)) else { return Ok(None) };
        let function = program.decode_without_lines(symbol)?.function;
        let places = path(&function).ok_or_else(|| {
            Diagnostic::new(format!("the compiler made no loop of the chain `{}`", chain.name))
        })?;
        let n_again =
            places.iter().rev().take_while(|idx| is_again(&function, **idx, &places)).count();
        let n_step = chain.step.iter().filter(|line| !line.ends_with(':')).count();
        let body = &places[..places.len() - n_again];
        let mut classes: Vec<Class> =
            body.iter().map(|idx| function.instructions[*idx].class).collect();
        classes.sort_unstable();
        classes.dedup();
        let first = |at: usize| &function.instructions[body[at]];
        let link = chain.name.contains('>').then(|| link(&function, first(0), first(1))).flatten();
        let frame = StackFrame::of(&function);
        let head = places[0];
        let trace = Trace::through(
            &function,
            &Liveness::of(&function),
            places.clone(),
            Some(head),
            End::Loop,
        );
        let n_steps = (body.len() / n_step).max(1);
        Ok(Some(Round { name: chain.name.clone(), function, frame, trace, link, n_steps, classes }))
    }

    /// Cycles of a round on this core, by the model.
    pub fn cycles(&self, core: &Core) -> f64 {
        self.timed(core, &self.edges(core))
    }

    /// The same by the cycles from a result to what waits for it: of none, of
    /// one, and so on up to `most`.
    pub fn by_wait(&self, core: &Core, most: u32) -> impl Iterator<Item = f64> {
        let mut edges = self.edges(core);
        let n = self.trace.places.len();
        let n_body = self.n_steps * 2;
        let is_link = |it: &Carried| {
            let (from, to) = (it.edge.from as usize, it.edge.to as usize);
            !it.is_carried && from + 1 == to && from.is_multiple_of(2) && to < n_body
        };
        edges.retain(|it| !is_link(it));
        (0..=most).map(move |cycles| {
            let mut all = edges.clone();
            for from in (0..n_body.min(n)).step_by(2) {
                all.push(Carried::inside(from as u32, from as u32 + 1, cycles));
            }
            all.sort_by_key(|it| it.edge.to);
            self.timed(core, &all)
        })
    }

    fn edges(&self, core: &Core) -> Vec<Carried> {
        carried(&self.function, &self.frame, core, &self.trace)
    }

    fn timed(&self, core: &Core, edges: &[Carried]) -> f64 {
        let n = self.trace.places.len();
        let needs = Need::of_trace(&self.function, &self.trace, core).repeat(ROUNDS);
        let order: Vec<u32> = (0..needs.len() as u32).collect();
        let starts = time(&needs, &unrolled(edges, n, ROUNDS), &order, core).starts;
        f64::from(starts[(ROUNDS - 1) * n] - starts[SETTLED * n]) / (ROUNDS - 1 - SETTLED) as f64
    }

    /// Instructions of this kind in a round.
    pub fn count(&self, class: Class) -> usize {
        let all = self.trace.places.iter();
        all.filter(|idx| self.function.instructions[**idx].class == class).count()
    }

    /// How many instructions a round has.
    pub fn n_instructions(&self) -> usize {
        self.trace.places.len()
    }
}

/// The instructions of a round in the order in which they are done.
fn path(function: &Function) -> Option<Vec<usize>> {
    let is_back = |idx: &usize| function.target(*idx).is_some_and(|to| to < *idx);
    let is_conditional = |idx: &usize| {
        matches!(function.instructions[*idx].flow, Flow::Branch { is_conditional: true, .. })
    };
    let last =
        (0..function.instructions.len()).rev().find(|idx| is_back(idx) && is_conditional(idx))?;
    let (mut at, mut back) = (function.target(last)?, Vec::new());
    let mut places = Vec::new();
    while at != last {
        if places.len() > function.instructions.len() * 2 || at > last {
            return None;
        }
        places.push(at);
        let instruction = &function.instructions[at];
        at = match instruction.flow {
            // Thumb's long jumps are calls by their words.
            Flow::Branch { is_conditional: false, .. } if instruction.class == Class::Call => {
                back.push(at + 1);
                function.target(at)?
            }
            Flow::Branch { is_conditional: false, .. } => function.target(at)?,
            Flow::Call { target: Some(target) } => {
                back.push(at + 1);
                function.at(target)?
            }
            Flow::Return | Flow::Resume => back.pop()?,
            _ => at + 1,
        };
        // A call of what stands behind it does not return.
        if back.last() == Some(&at) && instruction.class == Class::Call {
            back.pop();
        }
    }
    places.push(last);
    Some(places)
}

/// It counts the rounds.
fn is_again(function: &Function, idx: usize, places: &[usize]) -> bool {
    let last = *places.last().expect("a round has an end");
    let is_count = |idx: usize| function.instructions[idx].text.starts_with(['s', 'a']);
    idx == last || idx + 1 == last && is_count(idx)
}

/// What of `writer` becomes what of `reader`.
fn link(function: &Function, writer: &Instruction, reader: &Instruction) -> Option<Dependence> {
    let zero = function.isa.conventions().zero;
    let is_read = |reg: Reg| {
        let found = reader.reads.iter().find(|read| read.reg == reg);
        found.filter(|_| Some(reg) != zero)
    };
    let (write, read) =
        writer.writes.iter().find_map(|write| Some((write, is_read(write.reg)?)))?;
    let bits = u32::from(function.isa.conventions().bits);
    let is_whole = writer.accesses.iter().all(|access| u32::from(access.width) * 8 == bits);
    Some(Dependence {
        writer: writer.class,
        out: write.out,
        is_whole,
        reader: reader.class,
        role: read.role,
    })
}

impl Carried {
    fn inside(from: u32, to: u32, cycles: u32) -> Carried {
        let why = Why::Value(Reg(0), Role::Source);
        Carried { edge: crate::timing::depend::Edge { from, to, cycles, why }, is_carried: false }
    }
}
