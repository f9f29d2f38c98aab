//! Door: `meanwhile regwin wcet`: how long switches, traps and interrupt entries of a linked image
//! take at most.

use std::path::PathBuf;

use regwin::code::{BadImage, Code};
use regwin::qemu::{self, Span, Watch};
use regwin::wcet::masked::{self, Given, Section};
use regwin::wcet::{self, Bound, Routine};
use regwin::work::{self, MACHINES};
use regwin::xtensa::image::is_xtensa;
use report::{Cell, Kind, Table};
use serde_json::{Value, json};

use super::options;
use super::run::bytes;
use crate::output::{Failure, Output};

/// Arguments of `meanwhile regwin wcet`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A program linked with a library of `regwin build`, with its symbols.
    #[arg(value_name = "IMAGE")]
    image: PathBuf,
    /// Register windows, with commas between; 4 to 32.
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "8,31", value_parser = clap::value_parser!(u32).range(options::WINDOWS))]
    windows: Vec<u32>,
    /// Whose cycles are shown; JSON has both.
    #[arg(long, value_name = "NAME", default_value = "erc32", value_parser = options::machine())]
    machine: usize,
    /// How often a loop between irq_lock and irq_unlock repeats at most, each time that it is
    /// reached: where it begins, as the refusal shows it, and the number; more with commas between.
    #[arg(long = "loop", value_name = "PLACE=N", value_delimiter = ',')]
    loops: Vec<String>,
    /// Run the image under QEMU too, once for each routine and number of windows, and show the
    /// longest that was seen.
    #[arg(long)]
    run: bool,
}

/// A routine with so many windows: bounds and the longest seen, each on both machines.
struct WcetRow {
    routine: Routine,
    windows: u32,
    bounds: [Bound; 2],
    seen: Option<[u32; 2]>,
}

pub fn run(args: &Args, out: &mut Output) -> Result<(), Failure> {
    let shown = args.image.display();
    let bytes = bytes(&args.image)?;
    if is_xtensa(&bytes) {
        let refused = format!("{shown}: it is for Xtensa");
        return Err(Failure::user(refused, Some("`wcet` bounds what is linked for SPARC")));
    }
    let bad = |error: BadImage| {
        let help = "it must be linked with a library of `meanwhile regwin build` (ELF, SPARC, for RAM) and keep its symbols";
        Failure::user(format!("{shown}: {}", error.0), Some(help))
    };
    let code = Code::parse(&bytes).map_err(bad)?;
    let cores = work::cores();
    let both =
        [0, 1].map(|machine| wcet::bounds(&code, &cores[machine], &args.windows).map_err(bad));
    let [first, second] = both;
    let both = [first?, second?];
    let given = given(args, &code)?;
    let unknown = |given: Given| {
        let why = format!(
            "--loop: no loop between irq_lock and irq_unlock begins at {} ({:#x})",
            code.place(given.address),
            given.address
        );
        Failure::user(why, None)
    };
    let sections = [0, 1].map(|machine| {
        masked::sections(&code, &cores[machine], &both[machine], &given).map_err(unknown)
    });
    let [first, second] = sections;
    let mut parts: Vec<Part> = Vec::new();
    for (first, second) in first?.into_iter().zip(second?) {
        parts.push(Part { sections: [first, second], seen: Vec::new() });
    }
    let [first, second] = both;
    let mut rows = Vec::new();
    for ((routine, first), (_, second)) in first.into_iter().zip(second) {
        for (idx, windows) in args.windows.iter().enumerate() {
            rows.push(WcetRow {
                routine,
                windows: *windows,
                bounds: [first[idx], second[idx]],
                seen: None,
            });
        }
    }
    if args.run {
        let bar = out.progress(args.windows.len() as u64);
        for windows in &args.windows {
            let mut of_run: Vec<&mut WcetRow> =
                rows.iter_mut().filter(|row| row.windows == *windows).collect();
            let routines = of_run.iter().map(|row| {
                wcet::watch(&code, &cores[0], &row.routine).expect("its bounds were found")
            });
            let watches: Vec<Watch> = routines
                .chain(parts.iter().map(|part| masked::watch(&code, &cores[0], &part.sections[0])))
                .collect();
            let raw = qemu::run_watched(
                &args.image,
                &code,
                *windows,
                &[],
                [&cores[0], &cores[1]],
                &watches,
            )
            .map_err(Failure::tool)?;
            let (of_rows, of_parts) = raw.spans.split_at(of_run.len());
            of_run.iter_mut().zip(of_rows).for_each(|(row, spans)| row.seen = longest(spans));
            parts.iter_mut().zip(of_parts).for_each(|(part, spans)| part.seen.push(longest(spans)));
            bar.inc(1);
        }
        bar.finish_and_clear();
    }
    out.text(&table(&rows, args.machine, args.run).terminal(None));
    for windows in &args.windows {
        let rows =
            || rows.iter().filter(|row| row.windows == *windows && row.routine.has_traps_off);
        if let Some(longest) = rows().max_by_key(|row| row.bounds[args.machine].most) {
            let cycles = longest.bounds[args.machine].most;
            out.line(&format!(
                "{windows} windows: traps are off for {cycles} cycles at most, in {}",
                named(&longest.routine)
            ));
        }
    }
    if !parts.is_empty() {
        out.text(&masked_table(&parts, args).terminal(None));
        masked_lines(&parts, args, out);
    }
    let masked: Vec<Value> = parts.iter().flat_map(|part| masked_object(part, args)).collect();
    out.object(&json!({"ok": true, "kind": "model", "rows": rows.iter().map(object).collect::<Vec<Value>>(), "masked": masked}));
    Ok(())
}

