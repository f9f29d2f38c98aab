//! A plan of [`crate::transpose`] as C: one function a field and direction, for a whole batch of
//! blocks.
//!
//! The registers of a part are numbered by its slots. A pass applies some steps to the registers of
//! a few slots, and a loop repeats it for all values of the other slots. The first pass of a load
//! reads memory, the last of a store writes it; between passes each register stays at its final
//! number in a load, and at its first in a store, so nothing is copied.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::transpose::{
    ABSENT, BLOCK, Direction, Exchange, Flips, MoveStep, Moves, StringPart, Within,
};

use super::arch::Shape;
use super::field::Field;
use crate::target::Arch;

/// Functions that the passes call, by name.
#[derive(Default)]
pub struct Helpers(BTreeMap<String, String>);

impl Helpers {
    /// The functions used so far.
    pub fn text(&self) -> String {
        self.0.values().map(String::as_str).collect()
    }

    fn add(&mut self, name: &str, text: impl FnOnce() -> String) -> String {
        self.0.entry(name.to_string()).or_insert_with(text);
        name.to_string()
    }
}

/// `xor_NAME`, a store that XORs the registers with other bytes; only for strings of one part.
pub fn xor(field: &Field, shape: Shape, moves: &Moves, helpers: &mut Helpers) -> Option<String> {
    let [part] = &moves.parts[..] else { return None };
    let base = "out".to_string();
    let stride = field.layout.n_bytes;
    let mut network = MoveNetwork {
        shape,
        direction: Direction::Store,
        part,
        stride,
        base,
        is_xor: true,
        helpers,
    };
    let passes = network.passes()?;
    Some(format!(
        "\nstatic void xor_{}(reg *r, const uint8_t *in, uint8_t *out)\n{{\n{passes}}}\n",
        field.name
    ))
}

/// `load_NAME` or `store_NAME`; `None` if the plan has a step that is not implemented here.
pub fn function(
    field: &Field,
    shape: Shape,
    direction: Direction,
    moves: &Moves,
    helpers: &mut Helpers,
) -> Option<String> {
    let (name, is_load) = (&field.name, direction == Direction::Load);
    let mut out = match direction {
        Direction::Load => format!("\nstatic void load_{name}(reg *r, const uint8_t *in)\n{{\n"),
        Direction::Store => format!("\nstatic void store_{name}(reg *r, uint8_t *out)\n{{\n"),
    };
    for part in &moves.parts {
        let (offset, n_bytes, stride) = (part.offset, part.n_bytes, field.layout.n_bytes);
        let is_copied =
            n_bytes < 8 && n_bytes < stride && 8 * n_bytes < shape.register_bits() as usize;
        let mut network = MoveNetwork {
            shape,
            direction,
            part,
            stride,
            base: String::new(),
            is_xor: false,
            helpers,
        };
        network.base = match (is_load, offset) {
            _ if is_copied => "part".into(),
            (true, 0) => "in".into(),
            (false, 0) => "out".into(),
            (true, _) => format!("in + {offset}"),
            (false, _) => format!("out + {offset}"),
        };
        if is_copied {
            network.stride = n_bytes;
        }
        let passes = network.passes()?;
        if !is_copied {
            out += &passes;
            continue;
        }
        let copy = if is_load {
            format!("memcpy(part + {n_bytes} * b, in + {stride} * b + {offset}, {n_bytes});")
        } else {
            format!("memcpy(out + {stride} * b + {offset}, part + {n_bytes} * b, {n_bytes});")
        };
        let copies = format!("    for (int b = 0; b < SLICES; b++)\n        {copy}\n");
        let _ = writeln!(out, "    uint8_t part[{n_bytes} * SLICES] __attribute__((aligned(64)));");
        out += &if is_load { copies + &passes } else { passes + &copies };
        out += "    wipe(part, sizeof part);\n";
    }
    Some(out + "}\n")
}

struct MoveNetwork<'a> {
    shape: Shape,
    direction: Direction,
    part: &'a StringPart,
    /// Bytes from block to block in memory.
    stride: usize,
    /// C expression of the part's first byte.
    base: String,
    /// Stored registers are first XORed with the bytes at the same place of `in`.
    is_xor: bool,
    helpers: &'a mut Helpers,
}

