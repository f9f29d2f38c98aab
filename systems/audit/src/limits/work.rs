//! What each instruction of a path takes of a machine that reorders.
//!
//! ```text
//! add (%rdi), %rax      Zen 4: alu0 to alu3, and ld0 to ld2; from rdi 4 + 1 cycles, from rax 1
//! cmp %rax, %rbx        with the jump behind it one micro-operation
//! xor %eax, %eax        waits for nothing and takes no unit: a register of zeros is a name
//! ```

use machine::{Instructions, Machine, UnitSet};

use crate::decode::Isa;
use crate::decode::code::{Flow, Instruction, Out, Reg};
use crate::limits::form::form;

/// The operands that the results wait for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Waits {
    #[default]
    Everything,
    Flags,
    /// Because the results are known without them, or which is made of which is not.
    Nothing,
}

/// What one instruction takes.
#[derive(Debug, Clone, Default)]
pub(super) struct Work {
    /// Places among those that enter in a cycle.
    pub micro_ops: u32,
    pub uses: Vec<(UnitSet, u32)>,
    /// From its operands to its result; from an address as long as the load takes later.
    pub latency_cycles: u32,
    /// What an operand in memory takes before that.
    pub load_cycles: u32,
    pub accumulate_cycles: Option<u32>,
    /// A sum of products takes the result late, as an addend.
    pub is_addend_early: bool,
    pub waits: Waits,
    /// Of this register bits go into the result as they are, so many cycles later.
    pub kept: Option<(Reg, u32)>,
    /// The machine's file has a row of it.
    pub is_known: bool,
}

/// What the instructions of a path take, in its order.
pub(super) fn works(
    machine: &Machine,
    rows: &Instructions,
    isa: Isa,
    path: &[&Instruction],
) -> Vec<Work> {
    let mut all: Vec<Work> = path.iter().map(|it| work(rows, isa, it)).collect();
    for at in 1..path.len() {
        if isa == Isa::A64 && is_literal(path[at - 1], path[at]) {
            all[at] = Work { is_known: true, ..Work::default() };
        }
        let is_conditional = matches!(path[at].flow, Flow::Branch { is_conditional: true, .. });
        let reads_flags = isa != Isa::A64 || path[at].text.starts_with("b.");
        if rows.fuses && is_conditional && reads_flags && sets_flags(isa, path[at - 1]) {
            // The two are done where the jump is.
            all[at - 1].micro_ops = all[at - 1].micro_ops.saturating_sub(1);
            all[at - 1].uses.retain(|(units, _)| is_memory(machine, *units));
        }
    }
    all
}

fn work(rows: &Instructions, isa: Isa, it: &Instruction) -> Work {
    let form = form(isa, &it.text);
    let has_several = it.writes.iter().filter(|write| write.out == Out::Result).count() > 1;
    let Some(row) = rows.row(&form).filter(|_| !it.is_unknown()) else {
        let waits = if has_several { Waits::Nothing } else { Waits::Everything };
        return Work { micro_ops: 1, waits, ..Work::default() };
    };
    let mut work = Work {
        micro_ops: row.micro_ops,
        uses: row.uses.clone(),
        latency_cycles: row.latency_cycles,
        accumulate_cycles: row.accumulate_cycles,
        is_addend_early: row.accumulate_cycles.is_some() || isa == Isa::A64 && is_product(it),
        is_known: true,
        ..Work::default()
    };
    if it.flow != Flow::Next {
        // Where control goes is predicted: nothing waits for it.
        work.latency_cycles = 0;
    }
    if isa != Isa::X86 {
        return work;
    }
    work.waits = waits(it, has_several);
    work.kept = kept(it);
    if is_idiom(it) {
        let waits = Waits::Nothing;
        return Work { micro_ops: 1, waits, is_known: true, ..Work::default() };
    }
    // On x86-64 any instruction may have an operand in memory.
    for access in &it.accesses {
        let kind = match access.width {
            0..=8 if !it.text.contains("mm") => "r",
            0..=16 => "x",
            17..=32 => "y",
            _ => "z",
        };
        let what = if access.is_store { "store" } else { "load" };
        let Some(row) = rows.row(&format!("{what} {kind}")) else { continue };
        work.uses.extend(&row.uses);
        // What was pushed may be known by its place on the stack.
        let is_popped = mnemonic(it).starts_with("pop") || mnemonic(it) == "leave";
        if !access.is_store && it.flow == Flow::Next && !is_popped {
            work.load_cycles = work.load_cycles.max(row.latency_cycles);
        }
    }
    work
}

