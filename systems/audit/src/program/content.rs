//! Door: the bytes of a file; debug information of a linked program is read piece by piece, when it
//! is asked for.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use object::read::ReadCache;
use object::{CompressionFormat, Object, ObjectKind, ObjectSection};

/// What a file holds.
#[derive(Debug)]
pub struct Content {
    /// All its bytes, but zeros where debug information is left out.
    pub bytes: Vec<u8>,
    /// Where raw bytes lie, as the user says.
    pub(crate) base: Option<u64>,
    /// The address that the user asks for.
    pub(crate) asked: Option<u64>,
    /// The file, of which parts are left out, and these.
    rest: Option<(Arc<File>, Vec<Range<u64>>)>,
}

/// A part of a file that is read when it is asked for.
#[derive(Debug, Clone)]
pub struct FilePart {
    file: Arc<File>,
    range: Range<u64>,
}

impl From<Vec<u8>> for Content {
    fn from(bytes: Vec<u8>) -> Content {
        Content { bytes, base: None, asked: None, rest: None }
    }
}

impl Content {
    /// Reads a file, but for the debug information of a linked program.
    ///
    /// Errors: those of the system.
    pub fn read(path: &Path) -> io::Result<Content> {
        let mut file = File::open(path)?;
        let left_out = debug_information(&file);
        if left_out.is_empty() {
            return std::fs::read(path).map(Content::from);
        }
        let length = file.metadata()?.len();
        let mut bytes = vec![0; usize::try_from(length).map_err(io::Error::other)?];
        let mut from = 0;
        for gap in left_out.iter().cloned().chain(std::iter::once(length..length)) {
            if let Some(part) = bytes.get_mut(from as usize..gap.start as usize) {
                file.seek(SeekFrom::Start(from))?;
                file.read_exact(part)?;
            }
            from = from.max(gap.end);
        }
        Ok(Content { rest: Some((Arc::new(file), left_out)), ..Content::from(bytes) })
    }

    /// The same with what the user says: where raw bytes lie, and an address of the function that
    /// is asked for, which may be a start that nothing else tells of.
    pub fn with(self, base: Option<u64>, asked: Option<u64>) -> Content {
        Content { base, asked, ..self }
    }

    /// The part of the file in this range, if it was left out.
    pub fn piece(&self, range: Range<u64>) -> Option<FilePart> {
        let (file, left_out) = self.rest.as_ref()?;
        let is_left_out = left_out.contains(&range);
        is_left_out.then(|| FilePart { file: Arc::clone(file), range })
    }
}

impl FilePart {
    pub fn length(&self) -> u64 {
        self.range.end - self.range.start
    }

    /// Its bytes in this range; none if it has not so many, or the system does not give them.
    pub fn bytes(&self, range: Range<u64>) -> Option<Arc<[u8]>> {
        let length = range.end.checked_sub(range.start).filter(|_| range.end <= self.length())?;
        // Read where it stays: some pieces have many megabytes.
        let mut bytes: Arc<[u8]> = std::iter::repeat_n(0, usize::try_from(length).ok()?).collect();
        let mut file = &*self.file;
        file.seek(SeekFrom::Start(self.range.start + range.start)).ok()?;
        file.read_exact(Arc::get_mut(&mut bytes)?).ok()?;
        Some(bytes)
    }
}

/// Where the debug information of a linked program lies in its file, in order; nowhere in others.
fn debug_information(file: &File) -> Vec<Range<u64>> {
    let cache = ReadCache::new(file);
    let Ok(parsed) = object::File::parse(&cache) else { return Vec::new() };
    if parsed.kind() == ObjectKind::Relocatable {
        return Vec::new();
    }
    let mut all = Vec::new();
    for section in parsed.sections() {
        let is_debug =
            section.name().is_ok_and(|name| name.starts_with(".debug_") || name == ".BTF");
        let Ok(range) = section.compressed_file_range() else { continue };
        if is_debug && range.format == CompressionFormat::None {
            all.push(range.offset..range.offset.saturating_add(range.uncompressed_size));
        }
    }
    all.sort_by_key(|range| range.start);
    let is_apart = all.windows(2).all(|pair| pair[0].end <= pair[1].start);
    let length = file.metadata().map_or(0, |metadata| metadata.len());
    let is_inside = all.last().is_none_or(|last| last.end <= length);
    if is_apart && is_inside { all } else { Vec::new() }
}
