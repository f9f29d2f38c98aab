//! Bytes through emitted C: every network against the plain loop that it replaces, for every
//! primitive, slicing and target; and the byte interface on any number of blocks, in place and
//! unaligned, against one block at a time.

use std::collections::BTreeMap;

use cipher::emit_c::{Arch, Field, Shape, moves_check, shape};
use cipher::library::primitives;
use cipher::native::{self, Cc};
use cipher::options::{Interleave, Slicing, Unroll};
use cipher::recipe::Recipe;
use cipher::run_text::{interpret, to_hex};
use cipher::unit::{Subject, c_prefix};
use fastrand::Rng;

/// Adds a line to the list of skips.
fn skipped(what: &str) {
    testkit::skipped(&format!("cipher byte interface: {what}"));
}

fn can_run(arch: Arch) -> bool {
    if let Some(feature) = native::missing_feature(arch) {
        skipped(&format!("{}: the processor lacks {feature}", arch.name()));
        return false;
    }
    let tools: &[&str] =
        if arch == Arch::Neon { &["aarch64-linux-gnu-gcc", "qemu-aarch64"] } else { &["gcc"] };
    let missing = tools.iter().find(|tool| measure::tool::find(tool).is_none());
    if let Some(tool) = missing {
        skipped(&format!("{}: {tool} is missing", arch.name()));
    }
    missing.is_none()
}

fn compilers(arch: Arch) -> Vec<Cc> {
    if arch == Arch::Neon {
        vec![Cc::Gcc]
    } else {
        Cc::ALL.into_iter().filter(|cc| cc.version().is_ok()).collect()
    }
}

