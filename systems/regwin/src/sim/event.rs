//! What a thread does to the windows: one event, which is a byte of a trace.

use super::cost::Adds;

/// A thread by number; the boot thread has none, it leaves before anything is counted.
pub type Thread = usize;

/// One event; a byte of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    Save,
    Restore(Adds),
    /// All windows of the running thread but the current one go to memory.
    Flush,
    /// The running thread is suspended, this one runs.
    Block(Thread),
    /// The same, and no window of the suspended one stays.
    BlockFlush(Thread),
    /// The running thread has ended, this one runs.
    Leave(Thread),
}

/// The last byte of a restore.
pub(super) const RESTORE_MAX: u8 = Adds::N_FORMS as u8;
pub(super) const FLUSH: u8 = 0x20;
pub(super) const BLOCK: u8 = 0x40;
pub(super) const LEAVE: u8 = 0x80;
pub(super) const BLOCK_FLUSH: u8 = BLOCK | LEAVE;

impl Event {
    pub fn of(byte: u8) -> Event {
        match byte & BLOCK_FLUSH {
            BLOCK => Event::Block(Thread::from(byte & 0x3f)),
            LEAVE => Event::Leave(Thread::from(byte & 0x3f)),
            BLOCK_FLUSH => Event::BlockFlush(Thread::from(byte & 0x3f)),
            _ if byte == 0 => Event::Save,
            _ if byte == FLUSH => Event::Flush,
            _ => Event::Restore(Adds::from_form(byte - 1).unwrap_or(Adds::NOTHING)),
        }
    }

    pub fn byte(self) -> u8 {
        match self {
            Event::Save => 0,
            Event::Restore(adds) => 1 + adds.form() as u8,
            Event::Flush => FLUSH,
            Event::Block(thread) => BLOCK | thread as u8,
            Event::BlockFlush(thread) => BLOCK_FLUSH | thread as u8,
            Event::Leave(thread) => LEAVE | thread as u8,
        }
    }
}
