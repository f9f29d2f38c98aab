//! The known disagreements of our decoders and the two oracles, each with the text that decides.

use audit::decode::Isa;

use super::oracles::tokens;
use crate::decoders::Difference;

/// The registers of A32 as capstone calls them.
const A32_NAMES: [&str; 16] = [
    "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "sb", "sl", "fp", "ip", "sp", "lr", "pc",
];

/// The rule that explains a disagreement; `None` if nobody has looked at it.
pub fn explain(it: &Difference) -> Option<&'static str> {
    match it.isa {
        Isa::Riscv32 | Isa::Riscv64 => riscv(it),
        Isa::Sparc => sparc(it),
        Isa::A64 => a64(it),
        Isa::A32 => a32(it),
        Isa::T32 => super::rules_t32::explain(it),
        Isa::X86 => None,
    }
}

/// Of a later version than capstone knows.
fn is_later(mnemonic: &str) -> bool {
    const LATER: [&str; 28] = [
        "ldap", "stl", "ldiapp", "stilp", "dsb", "wfe", "wfi", "rmif", "setf", "ldra", "pac",
        "aut", "xpac", "bra", "blra", "reta", "ereta", "cfinv", "hlv", "hsv", "cbo", "wrs",
        "sinval", "sfence", "xaflag", "axflag", "hlt", "setpan",
    ];
    LATER.iter().any(|word| mnemonic.starts_with(word))
}

