//! What a program has in memory that nothing writes, its code and its constants: of an object file as
//! a linker would write them.

use std::collections::BTreeMap;

use object::{File, Object, ObjectKind, ObjectSection, RelocationFlags, Section, SectionKind, elf};

use crate::decode::Isa;
use crate::program::addresses::with_half;
use crate::program::relocate::{Layout, is_constant, section_data};

/// The parts of it, by their addresses.
#[derive(Debug, Default)]
pub(super) struct Memory(BTreeMap<u64, Vec<u8>>);

impl Memory {
    /// That of a file.
    pub(super) fn of(file: &File<'_>, layout: &Layout, isa: Isa) -> Memory {
        let mut parts = BTreeMap::new();
        for section in file.sections() {
            let is_code = section.kind() == SectionKind::Text;
            if !is_code && !is_constant(section.kind()) {
                continue;
            }
            let base = layout.base(section.index());
            let mut bytes = section_data(file, layout, &section).into_owned();
            if is_code && file.kind() == ObjectKind::Relocatable {
                write_addresses(file, layout, isa, &section, &mut bytes);
            }
            parts.insert(base, bytes);
        }
        Memory(parts)
    }

    /// That of parts that lie where they say.
    pub(super) fn from_parts(parts: impl Iterator<Item = (u64, Vec<u8>)>) -> Memory {
        Memory(parts.collect())
    }

    /// The bytes from an address on, as far as its part reaches.
    pub(super) fn bytes(&self, address: u64) -> Option<&[u8]> {
        let (base, bytes) = self.0.range(..=address).next_back()?;
        bytes.get(usize::try_from(address - base).ok()?..).filter(|rest| !rest.is_empty())
    }

    /// The number of so many bytes at an address, the lowest first.
    pub(super) fn number(&self, address: u64, n_bytes: u8) -> Option<u64> {
        let bytes = self.bytes(address)?.get(..n_bytes.into())?;
        (n_bytes <= 8).then(|| bytes.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte)))
    }
}

/// How a relocation of code changes the word of its instruction: which bits, and to what, for the
/// address that it means and its own.
struct Written {
    mask: u32,
    bits: fn(u64, u64) -> u64,
}

/// AArch64's `adrp` and `adr` have the two lowest bits of their number elsewhere.
fn split(number: u64) -> u64 {
    (number & 3) << 29 | (number >> 2 & 0x7_ffff) << 5
}

fn written(isa: Isa, r_type: u32) -> Option<Written> {
    const UPPER: u32 = 0xffff_f000;
    let (mask, bits): (u32, fn(u64, u64) -> u64) = match (isa, r_type) {
        (Isa::A64, elf::R_AARCH64_ADR_PREL_PG_HI21) => {
            (0x60ff_ffe0, |to, from| split((to >> 12).wrapping_sub(from >> 12)))
        }
        (Isa::A64, elf::R_AARCH64_ADR_PREL_LO21) => {
            (0x60ff_ffe0, |to, from| split(to.wrapping_sub(from)))
        }
        (Isa::A64, elf::R_AARCH64_ADD_ABS_LO12_NC) => (0xfff << 10, |to, _| (to & 0xfff) << 10),
        // The lower half is signed.
        (Isa::Riscv32 | Isa::Riscv64, elf::R_RISCV_HI20) => {
            (UPPER, |to, _| to.wrapping_add(0x800) & u64::from(UPPER))
        }
        (Isa::Riscv32 | Isa::Riscv64, elf::R_RISCV_PCREL_HI20) => {
            (UPPER, |to, from| to.wrapping_sub(from).wrapping_add(0x800) & u64::from(UPPER))
        }
        (Isa::Riscv32 | Isa::Riscv64, elf::R_RISCV_LO12_I) => {
            (0xfff << 20, |to, _| (to & 0xfff) << 20)
        }
        (Isa::Riscv32 | Isa::Riscv64, elf::R_RISCV_PCREL_LO12_I) => {
            (0xfff << 20, |to, from| (to.wrapping_sub(from) & 0xfff) << 20)
        }
        _ => return None,
    };
    Some(Written { mask, bits })
}

/// Writes addresses into the instructions of a section.
fn write_addresses(
    file: &File<'_>,
    layout: &Layout,
    isa: Isa,
    section: &Section<'_, '_>,
    bytes: &mut [u8],
) {
    let base = layout.base(section.index());
    // Where each upper part of RISC-V's leads: its lower part names it.
    let mut upper = BTreeMap::new();
    let mut all = Vec::new();
    for (offset, relocation) in section.relocations() {
        let RelocationFlags::Elf { r_type } = relocation.flags() else { continue };
        let reference = layout.reference(file, &relocation);
        let Some(to) = reference.and_then(|reference| reference.address) else { continue };
        let to = to.wrapping_add_signed(relocation.addend());
        if r_type == elf::R_RISCV_PCREL_HI20 && isa != Isa::A64 {
            upper.insert(base.wrapping_add(offset), to);
        }
        all.push((offset, r_type, to));
    }
    for (offset, r_type, to) in all {
        let place = usize::try_from(offset).ok().and_then(|at| bytes.get_mut(at..));
        let Some(place) = place.and_then(|place| place.first_chunk_mut::<4>()) else { continue };
        let word = u32::from_le_bytes(*place);
        if let Some(word) = with_half(isa, r_type, word, to) {
            *place = word.to_le_bytes();
            continue;
        }
        let Some(Written { mask, bits }) = written(isa, r_type) else { continue };
        let here = base.wrapping_add(offset);
        let (to, from) = match (isa, r_type) {
            (Isa::Riscv32 | Isa::Riscv64, elf::R_RISCV_PCREL_LO12_I) => {
                let Some(target) = upper.get(&to) else { continue };
                (*target, to)
            }
            _ => (to, here),
        };
        *place = (word & !mask | bits(to, from) as u32 & mask).to_le_bytes();
    }
}
