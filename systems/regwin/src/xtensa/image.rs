//! An image for Xtensa that anybody linked: which core it is for, and whether its functions open
//! windows. What QEMU's `sim` board cannot run as such is refused.

use std::collections::BTreeMap;
use std::ops::Range;

use object::elf;
use object::{Object, ObjectSegment, ObjectSymbol, SymbolKind};

use crate::board::image::Refusal;

/// A core of QEMU's `sim` board that has register windows: 32 registers each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum XtensaCore {
    /// Maps RAM at 0xd0000000.
    Dc232b,
    /// Has RAM at address 0.
    Dc233c,
}

impl XtensaCore {
    pub const ALL: [XtensaCore; 2] = [XtensaCore::Dc232b, XtensaCore::Dc233c];

    /// As QEMU calls it.
    pub fn name(self) -> &'static str {
        match self {
            XtensaCore::Dc232b => "dc232b",
            XtensaCore::Dc233c => "dc233c",
        }
    }

    /// Where RAM begins for programs.
    pub fn ram(self) -> u32 {
        match self {
            XtensaCore::Dc232b => 0xd000_0000,
            XtensaCore::Dc233c => 0,
        }
    }
}

/// Bytes of RAM of the board.
const RAM_BYTES: u32 = 128 << 20;
/// What is executed at reset lies from here on.
const ROM: u32 = 0xfe00_0000;

#[derive(Debug, Clone)]
pub struct XtensaImage {
    pub core: XtensaCore,
    /// From the first to the last byte of what is executed in RAM.
    pub code: Range<u32>,
    /// Our library's vectors, if it is linked with it.
    pub vectors: Option<u32>,
    /// Its code, by symbol.
    pub symbols: BTreeMap<String, u32>,
}

/// True if these are the bytes of an image for Xtensa.
pub fn is_xtensa(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\x7fELF")
        && bytes.get(4..6) == Some(&[1, 1])
        && bytes.get(18..20) == Some(&elf::EM_XTENSA.to_le_bytes())
}

/// At most so many functions are named in a refusal.
const NAMED: usize = 5;

impl XtensaImage {
    /// Reads a linked image.
    ///
    /// Errors: it is none that the board runs, or its functions have no windows.
    pub fn parse(bytes: &[u8]) -> Result<XtensaImage, Refusal> {
        let refused =
            |why: String, help: Option<&'static str>| -> Refusal { Refusal { why, help } };
        let damaged =
            |error: object::Error| refused(format!("it is cut off or damaged: {error}"), None);
        let file = object::File::parse(bytes).map_err(damaged)?;
        if file.kind() != object::ObjectKind::Executable {
            return Err(refused("it is not linked".to_owned(), Some("link it with lib/regwin.ld")));
        }
        let mut loaded = Vec::new();
        for segment in file.segments().filter(|segment| segment.size() > 0) {
            let (at, data) = (segment.address() as u32, segment.data().map_err(damaged)?);
            if at < ROM {
                loaded.push((at, data));
            }
        }
        let is_of = |core: &XtensaCore| {
            !loaded.is_empty()
                && loaded.iter().all(|(at, data)| {
                    let end = u64::from(*at) + data.len() as u64;
                    *at >= core.ram() && end <= u64::from(core.ram()) + u64::from(RAM_BYTES)
                })
        };
        let core = XtensaCore::ALL.into_iter().find(is_of).ok_or_else(|| {
            let at = loaded.first().map_or(ROM, |(at, _)| *at);
            let why =
                format!("it lies at {at:#x}, and RAM is at 0xd0000000 (dc232b) or 0 (dc233c)");
            refused(why, Some("`make CORE=...` in the folder of `regwin build` links for either"))
        })?;
        let symbols: BTreeMap<String, u32> = file
            .symbols()
            .filter(|symbol| !symbol.is_undefined())
            .filter_map(|symbol| Some((symbol.name().ok()?.to_owned(), symbol.address() as u32)))
            .collect();
        check_windows(&file, &loaded)?;
        let start = loaded.iter().map(|(at, _)| *at).min().expect("something is loaded");
        let end = loaded.iter().map(|(at, data)| at + data.len() as u32).max();
        let code = start..end.expect("something is loaded");
        Ok(XtensaImage { core, code, vectors: symbols.get("thr_vectors").copied(), symbols })
    }
}

/// True if these are the bytes of an ENTRY, with which a windowed function begins.
fn is_entry(bytes: Option<&[u8]>) -> bool {
    bytes.is_some_and(|bytes| bytes.first() == Some(&0x36))
}

/// Refuses functions of the call0 ABI: such a one returns to where call8 says, with bits of the
/// size in the address, and destroys registers that its caller's window keeps.
fn check_windows(file: &object::File, loaded: &[(u32, &[u8])]) -> Result<(), Refusal> {
    let at = |address: u32| {
        loaded.iter().find_map(|(start, data)| data.get(address.checked_sub(*start)? as usize..))
    };
    let functions = || {
        file.symbols().filter(|symbol| {
            symbol.kind() == SymbolKind::Text && symbol.size() > 0 && !symbol.is_undefined()
        })
    };
    let mut flat: Vec<String> = functions()
        .filter(|symbol| !is_entry(at(symbol.address() as u32)))
        .map(|symbol| symbol.name().unwrap_or("?").to_owned())
        .collect();
    flat.sort();
    flat.dedup();
    let n = functions().count();
    let opens_any =
        loaded.iter().any(|(_, data)| data.chunks(4).any(|bytes| is_entry(Some(bytes))));
    let help = Some("compile all of it with the flags of regwin.mk, which say `windowed`");
    if (n > 0 && flat.len() == n) || (n == 0 && !opens_any) {
        let why = "it is of the call0 ABI: no function opens a window".to_owned();
        return Err(Refusal { why, help });
    }
    if flat.is_empty() {
        return Ok(());
    }
    let more = match flat.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    flat.truncate(NAMED);
    let why =
        format!("functions of the call0 ABI are in a windowed image: {}{more}", flat.join(", "));
    Err(Refusal { why, help })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_xtensa_image_is_not_taken_for_one() {
        assert!(!is_xtensa(b"\x7fELF"));
        assert!(!is_xtensa(b"#!/bin/sh\n"));
    }
}
