//! The assembly back end: published vectors, random programs against the interpreter, the same text
//! for the same budget, and what it leaves to the C compiler.

use crate::support;

use cipher::asm;
use cipher::cases::{self, Fields};
use cipher::emit_c::Arch;
use cipher::native::{self, Cc};
use cipher::options::{Emit, Interleave, Schedule, Slicing, Unroll};
use cipher::recipe::{Made, Recipe};
use cipher::suite::{self, Filter, Outcome};
use cipher::unit::Subject;
use cipher::validate::{self, Verdict};
use fastrand::Rng;

/// The starting orders without a search.
const NONE: u32 = 0;
const LITTLE: u32 = 1;

fn recipe(slicing: Slicing, arch: Arch, unroll: Unroll, budget: u32) -> Recipe {
    Recipe {
        emit: Emit::Asm,
        budget: Some(budget),
        ..Recipe::new(slicing, arch, Cc::Gcc, unroll, "-O1")
    }
}

fn made(name: &str, recipe: &Recipe) -> Made {
    recipe.make(&Subject::named(name).expect("it is bundled")).expect("bundled programs compile")
}

#[test]
fn assembled_primitives_give_their_published_vectors() {
    let some = [
        ("aes-128", Slicing::Bit, Arch::Avx2),
        ("aes-128-decrypt", Slicing::Horizontal, Arch::Avx512),
        ("ascon-p12", Slicing::Vertical, Arch::X86_64),
        ("chacha20", Slicing::Vertical, Arch::Avx2),
        ("gift-128", Slicing::Bit, Arch::Avx512),
        ("rectangle-80", Slicing::Vertical, Arch::X86_64),
        ("rectangle-80", Slicing::Horizontal, Arch::Avx2),
        ("serpent-128", Slicing::Vertical, Arch::Avx512),
    ];
    for (name, slicing, arch) in some {
        let filter = Filter {
            names: vec![name.into()],
            slicing: Some(slicing),
            arch: Some(arch),
            cc: Some(Cc::Gcc),
            unroll: Some(Unroll::No),
            emit: Emit::Asm,
            ..Filter::default()
        };
        let rows = suite::covering(&filter);
        assert!(!rows.is_empty(), "{name} {} {}", slicing.letter(), arch.name());
        for row in rows {
            let outcome = suite::test(&row).expect("compiler and program run");
            assert!(
                matches!(outcome, Outcome::Passed | Outcome::Skipped(_)),
                "{row:?}: {outcome:?}"
            );
        }
    }
}

#[test]
fn random_programs_agree_with_the_interpreter() {
    let mut n_assembled = 0;
    for seed in 0..9u64 {
        let text = support::generator::program(seed).text;
        let subject = Subject::text("random.ua", &text, None)
            .unwrap_or_else(|errors| panic!("seed {seed}: {}\n{text}", errors[0]));
        for slicing in subject.slicings(None) {
            let archs: Vec<Arch> = [Arch::X86_64, Arch::Avx2, Arch::Avx512]
                .into_iter()
                .filter(|found| native::missing_feature(*found).is_none())
                .collect();
            let arch = archs[seed as usize % archs.len()];
            let mut recipe = recipe(
                slicing,
                arch,
                [Unroll::No, Unroll::Auto][seed as usize / 3 % 2],
                if seed % 2 == 0 { NONE } else { LITTLE },
            );
            let word = if slicing == Slicing::Bit { Some(1) } else { Some(16) };
            recipe.word = word;
            let made = recipe.make(&subject).unwrap_or_else(|errors| {
                panic!("seed {seed} {}: {}\n{text}", slicing.letter(), errors[0])
            });
            if made.refused.is_some() {
                continue;
            }
            n_assembled += 1;
            agrees(&subject, &recipe, &made, word, seed);
        }
    }
    assert!(n_assembled >= 9, "{n_assembled} programs have assembly");
}

