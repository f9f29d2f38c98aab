//! The program `meanwhile`; see the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    meanwhile::main()
}
