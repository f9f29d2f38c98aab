//! One operation as a C expression.

use crate::ir::Op;
use crate::options::Slicing;
use crate::passes::hslice::{ZERO, shifts};
use crate::passes::turns;

use super::arch::Shape;
use crate::target::Arch;

impl Shape {
    /// A constant: the same word in every block.
    pub fn constant(&self, value: u64) -> String {
        let mask = u64::MAX >> (64 - self.word_bits);
        if value == 0 {
            return "ZERO".into();
        }
        if value & mask == mask {
            return "ONES".into();
        }
        match self.slicing {
            Slicing::Bit => panic!("a bit is 0 or 1"),
            Slicing::Vertical => format!("SPLAT({})", number(value, self.word_bits)),
            Slicing::Horizontal => self.spread(|i| value >> (self.word_bits - 1 - i) & 1 == 1),
        }
    }

    /// A horizontal constant whose element i is all ones where `bit(i)`.
    fn spread(&self, bit: impl Fn(u32) -> bool) -> String {
        let width = self.element_bits();
        let element = if width == 64 { u64::MAX } else { (1u64 << width) - 1 };
        let words: Vec<String> = (0..self.spread_bits() / 64)
            .map(|w| {
                let value = (0..64 / width)
                    .filter(|e| bit(w * (64 / width) + e))
                    .fold(0u64, |v, e| v | element << (e * width));
                format!("UINT64_C({value:#x})")
            })
            .collect();
        if !self.is_vector() {
            return format!("((reg){})", words[0]);
        }
        let copies = (self.register_bits() / self.spread_bits()) as usize;
        format!("((reg){{{}}})", vec![words.join(", "); copies].join(", "))
    }

    /// `op` on arguments that are C expressions of the highest precedence.
    pub fn expr(&self, op: &Op, args: &[String]) -> String {
        let a = &args[0];
        let b = args.get(1).map_or("", String::as_str);
        // C computes with narrow integers as int.
        let narrow = !self.is_vector() && self.lane_bits() < 32;
        let cast = |text: String| if narrow { format!("(reg)({text})") } else { text };
        match op {
            Op::Copy => a.clone(),
            Op::Not => cast(format!("~{a}")),
            Op::And => format!("{a} & {b}"),
            Op::Or => format!("{a} | {b}"),
            Op::Xor => format!("{a} ^ {b}"),
            Op::AndNot => match self.arch {
                Arch::Neon => format!("(reg)vbicq_u64((uint64x2_t){a}, (uint64x2_t){b})"),
                Arch::X86_64 | Arch::Sse | Arch::Avx2 | Arch::Avx512vl | Arch::Avx512 => {
                    cast(format!("{a} & ~{b}"))
                }
            },
            Op::Ternary(table) => format!("TERNARY({a}, {b}, {}, {table:#04x})", args[2]),
            Op::Add => cast(format!("{a} + {b}")),
            Op::Sub => cast(format!("{a} - {b}")),
            Op::Mul if narrow => format!("(reg)((uint32_t){a} * {b})"),
            Op::Mul => format!("{a} * {b}"),
            Op::Shl(n) => cast(format!("{a} << {n}")),
            Op::Shr(n) => cast(format!("{a} >> {n}")),
            Op::Sar(n) => format!("(reg)((sreg){a} >> {n})"),
            Op::Rotl(n) => self.rotl(a, *n),
            Op::Bitmask(n) => cast(format!(
                "ZERO - (({a} >> {n}) & {})",
                if self.is_vector() { "SPLAT(1)" } else { "1" }
            )),
            Op::Shuffle(pattern) if self.slicing == Slicing::Horizontal => {
                self.shuffle_elements(a, pattern)
            }
            Op::Shuffle(pattern) => self.shuffle_bits(a, pattern),
            Op::Div | Op::Mod | Op::Pack(_) | Op::Refresh => {
                panic!("`{op}` does not reach the back end")
            }
        }
    }

    fn rotl(&self, a: &str, n: u32) -> String {
        let m = self.word_bits;
        if self.arch.has_ternary() && (m == 32 || m == 64) {
            let bits = self.register_bits();
            return format!("(reg)_mm{bits}_rol_epi{m}((__m{bits}i){a}, {n})");
        }
        if self.arch.row().rotates_by_shuffle && n.is_multiple_of(8) && m > 8 {
            let (bytes, shift) = ((m / 8) as usize, (n / 8) as usize);
            let pattern: Vec<u8> = (0..16)
                .map(|i| (i / bytes * bytes + (i % bytes + bytes - shift) % bytes) as u8)
                .collect();
            return self.byte_shuffle(a, &pattern);
        }
        let text = format!("({a} << {n}) | ({a} >> {})", m - n);
        if !self.is_vector() && m < 32 { format!("(reg)({text})") } else { text }
    }

