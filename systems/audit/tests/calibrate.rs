//! `audit calibrate`: the chains compile and run; timed by the model of a core they give its file
//! back, from a core that is another; and what is no calibration is refused.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use audit::audit::{Options, audit};
use audit::calibrate::{Calibrated, c_file, calibrate, modelled};
use audit::decode::Isa;
use audit::program::Program;
use audit::program::toolchain::{self, Build};
use audit::timing::licence::Effort;
use machine::in_order::{Class, Core, Out};

fn core(name: &str) -> Core {
    Core::bundled(name).expect("it is bundled")
}

/// The chains as a compiler makes them for this core.
fn object(isa: Isa, cpu: &str) -> Vec<u8> {
    let text = c_file(isa).expect("there are chains");
    let (file, build) = (Path::new("chains.c"), Build::default());
    toolchain::compile_changed(file, &text, isa, cpu, &build, toolchain::LIMIT)
        .unwrap_or_else(|error| panic!("{error}"))
}

/// What the chains would print on a core that is as its model.
fn printed(object: &[u8], isa: Isa, core: &Core) -> String {
    const ITERATIONS: f64 = 3000.0;
    let mut lines = format!("# meanwhile calibration {}\n", isa.name());
    for (name, cycles) in modelled(object, isa, core).expect("they are chains") {
        let _ = writeln!(lines, "{name} {} {ITERATIONS}", (cycles * ITERATIONS).round());
    }
    lines + "# end\n"
}

fn calibrated(isa: Isa, of: &Core, nearest: &str) -> Calibrated {
    let object = object(isa, nearest);
    let results = printed(&object, isa, of);
    calibrate("results.txt", &results, &object, isa, &core(nearest))
        .unwrap_or_else(|error| panic!("{error}"))
}

/// Starts, waits and loops of every function of the bundled examples.
fn times(isa: Isa, compiled_for: &str, core: &Core) -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = ["fastpath/original.c", "fastpath/improved.c", "demo/checksum.c"]
        .map(|file| root.join("examples").join(file))
        .to_vec();
    // The code whose reports are in the tree, of the core and of others of its set.
    let reports = root.join("systems/audit/tests/reports");
    let of_set = match isa {
        Isa::A64 => ["a53_loop.s", "a53_loop.s"],
        Isa::T32 => ["m4_spill.s", "m4_switch.s"],
        _ => ["u74_switch.s", "rocket_path.s"],
    };
    files.extend(of_set.map(|file| reports.join(file)));
    files.push(root.join("systems/audit/tests/support/sample.c"));
    let mut found = Vec::new();
    for path in files {
        let file = path.display();
        let bytes = toolchain::compile(&path, isa, compiled_for, &Build::default())
            .unwrap_or_else(|error| panic!("{error}"));
        let program = Program::parse("example", &bytes).expect("an object file");
        for symbol in &program.symbols {
            let options = Options {
                avoid: Vec::new(),
                through: Vec::new(),
                effort: Effort::Search,
                recorded: None,
            };
            let Ok(audit) = audit(&program, symbol, compiled_for, Some(core), &options) else {
                continue;
            };
            let timed = audit.timed.expect("it has instructions");
            let loops: Vec<f64> = timed.loops.iter().map(|it| it.cycles).collect();
            // Of floating point and vectors there are no chains.
            let mut all = audit.function.instructions.iter();
            if all.any(|it| it.class >= Class::Float) {
                continue;
            }
            found.push(format!(
                "{file} {}: starts {:?} waits {:?} total {} loops {loops:?}",
                symbol.name,
                timed.timing.starts,
                timed.timing.stall_cycles,
                timed.cycles.total_cycles
            ));
        }
    }
    assert!(found.len() > 5, "{compiled_for}: {}", found.len());
    found
}

