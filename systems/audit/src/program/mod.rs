//! An ELF file as functions: which there are, where their code lies, what it calls, which
//! lines it comes from.

pub(crate) mod addresses;
mod arguments;
pub mod boot;
mod capabilities;
pub mod compile_commands;
pub mod content;
pub mod find;
pub mod function;
pub mod image;
mod joined;
pub mod lines;
mod links;
mod memory;
mod moved;
pub mod names;
mod relocate;
mod sections;
mod slice;
mod stripped;
mod switches;
mod symbols;
pub mod tables;
pub mod toolchain;
pub mod types;
mod units;

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use object::read::archive::ArchiveFile;
use object::{Architecture, File, Object, ObjectSection, ObjectSymbol, SectionKind};
use report::Diagnostic;

use crate::decode::code::{Class, Flow, Instruction, Reg, Undecodable};
use crate::decode::{Isa, Linear};
use crate::facts::{frame, stack_switch};
use crate::program::capabilities::Capabilities;
use crate::program::content::Content;
use crate::program::function::Function;
use crate::program::image::Segment;
use crate::program::lines::Lines;
use crate::program::links::{links, pointers};
use crate::program::memory::Memory;
use crate::program::relocate::Layout;
use crate::program::sections::{Code, Link, Mark};
use crate::program::symbols::{marks, symbols};
use crate::program::tables::Tables;

/// What is said of a file without functions.
const NO_FUNCTIONS: &str = "names no functions";

/// Functions of the C and C++ libraries that do not return, for files without debug information.
const NEVER_RETURN: [&str; 14] = [
    "abort",
    "exit",
    "_exit",
    "_Exit",
    "quick_exit",
    "__assert_fail",
    "__assert",
    "__assert_func",
    "__stack_chk_fail",
    "__chk_fail",
    "__fortify_fail",
    "longjmp",
    "_Unwind_Resume",
    "__cxa_throw",
];

pub use crate::program::sections::Symbol;

#[derive(Debug)]
pub struct Program {
    /// The file, as the user wrote it.
    pub name: String,
    /// Its instruction set; of a file with A32 and Thumb, that of its first function.
    pub isa: Isa,
    /// Its functions, by address.
    pub symbols: Vec<Symbol>,
    pub lines: Lines,
    /// Where its faults go on, and what is written over when it starts.
    pub tables: Tables,
    /// The features of processors that it tells apart.
    capabilities: Capabilities,
    sections: Vec<Code>,
    memory: Memory,
    links: BTreeMap<u64, Link>,
    /// What a linker would write beside the code or into `movt`, by its address (A32, Thumb).
    pointers: BTreeMap<u64, Link>,
    /// Places in sections with code that a linker would still write.
    relocated: BTreeSet<u64>,
    /// Where the sections of a linked file lie.
    objects: Vec<Range<u64>>,
    /// It is code without a file's format around it.
    is_image: bool,
    /// The first of its functions of each name, as a place in the list.
    by_name: OnceCell<BTreeMap<String, usize>>,
    /// The arguments of its functions by their code, by address, where that was asked.
    by_code: RefCell<BTreeMap<u64, Option<Vec<Reg>>>>,
    /// Its symbols are those that other files may use, and it has more functions.
    pub names_exports_alone: bool,
}

/// A function's code, and the words in it that are no instructions.
#[derive(Debug)]
pub struct Decoded {
    pub function: Function,
    /// What could not be decoded.
    pub undecodable: Vec<Undecodable>,
}

impl Program {
    /// Reads an ELF file; `name` is for messages.
    pub fn parse(name: &str, bytes: &[u8]) -> Result<Program, Diagnostic> {
        Program::of(name, bytes, None)
    }

