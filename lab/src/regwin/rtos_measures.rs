//! What RTOS people measure: cycles of switches, interrupts and messages, by scheme and register
//! windows.

use measure::tool::ToolError;

use regwin::image::{Program, Recipe};
use regwin::qemu::{self, Blob};
use regwin::{Schedule, Scheme, Variant, work};

/// One thing that is measured, as `bench/main.c` numbers them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measure {
    /// What it is called, and by whom.
    pub name: &'static str,
    /// The suite that describes it.
    pub suite: &'static str,
    number: u32,
    /// Switches in a round.
    per_round: f64,
    /// True if a round has the calls of each of its switches too, which are measured apart.
    has_calls: bool,
    /// How deep threads have called.
    pub depth: u32,
}

const fn measure(
    suite: &'static str,
    name: &'static str,
    number: u32,
    per_round: u32,
    depth: u32,
) -> Measure {
    Measure { name, suite, number, per_round: per_round as f64, has_calls: false, depth }
}

const CALLS: u32 = 1;

/// All of them; those of a depth for each of `depths`.
pub fn measures(depths: &[u32]) -> Vec<Measure> {
    let mut all = Vec::new();
    for depth in depths {
        let calls = Measure {
            has_calls: true,
            ..measure("tmcontext01", "switch, calls and returns between", 2, 2, *depth)
        };
        all.extend([calls, measure("tmcontext01", "switch, staying there", 3, 2, *depth)]);
    }
    for depth in depths.iter().filter(|depth| matches!(depth, 0 | 4)) {
        all.push(measure("Rhealstone", "preemption", 4, 1, *depth));
        all.push(measure("Rhealstone", "interrupt latency", 5, 1, *depth));
    }
    all.extend([
        measure("Rhealstone", "task switch", 3, 2, 0),
        measure("Rhealstone", "semaphore shuffling", 6, 1, 0),
        measure("Rhealstone", "deadlock breaking", 7, 1, 0),
        measure("Rhealstone", "message latency", 8, 1, 0),
        measure("Thread-Metric", "cooperative", 9, 5, 0),
        measure("Thread-Metric", "preemptive", 10, 5, 0),
        measure("Thread-Metric", "interrupt", 11, 1, 0),
        measure("Thread-Metric", "interrupt, preempting", 12, 1, 0),
        measure("Thread-Metric", "message", 13, 1, 0),
        measure("Thread-Metric", "synchronisation", 14, 1, 0),
        measure("Thread-Metric", "memory allocation", 15, 1, 0),
    ]);
    all
}

/// Cycles of one such thing, on the two machines of [`work::MACHINES`].
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RtosCycles {
    /// Once every thread has run: the mean of the rounds.
    pub mean: [f64; 2],
    /// The longest round, over the switches in it.
    pub worst: [f64; 2],
}

const ROUNDS: u32 = 200;

/// Cycles between marks, of the round alone: mean and longest. The first rounds, in which threads
/// begin, count for the longest only.
fn rounds(
    scheme: Scheme,
    windows: u32,
    number: u32,
    depth: u32,
    n: u32,
) -> Result<(u64, [u64; 2], [u32; 2]), ToolError> {
    let recipe = Recipe {
        variant: Variant::Preempt,
        ..Recipe::new(Program::Rtos, scheme, Schedule::Priorities)
    };
    let (path, code) = work::image(&recipe)?;
    let cores = work::cores();
    let table = [number, depth, n];
    let blob = Blob {
        address: 0x4044_0000,
        bytes: table.iter().flat_map(|it| it.to_be_bytes()).collect(),
    };
    let raw = qemu::run_marked(&path, &code, windows, &[blob], [&cores[0], &cores[1]])?;
    if raw.console != "regwin: done\n" {
        return Err(ToolError {
            ran: format!("{}, {windows} windows, measure {number}", path.display()),
            said: raw.console,
        });
    }
    let spans = &raw.spans[0];
    let times = spans.iter().map(|span| span.times).sum();
    let sum = [0, 1]
        .map(|machine| spans.iter().map(|span| u64::from(span.cycles[machine]) * span.times).sum());
    let worst =
        [0, 1].map(|machine| spans.iter().map(|span| span.cycles[machine]).max().unwrap_or(0));
    Ok((times, sum, worst))
}

/// Measures one thing; the marks' own cycles are not in it.
///
/// Errors: a tool is missing or failed, or the image did not come to its end.
pub fn cycles(scheme: Scheme, windows: u32, measure: &Measure) -> Result<RtosCycles, ToolError> {
    let (_, _, marks) = rounds(scheme, windows, 0, 0, 4)?;
    // Twice the rounds less once: what only the first rounds cost is not in the mean.
    let mean = |number: u32, depth: u32| -> Result<([f64; 2], [u32; 2]), ToolError> {
        let (n, sum, worst) = rounds(scheme, windows, number, depth, ROUNDS)?;
        let (n_more, sum_more, _) = rounds(scheme, windows, number, depth, 2 * ROUNDS)?;
        let each = [0, 1].map(|number| {
            (sum_more[number] - sum[number]) as f64 / (n_more - n) as f64 - f64::from(marks[number])
        });
        Ok((each, worst))
    };
    let (each, worst) = mean(measure.number, measure.depth)?;
    let calls = if measure.has_calls { mean(CALLS, measure.depth)?.0 } else { [0.0; 2] };
    let of = |round: f64, machine: usize| round / measure.per_round - calls[machine];
    Ok(RtosCycles {
        mean: [0, 1].map(|number| of(each[number], number)),
        worst: [0, 1].map(|number| of(f64::from(worst[number]) - f64::from(marks[number]), number)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With windows for all threads a switch takes half the cycles of one that stores them (0.52 at
    /// most), and nothing else is slower; with few windows adaptive stays within 4 % of `ns`. An
    /// interrupt reaches its handler as soon.
    #[test]
    fn adaptive_is_never_much_slower_and_twice_as_fast_where_windows_suffice() {
        for measure in measures(&[0, 1, 4]) {
            for windows in [8, 31] {
                let of = |scheme| {
                    cycles(scheme, windows, &measure)
                        .unwrap_or_else(|error| panic!("{measure:?}, {windows}: {error:?}"))
                };
                let (ns, adaptive) = (of(Scheme::Ns), of(Scheme::Adaptive));
                for machine in 0..2 {
                    let ratio = adaptive.mean[machine] / ns.mean[machine];
                    assert!(ratio <= 1.04, "{measure:?}, {windows} windows: {ratio:.3} of ns");
                    let shares = measure.suite == "tmcontext01"
                        && (windows == 31 || measure.name == "switch, staying there");
                    assert!(
                        !shares || ratio <= 0.52,
                        "{measure:?}, {windows} windows: {ratio:.3} of ns"
                    );
                    assert!(
                        adaptive.worst[machine] + 1.0 >= adaptive.mean[machine],
                        "{measure:?}: {adaptive:?}"
                    );
                }
            }
        }
    }
}
