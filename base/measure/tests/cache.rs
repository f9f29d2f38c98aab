//! Door: the cache of made files, in a folder of its own. A program of its own, since the folder
//! comes from the environment.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use measure::ToolError;
use measure::cache::{self, Key};

/// Eight threads ask for two files at once: each is made once. What fails to be made is not there,
/// and is made when asked for again. Nothing but files and locks stays.
#[test]
fn a_file_is_made_once_and_as_a_whole() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    // SAFETY: the only test of this program, and it has started no thread yet.
    #[allow(unsafe_code)]
    unsafe {
        std::env::set_var("MEANWHILE_CACHE", folder.path());
    }
    let key = |idx: usize| Key::default().with("source").with(format!("{idx}"));
    let failed = cache::kept("some", key(0), ".o", |_, made| {
        cache::write(made, "half")?;
        Err(ToolError { ran: "cc".to_owned(), said: "no".to_owned() })
    });
    assert_eq!(failed.map_err(|error| error.said), Err("no".to_owned()));
    assert_eq!(cache::find("some", key(0), ".o"), None);

    let n_made = AtomicUsize::new(0);
    std::thread::scope(|threads| {
        for idx in 0..8 {
            let n_made = &n_made;
            threads.spawn(move || {
                let path = cache::kept("some", key(idx % 2), ".o", |scratch, made| {
                    n_made.fetch_add(1, Ordering::Relaxed);
                    std::thread::sleep(Duration::from_millis(20));
                    cache::write(&scratch.join("left over"), "")?;
                    cache::write(made, "made")
                });
                assert_eq!(
                    std::fs::read_to_string(path.expect("it is made")).expect("it is there"),
                    "made"
                );
            });
        }
    });
    assert_eq!(n_made.into_inner(), 2);
    assert!(
        cache::find("some", key(1), ".o")
            .is_some_and(|text| text.starts_with(folder.path().join("some")))
    );
    assert_eq!(cache::find("some", key(1), ".so"), None);
    let stays = std::fs::read_dir(folder.path().join("some")).expect("a folder");
    let endings: BTreeSet<_> = stays
        .map(|stay| stay.expect("an entry").path().extension().map(ToOwned::to_owned))
        .collect();
    assert_eq!(endings, BTreeSet::from([Some("lock".into()), Some("o".into())]));
}
