//! The paper's sizes taken apart: what it gains over Linux beside ours, with assumptions about its
//! machine that the simulator leaves out, each alone, all together, and those that come nearest.

use cosched::assumptions::SWITCHES;
use cosched::contention::{Base, Model};
use cosched::machine::Machine;
use cosched::policies::{Name, Settings};
use cosched::sim;
use cosched::workload::{self, Program, Workload};
use report::{Cell, Kind, Table};
use serde_json::{Value, json};
use terminal::output::{Failure, Output};

use super::like_paper::{self, PAPER, Row};
use super::statements::{STATEMENTS, Statement, Verdict};

/// Arguments of the study.
#[derive(Debug, clap::Args)]
pub struct Args {}

pub fn run(_args: &Args, out: &mut Output) -> Result<(), Failure> {
    let bar = out.progress(like_paper::N_ROWS);
    let (rows, nearest) = like_paper::like_paper(|| bar.inc(1));
    bar.finish_and_clear();
    out.text(&table(&rows, &nearest).terminal(None));
    out.text(&statements_table(&rows, &nearest).terminal(None));
    let room: Vec<Room> = workload::table_1().iter().map(room).collect();
    out.text(&room_table(&room).terminal(None));
    for it in SWITCHES {
        out.line(&format!("{}: {}", it.name, it.source));
    }
    let one = |row: &Row| {
        let percent: serde_json::Map<String, Value> = PAPER
            .iter()
            .zip(row.percent())
            .map(|((name, _), percent)| (name.text().to_owned(), json!(percent)))
            .collect();
        json!({"assumed": row.assumed, "over_linux_pct": percent, "distance_pct": row.distance(), "n_agree": n_agree(row)})
    };
    let said = |statement: &Statement| {
        let on = |row: &Row| {
            let (found, verdict) = statement.on(row);
            json!({"assumed": row.assumed, "found": found, "verdict": verdict.text()})
        };
        json!({"says": statement.says, "found": rows.iter().chain([&nearest]).map(on).collect::<Vec<_>>()})
    };
    let paper: serde_json::Map<String, Value> =
        PAPER.iter().map(|(name, percent)| (name.text().to_owned(), json!(percent))).collect();
    let sources: serde_json::Map<String, Value> =
        SWITCHES.iter().map(|switch| (switch.name.to_owned(), json!(switch.source))).collect();
    out.object(&json!({
        "ok": true, "kind": "sim", "paper_pct": paper, "rows": rows.iter().map(one).collect::<Vec<_>>(),
        "nearest": one(&nearest), "assumptions": sources,
        "statements": STATEMENTS.iter().map(said).collect::<Vec<_>>(),
        "room": room.iter().map(|it| json!({
            "workload": it.name, "rr_s": it.rr_s, "b2arr_s": it.b2arr_s, "least_s": it.least_s,
        })).collect::<Vec<_>>(),
    }));
    Ok(())
}

/// Of all statements, how many agree under these assumptions.
fn n_agree(row: &Row) -> usize {
    STATEMENTS.iter().filter(|it| it.on(row).1 == Verdict::Agrees).count()
}

/// What the paper says beside what is found with no assumption and with those that come nearest.
fn statements_table(rows: &[Row], nearest: &Row) -> Table {
    let columns = ["the paper says", "nothing more", "", "nearest", "", "agrees under"]
        .map(|name| if name.is_empty() { "verdict" } else { name });
    let note = "percent of mean turnaround, over the nine workloads unless one is named; sizes agree within a third or 2 percent";
    let mut table = Table::new("The paper's statements", &columns).kind(Kind::Sim).note(note);
    for statement in &STATEMENTS {
        let n = rows.iter().filter(|row| statement.on(row).1 == Verdict::Agrees).count();
        let both = [&rows[0], nearest].map(|row| statement.on(row));
        let cells = both
            .iter()
            .flat_map(|(found, verdict)| [Cell::number(found), Cell::words(verdict.text())]);
        let words = [Cell::words(statement.says)];
        let last = [Cell::number(format!("{n} of {}", rows.len()))];
        table.push(words.into_iter().chain(cells).chain(last).collect());
    }
    let n_agree = [&rows[0], nearest].map(|row| Cell::number(n_agree(row)));
    let [first, second] = n_agree;
    let of = || Cell::words(format!("of {}", STATEMENTS.len()));
    table.push(vec![Cell::words("agree"), first, of(), second, of(), Cell::words("")]);
    table
}

/// When a workload ends, and when it could at the earliest.
struct Room {
    name: &'static str,
    rr_s: f64,
    b2arr_s: f64,
    least_s: f64,
}

impl Room {
    /// Percent of the time of `rr` that any policy could save.
    fn percent(&self) -> f64 {
        100.0 * (1.0 - self.least_s / self.rr_s)
    }
}

