//! Door: a function before and after a change, executed on the same random inputs: natively, or under
//! QEMU for another instruction set.
//!
//! Both are linked with the same driver, which fills memory, registers and the file's own objects,
//! calls the function, and prints what came of it. What other files define are calls that are noted
//! and that return a random number.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use measure::tool::{self, ToolError};
use object::{Object, ObjectSection, ObjectSymbol, SymbolKind};

use crate::decode::Isa;
use crate::program::Program;
use crate::program::types::{Passed, Signature};

const DRIVER: &str = include_str!("driver.c");
/// What a compiler may take.
const LIMIT: Duration = Duration::from_secs(30);
/// Seconds of the processor that all runs of the driver may take; by the clock its own alarm
/// ends it before [`RUN_LIMIT`] does.
const SECONDS: u32 = 10;
const RUN_LIMIT: Duration = Duration::from_secs(120);
const RUNS: usize = 256;
const SEED: u32 = 4417;

/// Functions of the C library that are pure but for the memory that they are given; what else is
/// called is noted, not done.
const PURE: [&str; 14] = [
    "memcpy", "memmove", "memset", "memcmp", "memchr", "strlen", "strcmp", "strncmp", "strcpy",
    "strncpy", "strchr", "strrchr", "abs", "labs",
];

/// Names of helpers that a compiler calls, which its own library has.
const HELPERS: [&str; 12] = [
    "__aeabi_",
    "__udiv",
    "__div",
    "__umod",
    "__mod",
    "__mul",
    "__ashl",
    "__lshr",
    "__ashr",
    "__clz",
    "__sanitizer_cov_",
    "_GLOBAL_",
];

/// What executing both said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Behaviour {
    /// In words, with the runs and the seed.
    Same(String),
    /// The same, which makes the change none.
    Differs(String),
    /// Why nothing could be executed.
    NotRun(String),
}

/// A function that is executed before and after a change.
#[derive(Debug, Clone, Copy)]
pub struct Executed<'a> {
    pub isa: Isa,
    pub function: &'a str,
    pub signature: &'a Signature,
    /// Functions that other files define, with their signatures where they are declared.
    pub called: &'a [(String, Option<Signature>)],
    /// Two pointers may lead to one object: nothing was promised that excludes it.
    pub may_alias: bool,
    /// Where the changed function reads more, its address was promised to be good.
    pub may_fault: bool,
    /// Functions that never return.
    pub ends: &'a BTreeSet<String>,
}

/// The first instruction of the file that asks the system for something, or may halt or reset a
/// processor: code with one is not executed to see what it does.
pub fn asks_the_system(program: &Program) -> Option<String> {
    const ASKS: [&str; 22] = [
        "svc", "swi", "hvc", "smc", "bkpt", "hlt", "dcps", "eret", "wfi", "wfe", "msr", "mcr",
        "ecall", "ebreak", "sret", "mret", "syscall", "sysenter", "int", "int3", "out", "ta",
    ];
    let decoded =
        program.symbols.iter().filter_map(|symbol| program.decode_without_lines(symbol).ok());
    decoded.flat_map(|decoded| decoded.function.instructions).find_map(|instruction| {
        let name = instruction.text.split([' ', '.', '\t']).next().unwrap_or_default();
        ASKS.contains(&name).then(|| name.to_owned())
    })
}

/// How many blocks random runs reach of a function, so long, whose blocks note themselves.
pub fn blocks_reached(subject: &Executed<'_>, object: &[u8], bytes: u64) -> Option<usize> {
    if unsuitable(subject).is_some() {
        return None;
    }
    let said = executed(subject, object, bytes, None).ok()?;
    said.lines().last()?.strip_prefix("reached ")?.parse().ok()
}

/// Executes both object files on the same inputs.
pub fn compare(subject: &Executed<'_>, before: &[u8], after: &[u8]) -> Behaviour {
    if let Some(why) = unsuitable(subject) {
        return Behaviour::NotRun(why);
    }
    let both = executed(subject, before, 0, None).and_then(|said| {
        let skipped = said.lines().map(|line| if line == "long" { 'l' } else { '-' }).collect();
        Ok((executed(subject, after, 0, Some(skipped))?, said))
    });
    let (after, before) = match both {
        Ok(both) => both,
        Err(why) => return Behaviour::NotRun(why),
    };
    let is_run = |line: &&str| !line.starts_with("reached");
    let lines = before.lines().filter(is_run).zip(after.lines().filter(is_run));
    // What ran to no end before says nothing, nor does what the promise excludes.
    let is_excluded = |new: &str| subject.may_fault && new == "fault";
    let compared: Vec<(&str, &str)> =
        lines.filter(|(old, new)| *old != "long" && (old == new || !is_excluded(new))).collect();
    let n_ended = compared.iter().filter(|(old, _)| old.starts_with("end")).count();
    let n_other = compared.iter().filter(|(old, new)| old != new).count();
    let (n, by) = (compared.len(), machine(subject.isa).map_or("", |machine| machine.0));
    let how = match by {
        "" => format!("executed here, seed {SEED}"),
        by => format!("{by}, seed {SEED}"),
    };
    match (n_ended, n_other) {
        (_, 1..) => Behaviour::Differs(format!("other in {n_other} of {n} random runs ({how})")),
        (0, 0) => Behaviour::NotRun(format!("none of {n} random runs comes to its end ({how})")),
        _ => Behaviour::Same(format!(
            "the same in {n} random runs, {n_ended} of them to the end ({how})"
        )),
    }
}

