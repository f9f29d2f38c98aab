//! The runtime for Xtensa as files: which schemes and options it has, its flags, and the folder
//! that a user links.

pub mod image;
pub mod qemu;

use crate::library::{LIBRARY, MARK, Options, RUNTIME, files, options_header};
use crate::names::Scheme;

/// What is of this processor: name and text.
const OWN: &[(&str, &str)] = files!("../runtime/xtensa":
    "boot.S", "vectors.S", "windows_ns.h", "windows_sp.h", "switch_begin.h", "switch_load.h",
    "switch_ns.S", "switch_sp.S", "interrupt.S", "jump.S", "machine.c", "machine.h",
    "regwin_machine.h", "kernel_machine.h", "first_frame.h", "link.ld");

const MAKEFILE: &str = include_str!("../../library/xtensa/Makefile");

/// The schemes that there are.
pub const SCHEMES: [Scheme; 2] = [Scheme::Ns, Scheme::Sp];

/// The options that there are not.
pub const NOT_OPTIONS: [&str; 2] = ["fpu", "tls"];

/// The compiler, whose text goes through the assembler: it refuses to assemble its own windowed
/// code (`fixup value must be 4-byte aligned`, LLVM 22.1).
pub const CLANG: &str = "clang-22";
pub const ASSEMBLER: &str = "llvm-mc-22";
pub const LINKER: &str = "xtensa-lx106-elf-ld";

/// What both cores have; of what the compiler would take for ESP32 no floating point, no high
/// half of products, no booleans.
const FEATURES: [&str; 18] = [
    "windowed",
    "density",
    "loop",
    "mul16",
    "mul32",
    "div32",
    "nsa",
    "sext",
    "minmax",
    "clamps",
    "exception",
    "interrupt",
    "highpriinterrupts",
    "highpriinterrupts-level3",
    "rvector",
    "timers3",
    "s32c1i",
    "miscsr",
];

/// Interrupts of dc232b and dc233c whose level is 1 to 3.
const IRQ_NUMBERS: &str = "0x3f8fffu";

/// What C is compiled with.
pub fn c_flags() -> Vec<String> {
    let shared = ["--target=xtensa", "-ffreestanding", "-fno-stack-protector", "-fno-pic"];
    let features = FEATURES.iter().flat_map(|name| {
        ["-Xclang".to_owned(), "-target-feature".into(), "-Xclang".into(), format!("+{name}")]
    });
    shared.iter().map(|flag| (*flag).to_owned()).chain(features).collect()
}

/// What assembly is assembled with.
pub fn as_flags() -> Vec<String> {
    let features: Vec<String> = FEATURES.iter().map(|name| format!("+{name}")).collect();
    let features = format!("-mattr={}", features.join(","));
    ["-triple=xtensa", "-filetype=obj", &features].iter().map(|flag| (*flag).to_owned()).collect()
}

/// How an image is linked, but for its files and the script: the newest GNU linker that knows
/// Xtensa is that of lx106, which warns of what every bare image is.
pub const LINK: [&str; 2] = ["--no-warn-rwx-segments", "-z noexecstack"];

/// The macros that say to the runtime and to programs what was built.
fn defines(options: &Options) -> Vec<String> {
    let mut defines = options.defines();
    if options.preempt {
        defines.push(format!("THR_IRQ_NUMBERS={IRQ_NUMBERS}"));
    }
    defines
}

/// The files that are compiled, all of them: a program links those that it uses.
fn sources(options: &Options) -> Vec<&'static str> {
    let mut files = vec!["boot.S", "vectors.S", "jump.S", "machine.c", "threads.c", "lists.c"];
    files.push(match options.scheme {
        Scheme::Ns => "switch_ns.S",
        Scheme::Sp => "switch_sp.S",
        Scheme::Snp | Scheme::Adaptive | Scheme::Flat => {
            unreachable!("callers look into SCHEMES")
        }
    });
    files.extend(["streams.c", "int64.c", "console.c", "semaphores.c", "mutex.c", "queues.c"]);
    files.extend(["pools.c", "work.c"]);
    files.extend(options.priorities.then_some("ready_priorities.c"));
    files.extend((options.priorities || options.preempt).then_some("schedule.c"));
    files.extend(options.preempt.then_some(["interrupt.S", "irq.c"]).into_iter().flatten());
    files
}

