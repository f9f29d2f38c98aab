//! Millions of cycles of every configuration on the first machine, for work on the runtime.
#![allow(clippy::print_stdout)]

use regwin::{Behaviour, sweep};

fn main() {
    let windows: Vec<u32> = std::env::args().skip(1).map(|it| it.parse().expect("a number of windows")).collect();
    let cells = sweep::sweep(&Behaviour::ALL, &windows, &|| {}).expect("the sweep runs");
    for behaviour in Behaviour::ALL {
        println!("{}", behaviour.name());
        for n in &windows {
            let here = cells.iter().filter(|it| it.behaviour == behaviour && it.windows == *n);
            let line: Vec<String> = here
                .map(|it| {
                    let [erc32, leon3] = it.counts.cycles.map(|cycles| cycles.total() as f64 / 1e6);
                    let schedule = &it.schedule.name()[..1];
                    format!("{}/{schedule} {erc32:.2} {leon3:.2}", it.scheme.name())
                })
                .collect();
            println!("  {n:2}  {}", line.join("  "));
        }
    }
}
