//! The instructions of a path in words, and what they wait for.

use machine::Dispute;
use machine::in_order::Core;

use crate::decode::code::{Class, Instruction, Out, Role};
use crate::program::function::Function;
use crate::timing::depend::Why;
use crate::timing::stalls::{Cause, CauseKind};

/// The instructions of a path, for words about them.
#[derive(Debug, Clone, Copy)]
pub struct Path<'a> {
    pub function: &'a Function,
    pub core: &'a Core,
    pub places: &'a [usize],
}

impl<'a> Path<'a> {
    /// The instruction at this place.
    pub(super) fn instruction(&self, at: u32) -> &'a Instruction {
        &self.function.instructions[self.places[at as usize]]
    }

    /// The instruction with its line, if it is known.
    pub(super) fn named(&self, at: u32) -> String {
        match self.line(at) {
            Some(line) => format!("`{}` (line {line})", self.instruction(at).text),
            None => format!("`{}`", self.instruction(at).text),
        }
    }

    pub(super) fn line(&self, at: u32) -> Option<u32> {
        let frames = self.function.frames.get(self.places[at as usize])?;
        frames.first().map(|frame| frame.line)
    }

    pub(super) fn class(&self, at: u32) -> Class {
        self.instruction(at).class
    }

    /// One cause of the stall of the instruction at this place of the path, in words.
    pub fn cause(&self, at: usize, cause: &Cause) -> String {
        let from = self.named(cause.producer);
        let cycles = counted(cause.cycles);
        let name = |reg| self.function.isa.register_name(reg);
        match cause.kind {
            CauseKind::Order(Why::Value(reg, role)) => {
                let early =
                    self.core.early_cycles(self.class(at as u32), role, self.class(cause.producer));
                let when = match early {
                    0 => String::new(),
                    1.. => format!(", needed {} early", counted(early.unsigned_abs())),
                    _ => format!(", needed {} late", counted(early.unsigned_abs())),
                };
                format!("{} from {from}, {} here{when}: {cycles}", name(reg), role_words(role))
            }
            CauseKind::Order(Why::Lock(reg)) => {
                format!("{}, which {from} is still storing: {cycles}", name(reg))
            }
            CauseKind::Order(Why::Rewrite(reg)) => {
                format!("{}, which {from} still uses: {cycles}", name(reg))
            }
            CauseKind::Order(Why::Memory) => format!("memory that {from} accesses: {cycles}"),
            CauseKind::Order(Why::Control) => format!("the decision of {from}: {cycles}"),
            CauseKind::Unit => format!("the unit that {from} takes: {cycles}"),
        }
    }

    /// The figures that the causes of a stall rest on and that another source gives otherwise.
    pub fn disputed(&self, at: usize, causes: &[Cause]) -> Vec<Dispute> {
        let mut disputes: Vec<Dispute> = Vec::new();
        for cause in causes {
            let of_producer = self
                .core
                .disputed(self.class(cause.producer))
                .filter(|disputed| self.rests_on(at, cause, disputed));
            let read = |dispute: &&Dispute| match cause.kind {
                CauseKind::Order(Why::Value(_, role)) => {
                    dispute.figure.strip_prefix("late.") == Some(role.name())
                }
                _ => false,
            };
            let of_producer = of_producer.map(|producer| (cause.producer, producer));
            let of_reader = self
                .core
                .disputed(self.class(at as u32))
                .filter(read)
                .map(|disputed| (at as u32, disputed));
            for (place, it) in of_producer.chain(of_reader) {
                // Of the kinds of work that share the row only that of the instruction.
                let own = |name: &String| name == self.class(place).name();
                let work = if it.work.iter().any(own) {
                    vec![self.class(place).name().to_owned()]
                } else {
                    it.work.clone()
                };
                let dispute = Dispute { work, ..it.clone() };
                if !disputes.contains(&dispute) {
                    disputes.push(dispute);
                }
            }
        }
        disputes
    }

    /// Whether one cause of a stall rests on this figure of its producer.
    fn rests_on(&self, at: usize, cause: &Cause, dispute: &Dispute) -> bool {
        let producer = self.instruction(cause.producer);
        let n_bytes: u32 = producer.accesses.iter().map(|access| u32::from(access.width)).sum();
        let has_bytes = n_bytes > dispute.here.min(dispute.other);
        match cause.kind {
            CauseKind::Unit => {
                dispute.figure == "unit_cycles" || dispute.figure == "bytes_a_cycle" && has_bytes
            }
            CauseKind::Order(Why::Value(reg, role)) => {
                let out =
                    producer.writes.iter().find(|write| write.reg == reg).map(|write| write.out);
                let work = self.core.work_of(producer.class, producer.is_quad);
                let bits = u32::from(self.function.isa.conventions().bits);
                let is_whole =
                    producer.accesses.iter().all(|access| u32::from(access.width) * 8 == bits);
                let is_address = is_whole
                    && matches!(role, Role::Base | Role::Index)
                    && work.has_address_cycles();
                let is_meant = match dispute.figure.as_str() {
                    "latency_cycles" => !producer.is_quad && !is_address,
                    "quad.latency_cycles" => producer.is_quad,
                    "address_cycles" => is_address,
                    "bytes_a_cycle" => has_bytes,
                    "addition_cycles" => {
                        role == Role::Source && self.class(at as u32) == Class::Alu
                    }
                    _ => false,
                };
                is_meant && !matches!(out, None | Some(Out::BaseUpdate | Out::Carried))
            }
            CauseKind::Order(Why::Rewrite(_) | Why::Lock(_) | Why::Memory | Why::Control) => false,
        }
    }
}

/// Disputed figures in words, each once, with all that others say.
pub fn disputed(disputes: &[Dispute]) -> Option<String> {
    let mut said: Vec<String> = Vec::new();
    for of_one in disputes.chunk_by(|a, b| a.work == b.work && a.figure == b.figure) {
        let first = &of_one[0];
        let others: Vec<String> = of_one
            .chunk_by(|a, b| a.other == b.other)
            .map(|alike| {
                let sources: Vec<&str> = alike.iter().map(|found| found.source.as_str()).collect();
                format!("{} by {}", alike[0].other, sources.join(" and "))
            })
            .collect();
        said.push(format!(
            "{} of {} is {} here, {}",
            figure_words(&first.figure),
            first.work.join(", "),
            first.here,
            others.join(", ")
        ));
    }
    (!said.is_empty()).then(|| said.join("; "))
}

fn figure_words(figure: &str) -> String {
    match figure {
        "latency_cycles" => "the latency".to_owned(),
        "quad.latency_cycles" => "the latency of whole registers".to_owned(),
        "address_cycles" => "the latency to an address".to_owned(),
        "unit_cycles" => "the time in the unit".to_owned(),
        "addition_cycles" => "the time to an addition".to_owned(),
        other => format!("`{other}`"),
    }
}

/// A number of cycles.
pub(super) fn counted(cycles: u32) -> String {
    if cycles == 1 { "1 cycle".to_owned() } else { format!("{cycles} cycles") }
}

fn role_words(role: Role) -> &'static str {
    match role {
        Role::Source => "an operand",
        Role::Shifted => "shifted",
        Role::Amount => "the shift amount",
        Role::Factor => "a factor",
        Role::Addend => "what a product is added to",
        Role::Base => "the base of an address",
        Role::Index => "the index of an address",
        Role::Data => "what is stored",
        Role::Condition => "the condition",
        Role::Target => "where to jump",
        Role::Carried => "renamed",
    }
}
