//! A recipe in a file: how to compile one program for one target, as `meanwhile cipher tune` found
//! it and other commands take it.

use std::path::Path;
use std::sync::Arc;

use report::{Diagnostic, SourceFile, Span};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::asm::Effort;
use crate::elaborate;
use crate::emit_c::Arch;
use crate::ir::Dir;
use crate::native::Cc;
use crate::options::{Interleave, Schedule, Slicing, Unroll};
use crate::passes::inline::Inline;
use crate::passes::interleave::MOST;
use crate::recipe::{Back, Recipe};
use crate::unit::Subject;

/// The form of the file; another number is refused.
pub const FORMAT: u32 = 1;

/// Optimisation flags that a recipe may name.
pub const OPTS: [&str; 4] = ["-O3", "-O2", "-O1", "-Os"];

/// The contents of the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecipeFile {
    pub format: u32,
    /// The primitive or the file's entry, for readers.
    pub subject: String,
    /// The [`fingerprint`] of the program that it was made for.
    pub program: String,
    pub way: Way,
    /// What was measured, if it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measured: Option<TunedFigures>,
}

/// The options that affect speed.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Way {
    pub arch: Arch,
    /// How words lie in registers.
    pub slicing: Slicing,
    /// Bits of the size variable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub word: Option<u32>,
    /// Which loops are written out.
    pub unroll: Unroll,
    /// Which nodes are inlined.
    pub inline: Inline,
    /// Which scheduler orders the equations.
    pub schedule: Schedule,
    /// Interleaved batches of blocks.
    pub interleave: u32,
    pub emit: Emit,
    /// Millions of steps that the search of the assembly back end may take for each block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<u32>,
    /// The C compiler; with assembly, for the functions that remain in C.
    pub cc: Cc,
    pub opt: String,
}

/// The back end for the functions that work on blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Emit {
    C,
    Asm,
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

impl Way {
    /// The recipe with these options.
    pub fn recipe(&self) -> Recipe {
        let opt = OPTS.iter().find(|opt| **opt == self.opt).expect("`check` has seen the flag");
        let mut recipe = Recipe::new(self.slicing, self.arch, self.cc, self.unroll, opt);
        recipe.options.word = if self.slicing == Slicing::Bit { Some(1) } else { self.word };
        recipe.options.inline = self.inline;
        recipe.options.schedule = self.schedule;
        recipe.options.interleave = Interleave::Times(self.interleave);
        recipe.back = match self.emit {
            Emit::C => Back::C,
            Emit::Asm => {
                Back::Asm(self.budget.map_or_else(Effort::default, |millions| Effort { millions }))
            }
        };
        recipe
    }

    /// What no command supports, as a message.
    fn wrong(&self) -> Option<String> {
        if !OPTS.contains(&self.opt.as_str()) {
            Some(format!("`opt` is `{}`, and it can be {}", self.opt, OPTS.join(", ")))
        } else if !(1..=MOST).contains(&self.interleave) {
            Some(format!("`interleave` is {}, and it can be 1 to {MOST}", self.interleave))
        } else if self.emit == Emit::C && self.budget.is_some() {
            Some("`budget` is for assembly, and this recipe is for C".into())
        } else if self.emit == Emit::Asm && !self.arch.has_assembly() {
            Some(format!("there is no assembly for {}", self.arch.name()))
        } else {
            None
        }
    }
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

    fn file() -> RecipeFile {
        let way = Way {
            arch: Arch::Avx2,
            slicing: Slicing::Vertical,
            word: None,
            unroll: Unroll::Auto,
            inline: Inline::Auto,
            schedule: Schedule::Mslice,
            interleave: 2,
            emit: Emit::C,
            budget: None,
            cc: Cc::Clang,
            opt: "-O3".into(),
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
    fn an_unsupported_way_is_refused_with_its_line() {
        let text = file().text();
        for (from, to, word) in [
            ("interleave = 2", "interleave = 9", "1 to 4"),
            ("\"-O3\"", "\"-Ofast\"", "-Os"),
            ("\"clang\"", "\"tcc\"", "clang"),
            ("\"v\"", "\"x\"", "expected"),
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
