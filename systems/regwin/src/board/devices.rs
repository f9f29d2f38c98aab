//! What a LEON3 board has beside processor and memory: serial port, timers, interrupt controller,
//! and the tables that say so; as QEMU's `leon3_generic` has them.

/// Instructions in a microsecond: QEMU's clock under `-icount shift=0`.
const INSTRUCTIONS_A_US: u64 = 1000;
/// The bus runs at 40 MHz.
const CLOCKS_A_US: u64 = 40;
const UART_IRQ: u32 = 3;
const TIMER_IRQ: u32 = 6;
/// Control bits of a timer.
const ENABLE: u32 = 1;
const RESTART: u32 = 2;
const LOAD: u32 = 4;
const INTERRUPT: u32 = 8;
const PENDING: u32 = 16;

#[derive(Debug, Clone, Copy, Default)]
struct Timer {
    counter: u32,
    reload: u32,
    control: u32,
    started: u64,
    /// When it is at 0, if it runs.
    ends: Option<u64>,
}

#[derive(Debug)]
pub struct Devices {
    /// What was written on the serial port.
    pub console: Vec<u8>,
    uart_control: u32,
    timers: [Timer; 2],
    scaler: u32,
    pending: u32,
    force: u32,
    mask: u32,
    level: u32,
}

impl Devices {
    /// As QEMU's boot loader leaves them.
    pub fn new() -> Devices {
        let mut devices = Devices {
            console: Vec::new(),
            uart_control: 3,
            timers: [Timer::default(); 2],
            scaler: 39,
            pending: 0,
            force: 0,
            mask: 0,
            level: 0,
        };
        devices.timers[0] =
            Timer { reload: 0xffff_fffe, control: ENABLE | RESTART, ..Timer::default() };
        devices.start(0, 0);
        devices
    }

    fn tick(&self) -> u64 {
        (u64::from(self.scaler) + 1) * INSTRUCTIONS_A_US / CLOCKS_A_US
    }

    fn start(&mut self, idx: usize, now: u64) {
        let tick = self.tick();
        let timer = &mut self.timers[idx];
        let runs = timer.control & ENABLE != 0 && timer.counter != 0;
        timer.started = now;
        timer.ends = runs.then(|| now + u64::from(timer.counter) * tick);
    }

    /// When something happens next of itself.
    pub fn next_event(&self) -> u64 {
        self.timers.iter().filter_map(|timer| timer.ends).min().unwrap_or(u64::MAX)
    }

    /// Lets happen what is due.
    pub fn advance(&mut self, now: u64) {
        for idx in 0..self.timers.len() {
            let timer = &mut self.timers[idx];
            if timer.ends.is_none_or(|ends| ends > now) {
                continue;
            }
            timer.ends = None;
            timer.counter = 0;
            if timer.control & INTERRUPT != 0 {
                timer.control |= PENDING;
                self.pending |= 1 << (TIMER_IRQ + idx as u32);
            }
            if timer.control & RESTART != 0 {
                timer.counter = timer.reload;
                self.start(idx, now);
            }
        }
    }

    /// The most urgent interrupt that is wanted; 0 if none is.
    pub fn level(&self) -> u32 {
        let wanted = (self.pending | self.force) & self.mask & 0xfffe;
        let urgent = wanted & self.level;
        let among = if urgent == 0 { wanted } else { urgent };
        if among == 0 { 0 } else { 31 - among.leading_zeros() }
    }

    /// True if an interrupt may come some day without the program's doing.
    pub fn may_interrupt(&self) -> bool {
        let is_wanted = |(idx, timer): (usize, &Timer)| {
            timer.ends.is_some()
                && timer.control & INTERRUPT != 0
                && self.mask >> (TIMER_IRQ + idx as u32) & 1 == 1
        };
        self.level() != 0 || self.timers.iter().enumerate().any(is_wanted)
    }

    pub fn acknowledge(&mut self, level: u32) {
        self.pending &= !(1 << level);
        self.force &= !(1 << level);
    }

