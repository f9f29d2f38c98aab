//! The runtime for Xtensa: registers keep their values under QEMU on both cores, faults are seen,
//! and what a yield takes.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use regwin::Scheme;
use regwin::library::Options;
use regwin::xtensa::image::{XtensaCore, XtensaImage};
use regwin::xtensa::{self, qemu};

const PROGRAM: &str = include_str!("xtensa/program.c");

/// The tools are there; else the tests are in the list of skips.
fn has_tools() -> bool {
    let tools = [xtensa::CLANG, xtensa::ASSEMBLER, xtensa::LINKER, "qemu-system-xtensa"];
    testkit::has("regwin: Xtensa", &tools)
}

/// A library in a folder of its own.
struct Library {
    folder: measure::scratch::Folder,
}

fn run(command: &mut Command) -> String {
    let out = command.stdin(Stdio::null()).output().expect("the tool starts");
    let text =
        format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    assert!(out.status.success(), "{command:?}: {text}");
    text
}

impl Library {
    /// The library of these options; `edit` may change its sources before they are compiled.
    fn new(scheme: Scheme, options: &[&str], edit: impl Fn(&str, &str) -> String) -> Library {
        let mut wanted = Options::new(scheme);
        for name in options {
            *wanted.named(name).expect("there is such an option") = true;
        }
        let folder = measure::scratch::folder().expect("a folder");
        for (name, text) in xtensa::folder(&wanted) {
            let path = folder.path().join(&name);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            std::fs::write(path, edit(&name, &text)).expect("a file");
        }
        run(Command::new("make").current_dir(folder.path()).args(["-s", "lib"]));
        Library { folder }
    }

    fn of(scheme: Scheme, options: &[&str]) -> Library {
        Library::new(scheme, options, |_, text| text.to_owned())
    }

    /// An image of this program, in the place of the example.
    fn image(&self, core: XtensaCore, program: &str, flags: &str) -> PathBuf {
        let path = self.folder.path();
        std::fs::write(path.join("example/main.c"), program).expect("the program");
        let _ = std::fs::remove_file(path.join("example/main.o"));
        let _ = std::fs::remove_file(path.join("example.elf"));
        run(Command::new("make").current_dir(path).args([
            "-s",
            "example.elf",
            &format!("CORE={}", core.name()),
            &format!("CFLAGS=-O2 -Wall {flags}"),
        ]));
        path.join("example.elf")
    }
}

fn executed(path: &Path) -> qemu::XtensaRun {
    let image = XtensaImage::parse(&std::fs::read(path).expect("the image")).expect("it is one");
    qemu::run(path, &image, 2_000_000_000).unwrap_or_else(|error| panic!("{error}"))
}

/// What the program counted: wrong registers, yields, interrupts, long jumps, ticks.
fn counted(path: &Path, label: &str) -> [u64; 5] {
    let text = executed(path).console;
    let (line, rest) = text.split_once('\n').unwrap_or_else(|| panic!("{label}: {text}"));
    assert_eq!(rest, "regwin: done\n", "{label}: {text}");
    let numbers: Vec<u64> = line.split(' ').filter_map(|part| part.parse().ok()).collect();
    numbers.try_into().unwrap_or_else(|_| panic!("{label}: {text}"))
}

