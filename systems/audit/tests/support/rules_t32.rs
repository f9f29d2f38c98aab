//! The known disagreements about Thumb. Sections are those of the Arm Architecture Reference
//! Manuals: A of the ARMv7-M one (DDI 0403), B of that of ARMv7-A and -R (DDI 0406C) where it says
//! so.

use super::oracles::tokens;
use crate::decoders::Difference;

/// The rule that explains a disagreement with llvm-mc.
pub fn explain(it: &Difference) -> Option<&'static str> {
    let theirs = it.theirs.as_deref().map(tokens).unwrap_or_default();
    let mnemonic = theirs.first().map_or("", String::as_str);
    match &it.ours {
        Err(why) if why.contains("unpredictable") => {
            Some("A5.1.2: unpredictable; llvm-mc only warns, or says nothing")
        }
        Err(why) if why.contains("NEON or MVE") && mnemonic.contains('c') => Some(
            "A5.3.18: without a condition, coprocessors 10 and 11 are vectors of a later architecture",
        ),
        Ok(ours) if ours.text.starts_with("vext") => {
            super::rules::in_wider_elements(&ours.text, &theirs)
        }
        Err(why) if why.contains("pointer authentication") => {
            Some("DDI 0553, C2.4: pointer authentication is of ARMv8.1-M")
        }
        Ok(ours) if ours.text.ends_with("spsr") && mnemonic.starts_with("mrs") => Some(
            "B9.3.8 of DDI 0406C: bit 20 says the saved status, which the M profile does not have",
        ),
        Ok(ours) if ours.text.contains(" CPSR_") && mnemonic.starts_with("msr") => Some(
            "B9.3.12 of DDI 0406C: bits 8 and 9 say fields of the status that the M profile does not have",
        ),
        Err(_) if theirs.last().is_some_and(|their| their == "mvfr2") => {
            Some("DDI 0487: the register came with ARMv8")
        }
        Err(why) if why.contains("hint to memory") => {
            Some("A5.3.8: a hint that nobody has named, which llvm-mc calls `pld`")
        }
        Ok(ours) if ours.is_guarded() && ours.text.starts_with("udf") && mnemonic == "udf" => {
            Some("A7.7.194: `udf` has a condition like any other, which llvm-mc leaves out")
        }
        Ok(ours) if ours.is_guarded() && ours.text.starts_with("hlt") && mnemonic == "hlt" => Some(
            "F5.1.57 of DDI 0487: `hlt` is done whatever the block says that it stands in, and stops",
        ),
        Ok(ours) if ours.text.starts_with("udf") && ["trap", "__brkdiv0"].contains(&mnemonic) => {
            Some("A7.7.194: llvm-mc has names of systems for two words that are undefined for ever")
        }
        Ok(_) | Err(_) => None,
    }
}

/// The same for capstone.
pub fn explain_capstone(it: &Difference, is_refused_by_llvm: bool) -> Option<&'static str> {
    let theirs = it.theirs.as_deref().map(tokens).unwrap_or_default();
    let mnemonic = theirs.first().map_or("", String::as_str);
    let starts = |them: &[&str]| them.iter().any(|word| mnemonic.starts_with(word));
    match &it.ours {
        _ if starts(&["sha1", "sha256", "aes"]) => {
            Some("A5.3: capstone takes words from everywhere for cryptography of ARMv8-A")
        }
        Err(_) if starts(&["hlt", "setpan", "crc32"]) => Some("A5.2: of ARMv8-A"),
        Err(_) if is_refused_by_llvm => {
            Some("capstone knows extensions that llvm-mc, asked for ours only, refuses too")
        }
        Ok(ours) if ours.text.starts_with("hint") || ours.text == "bti" => {
            Some("A7.7: hints of later versions have names")
        }
        Ok(_) if matches!(it.word >> 8 & 15, 8 | 9 | 13) && starts(&["v"]) => Some(
            "A5.3.18: coprocessors 8, 9 and 13 became floating point on halves, and vectors, in a later architecture",
        ),
        Ok(ours) if ours.text.starts_with("blx") && starts(&["v"]) => {
            Some("A5.3: capstone takes a call for a vector of ARMv8-A")
        }
        Ok(ours)
            if ["dmb", "dsb"].contains(&mnemonic)
                && (ours.text.starts_with(mnemonic) || ours.text.contains("ssbb")) =>
        {
            Some("A7.7.33: ARMv8-A has names for more kinds of barriers")
        }
        Ok(ours) if ours.text.starts_with("udf") && it.theirs.is_none() => {
            Some("A7.7.194: capstone refuses the word that llvm-mc has a name for")
        }
        Ok(ours) if ours.text.starts_with("adr") && starts(&["addw", "subw"]) => {
            Some("A7.7.7: `adr` is a sum with the program counter")
        }
        Ok(_) | Err(_) => None,
    }
}
