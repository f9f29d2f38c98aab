//! One instruction of the board.

use super::arithmetic::{self, Flags, Outcome};
use super::{Board, OVERFLOW, Onlooker, RAM, Stop, UNDERFLOW, psr};
use crate::sim::cost::Adds;

/// Types of traps that instructions cause.
const ILLEGAL: u8 = 2;
const FLOAT_OFF: u8 = 4;
const UNALIGNED: u8 = 7;
const TAG_OVERFLOW: u8 = 0x0a;
const DIVISION: u8 = 0x2a;

impl Board {
    /// Executes a word; if it stops, nothing has happened.
    #[inline(always)]
    pub(super) fn step(&mut self, word: u32, onlooker: &mut impl Onlooker) -> Result<(), Stop> {
        let rd = (word >> 25 & 31) as usize;
        match word >> 30 {
            0 => return self.format2(word, rd),
            1 => {
                self.r[15] = self.pc;
                let target = self.pc.wrapping_add(word << 2);
                (self.pc, self.npc) = (self.npc, target);
                return Ok(());
            }
            2 => {}
            _ => self.access(word, rd)?,
        }
        if word >> 30 == 2 {
            let a = self.r[(word >> 14 & 31) as usize];
            let b = self.operand(word);
            let op3 = word >> 19 & 63;
            match op3 {
                0x38 => {
                    let target = a.wrapping_add(b);
                    if target & 3 != 0 {
                        return Err(Stop::Trap(UNALIGNED));
                    }
                    self.r[rd] = self.pc;
                    self.r[0] = 0;
                    (self.pc, self.npc) = (self.npc, target);
                    return Ok(());
                }
                0x00..=0x07 | 0x10..=0x17 | 0x25..=0x27 => self.simple(op3, rd, a, b),
                0x3c => self.save(rd, a.wrapping_add(b), onlooker)?,
                0x3d => self.restore(word, rd, a.wrapping_add(b), onlooker)?,
                0x39 => return self.return_from_trap(a.wrapping_add(b)),
                0x3a => {
                    if self.flags.meet(word >> 25 & 15) {
                        return Err(Stop::Trap(0x80 | (a.wrapping_add(b) & 0x7f) as u8));
                    }
                }
                _ => self.rare(word, rd, a, b)?,
            }
        }
        self.r[0] = 0;
        (self.pc, self.npc) = (self.npc, self.npc.wrapping_add(4));
        Ok(())
    }

    #[inline(always)]
    fn operand(&self, word: u32) -> u32 {
        if word >> 13 & 1 == 1 {
            ((word << 19).cast_signed() >> 19).cast_unsigned()
        } else {
            self.r[(word & 31) as usize]
        }
    }

    #[inline(always)]
    fn format2(&mut self, word: u32, rd: usize) -> Result<(), Stop> {
        let condition = word >> 25 & 15;
        let taken = match word >> 22 & 7 {
            4 => {
                if rd != 0 {
                    self.r[rd] = word << 10;
                }
                (self.pc, self.npc) = (self.npc, self.npc.wrapping_add(4));
                return Ok(());
            }
            2 => self.flags.meet(condition),
            6 if self.state & psr::FLOAT == 0 => return Err(Stop::Trap(FLOAT_OFF)),
            6 => self.float.meets(condition),
            _ => return Err(Stop::Trap(ILLEGAL)),
        };
        let annuls = word >> 29 & 1 == 1;
        let target = self.pc.wrapping_add(((word << 10).cast_signed() >> 8).cast_unsigned());
        if taken && target == self.pc && condition == 8 {
            (self.loops, self.attention) = (Some(self.pc), true);
        }
        let next = if taken { target } else { self.npc.wrapping_add(4) };
        (self.pc, self.npc) = if annuls && (!taken || condition == 8) {
            (next, next.wrapping_add(4))
        } else {
            (self.npc, next)
        };
        Ok(())
    }

