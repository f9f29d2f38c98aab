//! Messages as the client sends them, read ahead: while a request is worked on, the next ones are
//! there, and some of them may say that an answer is not wanted any more.

use std::collections::VecDeque;
use std::io::{BufRead, Read};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use serde_json::Value;

use crate::output::Failure;

/// No message is longer, in bytes.
const LONGEST: usize = 64 << 20;

/// A message, or none where it is no JSON.
type Message = Result<Option<Value>, Failure>;

pub struct Inbox {
    from: Receiver<Message>,
    /// Read, and not yet looked at, in their order.
    waiting: VecDeque<Message>,
}

impl Inbox {
    /// Of what `open` gives, which is read by a thread of its own.
    pub fn new<R: BufRead>(open: impl FnOnce() -> R + Send + 'static) -> Inbox {
        let (to, from) = channel();
        thread::spawn(move || {
            let mut input = open();
            while let Some(read) = message(&mut input).transpose() {
                let is_last = read.is_err();
                let message = read.map(|bytes| serde_json::from_slice(&bytes).ok());
                if to.send(message).is_err() || is_last {
                    break;
                }
            }
        });
        Inbox { from, waiting: VecDeque::new() }
    }

    /// The next message, for which it waits; none at the end.
    pub fn next(&mut self) -> Option<Message> {
        self.waiting.pop_front().or_else(|| self.from.recv().ok())
    }

    /// Whether the client has taken this request back meanwhile.
    pub fn is_cancelled(&mut self, id: &Value) -> bool {
        let is_it =
            |later: &Value| later["method"] == "$/cancelRequest" && later["params"]["id"] == *id;
        self.read_ahead();
        self.waiting.iter().any(|later| matches!(later, Ok(Some(later)) if is_it(later)))
    }

    /// Whether the text that this notification brings changes again before anything else is said:
    /// a request in between is about this one.
    pub fn is_outdated(&mut self, message: &Value) -> bool {
        let uri = |message: &Value| message["params"]["textDocument"]["uri"].clone();
        let is_change = |message: &Value| message["method"] == "textDocument/didChange";
        self.read_ahead();
        let Some(Ok(Some(next))) = self.waiting.front() else { return false };
        is_change(message) && is_change(next) && uri(message) == uri(next)
    }

    fn read_ahead(&mut self) {
        self.waiting.extend(self.from.try_iter());
    }
}

/// The body of the next message; none at the end.
fn message(input: &mut impl BufRead) -> Result<Option<Vec<u8>>, Failure> {
    let failed = |error| Failure::environment("read standard input", error);
    let mut length = None;
    loop {
        let mut line = String::new();
        if input.by_ref().take(4096).read_line(&mut line).map_err(failed)? == 0 {
            return Ok(None);
        }
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        if let Some((name, number)) = line.split_once(':')
            && name.eq_ignore_ascii_case("Content-Length")
        {
            length = number.trim().parse().ok().filter(|length| *length <= LONGEST);
        }
    }
    let Some(length) = length else {
        let help =
            "an editor starts it; each message begins with `Content-Length: N` and an empty line";
        return Err(Failure::user("standard input does not speak the protocol", Some(help)));
    };
    let mut bytes = vec![0; length];
    input.read_exact(&mut bytes).map_err(failed)?;
    Ok(Some(bytes))
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;
    use std::time::{Duration, Instant};

    use serde_json::json;

    use super::*;

    /// With everything read.
    fn of(messages: &[Value]) -> Inbox {
        let written = |message: &Value| {
            let text = message.to_string();
            format!("Content-Length: {}\r\n\r\n{text}", text.len())
        };
        let all: String = messages.iter().map(written).collect();
        let mut inbox = Inbox::new(move || Cursor::new(all));
        let until = Instant::now() + Duration::from_secs(60);
        while inbox.waiting.len() < messages.len() && Instant::now() < until {
            inbox.read_ahead();
            thread::yield_now();
        }
        inbox
    }

    fn next(inbox: &mut Inbox) -> Value {
        inbox.next().expect("there is one").ok().flatten().expect("it is JSON")
    }

    #[test]
    fn a_request_is_taken_back_by_its_own_number_alone() {
        let ask = |id: u32| json!({"id": id, "method": "textDocument/hover"});
        let cancel = json!({"method": "$/cancelRequest", "params": {"id": 2}});
        let mut inbox = of(&[ask(1), ask(2), cancel, ask(3)]);
        for (id, is_cancelled) in [(1, false), (2, true)] {
            assert_eq!(next(&mut inbox)["id"], id);
            assert_eq!(inbox.is_cancelled(&json!(id)), is_cancelled);
        }
        assert_eq!(next(&mut inbox)["method"], "$/cancelRequest");
        assert_eq!(next(&mut inbox)["id"], 3);
        assert!(!inbox.is_cancelled(&json!(3)) && inbox.next().is_none());
    }

    #[test]
    fn a_text_is_outdated_by_another_of_its_file_that_follows_at_once() {
        let change = |uri: &str| json!({"method": "textDocument/didChange", "params": {"textDocument": {"uri": uri}}});
        let ask = json!({"id": 1, "method": "textDocument/hover", "params": {}});
        let mut inbox = of(&[change("a"), change("a"), ask, change("a"), change("b"), change("a")]);
        for is_outdated in [true, false, false, false, false, false] {
            let message = next(&mut inbox);
            assert_eq!(inbox.is_outdated(&message), is_outdated, "{message}");
        }
    }
}
