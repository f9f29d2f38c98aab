//! A run as a line of events: recorded once, replayed with any number of windows.
//!
//! A trace holds what the application did. With the FIFO schedule that is the same for every scheme
//! and window count, so one execution of the instructions serves them all.

use machine::in_order::Core;

use super::cost::{self, Blocks, Cost};
use super::cpu::Cpu;
use super::event::{BLOCK_FLUSH, Event, LEAVE, RESTORE_MAX};
use super::schemes::{self, Costs};
use super::windows::{Fragments, Windows};
use crate::code::Code;
use crate::counts::Counts;
use crate::names::{Allocate, Scheme};
use crate::qemu::Blob;
use crate::work::Fault;

/// The events of a run and what its application costs.
#[derive(Debug, Clone, Default)]
pub struct Trace {
    pub events: Vec<u8>,
    /// For each switch, how many threads were ready besides the one that runs next.
    pub ready: Vec<u8>,
    /// What is counted of the application; nothing trapped.
    pub counts: Counts,
    /// Cycles of a `save` on each machine.
    pub save_cost: Cost,
}

/// Runs an image without any window trap and records the events.
pub fn record(
    code: &Code,
    elf: &[u8],
    blobs: &[Blob],
    threads: &[String],
    machines: [&Core; 2],
) -> Result<Trace, Fault> {
    let flat = schemes::costs(Scheme::Flat, Allocate::Simple, Blocks::free());
    let mut cpu = Cpu::new(code, elf, blobs, machines, flat.rules(32));
    cpu.events = Some(Vec::new());
    cpu.run().map_err(Fault::Program)?;
    let mut counts = cpu.counts();
    counts.switches = threads
        .iter()
        .zip(&cpu.switches_to(threads.len()))
        .map(|(name, n)| (name.clone(), *n))
        .collect();
    let events = cpu.finished.take().expect("a run that ends has its events");
    let ready = std::mem::take(&mut cpu.ready);
    Ok(Trace { events, ready, counts, save_cost: cost::of_save(machines) })
}

impl Trace {
    /// The run under the scheme of these costs, with so many windows.
    pub fn replay(&self, costs: &dyn Costs, n_windows: u32) -> Counts {
        let mut windows = Windows::new();
        costs.rules(n_windows).replay(&mut windows, &self.events);
        let mut counts = windows.counts();
        counts.switches = self.counts.switches.clone();
        counts.saves = self.counts.saves;
        counts.restores = self.counts.restores;
        for (machine, cycles) in counts.cycles.iter_mut().enumerate() {
            // The handler that loads in place finishes the restore itself.
            let saved = windows.n_finished() * self.save_cost[machine];
            cycles.application = self.counts.cycles[machine].application - saved;
        }
        counts
    }

    /// The external fragmentation of that run; `snp` and `sp` only.
    pub fn fragments(&self, scheme: Scheme, allocate: Allocate, n_windows: u32) -> Fragments {
        let mut windows = Windows::new();
        windows.fragments = Some(Fragments::default());
        schemes::costs(scheme, allocate, Blocks::free())
            .rules(n_windows)
            .replay(&mut windows, &self.events);
        windows.fragments.expect("it was wanted")
    }
}

/// First line of a trace file; the events follow as bytes.
const HEAD: &str = "regwin-trace 3";

impl Trace {
    /// The trace as a file: a line that says what it is, one with the application's cycles on each
    /// machine, one with the names of the threads, then a byte an event.
    pub fn to_bytes(&self) -> Vec<u8> {
        let [a, b] = self.counts.cycles.map(|cycle| cycle.application);
        let names: Vec<&str> =
            self.counts.switches.iter().map(|switch| switch.0.as_str()).collect();
        let mut bytes = format!(
            "{HEAD}\n{a} {b} {} {}\n{}\n",
            self.save_cost[0],
            self.save_cost[1],
            names.join(" ")
        )
        .into_bytes();
        bytes.extend(&self.events);
        bytes
    }

