//! The part of the `main` of tests and measurements that runs a stream.

use std::fmt::Write;

use super::Unit;
use super::arch::Shape;
use super::ctr::{Counter, CounterPiece};

impl Counter {
    /// `run_stream`, for tests: reads a length, the key fields, what `init` takes and the bytes,
    /// and writes the result of the stream, for as many bytes as its counter allows. It also checks
    /// that other lengths, places and pieces give the same, and wrong calls their errors.
    /// `secret_stream`: a stream with key, nonce and bytes uninitialised; the counter is not
    /// secret.
    pub fn check(&self, name: &str, unit: &Unit, shape: Shape) -> String {
        let ctr = self.prefix(name);
        let up = ctr.to_uppercase();
        let (_, pass) = self.keys(name, unit, shape);
        let pass = pass.replace("keys", "&keys");
        let (mut reads, mut key_args, mut init_args) =
            (String::new(), String::new(), String::new());
        let mut secrets = String::new();
        let mut read = |name: &str, n: usize| {
            let zeros = if name == "counter" { " = {0}" } else { "" };
            let _ = writeln!(
                secrets,
                "    uint8_t {name}[{n}]{zeros};\n    __asm__ volatile(\"\" :: \"r\"({name}) : \"memory\");"
            );
            let _ = writeln!(
                reads,
                "    static uint8_t {name}[{n}];\n    if (fread({name}, 1, {n}, stdin) != {n})\n        return 1;"
            );
        };
        for key in unit.key_fields() {
            read(&key.name, key.layout.n_bytes);
            let _ = write!(key_args, ", {}", key.name);
        }
        let expand = if pass.is_empty() {
            String::new()
        } else {
            format!("    {name}_expand(&keys{key_args});\n")
        };
        let keys = if pass.is_empty() {
            String::new()
        } else {
            format!("    static {name}_roundkeys keys;\n")
        };
        for piece in &self.pieces {
            match piece {
                CounterPiece::Fixed(_) => {}
                CounterPiece::Given(name, n) => {
                    read(name, *n);
                    let _ = write!(init_args, ", {name}");
                }
                CounterPiece::Counter => {
                    read("counter", self.n_bytes());
                    let number = format!("*(uint{}_t *)counter", self.bits);
                    let _ = write!(
                        init_args,
                        ", {}",
                        if self.is_block() { "counter" } else { &number }
                    );
                }
            }
        }
        format!(
            "
static int run_stream(void)
{{
    uint64_t n, state = 1;
    static {ctr} stream;
{keys}    if (fread(&n, 8, 1, stdin) != 1)
        return 1;
{reads}    uint8_t *in = malloc(n + 1), *out = malloc(n + 1), *other = malloc(n + 32);
    if (!in || !out || !other || fread(in, 1, n, stdin) != n)
        return 1;
{expand}    {ctr}_init(&stream{init_args});
    const uint64_t asked = n;
    while (n > 0 && {ctr}_xor(&stream, {pass}in, out, n) == {up}_ENDS)
        n--;
    /* Nothing comes after the last block. */
    if (n < asked && {ctr}_xor(&stream, {pass}in, other, 1) != {up}_ENDS)
        return 7;
    for (size_t k = 0; k <= n; k += n > 5000 && k > 300 && (k + 1) % {batch} > 2 ? 61 : 1) {{
        uint8_t *place = other + k % 8;
        memcpy(place, in, k);
        memset(place + k, 0xa5, 16);
        {ctr}_init(&stream{init_args});
        if ({ctr}_xor(&stream, {pass}place, place, k) != {up}_OK || memcmp(place, out, k))
            return 2;
        for (int i = 0; i < 16; i++)
            if (place[k + i] != 0xa5)
                return 3;
    }}
    for (int round = 0; round < 24; round++) {{
        {ctr}_init(&stream{init_args});
        for (size_t at = 0; at < n;) {{
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            size_t k = (state >> 33) % (round % 3 == 0 ? 7 : round % 3 == 1 ? 100 : {batch} + {batch} / 2) + (round % 2);
            k = k < n - at ? k : n - at;
            if ({ctr}_xor(&stream, {pass}in + at, other + at, k) != {up}_OK)
                return 4;
            at += k;
        }}
        if (memcmp(other, out, n))
            return 5;
    }}
    {ctr}_init(&stream{init_args});
    if ({ctr}_xor(&stream, {pass}NULL, NULL, 0) != {up}_OK || {ctr}_xor(&stream, {pass}NULL, other, 1) != {up}_NULL
        || {ctr}_xor(&stream, {pass}in, NULL, 1) != {up}_NULL || {ctr}_xor(&stream, {pass}other, other + 1, 2) != {up}_OVERLAPS
        || {ctr}_xor(&stream, {pass}other + 1, other, 2) != {up}_OVERLAPS)
        return 6;
    return fwrite(out, 1, n, stdout) != n;
}}

static int secret_stream(void)
{{
    const size_t n = 3 * {batch} + 5;
{secrets}    static {ctr} stream;
{keys}    uint8_t *in = malloc(n), *out = malloc(n);
    __asm__ volatile(\"\" : \"+r\"(in) :: \"memory\");
    if (!in || !out)
        return 1;
{expand}    {ctr}_init(&stream{init_args});
    {ctr}_xor(&stream, {pass}in, out, 3);
    {ctr}_xor(&stream, {pass}in + 3, out + 3, n - 3);
    __asm__ volatile(\"\" :: \"r\"(out) : \"memory\");
    return 0;
}}
",
            batch = unit.output_bytes() * shape.blocks() as usize,
        )
    }
}
