//! Windows of code that are run with and without a change, on random registers, under QEMU.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::process::Command;
use std::time::Duration;

use audit::decode::Isa;
use audit::decode::code::{Flow, Instruction, Op, Reg, Value};
use audit::facts::bits::Bits;
use audit::needed::shorter::Shortening;
use audit::program::function::Function;
use measure::tool;

const LIMIT: Duration = Duration::from_secs(120);

/// How code of a set is run: registers that it may use, and what stands around it.
pub struct Harness {
    isa: Isa,
    compiler: &'static [&'static str],
    qemu: &'static str,
    /// The register that holds the address of the values.
    pointer: &'static str,
    registers: Vec<String>,
    /// Before and after; `{save}` and `{load}` are of the values.
    around: [&'static str; 2],
    load: &'static str,
    store: &'static str,
    number: &'static str,
    jump: &'static str,
}

pub fn harness(isa: Isa) -> Harness {
    let names = |letter: &str, all: Vec<u32>| all.iter().map(|n| format!("{letter}{n}")).collect();
    match isa {
        Isa::A64 => Harness {
            isa,
            compiler: &["aarch64-linux-gnu-gcc"],
            qemu: "qemu-aarch64",
            pointer: "x28",
            registers: names("x", (0..28).collect()),
            around: [
                "stp x28, x30, [sp, #-16]!\nmov x28, x0\nldr x30, [x28, #224]\nmsr nzcv, x30\n",
                "str x30, [x28, #232]\nmrs x30, nzcv\nstr x30, [x28, #224]\nldp x28, x30, [sp], #16\nret\n",
            ],
            load: "ldr",
            store: "str",
            number: "mov x30, #",
            jump: "b",
        },
        Isa::A32 | Isa::T32 => Harness {
            isa,
            compiler: &["arm-linux-gnueabi-gcc", "-marm", "-march=armv7ve", "-mfloat-abi=soft"],
            qemu: "qemu-arm",
            pointer: "r11",
            registers: names("r", vec![0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12]),
            around: [
                "push {r11, lr}\nmov r11, r0\nldr lr, [r11, #48]\nmsr apsr_nzcvq, lr\n",
                "str lr, [r11, #52]\nmrs lr, apsr\nstr lr, [r11, #48]\npop {r11, pc}\n",
            ],
            load: "ldr",
            store: "str",
            number: "mov lr, #",
            jump: "b",
        },
        _ => Harness {
            isa,
            compiler: &[
                "riscv64-unknown-elf-gcc",
                "-march=rv64gc_zba_zbb",
                "-mabi=lp64d",
                "-mcmodel=medany",
            ],
            qemu: "qemu-riscv64",
            pointer: "x27",
            registers: names("x", (5..27).chain(28..32).collect()),
            around: [
                "addi sp, sp, -16\nsd x27, 0(sp)\nsd x1, 8(sp)\nmv x27, a0\n",
                "sd x1, 216(x27)\nld x27, 0(sp)\nld x1, 8(sp)\naddi sp, sp, 16\nret\n",
            ],
            load: "ld",
            store: "sd",
            number: "li x1, ",
            jump: "j",
        },
    }
}

impl Harness {
    fn bytes(&self) -> usize {
        if matches!(self.isa, Isa::A32 | Isa::T32) { 4 } else { 8 }
    }

    fn moved(&self, mnemonic: &str) -> String {
        let mut text = String::new();
        for (at, register) in self.registers.iter().enumerate() {
            let offset = at * self.bytes();
            let place = match self.isa {
                Isa::Riscv64 => format!("{offset}({})", self.pointer),
                _ => format!("[{}, #{offset}]", self.pointer),
            };
            writeln!(text, "{mnemonic} {register}, {place}").expect("a string grows");
        }
        text
    }

    /// A register as this set's assembler counts them; none of those that stay out of it.
    fn place(&self, reg: Reg) -> Option<usize> {
        let number = u32::from(reg.0);
        let letter = if self.isa == Isa::A64 || self.isa == Isa::Riscv64 { "x" } else { "r" };
        self.registers.iter().position(|name| *name == format!("{letter}{number}"))
    }