    /// Reads a trace file; says what is wrong with it.
    pub fn from_bytes(bytes: &[u8]) -> Result<Trace, String> {
        let mut parts = bytes.splitn(4, |byte| *byte == b'\n');
        let mut line = || {
            std::str::from_utf8(parts.next().unwrap_or_default())
                .map_err(|_| "it has no readable head".to_owned())
        };
        if line()? != HEAD {
            return Err(format!("its first line is not `{HEAD}`"));
        }
        let numbers: Vec<u64> = line()?
            .split(' ')
            .map(str::parse)
            .collect::<Result<_, _>>()
            .map_err(|_| "its second line is not four numbers")?;
        let [a, b, save_a, save_b] = numbers.as_slice() else {
            return Err("its second line is not four numbers".to_owned());
        };
        let names: Vec<String> = line()?.split(' ').map(str::to_owned).collect();
        let events = parts.next().unwrap_or_default().to_vec();
        let mut counts = Counts {
            switches: names.into_iter().map(|name| (name, 0)).collect(),
            ..Counts::default()
        };
        for (idx, byte) in events.iter().enumerate() {
            let switches_to = match (byte, Event::of(*byte)) {
                (0, _) => {
                    counts.saves += 1;
                    None
                }
                (1..=RESTORE_MAX, _) => {
                    counts.restores += 1;
                    None
                }
                (_, Event::Flush) => None,
                (_, Event::Block(next) | Event::BlockFlush(next) | Event::Leave(next)) => {
                    Some(next)
                }
                _ => return Err(format!("event {} is no event: {byte:#04x}", idx + 1)),
            };
            if idx == 0 && byte & BLOCK_FLUSH != LEAVE {
                return Err("it does not begin with the first switch".to_owned());
            }
            match switches_to {
                None | Some(0) => {}
                Some(next) => match counts.switches.get_mut(next - 1) {
                    Some(it) => it.1 += 1,
                    None => {
                        return Err(format!("event {} switches to a thread without name", idx + 1));
                    }
                },
            }
        }
        let n_underflows_max = counts.restores;
        for (cycles, (application, save)) in
            counts.cycles.iter_mut().zip([(*a, *save_a), (*b, *save_b)])
        {
            cycles.application = application;
            if save.checked_mul(n_underflows_max).is_none_or(|cycles| cycles > application) {
                return Err("its application takes fewer cycles than its restores".to_owned());
            }
        }
        Ok(Trace { events, ready: Vec::new(), counts, save_cost: [*save_a, *save_b] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::cost::Adds;

    fn trace(events: &[Event]) -> Trace {
        let mut trace = Trace {
            events: events.iter().map(|event| event.byte()).collect(),
            save_cost: [1, 1],
            ..Trace::default()
        };
        trace.counts.switches = vec![("one".to_owned(), 0), ("two".to_owned(), 0)];
        trace.counts.cycles.iter_mut().for_each(|cycle| cycle.application = 100);
        trace
    }

    #[test]
    fn a_file_is_read_as_it_was_written() {
        let events = [
            Event::Leave(1),
            Event::Save,
            Event::Block(2),
            Event::Restore(Adds::of(0x91e8_401a)),
            Event::Leave(0),
        ];
        let read = Trace::from_bytes(&trace(&events).to_bytes()).expect("it is right");
        assert_eq!(read.events, events.map(Event::byte));
        assert_eq!((read.counts.saves, read.counts.restores, read.counts.n_switches()), (1, 1, 2));
    }

    #[test]
    fn wrong_files_are_refused() {
        let good = trace(&[Event::Leave(1)]).to_bytes();
        let with = |bytes: &[u8]| [&good, bytes].concat();
        let refusals = [
            (b"".to_vec(), "its first line is not `regwin-trace 3`"),
            (b"regwin-trace 3\n1 2\n".to_vec(), "its second line is not four numbers"),
            (with(&[10]), "event 2 is no event: 0x0a"),
            (with(&[0x21]), "event 2 is no event: 0x21"),
            (with(&[0xff]), "event 2 switches to a thread without name"),
            (with(&[0x43]), "event 2 switches to a thread without name"),
            (trace(&[Event::Save]).to_bytes(), "it does not begin with the first switch"),
        ];
        for (bytes, said) in refusals {
            assert_eq!(Trace::from_bytes(&bytes).map(|_| ()), Err(said.to_owned()));
        }
    }

    #[test]
    fn no_bytes_break_the_replay() {
        let mut rng = fastrand::Rng::with_seed(1);
        for seed in 0..300 {
            let next = |rng: &mut fastrand::Rng| rng.usize(1..3);
            let event = |rng: &mut fastrand::Rng| match rng.u32(..10) {
                8 => Event::Flush,
                9 => Event::BlockFlush(next(rng)),
                0..=2 => Event::Save,
                3..=5 => Event::Restore(Adds::NOTHING),
                6 => Event::Block(next(rng)),
                _ => Event::Leave(next(rng)),
            };
            let mut events = vec![Event::Leave(1)];
            events.extend((0..60).map(|_| event(&mut rng)));
            let read = Trace::from_bytes(&trace(&events).to_bytes()).expect("it is right");
            for scheme in Scheme::ALL {
                for n in [4, 5, 8] {
                    let counts =
                        read.replay(&*schemes::costs(scheme, Allocate::Simple, Blocks::free()), n);
                    assert!(
                        counts.restored <= counts.restores + counts.n_switches(),
                        "seed {seed}"
                    );
                }
            }
        }
    }

    /// A thread that sleeps with its windows, and two that store theirs at each switch, for ever:
    /// no account falls until it wraps.
    #[test]
    fn threads_that_store_for_ever_are_counted_for_ever() {
        let mut events = vec![Event::Leave(1)];
        // One is deep, so that the others do not come round to its windows.
        events.extend([Event::Block(2), Event::Block(1), Event::Block(2)]);
        events.extend((0..5000).map(|idx| Event::BlockFlush(1 + (idx + 1) % 2)));
        let mut three = vec![Event::Leave(1)];
        three.extend((0..200).map(|idx| Event::Block(1 + (idx + 1) % 3)));
        three.extend((0..5000).map(|idx| Event::BlockFlush(2 + idx % 2)));
        for events in [events, three] {
            let mut trace = trace(&events);
            trace.counts.switches.push(("three".to_owned(), 0));
            let read = Trace::from_bytes(&trace.to_bytes()).expect("it is right");
            for n in [5, 8, 32] {
                let costs = schemes::costs(Scheme::Adaptive, Allocate::Simple, Blocks::free());
                let counts = read.replay(&*costs, n);
                assert!(counts.n_switches() > 5000);
            }
        }
    }
}
