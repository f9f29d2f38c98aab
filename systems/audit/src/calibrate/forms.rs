//! The instructions of which chains are made, by instruction set.
//!
//! `{d}` is the number of the register that gets the result, `{x}` of the one that waits for it, `{v}`
//! a register whose value goes through unchanged, and `{p}` one that leads to the word which is that
//! value: an address that may be followed, or zero. All other operands are zeros, ones and addresses
//! that every chain finds in the same registers.

use crate::decode::Isa;

/// Copies of a step in a round.
pub const COPIES: usize = 12;

/// What the result of a form may be taken for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gives {
    Nothing,
    /// Zero alone: an index, a factor, what is stored.
    Zero,
    /// That or an address.
    Address,
    /// Flags alone, no register.
    Flags,
}

/// One kind of instruction.
#[derive(Debug, Clone, Copy)]
pub struct ChainForm {
    pub name: &'static str,
    pub text: &'static str,
    pub gives: Gives,
    /// What of the preprocessor has to hold for the assembler to know it; empty if nothing.
    pub guard: &'static str,
}

/// An instruction that waits for a result.
#[derive(Debug, Clone, Copy)]
pub struct Consumer {
    pub name: &'static str,
    pub text: &'static str,
    /// What it can read.
    pub wants: Gives,
    pub guard: &'static str,
    /// It is put behind every producer; others behind a few.
    pub is_central: bool,
}

/// All that is particular to an instruction set.
#[derive(Debug)]
pub struct ChainSet {
    /// The macro of compilers for this set.
    pub guard: &'static str,
    /// Lines before the chain; `%1` is the memory.
    pub before: &'static str,
    /// Counts a round, `%0`, and goes back to `1:`.
    pub again: &'static str,
    pub clobbers: &'static [&'static str],
    /// `{v}` and `{p}` of an address, and of zero.
    pub address: (&'static str, &'static str),
    pub zero: (&'static str, &'static str),
    /// Each alone, beside each of `beside`, and as producers.
    pub forms: &'static [ChainForm],
    /// Other results of some of them, in the register `{d}`: for what waits alone.
    pub others: &'static [ChainForm],
    pub readers: &'static [Consumer],
    /// Chains that are no product of those: a name, what stands before the loop, a step, and how
    /// often it stands in a round.
    pub singles: &'static [(&'static str, &'static str, &'static str, usize)],
    /// With these every form is paired.
    pub beside: &'static [&'static str],
    /// Behind these every reader stands.
    pub central: &'static [&'static str],
    /// Instructions that may start in a cycle as its first alone; their names begin as the name here.
    pub firsts: &'static [ChainForm],
    /// Reads the counter into `%0`.
    pub counter: &'static str,
}

/// The chains' instructions of a set; none if there are none yet.
pub fn set(isa: Isa) -> Option<&'static ChainSet> {
    match isa {
        Isa::A64 => Some(&A64),
        Isa::T32 => Some(&T32),
        Isa::A32 => Some(&A32),
        Isa::Riscv64 => Some(&RISCV64),
        Isa::Riscv32 | Isa::Sparc | Isa::X86 => None,
    }
}

use Gives::{Address, Flags, Nothing, Zero};

const fn form(name: &'static str, text: &'static str, gives: Gives) -> ChainForm {
    ChainForm { name, text, gives, guard: "" }
}

const fn guarded(
    name: &'static str,
    text: &'static str,
    gives: Gives,
    guard: &'static str,
) -> ChainForm {
    ChainForm { name, text, gives, guard }
}

const fn reader(
    name: &'static str,
    text: &'static str,
    wants: Gives,
    is_central: bool,
) -> Consumer {
    Consumer { name, text, wants, guard: "", is_central }
}

