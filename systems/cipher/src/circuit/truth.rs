//! Truth tables as words of bits, and how lookup tables turn into them.

use super::BitOrder;

/// The values of one function of up to `6 + log2(W)` inputs: bit `m` is its value when input
/// `i` has bit `i` of `m`. A function of fewer inputs is repeated to fill the words.
pub(super) type Truth<const W: usize> = [u64; W];

/// The tables of the first six inputs.
pub const INPUT_WORDS: [u64; 6] = [
    0xaaaa_aaaa_aaaa_aaaa,
    0xcccc_cccc_cccc_cccc,
    0xf0f0_f0f0_f0f0_f0f0,
    0xff00_ff00_ff00_ff00,
    0xffff_0000_ffff_0000,
    0xffff_ffff_0000_0000,
];

/// The function that is input `input` itself.
pub(super) fn of_input<const W: usize>(input: u32) -> Truth<W> {
    std::array::from_fn(|word| match INPUT_WORDS.get(input as usize) {
        Some(&pattern) => pattern,
        None => 0u64.wrapping_sub(word as u64 >> (input - 6) & 1),
    })
}

/// The output functions of a lookup table, output 0 first, one bit an entry.
pub(super) fn columns(table: &[u64], n_outputs: u32, order: BitOrder) -> Vec<Vec<bool>> {
    let n_inputs = table.len().trailing_zeros();
    let entry_at = |minterm: usize| {
        let index = (0..n_inputs)
            .fold(0, |index, wire| index | (minterm >> wire & 1) << order.position(wire, n_inputs));
        table[index]
    };
    let entries: Vec<u64> = (0..table.len()).map(entry_at).collect();
    let column = |output| {
        let bit = order.position(output, n_outputs);
        entries.iter().map(|entry| entry >> bit & 1 == 1).collect()
    };
    (0..n_outputs).map(column).collect()
}

/// Packs one column, repeating it to fill all words.
pub(super) fn pack<const W: usize>(column: &[bool]) -> Truth<W> {
    std::array::from_fn(|word| {
        (0..64).fold(0, |bits, lane| {
            bits | u64::from(column[(64 * word + lane) % column.len()]) << lane
        })
    })
}

pub(super) fn and<const W: usize>(a: &Truth<W>, b: &Truth<W>) -> Truth<W> {
    std::array::from_fn(|word| a[word] & b[word])
}

pub(super) fn xor<const W: usize>(a: &Truth<W>, b: &Truth<W>) -> Truth<W> {
    std::array::from_fn(|word| a[word] ^ b[word])
}

/// `a` when `flip` is false, its complement otherwise.
pub(super) fn flip_if<const W: usize>(a: &Truth<W>, flip: bool) -> Truth<W> {
    let mask = 0u64.wrapping_sub(u64::from(flip));
    std::array::from_fn(|word| a[word] ^ mask)
}

pub(super) fn is_zero<const W: usize>(a: &Truth<W>) -> bool {
    a.iter().all(|&word| word == 0)
}

/// True if `a` and `b` agree wherever `care` is set.
pub(super) fn agree<const W: usize>(a: &Truth<W>, b: &Truth<W>, care: &Truth<W>) -> bool {
    (0..W).all(|word| (a[word] ^ b[word]) & care[word] == 0)
}
