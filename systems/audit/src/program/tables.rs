//! What tables of a kernel say of its code beside the instructions: where control goes on after a
//! fault, and which words are written over when it starts.
//!
//! ```text
//! __ex_table          9: sttr x3, [x6]     may fault, and goes on at `fix`, to which no branch leads
//! .altinstructions    b no                 is a `nop` on a processor with some feature
//! __jump_table        nop                  is a branch to a label while a key is set
//! __mcount_loc        nop; nop             is `mov x9, x30; nop` while nobody traces the function
//! ```
//!
//! RISC-V's `.alternative` is `.altinstructions` with a vendor in each row, whose fault the row is
//! about; those of no vendor are about extensions.
//!
//! Rows have no length of their own, and kernels changed them: the layout is taken that makes the
//! most rows begin with an address of code. A row that names none, and words that two rows write
//! differently, are said with their place, and the rest is taken. What becomes of the words is
//! [`boot`](crate::program::boot)'s. Source: Linux, `asm/extable.h`, `asm/alternative.h` and
//! `linux/jump_label.h` of version 6.6; of RISC-V also those of version 6.1.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Range;

use object::{
    File, Object, ObjectSection, ObjectSymbol, RelocationFlags, Section, SymbolKind, elf,
};

use crate::decode::Isa;
use crate::program::relocate::{self, Layout};

/// The tables of a program, or what they say of one function.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tables {
    /// Instructions that may fault, with where control goes on then.
    pub fixups: BTreeMap<u64, u64>,
    /// Words that are others when the kernel runs, by their address.
    pub patches: BTreeMap<u64, Patch>,
    /// Tables whose rows have no layout that is known.
    pub unread: BTreeSet<&'static str>,
    /// Rows that cannot be meant so, each in a sentence with its place.
    pub faults: Vec<String>,
    /// The words are as in the file, because the user wants them so.
    pub are_before_boot: bool,
}

/// Words that are written over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patch {
    /// Behind the last of them.
    pub end: u64,
    pub kind: PatchKind,
    /// What may be written there, in the order in which a kernel does it.
    pub writers: Vec<PatchWriter>,
    /// Where what is written there may lead.
    pub leads_to: BTreeSet<u64>,
    pub state: PatchState,
}

/// What may be written over some words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatchWriter {
    pub when: When,
    /// Where what is written lies, of an alternative.
    pub replacement: Range<u64>,
}

impl Patch {
    /// It is not known what has become of it.
    pub fn is_open(&self) -> bool {
        matches!(self.state, PatchState::Open(_))
    }
}

/// When words are written over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum When {
    /// A rule that is not read.
    Unknown,
    /// The processor has this feature.
    Feature(FeatureId),
    /// As a function of the kernel does it or a condition says, at all or if there is a feature.
    Callback { function: String, feature: Option<FeatureId> },
    /// Where the key of this name is set, the word is a branch, or it is none.
    Key { name: String, branches_if_set: bool },
}

/// What a kernel calls a feature of processors, or a fault of one vendor's, in its alternatives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct FeatureId {
    /// As JEDEC numbers it (RISC-V); 0 of what any processor may have.
    pub vendor: u16,
    pub number: u16,
}

/// An alternative of more bytes only a damaged file has; arm64 counts them in one byte.
const ALTERNATIVE_MAX: u64 = 255;

/// The vendors whose faults Linux knows, by `mvendorid`. Source: `asm/vendorid_list.h` of RISC-V.
pub const VENDORS: [(u16, &str); 3] = [(0x31e, "Andes"), (0x489, "SiFive"), (0x5b7, "T-Head")];

/// From here on the numbers of RISC-V are extensions of a vendor, below they are faults.
///
/// Source: Linux, `asm/vendor_extensions.h` of version 6.12.
pub const VENDOR_EXTENSIONS: u16 = 0x8000;

/// `ERRATA_THEAD_MAE`, other bits in page tables. Source: `asm/errata_list_vendors.h`.
const PAGE_TABLES_OF_T_HEAD: FeatureId = FeatureId { vendor: 0x5b7, number: 0 };

impl FeatureId {
    /// It is a fault of one vendor's processors.
    pub fn is_fault(self) -> bool {
        self.vendor != 0 && self.number < VENDOR_EXTENSIONS
    }
}

