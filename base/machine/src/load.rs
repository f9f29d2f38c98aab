//! Door: reads a machine file.

use std::path::Path;

use report::Diagnostic;

use crate::Machine;

impl Machine {
    /// The machine that a file describes. A file that cannot be read or is wrong is the user's
    /// mistake: the message has file and line.
    pub fn load(path: &Path) -> Result<Machine, Diagnostic> {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .map_err(|error| Diagnostic::new(format!("cannot read `{name}`: {error}")))?;
        Machine::parse(&name, &text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let path = folder.path().join("mine.toml");
        std::fs::write(&path, include_str!("../machines/skylake.toml")).expect("a scratch file");
        assert_eq!(Machine::load(&path).expect("the text is right").name, "skylake");
    }

    #[test]
    fn a_missing_file_is_named() {
        let fault = Machine::load(Path::new("no/such.toml")).expect_err("there is none");
        assert!(fault.message.starts_with("cannot read `no/such.toml`: "), "{fault}");
    }
}
