//! The quantities of the paper's section 5: how a program uses windows if there are enough of them.

use regwin::sim::event::Event;
use regwin::sim::trace::Trace;

/// What a phase of a program does, on the average over its periods.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Quantities {
    /// Windows that all threads together use in a period.
    pub total_window_activity: f64,
    /// Windows that a thread uses between two switches.
    pub window_activity_per_thread: f64,
    /// Threads that run at least once in a period.
    pub concurrency: f64,
    /// Saves and restores between two switches.
    pub granularity_events: f64,
    /// Ready threads at a switch, without the one that runs next; not a number for a trace from a
    /// file, which does not hold them.
    pub parallel_slackness: f64,
    /// Switches of the phase.
    pub switches: u64,
}

/// Frames of one thread: how deep it is, and between what it was since a period or run began.
#[derive(Debug, Clone, Copy)]
struct Depth {
    now: i64,
    low: i64,
    high: i64,
}

impl Depth {
    fn at(now: i64) -> Depth {
        Depth { now, low: now, high: now }
    }

    fn go(&mut self, by: i64) {
        self.now += by;
        self.low = self.low.min(self.now);
        self.high = self.high.max(self.now);
    }

    fn n_frames(&self) -> f64 {
        (self.high - self.low + 1) as f64
    }
}

/// The quantities of each phase; a phase ends when the last of `loaders` (threads from 1) has
/// ended. A period is `period` switches.
pub fn phases(trace: &Trace, loaders: &[usize], period: u64) -> [Quantities; 2] {
    let mut phases = [Quantities::default(); 2];
    let mut n_periods = [0_u64; 2];
    let mut phase = 0;
    let mut left = loaders.len();
    let mut depths: Vec<Depth> = vec![Depth::at(0); 64];
    let mut ran: Vec<Option<Depth>> = vec![None; 64];
    let mut running: Option<(usize, Depth)> = None;
    let mut n_in_period = 0;
    let mut n_switches = 0;
    for &byte in &trace.events {
        let next = match Event::of(byte) {
            Event::Save | Event::Restore(_) => {
                let by = if Event::of(byte) == Event::Save { 1 } else { -1 };
                if let Some((_, depth)) = &mut running {
                    depth.go(by);
                    phases[phase].granularity_events += 1.0;
                }
                continue;
            }
            Event::Flush => continue,
            Event::Block(next) | Event::BlockFlush(next) => next,
            Event::Leave(next) => {
                left -= usize::from(running.is_some_and(|(thread, _)| loaders.contains(&thread)));
                next
            }
        };
        if let Some((thread, depth)) = running {
            let it = &mut phases[phase];
            it.switches += 1;
            it.window_activity_per_thread += depth.n_frames();
            it.parallel_slackness +=
                trace.ready.get(n_switches).map_or(f64::NAN, |ready| f64::from(*ready));
            let seen = ran[thread].get_or_insert(depth);
            *seen = Depth {
                now: depth.now,
                low: seen.low.min(depth.low),
                high: seen.high.max(depth.high),
            };
            depths[thread] = Depth::at(depth.now);
            n_in_period += 1;
        }
        n_switches += 1;
        if n_in_period == period || left == 0 && phase == 0 {
            // A period that the end of a phase cuts short says nothing.
            if n_in_period == period {
                n_periods[phase] += 1;
                phases[phase].concurrency += ran.iter().flatten().count() as f64;
                phases[phase].total_window_activity +=
                    ran.iter().flatten().map(Depth::n_frames).sum::<f64>();
            }
            ran.fill(None);
            n_in_period = 0;
            phase = usize::from(left == 0);
        }
        running = Some((next, depths[next]));
    }
    for (it, n_periods) in phases.iter_mut().zip(n_periods) {
        let (switches, periods) = (it.switches.max(1) as f64, n_periods.max(1) as f64);
        it.window_activity_per_thread /= switches;
        it.granularity_events /= switches;
        it.parallel_slackness /= switches;
        it.concurrency /= periods;
        it.total_window_activity /= periods;
    }
    phases
}

#[cfg(test)]
mod tests {
    use super::*;
    use regwin::sim::cost::Adds;

    #[test]
    fn two_threads_on_paper() {
        // Thread 1 goes two deep and back between switches, thread 2 stays where it is.
        let plain = Event::Restore(Adds::NOTHING);
        let turn = [Event::Save, Event::Save, plain, plain, Event::Block(2), Event::Block(1)];
        let events: Vec<Event> =
            std::iter::once(Event::Leave(1)).chain(turn.into_iter().cycle().take(60)).collect();
        let ready = vec![1; events.len()];
        let trace = Trace {
            events: events.iter().map(|event| event.byte()).collect(),
            ready,
            ..Trace::default()
        };
        let [_, it] = phases(&trace, &[], 4);
        assert_eq!(
            (it.concurrency, it.total_window_activity, it.window_activity_per_thread),
            (2.0, 4.0, 2.0)
        );
        assert_eq!((it.granularity_events, it.parallel_slackness, it.switches), (2.0, 1.0, 20));
    }
}