/// The model of `of`, timed as a board would be, gives a file with its cycles, begun as `nearest`;
/// but for the functions whose names `others` end in.
fn comes_back(isa: Isa, of: &str, nearest: &str, others: &[&str]) {
    let made = calibrated(isa, &core(of), nearest);
    let again = Core::parse("my-core.toml", &made.text).unwrap_or_else(|error| panic!("{error}"));
    let both = times(isa, of, &core(of)).into_iter().zip(times(isa, of, &again));
    let differ: Vec<(String, String)> = both.filter(|(here, there)| here != there).collect();
    assert_eq!(differ.len(), others.len(), "{of} from {nearest}: {differ:#?}");
    for ((differs, _), name) in differ.iter().zip(others) {
        assert!(differs.contains(&format!(" {name}: ")), "{differs}");
    }
    // Nothing is there because the two were alike.
    assert_ne!(times(isa, of, &core(of)), times(isa, of, &core(nearest)), "{of} and {nearest}");
}

#[test]
fn a53_comes_back_from_a55() {
    comes_back(Isa::A64, "cortex-a53", "cortex-a55", &[]);
}

#[test]
fn a55_comes_back_from_a53() {
    comes_back(Isa::A64, "cortex-a55", "cortex-a53", &[]);
}

#[test]
fn m4_comes_back_from_m3() {
    comes_back(Isa::T32, "cortex-m4", "cortex-m3", &[]);
}

#[test]
fn m7_comes_back_from_m4() {
    // No chain has `ldr pc`, `umlal`, or what stands beside a quotient: these are as on the M4.
    let others = ["run", "divide", "product", "checksum", "indirect"];
    comes_back(Isa::T32, "cortex-m7", "cortex-m4", &others);
}

#[test]
fn u74_comes_back_from_rocket() {
    comes_back(Isa::Riscv64, "sifive-u74", "rocket", &[]);
}

#[test]
fn what_was_changed_is_found() {
    let mut planted = core("cortex-a53");
    let change = |core: &mut Core, class: Class, change: fn(&mut machine::in_order::Work)| {
        let mut work = core.work(class).clone();
        change(&mut work);
        core.set_work(class, work);
    };
    change(&mut planted, Class::MulWide, |work| work.latency_cycles += 3);
    change(&mut planted, Class::Load, |work| {
        (work.latency_cycles, work.address_cycles) = (6, Some(4));
    });
    change(&mut planted, Class::Branch, |work| work.taken_cycles = Some(5));
    // Two stores no longer start in following cycles, and two shifts together.
    change(&mut planted, Class::Store, |work| work.unit_cycles = 3);
    let wide = planted.work(Class::Alu).units;
    let mut shift = planted.work(Class::Shift).clone();
    shift.units = wide;
    planted.set_work(Class::Shift, shift);
    let made = calibrated(Isa::A64, &planted, "cortex-a53");
    let far: Vec<_> = made.residuals.iter().filter(|it| !it.is_near()).collect();
    assert!(far.len() <= 2, "{far:?}");
    let fitted = &made.core;
    for class in [Class::MulWide, Class::Load, Class::Div, Class::MulLong] {
        assert_eq!(fitted.to_addition(class), planted.to_addition(class), "{}", class.name());
    }
    let store = fitted.work(Class::Store);
    assert_eq!((store.unit_cycles(1, 8), fitted.work(Class::Branch).taken_cycles()), (3, Some(5)));
    assert!(fitted.work(Class::Shift).units.count() != 1, "two start together");
    assert_eq!(
        fitted.work(Class::Load).latency(Out::BaseUpdate),
        planted.work(Class::Load).latency(Out::BaseUpdate)
    );
    // What no chain has is the nearest's, and says so.
    assert!(made.text.contains("not measured: as cortex-a53: gcc 12, config/arm/cortex-a53.md"));
    assert!(made.text.contains("nearest = \"cortex-a53\""));
}

#[test]
fn the_chains_compile_for_each_set() {
    for (isa, cpu) in [
        (Isa::A64, "cortex-a53"),
        (Isa::T32, "cortex-m3"),
        (Isa::T32, "cortex-m4"),
        (Isa::T32, "cortex-a7"),
        (Isa::A32, "cortex-a7"),
        (Isa::A32, "arm1136jf-s"),
        (Isa::Riscv64, "sifive-u74"),
    ] {
        let chains = modelled(&object(isa, cpu), isa, &core(cpu)).expect("they are chains");
        assert!(chains.len() > 200, "{cpu}: {}", chains.len());
    }
    assert!(c_file(Isa::Sparc).is_none());
}

