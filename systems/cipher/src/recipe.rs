//! From a subject and a recipe to C: the passes, then the back end.

use std::path::PathBuf;
use std::rc::Rc;

use machine::Machine;
use measure::tool::ToolError;
use report::Diagnostic;

use crate::asm::{self, Count, Effort};
use crate::circuit::Found;
use crate::emit_c::{self, Arch, EmitOptions, Mode, Sponge, Stage, Unit};
use crate::ir::NodeId;
use crate::native;
pub use crate::options::Recipe;
use crate::options::{Emit, Interleave, Options, Schedule, Slicing};
use crate::passes::inline::Inline;
use crate::passes::{estimate, interleave};
use crate::pipeline::{self, Compiled};
use crate::target::Target;
use crate::unit::Subject;

/// A subject compiled by a recipe.
#[derive(Debug)]
pub struct Made {
    /// The program after the text.
    pub compiled: Compiled,
    /// What the text offers.
    pub unit: Unit,
    /// The assembly file that goes with the C file, empty without one.
    pub assembly: String,
    /// Why there is none although it was asked for.
    pub refused: Option<String>,
    /// Of the blocks of the assembly file: steps, and what registers cost beside them.
    pub blocks: Vec<(usize, Count)>,
    /// Cycles of the model for the function that works on blocks: in the order of the text, and in
    /// the first one of the assembly.
    pub cycles: [u64; 2],
    /// Of the loop in assembly that hands on most, the bytes of its buffers.
    pub buffer_bytes: usize,
    /// Why `auto` chose the back end.
    pub back_reason: Option<String>,
}

impl Recipe {
    /// The machine file that the schedulers use: the one named, else the default of the target.
    fn machine(&self) -> Machine {
        self.machine.clone().unwrap_or_else(|| {
            Machine::bundled(self.arch.row().machine).expect("the default machines are bundled")
        })
    }

    /// How long assembly searches for an order.
    fn effort(&self) -> Effort {
        self.budget.map_or_else(Effort::default, |millions| Effort { millions })
    }

    /// The processor that the schedulers and the model have in mind.
    pub fn target(&self) -> Target {
        self.arch.target(&self.machine()).unwrap_or_else(Target::generic)
    }

    /// Runs the passes, and the assembly back end if it is asked for.
    ///
    /// Errors: what is wrong with the program.
    pub fn make(&self, subject: &Subject) -> Result<Made, Vec<Diagnostic>> {
        if self.emit != Emit::Auto {
            return self.make_by(subject);
        }
        let (promise, why) = self.promise(subject)?;
        let (emit, by) = if promise.is_some() { (Emit::Asm, "assembly") } else { (Emit::C, "C") };
        Ok(Made {
            back_reason: Some(format!("{by}: {why}")),
            ..Recipe { emit, ..self.clone() }.make_by(subject)?
        })
    }

    /// How many times as fast as the C the assembly is by the model, if that is more than the
    /// model errs; and why.
    ///
    /// Errors: what is wrong with the program.
    pub fn promise(&self, subject: &Subject) -> Result<(Option<f64>, String), Vec<Diagnostic>> {
        if !self.arch.has_assembly() {
            return Ok((None, format!("there is no assembly for {}", self.arch.name())));
        }
        let first = Recipe { emit: Emit::Asm, budget: Some(0), ..self.clone() }.make_by(subject)?;
        if let Some(why) = first.refused {
            return Ok((None, why));
        }
        let cost = estimate::entry(&first.compiled.program, &self.target(), self.slicing);
        let spills = cost.spills / cost.equations.max(1.0);
        if spills < asm::SPILLING {
            return Ok((
                None,
                format!(
                    "the text spills {spills:.2} values an equation, and C compilers lose nothing by that"
                ),
            ));
        }
        let n_steps: usize = first.blocks.iter().map(|block| block.0).sum();
        if n_steps < asm::LONG {
            return Ok((None, format!("{n_steps} steps are few enough for C compilers")));
        }
        let [text, ours] = first.cycles;
        let promise = text as f64 / ours.max(1) as f64;
        let why = format!(
            "model {}: {text} cycles in the order of the text, {ours} in ours",
            self.machine().name
        );
        if promise < asm::PROMISED {
            return Ok((None, format!("{why}, within what the model errs")));
        }
        if first.buffer_bytes > asm::BUFFERED_BYTES {
            let kb = first.buffer_bytes >> 10;
            let why = format!(
                "{why}; but its loop hands on through buffers of {kb} KB, more than a first-level cache"
            );
            return Ok((Some(asm::PROMISED), why));
        }
        Ok((Some(promise), why))
    }

