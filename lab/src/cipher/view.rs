//! What of cipher is mailed: beside the best C, and beside OpenSSL at its best.

use report::Kind;
use report::svg::{Axis, Chart, Line, LineChart, Ratio, RatioChart};
use report::view::{Figure, View};
use serde_json::Value;

use super::best;
use super::peers::{beside_openssl, front, setting};
use crate::evidence::Evidence;
use crate::system_report::numbers;

/// Bytes of the messages of the sentence.
const BYTES: u64 = 1 << 14;

pub fn view() -> View {
    let streams = front();
    let rows: Vec<Value> = streams.iter().flat_map(Evidence::values).collect();
    // OpenSSL may take all that it has, and what it takes then is its best on any target of ours.
    let whole: Vec<Value> = rows
        .into_iter()
        .filter(|row| row["peer"] != "libgcrypt" && setting(row) == "as it comes")
        .collect();
    View {
        id: "cipher".to_owned(),
        waits: "an instruction waits for the result of the one before".to_owned(),
        sentence: sentence(&front()),
        kind: Kind::Measured,
        note: beside_openssl(&streams),
        yours: Some([
            "meanwhile cipher package aes-128 --mode gcm -o DIR",
            "A C library, a Rust crate and a Python package, of a bundled cipher or of your own Usuba \
             file: with a tag (GCM, GCM-SIV, Poly1305, Ascon; compared in constant time, \
             and all of it run under valgrind with secrets undefined) or without, on x86-64, AArch64 and plain C \
             elsewhere. `meanwhile cipher speed` measures it on your processor.",
        ]),
        figures: vec![
            assembly(),
            Figure {
                id: "cipher-streams".to_owned(),
                picture: chart_of_streams(&whole).for_page(),
                says: format!(
                    "Streams beside OpenSSL at its best: with AES-NI, with AVX-512. {}.",
                    streams[0].place()
                ),
                again: "meanwhile-lab run cipher-streams --against openssl,openssl-aes-ni"
                    .to_owned(),
                numbers: numbers(&whole),
            },
            messages(),
        ],
    }
}

/// Ours over OpenSSL at its best, long messages.
fn sentence(files: &[Evidence]) -> String {
    let rows: Vec<Value> = files.iter().flat_map(Evidence::values).collect();
    let cycles = |primitive: &str, arch: &str, peer: &str, key: &str| {
        let is_it = |row: &&Value| {
            row["primitive"] == primitive
                && row["arch"] == arch
                && row["peer"] == peer
                && row["bytes"] == BYTES
        };
        rows.iter().find(is_it).and_then(|row| row[key].as_f64()).unwrap_or(f64::NAN)
    };
    let chacha_best = cycles("chacha20", "avx512", "openssl", "cycles_per_byte_peer");
    let chacha = |arch| cycles("chacha20", arch, "openssl", "cycles_per_byte") / chacha_best;
    let aes = |peer| {
        let of = |key| cycles("aes-128", "avx2", peer, key);
        of("cycles_per_byte") / of("cycles_per_byte_peer")
    };
    format!(
        "Constant-time AES-128 loses to OpenSSL at its best, with AES-NI, by {:.1} times, and takes {:.2} of its time without; ChaCha20 with AVX2 alone takes {:.2} of the time of OpenSSL at its best, with AVX-512, and {:.2} with AVX-512 too.",
        aes("openssl-aes-ni"),
        aes("openssl"),
        chacha("avx2"),
        chacha("avx512")
    )
}

/// Our best, assembly included, beside the best C of ours before.
fn assembly() -> Figure {
    let evidence = Evidence::bundled(include_str!("../../../experiments/cipher-tune/best.json"));
    let rows: Vec<Value> =
        evidence.values().into_iter().filter(|row| row["arch"] == "avx2").collect();
    let chart = RatioChart {
        title: "Our assembly and C beside the best of our C".to_owned(),
        meaning: "best C / best of all, AVX2: above 1 the search and our back end gain".to_owned(),
        kind: Kind::Measured,
        rows: rows.iter().map(best::ratio).collect(),
    };
    Figure {
        id: "cipher-best".to_owned(),
        picture: chart.for_page(),
        says: format!(
            "What `meanwhile cipher tune` gains over the best C of gcc and clang from the same program. {}.",
            evidence.place()
        ),
        again: evidence.again(),
        numbers: numbers(&rows),
    }
}