const A64: ChainSet = ChainSet {
    guard: "defined(__aarch64__)",
    before: "mov x11, %1; mov x12, #0; mov x9, #1; mov x10, #1; add x13, x11, #64; add x14, x11, #32; mov x2, x11; mov x3, x11; mov x4, x11; mov x5, x11",
    again: "subs %0, %0, #1; b.ne 1b",
    clobbers: &[
        "x2", "x3", "x4", "x5", "x6", "x7", "x9", "x10", "x11", "x12", "x13", "x14", "x30", "cc",
        "memory",
    ],
    address: ("x11", "x11"),
    zero: ("x12", "x14"),
    forms: &[
        form("nop", "nop", Nothing),
        form("alu", "add x{d}, {v}, x12", Address),
        form("flags", "adds x{d}, {v}, x12", Flags),
        form("shifted", "add x{d}, {v}, x12, lsl #2", Address),
        form("shift", "lsl x{d}, {v}, x12", Address),
        form("extend", "ubfx x{d}, {v}, #0, #63", Address),
        form("constant", "movz x{d}, #0", Zero),
        form("mul-32", "mul w{d}, w9, w12", Zero),
        form("mul-long", "smaddl x{d}, w9, w12, {v}", Address),
        form("mul", "mul x{d}, {v}, x9", Address),
        form("mul-add", "madd x{d}, x9, x12, {v}", Address),
        form("mul-high", "umulh x{d}, x9, x12", Zero),
        form("div", "udiv x{d}, x12, x9", Zero),
        form("load", "ldr x{d}, [{p}]", Address),
        form("load-32", "ldr w{d}, [x14]", Zero),
        form("load-slow", "ldr x{d}, [{p}, x12]", Address),
        form("load-double", "ldp x{d}, x7, [{p}]", Address),
        form("store", "str x11, [x13]", Nothing),
        form("store-slow", "str x11, [x13, x12]", Nothing),
        form("store-double", "stp x11, x11, [x13]", Nothing),
        form("atomic", "ldxr x{d}, [{p}]", Address),
        form("system", "mrs x{d}, fpsr", Zero),
        form("untaken", "cbnz x12, 9f", Nothing),
        form("branch", "b 5f; 5:", Nothing),
        form("call", "bl 5f; 5:", Nothing),
        form("return", "bl 5f; b 6f; 5: ret; 6:", Nothing),
        form(
            "return-behind",
            "bl 5f; add x{d}, x9, x9; add x6, x9, x9; add x7, x9, x9; b 6f; 5: add x6, x9, x9; ret; 6:",
            Nothing,
        ),
    ],
    others: &[
        form("load-double.2", "ldp x7, x{d}, [{p}]", Address),
        form("load.base", "ldr x7, [x{d}], #0", Address),
        form("load-double.base", "ldp x6, x7, [x{d}], #0", Address),
        form("store.base", "str x11, [x{d}], #0", Address),
        form("store-double.base", "stp x11, x11, [x{d}], #0", Address),
    ],
    readers: &[
        reader("alu.source", "add x3, x{x}, x9", Zero, true),
        reader("shifted.source", "add x3, x{x}, x9, lsl #2", Zero, false),
        reader("shifted.shifted", "add x3, x9, x{x}, lsl #2", Zero, true),
        reader("shift.source", "lsl x3, x{x}, x12", Zero, false),
        reader("shift.amount", "lsl x3, x9, x{x}", Zero, false),
        reader("extend.source", "ubfx x3, x{x}, #0, #63", Zero, false),
        reader("select.condition", "csel x3, x9, x10, eq", Flags, true),
        reader("carry.condition", "adc x3, x9, x10", Flags, false),
        reader("mul-32.factor", "mul w3, w{x}, w9", Zero, false),
        reader("mul-long.factor", "smaddl x3, w{x}, w9, x10", Zero, false),
        reader("mul-long.addend", "smaddl x3, w9, w10, x{x}", Zero, true),
        reader("mul.factor", "mul x3, x{x}, x9", Zero, true),
        reader("mul-add.factor", "madd x3, x{x}, x9, x10", Zero, false),
        reader("mul-add.addend", "madd x3, x9, x10, x{x}", Zero, true),
        reader("mul-high.factor", "umulh x3, x{x}, x9", Zero, false),
        reader("div.factor", "udiv x3, x{x}, x9", Zero, true),
        reader("load.base", "ldr x3, [x{x}]", Address, true),
        reader("load-slow.base", "ldr x3, [x{x}, x12]", Address, false),
        reader("load-slow.index", "ldr x3, [x11, x{x}]", Zero, true),
        reader("load-double.base", "ldp x3, x6, [x{x}]", Address, false),
        reader("atomic.base", "ldxr x3, [x{x}]", Address, false),
        reader("store.data", "str x{x}, [x13]", Zero, true),
        reader("store.base", "str x11, [x{x}]", Address, false),
        reader("store-slow.data", "str x{x}, [x13, x12]", Zero, false),
        reader("store-slow.base", "str x11, [x{x}, x12]", Address, false),
        reader("store-slow.index", "str x11, [x13, x{x}]", Zero, false),
        reader("store-double.data", "stp x{x}, x{x}, [x13]", Zero, false),
        reader("store-double.base", "stp x11, x11, [x{x}]", Address, false),
        reader("untaken.condition", "cbnz x{x}, 9f", Zero, true),
        reader("untaken.flags", "b.vs 9f", Flags, true),
    ],
    singles: &[
        ("jump", "adr x6, 5f", "br x6; 5:", 1),
        ("address>jump.target", "nop", "adr x5, 5f; br x5; 5:", COPIES),
        ("load>jump.target", "adr x6, 5f; str x6, [x13]", "ldr x5, [x13]; br x5; 5:", 1),
    ],
    beside: &["nop", "alu", "shift", "mul", "load", "store", "untaken"],
    central: &["alu", "load", "mul", "flags", "constant"],
    firsts: &[],
    counter: "mrs %0, cntvct_el0",
};

