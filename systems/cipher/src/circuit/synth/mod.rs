//! The synthesiser: methods propose networks, a random walk shrinks them, and the smallest is
//! taken.
//!
//! Up to [`N_INPUTS_SEARCHED`] inputs every function is held as a truth table and searched.
//! Above, the decision diagram is taken as it is: correct, and large.

mod anf;
mod bdd;
mod improve;
mod keys;
mod leaf;
mod observe;
mod pool;
mod split;

use super::network::{FALSE, Lit, Network, NetworkBuilder, TRUE};
use super::truth::{self, Truth};
use super::{BitOrder, Circuit, Found, Gate, Origin, emit};

/// The largest number of inputs for which circuits are searched.
pub const N_INPUTS_SEARCHED: u32 = 8;
/// The largest number of inputs that is accepted.
pub const N_INPUTS_MAX: u32 = 16;

/// How much work a synthesis may spend. Work is counted, never timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SynthEffort {
    /// Milliseconds to a fifth of a second, for tests.
    Quick,
    /// About a second: what the compiler uses.
    Normal,
    /// Minutes: how the circuits of our own in the library were found. The
    /// number varies the search.
    Thorough(u64),
}

/// The work that an effort allows for tables of one size.
struct Budget {
    tries: split::Tries,
    /// How many networks [`split`] proposes.
    n_splits: u64,
    /// How many of the smallest proposals are walked from.
    n_walks: usize,
    /// How many truth table words each walk may touch, roughly.
    n_words: u64,
    seed: u64,
}

impl SynthEffort {
    fn budget(self, n_inputs: u32) -> Budget {
        let (n_functions, n_max, n_splits, n_walks, n_words) = match (self, n_inputs) {
            (SynthEffort::Quick, _) => (0, 1, 1, 1, 300_000),
            (SynthEffort::Normal, 0..=2) => (1000, 8, 4, 3, 30_000),
            (SynthEffort::Normal, 3) => (1000, 8, 4, 3, 300_000),
            (SynthEffort::Normal, 4..=5) => (1000, 8, 4, 3, 30_000_000),
            (SynthEffort::Normal, 6) => (600, 6, 2, 2, 30_000_000),
            (SynthEffort::Normal, 7) => (300, 4, 1, 1, 30_000_000),
            (SynthEffort::Normal, _) => (200, 4, 1, 1, 30_000_000),
            (SynthEffort::Thorough(_), 0..=6) => (1000, 8, 8, 2, 2_000_000_000),
            (SynthEffort::Thorough(_), _) => (400, 4, 2, 1, 1_000_000_000),
        };
        let seed = match self {
            SynthEffort::Quick | SynthEffort::Normal => 0,
            SynthEffort::Thorough(seed) => seed,
        };
        Budget { tries: split::Tries { n_functions, n_max }, n_splits, n_walks, n_words, seed }
    }
}

/// Panics with the broken rule unless the table fits its numbers.
pub(super) fn check_table(table: &[u64], n_inputs: u32, n_outputs: u32) {
    assert!(
        n_inputs <= N_INPUTS_MAX,
        "a table of {n_inputs} input bits is too large for a circuit: the limit is {N_INPUTS_MAX}"
    );
    assert!(n_outputs <= 64, "a table has at most 64 output bits, not {n_outputs}");
    let n_entries = table.len();
    assert_eq!(n_entries, 1 << n_inputs, "{n_inputs} input bits need 2^{n_inputs} entries");
    let fits = |&entry: &u64| n_outputs == 64 || entry >> n_outputs == 0;
    assert!(table.iter().all(fits), "an entry has more than {n_outputs} bits");
}

/// The circuit of the decision diagram with the best order of variables: the baseline
/// that [`synthesise`] starts from.
pub fn bdd_baseline(table: &[u64], n_inputs: u32, n_outputs: u32, order: BitOrder) -> Circuit {
    check_table(table, n_inputs, n_outputs);
    let columns = truth::columns(table, n_outputs, order);
    emit::emit(&bdd::network(n_inputs, &columns))
}

