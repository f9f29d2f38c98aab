//! How many cycles the executed instructions take at least, as the machine file counts units:
//! nothing waits for an operand.
//!
//! ```text
//! 6 vpaddd, 4 vpslld      add: fp0 fp1 fp2 fp3      fp1 fp2 alone:   4 / 2 = 2 cycles
//! on Zen 4                shift: fp1 fp2            all four:       10 / 4 = 2.5 cycles    <- the bound
//!                         6 enter in a cycle        entering:       10 / 6 = 1.7 cycles
//! ```
//!
//! Work that only units of a set can do takes at least its sum by their number, for every set; the
//! largest of these, and of what can enter in a cycle, is the bound. That is exactly what a perfect
//! distribution reaches. Where a unit is not known, or an instruction may run with another one as
//! one, it counts for nothing, so the number stays a lower bound. Where instructions of one class
//! have different units, each counts for all that one of them may take.

use iced_x86::{FlowControl, Instruction, InstructionInfoFactory, MemorySize, OpAccess, OpKind};
use machine::{Class, Kind, Machine, UnitSet, port_bound};
use serde::Serialize;

/// The least time of a call.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Bound {
    /// Cycles of the core.
    pub cycles: f64,
    /// What there is too little of: units, or `issue` where it is what can enter in a cycle.
    pub by: String,
}

/// What one instruction takes.
#[derive(Debug, Default)]
struct Work {
    /// Places among those that enter in a cycle.
    slots: u64,
    /// Cycles of any one of these units.
    units: Vec<(UnitSet, u64)>,
}

/// The bound of instructions that are executed so many times each.
///
/// Errors: an instruction that this does not know, in words.
pub fn bound(machine: &Machine, executed: &[(Instruction, u64)]) -> Result<Bound, String> {
    let mut factory = InstructionInfoFactory::new();
    let mut slots = 0;
    let mut works: Vec<(UnitSet, u64)> = Vec::new();
    for (instruction, times) in executed {
        let work = work(machine, instruction, &mut factory)?;
        slots += work.slots * times;
        for (units, cycles) in work.units {
            match works.iter_mut().find(|work| work.0 == units) {
                Some(it) => it.1 += cycles * times,
                None => works.push((units, cycles * times)),
            }
        }
    }
    let mut least =
        Bound { cycles: slots as f64 / f64::from(machine.issue_width), by: "issue".to_owned() };
    if let Some((cycles, units)) = port_bound(&works).filter(|found| found.0 > least.cycles) {
        let names: Vec<&str> = units.iter().map(|idx| machine.units[idx].as_str()).collect();
        least = Bound { cycles, by: names.join(" ") };
    }
    Ok(least)
}

fn work(
    machine: &Machine,
    it: &Instruction,
    factory: &mut InstructionInfoFactory,
) -> Result<Work, String> {
    let name = format!("{:?}", it.mnemonic()).to_lowercase();
    // A conditional jump may enter as one with the comparison before it (Intel 64 Optimization
    // Reference Manual, macro-fusion; AMD's guide for Zen 4, branch fusion).
    let is_free =
        name == "nop" || name == "endbr64" || it.flow_control() == FlowControl::ConditionalBranch;
    let mut work = Work { slots: u64::from(!is_free), units: Vec::new() };
    let is_vector = it
        .op_kinds()
        .enumerate()
        .any(|(k, kind)| kind == OpKind::Register && it.op_register(k as u32).is_vector_register());
    let rows = if is_vector {
        let kind = if it.op0_kind() == OpKind::Register && it.op0_register().is_zmm() {
            Kind::Vector512
        } else {
            Kind::Vector
        };
        of_vectors(it, name.strip_prefix('v').unwrap_or(&name), kind)?
    } else {
        of_general(it, &name)?.into_iter().map(|class| (Kind::General, class)).collect()
    };
    if let Some((kind, class)) = rows.first() {
        let units = rows
            .iter()
            .fold(0, |all, (kind, class)| all | machine.operation(*kind, *class).units.0);
        // The row counts what the multiplication of 32 bits takes: two micro-operations on Skylake,
        // one for 16 bits, three for 64 (llvm-mca 19). The least of them is one.
        let is_other_product = *class == Class::Mul && is_vector && !name.ends_with("mulld");
        let cycles =
            if is_other_product { 1 } else { machine.operation(*kind, *class).micro_ops.into() };
        work.units.push((UnitSet(units), cycles));
    }
    // Repeated string instructions move as much at a time as the processor likes.
    if it.has_rep_prefix() || it.has_repne_prefix() {
        return Ok(work);
    }
    for memory in factory.info(it).used_memory() {
        let kind = match memory.memory_size() {
            MemorySize::Unknown => continue,
            size if size.size() >= 64 => Kind::Vector512,
            _ if is_vector => Kind::Vector,
            _ => Kind::General,
        };
        let mut add = |class: Class| {
            let row = machine.operation(kind, class);
            work.units.push((row.units, row.micro_ops.into()));
        };
        if matches!(memory.access(), OpAccess::Read | OpAccess::ReadWrite | OpAccess::CondRead) {
            add(Class::Load);
        }
        if matches!(memory.access(), OpAccess::Write | OpAccess::ReadWrite | OpAccess::CondWrite) {
            add(Class::Store);
        }
    }
    Ok(work)
}

