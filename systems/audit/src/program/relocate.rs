//! Puts the addresses of symbols where a linker would: an object file's debug information and
//! calls mean nothing without them.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use object::elf;
use object::{
    Architecture, File, Object, ObjectSection, ObjectSymbol, Relocation, RelocationFlags,
    RelocationKind, RelocationTarget, Section, SectionFlags, SectionIndex, SectionKind,
};

/// Where the sections of a file lie. Those of a linked file have addresses; the code of an
/// object file is laid out from 0 on in the order of its sections, so that no two overlap, and the
/// file's constants lie behind it.
#[derive(Debug)]
pub struct Layout {
    bases: HashMap<usize, u64>,
}

/// Sections of this kind have what nothing writes, code aside.
pub fn is_constant(kind: SectionKind) -> bool {
    matches!(
        kind,
        SectionKind::ReadOnlyData | SectionKind::ReadOnlyString | SectionKind::ReadOnlyDataWithRel
    )
}

/// What a relocation stands for.
#[derive(Debug)]
pub struct Reference {
    /// The symbol's name; none for a section.
    pub symbol: Option<String>,
    /// Its address, if the file defines it; addends are not in it.
    pub address: Option<u64>,
}

/// The sections of this name, the file's own one first: of an object file the types that other
/// files may have as well lie in groups, in sections of the same name.
pub fn sections_called<'data, 'file>(
    file: &'file File<'data>,
    name: &str,
) -> Vec<Section<'data, 'file>> {
    let mut all: Vec<Section<'data, 'file>> =
        file.sections().filter(|section| section.name() == Ok(name)).collect();
    let is_grouped = |section: &Section<'data, 'file>| match section.flags() {
        SectionFlags::Elf { sh_flags } => sh_flags & u64::from(elf::SHF_GROUP) != 0,
        _ => false,
    };
    all.sort_by_key(is_grouped);
    all
}

impl Layout {
    /// The layout of `file`.
    pub fn of(file: &File<'_>) -> Layout {
        let mut bases: HashMap<usize, u64> =
            file.sections().map(|section| (section.index().0, section.address())).collect();
        if file.kind() != object::ObjectKind::Relocatable {
            return Layout { bases };
        }
        let mut next = 0u64;
        let mut lay = |section: &Section<'_, '_>| {
            let base = next.next_multiple_of(section.align().clamp(1, 1 << 12));
            next = base.saturating_add(section.size().min(1 << 32));
            bases.insert(section.index().0, base);
        };
        let is_code = |section: &Section<'_, '_>| section.kind() == SectionKind::Text;
        file.sections().filter(is_code).for_each(|section| lay(&section));
        let constants = file.sections().filter(|section| is_constant(section.kind()));
        constants.for_each(|section| lay(&section));
        Layout { bases }
    }

    /// The address of a section.
    pub fn base(&self, section: SectionIndex) -> u64 {
        self.bases.get(&section.0).copied().unwrap_or(0)
    }

    /// The address of a symbol; `None` if another file defines it.
    pub fn address<'data>(
        &self,
        file: &File<'data>,
        symbol: &impl ObjectSymbol<'data>,
    ) -> Option<u64> {
        let section = symbol.section_index()?;
        let base =
            if file.kind() == object::ObjectKind::Relocatable { self.base(section) } else { 0 };
        Some(base.wrapping_add(symbol.address()))
    }

    /// What `relocation` points to.
    pub fn reference(&self, file: &File<'_>, relocation: &Relocation) -> Option<Reference> {
        match relocation.target() {
            RelocationTarget::Symbol(index) => {
                let symbol = file.symbol_by_index(index).ok()?;
                let name = symbol.name().ok().filter(|name| !name.is_empty()).map(str::to_owned);
                Some(Reference { symbol: name, address: self.address(file, &symbol) })
            }
            RelocationTarget::Section(index) => {
                Some(Reference { symbol: None, address: Some(self.base(index)) })
            }
            _ => None,
        }
    }
}

/// What a linked program of AArch64 or RISC-V writes into its pointers when it is moved, by where
/// they stand, of those places that are wanted.
pub fn moved_pointers(file: &File<'_>, is_wanted: impl Fn(u64) -> bool) -> BTreeMap<u64, u64> {
    let section = file.section_by_name(".rela.dyn");
    let rows = section.and_then(|section| section.data().ok()).unwrap_or_default();
    let word = |row: &[u8], at: usize| {
        u64::from_le_bytes(*row[at..].first_chunk().expect("a row has 24 bytes"))
    };
    let relative = match file.architecture() {
        Architecture::Riscv64 => elf::R_RISCV_RELATIVE,
        _ => elf::R_AARCH64_RELATIVE,
    };
    rows.chunks_exact(24)
        .filter(|row| word(row, 8) == u64::from(relative))
        .map(|row| (word(row, 0), word(row, 16)))
        .filter(|pair| is_wanted(pair.0))
        .collect()
}

