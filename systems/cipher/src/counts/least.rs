//! Operands in the stack frame that no order of the equations and no choice of registers avoids.
//!
//! ```text
//! loop i < 10, carried c0 .. c127      nine borders between iterations, at each 128 words that one iteration
//!   c0' = xor c0, k[i]                 makes and the next one reads, and 16 registers: 112 words in memory,
//!   ...                                112 stores before, 112 reads after, 2016 operands in a call
//! ```
//!
//! That holds for code that executes each equation once, one iteration after the other, and keeps
//! in its frame what has no register. Nothing is said of what iterations need inside, so the number
//! is far below what rounds with long S-boxes need. For general registers there is none: one
//! instruction reads and writes an operand there, and C compilers put two words into a vector.

use machine::Kind;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;

use crate::emit_c::Arch;
use crate::ir::{Body, Loop, LoopId, Op, Operand, Program, Ref, Stmt, VarId};

/// The least that one call needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Least {
    /// Executed operands in the frame.
    pub frame: u64,
    /// Most words that an iteration hands on.
    pub words: u64,
    /// Registers of the target.
    pub registers: u64,
}

/// Of the first entry; `None` where nothing is proved.
pub fn least(program: &Program, arch: Arch) -> Option<Least> {
    let row = arch.row();
    let registers = row.assembly_registers.filter(|_| row.kind != Kind::General)? as u64;
    let mut least = Least { frame: 0, words: 0, registers };
    if let Body::Stmts(stmts) = &program.nodes[program.entries.first()?.idx()].body {
        level(program, stmts, 1, &mut least);
    }
    Some(least)
}

/// Adds what the loops of these statements need, which run so many times.
fn level(program: &Program, stmts: &[Stmt], times: u64, least: &mut Least) {
    for stmt in stmts {
        match stmt {
            Stmt::Eq(_) => {}
            Stmt::Call(call) => {
                if let Body::Stmts(body) = &program.nodes[call.node.idx()].body {
                    level(program, body, times, least);
                }
            }
            Stmt::Loop(it) => {
                let before = least.frame;
                level(program, &it.body, times * u64::from(it.n), least);
                let words = handed_on(it);
                least.words = least.words.max(words);
                let borders = times * u64::from(it.n.saturating_sub(1));
                // A word of a loop inside may be counted there already, as stored; it is read again
                // here.
                let operands = if least.frame == before { 2 } else { 1 };
                least.frame += borders * operands * words.saturating_sub(least.registers);
            }
            Stmt::Unrolled(_) => panic!("`loops` has decided about every loop"),
        }
    }
}

/// Different words that an equation of one iteration makes and an equation of the next one reads. A
/// word that is only handed on again may stay where it is.
fn handed_on(it: &Loop) -> u64 {
    let mut iteration = Iteration::default();
    for carried in &it.carried {
        let word = iteration.new_word();
        iteration.places.insert((carried.var, 0), word);
    }
    iteration.run(&it.body, &mut FxHashMap::from_iter([(it.id, 0)]));
    let next = it.carried.iter().enumerate().filter(|(k, _)| iteration.read.contains(&(*k as u32)));
    let words =
        next.filter_map(|(_, carried)| iteration.word(&carried.next, &FxHashMap::default()));
    words.filter(|word| iteration.made.contains(word)).collect::<FxHashSet<u32>>().len() as u64
}

/// One iteration, followed word by word; copies are no words of their own.
#[derive(Default)]
struct Iteration {
    /// The word in each place; places that are not here were written before.
    places: FxHashMap<(VarId, usize), u32>,
    /// Words that an equation made.
    made: FxHashSet<u32>,
    /// Words that an equation read.
    read: FxHashSet<u32>,
    n_words: u32,
}

impl Iteration {
    fn new_word(&mut self) -> u32 {
        self.n_words += 1;
        self.n_words - 1
    }

    fn place(at: &Ref, counters: &FxHashMap<LoopId, i64>) -> (VarId, usize) {
        (at.var, at.index.eval(|id| counters.get(&id).copied().unwrap_or(0)))
    }

    fn word(&self, operand: &Operand, counters: &FxHashMap<LoopId, i64>) -> Option<u32> {
        if let Operand::Ref(at) = operand {
            self.places.get(&Iteration::place(at, counters)).copied()
        } else {
            None
        }
    }

    /// Puts a word into a place, or takes away what was there.
    fn put(&mut self, place: (VarId, usize), word: Option<u32>) {
        match word {
            Some(word) => self.places.insert(place, word),
            None => self.places.remove(&place),
        };
    }

