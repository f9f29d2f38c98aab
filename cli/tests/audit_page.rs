//! The page of an audit in a real browser: a click on a stall shows its explanation, without a
//! network.

use crate::support::browser;

use std::path::Path;
use std::process::Command;

use browser::Browser;
use serde_json::json;

/// Slide 14 of Blackham and Heiser as C: the second load waits after the first test.
const SOURCE: &str = "\
struct tcb { unsigned state, cap; };
extern int slow(void);
int fast(struct tcb *ep, struct tcb *caller)
{
    /* <b>not a tag</b> */
    if (__builtin_expect((ep->state & 3) == 1, 0))
        return slow();
    if (__builtin_expect(caller->cap == 0, 0))
        return slow();
    return ep->cap;
}
";

/// The page of a file with this text.
fn page_of(folder: &Path, name: &str, text: &str, cpu: &str) -> String {
    std::fs::write(folder.join(name), text).expect("a scratch file");
    let ran = Command::new(env!("CARGO_BIN_EXE_meanwhile"))
        .args(["audit", name, "--cpu", cpu, "--format", "html"])
        .current_dir(folder)
        .output()
        .expect("the binary runs");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8_lossy(&ran.stdout).into_owned()
}

#[test]
fn a_click_on_a_stall_shows_why_it_waits() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let page = folder.path().join("page.html");
    std::fs::write(&page, page_of(folder.path(), "fast.c", SOURCE, "arm1136jf-s"))
        .expect("a scratch file");

    let browser = Browser::open();
    browser.post("/url", json!({"url": format!("file://{}", page.display())}));
    assert!(browser.text("#explanation").starts_with("Click a marked instruction"));
    assert!(browser.text("section[aria-label=Source]").contains("/* <b>not a tag</b> */"));

    let stalls = browser.elements(".asm button.stall");
    assert!(!stalls.is_empty(), "the first test waits for its load");
    browser.post(&format!("/element/{}/click", stalls[0]), json!({}));
    let shown = browser.text("#explanation");
    assert!(
        shown.starts_with("stall: and") && shown.contains("waits for r3 from ldr r3, [r0]"),
        "{shown}"
    );
    assert!(shown.contains("prevents the compiler:"), "{shown}");
    // Its line is marked on the other side.
    assert!(browser.text(".source.here").contains("ep->state & 3"));

    // The keyboard does the same.
    browser.script("document.querySelectorAll('.asm button')[document.querySelectorAll('.asm button').length - 1].focus()");
    browser.press("\u{e007}");
    assert_ne!(browser.text("#explanation"), shown);

    assert_eq!(
        (browser.colour("light").as_str(), browser.colour("dark").as_str()),
        ("rgb(255, 255, 255)", "rgb(20, 23, 26)")
    );
    browser.assert_quiet();
}

/// What is code in a sentence about a loop is code on the page.
#[test]
fn sentences_about_loops_show_code_as_code() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let text = "\t.text\n\t.global f\n\t.type f, %function\nf:\n1:\tldr x3, [x0], #8\n\tmul x2, x2, x3\n\tsubs x1, x1, #1\n\tb.ne 1b\n\tret\n\t.size f, .-f\n";
    let page = page_of(folder.path(), "f.s", text, "cortex-a53");
    let (_, loops) = page.split_once("loop at f.s:5").expect("the loop is on the page");
    let loops = loops.split("</section>").next().expect("there is a beginning");
    assert!(loops.contains("<code>mul x2, x2, x3</code>") && !loops.contains('`'), "{loops}");
}