impl fmt::Display for FeatureId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FeatureId { vendor, number } = self;
        match VENDORS.iter().find(|(known, _)| known == vendor) {
            Some((_, name)) => write!(f, "{name}:{number}"),
            None if *vendor == 0 => write!(f, "{number}"),
            None => write!(f, "{vendor:#x}:{number}"),
        }
    }
}

/// What has become of words that are written over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PatchState {
    /// They are as in the file.
    Kept,
    /// Other words stand there.
    Written,
    /// It is not known, by what: features, functions and keys.
    Open(BTreeSet<String>),
}

/// Why words are written over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PatchKind {
    /// Processors with some feature get others.
    Alternative,
    /// A branch or none, as a key says.
    JumpLabel,
    /// A call whose callee is chosen when the kernel starts.
    StaticCall,
    /// The beginning of a function that can be traced.
    Tracing,
}

/// How many places are written over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct TableCounts {
    /// As a feature of the processor says.
    pub alternatives: usize,
    /// As a key says.
    pub jump_labels: usize,
    /// As the kernel starts.
    pub static_calls: usize,
    /// Those of all kinds that hold other words than the file.
    pub written: usize,
    /// Those of which it is not known what they hold.
    pub open: usize,
}

/// The rows of one kind of table.
struct Rows {
    section: &'static str,
    /// The symbols around it, where a linker put it into another section.
    bounds: (&'static str, &'static str),
    /// Bytes of a row, in those layouts that there were.
    strides: &'static [usize],
    /// Bytes of a row that begins with two whole pointers, if there was such a layout.
    wide: Option<usize>,
}

/// How a row names its two addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pointers {
    /// By the distance from where it stands, in 4 bytes.
    Relative,
    Absolute,
    /// By itself, in 8 bytes.
    Wide,
}

/// RISC-V's alternatives, which may be data as well.
const OF_VENDORS: &str = ".alternative";

/// Bytes of a row of RISC-V's alternatives before version 6.4: pointers, vendor and length in 8
/// bytes each, and the number in 4.
const PACKED: usize = 36;

const FIXUPS: [Rows; 2] = [
    Rows {
        section: "__ex_table",
        bounds: ("__start___ex_table", "__stop___ex_table"),
        strides: &[12, 8],
        wide: Some(16),
    },
    Rows {
        section: "__kvm_ex_table",
        bounds: ("__start___kvm_ex_table", "__stop___kvm_ex_table"),
        strides: &[8],
        wide: None,
    },
];
const ALTERNATIVES: [Rows; 3] = [
    Rows {
        section: ".altinstructions",
        bounds: ("__alt_instructions", "__alt_instructions_end"),
        strides: &[12, 14, 13],
        wide: None,
    },
    Rows {
        section: OF_VENDORS,
        bounds: ("__alt_start", "__alt_end"),
        strides: &[16],
        wide: Some(PACKED),
    },
    Rows {
        section: ".alt.smp.init",
        bounds: ("__smpalt_begin", "__smpalt_end"),
        strides: &[8],
        wide: None,
    },
];
const JUMP_LABELS: Rows = Rows {
    section: "__jump_table",
    bounds: ("__start___jump_table", "__stop___jump_table"),
    strides: &[16, 12],
    wide: None,
};
const STATIC_CALLS: Rows = Rows {
    section: ".static_call_sites",
    bounds: ("__start_static_call_sites", "__stop_static_call_sites"),
    strides: &[8],
    wide: None,
};

/// Addresses of the beginnings of functions that can be traced. Source: Linux 6.1, where it is the
/// file `kernel/ftrace.c` of arm64.
const TRACED: Rows = Rows {
    section: "__mcount_loc",
    bounds: ("__start_mcount_loc", "__stop_mcount_loc"),
    strides: &[8],
    wide: None,
};

/// The bytes of `bti c`, at which calls by a pointer land.
const BTI_C: [u8; 4] = 0xd503_245f_u32.to_le_bytes();

