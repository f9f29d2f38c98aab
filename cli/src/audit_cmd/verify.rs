//! Door: `--verify`: edits made on a copy, compiled, audited again and executed: those that gain and
//! do the same, as patches.

use std::cell::{Cell, OnceCell};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use audit::audit::Options;
use audit::audit::{Audit, audit};
use audit::behaviour::{self, Behaviour, Executed};
use audit::decode::Isa;
use audit::decode::code::{Flow, Instruction};
use audit::edits::{Trial, changes, patch, placeholder};
use audit::facts::steered::SourceLine;
use audit::finding::{Edit, Kind};
use audit::program::Program;
use audit::program::function::Function;
use audit::program::toolchain::{self, Input, Typed};
use audit::proof::{self, gain, is_same_path};
use audit::timing::licence::Effort;
use machine::in_order::Core;

use super::options::{Loaded, Reading};
use crate::output::{Failure, Output};

/// Each block calls a function that notes it.
const COUNTED: &str = "-fsanitize-coverage=trace-pc";
/// A compilation may take this and ten times what the first took.
const LEAST_LIMIT: Duration = Duration::from_secs(20);
/// No more compilations than this.
const TRIALS_MAX: usize = 120;

/// The C file whose edits are tried, and what it compiles to.
struct Tried<'a> {
    loaded: &'a Loaded,
    how: &'a Reading,
    through: &'a [SourceLine],
    core: Option<Core>,
    source: String,
    file: String,
    object: Vec<u8>,
    /// How many of its blocks random inputs reach, and how many there are.
    blocks: OnceCell<Option<(usize, usize)>>,
    /// What a compilation may take; nothing after one that took longer.
    limit: Cell<Duration>,
}

/// Tries what may take findings away; what is proved stands with the finding it was tried for.
pub fn verify(
    loaded: &Loaded,
    how: &Reading,
    through: &[SourceLine],
    audited: &mut Audit,
    out: &mut Output,
) -> Result<(), Failure> {
    if toolchain::input(&loaded.path) != Input::C {
        let help = "an edit can be tried only where the compiler starts from the source";
        return Err(Failure::user(
            format!("--verify needs a C file, and `{}` is none", loaded.path.display()),
            Some(help),
        ));
    }
    let bytes = toolchain::read(&loaded.path).map_err(Failure::tool)?;
    let shown = loaded.path.display().to_string();
    let Ok(source) = String::from_utf8(bytes) else {
        let help =
            "a patch would change its other bytes; `iconv -t UTF-8` makes a copy that can be tried";
        return Err(Failure::user(format!("`{shown}` is not in UTF-8"), Some(help)));
    };
    let file = shown.strip_prefix("./").unwrap_or(&shown).to_owned();
    let core = how.core(loaded);
    let isa = audited.function.isa;
    let (object, blocks) = (Vec::new(), OnceCell::new());
    let limit = Cell::new(toolchain::LIMIT);
    let mut tried = Tried { loaded, how, through, core, source, file, object, blocks, limit };
    let start = Instant::now();
    tried.object = tried.compiled(isa, &tried.source, None).ok_or_else(|| {
        Failure::user(format!("`{shown}` does not compile in another folder"), None)
    })?;
    // A changed source takes as long; a compiler that hangs is not waited for again and again.
    tried.limit.set(LEAST_LIMIT + 10 * start.elapsed());
    let all = changes(audited, &tried.source, &tried.file);
    let n_all = all.len();
    let mut n_others = 0;
    // Where several changes compete, what the one that is printed becomes.
    let mut best: BTreeMap<usize, Audit> = BTreeMap::new();
    for change in all.into_iter().take(TRIALS_MAX) {
        let has_edit = audited.findings[change.finding].edit.is_some();
        if has_edit && !(change.competes && best.contains_key(&change.finding)) {
            continue;
        }
        if tried.limit.get().is_zero() {
            out.warning("the compiler did not end with a changed source; no more were tried");
            break;
        }
        let Some(text) = tried.text(isa, &change) else { continue };
        let Some(object) = tried.compiled(isa, &text, None) else { continue };
        audited.findings[change.finding].tried += 1;
        let Some((after, gain)) = tried.gain(audited, &change, &text, &object) else { continue };
        let is_more = |before| proof::change(before, &after) == Some(Ordering::Less);
        if best.get(&change.finding).is_some_and(|before| !is_more(before)) {
            continue;
        }
        let behaviour = match tried.behaviour(audited, &after, &change, &object) {
            Behaviour::Same(said) => said,
            Behaviour::NotRun(why) => format!("not run, because {why}"),
            Behaviour::Differs(_) => {
                n_others += 1;
                continue;
            }
        };
        let patch = patch(&tried.source, &text, &tried.file);
        let Trial { finding, text, promise, competes, .. } = change;
        if competes {
            best.insert(finding, after);
        }
        audited.findings[finding].edit = Some(Edit { text, patch, gain, promise, behaviour });
    }
    // What others of the same source said is said there.
    audited
        .findings
        .iter_mut()
        .filter(|found| found.tried == 0)
        .for_each(|found| found.ways.clear());
    if n_others > 0 {
        out.warning(&format!("{n_others} changes gain and do something else; they are left out"));
    }
    if n_all > TRIALS_MAX {
        out.warning(&format!("{} of {n_all} changes were not tried", n_all - TRIALS_MAX));
    }
    Ok(())
}

