//! Door: The audit section of `meanwhile-lab report`: the case study's chart, and spills in
//! ciphers.

use std::path::Path;

use audit::audit::Options;
use audit::audit::{Audit, audit};
use audit::decode::Isa;
use audit::facts::spills::{Spills, spills};
use audit::program::Program;
use audit::program::toolchain::{self, Build};
use audit::timing::licence::Effort;
use audit::views::html::html;
use audit::views::text::{Sources, View as Shown};
use cipher::emit_c::Arch;
use cipher::native::Cc;
use cipher::options::{Slicing, Unroll};
use cipher::recipe::Recipe;
use cipher::unit::Subject;
use machine::in_order::Core;
use measure::tool::ToolError;
use report::page::{Block, Section};
use report::svg::{BarChart, Chart, Series};
use report::view::{Figure, View};
use report::{Cell, Kind, Table};
use serde_json::{Value, json};

use crate::system_report::{SystemReport, numbers};
use terminal::output::{Failure, Output};

const CPU: &str = "arm1136jf-s";
const FUNCTION: &str = "fastpath_call";

/// One bar: its name, the file, the compiler.
struct Version {
    name: &'static str,
    file: &'static str,
    text: &'static str,
    cc: Option<&'static str>,
    flags: &'static str,
}

const GCC_FLAGS: &str = "-O2 -fno-pic";
const GCC_TUNED: &str = "-O2 -fno-pic -mtune=cortex-a9 -fno-schedule-insns -fno-shrink-wrap";
const CLANG_FLAGS: &str = "-O2 -fno-pic -ffreestanding";
const ORIGINAL: &str = include_str!("../../../examples/fastpath/original.c");
const KERNEL: &str = include_str!("../../../examples/fastpath/kernel.h");
/// What the folder of the sources is called in debug information.
const SHOWN_FOLDER: &str = "examples/fastpath";
const IMPROVED: &str = include_str!("../../../examples/fastpath/improved.c");

const VERSIONS: [Version; 7] = [
    Version {
        name: "original, gcc",
        file: "original.c",
        text: ORIGINAL,
        cc: None,
        flags: GCC_FLAGS,
    },
    Version {
        name: "original, clang",
        file: "original.c",
        text: ORIGINAL,
        cc: Some("clang-19"),
        flags: CLANG_FLAGS,
    },
    Version {
        name: "C-optimised, gcc",
        file: "improved.c",
        text: IMPROVED,
        cc: None,
        flags: GCC_FLAGS,
    },
    Version {
        name: "C-optimised, gcc tuned",
        file: "improved.c",
        text: IMPROVED,
        cc: None,
        flags: GCC_TUNED,
    },
    Version {
        name: "C-optimised, clang",
        file: "improved.c",
        text: IMPROVED,
        cc: Some("clang-19"),
        flags: CLANG_FLAGS,
    },
    Version {
        name: "asm-optimised",
        file: "edited.s",
        text: include_str!("../../../examples/fastpath/edited.s"),
        cc: None,
        flags: GCC_FLAGS,
    },
    Version {
        name: "asm from scratch",
        file: "fastpath.s",
        text: include_str!("../../../examples/fastpath/fastpath.s"),
        cc: None,
        flags: GCC_FLAGS,
    },
];

/// The ciphers of the paper's table with its shares in percent (clang -O3, bitsliced).
const CIPHERS: [(&str, f64); 6] = [
    ("des", 41.0),
    ("ascon-p12", 43.0),
    ("gift-128", 38.0),
    ("present-80", 25.0),
    ("rectangle-80", 36.0),
    ("serpent-128", 39.0),
];

