//! Functions of code that names none: each place that a call leads to is one, and goes as far as its
//! branches reach.
//!
//! ```text
//! 8000  cbz r0, 800a     a start: the file's entry, a row of its unwinder, what the user names
//! 8002  ldr r1, [8010]
//! 8006  b.w 9000         leads beyond the next start: a start itself
//! 800a  bl 8014          another start, where this function ends
//! 800e  bx lr
//! 8010  .word            reached by no branch: data
//! ```
//!
//! Of a jump by a [table](crate::program::switches) the rows lead on. After another jump whose target
//! is computed anything may be reached, so all up to the next start is code of that function.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use gimli::{BaseAddresses, CieOrFde, EhFrame, RunTimeEndian, UnwindSection};
use object::{Object, ObjectSection};

use crate::decode::code::{Flow, Instruction};
use crate::decode::{Isa, Linear};
use crate::program::memory::Memory;
use crate::program::sections::{Code, Mark, Symbol};
use crate::program::slice::{Cases, Ways};
use crate::program::switches::leads_to;

/// Vectors of a Cortex-M: 15 of the architecture and 496 of the chip.
const VECTORS_MAX: usize = 511;

/// Where functions begin, with the instruction set there.
pub(super) type Starts = BTreeSet<(u64, Isa)>;

/// What a file without symbols says of its functions.
#[derive(Debug, Default)]
pub(super) struct KnownStarts {
    pub starts: Starts,
    /// Where functions end whose beginnings are known, by these.
    pub ends: BTreeMap<u64, u64>,
    /// All of its starts are Thumb.
    pub is_thumb: bool,
}

impl KnownStarts {
    /// The address lies in a function that begins before it.
    fn is_inside(&self, address: u64) -> bool {
        let before = self.ends.range(..=address).next_back();
        before.is_some_and(|(start, end)| (start + 1..*end).contains(&address))
    }

    /// What a start reaches, up to another one or its own end.
    fn reach(&self, code: &Code, memory: &Memory, from: (u64, Isa), next: Option<u64>) -> Reach {
        let (start, isa) = from;
        let ends = [next, self.ends.get(&start).copied(), Some(code.end())];
        let end = ends.into_iter().flatten().min().unwrap_or(start);
        reach(&Region { code, memory, range: start..end, isa })
    }
}

/// Where a function may have code.
struct Region<'a> {
    code: &'a Code,
    memory: &'a Memory,
    range: Range<u64>,
    isa: Isa,
}

/// What a start reaches.
#[derive(Debug, Default)]
struct Reach {
    /// Instructions, each with where it ends.
    code: BTreeMap<u64, u64>,
    /// Where calls lead, and branches out of the function.
    leads: Starts,
    /// It jumps to what is computed.
    jumps: bool,
    /// Loads of constants beside the code, with where these lie.
    loads: BTreeMap<u64, u64>,
}

/// The functions that the known starts reach, by address; what lies between their instructions is
/// marked. A place that is `asked` for and that none of them reaches is a start as well.
pub(super) fn functions(
    sections: &mut [Code],
    memory: &Memory,
    known: &KnownStarts,
    asked: Option<(u64, Isa)>,
) -> Vec<Symbol> {
    let mut found = BTreeMap::new();
    explore((sections, memory), known, known.starts.iter().copied().collect(), &mut found);
    let is_reached = |(at, _): &(u64, Isa)| {
        found.values().any(|(_, reach): &(Isa, Reach)| reach.code.contains_key(at))
    };
    if let Some(asked) = asked.filter(|asked| !is_reached(asked)) {
        explore((sections, memory), known, vec![asked], &mut found);
    }
    symbols(sections, known, found)
}

/// Adds functions at the places that are open, and at all that they lead to.
fn explore(
    (sections, memory): (&[Code], &Memory),
    known: &KnownStarts,
    mut open: Vec<(u64, Isa)>,
    found: &mut BTreeMap<u64, (Isa, Reach)>,
) {
    let code_at = |address| sections.iter().find(|code: &&Code| code.has(address));
    while !open.is_empty() {
        while let Some((start, isa)) = open.pop() {
            let Some(code) = code_at(start) else { continue };
            if found.contains_key(&start) || known.is_inside(start) {
                continue;
            }
            let next = found.range(start + 1..).next().map(|(next, _)| *next);
            let reach = known.reach(code, memory, (start, isa), next);
            open.extend(&reach.leads);
            found.insert(start, (isa, reach));
        }
        // A start that was found later ends the one before it.
        let later: Vec<u64> = found.keys().copied().collect();
        for pair in later.windows(2) {
            let (isa, before) = &found[&pair[0]];
            if before.end() > Some(pair[1]) {
                let code = code_at(pair[0]).expect("it was read");
                let reach = known.reach(code, memory, (pair[0], *isa), Some(pair[1]));
                open.extend(&reach.leads);
                found.insert(pair[0], (*isa, reach));
            }
        }
    }
}