    pub fn read(&self, address: u32, now: u64) -> u32 {
        match address {
            0x8000_0104 => 6,
            0x8000_0108 => self.uart_control,
            0x8000_0200 => self.level,
            0x8000_0204 => self.pending,
            0x8000_0208 | 0x8000_0280 => self.force,
            0x8000_0240 => self.mask,
            0x8000_0300 | 0x8000_0304 => self.scaler,
            0x8000_0308 => 2 | TIMER_IRQ << 3 | 1 << 8,
            0x8000_0310..=0x8000_032f => {
                let timer = &self.timers[(address >> 5 & 1) as usize];
                match address >> 2 & 3 {
                    0 => timer.ends.map_or(timer.counter, |ends| {
                        (ends.saturating_sub(now) / self.tick()) as u32
                    }),
                    1 => timer.reload,
                    2 => timer.control,
                    _ => 0,
                }
            }
            // Plug and play of GRLIB: the processor, the bridge to the devices, and these.
            0xffff_f000 => 1 << 24 | 3 << 12,
            0xffff_f800 => 1 << 24 | 6 << 12,
            0xffff_f810 => 0x8000_0000 | 0xfff << 4 | 2,
            0x800f_f000 => 1 << 24 | 0x00c << 12 | 1 << 5 | UART_IRQ,
            0x800f_f004 => 0x0010_fff1,
            0x800f_f008 => 1 << 24 | 0x00d << 12 | 2 << 5,
            0x800f_f00c => 0x0020_fff1,
            0x800f_f010 => 1 << 24 | 0x011 << 12 | TIMER_IRQ,
            0x800f_f014 => 0x0030_fff1,
            _ => 0,
        }
    }

    pub fn write(&mut self, address: u32, value: u32, now: u64) {
        match address {
            0x8000_0100 if self.uart_control & 2 != 0 => {
                self.console.push(value as u8);
                self.pending |= (self.uart_control >> 3 & 1) << UART_IRQ;
            }
            0x8000_0108 => self.uart_control = value,
            0x8000_0200 => self.level = value,
            0x8000_0204 => self.pending = value,
            0x8000_0208 => self.force = value & 0xfffe,
            0x8000_020c => self.pending &= !value,
            0x8000_0240 => self.mask = value & 0xfffe,
            0x8000_0280 => self.force = (self.force | value & 0xfffe) & !(value >> 16),
            0x8000_0300 | 0x8000_0304 => self.scaler = value & 0xffff,
            0x8000_0310..=0x8000_032f => {
                let idx = (address >> 5 & 1) as usize;
                match address >> 2 & 3 {
                    0 => {
                        self.timers[idx].counter = value;
                        self.start(idx, now);
                    }
                    1 => self.timers[idx].reload = value,
                    2 => self.control(idx, value, now),
                    _ => {}
                }
            }
            _ => {}
        }
    }

    fn control(&mut self, idx: usize, value: u32, now: u64) {
        let timer = &mut self.timers[idx];
        // A pending interrupt is put back by writing it.
        let pending = if value & PENDING != 0 { 0 } else { timer.control & PENDING };
        if let Some(ends) = timer.ends {
            let tick = (u64::from(self.scaler) + 1) * INSTRUCTIONS_A_US / CLOCKS_A_US;
            timer.counter = (ends.saturating_sub(now) / tick) as u32;
        }
        timer.control = value & !(PENDING | LOAD) | pending;
        if value & LOAD != 0 {
            timer.counter = timer.reload;
        }
        self.start(idx, now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_interrupts_again_and_again() {
        let mut devices = Devices::new();
        devices.write(0x8000_0240, 1 << 6, 0);
        devices.write(0x8000_0314, 9, 0);
        devices.write(0x8000_0318, ENABLE | RESTART | LOAD | INTERRUPT, 0);
        assert!(devices.may_interrupt());
        for round in 1..4 {
            let at = devices.next_event();
            assert_eq!(at, round * 9 * INSTRUCTIONS_A_US);
            devices.advance(at);
            assert_eq!(devices.level(), 6);
            devices.acknowledge(6);
            assert_eq!(devices.level(), 0);
        }
    }
}
