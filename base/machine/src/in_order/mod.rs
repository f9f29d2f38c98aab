//! Cores that start instructions in the order of the program: what each kind of work costs and when
//! its results are there.

mod parse;
mod vocabulary;
mod write;

pub use vocabulary::{Class, Out, Role};

use crate::{Dispute, Identity, UnitSet};

/// The bundled files: name and text.
const BUNDLED: &[(&str, &str)] = &[
    ("arm1136jf-s", include_str!("../../machines/arm1136jf-s.toml")),
    ("cortex-a7", include_str!("../../machines/cortex-a7.toml")),
    ("cortex-a8", include_str!("../../machines/cortex-a8.toml")),
    ("cortex-a53", include_str!("../../machines/cortex-a53.toml")),
    ("cortex-a55", include_str!("../../machines/cortex-a55.toml")),
    ("cortex-m0plus", include_str!("../../machines/cortex-m0plus.toml")),
    ("cortex-m3", include_str!("../../machines/cortex-m3.toml")),
    ("cortex-m33", include_str!("../../machines/cortex-m33.toml")),
    ("cortex-m4", include_str!("../../machines/cortex-m4.toml")),
    ("cortex-m7", include_str!("../../machines/cortex-m7.toml")),
    ("cortex-r5", include_str!("../../machines/cortex-r5.toml")),
    ("erc32", include_str!("../../machines/erc32.toml")),
    ("leon3", include_str!("../../machines/leon3.toml")),
    ("rocket", include_str!("../../machines/rocket.toml")),
    ("sifive-u74", include_str!("../../machines/sifive-u74.toml")),
];

/// One core, as its file describes it; every number there has a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Core {
    /// The name on the command line.
    pub name: String,
    /// The name for people.
    pub title: String,
    /// What the description as a whole rests on.
    pub source: String,
    /// The instruction sets that it runs.
    pub sets: Vec<String>,
    /// The bundled core from which a calibration began: compilers are asked for that one.
    pub nearest: Option<String>,
    /// Cycles from a trapped instruction to the first of its handler, if the file says.
    pub trap_cycles: Option<u32>,
    /// Instructions that may start in one cycle.
    pub issue_width: u32,
    /// The names of the execution units; sets refer to them by position.
    pub units: Vec<String>,
    /// Latencies in compilers' tables that are not this file's.
    pub beliefs: Vec<Belief>,
    /// The tables that compilers have of this core, or take instead.
    pub compilers: Compilers,
    /// Figures that another source gives otherwise, in the order of the file.
    pub disputes: Vec<Dispute>,
    /// By class; read with [`Core::work`].
    rows: Vec<Work>,
    /// The same of whole vector registers of 128 bits.
    quad_rows: Vec<Work>,
    /// Kinds of work whose results come later to `forwarded` operands.
    pub forwarding: Vec<Class>,
    /// Which instructions start together with which, beyond what their units say.
    pub pairing: Option<Pairing>,
    /// What the core says of itself; a file may leave it out.
    pub identity: Option<Identity>,
}

/// What hinders two instructions of one cycle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pairing {
    /// Instructions whose names begin so start in a cycle as its first, or alone.
    pub first_only: Vec<String>,
    /// Immediates of more than the low byte take the shifter.
    pub wide_immediates_shift: bool,
    pub source: String,
}

/// How one kind of work runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Work {
    /// The units of which it takes any one; none if it takes no unit that is counted.
    pub units: UnitSet,
    /// Cycles that pass until the next instruction may start; at width 2 and more, another one may
    /// start in the last of them.
    pub issue_cycles: u32,
    /// Where the numbers come from.
    pub source: String,
    pub slots: u32,
    pub base_slots: u32,
    pub unit_cycles: u32,
    /// A unit that it keeps from others without taking it, and for so long.
    pub holds: Option<(UnitSet, u32)>,
    pub register_cycles: u32,
    pub jump_cycles: Option<u32>,
    pub registers_a_cycle: Option<u32>,
    pub bytes_a_cycle: Option<u32>,
    pub taken_cycles: Option<u32>,
    pub latency_cycles: u32,
    pub address_cycles: Option<u32>,
    pub high_cycles: Option<u32>,
    pub base_cycles: Option<u32>,
    pub base_reuse_cycles: Option<u32>,
    pub flags_cycles: Option<u32>,
    pub loaded_cycles: Vec<u32>,
    pub lock_cycles: Vec<u32>,
    /// Operands needed so many cycles before the usual moment; negative if after.
    pub early: Vec<(Role, i32)>,
    pub forwarded: Vec<(Role, i32)>,
}

