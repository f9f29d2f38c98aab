//! Door: the source line of a call, from the address it returns to.

use std::collections::HashMap;

use addr2line::Loader;
use object::{Object, ObjectSegment};

/// Where a call stands; what is not known is empty or 0.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// Source file, as the compiler wrote it down.
    pub file: String,
    pub line: u64,
    /// The function, the innermost one if functions were inlined into each other.
    pub function: String,
}

/// The files of a program, each read once.
#[derive(Default)]
pub struct Places {
    /// With the address that its first byte is linked at; none for a file that cannot be read.
    files: HashMap<String, Option<(Loader, u64)>>,
}

impl Places {
    /// Where the call stands that returns to `address`, counted from the first byte of `file`.
    pub fn of(&mut self, file: &str, address: u64) -> Place {
        let Some((loader, base)) = self.files.entry(file.to_owned()).or_insert_with(|| open(file))
        else {
            return Place::default();
        };
        // The call itself ends one byte before.
        let at = *base + address.saturating_sub(1);
        let mut place = Place::default();
        if let Ok(mut frames) = loader.find_frames(at)
            && let Ok(Some(frame)) = frames.next()
        {
            place.function = frame
                .function
                .and_then(|function| function.demangle().ok().map(|name| name.into_owned()))
                .unwrap_or_default();
            if let Some(location) = frame.location {
                place.file = location.file.unwrap_or_default().to_owned();
                place.line = location.line.map_or(0, u64::from);
            }
        }
        if place.function.is_empty() {
            place.function = loader
                .find_symbol(at)
                .map(|name| addr2line::demangle_auto(name.into(), None).into_owned())
                .unwrap_or_default();
        }
        place
    }
}

fn open(file: &str) -> Option<(Loader, u64)> {
    let bytes = std::fs::read(file).ok()?;
    let base = object::File::parse(&*bytes)
        .ok()?
        .segments()
        .map(|segment| segment.address())
        .min()
        .unwrap_or(0);
    Some((Loader::new(file).ok()?, base & !0xfff))
}
