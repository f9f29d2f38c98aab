//! A sample of a process's pages, taken of this one: alone in its process, since what other tests
//! allocate is touched, too.

use std::sync::{Mutex, PoisonError};

use cosched::manager::pages::{SHARE, Sample};
use cosched::manager::sweep::Unknown;

/// Each looks at this process, and so at the other's memory.
static ONE: Mutex<()> = Mutex::new(());

#[test]
fn what_was_touched_since_is_counted_to_the_page() {
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut memory = vec![1u8; 400 << 20];
    let mut sample = Sample::of(std::process::id() as i32).expect("it is ours");
    let sizes = sample.sizes();
    assert!(sizes.sample <= sizes.all / SHARE as f64 && sizes.all > 390e6, "{sizes:?}");
    let whole = sample.look().expect("it is ours").touched;
    if let Err(Unknown::Refused(said)) = sample.forget() {
        testkit::skipped(&format!("pages are not forgotten here: {said}"));
        return;
    }
    let touched = || sample.look().expect("it is ours").touched;
    let forgotten = touched();
    let near = |found: f64, share: f64| (found / sizes.sample - share).abs() < 0.1;
    assert!(near(whole - forgotten, 1.0), "{whole} {forgotten} of {sizes:?}");
    let half = memory.len() / 2;
    let mut touch = |range: std::ops::Range<usize>| {
        memory[range].iter_mut().step_by(4096).for_each(|byte| *byte += 1);
    };
    touch(0..half);
    let middle = touched();
    assert!(near(middle - forgotten, 0.5), "{forgotten} {middle} of {sizes:?}");
    touch(0..half);
    assert!(near(touched() - middle, 0.0), "a page counts once");
    touch(half..2 * half);
    assert!(near(whole - touched(), 0.0));
    std::hint::black_box(&memory);
}

#[test]
fn memory_that_was_given_back_meanwhile_is_seen() {
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let memory = vec![1u8; 400 << 20];
    let mut sample = Sample::of(std::process::id() as i32).expect("it is ours");
    std::hint::black_box(&memory);
    if let Err(Unknown::Refused(said)) = sample.forget() {
        testkit::skipped(&format!("pages are not forgotten here: {said}"));
        return;
    }
    drop(memory);
    assert_eq!(sample.forget(), Err(Unknown::Grows));
}
