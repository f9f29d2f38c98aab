//! Door: misses of the last-level cache as the kernel counts them for threads, times the bytes of a
//! line.
//!
//! Source: perf_event_open(2). The structure's first version, 64 bytes, has all that is needed.
//! `inherit` counts the threads and children that are started later; with both times in the answer
//! a counter that had to share the hardware is scaled up.
#![allow(unsafe_code)]

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::{FromRawFd, OwnedFd};

use super::rights::{self, Deed};

const TYPE_HARDWARE: u64 = 0;
const HARDWARE_CACHE_MISSES: u64 = 3;
const SIZE_VERSION_0: u64 = 64;
const FORMAT_TOTAL_TIME_ENABLED: u64 = 1;
const FORMAT_TOTAL_TIME_RUNNING: u64 = 2;
const FLAG_INHERIT: u64 = 1 << 1;
const FLAG_EXCLUDE_KERNEL: u64 = 1 << 5;
const FLAG_EXCLUDE_HYPERVISOR: u64 = 1 << 6;
const FD_CLOEXEC: u64 = 1 << 3;

/// A program's counters, one for each thread that it had.
#[derive(Debug)]
pub struct PerfCounter {
    files: Vec<File>,
    line_bytes: u64,
}

/// Whether it works here, or why not.
pub fn probe() -> Result<(), String> {
    open(0, TYPE_HARDWARE, HARDWARE_CACHE_MISSES).map(|_| ()).map_err(|error| {
        match error.raw_os_error() {
            Some(ENOENT) => {
                "the kernel has no hardware events here, as in most virtual machines".to_owned()
            }
            Some(EACCES | EPERM) => {
                format!("{error}; /proc/sys/kernel/perf_event_paranoid allows more")
            }
            _ => format!("perf_event_open: {error}"),
        }
    })
}

const ENOENT: i32 = nix::errno::Errno::ENOENT as i32;
const EACCES: i32 = nix::errno::Errno::EACCES as i32;
const EPERM: i32 = nix::errno::Errno::EPERM as i32;

impl PerfCounter {
    /// Counters for a program with these threads, and all that they start.
    pub fn open(threads: &[i32]) -> io::Result<PerfCounter> {
        let line =
            fs::read_to_string("/sys/devices/system/cpu/cpu0/cache/index0/coherency_line_size");
        let line_bytes = line.ok().and_then(|line| line.trim().parse().ok()).unwrap_or(64);
        let mut counter = PerfCounter { files: Vec::new(), line_bytes };
        counter.add(threads)?;
        Ok(counter)
    }

    /// These threads are counted too, from now on.
    pub fn add(&mut self, threads: &[i32]) -> io::Result<()> {
        for thread in threads {
            self.files.push(count(*thread)?);
        }
        Ok(())
    }

    /// Bytes so far; none while the counters had no hardware.
    pub fn bytes(&mut self) -> io::Result<Option<u64>> {
        let mut sum = Some(0);
        for file in &mut self.files {
            let mut answer = [0; 24];
            file.read_exact(&mut answer)?;
            sum = sum.zip(scaled(&answer)).map(|(sum, it): (u64, u64)| sum + it);
        }
        Ok(sum.map(|number| number * self.line_bytes))
    }
}

/// The count as if the counter had been on the hardware all the time: value,
/// time enabled, time running.
fn scaled(answer: &[u8; 24]) -> Option<u64> {
    let word = |idx: usize| {
        u64::from_ne_bytes(answer[8 * idx..8 * idx + 8].try_into().expect("a word has eight bytes"))
    };
    let (value, enabled, running) = (word(0), word(1), word(2));
    match (enabled, running) {
        (0, _) => Some(0),
        (_, 0) => None,
        _ => Some((u128::from(value) * u128::from(enabled) / u128::from(running)) as u64),
    }
}

/// Counts the misses of a thread from now on.
pub(super) fn count(thread: i32) -> io::Result<File> {
    match rights::ask(|| Deed::Count { thread }) {
        Some(asked) => rights::descriptor(asked).map(File::from),
        None => open(thread, TYPE_HARDWARE, HARDWARE_CACHE_MISSES),
    }
}

fn open(thread: i32, kind: u64, event: u64) -> io::Result<File> {
    let flags = FLAG_INHERIT | FLAG_EXCLUDE_KERNEL | FLAG_EXCLUDE_HYPERVISOR;
    let format = FORMAT_TOTAL_TIME_ENABLED | FORMAT_TOTAL_TIME_RUNNING;
    // type and size, config, period, what samples hold, read_format, flags, wake-ups and
    // breakpoints.
    let first = if cfg!(target_endian = "little") {
        kind | SIZE_VERSION_0 << 32
    } else {
        kind << 32 | SIZE_VERSION_0
    };
    let attributes: [u64; 8] = [first, event, 0, 0, format, bits(flags), 0, 0];
    let any_cpu = -1;
    let no_group = -1;
    // SAFETY: the structure has the size that it states and outlives the call, which writes nothing
    // to it.
    let file = unsafe {
        libc::syscall(
            libc::SYS_perf_event_open,
            attributes.as_ptr(),
            thread,
            any_cpu,
            no_group,
            FD_CLOEXEC,
        )
    };
    if file < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel just gave us this descriptor, and nobody else has it.
    let file = unsafe { OwnedFd::from_raw_fd(file as i32) };
    Ok(File::from(file))
}

/// A bit field fills its word from the low end, and from the high end where the
/// high byte comes first.
fn bits(flags: u64) -> u64 {
    if cfg!(target_endian = "little") { flags } else { flags.reverse_bits() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TYPE_SOFTWARE: u64 = 1;
    const SOFTWARE_TASK_CLOCK: u64 = 1;

    /// A synthetic answer of read(2): written from the manual, not recorded on a machine.
    fn synthetic(value: u64, enabled: u64, running: u64) -> [u8; 24] {
        let mut bytes = [0; 24];
        for (place, word) in bytes.chunks_mut(8).zip([value, enabled, running]) {
            place.copy_from_slice(&word.to_ne_bytes());
        }
        bytes
    }

    #[test]
    fn counters_that_shared_the_hardware_are_scaled_up() {
        assert_eq!(scaled(&synthetic(1000, 500, 500)), Some(1000));
        assert_eq!(scaled(&synthetic(1000, 500, 250)), Some(2000));
        assert_eq!(scaled(&synthetic(0, 0, 0)), Some(0), "a program that has not run");
        assert_eq!(scaled(&synthetic(0, 500, 0)), None, "all counters were taken");
        assert_eq!(scaled(&synthetic(u64::MAX / 2, 1 << 40, 1 << 40)), Some(u64::MAX / 2));
    }

    #[test]
    fn the_kernel_takes_the_structure() {
        // A clock, since a virtual machine counts no misses: the same call, the same answer.
        let mut file = open(0, TYPE_SOFTWARE, SOFTWARE_TASK_CLOCK)
            .expect("the kernel counts the time of tasks");
        let mut answer = [0; 24];
        file.read_exact(&mut answer).expect("three words");
        let before = scaled(&answer).expect("a clock runs always");
        let n: u64 = (0..2_000_000u64).fold(1, |idx, k| std::hint::black_box(idx ^ k));
        std::hint::black_box(n);
        file.read_exact(&mut answer).expect("three words");
        assert!(scaled(&answer).expect("a clock runs always") > before);
    }
}
