//! How fast threads run beside each other on one link.
//!
//! Each model answers for the threads of one link: a rate in (0, 1], 1 being the speed of the
//! thread alone.

mod burst;
mod cache;
mod m0;
mod m1;
mod m2;

use serde::Serialize;

use crate::machine::Capacity;

/// What a thread asks of its link when it runs alone.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Demand {
    pub read_mbps: f64,
    pub write_mbps: f64,
    /// How much of its time is spent waiting for single answers: 0 a stream or pure computation,
    /// 1 a pointer chase.
    pub sensitivity: f64,
    /// Bytes it uses again and again, in MB.
    pub footprint_mb: f64,
    /// What it asks for in addition if none of its footprint stays in the cache, in MB/s.
    pub reuse_mbps: f64,
}

impl Demand {
    /// Reads and writes, in MB/s.
    pub fn total_mbps(&self) -> f64 {
        self.read_mbps + self.write_mbps
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Base {
    /// Everybody slows down as the bus is overbooked.
    M0,
    /// The bus serves in max-min fair shares: a program that asks for little gets all of it.
    M1,
    /// M1, and answers come later the busier the bus is.
    M2,
}

impl Base {
    pub const ALL: [Base; 3] = [Base::M0, Base::M1, Base::M2];

    /// As on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Base::M0 => "m0",
            Base::M1 => "m1",
            Base::M2 => "m2",
        }
    }
}

/// A model with its options.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Model {
    /// How the link is shared.
    pub base: Base,
    /// M3: traffic comes in bursts; standard deviation over mean of one thread's
    /// traffic, 0 for smooth.
    pub burst: f64,
    /// M4: threads push each other out of the cache of the link.
    pub is_cached: bool,
}

impl Model {
    /// A base model without options.
    pub fn plain(base: Base) -> Model {
        Model { base, burst: 0.0, is_cached: false }
    }

    /// The rate of each thread that runs on a link, and the traffic of each in MB/s, with what
    /// the cache misses more.
    pub fn rates(&self, link: Capacity, cache_mb: f64, demands: &[Demand]) -> (Vec<f64>, Vec<f64>) {
        let with_misses;
        let demands = if self.is_cached && cache_mb > 0.0 {
            with_misses = cache::with_misses(cache_mb, demands);
            &with_misses
        } else {
            demands
        };
        let link =
            if self.burst > 0.0 { burst::effective(link, self.burst, demands) } else { link };
        let rates = match self.base {
            Base::M0 => m0::rates(link, demands),
            Base::M1 => m1::rates(link, demands),
            Base::M2 => m2::rates(link, demands),
        };
        let traffic = demands.iter().zip(&rates).map(|(it, rate)| it.total_mbps() * rate).collect();
        (rates, traffic)
    }
}

fn sums(demands: &[Demand]) -> (f64, f64) {
    demands
        .iter()
        .fold((0.0, 0.0), |(read, write), it| (read + it.read_mbps, write + it.write_mbps))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The links of the machine that was measured, in MB/s.
    const MEASURED: Capacity =
        Capacity { read_mbps: 49_000.0, write_mbps: 42_000.0, mixed_mbps: 67_000.0 };

    fn demand(read: f64, write: f64, sensitivity: f64) -> Demand {
        Demand {
            read_mbps: read,
            write_mbps: write,
            sensitivity,
            footprint_mb: 0.0,
            reuse_mbps: 0.0,
        }
    }

    #[test]
    fn two_writers_slow_each_other_as_measured() {
        // One non-temporal writer alone moves about 41.5 GB/s; two slowed each other 1.92 times.
        for base in Base::ALL {
            let (rates, _) =
                Model::plain(base).rates(MEASURED, 0.0, &[demand(0.0, 41_500.0, 0.0); 2]);
            let slowdown = 1.0 / rates[0];
            assert!((1.85..2.05).contains(&slowdown), "{base:?}: {slowdown}");
        }
    }

    #[test]
    fn who_asks_little_gets_it_whole_but_for_m0() {
        let them = [demand(1000.0, 0.0, 0.0), demand(60_000.0, 0.0, 0.0)];
        assert!(Model::plain(Base::M0).rates(MEASURED, 0.0, &them).0[0] < 0.85);
        assert!((Model::plain(Base::M1).rates(MEASURED, 0.0, &them).0[0] - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_pointer_chase_beside_a_stream_takes_half_as_long_again() {
        // Measured: 1.49 times, while it asks for 1 % of the bus.
        let them = [demand(490.0, 0.0, 1.0), demand(60_000.0, 0.0, 0.0)];
        let (rates, _) = Model::plain(Base::M2).rates(MEASURED, 0.0, &them);
        assert!((1.4..1.6).contains(&(1.0 / rates[0])), "{}", 1.0 / rates[0]);
        assert!(
            Model::plain(Base::M1).rates(MEASURED, 0.0, &them).0[0] > 0.99,
            "M1 does not know it"
        );
    }

    #[test]
    fn an_evicted_footprint_costs_traffic() {
        let victim =
            Demand { footprint_mb: 30.0, reuse_mbps: 100_000.0, ..demand(500.0, 0.0, 0.0) };
        let hog = Demand { footprint_mb: 270.0, ..demand(30_000.0, 0.0, 0.0) };
        let model = Model { is_cached: true, ..Model::plain(Base::M1) };
        let alone = model.rates(MEASURED, 32.0, &[victim]).0[0];
        let beside = model.rates(MEASURED, 32.0, &[victim, hog]).0[0];
        assert!(alone > 0.99 && beside < 0.5, "{alone} {beside}");
        let traffic = model.rates(MEASURED, 32.0, &[victim, hog]).1[0];
        assert!(traffic > 10_000.0, "what it reads again is traffic of its own: {traffic}");
    }

    #[test]
    fn bursts_cost_most_near_saturation() {
        let model = Model { burst: 0.5, ..Model::plain(Base::M1) };
        let rate = |n: usize| {
            model.rates(Capacity::bus(1000.0), 0.0, &vec![demand(250.0, 0.0, 0.0); n]).0[0]
        };
        assert!(rate(1) > 0.99 && rate(4) < 0.95 && rate(4) > 0.6, "{} {}", rate(1), rate(4));
    }

    #[test]
    fn no_link_carries_more_than_it_can() {
        let mut random = fastrand::Rng::with_seed(11);
        for _ in 0..3000 {
            let n = random.usize(1..9);
            let mut some = |most: f64| random.f64() * most;
            let them: Vec<Demand> =
                (0..n).map(|_| demand(some(60_000.0), some(60_000.0), some(1.0))).collect();
            for base in Base::ALL {
                let (rates, traffic) = Model::plain(base).rates(MEASURED, 0.0, &them);
                let reads: f64 =
                    them.iter().zip(&rates).map(|(it, rate)| it.read_mbps * rate).sum();
                let writes: f64 =
                    them.iter().zip(&rates).map(|(it, rate)| it.write_mbps * rate).sum();
                assert!(rates.iter().all(|rate| *rate > 0.0 && *rate <= 1.0), "{base:?} {rates:?}");
                assert!(
                    reads <= MEASURED.read_mbps + 1e-3 && writes <= MEASURED.write_mbps + 1e-3,
                    "{base:?} {reads} {writes}"
                );
                assert!(
                    traffic.iter().sum::<f64>() <= MEASURED.mixed_mbps + 1e-3,
                    "{base:?} {traffic:?}"
                );
            }
        }
    }
}
