//! Door: Whole messages by the modes of a package as its users build it, against OpenSSL's: with
//! what a message costs beside its bytes.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use cipher::emit_c::Arch;
use cipher::native;
use cipher::package::{self, Choice, OverMode, Part};
use cipher::speed::{Sampling, launches_in_turn};
use cipher::suite;
use cipher::unit::Subject;
use measure::tool::{self, Ran, ToolError};
use report::page::Block;
use report::{Cell, Kind, Table};
use serde::Serialize;
use serde_json::{Value, json};
use terminal::choice::one_of;
use terminal::machine_here;
use terminal::output::{Failure, Output};

use crate::store::Store;
use crate::study::{self, Study};

/// Arguments of `meanwhile-lab run cipher-messages`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Modes by their names in C; all of them if none is named.
    #[arg(value_name = "MODE", value_parser = one_of(MODES.iter().map(|mode| mode.prefix), |name| name))]
    modes: Vec<&'static str>,
    /// Bytes of a message, separated by commas [default: 16 to 16384].
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=1 << 30))]
    bytes: Vec<u32>,
    /// Fewer runs.
    #[arg(long)]
    quick: bool,
    /// Evidence file; rows that it already has are not measured again.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

const BYTES: [usize; 10] = [16, 64, 128, 192, 256, 512, 1024, 1400, 4096, 16384];
const COMPILERS: [&str; 2] = ["gcc", "clang-19"];

/// A mode, and what OpenSSL calls it.
struct Mode {
    cipher: &'static str,
    /// `None`: the bare stream.
    over: Option<&'static str>,
    /// What its names in C begin with.
    prefix: &'static str,
    theirs: &'static str,
    /// What OpenSSL may not use, for an equal with the vectors of AVX2: its own notation.
    without: &'static str,
}

const MODES: [Mode; 3] = [
    Mode {
        cipher: "chacha20",
        over: None,
        prefix: "chacha20_ctr",
        theirs: "EVP_chacha20",
        without: "~0x0:~0xd0030000",
    },
    Mode {
        cipher: "chacha20",
        over: Some("poly1305"),
        prefix: "chacha20_poly1305",
        theirs: "EVP_chacha20_poly1305",
        without: "~0x0:~0xd0030000",
    },
    Mode {
        cipher: "aes-256",
        over: Some("gcm"),
        prefix: "aes256_gcm",
        theirs: "EVP_aes_256_gcm",
        without: "~0x200000200000000:~0x0",
    },
];

/// What identifies a row.
#[derive(Debug, Clone, Serialize)]
pub struct Message {
    mode: &'static str,
    arch: Arch,
    cc: &'static str,
    bytes: usize,
    /// Empty: OpenSSL as it comes.
    peer_without: &'static str,
}

pub fn run(args: &Args, out: &mut Output) -> Result<(), Failure> {
    let named: String = args.modes.iter().map(|name| format!(" {name}")).collect();
    let bytes: Vec<String> = args.bytes.iter().map(ToString::to_string).collect();
    let sizes =
        if bytes.is_empty() { String::new() } else { format!(" --bytes {}", bytes.join(",")) };
    let command = format!("meanwhile-lab run cipher-messages{named}{sizes} --out FILE");
    let versions = COMPILERS.iter().flat_map(|cc| measure::machine::version(cc, &["--version"]));
    let mut store = Store::open(args.out.clone(), command)?.with_compilers(versions.collect());
    let folder = measure::scratch::folder()
        .map_err(|error| Failure::environment("create a scratch folder", error))?;
    let mut cells = Vec::new();
    let is_wanted = |mode: &&Mode| args.modes.is_empty() || args.modes.contains(&mode.prefix);
    let asked: Vec<usize> = args.bytes.iter().map(|&n| n as usize).collect();
    let sizes = if asked.is_empty() { &BYTES[..] } else { &asked };
    for mode in MODES.iter().filter(is_wanted) {
        for arch in [Arch::Avx2, Arch::Avx512] {
            for cc in COMPILERS {
                for peer_without in [mode.without, ""] {
                    cells.extend(sizes.iter().map(|&bytes| Message {
                        mode: mode.prefix,
                        arch,
                        cc,
                        bytes,
                        peer_without,
                    }));
                }
            }
        }
    }
    let sampling = if args.quick { Sampling::QUICK } else { Sampling::FULL };
    let messages = Messages { cells, sampling, folder: folder.path().to_owned() };
    let rows = study::rows(&messages, &mut store, out)?;
    study::show(&Messages::blocks(&rows), out);
    out.object(&json!({"ok": true, "kind": "measured", "machine": machine_here(), "rows": rows}));
    Ok(())
}

/// All of them, by drivers that lie in a folder.
pub struct Messages {
    cells: Vec<Message>,
    sampling: Sampling,
    folder: PathBuf,
}

impl Study for Messages {
    type Cell = Message;

    fn cells(&self) -> Vec<Message> {
        self.cells.clone()
    }

    fn name(&self, cell: &Message) -> String {
        format!("{} {} {} {}", cell.mode, cell.arch.name(), cell.cc, cell.bytes)
    }

    fn runs_here(&self, cell: &Message) -> bool {
        native::missing_feature(cell.arch).is_none() && tool::find(cell.cc).is_some()
    }

