//! SHA-3, SHAKE, SHA-256 and BLAKE2 in emitted C: the bytes of Python's hashlib for messages of all lengths
//! around the ends of blocks and of paddings, and for a sponge and a compression function of a
//! user's. The program itself tries pieces, many messages and messages of different lengths, and
//! reports which one fails.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use cipher::emit_c::Arch;
use cipher::native::{self, Cc};
use cipher::options::{Interleave, Slicing, Unroll};
use cipher::recipe::Recipe;
use cipher::run_text::to_hex;
use cipher::unit::Subject;
use fastrand::Rng;
use measure::tool;

/// A primitive, its mode, hashlib's name of it, and bytes of a block.
const DIGESTS: [(&str, &str, &str, usize); 8] = [
    ("keccak-f1600", "shake128", "shake_128", 168),
    ("keccak-f1600", "shake256", "shake_256", 136),
    ("keccak-f1600", "sha3-256", "sha3_256", 136),
    ("keccak-f1600", "sha3-512", "sha3_512", 72),
    ("sha256-compress", "hash", "sha256", 64),
    ("blake2s-compress", "hash", "blake2s", 64),
    ("blake2b-compress", "hash", "blake2b", 128),
    ("blake2b-compress", "hash256", "blake2b", 128),
];

/// Target, compiler and number of interleaved batches; each of them is for some of the digests.
const WAYS: [(Arch, Cc, u32); 5] = [
    (Arch::X86_64, Cc::Gcc, 1),
    (Arch::Avx2, Cc::Clang, 1),
    (Arch::Sse, Cc::Gcc, 2),
    (Arch::Avx512, Cc::Gcc, 1),
    (Arch::Neon, Cc::Clang, 1),
];

/// Outputs of hashlib, one for each message: name, bytes of output and message in hex, a line each.
fn hashlib(messages: &str) -> Vec<String> {
    let script = "import hashlib, sys\n\
        for line in sys.stdin.read().splitlines():\n    \
            name, size, text = line.split(',')\n    \
            sizes = {'digest_size': int(size)} if 'blake2' in name else {}\n    \
            made = hashlib.new(name, bytes.fromhex(text), **sizes)\n    \
            print(made.hexdigest(int(size)) if 'shake' in name else made.hexdigest())\n";
    let mut python = Command::new("python3");
    python.args(["-c", script]);
    let ran =
        tool::run(&mut python, messages.as_bytes(), Duration::from_secs(60)).expect("it starts");
    let said = String::from_utf8(ran.ok().expect("it ends").stdout).expect("hex");
    said.lines().map(str::to_owned).collect()
}

/// Lengths of messages: 0 to 3 blocks, and all around their ends and that of a padding with a
/// length of 8 bytes.
fn lengths(block: usize, rng: &mut Rng) -> Vec<usize> {
    let ends = (1..=3).flat_map(|k| [k * block - 9, k * block - 8, k * block - 1, k * block]);
    let random = [rng.usize(1..block), rng.usize(block..3 * block)];
    [0, 1].into_iter().chain(ends).chain([block + 1]).chain(random).collect()
}

fn built(subject: &Subject, mode: &str, (arch, cc, batches): (Arch, Cc, u32)) -> Option<PathBuf> {
    if native::missing_feature(arch).is_some()
        || (arch == Arch::Neon && tool::find("qemu-aarch64").is_none())
    {
        testkit::skipped(&format!("cipher digests: {} cannot run here", arch.name()));
        return None;
    }
    let mut recipe = Recipe::new(Slicing::Vertical, arch, cc, Unroll::No, "-O1");
    recipe.mode = Some(mode.into());
    recipe.interleave = Interleave::Times(batches);
    let made = recipe.make(subject).expect("it compiles");
    Some(recipe.build(&made).expect("the C compiler takes the text"))
}

