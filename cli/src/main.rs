//! `meanwhile`: arguments in, text and exit code out.

fn main() {}
