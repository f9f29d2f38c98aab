//! Sequences of stores that LEON3FT must not execute, in the code of a linked image: of the user, of
//! the runtime and of what was linked from elsewhere alike.
//!
//! ```text
//! A   st, sth, stb, stf     B   std, stdf
//!     no load, no store         any store
//!     any store
//! ```
//!
//! With a parity error of a data tag between them the cache keeps a stale word. **Source**
//! GRLIB-TN-0009, *LEON3FT Stale Cache Entry After Store with Data Tag Parity Error*; compilers avoid
//! both with `-mfix-gr712rc`, `-mfix-ut699` and `-mfix-ut700`, assembly and libraries do not.
//!
//! The sequence counts as the processor executes it: through branches, calls and delay slots. Where a
//! jump leads that no word names, it may lead after each call and to each symbol. So nothing that can
//! be executed is left out, and what is reported may be of a way that is never taken.

use std::collections::{BTreeMap, BTreeSet};

use object::{Architecture, Object, ObjectSection, ObjectSymbol, SectionKind, SymbolKind};

use crate::sparc::{self, Control};

/// Which of the two sequences.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sequence {
    /// A store of a word or less, another instruction, a store.
    A,
    /// A store of two words, a store.
    B,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pair {
    /// Addresses and words, in the order of execution.
    pub places: Vec<(u32, u32)>,
    pub sequence: Sequence,
    /// The way leads through a jump whose target no word names.
    pub is_guessed: bool,
}

/// The code of an image.
#[derive(Debug, Clone, Default)]
pub struct Text {
    words: BTreeMap<u32, u32>,
    pub symbols: BTreeMap<u32, String>,
}

/// What memory an instruction touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Touch {
    Nothing,
    Store,
    StoreDouble,
    /// A load; also `ldstub`, `swap` and `casa`, which begin as one.
    Load,
}

fn touch(word: u32) -> Touch {
    if word >> 30 != 3 {
        return Touch::Nothing;
    }
    match word >> 19 & 63 {
        0x04..=0x06 | 0x14..=0x16 | 0x24 | 0x25 | 0x34 | 0x35 => Touch::Store,
        0x07 | 0x17 | 0x26 | 0x27 | 0x36 | 0x37 => Touch::StoreDouble,
        _ => Touch::Load,
    }
}

/// The instruction that is executed next, and the one after it; none where a jump leads somewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    pc: u32,
    npc: Option<u32>,
    is_guessed: bool,
}

impl Text {
    /// Reads the executable sections of an ELF file for SPARC.
    ///
    /// Errors: it is no such file, or has no code, in words.
    pub fn parse(elf: &[u8]) -> Result<Text, String> {
        let file = object::File::parse(elf).map_err(|error| error.to_string())?;
        let is_sparc =
            matches!(file.architecture(), Architecture::Sparc | Architecture::Sparc32Plus);
        if !is_sparc || file.is_little_endian() {
            return Err(format!("it is for {:?}, not for SPARC", file.architecture()));
        }
        let mut text = Text::default();
        for section in file.sections().filter(|section| section.kind() == SectionKind::Text) {
            let bytes = section.data().map_err(|error| error.to_string())?;
            let addresses = (section.address() as u32..).step_by(4);
            let words = bytes
                .chunks_exact(4)
                .map(|word| u32::from_be_bytes([word[0], word[1], word[2], word[3]]));
            text.words.extend(addresses.zip(words));
        }
        if text.words.is_empty() {
            return Err("it has no code".to_owned());
        }
        for symbol in file.symbols().filter(|symbol| !symbol.is_undefined()) {
            let is_code = matches!(symbol.kind(), SymbolKind::Text | SymbolKind::Label);
            let address = symbol.address() as u32;
            let name = symbol.name().unwrap_or_default();
            if (is_code || symbol.is_global())
                && text.words.contains_key(&address)
                && !name.is_empty()
            {
                text.symbols.insert(address, name.to_owned());
            }
        }
        Ok(text)
    }

    /// The code of these words, with a function at its beginning.
    pub fn of(base: u32, words: &[u32]) -> Text {
        let words = (base..).step_by(4).zip(words.iter().copied()).collect();
        Text { words, symbols: BTreeMap::from([(base, "f".to_owned())]) }
    }

    /// How many instructions it has.
    pub fn n_instructions(&self) -> usize {
        self.words.len()
    }

    /// The symbol before an address, and how far after it.
    pub fn place(&self, at: u32) -> String {
        match self.symbols.range(..=at).next_back() {
            Some((start, name)) if *start == at => name.clone(),
            Some((start, name)) => format!("{name}+{:#x}", at - start),
            None => format!("{at:#x}"),
        }
    }