impl Tried<'_> {
    fn compiled(&self, isa: Isa, text: &str, flag: Option<&str>) -> Option<Vec<u8>> {
        let (path, cpu) = (&self.loaded.path, self.loaded.compiled_for());
        let mut build = self.loaded.build.clone();
        if build.flags.is_empty() && flag.is_some() {
            build.flags.extend(toolchain::FLAGS.iter().map(|&flag| flag.to_owned()));
        }
        build.flags.extend(flag.map(str::to_owned));
        let (start, limit) = (Instant::now(), self.limit.get());
        let made = toolchain::compile_changed(path, text, isa, cpu, &build, limit);
        if made.is_err() && start.elapsed() >= limit {
            self.limit.set(Duration::ZERO);
        }
        made.ok()
    }

    /// How many blocks the function has, and how many of them random inputs reach.
    fn blocks(&self, subject: &Executed<'_>) -> Option<(usize, usize)> {
        let object = self.compiled(subject.isa, &self.source, Some(COUNTED))?;
        let program = Program::parse("the counted copy", &object).ok()?;
        let symbol = program.symbol(subject.function).ok()?;
        let function = program.decode(symbol).ok()?.function;
        // One that ends in the note does not come back to say so.
        let is_noted = |found: &&Instruction| {
            let callee = function.callees.get(&found.address);
            matches!(found.flow, Flow::Call { .. })
                && callee.is_some_and(|callee| callee.contains("sanitizer_cov"))
        };
        let all = function.instructions.iter().filter(is_noted).count();
        Some((behaviour::blocks_reached(subject, &object, symbol.size + 1)?, all))
    }

    /// The changed source with all types; none if it needs one that no constant has.
    fn text(&self, isa: Isa, change: &Trial) -> Option<String> {
        let (Loaded { path, build, .. }, cpu) = (self.loaded, self.loaded.compiled_for());
        let mut source = change.source.clone();
        for (idx, expression) in change.typed.iter().enumerate() {
            let placeholder = placeholder(idx);
            let asked = (placeholder.as_str(), expression.as_str());
            let (start, limit) = (Instant::now(), self.limit.get());
            let typed = toolchain::type_of(path, &source, asked, isa, cpu, build, limit);
            if start.elapsed() >= limit {
                self.limit.set(Duration::ZERO);
            }
            match typed {
                // A pointer's star stands beside its `const`, which stands beside the name.
                Typed::Constant(declared) => source = source.replacen(&placeholder, &declared, 1),
                Typed::Volatile | Typed::Other => return None,
            }
        }
        Some(source)
    }

    /// The audit of the changed source and what it gains, on the same path and with all functions
    /// that other files may call.
    fn gain(
        &self,
        before: &Audit,
        change: &Trial,
        text: &str,
        object: &[u8],
    ) -> Option<(Audit, String)> {
        let program = Program::parse("the changed copy", object).ok()?;
        if !self.loaded.code.programs.iter().all(|old| old.exports().is_subset(&program.exports()))
        {
            return None;
        }
        let audited = |program: &Program, name: &str| {
            let options = Options {
                avoid: self.how.avoid.clone(),
                through: self.through.to_vec(),
                effort: Effort::Loops,
                recorded: None,
            };
            let symbol = program.symbol(name).ok()?;
            audit(program, symbol, &self.loaded.code.cpu, self.core.as_ref(), &options).ok()
        };
        let after = audited(&program, &before.function.name)?;
        // What a callee takes is in no cycle of its caller, unless it is part of it.
        let found = &before.findings[change.finding];
        let address = before.function.instructions[found.idx].address;
        let callee = before.function.callees.get(&address).filter(|_| found.kind == Kind::Call);
        let apart = callee.and_then(|name| {
            self.loaded.code.programs.iter().find_map(|program| audited(program, name))
        });
        let apart_cycles =
            apart.and_then(|audit| audit.timed).map_or(0, |timed| timed.cycles.total_cycles);
        let gain = gain(before, &after, apart_cycles)?;
        is_same_path(before, &after, &self.source, text, &self.file).then_some((after, gain))
    }

    fn behaviour(&self, before: &Audit, after: &Audit, change: &Trial, object: &[u8]) -> Behaviour {
        let changed = Changed {
            callees: after.function.callees.values().cloned().collect(),
            may_alias: change.promise.is_none(),
            may_fault: change.reads_more,
        };
        executed(self.loaded, &before.function, &changed, |subject| {
            match behaviour::compare(subject, &self.object, object) {
                Behaviour::Same(said) => match self.blocks.get_or_init(|| self.blocks(subject)) {
                    Some((n, all)) => {
                        Behaviour::Same(format!("{said}; they pass {n} of its {all} blocks"))
                    }
                    None => Behaviour::Same(said),
                },
                other => other,
            }
        })
    }
}