/// The same for capstone; `is_refused_by_llvm`: llvm-mc refuses the word too.
pub fn explain_capstone(it: &Difference, is_refused_by_llvm: bool) -> Option<&'static str> {
    // What the two have in common is explained once.
    if let Some(rule) = explain(it) {
        return Some(rule);
    }
    if it.isa == Isa::T32 {
        return super::rules_t32::explain_capstone(it, is_refused_by_llvm);
    }
    let theirs = it.theirs.as_deref().map(tokens).unwrap_or_default();
    let mnemonic = theirs.first().map_or("", String::as_str);
    let ours = it.ours.as_ref().map(|our| tokens(&our.text)).unwrap_or_default();
    let word = it.word as u32;
    let op3 = word >> 19 & 63;
    let first = ours.first().map_or("", String::as_str);
    match (it.isa, &it.ours) {
        (_, Err(_)) if is_refused_by_llvm => {
            Some("capstone knows extensions that llvm-mc, asked for ours only, refuses too")
        }
        (Isa::Riscv32 | Isa::Riscv64, Ok(_)) if mnemonic.starts_with("c.") => Some(
            "volume I, chapter 16: a compressed instruction is shown as the one that it stands for",
        ),
        (Isa::Riscv32 | Isa::Riscv64, Ok(_))
            if it.theirs.is_none() && word & 3 != 3 && word >> 7 & 31 == 0 =>
        {
            Some("16.7: hints of the C extension, which capstone refuses")
        }
        (Isa::Riscv32 | Isa::Riscv64, Ok(_))
            if first == "li" && mnemonic == "addi"
                || ["jr", "jalr"].contains(&first) && mnemonic == "jalr" =>
        {
            Some("chapter 25: usual names of `addi` from zero and of `jalr`")
        }
        (Isa::Riscv32 | Isa::Riscv64, Ok(_))
            if first.starts_with("csr")
                && ["fs", "fr"].iter().any(|word| mnemonic.starts_with(word)) =>
        {
            Some("chapter 25: names of the F extension for its control registers")
        }
        (Isa::Riscv32 | Isa::Riscv64, Ok(_))
            if first == "fence" && theirs.contains(&"unknown".to_owned()) =>
        {
            Some("2.7: a fence may order nothing, which capstone calls unknown")
        }
        (Isa::Riscv32 | Isa::Riscv64, Ok(_))
            if first.starts_with("csr")
                && first == mnemonic
                && theirs.contains(&(word >> 20).to_string()) =>
        {
            Some(
                "volume II, 2.2: capstone shows control and status registers that are newer than it by number",
            )
        }
        (Isa::Riscv32 | Isa::Riscv64, Ok(_))
            if it.theirs.is_none()
                && !is_refused_by_llvm
                && matches!(word & 0x7f, 0x13 | 0x1b | 0x33 | 0x3b | 0x53) =>
        {
            Some(
                "bits, conditional zeros and the rounding modes of exact conversions, which capstone refuses",
            )
        }
        (Isa::Riscv32 | Isa::Riscv64, Ok(_))
            if first == "li" && mnemonic == "mv" && word & 3 == 3 =>
        {
            Some("chapter 25: `li` of 0 and `mv` from zero are one word")
        }
        (Isa::A32, Ok(_))
            if (word & 0x0fff_0fff == 0x049d_0004 && mnemonic.starts_with("pop")
                || word & 0x0fff_0fff == 0x052d_0004 && mnemonic.starts_with("push"))
                && theirs.iter().any(|their| their == A32_NAMES[(word >> 12 & 15) as usize]) =>
        {
            Some(
                "A8.6.122, A8.6.123: `pop` and `push` of one register are a load and a store that move sp",
            )
        }
        (Isa::A32, Ok(_))
            if word >> 26 & 3 == 3 && word >> 8 & 15 == 9 && mnemonic.starts_with('v') =>
        {
            Some("A7.5: coprocessor 9 became floating point on halves in a later architecture")
        }
        (Isa::A32, Ok(_))
            if word >> 28 == 15 && word >> 8 & 15 == 13 && mnemonic.starts_with('v') =>
        {
            Some("A7.4: coprocessor 13 without a condition became vectors in a later architecture")
        }
        (Isa::A32, Ok(_)) if it.theirs.is_none() && !is_refused_by_llvm && word >> 25 == 0x79 => {
            Some("F4.1 of DDI 0487: vectors of version 8, which capstone is not asked for")
        }
        (Isa::A64, Err(_)) if word >> 22 == 0b11_0101_0100 => {
            Some("C4.1.90: system instructions of later versions, some of which capstone names")
        }
        (Isa::A64, Ok(_)) if first == "stgp" && it.theirs.is_none() && !is_refused_by_llvm => {
            Some("C6.2: `stgp` with a base that is stored, or updated, which capstone refuses")
        }
        (Isa::A64 | Isa::A32 | Isa::Riscv32 | Isa::Riscv64, Ok(_))
            if it.theirs.is_none() && !is_refused_by_llvm && is_later(first) =>
        {
            Some(
                "what orders memory, signs pointers and changes the system's state in later versions, which capstone refuses",
            )
        }
        (Isa::A64, Ok(_)) if ours[0] == "dsb" && mnemonic == "dfb" => {
            Some("C6.2: `dfb` is another name of this barrier")
        }
        (Isa::A64, Ok(_)) if first == "bfxil" && mnemonic == "bfc" => {
            Some("C6.2: `bfc` is a name of version 8.2 for a field of zeros")
        }
        (Isa::Sparc, Ok(_)) if op3 == 0x26 && word >> 30 == 3 && mnemonic == "stq" => {
            Some("B.6: `stdfq`, which version 9 gave to `stq`")
        }
        (Isa::Sparc, Ok(_))
            if op3 == 0x3a
                && word >> 30 == 2
                && theirs.get(1).is_some_and(|their| their == "%icc") =>
        {
            Some("B.27: there is one set of condition codes, which version 9 names %icc")
        }
        (Isa::A64, Ok(_)) if first == "bfi" && mnemonic == "bfc" => {
            Some("C6.2: `bfc` is a name of version 8.2 for `bfi` from zero")
        }
        (Isa::A64, Ok(_))
            if ["prfm", "prfum"].contains(&first) && ours[1].parse::<u32>().is_ok() =>
        {
            Some("C6.2: a prefetch without a name is shown by number, which capstone leaves out")
        }
        (Isa::A64, Ok(_)) if it.theirs.is_none() && first.starts_with("ldtr") => {
            Some("C6.2: `ldtr` updates no base, so the base may be loaded, which capstone refuses")
        }
        (Isa::A64, Ok(_)) if first == "orr" && mnemonic == "mov" => Some(
            "C6.2, `mov` (bitmask immediate): not the usual name where `movz` or `movn` makes the constant",
        ),
        (Isa::Sparc, Ok(_))
            if it.theirs.is_none()
                && word >> 30 == 3
                && matches!(op3, 0x03 | 0x07 | 0x0d | 0x10..=0x1f | 0x21 | 0x25 | 0x3c) =>
        {
            Some(
                "B.2 to B.8: pairs, `ldstub`, alternate spaces and the status of floating point, which capstone refuses",
            )
        }
        (Isa::Sparc, Ok(_))
            if it.theirs.is_none()
                && word >> 30 == 2
                && matches!(op3, 0x24 | 0x28..=0x33 | 0x3b | 0x3e | 0x3f) =>
        {
            Some(
                "B.16, B.28, B.29, B.32: `mulscc`, special registers, `flush` and LEON's `smac`, which capstone refuses",
            )
        }
        (Isa::Sparc, Ok(_))
            if ours.join("") == "rd%tbr,%g0"
                || first == "rd" && ours[1] == "%y" && mnemonic == "rd" =>
        {
            Some("B.28: `flushw` is of version 9; capstone leaves out where %y is read to")
        }
        (Isa::Sparc, Ok(_)) if first == "save" && mnemonic == "save" && ours.len() == 1 => {
            Some("A: `save` alone has %g0 three times")
        }
        (Isa::Sparc, Ok(_))
            if ours
                .iter()
                .filter(|our| *our != "0" && *our != "%g0")
                .eq(theirs.iter().filter(|their| *their != "%g0")) =>
        {
            Some("B.1: the address 0 is shown as a number, not as %g0")
        }
        (Isa::Sparc, Ok(_)) if first == "tst" && mnemonic == "orcc" => {
            Some("A: `tst` is the usual name of `orcc` with %g0")
        }
        (Isa::Sparc, Ok(_))
            if theirs
                .iter()
                .filter(|their| *their != "%g0")
                .eq(ours.iter().filter(|our| *our != "%g0")) =>
        {
            Some("B.1: %g0 is left out of an address, but not by capstone")
        }
        _ => None,
    }
}

