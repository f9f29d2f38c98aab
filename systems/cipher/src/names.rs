//! Words that no cipher, hash or package can be called.

/// Words that mean something to C, Rust or Python, or to the tools that build packages of them.
const TAKEN: &[&str] = &[
    "all", "alloc", "and", "as", "asm", "assert", "async", "auto", "await", "bool", "break",
    "case", "char", "class", "clean", "const", "continue", "core", "crate", "def", "default",
    "del", "do", "double", "dyn", "elif", "else", "enum", "except", "extern", "false", "float",
    "fn", "for", "from", "global", "goto", "help", "if", "impl", "import", "in", "inline",
    "install", "int", "is", "lambda", "let", "long", "loop", "main", "match", "mod", "move", "mut",
    "not", "nullptr", "or", "pass", "pub", "raise", "ref", "register", "restrict", "return",
    "self", "short", "signed", "sizeof", "static", "std", "struct", "super", "switch", "test",
    "trait", "true", "try", "type", "typedef", "typeof", "union", "unsafe", "unsigned", "use",
    "void", "volatile", "where", "while", "with", "yield",
];

/// The name means something else to a language or tool that has to take it.
pub fn is_taken(name: &str) -> bool {
    TAKEN.contains(&name)
}