/// What of a changed function decides how it is executed.
#[derive(Debug, Default)]
pub struct Changed {
    /// The names of what it calls.
    pub callees: Vec<String>,
    /// Two pointers may lead to one object.
    pub may_alias: bool,
    /// Its addresses were promised to be good.
    pub may_fault: bool,
}

/// Gives `compare` what it takes to execute the function; or why it cannot be.
pub fn executed(
    loaded: &Loaded,
    function: &Function,
    changed: &Changed,
    compare: impl FnOnce(&Executed<'_>) -> Behaviour,
) -> Behaviour {
    let (name, address) = (function.name.as_str(), function.instructions[0].address);
    let program = loaded.code.programs.iter().find(|program| program.symbol(name).is_ok());
    let Some(program) = program else {
        return Behaviour::NotRun("its symbol is not the function's".to_owned());
    };
    if let Some(asks) = behaviour::asks_the_system(program) {
        return Behaviour::NotRun(format!("the file has `{asks}`, which asks the system"));
    }
    let Some(signature) = program.lines.signature(address, name) else {
        let why = "the source has no function of its name and parameters";
        return Behaviour::NotRun(why.to_owned());
    };
    let names =
        program.called_names().into_iter().chain(changed.callees.iter().map(String::as_str));
    let called: Vec<(String, Option<audit::program::types::Signature>)> =
        names.map(|called| (called.to_owned(), program.lines.signature(address, called))).collect();
    compare(&Executed {
        isa: function.isa,
        function: name,
        signature: &signature,
        called: &called,
        may_alias: changed.may_alias,
        may_fault: changed.may_fault,
        ends: &program.lines.never_return(address),
    })
}
