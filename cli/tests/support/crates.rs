//! Tests of a package's crate with the traits of other crates.

use std::path::Path;

use crate::support::tools::{SUPPORT, cargo_test};

/// The crate in `trio/rust` of a kept folder passes its tests, these among them, without a warning,
/// with the versions of other crates in this lock file beside the drivers.
pub fn crate_passes(at: &Path, lock: &str, names: &[&str]) {
    std::fs::copy(Path::new(SUPPORT).join(lock), at.join("trio/rust/Cargo.lock")).expect("copied");
    let ran = cargo_test(at, &[("RUSTFLAGS", "-Dwarnings")]);
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(ran.status.success(), "{said}{}", String::from_utf8_lossy(&ran.stderr));
    for name in names {
        assert!(said.contains(&format!("test {name} ... ok")), "{name}: {said}");
    }
}
