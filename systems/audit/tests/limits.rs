//! Bounds of cores that reorder: planted loops whose answers are known, and llvm-mca.

use std::process::Command;
use std::time::Duration;

use audit::decode::Isa;
use audit::facts::trace::{Guide, hot_trace};
use audit::limits::{Bound, LimitedBy, Limits, limits};
use audit::program::Program;
use audit::program::toolchain::{Build, assemble};
use fastrand::Rng;
use machine::Machine;

const CORES: [(&str, Isa); 5] = [
    ("zen4", Isa::X86),
    ("skylake", Isa::X86),
    ("cortex-a72", Isa::A64),
    ("neoverse-n1", Isa::A64),
    ("neoverse-v1", Isa::A64),
];

/// The bounds of a function of this text, its texts too.
fn bounds(cpu: &str, body: &str) -> (Limits, Vec<String>) {
    let isa = CORES.iter().find(|(name, _)| *name == cpu).expect("it is a core").1;
    let text = format!(".text\n.globl f\n.type f, %function\nf:\n{body}\n.size f, .-f\n");
    let build = Build { cc: None, flags: Vec::new(), folder: None };
    let (bytes, skipped) = assemble(text.as_bytes(), isa, cpu, &build).expect("it is assembled");
    assert!(skipped.is_empty(), "{skipped:?}");
    let program = Program::parse("f.o", &bytes).expect("it is an object file");
    let decoded = program.decode(program.symbol("f").expect("it is there")).expect("it is code");
    let function = decoded.function;
    let guide = Guide::of(&function);
    let machine = Machine::bundled(cpu).expect("it is bundled");
    let found = limits(&function, &hot_trace(&guide), &guide, &machine).expect("it has rows");
    let texts = function.instructions.iter().map(|it| it.text.clone()).collect();
    (found, texts)
}

fn path(cpu: &str, body: &str) -> Bound {
    bounds(cpu, body).0.path
}

/// The bound of the only loop, and the texts on its chain.
fn only_loop(cpu: &str, body: &str) -> (Bound, Vec<String>) {
    let (found, texts) = bounds(cpu, body);
    let [it] = &found.loops[..] else { panic!("{cpu}: {} loops", found.loops.len()) };
    let on_chain = it.bound.chain.places.iter().map(|at| texts[it.of.round.places[*at]].clone());
    (it.bound.clone(), on_chain.collect())
}

#[test]
fn a_chain_of_products_takes_the_sum_of_their_latencies() {
    for (cpu, product, each) in [
        ("zen4", "imul %rsi, %rdi", 3.0),
        ("skylake", "imul %rsi, %rdi", 3.0),
        ("cortex-a72", "mul x0, x0, x1", 5.0),
        ("neoverse-n1", "mul x0, x0, x1", 4.0),
        ("neoverse-v1", "mul x0, x0, x1", 2.0),
    ] {
        let found = path(cpu, &format!("{}ret", format!("{product}\n").repeat(8)));
        assert_eq!((found.chain.cycles, found.by()), (8.0 * each, LimitedBy::Chain), "{cpu}");
        assert_eq!(found.chain.places, (0..8).collect::<Vec<usize>>(), "{cpu}");
    }
}

#[test]
fn sums_go_to_all_units_that_add() {
    let add = |nth: u32| format!("add $1, %r{}\n", 8 + nth);
    let body: String = (0..6).map(add).collect();
    for (cpu, units) in [("zen4", "alu0 alu1 alu2 alu3"), ("skylake", "p0 p1 p5 p6")] {
        let found = path(cpu, &format!("{body}ret"));
        assert_eq!((found.ports.units.join(" "), found.chain.cycles), (units.to_owned(), 1.0));
        // Skylake's return takes one of them, too.
        assert_eq!(found.ports.cycles, if cpu == "zen4" { 1.5 } else { 1.75 }, "{cpu}");
    }
    let body: String = (0..6).map(|nth| format!("add x{nth}, x{nth}, #1\n")).collect();
    let found = path("neoverse-n1", &format!("{body}ret"));
    assert_eq!((found.ports.cycles, found.ports.units.len()), (2.0, 3));
}

