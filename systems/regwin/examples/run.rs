//! Runs one configuration of the spell checker and prints what is counted, for work on the runtime.
#![allow(clippy::print_stdout)]

use regwin::image::{Program, Recipe};
use regwin::{Behaviour, Cc, Schedule, Scheme, sim, spell, work};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let word = |idx: usize, default: &str| words.get(idx).cloned().unwrap_or_else(|| default.to_owned());
    let recipe = Recipe {
        program: Program::Spell,
        scheme: Scheme::named(&word(0, "sp")).expect("a scheme"),
        schedule: Schedule::named(&word(3, "fifo")).expect("a schedule"),
        cc: Cc::named(&word(4, "gcc")).expect("a compiler"),
    };
    let windows = word(1, "8").parse().expect("a number of windows");
    let behaviour = Behaviour::named(&word(2, "high-fine")).expect("a behaviour");
    let threads = spell::THREADS.map(str::to_owned);
    let run = if word(5, "qemu") == "sim" { sim::run } else { work::run };
    let done = run(&recipe, windows, &spell::blobs(behaviour), &threads);
    println!("{:#?}", done.map(|it| (it.counts, spell::output_sha256(&it.output))));
}