    /// All sequences that can be executed, by address.
    pub fn pairs(&self) -> Vec<Pair> {
        let (starts, targets) = (self.starts(), self.targets());
        let mut found = BTreeSet::new();
        for (&at, &word) in &self.words {
            let (sequence, n_between) = match touch(word) {
                Touch::Store => (Sequence::A, 1),
                Touch::StoreDouble => (Sequence::B, 0),
                Touch::Nothing | Touch::Load => continue,
            };
            for state in self.arrivals(at, starts.contains(&at) || targets.contains(&at)) {
                let places = vec![(at, word)];
                self.follow(state, n_between, &starts, places, &mut |places, is_guessed| {
                    found.insert(Pair { places, sequence, is_guessed });
                });
            }
        }
        // The same way, once by a jump that is known and once by one that is not, is known.
        let known: BTreeSet<Vec<(u32, u32)>> =
            found.iter().filter(|pair| !pair.is_guessed).map(|pair| pair.places.clone()).collect();
        found.into_iter().filter(|pair| !pair.is_guessed || !known.contains(&pair.places)).collect()
    }

    /// Goes on from a store that is about to be executed.
    fn follow(
        &self,
        state: State,
        n_between: usize,
        starts: &BTreeSet<u32>,
        places: Vec<(u32, u32)>,
        tell: &mut dyn FnMut(Vec<(u32, u32)>, bool),
    ) {
        for next in self.after(state, starts) {
            let Some(&word) = self.words.get(&next.pc) else { continue };
            let mut places = places.clone();
            places.push((next.pc, word));
            match (touch(word), n_between) {
                (Touch::Store | Touch::StoreDouble, 0) => tell(places, next.is_guessed),
                (Touch::Nothing, 1..) => self.follow(next, n_between - 1, starts, places, tell),
                _ => {}
            }
        }
    }

    /// Where a jump may lead whose target no word names: after each call, and to each symbol.
    fn starts(&self) -> BTreeSet<u32> {
        let is_call = |(at, word): &(&u32, &u32)| {
            let is_linked = **word >> 30 == 2 && **word >> 25 & 31 == 15;
            match sparc::control(**word, **at) {
                Control::Call { .. } => true,
                Control::Jump => is_linked,
                _ => false,
            }
        };
        let behind = self.words.iter().filter(is_call).map(|(at, _)| at.wrapping_add(8));
        behind.chain(self.symbols.keys().copied()).collect()
    }

    /// Where branches and calls lead.
    fn targets(&self) -> BTreeSet<u32> {
        let target = |(at, word): (&u32, &u32)| match sparc::control(*word, *at) {
            Control::Branch { target, .. } | Control::Call { target } => Some(target),
            _ => None,
        };
        self.words.iter().filter_map(target).collect()
    }

    /// The states in which an instruction may be reached.
    fn arrivals(&self, at: u32, is_target: bool) -> Vec<State> {
        let state = |npc, is_guessed| State { pc: at, npc, is_guessed };
        let before = at.wrapping_sub(4);
        let control = self.words.get(&before).map(|word| sparc::control(*word, before));
        let mut all = match control {
            None | Some(Control::Next | Control::Trap | Control::SwitchTraps) => {
                vec![state(Some(at.wrapping_add(4)), false)]
            }
            // In its delay slot.
            Some(control) => {
                let from = State { pc: before, npc: Some(at), is_guessed: false };
                self.led(control, from).into_iter().filter(|state| state.pc == at).collect()
            }
        };
        if is_target {
            all.push(state(Some(at.wrapping_add(4)), false));
        }
        all.sort_unstable();
        all.dedup();
        all
    }

    /// What is executed after the instruction at `pc`.
    fn after(&self, state: State, starts: &BTreeSet<u32>) -> Vec<State> {
        let Some(word) = self.words.get(&state.pc) else { return Vec::new() };
        let control = sparc::control(*word, state.pc);
        let led = match control {
            Control::Next | Control::Trap | Control::SwitchTraps => {
                let npc = state.npc.map(|npc| npc.wrapping_add(4));
                vec![State { pc: state.npc.unwrap_or(0), npc, ..state }]
            }
            _ => self.led(control, state),
        };
        if state.npc.is_some() {
            return led;
        }
        // It is in the delay slot of a jump to somewhere.
        starts
            .iter()
            .map(|start| State { pc: *start, npc: Some(start.wrapping_add(4)), is_guessed: true })
            .collect()
    }

