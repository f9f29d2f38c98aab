//! Random scenarios that always end, the same for the same seed.

use regwin::scenario::{Scenario, Step, THREADS_MAX, TIMES_MAX};

/// A scenario of random threads that always ends: a ring of streams, each thread reads the one
/// before it and writes the next, the first writes first, up to 20 times.
pub fn scenario(seed: u64) -> Scenario {
    with_rounds(seed, 20)
}

/// The same, up to `rounds_max` times.
pub fn with_rounds(seed: u64, rounds_max: u32) -> Scenario {
    let mut rng = fastrand::Rng::with_seed(seed);
    let n_threads_max = if rng.bool() { 5 } else { THREADS_MAX };
    let n_threads = rng.usize(2..=n_threads_max);
    let capacity = [1, 2, 3, 8, 64];
    let streams = (0..n_threads)
        .map(|idx| (format!("s{idx}"), capacity[rng.usize(..capacity.len())]))
        .collect();
    // Each round moves so many bytes around the ring; a put never waits for its own get.
    let rounds = rng.u32(1..=rounds_max);
    let threads = (0..n_threads).map(|idx| {
        let mut steps = vec![Step::Repeat(rounds)];
        let get = Step::Get((idx + n_threads - 1) % n_threads, 1);
        let put = Step::Put(idx, 1);
        let turns = if idx == 0 { [put, get] } else { [get, put] };
        for turn in turns {
            let depth = rng.usize(..12);
            wander(&mut rng, &mut steps);
            steps.extend(std::iter::repeat_n(Step::Call, depth));
            steps.push(turn);
            wander(&mut rng, &mut steps);
            steps.extend(std::iter::repeat_n(Step::Return, depth));
        }
        steps.push(Step::End);
        (format!("t{idx}"), steps)
    });
    let threads = threads.collect();
    Scenario { streams, threads, ..Scenario::default() }
}

/// The same with mutexes, semaphores and priorities that change. A thread that has one waits
/// for nothing else, so it still ends.
pub fn with_locks(seed: u64) -> Scenario {
    let mut scenario = scenario(seed);
    let mut rng = fastrand::Rng::with_seed(!seed);
    scenario.mutexes = (0..rng.usize(1..=3)).map(|idx| format!("m{idx}")).collect();
    scenario.semaphores =
        (0..rng.usize(1..=3)).map(|idx| (format!("c{idx}"), rng.u32(1..=2))).collect();
    let (n_mutexes, n_semaphores) = (scenario.mutexes.len(), scenario.semaphores.len());
    for (_, steps) in &mut scenario.threads {
        let mut more = vec![Step::Priority(rng.u32(..6))];
        for step in std::mem::take(steps) {
            let is_turn = matches!(step, Step::Put(..) | Step::Get(..));
            if is_turn && rng.bool() {
                let (begin, end) = if rng.bool() {
                    let it = rng.usize(..n_mutexes);
                    (Step::Lock(it), Step::Unlock(it))
                } else {
                    let it = rng.usize(..n_semaphores);
                    (Step::Take(it), Step::Give(it))
                };
                more.push(begin);
                wander(&mut rng, &mut more);
                more.push(end);
            }
            more.push(step);
            if is_turn && rng.u8(..4) == 0 {
                more.push(Step::Priority(rng.u32(..6)));
            }
        }
        *steps = more;
    }
    scenario
}

/// The same as with locks, where threads wait for a clock, and for semaphores not for ever. One
/// more thread makes it tick until all have waited long enough.
pub fn with_waits(seed: u64) -> Scenario {
    let with_room = |scenario: &Scenario| scenario.threads.len() < THREADS_MAX;
    let mut scenario = (seed..).map(with_locks).find(with_room).expect("most have fewer threads");
    let mut rng = fastrand::Rng::with_seed(seed.wrapping_mul(5));
    let n_semaphores = scenario.semaphores.len();
    let mut n_ticks = 10;
    for (_, steps) in &mut scenario.threads {
        let mut more = Vec::new();
        let mut rounds = 1;
        for step in std::mem::take(steps) {
            if let Step::Repeat(n) = step {
                rounds = n;
            }
            if rng.u32(..5) == 0 {
                let ticks = rng.u32(1..4);
                let try_it = rng.bool();
                more.push(if try_it {
                    Step::Try(rng.usize(..n_semaphores), ticks)
                } else {
                    Step::Wait(ticks)
                });
                n_ticks += (ticks + 1) * rounds;
            }
            more.push(step);
        }
        *steps = more;
    }
    let turn = vec![
        Step::Priority(31),
        Step::Repeat(n_ticks.min(TIMES_MAX)),
        Step::Tick,
        Step::Yield,
        Step::End,
    ];
    scenario.threads.push(("clock".to_owned(), turn));
    scenario
}

/// The same as with locks, where some threads compute with floating point here and there.
pub fn with_floats(seed: u64) -> Scenario {
    let mut scenario = if seed.is_multiple_of(2) { scenario(seed) } else { with_locks(seed) };
    let mut rng = fastrand::Rng::with_seed(seed.wrapping_mul(3));
    for (_, steps) in &mut scenario.threads {
        let seldom = [1, 2, 8, 60][rng.usize(..4)];
        if seldom == 60 {
            continue;
        }
        let with = |step: Step| {
            if rng.u32(..seldom) == 0 { vec![step, Step::Float(rng.u32(1..9))] } else { vec![step] }
        };
        *steps = std::mem::take(steps).into_iter().flat_map(with).collect();
    }
    scenario
}

/// Calls, returns, yields and flushes without a stream.
fn wander(rng: &mut fastrand::Rng, steps: &mut Vec<Step>) {
    let mut depth = 0;
    for _ in 0..rng.usize(..12) {
        match rng.u32(..5) {
            0..=1 => {
                depth += 1;
                steps.push(Step::Call);
            }
            2..=3 if depth > 0 => {
                depth -= 1;
                steps.push(Step::Return);
            }
            _ => steps.push(
                [Step::Flush, Step::Sleep].get(rng.usize(..8)).copied().unwrap_or(Step::Yield),
            ),
        }
    }
    steps.extend(std::iter::repeat_n(Step::Return, depth));
}