fn symbols(
    sections: &mut [Code],
    known: &KnownStarts,
    found: BTreeMap<u64, (Isa, Reach)>,
) -> Vec<Symbol> {
    let starts: Vec<u64> = found.keys().copied().collect();
    let mut symbols = Vec::new();
    for (start, (isa, reach)) in found {
        let section = sections.iter().position(|code| code.has(start)).expect("it was read");
        let code = &mut sections[section];
        let next = starts.get(starts.partition_point(|other| *other <= start)).copied();
        let rest = code.end().min(next.unwrap_or(u64::MAX));
        let own = known.ends.get(&start).map(|end| *end.min(&rest));
        let end = own.or(if reach.jumps { Some(rest) } else { reach.end() });
        let Some(end) = end.filter(|end| *end > start) else { continue };
        mark(code, &reach, isa, own.is_none());
        symbols.push(Symbol {
            name: format!("{start:#x}"),
            address: start,
            size: end - start,
            isa,
            is_cold: false,
            is_global: true,
            is_weak: false,
            parts: Vec::new(),
            section,
        });
    }
    for code in sections {
        code.marks.sort_by_key(|(at, _)| *at);
    }
    symbols
}

/// Follows branches from the first address of a region, and no further than its end, nor into what
/// loads beside the code name: after a call that does not return, constants may follow.
fn reach(region: &Region<'_>) -> Reach {
    let mut constants = BTreeSet::new();
    loop {
        let reach = walk(region, &constants);
        let mut new = reach.loads.iter().filter(|(_, place)| !constants.contains(*place));
        // What lies behind the first of them may be no code at all.
        let Some((_, first)) = new.next() else { return reach };
        let first = *first;
        let before = reach.loads.range(..first.max(region.range.start)).map(|(_, place)| *place);
        let n_known = constants.len();
        constants.extend(before.chain([first]));
        if constants.len() == n_known {
            return reach;
        }
    }
}

fn walk(region: &Region<'_>, constants: &BTreeSet<u64>) -> Reach {
    let mut reach = Reach::default();
    let mut instructions = BTreeMap::new();
    let mut open = vec![region.range.start];
    let mut led_to = BTreeSet::new();
    loop {
        while let Some(at) = open.pop() {
            piece(region, constants, at, &mut reach, &mut instructions, &mut open);
        }
        // Tables are read by all the code that is found, and lead to more.
        let (places, is_left) = rows(region, &instructions);
        open.extend(places.difference(&led_to));
        if open.is_empty() {
            reach.jumps = is_left;
            return reach;
        }
        led_to = places;
    }
}

/// One instruction after the other, from a place on, as far as each leads to the next.
fn piece(
    region: &Region<'_>,
    constants: &BTreeSet<u64>,
    mut at: u64,
    reach: &mut Reach,
    instructions: &mut BTreeMap<u64, Instruction>,
    open: &mut Vec<u64>,
) {
    let Region { code, range, isa, .. } = region;
    let isa = *isa;
    let mut linear = Linear::new(isa);
    while range.contains(&at) && !reach.code.contains_key(&at) && !constants.contains(&at) {
        let bytes = &code.bytes[(at - code.base) as usize..(range.end - code.base) as usize];
        let Ok(instruction) = linear.decode(at, bytes) else { break };
        let end = at + u64::from(instruction.length).max(1);
        reach.code.insert(at, end);
        let other = match isa {
            Isa::T32 if instruction.text.starts_with("blx") => Isa::A32,
            Isa::A32 if instruction.text.starts_with("blx") => Isa::T32,
            same => same,
        };
        match instruction.flow {
            Flow::Branch { target, .. } if range.contains(&target) => open.push(target),
            Flow::Branch { target, .. } => _ = reach.leads.insert((target, isa)),
            Flow::Call { target: Some(target) } => _ = reach.leads.insert((target, other)),
            _ => {}
        }
        if let ([access], Isa::A32 | Isa::T32) = (&instruction.accesses[..], isa)
            && access.base.is_none()
            && access.index.is_none()
            && let Ok(place) = u64::try_from(access.disp)
        {
            reach.loads.insert(at, place);
        }
        // What stands in a delay slot is executed before the branch leaves.
        let is_delayed = isa == Isa::Sparc && instruction.flow != Flow::Next;
        if is_delayed && let Ok(slot) = linear.decode(end, bytes.get(4..).unwrap_or_default()) {
            reach.code.insert(end, end + u64::from(slot.length));
        }
        let goes_on = goes_on(&instruction);
        instructions.insert(at, instruction);
        if !goes_on {
            break;
        }
        at = if is_delayed { end + 4 } else { end };
    }
}

