//! Door: compiles emitted C with the system's compilers and runs it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use measure::cache::{self, Key};
use measure::tool::{self, ToolError};

use crate::target::Arch;

#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Cc {
    Gcc,
    /// Clang 19, or the one called `clang`.
    Clang,
}

/// The time limit of a C compiler for one file.
const COMPILE_LIMIT: Duration = Duration::from_secs(900);
/// The time limit of one run of an emitted program.
const RUN_LIMIT: Duration = Duration::from_secs(120);

impl Cc {
    pub const ALL: [Cc; 2] = [Cc::Gcc, Cc::Clang];

    /// As on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Cc::Gcc => "gcc",
            Cc::Clang => "clang",
        }
    }

    /// The compiler of this name.
    pub fn from_name(name: &str) -> Option<Cc> {
        Cc::ALL.into_iter().find(|c| c.name() == name)
    }

    /// The program, with flags for the target.
    fn command(self, arch: Arch) -> Command {
        let emulator = arch.row().emulator.as_ref();
        let mut command = match self {
            Cc::Gcc => Command::new(emulator.map_or("gcc", |emulator| emulator.gcc)),
            Cc::Clang => Command::new(clang()),
        };
        if let Some(it) = emulator {
            command.arg("-static");
            if self == Cc::Clang {
                command.arg(it.clang);
            }
        }
        command.args(arch.flags());
        command
    }

    /// The first line of the compiler's own description.
    pub fn version(self) -> Result<String, ToolError> {
        static VERSIONS: [OnceLock<String>; 2] = [OnceLock::new(), OnceLock::new()];
        let slot = &VERSIONS[self as usize];
        if let Some(version) = slot.get() {
            return Ok(version.clone());
        }
        let program = if self == Cc::Gcc { "gcc" } else { clang() };
        let version = measure::machine::version(program, &["--version"])?;
        Ok(slot.get_or_init(|| version).clone())
    }
}

fn clang() -> &'static str {
    static NAME: OnceLock<&'static str> = OnceLock::new();
    NAME.get_or_init(|| if tool::find("clang-19").is_some() { "clang-19" } else { "clang" })
}

/// A processor feature that code for `arch` needs and this machine lacks.
pub fn missing_feature(arch: Arch) -> Option<&'static str> {
    let features = measure::machine::features();
    arch.needs().iter().copied().find(|need| features.iter().any(|f| f.name == *need && !f.present))
}

/// The kind of made files that compiled programs are kept as.
pub const CACHE: &str = "cipher";

fn io_error(what: &str, path: &Path, err: &std::io::Error) -> ToolError {
    ToolError { ran: format!("{what} {}", path.display()), said: err.to_string() }
}

/// Compiles `source`, with its `main`, at `opt` (such as `-O1`); a program made from the same text
/// by the same compiler with the same flags is reused.
pub fn build(source: &str, arch: Arch, cc: Cc, opt: &str) -> Result<PathBuf, ToolError> {
    build_with(source, "", arch, cc, opt)
}

/// The same with an assembly file, if it is not empty.
pub fn build_with(
    source: &str,
    assembly: &str,
    arch: Arch,
    cc: Cc,
    opt: &str,
) -> Result<PathBuf, ToolError> {
    made(source, assembly, arch, cc, &[opt])
}

/// The object file of `source`, and of an assembly file if it is not empty; kept in the same way.
pub fn object(
    source: &str,
    assembly: &str,
    arch: Arch,
    cc: Cc,
    opt: &str,
) -> Result<Vec<u8>, ToolError> {
    let flags: &[&str] = if assembly.is_empty() { &[opt, "-c"] } else { &[opt, "-r", "-nostdlib"] };
    let path = made(source, assembly, arch, cc, flags)?;
    std::fs::read(&path).map_err(|err| io_error("read", &path, &err))
}