#[test]
fn a_product_among_sums_leaves_its_unit_to_them_or_not() {
    // Three products have one unit, whatever the sums do.
    let (body, sum) = ("imul %rsi, %r8\nimul %rsi, %r9\nimul %rsi, %r10\n", "add $1, %r11\n");
    let found = path("zen4", &format!("{body}{sum}ret"));
    assert_eq!((found.ports.cycles, found.ports.places), (3.0, vec![0, 1, 2]));
}

#[test]
fn what_does_nothing_enters_all_the_same() {
    for (cpu, width) in [("skylake", 4.0), ("neoverse-n1", 4.0), ("cortex-a72", 3.0)] {
        let found = path(cpu, &format!("{}ret", "nop\n".repeat(23)));
        assert_eq!(
            (found.by(), found.front_end.cycles),
            (LimitedBy::FrontEnd, 24.0 / width),
            "{cpu}"
        );
    }
    // Measured: Zen 4 makes one of several.
    assert_eq!(path("zen4", &format!("{}ret", "nop\n".repeat(23))).front_end.micro_ops, 1);
}

#[test]
fn every_taken_branch_has_a_cycle_of_its_own() {
    let two = "1: cmp $1, (%rdi)\nje 2f\nadd $1, %rax\n2: add $8, %rdi\njmp 3f\nnop\n3: dec %rsi\njne 1b\nret";
    let (found, _) = only_loop("skylake", &two.replace("cmp $1", "cmpq $1"));
    assert_eq!((found.front_end.taken, found.by()), (2, LimitedBy::FrontEnd));
    assert_eq!(found.cycles(), 2.0);
}

#[test]
fn a_comparison_and_its_branch_enter_as_one() {
    let body = |between: &str| format!("1: add $1, %rax\ncmp %rsi, %rax\n{between}jne 1b\nret");
    for cpu in ["zen4", "skylake"] {
        assert_eq!(only_loop(cpu, &body("")).0.front_end.micro_ops, 2, "{cpu}");
        // What stands between them keeps them apart.
        assert_eq!(only_loop(cpu, &body("mov %rdi, %rdx\n")).0.front_end.micro_ops, 4, "{cpu}");
    }
}

#[test]
fn a_sum_of_products_waits_for_the_sum_before() {
    let dot = "1: vmovsd (%rdi), %xmm1\nvfmadd231sd (%rsi), %xmm1, %xmm0\nadd $8, %rdi\nadd $8, %rsi\ndec %rdx\njne 1b\nret";
    for cpu in ["zen4", "skylake"] {
        let (found, chain) = only_loop(cpu, dot);
        assert_eq!((found.chain.cycles, found.chain.iterations), (4.0, 1), "{cpu}");
        assert_eq!(chain, ["vfmadd231sd (%rsi), %xmm1, %xmm0"], "{cpu}");
    }
    // Neoverse N1 forwards a sum to the next sum, and not to a factor.
    let dot = |product: &str| {
        format!("1: ldr q1, [x0], #16\nldr q2, [x1], #16\n{product}\nsubs x2, x2, #1\nb.ne 1b\nret")
    };
    let cycles = |product: &str| only_loop("neoverse-n1", &dot(product)).0.chain.cycles;
    assert_eq!(cycles("fmla v0.4s, v1.4s, v2.4s"), 2.0);
    assert_eq!(cycles("fmul v0.4s, v0.4s, v2.4s"), 3.0);
}

