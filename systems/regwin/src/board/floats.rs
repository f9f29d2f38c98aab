//! The floating point unit: single and double precision, rounded to the nearest.
//!
//! Exceptions are neither taken nor kept. Other roundings and quadruple precision are named as what
//! is not simulated.

/// Its registers, and the state register.
#[derive(Debug, Clone)]
pub struct FloatUnit {
    pub registers: [u32; 32],
    pub state: u32,
}

/// An operation that is not simulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotSimulated;

impl FloatUnit {
    pub fn new() -> FloatUnit {
        FloatUnit { registers: [0; 32], state: 0 }
    }

    fn single(&self, idx: u32) -> f32 {
        f32::from_bits(self.registers[idx as usize])
    }

    fn double(&self, idx: u32) -> f64 {
        let [high, low] = [idx & 30, idx | 1].map(|idx| self.registers[idx as usize]);
        f64::from_bits(u64::from(high) << 32 | u64::from(low))
    }

    fn set_single(&mut self, idx: u32, value: f32) {
        self.registers[idx as usize] = value.to_bits();
    }

    fn set_double(&mut self, idx: u32, value: f64) {
        let bits = value.to_bits();
        self.registers[(idx & 30) as usize] = (bits >> 32) as u32;
        self.registers[(idx | 1) as usize] = bits as u32;
    }

    /// An operation of the group `fpop1`.
    pub fn operate(&mut self, word: u32) -> Result<(), NotSimulated> {
        let (to, first, second) = (word >> 25 & 31, word >> 14 & 31, word & 31);
        if self.state >> 30 != 0 {
            return Err(NotSimulated);
        }
        let bits = self.registers[second as usize];
        match word >> 5 & 0x1ff {
            0x01 => self.registers[to as usize] = bits,
            0x05 => self.registers[to as usize] = bits ^ 1 << 31,
            0x09 => self.registers[to as usize] = bits & !(1 << 31),
            0x29 => self.set_single(to, self.single(second).sqrt()),
            0x2a => self.set_double(to, self.double(second).sqrt()),
            0x41 => self.set_single(to, self.single(first) + self.single(second)),
            0x42 => self.set_double(to, self.double(first) + self.double(second)),
            0x45 => self.set_single(to, self.single(first) - self.single(second)),
            0x46 => self.set_double(to, self.double(first) - self.double(second)),
            0x49 => self.set_single(to, self.single(first) * self.single(second)),
            0x4a => self.set_double(to, self.double(first) * self.double(second)),
            0x4d => self.set_single(to, self.single(first) / self.single(second)),
            0x4e => self.set_double(to, self.double(first) / self.double(second)),
            0x69 => {
                self.set_double(to, f64::from(self.single(first)) * f64::from(self.single(second)));
            }
            0xc4 => self.set_single(to, bits.cast_signed() as f32),
            0xc8 => self.set_double(to, f64::from(bits.cast_signed())),
            0xc6 => self.set_single(to, self.double(second) as f32),
            0xc9 => self.set_double(to, f64::from(self.single(second))),
            0xd1 => self.registers[to as usize] = (self.single(second) as i32).cast_unsigned(),
            0xd2 => self.registers[to as usize] = (self.double(second) as i32).cast_unsigned(),
            _ => return Err(NotSimulated),
        }
        Ok(())
    }

    /// A comparison, of the group `fpop2`.
    pub fn compare(&mut self, word: u32) -> Result<(), NotSimulated> {
        let (first, second) = (word >> 14 & 31, word & 31);
        let order = match word >> 5 & 0x1ff {
            0x51 | 0x55 => self.single(first).partial_cmp(&self.single(second)),
            0x52 | 0x56 => self.double(first).partial_cmp(&self.double(second)),
            _ => return Err(NotSimulated),
        };
        let condition = match order {
            Some(std::cmp::Ordering::Equal) => 0,
            Some(std::cmp::Ordering::Less) => 1,
            Some(std::cmp::Ordering::Greater) => 2,
            None => 3,
        };
        self.state = self.state & !(3 << 10) | condition << 10;
        Ok(())
    }

    /// True if a branch of this condition is taken.
    pub fn meets(&self, condition: u32) -> bool {
        // By condition: on which of equal, less, greater, unordered.
        const TAKEN: [u32; 8] = [0b0000, 0b1110, 0b0110, 0b1010, 0b0010, 0b1100, 0b0100, 0b1000];
        let taken = TAKEN[(condition & 7) as usize];
        (taken >> (self.state >> 10 & 3) & 1 == 1) != (condition & 8 != 0)
    }
}
