//! What users call a function: its symbol, its name in C++ or Rust, a pattern, or a line of its
//! source.
//!
//! ```text
//! memcpy            a symbol
//! memcpy@0x8000     one of several symbols of one name
//! push              also `push.isra.0`, where a compiler left nothing else of it
//! helper@ring.o     the same of an archive, by its member
//! ring::push        a name of C++ or Rust, with its arguments or without
//! vfs_*             a pattern; also of C++ and Rust
//! ring.c:112        all functions that this line is in, inlined or not
//! 0x8004            the function that has code at this address
//! ```

use std::collections::BTreeSet;

use report::{Diagnostic, did_you_mean};
use wildmatch::WildMatch;

use crate::decode::Isa;
use crate::program::names::{is_called, is_clone, is_pattern, shown};
use crate::program::{Program, Symbol};

/// A function of a program.
pub type Found<'a> = (&'a Program, &'a Symbol);

/// The member of an archive that the program is.
pub fn member_of(program: &Program) -> Option<&str> {
    program.name.strip_suffix(')')?.rsplit_once('(').map(|(_, member)| member)
}

/// The address that a text such as `0x8004` is.
pub fn address(text: &str) -> Option<u64> {
    u64::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}

/// The functions of this name in one program or in the members of an archive, at least one.
///
/// Errors: there is none: what is near, what there is, or where it was inlined.
pub fn find<'a>(programs: &'a [Program], name: &str) -> Result<Vec<Found<'a>>, Diagnostic> {
    let all = || {
        programs
            .iter()
            .flat_map(|program| program.symbols.iter().map(move |symbol| (program, symbol)))
    };
    let having = |is_meant: &dyn Fn(&Symbol) -> bool| {
        all().filter(|(_, symbol)| is_meant(symbol)).collect::<Vec<Found>>()
    };
    let at = name.rsplit_once('@').and_then(|(plain, text)| Some((plain, address(text)?)));
    let within = address(name);
    let pattern = WildMatch::new(name);
    if let Some((plain, member)) = name.rsplit_once('@') {
        let is_meant = |program: &Program, it: &Symbol| {
            member_of(program) == Some(member) && (it.name == plain || shown(&it.name) == plain)
        };
        let found: Vec<Found> =
            all().filter(|(program, symbol)| is_meant(program, symbol)).collect();
        if !found.is_empty() {
            return Ok(found);
        }
    }
    let ways: [&dyn Fn(&Symbol) -> bool; 7] = [
        &|it| it.name == name,
        &|symbol| within.is_some_and(|at| symbol.has(at)),
        &|it| {
            at.is_some_and(|(plain, address)| {
                it.address == address && (it.name == plain || shown(&it.name) == plain)
            })
        },
        &|it| is_pattern(name) && (pattern.matches(&it.name) || pattern.matches(&shown(&it.name))),
        &|it| is_called(&shown(&it.name), name),
        &|it| is_clone(&it.name, name) && !it.is_cold,
        &|it| is_clone(&it.name, name),
    ];
    if let Some(found) = ways.iter().map(|way| having(way)).find(|having| !having.is_empty()) {
        return Ok(found);
    }
    if let Some((file, line)) =
        name.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse::<u32>().ok()?)))
    {
        let is_there = |program: &Program, symbol: &Symbol| {
            let step = if symbol.isa == Isa::X86 { 1 } else { 2 };
            let frames = (symbol.address..symbol.address + symbol.size)
                .step_by(step)
                .map(|idx| program.lines.frames(idx));
            frames.into_iter().flatten().any(|frame| {
                frame.line == line
                    && (frame.file == file || frame.file.ends_with(&format!("/{file}")))
            })
        };
        let found: Vec<Found> =
            all().filter(|(program, symbol)| is_there(program, symbol)).collect();
        return if found.is_empty() {
            Err(Diagnostic::new(format!("no code comes from line {line} of `{file}`")))
        } else {
            Ok(found)
        };
    }
    Err(unknown(programs, name))
}

impl Program {
    /// The function with this symbol, if it is the only one.
    pub fn only(&self, symbol: &str) -> Option<&Symbol> {
        let mut found = self.symbols.iter().filter(|found| found.name == symbol);
        found.next().filter(|_| found.next().is_none())
    }

