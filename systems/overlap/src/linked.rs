//! Door: what became of the calls of a program that was just linked, from the remarks beside the
//! objects that its command line names. Those of archives lie beside objects that it does not name:
//! `explain` finds them.

use std::path::{Path, PathBuf};

use crate::driver::{self, Step};
use crate::remarks::{self, NOTES, RECORD, Row};

/// Ends the name of remarks that a linker writes.
const OF_LINKER: &str = ".opt.ld.yaml";
/// Set to anything but nothing or `0`, no line is said at the end of a link.
const QUIET: &str = "MEANWHILE_OVERLAP_QUIET";
/// So many reasons are named, the most frequent first.
const REASONS_MAX: usize = 3;

/// True if the user wants no line.
pub fn is_quiet() -> bool {
    std::env::var(QUIET).is_ok_and(|value| !value.is_empty() && value != "0")
}

/// The remarks of the objects of `step`, which runs in `folder` and has linked `output`.
pub(crate) fn rows(step: &Step, folder: &Path, output: &Path) -> Vec<Row> {
    let noted = |object: &Path, ending: &str| {
        let name = object.file_name().unwrap_or_default().to_string_lossy().into_owned();
        object.with_file_name(NOTES).join(name + ending)
    };
    let whole = [noted(output, OF_LINKER), with_ending(output, OF_LINKER)];
    let mut files: Vec<PathBuf> = Vec::new();
    if step.whole_program {
        files.extend(whole);
    } else {
        for input in &step.inputs {
            let path = folder.join(input);
            if driver::is_linked(input) {
                files.push(noted(&path, RECORD));
            } else {
                // The compiler puts those of one source beside its name, with or without the
                // program's before it.
                let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                files.push(folder.join(format!("{stem}{RECORD}")));
                let program = output.file_stem().unwrap_or_default().to_string_lossy();
                files.push(folder.join(format!("{program}-{stem}{RECORD}")));
            }
        }
        if step.sources == 1 {
            files.push(noted(output, RECORD));
        }
    }
    files.sort();
    files.dedup();
    let texts = files.iter().filter_map(|file| std::fs::read_to_string(file).ok());
    texts.flat_map(|text| remarks::parse(&text).unwrap_or_default()).collect()
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// `3 of 51 calls converted, 35 SmallMessage, 8 SmallWindow, 5 for other reasons`; nothing where
/// there is no call.
pub fn sentence(rows: &[Row]) -> Option<String> {
    let summary = remarks::summary(rows);
    if summary.sites == 0 {
        return None;
    }
    let mut reasons: Vec<(&String, &usize)> = summary.refused.iter().collect();
    reasons.sort_by_key(|reason| std::cmp::Reverse(reason.1));
    let mut text = format!("{} of {} calls converted", summary.converted, summary.sites);
    for (name, count) in reasons.iter().take(REASONS_MAX) {
        text += &format!(", {count} {name}");
    }
    let others: usize = reasons.iter().skip(REASONS_MAX).map(|reason| reason.1).sum();
    if others > 0 {
        text += &format!(", {others} for other reasons");
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_frequent_reasons_are_named() {
        let row = |reason: Option<&str>| Row {
            file: "a.c".to_owned(),
            line: 1,
            call: "MPI_Send".to_owned(),
            strength: String::new(),
            window_weight: 0,
            beyond_weight: 0,
            converted: reason.is_none(),
            reason: reason.map(str::to_owned),
            sentence: String::new(),
        };
        assert_eq!(sentence(&[]), None);
        assert_eq!(sentence(&[row(None)]).as_deref(), Some("1 of 1 calls converted"));
        let reasons = [None, Some("D"), Some("A"), Some("C"), Some("B"), Some("B"), Some("E")];
        let rows: Vec<Row> = reasons.into_iter().map(row).collect();
        assert_eq!(
            sentence(&rows).as_deref(),
            Some("1 of 7 calls converted, 2 B, 1 A, 1 C, 2 for other reasons")
        );
    }
}