#[test]
fn the_chains_run_and_print_a_line_each() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let [source, program] = ["chains.c", "chains"].map(|name| folder.path().join(name));
    std::fs::write(&source, c_file(Isa::A64).expect("there are chains")).expect("a scratch file");
    let made = Command::new("aarch64-linux-gnu-gcc")
        .args(["-O2", "-static", "-DMEANWHILE_ITERATIONS=3", "-o"])
        .args([&program, &source])
        .status();
    assert!(made.expect("gcc runs").success());
    let ran = Command::new("qemu-aarch64").arg(&program).output().expect("it runs");
    assert!(ran.status.success());
    let text = String::from_utf8(ran.stdout).expect("text");
    let names: Vec<&str> = text.lines().filter_map(|line| line.strip_suffix(" 3")).collect();
    let chains = modelled(&object(Isa::A64, "cortex-a53"), Isa::A64, &core("cortex-a53"));
    assert_eq!(names.len(), chains.expect("they are chains").len());
    assert!(text.starts_with("# meanwhile calibration a64\n") && text.ends_with("# end\n"));
}

/// What is said of results that are no calibration of a Cortex-M4.
fn refused(change: impl Fn(&str) -> String) -> String {
    let object = object(Isa::T32, "cortex-m4");
    let results = change(&printed(&object, Isa::T32, &core("cortex-m4")));
    let made = calibrate("results.txt", &results, &object, Isa::T32, &core("cortex-m3"));
    made.expect_err("it is no calibration").to_string()
}

/// All cycles by this factor.
fn scaled(results: &str, factor: impl Fn(&str) -> f64) -> String {
    let line = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        match (words[0], words.get(1).and_then(|word| word.parse::<f64>().ok())) {
            (name, Some(cycles)) => {
                format!("{name} {} {}\n", (cycles * factor(name)).round(), words[2])
            }
            _ => format!("{line}\n"),
        }
    };
    results.lines().map(line).collect()
}

#[test]
fn a_counter_that_is_not_the_cores_is_named() {
    let slow = refused(|text| scaled(text, |_| 0.04));
    assert!(slow.contains("does not tick once in a cycle"), "{slow}");
    let fast = refused(|text| scaled(text, |_| 4.0));
    assert!(fast.contains("does not tick once in a cycle"), "{fast}");
}

#[test]
fn what_is_cut_off_or_not_whole_is_refused_with_its_line() {
    let cut = refused(|text| text.lines().take(100).map(|line| format!("{line}\n")).collect());
    assert!(cut.starts_with("results.txt:100:1: `results.txt` is cut off"), "{cut}");
    let half = refused(|text| text.replacen(" 3000\n", " 3000.5\n", 1));
    assert!(half.contains("results.txt:2:") && half.contains("no whole number"), "{half}");
    let short = refused(|text| text.replacen(" 3000\n", "\n", 1));
    assert!(short.contains("a line is `name cycles iterations`"), "{short}");
    let twice = refused(|text| text.replacen("# end", "alu 1000 1000\n# end", 1));
    assert!(twice.contains("the chain `alu` comes twice"), "{twice}");
    let missing = refused(|text| {
        text.lines()
            .filter(|line| !line.starts_with("mul "))
            .map(|line| format!("{line}\n"))
            .collect()
    });
    assert!(missing.contains("has no chain `mul`"), "{missing}");
    let text = refused(|_| "hello\n".to_owned());
    assert!(text.contains("does not begin with"), "{text}");
}

#[test]
fn another_core_is_refused_by_its_chains() {
    let set = refused(|text| text.replace("calibration t32", "calibration a64"));
    assert!(set.contains("was measured on a core that runs a64, not t32"), "{set}");
    // One that overtakes what waits: chains are as fast as what they are made of.
    let other = refused(|text| {
        scaled(text, |name| if name.contains('>') && !name.starts_with("alu>") { 0.3 } else { 1.0 })
    });
    assert!(other.contains("chains are not explained"), "{other}");
    assert!(other.matches("measured").count() >= 3, "{other}");
}
