//! Streams against those of other libraries, in pairs.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::stream_cost;
use crate::evidence::Evidence;
use cipher::emit_c::Arch;
use cipher::native;
use cipher::speed::Sampling;
use clap::builder::TypedValueParser;
use meanwhile::cipher_cmd::options;
use report::page::Block;
use report::svg::{Chart, Ratio, RatioChart};
use report::{Cell, Kind, Table};
use serde_json::{Value, json};

use crate::store::Store;
use crate::study::{self, Study};
use terminal::choice::one_of;
use terminal::machine_here;
use terminal::output::{Failure, Output};

/// A library by name.
fn peer() -> impl TypedValueParser<Value = &'static str> {
    one_of(stream_cost::PEERS, |it| it)
}

/// Arguments of the study; empty lists stand for all.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Primitives.
    names: Vec<String>,
    /// Libraries, separated by commas.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = peer(), required = true)]
    against: Vec<&'static str>,
    /// Targets of the streams, separated by commas.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = options::arch())]
    arch: Vec<Arch>,
    /// Bytes of a message, separated by commas [default: 64,1024,16384,1048576].
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=1 << 30))]
    bytes: Vec<u32>,
    /// Fewer runs.
    #[arg(long)]
    quick: bool,
    /// Evidence file; rows that it already has are not measured again.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

pub fn run(args: Args, out: &mut Output) -> Result<(), Failure> {
    let asked: Vec<usize> = args.bytes.iter().map(|&n| n as usize).collect();
    let bytes = if asked.is_empty() { &stream_cost::BYTES[..] } else { &asked };
    let cells = stream_cost::cells(&args.names, &args.arch, &args.against, bytes);
    if cells.is_empty() {
        let help = "openssl has aes-128, aes-192, aes-256 and chacha20, libgcrypt these and serpent-128, openssl-aes-ni AES; targets are avx2 and avx512";
        return Err(Failure::user("these libraries have no such stream", Some(help)));
    }
    let sampling = if args.quick { Sampling::QUICK } else { Sampling::FULL };
    let mut store = Store::open(args.out.clone(), command(&args))?;
    let rows = study::rows(&Peers { cells, sampling }, &mut store, out)?;
    study::show(&[Block::Table(table(&rows))], out);
    out.object(&json!({"ok": true, "machine": machine_here(), "rows": rows}));
    Ok(())
}

struct Peers {
    cells: Vec<stream_cost::Cell>,
    sampling: Sampling,
}

impl Study for Peers {
    type Cell = stream_cost::Cell;

    fn cells(&self) -> Vec<Self::Cell> {
        self.cells.clone()
    }

    fn name(&self, cell: &Self::Cell) -> String {
        format!("{} {} {} {}", cell.primitive, cell.arch.name(), cell.peer, cell.bytes)
    }

    fn runs_here(&self, cell: &Self::Cell) -> bool {
        native::missing_feature(cell.arch).is_none()
    }

    fn measure(&self, cell: &Self::Cell, _step: &(dyn Fn(&str) + Sync)) -> Result<Value, Failure> {
        let cost = stream_cost::measure(cell, self.sampling).map_err(Failure::tool)?;
        Ok(serde_json::to_value(cost).expect("plain data"))
    }

    fn blocks(rows: &[Value]) -> Vec<Block> {
        let drawn = charts(rows).into_iter().map(|chart| Block::Chart(chart.for_page()));
        drawn.chain([Block::Table(table(rows))]).collect()
    }
}

/// The command for the evidence, with all options that choose rows.
fn command(args: &Args) -> String {
    let list = |option: &str, all: Vec<String>| {
        if all.is_empty() { String::new() } else { format!(" {option} {}", all.join(",")) }
    };
    let names: String = args.names.iter().map(|name| format!(" {name}")).collect();
    let archs = list("--arch", args.arch.iter().map(|arch| arch.name().to_string()).collect());
    let bytes = list("--bytes", args.bytes.iter().map(ToString::to_string).collect());
    let quick = if args.quick { " --quick" } else { "" };
    format!(
        "meanwhile-lab run cipher-streams{names} --against {}{archs}{bytes}{quick} --out FILE",
        args.against.join(",")
    )
}

fn text(row: &Value, name: &str) -> String {
    row[name].as_str().unwrap_or_default().to_string()
}

fn number(value: &Value, digits: usize) -> String {
    value.as_f64().map_or(String::new(), |v| format!("{v:.digits$}"))
}

