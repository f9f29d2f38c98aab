//! What the C of every package says of its targets: which code is compiled where, and which runs.

use std::fmt::Write;

use super::{Part, TargetFile};
use crate::emit_c::Arch;

/// Functions for objects that were made for a target.
pub const MADE_FOR: &str = "/* The number of the target that keys or a stream were made for; N_TARGETS if they were not made. */
static size_t made_for(uint64_t mark)
{
    return mark - MADE < N_TARGETS ? (size_t)(mark - MADE) : N_TARGETS;
}

/* True if keys or a stream are not at a multiple of 64, which malloc does not promise. */
static int is_misaligned(const void *object)
{
    return (uintptr_t)object % 64 != 0;
}

/* Overwrites an object that is no longer needed; the compiler may not leave it out. */
static void wipe(void *object, size_t size)
{
    memset(object, 0, size);
    __asm__ volatile(\"\" : : \"r\"(object) : \"memory\");
}

";

const LITTLE_AARCH64: &str = "defined(__aarch64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__";

/// A processor that packages have code for.
pub struct ProcessorCase {
    /// The preprocessor's question, after those for the processors before it.
    pub question: String,
    has: fn(Arch) -> bool,
    is_any: bool,
}

/// The processors of packages. The last is any other one: it runs the C of x86-64's general
/// registers, which needs nothing of x86-64.
pub fn processors() -> [ProcessorCase; 3] {
    let of =
        |question: String, has: fn(Arch) -> bool| ProcessorCase { question, has, is_any: false };
    [
        of("if defined(__x86_64__)".to_owned(), |arch| arch.row().processor == "__x86_64__"),
        of(format!("elif {LITTLE_AARCH64}"), |arch| arch.row().processor == "__aarch64__"),
        ProcessorCase {
            question: "else".to_owned(),
            has: |arch| arch == Arch::X86_64,
            is_any: true,
        },
    ]
}

impl ProcessorCase {
    /// The targets of a part that it runs, with their names there.
    pub fn targets<'a>(&self, part: &'a Part) -> Vec<(&'static str, &'a TargetFile)> {
        let own = part.targets.iter().filter(|target| (self.has)(target.arch));
        let name = |arch: Arch| if self.is_any { "generic" } else { arch.name() };
        own.map(|target| (name(target.arch), target)).collect()
    }
}

/// Where a target's file has code, as the preprocessor asks, and the macro of its flags.
pub fn conditions(arch: Arch) -> (String, &'static str) {
    let processor = match arch.row().processor {
        "__aarch64__" => LITTLE_AARCH64.to_owned(),
        _ if arch == Arch::X86_64 => format!("!({LITTLE_AARCH64})"),
        other => format!("defined({other})"),
    };
    (processor, arch.row().macro_of_flags)
}

/// The first lines of the file that chooses: the headers of the targets of this processor.
pub fn includes(part: &Part) -> String {
    let name = &part.name;
    let mut out = format!(
        "/* {}: checks arguments and calls the code for the target. Made by meanwhile. */\n",
        part.title
    );
    let _ = write!(out, "#include \"{name}.h\"\n#include <string.h>\n\n");
    for processor in processors() {
        let _ = writeln!(out, "#{}", processor.question);
        let targets = processor.targets(part);
        if targets.is_empty() {
            let _ = writeln!(out, "#error \"{name} has no code for this processor\"");
        }
        for (_, target) in targets {
            let _ = writeln!(out, "#include \"{name}_{}.h\"", target.suffix());
        }
    }
    out += "#endif\n\n";
    out
}

/// The functions that list targets.
pub fn of_targets(part: &Part) -> Vec<(String, String)> {
    let name = &part.name;
    let quoted = |target: &TargetFile| format!("\"{}\"", target.arch.name());
    let names = part.targets.iter().map(quoted).collect::<Vec<_>>().join(", ");
    vec![
        (
            format!(
                "True if this processor runs the code for this target: {names} or, where there is none of these, \"generic\"; NULL is the best one."
            ),
            format!("int {name}_has(const char *target)"),
        ),
        ("The best target of this processor.".into(), format!("const char *{name}_best(void)")),
        (
            "Blocks that a target processes at a time; 0 if this processor does not run it.".into(),
            format!("size_t {name}_width(const char *target)"),
        ),
    ]
}

/// True if this processor runs the code.
pub fn is_here(target: &TargetFile) -> String {
    let s = target.suffix();
    let has = |text: &&str| format!("__builtin_cpu_supports(\"{text}\")");
    let needs: Vec<String> = target.arch.needs().iter().map(has).collect();
    let is_here = if needs.is_empty() {
        "return 1;".into()
    } else {
        format!("__builtin_cpu_init();\n    return {};", needs.join(" && "))
    };
    format!("\nstatic int {s}_is_here(void)\n{{\n    {is_here}\n}}\n")
}
