//! Door: `meanwhile regwin errata`: sequences of instructions that a LEON3FT must not execute.

use std::path::PathBuf;

use audit::decode::Isa;
use regwin::errata::{Pair, Sequence, Text};
use report::number::count;
use serde_json::{Value, json};

use super::run::bytes;
use crate::output::{Failure, Output};

/// Arguments of `meanwhile regwin errata`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A linked program or an object file for SPARC, with its symbols.
    #[arg(value_name = "IMAGE")]
    image: PathBuf,
}

/// What is not looked for, said with each result.
const NOT_LOOKED_FOR: &str =
    "GRLIB-TN-0010 to TN-0013 and TN-0018 are not looked for, and not what code writes at run time";

pub fn run(args: &Args, out: &mut Output) -> Result<(), Failure> {
    let shown = args.image.display();
    let bytes = bytes(&args.image)?;
    let text = Text::parse(&bytes).map_err(|why| {
        Failure::user(format!("{shown}: {why}"), Some("give an ELF file of SPARC's 32 bits"))
    })?;
    let pairs = text.pairs();
    for pair in &pairs {
        out.line(&described(&text, pair));
    }
    let n_instructions = text.n_instructions();
    out.line(&match pairs.len() {
        0 => format!("{shown}: no sequence of GRLIB-TN-0009 in {}", count(n_instructions, "instruction")),
        n => format!("{shown}: {} of GRLIB-TN-0009 in {}: compile with -mfix-gr712rc, and put `nop` between the stores of assembly", count(n, "sequence"), count(n_instructions, "instruction")),
    });
    out.line(NOT_LOOKED_FOR);
    let rows: Vec<Value> = pairs.iter().map(|pair| row(&text, pair)).collect();
    out.object(&json!({
        "ok": pairs.is_empty(), "image": shown.to_string(), "instructions": n_instructions,
        "pairs": rows, "not_looked_for": NOT_LOOKED_FOR,
    }));
    if pairs.is_empty() { Ok(()) } else { Err(Failure::Reported) }
}

fn assembly(place: (u32, u32)) -> String {
    let decoded = Isa::Sparc.decode(u64::from(place.0), &place.1.to_be_bytes());
    decoded.map_or_else(|_| format!("{:#010x}", place.1), |instruction| instruction.text)
}

fn described(text: &Text, pair: &Pair) -> String {
    let name = match pair.sequence {
        Sequence::A => "sequence A",
        Sequence::B => "sequence B",
    };
    let guess = if pair.is_guessed { ", if a jump leads there" } else { "" };
    let mut lines = format!("{} (TN-0009, {name}{guess})", text.place(pair.places[0].0));
    for place in &pair.places {
        lines += &format!("\n  {:#x}  {}", place.0, assembly(*place));
    }
    lines
}

fn row(text: &Text, pair: &Pair) -> Value {
    let instructions: Vec<Value> = pair
        .places
        .iter()
        .map(|place| json!({"address": place.0, "assembly": assembly(*place)}))
        .collect();
    json!({
        "note": "GRLIB-TN-0009",
        "sequence": match pair.sequence { Sequence::A => "A", Sequence::B => "B" },
        "place": text.place(pair.places[0].0),
        "instructions": instructions,
        "through_unknown_jump": pair.is_guessed,
    })
}
