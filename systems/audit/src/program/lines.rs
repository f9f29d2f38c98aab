//! Where instructions come from: source lines with the functions inlined into each other, from
//! DWARF.

use std::collections::BTreeSet;

use object::{File, Object, ObjectSection};

use crate::decode::Isa;
use crate::program::content::Content;
use crate::program::function::SourceFrame;
use crate::program::names::shown;
use crate::program::relocate::Layout;
use crate::program::types::{self, ArgumentWord, Members, Passed, Section, Signature};
use crate::program::units::DebugUnits;

/// The line tables of one file.
pub struct Lines {
    units: Option<DebugUnits>,
    /// Why there are none, in a sentence for the user; `None` if there are some.
    pub missing: Option<&'static str>,
}

/// Deeper stacks of inlined functions are cut; only a damaged file has them.
const FRAMES_MAX: usize = 64;

impl std::fmt::Debug for Lines {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lines").field("missing", &self.missing).finish_non_exhaustive()
    }
}

impl Lines {
    /// None, for this reason.
    pub fn none(why: &'static str) -> Lines {
        Lines { units: None, missing: Some(why) }
    }

    /// The line tables of `file`; damaged ones are as good as none.
    pub fn read(file: &File<'_>, layout: &Layout, content: Option<&Content>) -> Lines {
        let none = Lines::none;
        let Some(lines) = file.section_by_name(".debug_line").filter(|section| section.size() > 0)
        else {
            return none("the file has no line information; compile with -g to get it");
        };
        if lines
            .compressed_file_range()
            .is_ok_and(|range| range.format != object::CompressionFormat::None)
        {
            return none(
                "its line information is compressed; `objcopy --decompress-debug-sections` makes it readable",
            );
        }
        let units = DebugUnits::new(file, layout, content);
        match units.is_damaged() {
            true => none("its line information is damaged"),
            false => Lines { units: Some(units), missing: None },
        }
    }

    /// The frames of the instruction at `address`, the innermost first; none if nothing is known.
    pub fn frames(&self, address: u64) -> Vec<SourceFrame> {
        let Some(units) = &self.units else { return Vec::new() };
        let all = units.contexts_at(address).into_iter().map(|context| {
            let mut frames = Vec::new();
            let Ok(mut found) = context.find_frames(address).skip_all_loads() else {
                return frames;
            };
            while let Ok(Some(frame)) = found.next() {
                let function = frame
                    .function
                    .and_then(|function| function.raw_name().ok().map(|name| shown(&name)));
                let place = frame.location.and_then(|location| {
                    Some((location.file?, location.line.filter(|&line| line > 0)?))
                });
                let Some((file, line)) = place else { continue };
                let (function, file) = (function.unwrap_or_default(), plain(file));
                frames.push(SourceFrame { function, file, line });
                if frames.len() == FRAMES_MAX {
                    break;
                }
            }
            frames
        });
        all.into_iter().find(|frames| !frames.is_empty()).unwrap_or_default()
    }

    /// Functions may be called so; false if none is. It takes less time than to look for one.
    pub fn may_name(&self, name: &str) -> bool {
        let is_other = |letter: char| !(letter.is_alphanumeric() || letter == '_');
        let word = name.split(is_other).max_by_key(|word| word.len()).unwrap_or_default();
        self.units.as_ref().is_some_and(|units| units.hold(word))
    }

    /// What the function of this name, declared where the code at `address` is, is passed.
    pub fn signature(&self, address: u64, name: &str) -> Option<Signature> {
        self.of_units(address, |unit| types::signature(unit, name)).into_iter().flatten().next()
    }

    /// That function, or the one that a compiler made this copy of, returns in one register.
    pub fn has_one_result(&self, address: u64, name: &str, isa: Isa) -> Option<bool> {
        let plain = name.split('.').next()?;
        let word = u64::from(isa.conventions().bits / 8);
        Some(match self.signature(address, plain)?.result {
            types::UNKNOWN => return None,
            Passed::Nothing | Passed::Pointer { .. } | types::FUNCTION => true,
            Passed::Integer { bytes, .. } | Passed::Float { bytes } => bytes <= word,
            Passed::Other(_) => false,
        })
    }

