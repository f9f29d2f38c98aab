//! Numbers in pages that depend on the code of a compiler: those of Debian 12.

use std::process::Command;

pub use testkit::skipped;

/// True if `compiler` is of the version whose code the pages count; a line for the list
/// of skipped tests otherwise.
pub fn compiles_as_the_pages(compiler: &str, what: &str) -> bool {
    let ran = Command::new(compiler).arg("-dumpversion").output();
    let version =
        ran.map_or(String::new(), |ran| String::from_utf8_lossy(&ran.stdout).trim().to_owned());
    let is_theirs = version.split('.').next() == Some("12");
    if !is_theirs {
        skipped(&format!("{what}: the numbers are those of {compiler} 12, here is {version}"));
    }
    is_theirs
}
