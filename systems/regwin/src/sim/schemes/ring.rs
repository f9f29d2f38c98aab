//! Windows of several threads in one ring: where each thread's are, and which thread has its lowest
//! in a window.

use crate::sim::event::Thread;

/// Where the windows of a suspended thread are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    pub top: u32,
    pub bottom: u32,
    /// Windows above the newest one up to here are the thread's for calls.
    pub reserved: u32,
}

#[derive(Debug)]
pub struct Ring {
    pub n: u32,
    /// Of each suspended thread that has resident windows.
    places: Vec<Option<Place>>,
    /// By window: the thread whose lowest resident window it is.
    owner: Vec<Option<Thread>>,
    pub cwp: u32,
    /// The reserved window above the running thread's.
    pub reserved: u32,
    /// The lowest window of the running thread.
    pub bottom: u32,
}

impl Ring {
    pub fn new(n: u32) -> Ring {
        Ring {
            n,
            places: Vec::new(),
            owner: vec![None; n as usize],
            cwp: 0,
            reserved: n - 1,
            bottom: 0,
        }
    }

    pub fn above(&self, window: u32) -> u32 {
        if window == 0 { self.n - 1 } else { window - 1 }
    }

    pub fn below(&self, window: u32) -> u32 {
        if window + 1 == self.n { 0 } else { window + 1 }
    }

    /// Windows from `window` up to `to`.
    pub fn distance(&self, window: u32, to: u32) -> u32 {
        if window >= to { window - to } else { window + self.n - to }
    }

    /// Windows of the running thread.
    pub fn n_own(&self) -> u32 {
        self.distance(self.bottom, self.cwp) + 1
    }

    pub fn owner(&self, window: u32) -> Option<Thread> {
        self.owner[window as usize]
    }

    pub fn set_owner(&mut self, window: u32, owner: Option<Thread>) {
        self.owner[window as usize] = owner;
    }

    /// Where the windows of a suspended thread are, if it has any.
    pub fn place(&self, thread: Thread) -> Option<Place> {
        self.places.get(thread).copied().flatten()
    }

    pub fn places(&self) -> impl Iterator<Item = &Place> {
        self.places.iter().flatten()
    }

    #[inline]
    pub fn set_place(&mut self, thread: Thread, place: Option<Place>) {
        match self.places.get_mut(thread) {
            Some(it) => *it = place,
            None => {
                self.places.resize(thread + 1, None);
                self.places[thread] = place;
            }
        }
    }

    /// The running thread is suspended; its windows stay, and those above them up to `reserved`.
    #[inline]
    pub fn suspend(&mut self, thread: Thread, reserved: u32) {
        self.set_place(thread, Some(Place { top: self.cwp, bottom: self.bottom, reserved }));
    }

    /// Stores the lowest window of a suspended thread; its window is `to`'s then. True if
    /// it was the last.
    pub fn store_lowest(&mut self, thread: Thread, to: Option<Thread>) -> bool {
        let place = self.place(thread).expect("an owner has windows");
        self.set_owner(place.bottom, to);
        if place.bottom == place.top {
            self.set_place(thread, None);
            return true;
        }
        let bottom = self.above(place.bottom);
        self.set_place(thread, Some(Place { bottom, ..place }));
        self.set_owner(bottom, Some(thread));
        false
    }

    /// The running thread keeps only its current window; how many it stores.
    pub fn flush(&mut self, running: Option<Thread>) -> u32 {
        let n_stored = self.distance(self.bottom, self.cwp);
        self.set_owner(self.bottom, None);
        self.bottom = self.cwp;
        self.set_owner(self.bottom, running);
        n_stored
    }
}