    /// The line, from 1, that declares the function whose code begins at `address`.
    pub fn declared_line(&self, address: u64) -> Option<u32> {
        self.of_units(address, |unit| types::declared_line(unit, address))
            .into_iter()
            .flatten()
            .next()
    }

    /// The members of the structure of this name, declared where the code at `address` is.
    pub fn members(&self, address: u64, name: &str) -> Option<Members> {
        self.of_units(address, |unit| types::members(unit, name)).into_iter().flatten().next()
    }

    /// Names that mean `volatile` objects in the source of the code at `address`.
    pub fn volatile_names(&self, address: u64) -> BTreeSet<String> {
        self.of_units(address, types::volatile_names).into_iter().flatten().collect()
    }

    fn of_units<T>(&self, address: u64, ask: impl Fn(&gimli::UnitRef<'_, Section>) -> T) -> Vec<T> {
        let entries = self.units.as_ref().and_then(|units| units.entries_at(address));
        let Some((dwarf, units)) = entries else { return Vec::new() };
        units.iter().map(|unit| ask(&unit.unit_ref(&dwarf))).collect()
    }

    /// Functions that never return, as the source of the code at `address` has it.
    pub fn never_return(&self, address: u64) -> BTreeSet<String> {
        let names = self.units.as_ref().and_then(|units| units.names_at(address));
        names.map(|names| names.never_return.clone()).unwrap_or_default()
    }

    /// A function that the code at `from` calls never returns: as its source has it, else as that
    /// of the function itself, at `to`.
    pub fn never_returns(&self, name: &str, from: u64, to: Option<u64>) -> bool {
        let Some(units) = &self.units else { return false };
        let declared = [Some(from), to].into_iter().flatten().find_map(|at| {
            let names = units.names_at(at)?;
            let is_known = names.never_return.contains(name) || names.others.contains(name);
            is_known.then(|| names.never_return.contains(name))
        });
        declared.unwrap_or(false)
    }

    /// In which words the function of this name has its arguments, as the source of the code at `from`
    /// declares it, else as that of the function itself, at `to`.
    pub(super) fn words(
        &self,
        name: &str,
        from: u64,
        to: Option<u64>,
    ) -> Option<Vec<ArgumentWord>> {
        let units = self.units.as_ref()?;
        let mut places = [Some(from), to].into_iter().flatten();
        places.find_map(|at| units.names_at(at)?.arguments.get(name).cloned())
    }

    /// One row of the line table is all that the code from `low` to `high` has, as if it came from
    /// one statement: a naked function's return does, while a compiler's own has a row for itself.
    pub fn is_one_row(&self, low: u64, high: u64) -> bool {
        let Some(units) = &self.units else { return false };
        let Some(context) = units.contexts_at(low).into_iter().next() else { return false };
        context.find_location_range(low, high).is_ok_and(|rows| rows.take(2).count() == 1)
    }
}

/// The folder that the tool was started in, as a process may name its own: builds map folders to
/// it in line tables.
pub const HERE: &str = "/proc/self/cwd";

/// The path from the current folder, if a map says that it is there, without `.` and with
/// `..` taken as written.
fn plain(path: &str) -> String {
    let path = path.strip_prefix(HERE).and_then(|rest| rest.strip_prefix('/')).unwrap_or(path);
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/').filter(|part| !part.is_empty() && *part != ".") {
        match parts.last() {
            Some(last) if part == ".." && *last != ".." => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    format!("{}{}", if path.starts_with('/') { "/" } else { "" }, parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_plain() {
        let of = |path| plain(path);
        assert_eq!(of("./s/put.c"), "s/put.c");
        assert_eq!(of("/proc/self/cwd/b/../inc/./conf.h"), "inc/conf.h");
        assert_eq!(of("/usr/include/a.h"), "/usr/include/a.h");
        assert_eq!(of("../s/put.c"), "../s/put.c");
    }
}
