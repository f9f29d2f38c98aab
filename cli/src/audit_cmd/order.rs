//! `meanwhile audit FILE --order OUT`: the assembly of the file with one function in a faster order.

use std::collections::BTreeSet;
use std::path::Path;

use audit::audit::Audit;
use audit::behaviour::{self, Behaviour};
use audit::decode::code::Flow;
use audit::facts::recorded::{Counts, Recorded};
use audit::facts::steered::SourceLine;
use audit::order::faster::{FastPath, in_words};
use audit::order::lines::{Listing, without_lines};
use audit::order::{NewOrder, Steering, Terms, is_made, order};
use audit::program::Program;
use audit::program::function::Function;
use audit::program::toolchain::{self, Input};
use report::number::count;
use serde_json::json;

use super::options::{Loaded, Reading};
use super::show::audited;
use super::verify::{Changed, executed};
use crate::output::{Failure, Output, check_writable, write_file};

/// How a file begins that is written here.
const MARK: &str = "/* meanwhile audit --order: a faster order";

/// What is asked for.
#[derive(Debug)]
pub struct Wanted<'a> {
    pub function: Option<&'a str>,
    pub recorded: Option<Recorded>,
    /// Lines that the path passes.
    pub through: &'a [SourceLine],
    /// Where the assembly goes.
    pub file: &'a Path,
}

/// What came of a search.
struct Made {
    new: NewOrder,
    text: String,
    object: Vec<u8>,
    is_as_meant: bool,
}

pub fn run(
    loaded: &Loaded,
    how: &Reading,
    wanted: Wanted<'_>,
    out: &mut Output,
) -> Result<(), Failure> {
    let Wanted { function, recorded, through, file } = wanted;
    let core = how.core(&loaded.code.cpu).ok_or_else(|| {
        let help = "a core that reorders does not wait for what stands in a bad order; `meanwhile audit cpus` lists those that issue in order";
        Failure::user(format!("`{}` reorders instructions itself", loaded.code.cpu), Some(help))
    })?;
    if loaded.code.name == "-" || toolchain::input(&loaded.path) == Input::Elf {
        let help = "name the C, C++ or assembly file that it is made of";
        return Err(Failure::user(
            format!("--order moves lines of assembly, and `{}` has none", loaded.code.name),
            Some(help),
        ));
    }
    if file
        .canonicalize()
        .ok()
        .is_some_and(|file| loaded.path.canonicalize().is_ok_and(|source| source == file))
    {
        let help = "name another file for the result";
        return Err(Failure::user(
            format!("`{}` is the source itself", file.display()),
            Some(help),
        ));
    }
    let is_ours = || std::fs::read(file).is_ok_and(|bytes| bytes.starts_with(MARK.as_bytes()));
    if file.is_file() && !is_ours() {
        let help = "name a file that is not there, or one that --order wrote";
        return Err(Failure::user(format!("`{}` is there already", file.display()), Some(help)));
    }
    check_writable(file)?;
    let audited = audited(loaded, how, function, recorded.clone(), through)?;
    let found = &audited.function;
    if found.instructions.iter().any(|it| it.flow == Flow::Jump) {
        let help = "--order moves nothing where control may come to any place";
        return Err(Failure::user(
            format!("`{}` jumps to a computed address", found.name),
            Some(help),
        ));
    }
    let assembled = |text: &str| {
        let made =
            toolchain::assembled(&without_lines(text), found.isa, &loaded.code.cpu, &loaded.build);
        made.map_err(Failure::tool)
    };
    let text = toolchain::assembly(&loaded.path, found.isa, &loaded.code.cpu, &loaded.build)
        .map_err(Failure::tool)?;
    let object = assembled(&text)?;
    let written = decoded(&object, &found.name)?;
    if !is_made(&NewOrder::as_written(found), &written) {
        let help = "compile with the same flags both times: --cflags or --compile-commands without -flto or what else depends on -g";
        return Err(Failure::user(
            format!("`{}` is other code with debug information than without", found.name),
            Some(help),
        ));
    }
    let counts = recorded.as_ref().and_then(|recorded| Counts::of(found, recorded));
    let steering = Steering { avoid: &how.avoid, counts: counts.as_ref(), through };
    let listing = Listing::of(&text, &written);
    let (stays, renames, said) = bound(loaded, found)?;
    if !said.is_empty() {
        out.warning(&format!("the source has {said}"));
    }
    let made = |renames: bool| -> Result<Option<Made>, Failure> {
        let terms = Terms { core: &core, steering: &steering, stays: &stays, renames };
        let Some(new) = order(found, &listing, terms) else { return Ok(None) };
        let text = listing.reordered(&new);
        let object = assembled(&text)?;
        let function = decoded(&object, &found.name)?;
        Ok(Some(Made { is_as_meant: is_made(&new, &function), new, text, object }))
    };
    // A set may want certain registers in an instruction: then without new ones.
    let made = match made(renames) {
        Ok(Some(with)) if with.is_as_meant => Some(with),
        Ok(None) => None,
        Ok(Some(_)) | Err(_) => made(false)?,
    };
    let Some(Made { new, text: better, object: better_object, is_as_meant }) = made else {
        let said = format!("{} on {}: no faster order was found", found.name, loaded.code.cpu);
        out.line(&format!("{said}; nothing is written"));
        out.object(&json!({
            "ok": true, "kind": "audit-order", "function": found.name, "cpu": loaded.code.cpu, "moved": 0,
        }));
        return Ok(());
    };
    if !is_as_meant {
        let help =
            "the file may say in another way which lines are which, such as by `# 1 \"name\"`";
        return Err(Failure::user(
            format!("`{}` cannot be told line by line from its assembly", found.name),
            Some(help),
        ));
    }
    let changed = Changed { may_alias: true, ..Changed::default() };
    let has_types = toolchain::input(&loaded.path) != Input::Assembly;
    let untold = || Behaviour::NotRun("assembly does not say what it is passed".to_owned());
    let compare = || {
        executed(loaded, found, &changed, |subject| {
            behaviour::compare(subject, &object, &better_object)
        })
    };
    let ran = match if has_types { compare() } else { untold() } {
        Behaviour::Same(said) => said,
        Behaviour::NotRun(why) => format!("not run, because {why}"),
        Behaviour::Differs(said) => {
            panic!("what keeps its dependences does the same; `{}` does not: {said}", found.name)
        }
    };
    write_file(file, format!("{MARK} in `{}` */\n{better}", found.name))?;
    let guide = steering.guide(&new.function);
    let written = FastPath::all(found, &core, &steering.guide(found));
    let after = FastPath::all(&new.function, &core, &guide);
    let rows: Vec<_> = written
        .iter()
        .zip(&after)
        .map(|(old, path)| {
            (path.is_loop().then(|| path.places[0]), old.cycles_as_written(), path.cycles(&new))
        })
        .collect();
    let renamed = match new.renamed.len() {
        0 => String::new(),
        n => format!(", {n} with other registers"),
    };
    out.line(&format!(
        "{} on {}: {} moved{renamed}, {}",
        found.name,
        loaded.code.cpu,
        count(new.n_moved(), "instruction"),
        file.display()
    ));
    for (head, before, after) in &rows {
        let what = match head {
            Some(idx) => format!("loop at {}: an iteration", line_of(&audited, *idx)),
            None => "path".to_owned(),
        };
        out.line(&format!("  {what} {} [model {}]", in_words(*before, *after), loaded.code.cpu));
    }
    out.line(&format!("  executed: {ran}"));
    let objects: Vec<_> = rows
        .iter()
        .map(|(head, before, after)| {
            json!({ "loop_line": head.map(|idx| line_of(&audited, idx)), "cycles_before": before, "cycles_after": after })
        })
        .collect();
    out.object(&json!({
        "ok": true, "kind": "audit-order", "function": found.name, "cpu": loaded.code.cpu, "moved": new.n_moved(), "renamed": new.renamed.len(),
        "paths": objects, "executed": ran, "file": file.display().to_string(),
    }));
    Ok(())
}

