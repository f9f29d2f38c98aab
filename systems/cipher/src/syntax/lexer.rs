//! Cuts a file into tokens. Names of types are identifiers here; the parser knows by their place.

use std::rc::Rc;

use num_bigint::BigUint;
use report::Diagnostic;

use super::source::{Loc, Sources};

#[derive(Debug, Clone, PartialEq)]
pub enum Token {
    Word(Rc<str>),
    Quoted(Rc<str>),
    Int(BigUint),
    Str(String),
    Punct(&'static str),
    End,
}

/// Longest integer literal, in characters: enough for 1,500-bit states.
const DIGITS_MAX: usize = 400;

/// Longest first, so that the first match wins.
const PUNCT: [&str; 28] = [
    ">>>", "<<<", ">>!", "<<", ">>", "..", "(", ")", "[", "]", "{", "}", "=", ",", ":", ";", "|",
    "&", "~", "!", "^", "+", "*", "-", "/", "%", "<", ">",
];

pub fn lex(
    file: u32,
    text: &str,
    sources: &Sources,
    errors: &mut Vec<Diagnostic>,
) -> Vec<(Token, Loc)> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        let loc = |end: usize| Loc { file, start: start as u32, end: end as u32 };
        let c = bytes[at];
        if c.is_ascii_whitespace() {
            at += 1;
        } else if c == b'#' || text[at..].starts_with("//") {
            at = text[at..].find('\n').map_or(bytes.len(), |n| at + n);
        } else if is_word_start(c) {
            at += text[at..].bytes().take_while(|b| is_word(*b)).count();
            if &text[start..at] == "__END__" {
                break;
            }
            tokens.push((Token::Word(text[start..at].into()), loc(at)));
        } else if c == b'\'' && bytes.get(at + 1).is_some_and(|b| is_word_start(*b)) {
            at += 1 + text[at + 1..].bytes().take_while(|b| is_word(*b)).count();
            tokens.push((Token::Quoted(text[start + 1..at].into()), loc(at)));
        } else if c.is_ascii_digit() {
            let (int, len) = number(&text[at..]);
            at += len;
            match int {
                _ if len > DIGITS_MAX => {
                    errors.push(sources.error(
                        loc(at),
                        format!("a number has at most {DIGITS_MAX} digits"),
                        "too long",
                    ));
                    tokens.push((Token::Int(BigUint::ZERO), loc(at)));
                }
                Some(int) => tokens.push((Token::Int(int), loc(at))),
                None => {
                    errors.push(sources.error(
                        loc(at),
                        "a hexadecimal number needs at least one digit after `0x`",
                        "no digits",
                    ));
                    tokens.push((Token::Int(BigUint::ZERO), loc(at)));
                }
            }
        } else if c == b'"' {
            match string(&text[at..]) {
                Some((string, len)) => {
                    at += len;
                    tokens.push((Token::Str(string), loc(at)));
                }
                None => {
                    at = text[at..].find('\n').map_or(bytes.len(), |n| at + n);
                    errors.push(sources.error(
                        loc(at),
                        "this string has no end",
                        "a closing `\"` is missing on this line",
                    ));
                }
            }
        } else if let Some(punct) = PUNCT.iter().find(|p| text[at..].starts_with(**p)) {
            at += punct.len();
            tokens.push((Token::Punct(punct), loc(at)));
        } else {
            let c = text[at..].chars().next().expect("at is inside the text and on a character");
            at += c.len_utf8();
            errors.push(sources.error(
                loc(at),
                format!("`{}` means nothing in Usuba", c.escape_debug()),
                "remove it",
            ));
        }
    }
    let end = bytes.len() as u32;
    tokens.push((Token::End, Loc { file, start: end, end }));
    tokens
}

fn is_word_start(b: u8) -> bool {
    b.is_ascii_alphabetic() || b == b'_'
}

fn is_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_' || b == b'\''
}

/// The number at the start of `text` and its length; `None` for `0x` without digits. A decimal
/// ends at the first other character, so that `16x8` is `16` and `x8`.
fn number(text: &str) -> (Option<BigUint>, usize) {
    let shown = &text.as_bytes()[..text.len().min(DIGITS_MAX)];
    if text.starts_with("0x") || text.starts_with("0X") {
        let len = text[2..].bytes().take_while(u8::is_ascii_hexdigit).count();
        let upto = (2 + len).min(shown.len());
        return (BigUint::parse_bytes(&shown[2..upto], 16), 2 + len);
    }
    let len = text.bytes().take_while(u8::is_ascii_digit).count();
    (BigUint::parse_bytes(&text.as_bytes()[..len.min(DIGITS_MAX)], 10), len)
}

fn string(text: &str) -> Option<(String, usize)> {
    let mut out = String::new();
    let mut chars = text.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((out, at + 1)),
            '\n' => return None,
            '\\' => match chars.next()?.1 {
                'n' => out.push('\n'),
                't' => out.push('\t'),
                other => out.push(other),
            },
            c => out.push(c),
        }
    }
    None
}
