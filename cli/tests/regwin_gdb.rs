//! GDB's script of the library: the frames of all threads at random stops are those that the program
//! says it has, also while they are in register windows or interrupted.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// 32 threads that call themselves down to depths of their own, and say how deep they are.
const PROGRAM: &str = "#include <regwin.h>
enum { N = 32 };
static struct thr t[N];
static unsigned stacks[N][768] __attribute__((aligned(8)));
static char names[N][4];
volatile int depth[N];
static __attribute__((noinline, noclone)) int down(int me, int n)
{
    int r = n;
    depth[me]++;
    if (n)
        r += down(me, n - 1);
    else
        thr_yield();
    depth[me]--;
    return r;
}
static void body(void *it)
{
    int me = (int)it;
    for (unsigned random = me * 77 + 1;; random = random * 1103515245 + 12345)
        down(me, (random >> 16) % 12);
}
int main(void)
{
    for (int i = 0; i < N; i++) {
        names[i][0] = 't', names[i][1] = '0' + i / 10, names[i][2] = '0' + i % 10;
        thr_create(&t[i], names[i], stacks[i], sizeof stacks[i], body, (void *)i);
    }
#ifdef PREEMPT
    thr_preempt(1);
#endif
    return 0;
}
void machine_idle(void) { for (;;); }
";

/// Stops at random calls; a thread in `thr_entry`, `body` and so many calls of `down` has no others.
const STOPS: &str = "
import random
random.seed(2026)
gdb.execute('break down')
n_looked = n_wrong = n_interrupted = 0
for stop in range(int('STOPS')):
    gdb.execute(f'ignore 1 {random.randrange(1, 200)}', to_string=True)
    gdb.execute('continue', to_string=True)
    for thread in threads():
        if not thread.name.startswith('t'):
            continue
        names = [name_of(pc) for pc in thread.frames()]
        deep = int(gdb.parse_and_eval(f'depth[{int(thread.name[1:])}]'))
        n = names.count('down')
        was_interrupted = any(name.startswith('interrupt') for name in names)
        # The running one has just been called, and one that was interrupted may have been.
        wanted = (deep + 1,) if thread.is_running else (deep, deep + 1) if was_interrupted else (deep,)
        ends = ['body', 'thr_entry'] if n else names[-2:]
        n_looked += 1
        n_interrupted += was_interrupted
        if n not in wanted or names[-2:] != ends:
            n_wrong += 1
            print('WRONG', stop, thread.name, thread.state(), deep, names)
print(f'looked at {n_looked}, wrong {n_wrong}, interrupted {n_interrupted}')
";

/// Under MEANWHILE_LONG a hundred.
fn n_stops() -> usize {
    if std::env::var_os("MEANWHILE_LONG").is_some() { 100 } else { 8 }
}

struct Qemu(Child);

impl Drop for Qemu {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn has_tools() -> bool {
    let has = |name: &str| Command::new(name).arg("--version").output().is_ok();
    let all = ["gdb-multiarch", "qemu-system-sparc", regwin::library::GCC].into_iter().all(has);
    if !all {
        testkit::skipped("regwin: gdb-multiarch, QEMU or the compiler for SPARC is missing");
    }
    all
}

/// What GDB prints of the program under these options.
fn debugged(folder: &Path, options: &[&str], windows: &str) -> String {
    let built = Command::new(env!("CARGO_BIN_EXE_meanwhile"))
        .args(["regwin", "build", "-o"])
        .arg(folder)
        .args(options)
        .output()
        .expect("the binary runs");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    std::fs::write(folder.join("example/main.c"), PROGRAM).expect("a program");
    let made = Command::new("make").args(["-s", "example.elf"]).current_dir(folder).output();
    let made = made.expect("make runs");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    let address = free.expect("a free port of the loopback");
    let machine = format!("LEON3,nwindows={windows}");
    let qemu = Command::new("qemu-system-sparc")
        .args(["-M", "leon3_generic", "-cpu", &machine, "-nographic", "-monitor", "none"])
        .args(["-serial", "null", "-icount", "shift=0", "-S", "-gdb", &format!("tcp:{address}")])
        .arg("-kernel")
        .arg(folder.join("example.elf"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let _qemu = Qemu(qemu.expect("QEMU runs"));
    std::fs::write(folder.join("stops.py"), STOPS.replace("STOPS", &n_stops().to_string()))
        .expect("a script");
    let gdb = Command::new("gdb-multiarch")
        .args(["-nx", "-batch", "-ex", "set pagination off", "-ex", "set architecture sparc"])
        .args(["-ex", &format!("target remote {address}"), "-x", "gdb.py", "-x", "stops.py"])
        .args([
            "-ex",
            "threads",
            "-ex",
            "threads bt t07",
            "-ex",
            "threads bt nobody",
            "example.elf",
        ])
        .current_dir(folder)
        .output()
        .expect("GDB runs");
    String::from_utf8_lossy(&gdb.stdout).into_owned() + &String::from_utf8_lossy(&gdb.stderr)
}

#[test]
fn frames_of_all_threads_are_those_that_they_are_in() {
    if !has_tools() {
        return;
    }
    let cases: [(&[&str], &str); 4] = [
        (&["--scheme", "sp", "--options", "preempt"], "8"),
        (&["--scheme", "ns"], "8"),
        (&["--scheme", "snp", "--options", "preempt,priorities"], "6"),
        (&["--scheme", "adaptive", "--options", "preempt,working-set"], "31"),
    ];
    for (options, windows) in cases {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let said = debugged(folder.path(), options, windows);
        let n_looked = 32 * n_stops();
        let looked = format!("looked at {n_looked}, wrong 0");
        assert!(said.contains(&looked), "{options:?}: {said}");
        let is_preempted = options.iter().any(|word| word.contains("preempt"));
        assert_eq!(!said.contains("interrupted 0"), is_preempted, "{options:?}: {said}");
        for part in ["t31 is ", "#1  ", "in body at example/main.c:", "no thread is called nobody"]
        {
            assert!(said.contains(part), "{options:?}: no `{part}` in {said}");
        }
    }
}