/// Sections are those of The RISC-V Instruction Set Manual, volume I, version 20191213.
fn riscv(it: &Difference) -> Option<&'static str> {
    let theirs = it.theirs.as_deref().map(tokens).unwrap_or_default();
    let mnemonic = theirs.first().map_or("", String::as_str);
    let word = it.word;
    let is_short = word & 3 != 3;
    let rd = word >> 7 & 31;
    match &it.ours {
        Err(_)
            if is_short
                && mnemonic.ends_with("lui")
                && word >> 2 & 31 == 0
                && word >> 12 & 1 == 0 =>
        {
            Some("16.5: c.lui with an immediate of 0 is reserved")
        }
        Err(_) if it.isa == Isa::Riscv32 && mnemonic.starts_with("c.s") && word >> 12 & 1 == 1 => {
            Some("16.5: on RV32 a compressed shift by 32 and more is left to custom extensions")
        }
        Err(_)
            if it.isa == Isa::Riscv32
                && ["slli", "srli", "srai", "rori", "bclri", "bexti", "binvi", "bseti"]
                    .contains(&mnemonic)
                && word >> 25 & 1 == 1 =>
        {
            Some("2.4.1: on RV32 the amount of a shift has five bits")
        }
        Ok(ours) if is_short && mnemonic.starts_with("c.") => {
            let is_shift_by_0 =
                ["slli", "srli", "srai"].iter().any(|word| ours.text.starts_with(word))
                    && ours.text.ends_with(", 0");
            let is_hint = is_shift_by_0 || rd == 0 || ours.text.starts_with("mv ");
            is_hint.then_some(
                "16.7: a hint of the C extension is shown as the instruction that it stands for",
            )
        }
        Ok(ours) if ours.text.starts_with("zext.b") && mnemonic == "andi" => {
            Some("chapter 25: `zext.b` is the usual name of `andi` with 255")
        }
        Ok(ours) if mnemonic.starts_with("csr") => {
            let ours = tokens(&ours.text);
            let others: Vec<usize> =
                (0..ours.len().min(theirs.len())).filter(|&n| ours[n] != theirs[n]).collect();
            let is_number = |n: usize| ours[n].parse::<u64>() == Ok(word >> 20);
            (ours.len() == theirs.len() && others.len() == 1 && is_number(others[0]))
                .then_some("volume II, 2.2: control and status registers outside the base set are shown by number")
        }
        Ok(_) | Err(_) => None,
    }
}

