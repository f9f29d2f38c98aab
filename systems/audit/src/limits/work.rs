//! What each instruction of a path takes of a machine that reorders.
//!
//! ```text
//! add (%rdi), %rax      Zen 4: alu0 to alu3, and ld0 to ld2; from rdi 4 + 1 cycles, from rax 1
//! cmp %rax, %rbx        with the jump behind it one micro-operation
//! xor %eax, %eax        waits for nothing and takes no unit: a register of zeros is a name
//! ```

use machine::{Instructions, Machine, UnitSet};

use crate::decode::Isa;
use crate::decode::code::{Flow, Instruction};
use crate::limits::form::form;

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
    /// The result is known without the operands.
    pub is_idiom: bool,
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
        let is_conditional = matches!(path[at].flow, Flow::Branch { is_conditional: true, .. });
        if rows.fuses && is_conditional && sets_flags(path[at - 1]) {
            // The two are done where the jump is.
            all[at - 1].micro_ops = all[at - 1].micro_ops.saturating_sub(1);
            all[at - 1].uses.retain(|(units, _)| is_memory(machine, *units));
        }
    }
    all
}

fn work(rows: &Instructions, isa: Isa, it: &Instruction) -> Work {
    let form = form(isa, &it.text);
    let Some(row) = rows.row(&form).filter(|_| !it.is_unknown()) else {
        return Work { micro_ops: 1, ..Work::default() };
    };
    let mut work = Work {
        micro_ops: row.micro_ops,
        uses: row.uses.clone(),
        latency_cycles: row.latency_cycles,
        accumulate_cycles: row.accumulate_cycles,
        is_known: true,
        ..Work::default()
    };
    if it.flow != Flow::Next {
        // Where control goes is foretold: nothing waits for it.
        work.latency_cycles = 0;
    }
    if isa != Isa::X86 {
        return work;
    }
    if is_idiom(it) {
        return Work { micro_ops: 1, is_idiom: true, is_known: true, ..Work::default() };
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
        if !access.is_store && it.flow == Flow::Next {
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
fn sets_flags(it: &Instruction) -> bool {
    const NAMES: [&str; 9] = ["cmp", "test", "add", "sub", "and", "or", "xor", "inc", "dec"];
    let mnemonic = it.text.split(' ').next().unwrap_or_default();
    let plain = mnemonic.strip_suffix(['b', 'w', 'l', 'q']).unwrap_or(mnemonic);
    NAMES.contains(&mnemonic) || NAMES.contains(&plain)
}

/// The operands that decide are one register, and the result is known without it: the zero and ones
/// idioms of Intel's optimization manual and AMD's guides.
fn is_idiom(it: &Instruction) -> bool {
    const NAMES: [&str; 6] = ["xor", "pxor", "psub", "pcmpeq", "pcmpgt", "pandn"];
    let Some((mnemonic, operands)) = it.text.split_once(' ') else { return false };
    let name = mnemonic.strip_prefix('v').unwrap_or(mnemonic);
    let mut registers = operands.split(", ");
    let (first, second) = (registers.next(), registers.next());
    first.is_some_and(|first| first.starts_with('%'))
        && first == second
        && (name == "sub" || NAMES.iter().any(|idiom| name.starts_with(idiom)))
}
