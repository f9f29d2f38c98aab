//! The emitted C against the interpreter: bundled primitives on random inputs and random programs,
//! in every slicing, with both schedulers. Needs a C compiler; without one it is skipped visibly.

use crate::support;

use cipher::cases::{self, Fields};
use cipher::emit_c::Arch;
use cipher::library::primitives;
use cipher::native::{self, Cc};
use cipher::options::{Interleave, Schedule, Slicing, Unroll};
use cipher::passes::inline::Inline;
use cipher::pipeline::UNASKED_MAX;
use cipher::recipe::Recipe;
use cipher::unit::Subject;
use fastrand::Rng;

fn compilers() -> Vec<Cc> {
    let found: Vec<Cc> = Cc::ALL.into_iter().filter(|cc| cc.version().is_ok()).collect();
    if found.len() < Cc::ALL.len() {
        testkit::skipped("cipher emitted C: gcc or clang-19 is missing");
    }
    found
}

fn hex(rng: &mut Rng, n_bytes: usize) -> String {
    (0..n_bytes).map(|_| format!("{:02x}", rng.u8(..))).collect()
}

/// Random fields of the right length for a primitive; bits beyond the string's end are zero.
fn random_fields(rng: &mut Rng, subject: &Subject, unit: &cipher::emit_c::Unit) -> Fields {
    let mut fields = Fields::new();
    for field in &unit.fields {
        let mut text = hex(rng, field.layout.n_bytes);
        if subject.name().starts_with("subterranean") && field.name == "input" {
            text.replace_range(64.., if rng.bool() { "01" } else { "00" });
        }
        if field.layout.pad10 {
            text.truncate(2 * rng.usize(..field.layout.n_bytes));
        }
        fields.insert(field.name.clone(), text);
    }
    fields
}

#[test]
fn primitives_agree_with_the_interpreter_on_random_inputs() {
    let compilers = compilers();
    if compilers.is_empty() {
        return;
    }
    let seed = 20_261_120;
    let mut rng = Rng::with_seed(seed);
    for (n, primitive) in primitives().iter().enumerate() {
        let subject =
            Subject::bundled(&primitive.name).expect("it is bundled").expect("it is right");
        let slicings = subject.slicings(None);
        let slicing = slicings[n % slicings.len()];
        let mut recipe =
            Recipe::new(slicing, Arch::X86_64, compilers[n % compilers.len()], Unroll::No, "-O1");
        recipe.schedule = Schedule::Auto;
        recipe.interleave =
            Interleave::Times(if slicing == Slicing::Bit { 1 } else { 1 + n as u32 / 2 % 4 });
        let made = recipe.make(&subject).expect("bundled programs compile");
        let program = recipe.build(&made).expect("the C compiler takes the text");
        let fields: Vec<Fields> =
            (0..5).map(|_| random_fields(&mut rng, &subject, &made.unit)).collect();
        let cases: Vec<Vec<u8>> = fields
            .iter()
            .map(|f| cases::case_bytes(&subject, &made.unit, None, f).expect("the fields fit"))
            .collect();
        let outputs = native::run_cases(&program, recipe.arch, &cases, made.unit.output_bytes())
            .expect("the program runs");
        for (fields, output) in fields.iter().zip(outputs) {
            let expected = cases::interpret_line(&subject, None, fields)
                .expect("the interpreter takes the fields");
            let got = cases::output_line(&subject, None, &output);
            assert_eq!(
                got,
                expected,
                "{} {} seed {seed} {fields:?}",
                primitive.name,
                slicing.letter()
            );
        }
    }
}

#[test]
fn random_programs_agree_with_the_interpreter() {
    let compilers = compilers();
    if compilers.is_empty() {
        return;
    }
    for seed in 0..10u64 {
        let text = support::generator::program(seed).text;
        let subject = Subject::text("random.ua", &text, None)
            .unwrap_or_else(|errors| panic!("seed {seed}: {}\n{text}", errors[0]));
        let mut rng = Rng::with_seed(seed);
        for slicing in subject.slicings(None) {
            let word = if slicing == Slicing::Bit { Some(1) } else { Some(16) };
            let arch = [Arch::X86_64, Arch::Sse][seed as usize % 2];
            let mut recipe = Recipe::new(
                slicing,
                arch,
                compilers[seed as usize % compilers.len()],
                Unroll::No,
                "-O1",
            );
            recipe.word = word;
            recipe.interleave = Interleave::Times(1 + seed as u32 % 3);
            recipe.inline = [Inline::Auto, Inline::None, Inline::All][seed as usize % 3];
            recipe.schedule =
                if slicing == Slicing::Bit { Schedule::Bitslice } else { Schedule::Mslice };
            let made = recipe.make(&subject).unwrap_or_else(|errors| {
                panic!("seed {seed} {}: {}\n{text}", slicing.letter(), errors[0])
            });
            let program = recipe.build(&made).unwrap_or_else(|error| {
                panic!("seed {seed} {}: {}\n{text}", slicing.letter(), error.said)
            });
            let (inputs, _) = cipher::interp::interface(&subject.ast, &subject.entry, word)
                .expect("the sizes are given");
            let value = |rng: &mut Rng, m: u32| rng.u64(..) >> (64 - m);
            let mut line = |port: &cipher::interp::Port| {
                let words: Vec<u64> = (0..port.n).map(|_| value(&mut rng, port.m)).collect();
                let shown: Vec<String> = words.iter().map(|w| format!("{w:x}")).collect();
                (port.name.to_string(), if port.m == 1 { shown.concat() } else { shown.join(",") })
            };
            let fields: Vec<Fields> =
                (0..5).map(|_| inputs.iter().map(&mut line).collect()).collect();
            let cases: Vec<Vec<u8>> = fields
                .iter()
                .map(|f| cases::case_bytes(&subject, &made.unit, word, f).expect("the fields fit"))
                .collect();
            let outputs = native::run_cases(&program, arch, &cases, made.unit.output_bytes())
                .expect("the program runs");
            for (fields, output) in fields.iter().zip(outputs) {
                let expected = cases::interpret_line(&subject, word, fields)
                    .expect("the interpreter takes the fields");
                assert_eq!(
                    cases::output_line(&subject, word, &output),
                    expected,
                    "seed {seed} {} {fields:?}\n{text}",
                    slicing.letter()
                );
            }
        }
    }
}

