//! What several of these files use.

pub mod assembler;
pub mod invariants;
pub mod machine;
pub mod made;
pub mod meaning;
pub mod oracles;
pub mod rules;
pub mod rules_t32;
pub mod windows;
pub mod words;
