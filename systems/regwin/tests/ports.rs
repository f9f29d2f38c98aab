//! The ports to Zephyr and RTEMS, on mock kernels that keep those kernels' contracts with their
//! SPARC code.

use crate::support::mock;

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use mock::{Image, Rtos};
use regwin::code::Code;
use regwin::qemu::{self, Watch};
use regwin::work;

/// What the program prints.
fn printed(image: &Image) -> String {
    let folder = measure::scratch::folder().expect("a folder");
    let path = image.build(folder.path(), &[]);
    boot(&path, image.windows)
}

/// Interrupts come at the same instruction in each run. How QEMU ends is in what it prints.
fn boot(image: &Path, windows: u32) -> String {
    let mut qemu = Command::new("timeout");
    qemu.args([
        "60",
        "qemu-system-sparc",
        "-M",
        "leon3_generic",
        "-nographic",
        "-monitor",
        "none",
        "-serial",
        "stdio",
    ]);
    qemu.args(["-icount", "shift=0", "-cpu", &format!("LEON3,nwindows={windows}"), "-kernel"])
        .arg(image)
        .stdin(Stdio::null());
    let out = qemu.output().expect("QEMU starts");
    format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr))
}

fn random(rtos: Rtos, seed: u64, n_actions: u64) -> Vec<String> {
    // Zephyr's threads end by a fault now and then; one of RTEMS' computes with floats.
    let more = match rtos {
        Rtos::Zephyr => "-DFAULTS",
        Rtos::Rtems => "-DFLOATS",
    };
    vec![
        format!("-DSEED={seed}u"),
        format!("-DACTIONS={n_actions}"),
        "-DDEPTH=12".to_owned(),
        more.to_owned(),
    ]
}

/// The number after a word.
fn number(text: &str, word: &str) -> u64 {
    let mut words = text.split_whitespace();
    words
        .find(|it| *it == word)
        .and_then(|_| words.next())
        .and_then(|found| found.parse().ok())
        .unwrap_or_else(|| panic!("no {word}: {text}"))
}

/// Calls, returns, switches, interrupts, flushes, faults, threads that end and begin again on the
/// same stacks, depths to 12.
#[test]
fn registers_keep_their_patterns_under_both_contracts() {
    let is_long = std::env::var_os("MEANWHILE_LONG").is_some();
    let (n_actions, n_windows): (u64, Vec<u32>) =
        if is_long { (1_000_000, (4..=32).collect()) } else { (15_000, vec![4, 5, 8, 31]) };
    for rtos in Rtos::BOTH {
        for (idx, windows) in n_windows.iter().enumerate() {
            let seed = u64::from(*windows) + 100;
            let image = Image {
                rtos,
                ported: true,
                windows: *windows,
                clang: idx % 2 == 1,
                program: "program.c",
                defines: &random(rtos, seed, n_actions),
            };
            let text = printed(&image);
            let of = |word: &str| number(&text, word);
            assert_eq!(of("wrong"), 0, "{image:?}: {text}");
            assert!(
                of("switches") > n_actions / 5 && of("interrupts") > n_actions / 5,
                "{image:?}: {text}"
            );
            assert!(of("ended") > 5 && of("killed") > 10 && of("stored") > 10, "{image:?}: {text}");
        }
    }
}

/// The mock kernels are right by themselves: what the test above finds is the port's.
#[test]
fn the_mock_kernels_keep_registers_too() {
    for rtos in Rtos::BOTH {
        let image = Image {
            rtos,
            ported: false,
            windows: 8,
            clang: false,
            program: "program.c",
            defines: &random(rtos, 7, 15_000),
        };
        let text = printed(&image);
        assert_eq!(number(&text, "wrong"), 0, "{image:?}: {text}");
    }
}

/// A kernel that does not tell that a thread has ended has its stack written when
/// it is another thread's.
#[test]
fn an_end_that_nobody_tells_of_is_seen() {
    let mut defines = random(Rtos::Zephyr, 3, 60_000);
    defines.push("-DCONFIG_REGWIN_OWN_ABORT_HOOK".to_owned());
    let image = Image {
        rtos: Rtos::Zephyr,
        ported: true,
        windows: 32,
        clang: false,
        program: "program.c",
        defines: &defines,
    };
    let text = printed(&image);
    assert!(text.contains("the stack of a thread that had ended was written"), "{text}");
}

