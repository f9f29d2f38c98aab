//! The runtime as files: its options, the files and flags of a build, and the folder that a user
//! links.

use crate::names::{Cc, Scheme};

macro_rules! files {
    ($folder:literal: $($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!("../", $folder, "/", $name)))),+]
    };
}
pub(crate) use files;

/// The files of the runtime: name and text.
pub const RUNTIME: &[(&str, &str)] = files!("runtime":
    "boot.S", "ready.S", "ready_priorities.c", "schedule.c", "threads.c", "lists.c", "semaphores.c",
    "mutex.c", "queues.c", "pools.c", "work.c", "streams.c", "traps.c", "int64.c", "builtins.c",
    "console.c", "offsets.c", "regwin.h", "regwin_machine.h", "kernel.h", "kernel_machine.h",
    "first_frame.h", "window.h", "link.ld",
    "overflow_ns.S", "underflow_ns.S", "flush_ns.S", "flush_sharing.S", "switch_ns.S", "switch_flat.S",
    "overflow_sharing.S", "underflow_sharing.S", "switch_snp.S", "switch_sp.S", "switch_sharing.h",
    "switch_left.h", "adaptive.h", "allocate.h", "overflow_begin.h", "registers.h", "jump.S", "interrupt.S", "irq.c", "fpu.S",
    "overflow_adaptive.S", "underflow_adaptive.S", "underflow_lone.S", "switch_adaptive.S");

pub(crate) const LIBRARY: &[(&str, &str)] =
    files!("library": "Makefile", "gdb.py", "rom.S", "rom.ld", "memory.c", "example.c");

/// What a C library asks for: an object, since of two archives the first gives nothing of what only
/// the second asks for, and that one's own locks, which do nothing, would be linked.
const LIBC: &[(&str, &str)] = files!("library/libc": "calls.c", "seeks.c", "locks.c", "jumps.S");

/// The assembler of all builds, and the first of the two C compilers.
pub const GCC: &str = "sparc64-linux-gnu-gcc";
pub const CLANG: &str = "clang-19";

/// How an image is linked, but for its files.
pub const LINK: [&str; 5] = ["-m", "elf32_sparc", "-z", "noexecstack", "--build-id=none"];

/// What a library of the runtime can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// How threads use the windows.
    pub scheme: Scheme,
    /// A woken thread with resident windows runs next.
    pub working_set: bool,
    pub priorities: bool,
    /// Interrupts, the clock, time slices.
    pub preempt: bool,
    pub fpu: bool,
    /// Variables that each thread has for itself.
    pub tls: bool,
    /// No look at stacks.
    pub unchecked: bool,
}

/// The options by name, and what each is.
pub const OPTIONS: [(&str, &str); 6] = [
    ("working-set", "a woken thread whose windows are resident is the next of its priority"),
    ("priorities", "32 fixed priorities, and mutexes that lend them"),
    ("preempt", "interrupts, the clock, time slices, waits that end after a time"),
    ("fpu", "floating point in threads"),
    ("tls", "`__thread`: variables that each thread has for itself"),
    ("unchecked", "no look at stacks"),
];

impl Options {
    /// A scheme without options.
    pub fn new(scheme: Scheme) -> Options {
        Options {
            scheme,
            working_set: false,
            priorities: false,
            preempt: false,
            fpu: false,
            tls: false,
            unchecked: false,
        }
    }

    /// The option of this name; `None` if there is none.
    pub fn named(&mut self, name: &str) -> Option<&mut bool> {
        Some(match name {
            "working-set" => &mut self.working_set,
            "priorities" => &mut self.priorities,
            "preempt" => &mut self.preempt,
            "fpu" => &mut self.fpu,
            "tls" => &mut self.tls,
            "unchecked" => &mut self.unchecked,
            _ => return None,
        })
    }

    /// The macros that say so to the runtime and to programs.
    pub fn defines(&self) -> Vec<String> {
        let mut defines = vec![format!("SCHEME_{}", self.scheme.name().to_uppercase())];
        let set = [
            (self.working_set, "WORKING_SET"),
            (self.priorities, "PRIORITIES"),
            (self.preempt, "PREEMPT"),
            (self.fpu, "FPU"),
            (self.unchecked, "STACK_UNCHECKED"),
        ];
        defines.extend(set.into_iter().filter(|pair| pair.0).map(|pair| pair.1.to_owned()));
        if self.tls {
            // Bytes of each thread.
            defines.push("THR_TLS=128".to_owned());
        }
        if self.preempt {
            // Bytes; the interrupt of the first timer, as on QEMU's board.
            defines.extend(["THR_IRQ_STACK=4096".to_owned(), "THR_TIMER_IRQ=6".to_owned()]);
        }
        defines
    }