/// How far from its symbol a branch of Thumb goes, of the relocations of branches. The addend
/// stands in the instruction, less the 4 bytes that the program counter is ahead.
pub fn thumb_branch(r_type: u32) -> Option<fn(&[u8]) -> i64> {
    fn halves(bytes: &[u8]) -> (i64, i64) {
        let half = |at: usize| {
            bytes
                .get(at..at + 2)
                .map_or(0, |byte| i64::from(u16::from_le_bytes([byte[0], byte[1]])))
        };
        (half(0), half(2))
    }
    fn signed(value: i64, n_bits: u32) -> i64 {
        value << (64 - n_bits) >> (64 - n_bits)
    }
    fn long(bytes: &[u8]) -> i64 {
        let (high, low) = halves(bytes);
        let sign = high >> 10 & 1;
        let [first, second] = [13, 11].map(|at| low >> at & 1 ^ sign ^ 1);
        signed(
            sign << 24 | first << 23 | second << 22 | (high & 0x3ff) << 12 | (low & 0x7ff) << 1,
            25,
        ) + 4
    }
    fn conditional(bytes: &[u8]) -> i64 {
        let (high, low) = halves(bytes);
        let top = (high >> 10 & 1) << 20 | (low >> 11 & 1) << 19 | (low >> 13 & 1) << 18;
        signed(top | (high & 0x3f) << 12 | (low & 0x7ff) << 1, 21) + 4
    }
    match r_type {
        elf::R_ARM_THM_PC22 | elf::R_ARM_THM_JUMP24 => Some(long),
        elf::R_ARM_THM_JUMP19 => Some(conditional),
        elf::R_ARM_THM_PC11 => Some(|bytes| signed((halves(bytes).0 & 0x7ff) << 1, 12) + 4),
        elf::R_ARM_THM_PC9 => Some(|bytes| signed((halves(bytes).0 & 0xff) << 1, 9) + 4),
        elf::R_ARM_THM_JUMP6 => {
            Some(|bytes| ((halves(bytes).0 >> 3 & 31) << 1 | (halves(bytes).0 >> 9 & 1) << 6) + 4)
        }
        _ => None,
    }
}

/// The bytes of a section that is not code, with its relocations applied where
/// they give plain numbers.
pub fn section_data<'data>(
    file: &File<'data>,
    layout: &Layout,
    section: &Section<'data, '_>,
) -> Cow<'data, [u8]> {
    // A compressed section is as good as none.
    let data = if section
        .compressed_file_range()
        .is_ok_and(|range| range.format == object::CompressionFormat::None)
    {
        section.data().unwrap_or_default()
    } else {
        &[]
    };
    if file.kind() != object::ObjectKind::Relocatable {
        return Cow::Borrowed(data);
    }
    let mut bytes = Cow::Borrowed(data);
    for (offset, relocation) in section.relocations() {
        // A label that nothing defines leaves zero, as in a linked file.
        let symbol = layout
            .reference(file, &relocation)
            .and_then(|reference| reference.address)
            .unwrap_or(0);
        let mut value = symbol.wrapping_add_signed(relocation.addend());
        if relocation.kind() == RelocationKind::Relative {
            value = value.wrapping_sub(layout.base(section.index()).wrapping_add(offset));
        }
        let Ok(at) = usize::try_from(offset) else { continue };
        if let Some(change) = change(file.architecture(), &relocation) {
            change.apply(bytes.to_mut(), at, value, file.is_little_endian());
        }
    }
    bytes
}

/// How a relocation changes bytes.
enum Change {
    /// The number becomes the value; what it was before is added if `adds`.
    Set { bytes: usize, adds: bool },
    /// The value is added.
    Add { bytes: usize },
    /// The value is subtracted.
    Subtract { bytes: usize },
    /// The low six bits become the value.
    Set6,
    /// The value is subtracted from the low six bits.
    Subtract6,
    /// The number in variable length becomes the value; its length stays.
    SetUleb,
    /// The value is subtracted from it.
    SubtractUleb,
}

