//! Where instructions come from: source lines with the functions inlined into each other, from DWARF.

use std::sync::Arc;

use addr2line::Context;
use gimli::{EndianArcSlice, RunTimeEndian};
use object::{File, Object, ObjectSection};

use crate::function::Frame;
use crate::relocate::{self, Layout};

/// The line tables of one file.
pub struct Lines {
    context: Option<Context<EndianArcSlice<RunTimeEndian>>>,
    /// Why there are none, in a sentence for the user; `None` if there are some.
    pub missing: Option<&'static str>,
}

/// Deeper stacks of inlined functions are cut; only a damaged file has them.
const FRAMES_MAX: usize = 64;

impl std::fmt::Debug for Lines {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lines").field("missing", &self.missing).finish_non_exhaustive()
    }
}

impl Lines {
    /// The line tables of `file`; damaged ones are as good as none.
    pub fn read(file: &File<'_>, layout: &Layout) -> Lines {
        let none = |why| Lines { context: None, missing: Some(why) };
        let Some(lines) = file.section_by_name(".debug_line").filter(|it| it.size() > 0) else {
            return none("the file has no line information; compile with -g to get it");
        };
        if lines.compressed_file_range().is_ok_and(|it| it.format != object::CompressionFormat::None) {
            return none("its line information is compressed; `objcopy --decompress-debug-sections` makes it readable");
        }
        let order = if file.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
        let section = |id: gimli::SectionId| -> Result<EndianArcSlice<RunTimeEndian>, gimli::Error> {
            let data = file.section_by_name(id.name()).map(|it| relocate::section_data(file, layout, &it)).unwrap_or_default();
            Ok(EndianArcSlice::new(Arc::from(&*data), order))
        };
        match gimli::Dwarf::load(section).and_then(Context::from_dwarf) {
            Ok(context) => Lines { context: Some(context), missing: None },
            Err(_) => none("its line information is damaged"),
        }
    }

    /// The frames of the instruction at `address`, the innermost first; none if nothing is known.
    pub fn frames(&self, address: u64) -> Vec<Frame> {
        let Some(context) = &self.context else { return Vec::new() };
        let Ok(mut found) = context.find_frames(address).skip_all_loads() else { return Vec::new() };
        let mut frames = Vec::new();
        while let Ok(Some(frame)) = found.next() {
            let function = frame.function.and_then(|it| it.demangle().ok().map(|name| name.into_owned()));
            let place = frame.location.and_then(|it| Some((it.file?, it.line.filter(|&line| line > 0)?)));
            let Some((file, line)) = place else { continue };
            frames.push(Frame { function: function.unwrap_or_default(), file: plain(file), line });
            if frames.len() == FRAMES_MAX {
                break;
            }
        }
        frames
    }
}

/// The path without the `./` that a mapped folder leaves.
fn plain(path: &str) -> String {
    path.trim_start_matches("./").to_owned()
}
