//! Masked code: the same bytes as without, at every order; and the proof: against brute force on
//! small circuits, with each refresh taken away, and with gadgets that were damaged.

use std::collections::BTreeMap;
use std::process::Command;
use std::rc::Rc;
use std::time::Duration;

use cipher::emit_c::Arch;
use cipher::ir::NodeId;
use cipher::masked::circuit::{Product, SharedCircuit};
use cipher::masked::gadgets::{Gadget, GadgetStep};
use cipher::masked::probes::Prober;
use cipher::masked::{self, Masked, place};
use cipher::native::Cc;
use cipher::options::{Slicing, Unroll};
use cipher::recipe::Recipe;
use cipher::run_text::{interpret, to_hex};
use cipher::unit::{Subject, c_prefix};
use fastrand::Rng;

fn masked(name: &str, slicing: Slicing, order: u32) -> Masked {
    let subject = Subject::bundled(name).expect("it is bundled").expect("it is right");
    let recipe = Recipe::new(slicing, Arch::X86_64, Cc::Gcc, Unroll::Auto, "-O1");
    masked::make(&subject, &recipe, order).expect("it can be masked")
}

/// Compiles masked code with a program around it, runs it, and compares its bytes.
fn same_bytes(name: &str, slicing: Slicing, order: u32, gcc: &str, emulator: Option<&str>) {
    let programs: Vec<&str> = [gcc].into_iter().chain(emulator).collect();
    if !testkit::has("masked code", &programs) {
        return;
    }
    let subject = Subject::bundled(name).expect("it is bundled").expect("it is right");
    let primitive = subject.primitive.as_ref().expect("bundled primitives have bytes");
    let made = masked(name, slicing, order);
    let mut rng = Rng::with_seed(20_261_128);
    let mut fields = BTreeMap::new();
    let mut strings = Vec::new();
    for field in &made.unit.fields {
        let bytes: Vec<u8> = (0..field.layout.n_bytes).map(|_| rng.u8(..)).collect();
        fields.insert(field.name.clone(), to_hex(&bytes));
        strings.push((field.name.clone(), bytes));
    }
    let expected = interpret(primitive, &fields).expect("it runs");
    let prefix = format!("{}_masked", c_prefix(name));
    let constant = |(name, bytes): &(String, Vec<u8>)| {
        let list: Vec<String> = bytes.iter().map(u8::to_string).collect();
        format!("static const uint8_t the_{name}[{}] = {{{}}};\n", list.len(), list.join(","))
    };
    let constants: String = strings.iter().map(constant).collect();
    let keys = made.unit.key_fields();
    let has_keys = !keys.is_empty();
    let (n_in, n_out) = (
        made.unit
            .fields
            .iter()
            .find(|field| field.name == "input")
            .expect("it has one")
            .layout
            .n_bytes,
        made.unit.output_bytes(),
    );
    let shared: String =
        keys.iter().map(|field| format!("    SHARE({}, sizeof the_{0});\n", field.name)).collect();
    let args: String = keys.iter().map(|field| format!("{}_shares, ", field.name)).collect();
    let expand = if has_keys {
        format!(
            "{prefix}_roundkeys keys;\n    if ({prefix}_expand(&keys, {args}random_bytes, &left)) return 2;\n"
        )
    } else {
        String::new()
    };
    let keys = if has_keys { "&keys, " } else { "" };
    let n_shares = order + 1;
    let driver = format!(
        "#include \"masked.h\"
#include <stdio.h>
#include <string.h>
{constants}
enum {{ N = 3, MOST = {most} }};
static uint64_t state = 88172645463325252u;
/* It fails once `left` calls are over. */
static int random_bytes(void *context, uint8_t *bytes, size_t n)
{{
    long *left = context;
    if (*left == 0) return 1;
    --*left;
    for (size_t i = 0; i < n; i++) {{
        state ^= state << 13; state ^= state >> 7; state ^= state << 17;
        bytes[i] = (uint8_t)(state >> 24);
    }}
    return 0;
}}
/* Shares of a string, repeated for each block of the input. */
#define SHARE(name, n) \\
    static uint8_t name##_bytes[{n_shares}][N * MOST]; \\
    const uint8_t *name##_shares[{n_shares}]; \\
    for (int s = 0; s < {n_shares}; s++) {{ \\
        name##_shares[s] = name##_bytes[s]; \\
        for (size_t i = 0; i < N * (n); i++) {{ \\
            uint8_t r; \\
            random_bytes(&plenty, &r, 1); \\
            name##_bytes[s][i] = s ? r : 0; \\
        }} \\
    }} \\
    for (size_t i = 0; i < N * (n); i++) {{ \\
        name##_bytes[0][i] = the_##name[i % (n)]; \\
        for (int s = 1; s < {n_shares}; s++) name##_bytes[0][i] ^= name##_bytes[s][i]; \\
    }}
static uint8_t out[{n_shares}][N * MOST];
int main(void)
{{
    long plenty = -1, left = -1;
{shared}    SHARE(input, {n_in});
    {expand}
    uint8_t *outs[{n_shares}];
    for (int s = 0; s < {n_shares}; s++) outs[s] = out[s];
    if ({prefix}_blocks({keys}input_shares, outs, N, random_bytes, &left)) return 3;
    for (int b = 0; b < N; b++) {{
        for (int i = 0; i < {n_out}; i++) {{
            uint8_t byte = 0;
            for (int s = 0; s < {n_shares}; s++) byte ^= out[s][b * {n_out} + i];
            printf(\"%02x\", byte);
        }}
        puts(\"\");
    }}
    /* A random function that fails at its second call, or at once. */
    for (long at = 0; at < 2; at++) {{
        left = at;
        memset(out, 0xa5, sizeof out);
        int said = {prefix}_blocks({keys}input_shares, outs, N, random_bytes, &left);
        int rest = 0;
        for (int s = 0; s < {n_shares}; s++)
            for (int i = 0; i < N * {n_out}; i++) rest |= out[s][i];
        printf(\"%d %d\\n\", said, left == 0 ? rest : -1);
    }}
    return 0;
}}
",
        most =
            made.unit.fields.iter().map(|field| field.layout.n_bytes).max().unwrap_or(0).max(n_out),
    );
    let folder = tempfile::tempdir().expect("a scratch folder");
    let at = folder.path();
    std::fs::write(at.join("masked.c"), made.source(false)).expect("it can be written");
    std::fs::write(at.join("masked.h"), made.header()).expect("it can be written");
    std::fs::write(at.join("driver.c"), driver).expect("it can be written");
    let mut compile = Command::new(gcc);
    // Optimizing ten thousand statements takes a compiler longer than running them.
    let opt = if slicing == Slicing::Bit { "-O0" } else { "-O1" };
    compile.current_dir(at).args(["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", opt]);
    if emulator.is_some() {
        compile.arg("-static");
    }
    compile.args(["-o", "program", "driver.c", "masked.c"]);
    let limit = Duration::from_secs(300);
    measure::tool::run(&mut compile, b"", limit)
        .and_then(measure::tool::Ran::ok)
        .expect("it compiles");
    let program = at.join("program");
    let mut run = match emulator {
        None => Command::new(&program),
        Some(emulator) => Command::new(emulator),
    };
    if emulator.is_some() {
        run.arg(&program);
    }
    let ran = measure::tool::run(&mut run, b"", limit).and_then(measure::tool::Ran::ok);
    let said = ran.expect("it runs").text();
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(&lines[..3], [&expected; 3], "{name} {slicing:?} order {order}");
    for line in &lines[3..] {
        // Every code here takes more than one call; an error leaves zeros.
        assert_eq!(*line, "-1 0", "{name} {slicing:?} order {order}");
    }
}

#[test]
fn masked_code_gives_the_same_bytes_at_every_order() {
    for order in masked::ORDERS {
        same_bytes("ascon-p12", Slicing::Vertical, order, "gcc", None);
    }
    same_bytes("present-80", Slicing::Bit, 1, "gcc", None);
    same_bytes("gift-128", Slicing::Vertical, 2, "gcc", None);
    same_bytes("skinny-128-256", Slicing::Vertical, 1, "gcc", None);
    same_bytes("rectangle-80", Slicing::Vertical, 3, "gcc", None);
    same_bytes("clyde-128", Slicing::Vertical, 1, "gcc", None);
    same_bytes("clyde-128", Slicing::Horizontal, 1, "gcc", None);
    same_bytes("ace", Slicing::Vertical, 1, "gcc", None);
    same_bytes("xoodoo-12", Slicing::Vertical, 2, "clang-19", None);
}

/// Of every bundled cipher in every slicing the masked code gives the same bytes, or is refused for
/// one of these reasons.
#[test]
fn every_bundled_cipher_is_masked_or_refused() {
    if std::env::var_os("MEANWHILE_LONG").is_none() {
        return;
    }
    let refused = [
        "`+` of words in one register cannot be masked",
        "the proof of the masked code takes too long: its words are long sums",
    ];
    let mut n_refused = [0; 2];
    for primitive in cipher::library::primitives() {
        let name = &*primitive.name;
        let subject = Subject::bundled(name).expect("it is bundled").expect("it is right");
        for slicing in subject.slicings(None) {
            let recipe = Recipe::new(slicing, Arch::X86_64, Cc::Gcc, Unroll::Auto, "-O1");
            match masked::make(&subject, &recipe, 1) {
                Ok(_) => same_bytes(name, slicing, 1, "gcc", None),
                Err(why) => {
                    let why = &why[0].message;
                    let which = refused.iter().position(|text| text == why);
                    n_refused[which.unwrap_or_else(|| panic!("{name} {slicing:?}: {why}"))] += 1;
                }
            }
        }
    }
    assert!(n_refused.iter().all(|n| *n > 0), "{n_refused:?}");
}

#[test]
fn other_processors_give_the_same_bytes() {
    for (gcc, emulator) in
        [("arm-linux-gnueabi-gcc", "qemu-arm"), ("s390x-linux-gnu-gcc", "qemu-s390x")]
    {
        same_bytes("ascon-p12", Slicing::Vertical, 2, gcc, Some(emulator));
        same_bytes("gift-128", Slicing::Vertical, 1, gcc, Some(emulator));
    }
}

/// As the guide has it: bitsliced code needs no refresh, and vertical code of ACE one at each
/// product.
#[test]
fn refreshes_are_as_many_as_the_guide_says() {
    let refreshes = |name, slicing| {
        let made = masked(name, slicing, 1);
        (made.proof.entry.products, made.proof.entry.refreshes)
    };
    assert_eq!(refreshes("ace", Slicing::Vertical), (384, 384));
    let (products, some) = refreshes("clyde-128", Slicing::Vertical);
    assert_eq!((products, some), (48, 12));
    for (name, products) in
        [("ascon-p12", 60), ("gift-128", 160), ("pyjamask-128", 56), ("xoodoo-12", 144)]
    {
        assert_eq!(refreshes(name, Slicing::Vertical), (products, 0), "{name}");
    }
    for name in ["ace", "ascon-p12", "clyde-128", "gimli", "present-80", "subterranean-round"] {
        assert_eq!(refreshes(name, Slicing::Bit).1, 0, "{name}");
    }
}

#[test]
fn without_any_one_refresh_the_proof_names_the_probes() {
    for name in ["clyde-128", "ace", "rectangle-80"] {
        let made = masked(name, Slicing::Vertical, 1);
        // The program before its refreshes.
        let subject = Subject::bundled(name).expect("it is bundled").expect("it is right");
        let recipe = Recipe::new(Slicing::Vertical, Arch::X86_64, Cc::Gcc, Unroll::No, "-O1");
        let (compiled, unit) = masked::unproved(&subject, &recipe).expect("it compiles");
        let all: Vec<_> = made.proof.refreshes.iter().map(|refreshed| refreshed.site).collect();
        assert!(!all.is_empty(), "{name}");
        for left_out in &all {
            let kept = all.iter().filter(|site| *site != left_out).copied().collect();
            let found = place::attack(&compiled.program, &unit, &kept).expect("it can be masked");
            let (attack, circuit) = found.expect("each refresh is needed");
            let probed = attack.probed.iter().map(|(number, _)| circuit.products[*number].at);
            let at: Vec<_> = probed.collect();
            assert!(
                at.contains(&(left_out.node, left_out.equation)),
                "{name}: {left_out:?} is not among {at:?}"
            );
        }
    }
}

/// Every way to place up to `order` probes in products: true if one reveals a sum.
fn brute_force(circuit: &SharedCircuit, order: usize) -> bool {
    let mut probes = Vec::new();
    for product in &circuit.products {
        for i in 0..=order {
            for j in 0..=order {
                probes.push([(i, mask(&product.operands[0])), (j, mask(&product.operands[1]))]);
            }
        }
    }
    let mut shares = vec![Vec::new(); order + 1];
    reveals(&probes, 0, order, &mut shares)
}

/// The forms of an operand as bits.
fn mask(operand: &[Vec<u32>]) -> Vec<u64> {
    operand.iter().map(|form| form.iter().fold(0, |bits, column| bits | 1 << column)).collect()
}

fn reveals(
    probes: &[[(usize, Vec<u64>); 2]],
    first: usize,
    left: usize,
    shares: &mut Vec<Vec<u64>>,
) -> bool {
    if left == 0 {
        let spans: Vec<Vec<u64>> = shares.iter().map(|rows| span(rows)).collect();
        return spans[0].iter().any(|sum| *sum != 0 && spans.iter().all(|span| span.contains(sum)));
    }
    (first..probes.len()).any(|k| {
        for (share, rows) in &probes[k] {
            shares[*share].extend(rows);
        }
        let found = reveals(probes, k + 1, left - 1, shares);
        for (share, rows) in &probes[k] {
            let n = shares[*share].len();
            shares[*share].truncate(n - rows.len());
        }
        found
    })
}

fn span(rows: &[u64]) -> Vec<u64> {
    rows.iter().fold(vec![0], |mut all, row| {
        if !all.contains(row) {
            let more: Vec<u64> = all.iter().map(|sum| sum ^ row).collect();
            all.extend(more);
        }
        all
    })
}

fn random_circuit(rng: &mut Rng, n_products: usize, n_columns: u32, bits: usize) -> SharedCircuit {
    let mut operand = || {
        let form = |_| (0..n_columns).filter(|_| rng.u8(0..3) == 0).collect::<Vec<u32>>();
        Rc::new((0..bits).map(form).collect::<Vec<_>>())
    };
    let product = |k| Product { at: (NodeId(0), k), operands: [operand(), operand()] };
    SharedCircuit { products: (0..n_products).map(product).collect(), ..SharedCircuit::default() }
}

fn found(circuit: &SharedCircuit) -> Option<bool> {
    let mut prober = Prober::new(circuit);
    let operands = (0..circuit.products.len()).flat_map(|k| [(k, 0), (k, 1)]);
    operands.filter_map(|operand| prober.attack_at(operand)).map(|attack| attack.is_exact).next()
}

#[test]
fn the_proof_agrees_with_brute_force_on_random_circuits() {
    let seed = 20_261_128;
    let mut rng = Rng::with_seed(seed);
    let (mut n_attacked, mut n_safe) = (0, 0);
    for round in 0..400 {
        let n_products = rng.usize(1..4);
        let circuit = random_circuit(&mut rng, n_products, 4, 1);
        let said = found(&circuit).is_some();
        // Only long chains of three products need four probes.
        let really =
            (1..=3).any(|order| brute_force(&circuit, order)) || said && brute_force(&circuit, 4);
        assert_eq!(said, really, "seed {seed}, round {round}: {circuit:?}");
        if really { n_attacked += 1 } else { n_safe += 1 }
    }
    assert!(n_attacked > 50 && n_safe > 50, "{n_attacked} {n_safe}");
    // Registers of two bits: no attack is missed, and what is shown exactly is one.
    for round in 0..300 {
        let circuit = random_circuit(&mut rng, 2, 6, 2);
        let said = found(&circuit);
        let really = (1..=2).any(|order| brute_force(&circuit, order))
            || said == Some(true) && (3..=4).any(|order| brute_force(&circuit, order));
        assert!(said.is_some() || !really, "seed {seed}, round {round}: {circuit:?}");
        assert!(said != Some(true) || really, "seed {seed}, round {round}: {circuit:?}");
    }
}

/// What a value is: products of shares and randoms, as sets whose sum it is.
type Value = std::collections::BTreeSet<Atom>;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Atom {
    Random(usize),
    Share(usize),
    Product(usize, usize),
}

fn values(gadget: &Gadget) -> Vec<Value> {
    let mut all: Vec<Value> = Vec::new();
    for (k, step) in gadget.steps.iter().enumerate() {
        let value = match step {
            GadgetStep::Share(i) => Value::from([Atom::Share(*i)]),
            GadgetStep::Product(i, j) => Value::from([Atom::Product(*i, *j)]),
            GadgetStep::Random => Value::from([Atom::Random(k)]),
            GadgetStep::Sum(a, b) => &all[*a] ^ &all[*b],
        };
        all.push(value);
    }
    all
}

/// Shares of each operand that one must know to simulate these values: those in what is left when
/// every random that can hide a value has hidden it.
fn needed_shares(probed: &[&Value]) -> usize {
    let mut rows: Vec<Value> = probed.iter().map(|value| (*value).clone()).collect();
    // Take a random out of all rows but one, which it hides.
    loop {
        let random = rows.iter().flatten().find_map(|atom| match atom {
            Atom::Random(k) => Some(Atom::Random(*k)),
            _ => None,
        });
        let Some(random) = random else { break };
        let at = rows.iter().position(|row| row.contains(&random)).expect("it was found there");
        let hidden = rows.swap_remove(at);
        for row in &mut rows {
            if row.contains(&random) {
                *row = &*row ^ &hidden;
            }
        }
    }
    let (mut first, mut second) =
        (std::collections::BTreeSet::new(), std::collections::BTreeSet::new());
    for atom in rows.into_iter().flatten() {
        match atom {
            Atom::Share(i) => {
                first.insert(i);
            }
            Atom::Product(i, j) => {
                first.insert(i);
                second.insert(j);
            }
            Atom::Random(_) => panic!("randoms were taken out"),
        }
    }
    first.len().max(second.len())
}

/// True if any set of up to `order` values, of which some are results, is simulated from as many
/// shares of each operand as there are values that are not results.
fn is_strong(gadget: &Gadget, order: usize) -> bool {
    let values = values(gadget);
    let mut chosen = Vec::new();
    fn all(
        values: &[Value],
        results: &[usize],
        first: usize,
        left: usize,
        chosen: &mut Vec<usize>,
    ) -> bool {
        let probed: Vec<&Value> = chosen.iter().map(|k| &values[*k]).collect();
        let n_inside = chosen.iter().filter(|k| !results.contains(k)).count();
        if needed_shares(&probed) > n_inside {
            return false;
        }
        left == 0
            || (first..values.len()).all(|k| {
                chosen.push(k);
                let is_fine = all(values, results, k + 1, left - 1, chosen);
                chosen.pop();
                is_fine
            })
    }
    all(&values, &gadget.results, 0, order, &mut chosen)
}

#[test]
fn gadgets_are_strong_and_every_damage_is_found() {
    for order in 1..=3 {
        let n = order + 1;
        for gadget in [Gadget::product(n), Gadget::refresh(n)] {
            assert!(is_strong(&gadget, order), "order {order}: {gadget:?}");
            // The sum of the results is the product, or the word.
            let all = values(&gadget);
            let sum = gadget.results.iter().fold(Value::new(), |sum, k| &sum ^ &all[*k]);
            let whole = match gadget.steps[0] {
                GadgetStep::Share(_) => (0..n).map(Atom::Share).collect::<Value>(),
                _ => (0..n).flat_map(|i| (0..n).map(move |j| Atom::Product(i, j))).collect(),
            };
            assert_eq!(sum, whole);
            // One random used twice: all later uses of it become the one before.
            let randoms: Vec<usize> = (0..gadget.steps.len())
                .filter(|k| gadget.steps[*k] == GadgetStep::Random)
                .collect();
            for pair in randoms.windows(2) {
                let mut damaged = gadget.clone();
                for step in &mut damaged.steps {
                    if let GadgetStep::Sum(a, b) = step {
                        for side in [a, b] {
                            if *side == pair[1] {
                                *side = pair[0];
                            }
                        }
                    }
                }
                assert!(!is_strong(&damaged, order), "order {order}: {pair:?} of {gadget:?}");
            }
        }
        // The sums of two products in the other order: (a[i] & b[j] ^ a[j] & b[i]) ^ t.
        let mut damaged = Gadget::product(n);
        let at =
            damaged.steps.iter().position(|step| *step == GadgetStep::Random).expect("it has one");
        damaged.steps[at + 2] = GadgetStep::Sum(at + 1, at + 3);
        damaged.steps.swap(at + 2, at + 3);
        damaged.steps[at + 2] = GadgetStep::Product(1, 0);
        damaged.steps[at + 3] = GadgetStep::Sum(at + 1, at + 2);
        damaged.steps[at + 4] = GadgetStep::Sum(at + 3, at);
        assert!(!is_strong(&damaged, order), "order {order}: {damaged:?}");
    }
}