/// 20,000 random actions of each build on each core, 250,000 with `MEANWHILE_LONG`: calls of each
/// size, yields, interrupts of level 1 and 3, time slices, moved stack pointers, long jumps.
#[test]
fn registers_keep_their_patterns() {
    if !has_tools() {
        return;
    }
    let is_long = std::env::var_os("MEANWHILE_LONG").is_some();
    let n_actions: u64 = if is_long { 250_000 } else { 20_000 };
    let options: [&[&str]; 4] =
        [&[], &["preempt"], &["preempt", "priorities"], &["preempt", "working-set", "unchecked"]];
    let mut seed = 1;
    for scheme in xtensa::SCHEMES {
        for options in options {
            if scheme == Scheme::Ns && options.contains(&"working-set") {
                continue;
            }
            let library = Library::of(scheme, options);
            for core in XtensaCore::ALL {
                seed += 1;
                let n_threads = 2 + seed % 5;
                let flags = format!(
                    "-DSEED={seed}u -DACTIONS={n_actions} -DPERIOD=50 -DN_THREADS={n_threads}"
                );
                let label = format!("seed {seed}, {scheme:?} {options:?} {core:?}");
                let [wrong, yields, interrupts, jumps, ticks] =
                    counted(&library.image(core, PROGRAM, &flags), &label);
                assert_eq!(wrong, 0, "{label}: wrong registers");
                assert!(yields > n_actions / 100 && jumps > 5, "{label}: {yields} {jumps}");
                let interrupted = interrupts > n_actions / 100 && ticks > 5;
                assert_eq!(
                    interrupted,
                    options.contains(&"preempt"),
                    "{label}: {interrupts} {ticks}"
                );
            }
        }
    }
}

/// Each of these mistakes in a handler is seen: a register that does not move along, a start bit
/// at the wrong place, a thread's place that is not emptied, a frame that is not known for the newest,
/// a stack pointer that moves by less than what moves with it, and a handler of `ns` in `sp`.
#[test]
fn a_wrong_handler_is_seen() {
    if !has_tools() {
        return;
    }
    let faults = [
        ("windows_sp.h", "mov.n a12, a4; mov.n a13, a5;", "mov.n a12, a4;"),
        ("windows_sp.h", "mov.n a7, a3; mov.n a6, a2;", "mov.n a7, a2; mov.n a6, a2;"),
        ("windows_sp.h", "mov.n a14, a2; mov.n a15, a3;", "mov.n a14, a2;"),
        ("windows_sp.h", "s32i a7, a12, TCB_FRAME + 28;", ""),
        ("windows_sp.h", "rsync; rotw 3; rfwu", "rsync; rotw 2; rfwu"),
        ("switch_sp.S", "or a15, a15, a15", ""),
        ("vectors.S", "    OVERFLOW_TOP\n", ""),
        ("vectors.S", "bltu a1, a2, moves_up", ""),
        (
            "vectors.S",
            "#include \"windows_sp.h\"",
            "#include \"windows_sp.h\"\n#undef UNDERFLOW_8\n#define UNDERFLOW_8 UNDERFLOW_8_OF_NS\n",
        ),
    ];
    for (file, right, wrong) in faults {
        let library = Library::new(Scheme::Sp, &[], |name, text| {
            if name != format!("src/{file}") {
                return text.to_owned();
            }
            assert!(text.contains(right), "{file} has `{right}`");
            let ns = "#define UNDERFLOW_8_OF_NS l32e a0, a9, -16; l32e a1, a9, -12; l32e a2, a9, -8; \
                      l32e a7, a1, -12; l32e a3, a9, -4; l32e a4, a7, -32; l32e a5, a7, -28; \
                      l32e a6, a7, -24; l32e a7, a7, -20; rfwu\n";
            format!("{ns}{}", text.replacen(right, wrong, 1))
        });
        let flags = "-DSEED=3u -DACTIONS=20000 -DPERIOD=50";
        let image = library.image(XtensaCore::Dc232b, PROGRAM, flags);
        let parsed =
            XtensaImage::parse(&std::fs::read(&image).expect("the image")).expect("it is one");
        // What goes wrong may also hang.
        let seen = match qemu::run(&image, &parsed, 60_000_000) {
            Ok(run) => !(run.console.starts_with("wrong 0 ") && run.console.ends_with("done\n")),
            Err(_) => true,
        };
        assert!(seen, "{file}: `{wrong}` for `{right}` is not seen");
    }
}

