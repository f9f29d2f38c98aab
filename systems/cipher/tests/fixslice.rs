//! Permutations that are put off: what is found in programs as their authors define them, and that
//! entry and key schedule together still mean the same.

use cipher::emit_c::Arch;
use cipher::ir::{Body, Op, Program, Stmt, eval::eval};
use cipher::native::Cc;
use cipher::options::{Fixslice, Options, Schedule, Slicing, Unroll};
use cipher::passes::estimate;
use cipher::pipeline::{Compiled, compile};
use cipher::recipe::Recipe;
use cipher::syntax::load_text;
use cipher::target::Target;
use cipher::unit::Subject;

const GIFT: &str = include_str!("programs/gift.ua");

fn bundled(name: &str, slicing: Slicing, arch: Arch, fixslice: Fixslice) -> Compiled {
    let subject = Subject::bundled(name).expect("it is bundled").expect("it is right");
    let mut recipe = Recipe::new(slicing, arch, Cc::Gcc, Unroll::Yes, "-O1");
    (recipe.fixslice, recipe.schedule) = (fixslice, Schedule::None);
    recipe.make(&subject).expect("it compiles").compiled
}

/// The program of a text with an entry and the node that makes its second parameter.
fn made(text: &str, entries: [&str; 2], slicing: Slicing, fixslice: Fixslice) -> Compiled {
    let program = load_text("own.ua", text, &[]).unwrap_or_else(|errors| panic!("{}", errors[0]));
    let recipe = Recipe { fixslice, unroll: Unroll::Yes, ..Recipe::unordered(slicing) };
    let complements = fixslice == Fixslice::Yes;
    let options = Options { keys: vec![1], complements, ..Options::generic(recipe) };
    compile(&program, &entries, &options).unwrap_or_else(|errors| panic!("{}", errors[0]))
}

/// What the entry gives for the keys that the second entry makes of `key`.
fn encrypt(program: &Program, plain: &[u64], key: &[u64]) -> Vec<u64> {
    let keys = eval(program, program.entries[1], key);
    eval(program, program.entries[0], &[plain, &keys].concat())
}

/// Steps of the first entry on general registers.
fn steps(compiled: &Compiled) -> u64 {
    let program = &compiled.program;
    let Body::Stmts(stmts) = &program.nodes[program.entries[0].idx()].body else { panic!("code") };
    let of = |stmt: &Stmt| match stmt {
        Stmt::Eq(eq) => match &eq.op {
            Op::Copy => 0,
            Op::Shuffle(pattern) => estimate::steps(pattern, &Target::generic(), compiled.slicing),
            _ => 1,
        },
        _ => panic!("the entry is straight"),
    };
    stmts.iter().map(of).sum()
}

fn random(rng: &mut fastrand::Rng, n: usize, bits: u32) -> Vec<u64> {
    (0..n).map(|_| rng.u64(..) >> (64 - bits)).collect()
}

#[test]
fn gift_by_its_definition_is_found_to_need_what_it_needs_by_hand() {
    let mut rng = fastrand::Rng::with_seed(20_261_128);
    let by_hand = bundled("gift-128", Slicing::Vertical, Arch::X86_64, Fixslice::No);
    let as_written = made(GIFT, ["gift", "keys"], Slicing::Vertical, Fixslice::No);
    let found = made(GIFT, ["gift", "keys"], Slicing::Vertical, Fixslice::Yes);
    let [hand, written, own] = [&by_hand, &as_written, &found].map(steps);
    assert!(100 * own <= 101 * hand && 8 * own < written, "{hand} {written} {own}");
    for _ in 0..4 {
        let (plain, key) = (random(&mut rng, 4, 32), random(&mut rng, 4, 32));
        let expected = encrypt(&by_hand.program, &plain, &key);
        assert_eq!(encrypt(&as_written.program, &plain, &key), expected);
        assert_eq!(encrypt(&found.program, &plain, &key), expected);
    }
}

