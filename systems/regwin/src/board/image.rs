//! An image that anybody linked: what is loaded, which functions it has, and whether its threads are
//! those of our library. What cannot run on the board is refused.

use std::collections::BTreeMap;
use std::ops::Range;

use object::elf;
use object::{Object, ObjectSection, ObjectSymbol, SectionFlags, SymbolKind};

use super::{RAM, RAM_BYTES};
use crate::library::Options;
use crate::names::{Schedule, Scheme};

/// A switch of our library, by what the thread that runs leaves behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Switch {
    /// Its windows stay resident.
    Leave,
    /// None of its windows.
    Flush,
    /// Nothing, for it ends.
    End,
}

/// What an image says that is linked with a library of `regwin build`.
#[derive(Debug, Clone)]
pub struct Library {
    pub options: Options,
    /// The code of switches, and where one begins.
    pub switches: Range<u32>,
    pub entries: Vec<(u32, Switch)>,
    /// What runs when no thread is ready, and the thread that does.
    pub idle: u32,
    pub idle_thread: u32,
    /// Where a record has the thread's name, if the image says.
    pub name_at: Option<u32>,
    /// Where its trap tables begin.
    pub tables: Vec<u32>,
}

impl Library {
    /// True if all that it names is code of the image.
    fn lies_in(&self, code: &Range<u32>) -> bool {
        let entries = self.entries.iter().map(|entry| entry.0);
        entries.chain([self.idle]).all(|at| at % 4 == 0 && code.contains(&at))
    }

    /// The order in which threads run, as far as the library decides it.
    pub fn schedule(&self) -> Schedule {
        match self.options {
            Options { priorities: true, .. } => Schedule::Priorities,
            Options { working_set: true, .. } => Schedule::WorkingSet,
            _ => Schedule::Fifo,
        }
    }
}

#[derive(Debug, Clone)]
pub struct Image {
    pub entry: u32,
    /// Address and bytes of what is loaded.
    pub segments: Vec<(u32, Vec<u8>)>,
    /// From the first to the last of its code.
    pub code: Range<u32>,
    /// Functions and labels: where each begins and ends, and its name.
    functions: BTreeMap<u32, (u32, String)>,
    pub library: Option<Library>,
}

/// Why an image cannot run, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    pub why: String,
    pub help: Option<&'static str>,
}

impl Refusal {
    fn new(why: impl Into<String>, help: Option<&'static str>) -> Refusal {
        Refusal { why: why.into(), help }
    }
}

/// The first bytes of an ELF file.
const MAGIC: &[u8; 4] = b"\x7fELF";

impl Image {
    /// Reads a linked image.
    ///
    /// Errors: it is none that the board runs.
    pub fn parse(bytes: &[u8]) -> Result<Image, Refusal> {
        let header = Header::read(bytes)?;
        let segments = header.segments(bytes)?;
        let damaged =
            |error: object::Error| Refusal::new(format!("it is cut off or damaged: {error}"), None);
        let file = object::File::parse(bytes).map_err(damaged)?;
        let code = code(&file)
            .or_else(|| header.executable(bytes))
            .ok_or_else(|| Refusal::new("it has no code", None))?;
        if code.start < RAM || code.end > RAM + RAM_BYTES || code.start % 4 != 0 {
            let why = format!("its code is said to be at {:#x} to {:#x}", code.start, code.end);
            return Err(Refusal::new(why, Some("link it for RAM at 0x40000000")));
        }
        if header.entry % 4 != 0 || !code.contains(&header.entry) {
            let why = format!("it begins at {:#x}, where it has no code", header.entry);
            return Err(Refusal::new(why, Some("name the first instruction: ld -e SYMBOL")));
        }
        let symbols: BTreeMap<String, u32> = file
            .symbols()
            .filter(|symbol| !symbol.is_undefined())
            .filter_map(|symbol| Some((symbol.name().ok()?.to_owned(), symbol.address() as u32)))
            .collect();
        let functions = functions(&file, &code);
        let library = library(&symbols).filter(|library| library.lies_in(&code));
        Ok(Image { entry: header.entry, segments, code, functions, library })
    }