#[test]
fn outputs_are_those_of_another_implementation() {
    let seed = 20_261_128;
    let mut rng = Rng::with_seed(seed);
    for (k, (name, mode, python, block)) in DIGESTS.into_iter().enumerate() {
        let subject = Subject::bundled(name).expect("it is bundled").expect("it is right");
        let mut messages = Vec::new();
        for n in lengths(block, &mut rng) {
            let n_out = match (python, mode) {
                ("shake_128" | "shake_256", _) => rng.usize(0..3 * block),
                ("blake2b", "hash") => 64,
                _ => 32,
            };
            messages.push(((0..n).map(|_| rng.u8(..)).collect::<Vec<u8>>(), n_out));
        }
        let line =
            |(text, n_out): &(Vec<u8>, usize)| format!("{python},{n_out},{}\n", to_hex(text));
        let wanted = hashlib(&messages.iter().map(line).collect::<String>());
        assert_eq!(wanted.len(), messages.len());
        for way in [WAYS[0], WAYS[1 + k % 4], WAYS[1 + (k + 1) % 4]] {
            let Some(program) = built(&subject, mode, way) else { continue };
            for ((text, _), wanted) in messages.iter().zip(&wanted) {
                let lengths = [text.len(), wanted.len() / 2].map(|n| (n as u64).to_le_bytes());
                let what = format!("{mode} {} {} bytes, seed {seed}", way.0.name(), text.len());
                let input = [lengths.concat(), text.clone()].concat();
                let ours = native::run_mode(&program, way.0, &input)
                    .unwrap_or_else(|error| panic!("{what}: {error:?}"));
                assert_eq!(to_hex(&ours), *wanted, "{what}");
            }
        }
    }
}

#[test]
fn every_mode_over_a_permutation_has_published_vectors() {
    for primitive in cipher::library::primitives() {
        for sponge in primitive.sponges() {
            assert!(!cipher::library::vectors(sponge.name()).is_empty(), "{}", sponge.name());
        }
    }
}

/// BLAKE2's shape with another step: the flag before a counter whose high word is the first.
const COUNTED: &str = "node mix (input : u32x12) returns (output : u32x5)
let
    output[0] = (input[0] ^ input[5]) + (input[1] <<< 3) + input[10];
    output[1] = input[1] + (input[6] <<< 5) + (input[9] <<< 9);
    output[2] = input[2] ^ (input[0] + input[7]) ^ input[11];
    output[3] = (input[3] <<< 7) + input[8];
    output[4] = input[4] ^ input[0] ^ input[5]
tel
";