    fn run(&mut self, stmts: &[Stmt], counters: &mut FxHashMap<LoopId, i64>) {
        for stmt in stmts {
            match stmt {
                Stmt::Eq(eq) => {
                    let words: Vec<Option<u32>> =
                        eq.args.iter().map(|arg| self.word(arg, counters)).collect();
                    let word = if eq.op == Op::Copy {
                        words[0]
                    } else {
                        self.read.extend(words.into_iter().flatten());
                        let word = self.new_word();
                        self.made.insert(word);
                        Some(word)
                    };
                    self.put(Iteration::place(&eq.dst, counters), word);
                }
                // What is called may make words or only move them.
                Stmt::Call(call) => {
                    call.dsts.iter().for_each(|dst| self.put(Iteration::place(dst, counters), None))
                }
                Stmt::Loop(it) => {
                    let hand = |iteration: &mut Iteration, words: Vec<Option<u32>>| {
                        it.carried
                            .iter()
                            .zip(words)
                            .for_each(|(carried, word)| iteration.put((carried.var, 0), word));
                    };
                    let first = it
                        .carried
                        .iter()
                        .map(|carried| self.word(&carried.init, counters))
                        .collect();
                    hand(self, first);
                    for k in 0..it.n {
                        counters.insert(it.id, k.into());
                        self.run(&it.body, counters);
                        let next = it
                            .carried
                            .iter()
                            .map(|carried| self.word(&carried.next, counters))
                            .collect();
                        hand(self, next);
                    }
                    counters.remove(&it.id);
                }
                Stmt::Unrolled(_) => panic!("`loops` has decided about every loop"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::native::Cc;
    use crate::options::{Slicing, Unroll};
    use crate::passes::inline::Inline;
    use crate::recipe::Recipe;
    use crate::unit::Subject;

    fn of(text: &str, arch: Arch) -> Option<Least> {
        let subject = Subject::text("f.ua", text, None).expect("it is right");
        let mut recipe = Recipe::new(Slicing::Bit, arch, Cc::Gcc, Unroll::No, "-O3");
        (recipe.word, recipe.inline) = (Some(1), Inline::All);
        least(&recipe.make(&subject).expect("it compiles").compiled.program, arch)
    }

    /// Twenty bits, each of which becomes the exclusive or of two, ten times.
    const MIXED: &str = "node f (x : b20) returns (y : b20) vars s : b20[11]
        let s[0] = x; forall i in [0, 9] { s[i+1] = s[i] ^ (s[i] <<< 1) } y = s[10] tel";
    /// Twenty bits that change their places.
    const MOVED: &str = "node f (x : b20) returns (y : b20) vars s : b20[11]
        let s[0] = x; forall i in [0, 9] { s[i+1] = s[i] <<< 1 } y = s[10] tel";

    #[test]
    fn words_beyond_the_registers_are_stored_and_read_at_each_border() {
        // 20 words, 16 registers: four stores and four reads at each of nine borders.
        assert_eq!(
            of(MIXED, Arch::Avx2),
            Some(Least { frame: 9 * 2 * 4, words: 20, registers: 16 })
        );
    }

    #[test]
    fn nothing_is_needed_where_all_have_registers_or_only_move() {
        assert_eq!(of(MIXED, Arch::Avx512), Some(Least { frame: 0, words: 20, registers: 32 }));
        assert_eq!(of(MOVED, Arch::Avx2), Some(Least { frame: 0, words: 0, registers: 16 }));
    }

    /// Twenty bits in a loop inside, whose results are copied to other places.
    const INSIDE: &str = "node mix (x : b20) returns (y : b20) let forall j in [0, 19] { y[j] = x[j] & ~x[19 - j] } tel
        node turn (x : b20) returns (y : b20) let forall j in [0, 19] { y[j] = x[19 - j] } tel
        node f (x : b20) returns (y : b20) vars s : b20[11]
        let s[0] = x; forall i in [0, 9] { s[i+1] = turn(mix(s[i])) } y = s[10] tel";

    #[test]
    fn words_are_followed_through_loops_inside_and_through_copies() {
        assert_eq!(
            of(INSIDE, Arch::Avx2),
            Some(Least { frame: 9 * 2 * 4, words: 20, registers: 16 })
        );
    }

    #[test]
    fn nothing_is_proved_of_general_registers() {
        assert_eq!(of(MIXED, Arch::X86_64), None);
    }
}