/// The emulator of an instruction set, none where it is this machine's, and a compiler with a
/// library for Linux on it.
fn machine(isa: Isa) -> Option<(&'static str, &'static str)> {
    let here = std::env::consts::ARCH;
    Some(match isa {
        Isa::A64 if here == "aarch64" => ("", "gcc"),
        Isa::X86 if here == "x86_64" => ("", "gcc"),
        Isa::A64 => ("qemu-aarch64", "aarch64-linux-gnu-gcc"),
        Isa::A32 | Isa::T32 => ("qemu-arm", "arm-linux-gnueabi-gcc"),
        Isa::Riscv64 => ("qemu-riscv64", "riscv64-linux-gnu-gcc"),
        Isa::X86 | Isa::Riscv32 | Isa::Sparc => return None,
    })
}

fn unsuitable(subject: &Executed<'_>) -> Option<String> {
    let Some((emulator, compiler)) = machine(subject.isa) else {
        return Some(format!("{} code needs a C library that is not here", subject.isa.name()));
    };
    let missing = [emulator, compiler]
        .into_iter()
        .find(|program| !program.is_empty() && tool::find(program).is_none());
    if let Some(program) = missing {
        return Some(format!("there is no `{program}`"));
    }
    if subject.signature.is_variadic {
        return Some("it takes any number of arguments".to_owned());
    }
    let is_arm = matches!(subject.isa, Isa::A32 | Isa::T32);
    let all = subject.signature.parameters.iter().enumerate();
    let reason = |passed: &Passed| match passed {
        Passed::Other(what) => Some(*what),
        // How it is passed depends on the flags.
        Passed::Float { .. } if is_arm => Some("floating point"),
        _ => None,
    };
    all.filter_map(|(nth, passed)| Some(format!("parameter {} is {}", nth + 1, reason(passed)?)))
        .chain(reason(&subject.signature.result).map(|what| format!("the result is {what}")))
        .next()
}

/// What the driver printed; else why there is nothing. `skipped` has a letter for each run, by which
/// one that took too long before is not made.
fn executed(
    subject: &Executed<'_>,
    object: &[u8],
    bytes: u64,
    skipped: Option<String>,
) -> Result<String, String> {
    let (emulator, compiler) = machine(subject.isa).ok_or("there is no such machine")?;
    let short = |error: ToolError| {
        let said =
            error.said.lines().find(|line| line.contains("rror") || line.contains("undefined"));
        let program = error.ran.split(' ').next().unwrap_or_default().to_owned();
        format!(
            "`{program}` said: {}",
            said.or(error.said.lines().next()).unwrap_or_default().trim()
        )
    };
    let folder = measure::scratch::folder().map_err(|error| error.to_string())?;
    let path = |name: &str| folder.path().join(name);
    let write = |name: &str, bytes: &[u8]| {
        std::fs::write(path(name), bytes).map_err(|error| error.to_string())
    };
    let linked = Linked::of(subject, object).ok_or("its object file cannot be read")?;
    write("subject.o", object)?;
    write("driver.c", linked.driver(subject, bytes).as_bytes())?;
    let renamed = renamed(&linked, &path("subject.o"), compiler);
    tool::run(&mut { renamed }, &[], LIMIT).and_then(tool::Ran::ok).map_err(short)?;
    let mut link = Command::new(compiler);
    link.args(["-O1", "-w", "-static", "-no-pie", "-fno-lto", "-o"]).arg(path("driver"));
    link.arg(path("driver.c")).arg(path("subject.o"));
    tool::run(&mut link, &[], LIMIT).and_then(tool::Ran::ok).map_err(short)?;
    let mut run = match emulator {
        "" => Command::new(path("driver")),
        "qemu-arm" | "qemu-aarch64" => {
            let mut run = Command::new(emulator);
            run.args(["-cpu", "max"]).arg(path("driver"));
            run
        }
        _ => {
            let mut run = Command::new(emulator);
            run.arg(path("driver"));
            run
        }
    };
    run.args(skipped);
    let ran = tool::run(&mut run, &[], RUN_LIMIT).map_err(short)?;
    // Its own alarm ends it, and the lines until then count.
    match ran.text() {
        text if text.is_empty() => {
            Err(format!("`{}` did not start it", run.get_program().to_string_lossy()))
        }
        text => Ok(text),
    }
}