impl Tables {
    /// Those of a file whose code lies in these ranges.
    pub fn read(file: &File<'_>, layout: &Layout, isa: Isa, code: &[Range<u64>]) -> Tables {
        let mut tables = Tables::default();
        for rows in &FIXUPS {
            for row in tables.rows(rows, file, layout, code) {
                match (row.first, row.second.filter(|to| is_code(code, *to))) {
                    (Some(from), Some(to)) => _ = tables.fixups.insert(from, to),
                    (_, None) => tables.fault(&row, rows, row.second, "goes on at"),
                    (None, _) => {}
                }
            }
        }
        let mut names = NameSearch::default();
        for rows in &ALTERNATIVES {
            for row in tables.rows(rows, file, layout, code) {
                tables.alternative(&row, rows, isa, code, &mut names);
            }
        }
        let word = if isa == Isa::X86 { 1 } else { 4 };
        for row in tables.rows(&JUMP_LABELS, file, layout, code) {
            let Some(from) = row.first else { continue };
            if !row.second.is_some_and(|to| is_code(code, to)) {
                tables.fault(&row, &JUMP_LABELS, row.second, "leads to");
                continue;
            }
            let when = names.key(&row);
            tables.patch(from, word, PatchKind::JumpLabel, PatchWriter { when, replacement: 0..0 });
            tables.patches.entry(from).and_modify(|patch| patch.leads_to.extend(row.second));
        }
        for row in tables.rows(&STATIC_CALLS, file, layout, code) {
            let Some(from) = row.first else { continue };
            let writer = PatchWriter { when: When::Unknown, replacement: 0..0 };
            tables.patch(from, word, PatchKind::StaticCall, writer);
        }
        if matches!(isa, Isa::A64 | Isa::Riscv64) && file.kind() != object::ObjectKind::Relocatable
        {
            tables.traced(file, layout, isa, code);
        }
        names.find(file, &mut tables.patches);
        tables.part_overlapping();
        for patch in tables.patches.values_mut().filter(|patch| patch.writers.len() > 1) {
            // A kernel looks for faults of a vendor when it has written what extensions ask for,
            // but for one, by which its page tables are made.
            patch.writers.sort_by_key(|writer| match writer.when {
                When::Feature(PAGE_TABLES_OF_T_HEAD) => 0,
                When::Feature(id) if id.is_fault() => 2,
                _ => 1,
            });
        }
        tables
    }