const COUNTED_LAYOUT: &str = "name = \"mix\"
params = { input = { field = \"input\", layout = \"word:12 byte:4 bit:8 -> word | byte bit\" } }
output = \"word:5 byte:4 bit:8 -> word | byte bit\"
compression.hash = { name = \"mix-hash\", title = \"Mix\", word = \"be32\", beside = [\"last:4\", \"counter:be64\"], output = 17, initial = \"0102030405060708090a0b0c0d0e0f1011121314\" }
";

/// The same by the definition.
fn counted_hash(text: &[u8]) -> Vec<u8> {
    let words = |bytes: &[u8]| -> Vec<u32> {
        bytes.chunks(4).map(|word| u32::from_be_bytes(word.try_into().expect("4"))).collect()
    };
    let mut h = words(&(1..=20).collect::<Vec<u8>>());
    let n_blocks = text.len().div_ceil(16).max(1);
    for k in 1..=n_blocks {
        let mut block = text[16 * (k - 1)..text.len().min(16 * k)].to_vec();
        block.resize(16, 0);
        let m = words(&block);
        let (last, total) =
            if k == n_blocks { (u32::MAX, text.len() as u32) } else { (0, 16 * k as u32) };
        h = vec![
            (h[0] ^ m[0]).wrapping_add(h[1].rotate_left(3)),
            h[1].wrapping_add(m[1].rotate_left(5)).wrapping_add(last.rotate_left(9)),
            h[2] ^ h[0].wrapping_add(m[2]) ^ total,
            h[3].rotate_left(7).wrapping_add(m[3]),
            h[4] ^ h[0] ^ m[0],
        ];
    }
    h.iter().flat_map(|word| word.to_be_bytes()).take(17).collect()
}

/// SHA-1's shape with another step: five words of state, a length in little-endian bytes.
const OWN: &str = "node mix (input : u32x9) returns (output : u32x5)
let
    output[0] = (input[0] ^ input[5]) + (input[1] <<< 3);
    output[1] = input[1] + (input[6] <<< 5);
    output[2] = input[2] ^ (input[0] + input[7]);
    output[3] = (input[3] <<< 7) + input[8];
    output[4] = input[4] ^ input[0] ^ input[5]
tel
";

const OWN_LAYOUT: &str = "name = \"mix\"
params = { input = { field = \"input\", layout = \"word:9 byte:4 bit:8 -> word | -byte bit\" } }
output = \"word:5 byte:4 bit:8 -> word | -byte bit\"
compression.hash = { name = \"mix-hash\", title = \"Mix\", word = \"le32\", padding = \"80..le64\", output = 17, initial = \"0102030405060708090a0b0c0d0e0f1011121314\" }
";

/// The same by the definition.
fn own_hash(text: &[u8]) -> Vec<u8> {
    let mut padded = text.to_vec();
    padded.push(0x80);
    while padded.len() % 16 != 8 {
        padded.push(0);
    }
    padded.extend((8 * text.len() as u64).to_le_bytes());
    let words = |bytes: &[u8]| -> Vec<u32> {
        bytes.chunks(4).map(|word| u32::from_le_bytes(word.try_into().expect("4"))).collect()
    };
    let mut h = words(&(1..=20).collect::<Vec<u8>>());
    for block in padded.chunks(16) {
        let m = words(block);
        h = vec![
            (h[0] ^ m[0]).wrapping_add(h[1].rotate_left(3)),
            h[1].wrapping_add(m[1].rotate_left(5)),
            h[2] ^ h[0].wrapping_add(m[2]),
            h[3].rotate_left(7).wrapping_add(m[3]),
            h[4] ^ h[0] ^ m[0],
        ];
    }
    h.iter().flat_map(|word| word.to_le_bytes()).take(17).collect()
}

#[test]
fn a_compression_function_of_ones_own_is_a_hash_in_every_slicing() {
    is_a_hash(OWN, OWN_LAYOUT, own_hash);
    is_a_hash(COUNTED, COUNTED_LAYOUT, counted_hash);
}

fn of_text(program: &str, layout: &str) -> Subject {
    let subject = Subject::text("mix.ua", program, None).expect("it is right");
    let place = std::path::Path::new("mix.ua");
    subject.with_layout_text("mix.layout.toml", layout, place).expect("it fits")
}

fn is_a_hash(program: &str, layout: &str, own_hash: fn(&[u8]) -> Vec<u8>) {
    let subject = of_text(program, layout);
    for (slicing, arch, cc) in
        [(Slicing::Vertical, Arch::Avx2, Cc::Gcc), (Slicing::Bit, Arch::X86_64, Cc::Clang)]
    {
        let mut recipe = Recipe::new(slicing, arch, cc, Unroll::No, "-O1");
        recipe.mode = Some("hash".into());
        let made = recipe.make(&subject).expect("it compiles");
        let program = recipe.build(&made).expect("the C compiler takes the text");
        for n in [0, 1, 7, 8, 9, 15, 16, 23, 24, 40] {
            let text: Vec<u8> = (1..=n as u8).map(|k| k.wrapping_mul(37)).collect();
            let lengths = [n as u64, 17].map(u64::to_le_bytes).concat();
            let ours = native::run_mode(&program, arch, &[lengths, text.clone()].concat());
            let ours = ours.unwrap_or_else(|error| panic!("{slicing:?} {n}: {error:?}"));
            assert_eq!(to_hex(&ours), to_hex(&own_hash(&text)), "{slicing:?} {n}");
        }
    }
}

/// BLAKE2s with a key of 32 bytes, which only another first state tells from the hash.
const KEYED_LAYOUT: &str = "name = \"keyed-compress\"
params = { input = { field = \"input\", layout = \"word:27 byte:4 bit:8 -> word | -byte bit\" } }
output = \"word:8 byte:4 bit:8 -> word | -byte bit\"
compression.mac = { name = \"blake2s-mac\", title = \"BLAKE2s with a key of 32 bytes\", word = \"le32\", beside = [\"counter:le64\", \"last:4\"], output = 32, initial = \"47c6086b85ae67bb72f36e3c3af54fa57f520e518c68059babd9831f19cde05b\" }
";

#[test]
fn a_key_that_is_a_first_block_makes_the_published_tags() {
    let program = cipher::library::file("blake2s.ua").expect("it is bundled");
    let subject = of_text(program, KEYED_LAYOUT);
    let way = (Arch::X86_64, Cc::Gcc, 1);
    let program = built(&subject, "mac", way).expect("every machine runs it");
    let bytes = |n: u8| (0..n).collect::<Vec<u8>>();
    // blake2-kat.json of the authors of BLAKE2: the key 00 01 .. 1f, texts of 0, 1, 64 and 65 bytes.
    for (n, tag) in [
        (0, "48a8997da407876b3d79c0d92325ad3b89cbb754d86ab71aee047ad345fd2c49"),
        (1, "40d15fee7c328830166ac3f918650f807e7e01e177258cdc0a39b11f598066f1"),
        (64, "8975b0577fd35566d750b362b0897a26c399136df07bababbde6203ff2954ed4"),
        (65, "21fe0ceb0052be7fb0f004187cacd7de67fa6eb0938d927677f2398c132317a8"),
    ] {
        let text = [bytes(32), vec![0; 32], bytes(n)].concat();
        let lengths = [text.len() as u64, 32].map(u64::to_le_bytes).concat();
        let made = native::run_mode(&program, way.0, &[lengths, text].concat()).expect("it runs");
        assert_eq!(to_hex(&made), tag, "{n} bytes");
    }
}

#[test]
fn a_layout_whose_hash_does_not_fit_is_refused_at_its_line() {
    for (from, to, why) in [
        ("padding = \"80..le64\", ", "", "nothing tells where a message ends"),
        ("padding", "beside = [\"counter:le64\", \"last:4\"], padding", "has no `padding`"),
        ("padding", "has_parameters = true, padding", "a hash with parameters has something"),
        (
            "padding = \"80..le64\"",
            "beside = [\"counter:le64\", \"last:8\"]",
            "36 bytes have no room for a state of 20, a block, and 16 beside it",
        ),
        (
            "padding = \"80..le64\"",
            "beside = [\"counter:le64\", \"first:4\"]",
            "`first:4` is not beside a block",
        ),
        ("le32", "le16", "`le16` is no word of `mix`"),
        ("le32", "le64", "16 of 36 bytes are no words of 64 bits"),
        ("le32", "le31", "`le31` is no word"),
        ("80..le64", "80..le65", "`80..le65` is no padding"),
        ("output = 17, initial", "output = 21, initial", "1 to 20 bytes, not 21"),
        ("output = 17, initial", "initial", "has an `output`"),
        ("0102030405060708", "01", "`initial` is the state, 20 bytes in hex"),
        ("compression.hash = {", "sponge.hash = { rate = 16,", "is over a permutation"),
        ("compression.hash", "sponge.hash", "a row of `sponge` has a `rate`"),
        (
            "compression.hash = {",
            "compression.hash = { rate = 16,",
            "one of `compression` has none",
        ),
        ("compression.hash", "compression.ctr", "`ctr` cannot be a mode"),
        ("compression.hash", "compression.aead", "`aead` cannot be a mode"),
        ("mix-hash", "9 mix", "`9 mix` cannot be a name in C"),
        ("mix-hash", "while", "`while` cannot be a name in C"),
        ("mix-hash", "match", "`match` cannot be a name in C"),
        ("mix-hash", "box", "`box` cannot be a name in C"),
        ("mix-hash", "none", "`none` cannot be a name in C"),
        ("", "TWICE", "`another` has the name `mix-hash` already"),
    ] {
        let row = OWN_LAYOUT.lines().find(|line| line.starts_with("compression.hash"));
        let row = row.expect("the layout has a hash").replace("n.hash", "n.another");
        let layout = match to {
            "TWICE" => format!("{OWN_LAYOUT}{row}\n"),
            _ => OWN_LAYOUT.replacen(from, to, 1),
        };
        assert_ne!(layout, OWN_LAYOUT, "{from}");
        let subject = Subject::text("mix.ua", OWN, None).expect("it is right");
        let program = std::path::Path::new("mix.ua");
        let errors = subject
            .with_layout_text("mix.layout.toml", &layout, program)
            .map(|subject| subject.entry)
            .expect_err(why);
        let said = errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
        assert!(said.contains(why) && said.contains("mix.layout.toml:4:"), "{said}");
    }
}
