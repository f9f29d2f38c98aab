//! A file of machine code, the machine that it is audited for, and the function that is meant.

use std::collections::BTreeSet;

use report::{Diagnostic, did_you_mean};

use crate::audit::{Audit, Options, audit};
use crate::cpus::{self, Cpu};
use crate::decode::Isa;
use crate::facts::steered::SourceLine;
use crate::program::boot::{Boot, BootWords, check_names};
use crate::program::content::Content;
use crate::program::find::{Found, choices, find};
use crate::program::image::segments;
use crate::program::{Program, Symbol};
use crate::views::text::{Sources, View};
use crate::volatile::{count_devices, count_volatile};
use machine::in_order::Core;

/// What a file holds.
#[derive(Debug)]
pub struct CodeFile {
    /// Its name, for messages.
    pub name: String,
    /// The program, or the members of an archive.
    pub programs: Vec<Program>,
    /// Why members of an archive are left out.
    pub left_out: Vec<Diagnostic>,
    /// The name of the machine.
    pub cpu: String,
    /// True if nobody chose it.
    is_fitting: bool,
}

impl CodeFile {
    /// Reads an ELF file, an archive, or machine code alone; `wanted` is the machine that the user named, `said` what is
    /// known of a kernel's start besides. Its code is as after that.
    ///
    /// Errors: it is none of these, holds code that the machine does not run, or nothing that `said` names.
    pub fn read(
        name: &str,
        content: &Content,
        wanted: Option<Cpu>,
        said: &BootWords,
    ) -> Result<CodeFile, Diagnostic> {
        let (mut programs, left_out) = match segments(name, &content.bytes, content.base)? {
            None => Program::parse_all(name, content)?,
            Some(segments) => {
                let Some((_, sets)) = &wanted else {
                    let help = "choose it with --cpu; `meanwhile audit cpus` lists them";
                    let refused = format!("for which machine is the code in `{name}`?");
                    return Err(Diagnostic::new(refused).with_help(help));
                };
                (vec![Program::of_image(name, segments, sets, content.asked)?], Vec::new())
            }
        };
        let isa = match &wanted {
            Some((_, sets)) => programs
                .iter()
                .flat_map(Program::isas)
                .find(|isas| sets.contains(isas))
                .unwrap_or(programs[0].isa),
            None => programs[0].isa,
        };
        programs.retain(|program| program.isas().contains(&isa));
        let is_fitting = wanted.is_none();
        let cpu = match wanted {
            Some((cpu, sets)) if sets.contains(&isa) => cpu,
            Some((cpu, sets)) => {
                let code = isa.name();
                let machine = sets.iter().map(|set| set.name()).collect::<Vec<_>>().join(" and ");
                let mut error = Diagnostic::new(format!(
                    "`{name}` holds {code} code, but `{cpu}` runs {machine}"
                ));
                error.help = cpus::fitting(isa).map(|fitting| format!("--cpu {fitting} fits"));
                return Err(error);
            }
            None => cpus::fitting(isa).ok_or_else(|| {
                let code = isa.name();
                Diagnostic::new(format!("there is no machine for the {code} code in `{name}`"))
            })?,
        };
        check_names(&programs, said)?;
        let core = cpus::identity(&cpu).unwrap_or_default().overlaid(&said.core);
        let boot = Boot { core, said: said.clone() };
        programs.iter_mut().for_each(|program| program.boot(&boot));
        Ok(CodeFile { name: name.to_owned(), programs, left_out, cpu, is_fitting })
    }

    /// What the user should know: that no x86-64 core was named, members of an archive and rows of
    /// tables that are left out, cold functions of `avoid` that there are none of.
    pub fn warnings(&self, avoid: &[String]) -> Vec<String> {
        let is_x86 = self.programs[0].isas().contains(&Isa::X86);
        let mut warnings = Vec::new();
        if self.is_fitting && is_x86 {
            warnings.push(cpus::chosen_core(&self.cpu));
        }
        if self.programs.iter().any(|program| program.names_exports_alone) {
            warnings.push(format!(
                "`{}` names its exported functions alone; of another name an address: --function 0xADDRESS",
                self.name
            ));
        }
        if let [first, rest @ ..] = &self.left_out[..] {
            let more = if rest.is_empty() {
                String::new()
            } else {
                format!(" ({} more members are left out)", rest.len())
            };
            warnings.push(format!("{}{more}", first.message));
        }
        const N_SHOWN: usize = 3;
        let faults: Vec<&String> =
            self.programs.iter().flat_map(|program| &program.tables.faults).collect();
        warnings.extend(faults.iter().take(N_SHOWN).map(|fault| format!("{fault}: left out")));
        if faults.len() > N_SHOWN {
            warnings.push(format!("{} more rows of tables are left out", faults.len() - N_SHOWN));
        }
        let is_unknown = |name: &&String| {
            SourceLine::parse(name).is_none()
                && !self.programs.iter().any(|program| program.knows(name))
        };
        for name in avoid.iter().filter(is_unknown) {
            warnings
                .push(format!("--avoid {name}: no function of this name is there or is called"));
        }
        warnings
    }

