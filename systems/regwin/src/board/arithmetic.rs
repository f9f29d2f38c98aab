//! Arithmetic of the integer unit: what an operation gives, and the flags.

/// Flags of the integer unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Flags {
    pub negative: bool,
    pub zero: bool,
    pub overflow: bool,
    pub carry: bool,
}

impl Flags {
    /// As in the state register, from bit 0.
    pub fn bits(self) -> u32 {
        u32::from(self.negative) << 3
            | u32::from(self.zero) << 2
            | u32::from(self.overflow) << 1
            | u32::from(self.carry)
    }

    pub fn from_bits(bits: u32) -> Flags {
        let bit = |idx: u32| bits >> idx & 1 == 1;
        Flags { negative: bit(3), zero: bit(2), overflow: bit(1), carry: bit(0) }
    }

    fn of(value: u32, overflow: bool, carry: bool) -> Flags {
        Flags { negative: value >> 31 == 1, zero: value == 0, overflow, carry }
    }

    /// True if a branch or trap of this condition is taken.
    #[inline]
    pub fn meet(self, condition: u32) -> bool {
        let differ = self.negative != self.overflow;
        let holds = match condition & 7 {
            0 => false,
            1 => self.zero,
            2 => self.zero || differ,
            3 => differ,
            4 => self.carry || self.zero,
            5 => self.carry,
            6 => self.negative,
            _ => self.overflow,
        };
        holds != (condition & 8 != 0)
    }
}

/// A result: value, flags, and the new `%y` of those that write it.
#[derive(Debug, Clone, Copy)]
pub struct Outcome {
    pub value: u32,
    pub flags: Flags,
    pub y: u32,
}

/// What a multiplication, division or tagged operation gives; `None` for a division by 0. `op3` is
/// the operation without the bit that sets the flags.
pub fn slow(op3: u32, a: u32, b: u32, y: u32, flags: Flags) -> Option<Outcome> {
    let wide = u64::from(y) << 32 | u64::from(a);
    let (value, overflow, carry, y) = match op3 {
        0x08 => {
            let sum = u64::from(a) + u64::from(b) + u64::from(flags.carry);
            let value = sum as u32;
            (value, (!(a ^ b) & (a ^ value)) >> 31 == 1, sum >> 32 == 1, y)
        }
        0x0c => {
            let value = a.wrapping_sub(b).wrapping_sub(u32::from(flags.carry));
            let borrows = u64::from(a) < u64::from(b) + u64::from(flags.carry);
            (value, ((a ^ b) & (a ^ value)) >> 31 == 1, borrows, y)
        }
        0x0a => {
            let product = u64::from(a) * u64::from(b);
            (product as u32, false, false, (product >> 32) as u32)
        }
        0x0b => {
            let product = (i64::from(a.cast_signed()) * i64::from(b.cast_signed())).cast_unsigned();
            (product as u32, false, false, (product >> 32) as u32)
        }
        0x0e => {
            let quotient = wide.checked_div(u64::from(b))?;
            let value = u32::try_from(quotient);
            (value.unwrap_or(u32::MAX), value.is_err(), false, y)
        }
        _ => {
            if b == 0 {
                return None;
            }
            let quotient = wide.cast_signed().wrapping_div(i64::from(b.cast_signed()));
            let value = i32::try_from(quotient);
            let largest = if quotient < 0 { i32::MIN } else { i32::MAX };
            (value.unwrap_or(largest).cast_unsigned(), value.is_err(), false, y)
        }
    };
    Some(Outcome { value, flags: Flags::of(value, overflow, carry), y })
}

/// A step of a multiplication, `mulscc`.
pub fn multiply_step(a: u32, b: u32, y: u32, flags: Flags) -> Outcome {
    let first = a >> 1 | u32::from(flags.negative != flags.overflow) << 31;
    let second = if y & 1 == 1 { b } else { 0 };
    let sum = add(first, second);
    Outcome { y: y >> 1 | (a & 1) << 31, ..sum }
}

#[inline]
pub fn add(a: u32, b: u32) -> Outcome {
    let (value, carry) = a.overflowing_add(b);
    Outcome { value, flags: Flags::of(value, (!(a ^ b) & (a ^ value)) >> 31 == 1, carry), y: 0 }
}

#[inline]
pub fn subtract(a: u32, b: u32) -> Outcome {
    let (value, carry) = a.overflowing_sub(b);
    Outcome { value, flags: Flags::of(value, ((a ^ b) & (a ^ value)) >> 31 == 1, carry), y: 0 }
}

/// An addition or subtraction of tagged numbers: it overflows, too, if a tag is not 0.
pub fn tagged(subtracts: bool, a: u32, b: u32) -> Outcome {
    let mut outcome = if subtracts { subtract(a, b) } else { add(a, b) };
    outcome.flags.overflow |= (a | b) & 3 != 0;
    outcome
}

#[inline]
pub fn logic(value: u32) -> Flags {
    Flags::of(value, false, false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divisions_saturate_and_say_so() {
        let divide = |op3, y, a, b| slow(op3, a, b, y, Flags::default());
        assert!(divide(0x0e, 0, 7, 0).is_none() && divide(0x0f, 0, 7, 0).is_none());
        let large = divide(0x0e, 2, 0, 2).expect("it divides");
        assert!(large.value == u32::MAX && large.flags.overflow);
        let least = divide(0x0f, u32::MAX, 0x8000_0000, u32::MAX).expect("it divides");
        assert!(least.value == 0x7fff_ffff && least.flags.overflow);
        let small = divide(0x0f, u32::MAX, -7i32 as u32, 2).expect("it divides");
        assert!(small.value == -3i32 as u32 && !small.flags.overflow);
    }

    #[test]
    fn steps_make_a_product() {
        let (a, b) = (12345u32, 678u32);
        // 32 steps and a last one that shifts, as the manual's example.
        let (mut flags, mut sum, mut y) = (Flags::default(), 0, b);
        for _ in 0..32 {
            let step = multiply_step(sum, a, y, flags);
            (flags, sum, y) = (step.flags, step.value, step.y);
        }
        let last = multiply_step(sum, 0, y, flags);
        assert_eq!((last.value, last.y), (0, a * b));
    }
}
