//! How many cycles work takes at least that only some units can do.
//!
//! ```text
//! 6 of fp0 fp1 fp2 fp3      fp1 fp2 alone:   4 / 2 = 2 cycles
//! 4 of fp1 fp2              all four:       10 / 4 = 2.5 cycles    <- the bound
//! ```
//!
//! Work that only units of a set can do takes at least its sum by their number, for every set: the
//! largest of these is exactly what a perfect distribution reaches.

use std::collections::BTreeSet;

use crate::UnitSet;

/// The cycles, and the set of units that they are of; none if there is no work.
pub fn port_bound(work: &[(UnitSet, u64)]) -> Option<(f64, UnitSet)> {
    let mut unions: BTreeSet<u32> = BTreeSet::new();
    let sets: BTreeSet<u32> = work.iter().map(|(units, _)| units.0).collect();
    for units in sets {
        let wider: Vec<u32> = unions.iter().map(|union| union | units).collect();
        unions.extend(wider);
        unions.insert(units);
    }
    let takes = |union: UnitSet| {
        let sum: u64 = work.iter().filter(|(of, _)| of.0 & !union.0 == 0).map(|(_, n)| n).sum();
        (sum as f64 / f64::from(union.count()), union)
    };
    let all = unions.into_iter().map(UnitSet).map(takes);
    all.reduce(|most, it| if it.0 > most.0 { it } else { most })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_distribution_beats_it() {
        let (pair, all) = (UnitSet(0b0110), UnitSet(0b1111));
        assert_eq!(port_bound(&[(all, 6), (pair, 4)]), Some((2.5, all)));
        assert_eq!(port_bound(&[(all, 1), (pair, 4)]), Some((2.0, pair)));
        // Two sets that overlap are together a third.
        let overlap = [(UnitSet(0b011), 3), (UnitSet(0b110), 3)];
        assert_eq!(port_bound(&overlap), Some((2.0, UnitSet(0b111))));
        assert_eq!(port_bound(&[]), None);
    }
}