    /// The same of a file, of which debug information may be left out of the bytes.
    fn of(name: &str, bytes: &[u8], content: Option<&Content>) -> Result<Program, Diagnostic> {
        let refuse = |said: String| Diagnostic::new(format!("`{name}` {said}"));
        if !bytes.starts_with(b"\x7fELF") {
            let is_ir = bytes.starts_with(b"BC\xc0\xde") || name.ends_with(".ll");
            let (said, help) = if is_ir {
                (
                    "is LLVM IR, not machine code",
                    "compile it first, such as with `clang -c --target=aarch64-linux-gnu FILE.ll -o FILE.o`",
                )
            } else {
                (
                    "is not an ELF file",
                    "the input is a C file (.c), assembly (.s, .S), a compiled ELF file, Intel HEX or S-records; of raw bytes say where they lie: FILE@0xADDRESS",
                )
            };
            return Err(refuse(said.into()).with_help(help));
        }
        let file = File::parse(bytes).map_err(|error| {
            refuse(format!("is a damaged ELF file: {}", lower(&error.to_string())))
        })?;
        let machine = isa_of(&file).map_err(&refuse)?;
        let layout = Layout::of(&file);
        let mut sections: Vec<Code> = Vec::new();
        let mut places: BTreeMap<usize, usize> = BTreeMap::new();
        for section in file.sections().filter(|section| section.kind() == SectionKind::Text) {
            let data = section.data().map_err(|error| {
                refuse(format!("is a damaged ELF file: {}", lower(&error.to_string())))
            })?;
            places.insert(section.index().0, sections.len());
            sections.push(Code {
                base: layout.base(section.index()),
                bytes: data.to_vec(),
                marks: Vec::new(),
            });
        }
        marks(&file, &layout, &places, &mut sections);
        let memory = Memory::of(&file, &layout, machine);
        let mut symbols = symbols(&file, machine, &layout, &places, &sections);
        let asked = content.and_then(|content| content.asked);
        let is_bare = file.kind() != object::ObjectKind::Relocatable
            && file.symbols().all(|symbol| symbol.section_index().is_none());
        let is_missing = |asked: u64| !symbols.iter().any(|symbol| symbol.has(asked));
        let names_exports_alone = is_bare && !symbols.is_empty();
        if is_bare && (symbols.is_empty() || asked.is_some_and(is_missing)) {
            let mut known = stripped::known(&file, machine);
            if let Some(first) = sections.first().filter(|_| machine == Isa::A32 && known.is_thumb)
            {
                let vectors = stripped::vectors(first, &sections);
                known.starts.extend(vectors.iter().map(|at| stripped::start(*at, machine, true)));
            }
            known.starts.extend(symbols.iter().map(|symbol| (symbol.address, symbol.isa)));
            let asked = asked.map(|asked| stripped::start(asked, machine, known.is_thumb));
            let named = std::mem::take(&mut symbols);
            symbols = stripped::functions(&mut sections, &memory, &known, asked);
            // What the file names keeps its name.
            symbols.retain(|symbol| named.iter().all(|it| it.address != symbol.address));
            symbols.extend(named);
            symbols.sort_by(|a, b| (a.address, &a.name).cmp(&(b.address, &b.name)));
        }
        if symbols.is_empty() {
            let waits = file.sections().any(|section| {
                section.name_bytes().is_ok_and(|name| name.starts_with(b".gnu.lto_"))
            });
            let help = match waits {
                true => {
                    "its code is made when it is linked (-flto): audit the linked program, or add -ffat-lto-objects"
                }
                false if file.sections().next().is_none() => {
                    "it has no section headers, by which code is found"
                }
                false => {
                    "it has no code, or none that its entry leads to: name an address, --function 0xADDRESS"
                }
            };
            return Err(refuse(NO_FUNCTIONS.into()).with_help(help));
        }
        let isa = symbols.first().map_or(machine, |symbol| symbol.isa);
        let links = links(&file, &layout, machine);
        let pointers = pointers(&file, &layout, machine);
        let lines = Lines::read(&file, &layout, content);
        let text = file.sections().filter(|section| section.kind() == SectionKind::Text);
        let places = |section: object::Section<'_, '_>| {
            let base = layout.base(section.index());
            section.relocations().map(|(offset, _)| base.wrapping_add(offset)).collect::<Vec<u64>>()
        };
        let is_linked = file.kind() != object::ObjectKind::Relocatable;
        let relocated = if is_linked { BTreeSet::new() } else { text.flat_map(places).collect() };
        let placed = file.sections().filter(|section| is_linked && section.address() != 0);
        let objects = placed
            .map(|placed| placed.address()..placed.address().saturating_add(placed.size()))
            .collect();
        let code: Vec<Range<u64>> = sections
            .iter()
            .map(|section| section.base..section.base + section.bytes.len() as u64)
            .collect();
        let tables = Tables::read(&file, &layout, isa, &code);
        let members = |address: u64, name: &str| lines.members(address, name);
        let capabilities = Capabilities::read(&file, members).unwrap_or_default();
        Ok(Program {
            name: name.to_owned(),
            isa,
            symbols,
            lines,
            tables,
            capabilities,
            sections,
            memory,
            links,
            pointers,
            relocated,
            objects,
            is_image: false,
            by_name: OnceCell::new(),
            by_code: RefCell::default(),
            names_exports_alone,
        })
    }