    fn measure(&self, cell: &Message, _step: &(dyn Fn(&str) + Sync)) -> Result<Value, Failure> {
        let mode = MODES.iter().find(|mode| mode.prefix == cell.mode).expect("cells name modes");
        let program = self.program(mode, cell.cc)?;
        let calls = (200_000 / cell.bytes).clamp(1, 400).to_string();
        let mut peer_version = String::new();
        let launch = || {
            let mut command = Command::new(&program);
            let bytes = cell.bytes.to_string();
            command.args([cell.arch.name(), mode.theirs, &bytes, &calls]);
            if !cell.peer_without.is_empty() {
                command.env("OPENSSL_ia32cap", cell.peer_without);
            }
            let ran = command_ok(&mut command)?;
            let text = ran.text();
            let mut words = text.trim().splitn(3, ' ');
            let mut number = || words.next().and_then(|word| word.parse().ok()).unwrap_or(f64::NAN);
            let pair = (number(), number());
            words.next().unwrap_or_default().clone_into(&mut peer_version);
            Ok(pair)
        };
        let found = launches_in_turn(self.sampling, 1.0, launch).map_err(Failure::tool)?;
        Ok(json!({
            "cycles": found.a_median, "cycles_peer": found.b_median, "ratio": found.ratio,
            "interval": [found.ratio_low, found.ratio_high], "pairs": found.n,
            "peer_version": peer_version,
        }))
    }

    fn blocks(rows: &[Value]) -> Vec<Block> {
        vec![Block::Table(table(rows))]
    }
}

impl Messages {
    /// The driver over the package, by the package's own CMake; made once.
    fn program(&self, mode: &Mode, cc: &str) -> Result<PathBuf, Failure> {
        let folder = self.folder.join(format!("{}-{cc}", mode.prefix));
        let program = folder.join("messages");
        if program.exists() {
            return Ok(program);
        }
        write_package(mode, &folder)?;
        std::fs::write(folder.join("messages.c"), include_str!("messages.c"))
            .map_err(|error| Failure::environment("write messages.c", error))?;
        let header = mode.over.map_or(mode.cipher, |_| mode.prefix);
        let compiler = format!("-DCMAKE_C_COMPILER={cc}");
        let (name, header) =
            (format!("-DMODE={}", mode.prefix), format!("-DHEADER=\"{header}.h\""));
        let stream = if mode.over.is_none() { "-DIS_STREAM" } else { "-DIS_MESSAGE" };
        let compile = ["-O2", "-Iinclude", &name, &header, stream, "messages.c", "build/libp.a"];
        let commands = [
            [&["cmake", "-S", ".", "-B", "build", &compiler][..], &[]].concat(),
            vec!["cmake", "--build", "build", "--parallel", "2"],
            [&[cc][..], &compile, &["-ldl", "-o", "messages"]].concat(),
        ];
        for words in commands {
            let mut command = Command::new(words[0]);
            command.args(&words[1..]).current_dir(&folder);
            command_ok(&mut command).map_err(Failure::tool)?;
        }
        Ok(program)
    }
}

fn command_ok(command: &mut Command) -> Result<Ran, ToolError> {
    tool::run(command, b"", Duration::from_secs(600)).and_then(Ran::ok)
}

fn write_package(mode: &Mode, folder: &Path) -> Result<(), Failure> {
    let subject = Subject::bundled(mode.cipher).expect("modes name bundled ciphers");
    let subject = subject.expect("bundled programs are right");
    let vectors = suite::vectors(mode.cipher).expect("bundled ciphers have vectors");
    let part = package::part(&subject, &Choice::default(), vectors);
    let mut parts: Vec<Part> = vec![part.expect("bundled ciphers can be packaged")];
    if let Some(over) = mode.over.and_then(OverMode::named) {
        over.add_to(&mut parts).expect("the cipher can have the mode");
    }
    for (path, text) in package::files("p", &parts) {
        let path = folder.join(path);
        measure::file::create_folder_of(&path)
            .and_then(|()| std::fs::write(&path, text))
            .map_err(|error| Failure::environment("write a package", error))?;
    }
    Ok(())
}

fn table(rows: &[Value]) -> Table {
    let columns =
        ["mode", "target", "compiler", "bytes", "ours", "theirs", "ratio", "interval", "OpenSSL"];
    let note = "time-stamp cycles of one message with a nonce of its own, the stream or 13 bytes of \
                associated data and a tag, in turn in one process; below 1 ours is faster";
    let mut table = Table::new("Messages by packages against OpenSSL", &columns)
        .kind(Kind::Measured)
        .note(note);
    for row in rows {
        let text = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
        let number = |value: &Value, n: usize| {
            Cell::number(value.as_f64().map_or_else(|| "-".into(), |x| format!("{x:.n$}")))
        };
        let without = text("peer_without");
        table.push(vec![
            Cell::words(text("mode")),
            Cell::words(text("arch")),
            Cell::words(text("cc")),
            Cell::number(row["bytes"].to_string()),
            number(&row["cycles"], 0),
            number(&row["cycles_peer"], 0),
            number(&row["ratio"], 2),
            Cell::number(format!(
                "{:.2}..{:.2}",
                row["interval"][0].as_f64().unwrap_or(f64::NAN),
                row["interval"][1].as_f64().unwrap_or(f64::NAN)
            )),
            Cell::words(if without.is_empty() { "as it comes".into() } else { without }),
        ]);
    }
    table
}