/// The files of a folder that builds a library and an example; paths and texts.
pub fn folder(options: &Options) -> Vec<(String, String)> {
    let scheme = options.scheme.name();
    let sources = sources(options);
    let mut files = Vec::new();
    let mut add = |path: String, text: &str| files.push((path, text.to_owned()));
    let is_own = |name: &str| OWN.iter().any(|own| own.0 == name);
    let shared = RUNTIME.iter().filter(|(name, _)| {
        !is_own(name) && (sources.contains(name) || ["regwin.h", "kernel.h"].contains(name))
    });
    for (name, text) in OWN.iter().chain(shared) {
        match *name {
            "regwin.h" | "regwin_machine.h" => add(format!("include/{name}"), text),
            "link.ld" => add("lib/regwin.ld".to_owned(), text),
            _ if name.ends_with(".h") || sources.contains(name) => add(format!("src/{name}"), text),
            _ => {}
        }
    }
    for (name, text) in LIBRARY {
        match *name {
            "example.c" => add("example/main.c".to_owned(), text),
            "memory.c" => add("src/memory.c".to_owned(), text),
            _ => {}
        }
    }
    add("Makefile".to_owned(), MAKEFILE);
    add("include/regwin_options.h".to_owned(), &options_header(&defines(options)));
    let stem = |source: &&str| source.rsplit_once('.').expect("an ending").0.to_owned();
    let objects: String = sources
        .iter()
        .chain(&["memory.c"])
        .map(|source| format!(" $(REGWIN)src/{}.o", stem(source)))
        .collect();
    let (c_flags, as_flags, link) = (c_flags().join(" "), as_flags().join(" "), LINK.join(" "));
    add(
        "regwin.mk".to_owned(),
        &format!(
            "{MARK}\n\
             # What a program that uses it is compiled and linked with. The library goes behind the program's objects.\n\
             # $(call REGWIN_COMPILE,FLAGS,SOURCE,OBJECT) compiles C, by way of assembly: clang does not assemble it itself,\n\
             # and llvm-mc does not read what clang writes about frames with -g.\n\
             REGWIN := $(dir $(lastword $(MAKEFILE_LIST)))\n\
             CORE ?= dc232b\n\
             REGWIN_RAM_dc232b := 0xd0000000\n\
             REGWIN_RAM_dc233c := 0\n\
             REGWIN_CC := {CLANG}\n\
             REGWIN_CFLAGS := {c_flags} -std=gnu11 -I$(REGWIN)include\n\
             REGWIN_AS := {ASSEMBLER} {as_flags}\n\
             REGWIN_COMPILE = $(REGWIN_CC) $(1) $(REGWIN_CFLAGS) -S $(2) -o $(3:.o=.s) && sed -i '/^[[:space:]]*\\.cfi_/d' $(3:.o=.s) && $(REGWIN_AS) $(3:.o=.s) -o $(3)\n\
             REGWIN_AR := xtensa-lx106-elf-ar\n\
             REGWIN_LD := {LINKER}\n\
             REGWIN_LDFLAGS = {link} --defsym=REGWIN_RAM=$(REGWIN_RAM_$(CORE)) -T $(REGWIN)lib/regwin.ld\n\
             REGWIN_LIB := $(REGWIN)lib/librw-{scheme}.a\n\
             REGWIN_LIBS := $(REGWIN)lib/librw-{scheme}.a\n\
             REGWIN_OBJECTS :={objects}\n",
        ),
    );
    files
}
