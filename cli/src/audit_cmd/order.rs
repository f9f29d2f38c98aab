//! `meanwhile audit FILE --order OUT`: the assembly of the file with one function in a faster order.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use audit::audit::Audit;
use audit::behaviour::{self, Behaviour, Executed};
use audit::decode::code::Flow;
use audit::facts::recorded::{Counts, Recorded};
use audit::facts::steered::SourceLine;
use audit::facts::trace::Guide;
use audit::order::faster::FastPath;
use audit::order::lines::{Listing, without_lines};
use audit::order::{NewOrder, is_made, order};
use audit::program::Program;
use audit::program::function::Function;
use audit::program::toolchain::{self, Input};
use audit::views::loops::cycles;
use machine::in_order::Core;
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

pub fn run(
    loaded: &Loaded,
    how: &Reading,
    wanted: Wanted<'_>,
    out: &mut Output,
) -> Result<(), Failure> {
    let core = refuse(loaded, how, wanted.file)?;
    let audited = audited(loaded, how, wanted.function, wanted.recorded.clone(), wanted.through)?;
    let found = &audited.function;
    if found.instructions.iter().any(|instruction| instruction.flow == Flow::Jump) {
        let help = "--order moves nothing where control may come to any place";
        let said = format!("`{}` jumps to a computed address", found.name);
        return Err(Failure::user(said, Some(help)));
    }
    // The compiler's assembly is assembled as it is: its code has to be the audited one, and its
    // lines are known then.
    let build = Assembling { loaded, found };
    let text = toolchain::assembly(&loaded.path, found.isa, loaded.compiled_for(), &loaded.build)
        .map_err(Failure::tool)?;
    let object = build.object(&text)?;
    let written = decoded(&object, &found.name)?;
    if !is_made(found, &written, &NewOrder::as_written(found)) {
        let help = "compile with the same flags both times: --cflags or --compile-commands without -flto or what else depends on -g";
        let said = format!("`{}` is other code with debug information than without", found.name);
        return Err(Failure::user(said, Some(help)));
    }
    let counts = wanted.recorded.as_ref().and_then(|recorded| Counts::of(found, recorded));
    let guide = Guide::new(found, &how.avoid, counts.as_ref()).through(wanted.through);
    let listing = Listing::of(&text, &written);
    let stays = stays(loaded, found, out)?;
    let Some(new) = order(found, &listing, &core, &guide, &stays) else {
        let said = format!("{} on {}: no faster order was found", found.name, loaded.code.cpu);
        out.line(&format!("{said}; nothing is written"));
        out.object(&json!({
            "ok": true, "kind": "audit-order", "function": found.name, "cpu": loaded.code.cpu, "moved": 0,
        }));
        return Ok(());
    };
    let better = listing.reordered(&new);
    let better_object = build.object(&better)?;
    if !is_made(found, &decoded(&better_object, &found.name)?, &new) {
        let help =
            "the file may say in another way which lines are which, such as by `# 1 \"name\"`";
        let said = format!("`{}` cannot be told line by line", found.name);
        return Err(Failure::user(said, Some(help)));
    }
    let ran = build.executed(&object, &better_object);
    write_file(wanted.file, format!("{MARK} in `{}` */\n{better}", found.name))?;
    let rows: Vec<Row> = FastPath::all(found, &core, &guide)
        .iter()
        .map(|path| Row {
            loop_line: path.is_loop().then(|| line_of(&audited, path.places[0])),
            cycles_before: path.cycles(&NewOrder::as_written(found)),
            cycles_after: path.cycles(&new),
        })
        .collect();
    tell(&audited, &new, &rows, &ran, wanted.file, out);
    Ok(())
}