    /// Functions of the file that other files may call.
    pub fn exports(&self) -> BTreeSet<&str> {
        self.symbols
            .iter()
            .filter(|symbol| symbol.is_global)
            .map(|symbol| symbol.name.as_str())
            .collect()
    }

    /// Names that calls and jumps of the file go to.
    pub fn called_names(&self) -> BTreeSet<&str> {
        self.links.values().filter_map(|link| link.symbol.as_deref()).collect()
    }

    /// The only function that the user may call so.
    pub fn symbol(&self, name: &str) -> Result<&Symbol, Diagnostic> {
        let found = find(std::slice::from_ref(self), name)?;
        match found[..] {
            [(_, one)] => Ok(one),
            _ => {
                let refused = Diagnostic::new(format!(
                    "`{}` has {} functions `{name}`",
                    self.name,
                    found.len()
                ));
                Err(refused.with_help(format!("choose one: {}", choices(&found))))
            }
        }
    }
}

/// Nothing is called so: perhaps it was inlined everywhere, perhaps it was mistyped.
fn unknown(programs: &[Program], name: &str) -> Diagnostic {
    let file = match programs {
        [one] => one.name.clone(),
        several => several[0].name.split('(').next().unwrap_or_default().to_owned(),
    };
    let all = || programs.iter().flat_map(|program| &program.symbols);
    let mut places = BTreeSet::new();
    for program in programs.iter().filter(|program| program.lines.may_name(name)) {
        for symbol in &program.symbols {
            let Ok(decoded) = program.decode(symbol) else { continue };
            for frames in decoded.function.frames {
                if let Some(at) = frames.iter().position(|frame| is_called(&frame.function, name)) {
                    let line = frames.get(at + 1).map(|frame| {
                        format!(
                            " ({}:{})",
                            frame.file.rsplit('/').next().unwrap_or_default(),
                            frame.line
                        )
                    });
                    places.insert(format!("`{}`{}", shown(&symbol.name), line.unwrap_or_default()));
                }
            }
        }
    }
    if !places.is_empty() {
        const N_SHOWN: usize = 8;
        let n = places.len();
        let list: Vec<String> = places.into_iter().take(N_SHOWN).collect();
        let more = if n > N_SHOWN { format!(" and {} more", n - N_SHOWN) } else { String::new() };
        let said = Diagnostic::new(format!(
            "`{name}` has no code of its own in `{file}`: it is inlined into {}{more}",
            list.join(", ")
        ));
        return said.with_help(format!(
            "audit one of these; --pivot {name} shows its lines in place of those inlined into it"
        ));
    }
    let refused = Diagnostic::new(format!("`{file}` has no function `{name}`"));
    let names: Vec<String> = all().map(|found| shown(&found.name)).collect();
    match did_you_mean(name, names.iter().map(String::as_str)) {
        Some(meant) => refused.with_help(meant),
        None => refused.with_help(format!("it has {}", listed(all()))),
    }
}

/// Several functions for a message, each so that it can be chosen.
pub fn choices(found: &[Found]) -> String {
    const N_SHOWN: usize = 8;
    let names: Vec<String> = found.iter().map(|(_, it)| shown(&it.name)).collect();
    let n_of = |name: &String| names.iter().filter(|found| *found == name).count();
    let n_at = |name: &String, address: u64| {
        names.iter().zip(found).filter(|(it, (_, at))| *it == name && at.address == address).count()
    };
    let one = |(name, (program, it)): (&String, &Found)| match member_of(program) {
        _ if n_of(name) == 1 => name.clone(),
        // Members of an archive begin at one address.
        Some(member) if n_at(name, it.address) > 1 => format!("{name}@{member}"),
        _ => format!("{name}@{:#x}", it.address),
    };
    let list: Vec<String> = names.iter().zip(found).take(N_SHOWN).map(one).collect();
    let more = found.len().saturating_sub(N_SHOWN);
    if more == 0 { list.join(", ") } else { format!("{} and {more} more", list.join(", ")) }
}

/// A few names for a message.
fn listed<'a>(symbols: impl Iterator<Item = &'a Symbol>) -> String {
    const N_SHOWN: usize = 8;
    let names: Vec<String> = symbols.map(|symbol| format!("`{}`", shown(&symbol.name))).collect();
    let more = names.len().saturating_sub(N_SHOWN);
    let shown = names.iter().take(N_SHOWN).cloned().collect::<Vec<_>>().join(", ");
    if more == 0 { shown } else { format!("{shown} and {more} more") }
}
