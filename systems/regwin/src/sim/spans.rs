//! How often a switch did what: a third of all events are switches, so a tally of them must be
//! cheap.

use rustc_hash::FxHashMap;

use super::cost::Cost;
use crate::qemu::Span;

/// Switches of equal windows and cost, counted.
#[derive(Debug)]
pub(super) struct Spans {
    /// The one met last of those that share a slot.
    recent: [(Key, u64); N_RECENT],
    others: FxHashMap<Key, u64>,
}

/// A power of two.
const N_RECENT: usize = 256;

/// Windows stored and loaded, cycles on each machine, in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
struct Key(u64);

impl Key {
    fn new(spilled: u32, restored: u32, cost: Cost) -> Key {
        debug_assert!(
            spilled | restored < 1 << 8 && cost[0] | cost[1] < 1 << 24,
            "a switch fits its word"
        );
        Key(u64::from(spilled) | u64::from(restored) << 8 | cost[0] << 16 | cost[1] << 40)
    }

    fn slot(self) -> usize {
        (self.0 ^ self.0 >> 16 ^ self.0 >> 40) as usize % N_RECENT
    }

    fn span(self, times: u64) -> Span {
        let field = |at: u32, n_bits: u32| (self.0 >> at & ((1 << n_bits) - 1)) as u32;
        Span {
            spilled: field(0, 8),
            restored: field(8, 8),
            cycles: [field(16, 24), field(40, 24)],
            times,
        }
    }
}

impl Spans {
    pub fn new() -> Spans {
        Spans { recent: [(Key::default(), 0); N_RECENT], others: FxHashMap::default() }
    }

    #[inline]
    pub fn count(&mut self, spilled: u32, restored: u32, cost: Cost) {
        let key = Key::new(spilled, restored, cost);
        let recent = &mut self.recent[key.slot()];
        if recent.0 == key {
            recent.1 += 1;
        } else {
            self.replace(key);
        }
    }

    /// The slot is another one's.
    #[cold]
    #[inline(never)]
    fn replace(&mut self, key: Key) {
        let (old, times) = std::mem::replace(&mut self.recent[key.slot()], (key, 1));
        *self.others.entry(old).or_default() += times;
    }

    pub fn sorted(&self) -> Vec<Span> {
        let mut all = self.others.clone();
        for (key, times) in self.recent {
            *all.entry(key).or_default() += times;
        }
        let mut spans: Vec<Span> =
            all.into_iter().filter(|pair| pair.1 > 0).map(|(key, times)| key.span(times)).collect();
        spans.sort_unstable();
        spans
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_that_are_shared_lose_no_switch() {
        let mut rng = fastrand::Rng::with_seed(7);
        let mut spans = Spans::new();
        let mut expected = std::collections::BTreeMap::new();
        for _ in 0..20_000 {
            let (spilled, restored, cost) =
                (rng.u32(..32), rng.u32(..2), [rng.u64(..40) * 97, rng.u64(..3)]);
            spans.count(spilled, restored, cost);
            *expected.entry((spilled, restored, cost.map(|cost| cost as u32))).or_insert(0u64) += 1;
        }
        let counted: Vec<_> = spans
            .sorted()
            .iter()
            .map(|span| ((span.spilled, span.restored, span.cycles), span.times))
            .collect();
        assert!(expected.len() > N_RECENT);
        assert_eq!(counted, expected.into_iter().collect::<Vec<_>>());
    }
}
