//! What a core says of itself in registers that a system reads when it starts, and which extensions
//! of RISC-V it has: by these Linux chooses the code that it runs.

use std::collections::BTreeMap;

use report::{Diagnostic, did_you_mean};
use serde::Deserialize;
use toml::Spanned;

use crate::reader::Reader;

/// The registers that a file may have, with their encoding: `op0`, `op1`, `CRn`, `CRm`, `op2`.
/// Source: Arm Architecture Reference Manual (DDI 0487), D19.2.
const REGISTERS: [(&str, [u32; 5]); 13] = [
    ("MIDR_EL1", [3, 0, 0, 0, 0]),
    ("REVIDR_EL1", [3, 0, 0, 0, 6]),
    ("CTR_EL0", [3, 3, 0, 0, 1]),
    ("ID_AA64PFR0_EL1", [3, 0, 0, 4, 0]),
    ("ID_AA64PFR1_EL1", [3, 0, 0, 4, 1]),
    ("ID_AA64ZFR0_EL1", [3, 0, 0, 4, 4]),
    ("ID_AA64DFR0_EL1", [3, 0, 0, 5, 0]),
    ("ID_AA64ISAR0_EL1", [3, 0, 0, 6, 0]),
    ("ID_AA64ISAR1_EL1", [3, 0, 0, 6, 1]),
    ("ID_AA64ISAR2_EL1", [3, 0, 0, 6, 2]),
    ("ID_AA64MMFR0_EL1", [3, 0, 0, 7, 0]),
    ("ID_AA64MMFR1_EL1", [3, 0, 0, 7, 1]),
    ("ID_AA64MMFR2_EL1", [3, 0, 0, 7, 2]),
];

/// Those of RISC-V: vendor, architecture and version. Source: RISC-V Instruction Set Manual, volume
/// II, 3.1.2 to 3.1.4.
pub const OF_RISCV: [&str; 3] = ["mvendorid", "marchid", "mimpid"];

/// The identification registers of a core and its extensions, as far as its file has them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Identity {
    registers: BTreeMap<&'static str, u64>,
    /// By their names in RISC-V, such as `zbb`, whether it has them.
    extensions: BTreeMap<String, bool>,
}

/// A number; as text where it has all 64 bits, since those of TOML have a sign.
#[derive(Deserialize)]
#[serde(untagged)]
enum RegisterValue {
    Number(u64),
    Text(String),
}

