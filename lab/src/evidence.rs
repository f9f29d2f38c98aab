//! Door: evidence files: the rows of a measurement with machine, date, compilers and command.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use report::kind::Kind;
use report::number::short;
use report::table::{Cell, Table};
use terminal::Machine;

/// Results with everything needed to judge or repeat them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// What the numbers are.
    pub kind: Kind,
    /// Where they come from.
    pub machine: Machine,
    /// Day of the run, `YYYY-MM-DD`.
    pub date: String,
    /// Compilers with version, as each calls itself.
    pub compilers: Vec<String>,
    /// The command that gives these rows.
    pub command: String,
    /// One object per result; keys carry their unit.
    pub rows: Vec<Map<String, Value>>,
}

/// Why an evidence file could not be used.
#[derive(Debug)]
pub struct EvidenceError {
    pub path: PathBuf,
    /// What was wrong with it.
    pub said: String,
}

impl fmt::Display for EvidenceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.said)
    }
}

impl std::error::Error for EvidenceError {}

impl Evidence {
    /// Reads evidence from JSON text.
    pub fn from_json(text: &str) -> Result<Evidence, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// Evidence that the laboratory was built with.
    pub fn bundled(text: &str) -> Evidence {
        Evidence::from_json(text).expect("committed evidence is read by tests")
    }

    /// The rows as values.
    pub fn values(&self) -> Vec<Value> {
        self.rows.iter().cloned().map(Value::Object).collect()
    }

    /// Machine, day and compilers, in a few words.
    pub fn place(&self) -> String {
        let compilers = self.compilers.iter().filter_map(|says| compiler(says));
        let own = [self.machine.cpu.clone(), self.date.clone()];
        own.into_iter().chain(compilers).collect::<Vec<_>>().join(", ")
    }

    /// The command that gives such rows today: older evidence names those of its day.
    pub fn again(&self) -> String {
        let one = |command: &str| {
            let words: Vec<&str> = command.split(' ').skip(1).collect();
            match meanwhile::moved::now(words.iter().map(Into::into)) {
                Some(now) if command.starts_with("meanwhile ") => {
                    let rest = words.get(2..).unwrap_or_default();
                    [&[now], rest].concat().join(" ")
                }
                _ => command.to_owned(),
            }
        };
        self.command.split("; ").map(one).collect::<Vec<String>>().join("; ")
    }

    /// JSON text with one row a line, so that a changed row is a changed line.
    pub fn to_json(&self) -> String {
        let mut text = String::from("{\n");
        let head = [
            ("kind", Value::from(self.kind.to_string())),
            ("machine", to_value(&self.machine)),
            ("date", Value::from(self.date.as_str())),
            ("compilers", to_value(&self.compilers)),
            ("command", Value::from(self.command.as_str())),
        ];
        for (key, value) in head {
            text += &format!("  \"{key}\": {value},\n");
        }
        text += "  \"rows\": [";
        for (idx, row) in self.rows.iter().enumerate() {
            let comma = if idx == 0 { "" } else { "," };
            text += &format!("{comma}\n    {}", to_value(row));
        }
        text += if self.rows.is_empty() { "]\n}\n" } else { "\n  ]\n}\n" };
        text
    }

    /// The rows as a table: a column for each key, in the order in which keys first appear.
    pub fn table(&self, title: &str) -> Table {
        let mut keys: Vec<&str> = Vec::new();
        for key in self.rows.iter().flat_map(Map::keys) {
            if !keys.contains(&key.as_str()) {
                keys.push(key);
            }
        }
        let mut table = Table::new(title, &keys).kind(self.kind).note(self.origin());
        for row in &self.rows {
            table.push(keys.iter().map(|&key| cell_of(row.get(key))).collect());
        }
        table
    }

    /// Where the rows come from, in a sentence.
    pub fn origin(&self) -> String {
        let machine = &self.machine;
        let world = if machine.virtualised { ", virtual machine" } else { "" };
        let compilers = if self.compilers.is_empty() {
            String::new()
        } else {
            format!("; {}", self.compilers.join(", "))
        };
        format!(
            "{}, {} cores{world}, {}; {}{compilers}; {}",
            machine.cpu, machine.cores, machine.os, self.date, self.command
        )
    }

    /// Reads the file `path`.
    pub fn load(path: &Path) -> Result<Evidence, EvidenceError> {
        let said = |said: String| EvidenceError { path: path.to_owned(), said };
        let text = std::fs::read_to_string(path).map_err(|error| said(error.to_string()))?;
        Evidence::from_json(&text).map_err(|error| said(error.to_string()))
    }
}

fn cell_of(value: Option<&Value>) -> Cell {
    match value {
        None | Some(Value::Null) => Cell::words("-"),
        Some(Value::Bool(it)) => Cell::words(if *it { "yes" } else { "no" }),
        Some(Value::Number(it)) => match it.as_f64() {
            // Counts are shown in full, quantities to three digits.
            Some(quantity) if it.is_f64() => Cell::number(short(quantity)),
            _ => Cell::number(it),
        },
        Some(Value::String(it)) => Cell::words(it),
        Some(other) => Cell::words(other.to_string()),
    }
}