/// By which tables compilers schedule for a core.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compilers {
    /// gcc's, in words: its own, or whose.
    pub gcc: String,
    pub llvm: String,
    pub source: String,
}

/// A latency in a compiler's table that is not this file's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Belief {
    /// The compiler, with its version.
    pub compiler: String,
    /// The kind of work.
    pub class: Class,
    /// Cycles from its start to that of an addition that needs its result,
    /// as the compiler believes.
    pub latency_cycles: u32,
    pub source: String,
}

impl Core {
    /// The bundled core of this name.
    pub fn bundled(name: &str) -> Option<Core> {
        let (name, text) = BUNDLED.iter().find(|(it, _)| *it == name)?;
        let core = Core::parse(&format!("machines/{name}.toml"), text);
        Some(core.unwrap_or_else(|fault| panic!("a test parses the bundled cores, but {fault}")))
    }

    /// The names of the bundled cores.
    pub fn names() -> impl Iterator<Item = &'static str> {
        BUNDLED.iter().map(|(name, _)| *name)
    }

    /// How this kind of work runs.
    pub fn work(&self, class: Class) -> &Work {
        &self.rows[class as usize]
    }

    /// Gives this kind of work another row.
    pub fn set_work(&mut self, class: Class, work: Work) {
        self.rows[class as usize] = work.clone();
        self.quad_rows[class as usize] = work;
    }

    /// Says where the figures of this kind of work come from.
    pub fn set_source(&mut self, class: Class, source: &str) {
        for rows in [&mut self.rows, &mut self.quad_rows] {
            source.clone_into(&mut rows[class as usize].source);
        }
    }

    /// The same for instructions on whole vector registers of 128 bits, where they take more
    /// than half of one.
    pub fn work_of(&self, class: Class, is_quad: bool) -> &Work {
        if is_quad { &self.quad_rows[class as usize] } else { self.work(class) }
    }

    /// The file tells kinds of floating point and vectors apart; if not, one row stands
    /// for all of them.
    pub fn tells_floats_apart(&self) -> bool {
        let float = self.work(Class::Float);
        Class::ALL.iter().any(|class| class.is_part_of_float() && self.work(*class) != float)
    }

    /// The same core with taken branches that take so many cycles; others take one, or none where
    /// taken ones take none.
    pub fn with_branch_cost(mut self, cycles: u32) -> Core {
        let row = &mut self.rows[Class::Branch as usize];
        row.issue_cycles = cycles.min(1);
        row.taken_cycles = (cycles > 1).then_some(cycles);
        self
    }

    /// The same core with a program in memory that makes whatever control goes to wait so
    /// many cycles: taken branches, calls, jumps and returns. What follows in line is taken
    /// to be fetched ahead.
    pub fn with_flash_wait(mut self, cycles: u32) -> Core {
        if cycles == 0 {
            return self;
        }
        for class in [Class::Branch, Class::Call] {
            let row = &mut self.rows[class as usize];
            row.taken_cycles = Some(row.taken_cycles.unwrap_or(row.issue_cycles.max(1)) + cycles);
        }
        for class in [Class::Jump, Class::Return] {
            self.rows[class as usize].issue_cycles += cycles;
        }
        for row in &mut self.rows {
            row.jump_cycles = row.jump_cycles.map(|jump_cycle| jump_cycle + cycles);
        }
        self
    }

    /// Cycles from the start of this kind of work to that of an addition that
    /// needs its first result.
    pub fn to_addition(&self, class: Class) -> u32 {
        let work = self.work(class);
        let ready = work.latency(Out::Nth(0)).saturating_add_signed(self.early_cycles(
            Class::Alu,
            Role::Source,
            class,
        ));
        let issue = if work.issue_cycles(1) > 1 { work.issue_cycles(1) } else { 0 };
        ready.max(issue)
    }

    /// Figures of this kind of work that another source gives otherwise.
    pub fn disputed(&self, class: Class) -> impl Iterator<Item = &Dispute> {
        let stands = if class.is_part_of_float() && self.work(class) == self.work(Class::Float) {
            Class::Float
        } else {
            class
        };
        self.disputes
            .iter()
            .filter(move |dispute| dispute.work.iter().any(|name| name == stands.name()))
    }

    /// How many cycles before the usual moment a `reader` needs an operand in this role from a
    /// `writer`; negative if after.
    pub fn early_cycles(&self, reader: Class, role: Role, writer: Class) -> i32 {
        let of = |them: &[(Role, i32)]| {
            them.iter().find(|(it, _)| *it == role).map_or(0, |(_, cycles)| *cycles)
        };
        let work = self.work(reader);
        let forwarded = if self.forwarding.contains(&writer) { of(&work.forwarded) } else { 0 };
        of(&work.early) - forwarded
    }
}