    /// Code without a file's format around it, for a machine that runs these instruction sets. Its
    /// functions are what its vectors and calls lead to, what begins at its first byte, and what is
    /// `asked` for by its address.
    ///
    /// Errors: no start leads to an instruction.
    pub fn of_image(
        name: &str,
        segments: Vec<Segment>,
        sets: &[Isa],
        asked: Option<u64>,
    ) -> Result<Program, Diagnostic> {
        let machine = if sets.contains(&Isa::A32) { Isa::A32 } else { sets[0] };
        let code = |Segment { base, bytes }: Segment| Code { base, bytes, marks: Vec::new() };
        let mut sections: Vec<Code> = segments.into_iter().map(code).collect();
        let first = sections.first();
        let vectors = first.filter(|_| machine == Isa::T32);
        let vectors = vectors.map_or(Vec::new(), |first| stripped::vectors(first, &sections));
        let first = first.map(|first| first.base).filter(|_| vectors.is_empty());
        let start = |address| stripped::start(address, machine, false);
        let starts = vectors.into_iter().chain(first).map(start).collect();
        let known = stripped::KnownStarts { starts, ..stripped::KnownStarts::default() };
        let parts = sections.iter().map(|section| (section.base, section.bytes.clone()));
        let memory = Memory::from_parts(parts);
        let symbols = stripped::functions(&mut sections, &memory, &known, asked.map(start));
        let Some(isa) = symbols.first().map(|symbol| symbol.isa) else {
            let refused = Diagnostic::new(format!("`{name}` does not begin with code"));
            return Err(refused.with_help("name an address of code: --function 0xADDRESS"));
        };
        Ok(Program {
            name: name.to_owned(),
            isa,
            symbols,
            lines: Lines::none("machine code alone has no line information"),
            tables: Tables::default(),
            capabilities: Capabilities::default(),
            links: BTreeMap::new(),
            pointers: BTreeMap::new(),
            relocated: BTreeSet::new(),
            objects: Vec::new(),
            is_image: true,
            by_name: OnceCell::new(),
            by_code: RefCell::default(),
            names_exports_alone: false,
            sections,
            memory,
        })
    }

    /// Reads an ELF file, or all in an archive of them; and why members are left out that do
    /// not even name functions.
    pub fn parse_all(
        name: &str,
        content: &Content,
    ) -> Result<(Vec<Program>, Vec<Diagnostic>), Diagnostic> {
        let bytes = &content.bytes[..];
        if bytes.starts_with(b"!<thin>\n") {
            let said = Diagnostic::new(format!(
                "`{name}` is a thin archive: it names files, and holds none"
            ));
            return Err(said.with_help(
                "audit one of those files, or an archive that holds them: `ar rc` without T",
            ));
        }
        if !bytes.starts_with(b"!<arch>\n") {
            return Program::of(name, bytes, Some(content)).map(|one| (vec![one], Vec::new()));
        }
        let damaged = |error: object::Error| {
            Diagnostic::new(format!("`{name}` is a damaged archive: {}", lower(&error.to_string())))
        };
        let archive = ArchiveFile::parse(bytes).map_err(damaged)?;
        let (mut programs, mut left_out) = (Vec::new(), Vec::new());
        for member in archive.members() {
            let member = member.map_err(damaged)?;
            let shown = format!("{name}({})", String::from_utf8_lossy(member.name()));
            // A member begins at any even place; ELF wants its own alignment.
            let data = member.data(bytes).map_err(damaged)?.to_vec();
            if data.starts_with(b"!<arch>\n") || data.starts_with(b"!<thin>\n") {
                let inner = String::from_utf8_lossy(member.name());
                let said = Diagnostic::new(format!(
                    "`{shown}` is an archive in an archive, which no linker looks into"
                ));
                left_out.push(
                    said.with_help(format!("`ar x {name} {inner}` takes it out; audit that")),
                );
                continue;
            }
            match Program::parse(&shown, &data) {
                Ok(program) => programs.push(program),
                Err(error) => left_out.push(error),
            }
        }
        if programs.is_empty() {
            return Err(left_out.pop().unwrap_or_else(|| {
                Diagnostic::new(format!("`{name}` is an archive without members"))
            }));
        }
        // Members with data alone are as usual as any.
        left_out.retain(|left_out| !left_out.message.contains(NO_FUNCTIONS));
        Ok((programs, left_out))
    }