/// What can be refused before anything is compiled; else the machine.
fn refuse(loaded: &Loaded, how: &Reading, file: &Path) -> Result<Core, Failure> {
    let refused = |said: String, help: &str| Err(Failure::user(said, Some(help)));
    let Some(core) = how.core(loaded) else {
        return refused(
            format!("`{}` reorders instructions itself", loaded.code.cpu),
            "a core that reorders does not wait for what stands in a bad order; `meanwhile audit cpus` lists those that issue in order",
        );
    };
    if loaded.code.name == "-" || toolchain::input(&loaded.path) == Input::Elf {
        return refused(
            format!("--order moves lines of assembly, and `{}` has none", loaded.code.name),
            "name the C, C++ or assembly file that it is made of",
        );
    }
    let is_source = |file: PathBuf| loaded.path.canonicalize().is_ok_and(|source| source == file);
    if file.canonicalize().is_ok_and(is_source) {
        return refused(
            format!("`{}` is the source itself", file.display()),
            "name another file for the result",
        );
    }
    let is_ours = || std::fs::read(file).is_ok_and(|bytes| bytes.starts_with(MARK.as_bytes()));
    if file.is_file() && !is_ours() {
        return refused(
            format!("`{}` is there already", file.display()),
            "name a file that is not there, or one that --order wrote",
        );
    }
    check_writable(file)?;
    Ok(core)
}

/// The function, and how its assembly becomes an object.
struct Assembling<'a> {
    loaded: &'a Loaded,
    found: &'a Function,
}

impl Assembling<'_> {
    fn object(&self, text: &str) -> Result<Vec<u8>, Failure> {
        let (cpu, build) = (self.loaded.compiled_for(), &self.loaded.build);
        toolchain::assembled(&without_lines(text), self.found.isa, cpu, build)
            .map_err(Failure::tool)
    }

    /// What executing both said.
    fn executed(&self, before: &[u8], after: &[u8]) -> String {
        if toolchain::input(&self.loaded.path) == Input::Assembly {
            return "not run, because assembly does not say what it is passed".to_owned();
        }
        let changed = Changed { may_alias: true, ..Changed::default() };
        let compare = |subject: &Executed<'_>| behaviour::compare(subject, before, after);
        match executed(self.loaded, self.found, &changed, compare) {
            Behaviour::Same(said) => said,
            Behaviour::NotRun(why) => format!("not run, because {why}"),
            Behaviour::Differs(said) => panic!(
                "what keeps its dependences does the same; `{}` does not: {said}",
                self.found.name
            ),
        }
    }
}

/// The cycles of the path, or of an iteration of the loop at this line [model].
struct Row {
    loop_line: Option<String>,
    cycles_before: f64,
    cycles_after: f64,
}

fn tell(audited: &Audit, new: &NewOrder, rows: &[Row], ran: &str, file: &Path, out: &mut Output) {
    let (name, cpu) = (&audited.function.name, &audited.cpu);
    let moved = count(new.n_moved(), "instruction");
    out.line(&format!("{name} on {cpu}: {moved} moved, {}", file.display()));
    for Row { loop_line, cycles_before, cycles_after } in rows {
        let what = match loop_line {
            Some(line) => format!("loop at {line}: an iteration"),
            None => "path".to_owned(),
        };
        let [before, after] = [cycles_before, cycles_after].map(|it| cycles(*it));
        let change = match before == after {
            true => format!("still {after}"),
            false => format!("{before} to {after}"),
        };
        out.line(&format!("  {what} {change} cycles [model {cpu}]"));
    }
    out.line(&format!("  executed: {ran}"));
    let paths = rows.iter().map(|row| {
        json!({
            "loop_line": row.loop_line,
            "cycles_before": row.cycles_before,
            "cycles_after": row.cycles_after,
        })
    });
    let paths: Vec<serde_json::Value> = paths.collect();
    out.object(&json!({
        "ok": true, "kind": "audit-order", "function": name, "cpu": cpu, "moved": new.n_moved(),
        "paths": paths, "executed": ran,
        "file": file.display().to_string(),
    }));
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

/// What of the function stays where it is; tells the user what in the source wants that.
fn stays(
    loaded: &Loaded,
    function: &Function,
    out: &mut Output,
) -> Result<BTreeSet<usize>, Failure> {
    let Loaded { path, build, .. } = loaded;
    let by = match toolchain::input(path) {
        Input::Assembly => toolchain::BindingWords::default(),
        _ => toolchain::bound_by(path, function.isa, loaded.compiled_for(), build)
            .map_err(Failure::tool)?,
    };
    if !by.volatile && !by.atomic {
        return Ok(BTreeSet::new());
    }
    let what = if by.volatile { "`volatile`" } else { "atomic accesses" };
    out.warning(&format!("the source has {what}: all accesses to memory stay where they are"));
    let has_access = |idx: &usize| !function.instructions[*idx].accesses.is_empty();
    Ok((0..function.instructions.len()).filter(has_access).collect())
}