    /// What every program does all the time.
    #[inline(always)]
    fn simple(&mut self, op3: u32, rd: usize, a: u32, b: u32) {
        let value = match op3 & 0x2f {
            0 => {
                let outcome = arithmetic::add(a, b);
                if op3 & 0x10 != 0 {
                    self.flags = outcome.flags;
                }
                self.r[rd] = outcome.value;
                return;
            }
            4 => {
                let outcome = arithmetic::subtract(a, b);
                if op3 & 0x10 != 0 {
                    self.flags = outcome.flags;
                }
                self.r[rd] = outcome.value;
                return;
            }
            1 => a & b,
            2 => a | b,
            3 => a ^ b,
            5 => a & !b,
            6 => a | !b,
            7 => !(a ^ b),
            0x25 => a << (b & 31),
            0x26 => a >> (b & 31),
            _ => (a.cast_signed() >> (b & 31)).cast_unsigned(),
        };
        if op3 & 0x30 == 0x10 {
            self.flags = arithmetic::logic(value);
        }
        self.r[rd] = value;
    }

    fn save(&mut self, rd: usize, value: u32, onlooker: &mut impl Onlooker) -> Result<(), Stop> {
        let to = self.above();
        if self.wim >> to & 1 == 1 {
            return Err(Stop::Trap(OVERFLOW));
        }
        self.go_to(to);
        self.r[rd] = value;
        if self.is_program() {
            onlooker.saved(self.pc);
        }
        Ok(())
    }

    fn restore(
        &mut self,
        word: u32,
        rd: usize,
        value: u32,
        onlooker: &mut impl Onlooker,
    ) -> Result<(), Stop> {
        let to = self.below();
        if self.wim >> to & 1 == 1 {
            return Err(Stop::Trap(UNDERFLOW));
        }
        self.go_to(to);
        self.r[rd] = value;
        if self.is_program() {
            onlooker.restored(self.pc, Adds::of(word), false);
        }
        Ok(())
    }

    fn return_from_trap(&mut self, target: u32) -> Result<(), Stop> {
        if self.state & psr::TRAPS != 0 || self.state & psr::SUPERVISOR == 0 {
            return Err(Stop::Trap(ILLEGAL));
        }
        let to = self.below();
        if self.wim >> to & 1 == 1 {
            return Err(Stop::Trap(UNDERFLOW));
        }
        if target & 3 != 0 {
            return Err(Stop::Trap(UNALIGNED));
        }
        self.go_to(to);
        if self.state & psr::BEFORE == 0 {
            self.state &= !psr::SUPERVISOR;
        }
        self.state |= psr::TRAPS;
        self.window_traps = self.window_traps.saturating_sub(1);
        self.handles = None;
        self.attention = true;
        (self.pc, self.npc) = (self.npc, target);
        Ok(())
    }

    /// The rest of the arithmetic, and state registers.
    #[inline(never)]
    fn rare(&mut self, word: u32, rd: usize, a: u32, b: u32) -> Result<(), Stop> {
        let op3 = word >> 19 & 63;
        match op3 {
            0x08 | 0x0a..=0x0c | 0x0e | 0x0f | 0x18 | 0x1a..=0x1c | 0x1e | 0x1f => {
                let outcome = arithmetic::slow(op3 & 0x0f, a, b, self.y, self.flags);
                self.take(rd, op3 & 0x10 != 0, outcome.ok_or(Stop::Trap(DIVISION))?);
            }
            0x20..=0x23 => {
                let outcome = arithmetic::tagged(op3 & 1 == 1, a, b);
                if op3 & 2 != 0 && outcome.flags.overflow {
                    return Err(Stop::Trap(TAG_OVERFLOW));
                }
                self.take(rd, true, Outcome { y: self.y, ..outcome });
            }
            0x24 => {
                let outcome = arithmetic::multiply_step(a, b, self.y, self.flags);
                self.take(rd, true, outcome);
            }
            0x28 => {
                self.r[rd] = match word >> 14 & 31 {
                    0 => self.y,
                    17 => 1 << 8 | (self.n_windows() - 1),
                    _ => 0,
                }
            }
            0x29 => {
                self.r[rd] = psr::LEON3 | self.flags.bits() << 20 | self.state | self.cwp;
            }
            0x2a => self.r[rd] = self.wim,
            0x2b => self.r[rd] = self.tbr,
            0x30 => match rd {
                0 => self.y = a ^ b,
                19 => {
                    (self.sleeps, self.attention, self.waits_at) = (true, true, self.pc);
                }
                _ => {}
            },
            0x31 => {
                let value = a ^ b;
                if value & 31 >= self.n_windows() {
                    return Err(Stop::Trap(ILLEGAL));
                }
                self.flags = Flags::from_bits(value >> 20);
                self.state = value & psr::WRITTEN;
                self.go_to(value & 31);
                self.attention = true;
            }
            0x32 => self.wim = (a ^ b) & ((1u64 << self.n_windows()) - 1) as u32,
            0x33 => self.tbr = (a ^ b) & !0xfff | self.tbr & 0xff0,
            0x34 | 0x35 if self.state & psr::FLOAT == 0 => return Err(Stop::Trap(FLOAT_OFF)),
            0x34 => self.float.operate(word).map_err(|_| Stop::NotSimulated)?,
            0x35 => self.float.compare(word).map_err(|_| Stop::NotSimulated)?,
            // `flush`: words are read from memory each time.
            0x3b => {}
            _ => return Err(Stop::Trap(ILLEGAL)),
        }
        Ok(())
    }