    /// True if the image says where its functions are.
    pub fn has_symbols(&self) -> bool {
        !self.functions.is_empty()
    }

    /// The function or label at or before an address; the address itself where there is none.
    pub fn function(&self, at: u32) -> String {
        let before = self.functions.range(..=at).next_back();
        match before.filter(|(_, (end, _))| at < *end) {
            Some((_, (_, name))) => name.clone(),
            None => format!("{at:#x}"),
        }
    }

    /// The word here, as it is loaded.
    pub fn word(&self, at: u32) -> Option<u32> {
        self.segments.iter().find_map(|(start, bytes)| {
            let word = bytes.get(at.checked_sub(*start)? as usize..)?.get(..4)?;
            Some(u32::from_be_bytes([word[0], word[1], word[2], word[3]]))
        })
    }
}

/// What the head of an ELF file says.
struct Header {
    entry: u32,
    /// Program headers: where they are, and how many.
    at: usize,
    n: usize,
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let word = bytes.get(at..)?.get(..4)?;
    Some(u32::from_be_bytes([word[0], word[1], word[2], word[3]]))
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    let half = bytes.get(at..at + 2)?;
    Some(u16::from_be_bytes([half[0], half[1]]))
}

impl Header {
    fn read(bytes: &[u8]) -> Result<Header, Refusal> {
        let cut = || Refusal::new("it is cut off: an ELF file's head has 52 bytes", None);
        if !bytes.starts_with(MAGIC) {
            return Err(Refusal::new("it is no ELF file", Some("give a linked program")));
        }
        let is_big = *bytes.get(5).ok_or_else(cut)? == elf::ELFDATA2MSB;
        let machine = match bytes.get(18..20).ok_or_else(cut)? {
            [high, low] if is_big => u16::from_be_bytes([*high, *low]),
            other => u16::from_le_bytes([other[0], other[1]]),
        };
        match machine {
            elf::EM_SPARC if is_big && bytes[4] == elf::ELFCLASS32 => {}
            elf::EM_SPARCV9 => {
                let why = "it is for SPARC V9, of 64 bits; the board's LEON3 is a SPARC V8";
                return Err(Refusal::new(why, Some("compile with -m32 -mcpu=leon3")));
            }
            elf::EM_SPARC32PLUS => {
                let why = "it is for V8+, a 64-bit SPARC in its 32-bit mode; the board's LEON3 is a SPARC V8";
                return Err(Refusal::new(why, Some("compile all of it with -mcpu=leon3")));
            }
            _ => {
                let what = match object::File::parse(bytes) {
                    Ok(file) => format!("{:?}", file.architecture()),
                    Err(_) => format!("machine {machine}"),
                };
                return Err(Refusal::new(format!("it is for {what}, not for SPARC"), None));
            }
        }
        let read =
            || Some((half(bytes, 16)?, word(bytes, 24)?, word(bytes, 28)?, half(bytes, 44)?));
        let (kind, entry, at, n) = read().filter(|_| bytes.len() >= 52).ok_or_else(cut)?;
        match kind {
            elf::ET_EXEC => {}
            elf::ET_REL => {
                return Err(Refusal::new(
                    "it is an object file, not linked",
                    Some("link it first"),
                ));
            }
            _ => {
                let why = "it is no program at fixed addresses (a shared library, or position-independent)";
                return Err(Refusal::new(why, Some("link with -static -no-pie")));
            }
        }
        Ok(Header { entry, at: at as usize, n: usize::from(n) })
    }

    fn rows(&self, bytes: &[u8]) -> Result<Vec<[u32; 8]>, Refusal> {
        let row = |idx: usize| {
            let mut row = [0; 8];
            for (field, value) in row.iter_mut().enumerate() {
                *value = word(bytes, self.at.checked_add(32 * idx + 4 * field)?)?;
            }
            Some(row)
        };
        let rows: Option<Vec<[u32; 8]>> = (0..self.n).map(row).collect();
        rows.ok_or_else(|| Refusal::new("it is cut off: it ends in its program headers", None))
    }

