//! The code of a kernel as it is after it started: words that its tables name are written over, as
//! the core, the kernel's own tables of features and the user say.
//!
//! ```text
//! .altinstructions   b skip    -> nop    the core has the feature 26, "LSE atomic instructions"
//! __jump_table       nop                 its key begins unset, and so the word begins
//! ```
//!
//! What nobody says stays open: the words are those of the file, and nothing is concluded across
//! them. Source: Linux, `kernel/alternative.c` of arm64, version 6.1; `kernel/cpufeature.c` and
//! `errata` of riscv, version 6.12.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use machine::Identity;
use report::{Diagnostic, did_you_mean};

use crate::decode::code::Flow;
use crate::decode::{Isa, Linear};
use crate::program::moved::{branch, is_read, moved, nop, upper_of};
use crate::program::tables::{FeatureId, Patch, PatchKind, PatchState, PatchWriter, Tables, When};
use crate::program::{Program, Symbol};

/// What a place is open by whose rows contradict each other, or reach out of the code.
const NOT_UNDERSTOOD: &str = "a row that is not understood";

/// The word of `mov x9, x30`.
const KEEP_LINK: u32 = 0xaa1e_03e9;

/// The function of the kernel that writes `nop` over all words of its places.
const WRITES_NOPS: &str = "alt_cb_patch_nops";

/// The one that does so where the core has not this feature, if the kernel's command line does not
/// forbid that it does.
const WRITES_NOPS_WITHOUT: (&str, &str) =
    ("spectre_v4_patch_fw_mitigation_enable", "Speculative Store Bypassing Safe (SSBS)");

/// What is known of a start of the kernel.
#[derive(Debug, Clone, Default)]
pub struct Boot {
    /// What the core says of itself.
    pub core: Identity,
    pub said: BootWords,
}

/// What the user says of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BootWords {
    /// The code is to be as it is in the file.
    pub is_none: bool,
    /// Features that the kernel's log names; none without a log.
    pub log: Option<BTreeSet<String>>,
    /// What the log says of the core's registers.
    pub core: Identity,
    /// Features, functions and keys by name or number.
    pub names: BTreeMap<String, bool>,
}

impl BootWords {
    /// Adds what one word says, `none` or `NAME=on`; false if it is neither.
    pub fn add(&mut self, word: &str) -> bool {
        let named = word.rsplit_once('=').and_then(|(name, state)| match state {
            "on" => Some((name, true)),
            "off" => Some((name, false)),
            _ => None,
        });
        if let Some((name, is_on)) = named {
            self.names.insert(name.to_owned(), is_on);
        }
        self.is_none |= word == "none";
        word == "none" || named.is_some()
    }

    /// Adds what a kernel says, `dmesg` of arm64 or `/proc/cpuinfo` of riscv; false if that names no
    /// feature of its processors.
    pub fn add_log(&mut self, text: &str) -> bool {
        let mut harts: Vec<BTreeSet<String>> = Vec::new();
        // The kernel asks the first processor alone.
        let mut asked = BTreeSet::new();
        for (key, value) in text.lines().filter_map(|line| line.split_once(':')) {
            let (key, value) = (key.trim(), value.trim());
            if key == "isa" {
                harts.extend(extensions(value));
            } else if let Some(digits) = value.strip_prefix("0x")
                && let Ok(number) = u64::from_str_radix(digits, 16)
                && asked.insert(key)
            {
                self.core.set(key, number);
            }
        }
        // What all of them have is asked for.
        let shared = harts.into_iter().reduce(|all, one| &all & &one);
        let names = text.lines().filter_map(|line| {
            // The last two are those before version 4.18.
            const WAYS: [&str; 3] =
                ["detected: ", "detected feature: ", "enabling workaround for "];
            let (_, said) = line.split_once("CPU features: ")?;
            let said = WAYS.iter().find_map(|way| said.strip_prefix(way))?;
            // Since version 6.6 some say where they are.
            let name = said.rsplit_once(" on CPU").map_or(said, |(name, _)| name);
            Some(name.trim().to_owned())
        });
        let log = self.log.get_or_insert_default();
        log.extend(names);
        log.extend(shared.unwrap_or_default());
        !log.is_empty()
    }
}

impl Program {
    /// Writes the words over that are others after this start.
    pub fn boot(&mut self, boot: &Boot) {
        self.tables.are_before_boot = boot.said.is_none;
        let mut patches = std::mem::take(&mut self.tables.patches);
        let tracer = self.tracer_ahead();
        for (at, patch) in &mut patches {
            patch.state = match (boot.said.is_none, patch.kind) {
                (true, _) => PatchState::Kept,
                (_, PatchKind::Alternative) => self.write_alternative(*at, patch, boot),
                (_, PatchKind::JumpLabel) => self.write_jump_label(*at, patch, boot),
                (_, PatchKind::StaticCall) => open("static calls"),
                (_, PatchKind::Tracing) => self.write_tracing(*at, patch.end, tracer),
            };
        }
        self.tables.patches = patches;
    }