fn agrees(subject: &Subject, recipe: &Recipe, made: &Made, word: Option<u32>, seed: u64) {
    let program = recipe.build(made).unwrap_or_else(|error| panic!("seed {seed}: {}", error.said));
    let (inputs, _) =
        cipher::interp::interface(&subject.ast, &subject.entry, word).expect("the sizes are given");
    let mut rng = Rng::with_seed(seed);
    let mut line = |port: &cipher::interp::Port| {
        let words: Vec<String> =
            (0..port.n).map(|_| format!("{:x}", rng.u64(..) >> (64 - port.m))).collect();
        (port.name.to_string(), if port.m == 1 { words.concat() } else { words.join(",") })
    };
    let fields: Vec<Fields> = (0..5).map(|_| inputs.iter().map(&mut line).collect()).collect();
    let case = |fields: &Fields| {
        cases::case_bytes(subject, &made.unit, word, fields).expect("the fields fit")
    };
    let cases: Vec<Vec<u8>> = fields.iter().map(case).collect();
    let outputs = native::run_cases(&program, recipe.arch, &cases, made.unit.output_bytes())
        .expect("the program runs");
    for (fields, output) in fields.iter().zip(outputs) {
        let expected =
            cases::interpret_line(subject, word, fields).expect("the interpreter takes the fields");
        assert_eq!(
            cases::output_line(subject, word, &output),
            expected,
            "seed {seed} {} {fields:?}",
            recipe.arch.name()
        );
    }
}

#[test]
fn the_byte_interface_gives_the_bytes_of_that_in_c() {
    if native::missing_feature(Arch::Avx2).is_some() {
        return;
    }
    // Two batches at once, and one for the rest of a message.
    let subject = Subject::named("serpent-128").expect("it is bundled");
    let mut rng = Rng::with_seed(20_261_125);
    let (keys, n) = ((0..16).map(|_| rng.u8(..)).collect::<Vec<u8>>(), 41);
    let blocks: Vec<u8> = (0..16 * n).map(|_| rng.u8(..)).collect();
    let outputs = [Emit::C, Emit::Asm].map(|emit| {
        let mut recipe = Recipe { emit, ..recipe(Slicing::Vertical, Arch::Avx2, Unroll::No, NONE) };
        recipe.interleave = Interleave::Times(2);
        let made = recipe.make(&subject).expect("it compiles");
        assert_eq!(made.unit.assembled.len(), if emit == Emit::C { 0 } else { 2 });
        let program = recipe.build(&made).expect("it builds");
        native::run_blocks(&program, recipe.arch, n, &keys, &blocks).expect("it runs")
    });
    assert_eq!(outputs[0].len(), 16 * n);
    assert_eq!(outputs[0], outputs[1]);
}

/// Two batches of ChaCha20 have twice the words that AVX2 has registers for: one after the other
/// they spill what each spills alone, in turns several times that, but far less than statement by
/// statement, where nearly every step spills.
#[test]
fn batches_take_turns_in_registers_that_hold_one_of_them() {
    for (name, arch) in [("chacha20", Arch::Avx2), ("pyjamask-128", Arch::X86_64)] {
        let stores = |n: u32| {
            let mut recipe = recipe(Slicing::Vertical, arch, Unroll::Auto, NONE);
            recipe.schedule = Schedule::Auto;
            recipe.interleave = Interleave::Times(n);
            let made = made(name, &recipe);
            let steps: usize = made.blocks.iter().map(|block| block.0).sum();
            // In a thousand steps.
            made.blocks.iter().map(|block| block.1.stores).sum::<u32>() as usize * 1000 / steps
        };
        assert!(
            stores(2) > 2 * stores(1) && stores(2) < 250,
            "{name}: {} {}",
            stores(2),
            stores(1)
        );
    }
}

