//! A real browser for the pages of ours, without a network.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

/// The browser gets this long for one step.
const LIMIT: Duration = Duration::from_secs(60);
/// How the protocol names an element in its answers (W3C WebDriver, section 12).
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// Ends with its driver when it is dropped.
pub struct Browser {
    driver: Child,
    port: u16,
    session: String,
}

impl Browser {
    pub fn open() -> Browser {
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("chromedriver is installed: see `meanwhile doctor`");
        let lines = BufReader::new(driver.stdout.take().expect("its output is a pipe"))
            .lines()
            .map_while(Result::ok);
        let mut said = Vec::new();
        let mut port = None;
        for line in lines {
            port = line
                .split("successfully on port ")
                .nth(1)
                .and_then(|part| part.trim_end_matches('.').parse().ok());
            said.push(line);
            if port.is_some() {
                break;
            }
        }
        let mut browser = Browser {
            driver,
            port: port.unwrap_or_else(|| panic!("no port in {said:?}")),
            session: String::new(),
        };
        // Nothing outside can be reached, whatever the page asks for.
        let args = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--host-resolver-rules=MAP * ~NOTFOUND",
        ];
        let wanted = json!({"capabilities": {"alwaysMatch": {"goog:chromeOptions": {"args": args}, "goog:loggingPrefs": {"browser": "ALL"}}}});
        let answer = browser.ask("POST", "/session", &wanted);
        browser.session = format!(
            "/session/{}",
            answer["sessionId"].as_str().unwrap_or_else(|| panic!("no session: {answer}"))
        );
        browser
    }

    /// One request of the protocol; the value of its answer.
    fn ask(&self, method: &str, path: &str, body: &Value) -> Value {
        let mut stream =
            TcpStream::connect(("127.0.0.1", self.port)).expect("chromedriver listens");
        stream.set_read_timeout(Some(LIMIT)).expect("a limit can be set");
        let body =
            if method == "GET" || method == "DELETE" { String::new() } else { body.to_string() };
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n"
        );
        write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len())
            .expect("chromedriver reads");
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

    pub fn post(&self, path: &str, body: Value) -> Value {
        self.ask("POST", &format!("{}{path}", self.session), &body)
    }

    pub fn elements(&self, selector: &str) -> Vec<String> {
        let found = self.post("/elements", json!({"using": "css selector", "value": selector}));
        let list = found.as_array().unwrap_or_else(|| panic!("no list: {found}")).clone();
        list.iter()
            .map(|it| it[ELEMENT].as_str().expect("an element has a name").to_owned())
            .collect()
    }

    pub fn text(&self, selector: &str) -> String {
        let element = &self.elements(selector)[0];
        self.ask("GET", &format!("{}/element/{element}/text", self.session), &Value::Null)
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }

    /// The colour of the page in `light` or `dark`.
    pub fn colour(&self, mode: &str) -> String {
        let features = json!([{"name": "prefers-color-scheme", "value": mode}]);
        self.post(
            "/goog/cdp/execute",
            json!({"cmd": "Emulation.setEmulatedMedia", "params": {"features": features}}),
        );
        self.script("return getComputedStyle(document.body).backgroundColor")
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }

    /// Nothing was asked of a network, and nothing went wrong.
    pub fn assert_quiet(&self) {
        let loaded =
            self.script("return performance.getEntriesByType('resource').map(it => it.name)");
        assert_eq!(loaded, json!([]));
        assert_eq!(self.post("/se/log", json!({"type": "browser"})), json!([]));
    }

    /// Presses and releases a key.
    pub fn press(&self, key: &str) {
        let actions = json!([{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]);
        self.post("/actions", json!({"actions": [{"type": "key", "id": "k", "actions": actions}]}));
    }

    pub fn script(&self, text: &str) -> Value {
        self.post("/execute/sync", json!({"script": text, "args": []}))
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Nothing is asked of the answer: a test that fails leaves no browser either.
        let _ = TcpStream::connect(("127.0.0.1", self.port)).and_then(|mut stream| {
            stream.set_read_timeout(Some(LIMIT))?;
            let head = "HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 0";
            write!(stream, "DELETE {} {head}\r\n\r\n", self.session)?;
            // The answer comes when the browser has ended.
            stream.read(&mut [0; 64])
        });
        // It may have ended with its session.
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
