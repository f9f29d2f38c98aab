//! What tables of a kernel say of its code beside the instructions: where control goes on after a
//! fault, and which words are written over when it starts.
//!
//! ```text
//! __ex_table          9: sttr x3, [x6]     may fault, and goes on at `fix`, to which no branch leads
//! .altinstructions    b no                 is a `nop` on a processor with some feature
//! __jump_table        nop                  is a branch to a label while a key is set
//! ```
//!
//! Rows have no length of their own, and kernels changed them: the layout is taken that makes the
//! most rows begin with an address of code. Source: Linux, `asm/extable.h`, `asm/alternative.h` and
//! `linux/jump_label.h` of version 6.6.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use object::{File, Object, ObjectSection, ObjectSymbol, RelocationFlags, Section, elf};

use crate::decode::Isa;
use crate::program::relocate::Layout;

/// The tables of a program, or what they say of one function.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tables {
    /// Instructions that may fault, with where control goes on then.
    pub fixups: BTreeMap<u64, u64>,
    /// Words that are others when the kernel runs, by their address.
    pub patches: BTreeMap<u64, Patch>,
    /// Tables whose rows have no layout that is known.
    pub unread: BTreeSet<&'static str>,
}

/// Words that are written over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patch {
    /// Behind the last of them.
    pub end: u64,
    pub kind: PatchKind,
    /// Where what is written there lies, of an alternative.
    pub replacement: Range<u64>,
    /// Where what is written there may lead.
    pub leads_to: BTreeSet<u64>,
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
}

/// The rows of one kind of table.
struct Rows {
    section: &'static str,
    /// The symbols around it, where a linker put it into another section.
    bounds: (&'static str, &'static str),
    /// Bytes of a row, in those layouts that there were.
    strides: &'static [usize],
}

const FIXUPS: [Rows; 2] = [
    Rows {
        section: "__ex_table",
        bounds: ("__start___ex_table", "__stop___ex_table"),
        strides: &[12, 8],
    },
    Rows {
        section: "__kvm_ex_table",
        bounds: ("__start___kvm_ex_table", "__stop___kvm_ex_table"),
        strides: &[8],
    },
];
const ALTERNATIVES: [Rows; 3] = [
    Rows {
        section: ".altinstructions",
        bounds: ("__alt_instructions", "__alt_instructions_end"),
        strides: &[12, 14, 13],
    },
    Rows { section: ".alternative", bounds: ("__alt_start", "__alt_end"), strides: &[16] },
    Rows { section: ".alt.smp.init", bounds: ("__smpalt_begin", "__smpalt_end"), strides: &[8] },
];
const JUMP_LABELS: Rows = Rows {
    section: "__jump_table",
    bounds: ("__start___jump_table", "__stop___jump_table"),
    strides: &[16, 12],
};
const STATIC_CALLS: Rows = Rows {
    section: ".static_call_sites",
    bounds: ("__start_static_call_sites", "__stop_static_call_sites"),
    strides: &[8],
};

impl Tables {
    /// Those of a file whose code lies in these ranges.
    pub fn read(file: &File<'_>, layout: &Layout, isa: Isa, code: &[Range<u64>]) -> Tables {
        let mut tables = Tables::default();
        let word = if isa == Isa::X86 { 1 } else { 4 };
        for rows in &FIXUPS {
            for row in tables.rows(rows, file, layout, code) {
                tables.fixups.extend(row.first.zip(row.second));
            }
        }
        for rows in &ALTERNATIVES {
            for row in tables.rows(rows, file, layout, code) {
                let Some(from) = row.first else { continue };
                let (old, new) = row.lengths(isa, rows.section);
                let replacement =
                    row.second.map_or(0..0, |second| second..second.saturating_add(new));
                tables.patch(from, old.max(word), PatchKind::Alternative, replacement, None);
            }
        }
        for row in tables.rows(&JUMP_LABELS, file, layout, code) {
            let Some(from) = row.first else { continue };
            tables.patch(from, word, PatchKind::JumpLabel, 0..0, row.second);
        }
        for row in tables.rows(&STATIC_CALLS, file, layout, code) {
            let Some(from) = row.first else { continue };
            tables.patch(from, word, PatchKind::StaticCall, 0..0, None);
        }
        tables
    }

    fn patch(
        &mut self,
        from: u64,
        length: u64,
        kind: PatchKind,
        replacement: Range<u64>,
        leads_to: Option<u64>,
    ) {
        let end = from.saturating_add(length);
        let patch = self.patches.entry(from).or_insert(Patch {
            end,
            kind,
            replacement,
            leads_to: BTreeSet::new(),
        });
        patch.end = patch.end.max(end);
        patch.leads_to.extend(leads_to);
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
        }
    }

    /// The same in words; none if nothing is written over.
    pub fn patched(&self) -> Option<String> {
        let TableCounts { alternatives, jump_labels, static_calls } = self.counts();
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
            let is_code = |row: &&TableRow| {
                row.first.is_some_and(|row| code.iter().any(|range| range.contains(&row)))
            };
            let fitting = rows.strides.iter().filter(|stride| table.bytes.len() % **stride == 0);
            let read =
                fitting.flat_map(|stride| [table.cut(*stride, true), table.cut(*stride, false)]);
            // Of equals the first.
            let best = read.rev().max_by_key(|it: &Vec<TableRow>| {
                (it.iter().filter(is_code).count(), std::cmp::Reverse(it.len()))
            });
            match best.filter(|best| 2 * best.iter().filter(is_code).count() >= best.len()) {
                Some(best) => all.extend(best.into_iter().filter(|found| is_code(&found))),
                None => _ = self.unread.insert(rows.section),
            }
        }
        all
    }
}

/// One row: the addresses that it begins with, and its bytes.
struct TableRow {
    first: Option<u64>,
    second: Option<u64>,
    bytes: Vec<u8>,
}

impl TableRow {
    /// How many bytes are written over, and by how many.
    fn lengths(&self, isa: Isa, section: &str) -> (u64, u64) {
        let byte = |at: usize| self.bytes.get(at).copied().map_or(0, u64::from);
        match (isa, self.bytes.len()) {
            (Isa::Riscv32 | Isa::Riscv64, _) => {
                (byte(10) | byte(11) << 8, byte(10) | byte(11) << 8)
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
    fn cut(&self, stride: usize, is_relative: bool) -> Vec<TableRow> {
        let rows = (0..self.bytes.len() / stride).map(|nth| {
            let at = nth * stride;
            let bytes = self.bytes[at..at + stride].to_vec();
            TableRow {
                first: self.field(at, is_relative),
                second: self.field(at + 4, is_relative),
                bytes,
            }
        });
        rows.collect()
    }

    fn field(&self, at: usize, is_relative: bool) -> Option<u64> {
        if let Some(references) = &self.references {
            return references.get(&at).copied();
        }
        let bytes = *self.bytes.get(at..)?.first_chunk()?;
        let number =
            if self.is_little { i32::from_le_bytes(bytes) } else { i32::from_be_bytes(bytes) };
        Some(match is_relative {
            true => (self.address + at as u64).wrapping_add_signed(number.into()),
            false => u64::from(number.cast_unsigned()),
        })
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