/// The audit section of the report.
pub fn report(out: &Output) -> Result<SystemReport, Failure> {
    let folder = measure::scratch::folder()
        .map_err(|error| Failure::environment("create a scratch folder", error))?;
    let bar = out.progress((VERSIONS.len() + CIPHERS.len()) as u64);
    let mut audits = Vec::new();
    for version in &VERSIONS {
        bar.set_message(version.name);
        audits.push((version, audited(folder.path(), version)?));
        bar.inc(1);
    }
    let mut shares = Vec::new();
    for (name, theirs) in CIPHERS {
        bar.set_message(name);
        shares.push((name, theirs, spilled(folder.path(), name)?));
        bar.inc(1);
    }
    bar.finish_and_clear();

    let summary = study_table(&audits);
    let blocks = vec![
        Block::Chart(chart(&audits).for_page()),
        Block::Text(
            "The same message-passing call in five stages, from docs/explain/fastpath.md; GCC 12 and Clang 19, branches not folded.".into(),
        ),
        Block::Details(
            format!("The listing of the first version, instruction by instruction: what each waits for ({FUNCTION}, {CPU})"),
            vec![Block::Page(format!("Audit of {FUNCTION}"), listing(&audits[0].1))],
        ),
        Block::Table(spill_table(&shares)),
    ];
    Ok(SystemReport {
        summary,
        view: view(&audits, &shares),
        section: Section {
            title: "audit: where a fast path waits".to_owned(),
            blocks,
            ..Section::default()
        },
        rows: rows(&audits, &shares),
    })
}

/// The audit as its own page, as `meanwhile audit --format html` writes it.
fn listing(audited: &Audit) -> String {
    html(audited, &sources(), &Shown::default())
}

/// The sources of the first version.
fn sources() -> Sources {
    let lines = |text: &str| text.lines().map(str::to_owned).collect();
    Sources::from([
        (format!("{SHOWN_FOLDER}/original.c"), lines(ORIGINAL)),
        (format!("{SHOWN_FOLDER}/kernel.h"), lines(KERNEL)),
    ])
}

/// The first version beside the last, and what compilers spill.
fn view(audits: &[(&Version, Audit)], shares: &[(&str, f64, Spills)]) -> View {
    let cycles = |idx: usize| split(&audits[idx].1).2;
    let (first, optimised, last) = (cycles(0), cycles(3), cycles(audits.len() - 1));
    let again = "meanwhile-lab report --only audit --json".to_owned();
    let numbers = |is_wanted: &dyn Fn(&Value) -> bool| {
        numbers(&rows(audits, shares).into_iter().filter(is_wanted).collect::<Vec<Value>>())
    };
    let names = |(name, ..): &(&str, f64, Spills)| (*name).to_owned();
    let series = |name: &str, of: &dyn Fn(&(&str, f64, Spills)) -> f64| Series {
        name: name.to_owned(),
        values: shares.iter().map(|share| Some(of(share))).collect(),
    };
    let spilled = BarChart {
        title: "Bitsliced ciphers: instructions that spill".to_owned(),
        unit: "% of all".to_owned(),
        kind: Kind::Measured,
        groups: shares.iter().map(names).collect(),
        series: vec![
            series("clang 19", &|(_, _, spills)| spills.share_pct()),
            series("the paper's clang", &|(_, theirs, _)| *theirs),
        ],
        log: false,
    };
    View {
        id: "audit".to_owned(),
        waits: "an instruction waits for an operand, a flag, a unit".to_owned(),
        sentence: format!(
            "A message-passing call in C takes {optimised} cycles where gcc's takes {first}, by the edits that the audit names; it loses to assembly from scratch, {last}."
        ),
        kind: Kind::Model,
        note: format!(
            "Cycles of a model of the {CPU} by its manual, not of a board, branches not folded. Stalls are {} of {first} cycles before, {} of {optimised} after. Where LLVM's model of a core is the source, llvm-mca gives nearly the same cycles; what the audit adds is why, and what to do.",
            split(&audits[0].1).1,
            split(&audits[3].1).1
        ),
        yours: Some([
            "meanwhile audit FILE.c --cpu cortex-m4",
            "C, C++, Rust, assembly or an ELF file, a Linux kernel too. Stall by stall for cores that \
             run in order, of Arm, RISC-V and SPARC (`meanwhile audit cpus`); for x86-64, Cortex-A72 and \
             Neoverse, which reorder, bounds alone.",
        ]),
        figures: vec![
            Figure {
                id: "audit-fast-path".to_owned(),
                picture: chart(audits).for_page(),
                says: "Each version's hot path; the last bar is what no order of the assembly's instructions beats. GCC 12, Clang 19.".to_owned(),
                again: again.clone(),
                numbers: numbers(&|row| row["version"].is_string()),
            },
            Figure {
                id: "audit-spills".to_owned(),
                picture: spilled.for_page(),
                says: "Stores and reloads of spilled values, counted in machine code of x86-64 general registers, beside the shares that Mercadier (2020) counted with his clang and his C; counts, the same on every machine with this clang.".to_owned(),
                again,
                numbers: numbers(&|row| row["primitive"].is_string()),
            },
        ],
    }
}

