//! The studies by their names, which are those of their folders in `experiments/` where they have
//! one.

use serde_json::json;
use terminal::output::{Failure, Output};

use crate::{audit, cipher, cosched, overlap, regwin};

/// A study and its options.
#[derive(Debug, clap::Subcommand)]
pub enum Study {
    /// Time and memory of an audit itself.
    AuditSpeed(audit::bench::Args),
    /// Cycles a byte of emitted C, of all bundled primitives.
    CipherSpeed(cipher::speed::Args),
    /// Streams against those of other libraries, in pairs.
    CipherStreams(cipher::peers::Args),
    /// Messages of 16 bytes to 16 KiB by packages against OpenSSL's.
    CipherMessages(cipher::messages::Args),
    /// Each scheduler off against on, and other choices in the same way.
    CipherSchedulers(cipher::bench::Args),
    /// Assembly of ours against the best C, in turn.
    CipherBackEnds(cipher::back_ends::Args),
    /// Which C compilers keep all primitives and modes free of branches and addresses that
    /// depend on a secret.
    CipherCompilers(cipher::compilers::Args),
    /// The synthesiser of circuits against decision diagrams on random S-boxes.
    CipherSboxes(cipher::sboxes::Args),
    /// What choosing is worth here: two memory and two compute programs.
    CoschedReal(cosched::bench::Args),
    /// What a manager of a thousand programs takes: a status, a decision, memory.
    CoschedScale(cosched::scale::Args),
    /// Mixes of programs drawn by chance: is any slower or later under a manager?
    CoschedMixes(cosched::mixes::Args),
    /// PostgreSQL and redis beside programs that compute: do they answer later under a manager?
    CoschedServices(cosched::services::Args),
    /// How far the gain depends on the machine and its contention.
    CoschedSensitivity(cosched::sensitivity::Args),
    /// What the paper chose by experiment, and the number of processors, varied in the simulator.
    CoschedSweep(cosched::sweep::Args),
    /// A trace of jobs on nodes that are shared or not.
    CoschedCluster(cosched::cluster::Args),
    /// The paper's gains over Linux beside ours, under assumptions about its machine.
    CoschedPaper(cosched::paper::Args),
    /// Blocking against overlapped programs over a network of 2 Gbit/s.
    Overlap(overlap::bench::Args),
    /// What the plugin costs a compilation.
    OverlapCompileTime(overlap::compile_time::Args),
    /// The paper's tables 2 and 3: windows in miniMD and miniFE, which you fetch.
    OverlapWindows(overlap::windows::Args),
    /// The paper's spell checker once, with everything that is counted.
    RegwinSpell(regwin::run::Args),
    /// Every scheme, schedule and behaviour over the window counts, on the simulator.
    RegwinSweep(regwin::sweep::Args),
    /// `adaptive` against the best of the paper's schemes, every cell counted under QEMU.
    RegwinAdaptive(regwin::bench::Args),
    /// What the paper leaves open: copied registers, emulated restores, windows a trap, allocation.
    RegwinVariants(regwin::variants::Args),
    /// How fast the simulator, QEMU and the counting plugin are here.
    RegwinSpeed(regwin::speed::Args),
    /// What RTOS people measure (tmcontext01, Rhealstone, Thread-Metric), in each scheme.
    RegwinRtos(regwin::rtos::Args),
    /// How the spell checker uses windows if there are enough of them.
    RegwinBehaviour(regwin::behaviour::Args),
    /// The events of a run, in a file.
    RegwinRecord(regwin::record::RecordArgs),
    /// Such a file replayed with other windows.
    RegwinReplay(regwin::record::ReplayArgs),
}

impl Study {
    /// True for studies whose programs are ended by the study itself in its own way.
    pub fn manages(&self) -> bool {
        match self {
            Study::CoschedReal(_)
            | Study::CoschedScale(_)
            | Study::CoschedMixes(_)
            | Study::CoschedServices(_) => true,
            Study::CoschedSensitivity(args) => args.is_real(),
            _ => false,
        }
    }
}

/// Prints the names of all studies with what they are about.
pub fn list(program: &clap::Command, out: &mut Output) -> Result<(), Failure> {
    let studies = program.find_subcommand("run").expect("studies are run");
    let rows: Vec<(String, String)> = studies
        .get_subcommands()
        .map(|study| {
            (
                study.get_name().to_owned(),
                study.get_about().map(ToString::to_string).unwrap_or_default(),
            )
        })
        .collect();
    for (name, about) in &rows {
        out.line(&format!("{name:22} {about}"));
    }
    let rows: Vec<_> =
        rows.iter().map(|(name, about)| json!({"name": name, "about": about})).collect();
    out.object(&json!({"ok": true, "rows": rows}));
    Ok(())
}

pub fn run(study: Study, out: &mut Output) -> Result<(), Failure> {
    let done = match study {
        Study::AuditSpeed(args) => audit::bench::run(&args, out),
        Study::CipherSpeed(args) => cipher::speed::run(args, out),
        Study::CipherStreams(args) => cipher::peers::run(args, out),
        Study::CipherMessages(args) => cipher::messages::run(&args, out),
        Study::CipherSchedulers(args) => cipher::bench::run(args, out),
        Study::CipherBackEnds(args) => cipher::back_ends::run(args, out),
        Study::CipherCompilers(args) => cipher::compilers::run(args, out),
        Study::CipherSboxes(args) => cipher::sboxes::run(args, out),
        Study::CoschedReal(args) => cosched::bench::run(&args, out),
        Study::CoschedScale(args) => cosched::scale::run(&args, out),
        Study::CoschedMixes(args) => cosched::mixes::run(&args, out),
        Study::CoschedServices(args) => cosched::services::run(&args, out),
        Study::CoschedSensitivity(args) => cosched::sensitivity::run(&args, out),
        Study::CoschedSweep(args) => cosched::sweep::run(args, out),
        Study::CoschedCluster(args) => cosched::cluster::run(&args, out),
        Study::CoschedPaper(args) => cosched::paper::run(&args, out),
        Study::Overlap(args) => overlap::bench::run(&args, out),
        Study::OverlapCompileTime(args) => overlap::compile_time::run(&args, out),
        Study::OverlapWindows(args) => overlap::windows::run(&args, out),
        Study::RegwinSpell(args) => regwin::run::run(args, out),
        Study::RegwinSweep(args) => regwin::sweep::run(args, out),
        Study::RegwinAdaptive(args) => regwin::bench::run(args, out),
        Study::RegwinVariants(args) => regwin::variants::run(&args, out),
        Study::RegwinSpeed(args) => regwin::speed::run(&args, out),
        Study::RegwinRtos(args) => regwin::rtos::run(&args, out),
        Study::RegwinBehaviour(args) => regwin::behaviour::run(args, out),
        Study::RegwinRecord(args) => regwin::record::record(args, out),
        Study::RegwinReplay(args) => regwin::record::replay(args, out),
    };
    // What a signal broke on its way is no failure of its own.
    match ::cosched::manager::signals::arrived() {
        Some(signal) if done.is_err() => Err(Failure::Signal(signal)),
        _ => done,
    }
}
