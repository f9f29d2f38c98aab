//! Formula 1 of the paper, and the fittest of many in logarithmic time.

/// `1000 / (1 + |target - rate|)`, in transactions a microsecond as in the paper.
#[cfg(test)]
pub(in crate::policies) fn fitness(target: f64, rate: f64) -> f64 {
    1000.0 / (1.0 + (target - rate).abs())
}

/// Bytes of a bus transaction: rates of the paper count them.
#[cfg(test)]
pub(in crate::policies) const TRANSACTION_BYTES: f64 = 64.0;

/// Candidates in the order of their rate; the fittest is one of the two neighbours of the target.
#[derive(Debug)]
pub(in crate::policies) struct Candidates {
    /// Rate as its bits (rates are not negative, so they order alike), place in the queue, which.
    sorted: Vec<(u64, u32, u32)>,
    /// For each place, and one behind the last, a step towards the next that is still there.
    next: Vec<u32>,
    /// The same downwards, counted from 1; 0: none.
    previous: Vec<u32>,
}

/// The fittest for a target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::policies) struct Fittest {
    pub which: usize,
    /// How far its rate is from the target.
    pub far_mbps: f64,
    /// Its place in the queue.
    pub place: usize,
    at: usize,
}

impl Candidates {
    /// Candidates as rate in MB/s, place in the queue, and which; the place decides between equals.
    pub fn new(all: impl Iterator<Item = (f64, usize, usize)>) -> Candidates {
        let key = |(rate, place, which): (f64, usize, usize)| {
            assert!(rate >= 0.0, "a rate is not negative");
            (rate.to_bits(), place as u32, which as u32)
        };
        let mut sorted: Vec<(u64, u32, u32)> = all.map(key).collect();
        sorted.sort_unstable();
        let steps: Vec<u32> = (0..=sorted.len() as u32).collect();
        Candidates { sorted, next: steps.clone(), previous: steps }
    }

    /// The fittest for a target: the nearest rate, of equals the first in the queue.
    pub fn fittest(&mut self, target_mbps: f64) -> Option<Fittest> {
        let n = self.sorted.len();
        let bits = target_mbps.max(0.0).to_bits();
        let split = self.sorted.partition_point(|pair| pair.0 < bits);
        let above = follow(&mut self.next, split);
        let below = follow(&mut self.previous, split).checked_sub(1).map(|number| {
            // Of those with the same rate the first in the queue.
            let first = self.sorted.partition_point(|other| other.0 < self.sorted[number].0);
            follow(&mut self.next, first)
        });
        let of = |at: usize| {
            let (bits, place, which) = self.sorted[at];
            Fittest {
                which: which as usize,
                far_mbps: (f64::from_bits(bits) - target_mbps).abs(),
                place: place as usize,
                at,
            }
        };
        match (below.map(of), (above < n).then(|| of(above))) {
            (Some(a), Some(b)) => {
                Some(if (a.far_mbps, a.place) < (b.far_mbps, b.place) { a } else { b })
            }
            (a, b) => a.or(b),
        }
    }

    pub fn remove(&mut self, it: Fittest) {
        self.next[it.at] = it.at as u32 + 1;
        self.previous[it.at + 1] = it.at as u32;
    }

    pub fn take(&mut self, target_mbps: f64) -> Option<usize> {
        let best = self.fittest(target_mbps)?;
        self.remove(best);
        Some(best.which)
    }
}

/// Where the steps from `at` end; later searches go there at once.
fn follow(steps: &mut [u32], at: usize) -> usize {
    let mut end = at;
    while steps[end] as usize != end {
        end = steps[end] as usize;
    }
    let mut it = at;
    while it != end {
        it = std::mem::replace(&mut steps[it], end as u32) as usize;
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_is_the_fittest_of_formula_1() {
        let mut random = fastrand::Rng::with_seed(5);
        for _ in 0..500 {
            let rates: Vec<f64> =
                (0..random.usize(1..12)).map(|_| f64::from(random.u32(..40)) * 50.0).collect();
            let target = f64::from(random.i32(-400..2400));
            let mut candidates = Candidates::new(
                rates.iter().enumerate().map(|(place, rate)| (*rate, place, place)),
            );
            let transactions = |mbps: f64| mbps / TRANSACTION_BYTES;
            let mut best = 0;
            for it in 1..rates.len() {
                if fitness(transactions(target), transactions(rates[it]))
                    > fitness(transactions(target), transactions(rates[best])) + 1e-12
                {
                    best = it;
                }
            }
            assert_eq!(candidates.take(target), Some(best), "{rates:?} {target}");
        }
    }
}