    /// The files that are compiled; boot.S first, whose trap table begins its section.
    pub fn sources(&self) -> Vec<&'static str> {
        let mut files = vec!["boot.S"];
        files.extend(scheme_files(self.scheme));
        files.push(if self.priorities { "ready_priorities.c" } else { "ready.S" });
        files.extend((self.priorities || self.preempt).then_some("schedule.c"));
        files.extend(["threads.c", "lists.c", "streams.c", "int64.c", "console.c", "offsets.c"]);
        files.extend(self.priorities.then_some("mutex.c"));
        files.extend(self.preempt.then_some(["interrupt.S", "irq.c"]).into_iter().flatten());
        files.extend(self.fpu.then_some("fpu.S"));
        files
    }

    /// What programs link besides, if they use it.
    pub fn more_sources(&self) -> Vec<&'static str> {
        let all = [
            "builtins.c",
            "semaphores.c",
            "mutex.c",
            "queues.c",
            "pools.c",
            "work.c",
            "traps.c",
            "jump.S",
        ];
        all.into_iter().filter(|word| !self.sources().contains(word)).collect()
    }
}

/// The text of regwin_options.h with these macros.
pub fn options_header(defines: &[String]) -> String {
    let lines: String = defines
        .iter()
        .map(|define| format!("#define {}\n", define.replacen('=', " ", 1)))
        .collect();
    format!(
        "/* What the runtime was built with. */\n#ifndef REGWIN_OPTIONS_H\n#define REGWIN_OPTIONS_H\n{lines}#endif\n"
    )
}

/// What everything that runs on the machine is compiled with: windows open at the first instruction
/// of a function and close at its last, %g2 to %g7 are the runtime's, and no calls of memset and
/// memcpy that are not written.
pub fn c_flags(cc: Cc) -> Vec<String> {
    let of = |flags: &[&str]| flags.iter().map(|flag| (*flag).to_owned()).collect::<Vec<String>>();
    let shared = of(&["-ffreestanding", "-fno-stack-protector", "-fno-optimize-sibling-calls"]);
    match cc {
        Cc::Gcc => {
            let own = [
                "-m32",
                "-mcpu=leon3",
                "-fno-pic",
                "-no-pie",
                "-mno-app-regs",
                "-ffixed-g5",
                "-Wa,--noexecstack",
            ];
            [of(&own), shared, of(&["-fno-shrink-wrap", "-fno-tree-loop-distribute-patterns"])]
                .concat()
        }
        Cc::Clang => {
            let globals: Vec<String> = (2..8).map(|idx| format!("-ffixed-g{idx}")).collect();
            [of(&["--target=sparc-none-elf", "-mcpu=leon3", "-fno-pic"]), shared, globals].concat()
        }
    }
}

