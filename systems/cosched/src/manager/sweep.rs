//! How fast a program goes through its memory, by what it touched of a sample after how much
//! processor time: of a program that goes from one end to the other and begins again, the sample is
//! touched at an even pace, then wholly, and nothing is left. Where accesses have no order the pace
//! falls and a rest stays for long: how much of each page they read cannot be known, and no rate is
//! given.

use std::time::{Duration, Instant};

/// One look at a process since its sample was forgotten.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Look {
    /// Processor time of its threads, and time by the clock, in seconds.
    pub cpu_s: f64,
    pub clock_s: f64,
    /// Bytes of its memory that count as touched; of the sample only those touched since.
    pub touched: f64,
    /// Bytes of its memory.
    pub resident: f64,
}

/// Four looks: at once, in the middle of a pass, when it should be over, and as long again.
pub type Scan = [Look; 4];

/// Where the looks of a scan are, in passes.
pub const LOOKS_AT: [f64; 4] = [0.0, 0.45, 1.2, 2.0];

/// What is looked at.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sizes {
    /// Bytes of the memory that the sample is taken from, and of the sample.
    pub all: f64,
    pub sample: f64,
    /// Bytes of the largest cache.
    pub cache: f64,
}

/// MB/s of each processor that the program computes on, and its interval of 90 %.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pace {
    pub mbps: f64,
    pub low: f64,
    pub high: f64,
}

/// What was found of a program's pace, and when.
#[derive(Debug, Clone, Default)]
pub struct PaceFound(Option<(Instant, Result<Pace, Unknown>)>);

impl PaceFound {
    /// What was known stays where a look was only disturbed.
    pub fn note(&mut self, at: Instant, found: Result<Pace, Unknown>) {
        let is_disturbed = matches!(found, Err(Unknown::Fast | Unknown::Idle | Unknown::Uneven));
        let found = self.pace().filter(|_| is_disturbed).map_or(found, Ok);
        self.0 = Some((at, found));
    }

    pub fn pace(&self) -> Option<Pace> {
        self.0.as_ref()?.1.as_ref().ok().copied()
    }

    /// Why it is not known, if it was looked for.
    pub fn why_not(&self) -> Option<String> {
        self.0.as_ref()?.1.as_ref().err().map(Unknown::text)
    }

    pub fn looked(&self) -> Option<Instant> {
        self.0.as_ref().map(|(at, _)| *at)
    }

    /// So long ago that it is to be looked at again: what is known lasts longer than what is not.
    pub fn is_old(&self, now: Instant, known: Duration, unknown: Duration) -> bool {
        let after = if self.pace().is_some() { known } else { unknown };
        self.looked().is_none_or(|at| now - at > after)
    }
}

/// Why nothing is said of a program's rate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unknown {
    Refused(String),
    /// So many MB would do.
    Small(u64),
    NotItsOwn,
    Kernel,
    Grows,
    Slow,
    Fast,
    NoOrder,
    InCaches,
    Uneven,
    Idle,
    Ended,
}

impl Unknown {
    /// Why, in a few words.
    pub fn text(&self) -> String {
        match self {
            Unknown::Refused(said) => said.clone(),
            Unknown::Small(mb) => format!("it has less than {mb} MB of memory of its own"),
            Unknown::NotItsOwn => "much of its memory is files, shared or huge pages".to_owned(),
            Unknown::Kernel => "the kernel moves data for it".to_owned(),
            Unknown::Grows => "its memory grows or shrinks".to_owned(),
            Unknown::Slow => "it goes through its memory too slowly to be followed".to_owned(),
            Unknown::Fast => "it goes through its memory faster than can be followed".to_owned(),
            Unknown::NoOrder => "it goes through its memory in no order".to_owned(),
            Unknown::InCaches => "what it goes through may stay in the caches".to_owned(),
            Unknown::Uneven => "its pace changes".to_owned(),
            Unknown::Idle => "it hardly computes".to_owned(),
            Unknown::Ended => "it ended meanwhile".to_owned(),
        }
    }
}

/// Of the sample: what may be touched after a pass should be over, and what the memory may grow by.
const REST: f64 = 0.06;
const GROWTH: f64 = 0.05;
/// From this share of the sample on it is taken to be touched wholly in a pass.
const WHOLE: f64 = 0.8;
/// Where the third look of a scan is, in passes at the rate that was found.
const SOON_AFTER: std::ops::Range<f64> = 1.05..1.5;
/// What the second look of a scan has seen at most, of a pass.
const EARLY: f64 = 0.65;
/// What a program goes through has so many times the bytes of the largest cache.
const CACHES: f64 = 2.0;
/// No processor reads so many bytes a second: it skips most of each page.
const FASTEST: f64 = 64e9;
/// Half the interval, as a share of the rate, at most.
const HALF: f64 = 0.25;

/// Scans that a rate is taken from; few where a look takes hardly any of a pass. Where in its pass
/// the program is when one begins moves each by as much as a look takes of a pass, either way.
pub fn n_scans(pass_s: f64, look_s: f64) -> usize {
    if look_s < 0.05 * pass_s { 5 } else { 8 }
}