    /// What tables say of this function, with where the words lead that may be written into it.
    pub(super) fn tables_of(&self, symbol: &Symbol) -> Tables {
        let mut tables = self.tables.within(symbol.address..symbol.address + symbol.size);
        for patch in tables.patches.values_mut() {
            for writer in &patch.writers {
                let ways = self.ways_out(writer.replacement.clone(), symbol.isa);
                patch.leads_to.extend(ways);
            }
        }
        tables
    }

    /// Where the branches in a piece of code lead.
    fn ways_out(&self, range: Range<u64>, isa: Isa) -> Vec<u64> {
        let mut ways = Vec::new();
        let place = |code: &&super::Code| {
            (code.base..code.base + code.bytes.len() as u64).contains(&range.start)
        };
        let Some(code) = self.sections.iter().find(place) else { return ways };
        let (mut linear, mut at) = (Linear::new(isa), range.start);
        while at < range.end {
            let Some(bytes) = code.bytes.get((at - code.base) as usize..) else { break };
            let Ok(mut instruction) = linear.decode(at, bytes) else { break };
            self.complete(&mut instruction, at);
            if let Flow::Branch { target, .. } = instruction.flow {
                ways.push(target);
            }
            at += u64::from(instruction.length).max(1);
        }
        ways
    }

    /// Names that the user may say something of in this program.
    fn boot_names(&self) -> BTreeSet<String> {
        let writers = self.tables.patches.values().flat_map(|patch| &patch.writers);
        let (mut names, mut features) = (BTreeSet::new(), BTreeSet::new());
        for writer in writers {
            match &writer.when {
                When::Unknown => {}
                When::Feature(id) => _ = features.insert(*id),
                When::Callback { function, feature } => {
                    names.insert(function.clone());
                    features.extend(*feature);
                }
                When::Key { name, .. } => _ = names.insert(name.clone()),
            }
        }
        for id in features {
            names.extend(self.feature_names(id).chain(self.capabilities.found_by(id)));
        }
        names
    }

    /// A feature's name, if it has one, and its number.
    fn feature_names(&self, id: FeatureId) -> impl Iterator<Item = String> {
        let name = self.capabilities.named(id).map(str::to_owned);
        name.into_iter().chain([id.to_string()])
    }

    /// There is this feature after the start: none if that is not known, with its name.
    fn has_feature(&self, id: FeatureId, boot: &Boot) -> Result<bool, String> {
        let said = self.feature_names(id).find_map(|name| boot.said.names.get(&name).copied());
        // The log of riscv names no faults.
        let logged = |name: &str| {
            let log = boot.said.log.as_ref().filter(|_| !id.is_fault())?;
            Some(log.contains(name))
        };
        let of_name = |name: &str| boot.said.names.get(name).copied().or_else(|| logged(name));
        let name = self.capabilities.named(id);
        said.or_else(|| logged(name?))
            .or_else(|| self.capabilities.has(id, &boot.core, &of_name))
            .ok_or_else(|| name.map_or_else(|| format!("feature {id}"), str::to_owned))
    }

    fn write_alternative(&mut self, at: u64, patch: &mut Patch, boot: &Boot) -> PatchState {
        let (mut written, mut unknown) = (None, BTreeSet::new());
        // Others may have written before or after it.
        if patch.writers.iter().any(|writer| matches!(writer.when, When::Unknown)) {
            return open(NOT_UNDERSTOOD);
        }
        // It begins or ends where there is no code.
        if self.words(at..patch.end).is_none() {
            return open(NOT_UNDERSTOOD);
        }
        for writer in &patch.writers {
            match self.written_by(writer, at, patch.end, boot) {
                Ok(None) => {}
                // What was written there before counts no more.
                Ok(Some(words)) => {
                    (written, unknown) = (Some((words, writer.replacement.start)), BTreeSet::new());
                }
                Err(name) => _ = unknown.insert(name),
            }
        }
        if !unknown.is_empty() {
            return PatchState::Open(unknown);
        }
        let Some((words, from)) = written else { return PatchState::Kept };
        // On another core the words of the file stand there.
        patch.leads_to.extend(self.ways_out(at..patch.end, self.isa));
        self.write(at, &words, from);
        PatchState::Written
    }