const DSP: &str = "defined(__ARM_FEATURE_DSP)";
const DIVIDES: &str =
    "defined(__ARM_FEATURE_IDIV) || defined(__ARM_ARCH_7M__) || defined(__ARM_ARCH_7EM__)";

const T32: ChainSet = ChainSet {
    guard: "defined(__thumb__) && __ARM_ARCH_ISA_THUMB >= 2",
    before: "mov r8, %1; mov r9, #0; mov r10, #1; add r12, r8, #64; add r6, r8, #32; mov r2, r8; mov r3, r8; mov r4, r8; mov r5, r8",
    again: "subs %0, %0, #1; bne 1b",
    clobbers: &["r2", "r3", "r4", "r5", "r6", "r8", "r9", "r10", "r12", "lr", "cc", "memory"],
    address: ("r8", "r8"),
    zero: ("r9", "r6"),
    forms: &[
        form("nop", "nop", Nothing),
        form("alu", "add r{d}, {v}, r9", Address),
        form("flags", "adds r{d}, {v}, r9", Flags),
        form("shifted", "add r{d}, {v}, r9, lsl #2", Address),
        form("shift", "lsl r{d}, {v}, r9", Address),
        form("shift-by-constant", "lsl r{d}, r9, #1", Zero),
        form("extend", "uxtb r{d}, r9", Zero),
        form("field", "ubfx r{d}, r9, #0, #8", Zero),
        form("constant", "movw r{d}, #0", Zero),
        form("wide-immediate", "orr r{d}, r9, #0x3fc0", Nothing),
        form("mul", "mul r{d}, {v}, r10", Address),
        form("mul-add", "mla r{d}, r10, r9, {v}", Address),
        form("mul-long", "umull r{d}, lr, {v}, r10", Address),
        guarded("mul-half", "smulbb r{d}, r9, r10", Zero, DSP),
        guarded("div", "udiv r{d}, r9, r10", Zero, DIVIDES),
        form("load", "ldr r{d}, [{p}]", Address),
        form("load-slow", "ldr r{d}, [{p}, r9]", Address),
        form("load-double", "ldrd r{d}, lr, [{p}]", Address),
        form("load-list-2", "ldm {p}, {r5, lr}", Address),
        form("load-list-3", "ldm r8, {r2, r3, r4}", Nothing),
        form("load-list-4", "ldm r8, {r2, r3, r4, r5}", Nothing),
        form("store", "str r8, [r12]", Nothing),
        form("store-slow", "str r8, [r12, r9]", Nothing),
        form("store-double", "strd r8, r9, [r12]", Nothing),
        form("store-list-2", "stm r12, {r8, r9}", Nothing),
        form("store-list-3", "stm r12, {r8, r9, r10}", Nothing),
        form("store-list-4", "stm r12, {r6, r8, r9, r10}", Nothing),
        form("atomic", "ldrex r{d}, [{p}]", Address),
        form("system", "mrs r{d}, apsr", Nothing),
        form("untaken", "bvs 9f", Nothing),
        form("branch", "b 5f; 5:", Nothing),
        form("call", "bl 5f; 5:", Nothing),
        form("return", "bl 5f; b 6f; 5: bx lr; 6:", Nothing),
        form("return-list", "bl 5f; b 6f; 5: push {r3, lr}; pop {r3, pc}; 6:", Nothing),
        form(
            "return-behind",
            "bl 5f; add r{d}, r9, r9; eor r6, r9, r9; eor r6, r9, r9; b 6f; 5: eor r6, r9, r9; bx lr; 6:",
            Nothing,
        ),
    ],
    others: &[
        form("mul-long.high", "umull lr, r{d}, r10, r9", Zero),
        form("load-double.2", "ldrd lr, r{d}, [{p}]", Address),
        form("load-list.2", "ldm {p}, {r4, r5}", Address),
        form("load-list.3", "ldm {p}, {r3, r4, r5}", Zero),
        form("load-list.4", "ldm {p}, {r2, r3, r4, r5}", Zero),
        form("load.base", "ldr lr, [r{d}], #0", Address),
        form("store.base", "str r8, [r{d}], #0", Address),
    ],
    readers: &[
        reader("alu.source", "add r3, r{x}, r9", Zero, true),
        reader("shifted.source", "add r3, r{x}, r9, lsl #2", Zero, false),
        reader("shifted.shifted", "add r3, r9, r{x}, lsl #2", Zero, true),
        reader("shift.source", "lsl r3, r{x}, r9", Zero, false),
        reader("shift.amount", "lsl r3, r10, r{x}", Zero, false),
        reader("extend.source", "uxtb r3, r{x}", Zero, false),
        reader("carry.condition", "adc r3, r9, r10", Flags, true),
        reader("mul.factor", "mul r3, r{x}, r10", Zero, true),
        reader("mul-add.factor", "mla r3, r{x}, r10, r9", Zero, false),
        reader("mul-add.addend", "mla r3, r10, r9, r{x}", Zero, true),
        reader("mul-long.factor", "umull r3, lr, r{x}, r10", Zero, false),
        Consumer {
            name: "mul-half.factor",
            text: "smulbb r3, r{x}, r10",
            wants: Zero,
            guard: DSP,
            is_central: false,
        },
        Consumer {
            name: "div.factor",
            text: "udiv r3, r{x}, r10",
            wants: Zero,
            guard: DIVIDES,
            is_central: false,
        },
        reader("load.base", "ldr r3, [r{x}]", Address, true),
        reader("load-slow.base", "ldr r3, [r{x}, r9]", Address, false),
        reader("load-slow.index", "ldr r3, [r8, r{x}]", Zero, true),
        reader("load-double.base", "ldrd r2, r3, [r{x}]", Address, false),
        reader("load-list.base", "ldm r{x}, {r2, r3}", Address, false),
        reader("atomic.base", "ldrex r3, [r{x}]", Address, false),
        reader("store.data", "str r{x}, [r12]", Zero, true),
        reader("store.base", "str r8, [r{x}]", Address, false),
        reader("store-slow.data", "str r{x}, [r12, r9]", Zero, false),
        reader("store-slow.base", "str r8, [r{x}, r9]", Address, false),
        reader("store-slow.index", "str r8, [r12, r{x}]", Zero, false),
        reader("store-double.data", "strd r{x}, r9, [r12]", Zero, false),
        reader("store-double.base", "strd r8, r9, [r{x}]", Address, false),
        reader("store-list.data", "stm r12, {r{x}, r9}", Zero, false),
        reader("store-list.base", "stm r{x}, {r8, r9}", Address, false),
        reader("untaken.flags", "bvs 9f", Flags, true),
        reader("untaken.condition", "cbnz r{x}, 9f", Zero, true),
    ],
    singles: &[],
    beside: &["nop", "alu", "shift", "mul", "load", "store", "untaken"],
    central: &["alu", "load", "mul", "flags", "constant"],
    firsts: &[
        form("rev", "rev r{d}, r9", Nothing),
        guarded("sadd", "sadd16 r{d}, r9, r10", Nothing, DSP),
        guarded("ssub", "ssub16 r{d}, r9, r10", Nothing, DSP),
        guarded("sasx", "sasx r{d}, r9, r10", Nothing, DSP),
        guarded("ssax", "ssax r{d}, r9, r10", Nothing, DSP),
        guarded("uadd", "uadd16 r{d}, r9, r10", Nothing, DSP),
        guarded("usub", "usub16 r{d}, r9, r10", Nothing, DSP),
        guarded("uasx", "uasx r{d}, r9, r10", Nothing, DSP),
        guarded("usax", "usax r{d}, r9, r10", Nothing, DSP),
        guarded("shadd", "shadd16 r{d}, r9, r10", Nothing, DSP),
        guarded("shsub", "shsub16 r{d}, r9, r10", Nothing, DSP),
        guarded("shasx", "shasx r{d}, r9, r10", Nothing, DSP),
        guarded("shsax", "shsax r{d}, r9, r10", Nothing, DSP),
        guarded("uhadd", "uhadd16 r{d}, r9, r10", Nothing, DSP),
        guarded("uhsub", "uhsub16 r{d}, r9, r10", Nothing, DSP),
        guarded("uhasx", "uhasx r{d}, r9, r10", Nothing, DSP),
        guarded("uhsax", "uhsax r{d}, r9, r10", Nothing, DSP),
        guarded("qadd", "qadd r{d}, r9, r10", Nothing, DSP),
        guarded("qsub", "qsub r{d}, r9, r10", Nothing, DSP),
        guarded("qasx", "qasx r{d}, r9, r10", Nothing, DSP),
        guarded("qsax", "qsax r{d}, r9, r10", Nothing, DSP),
        guarded("qdadd", "qdadd r{d}, r9, r10", Nothing, DSP),
        guarded("qdsub", "qdsub r{d}, r9, r10", Nothing, DSP),
        guarded("uqadd", "uqadd16 r{d}, r9, r10", Nothing, DSP),
        guarded("uqsub", "uqsub16 r{d}, r9, r10", Nothing, DSP),
        guarded("uqasx", "uqasx r{d}, r9, r10", Nothing, DSP),
        guarded("uqsax", "uqsax r{d}, r9, r10", Nothing, DSP),
        guarded("sel", "sel r{d}, r9, r10", Nothing, DSP),
        guarded("pkh", "pkhbt r{d}, r9, r10", Nothing, DSP),
        guarded("usad", "usad8 r{d}, r9, r10", Nothing, DSP),
        form("ssat", "ssat r{d}, #8, r9", Nothing),
        form("usat", "usat r{d}, #8, r9", Nothing),
    ],
    counter: "ldr %0, =0xe0001004; ldr %0, [%0]",
};