    /// The beginnings of functions that can be traced, in a linked kernel. Since version 6.2 a row
    /// may name the two words before one, which are its tracer's; then a landing pad may begin it.
    fn traced(&mut self, file: &File<'_>, layout: &Layout, isa: Isa, code: &[Range<u64>]) {
        let functions = file.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text);
        let entries: BTreeSet<u64> = functions.map(|symbol| symbol.address()).collect();
        let begins_with = |at: u64, bytes: &[u8]| {
            let length = bytes.len() as u64;
            let mut sections = file.sections();
            let found = sections.find_map(|part| part.data_range(at, length).ok().flatten());
            found.is_some_and(|found| found == bytes)
        };
        for table in self::tables(&TRACED, file, layout) {
            let end = table.address.saturating_add(table.bytes.len() as u64);
            let moved = relocate::moved_pointers(file, |at| (table.address..end).contains(&at));
            let words = table.bytes.chunks_exact(8).enumerate().map(|(nth, word)| {
                let word = u64::from_le_bytes(word.try_into().expect("8 bytes"));
                moved.get(&table.address.wrapping_add(8 * nth as u64)).copied().unwrap_or(word)
            });
            for at in words.filter(|at| is_code(code, *at)) {
                let from = match at.saturating_add(8) {
                    entry if !entries.contains(&entry) => at,
                    entry if begins_with(entry, &BTI_C) => entry.saturating_add(4),
                    entry => entry,
                };
                // Four instructions were room for a call in RISC-V before version 6.4.
                let is_long = isa == Isa::Riscv64 && begins_with(from, &[1, 0].repeat(8));
                self.place(from, if is_long { 16 } else { 8 }, PatchKind::Tracing);
            }
        }
    }

    fn alternative(
        &mut self,
        row: &TableRow,
        rows: &Rows,
        isa: Isa,
        code: &[Range<u64>],
        names: &mut NameSearch,
    ) {
        let Some(from) = row.first else { return };
        let (old, new) = row.lengths(isa, rows.section);
        let mut when = When::Unknown;
        if matches!(isa, Isa::Riscv32 | Isa::Riscv64) {
            when = row.condition();
            if old > ALTERNATIVE_MAX {
                self.faults.push(format!("{} writes {old} bytes over", row.place(rows)));
                return;
            }
        } else if isa == Isa::A64 {
            let number = row.half(8);
            let of_number = |number: u16| FeatureId { vendor: 0, number };
            // Before version 6.0 a callback had the number behind all features.
            let feature = (number & CALLBACK != 0).then(|| of_number(number & !CALLBACK));
            when = match row.second.filter(|_| new == 0) {
                Some(at) => names.callback(at, feature),
                None => When::Feature(of_number(number)),
            };
            if new != 0 && new != old {
                let said = format!("{} writes {new} bytes over {old}", row.place(rows));
                self.faults.push(said);
                when = When::Unknown;
            }
        }
        let replacement = row.second.map_or(0..0, |second| second..second.saturating_add(new));
        if new != 0 && !is_code(code, replacement.start) && isa != Isa::X86 {
            self.fault(row, rows, row.second, "takes its words from");
            when = When::Unknown;
        }
        let word = if isa == Isa::X86 { 1 } else { 4 };
        self.patch(from, old.max(word), PatchKind::Alternative, PatchWriter { when, replacement });
    }

    /// Says of a row that the address which it names for something is no code.
    fn fault(&mut self, row: &TableRow, rows: &Rows, named: Option<u64>, what: &str) {
        let named = named.map_or("a place".to_owned(), |named| format!("{named:#x}"));
        self.faults.push(format!("{} {what} {named}, which is no code", row.place(rows)));
    }

    fn patch(&mut self, from: u64, length: u64, kind: PatchKind, writer: PatchWriter) {
        let patch = self.place(from, length, kind);
        // A kernel has ten thousands of them, and nearly all have one writer.
        patch.writers.reserve_exact(1);
        patch.writers.push(writer);
    }

    /// The words from an address on, with those who write them so far.
    fn place(&mut self, from: u64, length: u64, kind: PatchKind) -> &mut Patch {
        let end = from.saturating_add(length);
        let patch = self.patches.entry(from).or_insert(Patch {
            end,
            kind,
            writers: Vec::new(),
            leads_to: BTreeSet::new(),
            state: PatchState::Open(BTreeSet::new()),
        });
        if patch.end != end {
            let said = format!("two rows write {from:#x}, one of them more of it than the other");
            self.faults.push(said);
            patch.writers.push(PatchWriter { when: When::Unknown, replacement: 0..0 });
        }
        patch.end = patch.end.max(end);
        patch
    }

    /// Of words that are parts of two patches nothing is known.
    fn part_overlapping(&mut self) {
        let places: Vec<(u64, u64)> = self.patches.iter().map(|(at, it)| (*at, it.end)).collect();
        for pair in places.windows(2) {
            let [(first, end), (second, _)] = pair else { continue };
            if end <= second {
                continue;
            }
            self.faults.push(format!("what is written at {first:#x} reaches into {second:#x}"));
            for at in [first, second] {
                let unknown = PatchWriter { when: When::Unknown, replacement: 0..0 };
                self.patches.entry(*at).and_modify(|patch| patch.writers.push(unknown));
            }
        }
    }

    /// What they say of the code in this range.
    pub fn within(&self, range: Range<u64>) -> Tables {
        // A patch may begin before the range and reach into it.
        let before =
            self.patches.range(..range.start).next_back().filter(|(_, it)| it.end > range.start);
        Tables {
            fixups: self.fixups.range(range.clone()).map(|(from, to)| (*from, *to)).collect(),
            patches: before
                .into_iter()
                .chain(self.patches.range(range))
                .map(|(from, it)| (*from, it.clone()))
                .collect(),
            unread: self.unread.clone(),
            faults: Vec::new(),
            are_before_boot: self.are_before_boot,
        }
    }

    /// The word at this address is another one when the kernel runs.
    pub fn patch_at(&self, address: u64) -> Option<&Patch> {
        self.patches
            .range(..=address)
            .next_back()
            .map(|(_, it)| it)
            .filter(|found| address < found.end)
    }

    /// How many places are written over, by kind.
    pub fn counts(&self) -> TableCounts {
        let of = |kind: PatchKind| self.patches.values().filter(|patch| patch.kind == kind).count();
        TableCounts {
            alternatives: of(PatchKind::Alternative),
            jump_labels: of(PatchKind::JumpLabel),
            static_calls: of(PatchKind::StaticCall),
            written: self
                .patches
                .values()
                .filter(|it| it.state == PatchState::Written && it.kind != PatchKind::Tracing)
                .count(),
            open: self.n_open(),
        }
    }

    /// Places of which it is not known what has become of them.
    pub fn n_open(&self) -> usize {
        self.patches.values().filter(|patch| patch.is_open()).count()
    }

    /// The same in words; none if nothing is written over.
    pub fn patched(&self) -> Option<String> {
        let TableCounts { alternatives, jump_labels, static_calls, .. } = self.counts();
        let all = [
            (alternatives, "alternative"),
            (jump_labels, "jump label"),
            (static_calls, "static call"),
        ];
        let said: Vec<String> = all
            .iter()
            .filter(|pair| pair.0 > 0)
            .map(|(n, what)| report::number::count(*n, what))
            .collect();
        (!said.is_empty()).then(|| said.join(", "))
    }

    /// The rows of a table in the layout that fits best.
    fn rows(
        &mut self,
        rows: &Rows,
        file: &File<'_>,
        layout: &Layout,
        code: &[Range<u64>],
    ) -> Vec<TableRow> {
        let mut all = Vec::new();
        for table in tables(rows, file, layout) {
            let names_code = |row: &&TableRow| row.first.is_some_and(|at| is_code(code, at));
            let fitting = rows.strides.iter().filter(|stride| table.bytes.len() % **stride == 0);
            let narrow = [Pointers::Relative, Pointers::Absolute];
            let read = fitting.flat_map(|stride| narrow.map(|how| table.cut(*stride, how)));
            let wide = rows.wide.filter(|stride| table.bytes.len() % stride == 0);
            let read = read.chain(wide.map(|stride| table.cut(stride, Pointers::Wide)));
            let read: Vec<Vec<TableRow>> = read.collect();
            // A row that is cut wrong has no code in its second place.
            let is_whole =
                |row: &&TableRow| names_code(row) && row.second.is_some_and(|at| is_code(code, at));
            // Of equals the first.
            let best = read.into_iter().rev().max_by_key(|cut: &Vec<TableRow>| {
                let whole = cut.iter().filter(is_whole).count();
                (whole, cut.iter().filter(names_code).count(), std::cmp::Reverse(cut.len()))
            });
            match best.filter(|best| 2 * best.iter().filter(names_code).count() >= best.len()) {
                Some(best) => {
                    for row in best {
                        if names_code(&&row) {
                            all.push(row);
                        } else if rows.section != OF_VENDORS || !row.is_of_data(file, code) {
                            self.fault(&row, rows, row.first, "is for");
                        }
                    }
                }
                None => _ = self.unread.insert(rows.section),
            }
        }
        all
    }
}

