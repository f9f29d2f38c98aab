//! Functions by the symbols of an ELF file, and what the assembler marked as data between them.

use std::collections::BTreeMap;

use object::{File, Object, ObjectSection, ObjectSymbol, SectionIndex, SymbolKind};

use crate::decode::Isa;
use crate::program::relocate::Layout;
use crate::program::sections::{Code, Mark, Symbol};

/// Where code and data begin: `$a`, `$d`, `$t`, `$x`, each perhaps with a suffix.
pub(super) fn marks(
    file: &File<'_>,
    layout: &Layout,
    places: &BTreeMap<usize, usize>,
    sections: &mut [Code],
) {
    for symbol in file.symbols() {
        let Some(place) = symbol.section_index().and_then(|section| places.get(&section.0)) else {
            continue;
        };
        let name = symbol.name_bytes().unwrap_or_default();
        let mark = match (name, name.get(2)) {
            ([b'$', b'a' | b'x', ..], None | Some(b'.' | b'r')) => Mark::Code,
            ([b'$', b'd', ..], None | Some(b'.')) => Mark::Data,
            ([b'$', b't', ..], None | Some(b'.')) => Mark::Thumb,
            _ => continue,
        };
        if let Some(address) = layout.address(file, &symbol) {
            sections[*place].marks.push((address, mark));
        }
    }
    for section in sections {
        // Of several at one address the last is meant.
        section.marks.sort_by_key(|(at, _)| *at);
    }
}

/// All functions by address; in plain assembly the labels, and without labels whole sections.
pub(super) fn symbols(
    file: &File<'_>,
    machine: Isa,
    layout: &Layout,
    places: &BTreeMap<usize, usize>,
    sections: &[Code],
) -> Vec<Symbol> {
    let mut functions = named(file, machine, layout, places, sections, |symbol| {
        // Assembly that does not say `%function` may still say how long a function is.
        symbol.kind() == SymbolKind::Text
            || symbol.kind() == SymbolKind::Unknown && symbol.size() > 0
    });
    if functions.is_empty() {
        functions = named(file, machine, layout, places, sections, |symbol| {
            symbol.is_global() && symbol.kind() == SymbolKind::Unknown
        });
    }
    if functions.is_empty() && file.kind() == object::ObjectKind::Relocatable {
        for section in file.sections() {
            let Some(&place) = places.get(&section.index().0) else { continue };
            let (base, size) = (sections[place].base, sections[place].bytes.len() as u64);
            if size > 0 {
                let name = section.name().unwrap_or_default().to_owned();
                functions.push(Symbol {
                    name,
                    address: base,
                    size,
                    isa: sections[place].isa(machine, base),
                    is_cold: false,
                    is_global: false,
                    is_weak: false,
                    parts: Vec::new(),
                    section: place,
                });
            }
        }
    }
    functions.sort_by(|a, b| (a.section, a.address, &a.name).cmp(&(b.section, b.address, &b.name)));
    functions.dedup();
    // A function without a size goes on to the next one.
    for idx in (0..functions.len()).rev() {
        let (address, place) = (functions[idx].address, functions[idx].section);
        let code = &sections[place];
        let rest = code.base + code.bytes.len() as u64 - address;
        let later = functions[idx + 1..]
            .iter()
            .find(|function| function.section != place || function.address > address);
        let until_next = later
            .filter(|later| later.section == place)
            .map_or(rest, |later| later.address - address);
        let function = &mut functions[idx];
        function.size = if function.size == 0 { until_next } else { function.size.min(rest) };
    }
    functions.retain(|function| function.size > 0);
    functions.sort_by(|a, b| (a.address, &a.name).cmp(&(b.address, &b.name)));
    functions
}

fn named<'data, 'file>(
    file: &'file File<'data>,
    machine: Isa,
    layout: &Layout,
    places: &BTreeMap<usize, usize>,
    sections: &[Code],
    is_wanted: impl Fn(&object::Symbol<'data, 'file>) -> bool,
) -> Vec<Symbol> {
    let mut found = Vec::new();
    for symbol in file.symbols().chain(file.dynamic_symbols()) {
        let Some(index) = symbol.section_index() else { continue };
        let Some(&place) = places.get(&index.0) else { continue };
        let name = symbol.name().unwrap_or_default();
        if name.is_empty() || name.starts_with(['$', '.']) || !is_wanted(&symbol) {
            continue;
        }
        let Some(mut address) = layout.address(file, &symbol) else { continue };
        let code = &sections[place];
        // The lowest bit says Thumb; the code is at the even address.
        let isa = code.isa(machine, address);
        if machine == Isa::A32 {
            address &= !1;
        }
        if !(code.base..code.base + code.bytes.len() as u64).contains(&address) {
            continue;
        }
        let is_cold = is_cold(name, file, index);
        let one = Symbol {
            name: name.to_owned(),
            address,
            size: symbol.size(),
            isa,
            is_cold,
            is_global: symbol.is_global(),
            is_weak: symbol.is_weak() && file.kind() == object::ObjectKind::Relocatable,
            parts: Vec::new(),
            section: place,
        };
        found.push(one);
    }
    found
}

/// Sections and suffixes that compilers and kernels use for code that seldom runs.
fn is_cold(name: &str, file: &File<'_>, index: SectionIndex) -> bool {
    let section = file.section_by_index(index).ok();
    let section = section.as_ref().and_then(|section| section.name().ok()).unwrap_or_default();
    let cold =
        [".text.unlikely", ".text.cold", ".text.exit", ".text.startup", ".init.text", ".exit.text"];
    cold.iter().any(|word| section.starts_with(word)) || name.contains(".cold")
}