/// Threads that yield in a loop: instructions a yield, the loop with it.
fn yields(library: &Library, core: XtensaCore, n_threads: u32, between: &str) -> f64 {
    let program = format!(
        "#include <regwin.h>\n\
         static struct thr t[{n_threads}];\n\
         static unsigned st[{n_threads}][1024] __attribute__((aligned(16)));\n\
         static __attribute__((noinline)) unsigned deep(unsigned n)\n\
         {{ unsigned r = n ? deep(n - 1) : 0; __asm__ volatile(\"\" : \"+r\"(r)); return r + n; }}\n\
         static void go(void *x) {{ (void)x; for (unsigned i = 0; i < TIMES; i++) {{ thr_yield(); {between} }} }}\n\
         int main(void) {{ for (unsigned i = 0; i < {n_threads}; i++)\n\
         thr_create(&t[i], \"t\", st[i], sizeof st[i], go, 0); deep(0); return 0; }}\n\
         void machine_idle(void *x) {{ (void)x; machine_stop(); }}\n"
    );
    let run = |times: u32| {
        executed(&library.image(core, &program, &format!("-DTIMES={times}"))).instructions() as f64
    };
    (run(2000) - run(1000)) / f64::from(1000 * n_threads)
}

/// The counts of the guide [sim], and its goal: under 60 instructions a yield. Zephyr's take 175
/// on dc233c (issue 116645 of Zephyr).
#[test]
fn a_yield_takes_what_the_guide_says() {
    if !has_tools() {
        return;
    }
    let rows: [(Scheme, &[&str], [f64; 3]); 6] = [
        (Scheme::Ns, &[], [44.0, 44.0, 154.0]),
        (Scheme::Sp, &[], [27.0, 55.0, 201.0]),
        (Scheme::Ns, &["preempt"], [52.0, 52.0, 162.0]),
        (Scheme::Sp, &["preempt"], [33.0, 62.0, 208.0]),
        (Scheme::Ns, &["preempt", "priorities"], [201.0, 201.0, 311.0]),
        (Scheme::Sp, &["preempt", "priorities"], [235.0, 235.0, 381.0]),
    ];
    let mut found = Vec::new();
    for (scheme, options, _) in rows {
        let library = Library::of(scheme, options);
        let of = |core| {
            let loops = [(2, ""), (3, ""), (2, "deep(4);")];
            loops.map(|(n_threads, between)| yields(&library, core, n_threads, between))
        };
        let counts = of(XtensaCore::Dc232b);
        assert_eq!(counts, of(XtensaCore::Dc233c), "{scheme:?} {options:?}: the cores count alike");
        found.push((scheme, options, counts));
    }
    assert_eq!(found, rows);
}

/// What a program prints, on dc232b.
fn printed(options: &[&str], program: &str) -> String {
    let library = Library::of(Scheme::Sp, options);
    executed(&library.image(XtensaCore::Dc232b, program, "-Wno-infinite-recursion")).console
}

/// At the next switch after the frames have left the stack.
#[test]
fn a_stack_that_is_too_small_is_named() {
    if !has_tools() {
        return;
    }
    let program = |depth: u32| {
        format!(
            "#include <regwin.h>\n\
             static struct thr small, other;\n\
             static struct {{ unsigned below[2048], its[256]; }} st __attribute__((aligned(16)));\n\
             static unsigned so[256] __attribute__((aligned(16)));\n\
             static __attribute__((noinline)) void down(unsigned n) {{ if (n) down(n - 1); else thr_yield(); st.below[0]++; }}\n\
             static void go(void *x) {{ down((unsigned)x); }}\n\
             int main(void) {{ thr_create(&small, \"small\", st.its, sizeof st.its, go, (void *){depth});\n\
             thr_create(&other, \"other\", so, sizeof so, go, 0); return 0; }}\n\
             void machine_idle(void *x) {{ (void)x; thr_report(); machine_stop(); }}\n"
        )
    };
    assert_eq!(printed(&[], &program(60)), "regwin: overflow small\n");
    assert_eq!(printed(&[], &program(10)), "regwin: done\n");
}

