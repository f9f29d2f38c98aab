//! The instructions of a path in words, and what they wait for.

use machine::in_order::Core;

use crate::decode::code::{Class, Instruction, Role};
use crate::program::function::Function;
use crate::timing::depend::Why;
use crate::timing::stalls::{Cause, CauseKind};

/// The instructions of a path, for words about them.
#[derive(Debug, Clone, Copy)]
pub struct Path<'a> {
    /// The function.
    pub function: &'a Function,
    /// The core.
    pub core: &'a Core,
    /// The path.
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

    /// Its innermost line.
    pub(super) fn line(&self, at: u32) -> Option<u32> {
        let frames = self.function.frames.get(self.places[at as usize])?;
        frames.first().map(|it| it.line)
    }

    /// Its class.
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
                let early = self.core.early_cycles(self.class(at as u32), role, self.class(cause.producer));
                let when = match early {
                    0 => String::new(),
                    1.. => format!(", needed {} early", counted(early.unsigned_abs())),
                    _ => format!(", needed {} late", counted(early.unsigned_abs())),
                };
                format!("{} from {from}, {} here{when}: {cycles}", name(reg), role_words(role))
            }
            CauseKind::Order(Why::Lock(reg)) => format!("{}, which {from} is still storing: {cycles}", name(reg)),
            CauseKind::Order(Why::Rewrite(reg)) => format!("{}, which {from} still uses: {cycles}", name(reg)),
            CauseKind::Order(Why::Memory) => format!("memory that {from} accesses: {cycles}"),
            CauseKind::Order(Why::Control) => format!("the decision of {from}: {cycles}"),
            CauseKind::Unit => format!("the unit that {from} takes: {cycles}"),
        }
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
