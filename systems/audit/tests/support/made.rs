//! Functions that no file has: of words, or of instructions.

use audit::decode::Isa;
use audit::decode::code::Instruction;
use audit::program::function::Function;

/// One instruction a word, from address 0 on, without calls or constants.
pub fn of_words(isa: Isa, words: &[u32]) -> Function {
    let decode = |(idx, word): (usize, &u32)| {
        isa.decode(4 * idx as u64, &word.to_le_bytes()).expect("the words are instructions")
    };
    of_instructions(isa, words.iter().enumerate().map(decode).collect())
}

/// The same of instructions at addresses of their own.
pub fn of_instructions(isa: Isa, instructions: Vec<Instruction>) -> Function {
    Function {
        name: "made".to_owned(),
        isa,
        frames: vec![Vec::new(); instructions.len()],
        instructions,
        callees: Default::default(),
        is_cold: false,
        constants: Default::default(),
        tables: Default::default(),
        cases: Default::default(),
        arguments: Default::default(),
        addresses: Default::default(),
    }
}