fn made(
    source: &str,
    assembly: &str,
    arch: Arch,
    cc: Cc,
    flags: &[&str],
) -> Result<PathBuf, ToolError> {
    let mut command = cc.command(arch);
    command.args(["-std=gnu11", "-w"]).args(flags);
    let parts = [cc.version()?.as_str(), &tool::command_line(&command), source, assembly]
        .map(str::to_owned);
    let key = parts.iter().fold(Key::default(), Key::with);
    cache::kept(CACHE, key, "", |scratch, made| {
        let text = scratch.join("cipher.c");
        cache::write(&text, source)?;
        command.arg("-o").arg(made).arg(&text);
        if !assembly.is_empty() {
            let text = scratch.join("kernel.s");
            cache::write(&text, assembly)?;
            command.arg(&text);
        }
        tool::run(&mut command, &[], COMPILE_LIMIT)?.ok()?;
        Ok(())
    })
}

fn emulated(program: &Path, arch: Arch) -> Command {
    match &arch.row().emulator {
        Some(it) => {
            let mut command = Command::new(it.program);
            command.arg(program);
            command
        }
        None => Command::new(program),
    }
}

/// Runs cases, each with its fields one after another, through a built program; returns
/// the output of each.
pub fn run_cases(
    program: &Path,
    arch: Arch,
    cases: &[Vec<u8>],
    output_bytes: usize,
) -> Result<Vec<Vec<u8>>, ToolError> {
    let mut input = (cases.len() as u64).to_le_bytes().to_vec();
    cases.iter().for_each(|case| input.extend_from_slice(case));
    let ran = tool::run(&mut emulated(program, arch), &input, RUN_LIMIT)?.ok()?;
    if ran.stdout.len() != cases.len() * output_bytes {
        let said = format!(
            "it wrote {} bytes for {} cases of {output_bytes}",
            ran.stdout.len(),
            cases.len()
        );
        return Err(ToolError { ran: ran.command, said });
    }
    Ok(ran.stdout.chunks(output_bytes.max(1)).map(<[u8]>::to_vec).collect())
}

/// The least time-stamp cycles of one call in `rounds` rounds of `calls` calls.
pub fn bench(program: &Path, rounds: u32, calls: u32) -> Result<f64, ToolError> {
    let mut command = Command::new(program);
    command.args(["bench", &rounds.to_string(), &calls.to_string()]);
    let ran = tool::run(&mut command, &[], RUN_LIMIT)?.ok()?;
    ran.text().trim().parse().map_err(|_| ToolError {
        ran: ran.command.clone(),
        said: format!("it printed {:?}", ran.text()),
    })
}

/// Least cycles of a batch of blocks in `rounds` rounds of `calls` calls of `n_batches`: the entry
/// alone, then through the byte interface, the two in turn.
pub fn bench_in_turn(
    program: &Path,
    rounds: u32,
    calls: u32,
    n_batches: usize,
) -> Result<(f64, f64), ToolError> {
    let mut command = Command::new(program);
    command.args(["bench", &rounds.to_string(), &calls.to_string(), &n_batches.to_string()]);
    two_numbers(&mut command)
}

fn two_numbers(command: &mut Command) -> Result<(f64, f64), ToolError> {
    let ran = tool::run(command, &[], RUN_LIMIT)?.ok()?;
    let both = ran
        .text()
        .trim()
        .split_once(' ')
        .and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
    both.ok_or_else(|| ToolError {
        ran: ran.command.clone(),
        said: format!("it printed {:?}", ran.text()),
    })
}

/// A cipher of another library.
#[derive(Debug, Clone, Copy)]
pub struct PeerCipher {
    pub peer: &'static str,
    /// A function of OpenSSL's library such as `EVP_chacha20`, a name of libgcrypt's such as
    /// `SERPENT128`.
    pub cipher: &'static str,
    /// The processor features that it may not use, as `OPENSSL_ia32cap` takes them
    /// or libgcrypt names them.
    pub without: &'static str,
}

