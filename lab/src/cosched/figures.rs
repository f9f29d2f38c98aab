//! Door: The cosched section of `meanwhile-lab report`: Figures 4 and 5 beside the paper's.

use cosched::assumptions::Assumptions;
use cosched::contention::{Base, Model};
use cosched::machine::Machine;
use cosched::policies::{Name, Settings};
use cosched::timeline;
use cosched::workload;
use report::page::{Block, Section};
use report::svg::{BarChart, Chart, Series};
use report::view::{Figure, View};
use report::{Cell, Kind, Table};
use serde_json::Value;

use super::{sensitivity, services, sweep};
use crate::evidence::Evidence;
use crate::system_report::{SystemReport, numbers};
use meanwhile::cosched_cmd::sim::{Runs, runs};
use terminal::output::{Failure, Output};

/// What the paper's text says of a policy against another, in percent. Source: section 5.
struct Claim {
    policy: Name,
    over: Name,
    paper: &'static str,
}

const CLAIMS: [Claim; 11] = [
    Claim { policy: Name::Rr, over: Name::Linux, paper: "11" },
    Claim { policy: Name::Dss, over: Name::Linux, paper: "14" },
    Claim { policy: Name::Lqg, over: Name::Linux, paper: "9" },
    Claim { policy: Name::B2arr, over: Name::Linux, paper: "23" },
    Claim { policy: Name::B2adss, over: Name::Linux, paper: "18" },
    Claim { policy: Name::Lqg, over: Name::Rr, paper: "-1" },
    Claim { policy: Name::B2arr, over: Name::Rr, paper: "13 (figure 5); 28 (text)" },
    Claim { policy: Name::B2adss, over: Name::Rr, paper: "17 (text)" },
    Claim { policy: Name::B2adss, over: Name::Dss, paper: "5" },
    Claim { policy: Name::B2arr, over: Name::Lqg, paper: "13" },
    Claim { policy: Name::B2adss, over: Name::Lqg, paper: "9" },
];

fn mean(all: &[Runs], policy: Name, over: Name) -> f64 {
    all.iter().filter_map(|it| it.over(policy, over)).sum::<f64>() / all.len() as f64
}

fn least(all: &[Runs], policy: Name, over: Name) -> (f64, &str) {
    let each = all.iter().filter_map(|runs| Some((runs.over(policy, over)?, runs.name.as_str())));
    each.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((f64::NAN, ""))
}

fn claims(all: &[Runs]) -> Table {
    let columns = ["policy", "over", "paper %", "ours %", "least %", "in"];
    let note = "percent of the other policy's mean turnaround that is saved, mean over the nine workloads of Table 1. Of the paper's two \
                figures for B2ARR over RR, 13 agrees with its Figure 4 (1 - 0.77 / 0.89), 28 does not";
    let mut table =
        Table::new("cosched: the paper's figures 4 and 5", &columns).kind(Kind::Sim).note(note);
    let mut push = |policy: Name, over: Name, paper: &str| {
        let (lowest, place) = least(all, policy, over);
        table.push(vec![
            Cell::words(policy.text()),
            Cell::words(over.text()),
            Cell::number(paper),
            Cell::number(format!("{:.1}", mean(all, policy, over))),
            Cell::number(format!("{lowest:.1}")),
            Cell::words(place),
        ]);
    };
    CLAIMS.iter().for_each(|claim| push(claim.policy, claim.over, claim.paper));
    for over in [Name::Linux, Name::LinuxNow, Name::Rr, Name::B2arr, Name::B2adss] {
        push(Name::Pairing, over, "");
    }
    table
}

fn chart(title: &str, all: &[Runs], pairs: &[(Name, Name)]) -> BarChart {
    let series = |(policy, over): &(Name, Name)| Series {
        name: format!("{} over {}", policy.text(), over.text()),
        values: all.iter().map(|it| it.over(*policy, *over)).collect(),
    };
    BarChart {
        title: title.into(),
        unit: "% of the time saved".into(),
        kind: Kind::Sim,
        groups: all.iter().map(|it| it.name.clone()).collect(),
        series: pairs.iter().map(series).collect(),
        log: false,
    }
}

