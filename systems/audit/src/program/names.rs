//! Names of functions: as symbols, as C++ or Rust have them, and what users may leave out of them.

use std::borrow::Cow;

/// The name as C++ or Rust has it; others as they are: `f` is not `float`, which it would
/// be as a type.
pub fn shown(name: &str) -> String {
    let is_mangled = ["_Z", "__Z", "_R"].iter().any(|word| name.starts_with(word));
    if is_mangled {
        addr2line::demangle_auto(Cow::Borrowed(name), None).into_owned()
    } else {
        name.to_owned()
    }
}

/// The name is a pattern, which may mean several functions.
pub(super) fn is_pattern(name: &str) -> bool {
    name.contains(['*', '?'])
}

/// The symbol is what a compiler made of the function: with other parameters (`.isra.0`,
/// `.constprop.0`), or a part (`.part.0`).
pub(super) fn is_clone(symbol: &str, name: &str) -> bool {
    symbol.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'))
}

/// The name is what the user wrote, perhaps without its arguments, those of its templates, or
/// the path before it.
pub(crate) fn is_called(shown: &str, name: &str) -> bool {
    let plain = plain(shown);
    let ends = |text: &str| {
        text == name || text.strip_suffix(name).is_some_and(|path| path.ends_with("::"))
    };
    shown == name || ends(plain) || ends(&without_templates(plain))
}

/// `ring::push<int>` of `int ring::push<int>(int) const`: without what it returns and without its
/// arguments.
fn plain(shown: &str) -> &str {
    const OPERATOR: &str = "operator";
    let (mut start, mut at) = (0, 0);
    while let Some(letter) = shown[at..].chars().next() {
        let rest = &shown[at..];
        if let Some(sign) = rest
            .strip_prefix(OPERATOR)
            .filter(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
        {
            // Whatever it is called, with blanks and angle brackets: its arguments begin after.
            let sign_len = if sign.starts_with("()") { 2 } else { 0 };
            let name_len = OPERATOR.len()
                + sign_len
                + sign[sign_len..].find('(').unwrap_or(sign.len() - sign_len);
            return &shown[start..at + name_len];
        }
        match letter {
            '(' => {
                let behind = &rest[bracketed(rest)..];
                // What goes on is a path: (anonymous namespace)::f, f(int)::{lambda()#1}.
                if !behind.trim_start_matches(" const").starts_with("::") {
                    return &shown[start..at];
                }
                at += bracketed(rest);
            }
            '<' | '{' | '[' => at += bracketed(rest),
            ' ' => {
                at += 1;
                start = at;
            }
            _ => at += letter.len_utf8(),
        }
    }
    &shown[start..]
}

/// The length of the brackets that the text begins with, and what is in them.
fn bracketed(text: &str) -> usize {
    let mut depth = 0;
    for (at, letter) in text.char_indices() {
        match letter {
            '(' | '<' | '{' | '[' => depth += 1,
            ')' | '>' | '}' | ']' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + letter.len_utf8();
        }
    }
    text.len()
}

fn without_templates(plain: &str) -> Cow<'_, str> {
    // Rust's `<T as Trait>::f` begins with one, and operators are written so.
    let Some(open) = plain.find('<').filter(|found| *found > 0 && !plain.contains("operator"))
    else {
        return Cow::Borrowed(plain);
    };
    let behind = open + bracketed(&plain[open..]);
    Cow::Owned(format!("{}{}", &plain[..open], without_templates(&plain[behind..])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_cpp_and_rust_are_shown_and_others_stay() {
        assert_eq!(shown("_ZN4ring4pushEi"), "ring::push(int)");
        assert_eq!(
            shown("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE"),
            "core::fmt::Formatter::pad"
        );
        for plain in ["f", "i", "memcpy", "main", "_start", "v8"] {
            assert_eq!(shown(plain), plain);
        }
    }

    #[test]
    fn arguments_templates_and_paths_may_be_left_out() {
        for (shown, names) in [
            ("ring::push(int)", &["ring::push(int)", "ring::push", "push"][..]),
            ("(anonymous namespace)::anon(int)", &["(anonymous namespace)::anon", "anon"]),
            (
                "int ring::push<int>(int)",
                &["int ring::push<int>(int)", "ring::push<int>", "ring::push", "push<int>", "push"],
            ),
            (
                "void ring<a<b>, (c)1>::take<d>(void (*)(int)) const",
                &["ring::take", "take", "ring<a<b>, (c)1>::take<d>"],
            ),
            (
                "ring::S::operator()(int) const",
                &["ring::S::operator()", "S::operator()", "operator()"],
            ),
            ("ring::S::operator<(int) const", &["ring::S::operator<", "operator<"]),
            ("S::operator unsigned int() const", &["S::operator unsigned int"]),
            ("f(int)::{lambda()#1}::operator()() const", &["operator()"]),
            ("ring::push(int) [clone .constprop.0]", &["ring::push", "push"]),
            (
                "<core::iter::Map<I, F> as core::Iterator>::next",
                &["next", "<core::iter::Map<I, F> as core::Iterator>::next"],
            ),
            ("co_operators(int)", &["co_operators"]),
            ("\u{f6}l::f\u{fc}ll(int)", &["\u{f6}l::f\u{fc}ll", "f\u{fc}ll"]),
        ] {
            names.iter().for_each(|name| assert!(is_called(shown, name), "{shown} is {name}"));
            for name in ["", "ush", "int", "const", "f", "S", "(anonymous namespace)", "d"] {
                assert!(!is_called(shown, name), "{shown} is not {name}");
            }
        }
    }

    #[test]
    fn strange_names_are_never_fatal() {
        let mut rng = fastrand::Rng::with_seed(11);
        for _ in 0..20_000 {
            let words = [
                "operator", "(", ")", "<", ">", "::", " ", "{", "}", "f", "\u{fc}", " const", "[",
                "]", "-",
            ];
            let text: String =
                (0..rng.usize(0..12)).map(|_| words[rng.usize(0..words.len())]).collect();
            assert!(is_called(&text, &text), "{text}");
            is_called(&text, "f");
        }
    }
}