/// Whether both operands are one register and the result is known without them.
fn is_idiom(it: &Instruction) -> bool {
    let last = it.op_count().saturating_sub(1);
    let registers = (it.op_kind(last.saturating_sub(1)), it.op_kind(last));
    last > 0
        && registers == (OpKind::Register, OpKind::Register)
        && it.op_register(last - 1) == it.op_register(last)
}

/// Whether all lanes are shifted by one number in a register or in memory, as `psllvd`, with a
/// number for each, does not.
fn is_shift_by_register(it: &Instruction, name: &str) -> bool {
    let is_of_each = ["psllv", "psrlv", "psrav"].iter().any(|with| name.starts_with(with));
    !is_of_each && it.op_kind(it.op_count().saturating_sub(1)) != OpKind::Immediate8
}

fn unknown(name: &str) -> String {
    format!("nothing is known of the instruction `{name}`")
}

/// The row of the machine file whose units an instruction on general registers takes; `None` if it
/// only moves, jumps, or no row has its units.
///
/// **Source** llvm-mca 19 for Zen 4 and Skylake, uops.info, and for Zen 4 what was measured here;
/// `mca.rs` compares all. A row may have more units than an instruction takes, which makes the
/// bound lower, and never fewer.
fn of_general(it: &Instruction, name: &str) -> Result<Option<Class>, String> {
    let from_memory = it.op_kinds().any(|kind| kind == OpKind::Memory);
    Ok(match name {
        // Zeros are known when they are named (Intel's manual, zero idioms; measured on Zen 4: as
        // many as enter).
        "xor" | "sub" if is_idiom(it) => None,
        // The load extends the sign.
        "movsx" | "movsxd" if from_memory => None,
        // Any arithmetic unit. Fewer take `andn` and `bswap` (p1 p5 on Skylake) and `bt` (p0 p6;
        // alu1 alu2 on Zen 4).
        "and" | "or" | "xor" | "not" | "test" | "andn" | "bswap" | "bt" | "movsx" | "movsxd" => {
            Some(Class::Logic)
        }
        // p0 p6 of Skylake for the first two.
        "cdq" | "cqo" | "cdqe" | "cwde" => Some(Class::Logic),
        // Any arithmetic unit; `adc`, `sbb` p0 p6 and `lea` p1 p5 of Skylake.
        "add" | "sub" | "cmp" | "inc" | "dec" | "neg" | "adc" | "sbb" | "lea" => Some(Class::Add),
        // p1 and alu1; the higher half comes from a second micro-operation on Skylake, which is
        // left out.
        "imul" | "mul" | "mulx" => Some(Class::Mul),
        // p0 p6 and alu1 alu2, also by a register; Skylake has two micro-operations more for `cl`,
        // which are left out.
        "shl" | "sal" | "shr" | "sar" | "shlx" | "shrx" | "sarx" => Some(Class::Shift),
        "rol" | "ror" | "rorx" => Some(Class::Rotate),
        // p1 of Skylake, several micro-operations of Zen 4 (1.5 cycles, measured): no row has both.
        "shld" | "shrd" => None,
        // Moves end where registers are named, more often than not; extensions with zeros on
        // Skylake.
        "mov" | "movzx" | "movbe" | "movnti" | "xchg" | "push" | "pop" | "leave" | "nop"
        | "endbr64" | "cld" | "prefetcht0" | "vzeroupper" => None,
        // p0 p6 of Skylake, two units of Zen 4 (measured).
        _ if name.starts_with("set") || name.starts_with("cmov") => Some(Class::Logic),
        // String instructions, and masks, of which no row is.
        _ if name.starts_with("stos") || name.starts_with("movs") || name.starts_with('k') => None,
        _ if it.flow_control() != FlowControl::Next => None,
        _ => return Err(unknown(name)),
    })
}