/// Least cycles of a message of `n` bytes with a counter of its own, in `rounds` rounds of `calls`
/// calls: ours, then the other library's, and the version of that.
pub fn against(
    program: &Path,
    other: PeerCipher,
    rounds: u32,
    calls: u32,
    n: usize,
) -> Result<(f64, f64, String), ToolError> {
    let mut command = Command::new(program);
    command.args([
        "against",
        other.peer,
        other.cipher,
        other.without,
        &rounds.to_string(),
        &calls.to_string(),
        &n.to_string(),
    ]);
    command.env_remove("OPENSSL_ia32cap");
    if other.peer == "openssl" && !other.without.is_empty() {
        command.env("OPENSSL_ia32cap", other.without);
    }
    let ran = tool::run(&mut command, &[], RUN_LIMIT)?.ok()?;
    let mut words =
        ran.text().trim().splitn(3, ' ').map(str::to_string).collect::<Vec<_>>().into_iter();
    let numbers: Vec<f64> = words.by_ref().take(2).filter_map(|word| word.parse().ok()).collect();
    match (&numbers[..], words.next()) {
        (&[ours, theirs], Some(version)) => Ok((ours, theirs, version)),
        _ => Err(ToolError {
            ran: ran.command.clone(),
            said: format!("it printed {:?}", ran.text()),
        }),
    }
}

/// Runs key fields and blocks through the byte interface of a built program; it also runs fewer of
/// them, unaligned and in place, and fails if a result differs.
pub fn run_blocks(
    program: &Path,
    arch: Arch,
    n: usize,
    keys: &[u8],
    blocks: &[u8],
) -> Result<Vec<u8>, ToolError> {
    let input = [&(n as u64).to_le_bytes(), keys, blocks].concat();
    let mut command = emulated(program, arch);
    command.arg("blocks");
    Ok(tool::run(&mut command, &input, RUN_LIMIT)?.ok()?.stdout)
}

/// Runs bytes through the stream of a built program; `params` are its key fields and the
/// arguments of `init`. The program also runs other lengths, places and pieces, and fails
/// if a result differs.
pub fn run_stream(
    program: &Path,
    arch: Arch,
    params: &[u8],
    bytes: &[u8],
) -> Result<Vec<u8>, ToolError> {
    let input = [&(bytes.len() as u64).to_le_bytes(), params, bytes].concat();
    let mut command = emulated(program, arch);
    command.arg("stream");
    Ok(tool::run(&mut command, &input, RUN_LIMIT)?.ok()?.stdout)
}

/// Runs one message through the mode of a built program: `input` is its lengths, then its
/// fields. The program also runs pieces, many messages at a time and forgeries, and fails
/// if a result differs.
pub fn run_mode(program: &Path, arch: Arch, input: &[u8]) -> Result<Vec<u8>, ToolError> {
    let mut command = emulated(program, arch);
    command.arg("mode");
    Ok(tool::run(&mut command, input, RUN_LIMIT)?.ok()?.stdout)
}

/// Decrypts messages, each given as lengths, fields and tag, with a built AEAD program; returns for
/// each a byte, 1 if it is authentic, and the text after decryption.
pub fn run_open(program: &Path, arch: Arch, messages: &[u8]) -> Result<Vec<u8>, ToolError> {
    let mut command = emulated(program, arch);
    command.arg("open");
    Ok(tool::run(&mut command, messages, RUN_LIMIT)?.ok()?.stdout)
}

/// Runs a built program whose exit code is its result.
pub fn run_check(program: &Path, arch: Arch) -> Result<(), ToolError> {
    tool::run(&mut emulated(program, arch), &[], RUN_LIMIT)?.ok().map(|_| ())
}

/// Adds text to the end of a file.
pub fn append(path: &Path, text: &str) -> Result<(), ToolError> {
    use std::io::Write;
    let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
    file.and_then(|mut file| file.write_all(text.as_bytes()))
        .map_err(|err| io_error("append to", path, &err))
}