/// A handler of an interrupt may not yield; an exception without a handler says what and where.
#[test]
fn mistakes_are_named() {
    if !has_tools() {
        return;
    }
    let program = |handler: &str| {
        format!(
            "#include <regwin.h>\n\
             static void on(void *x) {{ (void)x; {handler} }}\n\
             int main(void) {{ if (irq_attach(7, on, 0)) console_text(\"no interrupt\"); irq_raise(7); console_text(\"goes on\\n\"); return 0; }}\n\
             void machine_idle(void *x) {{ (void)x; machine_stop(); }}\n"
        )
    };
    assert_eq!(printed(&["preempt"], &program("")), "goes on\n");
    let yields = printed(&["preempt"], &program("thr_yield();"));
    assert_eq!(yields, "regwin: a handler calls thr_yield\n");
    let traps = printed(&["preempt"], &program("__asm__ volatile(\"ill\");"));
    assert!(traps.starts_with("regwin: trap 00000000 at d000"), "{traps}");
}

/// An image of assembly alone: in RAM of dc232b at 0xd0002000, and what is executed at reset.
fn stranger(text: &str) -> (measure::scratch::Folder, Vec<u8>) {
    let folder = measure::scratch::folder().expect("a folder");
    let reset = "\n.section .reset, \"ax\"\n.p2align 2\nj 1f\n.p2align 2\nwhere: .long _start\n\
                 1: l32r a0, where\njx a0\n";
    std::fs::write(folder.path().join("x.s"), format!("{text}{reset}")).expect("the text");
    let mut command = Command::new(xtensa::ASSEMBLER);
    command.current_dir(folder.path()).args(xtensa::as_flags()).args(["x.s", "-o", "x.o"]);
    run(&mut command);
    let mut command = Command::new(xtensa::LINKER);
    command.current_dir(folder.path()).args(["--no-warn-rwx-segments", "-Ttext=0xd0002000"]);
    command.args(["--section-start=.reset=0xfe000000", "x.o", "-o", "x.elf"]);
    run(&mut command);
    let bytes = std::fs::read(folder.path().join("x.elf")).expect("the image");
    (folder, bytes)
}

const START: &str = ".text\n.global _start\n.p2align 2\n_start:\nmovi a2, 1\nwsr a2, windowstart\n\
    movi a2, 0\nwsr a2, windowbase\nrsync\nmovi a2, 1\nmovi a3, 42\n.byte 0, 0x51, 0\n.p2align 2\n";
const OPENS: &str = ".type opens, @function\nopens: entry a1, 32\nretw\n.size opens, . - opens\n";
const FLAT: &str =
    ".p2align 2\n.type flat, @function\nflat: addi a2, a2, 1\nret\n.size flat, . - flat\n";

/// An image with nothing of ours is counted, and what it tells the host is known.
#[test]
fn an_image_of_somebody_else_is_counted() {
    if !has_tools() {
        return;
    }
    let (folder, bytes) = stranger(&format!("{START}{OPENS}"));
    let image = XtensaImage::parse(&bytes).expect("an image");
    let ran = executed(&folder.path().join("x.elf"));
    assert_eq!((ran.instructions(), ran.status, ran.at_limit), (8, 42, false));
    assert_eq!(ran.vector(&image, 0), None, "its vectors are not known");
}

#[test]
fn code_of_the_call0_abi_is_refused_by_name() {
    if !has_tools() {
        return;
    }
    let why = |text: &str| XtensaImage::parse(&stranger(text).1).expect_err("it is refused").why;
    let mixed = why(&format!("{START}{OPENS}{FLAT}"));
    assert_eq!(mixed, "functions of the call0 ABI are in a windowed image: flat");
    let flat = why(&format!("{START}{FLAT}"));
    assert_eq!(flat, "it is of the call0 ABI: no function opens a window");
}