/// The same of vector registers, the name without the `v` that most begin with: the rows any of
/// whose units it may take.
///
/// On Zen 4 was measured which pipes two instructions share, by pairs of independent ones that run
/// in turn: shifts by a number and `pmulld` share none, so they have two pipes each, fp1 fp2 and
/// fp0 fp3 as LLVM and GCC say. `prold` shares both with `pmulld`; `pshufb`, `permq`, `palignr`,
/// `packuswb`, `extracti128` and their like share one with either, and both with each other;
/// `pshufd`, `punpck` and `shufps` run three in a cycle, and share all pipes of shifts and of
/// `pshufb`.
fn of_vectors(it: &Instruction, name: &str, kind: Kind) -> Result<Vec<(Kind, Class)>, String> {
    let begins = |with: &[&str]| with.iter().any(|word| name.starts_with(word));
    let from_memory = it.op_kinds().any(|kind| kind == OpKind::Memory);
    let row = |class: Class| vec![(kind, class)];
    // Masks are compared into, and numbers come and go, by units that no row names.
    if it.op_kind(0) == OpKind::Register && !it.op0_register().is_vector_register() {
        return Ok(Vec::new());
    }
    // Zeros and ones are known when they are named, or take a unit that is left out (Intel's
    // manual, zero and ones idioms).
    if begins(&["pxor", "psub", "xorp", "pandn", "pcmp"]) && is_idiom(it) {
        return Ok(Vec::new());
    }
    Ok(match name {
        // All units of vectors; `pblendw` p5 of Skylake, `pblendvb` two pipes of Zen 4 (measured).
        _ if begins(&[
            "pand", "por", "pxor", "andp", "andnp", "orp", "xorp", "pblend", "blend",
        ]) =>
        {
            row(Class::Logic)
        }
        // The row of narrow vectors is of processors without it, all of whose units do logic
        // (measured on Zen 4: 4 a cycle).
        _ if begins(&["pternlog"]) => {
            row(if kind == Kind::Vector512 { Class::Ternary } else { Class::Logic })
        }
        // All units; comparisons and extremes p0 p1 of Skylake.
        _ if begins(&["padd", "psub", "pcmp", "pmin", "pmax"]) => row(Class::Add),
        // p0 p1 of Skylake, fp0 fp3 of Zen 4.
        _ if begins(&["pmul", "pmadd"]) => row(Class::Mul),
        // p5 of Skylake, the pipes of `pshufb` on Zen 4 (measured).
        "psrldq" | "pslldq" => row(Class::Shuffle),
        // By a register of which all lanes take the count: p5 beside p0 p1 on Skylake, the pipes of
        // products on Zen 4 (measured).
        _ if begins(&["psll", "psrl", "psra"]) && is_shift_by_register(it, name) => Vec::new(),
        // By a number, and each lane by its own: p0 p1 and fp1 fp2.
        _ if begins(&["psll", "psrl", "psra"]) => row(Class::Shift),
        // Of 512 bits p0 and fp0 fp3 (measured). The row of narrow vectors counts the shifts of a
        // processor without rotations: one of the two has p0 p1, and fp0 fp3 is in the other.
        _ if begins(&["prol", "pror"]) && kind == Kind::Vector512 => row(Class::Rotate),
        _ if begins(&["prol", "pror"]) => {
            vec![(kind, Class::Shift), (Kind::Vector512, Class::Rotate)]
        }
        // From memory the load does it, or any unit.
        _ if begins(&["insert"]) && from_memory => row(Class::Logic),
        _ if begins(&["pbroadcast", "broadcast", "movddup", "movshdup", "movsldup"])
            && from_memory =>
        {
            Vec::new()
        }
        // Between general registers and vectors, by units that no row names.
        _ if begins(&["pinsr", "pextr", "movmsk", "pmovm2"]) => Vec::new(),
        // p5 of Skylake; on Zen 4 also the pipe of shifts that `pshufb` has not (measured).
        _ if begins(&[
            "pshufd", "pshufhw", "pshuflw", "shufp", "punpck", "unpck", "permil", "movddup",
            "movshdup", "movsldup",
        ]) =>
        {
            vec![(kind, Class::Shuffle), (kind, Class::Shift)]
        }
        // p5 of Skylake, the pipes of `pshufb` on Zen 4 (measured).
        _ if begins(&["pshuf", "shuf", "pack", "palignr", "perm", "insert", "extract", "pmov"]) => {
            row(Class::Shuffle)
        }
        _ if begins(&["pbroadcast", "broadcast", "align"]) => row(Class::Shuffle),
        _ if begins(&["mov", "lddqu"]) => Vec::new(),
        _ => return Err(unknown(name)),
    })
}

#[cfg(test)]
mod mca;

#[cfg(test)]
mod tests {
    use iced_x86::{Decoder, DecoderOptions};

    use super::*;

    /// Instructions from their bytes, each executed so many times.
    fn bound_of(machine: &str, code: &[(&[u8], u64)]) -> Result<Bound, String> {
        let executed: Vec<(Instruction, u64)> = code
            .iter()
            .map(|pair| (Decoder::with_ip(64, pair.0, 0, DecoderOptions::NONE).decode(), pair.1))
            .collect();
        bound(&Machine::bundled(machine).expect("it is bundled"), &executed)
    }

