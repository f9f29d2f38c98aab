//! The registers of floating point, single and double, and the constants that an instruction holds.

use super::word::Word;
use super::{D16, S0};
use crate::decode::code::{Out, Reg, Role};

/// A register of one or two words.
#[derive(Clone, Copy)]
pub struct Float {
    /// The number in its own row: s0 to s31, or d0 to d31.
    pub number: u32,
    pub is_double: bool,
}

impl Float {
    /// The register whose four bits stand from bit `low` on, and the fifth at `other`.
    pub fn at(word: &Word, low: u32, other: u32, is_double: bool) -> Float {
        let (four, one) = (word.field(low, 4), word.field(other, 1));
        Float { number: if is_double { one << 4 | four } else { four << 1 | one }, is_double }
    }

    pub fn double(number: u32) -> Float {
        Float { number, is_double: true }
    }

    /// The single register that is the lower or upper half; `None` if there are none.
    pub fn half(self, nth: u32) -> Option<Reg> {
        (!self.is_whole()).then_some(Reg((S0 + 2 * self.number + nth) as u8))
    }

    pub fn text(self) -> String {
        format!("{}{}", if self.is_double { 'd' } else { 's' }, self.number)
    }

    /// The registers that it is made of: single ones, or from d16 on itself.
    pub fn words(self) -> impl Iterator<Item = Reg> {
        let n = 1 + u32::from(self.is_double);
        let places = if self.is_whole() {
            D16 + self.number - 16..D16 + self.number - 15
        } else {
            S0 + self.number * n..S0 + (self.number + 1) * n
        };
        places.map(|place| Reg(place as u8))
    }

    /// A double register without single ones.
    pub fn is_whole(self) -> bool {
        self.is_double && self.number > 15
    }
}

pub fn read(word: &mut Word, it: Float, role: Role) {
    it.words().for_each(|reg| word.read(reg, role));
}

pub fn write(word: &mut Word, it: Float, out: Out) {
    it.words().for_each(|reg| word.write(reg, out));
}

/// The number that eight bits stand for: a sign, three bits of exponent around 0
/// and four of fraction.
pub fn constant_text(byte: u32) -> String {
    let (sign, exponent) =
        (if byte & 0x80 != 0 { -1.0 } else { 1.0 }, (byte >> 4 & 7 ^ 4) as i32 - 3);
    let value = sign * f64::from(16 + (byte & 15)) / 16.0 * 2f64.powi(exponent);
    let text = format!("{value:.6e}");
    let (fraction, exponent) = text.split_once('e').expect("the form has an exponent");
    let exponent = exponent.parse::<i32>().expect("an exponent is a number");
    format!("{fraction}e{exponent:+03}")
}