/// Where the computed jumps of the region lead by tables, and whether there is one of which that
/// this stays unknown here.
fn rows(region: &Region<'_>, instructions: &BTreeMap<u64, Instruction>) -> (BTreeSet<u64>, bool) {
    let is_jump = |instruction: &&Instruction| instruction.flow == Flow::Jump;
    if !instructions.values().any(|instruction| is_jump(&instruction)) {
        return (BTreeSet::new(), false);
    }
    let all: Vec<Instruction> = instructions.values().cloned().collect();
    let ways = Ways::of(region.isa, &all, region.memory, &Cases::new());
    let (mut places, mut is_left) = (BTreeSet::new(), false);
    for (idx, _) in all.iter().enumerate().filter(|(_, instruction)| is_jump(instruction)) {
        match leads_to(&ways, idx, None, None, |to| region.range.contains(&to)) {
            Some(rows) => places.extend(rows),
            None => is_left = true,
        }
    }
    (places, is_left)
}

/// The next instruction may follow.
fn goes_on(instruction: &Instruction) -> bool {
    match instruction.flow {
        Flow::Next | Flow::Call { .. } | Flow::Branch { is_conditional: true, .. } => true,
        Flow::Branch { is_conditional: false, .. } | Flow::LastCall | Flow::Stop => false,
        Flow::Return | Flow::Resume | Flow::Jump => instruction.is_guarded(),
    }
}

/// Marks the instructions of a function, and what lies between them as data if it has some.
fn mark(code: &mut Code, reach: &Reach, isa: Isa, has_data: bool) {
    let own = if isa == Isa::T32 { Mark::Thumb } else { Mark::Code };
    let mut behind = None;
    for (at, end) in &reach.code {
        match behind {
            Some(behind) if behind >= *at => {}
            Some(gap) if has_data && !reach.jumps => {
                code.marks.extend([(gap, Mark::Data), (*at, own)])
            }
            Some(_) => {}
            None => code.marks.push((*at, own)),
        }
        behind = behind.max(Some(*end));
    }
}

impl Reach {
    /// Behind its last instruction.
    fn end(&self) -> Option<u64> {
        self.code.values().max().copied()
    }
}

/// What a linked file without symbols says of its functions: its entry, and what it has for
/// unwinders. Rows of `.ARM.exidx` do not tell Thumb from A32, and are left out.
pub(super) fn known(file: &object::File<'_>, machine: Isa) -> KnownStarts {
    let mut addresses = BTreeSet::from([file.entry()]);
    let mut ends = BTreeMap::new();
    if let Some(section) = file.section_by_name(".eh_frame")
        && let Ok(data) = section.data()
    {
        let order =
            if file.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
        let mut frames = EhFrame::new(data, order);
        frames.set_address_size(if file.is_64() { 8 } else { 4 });
        let bases = BaseAddresses::default().set_eh_frame(section.address());
        let mut entries = frames.entries(&bases);
        while let Ok(Some(entry)) = entries.next() {
            if let CieOrFde::Fde(partial) = entry
                && let Ok(fde) = partial.parse(EhFrame::cie_from_offset)
            {
                addresses.insert(fde.initial_address());
                ends.insert(fde.initial_address(), fde.initial_address().wrapping_add(fde.len()));
            }
        }
    }
    let is_thumb = addresses.iter().all(|address| address & 1 == 1);
    let starts = addresses.into_iter().map(|address| start(address, machine, is_thumb)).collect();
    KnownStarts { starts, ends, is_thumb }
}

/// A start as a pointer in the program would be: of Arm's two sets an odd one means Thumb.
pub(super) fn start(address: u64, machine: Isa, is_thumb: bool) -> (u64, Isa) {
    match machine {
        Isa::A32 | Isa::T32 if is_thumb || machine == Isa::T32 || address & 1 == 1 => {
            (address & !1, Isa::T32)
        }
        _ => (address, machine),
    }
}

/// Where the vectors of a Cortex-M lead, if the code begins with them: the first word is the top of
/// a stack, the second the odd address of code where it starts. They end where code begins.
pub(super) fn vectors(code: &Code, sections: &[Code]) -> Vec<u64> {
    let word = |bytes: &[u8]| u64::from(u32::from_le_bytes(bytes.try_into().expect("four bytes")));
    let mut words = code.bytes.chunks_exact(4).map(word);
    let is_code = |word: &u64| word & 1 == 1 && sections.iter().any(|code| code.has(word & !1));
    let stack = words.next().filter(|stack| stack & 3 == 0);
    let Some(start) = stack.and_then(|_| words.next()).filter(is_code) else { return Vec::new() };
    let (mut found, mut first) = (vec![start], start);
    for (word, at) in words.take(VECTORS_MAX - 1).zip((code.base + 8..).step_by(4)) {
        if first >= code.base && at >= first & !1 {
            break;
        }
        // Some chips keep a checksum among them.
        if is_code(&word) {
            found.push(word);
            first = if word >= code.base { first.min(word) } else { first };
        }
    }
    found
}