/// In the number of a feature: a function writes the words. Source: Linux 6.1, arm64's
/// `alternative-macros.h`, where it is `ARM64_CB_BIT`.
const CALLBACK: u16 = 1 << 15;

fn is_code(code: &[Range<u64>], at: u64) -> bool {
    code.iter().any(|range| range.contains(&at))
}

/// The names of what rows lead to by their addresses, which are looked for all at once.
#[derive(Default)]
struct NameSearch(BTreeSet<u64>);

impl NameSearch {
    /// The name is put in where it is found.
    fn callback(&mut self, at: u64, feature: Option<FeatureId>) -> When {
        self.0.insert(at);
        When::Callback { function: format!("{at:#x}"), feature }
    }

    /// The key of a jump label; of an object file it is not looked for.
    fn key(&mut self, row: &TableRow) -> When {
        let Some(key) = row.key else { return When::Unknown };
        let at = key & !3;
        self.0.insert(at);
        When::Key { name: format!("{at:#x}"), branches_if_set: key & 1 == 0 }
    }

    /// Puts the names in place of the addresses, as far as symbols have them.
    fn find(self, file: &File<'_>, patches: &mut BTreeMap<u64, Patch>) {
        if self.0.is_empty() {
            return;
        }
        // Marks of a linker have no size; of several names the shortest is no alias with a prefix.
        let rank = |name: &str, size: u64| (size == 0, name.len());
        let mut found: BTreeMap<u64, ((bool, usize), String)> = BTreeMap::new();
        for symbol in file.symbols() {
            let (at, size) = (symbol.address(), symbol.size());
            let Ok(name) = symbol.name() else { continue };
            if symbol.is_undefined() || name.is_empty() || name.starts_with('$') {
                continue;
            }
            for wanted in self.0.range(at..at.saturating_add(size.max(1))) {
                let rank = rank(name, size);
                if found.get(wanted).is_none_or(|(best, _)| rank < *best) {
                    found.insert(*wanted, (rank, name.to_owned()));
                }
            }
        }
        let named: BTreeMap<String, String> =
            found.into_iter().map(|(at, (_, name))| (format!("{at:#x}"), name)).collect();
        for writer in patches.values_mut().flat_map(|patch| &mut patch.writers) {
            if let When::Callback { function: name, .. } | When::Key { name, .. } = &mut writer.when
                && let Some(known) = named.get(name)
            {
                name.clone_from(known);
            }
        }
    }
}

