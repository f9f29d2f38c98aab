//! In which registers functions have their arguments: by their declarations, by what the C library
//! and the run-time of Arm say of theirs, or by their own code.
//!
//! ```text
//! void put(struct ring *r, uint8_t byte);    r0 and r1: what r2 and r3 hold is nothing to `put`
//! ```

use std::collections::BTreeMap;

use super::Program;
use crate::decode::Isa;
use crate::decode::code::{Flow, Instruction, Reg};
use crate::facts::liveness::Liveness;
use crate::program::function::Function;
use crate::program::types::ArgumentWord;

/// Functions that compilers call without a declaration, with the words of their arguments.
const OF_LIBRARIES: [(&str, usize); 24] = [
    ("abort", 0),
    ("__stack_chk_fail", 0),
    ("free", 1),
    ("malloc", 1),
    ("strlen", 1),
    ("calloc", 2),
    ("realloc", 2),
    ("strchr", 2),
    ("strcmp", 2),
    ("strcpy", 2),
    ("memchr", 3),
    ("memcmp", 3),
    ("memcpy", 3),
    ("memmove", 3),
    ("memset", 3),
    ("strncmp", 3),
    ("strncpy", 3),
    ("__aeabi_idiv", 2),
    ("__aeabi_idivmod", 2),
    ("__aeabi_uidiv", 2),
    ("__aeabi_uidivmod", 2),
    ("__aeabi_lmul", 4),
    ("__aeabi_ldivmod", 4),
    ("__aeabi_uldivmod", 4),
];

impl Program {
    /// Those of each function that this one calls or jumps to and that is known; and which of them,
    /// and of its own, are addresses.
    pub(super) fn find_arguments(&self, function: &mut Function) {
        let (mut arguments, mut addresses) = (BTreeMap::new(), BTreeMap::new());
        let begin = function.instructions.first().map(|first| first.address);
        if let Some(begin) = begin
            && let Some(words) = self.lines.words(&function.name, begin, None)
        {
            addresses.insert(begin, addresses_of(function.isa, &words));
        }
        for (idx, instruction) in function.instructions.iter().enumerate() {
            let target = match instruction.flow {
                Flow::Call { target } => target,
                Flow::Branch { target, .. } if function.target(idx).is_none() => Some(target),
                Flow::Jump | Flow::LastCall => None,
                _ => continue,
            };
            let from = instruction.address;
            let Some(callee) = function.callees.get(&from) else { continue };
            if let Some(known) = self.arguments_of(function.isa, callee, from, target) {
                arguments.insert(from, known);
            }
            if let Some(words) = self.lines.words(callee, from, target) {
                let more = addresses_of(function.isa, &words);
                addresses.entry(from).or_insert_with(Vec::new).extend(more);
            }
        }
        function.arguments = arguments;
        function.addresses = addresses;
    }

    /// Those of the function of this name, which is called at `from` and may begin at `to`.
    fn arguments_of(&self, isa: Isa, name: &str, from: u64, to: Option<u64>) -> Option<Vec<Reg>> {
        let own = self.by_name.get_or_init(|| {
            let all = self.symbols.iter().enumerate().rev();
            all.map(|(idx, symbol)| (symbol.name.clone(), idx)).collect()
        });
        let own = own.get(name).map(|idx| &self.symbols[*idx]);
        let to = to.or(own.map(|own| own.address));
        if let Some(words) = self.lines.words(name, from, to) {
            let placed = registers(isa, &words)?;
            return Some(placed.into_iter().map(|(reg, _)| reg).collect());
        }
        let of_library = OF_LIBRARIES.iter().find(|(library, _)| *library == name);
        if let Some((_, n_words)) = of_library.filter(|_| own.is_none()) {
            return Some(isa.conventions().arguments[..*n_words].to_vec());
        }
        let own = own.filter(|own| !own.is_weak && own.isa == isa)?;
        if let Some(known) = self.by_code.borrow().get(&own.address) {
            return known.clone();
        }
        let known = self.decode_without_lines(own).ok().and_then(|code| by_code(&code.function));
        self.by_code.borrow_mut().insert(own.address, known.clone());
        known
    }
}