/// The measured speedup of assembly over C, from the tables of docs/explain/cipher-backend.md. The
/// C of bitsliced programs on vectors is in the depth order.
const MEASURED: [(&str, Slicing, Arch, f64); 29] = [
    ("aes-128", Slicing::Bit, Arch::X86_64, 1.15),
    ("gift-128", Slicing::Bit, Arch::X86_64, 1.57),
    ("skinny-128-128", Slicing::Bit, Arch::X86_64, 1.38),
    ("rectangle-80", Slicing::Bit, Arch::X86_64, 0.92),
    ("aes-128", Slicing::Bit, Arch::Avx2, 1.24),
    ("gift-128", Slicing::Bit, Arch::Avx2, 1.27),
    ("photon-256", Slicing::Bit, Arch::Avx2, 1.47),
    ("skinny-128-128", Slicing::Bit, Arch::Avx2, 1.18),
    ("clyde-128", Slicing::Bit, Arch::Avx2, 1.32),
    ("present-80", Slicing::Bit, Arch::Avx2, 1.02),
    ("rectangle-80", Slicing::Bit, Arch::Avx2, 0.97),
    ("aes-128", Slicing::Bit, Arch::Avx512, 1.09),
    ("gift-128", Slicing::Bit, Arch::Avx512, 1.16),
    ("rectangle-80", Slicing::Bit, Arch::Avx512, 0.96),
    ("skinny-128-128", Slicing::Bit, Arch::Avx512, 1.11),
    ("chacha20", Slicing::Vertical, Arch::X86_64, 0.98),
    ("chacha20", Slicing::Vertical, Arch::Avx2, 1.01),
    ("chacha20", Slicing::Vertical, Arch::Avx512, 0.87),
    ("ascon-p12", Slicing::Vertical, Arch::X86_64, 0.98),
    ("ascon-p12", Slicing::Vertical, Arch::Avx2, 0.97),
    ("ascon-p12", Slicing::Vertical, Arch::Avx512, 0.98),
    ("rectangle-80", Slicing::Vertical, Arch::Avx2, 0.95),
    ("serpent-128", Slicing::Vertical, Arch::Avx2, 0.93),
    ("des", Slicing::Bit, Arch::X86_64, 2.22),
    ("des", Slicing::Bit, Arch::Avx2, 1.50),
    ("des", Slicing::Bit, Arch::Avx512, 0.94),
    ("ascon-p12", Slicing::Bit, Arch::Avx512, 0.97),
    ("gimli", Slicing::Bit, Arch::Avx512, 1.26),
    ("xoodoo-12", Slicing::Bit, Arch::Avx512, 1.19),
];

#[test]
fn auto_takes_assembly_where_it_was_measured_to_be_faster_and_c_where_it_was_not() {
    let (mut promised, mut kept) = (0.0, 0.0);
    let mut wrong: Vec<(&str, &str, &str)> = Vec::new();
    for (name, slicing, arch, faster) in MEASURED {
        let mut recipe = Recipe { emit: Emit::Auto, ..recipe(slicing, arch, Unroll::Auto, NONE) };
        recipe.schedule = Schedule::Auto;
        let subject = Subject::named(name).expect("it is bundled");
        let (promise, _) = recipe.promise(&subject).expect("bundled programs compile");
        if promise.is_none() != (faster < 1.05) {
            wrong.push((name, slicing.letter(), arch.name()));
        }
        if let Some(promise) = promise {
            promised += promise.ln();
            kept += f64::ln(faster);
        }
        // `make` does as it is promised; one of each is enough.
        if (name, slicing, arch) == ("aes-128", Slicing::Bit, Arch::X86_64) || name == "serpent-128"
        {
            let made = recipe.make(&subject).expect("bundled programs compile");
            let reason = made.back_reason.as_deref().expect("it says why");
            assert!(
                made.assembly.is_empty() == promise.is_none()
                    && reason.starts_with("C: ") == promise.is_none(),
                "{reason}"
            );
        }
    }
    // A better order for latency is not a reason for assembly, as C can have it too.
    let unscheduled =
        Recipe { emit: Emit::Auto, ..recipe(Slicing::Vertical, Arch::Avx2, Unroll::Auto, NONE) };
    let reason = made("rectangle-80", &unscheduled).back_reason.expect("it says why");
    assert!(reason.contains("C: the text spills 0.00 values"), "{reason}");
    // A tie.
    assert_eq!(wrong, [("ascon-p12", "b", "avx512")]);
    assert!((kept / promised - cipher::tune::PROMISE_KEPT).abs() < 0.02, "{:.3}", kept / promised);
}

