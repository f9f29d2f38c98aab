//! Several functions as one: from an entry on, with the functions that its branches lead to.
//!
//! ```text
//! vectors+0x400   b el0t_64_sync
//! el0t_64_sync    ... bl el0t_64_sync_handler; b ret_to_user
//! ret_to_user     ... eret                                     is one path, calls aside
//! ```
//!
//! Only code that the entry reaches is taken. What a call does stays a call, and what lies before the
//! entry stays another function, to which the branch leads.

use std::collections::{BTreeMap, BTreeSet};

use report::Diagnostic;

use crate::decode::code::Flow;
use crate::facts::landings::behind;
use crate::program::function::Function;
use crate::program::{Decoded, Program, Symbol};

/// More functions are not joined.
const PARTS_MAX: usize = 64;

impl Program {
    /// The code that is reached from `entry`, an address in the function `first`, as one function
    /// that is called `name`.
    ///
    /// Errors: code of it runs out at the end of its function.
    pub(crate) fn joined(
        &self,
        first: &Symbol,
        entry: u64,
        name: String,
    ) -> Result<Symbol, Diagnostic> {
        let mut reached: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
        let mut open = vec![entry];
        while let Some(at) = open.pop() {
            let Some(symbol) = self.function_around(at).filter(|_| at >= entry) else { continue };
            let is_new = !reached.contains_key(&symbol.address);
            if is_new && reached.len() == PARTS_MAX {
                continue;
            }
            let seen = reached.entry(symbol.address).or_default();
            if !seen.contains(&at) {
                open.extend(reach(&self.decode_without_lines(symbol)?.function, at, seen)?);
            }
        }
        let parts = reached.iter().filter_map(|(address, seen)| {
            let symbol = self.function_around(*address)?;
            let (from, to) = (*seen.first()?, *seen.last()?);
            let function = self.decode_without_lines(symbol).ok()?.function;
            let last = &function.instructions[function.at(to)?];
            let size = to + u64::from(last.length) - from;
            Some(Symbol { address: from, size, ..symbol.clone() })
        });
        let parts: Vec<Symbol> = parts.collect();
        let last = parts.last().map_or(entry, |part| part.address + part.size);
        Ok(Symbol { name, address: entry, size: last - entry, parts, ..first.clone() })
    }

    /// The function with code at an address.
    fn function_around(&self, at: u64) -> Option<&Symbol> {
        let before = self.symbols.partition_point(|symbol| symbol.address <= at);
        let mut around = self.symbols[..before].iter().rev().take(8);
        around.find(|symbol| at < symbol.address + symbol.size)
    }

    /// Names that mean `volatile` objects in the source of a function, or of its parts.
    pub(crate) fn volatile_names(&self, symbol: &Symbol) -> BTreeSet<String> {
        let parts =
            if symbol.parts.is_empty() { std::slice::from_ref(symbol) } else { &symbol.parts };
        parts.iter().flat_map(|part| self.lines.volatile_names(part.address)).collect()
    }

    /// Its parts decoded, one after the other.
    pub(super) fn decode_parts(&self, whole: &Symbol) -> Result<Decoded, Diagnostic> {
        let mut all: Option<Decoded> = None;
        for part in &whole.parts {
            let next = self.decode_without_lines(part)?;
            let Some(all) = &mut all else {
                all = Some(next);
                continue;
            };
            all.undecodable.extend(next.undecodable);
            let (function, next) = (&mut all.function, next.function);
            function.instructions.extend(next.instructions);
            function.frames.extend(next.frames);
            function.callees.extend(next.callees);
            function.cases.extend(next.cases);
            function.constants.extend(next.constants);
            function.tables.fixups.extend(next.tables.fixups);
            function.tables.patches.extend(next.tables.patches);
        }
        let mut all = all.expect("the entry is in one of its parts");
        let function = &mut all.function;
        function.name.clone_from(&whole.name);
        let inside: BTreeSet<u64> =
            function.instructions.iter().map(|instruction| instruction.address).collect();
        for instruction in &function.instructions {
            if let Flow::Branch { target, .. } = instruction.flow
                && inside.contains(&target)
            {
                function.callees.remove(&instruction.address);
            }
        }
        Ok(all)
    }
}

/// Adds the addresses that control comes to in a function from `at` on, and gives those out of it.
///
/// Errors: it runs out at the end, and nothing is there.
fn reach(function: &Function, at: u64, seen: &mut BTreeSet<u64>) -> Result<Vec<u64>, Diagnostic> {
    let mut out = Vec::new();
    let mut open: Vec<usize> = function.at(at).into_iter().collect();
    while let Some(idx) = open.pop() {
        let instruction = &function.instructions[idx];
        if !seen.insert(instruction.address) {
            continue;
        }
        let (next, goes_on) = behind(function, idx);
        // What is in a delay slot is done with its branch.
        open.extend((idx + 1..next).filter(|slot| *slot < function.instructions.len()));
        if goes_on && next < function.instructions.len() {
            open.push(next);
        } else if goes_on {
            let said = format!("`{}` runs out of its code at its end", function.name);
            return Err(Diagnostic::new(said).with_help("audit its parts, without --follow"));
        }
        if let Flow::Branch { target, .. } = instruction.flow {
            match function.at(target) {
                Some(inside) => open.push(inside),
                None => out.push(target),
            }
        }
        // A jump label and an alternative may lead elsewhere.
        let patch = function.tables.patch_at(instruction.address);
        open.extend(patch.iter().flat_map(|it| &it.leads_to).filter_map(|to| function.at(*to)));
        open.extend(function.fixup(idx).flatten());
    }
    Ok(out)
}
