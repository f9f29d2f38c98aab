//! The debug information of a file by its units, each read when code of it is asked for.
//!
//! ```text
//! .debug_aranges   0x1000..0x1a40   the unit at 0x5e0 of .debug_info
//! .debug_info      0x5e0..0x91c     is read alone for a function at 0x1200
//! ```
//!
//! Units whose addresses `.debug_aranges` does not have, such as Clang's, say them themselves. A unit
//! that refers to others, as after optimization at link time, is read with all.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use addr2line::Context;
use gimli::{EndianArcSlice, Reader, RunTimeEndian, SectionId};
use object::{File, Object, ObjectSection};

use crate::program::content::{Content, FilePart};
use crate::program::relocate::{self, Layout};
use crate::program::types::{self, ArgumentWord, Section};

/// What lines, frames and types are read from, beside `.debug_info`.
const SECTIONS: [SectionId; 8] = [
    SectionId::DebugAbbrev,
    SectionId::DebugAddr,
    SectionId::DebugLine,
    SectionId::DebugLineStr,
    SectionId::DebugRanges,
    SectionId::DebugRngLists,
    SectionId::DebugStr,
    SectionId::DebugStrOffsets,
];

/// What entries are read from, names and types; the first of a unit leads to its lines and to
/// addresses that it has.
const OF_ENTRIES: [SectionId; 7] = [
    SectionId::DebugTypes,
    SectionId::DebugAbbrev,
    SectionId::DebugAddr,
    SectionId::DebugLine,
    SectionId::DebugLineStr,
    SectionId::DebugStr,
    SectionId::DebugStrOffsets,
];

/// Deeper namespaces are cut; only a damaged file has them.
const DEPTH_MAX: usize = 64;

pub(super) type Dwarf = gimli::Dwarf<Section>;

/// The debug information of one file.
pub(super) struct DebugUnits {
    sections: BTreeMap<&'static str, Debug>,
    order: RunTimeEndian,
    /// The sections that were read.
    read: RefCell<BTreeMap<&'static str, Section>>,
    index: OnceCell<Index>,
    contexts: RefCell<BTreeMap<u64, Option<Rc<Context<Section>>>>>,
    names: RefCell<BTreeMap<u64, Rc<DeclaredNames>>>,
    whole: OnceCell<Option<Rc<Context<Section>>>>,
}

/// A section: as it is, or in the file.
enum Debug {
    Held(Section),
    InFile(FilePart),
}

/// Which unit code belongs to.
#[derive(Default)]
struct Index {
    /// Addresses with the place of their unit in `.debug_info`, by their beginning.
    ranges: Vec<(Range<u64>, u64)>,
    /// For each of these the last end of it and all before.
    last_ends: Vec<u64>,
    /// All units, by their place: where each ends.
    ends: BTreeMap<u64, u64>,
}

/// The functions that a unit declares.
#[derive(Default)]
pub(super) struct DeclaredNames {
    /// Those that never return.
    pub never_return: BTreeSet<String>,
    pub others: BTreeSet<String>,
    /// In which words each has its arguments, where its declaration says it.
    pub arguments: BTreeMap<String, Vec<ArgumentWord>>,
}

impl DebugUnits {
    pub fn new(file: &File<'_>, layout: &Layout, content: Option<&Content>) -> DebugUnits {
        let order =
            if file.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
        let mut sections = BTreeMap::new();
        let others = [SectionId::DebugInfo, SectionId::DebugTypes, SectionId::DebugAranges];
        for id in SECTIONS.iter().chain(&others) {
            let mut parts = relocate::sections_called(file, id.name()).into_iter();
            let Some(section) = parts.next() else { continue };
            let piece = section
                .file_range()
                .and_then(|(from, size)| content?.piece(from..from.saturating_add(size)));
            let debug = match piece {
                Some(piece) => Debug::InFile(piece),
                None => {
                    let mut data = relocate::section_data(file, layout, &section).into_owned();
                    parts.for_each(|part| {
                        data.extend(&*relocate::section_data(file, layout, &part))
                    });
                    Debug::Held(EndianArcSlice::new(Arc::from(data), order))
                }
            };
            sections.insert(id.name(), debug);
        }
        DebugUnits {
            sections,
            order,
            read: RefCell::default(),
            index: OnceCell::new(),
            contexts: RefCell::default(),
            names: RefCell::default(),
            whole: OnceCell::new(),
        }
    }