/// The object with its function, its objects and what others define under names of the driver's, so
/// that no library has any of them.
fn renamed(linked: &Linked, object: &Path, compiler: &str) -> Command {
    let mut command = Command::new(compiler.replace("gcc", "objcopy"));
    for (old, new) in &linked.names {
        command.arg(format!("--redefine-sym={old}={new}"));
        command.arg(format!("--globalize-symbol={old}"));
        command.arg(format!("--globalize-symbol={new}"));
    }
    for name in &linked.others {
        command.arg(format!("--localize-symbol={name}"));
    }
    // Flags of the object, which a linker compares with those of the library.
    command.args([
        "--strip-debug",
        "--remove-section=.ARM.attributes",
        "--remove-section=.note.gnu.property",
    ]);
    command.arg(object);
    command
}

/// What of an object file the driver has to know.
#[derive(Debug, Default)]
struct Linked {
    /// Names in the file and in the driver.
    names: Vec<(String, String)>,
    /// Objects that can be written: the driver's name, bytes, begins as zeros.
    objects: Vec<(String, u64, bool)>,
    /// The driver's names of functions that are called, and of objects, that others define.
    /// Those called with their own names, which say in any order of the file which it is.
    calls: Vec<(String, String, Option<Signature>)>,
    foreign: Vec<String>,
    /// What the file defines besides.
    others: Vec<String>,
}

impl Linked {
    fn of(subject: &Executed<'_>, object: &[u8]) -> Option<Linked> {
        let file = object::File::parse(object).ok()?;
        let mut linked = Linked::default();
        linked.names.push((subject.function.to_owned(), "meanwhile_subject".to_owned()));
        let mut seen = BTreeSet::new();
        // By name: in another order of the code others would be mentioned first, and each would be
        // filled as another one was.
        let mut symbols: Vec<_> = file
            .symbols()
            .filter_map(|symbol| symbol.name().ok().map(|name| (name, symbol)))
            .collect();
        symbols.sort_by_key(|(name, _)| *name);
        for (name, symbol) in symbols {
            let is_helper = HELPERS.iter().any(|helper| name.starts_with(helper));
            if name.is_empty() || name == subject.function || !seen.insert(name.to_owned()) {
                continue;
            }
            let new = format!("meanwhile_{}", linked.names.len());
            if symbol.is_undefined() {
                if PURE.contains(&name) || is_helper {
                    continue;
                }
                match subject.called.iter().find(|(called, _)| called == name) {
                    Some((_, signature)) => {
                        linked.calls.push((new.clone(), name.to_owned(), signature.clone()));
                    }
                    None => linked.foreign.push(new.clone()),
                }
            } else {
                let section = symbol.section_index().and_then(|at| file.section_by_index(at).ok());
                let kind = section.as_ref().map(|section| section.kind());
                let is_zero = kind == Some(object::SectionKind::UninitializedData);
                let is_constant = section
                    .as_ref()
                    .and_then(|section| section.name().ok())
                    .is_some_and(|name| name.starts_with(".data.rel.ro"));
                let is_own = is_zero || kind == Some(object::SectionKind::Data) && !is_constant;
                if symbol.kind() != SymbolKind::Data || symbol.size() == 0 || !is_own {
                    if symbol.is_global() {
                        linked.others.push(name.to_owned());
                    }
                    continue;
                }
                linked.objects.push((new.clone(), symbol.size(), is_zero));
            }
            linked.names.push((name.to_owned(), new));
        }
        Some(linked)
    }