#[test]
fn a_chain_over_two_iterations_counts_half() {
    // a and b change places: a product one time, a sum the next.
    let body = "1: mov %rax, %rcx\nimul $3, %rbx, %rax\nlea 1(%rcx), %rbx\ndec %rdx\njne 1b\nret";
    let (found, _) = only_loop("zen4", body);
    assert_eq!((found.chain.cycles, found.chain.iterations), (2.0, 2));
}

#[test]
fn memory_makes_a_chain_only_where_the_address_is_surely_the_same() {
    let chain = |cpu: &str, body: &str| only_loop(cpu, body).0.chain.cycles;
    let counter =
        "1: mov 8(%rdi), %rax\nimul $3, %rax, %rax\nmov %rax, 8(%rdi)\ndec %rdx\njne 1b\nret";
    assert_eq!(chain("skylake", counter), 7.0, "forwarded in 4, multiplied in 3");
    assert_eq!(chain("zen4", counter), 3.0, "forwarded in none, multiplied in 3");
    // Another register may hold another address, and so may one that moves.
    assert_eq!(chain("skylake", &counter.replace("mov %rax, 8(%rdi)", "mov %rax, 8(%rsi)")), 1.0);
    assert_eq!(chain("skylake", &counter.replace("dec %rdx", "add $8, %rdi\ndec %rdx")), 1.0);
    // A store through another pointer may come between.
    let stored = counter.replace("dec %rdx", "mov %rcx, (%rsi)\ndec %rdx");
    assert_eq!(chain("skylake", &stored), 1.0);
    // What moved by 8 is loaded 8 below: the same bytes.
    let prefix = "1: mov -8(%rdi), %rax\nimul $3, %rax, %rax\nmov %rax, (%rdi)\nadd $8, %rdi\ndec %rdx\njne 1b\nret";
    assert_eq!(chain("skylake", prefix), 7.0);
    let counter =
        "1: ldr x3, [x0, #8]\nmul x3, x3, x2\nstr x3, [x0, #8]\nsubs x1, x1, #1\nb.ne 1b\nret";
    assert_eq!(chain("neoverse-v1", counter), 2.0);
    assert_eq!(chain("neoverse-v1", &counter.replace("str x3, [x0", "str x3, [x4")), 1.0);
}

#[test]
fn zeros_wait_for_nothing() {
    let body = |zero: &str| format!("imul %rsi, %rax\n{zero}\nadd %rax, %rdi\nret");
    for cpu in ["zen4", "skylake"] {
        assert_eq!(path(cpu, &body("xor %eax, %eax")).chain.cycles, 3.0, "{cpu}");
        // The difference of two registers is no such thing.
        assert_eq!(path(cpu, &body("sub %rsi, %rax")).chain.cycles, 5.0, "{cpu}");
    }
}

/// The chain of a loop, and of one where nothing but the counter has one.
#[test]
fn results_of_an_instruction_wait_only_for_what_they_are_made_of() {
    let chain = |cpu: &str, body: &str| {
        only_loop(cpu, &format!("1: {body}\ndec %rdi\njne 1b\nret")).0.chain.cycles
    };
    // Measured on Zen 4: 1.5, 1.0, 1.0, 1.3, 1.0, 8.4 by its unit, 1.0, 1.0 and 1.0 cycles.
    for body in [
        "xchg %rax, %rbx\nimul $3, %rax, %rax",
        "imul %rax, %rax\ncmp %rbx, %rcx\nsbb %rax, %rax",
        "mulps %xmm0, %xmm0\nandnps %xmm0, %xmm0",
        "cvtsi2sd %eax, %xmm0",
        "cvtsd2ss %xmm1, %xmm0",
        "sqrtsd %xmm1, %xmm0",
        "movsd %xmm1, %xmm0\nmovsd %xmm1, %xmm0",
        "vroundsd $1, %xmm1, %xmm0, %xmm0",
        "vaddps %ymm0, %ymm1, %ymm2\nvzeroupper",
    ] {
        for cpu in ["zen4", "skylake"] {
            assert_eq!(chain(cpu, body), 1.0, "{cpu}: {body}");
        }
    }
    // Their twins, in which the value goes on.
    for (body, cycles) in [
        ("mov %rax, %rbx\nimul $3, %rbx, %rax", 3.0),
        ("imul %rax, %rax\nsbb %rbx, %rax", 4.0),
        ("mulps %xmm0, %xmm0\nandnps %xmm1, %xmm0", 4.0),
        ("cvtsd2ss %xmm0, %xmm0", 3.0),
        ("roundsd $1, %xmm0, %xmm0", 3.0),
        ("pinsrd $1, %eax, %xmm0\npinsrd $2, %eax, %xmm0", 2.0),
    ] {
        assert_eq!(chain("zen4", body), cycles, "{body}");
    }
}