fn table(rows: &[Value]) -> Table {
    let columns = [
        "stream",
        "target",
        "compiler",
        "bytes",
        "ours",
        "theirs",
        "ratio",
        "interval",
        "library",
        "its setting",
    ];
    let note = "time-stamp cycles a byte of one message with a counter of its own, in turn in one process; below 1 ours is faster";
    let mut table = Table::new("Streams against those of other libraries", &columns)
        .kind(Kind::Measured)
        .note(note);
    for row in rows {
        table.push(vec![
            Cell::words(format!("{} {}", text(row, "primitive"), text(row, "slicing"))),
            Cell::words(text(row, "arch")),
            Cell::words(
                format!(
                    "{}{} {}",
                    if row["emit"] == "asm" { "asm, " } else { "" },
                    text(row, "cc"),
                    text(row, "opt")
                )
                .trim_end()
                .to_owned(),
            ),
            Cell::number(number(&row["bytes"], 0)),
            Cell::number(number(&row["cycles_per_byte"], 2)),
            Cell::number(number(&row["cycles_per_byte_peer"], 2)),
            Cell::number(number(&row["ratio"], 2)),
            Cell::number(format!(
                "{}..{}",
                number(&row["interval"][0], 2),
                number(&row["interval"][1], 2)
            )),
            Cell::words(text(row, "peer")),
            Cell::words(setting(row)),
        ]);
    }
    table
}

/// The ratios with their intervals, a chart for each library and target.
fn charts(rows: &[Value]) -> Vec<RatioChart> {
    let value = |value: &Value| value.as_f64().unwrap_or(1.0);
    let ratio = |row: &&Value| Ratio {
        name: format!(
            "{} {}, {}",
            text(row, "primitive"),
            size(row["bytes"].as_u64().unwrap_or(0)),
            setting(row)
        ),
        ratio: value(&row["ratio"]),
        low: value(&row["interval"][0]),
        high: value(&row["interval"][1]),
    };
    let group = |row: &Value| (text(row, "peer"), text(row, "arch"));
    let groups: BTreeSet<(String, String)> = rows.iter().map(group).collect();
    let one = |(peer, arch): (String, String)| RatioChart {
        title: format!("Streams against {peer}, {arch}"),
        meaning: "ours / theirs: below 1 ours takes less time; the line is the interval".into(),
        kind: Kind::Measured,
        rows: rows
            .iter()
            .filter(|row| group(row) == (peer.clone(), arch.clone()))
            .map(|row| ratio(&row))
            .collect(),
    };
    groups.into_iter().map(one).collect()
}

/// What the other library was told not to use, of what it has for this cipher.
pub fn setting(row: &Value) -> String {
    let without = text(row, "peer_without");
    let is_told = |names: [&str; 2]| names.iter().any(|name| without.contains(name));
    let no_aes =
        text(row, "primitive").starts_with("aes") && is_told(["0x200000200000000", "intel-aesni"]);
    match (no_aes, is_told(["0xd0030000", "intel-avx512"])) {
        (true, true) => "no AES-NI, no AVX-512".into(),
        (true, false) => "no AES-NI".into(),
        (false, true) => "no AVX-512".into(),
        (false, false) => "as it comes".into(),
    }
}

/// The committed evidence for the front page.
pub fn front() -> [Evidence; 2] {
    [
        include_str!("../../../experiments/cipher-streams/peers.json"),
        include_str!("../../../experiments/cipher-streams/openssl_aes_ni.json"),
    ]
    .map(Evidence::bundled)
}

/// Ours and OpenSSL's cycles a byte of 16 KB on AVX2, with each setting of OpenSSL's in the same
/// sentence; the evidence of all files.
pub fn beside_openssl(files: &[Evidence]) -> String {
    let rows: Vec<Value> = files.iter().flat_map(Evidence::values).collect();
    let row = |primitive: &str, arch: &str, peer: &str| {
        rows.iter().find(|row| {
            row["primitive"] == primitive
                && row["arch"] == arch
                && row["peer"] == peer
                && row["bytes"] == 1 << 14
        })
    };
    let of = |primitive: &str, masked: &Value, whole: &Value| {
        let theirs =
            |row: &Value| format!("{} {}", number(&row["cycles_per_byte_peer"], 2), setting(row));
        format!(
            "{primitive}-CTR on AVX2 {}, OpenSSL {}, {}",
            number(&masked["cycles_per_byte"], 2),
            theirs(masked),
            theirs(whole)
        )
    };
    let both = |primitive, whole: (&str, &str)| {
        Some((row(primitive, "avx2", "openssl")?, row(primitive, whole.0, whole.1)?))
    };
    let texts = [("aes-128", ("avx2", "openssl-aes-ni")), ("chacha20", ("avx512", "openssl"))].map(
        |(primitive, whole)| {
            let name = if primitive == "aes-128" { "AES-128" } else { "ChaCha20" };
            both(primitive, whole).map(|(masked, whole)| of(name, masked, whole))
        },
    );
    let texts: Vec<String> = texts.into_iter().flatten().collect();
    let [first, ..] = files else { return String::new() };
    format!("16 KB, cycles a byte, {}: {}.", first.place(), texts.join("; "))
}