#[test]
fn auto_is_c_where_there_is_no_assembly() {
    for arch in [Arch::Sse, Arch::Neon] {
        let made = made(
            "present-80",
            &Recipe { emit: Emit::Auto, ..recipe(Slicing::Bit, arch, Unroll::Auto, NONE) },
        );
        assert!(made.assembly.is_empty() && made.refused.is_none());
        assert_eq!(made.back_reason, Some(format!("C: there is no assembly for {}", arch.name())));
    }
}

#[test]
fn the_same_budget_gives_the_same_text() {
    let recipe = recipe(Slicing::Bit, Arch::Avx2, Unroll::No, LITTLE);
    assert_eq!(made("rectangle-80", &recipe).assembly, made("rectangle-80", &recipe).assembly);
}

#[test]
fn the_order_keeps_more_of_a_bitsliced_round_in_registers_than_the_text_does() {
    let made = made("aes-128", &recipe(Slicing::Bit, Arch::Avx2, Unroll::Auto, LITTLE));
    let (n_steps, count) =
        made.blocks.iter().max_by_key(|block| block.0).expect("there is a round");
    // A round reads 128 words of the key and 128 of the state, and stores 128. The order of the
    // text adds some 2000 spills and reloads.
    assert_eq!(*n_steps, 2416);
    assert!(count.loads + count.stores + count.folded < 1400, "{count:?}");
}

#[test]
fn an_operation_without_an_instruction_is_left_to_the_c_compiler() {
    // One product of bytes, which vectors do not have.
    let text = "node f (a : u8, b : u8) returns (c : u8)\nlet\n    c = a * b\ntel\n";
    let subject = Subject::text("product.ua", text, None).expect("it is right");
    let made = recipe(Slicing::Vertical, Arch::Avx2, Unroll::Auto, LITTLE)
        .make(&subject)
        .expect("it compiles");
    assert!(
        made.refused.as_deref().is_some_and(|why| why.contains("words of this size")),
        "{:?}",
        made.refused
    );
    assert!(made.assembly.is_empty() && made.unit.assembled.is_empty());
    let other = recipe(Slicing::Vertical, Arch::X86_64, Unroll::Auto, LITTLE)
        .make(&subject)
        .expect("it compiles");
    assert_eq!(other.refused, None);
}