    fn segments(&self, bytes: &[u8]) -> Result<Vec<(u32, Vec<u8>)>, Refusal> {
        let mut segments = Vec::new();
        for [kind, offset, address, _, n_bytes, size, ..] in self.rows(bytes)? {
            if kind == elf::PT_INTERP {
                let why = "it is a program for Linux, which a dynamic linker starts";
                return Err(Refusal::new(why, Some("link it for the bare board")));
            }
            if kind != elf::PT_LOAD || size == 0 {
                continue;
            }
            let end = u64::from(address) + u64::from(size.max(n_bytes));
            if address < RAM || end > u64::from(RAM + RAM_BYTES) {
                let why = format!(
                    "a segment goes to {address:#x} to {end:#x}, and the board's memory is {RAM:#x} to {:#x}",
                    RAM + RAM_BYTES
                );
                return Err(Refusal::new(why, Some("link it for RAM at 0x40000000")));
            }
            let range = offset as usize..(offset as usize).saturating_add(n_bytes as usize);
            let Some(found) = bytes.get(range.clone()) else {
                let why = format!(
                    "it is cut off: a segment ends at byte {}, the file at byte {}",
                    range.end,
                    bytes.len()
                );
                return Err(Refusal::new(why, None));
            };
            segments.push((address, found.to_vec()));
        }
        if segments.is_empty() {
            return Err(Refusal::new("it has nothing to load", Some("link it first")));
        }
        Ok(segments)
    }

    /// The executable segments, for an image without sections.
    fn executable(&self, bytes: &[u8]) -> Option<Range<u32>> {
        let rows = self.rows(bytes).ok()?;
        let code = rows.iter().filter(|row| row[0] == elf::PT_LOAD && row[6] & elf::PF_X != 0);
        bounds(code.map(|row| row[2]..row[2].saturating_add(row[4])))
    }
}

fn bounds(ranges: impl Iterator<Item = Range<u32>>) -> Option<Range<u32>> {
    ranges.reduce(|a, b| a.start.min(b.start)..a.end.max(b.end)).map(|all| all.start..all.end & !3)
}

/// From the first to the last executable section.
fn code(file: &object::File) -> Option<Range<u32>> {
    let is_code = |section: &object::Section| matches!(section.flags(), SectionFlags::Elf { sh_flags } if sh_flags & u64::from(elf::SHF_EXECINSTR) != 0);
    let sections = file.sections().filter(|section| is_code(section) && section.size() > 0);
    bounds(sections.map(|section| {
        section.address() as u32..(section.address().saturating_add(section.size())) as u32
    }))
}

/// Functions with their ends; labels end where the next thing begins.
fn functions(file: &object::File, code: &Range<u32>) -> BTreeMap<u32, (u32, String)> {
    let mut functions: BTreeMap<u32, (u32, String)> = BTreeMap::new();
    let mut labels = Vec::new();
    for symbol in file.symbols().filter(|symbol| code.contains(&(symbol.address() as u32))) {
        let Some(name) = symbol.name().ok().filter(|name| !name.is_empty()) else { continue };
        let (at, size) = (symbol.address() as u32, symbol.size() as u32);
        match symbol.kind() {
            SymbolKind::Text if size > 0 => {
                functions.insert(at, (at.saturating_add(size), name.to_owned()));
            }
            SymbolKind::Text => labels.push((at, name.to_owned())),
            _ if symbol.is_global() && !name.starts_with("__") => {
                labels.push((at, name.to_owned()));
            }
            _ => {}
        }
    }
    let is_inside =
        |at: u32| functions.range(..=at).next_back().is_some_and(|(_, (end, _))| at < *end);
    labels.retain(|(at, _)| !is_inside(*at));
    labels.sort();
    for (at, name) in labels {
        functions.entry(at).or_insert((code.end, name));
    }
    let starts: Vec<u32> = functions.keys().copied().skip(1).chain([code.end]).collect();
    for ((end, _), next) in functions.values_mut().zip(starts) {
        *end = (*end).min(next);
    }
    functions
}