/// Our policy over what Linux does, in the paper's nine workloads; and services under the manager.
fn view(all: &[Runs]) -> View {
    let (lowest, place) = least(all, Name::Pairing, Name::LinuxNow);
    let services =
        Evidence::bundled(include_str!("../../../experiments/cosched-services/services.json"));
    let simulated = chart(
        "Over a Linux of today",
        all,
        &[(Name::B2arr, Name::LinuxNow), (Name::Pairing, Name::LinuxNow)],
    );
    View {
        id: "cosched".to_owned(),
        waits: "a program waits for the memory bus".to_owned(),
        sentence: format!(
            "Programs paired by the bandwidth that they ask for take {:.0} % less time than under the scheduler of a Linux of today, in a simulator; where nothing shows that the link is short, as on the virtual machines that were measured, the manager changes nothing and gains nothing.",
            mean(all, Name::Pairing, Name::LinuxNow)
        ),
        kind: Kind::Sim,
        note: format!(
            "Mean turnaround of the paper's nine workloads on four processors; least in {place}, {lowest:.0} %. Over the paper's own Linux {:.0} %. The paper's best policy saves {:.0} % here over the paper's Linux, where its authors measured 23. Measured: services at 10 % of their full speed, beside two programs that compute, have 99th percentiles of {} times those without the manager; of all {} rows {} are later than 1.2 times, and {} of two plain runs: noise, as no turn was cut.",
            mean(all, Name::Pairing, Name::Linux),
            mean(all, Name::B2arr, Name::Linux),
            services::at_a_tenth(&services.values()),
            services.values().len(),
            services::late(&services.values()),
            services::late_by_itself(&services.values())
        ),
        yours: Some([
            "meanwhile cosched probe",
            "What the links to this machine's memory carry. `meanwhile cosched run -- PROGRAM` puts a \
             program under the manager, `meanwhile cosched submit --cgroup` a container or service, and Slurm's jobs \
             come by themselves with its plugin.",
        ]),
        figures: vec![
            Figure {
                id: "cosched-workloads".to_owned(),
                picture: simulated.for_page(),
                says: "Time saved in each workload over a Linux of today, by the paper's best policy and by ours.".to_owned(),
                again: "meanwhile-lab report --only cosched --json".to_owned(),
                numbers: numbers(&all.iter().flat_map(meanwhile::cosched_cmd::sim::rows).collect::<Vec<Value>>()),
            },
            Figure {
                id: "cosched-services".to_owned(),
                picture: services::chart(&services.values()).for_page(),
                says: format!(
                    "What a service answers at the 99th percentile beside two burners: managed over plain, the median of its rounds, from the least to the most; at 10 to 90 % of its full speed. Two plain runs differ by {}, so from 30 % on this says little. {}.",
                    services::plain_differs(&services.values()),
                    services.place()
                ),
                again: services.again(),
                numbers: numbers(&services.values()),
            },
        ],
    }
}

/// The cosched section of the report.
pub fn report(out: &Output) -> Result<SystemReport, Failure> {
    let workloads = workload::table_1();
    let made = (Machine::paper(4), Model::plain(Base::M2), Settings::default());
    let bar = out.progress(workloads.len() as u64 + sweep::N_STEPS);
    let mut all = Vec::new();
    for (name, it) in &workloads {
        bar.set_message(*name);
        all.push(runs(name, it, Name::ALL, &made, Assumptions::default()));
        bar.inc(1);
    }
    let points = sweep::points(&|| bar.inc(1));
    bar.finish_and_clear();
    let linux = |policy: Name| (policy, Name::Linux);
    let figure_4 =
        [Name::Rr, Name::Dss, Name::Lqg, Name::B2arr, Name::B2adss, Name::Pairing].map(linux);
    let (name, shown) = &workloads[1];
    let outcome = |policy: Name| {
        &all[1].outcomes.iter().find(|outcome| outcome.0 == policy).expect("all policies ran").1
    };
    let lines: Vec<(String, _)> =
        [Name::Rr, Name::Pairing].map(|it| (it.text().to_owned(), outcome(it))).into();
    let beside = sensitivity::points();
    let mut first: Vec<Block> = sensitivity::BESIDE
        .iter()
        .map(|(figure, it)| Block::Chart(sensitivity::chart(&beside, figure, it).for_page()))
        .collect();
    first.push(Block::Table(sensitivity::table(&beside)));
    let mut blocks = vec![
        Block::Text(
            "Nine workloads on a simulated machine of four processors and the paper's bus of 1797 MB/s. The demands of the programs are \
             argued from their algorithms in systems/cosched/workloads/table1/programs.toml; the paper prints none."
                .into(),
        ),
        Block::Chart(chart("Figure 4: over Linux", &all, &figure_4).for_page()),
        Block::Chart(
            chart("Figure 5: over what they are made from", &all, &[(Name::B2arr, Name::Rr), (Name::B2adss, Name::Dss)]).for_page(),
        ),
        Block::Chart(timeline::use_over_time(&format!("{name}: use of the bus"), &lines).for_page()),
        Block::Chart(
            timeline::gantt(&format!("{name}: programs on processors under pairing"), shown, 4, outcome(Name::Pairing)).for_page(),
        ),
        Block::Table(meanwhile::cosched_cmd::sim::table(&all)),
        Block::Chart(sweep::chart(&points).for_page()),
        Block::Table(sweep::table(&points)),
        Block::Table(sweep::decision_table(&sweep::decisions())),
    ];
    // The figures in the order of the paper, after the text that says what they are.
    blocks.splice(1..1, first);
    Ok(SystemReport {
        summary: claims(&all),
        view: view(&all),
        section: Section {
            title: "cosched: which programs share the bus".to_owned(),
            blocks,
            ..Section::default()
        },
        rows: all.iter().flat_map(meanwhile::cosched_cmd::sim::rows).collect(),
    })
}