#[test]
fn the_best_case_of_the_first_level_cache_counts() {
    let next = "1: mov (%rdi), %rdi\ntest %rdi, %rdi\njne 1b\nret";
    for cpu in ["zen4", "skylake"] {
        assert_eq!(only_loop(cpu, next).0.chain.cycles, 4.0, "{cpu}");
    }
    // What was stored there may be known before the address is: measured, 1 cycle.
    let renamed = next.replace("1: ", "1: mov %rdi, (%rdi)\n");
    assert_eq!(only_loop("zen4", &renamed).0.cycles(), 1.0);
    assert_eq!(path("zen4", "push %rbx\npop %rbx\nret").chain.cycles, 0.0);
    assert_eq!(path("zen4", "mov %rdi, -8(%rsp)\nmov -8(%rsp), %rax\nret").chain.cycles, 0.0);
}

#[test]
fn a_sum_takes_a_product_late_and_halves_of_an_address_are_one() {
    let chain = |cpu: &str, body: &str| {
        only_loop(cpu, &format!("1: {body}\nsubs x2, x2, #1\nb.ne 1b\nret")).0.chain.cycles
    };
    for (cpu, to_sum, to_factor) in
        [("cortex-a72", 7.0, 11.0), ("neoverse-n1", 5.0, 7.0), ("neoverse-v1", 5.0, 7.0)]
    {
        let sum = "fmul v0.4s, v0.4s, v1.4s\nfmla v0.4s, v2.4s, v3.4s";
        assert_eq!(chain(cpu, sum), to_sum, "{cpu}");
        let factor = "fmul v0.4s, v0.4s, v1.4s\nmov v4.16b, v2.16b\nfmla v4.4s, v0.4s, v3.4s\nfmul v0.4s, v4.4s, v1.4s";
        assert!(chain(cpu, factor) > to_factor, "{cpu}");
        // Counts of bits, added up in pairs.
        assert_eq!(chain(cpu, "cnt v1.16b, v2.16b\nuadalp v0.8h, v1.16b"), 1.0, "{cpu}");
        let address = |second: &str| path(cpu, &format!("adrp x0, f\n{second}\nret")).chain.cycles;
        assert_eq!(address("add x0, x0, #16"), 1.0, "{cpu}");
        assert_eq!(address("add x1, x0, #16"), 2.0, "{cpu}");
    }
}

#[test]
fn what_a_callee_returns_waits_for_the_callee() {
    let body = |call: &str| format!("imul %rsi, %rax\nimul %rsi, %rax\n{call}imul %rsi, %rax\nret");
    assert_eq!(path("zen4", &body("")).chain.cycles, 9.0);
    assert_eq!(path("zen4", &body("call g\n")).chain.cycles, 6.0);
    // What it has to keep goes on.
    let kept = body("call g\n").replace("%rax", "%rbx");
    assert_eq!(path("zen4", &kept).chain.cycles, 9.0);
}

