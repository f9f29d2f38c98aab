//! What kind of instruction a text is, as the rows of machine files name it: its operands without
//! the numbers of registers, the values of constants and the addresses.
//!
//! ```text
//! add 0x10(%rsp,%rcx,4), %eax      add m, r32
//! shl %cl, %rax                    shl cl, r64
//! fmla v0.4s, v1.4s, v2.s[1]       fmla 4s, 4s, s[]
//! add x0, x1, x2, lsl #7           add x, x, x, lsl i       up to 4: lsl s, which some cores shift for nothing
//! ldr x0, [x1, x2, lsl #3]         ldr x, mx
//! ldr q0, [x1], #16                ldr q, m, i
//! ```

use crate::decode::Isa;

/// The form of an instruction of x86-64 or A64, from its text.
pub fn form(isa: Isa, text: &str) -> String {
    // Prefixes say nothing of the work, but for those that repeat it.
    let text = ["notrack ", "bnd ", "lock ", "data16 "]
        .iter()
        .fold(text, |text, prefix| text.strip_prefix(prefix).unwrap_or(text));
    let (mnemonic, operands) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let operands = operands_of(operands);
    let is_shift = ["sh", "sa", "ro", "rc"].iter().any(|with| mnemonic.starts_with(with));
    let goes = mnemonic.starts_with('j') || ["call", "loop", "xbegin"].contains(&mnemonic);
    let kind = |(nth, operand): (usize, &&str)| match isa {
        Isa::X86 if *operand == "%cl" && nth == 0 && is_shift => "cl".to_owned(),
        Isa::X86 if goes && operand.starts_with("0x") => "t".to_owned(),
        Isa::X86 => x86(operand).to_owned(),
        _ => a64(operand),
    };
    let kinds: Vec<String> = operands.iter().enumerate().map(kind).collect();
    match kinds.join(", ") {
        kinds if kinds.is_empty() => mnemonic.to_owned(),
        kinds => format!("{mnemonic} {kinds}"),
    }
}

/// Operands between commas that stand in no bracket.
fn operands_of(text: &str) -> Vec<&str> {
    let (mut depth, mut from, mut found) = (0i32, 0, Vec::new());
    for (at, letter) in text.char_indices() {
        match letter {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                found.push(text[from..at].trim());
                from = at + 1;
            }
            _ => {}
        }
    }
    found.push(text[from..].trim());
    found.retain(|operand| !operand.is_empty());
    found
}

/// What is merged into what stood in a vector, by a mask, is as what is not.
fn x86(operand: &str) -> &'static str {
    let plain = operand.split('{').next().unwrap_or_default();
    match plain.strip_prefix('%') {
        Some(name) if !plain.contains(':') => register(name),
        _ if plain.starts_with('$') => "i",
        _ if plain.starts_with('*') && !plain.contains(['(', ':']) && plain.contains('%') => "r64",
        // Also by an address without a register.
        _ => "m",
    }
}

fn register(name: &str) -> &'static str {
    let begins = |with: &str| name.starts_with(with);
    match name {
        "al" | "cl" | "bl" | "dl" | "sil" | "dil" | "bpl" | "spl" | "ah" | "bh" | "ch" | "dh" => {
            "r8"
        }
        _ if begins("xmm") => "x",
        _ if begins("ymm") => "y",
        _ if begins("zmm") => "z",
        _ if begins("mm") => "mm",
        _ if begins("st") => "st",
        _ if begins("k") => "k",
        _ if begins("e") && name.len() == 3 => "r32",
        _ if begins("r") && name.ends_with('d') => "r32",
        _ if begins("r") && name.ends_with('w') => "r16",
        _ if begins("r") && name.ends_with('b') => "r8",
        _ if begins("r") => "r64",
        "ax" | "bx" | "cx" | "dx" | "si" | "di" | "bp" | "sp" => "r16",
        _ => "other",
    }
}

