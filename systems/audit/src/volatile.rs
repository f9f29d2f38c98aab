//! Findings about accesses that the source says are `volatile`: each of them stays, so they are
//! counted.

use std::collections::BTreeSet;

use crate::audit::Audit;
use crate::finding::{Finding, Kind, Moot};
use crate::views::text::Sources;

/// Takes findings of accesses away whose line has one of these names of `volatile` objects.
pub fn count_volatile(audit: &mut Audit, names: &BTreeSet<String>, sources: &Sources) {
    let function = &audit.function;
    let is_volatile = |found: &Finding| {
        let asks = match found.kind {
            Kind::ComputedTwice | Kind::DeadValue | Kind::DeadStore | Kind::FewerInstructions => {
                !function.instructions[found.idx].accesses.is_empty()
            }
            Kind::Stall => found.prevents.as_ref().is_some_and(|why| why.contains("`volatile`")),
            _ => false,
        };
        let line = || {
            let frame = function.frames[found.idx].first()?;
            sources.get(&frame.file)?.get((frame.line as usize).checked_sub(1)?)
        };
        let is_word = |word: &str| word == "volatile" || names.contains(word);
        let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        asks && line().is_some_and(|line| line.split(|letter| !is_letter(letter)).any(is_word))
    };
    let n = audit.findings.len();
    let is_listed: Vec<bool> = audit.findings.iter().map(|found| !is_volatile(found)).collect();
    let mut listed = is_listed.into_iter();
    audit.findings.retain(|_| listed.next() == Some(true));
    let gone = n - audit.findings.len();
    if gone > 0 {
        *audit.moot.entry(Moot::Volatile).or_default() += gone;
    }
}
