//! Turns one operation of the core form into machine operations.

use smallvec::smallvec;

use super::steps::{Block, Step, StepKind, Value, ValueOrigin};
use crate::emit_c::Shape;
use crate::ir::Op;
use crate::options::Slicing;
use crate::passes::hslice::{ZERO, shifts};
use crate::passes::turns;

/// A block under construction, with the constants of its function.
pub struct Maker<'a> {
    /// Width and lanes of the registers.
    pub shape: Shape,
    pub block: &'a mut Block,
    /// The constants of the function.
    pub constants: &'a mut Vec<[u64; 2]>,
    /// Where the equation stands in the source.
    pub place: u32,
}

impl Maker<'_> {
    /// Appends a step; returns its result.
    pub fn step(&mut self, kind: StepKind, lane: u32, args: &[Value]) -> Value {
        let dst = self.value(ValueOrigin::Step);
        self.block.steps.push(Step {
            kind,
            lane: lane as u8,
            dst,
            args: args.into(),
            place: self.place,
        });
        dst
    }

    /// A value that does not come from a step.
    pub fn value(&mut self, origin: ValueOrigin) -> Value {
        self.block.origins.push(origin);
        self.block.origins.len() as u32 - 1
    }

    fn raw_constant(&mut self, words: [u64; 2]) -> Value {
        let id =
            self.constants.iter().position(|constant| *constant == words).unwrap_or_else(|| {
                self.constants.push(words);
                self.constants.len() - 1
            });
        let origin = ValueOrigin::Constant(id as u32);
        match self.block.origins.iter().position(|it| *it == origin) {
            Some(at) => at as Value,
            None => self.value(origin),
        }
    }

    /// A constant with this word in every lane.
    pub fn constant(&mut self, value: u64) -> Value {
        let mask = u64::MAX >> (64 - self.shape.word_bits);
        let value = value & mask;
        let words = match self.shape.slicing {
            _ if value == 0 => [0; 2],
            _ if value == mask => self.ones(),
            Slicing::Bit => panic!("a bit is 0 or 1"),
            Slicing::Vertical => self.splat(value),
            Slicing::Horizontal => {
                self.spread(|i| value >> (self.shape.word_bits - 1 - i) & 1 == 1)
            }
        };
        self.raw_constant(words)
    }

    fn ones(&self) -> [u64; 2] {
        if self.shape.is_vector() {
            [u64::MAX; 2]
        } else {
            [u64::MAX >> (64 - self.shape.register_bits()), 0]
        }
    }

    fn splat(&self, value: u64) -> [u64; 2] {
        if !self.shape.is_vector() {
            return [value, 0];
        }
        let m = self.shape.lane_bits();
        [(0..64 / m).fold(0, |word, i| word | value << (i * m)); 2]
    }

    fn spread(&self, bit: impl Fn(u32) -> bool) -> [u64; 2] {
        let width = self.shape.element_bits();
        let element = if width == 64 { u64::MAX } else { (1u64 << width) - 1 };
        let word = |w: u32| {
            let set = (0..64 / width).filter(|e| {
                w * (64 / width) + e < self.shape.word_bits && bit(w * (64 / width) + e)
            });
            set.fold(0u64, |v, e| v | element << (e * width))
        };
        [word(0), word(1)]
    }

    /// The value of `op`; `None` if the target has no such operation.
    pub fn op(&mut self, op: &Op, args: &[Value]) -> Option<Value> {
        let lane = if self.shape.is_vector() {
            self.shape.lane_bits()
        } else {
            self.shape.register_bits()
        };
        let bin = |kind| Some((kind, lane));
        let (kind, lane) = match op {
            Op::Copy => return Some(args[0]),
            Op::Not => return Some(self.not(args[0])),
            Op::AndNot if !self.shape.is_vector() => {
                let other = self.not(args[1]);
                return Some(self.step(StepKind::And, lane, &[args[0], other]));
            }
            Op::And => bin(StepKind::And)?,
            Op::Or => bin(StepKind::Or)?,
            Op::Xor => bin(StepKind::Xor)?,
            Op::AndNot => bin(StepKind::AndNot)?,
            Op::Ternary(table) => bin(StepKind::Ternary(*table))?,
            Op::Add => bin(StepKind::Add)?,
            Op::Sub => bin(StepKind::Sub)?,
            Op::Mul
                if self.shape.is_vector()
                    && (lane == 8 || (lane == 64 && !self.shape.arch.has_ternary())) =>
            {
                return None;
            }
            Op::Mul => bin(StepKind::Mul)?,
            Op::Shl(n) => return Some(self.shl(args[0], *n, lane)),
            Op::Shr(n) => return Some(self.shr(args[0], *n, lane)),
            Op::Sar(n) => return self.sar(args[0], *n, lane),
            Op::Rotl(n) => return Some(self.rotl(args[0], *n, lane)),
            Op::Bitmask(n) => {
                let moved = if *n == 0 { args[0] } else { self.shr(args[0], *n, lane) };
                let one = self.constant(1);
                let bit = self.step(StepKind::And, lane, &[moved, one]);
                let zero = self.constant(0);
                return Some(self.step(StepKind::Sub, lane, &[zero, bit]));
            }
            Op::Shuffle(pattern) if self.shape.slicing == Slicing::Horizontal => {
                return Some(self.shuffle_elements(args[0], pattern));
            }
            Op::Shuffle(pattern) => return Some(self.shuffle_bits(args[0], pattern, lane)),
            Op::Div | Op::Mod | Op::Pack(_) | Op::Refresh => {
                panic!("`{op}` does not reach the back end")
            }
        };
        Some(self.step(kind, lane, args))
    }

    fn not(&mut self, a: Value) -> Value {
        if !self.shape.is_vector() {
            return self.step(StepKind::Not, self.shape.register_bits(), &[a]);
        }
        let ones = self.raw_constant([u64::MAX; 2]);
        self.step(StepKind::Xor, 64, &[a, ones])
    }

    fn shl(&mut self, a: Value, n: u32, lane: u32) -> Value {
        if n == 0 {
            return a;
        }
        if lane == 8 && self.shape.is_vector() {
            let moved = self.step(StepKind::Shl(n as u8), 16, &[a]);
            let mask = self.raw_constant([0x0101_0101_0101_0101 * (0xff << n & 0xff); 2]);
            return self.step(StepKind::And, lane, &[moved, mask]);
        }
        self.step(StepKind::Shl(n as u8), lane, &[a])
    }

    fn shr(&mut self, a: Value, n: u32, lane: u32) -> Value {
        if n == 0 {
            return a;
        }
        if lane == 8 && self.shape.is_vector() {
            let moved = self.step(StepKind::Shr(n as u8), 16, &[a]);
            let mask = self.raw_constant([0x0101_0101_0101_0101 * (0xff >> n); 2]);
            return self.step(StepKind::And, lane, &[moved, mask]);
        }
        self.step(StepKind::Shr(n as u8), lane, &[a])
    }

    fn sar(&mut self, a: Value, n: u32, lane: u32) -> Option<Value> {
        let is_absent =
            self.shape.is_vector() && (lane == 8 || (lane == 64 && !self.shape.arch.has_ternary()));
        if n == 0 {
            return Some(a);
        }
        (!is_absent).then(|| self.step(StepKind::Sar(n as u8), lane, &[a]))
    }

    fn rotl(&mut self, a: Value, n: u32, lane: u32) -> Value {
        if n == 0 {
            return a;
        }
        if !self.shape.is_vector() || (self.shape.arch.has_ternary() && lane >= 32) {
            return self.step(StepKind::Rotl(n as u8), lane, &[a]);
        }
        if n.is_multiple_of(8) && lane > 8 {
            let (bytes, shift) = ((lane / 8) as usize, (n / 8) as usize);
            let pattern: Vec<u8> = (0..16)
                .map(|i| (i / bytes * bytes + (i % bytes + bytes - shift) % bytes) as u8)
                .collect();
            return self.bytes(a, &pattern);
        }
        let (up, down) = (self.shl(a, n, lane), self.shr(a, lane - n, lane));
        self.step(StepKind::Or, lane, &[up, down])
    }

    /// A shuffle of the bytes of each 128 bits; 0x80 and above give zero.
    fn bytes(&mut self, a: Value, pattern: &[u8]) -> Value {
        let half =
            |k: usize| u64::from_le_bytes(std::array::from_fn(|i| pattern[8 * k + i].min(0x80)));
        let mask = self.raw_constant([half(0), half(1)]);
        self.step(StepKind::Bytes, 8, &[a, mask])
    }

    fn shuffle_elements(&mut self, a: Value, pattern: &[u8]) -> Value {
        let width = self.shape.element_bits();
        if self.shape.is_vector() && width >= 8 {
            let bytes = (width / 8) as u8;
            let list: Vec<u8> = pattern
                .iter()
                .flat_map(|p| {
                    (0..bytes).map(move |i| if *p == ZERO { 0x80 } else { p * bytes + i })
                })
                .collect();
            return self.bytes(a, &list);
        }
        let n = turns::rotation(pattern).expect("`turns` leaves rotations of such words");
        self.turn(a, n * width)
    }

    fn or(&mut self, all: Option<Value>, part: Value) -> Value {
        all.map_or(part, |all| self.step(StepKind::Or, 64, &[all, part]))
    }

    /// The horizontal word rotated right by `n` bits.
    fn turn(&mut self, a: Value, n: u32) -> Value {
        if n == 0 {
            return a;
        }
        if !self.shape.is_vector() {
            return self.step(StepKind::Rotl((64 - n) as u8), 64, &[a]);
        }
        let other = self.step(StepKind::Swap, 64, &[a]);
        let (low, high, n) = match n {
            64 => return other,
            1..64 => (a, other, n),
            _ => (other, a, n - 64),
        };
        let (low, high) = (self.shr(low, n, 64), self.shl(high, 64 - n, 64));
        self.step(StepKind::Or, 64, &[low, high])
    }

    /// A shuffle of the bits of a vertical word by shifts and masks.
    fn shuffle_bits(&mut self, a: Value, pattern: &[u8], lane: u32) -> Value {
        let mut all = None;
        for (shift, mask) in shifts(pattern, self.shape.word_bits) {
            let moved = match shift {
                0 => a,
                s if s > 0 => self.shl(a, s as u32, lane),
                s => self.shr(a, -s as u32, lane),
            };
            let part = if mask == u64::MAX >> (64 - self.shape.word_bits) {
                moved
            } else {
                let mask = self.splat(mask);
                let mask = self.raw_constant(mask);
                self.step(StepKind::And, lane, &[moved, mask])
            };
            all = Some(self.or(all, part));
        }
        all.unwrap_or_else(|| self.raw_constant([0; 2]))
    }

    pub fn store(&mut self, value: Value, memory: super::steps::Memory) {
        let step = Step {
            kind: StepKind::Store(memory),
            lane: 0,
            dst: super::steps::NONE,
            args: smallvec![value],
            place: self.place,
        };
        self.block.steps.push(step);
    }
}