/// A rate is taken of at least so many scans.
const LEAST_SCANS: usize = 4;
/// Half an interval of 90 %, in standard errors, from [`LEAST_SCANS`] on. Source: Student's
/// distribution, 95 %, by degrees of freedom.
const STUDENT: [f64; 5] = [2.353, 2.132, 2.015, 1.943, 1.895];

/// Seconds of processor time that a pass takes, by looks at growing distances, the last one when
/// nothing was touched any more.
///
/// Errors: it cannot be told, and why.
pub fn pass_s(looks: &[Look], sizes: Sizes) -> Result<f64, Unknown> {
    let (Some(first), Some(last)) = (looks.first(), looks.last()) else {
        return Err(Unknown::Ended);
    };
    check_growth(looks, sizes)?;
    let seen = last.touched - first.touched;
    if seen < GROWTH * sizes.sample {
        // Before the second look it was all over, or hardly anything is touched at all.
        return Err(if first.touched > GROWTH * sizes.all { Unknown::Fast } else { Unknown::Slow });
    }
    // A fast program had touched some of it before it was first looked at.
    let half = if seen > 0.5 * sizes.sample { 0.5 * sizes.sample } else { 0.5 * seen };
    let left = |look: &Look| last.touched - look.touched;
    let pair =
        looks.windows(2).find(|pair| left(&pair[1]) <= half).expect("the last has none left");
    let share = ((left(&pair[0]) - half) / (left(&pair[0]) - left(&pair[1]))).clamp(0.0, 1.0);
    Ok(2.0 * (pair[0].cpu_s + share * (pair[1].cpu_s - pair[0].cpu_s)))
}

/// The rate by several scans of equal length; each look takes `look_s` by the clock.
///
/// Errors: it cannot be told, and why.
pub fn pace(scans: &[Scan], sizes: Sizes, look_s: f64) -> Result<Pace, Unknown> {
    scans.iter().try_for_each(|scan| check_growth(scan, sizes))?;
    let mean = |scans: &[&Scan], of: &dyn Fn(&Scan) -> f64| {
        scans.iter().map(|scan| of(scan)).sum::<f64>() / scans.len() as f64
    };
    let all: Vec<&Scan> = scans.iter().collect();
    if mean(&all, &|scan| scan[1].clock_s - scan[0].clock_s) < 1.2 * look_s {
        return Err(Unknown::Fast);
    }
    // What is touched at all of the sample: of a fast program some of it before the first look.
    let most = scans.iter().map(|scan| scan[3].touched - scan[0].touched).fold(0.0, f64::max);
    let swept = if most > WHOLE * sizes.sample { sizes.sample } else { most };
    let share = |scan: &Scan| (swept - (scan[3].touched - scan[1].touched)) / swept;
    let of_sample = |scan: &Scan| share(scan) / scan[1].cpu_s;
    // A look that came late saw the end of the pass, or so long after it that accesses without
    // order have left as little as a pass.
    let early: Vec<&Scan> = scans.iter().filter(|scan| share(scan) <= EARLY).collect();
    let passes_a_second = mean(&early, &of_sample);
    let is_soon = |scan: &&&Scan| SOON_AFTER.contains(&(scan[2].cpu_s * passes_a_second));
    let good: Vec<&Scan> = early.iter().filter(is_soon).copied().collect();
    let n = good.len() as f64;
    let Some(student) = STUDENT.get(good.len().wrapping_sub(LEAST_SCANS)) else {
        return Err(Unknown::Uneven);
    };
    let touched = mean(&good, &|scan| scan[3].touched - scan[0].touched);
    if mean(&good, &|scan| scan[3].touched - scan[2].touched) > REST * touched {
        return Err(Unknown::NoOrder);
    }
    if touched / sizes.sample * sizes.all < CACHES * sizes.cache {
        return Err(Unknown::InCaches);
    }
    let bytes = swept / sizes.sample * sizes.all;
    let rate = mean(&good, &of_sample) * bytes;
    if rate > FASTEST {
        return Err(Unknown::Fast);
    }
    let squares = mean(&good, &|scan| (of_sample(scan) * bytes - rate).powi(2));
    let half = student * (squares / (n - 1.0)).sqrt();
    if half > HALF * rate {
        return Err(Unknown::Uneven);
    }
    Ok(Pace { mbps: rate / 1e6, low: (rate - half) / 1e6, high: (rate + half) / 1e6 })
}

