//! Secrets that emitted C leaves in memory: after the last call its stack has no part of key, text
//! and key stream, and contexts are zeros, at -O3 with both compilers, in the order of the text and
//! in that of `auto`. Without the wipes the same programs find them.

use std::process::Command;
use std::time::Duration;

use cipher::emit_c::Arch;
use cipher::native::{self, Cc};
use cipher::options::{Schedule, Slicing, Unroll};
use cipher::recipe::Recipe;
use cipher::unit::Subject;
use measure::tool;

fn skipped(what: &str) {
    testkit::skipped(&format!("cipher wiping: {what}"));
}

/// The calls run on their own stack, which is searched for any eight consecutive bytes of
/// `secrets`; `contexts` must be zeros. Exit code: 10 to 12 if a secret is found, 20 if a context
/// is not zeros.
const MAIN: &str = "
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

static uint8_t stack[1 << 16] __attribute__((aligned(4096)));
static ucontext_t here, there;
enum { N = 5 * BATCH / 2 + 3 };
static uint8_t key[32], nonce[16], text[N], out[N], keystream[N], tag[32];

CALLS

static int is_on_stack(const uint8_t *secret, size_t n)
{
    for (size_t i = 0; i + 8 <= sizeof stack; i++)
        for (size_t k = 0; k + 8 <= n; k++)
            if (stack[i] == secret[k] && !memcmp(stack + i, secret + k, 8))
                return 1;
    return 0;
}

static int is_zeros(const void *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (((const uint8_t *)p)[i])
            return 0;
    return 1;
}

int main(void)
{
    uint64_t state = 1;
    uint8_t *all[] = {key, nonce, text};
    size_t sizes[] = {sizeof key, sizeof nonce, sizeof text};
    for (int k = 0; k < 3; k++)
        for (size_t i = 0; i < sizes[k]; i++) {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            all[k][i] = (uint8_t)(state >> 56);
        }
    /* Once on another stack: the dynamic linker finds functions at their first call, and saves all registers on the stack. */
    calls();
    memset(stack, 0xa5, sizeof stack);
    getcontext(&there);
    there.uc_stack.ss_sp = stack;
    there.uc_stack.ss_size = sizeof stack;
    there.uc_link = &here;
    makecontext(&there, calls, 0);
    swapcontext(&here, &there);
    for (size_t i = 0; i < N; i++)
        keystream[i] = text[i] ^ out[i];
    if (is_zeros(out, sizeof out))
        return 1;
    if (is_on_stack(key, sizeof key))
        return 10;
    if (is_on_stack(text, sizeof text))
        return 11;
    if (is_on_stack(keystream, sizeof keystream))
        return 12;
    return CONTEXTS ? 0 : 20;
}
";

/// A primitive, its mode, and calls of its functions.
struct Case {
    name: &'static str,
    mode: &'static str,
    calls: &'static str,
    /// True if all contexts are zeros.
    contexts: &'static str,
    ways: &'static [(Slicing, Arch)],
}