/// Sections are those of The SPARC Architecture Manual, Version 8.
fn sparc(it: &Difference) -> Option<&'static str> {
    let theirs = it.theirs.as_deref().map(tokens).unwrap_or_default();
    let mnemonic = theirs.first().map_or("", String::as_str);
    let word = it.word as u32;
    let (op, op2, op3) = (word >> 30, word >> 22 & 7, word >> 19 & 63);
    match &it.ours {
        Err(_) if op == 0 && matches!(op2, 1 | 3 | 5) => {
            Some("5.1: op2 values 1, 3 and 5 are reserved; llvm-mc takes them from version 9")
        }
        Err(_)
            if op == 2 && matches!(op3, 0x09 | 0x0d | 0x2c..=0x2f)
                || op == 2 && matches!(op3, 0x25..=0x27) && word >> 12 & 1 == 1 =>
        {
            Some("F.3: the operation is reserved; llvm-mc takes it from version 9")
        }
        Err(_) if op == 2 && op3 == 0x3a && word >> 13 & 1 == 1 && word >> 7 & 1 == 1 => {
            Some("B.27: the number of a trap has seven bits, and those above must be 0")
        }
        Err(_) if op == 2 && op3 == 0x3a && word >> 12 & 1 == 1 => {
            Some("B.27: the condition codes of 64 bits are of version 9")
        }
        Err(_) if op == 2 && matches!(op3, 0x34 | 0x35) => {
            let is_new = |text: &String| {
                let high = text
                    .strip_prefix("%f")
                    .and_then(|rest| rest.parse::<u32>().ok())
                    .is_some_and(|n| n >= 32);
                high || text.starts_with("%fcc")
            };
            let of_v9 =
                ["fmovr", "fmovd", "fmovq", "fnegd", "fnegq", "fabsd", "fabsq", "fxto", "fmov"];
            let is_v9 = of_v9.iter().any(|word| mnemonic.starts_with(word)) && mnemonic != "fmovs"
                || mnemonic.ends_with("tox");
            (is_v9 || theirs.iter().any(is_new))
                .then_some("B.33: the floating-point operation or register is of version 9")
        }
        Err(_)
            if op == 3
                && matches!(
                    op3,
                    0x08 | 0x0b | 0x0e | 0x18 | 0x1b | 0x1e | 0x22 | 0x26 | 0x2d..=0x2f
                ) =>
        {
            Some("F.4: the access is reserved; llvm-mc takes it from version 9")
        }
        Err(_) if op == 3 && matches!(op3, 0x10..=0x1f) && word >> 13 & 1 == 1 => Some(
            "B.1: an alternate space is named by the word itself; llvm-mc takes %asi from version 9",
        ),
        Err(_)
            if matches!(op3, 0x03 | 0x07 | 0x13 | 0x17 | 0x23 | 0x27)
                && op == 3
                && word >> 25 & 1 == 1 =>
        {
            Some(
                "B.1, B.2: a pair begins at an even register; llvm-mc drops the bit, or takes it as the sixth from version 9",
            )
        }
        Err(_) if op == 2 && matches!(op3, 0x25..=0x27) && word >> 5 & 0xff != 0 => {
            Some("B.12: beside the amount of a shift the bits must be 0")
        }
        Err(_)
            if op == 0 && op2 == 7
                || op == 2 && matches!(op3, 0x36 | 0x37)
                || op == 3 && op3 >= 0x30 =>
        {
            Some("1.1: a coprocessor is optional; the machines that are modelled have none")
        }
        Ok(ours) if op == 0 && matches!(op2, 2 | 6) => {
            let ours = tokens(&ours.text);
            let n = ours.len().checked_sub(1)?;
            let offset = i64::from(((word & 0x3f_ffff) << 10) as i32 >> 8);
            let is_same = ours[..n] == *theirs.get(..n)?
                && ours[n].parse() == Ok((crate::decoders::ADDRESS as i64 + offset) & 0xffff_ffff);
            let is_same = is_same && theirs[n].parse() == Ok(i64::from(word & 0x3f_ffff));
            is_same.then_some(
                "B.21: llvm-mc shows the displacement of a branch in words, without its sign",
            )
        }
        Ok(ours)
            if (op == 3 || op == 2 && matches!(op3, 0x38 | 0x39 | 0x3b))
                && word >> 13 & 1 == 1
                && word >> 12 & 1 == 1 =>
        {
            let ours = tokens(&ours.text);
            let others: Vec<usize> =
                (0..ours.len().min(theirs.len())).filter(|&n| ours[n] != theirs[n]).collect();
            let (a, b) = others.first().and_then(|&n| {
                Some((ours[n].parse::<i64>().ok()?, theirs[n].parse::<i64>().ok()?))
            })?;
            (ours.len() == theirs.len() && others.len() == 1 && a + 8192 == b)
                .then_some("B.1: llvm-mc shows the offset in an address without its sign")
        }
        Ok(_) | Err(_) => None,
    }
}

