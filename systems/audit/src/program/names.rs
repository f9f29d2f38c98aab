//! What users call a function: its symbol, its name in C++ or Rust, a pattern, or a line of its
//! source.
//!
//! ```text
//! memcpy            a symbol
//! memcpy@0x8000     one of several symbols of one name
//! push              also `push.isra.0`, where a compiler left nothing else of it
//! helper@ring.o     the same of an archive, by its member
//! ring::push        a name of C++ or Rust, with its arguments or without
//! vfs_*             a pattern; also of C++ and Rust
//! ring.c:112        all functions that this line is in, inlined or not
//! ```

use std::borrow::Cow;
use std::collections::BTreeSet;

use report::{Diagnostic, did_you_mean};
use wildmatch::WildMatch;

use crate::decode::Isa;
use crate::program::{Program, Symbol};

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
fn is_pattern(name: &str) -> bool {
    name.contains(['*', '?'])
}

/// A function of a program.
pub type Found<'a> = (&'a Program, &'a Symbol);

/// The member of an archive that the program is.
pub fn member_of(program: &Program) -> Option<&str> {
    program.name.strip_suffix(')')?.rsplit_once('(').map(|(_, member)| member)
}

/// The functions of this name in one program or in the members of an archive, at least one.
///
/// Errors: there is none: what is near, what there is, or where it was inlined.
pub fn find<'a>(programs: &'a [Program], name: &str) -> Result<Vec<Found<'a>>, Diagnostic> {
    let all = || {
        programs
            .iter()
            .flat_map(|program| program.symbols.iter().map(move |symbol| (program, symbol)))
    };
    let having = |is_meant: &dyn Fn(&Symbol) -> bool| {
        all().filter(|(_, symbol)| is_meant(symbol)).collect::<Vec<Found>>()
    };
    let at = name.rsplit_once('@').and_then(|(plain, text)| {
        Some((plain, u64::from_str_radix(text.strip_prefix("0x")?, 16).ok()?))
    });
    let pattern = WildMatch::new(name);
    if let Some((plain, member)) = name.rsplit_once('@') {
        let is_meant = |program: &Program, it: &Symbol| {
            member_of(program) == Some(member) && (it.name == plain || shown(&it.name) == plain)
        };
        let found: Vec<Found> =
            all().filter(|(program, symbol)| is_meant(program, symbol)).collect();
        if !found.is_empty() {
            return Ok(found);
        }
    }
    let ways: [&dyn Fn(&Symbol) -> bool; 6] = [
        &|it| it.name == name,
        &|it| {
            at.is_some_and(|(plain, address)| {
                it.address == address && (it.name == plain || shown(&it.name) == plain)
            })
        },
        &|it| is_pattern(name) && (pattern.matches(&it.name) || pattern.matches(&shown(&it.name))),
        &|it| is_called(&shown(&it.name), name),
        &|it| is_clone(&it.name, name) && !it.is_cold,
        &|it| is_clone(&it.name, name),
    ];
    if let Some(found) = ways.iter().map(|way| having(way)).find(|having| !having.is_empty()) {
        return Ok(found);
    }
    if let Some((file, line)) =
        name.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse::<u32>().ok()?)))
    {
        let is_there = |program: &Program, symbol: &Symbol| {
            let step = if symbol.isa == Isa::X86 { 1 } else { 2 };
            let frames = (symbol.address..symbol.address + symbol.size)
                .step_by(step)
                .map(|idx| program.lines.frames(idx));
            frames.into_iter().flatten().any(|frame| {
                frame.line == line
                    && (frame.file == file || frame.file.ends_with(&format!("/{file}")))
            })
        };
        let found: Vec<Found> =
            all().filter(|(program, symbol)| is_there(program, symbol)).collect();
        return if found.is_empty() {
            Err(Diagnostic::new(format!("no code comes from line {line} of `{file}`")))
        } else {
            Ok(found)
        };
    }
    Err(unknown(programs, name))
}

/// The symbol is what a compiler made of the function: with other parameters (`.isra.0`,
/// `.constprop.0`), or a part (`.part.0`).
fn is_clone(symbol: &str, name: &str) -> bool {
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
            // Whatever it is called, with blanks and angle brackets: its arguments begin behind.
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
    let Some(open) = plain.find('<').filter(|it| *it > 0 && !plain.contains("operator")) else {
        return Cow::Borrowed(plain);
    };
    let behind = open + bracketed(&plain[open..]);
    Cow::Owned(format!("{}{}", &plain[..open], without_templates(&plain[behind..])))
}

/// Nothing is called so: perhaps it was inlined everywhere, perhaps it was mistyped.
fn unknown(programs: &[Program], name: &str) -> Diagnostic {
    let file = match programs {
        [one] => one.name.clone(),
        several => several[0].name.split('(').next().unwrap_or_default().to_owned(),
    };
    let all = || programs.iter().flat_map(|program| &program.symbols);
    let mut places = BTreeSet::new();
    for program in programs {
        for symbol in &program.symbols {
            let Ok(decoded) = program.decode(symbol) else { continue };
            for frames in decoded.function.frames {
                if let Some(at) = frames.iter().position(|frame| is_called(&frame.function, name)) {
                    let line = frames.get(at + 1).map(|frame| {
                        format!(
                            " ({}:{})",
                            frame.file.rsplit('/').next().unwrap_or_default(),
                            frame.line
                        )
                    });
                    places.insert(format!("`{}`{}", shown(&symbol.name), line.unwrap_or_default()));
                }
            }
        }
    }
    if !places.is_empty() {
        const N_SHOWN: usize = 8;
        let n = places.len();
        let list: Vec<String> = places.into_iter().take(N_SHOWN).collect();
        let more = if n > N_SHOWN { format!(" and {} more", n - N_SHOWN) } else { String::new() };
        let said = Diagnostic::new(format!(
            "`{name}` has no code of its own in `{file}`: it is inlined into {}{more}",
            list.join(", ")
        ));
        return said.with_help(format!(
            "audit one of these; --pivot {name} shows its lines in place of those inlined into it"
        ));
    }
    let refused = Diagnostic::new(format!("`{file}` has no function `{name}`"));
    let names: Vec<String> = all().map(|it| shown(&it.name)).collect();
    match did_you_mean(name, names.iter().map(String::as_str)) {
        Some(meant) => refused.with_help(meant),
        None => refused.with_help(format!("it has {}", super::listed(all()))),
    }
}

/// Several functions for a message, each so that it can be chosen.
pub fn choices(found: &[Found]) -> String {
    const N_SHOWN: usize = 8;
    let names: Vec<String> = found.iter().map(|(_, it)| shown(&it.name)).collect();
    let n_of = |name: &String| names.iter().filter(|it| *it == name).count();
    let n_at = |name: &String, address: u64| {
        names.iter().zip(found).filter(|(it, (_, at))| *it == name && at.address == address).count()
    };
    let one = |(name, (program, it)): (&String, &Found)| match member_of(program) {
        _ if n_of(name) == 1 => name.clone(),
        // Members of an archive begin at one address.
        Some(member) if n_at(name, it.address) > 1 => format!("{name}@{member}"),
        _ => format!("{name}@{:#x}", it.address),
    };
    let list: Vec<String> = names.iter().zip(found).take(N_SHOWN).map(one).collect();
    let more = found.len().saturating_sub(N_SHOWN);
    if more == 0 { list.join(", ") } else { format!("{} and {more} more", list.join(", ")) }
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
