//! Door: a process that was stopped goes on: SIGSTOP cannot be refused, but the kernel's timers are
//! not stopped with a process, and one of them sends SIGCONT.

use std::io;
use std::sync::Arc;
use std::sync::mpsc;
use std::time::Duration;

use nix::sys::signal::{SigEvent, SigevNotify, Signal};
use nix::sys::timer::{Expiration, Timer, TimerSetTimeFlags};
use nix::time::ClockId;

use super::process;

/// How long it is stopped at most: so short that neither it nor its supervisors
/// take it for stopped.
const AFTER: Duration = Duration::from_millis(100);

/// As long as the timer lives. Calls of this process that wait are interrupted.
///
/// Errors: the kernel has no such timer.
pub fn this_process() -> io::Result<Timer> {
    timer(SigevNotify::SigevSignal { signal: Signal::SIGCONT, si_value: 0 })
}

/// As long as this process lives. A thread hears the signal that does nothing else, so no call of
/// another one is interrupted.
///
/// Errors: the kernel has no such timer, or no thread can be had.
pub fn by_a_thread() -> io::Result<()> {
    let (said, hears) = mpsc::channel();
    let hear = move || {
        // On a busy machine as well it is in time; it goes on where that is not allowed.
        process::be_real_time();
        let thread_id = nix::unistd::gettid().as_raw();
        let timer =
            timer(SigevNotify::SigevThreadId { signal: Signal::SIGCONT, thread_id, si_value: 0 });
        // Who asked waits for it.
        let _ = said.send(timer.as_ref().map(drop).map_err(|error| error.kind()));
        if timer.is_ok() {
            loop {
                std::thread::park();
            }
        }
    };
    std::thread::Builder::new().name("up again".to_owned()).stack_size(64 << 10).spawn(hear)?;
    hears.recv().expect("the thread says what came of it").map_err(io::Error::from)
}

fn timer(notify: SigevNotify) -> io::Result<Timer> {
    // A flag that nobody reads: what is ignored is not sent a second time.
    signal_hook::flag::register(libc::SIGCONT, Arc::default())?;
    let mut timer = Timer::new(ClockId::CLOCK_MONOTONIC, SigEvent::new(notify))?;
    timer.set(Expiration::Interval(AFTER.into()), TimerSetTimeFlags::empty())?;
    Ok(timer)
}
