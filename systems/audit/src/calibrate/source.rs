//! The chains as one C file that needs nothing but a counter of cycles and `putchar`.

use std::fmt::Write;

use super::chains::{TimedChain, chains};
use super::forms::{ChainSet, set};
use crate::decode::Isa;

/// The first line of what it prints, with the name of the set behind it.
pub const FIRST: &str = "# meanwhile calibration";
/// The last line that it prints.
pub const LAST: &str = "# end";

/// The C file; none if there are no chains of this set.
pub fn c_file(isa: Isa) -> Option<String> {
    let set = set(isa)?;
    let all = chains(set);
    let mut out = head(isa, set, all.len());
    for (nth, chain) in all.iter().enumerate() {
        out.push_str(&function(set, nth, chain));
    }
    out.push_str("static const struct { const char *name; void (*chain)(unsigned long, void *); } chains[] = {\n");
    for (nth, chain) in all.iter().enumerate() {
        out.push_str(&guarded(
            &chain.guards,
            &format!("    {{\"{}\", chain_{nth}}},\n", chain.name),
        ));
    }
    out.push_str("};\n");
    out.push_str(&MAIN.replace("FIRST", FIRST).replace("LAST", LAST).replace("ISA", isa.name()));
    Some(out)
}

/// The name of a chain's function.
pub fn symbol(nth: usize) -> String {
    format!("chain_{nth}")
}

fn head(isa: Isa, set: &ChainSet, n: usize) -> String {
    let counter: String =
        set.counter.split("; ").map(|line| format!("\"{line}\\n\\t\" ")).collect();
    let counts = if isa == Isa::T32 {
        "    static int is_on;\n    if (!is_on) {\n        *(volatile unsigned *)0xe000edfc |= 1u << 24; /* DEMCR: trace */\n        *(volatile unsigned *)0xe0001000 |= 1u;       /* DWT: cycle counter */\n        is_on = 1;\n    }\n"
    } else {
        ""
    };
    format!(
        "/* {n} chains of {} instructions, for `meanwhile audit calibrate`.\n\n   Build it with -O2 for the core, run it there at a constant clock with the caches on, and keep what\n   it prints: lines of a name, cycles and iterations. It needs `putchar`, and a counter that ticks once\n   in a cycle of the core: define `unsigned long meanwhile_cycles(void)` where the one below does not.\n   Without `main` (-DMEANWHILE_NO_MAIN) call `meanwhile_calibrate()`. */\n#if !({})\n#error \"compile this for {}\"\n#endif\n\n#ifndef MEANWHILE_ITERATIONS\n#define MEANWHILE_ITERATIONS 1000\n#endif\n\nint putchar(int);\n\n__attribute__((weak)) unsigned long meanwhile_cycles(void)\n{{\n{counts}    unsigned long cycles;\n    __asm__ volatile({counter}: \"=r\"(cycles));\n    return cycles;\n}}\n\n",
        isa.name(),
        set.guard,
        isa.name(),
    )
}

fn function(set: &ChainSet, nth: usize, chain: &TimedChain) -> String {
    let mut lines: Vec<String> = set.before.split("; ").map(str::to_owned).collect();
    lines.extend(chain.before.split("; ").filter(|line| !line.is_empty()).map(str::to_owned));
    lines.push("1:".to_owned());
    lines.push(format!(".rept {}", chain.copies));
    lines.extend(chain.step.iter().cloned());
    lines.push(".endr".to_owned());
    lines.extend(set.again.split("; ").map(str::to_owned));
    lines.push("9:".to_owned());
    let mut text = format!(
        "/* {} */\n__attribute__((noinline)) void {}(unsigned long iterations, void *memory)\n{{\n    __asm__ volatile(\n",
        chain.name,
        symbol(nth)
    );
    if set.guard.contains("__arm__") || set.guard.contains("__thumb__") {
        text.push_str("        \".syntax unified\\n\\t\"\n");
    }
    for line in lines {
        let _ = writeln!(text, "        \"{line}\\n\\t\"");
    }
    let clobbers: Vec<String> = set.clobbers.iter().map(|name| format!("\"{name}\"")).collect();
    let _ = write!(
        text,
        "        : \"+r\"(iterations) : \"r\"(memory) : {});\n}}\n\n",
        clobbers.join(", ")
    );
    guarded(&chain.guards, &text)
}

fn guarded(guards: &[&str], text: &str) -> String {
    if guards.is_empty() {
        return text.to_owned();
    }
    let all: Vec<String> = guards.iter().map(|guard| format!("({guard})")).collect();
    format!("#if {}\n{text}#endif\n", all.join(" && "))
}

const MAIN: &str = r#"
static void put(const char *text)
{
    while (*text)
        putchar(*text++);
}

static void put_number(unsigned long number)
{
    char digits[24];
    int n = 0;
    do {
        digits[n++] = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    while (n)
        putchar(digits[--n]);
}

static unsigned long timed(void (*chain)(unsigned long, void *), void *memory)
{
    unsigned long start = meanwhile_cycles();
    chain(MEANWHILE_ITERATIONS, memory);
    return meanwhile_cycles() - start;
}

void meanwhile_calibrate(void)
{
    static void *memory[64] __attribute__((aligned(64)));
    put("FIRST ISA\n");
    for (unsigned nth = 0; nth < sizeof chains / sizeof *chains; nth++) {
        unsigned long least = ~0ul;
        for (int run = 0; run < 4; run++) {
            for (int at = 0; at < 64; at++)
                memory[at] = at < 2 || at >= 64 / (int)sizeof(void *) ? (void *)memory : 0;
            unsigned long cycles = timed(chains[nth].chain, memory);
            if (run && cycles < least)
                least = cycles;
        }
        put(chains[nth].name);
        putchar(' ');
        put_number(least);
        putchar(' ');
        put_number(MEANWHILE_ITERATIONS);
        putchar('\n');
    }
    put("LAST\n");
}

#ifndef MEANWHILE_NO_MAIN
__attribute__((weak)) int main(void)
{
    meanwhile_calibrate();
    return 0;
}
#endif
"#;
