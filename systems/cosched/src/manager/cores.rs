//! Door: which processors are of one core, one cache and one socket, as the kernel says. Where the
//! machine is its own they never move, and what follows for their links need not be measured: those
//! of two sockets have none in common, those behind one cache have. A virtual machine's say nothing.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use measure::machine::Machine;

/// Where the kernel says it.
const ROOT: &str = "/sys/devices/system/cpu";

/// What the kernel says of each processor; empty where that means nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cores(BTreeMap<usize, CoreOf>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct CoreOf {
    socket: i64,
    /// 0 for the first thread of its core, 1 for another.
    thread: usize,
    /// The processors behind its last cache, as the kernel lists them; none if it names no cache.
    cache: Option<String>,
}

impl Cores {
    /// Processors with their sockets, one cache each; from `n_cores` on they are second threads.
    #[cfg(test)]
    pub fn of_threads(sockets: &[(usize, i64)], n_cores: usize) -> Cores {
        let core = |(cpu, socket): &(usize, i64)| {
            let thread = usize::from(*cpu >= n_cores);
            (*cpu, CoreOf { socket: *socket, thread, cache: Some(socket.to_string()) })
        };
        Cores(sockets.iter().map(core).collect())
    }

    /// Those of this machine.
    pub fn here(cpus: &[usize]) -> Cores {
        // Only x86 tells a virtual machine from another one.
        if Machine::here().virtualised || cfg!(not(target_arch = "x86_64")) {
            return Cores::default();
        }
        Cores::read(Path::new(ROOT), cpus)
    }

    fn read(root: &Path, cpus: &[usize]) -> Cores {
        let all = cpus.iter().map(|cpu| Some((*cpu, read_core(root, *cpu)?)));
        // One that is not described could be anywhere.
        all.collect::<Option<_>>().map(Cores).unwrap_or_default()
    }

    /// Nothing has to be measured again.
    pub fn are_known(&self) -> bool {
        !self.0.is_empty()
    }

    /// Whether two share a link; none where that has to be measured.
    pub fn share(&self, a: usize, b: usize) -> Option<bool> {
        let (a, b) = (self.0.get(&a)?, self.0.get(&b)?);
        if a.socket != b.socket {
            return Some(false);
        }
        (a.cache.is_some() && a.cache == b.cache).then_some(true)
    }

    /// The first threads of all cores, then the second ones: two threads of a core hardly slow each
    /// other's reading down, which says nothing of the link.
    pub fn apart_first(&self, cpus: &[usize]) -> Vec<usize> {
        let mut ordered = cpus.to_vec();
        ordered.sort_by_key(|cpu| self.0.get(cpu).map_or(0, |core| core.thread));
        ordered
    }
}

fn read_core(root: &Path, cpu: usize) -> Option<CoreOf> {
    let folder = root.join(format!("cpu{cpu}"));
    let text = |path: &Path| Some(fs::read_to_string(path).ok()?.trim().to_owned());
    let topology = folder.join("topology");
    let socket = text(&topology.join("physical_package_id"))?.parse().ok()?;
    // `0,4` or `0-1`: however it is written, the first is the lowest.
    let siblings = text(&topology.join("thread_siblings_list"))?;
    let first: usize = siblings.split([',', '-']).next()?.parse().ok()?;
    let caches = fs::read_dir(folder.join("cache")).ok().into_iter().flatten().flatten();
    let last = caches
        .filter_map(|cache| {
            let level: u32 = text(&cache.path().join("level"))?.parse().ok()?;
            Some((level, text(&cache.path().join("shared_cpu_list"))?))
        })
        .max_by_key(|(level, _)| *level);
    let cache = last.map(|(_, shared)| shared);
    Some(CoreOf { socket, thread: usize::from(first != cpu), cache })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Processors with their socket, the threads of their core, and the processors behind their last
    /// cache, as the kernel's files have them.
    fn described(cpus: &[(usize, i64, &str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("a scratch folder");
        let write = |cpu: usize, path: &str, text: &str| {
            let path = root.path().join(format!("cpu{cpu}")).join(path);
            fs::create_dir_all(path.parent().expect("it has a folder")).expect("a scratch folder");
            fs::write(path, format!("{text}\n")).expect("a scratch file");
        };
        for (cpu, socket, siblings, shared) in cpus {
            write(*cpu, "topology/physical_package_id", &socket.to_string());
            write(*cpu, "topology/thread_siblings_list", siblings);
            for (index, level, list) in [(0, "1", *siblings), (3, "3", *shared)] {
                write(*cpu, &format!("cache/index{index}/level"), level);
                write(*cpu, &format!("cache/index{index}/shared_cpu_list"), list);
            }
        }
        root
    }

    #[test]
    fn sockets_part_and_caches_join() {
        let root = described(&[
            (0, 0, "0,4", "0-1,4-5"),
            (1, 0, "1,5", "0-1,4-5"),
            (2, 1, "2,6", "2-3,6-7"),
            (4, 0, "0,4", "0-1,4-5"),
        ]);
        let cores = Cores::read(root.path(), &[0, 1, 2, 4]);
        assert!(cores.are_known());
        assert_eq!(cores.share(0, 1), Some(true));
        assert_eq!(cores.share(0, 4), Some(true), "two threads of a core");
        assert_eq!(cores.share(1, 2), Some(false));
        assert_eq!(cores.apart_first(&[0, 1, 2, 4]), [0, 1, 2, 4]);
        let neighbours =
            described(&[(0, 0, "0-1", "0-3"), (1, 0, "0-1", "0-3"), (2, 0, "2-3", "0-3")]);
        let cores = Cores::read(neighbours.path(), &[0, 1, 2]);
        assert_eq!(cores.apart_first(&[0, 1, 2]), [0, 2, 1], "threads of a core beside each other");
    }

    #[test]
    fn what_is_not_said_is_measured() {
        // Two caches in a socket: as on chips of several dies, which may have a link each.
        let root = described(&[(0, 0, "0", "0-1"), (1, 0, "1", "0-1"), (2, 0, "2", "2-3")]);
        assert_eq!(Cores::read(root.path(), &[0, 1, 2]).share(0, 2), None);
        assert!(!Cores::read(root.path(), &[0, 7]).are_known(), "one is not described");
        assert!(!Cores::read(Path::new("/nonexistent"), &[0, 1]).are_known());
        assert_eq!(Cores::default().share(0, 1), None);
    }
}
