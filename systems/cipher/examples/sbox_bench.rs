//! Prints the gate counts of synthesised random S-boxes against the decision diagram.
#![allow(clippy::print_stdout)]

use std::time::Instant;

use cipher::circuit::compare;

fn main() {
    let args: Vec<u32> =
        std::env::args().skip(1).map(|arg| arg.parse().expect("a number")).collect();
    let n_sboxes = args.first().copied().unwrap_or(200);
    let sizes = if args.len() > 1 { &args[1..] } else { &[4, 5, 6, 8] };
    println!("bits  S-boxes   ours mean  min  max    diagram mean   min   max    saved   s/S-box");
    for &bits in sizes {
        let start = Instant::now();
        let found = compare(bits, n_sboxes, 1);
        let seconds = start.elapsed().as_secs_f64() / f64::from(n_sboxes);
        let ours: Vec<usize> = found.sboxes.iter().map(|sbox| sbox.ours).collect();
        let bdd: Vec<usize> = found.sboxes.iter().map(|sbox| sbox.bdd).collect();
        let (mean, min, max) = summary(&ours);
        let (bdd_mean, bdd_min, bdd_max) = summary(&bdd);
        let saved = 100.0 * (1.0 - mean / bdd_mean);
        println!(
            "{bits:4}  {n_sboxes:7}   {mean:9.2} {min:4} {max:4}    {bdd_mean:12.2}  {bdd_min:4}  {bdd_max:4}    {saved:4.0}%   {seconds:7.3}"
        );
    }
}

fn summary(counts: &[usize]) -> (f64, usize, usize) {
    let sum: usize = counts.iter().sum();
    let min = counts.iter().min().copied().unwrap_or(0);
    let max = counts.iter().max().copied().unwrap_or(0);
    (sum as f64 / counts.len() as f64, min, max)
}