/// The assembled functions, proved from their machine code; all primitives, slicings and targets
/// when MEANWHILE_LONG is set.
#[test]
fn assembly_is_proved_to_compute_what_the_program_says() {
    let is_long = std::env::var_os("MEANWHILE_LONG").is_some();
    let some = [
        ("aes-128", Slicing::Bit, Arch::Avx2, 1),
        ("aes-128", Slicing::Horizontal, Arch::Avx512, 1),
        ("ascon-p12", Slicing::Bit, Arch::X86_64, 1),
        ("chacha20", Slicing::Vertical, Arch::X86_64, 1),
        ("gift-128", Slicing::Bit, Arch::Avx512, 1),
        ("photon-256", Slicing::Bit, Arch::Avx2, 1),
        ("present-80", Slicing::Bit, Arch::X86_64, 1),
        ("rectangle-80", Slicing::Horizontal, Arch::Avx2, 1),
        ("serpent-128", Slicing::Vertical, Arch::Avx512, 1),
        ("skinny-128-128", Slicing::Bit, Arch::Avx2, 1),
        ("chacha20", Slicing::Vertical, Arch::Avx2, 2),
        ("pyjamask-128", Slicing::Vertical, Arch::X86_64, 3),
    ];
    let mut n_proved = 0;
    let mut prove = |name: &str, slicing: Slicing, arch: Arch, n_batches: u32| {
        let mut recipe = recipe(slicing, arch, Unroll::Auto, if is_long { LITTLE } else { NONE });
        recipe.interleave = Interleave::Times(n_batches);
        let Ok(made) = recipe.make(&Subject::named(name).expect("it is bundled")) else { return };
        if made.assembly.is_empty() {
            return;
        }
        let object = recipe.object(&made).expect("it assembles");
        for expected in validate::all(&made, arch, 1) {
            let report = expected.check(&object).expect("the object has it");
            assert_eq!(
                report.verdict,
                Verdict::Proved,
                "{name} {} {} {n_batches}: {report:?}",
                slicing.letter(),
                arch.name()
            );
            n_proved += 1;
        }
    };
    if is_long {
        for primitive in cipher::library::primitives() {
            for slicing in [Slicing::Bit, Slicing::Vertical, Slicing::Horizontal] {
                for (arch, n) in asm::archs()
                    .flat_map(|arch| [(arch, 1), (arch, 2)])
                    .filter(|pair| pair.1 == 1 || slicing != Slicing::Bit)
                {
                    prove(&primitive.name, slicing, arch, n);
                }
            }
        }
    } else {
        some.into_iter().for_each(|(name, slicing, arch, n)| prove(name, slicing, arch, n));
    }
    assert!(n_proved > some.len(), "only {n_proved} functions were proved");
}

/// Functions that the sliced interface does not call: the one for a single batch, and Ascon's
/// permutation of 8 rounds.
#[test]
fn all_functions_in_assembly_are_proved_and_a_changed_one_is_refused() {
    for (name, mode, functions) in [
        ("serpent-128", None, &["serpent128_keys__", "serpent128__", "serpent128_one__"][..]),
        (
            "ascon-p12",
            Some("aead"),
            &["ascon_p12_aead__", "ascon_p12_aead_one__", "ascon_p12_aead_short__"],
        ),
    ] {
        let mut recipe = recipe(Slicing::Vertical, Arch::Avx2, Unroll::No, NONE);
        recipe.interleave = Interleave::Times(2);
        recipe.mode = mode.map(str::to_string);
        let made = made(name, &recipe);
        let all = validate::all(&made, recipe.arch, 1);
        assert_eq!(all.iter().map(validate::Expected::function).collect::<Vec<_>>(), functions);
        let verdicts = |assembly: &str| -> Vec<Verdict> {
            let object = native::object(
                &recipe.sliced_source(&made),
                assembly,
                recipe.arch,
                recipe.cc,
                recipe.opt,
            )
            .expect("it assembles");
            all.iter()
                .map(|found| found.clone().check(&object).expect("it has them").verdict)
                .collect()
        };
        assert!(
            verdicts(&made.assembly).iter().all(|verdict| *verdict == Verdict::Proved),
            "{name}"
        );
        // The last function of the file, and nothing else.
        let last = made.assembly.rfind("vpxor").expect("there is one");
        let changed = format!("{}vpand{}", &made.assembly[..last], &made.assembly[last + 5..]);
        let found = verdicts(&changed);
        let (end, others) = found.split_last().expect("there are some");
        assert!(
            *end == Verdict::Different && others.iter().all(|other| *other == Verdict::Proved),
            "{name}: {found:?}"
        );
    }
}

