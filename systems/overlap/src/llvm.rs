//! The versions of LLVM that the plugin is built for, and their compilers.

use measure::tool::{self, ToolError};

use crate::mpi::Language;

/// A version of LLVM.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Llvm {
    V19,
    V22,
}

impl Llvm {
    /// All, the default one first.
    pub const ALL: [Llvm; 2] = [Llvm::V19, Llvm::V22];

    pub fn number(self) -> u32 {
        match self {
            Llvm::V19 => 19,
            Llvm::V22 => 22,
        }
    }

    /// A compiler of it, as Debian names it.
    pub fn compiler(self, language: Language) -> &'static str {
        match (self, language) {
            (Llvm::V19, Language::C) => "clang-19",
            (Llvm::V19, Language::Cxx) => "clang++-19",
            (Llvm::V19, Language::Fortran) => "flang-new-19",
            (Llvm::V22, Language::C) => "clang-22",
            (Llvm::V22, Language::Cxx) => "clang++-22",
            (Llvm::V22, Language::Fortran) => "flang-22",
        }
    }

    /// The version that a compiler belongs to, from what it prints with `--version`.
    pub fn of(version: &str) -> Option<Llvm> {
        let is_llvm = version.contains("clang") || version.contains("flang");
        Llvm::ALL
            .into_iter()
            .find(|it| is_llvm && version.contains(&format!("version {}.", it.number())))
    }

    /// The first one whose compiler of this language is here.
    ///
    /// Errors: if none is.
    pub fn present(language: Language) -> Result<Llvm, ToolError> {
        let names = Llvm::ALL.map(|it| it.compiler(language));
        Llvm::ALL.into_iter().find(|it| tool::find(it.compiler(language)).is_some()).ok_or_else(|| ToolError {
            ran: format!("{} --version", names[0]),
            said: format!(
                "there is neither `{}` nor `{}` here; Debian's packages are clang-19 and flang-19, or clang-22 and flang-22",
                names[0], names[1]
            ),
        })
    }

    /// True if the plugin can be built for it.
    pub fn builds(self) -> bool {
        tool::find(self.compiler(Language::C)).is_some()
            && tool::find(&format!("llvm-config-{}", self.number())).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read() {
        assert_eq!(
            Llvm::of("Debian clang version 19.1.7 (3~deb12u1)\nTarget: x86_64-pc-linux-gnu"),
            Some(Llvm::V19)
        );
        assert_eq!(Llvm::of("flang-new version 19.1.7"), Some(Llvm::V19));
        assert_eq!(Llvm::of("Debian flang version 22.1.8 (1~deb12u1)"), Some(Llvm::V22));
        for other in [
            "Debian clang version 14.0.6",
            "gcc (Debian 12.2.0-14) 12.2.0",
            "clang version 190.0.0",
            "GNU Fortran version 19.1",
        ] {
            assert_eq!(Llvm::of(other), None, "{other}");
        }
    }
}