    /// A function that runs these instructions on the values that it is given.
    fn function(&self, name: &str, code: &[&Instruction]) -> String {
        let is_thumb = self.isa == Isa::T32;
        let mut text = String::new();
        let kind = if matches!(self.isa, Isa::A32 | Isa::T32) { "%function" } else { "@function" };
        write!(text, ".p2align 2\n.type {name}, {kind}\n{name}:\n{}", self.around[0])
            .expect("grows");
        text += &self.moved(self.load);
        // The values of the caller are not kept: it is one loop in assembly-like C.
        if is_thumb {
            text += "blx 3f\nb 4f\n.thumb\n.thumb_func\n3: ";
        }
        for it in code {
            let is_branch = it.flow != Flow::Next;
            if is_branch {
                let (operands, _) = it.text.rsplit_once(' ').expect("a branch names a target");
                writeln!(text, "{operands} 1f").expect("grows");
                continue;
            }
            let line = match (self.isa, it.length) {
                (Isa::T32, 2) => format!(".short {:#x}", it.word),
                (Isa::T32, _) => format!(".short {:#x}, {:#x}", it.word >> 16, it.word & 0xffff),
                (_, 2) => format!(".2byte {:#x}", it.word),
                _ => format!(".4byte {:#x}", it.word),
            };
            writeln!(text, "{line}").expect("grows");
        }
        if is_thumb {
            text += "bx lr\n.arm\n4:\n";
        }
        let (number, jump) = (self.number, self.jump);
        write!(
            text,
            "{number}0\n{jump} 2f\n1: {number}1\n2:\n{}{}",
            self.moved(self.store),
            self.around[1]
        )
        .expect("grows");
        text
    }
}

/// A window with its change, as code, and the bits that count after it.
pub struct Window {
    pub said: String,
    pub with: Vec<Instruction>,
    pub without: Vec<Instruction>,
    /// By place of the register.
    demanded: Vec<u64>,
    flags: u64,
    bases: BTreeSet<usize>,
    /// What the registers hold in any case: zeros, ones, and how many signs.
    known: Vec<[u64; 3]>,
}

/// The window of a change, if it can be run alone.
pub fn window(harness: &Harness, function: &Function, change: &Shortening) -> Option<Window> {
    let (first, last) = (change.removed[0], *change.removed.last()?);
    let needs_one = change.provided.iter().any(|provided| provided.contains("is no result"));
    let bits = if needs_one { Bits::with_one_result(function) } else { Bits::of(function) };
    let code = &function.instructions[first..=last];
    let conventions = function.isa.conventions();
    let own = |reg: Reg| harness.place(reg).is_some() || conventions.flags.contains(&reg);
    let has_access = code.iter().any(|instruction| !instruction.accesses.is_empty());
    let fits = |it: &Instruction| {
        let regs =
            it.reads.iter().map(|read| read.reg).chain(it.writes.iter().map(|write| write.reg));
        // What moves a base is a constant of the word.
        let constant = it.operation.map_or(0, |operation| match operation.b {
            Value::Const(by) => by as i64,
            _ => 0,
        });
        let is_small = |by: i64| by.unsigned_abs() < 900;
        let is_near = it
            .accesses
            .iter()
            .all(|to| to.base.is_some() && to.index.is_none() && is_small(to.disp))
            && (!has_access || is_small(constant));
        regs.into_iter().all(own)
            && is_near
            && !it.text.contains("adr")
            && !it.text.contains("auipc")
            && !it.text.contains(", pc")
    };
    if !change.is_alone || !code.iter().all(fits) {
        return None;
    }
    let without: Vec<Instruction> = (first..=last)
        .filter_map(|at| match &change.replacement {
            Some((place, it)) if *place == at => Some(it.clone()),
            _ if change.removed.contains(&at) => None,
            _ => Some(function.instructions[at].clone()),
        })
        .collect();
    let at_place = |at: usize| {
        (0..=255).map(Reg).find(|reg| harness.place(*reg) == Some(at)).expect("it has one")
    };
    let demanded = |at: usize| bits.demanded(last, at_place(at));
    let known = |at: usize| {
        let known = bits.before(first, at_place(at));
        [known.zeros, known.ones, known.n_signs.into()]
    };
    // N, Z, C and V stand from bit 31 down in all sets that have them.
    let flags =
        conventions.flags.iter().enumerate().fold(0, |mask, (at, flag)| {
            mask | u64::from(bits.demanded(last, *flag) != 0) << (31 - at)
        });
    let bases: BTreeSet<Reg> = code
        .iter()
        .flat_map(|found| found.accesses.iter().filter_map(|access| access.base))
        .collect();
    // A base comes from before, or is moved by a constant.
    let is_moved = |it: &Instruction, reg: Reg| {
        let by_constant = it.operation.is_some_and(|operation| {
            operation.result == Some(reg)
                && operation.a == Value::Reg(reg)
                && matches!((operation.op, operation.b), (Op::Add | Op::Sub, Value::Const(_)))
        });
        let is_loaded = it.operation.is_some_and(|operation| operation.result == Some(reg));
        by_constant || it.base_moves.is_some() && !is_loaded
    };
    let is_known_base = |reg: &Reg| {
        let mut writers =
            code.iter().filter(|found| found.writes.iter().any(|write| write.reg == *reg));
        let is_last = |it: &Instruction| std::ptr::eq(it, &code[code.len() - 1]);
        writers.all(|writer| is_moved(writer, *reg) || is_last(writer))
    };
    bases.iter().all(is_known_base).then_some(())?;
    Some(Window {
        said: format!("{}: {:?} -> {:?}", function.name, texts(code), texts(&without)),
        with: code.to_vec(),
        without,
        demanded: (0..harness.registers.len()).map(demanded).collect(),
        known: (0..harness.registers.len()).map(known).collect(),
        flags,
        bases: bases.into_iter().filter_map(|reg| harness.place(reg)).collect(),
    })
}