fn audited(folder: &Path, version: &Version) -> Result<Audit, Failure> {
    let path = put(folder, version.file, version.text)?;
    put(folder, "kernel.h", KERNEL)?;
    let renamed = format!("-ffile-prefix-map={}={SHOWN_FOLDER}", folder.display());
    let flags = version.flags.split(' ').map(str::to_owned).chain([renamed]).collect();
    let build = Build { cc: version.cc.map(str::to_owned), flags, folder: None };
    let bytes = toolchain::compile(&path, Isa::A32, CPU, &build).map_err(Failure::tool)?;
    let user = |error| Failure::User(vec![error]);
    let program = Program::parse(version.file, &bytes).map_err(user)?;
    let core = Core::bundled(CPU).expect("the core of the case study is bundled");
    let options = Options {
        avoid: vec!["slowpath".to_owned()],
        through: Vec::new(),
        effort: Effort::Search,
        recorded: None,
    };
    audit(&program, program.symbol(FUNCTION).map_err(user)?, CPU, Some(&core), &options)
        .map_err(user)
}

/// The spills of a bitsliced primitive: of its own function, without
/// key schedule and transposition.
fn spilled(folder: &Path, name: &str) -> Result<Spills, Failure> {
    let subject = Subject::bundled(name)
        .expect("the table names bundled primitives")
        .map_err(Failure::User)?;
    let recipe = Recipe::new(Slicing::Bit, Arch::X86_64, Cc::Clang, Unroll::Auto, "-O3");
    let made = recipe.make(&subject).map_err(Failure::User)?;
    let path = put(folder, "cipher.c", &recipe.source(&made, false, false))?;
    let flags = ["-O3", "-std=gnu11", "-w", "-g0"].map(str::to_owned).to_vec();
    let build = Build { cc: Some("clang-19".to_owned()), flags, folder: None };
    let bytes = toolchain::compile(&path, Isa::X86, "x86-64", &build).map_err(Failure::tool)?;
    let user = |error| Failure::User(vec![error]);
    let program = Program::parse(name, &bytes).map_err(user)?;
    // Emitted functions of nodes end in one underline; the one of the primitive is no key schedule.
    let is_own = |symbol: &&audit::program::Symbol| {
        symbol.name.ends_with('_')
            && !symbol.name.ends_with("__")
            && !symbol.name.ends_with("_keys_")
    };
    let mut total = Spills::default();
    for symbol in program.symbols.iter().filter(is_own) {
        total += spills(&program.decode(symbol).map_err(user)?.function);
    }
    Ok(total)
}

fn put(folder: &Path, name: &str, text: &str) -> Result<std::path::PathBuf, Failure> {
    let path = folder.join(name);
    let failed = |error: std::io::Error| {
        Failure::tool(ToolError {
            ran: format!("write {}", path.display()),
            said: error.to_string(),
        })
    };
    std::fs::write(&path, text).map_err(failed)?;
    Ok(path)
}