/// One row: the addresses that it begins with, and its bytes.
struct TableRow {
    /// Its own address, and its number from 0.
    at: (u64, usize),
    first: Option<u64>,
    second: Option<u64>,
    /// Of a linked jump label: its key, with what the lowest bits say besides.
    key: Option<u64>,
    bytes: Vec<u8>,
}

impl TableRow {
    /// Where it stands, for messages.
    fn place(&self, rows: &Rows) -> String {
        format!("row {} of `{}` ({:#x})", self.at.1, rows.section, self.at.0)
    }

    fn half(&self, at: usize) -> u16 {
        let bytes = self.bytes.get(at..).and_then(|bytes| bytes.first_chunk());
        bytes.map_or(0, |bytes| u16::from_le_bytes(*bytes))
    }

    /// Both of its addresses lie in data that the file has: it puts some in place of other, as into
    /// the table of handlers.
    fn is_of_data(&self, file: &File<'_>, code: &[Range<u64>]) -> bool {
        let is_data = |at: u64| {
            let has = |section: Section<'_, '_>| section.data_range(at, 1).ok().flatten().is_some();
            !is_code(code, at) && file.sections().any(has)
        };
        [self.first, self.second].iter().all(|named| named.is_some_and(is_data))
    }

    /// When an alternative of RISC-V is taken.
    fn condition(&self) -> When {
        let at = if self.bytes.len() == PACKED { (16, 32) } else { (8, 12) };
        let id = FeatureId { vendor: self.half(at.0), number: self.half(at.1) };
        match (id.vendor, self.half(at.1 + 2)) {
            (_, 0) => When::Feature(id),
            // Since version 6.4, of those that clear memory by blocks.
            (0, order @ 1..32) => When::Callback {
                function: format!("blocks of at most {} bytes", 1u32 << order),
                feature: Some(id),
            },
            _ => When::Unknown,
        }
    }

    /// How many bytes are written over, and by how many.
    fn lengths(&self, isa: Isa, section: &str) -> (u64, u64) {
        let byte = |at: usize| self.bytes.get(at).copied().map_or(0, u64::from);
        match (isa, self.bytes.len()) {
            (Isa::Riscv32 | Isa::Riscv64, bytes) => {
                let both = self.half(if bytes == PACKED { 24 } else { 10 });
                (both.into(), both.into())
            }
            _ if section == ".alt.smp.init" => (4, 0),
            (_, 14) => (byte(12), byte(13)),
            _ => (byte(10), byte(11)),
        }
    }
}

/// A table as bytes, with what a linker would write into it.
struct Table {
    address: u64,
    bytes: Vec<u8>,
    is_little: bool,
    /// Of an object file, by offset.
    references: Option<BTreeMap<usize, u64>>,
}