/// A circuit for `table`, without the library.
pub fn synthesise(
    table: &[u64],
    n_inputs: u32,
    n_outputs: u32,
    order: BitOrder,
    effort: SynthEffort,
) -> Found {
    check_table(table, n_inputs, n_outputs);
    let columns = truth::columns(table, n_outputs, order);
    let (method, circuit) = match n_inputs {
        0..=6 => search::<1>(n_inputs, &columns, effort),
        7 => search::<2>(n_inputs, &columns, effort),
        N_INPUTS_SEARCHED => search::<4>(n_inputs, &columns, effort),
        _ => ("decision diagram", emit::emit(&bdd::network(n_inputs, &columns))),
    };
    Found { circuit, origin: Origin::Synthesised { method } }
}

/// A circuit for the same function, never larger: the walk starts from `circuit` itself.
/// Circuits of more than [`N_INPUTS_SEARCHED`] inputs come back as they are.
pub fn shrink(circuit: &Circuit, effort: SynthEffort) -> Circuit {
    if circuit.n_inputs > N_INPUTS_SEARCHED {
        return circuit.clone();
    }
    let net = network_of(circuit);
    let budget = effort.budget(circuit.n_inputs);
    let walk = improve::ImproveWalk { n_words: budget.n_words, seed: budget.seed };
    let smaller = match circuit.n_inputs {
        0..=6 => improve::improve::<1>(&net, &walk),
        7 => improve::improve::<2>(&net, &walk),
        _ => improve::improve::<4>(&net, &walk),
    };
    let smaller = emit::emit(&smaller);
    if smaller.n_gates() < circuit.n_gates() { smaller } else { circuit.clone() }
}

fn network_of(circuit: &Circuit) -> Network {
    let mut net = NetworkBuilder::new(circuit.n_inputs);
    let mut lits: Vec<Lit> = (0..circuit.n_inputs).map(|input| net.input(input)).collect();
    for gate in &circuit.gates {
        let at = |wire: u32| lits[wire as usize];
        let lit = match *gate {
            Gate::And(a, b) => net.and(at(a), at(b)),
            Gate::Or(a, b) => net.or(at(a), at(b)),
            Gate::Xor(a, b) => net.xor(at(a), at(b)),
            Gate::AndNot(a, b) => net.and(at(a), at(b) ^ 1),
            Gate::Not(a) => at(a) ^ 1,
            Gate::Zero => FALSE,
            Gate::One => TRUE,
        };
        lits.push(lit);
    }
    let outputs = circuit.outputs.iter().map(|&wire| lits[wire as usize]).collect();
    net.finish(outputs)
}

/// The smallest circuit of all methods; the most promising proposals are improved for longest.
fn search<const W: usize>(
    n_inputs: u32,
    columns: &[Vec<bool>],
    effort: SynthEffort,
) -> (&'static str, Circuit) {
    let targets: Vec<Truth<W>> = columns.iter().map(|column| truth::pack(column)).collect();
    let mut candidates = vec![
        ("decision diagram", bdd::network(n_inputs, columns)),
        ("algebraic normal form", anf::network(n_inputs, columns)),
    ];
    let budget = effort.budget(n_inputs);
    for split in 0..budget.n_splits {
        let seed = budget.seed.wrapping_mul(1000) + split;
        candidates.push(("split and join", split::network(n_inputs, &targets, budget.tries, seed)));
    }
    candidates.sort_by_key(|(_, net)| net.n_live());
    let mut best: Option<(&'static str, Circuit)> = None;
    let mut keep = |method, net: &Network| {
        let circuit = emit::emit(net);
        if best.as_ref().is_none_or(|(_, old)| circuit.n_gates() < old.n_gates()) {
            best = Some((method, circuit));
        }
    };
    for (rank, (method, net)) in candidates.iter().enumerate() {
        keep(method, net);
        if rank < budget.n_walks {
            let walk =
                improve::ImproveWalk { n_words: budget.n_words, seed: budget.seed + rank as u64 };
            keep(method, &improve::improve::<W>(net, &walk));
        }
    }
    best.expect("there is always the decision diagram")
}
