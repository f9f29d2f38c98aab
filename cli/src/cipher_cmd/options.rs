//! The options that several commands share.

use std::path::{Path, PathBuf};

use cipher::asm;
use cipher::elaborate;
use cipher::emit_c::Arch;
use cipher::library::{Primitive, primitives};
use cipher::native::Cc;
use cipher::options::{Emit, Recipe, Schedule, Slicing, Unroll};
use cipher::package::{self, OverMode};
use cipher::passes::inline::Inline;
use cipher::recipe_file::RecipeFile;
use cipher::unit::Subject;
use cipher::user_layout;
use clap::builder::{PossibleValue, TypedValueParser};
use machine::Machine;
use report::did_you_mean;

use super::tuning::KEYS;
use crate::choice::one_of;
use crate::knobs::{self, Knob};
use crate::output::{Failure, Output};

/// The program, bundled or from a file.
#[derive(Debug, clap::Args)]
pub struct Which {
    /// A bundled primitive or an Usuba file; for a file of a primitive's name write `./NAME`.
    #[arg(value_name = "NAME|FILE")]
    pub subject: String,
    /// Folders searched for included files after the file's own.
    #[arg(short = 'I', value_name = "DIR")]
    pub include: Vec<PathBuf>,
    /// The node to work on instead of a file's last.
    #[arg(long, value_name = "NODE")]
    pub entry: Option<String>,
    /// The layout of a file's bytes [default: FILE's name with .layout.toml for
    /// .ua, if that exists].
    #[arg(long, value_name = "FILE")]
    pub layout: Option<PathBuf>,
}

/// The options of a compilation.
#[derive(Debug, clap::Args)]
pub struct How {
    /// How words lie in registers: bitsliced, vertical or horizontal [default: the first that
    /// `list` or `check` shows and that has at most 10,000 equations].
    #[arg(long, value_parser = slicing())]
    pub slicing: Option<Slicing>,
    /// Bits of the size variable 'm; with `b` it is 1, whatever is said here.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub word: Option<u32>,
    /// The target.
    #[arg(long, value_name = "ARCH", default_value = "x86-64", value_parser = arch())]
    pub arch: Arch,
    /// Which scheduler orders the equations.
    #[arg(long, default_value = "auto", value_parser = schedule())]
    pub schedule: Schedule,
    /// A bundled machine or a machine file, for the schedulers [default: a generic
    /// one of the target].
    #[arg(long, value_name = "NAME|FILE")]
    pub machine: Option<String>,
    /// The C compiler.
    #[arg(long, default_value = "gcc", value_parser = cc())]
    pub cc: Cc,
    /// The back end that chooses order and registers of the functions that work on blocks: the C
    /// compiler; ours, in an assembly file for x86-64, avx2 or avx512 beside the C file; or, with
    /// `auto`, the faster one by the model, and C if they are equal.
    #[arg(long, default_value = "c", value_parser = emit())]
    pub emit: Emit,
    /// What only affects speed; `--help` lists the keys.
    #[arg(short = 'X', value_name = "KEY=VALUE",
        value_parser = |text: &str| knobs::parse(&KEYS, text),
        long_help = knobs::help(
            "What only affects speed, a key and its value; `cipher tune` finds them:", &KEYS))]
    tuning: Vec<Knob>,
    /// Take all of these from a recipe that `meanwhile cipher tune` wrote.
    #[arg(long, value_name = "FILE", conflicts_with_all = [
        "slicing", "word", "arch", "schedule", "machine", "cc", "emit", "tuning",
    ])]
    pub recipe: Option<PathBuf>,
}

impl Which {
    /// Loads and checks the program; remarks go to standard error.
    pub fn load(&self, out: &mut Output) -> Result<Subject, Failure> {
        let subject = self.load_quietly()?;
        for warning in &subject.warnings {
            out.warning(&warning.remark());
        }
        Ok(subject)
    }

    /// The same, with a byte interface if the parameters are unambiguous, and a note about it.
    pub fn load_with_bytes(&self, out: &mut Output) -> Result<Subject, Failure> {
        let subject = self.load(out)?;
        if subject.primitive.is_some() {
            return Ok(subject);
        }
        let path = Path::new(&self.subject);
        let (subject, note) = subject.guessed(path);
        note.iter().for_each(|note| out.warning(note));
        Ok(subject)
    }