/// Cycles that instructions take, and those that they wait.
fn split(audit: &Audit) -> (u32, u32, u32) {
    audit.timed.as_ref().map_or((0, 0, 0), |it| {
        (it.cycles.issue_cycles, it.cycles.stall_cycles, it.cycles.total_cycles)
    })
}

fn bound(audits: &[(&Version, Audit)]) -> u32 {
    let last = audits.last().and_then(|(_, it)| it.timed.as_ref());
    last.map_or(0, |it| it.cycles.lower_bound.total)
}

fn chart(audits: &[(&Version, Audit)]) -> BarChart {
    let mut groups: Vec<String> =
        audits.iter().map(|(version, _)| version.name.to_owned()).collect();
    groups.push("the assembly's bound".to_owned());
    let mut values: Vec<Option<f64>> =
        audits.iter().map(|(_, it)| Some(f64::from(split(it).2))).collect();
    values.push(Some(f64::from(bound(audits))));
    let series = vec![Series { name: "cycles of the hot path".to_owned(), values }];
    BarChart {
        title: format!("Fast path on {CPU}"),
        unit: "cycles".to_owned(),
        kind: Kind::Model,
        groups,
        series,
        log: false,
    }
}

fn study_table(audits: &[(&Version, Audit)]) -> Table {
    // Two bounds, two names: what these instructions could reach in another order, and what the
    // path could with others.
    let columns = [
        "version",
        "instructions",
        "to issue",
        "waiting",
        "cycles",
        "own bound",
        "above it %",
        "above the assembly's %",
    ];
    let note = "own bound: no order of these instructions is faster; the assembly's: that of the version written from scratch";
    let mut table =
        Table::new(format!("audit: fast path on {CPU}"), &columns).kind(Kind::Model).note(note);
    let bound = bound(audits);
    let above = |total: u32, bound: u32| {
        format!("{:.1}", 100.0 * (f64::from(total) / f64::from(bound.max(1)) - 1.0))
    };
    for (version, it) in audits {
        let (issue, stall, total) = split(it);
        let own = it.timed.as_ref().map_or(0, |timed| timed.cycles.lower_bound.total);
        table.push(vec![
            Cell::words(version.name),
            Cell::number(it.trace.places.len()),
            Cell::number(issue),
            Cell::number(stall),
            Cell::number(total),
            Cell::number(own),
            Cell::number(above(total, own)),
            Cell::number(above(total, bound)),
        ]);
    }
    table
}

fn spill_table(shares: &[(&str, f64, Spills)]) -> Table {
    let columns = ["primitive", "instructions", "stores", "reloads", "share %", "paper's share %"];
    let note = "spills in machine code, counted, not measured in time: bitsliced C of this program, clang -O3, x86-64 general registers; the function of the primitive alone";
    let mut table =
        Table::new("Spilled values in bitsliced ciphers", &columns).kind(Kind::Measured).note(note);
    for (name, theirs, it) in shares {
        table.push(vec![
            Cell::words(*name),
            Cell::number(it.instructions),
            Cell::number(it.stores),
            Cell::number(it.reloads),
            Cell::number(format!("{:.1}", it.share_pct())),
            Cell::number(format!("{theirs:.0}")),
        ]);
    }
    table
}

fn rows(audits: &[(&Version, Audit)], shares: &[(&str, f64, Spills)]) -> Vec<Value> {
    let study = audits.iter().map(|(version, it)| {
        let (issue, stall, total) = split(it);
        json!({"system": "audit", "version": version.name, "cpu": CPU, "kind": "model", "issue_cycles": issue, "stall_cycles": stall,
               "total_cycles": total, "lower_bound": it.timed.as_ref().map(|timed| timed.cycles.lower_bound.total), "assembly_bound": bound(audits)})
    });
    let spills = shares.iter().map(|(name, theirs, it)| {
        json!({"system": "audit", "primitive": name, "instructions": it.instructions, "stores": it.stores, "reloads": it.reloads,
               "share_pct": it.share_pct(), "paper_share_pct": theirs})
    });
    study.chain(spills).collect()
}