    /// The units do not fill their section.
    pub fn is_damaged(&self) -> bool {
        let ends = &self.index().ends;
        ends.last_key_value().map_or(0, |(_, end)| *end) != self.n_info()
    }

    /// How many bytes `.debug_info` has.
    fn n_info(&self) -> u64 {
        match self.sections.get(SectionId::DebugInfo.name()) {
            Some(Debug::Held(section)) => section.len() as u64,
            Some(Debug::InFile(piece)) => piece.length(),
            None => 0,
        }
    }

    /// Frames and lines of the units that have code at this address, mostly of one.
    pub fn contexts_at(&self, address: u64) -> Vec<Rc<Context<Section>>> {
        let units = self.index().units_at(address);
        units.into_iter().filter_map(|unit| self.context(unit)).collect()
    }

    /// Somewhere in names of functions there is this word.
    pub fn hold(&self, word: &str) -> bool {
        const STEP: u64 = 1 << 20;
        let (word, margin) = (word.as_bytes(), word.len() as u64);
        let is_in = |bytes: &[u8]| bytes.windows(word.len().max(1)).any(|found| found == word);
        // A short name stands in its entry.
        [SectionId::DebugStr, SectionId::DebugInfo].iter().any(|id| {
            match self.sections.get(id.name()) {
                Some(Debug::Held(section)) => section.to_slice().is_ok_and(|bytes| is_in(&bytes)),
                Some(Debug::InFile(piece)) => {
                    let length = piece.length();
                    (0..length).step_by(STEP as usize).any(|from| {
                        let range = from..(from + STEP + margin).min(length);
                        piece.bytes(range).is_some_and(|bytes| is_in(&bytes))
                    })
                }
                None => false,
            }
        })
    }

    /// The functions that the unit with code at this address declares.
    pub fn names_at(&self, address: u64) -> Option<Rc<DeclaredNames>> {
        let unit = self.index().units_at(address).into_iter().next()?;
        if let Some(names) = self.names.borrow().get(&unit) {
            return Some(Rc::clone(names));
        }
        let names = self.entries(unit).and_then(|(dwarf, units)| names(&dwarf, &units).ok());
        let names = Rc::new(names.unwrap_or_default());
        self.names.borrow_mut().insert(unit, Rc::clone(&names));
        Some(names)
    }

    /// The unit with code at this address, without its lines, and behind it all those that its
    /// entries may lead into.
    pub fn entries_at(&self, address: u64) -> Option<(Dwarf, Vec<gimli::Unit<Section>>)> {
        self.entries(self.index().units_at(address).into_iter().next()?)
    }

    fn entries(&self, place: u64) -> Option<(Dwarf, Vec<gimli::Unit<Section>>)> {
        let own = self.unit_dwarf(place, &OF_ENTRIES)?;
        // Types of their own units are meant by their signatures.
        let forms = [gimli::DW_FORM_ref_addr, gimli::DW_FORM_ref_sig8];
        let (dwarf, place) = match has_form(&own, &forms) {
            true => (self.dwarf(self.section(SectionId::DebugInfo), &OF_ENTRIES)?, place),
            false => (own, 0),
        };
        let (mut units, mut headers) = (Vec::new(), dwarf.units());
        let mut types = dwarf.type_units();
        let mut next = || match headers.next() {
            Ok(Some(header)) => Some(header),
            Ok(None) | Err(_) => types.next().ok().flatten(),
        };
        while let Some(header) = next() {
            let is_own =
                header.offset().as_debug_info_offset().is_some_and(|at| at.0 as u64 == place);
            let Ok(unit) = dwarf.unit(header) else { continue };
            units.insert(if is_own { 0 } else { units.len() }, unit);
        }
        Some((dwarf, units))
    }