/// What a function reads of arguments before it writes them, if what it calls is no matter.
fn by_code(function: &Function) -> Option<Vec<Reg>> {
    if function.instructions.is_empty() {
        return None;
    }
    let read = |liveness: &Liveness| {
        let is_read = |reg: &&Reg| liveness.before(0).contains(**reg);
        function.isa.conventions().arguments.iter().filter(is_read).copied().collect::<Vec<Reg>>()
    };
    let most = read(&Liveness::of(function));
    // What passes through may be half of a wide result, or nothing.
    let is_used = |reg: &Reg| {
        let reads = |found: &Instruction| found.reads.iter().any(|read| read.reg == *reg);
        let is_second = function.isa.conventions().results.iter().skip(1).any(|other| other == reg);
        !is_second || function.instructions.iter().any(reads)
    };
    (most.iter().all(is_used) && read(&Liveness::of_reads(function)) == most).then_some(most)
}

/// The registers of those of these words that are addresses.
fn addresses_of(isa: Isa, words: &[ArgumentWord]) -> Vec<Reg> {
    let placed = registers(isa, words).unwrap_or_default();
    let addresses = placed.into_iter().filter(|(_, word)| *word == ArgumentWord::Address);
    addresses.map(|(reg, _)| reg).collect()
}

/// The registers of these words, each with its word, where the conventions of the set say them without more: floating
/// point in registers of its own is a matter of options on Arm and RISC-V.
fn registers(isa: Isa, words: &[ArgumentWord]) -> Option<Vec<(Reg, ArgumentWord)>> {
    let all = isa.conventions().arguments;
    let bytes = u64::from(isa.conventions().bits) / 8;
    let n_all = match isa {
        Isa::A64 => 8,
        Isa::A32 | Isa::T32 | Isa::Riscv32 | Isa::Riscv64 => all.len(),
        Isa::Sparc | Isa::X86 => return None,
    };
    let (mut next, mut taken) = (0, Vec::new());
    for word in words {
        let n = match word {
            ArgumentWord::Float(_) if isa == Isa::A64 => continue,
            ArgumentWord::Float(_) => return None,
            ArgumentWord::Address => 1,
            ArgumentWord::Integer(wide) => (wide.div_ceil(bytes) as usize).max(1),
        };
        // Arm has two words of one number in an even register and the next.
        if n == 2 && matches!(isa, Isa::A32 | Isa::T32) {
            next += next % 2;
        }
        let last = (next + n).min(n_all);
        // RISC-V takes a number apart where one register is left, Arm does not.
        if next + n <= n_all || isa == Isa::Riscv32 {
            taken.extend(all[next.min(last)..last].iter().map(|reg| (*reg, *word)));
        }
        next = if next + n <= n_all { next + n } else { n_all };
    }
    Some(taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_lie_where_conventions_say() {
        use ArgumentWord::{Address, Float, Integer};
        let of = |isa: Isa, words: &[ArgumentWord]| {
            let registers = registers(isa, words)?;
            Some(
                registers
                    .iter()
                    .map(|(reg, _)| isa.register_name(*reg))
                    .collect::<Vec<_>>()
                    .join(" "),
            )
        };
        assert_eq!(of(Isa::T32, &[Address, Integer(1)]).as_deref(), Some("r0 r1"));
        assert_eq!(of(Isa::T32, &[Address, Integer(8)]).as_deref(), Some("r0 r2 r3"));
        assert_eq!(of(Isa::A32, &[Integer(8), Address, Integer(8)]).as_deref(), Some("r0 r1 r2"));
        assert_eq!(of(Isa::A32, &[Float(4)]), None);
        assert_eq!(of(Isa::A64, &[Address, Float(8), Integer(8)]).as_deref(), Some("x0 x1"));
        assert_eq!(of(Isa::Riscv64, &[Integer(8), Integer(4)]).as_deref(), Some("a0 a1"));
        assert_eq!(of(Isa::Riscv32, &[Integer(8), Integer(8)]).as_deref(), Some("a0 a1 a2 a3"));
        assert_eq!(of(Isa::Riscv64, &[]).as_deref(), Some(""));
    }
}
