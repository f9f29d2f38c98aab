//! Programs come and go while everything that can happen happens, in an order of chance: nothing is
//! frozen, nothing is lost.
//!
//! `MEANWHILE_COSCHED_SEED` is where the order comes from, `MEANWHILE_COSCHED_FAULTS` how many
//! faults there are.

use crate::support;
use crate::support::scene;
use scene::{FREEZERS, MATRIX, Scene, check};
use support::{may_freeze, skipped, works};

/// Programs at a time.
const PROGRAMS_MAX: usize = 6;

fn number(name: &str) -> Option<u64> {
    std::env::var(name)
        .ok()
        .map(|value| value.parse().unwrap_or_else(|_| panic!("{name} is a number")))
}

#[test]
fn nothing_is_frozen_and_nothing_lost_whatever_happens() {
    if !may_freeze() {
        return;
    }
    let freezers: Vec<&str> = FREEZERS.into_iter().filter(|freezer| works(freezer)).collect();
    let is_long = std::env::var_os("MEANWHILE_LONG").is_some();
    let (n_faults, seed) = (
        number("MEANWHILE_COSCHED_FAULTS").unwrap_or(if is_long { 1000 } else { 12 }),
        number("MEANWHILE_COSCHED_SEED"),
    );
    let seed = seed.unwrap_or(7);
    let mut random = fastrand::Rng::with_seed(seed);
    let Some(mut scene) = Scene::start(freezers[random.usize(..freezers.len())]) else {
        return skipped("faults: no right to mount a small folder");
    };
    let (mut n_done, mut n_named) = (0, 0);
    while n_done < n_faults {
        let what = format!("seed {seed}, fault {n_done}: ");
        n_named += 1;
        match random.u32(..10) {
            0 | 1 if scene.names.len() < PROGRAMS_MAX => scene.submit(&format!("s{n_named}")),
            2 | 3 if scene.names.len() < PROGRAMS_MAX => scene.attach(&format!("t{n_named}")),
            4 if scene.names.len() > 3 => {
                let others: Vec<String> =
                    scene.names.iter().filter(|name| *name != "a").cloned().collect();
                scene.end(&others[random.usize(..others.len())]);
            }
            5 => {
                assert_eq!(scene.ask(&["stop"]).1, 0, "{what}");
                scene.are_free(&format!("{what}stop"));
                scene.again();
            }
            _ => {
                let (fault, cells) = MATRIX[random.usize(..MATRIX.len())];
                let (victim, after) = cells[random.usize(..cells.len())];
                if !check(&mut scene, &what, (fault, victim, after)) {
                    scene.again();
                }
                n_done += 1;
            }
        }
        scene.nothing_is_lost(&what);
    }
    assert_eq!(scene.ask(&["stop"]).1, 0);
    scene.are_free("stop after all");
}