impl RegisterValue {
    fn number(&self) -> Option<u64> {
        match self {
            RegisterValue::Number(number) => Some(*number),
            RegisterValue::Text(text) => u64::from_str_radix(text.strip_prefix("0x")?, 16).ok(),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct IdentityTable {
    #[serde(default)]
    registers: BTreeMap<Spanned<String>, RegisterValue>,
    #[serde(default)]
    extensions: BTreeMap<Spanned<String>, bool>,
    source: Spanned<String>,
}

impl Identity {
    /// The value of the register of this name, such as `MIDR_EL1`.
    pub fn register(&self, name: &str) -> Option<u64> {
        self.registers.get(name).copied()
    }

    /// The core has the extension of this name; none if its file does not say.
    pub fn extension(&self, name: &str) -> Option<bool> {
        self.extensions.get(name).copied()
    }

    /// The same with a register that is known besides; false if there is none of this name.
    pub fn set(&mut self, name: &str, value: u64) -> bool {
        let known = names().find(|known| *known == name);
        self.registers.extend(known.map(|known| (known, value)));
        known.is_some()
    }

    /// The same, where `other` says nothing else.
    pub fn overlaid(mut self, other: &Identity) -> Identity {
        self.registers.extend(&other.registers);
        self.extensions.extend(other.extensions.clone());
        self
    }

    /// The value of the register with this encoding: `op0`, `op1`, `CRn`, `CRm`, `op2`.
    pub fn encoded(&self, encoding: [u32; 5]) -> Option<u64> {
        let known = REGISTERS.iter().find(|(_, of_known)| *of_known == encoding)?;
        self.register(known.0)
    }
}

fn names() -> impl Iterator<Item = &'static str> {
    REGISTERS.iter().map(|(known, _)| *known).chain(OF_RISCV)
}

impl Reader {
    pub(crate) fn identity(&self, table: &IdentityTable) -> Result<Identity, Diagnostic> {
        self.source(&table.source)?;
        let mut identity = Identity::default();
        for (name, has) in &table.extensions {
            let is_name = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
            if name.get_ref().is_empty() || !name.get_ref().bytes().all(is_name) {
                let said = format!("no extension of RISC-V is called `{}`", name.get_ref());
                let fault = self.fault(said, name.span(), "here");
                return Err(
                    fault.with_help("small letters and digits, as Linux writes them: `zbb`")
                );
            }
            identity.extensions.insert(name.get_ref().clone(), *has);
        }
        for (name, value) in &table.registers {
            let Some(value) = value.number() else {
                let said = format!("what `{}` has is no number", name.get_ref());
                let fault = self.fault(said, name.span(), "here");
                return Err(
                    fault.with_help("a number, or as text one of 64 bits: \"0x8000000000000007\"")
                );
            };
            if !identity.set(name.get_ref(), value) {
                let said = format!("there is no register `{}`", name.get_ref());
                let fault = self.fault(said, name.span(), "here");
                return Err(match did_you_mean(name.get_ref(), names()) {
                    Some(meant) => fault.with_help(meant),
                    None => fault,
                });
            }
        }
        Ok(identity)
    }
}

#[cfg(test)]
mod tests {
    use crate::Machine;
    use crate::in_order::Core;

    #[test]
    fn registers_have_names_and_encodings() {
        let core = Core::bundled("cortex-a55").and_then(|core| core.identity).expect("it says it");
        assert_eq!(core.register("ID_AA64ISAR0_EL1"), core.encoded([3, 0, 0, 6, 0]));
        assert_eq!(core.register("MIDR_EL1"), Some(0x412f_d050));
        let machine = Machine::bundled("neoverse-n1").and_then(|it| it.identity);
        assert_eq!(machine.and_then(|it| it.register("CTR_EL0")), None);
    }

    #[test]
    fn extensions_are_there_or_not_or_not_known() {
        let core = Core::bundled("sifive-u74").and_then(|core| core.identity).expect("it says it");
        let of = |name: &str| core.extension(name);
        assert_eq!([of("c"), of("v"), of("zbb")], [Some(true), Some(false), None]);
        assert_eq!(core.register("mvendorid"), Some(0x489));
        assert_eq!(core.register("mimpid"), None);
    }

    #[test]
    fn what_is_no_number_and_no_extension_is_refused() {
        let text = include_str!("../machines/sifive-u74.toml");
        let marchid = "\"0x8000000000000007\"";
        let core = Core::parse("my.toml", text).expect("it is right");
        let identity = core.identity.expect("it has one");
        assert_eq!(identity.register("marchid"), Some(1 << 63 | 7));
        for other in ["\"8000000000000007\"", "\"0x\"", "\"seven\""] {
            let error = Core::parse("my.toml", &text.replace(marchid, other)).expect_err(other);
            assert!(error.message.contains("what `marchid` has is no number"), "{}", error.message);
        }
        for other in ["Zicond", "zicond-1", "\"\""] {
            let changed = text.replace("zicond = ", &format!("{other} = "));
            let error = Core::parse("my.toml", &changed).expect_err(other);
            assert!(error.message.contains("no extension of RISC-V"), "{}", error.message);
        }
    }

    #[test]
    fn a_register_that_there_is_not_is_refused() {
        let text = include_str!("../machines/cortex-a53.toml");
        let wrong = text.replace("MIDR_EL1 =", "MIRD_EL1 =");
        let error = Core::parse("a53.toml", &wrong).expect_err("it is misspelled");
        assert_eq!(error.message, "there is no register `MIRD_EL1`");
        assert!(error.help.is_some_and(|help| help.contains("MIDR_EL1")));
    }
}