    /// A function of this program, or one that it calls, is called so.
    pub fn knows(&self, name: &str) -> bool {
        let is_meant = |text: &str| {
            text == name
                || text.split('.').next() == Some(name)
                || names::is_called(&names::shown(text), name)
        };
        let called = self.links.values().filter_map(|link| link.symbol.as_deref());
        self.symbols.iter().map(|symbol| symbol.name.as_str()).chain(called).any(is_meant)
    }

    /// The instruction sets of its functions.
    pub fn isas(&self) -> BTreeSet<Isa> {
        self.symbols.iter().map(|symbol| symbol.isa).collect()
    }

    /// The name of the function at this address.
    pub fn name_at(&self, address: u64) -> Option<&str> {
        let after = self.symbols.partition_point(|symbol| symbol.address <= address);
        let symbol = self.symbols[..after].last()?;
        (symbol.address == address).then_some(symbol.name.as_str())
    }

    /// The function's instructions with all that is known of them.
    pub fn decode(&self, symbol: &Symbol) -> Result<Decoded, Diagnostic> {
        let mut decoded = self.decode_without_lines(symbol)?;
        let function = &mut decoded.function;
        function.frames = function
            .instructions
            .iter()
            .map(|instruction| self.lines.frames(instruction.address))
            .collect();
        self.find_arguments(function);
        Ok(decoded)
    }

    /// The same without the lines they come from, which takes less time.
    pub fn decode_without_lines(&self, symbol: &Symbol) -> Result<Decoded, Diagnostic> {
        if !symbol.parts.is_empty() {
            return self.decode_parts(symbol);
        }
        let code = &self.sections[symbol.section];
        let start = (symbol.address - code.base) as usize;
        let end = start + symbol.size as usize;
        let mut at = start;
        let mut instructions = Vec::new();
        let mut undecodable = Vec::new();
        let mut linear = Linear::new(symbol.isa);
        while at < end {
            let address = code.base + at as u64;
            let isa = match code.mark(address) {
                Some(Mark::Data) => {
                    // What is guarded ends before data.
                    linear = Linear::new(linear.isa());
                    let next =
                        code.next_mark(address).map_or(end, |next| (next - code.base) as usize);
                    if next < end && runs_into(&instructions, address) {
                        undecodable.extend(executed(
                            linear.isa(),
                            address,
                            &code.bytes[at..next],
                            &mut instructions,
                        ));
                    }
                    at = next;
                    continue;
                }
                // A function of one of Arm's two sets may go on in the other.
                Some(Mark::Thumb) => Isa::T32,
                Some(Mark::Code) if symbol.isa == Isa::T32 => Isa::A32,
                Some(Mark::Code) | None => symbol.isa,
            };
            if isa != linear.isa() {
                linear = Linear::new(isa);
            }
            match linear.decode(address, &code.bytes[at..end]) {
                Ok(mut instruction) => {
                    at += usize::from(instruction.length).max(1);
                    self.complete(&mut instruction, address);
                    addresses::forget_relocated(&mut instruction, &self.relocated, isa);
                    instructions.push(instruction);
                }
                Err(word) => {
                    let unknown = isa.unknown(&word, &code.bytes[at..end]);
                    at += usize::from(unknown.length);
                    instructions.push(unknown);
                    undecodable.push(word);
                }
            }
        }
        switches::far_jumps(symbol, &mut instructions);
        let linked = |at: u64| self.links.get(&at).and_then(|link| link.target);
        let pairs = addresses::follow_pairs(
            symbol.address..symbol.address + symbol.size,
            &mut instructions,
            symbol.isa,
            linked,
        );
        let through = self.through_registers(code, &mut instructions, symbol.isa);
        let frames = vec![Vec::new(); instructions.len()];
        let mut callees = BTreeMap::new();
        for instruction in &instructions {
            let inside =
                |target: u64| (symbol.address..symbol.address + symbol.size).contains(&target);
            let linked =
                self.links.get(&instruction.address).or_else(|| through.get(&instruction.address));
            let target = match instruction.flow {
                Flow::Call { target } => target,
                Flow::Branch { target, .. }
                    if !inside(target) || linked.is_some_and(|linked| linked.target.is_none()) =>
                {
                    Some(target)
                }
                Flow::Jump => pairs
                    .get(&instruction.address)
                    .copied()
                    .or(linked.and_then(|linked| linked.target)),
                Flow::Branch { .. }
                | Flow::Next
                | Flow::LastCall
                | Flow::Return
                | Flow::Resume
                | Flow::Stop => continue,
            };
            let named = linked.and_then(|linked| linked.symbol.clone());
            let known = target.and_then(|target| self.name_at(target)).map(str::to_owned);
            if let Some(name) = known.or(named) {
                callees.insert(instruction.address, name);
            }
        }
        let known = (&callees, &self.relocated);
        let cases = switches::read_tables(code, &self.memory, symbol.isa, &mut instructions, known);
        addresses::forget_linked(&mut instructions, &self.objects, symbol.isa);
        for instruction in &mut instructions {
            let Flow::Call { target } = instruction.flow else { continue };
            let Some(callee) = callees.get(&instruction.address) else { continue };
            if self.lines.never_returns(callee, instruction.address, target)
                || self.is_librarys_last(callee)
            {
                instruction.flow = Flow::LastCall;
            }
        }
        let constants = instructions
            .iter()
            .filter_map(|instruction| {
                let constant = self.constant(code, instruction)?;
                let is_address = self.is_linked_address(u64::from(constant));
                (!is_address).then_some((instruction.address, constant))
            })
            .collect();
        let tables = self.tables_of(symbol);
        let (name, isa, is_cold) = (symbol.name.clone(), symbol.isa, symbol.is_cold);
        let mut function = Function {
            name,
            isa,
            instructions,
            frames,
            callees,
            is_cold,
            constants,
            tables,
            cases,
            arguments: BTreeMap::new(),
            addresses: BTreeMap::new(),
        };
        for idx in frame::last_calls(&function) {
            function.instructions[idx].flow = Flow::LastCall;
        }
        if stack_switch::switches_stack(&function) {
            function
                .instructions
                .iter_mut()
                .filter(|instruction| instruction.flow == Flow::Return)
                .for_each(|instruction| instruction.flow = Flow::Resume);
        }
        Ok(Decoded { function, undecodable })
    }

