//! `meanwhile cosched probe`: which processors share a link, what it carries, and whether choosing
//! would gain.

use cosched::manager::canary::Canary;
use cosched::manager::capacity::{self, Capacities};
use cosched::manager::group::Hierarchy;
use cosched::manager::idle;
use cosched::manager::topology::{self, Pair};
use cosched::manager::{process, source};
use report::{Cell, Kind, Table};
use serde_json::{Value, json};

use crate::output::{Failure, Output};

/// Arguments of `meanwhile cosched probe`.
#[derive(Debug, clap::Args)]
pub struct Args {}

pub fn run(_args: &Args, out: &mut Output) -> Result<(), Failure> {
    let cpus = process::cpus_of(0);
    let found = topology::look(&cpus, &mut Canary::new(), None)
        .map_err(|error| Failure::environment("measure the links", error))?;
    let mut choice =
        source::choose(None).map_err(|said| Failure::environment("choose a source", said))?;
    choice.note_blindness(found.seeing());
    let freezer = Hierarchy::create(&format!("meanwhile-probe-{}", std::process::id()), None).map(
        |(it, said)| {
            let idle = idle::choose(&it);
            let _ = it.remove();
            (it.freezer, said, idle)
        },
    );
    let note = "round trip: a line sent from cache to cache and back; slowdown: of a reader beside another. A clear round trip decides, \
                then a clear slowdown";
    let columns = ["processors", "round trip ns", "alone MB/s", "beside MB/s", "slowdown", "share"];
    let mut table = Table::new("Links", &columns).kind(Kind::Measured).note(note);
    for it in &found.pairs {
        table.push(vec![
            Cell::words(format!("{}, {}", it.a, it.b)),
            Cell::number(it.round_trip_ns.map_or("-".into(), |it| format!("{it:.0}"))),
            Cell::number(format!("{:.0}", it.readers.alone_mbps)),
            Cell::number(format!("{:.0}", it.readers.beside_mbps)),
            Cell::number(format!("{:.2}", it.readers.slowdown())),
            Cell::words(if it.is_shared { "a link" } else { "nothing" }),
        ]);
    }
    out.text(&table.terminal(None));
    if found.cores.are_known() {
        out.line("sockets and caches are as the kernel says; of each link one pair was measured");
    }
    let shared = || found.pairs.iter().filter(|pair| pair.is_shared);
    let would_gain =
        shared().any(|shared| shared.readers.is_clear && shared.readers.slowdown() > WORTH);
    let carries = shared().next().map(|shared| capacity::measure(shared.a, shared.b)).transpose();
    let carries =
        carries.map_err(|error| Failure::environment("measure what a link carries", error))?;
    if let Some(it) = &carries {
        let gbps = [it.read_mbps, it.write_mbps, it.mixed_mbps]
            .map(|number| format!("{:.1}", number / 1000.0));
        out.line(&format!(
            "two processors move together: {} GB/s read, {} written, {} one of each",
            gbps[0], gbps[1], gbps[2]
        ));
    }
    let gbps = |of: fn(&Capacities) -> f64| carries.as_ref().map(|carry| of(carry) / 1000.0);
    out.line(&format!("bandwidth of programs: {} ({})", choice.kind.text(), choice.reason));
    match &freezer {
        Ok((it, said, _)) if it.drawback().is_some() => {
            out.warning(&format!("programs are stopped by {}: {said}", it.name()))
        }
        Ok((it, ..)) => out.line(&format!("programs are stopped by: {}", it.name())),
        Err(said) => out.warning(&format!("programs cannot be stopped: {said}")),
    }
    let idle = freezer
        .as_ref()
        .map_err(String::as_str)
        .and_then(|(.., idle)| idle.as_ref().copied().map_err(String::as_str));
    match idle {
        Ok(kind) => out.line(&format!("soft turns are cut by: {}", kind.name())),
        Err(said) => out.warning(&format!("no soft turns can be cut: {said}")),
    }
    let said = if would_gain {
        "Programs that share a link can gain from being chosen together by their demand."
    } else if shared().next().is_some() {
        "Processors share a link, but one reader leaves enough of it for the other: there is little to gain."
    } else {
        "No two processors share a link now: there is nothing to gain. A virtual machine's processors move; probe again later."
    };
    out.line(said);
    let pairs: Vec<Value> = found.pairs.iter().map(pair).collect();
    out.object(&json!({
        "ok": true,
        "kind": "measured",
        "source": choice.kind.text(),
        "reason": choice.reason,
        "links": found.links,
        "pairs": pairs,
        "links_by": if found.cores.are_known() { "kernel" } else { "measurement" },
        "capacity_gbps": {"read": gbps(|it| it.read_mbps), "write": gbps(|it| it.write_mbps), "mixed": gbps(|it| it.mixed_mbps)},
        "would_gain": would_gain,
        "freezer": freezer.as_ref().ok().map(|freezer| freezer.0.name()),
        "idle_class": idle.ok().map(|kind| kind.name()),
    }));
    Ok(())
}

/// Two readers that slow each other down by less leave little to gain.
const WORTH: f64 = 1.1;

fn pair(it: &Pair) -> Value {
    json!({"cpus": [it.a, it.b], "round_trip_ns": it.round_trip_ns, "slowdown": it.readers.slowdown(), "share": it.is_shared})
}