const A32: ChainSet = ChainSet {
    guard: "defined(__arm__) && !defined(__thumb__)",
    before: "mov r8, %1; mov r9, #0; mov r10, #1; add r12, r8, #64; add r6, r8, #32; mov r2, r8; mov r3, r8; mov r4, r8; mov r5, r8",
    again: "subs %0, %0, #1; bne 1b",
    clobbers: &["r2", "r3", "r4", "r5", "r6", "r8", "r9", "r10", "r12", "lr", "cc", "memory"],
    address: ("r8", "r8"),
    zero: ("r9", "r6"),
    forms: &[
        form("nop", "nop", Nothing),
        form("alu", "add r{d}, {v}, r9", Address),
        form("flags", "adds r{d}, {v}, r9", Flags),
        form("shifted", "add r{d}, {v}, r9, lsl #2", Address),
        form("shifted-by", "add r{d}, {v}, r9, lsl r9", Address),
        form("shift", "lsl r{d}, {v}, r9", Address),
        form("shift-by-constant", "lsl r{d}, r9, #1", Zero),
        form("extend", "uxtb r{d}, r9", Zero),
        guarded("constant", "movw r{d}, #0", Zero, "__ARM_ARCH >= 7"),
        form("mul", "mul r{d}, {v}, r10", Address),
        form("mul-add", "mla r{d}, r10, r9, {v}", Address),
        form("mul-long", "umull r{d}, lr, {v}, r10", Address),
        form("mul-half", "smulbb r{d}, r9, r10", Zero),
        guarded("div", "udiv r{d}, r9, r10", Zero, DIVIDES),
        form("load", "ldr r{d}, [{p}]", Address),
        form("load-slow", "ldr r{d}, [{p}, -r9]", Address),
        form("load-index", "ldr r{d}, [{p}, r9]", Address),
        form("load-double", "ldrd r4, r5, [r8]", Nothing),
        form("load-list-2", "ldm {p}, {r5, lr}", Address),
        form("load-list-3", "ldm r8, {r2, r3, r4}", Nothing),
        form("load-list-4", "ldm r8, {r2, r3, r4, r5}", Nothing),
        form("store", "str r8, [r12]", Nothing),
        form("store-slow", "str r8, [r12, -r9]", Nothing),
        form("store-double", "strd r8, r9, [r12]", Nothing),
        form("store-list-2", "stm r12, {r8, r9}", Nothing),
        form("store-list-3", "stm r12, {r8, r9, r10}", Nothing),
        form("store-list-4", "stm r12, {r6, r8, r9, r10}", Nothing),
        form("atomic", "ldrex r{d}, [{p}]", Address),
        form("system", "mrs r{d}, apsr", Nothing),
        form("untaken", "bvs 9f", Nothing),
        form("branch", "b 5f; 5:", Nothing),
        form("call", "bl 5f; 5:", Nothing),
        form("return", "bl 5f; b 6f; 5: bx lr; 6:", Nothing),
        form("return-list", "bl 5f; b 6f; 5: push {r3, lr}; pop {r3, pc}; 6:", Nothing),
        form(
            "return-behind",
            "bl 5f; add r{d}, r9, r9; eor r6, r9, r9; eor r6, r9, r9; b 6f; 5: eor r6, r9, r9; bx lr; 6:",
            Nothing,
        ),
    ],
    others: &[
        form("load-double.2", "ldrd r4, r5, [{p}]", Address),
        form("mul-long.high", "umull lr, r{d}, r10, r9", Zero),
        form("load-list.2", "ldm {p}, {r4, r5}", Address),
        form("load-list.3", "ldm {p}, {r3, r4, r5}", Zero),
        form("load-list.4", "ldm {p}, {r2, r3, r4, r5}", Zero),
        form("load.base", "ldr lr, [r{d}], #0", Address),
        form("store.base", "str r8, [r{d}], #0", Address),
    ],
    readers: &[
        reader("alu.source", "add r3, r{x}, r9", Zero, true),
        reader("shifted.source", "add r3, r{x}, r9, lsl #2", Zero, false),
        reader("shifted.shifted", "add r3, r9, r{x}, lsl #2", Zero, true),
        reader("shifted-by.shifted", "add r3, r9, r{x}, lsl r9", Zero, false),
        reader("shifted-by.amount", "add r3, r9, r9, lsl r{x}", Zero, false),
        reader("shift.source", "lsl r3, r{x}, r9", Zero, false),
        reader("shift.amount", "lsl r3, r10, r{x}", Zero, false),
        reader("extend.source", "uxtb r3, r{x}", Zero, false),
        reader("carry.condition", "adc r3, r9, r10", Flags, true),
        reader("mul.factor", "mul r3, r{x}, r10", Zero, true),
        reader("mul-add.factor", "mla r3, r{x}, r10, r9", Zero, false),
        reader("mul-add.addend", "mla r3, r10, r9, r{x}", Zero, true),
        reader("mul-long.factor", "umull r3, lr, r{x}, r10", Zero, false),
        reader("mul-half.factor", "smulbb r3, r{x}, r10", Zero, false),
        Consumer {
            name: "div.factor",
            text: "udiv r3, r{x}, r10",
            wants: Zero,
            guard: DIVIDES,
            is_central: false,
        },
        reader("load.base", "ldr r3, [r{x}]", Address, true),
        reader("load-slow.base", "ldr r3, [r{x}, -r9]", Address, false),
        reader("load-slow.index", "ldr r3, [r8, -r{x}]", Zero, true),
        reader("load-index.index", "ldr r3, [r8, r{x}]", Zero, false),
        reader("load-double.base", "ldrd r2, r3, [r{x}]", Address, false),
        reader("load-list.base", "ldm r{x}, {r2, r3}", Address, false),
        reader("atomic.base", "ldrex r3, [r{x}]", Address, false),
        reader("store.data", "str r{x}, [r12]", Zero, true),
        reader("store.base", "str r8, [r{x}]", Address, false),
        reader("store-slow.data", "str r{x}, [r12, -r9]", Zero, false),
        reader("store-slow.base", "str r8, [r{x}, -r9]", Address, false),
        reader("store-slow.index", "str r8, [r12, -r{x}]", Zero, false),
        reader("store-double.base", "strd r8, r9, [r{x}]", Address, false),
        reader("store-list.data", "stm r12, {r{x}, r9}", Zero, false),
        reader("store-list.base", "stm r{x}, {r8, r9}", Address, false),
        reader("untaken.flags", "bvs 9f", Flags, true),
    ],
    singles: &[
        ("jump", "adr r5, 5f", "bx r5; 5:", 1),
        ("address>jump.target", "nop", "adr r5, 5f; bx r5; 5:", COPIES),
        ("load>jump.target", "adr r6, 5f; str r6, [r12]", "ldr r5, [r12]; bx r5; 5:", 1),
    ],
    beside: &["nop", "alu", "shift", "mul", "load", "store", "untaken"],
    central: &["alu", "load", "mul", "flags", "constant"],
    firsts: &[],
    counter: "mrc p15, 0, %0, c9, c13, 0",
};