#[test]
fn shift_rows_is_put_off_for_the_whole_of_aes_and_the_inverse_too() {
    for (name, is_spared) in [("aes-128", true), ("aes-128-decrypt", true), ("ascon-p12", false)] {
        for (slicing, arch) in [
            (Slicing::Horizontal, Arch::X86_64),
            (Slicing::Horizontal, Arch::Avx2),
            (Slicing::Vertical, Arch::X86_64),
        ] {
            let found = bundled(name, slicing, arch, Fixslice::Auto);
            assert_eq!(found.fixslice_reason.is_some(), is_spared, "{name} {}", arch.name());
        }
    }
    // Of three shuffles of a word and round, two are left, and one at the end.
    let n_shuffles = |fixslice| {
        let compiled = bundled("aes-128", Slicing::Horizontal, Arch::Avx2, fixslice);
        let program = &compiled.program;
        let entry = &program.nodes[program.entries[0].idx()];
        let Body::Stmts(stmts) = &entry.body else { panic!("code") };
        let is_one = |stmt: &&Stmt| matches!(stmt, Stmt::Eq(eq) if matches!(eq.op, Op::Shuffle(_)));
        stmts.iter().filter(is_one).count()
    };
    assert_eq!(n_shuffles(Fixslice::No), 8 * (9 * 3 + 1));
    assert_eq!(n_shuffles(Fixslice::Auto), 8 * (9 * 2 + 1));
}

#[test]
fn an_entry_whose_loops_are_kept_is_left_as_it_is() {
    let subject = Subject::bundled("aes-128").expect("it is bundled").expect("it is right");
    let recipe = Recipe::new(Slicing::Horizontal, Arch::X86_64, Cc::Gcc, Unroll::No, "-O1");
    let made = recipe.make(&subject).expect("it compiles");
    assert_eq!(made.compiled.fixslice_reason, None);
}

/// A key that is read in every round, a result that is read again, masks, shifts and constants.
const KEY_IN_EVERY_ROUND: &str = "
node keys (key : u16x4) returns (rk : u16x4[2])
let
    rk[0] = (key[0] ^ (key[1] <<< 3), key[1..3]);
    rk[1] = key ^ (0x0123, 0, 0xffff, 0x4567)
tel

node moved (x : u16x4) returns (y : u16x4)
let
    forall i in [0, 3] {
        y[i] = Shuffle(x[i], [0,1,2,3, 5,6,7,4, 10,11,8,9, 15,12,13,14])
    }
tel

node own (plain : u16x4, key : u16x4[2]) returns (cipher : u16x4, middle : u16)
vars s, t : u16x4[7]
let
    s[0] = plain ^ key[0];
    forall i in [0, 5] {
        t[i] = moved(s[i]);
        s[i+1] = (t[i][0] & ~t[i][1] ^ (t[i][2] <<< 4), ~(t[i][1] | t[i][3]) & 0xf731,
                  (t[i][2] >> 3) ^ t[i][0] & 0x00ff, t[i][3] ^ 0x8421) ^ key[i%2]
    }
    middle = s[3][1] ^ 0xff00;
    t[6] = s[6] ^ (middle, plain[0], middle & 0x7777, key[1][2]);
    cipher = moved(t[6])
tel
";

#[test]
fn keys_read_in_every_round_results_that_are_read_and_constants_keep_their_meaning() {
    let mut rng = fastrand::Rng::with_seed(20_261_129);
    for slicing in [Slicing::Horizontal, Slicing::Vertical] {
        let [plain, own] = [Fixslice::No, Fixslice::Yes]
            .map(|fixslice| made(KEY_IN_EVERY_ROUND, ["own", "keys"], slicing, fixslice));
        assert!(own.fixslice_reason.is_some(), "{}", slicing.letter());
        for _ in 0..50 {
            let (text, key) = (random(&mut rng, 4, 16), random(&mut rng, 4, 16));
            let expected = encrypt(&plain.program, &text, &key);
            assert_eq!(encrypt(&own.program, &text, &key), expected, "{}", slicing.letter());
        }
    }
}

#[test]
fn an_aes_on_general_registers_has_half_of_the_complements_and_keys_take_some() {
    let subject = Subject::bundled("aes-128").expect("it is bundled").expect("it is right");
    let n = |arch: Arch| {
        let recipe = Recipe::new(Slicing::Horizontal, arch, Cc::Gcc, Unroll::Yes, "-O1");
        let program = recipe.make(&subject).expect("it compiles").compiled.program;
        let Body::Stmts(stmts) = &program.nodes[program.entries[0].idx()].body else {
            panic!("code")
        };
        let is_one =
            |stmt: &&Stmt| matches!(stmt, Stmt::Eq(eq) if matches!(eq.op, Op::Not | Op::AndNot));
        stmts.iter().filter(is_one).count()
    };
    let (general, avx2) = (n(Arch::X86_64), n(Arch::Avx2));
    assert!(avx2 >= 180 && general <= 108, "{avx2} {general}");
}
