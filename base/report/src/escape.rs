//! Text made safe inside HTML and SVG, as content and inside double-quoted attributes.

/// `text` with the five special characters written as entities and without the control
/// characters that XML forbids.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\'' => escaped += "&#39;",
            '\n' | '\t' => escaped.push(character),
            _ if character.is_control() => escaped.push('\u{fffd}'),
            _ => escaped.push(character),
        }
    }
    escaped
}

/// A text as it may stand in an address: all bytes but letters, digits and these are `%XX`.
pub fn percent(text: &str, plain: &[u8]) -> String {
    let one = |byte: u8| match byte {
        _ if byte.is_ascii_alphanumeric() || plain.contains(&byte) => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(one).collect()
}

/// The same of prose, with what stands in backticks as code.
pub fn prose(text: &str) -> String {
    let parts = text.split('`').map(escape).enumerate();
    parts
        .map(|(idx, part)| if idx % 2 == 0 { part } else { format!("<code>{part}</code>") })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_can_open_a_tag_or_close_an_attribute() {
        assert_eq!(
            escape("<a href=\"x\" b='y'>&\u{0}\n"),
            "&lt;a href=&quot;x&quot; b=&#39;y&#39;&gt;&amp;\u{fffd}\n"
        );
    }
}
