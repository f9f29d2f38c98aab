//! Interleaved batches: the result of the pass, the programs that the model chooses it for, and
//! refusals.

use cipher::emit_c::{Arch, shape};
use cipher::native::Cc;
use cipher::options::{Interleave, Schedule, Slicing, Unroll};
use cipher::recipe::{Made, Recipe};
use cipher::unit::Subject;
use expect_test::expect;

fn dump(text: &str, n: u32) -> String {
    let subject = Subject::text("text.ua", text, None).expect("it is right");
    let recipe = Recipe {
        unroll: Unroll::No,
        interleave: Interleave::Times(n),
        dump_after: Some("interleave".into()),
        ..Recipe::unordered(Slicing::Vertical)
    };
    subject.compile(recipe).expect("it compiles").dump.expect("the pass runs")
}

#[test]
fn each_equation_is_repeated_for_every_batch_and_loops_stay_loops() {
    let text = "node f (a:u16, k:u16) returns (b:u16)
    vars s:u16[4]
    let
        s[0] = a;
        forall i in [0, 2] { s[i+1] = (s[i] <<< 3) ^ k }
        b = s[3]
    tel";
    expect![[r#"
        entry node f(a.0[1]:u<V>16, k.1[1]:u<V>16) -> (b.2[1]:u<V>16)
          loop i0 < 3:
            carried s.5 from a.0 to s.4
            t.3 = rotl(3) s.5
            s.4 = xor t.3, k.1
          b.2 = copy s.5
        entry node f_x2(a.0[1]:u<V>16, k.1[1]:u<V>16, a.6[1]:u<V>16, k.7[1]:u<V>16) -> (b.2[1]:u<V>16, b.8[1]:u<V>16)
          loop i0 < 3:
            carried s.5 from a.0 to s.4
            carried s.11 from a.6 to s.10
            t.3 = rotl(3) s.5
            t.9 = rotl(3) s.11
            s.4 = xor t.3, k.1
            s.10 = xor t.9, k.7
          b.2 = copy s.5
          b.8 = copy s.11
    "#]]
    .assert_eq(&dump(text, 2));
}

#[test]
fn one_batch_stays_as_it_is() {
    let text = "node f (a:u16, k:u16) returns (b:u16) let b = (a <<< 3) ^ k tel";
    expect![[r#"
        entry node f(a.0[1]:u<V>16, k.1[1]:u<V>16) -> (b.2[1]:u<V>16)
          t.3 = rotl(3) a.0
          b.2 = xor t.3, k.1
    "#]]
    .assert_eq(&dump(text, 1));
}

#[test]
fn a_called_node_gets_a_copy_for_all_batches_and_stays() {
    let text = "_no_inline node g (a:u16) returns (b:u16) let b = (a <<< 3) ^ (a <<< 5) tel
    node f (a:u16) returns (b:u16) let b = g(a) tel";
    expect![[r#"
        node g(a.0[1]:u<V>16) -> (b.1[1]:u<V>16)
          t.2 = rotl(3) a.0
          t.3 = rotl(5) a.0
          b.1 = xor t.2, t.3
        entry node f(a.0[1]:u<V>16) -> (b.1[1]:u<V>16)
          b.1 = g(a.0)
        node g_x3(a.0[1]:u<V>16, a.4[1]:u<V>16, a.8[1]:u<V>16) -> (b.1[1]:u<V>16, b.5[1]:u<V>16, b.9[1]:u<V>16)
          t.2 = rotl(3) a.0
          t.6 = rotl(3) a.4
          t.10 = rotl(3) a.8
          t.3 = rotl(5) a.0
          t.7 = rotl(5) a.4
          t.11 = rotl(5) a.8
          b.1 = xor t.2, t.3
          b.5 = xor t.6, t.7
          b.9 = xor t.10, t.11
        entry node f_x3(a.0[1]:u<V>16, a.2[1]:u<V>16, a.4[1]:u<V>16) -> (b.1[1]:u<V>16, b.3[1]:u<V>16, b.5[1]:u<V>16)
          b.1, b.3, b.5 = g_x3(a.0, a.2, a.4)
    "#]]
    .assert_eq(&dump(text, 3));
}

fn made(name: &str, slicing: Slicing, arch: Arch, unroll: Unroll, interleave: Interleave) -> Made {
    let subject = Subject::bundled(name).expect("it is bundled").expect("it is right");
    let mut recipe = Recipe::new(slicing, arch, Cc::Gcc, unroll, "-O3");
    recipe.interleave = interleave;
    recipe.make(&subject).expect("it compiles")
}

#[test]
fn the_model_takes_several_batches_where_they_were_measured_to_be_faster() {
    let (h, v) = (Slicing::Horizontal, Slicing::Vertical);
    for (name, slicing, arch, unroll, expected) in [
        // Few registers, long paths.
        ("serpent-128", v, Arch::Avx2, Unroll::Yes, 3),
        ("serpent-128", v, Arch::Avx2, Unroll::No, 3),
        ("rectangle-80", v, Arch::Avx2, Unroll::Yes, 3),
        ("gift-128", v, Arch::Avx2, Unroll::Yes, 3),
        ("chacha20", v, Arch::Avx2, Unroll::Yes, 2),
        ("chacha20", v, Arch::Avx512, Unroll::Yes, 2),
        ("aes-128", h, Arch::Avx512, Unroll::Yes, 2),
        // Spilled already, too long for the instruction cache, or loops that a processor overlaps
        // by itself.
        ("aes-128", h, Arch::Avx2, Unroll::Yes, 1),
        ("skinny-128-256", h, Arch::Avx2, Unroll::Yes, 1),
        ("gimli", v, Arch::Avx2, Unroll::No, 1),
    ] {
        let made = made(name, slicing, arch, unroll, Interleave::Auto);
        let reason = made.compiled.interleave_reason.as_deref().expect("auto says why");
        assert_eq!(
            made.compiled.interleave,
            expected,
            "{name} {} {unroll:?}: {reason}",
            arch.name()
        );
    }
}

#[test]
fn batches_that_the_model_takes_keep_the_order_of_the_text_and_one_batch_is_scheduled() {
    let (h, v) = (Slicing::Horizontal, Slicing::Vertical);
    for (name, slicing, expected) in [
        ("chacha20", v, (2, Schedule::None)),
        ("serpent-128", v, (3, Schedule::None)),
        ("aes-128", h, (1, Schedule::Mslice)),
        ("skinny-128-256", h, (1, Schedule::Mslice)),
    ] {
        let made = made(name, slicing, Arch::Avx2, Unroll::Yes, Interleave::Auto);
        let reason = made.compiled.schedule_reason.as_deref().expect("auto says why");
        assert_eq!(
            (made.compiled.interleave, made.compiled.schedule),
            expected,
            "{name}: {reason}"
        );
    }
    // A number of batches that is asked for has both.
    let made = made("chacha20", v, Arch::Avx2, Unroll::Yes, Interleave::Times(2));
    assert_eq!((made.compiled.interleave, made.compiled.schedule), (2, Schedule::Mslice));
}

#[test]
fn a_smaller_number_of_the_model_that_is_not_taken_comes_with_the_reason() {
    let (b, v) = (Slicing::Bit, Slicing::Vertical);
    for (name, slicing, is_smaller) in [
        ("rectangle-80", b, true),
        ("present-80", b, true),
        ("chacha20", b, false),
        ("clyde-128", v, true),
    ] {
        let made = made(name, slicing, Arch::X86_64, Unroll::Auto, Interleave::Times(1));
        let reason = made.compiled.schedule_reason.as_deref().expect("auto says why");
        let cycles: Vec<f64> =
            reason.split(' ').filter_map(|part| part.parse().ok()).take(2).collect();
        let [before, after] = cycles[..] else { panic!("{reason}") };
        let is_taken = made.compiled.schedule != Schedule::None;
        assert_eq!(
            (after < before, reason.contains("is not taken")),
            (is_smaller, is_smaller && !is_taken),
            "{name}: {reason}"
        );
    }
    for (name, slicing) in [
        ("rectangle-80", b),
        ("photon-256", b),
        ("aes-128", v),
        ("serpent-128", v),
        ("ascon-p12", v),
    ] {
        for arch in [Arch::X86_64, Arch::Avx2] {
            let made = made(name, slicing, arch, Unroll::Yes, Interleave::Auto);
            let reason = made.compiled.interleave_reason.as_deref().expect("auto says why");
            let Some((numbers, why)) = reason
                .split_once(" of 1 ")
                .map(|pair| pair.1.split_once("; ").unwrap_or((pair.1, "")))
            else {
                continue;
            };
            let cycles: Vec<f64> = numbers
                .split(", of ")
                .map(|part| part.split(' ').next_back().expect("a number").parse().expect("one"))
                .collect();
            let taken = cycles[made.compiled.interleave as usize - 1];
            let is_least = cycles.iter().all(|cycle| *cycle >= taken);
            assert!(is_least || !why.is_empty(), "{name} {}: {reason}", arch.name());
        }
    }
}

#[test]
fn a_call_takes_the_blocks_of_all_batches() {
    for n in 1..=4 {
        let made =
            made("serpent-128", Slicing::Vertical, Arch::Avx2, Unroll::No, Interleave::Times(n));
        assert_eq!(shape(&made.compiled, Arch::Avx2).blocks(), 8 * n);
        assert_eq!(made.bytes_per_call(Arch::Avx2), 16 * 8 * n as usize);
    }
}

#[test]
fn ascon_processes_many_messages_in_several_batches_and_one_in_one() {
    let subject = Subject::bundled("ascon-p12").expect("it is bundled").expect("it is right");
    for (arch, expected) in [(Arch::X86_64, 1), (Arch::Sse, 2), (Arch::Avx2, 2), (Arch::Avx512, 2)]
    {
        for mode in ["aead", "hash", "xof"] {
            let mut recipe = Recipe::new(Slicing::Vertical, arch, Cc::Gcc, Unroll::No, "-O3");
            recipe.mode = Some(mode.into());
            recipe.interleave = Interleave::Auto;
            let made = recipe.make(&subject).expect("it compiles");
            assert_eq!(made.compiled.interleave, expected, "{} {mode}", arch.name());
        }
    }
}
