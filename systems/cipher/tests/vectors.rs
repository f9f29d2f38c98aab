//! Every bundled primitive: its program is sound in all its slicings, and the interpreter gives its
//! vectors.

use std::collections::BTreeSet;

use cipher::elaborate::{check, elaborate};
use cipher::interp::{Port, interface};
use cipher::ir::Dir;
use cipher::layout::Layout;
use cipher::library::{FieldLayout, Primitive, file, primitives};
use cipher::run_text::{from_hex, interpret, round_keys};
use cipher::syntax::ast::Program;
use cipher::syntax::load_text;

/// Names in `ciphers/`, in the order of the index.
const NAMES: [&str; 32] = [
    "ace",
    "aes-128",
    "aes-192",
    "aes-256",
    "aes-128-decrypt",
    "aes-192-decrypt",
    "aes-256-decrypt",
    "ascon-p12",
    "blake2s-compress",
    "blake2b-compress",
    "chacha20",
    "clyde-128",
    "des",
    "gift-128",
    "gimli",
    "keccak-f1600",
    "photon-256",
    "present-80",
    "pyjamask-128",
    "rectangle-80",
    "rectangle-128",
    "serpent-128",
    "serpent-128-decrypt",
    "sha256-compress",
    "skinny-128-128",
    "skinny-128-256",
    "skinny-128-384",
    "spongent-pi-160",
    "subterranean-round",
    "subterranean-blank8",
    "subterranean-duplex",
    "xoodoo-12",
];

/// Primitives with a schedule that gives the published round keys unchanged, and their layout.
const ROUND_KEYS: [(&str, &str); 7] = [
    ("aes-128", "round:11 col:4 row:4 bit:8 -> round bit | row col"),
    ("des", "bit:768 -> bit |"),
    ("present-80", "bit:2048 -> bit |"),
    ("pyjamask-128", "word:60 bit:32 -> word | bit"),
    ("rectangle-80", "word:104 bit:16 -> word | bit"),
    ("rectangle-128", "word:104 bit:16 -> word | bit"),
    ("serpent-128", "word:132 bit:32 -> word | bit"),
];

fn program(primitive: &Primitive) -> Program {
    let loaded = load_text(&primitive.file, primitive.text(), &[]);
    loaded.unwrap_or_else(|errors| panic!("{}: {errors:#?}", primitive.file))
}

fn nodes(primitive: &Primitive) -> Vec<&str> {
    primitive.schedule.as_deref().into_iter().chain([&*primitive.entry]).collect()
}

#[test]
fn the_index_lists_all_primitives() {
    let names: Vec<&str> = primitives().iter().map(|p| &*p.name).collect();
    assert_eq!(names, NAMES);
}

#[test]
fn programs_are_sound() {
    let mut done = BTreeSet::new();
    for primitive in primitives() {
        if done.insert(&primitive.file) {
            let warnings = check(&program(primitive))
                .unwrap_or_else(|errors| panic!("{}: {errors:#?}", primitive.file));
            assert!(warnings.is_empty(), "{}: {warnings:#?}", primitive.file);
        }
    }
}

#[test]
fn layouts_fit_the_nodes() {
    let fits = |name: &str, layout: &str, port: &Port| {
        let layout = Layout::parse(layout).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(
            layout.position.len(),
            port.m as usize * port.n,
            "{name}: bits of `{}`",
            port.name
        );
    };
    let field_fits = |name: &str, field: &FieldLayout, port: &Port| fits(name, &field.layout, port);
    for primitive in primitives() {
        let (name, program) = (&primitive.name, program(primitive));
        let (ports, outputs) =
            interface(&program, &primitive.entry, None).expect("sizes are fixed");
        let [output] = outputs.as_slice() else { panic!("{name} has {} outputs", outputs.len()) };
        fits(name, &primitive.output, output);
        let (given, mut made): (Vec<_>, Vec<_>) =
            ports.into_iter().partition(|p| primitive.params.contains_key(&*p.name));
        assert_eq!(
            given.len(),
            primitive.params.len(),
            "{name}: a parameter that the entry does not have"
        );
        given.iter().for_each(|port| field_fits(name, &primitive.params[&*port.name], port));
        if let Some(schedule) = &primitive.schedule {
            let (params, results) = interface(&program, schedule, None).expect("sizes are fixed");
            assert_eq!(
                params.len(),
                primitive.schedule_params.len(),
                "{name}: parameters of the schedule"
            );
            params
                .iter()
                .for_each(|port| field_fits(name, &primitive.schedule_params[&*port.name], port));
            let sizes = |ports: &[Port]| ports.iter().map(|p| (p.m, p.n)).collect::<Vec<_>>();
            assert_eq!(
                sizes(&results),
                sizes(&std::mem::take(&mut made)),
                "{name}: the schedule gives the round keys"
            );
        }
        assert!(made.is_empty(), "{name}: nothing fills {made:?}");
    }
}

#[test]
fn programs_elaborate_in_every_slicing() {
    for primitive in primitives() {
        let program = program(primitive);
        for dir in [Dir::B, Dir::V, Dir::H] {
            // Horizontally sliced words have no arithmetic.
            let made = elaborate(&program, &nodes(primitive), dir, None);
            let has_arithmetic = primitive.name == "chacha20";
            assert_eq!(
                made.is_ok(),
                dir != Dir::H || !has_arithmetic,
                "{} {dir:?}: {:#?}",
                primitive.name,
                made.err()
            );
        }
    }
}

#[test]
fn the_interpreter_gives_all_vectors() {
    let mut wrong = Vec::new();
    for primitive in primitives() {
        let vectors = primitive.vectors();
        assert_eq!(vectors.len(), 6, "{}", primitive.name);
        for (i, vector) in vectors.iter().enumerate() {
            let output = interpret(primitive, &vector.fields);
            if output.as_ref() != Ok(&vector.output) {
                wrong.push(format!(
                    "{}, vector {i}: {output:?}, not {}",
                    primitive.name, vector.output
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn schedules_give_the_published_round_keys() {
    for (name, layout) in ROUND_KEYS {
        let primitive = cipher::library::primitive(name).expect("listed in the index");
        let json: serde_json::Value =
            serde_json::from_str(file(&format!("{name}.json")).expect("bundled"))
                .expect("vectors are JSON");
        for (i, vector) in primitive.vectors().iter().enumerate() {
            let made = round_keys(primitive, &vector.fields).expect("the schedule runs");
            let published: Vec<&str> = json["vectors"][i]["round_keys"]
                .as_array()
                .expect("a list")
                .iter()
                .filter_map(|k| k.as_str())
                .collect();
            let bytes = from_hex(&published.concat()).expect("round keys are hex");
            let layout = Layout::parse(layout).expect("a layout");
            let m = layout.position.len() / made[0].len();
            assert_eq!(made, [layout.words(&bytes, m as u32)], "{name}, vector {i}");
        }
    }
}