const RISCV64: ChainSet = ChainSet {
    guard: "defined(__riscv) && __riscv_xlen == 64",
    before: "mv t0, %1; li t1, 0; li t2, 1; addi t3, t0, 64; addi t4, t0, 32",
    again: "addi %0, %0, -1; bnez %0, 1b",
    clobbers: &["a2", "a3", "a4", "a5", "a6", "t0", "t1", "t2", "t3", "t4", "t5", "ra", "memory"],
    address: ("t0", "t0"),
    zero: ("t1", "t4"),
    forms: &[
        form("nop", "nop", Nothing),
        form("alu", "add a{d}, {v}, t1", Address),
        form("shift", "sll a{d}, {v}, t1", Address),
        form("extend", "sext.w a{d}, t1", Zero),
        form("constant", "lui a{d}, 0", Zero),
        form("mul", "mul a{d}, {v}, t2", Address),
        form("mul-long", "mulhu a{d}, t2, t1", Zero),
        form("div", "divu a{d}, t1, t2", Zero),
        form("load", "ld a{d}, 0({p})", Address),
        form("load-32", "lw a{d}, 0(t4)", Zero),
        form("load-slow", "lbu a{d}, 0(t4)", Zero),
        form("store", "sd t0, 0(t3)", Nothing),
        form("atomic", "amoadd.d a{d}, t1, ({p})", Address),
        form("system", "csrr a{d}, fflags", Zero),
        form("untaken", "bnez t1, 9f", Nothing),
        form("branch", "j 5f; 5:", Nothing),
        form("call", "jal ra, 5f; 5:", Nothing),
        form("return", "jal ra, 5f; j 6f; 5: ret; 6:", Nothing),
        form(
            "return-behind",
            "jal ra, 5f; add a{d}, t1, t1; add a6, t1, t1; add a6, t1, t1; j 6f; 5: add a6, t1, t1; ret; 6:",
            Nothing,
        ),
    ],
    others: &[],
    readers: &[
        reader("alu.source", "add t5, a{x}, t2", Zero, true),
        reader("shift.source", "sll t5, a{x}, t1", Zero, false),
        reader("shift.amount", "sll t5, t2, a{x}", Zero, true),
        reader("extend.source", "sext.w t5, a{x}", Zero, false),
        reader("mul.factor", "mul t5, a{x}, t2", Zero, true),
        reader("mul-long.factor", "mulhu t5, a{x}, t2", Zero, false),
        reader("div.factor", "divu t5, a{x}, t2", Zero, true),
        reader("load.base", "ld t5, 0(a{x})", Address, true),
        reader("load-slow.base", "lbu t5, 0(a{x})", Address, false),
        reader("store.data", "sd a{x}, 0(t3)", Zero, true),
        reader("store.base", "sd t0, 0(a{x})", Address, false),
        reader("atomic.base", "amoadd.d t5, t1, (a{x})", Address, false),
        reader("atomic.data", "amoadd.d t5, a{x}, (t3)", Zero, false),
        reader("untaken.condition", "bnez a{x}, 9f", Zero, true),
    ],
    singles: &[],
    beside: &["nop", "alu", "shift", "mul", "load", "store", "untaken"],
    central: &["alu", "load", "mul", "shift", "constant", "system"],
    firsts: &[],
    counter: "rdcycle %0",
};