    /// Loads and checks the program.
    pub fn load_quietly(&self) -> Result<Subject, Failure> {
        if let Some(bundled) = Subject::bundled(&self.subject) {
            if self.entry.is_some() || self.layout.is_some() || !self.include.is_empty() {
                let help = format!("to work on a file of that name write `./{}`", self.subject);
                let message = format!(
                    "`{}` is a bundled primitive: --entry, --layout and -I are for files",
                    self.subject
                );
                return Err(Failure::user(message, Some(&help)));
            }
            return bundled.map_err(Failure::User);
        }
        let path = Path::new(&self.subject);
        if !path.exists() {
            let names = primitives().iter().map(|p| p.name.as_str());
            let help = mode_of(&self.subject).or_else(|| did_you_mean(&self.subject, names));
            let help = help
                .unwrap_or_else(|| "`meanwhile cipher list` shows the bundled primitives".into());
            return Err(Failure::user(
                format!("`{}` is neither a bundled primitive nor a file", self.subject),
                Some(&help),
            ));
        }
        let subject =
            Subject::file(path, &self.include, self.entry.as_deref()).map_err(Failure::User)?;
        let layout = self
            .layout
            .clone()
            .or_else(|| Some(user_layout::beside(path)).filter(|path| path.exists()));
        match layout {
            Some(layout) => {
                subject.with_layout(&layout, path, self.entry.as_deref()).map_err(Failure::User)
            }
            None => Ok(subject),
        }
    }
}

/// What makes the hash or authenticated cipher of this name, which is a mode of another.
fn mode_of(name: &str) -> Option<String> {
    primitives().iter().find_map(|primitive| {
        let modes = primitive.sponges();
        let mode = modes.iter().find(|mode| mode.name().eq_ignore_ascii_case(name))?;
        Some(format!("it is a mode: `{} --mode {}`", primitive.name, mode.mode()))
    })
}

impl How {
    /// The recipe for this subject, or the one that is named; the default slicing is the first that
    /// its types allow with C that is not too long.
    pub fn recipe(&self, subject: &Subject) -> Result<Recipe, Failure> {
        if let Some(path) = &self.recipe {
            return Ok(recipe_for(path, subject)?.way);
        }
        let slicing = match self.slicing {
            Some(slicing) => slicing,
            None => subject
                .slicing(self.word)
                .ok_or_else(|| Failure::User(subject.no_slicing(self.word)))?,
        };
        let machine = self.machine.as_deref().map(|name| machine(name, self.arch)).transpose()?;
        check_emit(self.emit, Some(self.arch))?;
        let mut recipe = Recipe {
            word: self.word,
            schedule: self.schedule,
            emit: self.emit,
            machine,
            ..Recipe::new(slicing, self.arch, self.cc, Unroll::Auto, "-O3")
        };
        knobs::apply(&KEYS, &self.tuning, &mut recipe);
        check_budget(recipe.emit, recipe.budget, "-X budget")?;
        let sets_inline = knobs::sets(&KEYS, &self.tuning, "inline");
        if self.emit == Emit::Asm && sets_inline && recipe.inline != Inline::All {
            return Err(Failure::user(
                "assembly has all nodes inlined, whatever -X inline says",
                Some("leave -X inline out, or --emit asm"),
            ));
        }
        Ok(recipe)
    }
}

/// Refuses a limit for the search, which `option` gives, where nothing is searched for.
pub fn check_budget(emit: Emit, budget: Option<u32>, option: &str) -> Result<(), Failure> {
    if emit == Emit::C && budget.is_some() {
        return Err(Failure::user(
            format!("{option} is for assembly, and the C compiler orders the code"),
            Some("add --emit asm or --emit auto"),
        ));
    }
    Ok(())
}

/// A recipe file of this program.
pub fn recipe_for(path: &Path, subject: &Subject) -> Result<RecipeFile, Failure> {
    let file = RecipeFile::read(path).map_err(|error| Failure::User(vec![error]))?;
    file.check(subject).map_err(Failure::User)?;
    Ok(file)
}

/// A machine by name or from a file, which must have the registers of the target.
fn machine(name: &str, arch: Arch) -> Result<Machine, Failure> {
    let machine = match Machine::bundled(name) {
        Some(machine) => machine,
        None if Path::new(name).exists() => {
            Machine::load(Path::new(name)).map_err(|error| Failure::User(vec![error]))?
        }
        None => {
            let help = format!(
                "the bundled machines are {}",
                Machine::names().collect::<Vec<_>>().join(", ")
            );
            return Err(Failure::user(
                format!("`{name}` is neither a bundled machine nor a file"),
                Some(&help),
            ));
        }
    };
    if arch.target(&machine).is_none() {
        return Err(Failure::user(
            format!("machine `{}` has no registers for {}", machine.name, arch.name()),
            None,
        ));
    }
    Ok(machine)
}

/// Checks that the sizes of the entry are known, as the interpreter needs them.
pub fn check_sizes(subject: &Subject, recipe: &Recipe) -> Result<(), Failure> {
    elaborate::elaborate(&subject.ast, &subject.entries(), cipher::ir::Dir::Any, recipe.word())
        .map_err(Failure::User)?;
    Ok(())
}

/// `b`, `v` or `h`.
pub fn slicing() -> impl TypedValueParser<Value = Slicing> {
    one_of([Slicing::Bit, Slicing::Vertical, Slicing::Horizontal], |slicing| slicing.letter())
}

/// A target by name.
pub fn arch() -> impl TypedValueParser<Value = Arch> {
    one_of(Arch::ALL, |arch| arch.name())
}