/// No schedule ends before all work is done by all processors, nor before all traffic has gone over
/// the bus, nor before the longest chain of programs on as many processors as each has threads.
fn room((name, workload): &(&'static str, Workload)) -> Room {
    let machine = Machine::paper(4);
    let end = |name: Name| {
        let mut policy = name.policy(Settings::default());
        sim::run(workload, &machine, Model::plain(Base::M2), policy.as_mut()).end_s
    };
    let alone = |program: &Program| {
        let before = program.after.map_or(0.0, |other| {
            let other = &workload.programs[other];
            other.work_s / other.n_threads.min(machine.n_cpus()) as f64
        });
        before + program.work_s / program.n_threads.min(machine.n_cpus()) as f64
    };
    let traffic = |program: &Program| {
        let mut from = 0.0;
        let phase = |phase: &cosched::workload::Phase| {
            let share = phase.until - std::mem::replace(&mut from, phase.until);
            share * program.work_s * (phase.demand.read_mbps + phase.demand.write_mbps)
        };
        program.phases.iter().map(phase).sum::<f64>()
    };
    let all = &workload.programs;
    let work_s = all.iter().map(|program| program.work_s).sum::<f64>() / machine.n_cpus() as f64;
    let bus_s = all.iter().map(traffic).sum::<f64>() / machine.mixed_mbps();
    let least_s = all.iter().map(alone).fold(work_s.max(bus_s), f64::max);
    Room { name, rr_s: end(Name::Rr), b2arr_s: end(Name::B2arr), least_s }
}

fn room_table(room: &[Room]) -> Table {
    let columns = ["workload", "rr, s", "b2arr, s", "least, s", "could save, %", "saves, %"];
    let note = "when the last program ends; least: all work on four processors, all traffic on the bus, or the longest chain";
    let mut table = Table::new("What is left to gain over rr", &columns).kind(Kind::Sim).note(note);
    let mean = |of: &dyn Fn(&Room) -> f64| room.iter().map(of).sum::<f64>() / room.len() as f64;
    let saves = |it: &Room| 100.0 * (1.0 - it.b2arr_s / it.rr_s);
    let number = |value: f64| Cell::number(format!("{value:.1}"));
    for it in room {
        let times = [it.rr_s, it.b2arr_s, it.least_s, it.percent(), saves(it)].map(number);
        table.push([Cell::words(it.name)].into_iter().chain(times).collect());
    }
    let means = [mean(&Room::percent), mean(&saves)].map(number);
    let blank = || Cell::words("");
    table.push([Cell::words("mean"), blank(), blank(), blank()].into_iter().chain(means).collect());
    table
}

/// The paper's gains over Linux beside ours under assumptions.
pub fn table(rows: &[Row], nearest: &Row) -> Table {
    let columns: Vec<&str> = ["assumed"]
        .into_iter()
        .chain(PAPER.iter().map(|pair| pair.0.text()))
        .chain(["distance"])
        .collect();
    let note = "percent of Linux's mean turnaround that is saved, over the nine workloads on four processors; distance: root of the \
                mean square of the differences to the paper";
    let mut table =
        Table::new("The paper's sizes, taken apart", &columns).kind(Kind::Sim).note(note);
    let paper = PAPER.iter().map(|pair| Cell::number(format!("{:.0}", pair.1)));
    table.push(
        [Cell::words("the paper, measured")]
            .into_iter()
            .chain(paper)
            .chain([Cell::number("")])
            .collect(),
    );
    let mut push = |name: &str, row: &Row| {
        let cells = row
            .percent()
            .into_iter()
            .chain([row.distance()])
            .map(|it| Cell::number(format!("{it:.1}")))
            .collect::<Vec<_>>();
        table.push([Cell::words(name)].into_iter().chain(cells).collect());
    };
    rows.iter().for_each(|row| push(&row.assumed, row));
    push(&format!("nearest: {}", nearest.assumed), nearest);
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use cosched::assumptions::Assumptions;

    #[test]
    fn the_page_says_how_many_sentences_agree_and_what_is_left_to_gain() {
        let page = include_str!("../../../docs/explain/cosched.md").replace('\n', " ");
        let has = |text: &str| assert!(page.contains(text), "docs/explain/cosched.md: {text}");
        let row = like_paper::row("nothing more".to_owned(), Assumptions::default());
        has(&format!("{} of {} agree with nothing more assumed", n_agree(&row), STATEMENTS.len()));
        let room: Vec<Room> = workload::table_1().iter().map(room).collect();
        let percent = |name: &str| {
            room.iter().find(|it| it.name == name).map(Room::percent).expect("one of the nine")
        };
        let mean = room.iter().map(Room::percent).sum::<f64>() / room.len() as f64;
        has(&format!("{mean:.1} % to gain over `rr` in the mean"));
        has(&format!("({:.1} on C.1 to {:.1} on B.1)", percent("c1"), percent("b1")));
        for it in &room {
            let least = it.least_s.min(it.rr_s).min(it.b2arr_s);
            assert!((least - it.least_s).abs() < 1e-9, "{}: earlier than it could", it.name);
        }
    }
}