    /// The driver's text for this file.
    fn driver(&self, subject: &Executed<'_>, bytes: u64) -> String {
        let mut declared = String::new();
        for (name, called, signature) in &self.calls {
            let never_returns = subject.ends.contains(called)
                || ["abort", "exit", "_exit"].contains(&called.as_str())
                || called.starts_with("__assert");
            declared += &match never_returns {
                true => format!("void {name}(void)\n{{\n    stopped(SIGABRT);\n}}\n"),
                false => stub(name, called, signature.as_ref()),
            };
        }
        for name in &self.foreign {
            declared += &format!("unsigned char {name}[4096];\n");
        }
        let mut objects = String::new();
        for (name, bytes, is_zero) in &self.objects {
            declared += &format!("extern unsigned char {name}[{bytes}];\n");
            objects += &format!("    {{ {name}, 0, {bytes}, {} }},\n", u8::from(*is_zero));
        }
        for name in &self.foreign {
            objects += &format!("    {{ {name}, 0, 4096, 1 }},\n");
        }
        let (types, result) = (&subject.signature.parameters, subject.signature.result);
        let list: Vec<&str> = types.iter().map(|passed| c_type(*passed)).collect();
        let list = if list.is_empty() { "void".to_owned() } else { list.join(", ") };
        declared += &format!("{} meanwhile_subject({list});\n", c_type(result));
        let mut call = String::new();
        for (nth, passed) in types.iter().enumerate() {
            call += &match passed {
                Passed::Pointer { .. } => format!("    void *a{nth} = passed({nth});\n"),
                Passed::Float { .. } => {
                    format!("    {} a{nth} = (int)number() / 8.0;\n", c_type(*passed))
                }
                _ => format!("    {} a{nth} = number();\n", c_type(*passed)),
            };
        }
        let given: Vec<String> = (0..types.len()).map(|nth| format!("a{nth}")).collect();
        let given = given.join(", ");
        call += &match result {
            Passed::Nothing => format!("    meanwhile_subject({given});\n    return 0;"),
            // An object of the file lies elsewhere after the change.
            Passed::Pointer { .. } => format!(
                "    uintptr_t got = (uintptr_t)meanwhile_subject({given});\n    return got - region(0) < REGIONS * REGION_BYTES || !got ? got : 1;"
            ),
            Passed::Float { .. } => format!(
                "    double got = meanwhile_subject({given});\n    return got != got ? 0 : hashed(0, &got, sizeof got);"
            ),
            _ => format!("    return (uint64_t)meanwhile_subject({given});"),
        };
        DRIVER
            .replace("@DECLARED@", &declared)
            .replace("@OBJECTS@", &objects)
            .replace("@CALL@", &call)
            .replace("@BYTES@", &bytes.to_string())
            .replace("@SEED@", &SEED.to_string())
            .replace("@ALIAS@", &u8::from(subject.may_alias).to_string())
            .replace("@SECONDS@", &SECONDS.to_string())
            .replace("@RUNS@", &RUNS.to_string())
    }
}

/// A function that others define: it notes what it is passed, and returns something.
fn stub(name: &str, called: &str, signature: Option<&Signature>) -> String {
    let nth = called.bytes().fold(0u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
    let Some(signature) = signature else {
        return format!(
            "uintptr_t {name}(void)\n{{\n    called({nth}u, 0);\n    return number();\n}}\n"
        );
    };
    // Behind what cannot be named here the arguments are not where they would be.
    let known =
        signature.parameters.iter().take_while(|passed| !matches!(passed, Passed::Other(_)));
    let parameters: Vec<String> =
        known.enumerate().map(|(at, passed)| format!("{} a{at}", c_type(*passed))).collect();
    let list = if parameters.is_empty() { "void".to_owned() } else { parameters.join(", ") };
    let notes: String = signature.parameters[..parameters.len()]
        .iter()
        .enumerate()
        .map(|(at, passed)| match passed {
            Passed::Pointer { is_constant } => {
                let noted = format!(
                    "    called({nth}u, (uintptr_t)a{at} - region(0) < REGIONS * REGION_BYTES ? (uintptr_t)a{at} : 1);\n"
                );
                match is_constant {
                    true => noted,
                    false => noted + &format!("    changes((uintptr_t)a{at});\n"),
                }
            }
            _ => format!("    called({nth}u, (uint64_t)a{at});\n"),
        })
        .collect();
    let (kind, result) = match signature.result {
        Passed::Nothing => ("void", String::new()),
        Passed::Pointer { .. } => {
            ("void *", "    return (void *)(next() >> 62 ? pointer(next() >> 8) : 0);\n".to_owned())
        }
        Passed::Other(_) => ("uintptr_t", "    return number();\n".to_owned()),
        other => (c_type(other), "    return number();\n".to_owned()),
    };
    format!("{kind} {name}({list})\n{{\n    called({nth}u, 0);\n{notes}{result}}}\n")
}

fn c_type(passed: Passed) -> &'static str {
    match passed {
        Passed::Nothing => "void",
        Passed::Integer { bytes: 0, .. } => "_Bool",
        Passed::Integer { bytes: 0..=1, is_signed: true } => "int8_t",
        Passed::Integer { bytes: 0..=1, is_signed: false } => "uint8_t",
        Passed::Integer { bytes: 2, is_signed: true } => "int16_t",
        Passed::Integer { bytes: 2, is_signed: false } => "uint16_t",
        Passed::Integer { bytes: 3..=4, is_signed: true } => "int32_t",
        Passed::Integer { bytes: 3..=4, is_signed: false } => "uint32_t",
        Passed::Integer { is_signed: true, .. } => "int64_t",
        Passed::Integer { is_signed: false, .. } => "uint64_t",
        Passed::Float { bytes: 0..=4 } => "float",
        Passed::Float { .. } => "double",
        Passed::Pointer { .. } => "void *",
        Passed::Other(_) => "uintptr_t",
    }
}