/// What the symbols say, if all are there that our library has.
fn library(symbols: &BTreeMap<String, u32>) -> Option<Library> {
    let at = |name: &str| symbols.get(name).copied();
    let has = |name: &str| symbols.contains_key(name);
    let first = |wrapped: &str, plain: &str| at(wrapped).or_else(|| at(plain));
    let scheme = if has("shared_absent") && has("vector_overflow_lone") {
        Scheme::Adaptive
    } else if has("block_again") {
        Scheme::Ns
    } else if has("above_free") {
        Scheme::Snp
    } else if has("absent_free") {
        Scheme::Sp
    } else {
        return None;
    };
    at("TCB_NEXT")?;
    let options = Options {
        working_set: has("push_front"),
        priorities: has("ready_give_way"),
        preempt: has("irq_dispatch"),
        fpu: has("fpu_disabled"),
        tls: has("thr_boot_tls"),
        unchecked: !has("stack_overflow"),
        ..Options::new(scheme)
    };
    Some(Library {
        options,
        switches: at("__switch_start")?..at("__switch_end")?,
        entries: vec![
            // Where windows are not shared, both are one place: what leaves them is the usual one.
            (first("switch_flush", "thr_block_flush")?, Switch::Flush),
            (first("switch_leave", "thr_block_leave")?, Switch::Leave),
            (at("thr_leave")?, Switch::End),
        ],
        idle: at("machine_idle")?,
        idle_thread: at("thr_idle")?,
        name_at: at("TCB_NAME"),
        tables: ["trap_table", "trap_table_lone"].into_iter().filter_map(at).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Board;
    use crate::work;

    /// An image of these words at the beginning of memory, without sections and symbols.
    fn elf(words: &[u32]) -> Vec<u8> {
        let n_bytes = 4 * words.len() as u32;
        let halves = |high: u32, low: u32| high << 16 | low;
        let head = [
            u32::from_be_bytes(*MAGIC),
            0x0102_0100,
            0,
            0,
            halves(2, 2),
            1,
            RAM,
            52,
            0,
            0,
            halves(52, 32),
            halves(1, 0),
            0,
        ];
        let row = [1, 84, RAM, RAM, n_bytes, n_bytes, 7, 4];
        head.iter().chain(&row).chain(words).flat_map(|word| word.to_be_bytes()).collect()
    }

    #[test]
    fn no_damage_breaks_the_reader() {
        let mut rng = fastrand::Rng::with_seed(3);
        let good = elf(&[0x0100_0000; 16]);
        assert!(Image::parse(&good).is_ok());
        for _ in 0..20_000 {
            let mut bytes = good.clone();
            for _ in 0..rng.usize(1..4) {
                let at = rng.usize(4..84);
                bytes[at] = [0, 1, 0x40, 0x7f, 0xff, rng.u8(..)][rng.usize(..6)];
            }
            bytes.truncate(rng.usize(40..bytes.len() + 40));
            if let Ok(image) = Image::parse(&bytes) {
                assert!(image.code.contains(&image.entry), "seed 3");
            }
        }
    }

    #[test]
    fn no_code_breaks_the_board() {
        let cores = work::cores();
        let mut n_ends = std::collections::BTreeSet::new();
        for seed in 0..60 {
            let mut rng = fastrand::Rng::with_seed(seed);
            // Registers begin with addresses and state bits that do something.
            let mut words = vec![0x8210_20e0, 0x8188_4000, 0x0310_0000, 0x8198_4000, 0x0510_0004];
            words.extend((0..1200).map(|_| match rng.u32(..8) {
                0 => 2 << 30 | rng.u32(..1 << 25) | rng.u32(..32) << 25,
                1 => 3 << 30 | rng.u32(..32) << 25 | rng.u32(..64) << 19 | 2 << 14 | 0x2008,
                2 => 0x81e8_0000,
                3 => 0x9de3_bfa0,
                4 => 0x1080_0000 | rng.u32(..64),
                _ => rng.u32(..),
            }));
            let image = Image::parse(&elf(&words)).expect("it is right");
            let windows = rng.u32(4..33);
            let mut board = Board::new(&image, windows, [&cores[0], &cores[1]]);
            n_ends.insert(board.run(20_000, &mut ()).name());
        }
        assert!(n_ends.len() > 1, "{n_ends:?}");
    }
}