impl Table {
    fn cut(&self, stride: usize, pointers: Pointers) -> Vec<TableRow> {
        let rows = (0..self.bytes.len() / stride).map(|nth| {
            let at = nth * stride;
            let bytes = self.bytes[at..at + stride].to_vec();
            let wide = bytes.get(8..).and_then(|bytes| bytes.first_chunk());
            let place = self.address.wrapping_add(at as u64);
            TableRow {
                at: (place, nth),
                first: self.field(at, pointers),
                second: self.field(at + if pointers == Pointers::Wide { 8 } else { 4 }, pointers),
                key: wide
                    .filter(|_| pointers == Pointers::Relative && self.is_little)
                    .filter(|_| self.references.is_none())
                    .map(|wide| {
                        place.wrapping_add(8).wrapping_add_signed(i64::from_le_bytes(*wide))
                    }),
                bytes,
            }
        });
        rows.collect()
    }

    fn field(&self, at: usize, pointers: Pointers) -> Option<u64> {
        if let Some(references) = &self.references {
            return references.get(&at).copied();
        }
        let bytes = self.bytes.get(at..)?;
        let number = || {
            let bytes = *bytes.first_chunk()?;
            let of = if self.is_little { i32::from_le_bytes } else { i32::from_be_bytes };
            Some(of(bytes))
        };
        let here = self.address.wrapping_add(at as u64);
        match pointers {
            Pointers::Relative => Some(here.wrapping_add_signed(number()?.into())),
            Pointers::Absolute => Some(u64::from(number()?.cast_unsigned())),
            // RISC-V alone had it, which is little-endian.
            Pointers::Wide => Some(u64::from_le_bytes(*bytes.first_chunk()?)),
        }
    }
}

/// The sections with such rows, or what lies between their symbols.
fn tables(rows: &Rows, file: &File<'_>, layout: &Layout) -> Vec<Table> {
    let is_little = file.is_little_endian();
    let sections: Vec<Section> = file
        .sections()
        .filter(|section| section.name() == Ok(rows.section) && section.size() > 0)
        .collect();
    if !sections.is_empty() {
        let table = |section: &Section| Table {
            address: section.address(),
            bytes: section.data().unwrap_or_default().to_vec(),
            is_little,
            references: (file.kind() == object::ObjectKind::Relocatable)
                .then(|| references(section, file, layout)),
        };
        return sections.iter().map(table).collect();
    }
    let at = |name: &str| file.symbol_by_name(name).map(|symbol| symbol.address());
    let (Some(from), Some(to)) = (at(rows.bounds.0), at(rows.bounds.1)) else { return Vec::new() };
    let bytes = file.sections().find_map(|section| {
        section.data_range(from, to.saturating_sub(from)).ok().flatten().map(<[u8]>::to_vec)
    });
    let table = bytes.filter(|byte| !byte.is_empty()).map(|bytes| Table {
        address: from,
        bytes,
        is_little,
        references: None,
    });
    table.into_iter().collect()
}

/// What a linker would write into the words of a section, by their offset.
fn references(section: &Section, file: &File<'_>, layout: &Layout) -> BTreeMap<usize, u64> {
    let data = section.data().unwrap_or_default();
    let mut found = BTreeMap::new();
    for (offset, relocation) in section.relocations() {
        // Of a difference the label is meant, not the place that it is counted from.
        let is_subtracted = matches!(
            relocation.flags(),
            RelocationFlags::Elf { r_type: elf::R_RISCV_SUB32 | elf::R_RISCV_SUB64 }
        );
        let is_riscv = matches!(
            file.architecture(),
            object::Architecture::Riscv32 | object::Architecture::Riscv64
        );
        let Some(address) = layout
            .reference(file, &relocation)
            .and_then(|reference| reference.address)
            .filter(|_| !(is_riscv && is_subtracted))
        else {
            continue;
        };
        let Ok(at) = usize::try_from(offset) else { continue };
        let own = data
            .get(at..)
            .and_then(|data| data.first_chunk())
            .map_or(0, |first_chunk| i64::from(i32::from_le_bytes(*first_chunk)));
        let addend = relocation.addend() + if relocation.has_implicit_addend() { own } else { 0 };
        found.insert(at, address.wrapping_add_signed(addend));
    }
    found
}
