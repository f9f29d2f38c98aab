//! The library of known circuits: each S-box with its table, its circuit and who published it.

mod aes;
mod ascon;
mod des;
mod parse;
mod serpent;
mod skinny;
mod small;

use std::sync::OnceLock;

use super::{BitOrder, Circuit, Found, Origin};

/// An S-box of the library.
#[derive(Clone, Debug)]
pub struct KnownSbox {
    /// As in "Serpent S3".
    pub name: &'static str,
    /// Who published the circuit.
    pub source: &'static str,
    /// The order in which `circuit` computes `table`.
    pub order: BitOrder,
    /// As the specification prints it.
    pub table: Vec<u64>,
    /// Verified against the table by the tests.
    pub circuit: Circuit,
}

/// One entry as it is written in the files of this folder.
struct Entry {
    name: &'static str,
    source: &'static str,
    /// The order of the table; input 0 and output 0 of the circuit are its first bits.
    order: BitOrder,
    /// Entries in hex without separators, each of as many digits as the outputs need.
    table: &'static str,
    n_inputs: u32,
    n_outputs: u32,
    circuit: &'static str,
    /// True if the original compiler replaces this list by a least-significant-first circuit.
    is_legacy_lsb_first: bool,
}

fn entries() -> impl Iterator<Item = &'static Entry> {
    let families = [
        aes::ENTRIES,
        ascon::ENTRIES,
        des::ENTRIES,
        serpent::ENTRIES,
        skinny::ENTRIES,
        small::ENTRIES,
    ];
    families.into_iter().flatten()
}

pub fn known_sboxes() -> Vec<KnownSbox> {
    library().to_vec()
}

fn library() -> &'static [KnownSbox] {
    static LIBRARY: OnceLock<Vec<KnownSbox>> = OnceLock::new();
    LIBRARY.get_or_init(|| entries().map(Entry::read).collect())
}

/// Circuits that are better where and-not is no operation.
fn plain() -> &'static [KnownSbox] {
    static PLAIN: OnceLock<Vec<KnownSbox>> = OnceLock::new();
    PLAIN.get_or_init(|| vec![aes::PLAIN.read()])
}

impl Entry {
    fn read(&self) -> KnownSbox {
        KnownSbox {
            name: self.name,
            source: self.source,
            order: self.order,
            table: parse::table(self.table, self.n_outputs),
            circuit: parse::circuit(self.circuit, self.n_inputs, self.n_outputs),
        }
    }
}

/// The name of the S-box when `table` is one of the lists that the original compiler replaces
/// by circuits which read and write least significant first: Rectangle's, Clyde's and
/// Serpent's S0 to S7.
pub fn legacy_lsb_first(table: &[u64]) -> Option<&'static str> {
    let is_legacy = |entry: &&Entry| entry.is_legacy_lsb_first;
    entries()
        .filter(is_legacy)
        .find(|entry| parse::table(entry.table, entry.n_outputs) == table)
        .map(|entry| entry.name)
}

/// The known circuit for `table`, its wires turned round if it is stored in the other order.
pub(super) fn find(
    (table, n_inputs, n_outputs): (&[u64], u32, u32),
    order: BitOrder,
    has_and_not: bool,
) -> Option<Found> {
    let first = if has_and_not { &[] } else { plain() };
    let fits = |sbox: &&KnownSbox| {
        sbox.circuit.n_inputs == n_inputs && sbox.circuit.outputs.len() == n_outputs as usize
    };
    first.iter().chain(library()).filter(fits).find_map(|sbox| {
        let is_same = sbox.table == table;
        if !is_same && sbox.circuit.table(sbox.order.opposite()) != table {
            return None;
        }
        let is_turned = is_same != (sbox.order == order);
        let circuit = if is_turned { sbox.circuit.reversed() } else { sbox.circuit.clone() };
        Some(Found { circuit, origin: Origin::Known { name: sbox.name, source: sbox.source } })
    })
}