    fn context(&self, unit: u64) -> Option<Rc<Context<Section>>> {
        if let Some(context) = self.contexts.borrow().get(&unit) {
            return context.clone();
        }
        let dwarf = self.unit_dwarf(unit, &SECTIONS);
        let context = match dwarf {
            Some(dwarf) if has_form(&dwarf, &[gimli::DW_FORM_ref_addr]) => self.whole(),
            Some(dwarf) => Context::from_dwarf(dwarf).ok().map(Rc::new),
            None => None,
        };
        self.contexts.borrow_mut().insert(unit, context.clone());
        context
    }

    /// All units as one.
    fn whole(&self) -> Option<Rc<Context<Section>>> {
        let made = self.whole.get_or_init(|| {
            let info = self.section(SectionId::DebugInfo);
            Context::from_dwarf(self.dwarf(info, &SECTIONS)?).ok().map(Rc::new)
        });
        made.clone()
    }

    fn section(&self, id: SectionId) -> Section {
        let mut read = self.read.borrow_mut();
        let empty = || EndianArcSlice::new(Arc::from(&[] as &[u8]), self.order);
        let section = read.entry(id.name()).or_insert_with(|| match self.sections.get(id.name()) {
            Some(Debug::Held(section)) => section.clone(),
            Some(Debug::InFile(piece)) => piece
                .bytes(0..piece.length())
                .map_or_else(empty, |bytes| EndianArcSlice::new(bytes, self.order)),
            None => empty(),
        });
        section.clone()
    }

    /// A part of `.debug_info`.
    fn info(&self, range: Range<u64>) -> Option<Section> {
        match self.sections.get(SectionId::DebugInfo.name())? {
            Debug::Held(section) => {
                let range = usize::try_from(range.start).ok()?..usize::try_from(range.end).ok()?;
                (range.start <= range.end && range.end <= section.len())
                    .then(|| section.range(range))
            }
            Debug::InFile(piece) => Some(EndianArcSlice::new(piece.bytes(range)?, self.order)),
        }
    }

    /// One unit with these sections.
    fn unit_dwarf(&self, unit: u64, ids: &[SectionId]) -> Option<Dwarf> {
        let end = *self.index().ends.get(&unit)?;
        self.dwarf(self.info(unit..end)?, ids)
    }

    fn dwarf(&self, info: Section, ids: &[SectionId]) -> Option<Dwarf> {
        let section = |id: SectionId| -> Result<Section, gimli::Error> {
            Ok(match id {
                SectionId::DebugInfo => info.clone(),
                id if ids.contains(&id) => self.section(id),
                _ => EndianArcSlice::new(Arc::from(&[] as &[u8]), self.order),
            })
        };
        gimli::Dwarf::load(section).ok()
    }

    fn index(&self) -> &Index {
        self.index.get_or_init(|| {
            let mut index = Index { ends: self.unit_ends(), ..Index::default() };
            // What is damaged costs lines.
            _ = self.add_aranges(&mut index);
            let known: BTreeSet<u64> = index.ranges.iter().map(|(_, unit)| *unit).collect();
            let others: Vec<u64> =
                index.ends.keys().copied().filter(|unit| !known.contains(unit)).collect();
            for unit in others {
                let end = index.ends[&unit];
                let dwarf = self.info(unit..end).and_then(|info| self.dwarf(info, &SECTIONS));
                let ranges = dwarf.and_then(|dwarf| own_ranges(&dwarf).ok());
                index.ranges.extend(ranges.into_iter().flatten().map(|range| (range, unit)));
            }
            index.ranges.sort_by_key(|(range, unit)| (range.start, range.end, *unit));
            let mut last = 0;
            for (range, _) in &index.ranges {
                last = last.max(range.end);
                index.last_ends.push(last);
            }
            index
        })
    }