fn to_value<T: Serialize>(part: &T) -> Value {
    serde_json::to_value(part).expect("strings, numbers and lists are always JSON")
}

/// Name and version, of what a program says of itself: the word before "version", or the first
/// word, is its name.
fn compiler(says: &str) -> Option<String> {
    let words: Vec<&str> = says.split(' ').map(|word| word.trim_end_matches(',')).collect();
    let is_version = |word: &&&str| {
        word.contains('.') && word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
    };
    let before = words.iter().position(|word| *word == "version").map(|at| words[..at].last());
    let name = before.flatten().filter(|word| **word != "emulator").unwrap_or(&words[0]);
    let name = name.split('.').next()?;
    Some(format!("{name} {}", words.iter().find(is_version)?))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use serde_json::json;

    use super::*;

    fn sample() -> Evidence {
        let row = |name: &str, cycles: f64| {
            let Value::Object(row) = json!({"primitive": name, "cycles_per_byte": cycles}) else {
                unreachable!("an object literal is an object");
            };
            row
        };
        Evidence {
            kind: Kind::Measured,
            machine: Machine {
                cpu: "Example \"9\"".to_owned(),
                cores: 2,
                os: "Linux 6.1".to_owned(),
                virtualised: true,
            },
            date: "2026-01-31".to_owned(),
            compilers: vec!["gcc 12.2.0".to_owned()],
            command: "meanwhile cipher bench".to_owned(),
            rows: vec![row("ace", 7.5), row("gift", 8.25)],
        }
    }

    #[test]
    fn a_compiler_has_its_name_and_version() {
        for (says, expected) in [
            ("gcc (Debian 12.2.0-14+deb12u1) 12.2.0", Some("gcc 12.2.0")),
            ("Debian clang version 19.1.7 (3~deb12u1)", Some("clang 19.1.7")),
            ("clang 19.1.7, flang 19.1.7 for NPB, -O3 -march=native", Some("clang 19.1.7")),
            ("QEMU emulator version 7.2.22 (Debian 1:7.2+dfsg-7)", Some("QEMU 7.2.22")),
            ("Ubuntu clang version 18.1.3 (1ubuntu1)", Some("clang 18.1.3")),
            ("mpicc for MPICH version 4.0.2", Some("MPICH 4.0.2")),
            ("mpirun.openmpi (OpenRTE) 4.1.4", Some("mpirun 4.1.4")),
            ("nothing known", None),
        ] {
            assert_eq!(compiler(says).as_deref(), expected, "{says}");
        }
    }

    #[test]
    fn numbers_come_back_as_they_were_written() {
        let mut seed = 7_u64;
        for _ in 0..20_000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let mut evidence = sample();
            let cycles = (seed >> 11) as f64 / 3e13;
            evidence.rows[0]["cycles_per_byte"] = cycles.into();
            let read = Evidence::from_json(&evidence.to_json()).expect("it is evidence");
            assert_eq!(
                read.rows[0]["cycles_per_byte"].as_f64().map(f64::to_bits),
                Some(cycles.to_bits()),
                "{cycles}"
            );
        }
    }

    #[test]
    fn one_row_a_line() {
        expect![[r#"
            {
              "kind": "measured",
              "machine": {"cpu":"Example \"9\"","cores":2,"os":"Linux 6.1","virtualised":true},
              "date": "2026-01-31",
              "compilers": ["gcc 12.2.0"],
              "command": "meanwhile cipher bench",
              "rows": [
                {"primitive":"ace","cycles_per_byte":7.5},
                {"primitive":"gift","cycles_per_byte":8.25}
              ]
            }
        "#]]
        .assert_eq(&sample().to_json());
    }

    #[test]
    fn what_was_written_is_read() {
        let mut evidence = sample();
        assert_eq!(Evidence::from_json(&evidence.to_json()).ok(), Some(evidence.clone()));
        evidence.rows.clear();
        assert_eq!(Evidence::from_json(&evidence.to_json()).ok(), Some(evidence));
    }

    #[test]
    fn rows_as_a_table() {
        let mut evidence = sample();
        evidence.rows[1].insert("n".to_owned(), json!(1000));
        expect![[r#"
            Speed    [measured]
             primitive   cycles_per_byte   n
            ----------- ----------------- ------
             ace                    7.50   -
             gift                   8.25   1000
            Example "9", 2 cores, virtual machine, Linux 6.1; 2026-01-31; gcc 12.2.0; meanwhile cipher bench
        "#]]
        .assert_eq(&evidence.table("Speed").terminal(None));
    }

    #[test]
    fn a_missing_file_is_named() {
        let error = Evidence::load(Path::new("no/such/file.json")).expect_err("it is missing");
        assert!(error.to_string().starts_with("no/such/file.json: "), "{error}");
    }
}
