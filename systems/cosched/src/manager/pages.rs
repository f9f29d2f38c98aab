//! Door: a sample of a process's memory, and how much of it the process has touched: the kernel
//! forgets that these pages were accessed, and the processor notes it anew.
//!
//! Only the pages of the sample lose that mark. For the kernel they are pages that were not used
//! for a while, and if memory is short they go first.

#![allow(unsafe_code)]

use std::fs;
use std::io;
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

use nix::time::ClockId;

use super::rights::{self, Deed};
use super::sweep::{Look, Sizes, Unknown};

/// A huge page: less of one would be split.
const CHUNK: usize = 2 << 20;
/// Chunks of a sample: one of so many of the process's, as the first access to a page that was
/// forgotten takes longer; at least, and at most.
const ONE_OF: usize = 32;
const LEAST: usize = 8;
const MOST: usize = 64;
/// Of a process's memory at most a tenth is looked at.
pub const SHARE: usize = 10;
/// Less memory than this is not looked at.
const LEAST_BYTES: usize = LEAST * SHARE * CHUNK;
/// Memory that is not the process's own, at most, as a share of what is.
const FOREIGN: f64 = 0.25;
/// A look that takes longer is not taken again: the process cannot map memory meanwhile.
const LONGEST_LOOK: Duration = Duration::from_millis(100);

/// What is said of a process with less.
pub const SMALL: Unknown = Unknown::Small(LEAST_BYTES as u64 >> 20);

/// Whether a process has less, by what nobody has to wait for.
///
/// Source: proc(5), `/proc/PID/statm`: pages, the second of them resident.
pub fn is_small(pid: i32) -> bool {
    let text = read(pid, "statm").unwrap_or_default();
    let pages: Option<usize> = text.split(' ').nth(1).and_then(|word| word.parse().ok());
    pages.is_none_or(|pages| pages * rustix::param::page_size() < LEAST_BYTES)
}

/// A process and the sample of its memory.
#[derive(Debug)]
pub struct Sample {
    pid: i32,
    clock: ClockId,
    /// Where its chunks begin.
    chunks: Vec<usize>,
    sizes: Sizes,
    forgotten: (Duration, Instant),
    /// What the first look took.
    pub look: Duration,
}

impl Sample {
    /// Chooses the sample, evenly over what it may write to and shares with nobody.
    ///
    /// Errors: why nothing can be known of this process.
    pub fn of(pid: i32) -> Result<Sample, Unknown> {
        let refused = |error: io::Error| Unknown::Refused(error.to_string());
        let (start, cpu) = (Instant::now(), thread_time());
        let rollup = read(pid, "smaps_rollup")?;
        let (look, cost) = (start.elapsed(), thread_time().saturating_sub(cpu));
        let kb = |name: &str| number(&rollup, name).unwrap_or(0.0);
        let own = kb("Anonymous:");
        let all = chunks(&read(pid, "maps")?);
        if all.len() < LEAST * SHARE || own * 1024.0 < LEAST_BYTES as f64 {
            return Err(SMALL);
        }
        let huge = kb("Private_Hugetlb:") + kb("Shared_Hugetlb:");
        if kb("Rss:") - own > FOREIGN * own || huge > 0.0 {
            return Err(Unknown::NotItsOwn);
        }
        if cost > LONGEST_LOOK {
            return Err(Unknown::Refused(format!(
                "a look at its pages takes {} ms",
                cost.as_millis()
            )));
        }
        let n = (all.len() / ONE_OF).clamp(LEAST, MOST);
        let chunks = (0..n).map(|idx| all[(2 * idx + 1) * all.len() / (2 * n)]);
        Ok(Sample {
            pid,
            clock: nix::time::clock_getcpuclockid(nix::unistd::Pid::from_raw(pid))
                .map_err(|error| refused(error.into()))?,
            chunks: chunks.collect(),
            sizes: Sizes {
                all: (all.len() * CHUNK) as f64,
                sample: (n * CHUNK) as f64,
                cache: largest_cache(),
            },
            forgotten: (Duration::ZERO, start),
            look,
        })
    }

