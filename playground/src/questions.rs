//! The questions of the page and their answers, which are objects like those of `--json`.

use report::Diagnostic;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{ciphers, files};

/// What the page asks.
#[derive(Debug, Deserialize)]
#[serde(tag = "ask", rename_all = "lowercase", deny_unknown_fields)]
enum Question {
    /// What there is to choose from.
    About,
    Cipher(ciphers::ProgramAsked),
    Audit(files::FileAsked),
}

/// Answers the bytes that the page has written.
pub fn answer(input: &[u8]) -> Value {
    let (file, question) = parts(input).expect("the page writes the length of its question last");
    let question = serde_json::from_slice(question)
        .unwrap_or_else(|error| panic!("the page asks what is known here: {error}"));
    let answered = match question {
        Question::About => Ok(json!({
            "ok": true,
            "version": env!("CARGO_PKG_VERSION"),
            "ciphers": ciphers::list(),
            "archs": cipher::emit_c::Arch::ALL.map(|arch| arch.name()),
            "cpus": files::cpus(),
        })),
        Question::Cipher(asked) => ciphers::answer(&asked),
        Question::Audit(asked) => files::answer(&asked, file),
    };
    answered.unwrap_or_else(|errors| refusal(&errors))
}

fn parts(input: &[u8]) -> Option<(&[u8], &[u8])> {
    let (rest, length) = input.split_last_chunk::<4>()?;
    rest.split_at_checked(rest.len().checked_sub(u32::from_le_bytes(*length) as usize)?)
}

/// What the command line says on standard error, and the same as objects.
fn refusal(errors: &[Diagnostic]) -> Value {
    let texts: Vec<String> = errors.iter().map(|error| error.render(false)).collect();
    let objects: Vec<Value> = errors.iter().map(Diagnostic::to_json).collect();
    json!({"ok": false, "errors": objects, "text": texts.join("\n")})
}
