//! Time of our own compiler on the bundled primitives and as rounds double, for the report.

use cipher::emit_c::Arch;
use cipher::native::Cc;
use cipher::pipeline::{Slicing, Unroll};
use cipher::recipe::Recipe;
use cipher::unit::Subject;
use report::svg::{Axis, Line, LineChart};
use report::{Cell, Kind, Table};

use crate::output::Failure;

/// Milliseconds and equations of one compilation to C text, loops written out.
fn compile(subject: &Subject, slicing: Slicing) -> Result<(f64, usize), Failure> {
    let recipe = Recipe::new(slicing, Arch::Avx2, Cc::Gcc, Unroll::Yes, "-O3");
    let mut made = Ok(());
    let mut n_equations = 0;
    let seconds = measure::clock::seconds(|| {
        made = recipe.make(subject).map(|it| {
            n_equations = it.n_equations();
            std::hint::black_box(recipe.source(&it, false, false));
        });
    });
    made.map_err(Failure::User)?;
    Ok((seconds * 1e3, n_equations))
}

/// The slowest slicing of the larger primitives.
pub fn primitives() -> Result<Table, Failure> {
    let columns = ["primitive", "slicing", "equations", "ms"];
    let mut table = Table::new("Our compiler's own time, loops written out, no C compiler", &columns).kind(Kind::Measured);
    for name in ["ace", "chacha20", "serpent-128", "pyjamask-128", "aes-128", "gift-128"] {
        let subject = Subject::bundled(name).expect("it is bundled").map_err(Failure::User)?;
        let (ms, n) = compile(&subject, Slicing::Bit)?;
        table.push(vec![Cell::words(name), Cell::words("b"), Cell::number(n.to_string()), Cell::number(format!("{ms:.0}"))]);
    }
    Ok(table)
}

/// A cipher of 32-bit rows with this many rounds.
fn rounds(n: u32) -> String {
    format!(
        "_lsb_first table s (x : v4) returns (y : v4) {{ 6, 5, 12, 10, 1, 14, 7, 9, 11, 0, 3, 13, 8, 15, 4, 2 }}\n\
         node rotate (x : u32x4) returns (y : u32x4)\n\
         let y[0] = x[0]; y[1] = x[1] <<< 1; y[2] = x[2] <<< 12; y[3] = x[3] <<< 13 tel\n\
         node main (p : u32x4, k : u32x4[{n}]) returns (c : u32x4)\nvars t : u32x4[{}]\n\
         let t[0] = p; forall i in [0, {}] {{ t[i+1] = rotate(s(t[i] ^ k[i])) }} c = t[{n}] tel\n",
        n + 1,
        n - 1
    )
}

/// Time for 25 to 800 rounds of one cipher, bitsliced: a table, and a chart of the same numbers.
pub fn doubling() -> Result<(Table, LineChart), Failure> {
    let columns = ["rounds", "equations", "ms", "over half the rounds"];
    let mut table = Table::new("Our compiler's own time as the rounds double, bitsliced, loops written out", &columns).kind(Kind::Measured);
    let mut before: Option<f64> = None;
    let mut points = Vec::new();
    for n in [25, 50, 100, 200, 400, 800] {
        let subject = Subject::text("rounds.ua", &rounds(n), None).map_err(Failure::User)?;
        let mut best = (f64::MAX, 0);
        for _ in 0..3 {
            let (ms, equations) = compile(&subject, Slicing::Bit)?;
            best = (best.0.min(ms), equations);
        }
        let ratio = before.map_or(String::new(), |b| format!("{:.2}", best.0 / b));
        before = Some(best.0);
        points.push((best.1 as f64, best.0));
        let cells = [n.to_string(), best.1.to_string(), format!("{:.0}", best.0), ratio];
        table.push(cells.into_iter().map(Cell::number).collect());
    }
    let axis = |label: &str| Axis { label: label.into(), log: true };
    let chart = LineChart {
        title: "Our compiler's own time".into(),
        kind: Kind::Measured,
        x: axis("equations"),
        y: axis("ms"),
        lines: vec![Line { name: "bitsliced, loops written out".into(), points }],
    };
    Ok((table, chart))
}