    /// Joins a function with those that it branches to, and gives the name of what that makes;
    /// `name` may end in `+0x` and how far from its beginning the entry is.
    ///
    /// Errors: none or several have that name, the entry is not in it, or its code goes on beyond
    /// its own end.
    pub fn join(&mut self, name: &str) -> Result<String, Diagnostic> {
        let split = name
            .rsplit_once("+0x")
            .and_then(|(plain, digits)| Some((plain, u64::from_str_radix(digits, 16).ok()?)));
        let (plain, offset) = split.unwrap_or((name, 0));
        let (program, first) = self.meant(Some(plain))?;
        if offset >= first.size {
            let said = format!("`{plain}` has {:#x} bytes: no entry is at {offset:#x}", first.size);
            return Err(Diagnostic::new(said));
        }
        let symbol = program.joined(first, first.address + offset, format!("{name}..."))?;
        let joined = symbol.name.clone();
        let nth = self.programs.iter().position(|it| std::ptr::eq(it, program));
        let program = &mut self.programs[nth.expect("it is one of them")];
        program.symbols.push(symbol);
        program.symbols.sort_by(|a, b| (a.address, &a.name).cmp(&(b.address, &b.name)));
        Ok(joined)
    }

    /// The functions that were named, or all.
    ///
    /// Errors: none has that name.
    pub fn chosen(&self, function: Option<&str>) -> Result<Vec<Found<'_>>, Diagnostic> {
        match function {
            Some(name) => find(&self.programs, name),
            None => Ok(self
                .programs
                .iter()
                .flat_map(|program| program.symbols.iter().map(move |symbol| (program, symbol)))
                .collect()),
        }
    }

    /// The function that was named, or the only one.
    ///
    /// Errors: none has that name, or several have.
    pub fn meant(&self, function: Option<&str>) -> Result<Found<'_>, Diagnostic> {
        let found = self.chosen(function)?;
        let refused = |what: String, help: String| Diagnostic::new(what).with_help(help);
        match (&found[..], function) {
            ([one], _) => Ok(*one),
            // Several names of one place are one function; that of the assembler's own kind comes
            // last.
            ([first, rest @ ..], _)
                if rest.iter().all(|pair| {
                    std::ptr::eq(pair.0, first.0) && pair.1.address == first.1.address
                }) =>
            {
                Ok(*found.iter().find(|pair| !pair.1.name.starts_with('_')).unwrap_or(first))
            }
            (several, None) => Err(refused(
                format!("`{}` has {} functions", self.name, several.len()),
                format!("choose one with --function: {}; or --all-functions", choices(several)),
            )),
            (several, Some(name)) => Err(refused(
                format!("`{}` has {} functions `{name}`", self.name, several.len()),
                format!("choose one: {}; or --all-functions for a table of them", choices(several)),
            )),
        }
    }

    /// The audit of the function that the user means.
    ///
    /// Errors: there is no such function, or nothing of it comes from the one that `view` names.
    pub fn audit(
        &self,
        function: Option<&str>,
        core: Option<&Core>,
        options: &Options,
        view: &View,
    ) -> Result<Audit, Diagnostic> {
        let (program, symbol) = self.meant(function)?;
        let audited = audit(program, symbol, &self.cpu, core, options)?;
        let Some(pivot) = view.pivot.as_deref() else { return Ok(audited) };
        let names: BTreeSet<&str> =
            audited.function.frames.iter().flatten().map(|frame| frame.function.as_str()).collect();
        if names.contains(pivot) {
            return Ok(audited);
        }
        let help = did_you_mean(pivot, names.iter().copied()).unwrap_or_else(|| {
            format!("its frames are {}", names.into_iter().collect::<Vec<_>>().join(", "))
        });
        let name = &audited.function.name;
        Err(Diagnostic::new(format!("no instruction of `{name}` comes from `{pivot}`"))
            .with_help(help))
    }

    /// Takes findings away about what the sources say is `volatile`, without sources none, and about
    /// addresses outside the program.
    pub fn count_volatile(&self, audited: &mut Audit, sources: &Sources) {
        let function = &audited.function;
        let Some(first) = function.instructions.first() else { return };
        let is_it = |symbol: &&Symbol| {
            let code = symbol.address..symbol.address + symbol.size;
            symbol.name == function.name && code.contains(&first.address)
        };
        let mut own = self
            .programs
            .iter()
            .filter_map(|program| Some((program, program.symbols.iter().find(is_it)?)));
        let Some((program, symbol)) = own.next() else {
            return count_volatile(audited, &BTreeSet::new(), sources);
        };
        let names = program.volatile_names(symbol);
        count_volatile(audited, &names, sources);
        count_devices(audited, |address| program.may_have(address));
    }
}

/// The files that the lines of `audited` are in, as far as `read` has their texts.
pub fn sources(audited: &Audit, read: impl Fn(&str) -> Option<String>) -> Sources {
    let names: BTreeSet<&str> =
        audited.function.frames.iter().flatten().map(|frame| frame.file.as_str()).collect();
    let lines = |name: &str| Some(read(name)?.lines().map(str::to_owned).collect());
    names.into_iter().filter_map(|name| Some((name.to_owned(), lines(name)?))).collect()
}
