//! A compiled runtime: its words, its symbols, its parts.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

use machine::in_order::Core;
use object::{Object, ObjectSection, ObjectSymbol, SectionKind, SymbolKind};
use sha2::{Digest, Sha256};

use crate::sparc;

/// The code of an image; addresses in bytes.
#[derive(Debug, Clone)]
pub struct Code {
    /// Address of the first word.
    pub base: u32,
    pub words: Vec<u32>,
    /// Symbols: address and size.
    pub symbols: BTreeMap<String, (u32, u32)>,
    pub traps: Range<u32>,
    pub switches: Range<u32>,
    /// The program: threads, streams, the ready queue.
    pub application: Range<u32>,
    /// What the sources say of loops.
    pub loops: Vec<Loop>,
    /// What C says of loops.
    pub marks: Vec<Mark>,
    /// Functions by where they begin: where they end, and their name.
    pub functions: BTreeMap<u32, (u32, String)>,
    /// Global labels of the code that are no parts of it.
    pub globals: BTreeMap<u32, String>,
    /// Words of the data: addresses of functions may be among them.
    pub data: HashSet<u32>,
}

/// An instruction that is executed each time a loop is entered, or each time its body is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    pub address: u32,
    /// The loop, in its file.
    pub id: u32,
    /// For the entry: how often the body is executed at most, each time.
    pub most: Option<u32>,
}

/// How often an instruction is executed at most in a run of its routine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loop {
    pub address: u32,
    /// If not 0, the bound is of all instructions with this number together.
    pub group: u32,
    per_window: i32,
    more: i32,
}

impl Loop {
    /// With so many windows.
    pub fn most(&self, windows: u32) -> i32 {
        (self.per_window * windows.cast_signed() + self.more).max(0)
    }
}

/// Bytes of an entry of the trap table.
pub const VECTOR_BYTES: u32 = 16;

/// Something is wrong with the image that we made: what was expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadImage(pub String);

impl Code {
    /// Reads a linked image.
    pub fn parse(elf: &[u8]) -> Result<Code, BadImage> {
        let bad = |what: &str| BadImage(what.to_owned());
        let file = object::File::parse(elf).map_err(|error| BadImage(error.to_string()))?;
        let text = file.section_by_name(".text").ok_or_else(|| bad("no section .text"))?;
        let data = text.data().map_err(|error| BadImage(error.to_string()))?;
        let words = data
            .chunks_exact(4)
            .map(|chunk| u32::from_be_bytes([chunk[0], chunk[1], chunk[2], chunk[3]]))
            .collect();
        let symbols: BTreeMap<String, (u32, u32)> = file
            .symbols()
            .filter_map(|symbol| {
                Some((
                    symbol.name().ok()?.to_owned(),
                    (symbol.address() as u32, symbol.size() as u32),
                ))
            })
            .filter(|(name, _)| !name.is_empty())
            .collect();
        let bounds = file
            .section_by_name(".bounds")
            .and_then(|section| section.data().ok())
            .unwrap_or_default();
        let a_loop = |byte: &[u8]| {
            let number = |at: usize| {
                u32::from_be_bytes([byte[at], byte[at + 1], byte[at + 2], byte[at + 3]])
            };
            Loop {
                address: number(0),
                group: number(12),
                per_window: number(4).cast_signed(),
                more: number(8).cast_signed(),
            }
        };
        let loops = bounds.chunks_exact(16).map(a_loop).collect();
        let marks = file
            .section_by_name(".loops")
            .and_then(|section| section.data().ok())
            .unwrap_or_default();
        let a_mark = |byte: &[u8]| {
            let number = |at: usize| {
                u32::from_be_bytes([byte[at], byte[at + 1], byte[at + 2], byte[at + 3]])
            };
            Mark { address: number(0), id: number(4), most: (number(12) == 1).then_some(number(8)) }
        };
        let marks = marks.chunks_exact(16).map(a_mark).collect();
        let is_function = |symbol: &object::Symbol<'_, '_>| {
            symbol.kind() == SymbolKind::Text && symbol.size() > 0
        };
        let functions = file.symbols().filter(is_function);
        let functions = functions.filter_map(|function| {
            Some((
                function.address() as u32,
                ((function.address() + function.size()) as u32, function.name().ok()?.to_owned()),
            ))
        });
        let range = text.address()..text.address() + text.size();
        let is_label = |symbol: &object::Symbol<'_, '_>| {
            symbol.is_global()
                && range.contains(&symbol.address())
                && !symbol.name().is_ok_and(|name| name.starts_with("__"))
        };
        let globals = file
            .symbols()
            .filter(is_label)
            .filter_map(|symbol| Some((symbol.address() as u32, symbol.name().ok()?.to_owned())))
            .collect();
        let is_data = |section: &object::Section<'_, '_>| {
            matches!(section.kind(), SectionKind::Data | SectionKind::ReadOnlyData)
        };
        let words_of = |section: object::Section<'_, '_>| {
            let bytes = section.data().unwrap_or_default().chunks_exact(4);
            bytes
                .map(|byte| u32::from_be_bytes([byte[0], byte[1], byte[2], byte[3]]))
                .collect::<Vec<u32>>()
        };
        let at = |name: &str| {
            symbols
                .get(name)
                .map(|symbol| symbol.0)
                .ok_or_else(|| BadImage(format!("no symbol {name}")))
        };
        Ok(Code {
            base: text.address() as u32,
            words,
            traps: at("__trap_start")?..at("__trap_end")?,
            switches: at("__switch_start")?..at("__switch_end")?,
            application: at("__app_start")?..at("__app_end")?,
            loops,
            marks,
            functions: functions.collect(),
            globals,
            data: file.sections().filter(is_data).flat_map(words_of).collect(),
            symbols,
        })
    }