/// Sections are those of the Arm Architecture Reference Manual, DDI 0487.
fn a64(it: &Difference) -> Option<&'static str> {
    let theirs = it.theirs.as_deref().map(tokens).unwrap_or_default();
    let mnemonic = theirs.first().map_or("", String::as_str);
    match &it.ours {
        Err(_)
            if it.word >> 22 == 0b11_0101_0100
                && it.word >> 19 & 3 == 0
                && ["mrs", "msr"].contains(&mnemonic) =>
        {
            Some("C5.1.2: with op0 at 0 there are no system registers")
        }
        Err(why) if why.contains("scalable vectors") => {
            Some("C4.1.40: of scalable vectors, what copies memory is decoded")
        }
        Err(why) if why.contains("tags of whole blocks") => {
            Some("C6.2: `ldgm`, `stgm` and `stzgm` are the system's")
        }
        Err(_) if ["smstart", "smstop"].contains(&mnemonic) => {
            Some("C5.1.2: the field of the state is of a later version")
        }
        Ok(ours) if ours.text == "hint #6" => Some("C6.2: `dgh` is a hint of a later version"),
        Ok(ours) if ours.text.starts_with("prfm #") && mnemonic == "rprfm" => {
            Some("C6.2: `rprfm` is a prefetch of a later version")
        }
        Ok(ours)
            if ours.text.starts_with("sys ") && ["ic", "dc", "at", "tlbi"].contains(&mnemonic) =>
        {
            Some("C6.2: operations on caches and translations are shown as the `sys` that they are")
        }
        Ok(ours) if ["mrs", "msr"].contains(&mnemonic) => {
            let ours = tokens(&ours.text);
            let others: Vec<usize> =
                (0..ours.len().min(theirs.len())).filter(|&n| ours[n] != theirs[n]).collect();
            let field = |high: u32, low: u32| it.word >> low & ((2 << (high - low)) - 1);
            let generic = format!(
                "s{}_{}_c{}_c{}_{}",
                field(20, 19),
                field(18, 16),
                field(15, 12),
                field(11, 8),
                field(7, 5)
            );
            // A name of a register that is only read is no name to llvm-mc in a write.
            let is_generic =
                |n: usize| ours[n] == generic || theirs[n] == generic && mnemonic == "msr";
            (ours.len() == theirs.len() && others.len() == 1 && is_generic(others[0]))
                .then_some("D19.1: system registers outside our list are shown in the generic way")
        }
        Ok(ours) if ours.text.starts_with("hint #") => {
            Some("C6.2: hints of later versions have names")
        }
        Err(_) if ["ldap1", "stl1", "ldapur", "stlur"].contains(&mnemonic) => {
            Some("C7.2: of what orders memory with vectors nothing is decoded (FEAT_LRCPC3)")
        }
        Err(why) if why.contains("unpredictable") => {
            Some("K1.2: constrained unpredictable; llvm-mc only warns, or says nothing")
        }
        Err(why) if why.contains("must be ones") => {
            Some("C2.2: bits in brackets should be ones; otherwise constrained unpredictable")
        }
        Ok(_) | Err(_) => None,
    }
}

