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

/// Processor and compiler flags of a target as the preprocessor sees them.
pub fn conditions(arch: Arch) -> (&'static str, &'static str) {
    (arch.row().processor, arch.row().macro_of_flags)
}

/// The first lines of the file that chooses: the headers of the targets of this processor.
pub fn includes(part: &Part) -> String {
    let name = &part.name;
    let mut out = format!(
        "/* {}: checks arguments and calls the code for the target. Made by meanwhile. */\n",
        part.title
    );
    let _ = writeln!(
        out,
        "#if !defined(__x86_64__) && !(defined(__aarch64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)\n#error \"{name} has code for x86-64 and for little-endian AArch64\"\n#endif\n"
    );
    let _ = write!(out, "#include \"{name}.h\"\n#include <string.h>\n\n");
    for (processor, word) in [("__x86_64__", "if"), ("__aarch64__", "elif")] {
        let _ = writeln!(out, "#{word} defined({processor})");
        for target in part.targets.iter().filter(|target| conditions(target.arch).0 == processor) {
            let _ = writeln!(out, "#include \"{name}_{}.h\"", target.suffix());
        }
    }
    out += "#endif\n\n";
    out
}

/// The functions that list targets.
pub fn of_targets(part: &Part) -> Vec<(String, String)> {
    let name = &part.name;
    vec![
        (
            "True if this processor runs the code for this target: \"x86-64\", \"sse\", \"avx2\", \"avx512\" or \"neon\"; NULL is the best one.".to_string(),
            format!("int {name}_has(const char *target)"),
        ),
        ("The best target of this processor.".into(), format!("const char *{name}_best(void)")),
        ("Blocks that a target processes at a time; 0 if this processor does not run it.".into(), format!("size_t {name}_width(const char *target)")),
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