const CASES: [Case; 5] = [
    Case {
        name: "aes-128",
        mode: "ctr",
        calls: "
static aes128_roundkeys keys;
static aes128_ctr ctr;
static uint8_t other[N];
static void calls(void)
{
    aes128_expand(&keys, key);
    aes128_blocks(&keys, text, other, N / 16);
    aes128_ctr_init(&ctr, nonce);
    aes128_ctr_xor(&ctr, &keys, text, out, 5);
    aes128_ctr_xor(&ctr, &keys, text + 5, out + 5, N - 5);
    aes128_ctr_wipe(&ctr);
    aes128_wipe(&keys);
}",
        contexts: "is_zeros(&keys, sizeof keys) && is_zeros(&ctr, sizeof ctr)",
        ways: &[(Slicing::Horizontal, Arch::Sse), (Slicing::Horizontal, Arch::Avx2)],
    },
    Case {
        name: "serpent-128",
        mode: "ctr",
        calls: "
static serpent128_roundkeys keys;
static uint8_t other[N];
static void calls(void)
{
    serpent128_expand(&keys, key);
    serpent128_blocks(&keys, text, other, N / 16);
    serpent128_ctr ctr;
    serpent128_ctr_init(&ctr, nonce);
    serpent128_ctr_xor(&ctr, &keys, text, out, N);
    serpent128_ctr_wipe(&ctr);
    serpent128_wipe(&keys);
}",
        contexts: "is_zeros(&keys, sizeof keys)",
        ways: &[(Slicing::Vertical, Arch::X86_64), (Slicing::Vertical, Arch::Avx2)],
    },
    Case {
        name: "chacha20",
        mode: "ctr",
        calls: "
static void calls(void)
{
    chacha20_ctr ctr;
    chacha20_ctr_init(&ctr, key, 1, nonce);
    chacha20_ctr_xor(&ctr, text, out, 5);
    chacha20_ctr_xor(&ctr, text + 5, out + 5, N - 5);
    chacha20_ctr_wipe(&ctr);
}",
        contexts: "1",
        ways: &[(Slicing::Vertical, Arch::X86_64), (Slicing::Vertical, Arch::Avx2)],
    },
    Case {
        name: "ascon-p12",
        mode: "aead",
        calls: "
static void calls(void)
{
    ascon_aead128_encrypt(key, nonce, text, 20, text, out, N, tag);
    ascon_aead128_decrypt(key, nonce, text, 20, out, keystream, N, tag);
}",
        contexts: "1",
        ways: &[
            (Slicing::Vertical, Arch::X86_64),
            (Slicing::Vertical, Arch::Sse),
            (Slicing::Vertical, Arch::Avx2),
        ],
    },
    Case {
        name: "ascon-p12",
        mode: "hash",
        calls: "
static ascon_hash256_state h[2];
static void calls(void)
{
    ascon_hash256(text, N, out);
    ascon_hash256_init(&h[0]);
    ascon_hash256_update(&h[0], text, 13);
    ascon_hash256_wipe(&h[0]);
    ascon_hash256_init(&h[1]);
    ascon_hash256_update(&h[1], text, N);
    ascon_hash256_final(&h[1], tag);
    h[1].is_squeezing = 0;
}",
        contexts: "is_zeros(h, sizeof h)",
        ways: &[(Slicing::Vertical, Arch::X86_64)],
    },
];

/// The exit code of a case's program, with the wipes or without.
fn run(
    case: &Case,
    (slicing, arch, schedule): (Slicing, Arch, Schedule),
    cc: Cc,
    wipes: bool,
) -> i32 {
    let subject = Subject::bundled(case.name).expect("it is bundled").expect("it is right");
    let mut recipe = Recipe::new(slicing, arch, cc, Unroll::Auto, "-O3");
    recipe.mode = Some(case.mode.into());
    recipe.schedule = schedule;
    let made = recipe.make(&subject).expect("bundled programs compile");
    let mut source = recipe.source(&made, false, false);
    if !wipes {
        let (head, rest) =
            source.split_once("    uint8_t *bytes = p;\n").expect("the file has `wipe`");
        let end = "    __asm__ volatile(\"\" :: \"r\"(p) : \"memory\");\n";
        let (_, tail) = rest.split_once(end).expect("`wipe` ends so");
        source = format!("{head}{tail}");
    }
    let batch = made.bytes_per_call(arch).to_string();
    let main = MAIN
        .replace("CALLS", case.calls)
        .replace("BATCH", &batch)
        .replace("CONTEXTS", case.contexts);
    let program =
        native::build(&(source + &main), arch, cc, "-O3").expect("the C compiler takes the text");
    let ran =
        tool::run(&mut Command::new(program), &[], Duration::from_secs(60)).expect("it starts");
    ran.status.code().expect("it ends")
}

#[test]
fn no_secret_is_left_in_memory_and_without_wipes_one_is() {
    let mut left = Vec::new();
    for case in &CASES {
        let (mut n_clean, mut n_found) = (0, 0);
        for &(slicing, arch) in case.ways {
            if let Some(feature) = native::missing_feature(arch) {
                skipped(&format!("{}: the processor lacks {feature}", arch.name()));
                continue;
            }
            for cc in Cc::ALL.into_iter().filter(|cc| cc.version().is_ok()) {
                for schedule in [Schedule::None, Schedule::Auto] {
                    let code = run(case, (slicing, arch, schedule), cc, true);
                    left.extend((code != 0).then(|| {
                        format!(
                            "{} {} {} {} {}: {code}",
                            case.name,
                            case.mode,
                            arch.name(),
                            cc.name(),
                            schedule.name()
                        )
                    }));
                }
                n_clean += 1;
                n_found += i32::from(
                    cc == Cc::Gcc && run(case, (slicing, arch, Schedule::None), cc, false) >= 10,
                );
            }
        }
        assert!(
            n_found > 0 || n_clean == 0,
            "{} {}: the search finds nothing even where nothing is wiped",
            case.name,
            case.mode
        );
    }
    assert_eq!(left, Vec::<String>::new());
}