/// The files of a folder that builds a library and an example; paths and texts.
pub fn folder(options: &Options, cc: Cc) -> Vec<(String, String)> {
    let scheme = options.scheme.name();
    let sources = [options.sources(), options.more_sources()].concat();
    let mut files = Vec::new();
    let mut add = |path: String, text: String| files.push((path, text));
    for (name, text) in RUNTIME {
        match *name {
            "regwin.h" | "regwin_machine.h" => add(format!("include/{name}"), (*text).to_owned()),
            "link.ld" => add("lib/regwin.ld".to_owned(), (*text).to_owned()),
            // Only what this library is made of.
            _ if name.ends_with(".h") || sources.contains(name) => {
                add(format!("src/{name}"), (*text).to_owned())
            }
            _ => {}
        }
    }
    for (name, text) in LIBRARY {
        let path = match *name {
            "Makefile" => "Makefile",
            "gdb.py" => "gdb.py",
            "rom.ld" => "lib/rom.ld",
            "example.c" => "example/main.c",
            other => &format!("src/{other}"),
        };
        add(path.to_owned(), (*text).to_owned());
    }
    for (name, text) in LIBC {
        add(format!("src/libc/{name}"), (*text).to_owned());
    }
    add("include/regwin_options.h".to_owned(), options_header(&options.defines()));
    let stem = |source: &str| source.rsplit_once('.').expect("an ending").0.to_owned();
    let objects: String = sources
        .iter()
        .copied()
        .chain(["memory.c"])
        .map(|source| format!(" $(REGWIN)src/{}.o", stem(source)))
        .collect();
    let of_libc: String =
        LIBC.iter().map(|(name, _)| format!(" $(REGWIN)src/libc/{}.o", stem(name))).collect();
    let (gcc, clang) = (c_flags(Cc::Gcc).join(" "), c_flags(Cc::Clang).join(" "));
    let link = LINK.join(" ");
    let compiler = cc.name();
    add(
        "regwin.mk".to_owned(),
        format!(
            "{MARK}\n\
             # What a program that uses it is compiled and linked with. The library goes behind the program's objects.\n\
             REGWIN := $(dir $(lastword $(MAKEFILE_LIST)))\n\
             COMPILER ?= {compiler}\n\
             REGWIN_PREFIX := {prefix}\n\
             REGWIN_AS := {GCC}\n\
             REGWIN_ASFLAGS := {gcc} -I$(REGWIN)include\n\
             REGWIN_CC_gcc := {GCC}\n\
             REGWIN_CFLAGS_gcc := {gcc}\n\
             REGWIN_CC_clang := {CLANG}\n\
             REGWIN_CFLAGS_clang := {clang}\n\
             REGWIN_CC = $(REGWIN_CC_$(COMPILER))\n\
             REGWIN_CFLAGS = $(REGWIN_CFLAGS_$(COMPILER)) -std=gnu11 -I$(REGWIN)include\n\
             REGWIN_LD := $(REGWIN_PREFIX)ld\n\
             REGWIN_LDFLAGS := {link} -T $(REGWIN)lib/regwin.ld\n\
             REGWIN_LIB := $(REGWIN)lib/librw-{scheme}.a\n\
             REGWIN_LIBS := $(REGWIN_LIB)\n\
             REGWIN_OBJECTS :={objects}\n\
             # With a C library: this among the program's objects, and its archive between --start-group $(REGWIN_LIBS) and --end-group.\n\
             REGWIN_LIBC := $(REGWIN)lib/regwin-libc.o\n\
             REGWIN_LIBC_OBJECTS :={of_libc}\n",
            prefix = GCC.trim_end_matches("gcc"),
        ),
    );
    let for_driver: Vec<String> = ["-Wl,-z,noexecstack", "-Wl,--build-id=none"]
        .iter()
        .map(|word| (*word).to_owned())
        .collect();
    add(
        format!("lib/pkgconfig/regwin-{scheme}.pc"),
        format!(
            "prefix=${{pcfiledir}}/../..\n\
             Name: regwin-{scheme}\n\
             Description: threads in register windows for SPARC V8, scheme {scheme}\n\
             Version: {version}\n\
             Cflags: {gcc} -I${{prefix}}/include\n\
             Libs: -nostdlib -static {driver} -T${{prefix}}/lib/regwin.ld -L${{prefix}}/lib -lrw-{scheme}\n",
            version = env!("CARGO_PKG_VERSION"),
            driver = for_driver.join(" "),
        ),
    );
    files
}

/// The first line of `regwin.mk`: a folder that has it is ours.
pub const MARK: &str = "# Written by `meanwhile regwin build`.";

/// The assembly of a scheme, from the runtime's folder.
fn scheme_files(scheme: Scheme) -> &'static [&'static str] {
    match scheme {
        Scheme::Ns => &["overflow_ns.S", "underflow_ns.S", "flush_ns.S", "switch_ns.S"],
        Scheme::Snp => {
            &["overflow_sharing.S", "underflow_sharing.S", "flush_sharing.S", "switch_snp.S"]
        }
        Scheme::Sp => {
            &["overflow_sharing.S", "underflow_sharing.S", "flush_sharing.S", "switch_sp.S"]
        }
        Scheme::Adaptive => &[
            "overflow_adaptive.S",
            "underflow_adaptive.S",
            "flush_sharing.S",
            "overflow_ns.S",
            "underflow_lone.S",
            "flush_ns.S",
            "switch_adaptive.S",
        ],
        Scheme::Flat => &["overflow_ns.S", "underflow_ns.S", "flush_ns.S", "switch_flat.S"],
    }
}
