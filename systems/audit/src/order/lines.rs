//! Lines of assembly, as a compiler wrote them or a person: which of them holds each instruction of
//! a function, and the text with these lines in another order.
//!
//! ```text
//! f:                        a label: it stays, and what it names is not moved across it
//!         sub sp, sp, #16   an instruction: moves
//!         .cfi_def_cfa ...  belongs to the line above: moves with it, in its turn
//!         .loc 1 7 3        belongs to the line below
//!         .p2align 3        another directive: nothing passes it
//! ```

use std::collections::BTreeSet;

use crate::decode::code::{Class, Instruction};
use crate::order::NewOrder;
use crate::program::function::Function;

/// How the name ends of the file that [`assembled`](crate::program::toolchain::assembled) makes.
const ASSEMBLED: &str = "audit.s";

/// The assembly of a file, and where in it the instructions of one function stand.
#[derive(Debug)]
pub struct Listing<'a> {
    lines: Vec<&'a str>,
    /// For each instruction its lines, first and behind the last, from 0; nothing of one that has
    /// none of its own.
    own: Vec<Option<(usize, usize)>>,
    /// Instructions that nothing passes.
    borders: BTreeSet<usize>,
    /// Instructions with lines for the unwinder.
    turns: BTreeSet<usize>,
}

impl<'a> Listing<'a> {
    /// `function` is of the file that was assembled from `text`, and its frames name lines of it.
    pub fn of(text: &'a str, function: &Function) -> Listing<'a> {
        let lines: Vec<&str> = text.lines().collect();
        let line_of = |idx: usize| {
            let frame = function.frames.get(idx)?.first()?;
            // Lines of other files: what an assembler included.
            if !frame.file.ends_with(ASSEMBLED) {
                return None;
            }
            (frame.line as usize).checked_sub(1).filter(|line| *line < lines.len())
        };
        let by_hand = by_hand(&lines);
        let n = function.instructions.len();
        let numbers: Vec<Option<usize>> = (0..n).map(line_of).collect();
        let is_alone = |idx: usize| {
            let others = [idx.checked_sub(1), Some(idx + 1)].into_iter().flatten();
            others.filter_map(|other| numbers.get(other)).all(|other| *other != numbers[idx])
        };
        let mut own = vec![None; n];
        let mut borders = BTreeSet::new();
        let mut turns = BTreeSet::new();
        for idx in 0..n {
            let is_movable = |line: &usize| {
                let instruction = &function.instructions[idx];
                is_alone(idx)
                    && is_plain(lines[*line])
                    && !by_hand.contains(line)
                    && instruction.class != Class::Nop
                    && is_constant(instruction, lines[*line])
            };
            let line = numbers[idx].filter(is_movable);
            let Some(line) = line else {
                borders.insert(idx);
                continue;
            };
            let is_loc = |number: &usize| first_word(lines[*number]) == ".loc";
            let above = (0..line).rev().take_while(is_loc).count();
            let is_cfi = |number: &usize| first_word(lines[*number]).starts_with(".cfi_");
            let below = (line + 1..lines.len()).take_while(is_cfi).count();
            // The end of a function's rows is no row.
            let ends =
                (line + 1..=line + below).any(|number| first_word(lines[number]) == ".cfi_endproc");
            if below > 0 {
                turns.insert(idx);
            }
            if ends {
                borders.insert(idx);
            }
            own[idx] = Some((line - above, line + 1 + below));
        }
        // What stands between the lines of two instructions, and is more than a name that nothing
        // uses, nothing passes.
        let used = used_names(&lines);
        let is_number = |label: &str| label.chars().all(|letter| letter.is_ascii_digit());
        for idx in 1..n {
            let (Some(above), Some(below)) = (own[idx - 1], own[idx]) else { continue };
            let is_harmless = |line: &&str| match label(line) {
                Some(label) => !used.contains(label) && !is_number(label),
                None => is_comment(line),
            };
            let is_straight = above.1 <= below.0 && lines[above.1..below.0].iter().all(is_harmless);
            if !is_straight {
                borders.extend([idx - 1, idx]);
            }
        }
        Listing { lines, own, borders, turns }
    }

    /// Nothing passes this instruction.
    pub fn is_border(&self, idx: usize) -> bool {
        self.borders.contains(&idx)
    }

    /// It stays before and after others of which this is said.
    pub fn keeps_turn(&self, idx: usize) -> bool {
        self.turns.contains(&idx)
    }

    /// The text with the instructions in this order.
    pub fn reordered(&self, order: &NewOrder) -> String {
        let mut new: Vec<Option<(usize, usize)>> = vec![None; self.lines.len()];
        let mut is_moved = vec![false; self.lines.len()];
        for (place, idx) in order.places.iter().enumerate().filter(|(place, idx)| place != *idx) {
            let (Some(place), Some(moved)) = (self.own[place], self.own[*idx]) else {
                panic!("an instruction without a line of its own is a border");
            };
            new[place.0] = Some(moved);
            is_moved[place.0..place.1].fill(true);
        }
        let mut text = String::new();
        let mut add = |number: usize| {
            text += self.lines[number];
            text.push('\n');
        };
        for number in 0..self.lines.len() {
            if let Some((first, behind)) = new[number] {
                (first..behind).for_each(&mut add);
            }
            if !is_moved[number] {
                add(number);
            }
        }
        text
    }
}

/// The text without what says of which line of another language the code is, so that debug
/// information names the lines of the text.
pub fn without_lines(text: &str) -> String {
    let is_kept = |line: &str| {
        let mut words = line.split_whitespace();
        let first = words.next().unwrap_or_default();
        // `.file "name"` alone is a name.
        first != ".loc" && !(first == ".file" && words.next().is_some_and(is_number))
    };
    let lines = text.lines().map(|line| if is_kept(line) { line } else { "" });
    lines.fold(String::new(), |text, line| text + line + "\n")
}

fn is_number(word: &str) -> bool {
    word.chars().all(|letter| letter.is_ascii_digit())
}

fn first_word(line: &str) -> &str {
    line.split_whitespace().next().unwrap_or_default()
}

/// The name before the colon of a line that has nothing else.
fn label(line: &str) -> Option<&str> {
    let name = line.trim().strip_suffix(':')?;
    name.chars().all(is_of_name).then_some(name)
}

fn is_of_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || "._$".contains(letter)
}

