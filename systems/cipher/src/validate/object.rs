//! An object file as it would lie in memory: its sections at addresses of their own, its
//! relocations done.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use object::{
    Architecture, Object, ObjectSection, ObjectSymbol, RelocationKind, RelocationTarget,
    SectionFlags, SectionIndex,
};

/// Where the first section goes.
const BASE: u64 = 0x10_0000;
/// Where functions of other files are, 16 bytes each.
const OTHERS: u64 = 0x6000_0000;
/// Where addresses of symbols are that the linker would make a table of.
const TABLE: u64 = 0x5000_0000;

#[derive(Debug, Clone)]
pub struct Section {
    pub name: String,
    pub base: u64,
    pub bytes: Vec<u8>,
    /// Whether it may be written.
    pub can_write: bool,
}

/// An object file in memory.
#[derive(Debug, Clone, Default)]
pub struct Image {
    /// Sections that a program has in memory.
    pub sections: Vec<Section>,
    /// Functions of this file by name: address and size.
    pub functions: BTreeMap<String, (u64, u64)>,
    /// Functions of other files by address.
    pub others: BTreeMap<u64, String>,
}

impl Image {
    /// Reads a file; `Err` says in words what is wrong with it.
    pub fn read(data: &[u8]) -> Result<Image, String> {
        let file = object::File::parse(data).map_err(|error| error.to_string())?;
        if file.architecture() != Architecture::X86_64 {
            return Err("it is not x86-64 code".into());
        }
        let mut image = Image::default();
        let mut places: FxHashMap<SectionIndex, usize> = FxHashMap::default();
        let mut next = BASE;
        for section in file.sections() {
            let SectionFlags::Elf { sh_flags } = section.flags() else {
                return Err("it is not an ELF file".into());
            };
            if sh_flags & u64::from(object::elf::SHF_ALLOC) == 0 || section.size() == 0 {
                continue;
            }
            let mut bytes = section.data().map_err(|error| error.to_string())?.to_vec();
            bytes.resize(section.size() as usize, 0);
            // Vector constants are read whole, so what follows a section is its own.
            let base = next.next_multiple_of(section.align().max(64));
            next = base + section.size();
            places.insert(section.index(), image.sections.len());
            let can_write = sh_flags & u64::from(object::elf::SHF_WRITE) != 0;
            image.sections.push(Section {
                name: section.name().unwrap_or("?").into(),
                base,
                bytes,
                can_write,
            });
        }
        for symbol in file
            .symbols()
            .filter(|symbol| symbol.is_definition() && symbol.kind() == object::SymbolKind::Text)
        {
            let Some(place) =
                symbol.section_index().and_then(|section_index| places.get(&section_index))
            else {
                continue;
            };
            let name = symbol.name().map_err(|error| error.to_string())?;
            image.functions.insert(
                name.into(),
                (image.sections[*place].base + symbol.address(), symbol.size()),
            );
        }
        image.relocate(&file, &places)?;
        Ok(image)
    }

    fn relocate(
        &mut self,
        file: &object::File<'_>,
        places: &FxHashMap<SectionIndex, usize>,
    ) -> Result<(), String> {
        let mut others: BTreeMap<String, u64> = BTreeMap::new();
        let mut table: Vec<u64> = Vec::new();
        for section in file.sections() {
            let Some(&place) = places.get(&section.index()) else { continue };
            for (offset, relocation) in section.relocations() {
                let target = match relocation.target() {
                    RelocationTarget::Symbol(symbol) => {
                        let symbol =
                            file.symbol_by_index(symbol).map_err(|error| error.to_string())?;
                        match symbol
                            .section_index()
                            .and_then(|section_index| places.get(&section_index))
                        {
                            Some(place) => self.sections[*place].base + symbol.address(),
                            None => {
                                let name =
                                    symbol.name().map_err(|error| error.to_string())?.to_string();
                                let next = OTHERS + 16 * others.len() as u64;
                                *others.entry(name).or_insert(next)
                            }
                        }
                    }
                    other => return Err(format!("it has a relocation against {other:?}")),
                };
                let at = self.sections[place].base + offset;
                let value = target.wrapping_add(relocation.addend() as u64);
                let value = match relocation.kind() {
                    RelocationKind::Absolute => value,
                    RelocationKind::Relative | RelocationKind::PltRelative => {
                        value.wrapping_sub(at)
                    }
                    RelocationKind::GotRelative => {
                        table.push(target);
                        let entry = TABLE + 8 * (table.len() as u64 - 1);
                        entry.wrapping_add(relocation.addend() as u64).wrapping_sub(at)
                    }
                    other => {
                        return Err(format!(
                            "it has a relocation of kind {other:?} in {}",
                            self.sections[place].name
                        ));
                    }
                };
                let n_bytes = usize::from(relocation.size() / 8);
                let bytes =
                    self.sections[place].bytes.get_mut(offset as usize..offset as usize + n_bytes);
                bytes
                    .ok_or("a relocation is outside of its section")?
                    .copy_from_slice(&value.to_le_bytes()[..n_bytes]);
            }
        }
        if !table.is_empty() {
            let bytes = table.iter().flat_map(|it| it.to_le_bytes()).collect();
            self.sections.push(Section {
                name: "table of addresses".into(),
                base: TABLE,
                bytes,
                can_write: false,
            });
        }
        self.others = others.into_iter().map(|(name, address)| (address, name)).collect();
        Ok(())
    }

    /// The section that an address lies in, and the place there.
    pub fn section(&self, address: u64) -> Option<(&Section, usize)> {
        let section = self.sections.iter().find(|section| {
            section.base <= address && address - section.base < section.bytes.len() as u64
        })?;
        Some((section, (address - section.base) as usize))
    }
}