/// The longest span of one run on both machines.
fn longest(spans: &[Span]) -> Option<[u32; 2]> {
    let longest = [0, 1].map(|machine| spans.iter().map(|span| span.cycles[machine]).max());
    longest[0].zip(longest[1]).map(|(first, second)| [first, second])
}

/// What `--loop` says: a label and how far after it, or an address.
fn given(args: &Args, code: &Code) -> Result<Vec<Given>, Failure> {
    let read = |text: &str| {
        let (place, most) = text.rsplit_once('=')?;
        let (name, more) = place.rsplit_once('+').unwrap_or((place, "0"));
        let start = match name.strip_prefix("0x") {
            Some(digits) => u32::from_str_radix(digits, 16).ok()?,
            None => code.try_address(name)?,
        };
        Some(Given { address: start.checked_add(more.parse().ok()?)?, most: most.parse().ok()? })
    };
    let help = "a label of the image, with `+` and bytes, or an address with 0x: `--loop queue_send+52=16`";
    let of = |text: &String| {
        read(text).ok_or_else(|| {
            Failure::user(format!("--loop `{text}` names no place and number"), Some(help))
        })
    };
    args.loops.iter().map(of).collect()
}

/// A section with interrupts masked, on both machines.
struct Part {
    sections: [Section; 2],
    /// By number of windows, with `--run`.
    seen: Vec<Option<[u32; 2]>>,
}

/// Where a section begins, in words.
fn begins(section: &Section) -> String {
    let how = if section.after_switch { "on from a switch" } else { "irq_lock" };
    format!("{how} in {} ({:#x})", section.function, section.address)
}

fn masked_table(parts: &[Part], args: &Args) -> Table {
    let mut head = vec!["from", "to", "windows", "at least", "at most"];
    head.extend(args.run.then_some("longest seen"));
    let mut table =
        Table::new(format!("Interrupts masked: cycles, {}", MACHINES[args.machine]), &head)
            .kind(Kind::Model);
    table =
        table.note("from irq_lock to its irq_unlock, or until another thread runs; what that one does until its irq_unlock comes on top");
    for part in parts {
        let section = &part.sections[args.machine];
        for (idx, windows) in
            args.windows.iter().enumerate().filter(|_| section.unbounded.is_empty())
        {
            let ways = section.ways[idx];
            let to = match (ways.to_unlock, ways.to_switch) {
                (Some(_), Some(_)) => "irq_unlock or a switch",
                (Some(_), None) => "irq_unlock",
                (None, Some(_)) => "a switch",
                (None, None) => "the end of the machine",
            };
            let number =
                |option: Option<u64>| option.map_or_else(|| Cell::words("-"), Cell::number);
            let any = ways.any();
            let mut cells =
                vec![Cell::words(begins(section)), Cell::words(to), Cell::number(*windows)];
            cells.extend([number(any.map(|any| any.least)), number(any.map(|any| any.most))]);
            if args.run {
                cells.push(
                    part.seen[idx]
                        .map_or_else(|| Cell::words("never"), |it| Cell::number(it[args.machine])),
                );
            }
            table.push(cells);
        }
    }
    table
}