    /// The same with a back end that is decided.
    fn make_by(&self, subject: &Subject) -> Result<Made, Vec<Diagnostic>> {
        let target = self.target();
        let sponge = self.mode.as_deref().and_then(|mode| subject.sponge(mode));
        // Where a register holds one message, single messages are what the code is for; and each
        // message is read and written at a place of its own, for many of which a cache has no room
        // when they are a power of two apart.
        let interleave = match self.interleave {
            Interleave::Auto if sponge.is_some() => {
                Interleave::AtMost(if self.arch.is_vector() { 2 } else { 1 })
            }
            asked => asked,
        };
        // Assembly has all inlined, and orders of its own, which it judges beside that of the text.
        let (inline, schedule) = match (self.emit, self.schedule) {
            (Emit::C, schedule) => (self.inline, schedule),
            (_, Schedule::Auto) if self.slicing == Slicing::Bit => (Inline::All, Schedule::None),
            (_, schedule) => (Inline::All, schedule),
        };
        let counter = self
            .mode
            .as_deref()
            .filter(|_| sponge.is_none())
            .map(|mode| subject.counter(mode))
            .transpose()?;
        // Where the key is a part of the block, as ChaCha20's, and registers are general, gcc
        // spills words of it beside each other once `mslice` has spread the steps, and no C wipes
        // them.
        let has_key_in_block = counter.as_ref().is_some_and(|counter| !counter.is_block());
        let schedule = match schedule {
            Schedule::Auto
                if has_key_in_block && !self.arch.is_vector() && self.slicing != Slicing::Bit =>
            {
                Schedule::None
            }
            schedule => schedule,
        };
        let options = Options {
            recipe: Recipe { inline, schedule, interleave, ..self.clone() },
            keys: subject.keys(),
            target,
            ternary: self.arch.has_ternary(),
            complements: !self.arch.is_vector(),
        };
        let mut compiled =
            pipeline::compile(&subject.ast, &subject.entries_for(sponge.as_ref()), &options)?;
        if compiled.interleave > 1 && subject.primitive.is_none() {
            // Without bytes there is no rest of a message, for which the entry on one batch is.
            compiled.program.entries.pop();
            interleave::forget_unused(&mut compiled.program);
        }
        // Behind the permutation of 12 rounds AEAD has that of 8, which works on as many batches.
        let at = usize::from(sponge == Some(Sponge::Aead));
        if at > 0 && compiled.interleave > 1 {
            interleave::interleave(&mut compiled.program, at, compiled.interleave);
            interleave::forget_unused(&mut compiled.program);
        }
        let short = compiled.program.entries[at];
        let mode = sponge.clone().map(|sponge| Mode {
            name: format!("{}{}", self.prefix, sponge.prefix()),
            sponge,
            short,
        });
        let unit = Unit { counter, mode, ..subject.unit(&compiled, self.word()) };
        // Modes may share their permutation: a program may have all of them.
        let mode = sponge.map_or(String::new(), |it| format!("_{}", it.mode().replace('-', "_")));
        let name = unit.name.as_ref().map(|name| format!("{}{name}{mode}", self.prefix));
        // Where bytes give the file a name, its other functions have it too: nodes of two files may
        // be the same.
        let stem = |own: &str| name.clone().unwrap_or_else(|| format!("{}{own}", self.prefix));
        let entry = Stage { name: stem(&unit.entry.name), ..unit.entry.clone() };
        let schedule = unit
            .schedule
            .clone()
            .map(|schedule| Stage { name: format!("{}_keys", stem(&schedule.name)), ..schedule });
        let unit = Unit { prefix: self.prefix.clone(), name, entry, schedule, ..unit };
        let mut made = Made {
            compiled,
            unit,
            assembly: String::new(),
            refused: None,
            blocks: vec![],
            cycles: [0; 2],
            buffer_bytes: 0,
            back_reason: None,
        };
        if self.emit == Emit::Asm {
            made.assemble(self);
        }
        Ok(made)
    }

    /// The C text; with a harness it is a program.
    pub fn source(&self, made: &Made, with_harness: bool, with_lines: bool) -> String {
        emit_c::source(
            &made.compiled,
            &made.unit,
            EmitOptions {
                arch: self.arch,
                with_lines,
                with_harness,
                with_sliced: made.unit.mode.is_none(),
                with_both: false,
                is_masked: false,
            },
        )
    }