    pub fn sizes(&self) -> Sizes {
        self.sizes
    }

    /// From now on its pages count as touched only if they are accessed again.
    ///
    /// Errors: the kernel does not let us, or the process has ended.
    pub fn forget(&mut self) -> Result<(), Unknown> {
        match forget(self.pid, &self.chunks) {
            Err(error) if error.raw_os_error() == Some(libc::ESRCH) => return Err(Unknown::Ended),
            Err(error) if error.raw_os_error() == Some(libc::ENOMEM) => return Err(Unknown::Grows),
            Err(error) => return Err(Unknown::Refused(format!("process_madvise: {error}"))),
            // The kernel stops at what is not mapped any more.
            Ok(bytes) if bytes < self.chunks.len() * CHUNK => return Err(Unknown::Grows),
            Ok(_) => {}
        }
        self.forgotten = (self.cpu()?, Instant::now());
        Ok(())
    }

    /// How much is touched now.
    ///
    /// Errors: the process has ended, or may not be looked at.
    pub fn look(&self) -> Result<Look, Unknown> {
        let (cpu, clock) = self.forgotten;
        let before = self.cpu()?;
        let rollup = read(self.pid, "smaps_rollup")?;
        let middle = (before + self.cpu()?) / 2;
        let bytes = |name: &str| number(&rollup, name).map(|kb| kb * 1024.0).ok_or(Unknown::Ended);
        Ok(Look {
            cpu_s: middle.saturating_sub(cpu).as_secs_f64(),
            clock_s: clock.elapsed().as_secs_f64(),
            touched: bytes("Referenced:")?,
            resident: bytes("Rss:")?,
        })
    }

    fn cpu(&self) -> Result<Duration, Unknown> {
        nix::time::clock_gettime(self.clock).map(Duration::from).map_err(|_| Unknown::Ended)
    }

    /// Processor time of the process since its sample was forgotten.
    pub fn since(&self) -> Result<Duration, Unknown> {
        Ok(self.cpu()?.saturating_sub(self.forgotten.0))
    }

    /// Ticks of processor time so far, its own and the kernel's for it.
    pub fn ticks(&self) -> Result<(f64, f64), Unknown> {
        let stat = read(self.pid, "stat")?;
        // Source: proc(5), `/proc/PID/stat`: the 14th and 15th fields, the second in brackets.
        let after = stat.rsplit_once(')').ok_or(Unknown::Ended)?.1;
        let mut ticks = after.split_ascii_whitespace().skip(11).map(|word| word.parse().ok());
        ticks.next().flatten().zip(ticks.next().flatten()).ok_or(Unknown::Ended)
    }
}

/// The kernel forgets that the huge pages from these addresses on were used; of how many bytes it
/// did so.
pub(super) fn forget(pid: i32, chunks: &[usize]) -> io::Result<usize> {
    if let Some(asked) = rights::ask(|| Deed::Forget { pid, chunks: chunks.into() }) {
        return asked.map(|given| given.0 as usize);
    }
    let gone = io::Error::from_raw_os_error(libc::ESRCH);
    let process = rustix::process::Pid::from_raw(pid).ok_or(gone)?;
    let process = rustix::process::pidfd_open(process, rustix::process::PidfdFlags::empty())?;
    let list: Vec<libc::iovec> = chunks
        .iter()
        .map(|start| libc::iovec {
            iov_base: std::ptr::without_provenance_mut(*start),
            iov_len: CHUNK,
        })
        .collect();
    // SAFETY: the list outlives the call, which reads it; the addresses are the other process's,
    // whose memory keeps what it holds.
    let done = unsafe {
        libc::syscall(
            libc::SYS_process_madvise,
            process.as_raw_fd(),
            list.as_ptr(),
            list.len(),
            libc::MADV_COLD,
            0,
        )
    };
    usize::try_from(done).map_err(|_| io::Error::last_os_error())
}