    fn add_aranges(&self, index: &mut Index) -> Result<(), gimli::Error> {
        let aranges = gimli::DebugAranges::from(self.section(SectionId::DebugAranges));
        let mut headers = aranges.headers();
        while let Some(header) = headers.next()? {
            let unit = header.debug_info_offset().0 as u64;
            let mut entries = header.entries();
            while let Some(entry) = entries.next()? {
                let end = entry.address().saturating_add(entry.length());
                if entry.length() > 0 {
                    index.ranges.push((entry.address()..end, unit));
                }
            }
        }
        Ok(())
    }

    /// The units by the places where they begin, each with its end.
    fn unit_ends(&self) -> BTreeMap<u64, u64> {
        let length = self.n_info();
        let (mut ends, mut at) = (BTreeMap::new(), 0);
        while at < length {
            let Some(mut head) = self.info(at..(at + 12).min(length)) else { break };
            let Ok((unit_length, format)) = head.read_initial_length() else { break };
            let first = at + u64::from(format.initial_length_size());
            let end = first.checked_add(unit_length as u64).filter(|end| *end <= length);
            let Some(end) = end else { break };
            ends.insert(at, end);
            at = end;
        }
        ends
    }
}

impl Index {
    /// The units with code at an address, by their place.
    fn units_at(&self, address: u64) -> Vec<u64> {
        let mut found = Vec::new();
        let mut at = self.ranges.partition_point(|(range, _)| range.start <= address);
        while at > 0 && self.last_ends[at - 1] > address {
            at -= 1;
            let (range, unit) = &self.ranges[at];
            if range.contains(&address) && !found.contains(unit) {
                found.push(*unit);
            }
        }
        found.reverse();
        found
    }
}

/// The addresses that the only unit has.
fn own_ranges(dwarf: &Dwarf) -> Result<Vec<Range<u64>>, gimli::Error> {
    let mut all = Vec::new();
    let Some(header) = dwarf.units().next()? else { return Ok(all) };
    let unit = dwarf.unit(header)?;
    let mut ranges = dwarf.unit_ranges(&unit)?;
    while let Some(range) = ranges.next()? {
        if range.begin < range.end {
            all.push(range.begin..range.end);
        }
    }
    Ok(all)
}

/// An attribute of the first unit has one of these forms, by which it may lead into another.
fn has_form(dwarf: &Dwarf, forms: &[gimli::DwForm]) -> bool {
    let Ok(Some(header)) = dwarf.units().next() else { return false };
    let Ok(abbreviations) = dwarf.abbreviations(&header) else { return false };
    // They are numbered from 1 on.
    (1..).map_while(|code| abbreviations.get(code)).any(|abbreviation| {
        abbreviation.attributes().iter().any(|attribute| forms.contains(&attribute.form()))
    })
}

/// The functions that units declare, by whether they are `noreturn`.
fn names(dwarf: &Dwarf, units: &[gimli::Unit<Section>]) -> Result<DeclaredNames, gimli::Error> {
    let mut names = DeclaredNames::default();
    for unit in units {
        let mut tree = unit.entries_tree(None)?;
        let unit = unit.unit_ref(dwarf);
        functions(&unit, tree.root()?, 0, &mut |name, is_one, entry| {
            if !names.arguments.contains_key(&name)
                && let Some(words) = types::words(&unit, entry)
            {
                names.arguments.insert(name.clone(), words);
            }
            let names = if is_one { &mut names.never_return } else { &mut names.others };
            names.insert(name);
        })?;
    }
    names.never_return = &names.never_return - &names.others;
    Ok(names)
}

/// Calls `found` with the name of each function directly in `node` or in a namespace or class in it,
/// whether it is `noreturn`, and its entry.
fn functions(
    unit: &gimli::UnitRef<'_, Section>,
    node: gimli::EntriesTreeNode<'_, '_, '_, Section>,
    depth: usize,
    found: &mut impl FnMut(String, bool, &types::Die<'_, '_>),
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
                    found(name.to_string_lossy()?.into_owned(), is_one, entry);
                }
            }
            gimli::DW_TAG_namespace | gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type
                if depth < DEPTH_MAX =>
            {
                functions(unit, child, depth + 1, found)?
            }
            _ => {}
        }
    }
    Ok(())
}
