//! Never a frozen program: every fault to every process of a manager, with every freezer. The table
//! in docs/explain/cosched.md is the one of `support/scene.rs`, which is tested here.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::support;
use crate::support::scene;
use scene::{FREEZERS, MATRIX, Scene, check};
use support::{may_freeze, skipped, works};

/// The table of the documentation.
fn table() -> String {
    let mut text =
        String::from("| | daemon | supervisors | both | a program |\n|---|---|---|---|---|\n");
    for (fault, cells) in MATRIX {
        text += &format!("| {} |", fault.text());
        for (_, after) in cells {
            text += &format!(" {} |", after.text());
        }
        text += "\n";
    }
    text
}

#[test]
fn the_documented_matrix_is_the_tested_one() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/explain/cosched.md");
    let text = fs::read_to_string(page).expect("the page is there");
    assert!(text.contains(&table()), "docs/explain/cosched.md lacks this table:\n{}", table());
}

#[test]
fn within_a_second_every_program_runs_whatever_happens_to_whom() {
    if !may_freeze() {
        return;
    }
    let (mut n_cases, mut named) = (0, BTreeSet::new());
    for freezer in FREEZERS {
        if !works(freezer) {
            // Each cell stands for programs that were started and for attached ones.
            let n: usize = MATRIX.iter().map(|pair| 2 * pair.1.len()).sum();
            named.insert(format!(
                "faults: {n} cases with {freezer}: this kernel has no such freezer"
            ));
            continue;
        }
        let mut scene: Option<Scene> = None;
        for (fault, cells) in MATRIX {
            for (victim, after) in cells {
                if scene.is_none() {
                    scene = Scene::start(freezer);
                }
                let Some(it) = &mut scene else {
                    named.insert("faults: no right to mount a small folder".to_owned());
                    continue;
                };
                if !check(it, "", (*fault, *victim, *after)) {
                    scene = None;
                }
                n_cases += 2;
            }
        }
        if let Some(scene) = scene {
            assert_eq!(scene.ask(&["stop"]).1, 0);
            scene.are_free(&format!("{freezer}, stop after all"));
        }
    }
    named.iter().for_each(|it| skipped(it));
    let n_all: usize = FREEZERS.len() * MATRIX.iter().map(|pair| 2 * pair.1.len()).sum::<usize>();
    assert!(
        n_cases == n_all || !named.is_empty(),
        "{n_cases} of {n_all} cases, and nobody says which are missing"
    );
}