/// C terms for the distances by which the bits of a register's number move it.
fn linear(steps: &[i64]) -> Vec<String> {
    let mut terms = Vec::new();
    let mut k = 0;
    while k < steps.len() {
        let n = (k + 1..steps.len()).take_while(|n| steps[*n] == steps[k] << (n - k)).count() + 1;
        let (from, until_end) =
            (if k == 0 { "i".to_string() } else { format!("(i >> {k})") }, k + n == steps.len());
        let bits = if until_end { from } else { format!("({from} & {})", (1 << n) - 1) };
        terms.push(if steps[k] == 1 { bits } else { format!("{} * {bits}", steps[k]) });
        k += n;
    }
    terms
}

fn sum(base: &str, constant: i64, terms: &[String]) -> String {
    let mut text = base.to_string();
    if constant != 0 {
        let _ = write!(text, " {} {}", if constant < 0 { '-' } else { '+' }, constant.abs());
    }
    for term in terms {
        match term.strip_prefix('-') {
            Some(rest) => text += &format!(" - {rest}"),
            None => text += &format!(" + {term}"),
        }
    }
    text
}

impl MoveNetwork<'_> {
    fn register_type(&self) -> &'static str {
        if self.shape.is_vector() { "reg64" } else { "reg" }
    }

    /// Bytes by which a label moves in memory.
    fn memory_step(&self, label: u8) -> i64 {
        if label >= BLOCK { (self.stride as i64) << (label - BLOCK) } else { (1i64 << label) / 8 }
    }

    fn passes(&mut self) -> Option<String> {
        let n_group = self.shape.arch.row().log_move_group;
        let mut passes: Vec<(Vec<usize>, Vec<&MoveStep>)> = vec![Default::default()];
        for step in &self.part.steps {
            let (slots, steps) = passes.last_mut().expect("there is always one");
            match step {
                MoveStep::Exchange(_, slot, _)
                    if !slots.contains(slot) && slots.len() == n_group =>
                {
                    passes.push((vec![*slot], vec![step]))
                }
                MoveStep::Exchange(_, slot, _) => {
                    if !slots.contains(slot) {
                        slots.push(*slot);
                    }
                    steps.push(step);
                }
                MoveStep::Within(_) => steps.push(step),
            }
        }
        let has_absent = self.part.register_step.iter().flatten().any(|step| *step >= ABSENT);
        if has_absent && passes.len() > 1 {
            return None;
        }
        let last = passes.len() - 1;
        Some(
            passes
                .into_iter()
                .enumerate()
                .map(|(k, (slots, steps))| self.pass(slots, &steps, k == 0, k == last))
                .collect(),
        )
    }

    fn pass(
        &mut self,
        mut slots: Vec<usize>,
        steps: &[&MoveStep],
        is_first: bool,
        is_last: bool,
    ) -> String {
        slots.sort_unstable();
        let part = self.part;
        let (memory_first, memory_last) = (
            self.direction == Direction::Load && is_first,
            self.direction == Direction::Store && is_last,
        );
        let others: Vec<usize> = (0..part.slots.len()).filter(|s| !slots.contains(s)).collect();
        let memory_steps: Vec<i64> = part
            .slots
            .iter()
            .map(|(start, end)| {
                self.memory_step(if self.direction == Direction::Load { *start } else { *end })
            })
            .collect();
        let register_steps: Vec<i64> = part
            .slots
            .iter()
            .map(|(start, end)| if self.direction == Direction::Load { *end } else { *start })
            .map(|label| {
                part.register_step[usize::from(label)]
                    .expect("slots hold registers at the side of the slices")
            })
            .collect();
        let at = |steps: &[i64], r: usize| -> i64 {
            slots.iter().enumerate().map(|(k, s)| (r >> k & 1) as i64 * steps[*s]).sum()
        };
        let of_others =
            |steps: &[i64]| linear(&others.iter().map(|s| steps[*s]).collect::<Vec<_>>());
        let mut lines = Vec::new();
        let n = 1 << slots.len();
        if memory_first || memory_last {
            let kind = if memory_first { "const uint8_t" } else { "uint8_t" };
            lines.push(format!("{kind} *p = {};", sum(&self.base, 0, &of_others(&memory_steps))));
            if self.is_xor && memory_last {
                lines.push(format!(
                    "const uint8_t *s = {};",
                    sum("in", 0, &of_others(&memory_steps))
                ));
            }
        }
        lines.push(format!(
            "reg *q = {};",
            sum("r", part.first_register, &of_others(&register_steps))
        ));
        let ty = self.register_type();
        let get =
            if memory_first || (memory_last && self.is_xor) { self.get() } else { String::new() };
        let put = if memory_last { self.put() } else { String::new() };
        for r in 0..n {
            let value = if memory_first {
                format!("{get}({})", sum("p", at(&memory_steps, r), &[]))
            } else if at(&register_steps, r) >= ABSENT {
                format!("({ty})ZERO")
            } else {
                format!("({ty})q[{}]", at(&register_steps, r))
            };
            lines.push(format!("{ty} a{r} = {value};"));
        }
        let mut names: Vec<String> = (0..n).map(|r| format!("a{r}")).collect();
        for step in steps {
            match step {
                MoveStep::Within(within) => {
                    let function = self.within(within);
                    lines.extend(names.iter().map(|a| format!("{function}(&{a});")));
                }
                MoveStep::Exchange(kind, slot, flips) => {
                    let function = self.exchange(*kind);
                    let bit = 1
                        << slots
                            .iter()
                            .position(|s| s == slot)
                            .expect("the pass has the slots of its steps");
                    for low in (0..n).filter(|r| r & bit == 0) {
                        exchange_names(&mut names, low, low | bit, *flips, |a, b| {
                            lines.push(format!("{function}(&{a}, &{b});"))
                        });
                    }
                }
            }
        }
        for (r, name) in names.iter().enumerate() {
            if memory_last && self.is_xor {
                let at = at(&memory_steps, r);
                lines.push(format!(
                    "{put}({}, {name} ^ {get}({}));",
                    sum("p", at, &[]),
                    sum("s", at, &[])
                ));
            } else if memory_last {
                lines.push(format!("{put}({}, {name});", sum("p", at(&memory_steps, r), &[])));
            } else if at(&register_steps, r) < ABSENT {
                lines.push(format!("q[{}] = (reg){name};", at(&register_steps, r)));
            }
        }
        if others.is_empty() {
            return format!("    {{\n        {}\n    }}\n", lines.join("\n        "));
        }
        format!(
            "    for (int i = 0; i < {}; i++) {{\n        {}\n    }}\n",
            1 << others.len(),
            lines.join("\n        ")
        )
    }

    fn function(&mut self, name: String, params: &str, body: &str) -> String {
        self.helpers.add(&name, || format!("\nstatic inline __attribute__((always_inline)) void {name}({params})\n{{\n{body}}}\n"))
    }

    fn exchange(&mut self, kind: Exchange) -> String {
        let ty = self.register_type();
        let params = format!("{ty} *a, {ty} *b");
        let vector = |bits: u32| format!("__m{bits}i");
        let bits = self.shape.register_bits();
        let pair = |first: String, second: String| {
            format!("    {ty} t = ({ty}){first};\n    *b = ({ty}){second};\n    *a = t;\n")
        };
        let x86 = |function: &str, more: &str| {
            let v = vector(bits);
            format!("{function}(({v})*a, ({v})*b{more})")
        };
        match kind {
            Exchange::Swap(place) => {
                let (n, lane) =
                    (1 << place, if self.shape.is_vector() { 64 } else { self.shape.lane_bits() });
                let low = (0..lane).filter(|p| p >> place & 1 == 0).fold(0u64, |m, p| m | 1 << p);
                let body = if self.shape.arch.has_ternary() {
                    let high = format!("((reg64){{0}} + UINT64_C({:#x}))", !low);
                    format!(
                        "    reg64 t = (reg64)TERNARY({high}, *b << {n}, *a, 0xca);\n    *b = (reg64)TERNARY({high}, *b, *a >> {n}, 0xca);\n    *a = t;\n"
                    )
                } else {
                    format!(
                        "    {ty} t = ({ty})(((*a >> {n}) ^ *b) & UINT64_C({low:#x}));\n    *b ^= t;\n    *a = ({ty})(*a ^ t << {n});\n"
                    )
                };
                self.function(format!("swap_{n}"), &params, &body)
            }
            Exchange::Interleave(log) => {
                let unit = 1 << log;
                let text = |which: &str| match self.shape.arch {
                    Arch::Neon => {
                        let v = format!("uint{unit}x{}_t", 128 / unit);
                        format!(
                            "vzip{}q_u{unit}(({v})*a, ({v})*b)",
                            if which == "lo" { 1 } else { 2 }
                        )
                    }
                    Arch::Sse => x86(&format!("_mm_unpack{which}_epi{unit}"), ""),
                    Arch::Avx2 | Arch::Avx512vl | Arch::Avx512 => {
                        x86(&format!("_mm{bits}_unpack{which}_epi{unit}"), "")
                    }
                    Arch::X86_64 => panic!("general registers are not interleaved"),
                };
                self.function(format!("interleave_{unit}"), &params, &pair(text("lo"), text("hi")))
            }
            Exchange::Halves => {
                let body = pair(
                    x86("_mm256_permute2x128_si256", ", 0x20"),
                    x86("_mm256_permute2x128_si256", ", 0x31"),
                );
                self.function("halves".into(), &params, &body)
            }
            Exchange::Outer => {
                let body = pair(
                    x86("_mm512_shuffle_i64x2", ", 0x44"),
                    x86("_mm512_shuffle_i64x2", ", 0xee"),
                );
                self.function("outer".into(), &params, &body)
            }
            Exchange::Lanes => {
                let body = pair(
                    x86("_mm512_shuffle_i64x2", ", 0x88"),
                    x86("_mm512_shuffle_i64x2", ", 0xdd"),
                );
                self.function("lanes".into(), &params, &body)
            }
        }
    }

    fn within(&mut self, within: &Within) -> String {
        let ty = self.register_type();
        let bits = self.shape.register_bits();
        let list = |pattern: &[u8]| pattern.iter().map(|p| p.to_string()).collect::<Vec<_>>();
        let (name, value) = match within {
            Within::Bytes(pattern) => (
                format!("bytes_{}", list(pattern).join("_")),
                self.shape.byte_shuffle("*a", pattern),
            ),
            Within::Units(pattern) => {
                let indices = format!("_mm{bits}_setr_epi32({})", list(pattern).join(", "));
                let text = match self.shape.arch {
                    Arch::Avx2 | Arch::Avx512vl => {
                        format!("_mm256_permutevar8x32_epi32((__m256i)*a, {indices})")
                    }
                    Arch::Avx512 => format!("_mm512_permutexvar_epi32({indices}, (__m512i)*a)"),
                    Arch::X86_64 | Arch::Sse | Arch::Neon => {
                        panic!("only registers above 128 bits permute units")
                    }
                };
                (format!("units_{}", list(pattern).join("_")), text)
            }
            Within::Reverse => ("reverse".into(), format!("__builtin_bswap{bits}(*a)")),
            Within::Delta(low, high) => {
                let n = (1u32 << high) - (1 << low);
                let mask = (0..64)
                    .filter(|p| p >> low & 1 == 1 && p >> high & 1 == 0)
                    .fold(0u64, |m, p| m | 1 << p);
                let rest =
                    (0..64).filter(|p| p >> low & 1 == p >> high & 1).fold(0u64, |m, p| m | 1 << p);
                let text = format!(
                    "((*a & UINT64_C({rest:#x})) | ((*a & UINT64_C({mask:#x})) << {n}) | ((*a >> {n}) & UINT64_C({mask:#x})))"
                );
                (format!("delta_{low}_{high}"), text)
            }
            Within::Complement(place) => {
                let (n, low) = (
                    1 << place,
                    (0..64).filter(|p| p >> place & 1 == 0).fold(0u64, |m, p| m | 1 << p),
                );
                let text = format!(
                    "(((*a & UINT64_C({low:#x})) << {n}) | ((*a >> {n}) & UINT64_C({low:#x})))"
                );
                (format!("complement_{place}"), text)
            }
        };
        self.function(name, &format!("{ty} *a"), &format!("    *a = ({ty}){value};\n"))
    }

    /// The size and the offsets of the pieces of a register in memory; a contiguous
    /// register is one piece.
    fn pieces(&self) -> (usize, Vec<i64>) {
        let (size, register) = (self.part.n_bytes, self.shape.register_bits() as usize / 8);
        if size >= register || size == self.stride {
            return (register, vec![0]);
        }
        let places = match self.direction {
            Direction::Load => &self.part.start,
            Direction::Store => &self.part.end,
        };
        let blocks: Vec<u8> = places.iter().copied().filter(|l| *l >= BLOCK).collect();
        let offset = |k: usize| {
            blocks
                .iter()
                .enumerate()
                .map(|(bit, l)| (k >> bit & 1) as i64 * self.memory_step(*l))
                .sum()
        };
        (size, (0..register / size).map(offset).collect())
    }

    fn name_of_pieces(&self, verb: &str, pieces: &[i64]) -> String {
        if pieces.len() == 1 {
            return verb.into();
        }
        format!("{verb}_{}", pieces.iter().map(i64::to_string).collect::<Vec<_>>().join("_"))
    }

    fn little(&self, register: &str) -> String {
        self.shape.little(self.shape.register_bits(), register)
    }

    /// The function that reads a register.
    fn get(&mut self) -> String {
        let (size, pieces) = self.pieces();
        let (name, ty) = (self.name_of_pieces("get", &pieces), self.register_type());
        let at = |k: usize| sum("p", pieces[k], &[]);
        let two = |k: usize| {
            format!(
                "_mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)({}))), _mm_loadu_si128((const __m128i *)({})), 1)",
                at(k),
                at(k + 1)
            )
        };
        let body = match (size, pieces.len()) {
            (_, 1) => format!(
                "    {ty} a;\n    memcpy(&a, p, sizeof a);\n    return {};\n",
                self.little("a")
            ),
            (8, n) => {
                let reads: String =
                    (0..n).map(|k| format!("    memcpy(&w[{k}], {}, 8);\n", at(k))).collect();
                let words: Vec<String> = (0..n).map(|k| format!("w[{k}]")).collect();
                format!(
                    "    uint64_t w[{n}];\n{reads}    return (reg64){{{}}};\n",
                    words.join(", ")
                )
            }
            (16, 2) => format!("    return (reg64){};\n", two(0)),
            (16, 4) => format!(
                "    return (reg64)_mm512_inserti64x4(_mm512_castsi256_si512({}), {}, 1);\n",
                two(0),
                two(2)
            ),
            (32, 2) => {
                let half = |k: usize| format!("_mm256_loadu_si256((const __m256i *)({}))", at(k));
                format!(
                    "    return (reg64)_mm512_inserti64x4(_mm512_castsi256_si512({}), {}, 1);\n",
                    half(0),
                    half(1)
                )
            }
            (size, n) => panic!("{n} pieces of {size} bytes make no register"),
        };
        self.helpers.add(&name, || format!("\nstatic inline __attribute__((always_inline)) {ty} {name}(const uint8_t *p)\n{{\n{body}}}\n"))
    }

    /// The function that writes a register.
    fn put(&mut self) -> String {
        let (size, pieces) = self.pieces();
        let (name, ty) = (self.name_of_pieces("put", &pieces), self.register_type());
        let at = |k: usize| sum("p", pieces[k], &[]);
        let piece = |k: usize| match (size, pieces.len()) {
            // A byte has no order.
            (_, 1) if self.shape.is_vector() || size == 1 => {
                "    memcpy(p, &a, sizeof a);\n".to_string()
            }
            (_, 1) => format!("    a = {};\n    memcpy(p, &a, sizeof a);\n", self.little("a")),
            (8, _) => format!("    memcpy({}, &(uint64_t){{a[{k}]}}, 8);\n", at(k)),
            (16, 2) => format!(
                "    _mm_storeu_si128((__m128i *)({}), _mm256_extracti128_si256((__m256i)a, {k}));\n",
                at(k)
            ),
            (16, 4) => format!(
                "    _mm_storeu_si128((__m128i *)({}), _mm512_extracti32x4_epi32((__m512i)a, {k}));\n",
                at(k)
            ),
            (32, 2) => format!(
                "    _mm256_storeu_si256((__m256i *)({}), _mm512_extracti64x4_epi64((__m512i)a, {k}));\n",
                at(k)
            ),
            (size, n) => panic!("{n} pieces of {size} bytes make no register"),
        };
        let body: String = (0..pieces.len()).map(piece).collect();
        self.function(name, &format!("uint8_t *p, {ty} a"), &body)
    }
}

/// Calls the exchange of a pair with the names in the order that it takes, and renames the results.
fn exchange_names(
    names: &mut [String],
    low: usize,
    high: usize,
    flips: Flips,
    mut call: impl FnMut(&str, &str),
) {
    if flips.before {
        names.swap(low, high);
    }
    call(&names[low], &names[high]);
    if flips.after {
        names.swap(low, high);
    }
}