/// A short text for a number of bytes.
fn size(bytes: u64) -> String {
    match bytes {
        _ if bytes >= 1 << 20 && bytes.is_multiple_of(1 << 20) => format!("{} MB", bytes >> 20),
        _ if bytes >= 1 << 10 && bytes.is_multiple_of(1 << 10) => format!("{} KB", bytes >> 10),
        _ => format!("{bytes} B"),
    }
}

pub fn committed(evidence: &Evidence) -> Vec<Block> {
    study::committed::<Peers>(evidence)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_library_and_target_has_a_chart_whose_names_are_whole() {
        let row = |peer: &str, arch: &str, bytes: u64| json!({"primitive": "serpent-128", "peer": peer, "arch": arch, "bytes": bytes, "ratio": 0.5, "interval": [0.4, 0.6]});
        let rows = [
            row("openssl", "avx2", 64),
            row("openssl", "avx2", 1 << 20),
            row("openssl", "avx512", 1024),
            row("libgcrypt", "avx2", 1000),
        ];
        let titles: Vec<String> = charts(&rows).into_iter().map(|chart| chart.title).collect();
        assert_eq!(
            titles,
            [
                "Streams against libgcrypt, avx2",
                "Streams against openssl, avx2",
                "Streams against openssl, avx512"
            ]
        );
        let drawn = charts(&rows)[1].svg();
        assert!(
            drawn.contains("serpent-128 64 B")
                && drawn.contains("serpent-128 1 MB")
                && !drawn.contains('\u{2026}'),
            "{drawn}"
        );
    }

    #[test]
    fn a_setting_is_said_in_words() {
        let row = |primitive: &str, without: &str| json!({"primitive": primitive, "peer_without": without});
        assert_eq!(setting(&row("aes-256", "~0x200000200000000:~0x0")), "no AES-NI");
        assert_eq!(
            setting(&row("aes-128", "intel-aesni,intel-vaes-vpclmul,intel-avx512")),
            "no AES-NI, no AVX-512"
        );
        assert_eq!(setting(&row("chacha20", "intel-aesni,intel-vaes-vpclmul")), "as it comes");
        assert_eq!(setting(&row("chacha20", "~0x0:~0xd0030000")), "no AVX-512");
        assert_eq!(setting(&row("aes-128", "")), "as it comes");
    }

    #[test]
    fn a_figure_beside_openssl_has_both_of_its_settings() {
        let said = beside_openssl(&front());
        for part in ["AES-128-CTR", "no AES-NI", "ChaCha20-CTR", "no AVX-512"] {
            assert!(said.contains(part), "{part}: {said}");
        }
        assert_eq!(said.matches("as it comes").count(), 2, "{said}");
    }

    #[test]
    fn the_evidence_names_all_that_chose_its_rows() {
        let args = |names: &[&str], against, arch: &[Arch], bytes: &[u32], quick| Args {
            names: names.iter().map(|&name| name.to_owned()).collect(),
            against,
            arch: arch.to_vec(),
            bytes: bytes.to_vec(),
            quick,
            out: None,
        };
        let all = args(&[], vec!["openssl", "libgcrypt"], &[], &[], false);
        assert_eq!(
            command(&all),
            "meanwhile-lab run cipher-streams --against openssl,libgcrypt --out FILE"
        );
        let some =
            args(&["aes-128", "chacha20"], vec!["openssl"], &[Arch::Avx2], &[64, 1024], true);
        let line = "meanwhile-lab run cipher-streams aes-128 chacha20 --against openssl --arch avx2 --bytes 64,1024 --quick --out FILE";
        assert_eq!(command(&some), line);
    }

    #[test]
    fn committed_ratios_are_pictures_and_a_table() {
        let text = include_str!("../../../experiments/cipher-streams/peers.json");
        let evidence = Evidence::from_json(text).expect("committed evidence");
        let blocks = committed(&evidence);
        let [Block::Text(_), drawn @ .., Block::Table(table)] = &blocks[..] else {
            panic!("{} blocks", blocks.len())
        };
        let both = drawn
            .iter()
            .map(|it| if let Block::Chart(chart) = it { chart } else { panic!("no chart") });
        let (charts, narrow): (Vec<&str>, Vec<&str>) = both
            .map(|both| both.split_at(both.rfind("<svg ").expect("the one for phones")))
            .unzip();
        assert_eq!(charts.len(), 4);
        // Every row is drawn twice, on windows with its whole name.
        for drawn in [&charts, &narrow] {
            assert_eq!(
                drawn.iter().map(|it| it.matches("<circle").count()).sum::<usize>(),
                evidence.rows.len()
            );
        }
        assert!(
            charts
                .iter()
                .all(|chart| !chart.contains('\u{2026}') && chart.contains("aes-128 64 B")),
            "{charts:?}"
        );
        let shown = table.terminal(None);
        let n_asm = evidence.rows.iter().filter(|row| row["emit"] == "asm").count();
        assert!(
            shown.contains("chacha20 v")
                && n_asm > 0
                && shown.matches("asm, gcc -O2").count() == n_asm,
            "{shown}"
        );
    }
}