    /// Where a switch begins, `leave` or `flush`. Where it is wrapped, what C calls is
    /// a function around it.
    pub fn switch(&self, which: &str) -> u32 {
        self.try_address(&format!("switch_{which}"))
            .unwrap_or_else(|| self.address(&format!("thr_block_{which}")))
    }

    /// Three bytes in hexadecimal that change with every word.
    pub fn fingerprint(&self) -> String {
        let bytes: Vec<u8> = self.words.iter().flat_map(|word| word.to_be_bytes()).collect();
        Sha256::digest(bytes).iter().take(3).map(|found| format!("{found:02x}")).collect()
    }

    /// The address of a symbol.
    ///
    /// Panics: if the image lacks it: image and host are made from the same sources.
    pub fn address(&self, name: &str) -> u32 {
        self.symbols.get(name).unwrap_or_else(|| panic!("the image has a symbol {name}")).0
    }

    /// The address of a symbol that not every scheme has.
    pub fn try_address(&self, name: &str) -> Option<u32> {
        self.symbols.get(name).map(|symbol| symbol.0)
    }

    /// An address as people read it: the symbol before it, and how far after it.
    pub fn place(&self, at: u32) -> String {
        let before = self
            .symbols
            .iter()
            .filter(|(_, (address, _))| (self.base..=at).contains(address))
            .max_by_key(|(_, (address, _))| address);
        before.map_or_else(
            || format!("{at:#x}"),
            |(name, (address, _))| format!("{name}+{}", at - address),
        )
    }

    /// Where the function begins that an instruction belongs to, and its name; the global label
    /// before it where nothing says what is a function.
    pub fn function(&self, at: u32) -> (u32, String) {
        if let Some((start, (_, name))) =
            self.functions.range(..=at).next_back().filter(|(_, (end, _))| at < *end)
        {
            return (*start, name.clone());
        }
        let label = self.globals.range(..=at).next_back();
        label.map_or_else(|| (at, format!("{at:#x}")), |(start, name)| (*start, name.clone()))
    }

    /// The address of word number `idx`.
    pub fn address_of(&self, idx: usize) -> u32 {
        self.base + 4 * idx as u32
    }

    /// Cycles of the words from the first symbol to the one after it: a basic
    /// block of the runtime.
    pub fn block_cycles(&self, name: &str, core: &Core) -> u64 {
        let start = self.address(name);
        let inside = |at: &u32| {
            *at > start
                && (self.traps.contains(at)
                    || self.switches.contains(at)
                    || self.application.contains(at))
        };
        let ends = [self.traps.end, self.switches.end, self.application.end];
        let end = self
            .symbols
            .values()
            .map(|symbol| symbol.0)
            .filter(inside)
            .chain(ends.into_iter().filter(|end| *end > start))
            .min();
        let end = end.expect("a block lies in a part of the code");
        self.cycles(start..end, core)
    }

    /// Cycles of words that follow each other.
    pub fn cycles(&self, range: Range<u32>, core: &Core) -> u64 {
        let idx = |at: u32| ((at - self.base) / 4) as usize;
        self.words[idx(range.start)..idx(range.end)].iter().map(|word| cycles(*word, core)).sum()
    }
}

/// Cycles of one word when nothing waits: until the next may start.
pub fn cycles(word: u32, core: &Core) -> u64 {
    u64::from(core.work(sparc::class(word)).issue_cycles)
}
