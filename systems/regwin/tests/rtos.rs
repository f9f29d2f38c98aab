//! What RTOS people measure, in the schemes: what sharing windows is for, and what it must not
//! cost.

use regwin::{Scheme, rtos};

/// With windows for all threads a switch takes half the cycles of one that stores them (0.52 at
/// most), and nothing else is slower; with few windows adaptive stays within 4 % of `ns`. An
/// interrupt reaches its handler as soon.
#[test]
fn adaptive_is_never_much_slower_and_twice_as_fast_where_windows_suffice() {
    for measure in rtos::measures(&[0, 1, 4]) {
        for windows in [8, 31] {
            let of = |scheme| {
                rtos::cycles(scheme, windows, &measure)
                    .unwrap_or_else(|error| panic!("{measure:?}, {windows}: {error:?}"))
            };
            let (ns, adaptive) = (of(Scheme::Ns), of(Scheme::Adaptive));
            for machine in 0..2 {
                let ratio = adaptive.mean[machine] / ns.mean[machine];
                assert!(ratio <= 1.04, "{measure:?}, {windows} windows: {ratio:.3} of ns");
                let shares = measure.suite == "tmcontext01"
                    && (windows == 31 || measure.name == "switch, staying there");
                assert!(
                    !shares || ratio <= 0.52,
                    "{measure:?}, {windows} windows: {ratio:.3} of ns"
                );
                assert!(
                    adaptive.worst[machine] + 1.0 >= adaptive.mean[machine],
                    "{measure:?}: {adaptive:?}"
                );
            }
        }
    }
}