fn change(architecture: Architecture, relocation: &Relocation) -> Option<Change> {
    if let RelocationKind::Absolute | RelocationKind::Relative = relocation.kind() {
        let bytes = usize::from(relocation.size()) / 8;
        return [1, 2, 4, 8]
            .contains(&bytes)
            .then_some(Change::Set { bytes, adds: relocation.has_implicit_addend() });
    }
    let RelocationFlags::Elf { r_type } = relocation.flags() else { return None };
    if !matches!(architecture, Architecture::Riscv32 | Architecture::Riscv64) {
        return None;
    }
    // RISC-V writes differences of labels as pairs of relocations, because its linker shortens
    // code.
    Some(match r_type {
        elf::R_RISCV_ADD8 => Change::Add { bytes: 1 },
        elf::R_RISCV_ADD16 => Change::Add { bytes: 2 },
        elf::R_RISCV_ADD32 => Change::Add { bytes: 4 },
        elf::R_RISCV_ADD64 => Change::Add { bytes: 8 },
        elf::R_RISCV_SUB8 => Change::Subtract { bytes: 1 },
        elf::R_RISCV_SUB16 => Change::Subtract { bytes: 2 },
        elf::R_RISCV_SUB32 => Change::Subtract { bytes: 4 },
        elf::R_RISCV_SUB64 => Change::Subtract { bytes: 8 },
        elf::R_RISCV_SET8 => Change::Set { bytes: 1, adds: false },
        elf::R_RISCV_SET16 => Change::Set { bytes: 2, adds: false },
        elf::R_RISCV_SET32 => Change::Set { bytes: 4, adds: false },
        elf::R_RISCV_SET6 => Change::Set6,
        elf::R_RISCV_SUB6 => Change::Subtract6,
        elf::R_RISCV_SET_ULEB128 => Change::SetUleb,
        elf::R_RISCV_SUB_ULEB128 => Change::SubtractUleb,
        _ => return None,
    })
}

impl Change {
    /// Changes `data` at `at`; a place outside is left alone.
    fn apply(&self, data: &mut [u8], at: usize, value: u64, little: bool) {
        match *self {
            Change::Set { bytes, adds } => {
                number(
                    data,
                    at,
                    bytes,
                    little,
                    |old| if adds { old.wrapping_add(value) } else { value },
                )
            }
            Change::Add { bytes } => number(data, at, bytes, little, |old| old.wrapping_add(value)),
            Change::Subtract { bytes } => {
                number(data, at, bytes, little, |old| old.wrapping_sub(value))
            }
            Change::Set6 => number(data, at, 1, little, |old| old & !0x3f | value & 0x3f),
            Change::Subtract6 => {
                number(data, at, 1, little, |old| old & !0x3f | old.wrapping_sub(value) & 0x3f)
            }
            Change::SetUleb => uleb(data, at, |_| value),
            Change::SubtractUleb => uleb(data, at, |old| old.wrapping_sub(value)),
        }
    }
}

fn number(data: &mut [u8], at: usize, bytes: usize, little: bool, new: impl Fn(u64) -> u64) {
    let Some(place) = at.checked_add(bytes).and_then(|end| data.get_mut(at..end)) else { return };
    let mut wide = [0u8; 8];
    if little {
        wide[..bytes].copy_from_slice(place);
        place.copy_from_slice(&new(u64::from_le_bytes(wide)).to_le_bytes()[..bytes]);
    } else {
        wide[8 - bytes..].copy_from_slice(place);
        place.copy_from_slice(&new(u64::from_be_bytes(wide)).to_be_bytes()[8 - bytes..]);
    }
}

fn uleb(data: &mut [u8], at: usize, new: impl Fn(u64) -> u64) {
    let Some(rest) = data.get_mut(at..) else { return };
    let Some(last) = rest.iter().take(10).position(|byte| byte & 0x80 == 0) else { return };
    let place = &mut rest[..=last];
    let old = place.iter().rev().fold(0u64, |value, byte| value << 7 | u64::from(byte & 0x7f));
    let mut value = new(old);
    for byte in place {
        *byte = *byte & 0x80 | (value & 0x7f) as u8;
        value >>= 7;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(change: &Change, before: &[u8], value: u64, little: bool) -> Vec<u8> {
        let mut data = before.to_vec();
        change.apply(&mut data, 0, value, little);
        data
    }

    #[test]
    fn numbers_in_both_orders() {
        assert_eq!(
            changed(&Change::Set { bytes: 2, adds: true }, &[1, 0, 9], 0x102, true),
            [3, 1, 9]
        );
        assert_eq!(
            changed(&Change::Set { bytes: 2, adds: true }, &[0, 1, 9], 0x102, false),
            [1, 3, 9]
        );
        assert_eq!(
            changed(&Change::Subtract { bytes: 4 }, &[5, 0, 0, 0], 7, true),
            [0xfe, 0xff, 0xff, 0xff]
        );
        assert_eq!(changed(&Change::Subtract6, &[0xc2], 3, true), [0xff]);
        assert_eq!(changed(&Change::Set6, &[0xc2], 0x41, true), [0xc1]);
    }

    #[test]
    fn numbers_of_variable_length_keep_their_length() {
        assert_eq!(changed(&Change::SetUleb, &[0x80, 0x80, 0x00], 300, true), [0xac, 0x82, 0x00]);
        assert_eq!(
            changed(&Change::SubtractUleb, &[0xac, 0x82, 0x00], 300, true),
            [0x80, 0x80, 0x00]
        );
    }

    #[test]
    fn places_outside_are_left_alone() {
        assert_eq!(changed(&Change::Add { bytes: 8 }, &[1, 2, 3], 7, true), [1, 2, 3]);
        assert_eq!(changed(&Change::SetUleb, &[0x80, 0x80], 7, true), [0x80, 0x80]);
    }
}