impl Work {
    /// Cycles from the start until an operand that is needed at the usual moment
    /// can be this result.
    pub fn latency(&self, out: Out) -> u32 {
        match out {
            Out::Result | Out::Link => self.latency_cycles,
            Out::High => self.high_cycles.unwrap_or(self.latency_cycles),
            Out::BaseUpdate => self.base_cycles.unwrap_or(self.latency_cycles),
            // Its value comes with what it carries: nothing is added.
            Out::Carried => 0,
            Out::Flag => self.flags_cycles.unwrap_or(self.latency_cycles),
            Out::Nth(nth) => match self.loaded_cycles.get(nth as usize) {
                Some(cycles) => *cycles,
                // A longer list goes on as the written one does: the last step is repeated for each
                // pair.
                None => self.loaded_cycles.last().map_or(self.latency_cycles, |last| {
                    let behind = u32::from(nth) + 1 - self.loaded_cycles.len() as u32;
                    last + behind.div_ceil(self.registers_a_cycle.unwrap_or(1))
                }),
            },
        }
    }

    /// The same for an operand in this role: an updated base may come at another time as the base
    /// of another access, and so may a loaded register as an address, if it was loaded as a whole.
    pub fn latency_as(&self, out: Out, role: Role, is_whole: bool) -> u32 {
        match (out, role) {
            (Out::BaseUpdate, Role::Base) => {
                self.base_reuse_cycles.unwrap_or_else(|| self.latency(out))
            }
            (Out::Result, Role::Base | Role::Index) if is_whole => {
                self.address_cycles.unwrap_or(self.latency_cycles)
            }
            _ => self.latency(out),
        }
    }

    /// A loaded register comes at another time as an address than as another operand.
    pub fn has_address_cycles(&self) -> bool {
        self.address_cycles.is_some()
    }

    /// Cycles that pass before what a taken branch leads to may start, and nothing starts in the
    /// last of them; none if a taken branch is as any other.
    pub fn taken_cycles(&self) -> Option<u32> {
        self.taken_cycles
    }

    /// Cycles that pass until the next instruction may start, if it loads or
    /// stores so many registers.
    pub fn issue_cycles(&self, n_registers: usize) -> u32 {
        self.issue_cycles + self.register_cycles * n_registers as u32
    }

    /// Cycles that pass besides if it loads the program counter; if the file does not say, as many
    /// as a jump takes in all.
    pub fn jump_cycles(&self) -> Option<u32> {
        self.jump_cycles
    }

    /// Places among those that start in one cycle that it takes.
    pub fn slots(&self, updates_base: bool) -> u32 {
        self.slots + if updates_base { self.base_slots } else { 0 }
    }

    /// Cycles that its unit is taken; `n_registers` are loaded or stored, `n_bytes` in all.
    pub fn unit_cycles(&self, n_registers: usize, n_bytes: u32) -> u32 {
        let by_registers =
            self.registers_a_cycle.map_or(0, |each| (n_registers as u32).div_ceil(each));
        self.unit_cycles.max(by_registers).max(self.byte_cycles(n_bytes))
    }

    /// Cycles that so many bytes take; what is loaded comes later by those beyond the first.
    pub fn byte_cycles(&self, n_bytes: u32) -> u32 {
        self.bytes_a_cycle.map_or(0, |each| n_bytes.div_ceil(each))
    }

    /// Cycles from the start until the register that is stored at this position may be written.
    pub fn lock(&self, nth: usize) -> u32 {
        match self.lock_cycles.get(nth) {
            Some(cycles) => *cycles,
            None => self.lock_cycles.last().map_or(0, |last| {
                let behind = (nth + 1 - self.lock_cycles.len()) as u32;
                last + behind.div_ceil(self.registers_a_cycle.unwrap_or(1))
            }),
        }
    }
}