/// `auto`, `yes` or `no`.
pub fn unroll() -> impl TypedValueParser<Value = Unroll> {
    one_of([Unroll::Auto, Unroll::Yes, Unroll::No], |it| match it {
        Unroll::Auto => "auto",
        Unroll::Yes => "yes",
        Unroll::No => "no",
    })
}

fn schedule() -> impl TypedValueParser<Value = Schedule> {
    one_of(
        [Schedule::None, Schedule::Bitslice, Schedule::Depth, Schedule::Mslice, Schedule::Auto],
        |it| it.name(),
    )
}

/// Refuses a name that is neither bundled nor of a file.
pub fn check_name(name: &str) -> Result<(), Failure> {
    if primitives().iter().any(|primitive| primitive.name == name) || Path::new(name).is_file() {
        return Ok(());
    }
    let help = did_you_mean(name, primitives().iter().map(|p| p.name.as_str()));
    Err(Failure::user(format!("there is no primitive `{name}`, and no file"), help.as_deref()))
}

/// Refuses names that are neither bundled nor files with a layout beside them.
pub fn check_names(names: &[String]) -> Result<(), Failure> {
    for name in names.iter().filter(|name| !primitives().iter().any(|p| p.name == **name)) {
        check_name(name)?;
        let layout = user_layout::beside(Path::new(name));
        if !layout.exists() {
            let help = format!("write {}; docs/format/ciphers.md has the form", layout.display());
            return Err(Failure::user(
                format!("`{name}` has no layout, so nothing says where its bytes go"),
                Some(&help),
            ));
        }
        Subject::named(name).map_err(Failure::User)?;
    }
    Ok(())
}

/// A prefix of names in C.
pub fn prefix(text: &str) -> Result<String, String> {
    let inside = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let is_name = text.starts_with(|c: char| c.is_ascii_lowercase()) && text.chars().all(inside);
    if text.is_empty() || is_name {
        Ok(text.into())
    } else {
        Err("choose lower case letters, digits and `_`, a letter first".into())
    }
}

/// Assembly is made for x86-64 only.
pub fn check_emit(emit: Emit, arch: Option<Arch>) -> Result<(), Failure> {
    match arch {
        Some(arch) if emit == Emit::Asm && !arch.has_assembly() => {
            let names: Vec<&str> = asm::archs().map(|arch| arch.name()).collect();
            let help = format!("assembly is made for {}", names.join(", "));
            Err(Failure::user(format!("--emit asm has no target {}", arch.name()), Some(&help)))
        }
        _ => Ok(()),
    }
}

/// A back end by name.
pub fn emit() -> impl TypedValueParser<Value = Emit> {
    one_of([Emit::C, Emit::Asm, Emit::Auto], |it| match it {
        Emit::C => "c",
        Emit::Asm => "asm",
        Emit::Auto => "auto",
    })
}

/// A C compiler by name.
pub fn cc() -> impl TypedValueParser<Value = Cc> {
    one_of(Cc::ALL, |cc| cc.name())
}

/// Any text: which cipher has which mode is said later. Help and shells list the names.
#[derive(Clone)]
pub struct ModeName;

impl TypedValueParser for ModeName {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        arg: Option<&clap::Arg>,
        value: &std::ffi::OsStr,
    ) -> Result<String, clap::Error> {
        clap::builder::StringValueParser::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let mut sponges: Vec<&str> =
            primitives().iter().flat_map(Primitive::sponge_modes).collect();
        sponges.sort_unstable();
        sponges.dedup();
        let bare = ["ctr", "ctr64", "stream", "blocks"];
        let over = package::OVER.iter().map(|mode| mode.name);
        Some(Box::new(over.chain(sponges).chain(bare).map(PossibleValue::new)))
    }
}

/// Refuses a mode that is C over the functions of a cipher where one file is made.
pub fn in_one_file(mode: &str, subject: &str) -> Result<(), Failure> {
    if OverMode::named(mode).is_none() {
        return Ok(());
    }
    let help = format!("`meanwhile cipher package {subject} --mode {mode} -o DIR` makes it");
    Err(Failure::user(
        format!("`{mode}` is a mode over the functions of a cipher, in a file of its own"),
        Some(&help),
    ))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        how: How,
    }

    #[test]
    fn what_makes_its_own_recipes_makes_what_compile_makes_without_options() {
        let subject = Subject::bundled("gift-128").expect("it is bundled").expect("it is right");
        for (slicing, arch) in [
            (Slicing::Bit, Arch::Avx2),
            (Slicing::Vertical, Arch::X86_64),
            (Slicing::Horizontal, Arch::Sse),
        ] {
            let line = ["compile", "--slicing", slicing.letter(), "--arch", arch.name()];
            let by_options = Line::parse_from(line)
                .how
                .recipe(&subject)
                .unwrap_or_else(|_| panic!("{line:?} is right"));
            let own = Recipe::new(slicing, arch, Cc::Gcc, Unroll::Auto, "-O3");
            assert_eq!(own, by_options, "{line:?}");
        }
    }
}
