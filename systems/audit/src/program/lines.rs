//! Where instructions come from: source lines with the functions inlined into each other, from
//! DWARF.

use std::collections::BTreeSet;
use std::sync::Arc;

use addr2line::Context;
use gimli::{EndianArcSlice, Reader, RunTimeEndian};
use object::{File, Object, ObjectSection};

use crate::program::function::SourceFrame;
use crate::program::names::shown;
use crate::program::relocate::{self, Layout};
use crate::program::types::{self, Members, Section, Signature};

/// The line tables of one file.
pub struct Lines {
    context: Option<Context<Section>>,
    /// Functions that the source says never return.
    pub never_return: BTreeSet<String>,
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
    /// The line tables of `file`; damaged ones are as good as none.
    pub fn read(file: &File<'_>, layout: &Layout) -> Lines {
        let none = |why| Lines { context: None, never_return: BTreeSet::new(), missing: Some(why) };
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
        let order =
            if file.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
        let section = |id: gimli::SectionId| -> Result<Section, gimli::Error> {
            let data = file
                .section_by_name(id.name())
                .map(|section| relocate::section_data(file, layout, &section))
                .unwrap_or_default();
            Ok(EndianArcSlice::new(Arc::from(&*data), order))
        };
        let damaged = "its line information is damaged";
        let Ok(dwarf) = gimli::Dwarf::load(section) else { return none(damaged) };
        // What is damaged here costs names only.
        let never_return = never_return(&dwarf).unwrap_or_default();
        match Context::from_dwarf(dwarf) {
            Ok(context) => Lines { context: Some(context), never_return, missing: None },
            Err(_) => none(damaged),
        }
    }

    /// The frames of the instruction at `address`, the innermost first; none if nothing is known.
    pub fn frames(&self, address: u64) -> Vec<SourceFrame> {
        let Some(context) = &self.context else { return Vec::new() };
        let Ok(mut found) = context.find_frames(address).skip_all_loads() else {
            return Vec::new();
        };
        let mut frames = Vec::new();
        while let Ok(Some(frame)) = found.next() {
            let function = frame
                .function
                .and_then(|function| function.raw_name().ok().map(|name| shown(&name)));
            let place = frame.location.and_then(|location| {
                Some((location.file?, location.line.filter(|&line| line > 0)?))
            });
            let Some((file, line)) = place else { continue };
            frames.push(SourceFrame {
                function: function.unwrap_or_default(),
                file: plain(file),
                line,
            });
            if frames.len() == FRAMES_MAX {
                break;
            }
        }
        frames
    }

    /// What the function of this name, declared where the code at `address` is, is passed.
    pub fn signature(&self, address: u64, name: &str) -> Option<Signature> {
        types::signature(&self.unit(address)?, name)
    }

    /// The members of the structure of this name, declared where the code at `address` is.
    pub fn members(&self, address: u64, name: &str) -> Option<Members> {
        types::members(&self.unit(address)?, name)
    }

    /// Names that mean `volatile` objects in the source of the code at `address`.
    pub fn volatile_names(&self, address: u64) -> BTreeSet<String> {
        self.unit(address).map(|unit| types::volatile_names(&unit)).unwrap_or_default()
    }

    fn unit(&self, address: u64) -> Option<gimli::UnitRef<'_, Section>> {
        self.context.as_ref()?.find_dwarf_and_unit(address).skip_all_loads()
    }

    /// One row of the line table is all that the code from `low` to `high` has, as if it came from
    /// one statement: a naked function's return does, while a compiler's own has a row for itself.
    pub fn is_one_row(&self, low: u64, high: u64) -> bool {
        let Some(context) = &self.context else { return false };
        context.find_location_range(low, high).is_ok_and(|rows| rows.take(2).count() == 1)
    }
}

/// Names of functions declared `noreturn`, unless another one of that name is not.
fn never_return(dwarf: &gimli::Dwarf<Section>) -> Result<BTreeSet<String>, gimli::Error> {
    let (mut never, mut others) = (BTreeSet::new(), BTreeSet::new());
    let mut headers = dwarf.units();
    while let Some(header) = headers.next()? {
        let unit = dwarf.unit(header)?;
        let mut tree = unit.entries_tree(None)?;
        functions(&unit.unit_ref(dwarf), tree.root()?, 0, &mut |name, is_one| {
            let names = if is_one { &mut never } else { &mut others };
            names.insert(name);
        })?;
    }
    Ok(&never - &others)
}

/// Calls `found` with the name of each function directly in `node` or in a namespace in it, and
/// whether it is `noreturn`.
fn functions(
    unit: &gimli::UnitRef<'_, Section>,
    node: gimli::EntriesTreeNode<'_, '_, '_, Section>,
    depth: usize,
    found: &mut impl FnMut(String, bool),
) -> Result<(), gimli::Error> {
    let mut children = node.children();
    while let Some(child) = children.next()? {
        let entry = child.entry();
        match entry.tag() {
            gimli::DW_TAG_subprogram => {
                let linkage = entry.attr_value(gimli::DW_AT_linkage_name)?;
                let name = if linkage.is_some() {
                    linkage
                } else {
                    entry.attr_value(gimli::DW_AT_name)?
                };
                let is_one = matches!(
                    entry.attr_value(gimli::DW_AT_noreturn)?,
                    Some(gimli::AttributeValue::Flag(true))
                );
                if let Some(name) = name.and_then(|name| unit.attr_string(name).ok()) {
                    found(name.to_string_lossy()?.into_owned(), is_one);
                }
            }
            gimli::DW_TAG_namespace if depth < FRAMES_MAX => {
                functions(unit, child, depth + 1, found)?
            }
            _ => {}
        }
    }
    Ok(())
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
