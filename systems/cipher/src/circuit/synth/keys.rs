//! Hash maps for truth tables packed in words: fast, and the same on every run.

/// A map from nonzero keys to numbers, open addressing, never grown.
pub(super) struct KeyMap {
    slots: Vec<(u64, u32)>,
    shift: u32,
}

impl KeyMap {
    pub fn new(n_keys_max: usize) -> KeyMap {
        let n_slots = (2 * n_keys_max).next_power_of_two().max(2);
        KeyMap { slots: vec![(0, 0); n_slots], shift: 64 - n_slots.trailing_zeros() }
    }

    /// The slot of `key`, or the free one where it belongs.
    fn slot(&self, key: u64) -> usize {
        let mut slot = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift) as usize;
        while self.slots[slot].0 != 0 && self.slots[slot].0 != key {
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        slot
    }

    pub fn get(&self, key: u64) -> Option<u32> {
        let (found, value) = self.slots[self.slot(key)];
        (found != 0 && found == key).then_some(value)
    }

    /// The first value of a key stays; key 0 is not kept.
    pub fn insert(&mut self, key: u64, value: u32) {
        let slot = self.slot(key);
        if self.slots[slot].0 == 0 {
            self.slots[slot] = (key, value);
        }
    }
}

/// A list of keys that finds the place of a key and reuses its memory.
///
/// Most lookups are of missing keys; a filter of one bit a key, small enough for the L1 cache,
/// rejects most of them.
pub(super) struct Scratch {
    pub keys: Vec<u64>,
    /// Place in `keys` plus 1, or 0.
    slots: Vec<u32>,
    filter: Vec<u64>,
}

const FILTER_BITS: u32 = 22;

impl Scratch {
    pub fn new() -> Scratch {
        Scratch { keys: Vec::new(), slots: Vec::new(), filter: vec![0; 1 << (FILTER_BITS - 6)] }
    }

    /// Forgets all keys and makes room.
    pub fn clear(&mut self, n_keys_max: usize) {
        let n_slots = (2 * n_keys_max).next_power_of_two().max(2);
        self.keys.clear();
        self.slots.clear();
        self.slots.resize(n_slots, 0);
        self.filter.fill(0);
    }

    pub fn get(&self, key: u64) -> Option<usize> {
        let hash = hash(key);
        let bit = hash >> (64 - FILTER_BITS);
        if self.filter[(bit / 64) as usize] >> (bit % 64) & 1 == 0 {
            return None;
        }
        let mut slot = hash as usize & (self.slots.len() - 1);
        while let Some(place) = (self.slots[slot] as usize).checked_sub(1) {
            if self.keys[place] == key {
                return Some(place);
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        None
    }

    /// Appends a key. Of equal keys any may be found.
    pub fn push(&mut self, key: u64) {
        self.keys.push(key);
        let hash = hash(key);
        let bit = hash >> (64 - FILTER_BITS);
        self.filter[(bit / 64) as usize] |= 1 << (bit % 64);
        let mut slot = hash as usize & (self.slots.len() - 1);
        while self.slots[slot] != 0 && self.keys[self.slots[slot] as usize - 1] != key {
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        self.slots[slot] = self.keys.len() as u32;
    }
}

/// Both halves of the result depend on all of the key.
fn hash(key: u64) -> u64 {
    let mixed = key.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ mixed >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93)
}