#[test]
fn the_default_slicing_is_short_enough_for_c_compilers() {
    for primitive in primitives() {
        let subject =
            Subject::bundled(&primitive.name).expect("it is bundled").expect("it is right");
        let slicing = subject.slicing(None).expect("it has one");
        let mut recipe = Recipe::new(slicing, Arch::X86_64, Cc::Gcc, Unroll::Auto, "-O3");
        recipe.schedule = Schedule::Auto;
        let made = recipe.make(&subject).expect("bundled programs compile");
        let (equations, bytes) = (made.n_equations(), recipe.source(&made, false, false).len());
        assert!(
            equations <= UNASKED_MAX && bytes <= 400_000,
            "{}: {equations} equations, {bytes} bytes of C",
            primitive.name
        );
        // Bitsliced, these are long: more than a compiler takes in 20 s.
        let is_long = ["ace", "serpent-128", "serpent-128-decrypt"]
            .contains(&primitive.name.as_str())
            || !subject.slicings(None).contains(&Slicing::Bit);
        assert_eq!(
            slicing,
            if is_long { Slicing::Vertical } else { Slicing::Bit },
            "{}",
            primitive.name
        );
    }
    // Its columns are a loop: sums of 32 bits are long, and 36 s of clang when written out four
    // times.
    let subject = Subject::bundled("chacha20").expect("it is bundled").expect("it is right");
    let equations = |unroll| {
        Recipe::new(Slicing::Bit, Arch::X86_64, Cc::Gcc, unroll, "-O3")
            .make(&subject)
            .expect("it compiles")
            .n_equations()
    };
    assert_eq!(equations(Unroll::Auto), equations(Unroll::No));
}

#[test]
fn rectangle_with_rows_moved_by_permutations_of_their_parts_is_rectangle_in_every_slicing() {
    let compilers = compilers();
    if compilers.is_empty() {
        return;
    }
    let primitive = primitives()
        .iter()
        .find(|primitive| primitive.name == "rectangle-80")
        .expect("it is bundled");
    // Row 2 moves by three of its four parts of four bits, the others by single bits.
    let turned =
        |n: u32| (0..16).map(|i| ((i + n) % 16 + 1).to_string()).collect::<Vec<_>>().join(", ");
    let perms = format!(
        "perm by1 (x : u16) returns (y : u16) {{ {} }}\nperm by12 (x : u16) returns (y : u16) {{ 4, 1, 2, 3 }}\nperm by13 (x : u16) returns (y : u16) {{ {} }}\n\nnode shift_rows",
        turned(1),
        turned(13)
    );
    let mut text = primitive.text().replace("node shift_rows", &perms);
    for n in [1, 12, 13] {
        let moved = format!("x[{}] <<< {n}", if n == 1 { 1 } else { n - 10 });
        assert!(text.contains(&moved));
        text =
            text.replace(&moved, &format!("by{n}({})", moved.split(' ').next().expect("a word")));
    }
    let subject = Subject::text("rectangle.ua", &text, Some("rectangle"))
        .unwrap_or_else(|errors| panic!("{}\n{text}", errors[0]));
    let plain =
        Subject::text("plain.ua", primitive.text(), Some("rectangle")).expect("it is right");
    assert_eq!(subject.slicings(None).len(), 3);
    let seed = 20_261_124;
    let mut rng = Rng::with_seed(seed);
    let mut words =
        |n: usize| (0..n).map(|_| format!("{:x}", rng.u16(..))).collect::<Vec<_>>().join(",");
    let fields: Vec<Fields> = (0..5)
        .map(|_| [("plain".to_string(), words(4)), ("key".into(), words(104))].into())
        .collect();
    for (slicing, arch) in [
        (Slicing::Bit, Arch::X86_64),
        (Slicing::Vertical, Arch::X86_64),
        (Slicing::Vertical, Arch::Sse),
        (Slicing::Horizontal, Arch::Sse),
    ] {
        let recipe = Recipe::new(slicing, arch, compilers[0], Unroll::No, "-O1");
        let made = recipe.make(&subject).expect("it compiles");
        let program = recipe.build(&made).expect("the C compiler takes the text");
        let case = |fields: &Fields| {
            cases::case_bytes(&subject, &made.unit, None, fields).expect("the fields fit")
        };
        let outputs = native::run_cases(
            &program,
            arch,
            &fields.iter().map(case).collect::<Vec<_>>(),
            made.unit.output_bytes(),
        )
        .expect("it runs");
        for (fields, output) in fields.iter().zip(outputs) {
            let expected = cases::interpret_line(&plain, None, fields)
                .expect("the interpreter takes the fields");
            assert_eq!(
                cases::output_line(&subject, None, &output),
                expected,
                "{} {} seed {seed}",
                slicing.letter(),
                arch.name()
            );
        }
    }
}
