//! What a linker would write into code: where calls and jumps lead, and addresses beside them.

use std::collections::BTreeMap;

use object::{File, Object, ObjectSection, RelocationFlags, RelocationKind, SectionKind, elf};

use crate::decode::Isa;
use crate::program::addresses;
use crate::program::relocate::{self, Layout};
use crate::program::sections::Link;

/// Words and upper halves of addresses that a linker would write into code of Arm's,
/// by their own address.
pub(super) fn pointers(file: &File<'_>, layout: &Layout, isa: Isa) -> BTreeMap<u64, Link> {
    let mut pointers = BTreeMap::new();
    if file.kind() != object::ObjectKind::Relocatable || !matches!(isa, Isa::A32 | Isa::T32) {
        return pointers;
    }
    for section in file.sections().filter(|section| section.kind() == SectionKind::Text) {
        let data = section.data().unwrap_or_default();
        for (offset, relocation) in section.relocations() {
            let RelocationFlags::Elf { r_type } = relocation.flags() else { continue };
            let Some(reference) = layout.reference(file, &relocation) else { continue };
            // The addend stands in the word, or in the half that the instruction has.
            let word = data
                .get(offset as usize..)
                .and_then(|data| data.first_chunk())
                .map_or(0, |first_chunk| u32::from_le_bytes(*first_chunk));
            let addend = match r_type {
                elf::R_ARM_ABS32 => word as i32,
                elf::R_ARM_MOVT_ABS => i32::from(addresses::half(Isa::A32, word) as i16),
                elf::R_ARM_THM_MOVT_ABS => {
                    i32::from(addresses::half(Isa::T32, word.rotate_left(16)) as i16)
                }
                _ => continue,
            };
            // The lowest bit of a function of Thumb is no part of its address.
            let target =
                reference.address.map(|address| address.wrapping_add_signed(addend.into()) & !1);
            let symbol = reference.symbol.filter(|_| addend & !1 == 0);
            pointers
                .insert(layout.base(section.index()).wrapping_add(offset), Link { symbol, target });
        }
    }
    pointers
}

/// The calls and jumps that a linker would complete, by address of the instruction.
pub(super) fn links(file: &File<'_>, layout: &Layout, isa: Isa) -> BTreeMap<u64, Link> {
    let mut links = BTreeMap::new();
    if file.kind() != object::ObjectKind::Relocatable {
        return links;
    }
    for section in file.sections().filter(|section| section.kind() == SectionKind::Text) {
        let base = layout.base(section.index());
        let data = section.data().unwrap_or_default();
        for (offset, relocation) in section.relocations() {
            let RelocationFlags::Elf { r_type } = relocation.flags() else { continue };
            let Some(reference) = layout.reference(file, &relocation) else { continue };
            let place = base.wrapping_add(offset);
            let mut addend = relocation.addend();
            let address = match isa {
                Isa::A32 | Isa::T32 if relocate::thumb_branch(r_type).is_some() => {
                    let branch = relocate::thumb_branch(r_type).expect("it is one");
                    addend = branch(data.get(offset as usize..).unwrap_or_default());
                    place
                }
                Isa::A32 | Isa::T32 => {
                    if ![elf::R_ARM_PC24, elf::R_ARM_PLT32, elf::R_ARM_CALL, elf::R_ARM_JUMP24]
                        .contains(&r_type)
                    {
                        continue;
                    }
                    // The addend stands in the instruction, less the 8 bytes that the program
                    // counter is ahead.
                    let word = data
                        .get(offset as usize..)
                        .and_then(|data| data.first_chunk())
                        .map_or(0, |first_chunk| u32::from_le_bytes(*first_chunk));
                    addend = i64::from((word << 8) as i32 >> 6) + 8;
                    place
                }
                // The pair auipc and jalr; the second jumps.
                Isa::Riscv32 | Isa::Riscv64
                    if [elf::R_RISCV_CALL, elf::R_RISCV_CALL_PLT].contains(&r_type) =>
                {
                    place.wrapping_add(4)
                }
                Isa::Riscv32 | Isa::Riscv64 => {
                    let jumps = [
                        elf::R_RISCV_BRANCH,
                        elf::R_RISCV_JAL,
                        elf::R_RISCV_RVC_BRANCH,
                        elf::R_RISCV_RVC_JUMP,
                    ];
                    if !jumps.contains(&r_type) {
                        continue;
                    }
                    place
                }
                Isa::A64 => {
                    let jumps = [
                        elf::R_AARCH64_CALL26,
                        elf::R_AARCH64_JUMP26,
                        elf::R_AARCH64_CONDBR19,
                        elf::R_AARCH64_TSTBR14,
                    ];
                    if !jumps.contains(&r_type) {
                        continue;
                    }
                    place
                }
                Isa::Sparc => {
                    if ![elf::R_SPARC_WDISP30, elf::R_SPARC_WPLT30, elf::R_SPARC_WDISP22]
                        .contains(&r_type)
                    {
                        continue;
                    }
                    place
                }
                Isa::X86 => {
                    if !matches!(
                        relocation.kind(),
                        RelocationKind::PltRelative | RelocationKind::Relative
                    ) {
                        continue;
                    }
                    // The displacement ends its instruction, whose opcode is one byte (E8, E9) or
                    // two (0F 8x).
                    addend += 4;
                    let before = |n: u64| {
                        offset.checked_sub(n).and_then(|at| data.get(at as usize)).copied()
                    };
                    if matches!(before(1), Some(0xe8 | 0xe9)) {
                        place.wrapping_sub(1)
                    } else if before(2) == Some(0x0f) {
                        place.wrapping_sub(2)
                    } else {
                        continue;
                    }
                }
            };
            // The lowest bit of a function of Thumb is no part of its address.
            let of_code = if isa == Isa::A32 { !1 } else { u64::MAX };
            let target =
                reference.address.map(|address| address.wrapping_add_signed(addend) & of_code);
            links.insert(address, Link { symbol: reference.symbol, target });
        }
    }
    links
}