/// Errors: the memory grows or shrinks, and what comes is touched, too.
pub fn check_growth(looks: &[Look], sizes: Sizes) -> Result<(), Unknown> {
    let resident = || looks.iter().map(|look| look.resident);
    let grown = resident().fold(0.0, f64::max) - resident().fold(f64::MAX, f64::min);
    if grown > GROWTH * sizes.sample { Err(Unknown::Grows) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: Sizes = Sizes { all: 2e9, sample: 64e6, cache: 32e6 };

    /// A program at so many bytes a second, whose looks take 10 ms, seen after `cpu_s`.
    fn look(cpu_s: f64, share: f64) -> Look {
        Look { cpu_s, clock_s: cpu_s, touched: 1e9 + share * SIZES.sample, resident: 2.1e9 }
    }

    /// What is touched of the sample, by the passes that have gone by.
    type Touches = fn(f64) -> f64;
    const IN_ORDER: Touches = |passes| passes.min(1.0);
    const AT_RANDOM: Touches = |passes| 1.0 - (-2.0 * 0.5_f64.ln() * -passes).exp();

    fn looks(touches: Touches, pass_s: f64) -> Vec<Look> {
        let at = |doubled: i32| 0.01 * 2.0_f64.powi(doubled);
        (0..)
            .map(at)
            .take_while(|at| *at < 16.0 * pass_s)
            .map(|at| look(at, touches(at / pass_s)))
            .collect()
    }

    /// Scans that begin at different places of a pass: each sees the pace somewhat off.
    fn scans(touches: Touches, pass_s: f64, spread: f64) -> [Scan; 8] {
        std::array::from_fn(|scan| {
            let off = 1.0 + spread * (scan as f64 / 3.5 - 1.0);
            LOOKS_AT.map(|at| look(at * pass_s, touches(at * off)))
        })
    }

    #[test]
    fn a_pass_in_order_tells_the_rate() {
        for pass_s in [0.1, 0.7, 4.0] {
            let found = pass_s_of(IN_ORDER, pass_s);
            assert!((found / pass_s - 1.0).abs() < 0.1, "{found} for {pass_s}");
            let pace = pace(&scans(IN_ORDER, pass_s, 0.2), SIZES, 0.01).expect("it is in order");
            let real = 2e3 / pass_s;
            assert!((pace.mbps / real - 1.0).abs() < 0.01, "{pace:?} of {real}");
            assert!(pace.low < real && real < pace.high && pace.high < 1.3 * pace.low, "{pace:?}");
        }
    }

    fn pass_s_of(touches: Touches, pass_s: f64) -> f64 {
        super::pass_s(&looks(touches, pass_s), SIZES).expect("it passes")
    }

    #[test]
    fn what_is_no_pass_in_order_has_no_rate() {
        let of = |scans: [Scan; 8]| pace(&scans, SIZES, 0.01).map(|pace| pace.mbps);
        assert_eq!(of(scans(AT_RANDOM, 1.0, 0.0)), Err(Unknown::NoOrder));
        // The length of a pass was taken for longer than it is: hardly anything is left then.
        for longer in [1.2, 1.5, 2.0, 3.0] {
            let late = scans(AT_RANDOM, 1.0, 0.0).map(|scan| {
                scan.map(|one| look(longer * one.cpu_s, AT_RANDOM(longer * one.cpu_s)))
            });
            let found = of(late);
            assert!(
                matches!(found, Err(Unknown::NoOrder | Unknown::Uneven)),
                "{longer}: {found:?}"
            );
        }
        assert_eq!(of(scans(IN_ORDER, 0.015, 0.0)), Err(Unknown::Fast), "its looks overlap");
        let mut uneven = scans(IN_ORDER, 0.7, 0.0);
        uneven.iter_mut().step_by(2).for_each(|scan| scan[1] = look(0.3, 0.05));
        assert_eq!(of(uneven), Err(Unknown::Uneven));
        let mut grows = scans(IN_ORDER, 0.7, 0.0);
        grows[3][2].resident += 10e6;
        assert_eq!(of(grows), Err(Unknown::Grows));
        let small = Sizes { cache: 1.5e9, ..SIZES };
        assert_eq!(pace(&scans(IN_ORDER, 0.7, 0.0), small, 0.01), Err(Unknown::InCaches));
    }

    #[test]
    fn a_disturbed_look_takes_nothing_back() {
        let pace = Pace { mbps: 2000.0, low: 1900.0, high: 2100.0 };
        let (mut found, now) = (PaceFound::default(), Instant::now());
        found.note(now, Err(Unknown::Uneven));
        assert_eq!((found.pace(), found.why_not().is_some()), (None, true));
        found.note(now, Ok(pace));
        found.note(now, Err(Unknown::Fast));
        assert_eq!((found.pace(), found.why_not()), (Some(pace), None));
        found.note(now, Err(Unknown::NoOrder));
        assert_eq!(found.pace(), None, "it does something else now");
    }

    #[test]
    fn nothing_touched_is_not_zero() {
        let of = |looks: &[Look]| super::pass_s(looks, SIZES);
        assert_eq!(of(&[]), Err(Unknown::Ended));
        let still: Vec<Look> =
            (1..9).map(|at| Look { touched: 0.0, ..look(f64::from(at), 0.0) }).collect();
        assert_eq!(of(&still), Err(Unknown::Slow));
        let over: Vec<Look> = (1..9).map(|at| look(f64::from(at), 1.0)).collect();
        assert_eq!(of(&over), Err(Unknown::Fast));
    }
}