fn chart_of_streams(rows: &[Value]) -> RatioChart {
    let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
    let ratio = |row: &Value| Ratio {
        name: format!(
            "{} {} B, {}",
            row["primitive"].as_str().unwrap_or_default(),
            row["bytes"],
            row["arch"].as_str().unwrap_or_default()
        ),
        ratio: number(&row["ratio"]),
        low: number(&row["interval"][0]),
        high: number(&row["interval"][1]),
    };
    RatioChart {
        title: "Streams beside OpenSSL at its best".to_owned(),
        meaning: "ours / OpenSSL as it comes: below 1 ours takes less time".to_owned(),
        kind: Kind::Measured,
        rows: rows.iter().map(ratio).collect(),
    }
}

/// Sealed messages: at each length the slower of both compilers, beside OpenSSL's better setting.
fn messages() -> Figure {
    let evidence =
        Evidence::bundled(include_str!("../../../experiments/cipher-messages/messages.json"));
    let rows = evidence.values();
    let modes = [("chacha20_poly1305", "ChaCha20-Poly1305"), ("aes256_gcm", "AES-256-GCM")];
    let least = |rows: &[&Value], key: &str| {
        rows.iter().filter_map(|row| row[key].as_f64()).min_by(f64::total_cmp)
    };
    let slower = |rows: &[&Value]| {
        let by = |cc: &str| -> Vec<&Value> {
            rows.iter().copied().filter(|row| row["cc"] == cc).collect()
        };
        let compilers = rows.iter().filter_map(|row| row["cc"].as_str());
        compilers.filter_map(|cc| least(&by(cc), "cycles")).max_by(f64::total_cmp)
    };
    let mut lines = Vec::new();
    for (mode, name) in modes {
        for arch in ["avx2", "avx512"] {
            let own: Vec<&Value> =
                rows.iter().filter(|row| row["mode"] == mode && row["arch"] == arch).collect();
            let mut sizes: Vec<u64> = own.iter().filter_map(|row| row["bytes"].as_u64()).collect();
            sizes.sort_unstable();
            sizes.dedup();
            let point = |bytes: u64| {
                let of: Vec<&Value> =
                    own.iter().copied().filter(|row| row["bytes"] == bytes).collect();
                // OpenSSL's best is that of any target of ours.
                let all: Vec<&Value> = rows
                    .iter()
                    .filter(|row| row["mode"] == mode && row["bytes"] == bytes)
                    .collect();
                Some((bytes as f64, slower(&of)? / least(&all, "cycles_peer")?))
            };
            let points = sizes.into_iter().filter_map(point).collect();
            lines.push(Line { name: format!("{name}, {arch}"), points });
        }
    }
    let axis = |label: &str| Axis { label: label.to_owned(), log: true };
    let chart = LineChart {
        title: "Sealed messages beside OpenSSL at its best".to_owned(),
        kind: Kind::Measured,
        x: axis("bytes of a message"),
        y: axis("ours / OpenSSL at its best: below 1 ours takes less time"),
        lines,
    };
    let shown: Vec<Value> =
        rows.into_iter().filter(|row| modes.iter().any(|mode| row["mode"] == mode.0)).collect();
    Figure {
        id: "cipher-messages".to_owned(),
        picture: chart.for_page(),
        says: format!(
            "One message: its own nonce, 13 bytes of associated data, a tag; by the slower of gcc and clang; OpenSSL with all that this processor has, set-up included. {}.",
            evidence.place()
        ),
        again: evidence.again(),
        numbers: numbers(&shown),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentence_names_the_rival_at_its_best_and_where_it_wins() {
        let view = view();
        assert!(!view.sentence.contains("NaN"), "{}", view.sentence);
        assert!(
            view.sentence.contains("at its best") && view.sentence.contains("loses to OpenSSL")
        );
        let streams = &view.figures[1];
        assert!(!streams.numbers.contains("~0x"), "a masked rival: {}", streams.numbers);
        // As it is called today.
        assert!(
            view.figures[0].again.starts_with("meanwhile-lab run cipher-schedulers --study best")
        );
        for figure in &view.figures {
            assert!(figure.numbers.len() > 100 && figure.picture.contains("<svg"), "{}", figure.id);
        }
    }
}