/// Processor time of this thread.
pub fn thread_time() -> Duration {
    let found = nix::time::clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID);
    found.map_or(Duration::ZERO, Duration::from)
}

fn read(pid: i32, file: &str) -> Result<String, Unknown> {
    // What all may read of a process is not asked for.
    let text = match file {
        "maps" | "smaps_rollup" => rights::read_process(pid, file),
        _ => fs::read_to_string(format!("/proc/{pid}/{file}")),
    };
    text.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Unknown::Ended,
        _ if error.raw_os_error() == Some(libc::ESRCH) => Unknown::Ended,
        _ => Unknown::Refused(format!("/proc/{pid}/{file}: {error}")),
    })
}

/// The number after this name, in KB. Source: proc(5), `/proc/PID/smaps`.
fn number(rollup: &str, name: &str) -> Option<f64> {
    let line = rollup.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix(" kB")?.parse().ok()
}

/// Where whole huge pages would begin in memory that can be written and belongs to no file.
/// Source: proc(5), `/proc/PID/maps`.
fn chunks(maps: &str) -> Vec<usize> {
    let own = |line: &str| {
        let mut words = line.split_ascii_whitespace();
        let (range, rights) = (words.next()?, words.next()?);
        let is_own = rights.starts_with("rw") && rights.ends_with('p') && words.nth(2)? == "0";
        let (start, end) = range.split_once('-')?;
        let address = |text: &str| usize::from_str_radix(text, 16).ok();
        is_own.then_some((address(start)?, address(end)?))
    };
    maps.lines()
        .filter_map(own)
        .flat_map(|(start, end)| {
            (start.next_multiple_of(CHUNK)..end).step_by(CHUNK).filter(move |at| at + CHUNK <= end)
        })
        .collect()
}

/// Bytes of the largest cache of the first processor; none is known of: none.
fn largest_cache() -> f64 {
    let size = |index: usize| {
        let path = format!("/sys/devices/system/cpu/cpu0/cache/index{index}/size");
        let text = fs::read_to_string(path).ok()?;
        text.trim().strip_suffix('K')?.parse::<f64>().ok().map(|kb| kb * 1024.0)
    };
    (0..8).filter_map(size).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_chunks_of_its_own_memory_are_chosen() {
        let maps = "\
55d000000000-55d000400000 r--p 00000000 08:01 131 /usr/bin/x
7f0000100000-7f0000700000 rw-p 00000000 00:00 0 
7f0000800000-7f0000900000 rw-p 00000000 00:00 0 
7f0000a00000-7f0001000000 rw-s 00000000 00:01 9 /dev/zero (deleted)
7f0001000000-7f0001400000 rw-p 00000000 08:01 77 /lib/libc.so.6
7f0002000000-7f0002200000 ---p 00000000 00:00 0 
";
        assert_eq!(chunks(maps), [0x7f00_0020_0000, 0x7f00_0040_0000]);
        assert_eq!(number("Rss:  12 kB\nReferenced:     7 kB\n", "Referenced:"), Some(7.0));
        assert_eq!(number("Rss:  12 kB\n", "Referenced:"), None);
    }

    #[test]
    fn a_process_that_is_gone_or_small_is_named_so() {
        assert_eq!(Sample::of(i32::MAX).map(|_| ()), Err(Unknown::Ended));
        let mut child = std::process::Command::new("sleep").arg("100").spawn().expect("it runs");
        let small = Sample::of(child.id() as i32).map(|_| ());
        assert!(is_small(child.id() as i32) && is_small(i32::MAX));
        child.kill().and_then(|()| child.wait()).expect("it is ours");
        assert_eq!((small, SMALL), (Err(Unknown::Small(160)), Unknown::Small(160)));
    }
}