/// These units load or store.
fn is_memory(machine: &Machine, units: UnitSet) -> bool {
    let loads = machine.operation(machine::Kind::General, machine::Class::Load).units;
    let stores = machine.operation(machine::Kind::General, machine::Class::Store).units;
    units.meets(loads) || units.meets(stores)
}

/// It may enter as one with a conditional jump behind it, of which the operands decide.
fn sets_flags(isa: Isa, it: &Instruction) -> bool {
    const NAMES: [&str; 9] = ["cmp", "test", "add", "sub", "and", "or", "xor", "inc", "dec"];
    let mnemonic = mnemonic(it);
    if isa == Isa::A64 {
        return ["cmp", "cmn", "tst", "bics"].contains(&mnemonic);
    }
    let plain = mnemonic.strip_suffix(['b', 'w', 'l', 'q']).unwrap_or(mnemonic);
    NAMES.contains(&mnemonic) || NAMES.contains(&plain)
}

fn mnemonic(it: &Instruction) -> &str {
    it.text.split(' ').next().unwrap_or_default()
}

/// A product, of which Arm's guides say that a sum of products takes it late.
fn is_product(it: &Instruction) -> bool {
    let plain = mnemonic(it).trim_start_matches(['f', 'n', 's', 'u']);
    plain.starts_with("mul") || plain.starts_with("mneg")
}

/// Two halves of an address or a constant, which Arm's guides let enter as one.
fn is_literal(first: &Instruction, second: &Instruction) -> bool {
    let target = |half: &Instruction| {
        half.writes.first().map(|write| write.reg).filter(|_| half.writes.len() == 1)
    };
    let is_pair = match mnemonic(second) {
        "add" => mnemonic(first) == "adrp",
        "movk" => ["mov", "movz", "movn", "movk"].contains(&mnemonic(first)),
        _ => false,
    };
    is_pair && target(first).is_some() && target(first) == target(second)
}

/// Of several results only those of products and quotients are all made of all operands; of an
/// exchange each is made of another.
fn waits(it: &Instruction, has_several: bool) -> Waits {
    let mnemonic = mnemonic(it);
    let is_made_of_all = mnemonic.contains("mul") || mnemonic.contains("div");
    match mnemonic {
        "sbb" if is_one_register(it) => Waits::Flags,
        "cmp" if is_one_register(it) => Waits::Nothing,
        _ if has_several && !is_made_of_all => Waits::Nothing,
        _ => Waits::Everything,
    }
}

/// A scalar that is converted, rounded, copied or whose root is taken leaves the bits above it as
/// they stood: on Zen 4 they are there at once. An element that is put in takes a cycle.
fn kept(it: &Instruction) -> Option<(Reg, u32)> {
    let (mnemonic, operands) = it.text.split_once(' ')?;
    let (is_vex, name) = match mnemonic.strip_prefix('v') {
        Some(name) => (true, name),
        None => (false, mnemonic),
    };
    const AT_ONCE: [&str; 6] = ["cvt", "sqrts", "rounds", "rcps", "rsqrts", "movs"];
    let cycles = match name {
        _ if AT_ONCE.iter().any(|one| name.starts_with(one)) => 0,
        _ if name.starts_with("pins") => 1,
        _ => return None,
    };
    let mut operands = operands.rsplit(", ");
    let stood = if is_vex { operands.nth(1)? } else { operands.next()? };
    let name = format!("v{}", stood.strip_prefix("%xmm")?);
    let place = Isa::X86.conventions().names.iter().position(|known| *known == name)?;
    let reg = Reg(place as u8);
    let mut sources = operands.peekable();
    let has_source = sources.peek().is_some() && !sources.any(|source| source == stood);
    let is_read = it.reads.iter().any(|read| read.reg == reg);
    (is_read && has_source).then_some((reg, cycles))
}

/// The operands that decide are one register.
fn is_one_register(it: &Instruction) -> bool {
    let mut registers = it.text.split_once(' ').map_or("", |pair| pair.1).split(", ");
    let (first, second) = (registers.next(), registers.next());
    first.is_some_and(|first| first.starts_with('%')) && first == second
}

/// The operands that decide are one register, and the result is known without it: the zero and ones
/// idioms of Intel's optimization manual and AMD's guides.
fn is_idiom(it: &Instruction) -> bool {
    const NAMES: [&str; 7] = ["xor", "pxor", "psub", "pcmpeq", "pcmpgt", "pandn", "andnp"];
    let name = mnemonic(it).strip_prefix('v').unwrap_or(mnemonic(it));
    is_one_register(it) && (name == "sub" || NAMES.iter().any(|idiom| name.starts_with(idiom)))
}