    /// The words that a writer puts at these addresses; none if it leaves them alone.
    ///
    /// Errors: that is not known; by what it would be.
    fn written_by(
        &self,
        writer: &PatchWriter,
        from: u64,
        to: u64,
        boot: &Boot,
    ) -> Result<Option<Vec<u32>>, String> {
        match &writer.when {
            When::Unknown | When::Key { .. } => Err(NOT_UNDERSTOOD.to_owned()),
            When::Feature(id) => match self.has_feature(*id, boot)? {
                false => Ok(None),
                true => self.replaced(writer, from).map(Some),
            },
            When::Callback { function, feature } => {
                let said = boot.said.names.get(function);
                let is_called =
                    feature.map_or(Ok(true), |number| self.has_feature(number, boot))?;
                if said == Some(&false) || !is_called {
                    return Ok(None);
                }
                if said == Some(&true) && !writer.replacement.is_empty() {
                    return self.replaced(writer, from).map(Some);
                }
                let nops = vec![nop(self.isa); (to - from) as usize / 4];
                let has_not = |name: &str| {
                    let id = self.capabilities.id(name)?;
                    self.has_feature(id, boot).ok().map(|has| !has)
                };
                match function.as_str() {
                    WRITES_NOPS => Ok(Some(nops)),
                    name if name == WRITES_NOPS_WITHOUT.0 => match has_not(WRITES_NOPS_WITHOUT.1) {
                        Some(is_free) => Ok(is_free.then_some(nops)),
                        None => Err(function.clone()),
                    },
                    _ => Err(function.clone()),
                }
            }
        }
    }

    /// The words of an alternative, as they stand where it is written to.
    ///
    /// Errors: one of them is not understood; which.
    fn replaced(&self, writer: &PatchWriter, to: u64) -> Result<Vec<u32>, String> {
        let words = self.words(writer.replacement.clone());
        let moved = words.and_then(|words| moved(self.isa, &words, &writer.replacement, to));
        moved.ok_or_else(|| format!("{:#x}, which is not read", writer.replacement.start))
    }

    /// A jump label is as in the file while its key is as it begins.
    fn write_jump_label(&mut self, at: u64, patch: &Patch, boot: &Boot) -> PatchState {
        let is_read = is_read(self.isa);
        let target = patch.leads_to.first().copied().unwrap_or(at);
        let (nop, branch) = (nop(self.isa), branch(self.isa, at, target));
        // In an object file the linker still writes the branch.
        let is_one =
            |words: &[u32]| words == [nop] || branch.is_some_and(|branch| words == [branch]);
        let is_its = self.links.contains_key(&at)
            || self.words(at..patch.end).is_some_and(|words| is_one(&words));
        if is_read && !is_its {
            let jump = if self.isa == Isa::A64 { "b" } else { "j" };
            let said =
                format!("the word at {at:#x} is no jump label's: neither `nop` nor `{jump}`");
            self.tables.faults.push(said);
            return open(NOT_UNDERSTOOD);
        }
        let asked = patch.writers.iter().find_map(|writer| match &writer.when {
            When::Key { name, branches_if_set } => {
                Some((boot.said.names.get(name)? == branches_if_set, name))
            }
            _ => None,
        });
        match asked {
            None => PatchState::Kept,
            Some((_, name)) if !is_read => open(name),
            Some((is_branch, name)) => match if is_branch { branch } else { Some(nop) } {
                Some(word) => {
                    self.write(at, &[word], at);
                    PatchState::Written
                }
                None => open(name),
            },
        }
    }

    /// Where the tracer begins of which a function of riscv has half of the call in place: since
    /// version 6.16, which moves the places by a function of this name.
    fn tracer_ahead(&self) -> Option<u64> {
        if !matches!(self.isa, Isa::Riscv32 | Isa::Riscv64) {
            return None;
        }
        let at = |name: &str| self.symbols.iter().find(|symbol| symbol.name == name);
        at("ftrace_call_adjust").and(at("ftrace_caller")).map(|symbol| symbol.address)
    }

    /// A function that can be traced keeps its way back (A64), or has the upper half of where its
    /// tracer is (RISC-V), in case it is. Where it called a tracer in the file it calls none.
    fn write_tracing(&mut self, at: u64, end: u64, tracer: Option<u64>) -> PatchState {
        /// Two of RISC-V's short `nop`.
        const SHORT_NOPS: u32 = 0x0001_0001;
        let Some(words) = self.words(at..end) else { return PatchState::Kept };
        let nop = nop(self.isa);
        match &words[..] {
            [first, second] if self.isa == Isa::A64 && [*first, *second] == [nop; 2] => {
                self.write(at, &[KEEP_LINK], at);
            }
            [call, _] if self.isa == Isa::A64 && call >> 26 == 0b10_0101 => {
                self.write(at, &[nop], at);
            }
            all if self.isa != Isa::A64
                && all.iter().all(|word| [SHORT_NOPS, nop].contains(word)) =>
            {
                let mut new = vec![nop; all.len()];
                if let Some(tracer) = tracer {
                    new[0] = upper_of(tracer.wrapping_sub(at));
                }
                self.write(at, &new, at);
            }
            _ => return PatchState::Kept,
        }
        PatchState::Written
    }