    /// Where Arm's calls and jumps through registers go whose target is a number in the code, or
    /// one that a linker would write, by address.
    fn through_registers(
        &self,
        code: &Code,
        instructions: &mut [Instruction],
        isa: Isa,
    ) -> BTreeMap<u64, Link> {
        let mut found = BTreeMap::new();
        for (jump, writer) in addresses::register_jumps(instructions, isa) {
            let beside = instructions[writer]
                .accesses
                .first()
                .and_then(|access| u64::try_from(access.disp).ok());
            let pointer =
                self.pointers.get(&beside.unwrap_or(instructions[writer].address)).cloned();
            let number = || {
                let loaded = self.constant(code, &instructions[writer]).map(u64::from);
                let target =
                    loaded.or_else(|| addresses::pair_of_halves(instructions, writer, isa))?;
                Some(Link { symbol: None, target: Some(target & !1) })
            };
            let Some(link) = pointer.or_else(number) else { continue };
            if let Flow::Call { target } = &mut instructions[jump].flow {
                *target = link.target;
            }
            found.insert(instructions[jump].address, link);
        }
        found
    }

    /// A function of the C library that never returns, and not one of this file that has its name.
    fn is_librarys_last(&self, name: &str) -> bool {
        NEVER_RETURN.contains(&name) && !self.symbols.iter().any(|symbol| symbol.name == name)
    }

    /// What an instruction of A32 or Thumb loads from beside the code.
    fn constant(&self, code: &Code, instruction: &Instruction) -> Option<u32> {
        let [access] = instruction.accesses[..] else { return None };
        let address = u64::try_from(access.disp)
            .ok()
            .filter(|_| access.base.is_none() && access.index.is_none())?;
        if !matches!(self.isa, Isa::A32 | Isa::T32)
            || access.is_store
            || access.width != 4
            || self.relocated.contains(&address)
        {
            return None;
        }
        let bytes = code.bytes.get(usize::try_from(address.checked_sub(code.base)?).ok()?..)?;
        Some(u32::from_le_bytes(*bytes.first_chunk()?))
    }