/// The longest that interrupts are masked: one section, or one to a switch and the rest of it in
/// the thread that runs then.
fn masked_lines(parts: &[Part], args: &Args, out: &mut Output) {
    let sections: Vec<&Section> = parts.iter().map(|part| &part.sections[args.machine]).collect();
    for section in &sections {
        for why in &section.unbounded {
            out.line(&format!("not bounded: {}: {why}", begins(section)));
        }
    }
    let n_unbounded = sections.iter().filter(|section| !section.unbounded.is_empty()).count();
    let but = if n_unbounded == 0 {
        String::new()
    } else {
        format!("; of {n_unbounded} of {} sections no bound is known", sections.len())
    };
    for (idx, windows) in args.windows.iter().enumerate() {
        let longest = |after_switch: bool, way: fn(&masked::Ways) -> Option<Bound>| {
            let known = sections.iter().filter(|section| {
                section.after_switch == after_switch && section.unbounded.is_empty()
            });
            known
                .filter_map(|known| Some((way(&known.ways[idx])?.most, *known)))
                .max_by_key(|pair| pair.0)
        };
        let (whole, first) =
            (longest(false, |ways| ways.to_unlock), longest(false, |ways| ways.to_switch));
        let (last, between) =
            (longest(true, |ways| ways.to_unlock), longest(true, |ways| ways.to_switch));
        let over = first.zip(last).map(|(first, last)| {
            (first.0 + last.0, format!("{}, and {}", begins(first.1), begins(last.1)))
        });
        let all = whole.map(|whole| (whole.0, begins(whole.1))).into_iter().chain(over);
        if let Some((most, place)) = all.max_by_key(|pair| pair.0) {
            out.line(&format!("{windows} windows: interrupts are masked for {most} cycles at most, from {place}{but}"));
        }
        if let Some((most, section)) = between {
            let place = begins(section);
            out.line(&format!("{windows} windows: a thread that gives way before its irq_unlock adds {most} cycles at most, {place}"));
        }
    }
}

fn masked_object(part: &Part, args: &Args) -> Vec<Value> {
    let [first, second] = &part.sections;
    let each = |(idx, windows): (usize, &u32)| {
        let of = |section: &Section, machine: usize| {
            let ways = section.ways.get(idx).copied().unwrap_or_default();
            json!({
                "least": ways.any().map(|any| any.least), "most": ways.any().map(|any| any.most),
                "most_to_unlock": ways.to_unlock.map(|found| found.most), "most_to_switch": ways.to_switch.map(|found| found.most),
                "seen": part.seen.get(idx).copied().flatten().map(|seen| seen[machine]),
            })
        };
        json!({
            "function": first.function, "address": first.address, "from": if first.after_switch { "switch" } else { "lock" },
            "windows": windows, "unbounded": first.unbounded, MACHINES[0]: of(first, 0), MACHINES[1]: of(second, 1),
        })
    };
    args.windows.iter().enumerate().map(each).collect()
}

fn named(routine: &Routine) -> String {
    if routine.alone {
        format!("{}, one thread alone", routine.name)
    } else {
        routine.name.to_owned()
    }
}

fn table(rows: &[WcetRow], machine: usize, has_run: bool) -> Table {
    let mut head = vec!["routine", "windows", "at least", "at most"];
    head.extend(has_run.then_some("longest seen"));
    let mut table =
        Table::new(format!("Bounds of the runtime: cycles, {}", MACHINES[machine]), &head)
            .kind(Kind::Model);
    table =
        table.note("over all ways through the code of this image; by the machine file, without wait states, caches and load interlocks");
    for row in rows {
        let bound = row.bounds[machine];
        let mut cells = vec![
            Cell::words(named(&row.routine)),
            Cell::number(row.windows),
            Cell::number(bound.least),
            Cell::number(bound.most),
        ];
        if has_run {
            cells.push(
                row.seen.map_or_else(|| Cell::words("never"), |it| Cell::number(it[machine])),
            );
        }
        table.push(cells);
    }
    table
}

fn object(row: &WcetRow) -> Value {
    let of = |machine: usize| {
        let bound = row.bounds[machine];
        json!({"least": bound.least, "most": bound.most, "seen": row.seen.map(|seen| seen[machine])})
    };
    json!({
        "routine": row.routine.name, "alone": row.routine.alone, "traps_off": row.routine.has_traps_off, "windows": row.windows,
        MACHINES[0]: of(0), MACHINES[1]: of(1),
    })
}