    fn take(&mut self, rd: usize, sets_flags: bool, outcome: Outcome) {
        if sets_flags {
            self.flags = outcome.flags;
        }
        self.r[rd] = outcome.value;
        self.y = outcome.y;
    }

    #[inline(always)]
    fn access(&mut self, word: u32, rd: usize) -> Result<(), Stop> {
        let op3 = word >> 19 & 63;
        let first = self.r[(word >> 14 & 31) as usize];
        // With an address space, the number of the space is where a constant would be.
        let has_space = op3 & 0x30 == 0x10 || op3 == 0x3c;
        if has_space {
            return self.access_space(word, rd);
        }
        let address = first.wrapping_add(self.operand(word));
        self.access_at(op3, rd, address)
    }

    #[inline(always)]
    fn access_at(&mut self, op3: u32, rd: usize, address: u32) -> Result<(), Stop> {
        match op3 {
            0x00 => self.r[rd] = self.load(address, 4)?,
            0x01 => self.r[rd] = self.load(address, 1)?,
            0x02 => self.r[rd] = self.load(address, 2)?,
            0x04 => self.store(address, 4, self.r[rd])?,
            0x05 => self.store(address, 1, self.r[rd])?,
            0x06 => self.store(address, 2, self.r[rd])?,
            0x03 => {
                let pair = self.load_pair(address)?;
                (self.r[rd & 30], self.r[rd | 1]) = (pair[0], pair[1]);
            }
            0x07 => self.store_pair(address, [self.r[rd & 30], self.r[rd | 1]])?,
            0x09 => {
                self.r[rd] =
                    i32::from((self.load(address, 1)? as u8).cast_signed()).cast_unsigned();
            }
            0x0a => {
                self.r[rd] =
                    i32::from((self.load(address, 2)? as u16).cast_signed()).cast_unsigned();
            }
            0x0d => {
                let old = self.load(address, 1)?;
                self.store(address, 1, 0xff)?;
                self.r[rd] = old;
            }
            0x0f => {
                let old = self.load(address, 4)?;
                self.store(address, 4, self.r[rd])?;
                self.r[rd] = old;
            }
            0x20..=0x27 => self.access_float(op3, rd, address)?,
            _ => return Err(Stop::Trap(ILLEGAL)),
        }
        Ok(())
    }

    fn access_float(&mut self, op3: u32, rd: usize, address: u32) -> Result<(), Stop> {
        if self.state & psr::FLOAT == 0 {
            return Err(Stop::Trap(FLOAT_OFF));
        }
        match op3 {
            0x20 => self.float.registers[rd] = self.load(address, 4)?,
            0x21 => self.float.state = self.load(address, 4)?,
            0x23 => {
                let pair = self.load_pair(address)?;
                self.float.registers[rd & 30] = pair[0];
                self.float.registers[rd | 1] = pair[1];
            }
            0x24 => self.store(address, 4, self.float.registers[rd])?,
            0x25 => self.store(address, 4, self.float.state)?,
            0x27 => {
                let pair = [self.float.registers[rd & 30], self.float.registers[rd | 1]];
                self.store_pair(address, pair)?;
            }
            _ => return Err(Stop::Trap(ILLEGAL)),
        }
        Ok(())
    }

