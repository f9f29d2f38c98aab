//! Words that no cipher, hash or package can be called.

/// Words that mean something to C, Rust or Python, or to the tools that build packages of them.
const TAKEN: &[&str] = &[
    "abstract", "all", "alloc", "and", "as", "asm", "assert", "async", "auto", "await", "become",
    "bool", "box", "break", "case", "char", "class", "clean", "clone", "const", "continue", "copy",
    "core", "crate", "debug", "def", "default", "del", "do", "double", "drop", "dyn", "elif",
    "else", "enum", "err", "except", "extern", "false", "final", "float", "fn", "for", "from",
    "gen", "global", "goto", "help", "if", "impl", "import", "in", "inline", "install", "int",
    "is", "lambda", "let", "lib", "long", "loop", "macro", "main", "match", "mod", "move", "mut",
    "none", "not", "nullptr", "ok", "option", "or", "override", "pass", "priv", "pub", "raise",
    "ref", "register", "restrict", "result", "return", "self", "short", "signed", "sizeof", "some",
    "state", "static", "std", "string", "struct", "super", "switch", "test", "trait", "true",
    "try", "type", "typedef", "typeof", "union", "unsafe", "unsigned", "unsized", "use", "vec",
    "virtual", "void", "volatile", "where", "while", "with", "yield",
];

/// The name means something else to a language or tool that has to take it.
pub fn is_taken(name: &str) -> bool {
    TAKEN.contains(&name)
}
