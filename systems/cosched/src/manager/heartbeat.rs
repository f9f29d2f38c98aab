//! Door: how a manager shows its supervisors that it works: a byte on a socket to each, again and
//! again while programs may be frozen.
//!
//! The end of the socket is the manager's end; silence is a manager that was stopped, or hangs.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

pub const EVERY: Duration = Duration::from_millis(50);
/// Silence for so long while programs may be frozen: the supervisors thaw them.
pub const LIMIT: Duration = Duration::from_millis(400);
/// A manager that has been silent for so long takes nothing for frozen any more: its supervisors
/// may be about to thaw.
const LATE: Duration = Duration::from_millis(200);

/// Programs may be frozen from now on: expect the next byte.
pub const FROZEN: u8 = b'f';
/// Nothing is frozen: expect no byte.
pub const FREE: u8 = b't';
/// The manager ends as it should.
pub const ENDS: u8 = b'e';

/// The sockets to the supervisors, by their places.
pub type Lines = Arc<Mutex<BTreeMap<usize, UnixStream>>>;

/// What a beat found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beat {
    /// A supervisor hears us.
    Watched,
    /// The last beat is long ago: this process was stopped, and everything may run meanwhile.
    Late,
    /// Nobody hears us: if this process died now, what is frozen would stay so.
    Unwatched,
}

#[derive(Debug)]
pub struct Heartbeat {
    lines: Lines,
    /// The last byte that promised another one.
    last: Option<Instant>,
}

impl Heartbeat {
    pub fn new(lines: Lines) -> Heartbeat {
        let it = Heartbeat { lines, last: None };
        say(&it.lines, FREE);
        it
    }

    /// Programs may be frozen from now on. To be called every [`EVERY`]; more often costs nothing.
    pub fn frozen(&mut self) -> Beat {
        let silent = self.last.map_or(Duration::ZERO, |ran| ran.elapsed());
        if self.last.is_some() && silent < EVERY {
            return Beat::Watched;
        }
        if say(&self.lines, FROZEN) == 0 {
            self.last = None;
            return Beat::Unwatched;
        }
        self.last = Some(Instant::now());
        if silent > LATE { Beat::Late } else { Beat::Watched }
    }

    /// Nothing is frozen, and nothing will be before the next beat.
    pub fn free(&mut self) {
        if self.last.take().is_some() {
            say(&self.lines, FREE);
        }
    }

    /// True while the next byte is expected.
    pub fn is_expected(&self) -> bool {
        self.last.is_some()
    }
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        self.free();
    }
}

/// Says it to all; how many are there to hear it.
pub fn say(lines: &Lines, what: u8) -> usize {
    let lines = lines.lock().expect("nobody panics with it");
    let is_there = |line: &&UnixStream| match (&mut &**line).write(&[what]) {
        Ok(_) => true,
        // One that was stopped for long: the kernel wakes it.
        Err(error) => error.kind() == io::ErrorKind::WouldBlock,
    };
    lines.values().filter(is_there).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn a_manager_without_supervisors_knows_it() {
        let lines = Lines::default();
        let mut heartbeat = Heartbeat::new(Arc::clone(&lines));
        assert_eq!(heartbeat.frozen(), Beat::Unwatched);
        assert!(!heartbeat.is_expected());
        let (ours, mut theirs) = UnixStream::pair().expect("a socket");
        ours.set_nonblocking(true).expect("it is ours");
        lines.lock().expect("no panic").insert(0, ours);
        assert_eq!(heartbeat.frozen(), Beat::Watched);
        heartbeat.free();
        heartbeat.free();
        let mut heard = [0; 8];
        assert_eq!(
            (theirs.read(&mut heard).expect("it was said"), &heard[..2]),
            (2, &[FROZEN, FREE][..]),
            "once each"
        );
        drop(theirs);
        assert_eq!(heartbeat.frozen(), Beat::Unwatched);
    }

    #[test]
    fn a_supervisor_that_does_not_read_does_not_stop_the_manager() {
        let (ours, _theirs) = UnixStream::pair().expect("a socket");
        ours.set_nonblocking(true).expect("it is ours");
        let lines: Lines = Arc::new(Mutex::new([(0, ours)].into()));
        assert!((0..1_000_000).all(|_| say(&lines, FROZEN) == 1));
    }

    #[test]
    fn silence_is_noticed_by_who_was_silent() {
        let (ours, _theirs) = UnixStream::pair().expect("a socket");
        let mut heartbeat = Heartbeat::new(Arc::new(Mutex::new([(0, ours)].into())));
        assert_eq!(heartbeat.frozen(), Beat::Watched);
        heartbeat.last = heartbeat.last.map(|heartbeat| heartbeat - 2 * LATE);
        assert_eq!(heartbeat.frozen(), Beat::Late);
        assert_eq!(heartbeat.frozen(), Beat::Watched);
    }
}