#[test]
fn networks_move_random_blocks_as_the_plain_loops_do() {
    let seed = 20_261_124;
    // The fields with each word size and slicing; the passes do not matter here.
    type Subjects = Vec<(String, Field, Field)>;
    let mut groups: BTreeMap<(&'static str, u32), Subjects> = BTreeMap::new();
    let mut shapes: BTreeMap<(&'static str, u32), (Slicing, u32)> = BTreeMap::new();
    for primitive in primitives() {
        let subject =
            Subject::bundled(&primitive.name).expect("it is bundled").expect("it is right");
        for slicing in subject.slicings(None) {
            let compiled =
                subject.compile(Recipe::unordered(slicing)).expect("bundled programs compile");
            let unit = subject.unit(&compiled, None);
            let input = unit
                .fields
                .iter()
                .find(|f| f.name == "input")
                .expect("every primitive has an input")
                .clone();
            let key = (slicing.letter(), shape(&compiled, Arch::X86_64).word_bits);
            groups.entry(key).or_default().push((
                c_prefix(&primitive.name),
                input,
                unit.outputs[0].clone(),
            ));
            shapes.insert(key, (slicing, key.1));
        }
    }
    assert!(groups.len() >= 8, "all three slicings and several words: {:?}", groups.keys());
    for arch in Arch::ALL.into_iter().filter(|arch| can_run(*arch)) {
        for (k, (key, subjects)) in groups.iter().enumerate() {
            let (slicing, word_bits) = shapes[key];
            let text =
                moves_check(subjects, Shape { arch, slicing, word_bits, interleave: 1 }, seed)
                    .unwrap_or_else(|none| panic!("{key:?}: {none}"));
            let all = compilers(arch);
            let cc = all[k % all.len()];
            let program = native::build(&text, arch, cc, "-O1")
                .unwrap_or_else(|error| panic!("{key:?} {}: {}", arch.name(), error.said));
            let ran = native::run_check(&program, arch);
            assert!(ran.is_ok(), "{key:?} {} {} seed {seed}: {ran:?}", arch.name(), cc.name());
        }
    }
}

#[test]
fn any_number_of_blocks_in_place_and_unaligned_equals_one_at_a_time() {
    let seed = 20_261_125;
    let archs: Vec<Arch> = Arch::ALL.into_iter().filter(|arch| can_run(*arch)).collect();
    let mut rng = Rng::with_seed(seed);
    for (n, primitive) in primitives().iter().enumerate() {
        let subject =
            Subject::bundled(&primitive.name).expect("it is bundled").expect("it is right");
        let slicings = subject.slicings(None);
        let (slicing, arch) =
            (slicings[n % slicings.len()], archs[(n / slicings.len()) % archs.len()]);
        let all = compilers(arch);
        let mut recipe = Recipe::new(slicing, arch, all[n % all.len()], Unroll::No, "-O1");
        // Bitsliced batches are long already.
        recipe.interleave =
            Interleave::Times(if slicing == Slicing::Bit { 1 } else { 1 + n as u32 % 4 });
        let has_ctr = primitive.kind.ends_with("block cipher");
        recipe.mode = has_ctr.then(|| "ctr".to_string());
        let made = recipe.make(&subject).expect("bundled programs compile");
        let program = recipe.build(&made).expect("the C compiler takes the text");
        let n_blocks = 3 * shape(&made.compiled, arch).blocks() as usize + 1;
        let mut bytes = |name: &str, n: usize| -> Vec<u8> {
            let mut all: Vec<u8> = (0..n).map(|_| rng.u8(..)).collect();
            // Bits beyond the 257th and the 33rd are zero.
            if primitive.name.starts_with("subterranean") {
                let last = if name == "sigma" { 0x01 } else { 0x01 & all[n - 1] };
                all[n - 1] = last;
            }
            all
        };
        let mut keys = BTreeMap::new();
        let (mut key_bytes, mut blocks): (Vec<u8>, Vec<Vec<u8>>) = (Vec::new(), Vec::new());
        // The order of the interface: the schedule's fields, then the entry's.
        for field in made.unit.key_fields() {
            let value = bytes(&field.name, field.layout.n_bytes);
            key_bytes.extend(&value);
            keys.insert(field.name.clone(), value);
        }
        let input = made
            .unit
            .fields
            .iter()
            .find(|f| f.name == "input")
            .expect("every primitive has an input");
        blocks.extend((0..n_blocks).map(|_| bytes("input", input.layout.n_bytes)));
        let name = format!("{} {} {} seed {seed}", primitive.name, slicing.letter(), arch.name());
        let got = native::run_blocks(&program, arch, n_blocks, &key_bytes, &blocks.concat())
            .unwrap_or_else(|e| panic!("{name}: {e:?}"));
        let cases: Vec<Vec<u8>> = blocks
            .iter()
            .map(|block| {
                made.unit
                    .fields
                    .iter()
                    .flat_map(
                        |f| if f.name == "input" { block.clone() } else { keys[&f.name].clone() },
                    )
                    .collect()
            })
            .collect();
        let expected = native::run_cases(&program, arch, &cases, made.unit.output_bytes())
            .expect("the program runs");
        assert!(got == expected.concat(), "{name}: the interface differs from single cases");
        for k in [0, n_blocks / 2, n_blocks - 1] {
            let mut fields: BTreeMap<String, String> =
                keys.iter().map(|(name, value)| (name.clone(), to_hex(value))).collect();
            fields.insert("input".into(), to_hex(&blocks[k]));
            assert_eq!(
                interpret(primitive, &fields),
                Ok(to_hex(&expected[k])),
                "{name}, block {k}"
            );
        }
        if has_ctr {
            // The stream is the blocks of a counter that carries out of its lower half.
            let n_bytes = input.layout.n_bytes;
            let half = (1u128 << (4 * n_bytes)) - 1;
            let first = (rng.u128(..) >> (128 - 8 * n_bytes as u32) | half) & !0xf;
            let counter = |k: usize| (first + k as u128).to_be_bytes()[16 - n_bytes..].to_vec();
            let counters: Vec<u8> = (0..n_blocks).flat_map(counter).collect();
            let stream = native::run_blocks(&program, arch, n_blocks, &key_bytes, &counters)
                .expect("the program runs");
            let length = stream.len() - n_bytes / 2;
            let zeros = vec![0; length];
            let params = [&key_bytes[..], &counters[..n_bytes]].concat();
            let got = native::run_stream(&program, arch, &params, &zeros)
                .unwrap_or_else(|e| panic!("{name}: {e:?}"));
            assert!(
                got == stream[..length],
                "{name}: the stream differs from the blocks of its counters"
            );
        }
    }
}
