//! Door: Seconds and memory of the audit itself, on a large program made for it.

use std::path::PathBuf;
use std::time::Instant;

use crate::evidence::Evidence;
use ::machine::in_order::Core;
use audit::audit::Options;
use audit::audit::{audit, decoded_for, summary};
use audit::decode::Isa;
use audit::program::Program;
use audit::program::toolchain::{self, Build};
use audit::timing::licence::Effort;
use measure::machine::{self, Machine};
use measure::stats;
use report::page::Block;
use report::{Cell, Kind, Table};
use serde_json::{Value, json};

use crate::store;
use terminal::output::{Failure, Output};

const CPU: &str = "arm1136jf-s";
/// Functions of the made program: more than 2 MB with debug information.
const N_FUNCTIONS: usize = 4000;
const N_RUNS: usize = 7;

/// Arguments of `meanwhile-lab run audit-speed`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Evidence file to write.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

pub fn run(args: &Args, out: &mut Output) -> Result<(), Failure> {
    store::check(args.out.as_deref())?;
    let bytes = object()?;
    let core = Core::bundled(CPU).expect("the core is bundled");
    let user = |error| Failure::User(vec![error]);
    let bar = out.progress(2 * N_RUNS as u64);
    let mut n_functions = 0;
    let (mut all, mut one) = (Vec::new(), Vec::new());
    for run in 0..N_RUNS {
        let start = Instant::now();
        let program = Program::parse("bench.o", &bytes).map_err(user)?;
        n_functions = 0;
        let quick = Options {
            avoid: Vec::new(),
            through: Vec::new(),
            effort: Effort::Bounds,
            recorded: None,
        };
        for symbol in &program.symbols {
            let decoded = decoded_for(&program, symbol, &quick).map_err(user)?;
            let found = summary(&program.name, symbol.address, &decoded, &core, &quick);
            n_functions += usize::from(found.map_err(user)?.is_some());
        }
        all.push(start.elapsed().as_secs_f64());
        bar.inc(1);
        let name = format!("shape_{}", (run * 577 + 2) % N_FUNCTIONS);
        let start = Instant::now();
        let program = Program::parse("bench.o", &bytes).map_err(user)?;
        let options = Options {
            avoid: Vec::new(),
            through: Vec::new(),
            effort: Effort::Search,
            recorded: None,
        };
        audit(&program, program.symbol(&name).map_err(user)?, CPU, Some(&core), &options)
            .map_err(user)?;
        one.push(start.elapsed().as_secs_f64());
        bar.inc(1);
    }
    bar.finish_and_clear();
    let rows =
        [row("all functions", n_functions, &bytes, &all), row("one function", 1, &bytes, &one)];
    let table = table(&rows);
    out.text(&table.terminal(None));
    let machine = Machine::here();
    out.object(&json!({"ok": true, "kind": "measured", "machine": machine.cpu, "rows": rows}));
    let Some(path) = &args.out else { return Ok(()) };
    let rows = rows.iter().filter_map(|row| row.as_object().cloned()).collect();
    store::store(
        path,
        Kind::Measured,
        ("arm-linux-gnueabi-gcc", "--version"),
        "meanwhile-lab run audit-speed --out FILE",
        rows,
    )
}

fn table(rows: &[Value]) -> Table {
    let mut table = Table::new("The audit's own time", &["what", "functions", "MB", "seconds", "from", "to", "peak MB"])
        .kind(Kind::Measured)
        .note(format!("median and 95 % interval of {N_RUNS} runs, one process; an ELF with DWARF for {CPU}, reading it included"));
    for it in rows {
        let number = |name: &str, digits: usize| {
            Cell::number(format!("{:.digits$}", it[name].as_f64().unwrap_or(f64::NAN)))
        };
        table.push(vec![
            Cell::words(it["what"].as_str().unwrap_or_default()),
            Cell::number(it["functions"].as_u64().unwrap_or(0)),
            number("file_mb", 1),
            number("seconds", 3),
            number("low", 3),
            number("high", 3),
            number("peak_mb", 0),
        ]);
    }
    table
}

pub fn committed(evidence: &Evidence) -> Vec<Block> {
    let rows = evidence.values();
    vec![Block::Text(evidence.origin()), Block::Table(table(&rows))]
}

fn row(what: &str, n_functions: usize, bytes: &[u8], seconds: &[f64]) -> Value {
    let it = stats::median_interval(seconds, 0.95);
    json!({
        "what": what, "functions": n_functions, "file_mb": bytes.len() as f64 / 1e6,
        "seconds": it.value, "low": it.low, "high": it.high, "runs": seconds.len(), "peak_mb": machine::peak_memory_mb(),
    })
}

/// Functions of four shapes with other numbers each: a search in a table, a message copied, a state
/// machine, and a chain of checks that leaves early.
fn object() -> Result<Vec<u8>, Failure> {
    let mut text = String::from(
        "struct node { struct node *next; unsigned key, flags; unsigned char kind; short level; unsigned words[8]; };\n\
         extern int slow_way(struct node *, unsigned);\n",
    );
    for idx in 0..N_FUNCTIONS {
        let (a, b, c) = (idx % 8, idx * 37 % 251, idx * 101 % 1021 + 3);
        let body = match idx % 4 {
            0 => format!(
                "for (; n; n = n->next) if ((n->key & {c}u) == x && n->kind == {b}) return n->level; return -{c};"
            ),
            1 => format!(
                "struct node *to = n->next; if (!to || to->flags & {c}u) return slow_way(n, x);\n\
                 for (int i = {a}; i < 8; i++) to->words[i] = n->words[i] ^ x; to->key += {b}; return to->kind;"
            ),
            2 => format!(
                "switch (n->kind & 3) {{ case 0: n->flags |= {c}u; break; case 1: n->level = (short)(x + {b}); break;\n\
                 case 2: n->words[{a}] += x << {a}; return {b}; default: return slow_way(n, x ^ {c}u); }} return (int)n->key;"
            ),
            _ => format!(
                "unsigned k = n->words[{a}]; if (k > {c}u) return -1; if (n->flags >> {a} & 1) return slow_way(n, k);\n\
                 if (n->level < {b}) return (int)(k * {c}u); n->words[{a}] = k + x; return (unsigned char)(k + {b});"
            ),
        };
        text.push_str(&format!("int shape_{idx}(struct node *n, unsigned x) {{\n{body}\n}}\n"));
    }
    let folder = measure::scratch::folder()
        .map_err(|error| Failure::environment("create a scratch folder", error))?;
    let path = folder.path().join("bench.c");
    std::fs::write(&path, text)
        .map_err(|error| Failure::environment(format!("write {}", path.display()), error))?;
    let build = Build { cc: None, flags: vec!["-O2".to_owned(), "-g3".to_owned()], folder: None };
    toolchain::compile(&path, Isa::A32, CPU, &build).map_err(Failure::tool)
}