    /// The words in a range that has no part of one.
    fn words(&self, range: Range<u64>) -> Option<Vec<u32>> {
        if range.end.checked_sub(range.start)? % 4 != 0 {
            return None;
        }
        let has = |base: u64, n: usize| (base..base + n as u64).contains(&range.start);
        let code = self.sections.iter().find(|code| has(code.base, code.bytes.len()))?;
        let from = usize::try_from(range.start - code.base).ok()?;
        let to = usize::try_from(range.end.checked_sub(code.base)?).ok()?;
        let words = code.bytes.get(from..to)?.chunks_exact(4);
        Some(words.map(|word| u32::from_le_bytes(word.try_into().expect("4 bytes"))).collect())
    }

    /// Puts words at an address; what a linker would write into them lies at `from`.
    fn write(&mut self, at: u64, words: &[u32], from: u64) {
        let has = |base: u64, n: usize| (base..base + n as u64).contains(&at);
        let code = self.sections.iter_mut().find(|code| has(code.base, code.bytes.len()));
        let code = code.expect("a row's own words are code");
        let start = (at - code.base) as usize;
        for (place, word) in code.bytes[start..].chunks_exact_mut(4).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        for offset in (0..4 * words.len() as u64).step_by(4) {
            match self.links.get(&(from + offset)).cloned().filter(|_| from != at) {
                Some(link) => _ = self.links.insert(at + offset, link),
                None => _ = self.links.remove(&(at + offset)),
            }
        }
    }
}

/// The extensions in a line of RISC-V, such as `rv64imac_zba_zbb`; none of another set.
fn extensions(isa: &str) -> Option<BTreeSet<String>> {
    let rest = ["rv32", "rv64"].iter().find_map(|set| isa.strip_prefix(set))?;
    let mut words = rest.split('_');
    let letters = words.next().unwrap_or_default().chars().map(String::from);
    Some(letters.chain(words.map(str::to_owned)).collect())
}

/// What the user said has to be of something in one of these programs.
///
/// Errors: a name of nothing; what is near.
pub fn check_names(programs: &[Program], said: &BootWords) -> Result<(), Diagnostic> {
    if said.names.is_empty() {
        return Ok(());
    }
    let known: BTreeSet<String> = programs.iter().flat_map(Program::boot_names).collect();
    let Some(name) = said.names.keys().find(|name| !known.contains(*name)) else { return Ok(()) };
    let refused = Diagnostic::new(format!(
        "`--boot {name}`: nothing of this name decides what is written over in `{}`",
        programs[0].name
    ));
    Err(match did_you_mean(name, known.iter().map(String::as_str)) {
        Some(meant) => refused.with_help(meant),
        None => refused.with_help("it is the name or number of a feature, or the name of a key"),
    })
}

fn open(by: &str) -> PatchState {
    PatchState::Open(BTreeSet::from([by.to_owned()]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_names_features() {
        let mut said = BootWords::default();
        let line = "[    0.000000] CPU features: detected: Spectre-v4\n[ 0.1] other\n";
        assert!(said.add_log(line) && !said.add("else") && said.add("A B=off"));
        assert_eq!(said.log, Some(BTreeSet::from(["Spectre-v4".to_owned()])));
        assert_eq!(said.names, BTreeMap::from([("A B".to_owned(), false)]));
        assert!(!BootWords::default().add_log("nothing"));
        // RISC-V: what all harts have, and who made them.
        let cpuinfo = "processor\t: 0\nisa\t\t: rv64imac_zba_zbb\nmvendorid\t: 0x489\n\
                       hart isa\t: rv64imac_zba_v\n\nprocessor\t: 1\nisa\t\t: rv64imafdc_zbb\n\
                       mvendorid\t: 0x31e\n";
        let mut riscv = BootWords::default();
        assert!(riscv.add_log(cpuinfo));
        let expected = ["i", "m", "a", "c", "zbb"].map(str::to_owned);
        assert_eq!(riscv.log, Some(BTreeSet::from(expected)));
        assert_eq!(riscv.core.register("mvendorid"), Some(0x489));
        // Version 6.6 and later.
        let place = "CPU features: detected: Activity Monitors Unit (AMU) on CPU0-3\n\
                     CPU features: enabling workaround for ARM erratum 845719\n";
        assert!(said.add_log(place) && said.add("none") && !said.add("else"));
        let log = said.log.unwrap_or_default();
        assert!(log.contains("Activity Monitors Unit (AMU)") && log.contains("ARM erratum 845719"));
    }
}
