//! The `main` of the programs that tests and benchmarks run.

use std::fmt::Write;

use super::arch::{Arch, Shape};
use super::{Unit, call};

/// `main`: without arguments it reads cases from standard input, a 64-bit count and then all
/// fields of each case, and writes the outputs; `secret` works on memory that nobody wrote to, for
/// valgrind to follow, and writes nothing; `bench ROUNDS CALLS` prints the least cycles of a
/// call of the entry, without the moves between bytes and registers.
pub fn main(unit: &Unit, shape: Shape, names: &[String]) -> String {
    let (case, output) = (unit.case_bytes(), unit.output_bytes());
    let mut out = String::from("\n/* Test program. */\n#include <stdio.h>\n#include <stdlib.h>\n");
    for field in &unit.fields {
        let _ = writeln!(out, "static reg in_{}_[{}];", field.name, field.n_registers(shape));
    }
    for field in &unit.outputs {
        let _ = writeln!(out, "static reg out_{}_[{}];", field.name, field.n_registers(shape));
    }
    if unit.n_schedule > 0 {
        let _ = writeln!(out, "static reg keys_[{}];", unit.n_schedule);
    }
    let field = |f: usize| format!("in_{}_", unit.fields[f].name);
    let results: Vec<String> = if unit.outputs.len() == unit.entry.dims.len() - unit.entry.params.len() {
        unit.outputs.iter().map(|f| format!("out_{}_", f.name)).collect()
    } else {
        vec![format!("out_{}_", unit.outputs[0].name)]
    };
    let schedule_line = unit.schedule.as_ref().map_or(String::new(), |schedule| {
        let results: Vec<String> = schedule_results(schedule);
        format!("    {}\n", call(schedule, names, field, "", &results))
    });
    let entry = call(&unit.entry, names, field, "keys_", &results);
    out += "\nstatic __attribute__((noinline)) void prepare(void)\n{\n";
    out += &schedule_line;
    let _ = write!(out, "}}\n\nstatic __attribute__((noinline)) void run(void)\n{{\n    {entry}\n}}\n");
    let (mut loads, mut stores, mut at) = (String::new(), String::new(), 0);
    for f in &unit.fields {
        let (name, n) = (&f.name, f.layout.n_bytes);
        let _ = writeln!(
            loads,
            "        for (size_t b = 0; b < now; b++)\n            memcpy(strings + {n} * b, cases + (done + b) * {case} + {at}, {n});\n        load_{name}(in_{name}_, strings);"
        );
        at += n;
    }
    let mut at = 0;
    for f in &unit.outputs {
        let (name, n) = (&f.name, f.layout.n_bytes);
        let _ = writeln!(
            stores,
            "        store_{name}(out_{name}_, strings);\n        for (size_t b = 0; b < now; b++)\n            memcpy(results + (done + b) * {output} + {at}, strings + {n} * b, {n});"
        );
        at += n;
    }
    let longest = unit.fields.iter().chain(&unit.outputs).map(|f| f.layout.n_bytes).max().unwrap_or(1);
    let _ = write!(
        out,
        "
static int run_cases(int is_secret)
{{
    uint64_t n = BLOCKS + 1;
    static uint8_t strings[BLOCKS * {longest}];
    if (!is_secret && fread(&n, 8, 1, stdin) != 1)
        return 1;
    uint8_t *cases = malloc(n * {case} + 1), *results = calloc(n + 1, {output} + 1);
    /* The compiler must not know that nobody wrote there. */
    __asm__ volatile(\"\" : \"+r\"(cases) :: \"memory\");
    if (!cases || !results || (!is_secret && fread(cases, {case}, n, stdin) != n))
        return 1;
    for (size_t done = 0; done < n; done += BLOCKS) {{
        size_t now = n - done < BLOCKS ? n - done : BLOCKS;
{loads}        prepare();
        run();
{stores}    }}
    __asm__ volatile(\"\" :: \"r\"(results) : \"memory\");
    if (is_secret)
        return 0;
    return fwrite(results, {output}, n, stdout) != n;
}}
"
    );
    out += &bench(shape);
    out
}

/// One pointer for each result of the schedule.
fn schedule_results(schedule: &super::Stage) -> Vec<String> {
    let mut at = 0u32;
    schedule.dims[schedule.params.len()..]
        .iter()
        .map(|dims| {
            let text = format!("keys_ + {at}");
            at += dims.iter().product::<u32>();
            text
        })
        .collect()
}

fn bench(shape: Shape) -> String {
    if shape.arch == Arch::Neon {
        return "\nint main(void)\n{\n    return run_cases(0);\n}\n".into();
    }
    "
static uint64_t cycles(void)
{
    uint32_t low, high;
    __asm__ volatile(\"rdtsc\" : \"=a\"(low), \"=d\"(high) :: \"memory\");
    return (uint64_t)high << 32 | low;
}

/* Cycles of so many calls with the stack moved down by so many bytes: where the stack lies against the
 * arrays, modulo a page, is chance, and can change the time by half. */
static __attribute__((noinline)) uint64_t moved(int calls, unsigned bytes)
{
    char hole[bytes];
    __asm__ volatile(\"\" :: \"r\"(hole) : \"memory\");
    uint64_t start = cycles();
    for (int c = 0; c < calls; c++) {
        run();
        __asm__ volatile(\"\" ::: \"memory\");
    }
    return cycles() - start;
}

int main(int argc, char **argv)
{
    if (argc != 4 || strcmp(argv[1], \"bench\"))
        return run_cases(argc == 2 && !strcmp(argv[1], \"secret\"));
    int rounds = atoi(argv[2]), calls = atoi(argv[3]);
    uint64_t best = UINT64_MAX;
    prepare();
    for (int r = 0; r < rounds; r++) {
        uint64_t ticks = moved(calls, 16 + 64 * (unsigned)(r % 64));
        best = ticks < best ? ticks : best;
    }
    printf(\"%.3f\\n\", (double)best / calls);
    return 0;
}
"
    .into()
}