fn texts(code: &[Instruction]) -> Vec<&str> {
    code.iter().map(|instruction| instruction.text.as_str()).collect()
}

/// Runs `without` beside `with` on random registers; the tables come after it.
const MAIN: &str = include_str!("windows.c");

/// The first window that does not do the same with its change.
pub fn differing<'a>(harness: &Harness, windows: &'a [Window]) -> Option<&'a str> {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let n_registers = harness.registers.len();
    let mut text = String::from(".text\n");
    let mut tables = String::new();
    for (idx, window) in windows.iter().enumerate() {
        for (name, code) in [("with", &window.with), ("without", &window.without)] {
            text += &harness.function(&format!("{name}{idx}"), &code.iter().collect::<Vec<_>>());
            writeln!(tables, "void {name}{idx}(word *);").expect("grows");
        }
    }
    let globals: String =
        (0..windows.len()).map(|idx| format!(".global with{idx}, without{idx}\n")).collect();
    text.insert_str(0, &globals);
    if !matches!(harness.isa, Isa::Riscv64) {
        text += ".section .note.GNU-stack, \"\", %progbits\n";
    }
    for name in ["with", "without"] {
        let all: Vec<String> = (0..windows.len()).map(|idx| format!("{name}{idx}")).collect();
        writeln!(tables, "void (*const {name}[])(word *) = {{{}}};", all.join(", "))
            .expect("grows");
    }
    let rows = |row: &dyn Fn(&Window) -> Vec<String>| -> String {
        windows.iter().map(|window| format!("{{{}}},\n", row(window).join(", "))).collect()
    };
    let demanded = rows(&|window| {
        window.demanded.iter().chain([&window.flags]).map(|n| format!("{n:#x}ull")).collect()
    });
    let bases = rows(&|window| {
        (0..n_registers).map(|at| u8::from(window.bases.contains(&at)).to_string()).collect()
    });
    let has_base: Vec<String> =
        windows.iter().map(|window| u8::from(!window.bases.is_empty()).to_string()).collect();
    writeln!(tables, "const unsigned char has_base[] = {{{}}};", has_base.join(", "))
        .expect("grows");
    let known = rows(&|window| {
        window.known.iter().map(|[a, b, c]| format!("{{{a:#x}ull, {b:#x}ull, {c}}}")).collect()
    });
    writeln!(tables, "const wide known[][N_REGISTERS][3] = {{{known}}};").expect("grows");
    write!(
        tables,
        "const wide demanded[][N_REGISTERS + 1] = {{{demanded}}};\nconst unsigned char is_base[][N_REGISTERS] = {{{bases}}};\n"
    )
    .expect("grows");
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("windows.s"), text).expect("a scratch file");
    std::fs::write(path("main.c"), format!("{MAIN}{tables}")).expect("a scratch file");
    let (compiler, options) = harness.compiler.split_first().expect("there is a compiler");
    let mut compile = Command::new(compiler);
    compile.current_dir(folder.path()).args(options).args([
        "-O1",
        "-fomit-frame-pointer",
        "-ffreestanding",
    ]);
    compile.args([
        "-fno-stack-protector",
        "-fno-tree-loop-distribute-patterns",
        "-nostdlib",
        "-static",
        "-o",
        "run",
    ]);
    compile.args(["main.c", "windows.s"]).arg(format!("-DN={}", windows.len()));
    compile.arg(format!("-DN_REGISTERS={n_registers}")).arg("-DSEED=7");
    tool::run(&mut compile, &[], LIMIT)
        .and_then(tool::Ran::ok)
        .unwrap_or_else(|error| panic!("{error}"));
    let ran = tool::run(Command::new(harness.qemu).arg(path("run")), &[], LIMIT)
        .and_then(tool::Ran::ok)
        .unwrap_or_else(|error| panic!("{error}"));
    let found = u32::from_le_bytes(ran.stdout[..4].try_into().expect("a word comes out"));
    let at = found.checked_sub(1)? as usize;
    Some(&windows[at].said)
}
