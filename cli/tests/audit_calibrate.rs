//! `meanwhile audit calibrate`, and a machine file of the user's as `--cpu`.

use crate::support::audited;

use std::fs;
use std::path::Path;

use audited::{ok, refused};

#[test]
fn a_file_of_the_users_is_a_machine() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let bundled = Path::new(env!("CARGO_MANIFEST_DIR")).join("../machines/cortex-a53.toml");
    let text = fs::read_to_string(bundled).expect("it is in the tree");
    let mine =
        text.replacen("name = \"cortex-a53\"", "name = \"my-core\"\nnearest = \"cortex-a53\"", 1);
    fs::write(folder.path().join("mine.toml"), mine).expect("a scratch file");
    fs::write(folder.path().join("f.c"), "long f(long *a, long b) { return a[0] * b + a[1]; }\n")
        .expect("a scratch file");
    let own = ok(folder.path(), &["f.c", "--cpu", "mine.toml"]);
    let theirs = ok(folder.path(), &["f.c", "--cpu", "cortex-a53"]);
    assert_eq!(own.replace("my-core", "cortex-a53"), theirs);
    fs::write(folder.path().join("bad.toml"), "name = 3\n").expect("a scratch file");
    let said = refused(folder.path(), &["f.c", "--cpu", "bad.toml"], 1);
    assert!(said.contains("bad.toml:1"), "{said}");
    let said = refused(folder.path(), &["f.c", "--cpu", "no.toml"], 1);
    assert!(said.contains("there is no file `no.toml`"), "{said}");
}

#[test]
fn chains_are_written_for_cores_that_have_some() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let chains = ok(folder.path(), &["calibrate", "--cpu", "cortex-m4"]);
    assert!(
        chains.contains("meanwhile_cycles") && chains.contains("chain_200"),
        "{}",
        &chains[..200]
    );
    let said = refused(folder.path(), &["calibrate", "--cpu", "leon3"], 1);
    assert!(said.contains("there are no chains of sparc"), "{said}");
    let said = refused(folder.path(), &["calibrate", "--cpu", "zen4"], 1);
    assert!(said.contains("`zen4` reorders instructions"), "{said}");
    let said = refused(folder.path(), &["calibrate", "none.txt", "--cpu", "cortex-m4"], 1);
    assert!(said.contains("there is no file `none.txt`"), "{said}");
}