    const VPADDD: &[u8] = &[0xc5, 0xf5, 0xfe, 0xc2]; // vpaddd ymm0, ymm1, ymm2
    const VPSLLD: &[u8] = &[0xc5, 0xfd, 0x72, 0xf1, 0x03]; // vpslld ymm0, ymm1, 3
    const VPXOR_FROM: &[u8] = &[0xc5, 0xf5, 0xef, 0x07]; // vpxor ymm0, ymm1, [rdi]
    const VMOVDQA_TO: &[u8] = &[0xc5, 0xfd, 0x7f, 0x07]; // vmovdqa [rdi], ymm0
    const VMOVDQA: &[u8] = &[0xc5, 0xfd, 0x6f, 0xc1]; // vmovdqa ymm0, ymm1
    const VPXOR_ZERO: &[u8] = &[0xc5, 0xf5, 0xef, 0xc1]; // vpxor ymm0, ymm1, ymm1
    const ADD: &[u8] = &[0x48, 0x01, 0xd8]; // add rax, rbx
    const SHL: &[u8] = &[0x48, 0xc1, 0xe0, 0x03]; // shl rax, 3
    const JNE: &[u8] = &[0x75, 0xfe];
    const RET: &[u8] = &[0xc3];
    const CPUID: &[u8] = &[0x0f, 0xa2];

    #[test]
    fn by_hand() {
        let check = |machine: &str, code: &[(&[u8], u64)], cycles: f64, by: &str| {
            let found = bound_of(machine, code).expect("all of it is known");
            assert!(
                (found.cycles - cycles).abs() < 1e-9 && found.by == by,
                "{machine}: {found:?}, by hand {cycles} {by}"
            );
        };
        // The example above: ten on four units; with more shifts those on two units decide.
        check("zen4", &[(VPADDD, 6), (VPSLLD, 4)], 2.5, "fp0 fp1 fp2 fp3");
        check("zen4", &[(VPADDD, 6), (VPSLLD, 8)], 4.0, "fp1 fp2");
        // p0 p1 p5 for sums, p0 p1 for shifts.
        check("skylake", &[(VPADDD, 6), (VPSLLD, 4)], 10.0 / 3.0, "p0 p1 p5");
        // One store of 256 bits a cycle on both, whatever else there is.
        check("zen4", &[(VPXOR_FROM, 4), (VMOVDQA_TO, 5)], 5.0, "st0");
        check("skylake", &[(VPXOR_FROM, 4), (VMOVDQA_TO, 5)], 5.0, "p4");
        // Moves between registers and zeros take no unit, but enter.
        check("zen4", &[(VMOVDQA, 30), (VPXOR_ZERO, 6)], 6.0, "issue");
        check("skylake", &[(VMOVDQA, 30), (VPXOR_ZERO, 6)], 9.0, "issue");
        // A jump may be one with what it compares.
        check("zen4", &[(ADD, 12), (SHL, 8), (JNE, 100)], 5.0, "alu0 alu1 alu2 alu3");
        // Two of three that load, for vectors.
        check("zen4", &[(VPXOR_FROM, 8)], 4.0, "ld0 ld1");
    }

    #[test]
    fn more_instructions_take_no_less() {
        let all = [VPADDD, VPSLLD, VPXOR_FROM, VMOVDQA_TO, VMOVDQA, VPXOR_ZERO, ADD, SHL, JNE, RET];
        for machine in ["zen4", "zen5", "skylake", "x86-64-generic"] {
            let mut random = fastrand::Rng::with_seed(7);
            let mut times = vec![1; all.len()];
            let mut before = 0.0;
            for step in 0..200 {
                let code: Vec<(&[u8], u64)> =
                    all.iter().copied().zip(times.iter().copied()).collect();
                let now = bound_of(machine, &code).expect("all of it is known").cycles;
                assert!(
                    now > 0.0 && now >= before,
                    "{machine}, step {step} of seed 7: {now} after {before}"
                );
                before = now;
                times[random.usize(..all.len())] += random.u64(..5);
            }
        }
    }

    #[test]
    fn what_is_not_known_is_refused_by_name() {
        assert_eq!(
            bound_of("zen4", &[(ADD, 1), (CPUID, 1)]),
            Err("nothing is known of the instruction `cpuid`".to_owned())
        );
        // vaesenc ymm0, ymm1, ymm2
        let aes: &[u8] = &[0xc4, 0xe2, 0x75, 0xdc, 0xc2];
        assert_eq!(
            bound_of("skylake", &[(aes, 3)]),
            Err("nothing is known of the instruction `aesenc`".to_owned())
        );
    }
}
