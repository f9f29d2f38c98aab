//! Lines, columns and addresses of files, as the protocol counts and writes them.

use report::Span;
use report::escape::percent;
use serde_json::{Value, json};

/// The place of a span in its file.
pub fn range(span: &Span) -> Value {
    let text = &span.file.text;
    json!({"start": position(text, span.range.start), "end": position(text, span.range.end)})
}

/// Line and column of a byte, both from 0, the column in units of UTF-16.
pub fn position(text: &str, at: usize) -> Value {
    let before = &text[..text.floor_char_boundary(at)];
    let line = before.matches('\n').count();
    let own = before.rsplit('\n').next().unwrap_or_default();
    json!({"line": line, "character": own.encode_utf16().count()})
}

/// The byte of a line and column; a column behind the line's end is that end.
pub fn offset(text: &str, position: &Value) -> Option<usize> {
    let line = usize::try_from(position["line"].as_u64()?).ok()?;
    let column = usize::try_from(position["character"].as_u64()?).ok()?;
    let own = text.split_inclusive('\n').nth(line).unwrap_or_default();
    let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
    let mut units = 0;
    let fits = |letter: &char| {
        units += letter.len_utf16();
        units <= column && *letter != '\n'
    };
    Some(start + own.chars().take_while(fits).map(char::len_utf8).sum::<usize>())
}

/// The path in an address; of another kind than `file:` the address itself.
pub fn path(uri: &str) -> String {
    let Some(path) = uri.strip_prefix("file://") else { return uri.to_owned() };
    let mut bytes = Vec::new();
    let mut rest = path.as_bytes();
    while let Some((first, more)) = rest.split_first() {
        let code = more.get(..2).and_then(|code| std::str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) if *first == b'%' => {
                bytes.push(byte);
                rest = &more[2..];
            }
            _ => {
                bytes.push(*first);
                rest = more;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A path as an address.
pub fn uri(path: &str) -> String {
    let path = std::path::absolute(path).map_or(path.to_owned(), |path| path.display().to_string());
    format!("file://{}", percent(&path, b"/-._~"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_as_the_protocol_does() {
        let text = "a\u{e9}\u{1f600}b\nc";
        for (at, line, character) in
            [(0, 0, 0), (1, 0, 1), (3, 0, 2), (7, 0, 4), (8, 0, 5), (9, 1, 0)]
        {
            let place = position(text, at);
            assert_eq!(place, json!({"line": line, "character": character}), "{at}");
            assert_eq!(offset(text, &place), Some(at), "{place}");
        }
        assert_eq!(offset(text, &json!({"line": 0, "character": 99})), Some(8));
        assert_eq!(offset(text, &json!({"line": 7, "character": 0})), Some(text.len()));
        assert_eq!(offset(text, &json!({"line": -1})), None);
    }

    #[test]
    fn paths_and_addresses_are_the_same_files() {
        let name = "/a folder/\u{e4}%.ua";
        assert_eq!(uri(name), "file:///a%20folder/%C3%A4%25.ua");
        assert_eq!(path(&uri(name)), name);
        assert_eq!(path("untitled:1"), "untitled:1");
        assert_eq!(path("file:///100%"), "/100%");
    }
}
