//! Many programs for a long time: a decision leaves nothing behind that grows. Alone in its
//! process, whose memory is looked at.

use cosched::machine::Machine;
use cosched::policies::{Name, ProgramView, Settings, ThreadView, View};

const N_PROGRAMS: usize = 100;

/// Memory of this process that no file backs, counted page by page: the kernel's own sums, as in
/// `/proc/self/status`, lag by up to 32 pages a processor, and have pages of the program's code.
fn memory_kb() -> u64 {
    let text = std::fs::read_to_string("/proc/self/smaps_rollup").expect("proc is there");
    let line = text.lines().find_map(|line| line.strip_prefix("Anonymous:")).expect("a line");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}

#[test]
fn memory_is_flat_however_many_quanta() {
    let machine = Machine::paper(4);
    for &name in Name::ALL {
        let mut random = fastrand::Rng::with_seed(3);
        let mut programs: Vec<ProgramView> = (0..N_PROGRAMS)
            .map(|idx| ProgramView {
                n_threads: 1,
                first: idx,
                is_active: true,
                is_malleable: true,
            })
            .collect();
        let mut threads: Vec<ThreadView> = (0..N_PROGRAMS)
            .map(|program| ThreadView {
                window_mbps: vec![0.0; 8],
                is_ready: true,
                ..ThreadView::new(program)
            })
            .collect();
        let mut policy = name.policy(Settings::default());
        let mut before = 0;
        for quantum in 0..20_000 {
            // Programs come and go.
            let it = random.usize(..N_PROGRAMS);
            programs[it].is_active = !programs[it].is_active;
            threads[it].is_ready = programs[it].is_active;
            let placement =
                policy.decide(&View { machine: &machine, programs: &programs, threads: &threads });
            threads.iter_mut().for_each(|thread| thread.was_running = false);
            for &it in placement.iter().flatten() {
                assert!(threads[it].is_ready, "{name:?}, seed 3, quantum {quantum}");
                threads[it].was_running = true;
                threads[it].latest_mbps = 900.0 * random.f64();
                threads[it].window_mbps.rotate_left(1);
                threads[it].window_mbps[7] = threads[it].latest_mbps;
            }
            if quantum == 2_000 {
                before = memory_kb();
            }
        }
        // A number left behind by each quantum would be 140 KB.
        let grown = memory_kb().saturating_sub(before);
        assert!(grown < 100, "{name:?}: {grown} KB more after 18,000 quanta");
    }
}
