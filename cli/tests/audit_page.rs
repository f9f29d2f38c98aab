//! The page of an audit in a real browser: a click on a stall shows its explanation, without a network.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

/// The browser gets this long for one step.
const LIMIT: Duration = Duration::from_secs(60);
/// How the protocol names an element in its answers (W3C WebDriver, section 12).
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// Slide 14 of Blackham and Heiser as C: the second load waits behind the first test.
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

struct Browser {
    driver: Child,
    port: u16,
    session: String,
}

impl Browser {
    fn open() -> Browser {
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("chromedriver is installed: see `meanwhile doctor`");
        let lines = BufReader::new(driver.stdout.take().expect("its output is a pipe")).lines().map_while(Result::ok);
        let mut said = Vec::new();
        let mut port = None;
        for line in lines {
            port = line.split("successfully on port ").nth(1).and_then(|it| it.trim_end_matches('.').parse().ok());
            said.push(line);
            if port.is_some() {
                break;
            }
        }
        let mut browser = Browser { driver, port: port.unwrap_or_else(|| panic!("no port in {said:?}")), session: String::new() };
        // Nothing outside can be reached, whatever the page asks for.
        let args = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--host-resolver-rules=MAP * ~NOTFOUND"];
        let wanted =
            json!({"capabilities": {"alwaysMatch": {"goog:chromeOptions": {"args": args}, "goog:loggingPrefs": {"browser": "ALL"}}}});
        let answer = browser.ask("POST", "/session", &wanted);
        browser.session = format!("/session/{}", answer["sessionId"].as_str().unwrap_or_else(|| panic!("no session: {answer}")));
        browser
    }

    /// One request of the protocol; the value of its answer.
    fn ask(&self, method: &str, path: &str, body: &Value) -> Value {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("chromedriver listens");
        stream.set_read_timeout(Some(LIMIT)).expect("a limit can be set");
        let body = if method == "GET" || method == "DELETE" { String::new() } else { body.to_string() };
        let head = format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n");
        write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len()).expect("chromedriver reads");
        let mut reader = BufReader::new(stream);
        let mut length = 0;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).expect("chromedriver answers");
            let line = line.trim_end().to_ascii_lowercase();
            if let Some(n) = line.strip_prefix("content-length:") {
                length = n.trim().parse().expect("a length is a number");
            }
            if line.is_empty() {
                break;
            }
        }
        let mut bytes = vec![0; length];
        reader.read_exact(&mut bytes).expect("chromedriver answers to the end");
        let answer: Value = serde_json::from_slice(&bytes).expect("the answer is JSON");
        assert!(answer["value"].get("error").is_none(), "{method} {path}: {answer}");
        answer["value"].clone()
    }

    fn post(&self, path: &str, body: Value) -> Value {
        self.ask("POST", &format!("{}{path}", self.session), &body)
    }

    fn elements(&self, selector: &str) -> Vec<String> {
        let found = self.post("/elements", json!({"using": "css selector", "value": selector}));
        let list = found.as_array().unwrap_or_else(|| panic!("no list: {found}")).clone();
        list.iter().map(|it| it[ELEMENT].as_str().expect("an element has a name").to_owned()).collect()
    }

    fn text(&self, selector: &str) -> String {
        let element = &self.elements(selector)[0];
        self.ask("GET", &format!("{}/element/{element}/text", self.session), &Value::Null).as_str().unwrap_or_default().to_owned()
    }

    fn script(&self, text: &str) -> Value {
        self.post("/execute/sync", json!({"script": text, "args": []}))
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() && !std::thread::panicking() {
            self.ask("DELETE", &self.session, &Value::Null);
        }
        // It may have ended with its session.
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

#[test]
fn a_click_on_a_stall_shows_why_it_waits() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let (source, page) = (folder.path().join("fast.c"), folder.path().join("page.html"));
    std::fs::write(&source, SOURCE).expect("a scratch file");
    let ran = Command::new(env!("CARGO_BIN_EXE_meanwhile"))
        .args(["audit", "fast.c", "--cpu", "arm1136jf-s", "--format", "html"])
        .current_dir(folder.path())
        .output()
        .expect("the binary runs");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    std::fs::write(&page, &ran.stdout).expect("a scratch file");

    let browser = Browser::open();
    browser.post("/url", json!({"url": format!("file://{}", page.display())}));
    assert!(browser.text("#explanation").starts_with("Click a marked instruction"));
    assert!(browser.text("section[aria-label=Source]").contains("/* <b>not a tag</b> */"));

    let stalls = browser.elements(".asm button.stall");
    assert!(!stalls.is_empty(), "the first test waits for its load");
    browser.post(&format!("/element/{}/click", stalls[0]), json!({}));
    let shown = browser.text("#explanation");
    assert!(shown.starts_with("stall: and") && shown.contains("waits for r3 from ldr r3, [r0]"), "{shown}");
    assert!(shown.contains("prevents the compiler:"), "{shown}");
    // Its line is marked on the other side.
    assert!(browser.text(".source.here").contains("ep->state & 3"));

    // The keyboard does the same.
    browser.script("document.querySelectorAll('.asm button')[document.querySelectorAll('.asm button').length - 1].focus()");
    let enter = json!({"actions": [{"type": "key", "id": "k", "actions": [{"type": "keyDown", "value": "\u{e007}"}, {"type": "keyUp", "value": "\u{e007}"}]}]});
    browser.post("/actions", enter);
    assert_ne!(browser.text("#explanation"), shown);

    // Light and dark.
    let colour = |mode: &str| {
        let features = json!([{"name": "prefers-color-scheme", "value": mode}]);
        browser.post("/goog/cdp/execute", json!({"cmd": "Emulation.setEmulatedMedia", "params": {"features": features}}));
        browser.script("return getComputedStyle(document.body).backgroundColor").as_str().unwrap_or_default().to_owned()
    };
    assert_eq!((colour("light").as_str(), colour("dark").as_str()), ("rgb(255, 255, 255)", "rgb(20, 23, 26)"));

    // Nothing was asked of a network, and nothing went wrong.
    let loaded = browser.script("return performance.getEntriesByType('resource').map(it => it.name)");
    assert_eq!(loaded, json!([]));
    assert_eq!(browser.post("/se/log", json!({"type": "browser"})), json!([]));
}
