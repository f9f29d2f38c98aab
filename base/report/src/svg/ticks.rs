//! Scales: values to places on an axis, and round numbers for its ticks.

/// An axis from `low` to `high`, plain or logarithmic.
#[derive(Debug, Clone, Copy)]
pub struct Scale {
    low: f64,
    high: f64,
    log: bool,
}

impl Scale {
    /// A scale that holds all of `values`; a plain one holds 0 too. Values that have no place
    /// (not a number, or not positive on a logarithmic axis) are left out.
    pub fn holding(values: impl IntoIterator<Item = f64>, log: bool) -> Scale {
        let mut low = f64::INFINITY;
        let mut high = f64::NEG_INFINITY;
        for value in
            values.into_iter().filter(|number| number.is_finite() && (!log || *number > 0.0))
        {
            low = low.min(value);
            high = high.max(value);
        }
        if low > high {
            (low, high) = (1.0, 1.0);
        }
        if log {
            if high / low < 1.01 {
                (low, high) = (low / 1.5, high * 1.5);
            }
            return Scale { low, high, log };
        }
        (low, high) = (low.min(0.0), high.max(0.0));
        if high - low <= 0.0 {
            high = 1.0;
        }
        Scale { low, high, log }
    }

    /// The scale with both ends moved out by `share` of its length; an end at 0 stays.
    pub fn with_margin(self, share: f64) -> Scale {
        if self.log {
            let factor = (self.high / self.low).powf(share);
            return Scale { low: self.low / factor, high: self.high * factor, log: true };
        }
        let margin = (self.high - self.low) * share;
        let low = if self.low == 0.0 { 0.0 } else { self.low - margin };
        let high = if self.high == 0.0 { 0.0 } else { self.high + margin };
        Scale { low, high, log: false }
    }

    /// Where `value` lies: 0 at the low end, 1 at the high end; `None` if it has no place.
    pub fn place(&self, value: f64) -> Option<f64> {
        if !value.is_finite() || (self.log && value <= 0.0) {
            return None;
        }
        Some(if self.log {
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        })
    }

    /// Round numbers on the axis, about `n_wanted` of them, rising.
    pub fn ticks(&self, n_wanted: usize) -> Vec<f64> {
        if !self.log {
            return self.plain_ticks(n_wanted);
        }
        let decades = (self.high / self.low).log10();
        if decades < 0.6 {
            // Within a factor of four, steps of the same size read better.
            return self.plain_ticks(n_wanted);
        }
        let steps: &[f64] = if decades < 2.0 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let first = self.low.log10().floor() as i32;
        let last = self.high.log10().ceil() as i32;
        let every = ((f64::from(last - first) / n_wanted as f64).ceil() as i32).max(1);
        (first..=last)
            .filter(|power| power % every == 0)
            .flat_map(|power| steps.iter().map(move |step| step * 10f64.powi(power)))
            .filter(|tick| self.holds(*tick))
            .collect()
    }

    fn plain_ticks(&self, n_wanted: usize) -> Vec<f64> {
        let rough = (self.high - self.low) / n_wanted as f64;
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0]
            .iter()
            .map(|number| number * power)
            .find(|it| *it >= rough * 0.75);
        let step = step.unwrap_or(10.0 * power);
        let first = (self.low / step).ceil() as i64;
        let last = (self.high / step).floor() as i64;
        (first..=last).map(|idx| idx as f64 * step).filter(|tick| self.holds(*tick)).collect()
    }

    fn holds(&self, value: f64) -> bool {
        self.place(value).is_some_and(|place| (-1e-9..=1.0 + 1e-9).contains(&place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_ticks_are_round() {
        assert_eq!(Scale::holding([3.0, 97.0], false).ticks(5), [0.0, 20.0, 40.0, 60.0, 80.0]);
        assert_eq!(Scale::holding([], false).ticks(2), [0.0, 0.5, 1.0]);
    }

    #[test]
    fn logarithmic_ticks_are_powers() {
        assert_eq!(Scale::holding([0.9, 30.0], true).ticks(5), [1.0, 2.0, 5.0, 10.0, 20.0]);
        assert_eq!(Scale::holding([1.0, 1e6], true).ticks(4), [1.0, 100.0, 1e4, 1e6]);
    }

    #[test]
    fn values_without_a_place() {
        let scale = Scale::holding([f64::NAN, -1.0, 0.0, 2.0, 8.0], true);
        assert_eq!(scale.place(-1.0), None);
        assert_eq!(scale.place(f64::NAN), None);
        assert_eq!(scale.place(4.0).map(|place| (place * 1e6).round() / 1e6), Some(0.5));
    }
}