fn a64(operand: &str) -> String {
    if let Some(inside) = operand.strip_prefix('[') {
        let is_indexed = inside
            .split(',')
            .nth(1)
            .is_some_and(|second| second.trim_start().starts_with(['x', 'w']));
        let writes_back = if operand.ends_with('!') { "!" } else { "" };
        return format!("m{}{writes_back}", if is_indexed { "x" } else { "" });
    }
    if let Some(inside) = operand.strip_prefix('{') {
        // A list of vectors: how many, and of what.
        let (list, lane) = inside.split_once('}').unwrap_or((inside, ""));
        let n = match list.split_once('-') {
            Some((first, last)) => 1 + number(last).wrapping_sub(number(first)) % 32,
            None => list.split(',').count() as u32,
        };
        let arrangement = list.split(',').next().and_then(|first| first.split_once('.'));
        let arrangement = arrangement.map_or("", |pair| pair.1.split('-').next().unwrap_or(""));
        return format!(
            "{{{n} {}}}{}",
            arrangement.trim(),
            if lane.is_empty() { "" } else { "[]" }
        );
    }
    if operand.starts_with(['#', '-']) || operand.starts_with(|first: char| first.is_ascii_digit())
    {
        return "i".to_owned();
    }
    if let Some((modifier, amount)) = operand.split_once(" #") {
        let is_small = modifier == "lsl" && amount.parse().is_ok_and(|by: u32| by <= 4);
        return format!("{modifier} {}", if is_small { "s" } else { "i" });
    }
    let vector = operand.split_once('.').filter(|(name, _)| name.starts_with('v'));
    if let Some((_, arrangement)) = vector {
        return match arrangement.split_once('[') {
            Some((element, _)) => format!("{element}[]"),
            None => arrangement.to_owned(),
        };
    }
    let digits = operand.get(1..).unwrap_or("");
    match operand.chars().next() {
        _ if matches!(operand, "sp" | "xzr" | "lr") => "x".to_owned(),
        _ if matches!(operand, "wsp" | "wzr") => "w".to_owned(),
        Some(kind) if "xwbhsdq".contains(kind) && digits.parse::<u8>().is_ok() => kind.to_string(),
        _ if ["uxtw", "uxtx", "uxtb", "uxth", "sxtw", "sxtx", "sxtb", "sxth"]
            .contains(&operand) =>
        {
            operand.to_owned()
        }
        // A condition or a place in the code.
        _ => "t".to_owned(),
    }
}

fn number(name: &str) -> u32 {
    let digits: String = name.chars().filter(char::is_ascii_digit).take(2).collect();
    digits.parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_addresses_and_constants_go() {
        for (text, expected) in [
            ("add 0x10(%rsp,%rcx,4), %eax", "add m, r32"),
            ("shl %cl, %rax", "shl cl, r64"),
            ("mov %cl, %dil", "mov r8, r8"),
            ("lock addl $1, (%rdi)", "addl i, m"),
            ("vaddps 0x20(%rax), %zmm1, %zmm2{%k1}{z}", "vaddps m, z, z"),
            ("cmp 0x1E5, %rax", "cmp m, r64"),
            ("jne 0x40", "jne t"),
            ("jmp *%rax", "jmp r64"),
            ("ret", "ret"),
        ] {
            assert_eq!(form(Isa::X86, text), expected, "{text}");
        }
        for (text, expected) in [
            ("fmla v0.4s, v1.4s, v2.s[1]", "fmla 4s, 4s, s[]"),
            ("add x0, x1, x2, lsl #7", "add x, x, x, lsl i"),
            ("add x0, x1, x2, lsl #4", "add x, x, x, lsl s"),
            ("add x0, x1, w2, sxtw", "add x, x, w, sxtw"),
            ("ldr x0, [x1, x2, lsl #3]", "ldr x, mx"),
            ("ldr x0, [x1, #16]!", "ldr x, m!"),
            ("ldr q0, [x1], #16", "ldr q, m, i"),
            ("ld1 { v0.16b, v1.16b }, [x0]", "ld1 {2 16b}, m"),
            ("csel w0, w1, wzr, eq", "csel w, w, w, t"),
            ("fmov d0, xzr", "fmov d, x"),
        ] {
            assert_eq!(form(Isa::A64, text), expected, "{text}");
        }
    }
}