/// Nothing, or what assemblers of all sets take for a comment. Where a compiler says that the code of
/// a person begins or ends stands in one: that is not moved across.
fn is_comment(line: &str) -> bool {
    let line = line.trim();
    let is_marked = ["APP", "NO_APP"].iter().any(|word| line.ends_with(word));
    line.is_empty() || !is_marked && ["//", "@", "#", "!"].iter().any(|mark| line.starts_with(mark))
}

/// One instruction with nothing else on its line, and none that says where it stands.
fn is_plain(line: &str) -> bool {
    let code = line.split("//").next().unwrap_or_default().split('@').next().unwrap_or_default();
    let names_its_place = code.split(|letter: char| !is_of_name(letter)).any(|word| word == ".");
    let first = first_word(code);
    // A label may stand before it; a relocation has its colons behind.
    !first.is_empty()
        && !first.starts_with('.')
        && !first.contains(':')
        && !code.contains([';', '"'])
        && !names_its_place
}

/// The lines that a person wrote into C, between two marks of the compiler.
fn by_hand(lines: &[&str]) -> BTreeSet<usize> {
    let mark = |line: &str| line.trim().trim_start_matches(['#', '/', '@', '!', ' ']).to_owned();
    let mut is_inside = false;
    let inside = lines.iter().enumerate().filter(|(_, line)| {
        match mark(line).as_str() {
            "APP" => is_inside = true,
            "NO_APP" => is_inside = false,
            _ => {}
        }
        is_inside
    });
    inside.map(|(number, _)| number).collect()
}

/// If it reads beside the code, then a constant that the compiler put there.
fn is_constant(instruction: &Instruction, line: &str) -> bool {
    let is_near = instruction.accesses.iter().any(|access| access.base.is_none());
    !is_near || line.contains(".L") || line.contains('=')
}

/// Names that stand anywhere but before their own colon.
fn used_names<'a>(lines: &[&'a str]) -> BTreeSet<&'a str> {
    let uses = |line: &&'a str| -> Vec<&'a str> {
        if label(line).is_some() {
            return Vec::new();
        }
        line.split(|letter: char| !is_of_name(letter)).collect()
    };
    lines.iter().flat_map(uses).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_another_language_go_and_the_others_keep_their_numbers() {
        let text = "\t.file \"a.c\"\n\t.file 1 \"a.c\"\nf:\n\t.loc 1 2 3\n\tret\n";
        assert_eq!(without_lines(text), "\t.file \"a.c\"\n\nf:\n\n\tret\n");
    }

    #[test]
    fn a_line_is_an_instruction_only_if_it_is_one_alone() {
        assert!(is_plain("\tldr\tr3, .L5\t@ tmp"));
        assert!(is_plain("\tldr\tx0, [x0, #:lo12:name]\t// x; y"));
        for line in ["a: ret", "\tnop; nop", "\tadr x0, .", "\tb .+8", "\t.word 1", "\tcall \"f\""]
        {
            assert!(!is_plain(line), "{line}");
        }
    }
}
