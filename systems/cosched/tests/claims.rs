//! What docs/explain/cosched.md says of policies, computed again.

use cosched::assumptions::Assumptions;
use cosched::contention::{Base, Model};
use cosched::machine::Machine;
use cosched::policies::{Name, Settings};
use cosched::{sim, workload};

/// Percent by which the mean turnaround is below that of the best other policy, which is named if
/// it is below ours.
fn cell(workload: &workload::Workload, n_cpus: usize, finishes_first: bool) -> String {
    let machine = Machine::paper(n_cpus);
    let mean = |name: Name, settings: Settings| {
        sim::run(workload, &machine, Model::plain(Base::M2), name.policy(settings).as_mut())
            .mean_s()
    };
    let ours = mean(Name::Pairing, Settings { finishes_first, ..Settings::default() });
    let others = Name::ALL
        .iter()
        .filter(|it| **it != Name::Pairing)
        .map(|it| (mean(*it, Settings::default()), it.text()));
    let (best, name) = others.min_by(|a, b| a.0.total_cmp(&b.0)).expect("there are others");
    let percent = (1.0 - ours / best) * 100.0;
    // Policies whose means are nearer than half a percent end alike.
    if percent.abs() < 0.5 {
        "0".to_owned()
    } else if percent > 0.0 {
        format!("{percent:.0}")
    } else {
        format!("{percent:.0} `{name}`")
    }
}

#[test]
fn the_page_says_where_pairing_is_best() {
    let mut rows = String::new();
    for (name, workload) in workload::table_1() {
        let cells: Vec<String> = [2, 4, 8]
            .iter()
            .flat_map(|n| [false, true].map(|first| cell(&workload, *n, first)))
            .collect();
        let (letter, number) = name.split_at(1);
        rows += &format!("| {}.{number} | {} |\n", letter.to_uppercase(), cells.join(" | "));
    }
    let page = include_str!("../../../docs/explain/cosched.md");
    assert!(page.contains(&rows), "docs/explain/cosched.md should have\n{rows}");
}

#[test]
fn a_program_out_of_step_costs_linux_and_not_a_manager() {
    let (_, workload) =
        workload::table_1().into_iter().find(|pair| pair.0 == "a1").expect("it is there");
    let mean = |name: Name, assumed: Assumptions| {
        let mut policy = name.policy(Settings::default());
        sim::run_assuming(
            &workload,
            &Machine::paper(4),
            Model::plain(Base::M2),
            policy.as_mut(),
            assumed,
        )
        .mean_s()
    };
    let churn = Assumptions { churn_s: 20, ..Assumptions::default() };
    assert!(mean(Name::Linux, churn) > 1.5 * mean(Name::Linux, Assumptions::default()));
    assert!(mean(Name::Rr, churn) < 1.05 * mean(Name::Rr, Assumptions::default()));
    // The same chance each time.
    assert!((mean(Name::Linux, churn) - mean(Name::Linux, churn)).abs() < 1e-12);
}