/// Any operands and any target, most of which no compiler writes.
#[test]
fn restores_add_what_they_say() {
    let mut rng = fastrand::Rng::with_seed(4);
    let mut assembly = String::from(".section .text\n");
    let mut list = String::new();
    // Not what the ABI, the kernel and the trap need: stack and frame pointers, return addresses,
    // %g5 to %g7; %l0 and %o0 of the caller hold addresses.
    let usable = |r: &u32| ![5, 6, 7, 14, 15, 30, 31].contains(r);
    let register = |r: u32| format!("%{}{}", ["g", "o", "l", "i"][r as usize / 8], r % 8);
    for idx in 0..150 {
        let mut any = || (0..).map(|_| rng.u32(0..32)).find(usable).expect("there are usable ones");
        let (first, second, to) = (any(), any(), any());
        // In the frame, globals are the same as in its caller.
        let value = |r: u32| if r == 0 { 0 } else { 1000 + 17 * r };
        let constant = (idx % 3 == 0).then(|| rng.i32(-4096..4096));
        let sum =
            value(first).wrapping_add(constant.map_or_else(|| value(second), i32::cast_unsigned));
        let expected = if to == 0 { 0 } else { sum };
        let all = |base: u32, step: u32| {
            (1..32).filter(|idx| usable(idx)).fold(String::new(), |text, r| {
                text + &format!(" mov {}, {}\n", base + step * r, register(r))
            })
        };
        let operand = constant.map_or_else(|| register(second), |it| it.to_string());
        write!(
            assembly,
            ".global restore_{idx}\nrestore_{idx}:\n save %sp, -96, %sp\n{} save %sp, -96, %sp\n{} ta 3\n restore {}, {operand}, {}\n\
             mov {}, %o0\n sethi %hi(got), %o1\n st %o0, [%o1 + %lo(got)]\n ret\n restore\n",
            all(5000, 13).lines().filter(|line| !line.contains("%i")).fold(String::new(), |text, line| text + line + "\n"),
            // The outs of the caller are the ins of the frame.
            all(1000, 17),
            register(first),
            register(to),
            register(to),
        )
        .expect("memory");
        write!(list, "CHECK(restore_{idx}, {expected}u) ").expect("memory");
    }
    for rtos in Rtos::BOTH {
        let folder = measure::scratch::folder().expect("a folder");
        let functions = folder.path().join("functions.S");
        std::fs::write(&functions, &assembly).expect("a file");
        let defines = [format!("-DRESTORES={list}")];
        let image = Image {
            rtos,
            ported: true,
            windows: 8,
            clang: false,
            program: "restores.c",
            defines: &defines,
        };
        let text = boot(&image.build(folder.path(), &[&functions]), 8);
        assert_eq!(text, "checked 150 wrong 0\n", "{rtos:?}");
    }
}

/// A switch on the average: windows stored, by traps and switches, and cycles of everything
/// that is the architecture's.
fn switch_costs(
    rtos: Rtos,
    ported: bool,
    windows: u32,
    threads: u32,
    depth: u32,
    between: bool,
) -> (f64, [f64; 2]) {
    const TURNS: u32 = 1100;
    let mut defines = vec![
        format!("-DTHREADS={threads}"),
        format!("-DDEPTH={depth}"),
        format!("-DTURNS={TURNS}"),
    ];
    defines.extend(between.then(|| "-DBETWEEN".to_owned()));
    let image =
        Image { rtos, ported, windows, clang: false, program: "turns.c", defines: &defines };
    let folder = measure::scratch::folder().expect("a folder");
    let path = image.build(folder.path(), &[]);
    let code = Code::parse(&std::fs::read(&path).expect("it is there")).expect("an image");
    let cores = work::cores();
    let words = (code.traps.clone())
        .chain(code.switches.clone())
        .chain((0..4096).map(|idx| code.base + idx))
        .collect();
    let watch = Watch {
        begins: vec![code.address("mark_begin")],
        ends: vec![code.address("mark_end")],
        words: Some(words),
    };
    let raw = qemu::run_watched(&path, &code, windows, &[], [&cores[0], &cores[1]], &[watch])
        .expect("it ends");
    assert_eq!(raw.console, "done\n", "{image:?}");
    let [span] = raw.spans[0].as_slice() else { panic!("{image:?}: {:?}", raw.spans) };
    let n = f64::from(TURNS - 100);
    // A newest frame that goes to its record is a window too.
    let is_store = |word: u32| word & 0xfff8_2000 == (3 << 30 | 16 << 25 | 0x07 << 19 | 1 << 13);
    let stored: u64 = raw
        .words
        .iter()
        .filter(|(at, _)| is_store(code.words[(at - code.base) as usize / 4]))
        .map(|word| word.1)
        .sum();
    (stored as f64 / f64::from(TURNS), span.cycles.map(|cycle| f64::from(cycle) / n))
}

/// Two threads of one call each: their windows stay, and a switch takes fewer cycles than one that
/// stores them. All depths are counted with `MEANWHILE_LONG`, and written to the file that
/// `REGWIN_PORT_COUNTS` names.
#[test]
fn windows_that_fit_are_not_stored() {
    let mut rows = String::new();
    let is_long = std::env::var_os("MEANWHILE_LONG").is_some();
    for rtos in Rtos::BOTH {
        for windows in [8, 31] {
            if windows == 31 && !is_long {
                continue;
            }
            for threads in [2, 4] {
                for between in [false, true] {
                    for depth in [1, 2, 3, 4, 6, 8, 12] {
                        if !is_long && ![1, 3, 12].contains(&depth) {
                            continue;
                        }
                        let [own, ported] = [false, true].map(|found| {
                            switch_costs(rtos, found, windows, threads, depth, between)
                        });
                        writeln!(
                            rows,
                            "{rtos:?} {windows} windows, {threads} threads {}{depth}: stored {:.2} {:.2}, erc32 {:.0} {:.0}, leon3 {:.0} {:.0}",
                            if between { "between " } else { "" },
                            own.0,
                            ported.0,
                            own.1[0],
                            ported.1[0],
                            own.1[1],
                            ported.1[1]
                        )
                        .expect("memory");
                        if threads == 2 && depth == 1 {
                            assert!(ported.0 < 0.1 && own.0 > 0.9, "{rows}");
                            assert!(ported.1[0] < own.1[0] && ported.1[1] < own.1[1], "{rows}");
                        }
                    }
                }
            }
        }
    }
    if let Some(path) = std::env::var_os("REGWIN_PORT_COUNTS") {
        std::fs::write(path, rows).expect("the file is written");
    }
}