    /// A shuffle of the bytes of each 128 bits; 0x80 and above give zero.
    pub(super) fn byte_shuffle(&self, a: &str, pattern: &[u8]) -> String {
        let list: Vec<String> =
            pattern.iter().map(|p| if *p >= 0x80 { "-1".into() } else { p.to_string() }).collect();
        let copies = (self.register_bits() / 128) as usize;
        match self.arch {
            Arch::Sse => {
                format!("(reg)_mm_shuffle_epi8((__m128i){a}, _mm_setr_epi8({}))", list.join(", "))
            }
            Arch::Avx2 | Arch::Avx512vl => format!(
                "(reg)_mm256_shuffle_epi8((__m256i){a}, _mm256_setr_epi8({}))",
                vec![list.join(", "); copies].join(", ")
            ),
            Arch::Avx512 => {
                // There is no setr for 64 bytes; a vector of 32-bit words is the same.
                let words: Vec<String> = pattern
                    .chunks(4)
                    .map(|c| {
                        format!(
                            "{:#010x}",
                            u32::from_le_bytes([c[0], c[1], c[2], c[3]].map(|p| if p >= 0x80 {
                                0x80
                            } else {
                                p
                            })) as i32
                        )
                    })
                    .collect();
                format!(
                    "(reg)_mm512_shuffle_epi8((__m512i){a}, _mm512_setr_epi32({}))",
                    vec![words.join(", "); copies].join(", ")
                )
            }
            Arch::Neon => {
                let list: Vec<String> = pattern
                    .iter()
                    .map(|p| if *p >= 0x80 { "255".into() } else { p.to_string() })
                    .collect();
                format!("(reg)vqtbl1q_u8((uint8x16_t){a}, (uint8x16_t){{{}}})", list.join(", "))
            }
            Arch::X86_64 => panic!("general registers have no byte shuffle"),
        }
    }

    fn shuffle_elements(&self, a: &str, pattern: &[u8]) -> String {
        let width = self.element_bits();
        if self.is_vector() && width >= 8 {
            let bytes = (width / 8) as u8;
            let list: Vec<u8> = pattern
                .iter()
                .flat_map(|p| {
                    (0..bytes).map(move |i| if *p == ZERO { 0x80 } else { p * bytes + i })
                })
                .collect();
            return self.byte_shuffle(a, &list);
        }
        let n = turns::rotation(pattern).expect("`turns` leaves rotations of such words");
        self.turn(a, n * width)
    }

    /// The horizontal word rotated right by `n` bits: element i becomes element i - n / width.
    fn turn(&self, a: &str, n: u32) -> String {
        if n == 0 {
            return a.to_string();
        }
        if !self.is_vector() {
            return format!("(({a} >> {n}) | ({a} << {}))", 64 - n);
        }
        let lanes = self.register_bits() / 64;
        let list: Vec<String> = (0..lanes).map(|i| (i ^ 1).to_string()).collect();
        let other = format!("__builtin_shufflevector({a}, {a}, {})", list.join(", "));
        match n {
            64 => other,
            1..64 => format!("(({a} >> {n}) | ({other} << {}))", 64 - n),
            _ => format!("(({other} >> {}) | ({a} << {}))", n - 64, 128 - n),
        }
    }

    /// A shuffle of the bits of a vertical word by shifts and masks.
    fn shuffle_bits(&self, a: &str, pattern: &[u8]) -> String {
        let m = self.word_bits;
        let mut parts = Vec::new();
        for (shift, mask) in shifts(pattern, m) {
            let moved = match shift {
                0 => a.to_string(),
                s if s > 0 => format!("({a} << {s})"),
                s => format!("({a} >> {})", -s),
            };
            parts.push(if mask == u64::MAX >> (64 - m) {
                moved
            } else {
                format!("({moved} & SPLAT({}))", number(mask, self.word_bits))
            });
        }
        let text = if parts.is_empty() { "ZERO".into() } else { parts.join(" | ") };
        if !self.is_vector() && m < 32 { format!("(reg)({text})") } else { text }
    }
}

fn number(value: u64, bits: u32) -> String {
    if bits == 64 { format!("UINT64_C({value:#x})") } else { format!("{value:#x}u") }
}
