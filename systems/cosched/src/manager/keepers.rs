//! Door: the manager's side of its supervisors: threads that start one again when it ends.

use std::io::{self, PipeWriter};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use super::group::Hierarchy;
use super::supervisor;

/// Two processes that free the programs when this one dies; one that ends before is started again. Dropped, they do so and
/// end, also where the manager failed to start.
pub(super) struct Keepers {
    pub(super) pids: supervisor::Pids,
    is_ending: Arc<AtomicBool>,
    /// Its end is what they wait for.
    life: Option<PipeWriter>,
    threads: Vec<JoinHandle<()>>,
}

impl Keepers {
    /// Starts them by this program's own command `supervise`.
    pub(super) fn start(hierarchy: &Hierarchy, pages: &Path, supervise: &[String]) -> io::Result<Keepers> {
        let (death, life) = io::pipe()?;
        let program = std::env::current_exe()?;
        let is_ending = Arc::new(AtomicBool::new(false));
        let pids = supervisor::Pids::default();
        let mut started = Keepers { pids: Arc::clone(&pids), is_ending: Arc::clone(&is_ending), life: Some(life), threads: Vec::new() };
        for idx in 0..supervisor::COUNT {
            let (program, words) = (program.clone(), supervise.to_vec());
            let (path, pages, freezer) = (hierarchy.path.clone(), pages.to_owned(), hierarchy.freezer.text());
            let death = death.try_clone()?;
            let spawn = move || -> io::Result<Child> {
                // It must outlive a Ctrl-C that ends us: a process group of its own.
                let mut command = Command::new(&program);
                command.args(&words).arg(freezer).arg(&path).arg(&pages).process_group(0);
                command.stdin(death.try_clone()?).stdout(Stdio::null()).stderr(Stdio::null()).spawn()
            };
            let mut child = spawn()?;
            pids.lock().expect("nobody panics with it").insert(idx, child.id() as i32);
            let (is_ending, pids) = (Arc::clone(&is_ending), Arc::clone(&pids));
            started.threads.push(std::thread::spawn(move || {
                loop {
                    let _ = child.wait();
                    if is_ending.load(Ordering::Acquire) {
                        return;
                    }
                    // Whatever keeps it from starting may pass: a full table of processes does.
                    child = loop {
                        match spawn() {
                            Ok(it) => break it,
                            Err(_) if is_ending.load(Ordering::Acquire) => return,
                            Err(_) => std::thread::sleep(Duration::from_millis(100)),
                        }
                    };
                    pids.lock().expect("nobody panics with it").insert(idx, child.id() as i32);
                }
            }));
        }
        Ok(started)
    }
}

impl Drop for Keepers {
    fn drop(&mut self) {
        self.is_ending.store(true, Ordering::Release);
        drop(self.life.take());
        for it in self.threads.drain(..) {
            // One that panicked has nothing more to keep.
            let _ = it.join();
        }
    }
}