#[test]
fn what_has_no_row_is_named_and_only_enters() {
    let (with, without) = ("imul %rsi, %rax\ncpuid\nret", "imul %rsi, %rax\nret");
    let (found, bare) = (path("skylake", with), path("skylake", without));
    assert_eq!((found.unknown, bare.unknown), (vec![1], Vec::new()));
    assert_eq!(found.front_end.micro_ops, bare.front_end.micro_ops + 1);
    assert_eq!((found.ports, found.chain.cycles), (bare.ports, 3.0));
}

fn mca(options: &[&str], text: &str) -> String {
    let mut command = Command::new("llvm-mca-19");
    let ran = measure::tool::run(command.args(options), text.as_bytes(), Duration::from_secs(60));
    ran.and_then(measure::tool::Ran::ok).unwrap_or_else(|error| panic!("{error}")).text()
}

#[test]
fn no_bound_is_above_llvm_mca() {
    const POOLS: [(&str, &str, &[&str]); 3] = [
        (
            "skylake",
            "--mtriple=x86_64",
            &[
                "add %A, %B",
                "imul %A, %B",
                "shr $3, %B",
                "sub %A, %B",
                "and %A, %B",
                "lea 8(%A), %B",
                "popcnt %A, %B",
                "bswap %B",
                "or %A, %B",
                "tzcnt %A, %B",
            ],
        ),
        (
            "neoverse-n1",
            "--mtriple=aarch64",
            &[
                "add xA, xB, xC",
                "mul xA, xB, xC",
                "lsl xA, xB, #3",
                "eor xA, xB, xC",
                "madd xA, xB, xC, xA",
                "clz xA, xB",
                "rbit xA, xB",
                "add xA, xB, xC, lsl #12",
                "fmul vA.4s, vB.4s, vC.4s",
                "add vA.4s, vB.4s, vC.4s",
            ],
        ),
        (
            "cortex-a72",
            "--mtriple=aarch64",
            &[
                "add xA, xB, xC",
                "lsl xA, xB, #3",
                "eor xA, xB, xC",
                "clz xA, xB",
                "smull xA, wB, wC",
                "add vA.4s, vB.4s, vC.4s",
                "eor vA.16b, vB.16b, vC.16b",
            ],
        ),
    ];
    const ITERATIONS: u32 = 200;
    let seed = 41;
    let mut random = Rng::with_seed(seed);
    for (cpu, triple, pool) in POOLS {
        for nth in 0..12 {
            let mut pick = || {
                const GENERAL: [&str; 5] = ["r8", "r9", "r10", "r11", "rsi"];
                let text = random.choice(pool).expect("it is not empty").to_string();
                let mut named = text;
                for letter in ['A', 'B', 'C'] {
                    let number = random.usize(0..5);
                    let name = if named.contains('%') {
                        GENERAL[number].to_owned()
                    } else {
                        number.to_string()
                    };
                    named = named.replace(letter, &name);
                }
                named
            };
            let body: Vec<String> = (0..12).map(|_| pick()).collect();
            let is_x86 = cpu == "skylake";
            let (count, back) =
                if is_x86 { ("dec %rdi", "jne") } else { ("subs x9, x9, #1", "b.ne") };
            let text = body.join("\n");
            let (found, _) = only_loop(cpu, &format!("1: {text}\n{count}\n{back} 1b\nret"));
            let options =
                [triple, &format!("--mcpu={cpu}"), "--json", &format!("--iterations={ITERATIONS}")];
            let said = mca(&options, &format!("{text}\n{count}\n{back} back\n"));
            let said: serde_json::Value = serde_json::from_str(&said).expect("it is JSON");
            let total = said["CodeRegions"][0]["SummaryView"]["TotalCycles"].as_f64();
            let theirs = total.expect("a total") / f64::from(ITERATIONS);
            assert!(
                found.cycles() <= theirs + 0.05 && found.unknown.is_empty(),
                "seed {seed}, {cpu} {nth}: {} above {theirs} of\n{text}",
                found.cycles()
            );
        }
    }
}
