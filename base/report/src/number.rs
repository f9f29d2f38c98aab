//! Numbers as short texts for tables and charts.

/// `value` with about three significant digits, without an exponent between a thousandth and
/// ten million: `0.0123`, `1.5`, `42.1`, `1234`, `1.23e9`; `-` if it is not a number.
pub fn short(value: f64) -> String {
    if !value.is_finite() {
        return "-".to_owned();
    }
    let size = value.abs();
    if value == 0.0 {
        return "0".to_owned();
    }
    if !(0.001..1e7).contains(&size) {
        return format!("{value:.2e}");
    }
    // Rounding may carry into the next power of ten, so the power is that of the rounded value.
    let scale = 10f64.powf(2.0 - size.log10().floor());
    let rounded = (size * scale).round() / scale;
    let n_decimals = (2.0 - rounded.log10().floor()).clamp(0.0, 5.0) as usize;
    format!("{value:.n_decimals$}")
}

/// A number of things in English: `1 site`, `2 sites`. `thing` is in the singular and takes an s.
pub fn count(n: usize, thing: &str) -> String {
    if n == 1 { format!("1 {thing}") } else { format!("{n} {thing}s") }
}

/// Like [`short`], without zeros at the end of the decimals: for the ticks of an axis.
pub fn tick(value: f64) -> String {
    let text = short(value);
    if !text.contains('.') || text.contains('e') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_significant_digits() {
        let cases = [
            (0.0, "0"),
            (1.0, "1.00"),
            (0.012345, "0.0123"),
            (9.996, "10.0"),
            (99.96, "100"),
            (42.123, "42.1"),
            (1234.4, "1234"),
            (-2.5, "-2.50"),
            (1.234e9, "1.23e9"),
            (0.0001, "1.00e-4"),
            (f64::NAN, "-"),
        ];
        for (value, text) in cases {
            assert_eq!(short(value), text, "{value}");
        }
        assert_eq!(tick(0.5), "0.5");
        assert_eq!(tick(2.0), "2");
        assert_eq!(tick(100.0), "100");
    }

    #[test]
    fn one_is_no_plural() {
        let counted = [0, 1, 2, 21].map(|number| count(number, "site"));
        assert_eq!(counted, ["0 sites", "1 site", "2 sites", "21 sites"]);
    }
}
