//! What the programs of this workspace have in common at the terminal: how they print, how they fail, how names are chosen.

pub mod choice;
pub mod output;
