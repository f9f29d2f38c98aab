//! Door: a process that was stopped goes on: SIGSTOP cannot be refused, but the kernel's timers are
//! not stopped with a process, and one of them sends SIGCONT.

use std::io;
use std::sync::Arc;
use std::sync::mpsc;
use std::time::Duration;

use nix::sys::signal::SigEvent;
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
    timer(libc::SIGEV_SIGNAL, 0)
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
        let timer = timer(libc::SIGEV_THREAD_ID, nix::unistd::gettid().as_raw());
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

#[allow(unsafe_code)]
fn timer(notify: i32, thread: i32) -> io::Result<Timer> {
    // SAFETY: zeros are a value of the structure, which has numbers and a pointer.
    let mut event: libc::sigevent = unsafe { std::mem::zeroed() };
    (event.sigev_notify, event.sigev_signo) = (notify, libc::SIGCONT);
    event.sigev_notify_thread_id = thread;
    // A flag that nobody reads: what is ignored is not sent a second time.
    signal_hook::flag::register(libc::SIGCONT, Arc::default())?;
    let mut timer = Timer::new(ClockId::CLOCK_MONOTONIC, SigEvent::from(&event))?;
    timer.set(Expiration::Interval(AFTER.into()), TimerSetTimeFlags::empty())?;
    Ok(timer)
}