/// Sections are those of the Arm Architecture Reference Manual, DDI 0406C.
fn a32(it: &Difference) -> Option<&'static str> {
    let theirs = it.theirs.as_deref().map(tokens).unwrap_or_default();
    let mnemonic = theirs.first().map_or("", String::as_str);
    let word = it.word as u32;
    let coprocessor = word >> 8 & 15;
    match &it.ours {
        Err(why) if why.contains("unpredictable") => {
            Some("A5.1.2: unpredictable; llvm-mc only warns, or says nothing")
        }
        Err(_)
            if (mnemonic.starts_with("ldrd") || mnemonic.starts_with("strd"))
                && word >> 12 & 1 == 1 =>
        {
            Some("A8.8.72: a pair begins at an even register")
        }
        Err(_) if mnemonic.starts_with("swp") && word >> 8 & 15 != 0 => {
            Some("A5.1.2: bits 11 to 8 of a swap should be 0, else it is unpredictable")
        }
        Err(_) if mnemonic.starts_with("cps") => Some(
            "B9.3.2: fields of `cps` that should be 0, or contradict each other, are unpredictable",
        ),
        Err(_) if mnemonic.starts_with("smc") => {
            Some("B9.3.14: `smc` is of the Security Extensions, which the ARM1136 does not have")
        }
        Err(_) if mnemonic.starts_with("bxj") => Some("A8.8.28: Jazelle is not modelled"),
        Ok(ours) if ours.text.starts_with("vext") => in_wider_elements(&ours.text, &theirs),
        Err(_)
            if ["ldc2", "stc2"].iter().any(|word| mnemonic.starts_with(word))
                && matches!(coprocessor, 10 | 11) =>
        {
            Some(
                "A7.5: without a condition, coprocessors 10 and 11 are vectors of a later architecture",
            )
        }
        Ok(_) | Err(_) => None,
    }
}

/// `vext` counts bytes; where they are a multiple of something wider, both oracles count that.
pub fn in_wider_elements(ours: &str, theirs: &[String]) -> Option<&'static str> {
    let ours = tokens(ours);
    let bytes = |them: &[String]| {
        let (head, last) = (them.first()?, them.last()?.parse::<u32>().ok()?);
        let (name, bits) = head.rsplit_once('.')?;
        Some((
            name.to_owned(),
            bits.parse::<u32>().ok()? / 8 * last,
            them[1..them.len() - 1].to_vec(),
        ))
    };
    (bytes(&ours).is_some() && bytes(&ours) == bytes(theirs))
        .then_some("A8.8.316 of DDI 0406C: `vext` with wider elements is another name of the one that counts bytes")
}