    /// Where an instruction leads that changes control: first to its delay slot, if it has one.
    fn led(&self, control: Control, state: State) -> Vec<State> {
        let Some(slot) = state.npc else { return Vec::new() };
        let to = |pc: u32, npc: Option<u32>| State { pc, npc, ..state };
        let (on, past) = (slot.wrapping_add(4), slot.wrapping_add(8));
        match control {
            Control::Branch { target, is_always: true, annuls: true } => {
                vec![to(target, Some(target.wrapping_add(4)))]
            }
            Control::Branch { target, is_always: true, annuls: false }
            | Control::Call { target } => {
                vec![to(slot, Some(target))]
            }
            Control::Branch { target, is_always: false, annuls } => {
                let goes_on = if annuls { to(on, Some(past)) } else { to(slot, Some(on)) };
                vec![to(slot, Some(target)), goes_on]
            }
            Control::Never { annuls: true } => vec![to(on, Some(past))],
            Control::Never { annuls: false } => vec![to(slot, Some(on))],
            _ => vec![to(slot, None)],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOP: u32 = 0x0100_0000;
    const ST: u32 = 0xd022_4000; // st %o0, [%o1]
    const STD: u32 = 0xd03a_4000; // std %o0, [%o1]
    const LD: u32 = 0xd002_4000; // ld [%o1], %o0
    const ADD: u32 = 0x9002_0009; // add %o0, %o1, %o0
    const RETL: u32 = 0x81c3_e008;

    /// `ba` over so many words, with its delay slot or without.
    fn ba(words: u32, annuls: bool) -> u32 {
        0x1080_0000 | words | u32::from(annuls) << 29
    }

    fn found(words: &[u32]) -> Vec<Vec<u32>> {
        let pairs = Text::of(0x4000_0000, words).pairs();
        let number = |place: &(u32, u32)| (place.0 - 0x4000_0000) / 4;
        pairs.iter().map(|pair| pair.places.iter().map(number).collect()).collect()
    }

    #[test]
    fn the_two_sequences_and_nothing_near_them() {
        assert_eq!(found(&[STD, ST, NOP]), [[0, 1]]);
        assert_eq!(found(&[STD, STD, NOP]), [[0, 1]]);
        assert_eq!(found(&[ST, ADD, ST, NOP]), [[0, 1, 2]]);
        assert_eq!(found(&[ST, NOP, STD, NOP]), [[0, 1, 2]]);
        for clean in
            [&[STD, NOP, ST, NOP][..], &[ST, ST, NOP], &[ST, LD, ST, NOP], &[ST, NOP, NOP, ST, NOP]]
        {
            assert_eq!(found(clean), Vec::<Vec<u32>>::new(), "{clean:x?}");
        }
    }

    #[test]
    fn branches_and_delay_slots_are_followed() {
        // A store in the delay slot, and one where the branch leads.
        assert_eq!(found(&[NOP, ba(3, false), STD, NOP, ST, NOP]), [[2, 4]]);
        // Without its delay slot the store there is never executed.
        assert_eq!(found(&[NOP, ba(3, true), STD, NOP, ST, NOP]), Vec::<Vec<u32>>::new());
        // The branch is the instruction between.
        assert_eq!(found(&[ST, ba(3, true), NOP, NOP, ST, NOP]), [[0, 1, 4]]);
        // A conditional one goes on as well.
        let be = ba(3, false) & !(15 << 25) | 1 << 25;
        assert_eq!(found(&[NOP, be, STD, ST, ST, NOP]), [[2, 3], [2, 4]]);
    }

    #[test]
    fn a_return_may_lead_behind_any_call() {
        let call = 1 << 30 | 4; // of the word four further on
        let words = [call, NOP, ST, NOP, RETL, STD];
        let pairs = Text::of(0x4000_0000, &words).pairs();
        assert_eq!(pairs.len(), 1);
        assert!(pairs[0].is_guessed);
        assert_eq!(pairs[0].places.iter().map(|place| place.0 & 0xff).collect::<Vec<_>>(), [20, 8]);
    }

    #[test]
    fn every_planted_pair_is_found_and_no_other() {
        let mut rng = fastrand::Rng::with_seed(9);
        for round in 0..500 {
            let mut words: Vec<u32> = (0..60).map(|_| [NOP, ADD, LD][rng.usize(0..3)]).collect();
            let at = rng.usize(0..56);
            let planted: &[u32] = match rng.usize(0..3) {
                0 => &[STD, ST],
                1 => &[STD, STD],
                _ => &[ST, ADD, STD],
            };
            words.splice(at..at + planted.len(), planted.iter().copied());
            words.push(NOP);
            let expected: Vec<u32> = (at as u32..(at + planted.len()) as u32).collect();
            assert_eq!(found(&words), [expected], "round {round} of seed 9");
        }
    }
}
