//! A recipe in a file: how to compile one program for one target, as `meanwhile cipher tune` found
//! it and other commands take it.

use std::path::Path;
use std::sync::Arc;

use report::{Diagnostic, SourceFile, Span};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::elaborate;
use crate::ir::Dir;
use crate::options::Recipe;
use crate::unit::Subject;

/// The form of the file; another number is refused.
pub const FORMAT: u32 = 1;

/// The contents of the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecipeFile {
    pub format: u32,
    /// The primitive or the file's entry, for readers.
    pub subject: String,
    /// The [`fingerprint`] of the program that it was made for.
    pub program: String,
    pub way: Recipe,
    /// What was measured, if it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measured: Option<TunedFigures>,
}

/// Figures of the machine that it was tuned on, for readers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TunedFigures {
    pub cpu: String,
    pub date: String,
    pub compilers: Vec<String>,
    /// Time-stamp cycles a byte of output, the entry on registers alone.
    pub cycles_per_byte: f64,
    /// The same for the result of `compile` without options.
    pub default_cycles_per_byte: f64,
    /// Default divided by tuned; above 1 the tuned one is faster.
    pub ratio: f64,
    /// 95 % interval of `ratio`.
    pub interval: [f64; 2],
    pub pairs: usize,
}

impl RecipeFile {
    /// The text of the file.
    pub fn text(&self) -> String {
        let head = format!(
            "# How to compile `{}` for {}: for `meanwhile cipher compile`, `run`, `validate`, `speed` and `package` with --recipe.\n",
            self.subject,
            self.way.arch.name()
        );
        head + &toml::to_string(self).expect("plain data")
    }
    ///
    /// Errors: the error, with file and line.
    pub fn read(path: &Path) -> Result<RecipeFile, Diagnostic> {
        let text = std::fs::read_to_string(path).map_err(|error| {
            Diagnostic::new(format!("cannot read the recipe {}: {error}", path.display()))
                .with_help("`meanwhile cipher tune` writes recipes")
        })?;
        let source = SourceFile::new(path.display().to_string(), &text);
        RecipeFile::parse(&source, &text)
    }

    fn parse(source: &Arc<SourceFile>, text: &str) -> Result<RecipeFile, Diagnostic> {
        let tune = "`meanwhile cipher tune` makes it anew";
        let file: RecipeFile = toml::from_str(text).map_err(|error| {
            let range = error.span().unwrap_or(0..0);
            Diagnostic::new(error.message().replace('\n', ", "))
                .at(Span::new(source, range), "here")
                .with_help(tune)
        })?;
        let at = |key: &str| text.find(key).map_or(0..0, |from| from..from + key.len());
        if file.format != FORMAT {
            let message =
                format!("the recipe has format {}, and this program reads {FORMAT}", file.format);
            return Err(Diagnostic::new(message)
                .at(Span::new(source, at("format")), "here")
                .with_help(tune));
        }
        match file.way.wrong() {
            Some(message) => Err(Diagnostic::new(message)
                .at(Span::new(source, at("[way]")), "in this part")
                .with_help(tune)),
            None => Ok(file),
        }
    }

    /// Refuses the recipe of another program, or of another version of this one.
    ///
    /// Errors: the program is not the one of the recipe.
    pub fn check(&self, subject: &Subject) -> Result<(), Vec<Diagnostic>> {
        if self.program == fingerprint(subject, self.way.word)? {
            return Ok(());
        }
        let message = format!(
            "the recipe is of `{}` as it was when it was tuned, and `{}` is another program",
            self.subject,
            subject.name()
        );
        Err(vec![Diagnostic::new(message).with_help("`meanwhile cipher tune` makes one for it")])
    }
}

/// A hash of what decides about the program's code, so not of comments, places and names of files.
///
/// Errors: sizes of words are not known.
pub fn fingerprint(subject: &Subject, word: Option<u32>) -> Result<String, Vec<Diagnostic>> {
    let program = elaborate::elaborate(&subject.ast, &subject.entries(), Dir::Any, word)?.program;
    let hash = Sha256::digest(program.to_string().as_bytes());
    Ok(hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::native::Cc;
    use crate::options::{Fixslice, Interleave, Schedule, Slicing, Unroll};
    use crate::target::Arch;

    fn file() -> RecipeFile {
        let way = Recipe {
            schedule: Schedule::Mslice,
            interleave: Interleave::Times(2),
            ..Recipe::new(Slicing::Vertical, Arch::Avx2, Cc::Clang, Unroll::Auto, "-O3")
        };
        RecipeFile {
            format: FORMAT,
            subject: "serpent-128".into(),
            program: "00".into(),
            way,
            measured: None,
        }
    }

    fn said(text: &str) -> String {
        RecipeFile::parse(&SourceFile::new("r.toml", text), text)
            .expect_err("it is wrong")
            .to_string()
    }

    #[test]
    fn a_written_recipe_is_read_back() {
        let text = file().text();
        assert_eq!(
            RecipeFile::parse(&SourceFile::new("r.toml", &text), &text).expect("it is right"),
            file(),
            "{text}"
        );
    }

    #[test]
    fn what_is_not_as_by_default_is_read_back_too() {
        let usual = file();
        let others: [fn(&mut Recipe); 5] = [
            |way| way.fixslice = Fixslice::No,
            |way| way.specialise = false,
            |way| way.look_behind = 3,
            |way| way.thresholds.io_bits = 64,
            |way| way.interleave = Interleave::Auto,
        ];
        for change in others {
            let mut other = usual.clone();
            change(&mut other.way);
            let text = other.text();
            assert_ne!(text, usual.text());
            let read = RecipeFile::parse(&SourceFile::new("r.toml", &text), &text);
            assert_eq!(read.expect("it is right"), other, "{text}");
        }
    }

    #[test]
    fn an_unsupported_way_is_refused_with_its_line() {
        let text = file().text();
        for (from, to, word) in [
            ("interleave = 2", "interleave = 9", "1 to 4"),
            ("\"-O3\"", "\"-Ofast\"", "-Os"),
            ("\"clang\"", "\"tcc\"", "clang"),
            ("\"v\"", "\"x\"", "expected"),
            ("interleave = 2", "interleave = \"many\"", "auto"),
            ("interleave = 2", "interleave = 2\nlook_behind = -1", "-1"),
            ("interleave = 2", "interleave = 2\nlook-behind = 5", "look-behind"),
            ("format = 1", "format = 7", "format 7"),
            ("emit = \"c\"", "emit = \"c\"\nbudget = 3", "budget"),
            ("[way]", "[wey]", "wey"),
        ] {
            assert!(text.contains(from), "{from}");
            let message = said(&text.replacen(from, to, 1));
            assert!(message.contains(word) && message.contains("r.toml:"), "{to}: {message}");
        }
    }

    #[test]
    fn the_fingerprint_ignores_comments_but_not_equations() {
        let text = "node f (x : u32) returns (y : u32) let y = x ^ (x <<< 3) tel";
        let of = |text: &str| {
            fingerprint(&Subject::text("f.ua", text, None).expect("it is right"), None)
                .expect("sizes are known")
        };
        assert_eq!(of(text), of(&format!("# A comment.\n\n{text}")));
        assert_ne!(of(text), of(&text.replace('3', "4")));
    }
}