    /// Something of the program may lie at the address that a number in its code is. Code alone does
    /// not say where its data lies.
    pub fn may_have(&self, address: u64) -> bool {
        self.is_image
            || self.objects.iter().any(|object| object.contains(&address))
            || self.sections.iter().any(|section| section.has(address))
    }

    /// A linker wrote this number into a word: it is an address in one of the program's sections,
    /// and no constant of the source.
    fn is_linked_address(&self, value: u64) -> bool {
        let is_linked = self.is_image || !self.objects.is_empty();
        is_linked
            && (self.objects.iter().any(|object| object.contains(&value))
                || self.sections.iter().any(|section| section.has(value)))
    }

    /// Puts the target in place that a linker would write.
    fn complete(&self, instruction: &mut Instruction, address: u64) {
        let Some(link) = self.links.get(&address) else { return };
        match &mut instruction.flow {
            Flow::Branch { target, .. } => {
                // A jump to another file goes nowhere here.
                *target = link.target.unwrap_or(u64::MAX);
                let shown = instruction
                    .text
                    .rfind(' ')
                    .map(|at| at + 1)
                    .filter(|at| instruction.text[*at..].starts_with("0x"));
                if let (Some(at), Some(target)) = (shown, link.target) {
                    instruction.text.replace_range(at.., &format!("{target:#x}"));
                }
            }
            Flow::Call { target } => *target = link.target,
            Flow::Next | Flow::LastCall | Flow::Return | Flow::Resume | Flow::Jump | Flow::Stop => {
            }
        }
    }
}

/// The last of these goes on to this address, whatever is in the way of it. What aligns a literal
/// pool after a jump is not run.
fn runs_into(instructions: &[Instruction], address: u64) -> bool {
    let behind = instructions
        .iter()
        .rposition(|instruction| !is_padding(instruction))
        .map_or(0, |before| before + 1);
    let padding =
        instructions.get(behind).map_or(address, |instruction| instruction.address)..address;
    let leads_to = |instruction: &Instruction| matches!(instruction.flow, Flow::Branch { target, .. } if padding.contains(&target));
    let is_next = instructions
        .last()
        .is_some_and(|instruction| instruction.address + u64::from(instruction.length) == address);
    let goes_on = behind == 0 || instructions[behind - 1].flow == Flow::Next;
    is_next && (goes_on || instructions.iter().any(leads_to))
}

/// What assemblers and compilers fill up with.
fn is_padding(instruction: &Instruction) -> bool {
    instruction.class == Class::Nop || instruction.text == "nop" || instruction.is_filler()
}

/// Data between instructions that the code runs into are instructions of which only the words are
/// written, as for those that the assembler does not know.
fn executed(
    isa: Isa,
    address: u64,
    bytes: &[u8],
    instructions: &mut Vec<Instruction>,
) -> Vec<Undecodable> {
    let mut words = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let word = bytes[at..].iter().take(4).rev().fold(0, |sum, it| sum << 8 | u64::from(*it));
        let word = Undecodable {
            address: address + at as u64,
            word,
            why: "it is data that the code before it runs into".to_owned(),
        };
        let unknown = isa.unknown(&word, &bytes[at..]);
        at += usize::from(unknown.length).max(1);
        instructions.push(unknown);
        words.push(word);
    }
    words
}

fn isa_of(file: &File<'_>) -> Result<Isa, String> {
    let isa = match file.architecture() {
        Architecture::Arm => Isa::A32,
        Architecture::Aarch64 => Isa::A64,
        Architecture::Sparc | Architecture::Sparc32Plus => Isa::Sparc,
        Architecture::Riscv32 => Isa::Riscv32,
        Architecture::Riscv64 => Isa::Riscv64,
        Architecture::X86_64 => Isa::X86,
        other => {
            return Err(format!(
                "holds code for {other:?}; read are Arm, AArch64, SPARC, RISC-V and x86-64"
            ));
        }
    };
    let is_big = !file.is_little_endian();
    if is_big != (isa == Isa::Sparc) {
        return Err(format!(
            "is {}-endian {}, which is not read",
            if is_big { "big" } else { "little" },
            isa.name()
        ));
    }
    Ok(isa)
}

fn lower(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map_or(String::new(), |first| first.to_lowercase().collect::<String>() + letters.as_str())
}