    /// How much a call works on, and how long the text is.
    pub fn amount(&self, made: &Made) -> String {
        let slicing = made.compiled.slicing.letter();
        let blocks = emit_c::shape(&made.compiled, self.arch).blocks_text();
        format!("slicing {slicing}, {blocks} at a time, {} equations", made.n_equations())
    }

    /// The C text of the sliced interface alone: the functions that validation follows.
    pub fn sliced_source(&self, made: &Made) -> String {
        let unit = Unit { name: None, others: made.others(), ..made.unit.clone() };
        let options = EmitOptions {
            arch: self.arch,
            with_lines: false,
            with_harness: false,
            with_sliced: true,
            with_both: false,
            is_masked: false,
        };
        emit_c::source(&made.compiled, &unit, options)
    }

    /// The sliced interface as an object file, with what is in
    /// assembly: what [`crate::validate`] reads.
    pub fn object(&self, made: &Made) -> Result<Vec<u8>, ToolError> {
        native::object(&self.sliced_source(made), &made.assembly, self.arch, self.cc, self.opt)
    }

    /// Compiles the C text with its harness.
    pub fn build(&self, made: &Made) -> Result<PathBuf, ToolError> {
        native::build_with(
            &self.source(made, true, false),
            &made.assembly,
            self.arch,
            self.cc,
            self.opt,
        )
    }
}

impl Made {
    /// Makes the functions that work on blocks in assembly; all of them or none.
    fn assemble(&mut self, recipe: &Recipe) {
        let (shape, machine) = (emit_c::shape(&self.compiled, recipe.arch), recipe.machine());
        let stem = recipe.stem.as_ref().unwrap_or(&self.unit.entry.name).clone();
        let mut nodes = vec![(self.unit.entry.node, format!("{stem}_kernel"))];
        let others = [
            (self.unit.one, "one"),
            (self.unit.mode.as_ref().map_or(self.unit.one, |mode| mode.short), "short"),
        ];
        for (node, name) in others {
            if nodes.iter().all(|pair| pair.0 != node) {
                nodes.push((node, format!("{stem}_kernel_{name}")));
            }
        }
        let mut text = String::from("\t.intel_syntax noprefix\n");
        for (node, name) in &nodes {
            match asm::assemble(
                &self.compiled.program.nodes[node.idx()],
                shape,
                name,
                &machine,
                recipe.effort(),
            ) {
                Ok(made) => {
                    text += &made.text;
                    if *node == self.unit.entry.node {
                        self.cycles = made.cycles;
                    }
                    self.blocks.extend(made.blocks);
                    self.buffer_bytes = self.buffer_bytes.max(made.buffer_bytes);
                }
                Err(why) => {
                    self.refused = Some(why.text());
                    return;
                }
            }
        }
        text += "\t.section .note.GNU-stack, \"\", @progbits\n";
        self.assembly = text;
        self.unit.assembled = nodes;
    }

    /// Functions in assembly that the sliced interface does not call: that on one batch beside
    /// those in turn, and the permutation of fewer rounds of Ascon's modes.
    pub fn others(&self) -> Vec<Stage> {
        let entry = &self.unit.entry;
        let name = |node: NodeId| {
            format!("{}_{}", entry.name, if node == self.unit.one { "one" } else { "short" })
        };
        let others = self.unit.assembled.iter().filter(|pair| pair.0 != entry.node);
        others.map(|other| Stage { node: other.0, name: name(other.0), ..entry.clone() }).collect()
    }

    /// What was chosen, a line each: circuits of tables, order, interleaving, back end.
    pub fn choices(&self) -> Vec<String> {
        let of_table = |(table, found): &(Rc<str>, Rc<Found>)| {
            format!("table {table}: {} gates, {}", found.circuit.n_gates(), found.origin)
        };
        let compiled = &self.compiled;
        let schedule = compiled.schedule.name();
        let reasons = [
            compiled.fixslice_reason.as_ref().map(|why| format!("fixslice: {why}")),
            compiled.schedule_reason.as_ref().map(|why| format!("schedule {schedule}: {why}")),
            compiled
                .interleave_reason
                .as_ref()
                .map(|why| format!("interleave {}: {why}", compiled.interleave)),
            self.back_reason.clone(),
        ];
        compiled.circuits.iter().map(of_table).chain(reasons.into_iter().flatten()).collect()
    }

    /// Equations of all nodes: the size of the C text.
    pub fn n_equations(&self) -> usize {
        self.compiled.n_equations()
    }

    /// Bytes of output that one call of the entry makes.
    pub fn bytes_per_call(&self, arch: Arch) -> usize {
        self.unit.output_bytes() * emit_c::shape(&self.compiled, arch).blocks() as usize
    }
}