    /// Loads and stores in an address space.
    #[inline(never)]
    fn access_space(&mut self, word: u32, rd: usize) -> Result<(), Stop> {
        let (op3, space) = (word >> 19 & 63, word >> 5 & 255);
        if word >> 13 & 1 == 1 || self.state & psr::SUPERVISOR == 0 {
            return Err(Stop::Trap(ILLEGAL));
        }
        let (first, second) = (self.r[(word >> 14 & 31) as usize], self.r[(word & 31) as usize]);
        if op3 == 0x3c {
            let old = self.load(first, 4)?;
            if old == second {
                self.store(first, 4, self.r[rd])?;
            }
            self.r[rd] = old;
            return Ok(());
        }
        let address = first.wrapping_add(second);
        match space {
            // The caches: their control register reads as 0, flushing does nothing.
            2 if op3 == 0x10 => {
                self.r[rd] = match address {
                    8 => 0x1022_0000,
                    12 => 0x1822_0000,
                    _ => 0,
                };
            }
            2 | 0x10..=0x18 => {}
            1 | 8..=11 | 0x1c => return self.access_at(op3 & 0x0f, rd, address),
            _ => return Err(Stop::NotSimulated),
        }
        Ok(())
    }

    #[inline(always)]
    fn load(&self, address: u32, bytes: u32) -> Result<u32, Stop> {
        if address & (bytes - 1) != 0 {
            return Err(Stop::Trap(UNALIGNED));
        }
        let at = address.wrapping_sub(RAM) as usize;
        let Some(found) = self.memory.get(at..at + bytes as usize) else {
            return self.load_device(address, bytes);
        };
        Ok(match bytes {
            1 => u32::from(found[0]),
            2 => u32::from(u16::from_be_bytes([found[0], found[1]])),
            _ => u32::from_be_bytes([found[0], found[1], found[2], found[3]]),
        })
    }

    fn load_pair(&self, address: u32) -> Result<[u32; 2], Stop> {
        if address & 7 != 0 {
            return Err(Stop::Trap(UNALIGNED));
        }
        Ok([self.load(address, 4)?, self.load(address + 4, 4)?])
    }

    #[inline(always)]
    fn store(&mut self, address: u32, bytes: u32, value: u32) -> Result<(), Stop> {
        if address & (bytes - 1) != 0 {
            return Err(Stop::Trap(UNALIGNED));
        }
        let at = address.wrapping_sub(RAM) as usize;
        let Some(place) = self.memory.get_mut(at..at + bytes as usize) else {
            return self.store_device(address, value);
        };
        place.copy_from_slice(&value.to_be_bytes()[4 - bytes as usize..]);
        if (address.wrapping_sub(self.base) / 4) < self.places.len() as u32 {
            self.price(address & !3);
        }
        Ok(())
    }

    fn store_pair(&mut self, address: u32, pair: [u32; 2]) -> Result<(), Stop> {
        if address & 7 != 0 {
            return Err(Stop::Trap(UNALIGNED));
        }
        self.store(address, 4, pair[0])?;
        self.store(address + 4, 4, pair[1])
    }

    fn is_device(address: u32) -> bool {
        matches!(address >> 20, 0x800 | 0xfff)
    }

    #[cold]
    fn load_device(&self, address: u32, bytes: u32) -> Result<u32, Stop> {
        if !Board::is_device(address) {
            return Err(Stop::Nowhere(address, false));
        }
        let word = self.devices.read(address & !3, self.n_executed + self.n_slept);
        let shift = 8 * (4 - bytes - (address & 3));
        Ok(if bytes == 4 { word } else { word >> shift & ((1 << (8 * bytes)) - 1) })
    }

    #[cold]
    fn store_device(&mut self, address: u32, value: u32) -> Result<(), Stop> {
        if !Board::is_device(address) {
            return Err(Stop::Nowhere(address, true));
        }
        self.devices.write(address & !3, value, self.n_executed + self.n_slept);
        self.attention = true;
        self.until = 0;
        Ok(())
    }
}