fn decoded(object: &[u8], name: &str) -> Result<Function, Failure> {
    let program =
        Program::parse("the assembly", object).map_err(|error| Failure::User(vec![error]))?;
    let symbol = program.symbol(name).map_err(|error| Failure::User(vec![error]))?;
    Ok(program.decode(symbol).map_err(|error| Failure::User(vec![error]))?.function)
}

fn line_of(audited: &Audit, idx: usize) -> String {
    let function = &audited.function;
    function.frames[idx].first().map_or_else(
        || format!("{:#x}", function.instructions[idx].address),
        |frame| format!("{}:{}", frame.file.rsplit('/').next().unwrap_or_default(), frame.line),
    )
}

/// What of the function stays, and whether registers may change; in words, if something binds them.
fn bound(loaded: &Loaded, function: &Function) -> Result<(BTreeSet<usize>, bool, String), Failure> {
    const OF_REGISTERS: [&str; 4] = ["-ffixed-", "-fcall-saved-", "-fcall-used-", "-fzero-call-"];
    let words = loaded.build.flags.iter().map(String::as_str);
    let cc = loaded.build.cc.as_deref().unwrap_or_default();
    let mut all = words.chain(cc.split_whitespace());
    let flag = all.any(|word| OF_REGISTERS.iter().any(|flag| word.starts_with(flag)));
    if toolchain::input(&loaded.path) == Input::Assembly {
        return Ok((BTreeSet::new(), !flag, String::new()));
    }
    let word = toolchain::bound_by(&loaded.path, function.isa, &loaded.code.cpu, &loaded.build)
        .map_err(Failure::tool)?;
    let Some(word) = word else { return Ok((BTreeSet::new(), !flag, String::new())) };
    if word == "register" {
        return Ok((BTreeSet::new(), false, "`register`: all values keep theirs".to_owned()));
    }
    let accesses = (0..function.instructions.len())
        .filter(|idx| !function.instructions[*idx].accesses.is_empty());
    let said = format!("`{word}`: all accesses to memory stay where they are");
    Ok((accesses.collect(), !flag, said))
}