/// A changed instruction of the text is found, and the wrong word is named.
#[test]
fn a_changed_instruction_of_the_assembly_is_refused() {
    let recipe = recipe(Slicing::Bit, Arch::Avx2, Unroll::Auto, NONE);
    let made = made("present-80", &recipe);
    let mut n_tried = 0;
    for (from, to) in [
        ("vpxor", "vpor"),
        ("vpxor", "vpand"),
        ("vpand ", "vpxor "),
        ("ymm3, ", "ymm4, "),
        ("ymm15, ", "ymm14, "),
    ] {
        for at in
            made.assembly.match_indices(from).map(|match_indice| match_indice.0).step_by(9).take(3)
        {
            let mut assembly = made.assembly.clone();
            assembly.replace_range(at..at + from.len(), to);
            let source = recipe.sliced_source(&made);
            let object = native::object(&source, &assembly, recipe.arch, recipe.cc, recipe.opt)
                .expect("it assembles");
            let blocks = |it: Vec<validate::Expected>| {
                it.into_iter()
                    .last()
                    .expect("there are blocks")
                    .check(&object)
                    .expect("it has them")
            };
            let proved = blocks(validate::functions(&made, recipe.arch, 1));
            // A change without effect must be proved; one random input tells the two apart.
            let is_same =
                blocks(validate::examples(&made, recipe.arch, 7)).verdict == Verdict::Proved;
            assert_eq!(proved.verdict == Verdict::Proved, is_same, "{from} at {at}: {proved:?}");
            assert!(
                is_same || proved.verdict != Verdict::Different || proved.difference.is_some(),
                "{proved:?}"
            );
            n_tried += usize::from(!is_same);
        }
    }
    assert!(n_tried >= 8, "only {n_tried} changes had an effect");
}

/// Cases that must not be proved: rotations by more than the width, memory that other code may
/// change, addresses that fault.
#[test]
fn code_that_a_processor_runs_differently_is_not_proved() {
    let verdict = |name: &str, slicing: Slicing, arch: Arch, edit: &dyn Fn(&str) -> String| {
        let recipe = recipe(slicing, arch, Unroll::Auto, NONE);
        let made = made(name, &recipe);
        let assembly = edit(&made.assembly);
        assert_ne!(assembly, made.assembly, "the text has what is changed");
        let object =
            native::object(&recipe.sliced_source(&made), &assembly, arch, recipe.cc, recipe.opt)
                .expect("it assembles");
        validate::functions(&made, arch, 1)
            .last()
            .expect("there are blocks")
            .check(&object)
            .expect("it has them")
            .verdict
    };
    let chacha = |by: u32| {
        verdict("chacha20", Slicing::Vertical, Arch::Avx512, &|it| {
            it.replacen(", 16\n", &format!(", {by}\n"), 1)
        })
    };
    assert_eq!([chacha(48), chacha(80)], [Verdict::Proved; 2]);
    assert_eq!(chacha(81), Verdict::Different);
    let begin = |text: &str, lines: &str| {
        let at = text.find("_kernel:\n").expect("a label") + "_kernel:\n".len();
        format!("{}{lines}{}", &text[..at], &text[at..])
    };
    let rectangle = |lines: &str, more: &str| {
        verdict("rectangle-80", Slicing::Vertical, Arch::Avx2, &|it| begin(it, lines) + more)
    };
    assert_eq!(rectangle("\tmov [rsp - 64], rdi\n\tmov rdi, [rsp - 64]\n", ""), Verdict::Proved);
    assert_eq!(
        rectangle("\tmov [rsp - 4096], rdi\n\tmov rdi, [rsp - 4096]\n", ""),
        Verdict::Different
    );
    assert_eq!(
        rectangle("\tinc dword ptr n_calls[rip]\n", "\t.bss\nn_calls: .long 0\n"),
        Verdict::Different
    );
    let misaligned =
        |text: &str| text.replace("and rsp, -64", "sub rsp, 1").replace("vmovdqu", "vmovdqa");
    assert_eq!(verdict("aes-128", Slicing::Bit, Arch::Avx2, &misaligned), Verdict::Different);
}
