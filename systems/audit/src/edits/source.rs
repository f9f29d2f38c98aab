//! What edits need of a source's text: what a line loads, whether something stands the same on two
//! lines, where a statement may stand.
//!
//! Nothing here is parsed as C: a line is changed where it has the shape, and the compiler, a second
//! audit and executed code say whether the change was one.

use std::ops::Range;

/// Nothing that the expression names is written on the lines from `from` up to `to`, nor, if a loop
/// begins there, anywhere after in the function: then it is the same before all of them. What is
/// written through other pointers no text shows.
pub fn is_kept(lines: &[&str], from: usize, to: usize, expression: &str) -> bool {
    let to = to.min(lines.len());
    let has_loop = lines[from.min(to)..to]
        .iter()
        .any(|line| words(line).any(|word| ["while", "for", "do"].contains(&word)));
    let end = if has_loop {
        (to..lines.len()).find(|idx| lines[*idx].starts_with('}')).unwrap_or(lines.len())
    } else {
        to
    };
    let mut named = words(expression).filter(|name| is_identifier(name));
    named.all(|name| !lines[from.min(end)..end].iter().any(|line| writes(line, name)))
}

/// A pointer that the expression follows is asked for null on the lines from `from` on before the
/// expression stands in line `to`: its address is not good before that test.
pub fn asks_for_null(lines: &[&str], from: usize, to: usize, expression: &str) -> bool {
    let pointers = expression
        .match_indices("->")
        .chain(expression.match_indices('['))
        .map(|(at, _)| &expression[..at]);
    let pointers: Vec<&str> = pointers.collect();
    (from..=to).any(|line| {
        let end =
            if line == to { lines[line].find(expression).unwrap_or(0) } else { lines[line].len() };
        pointers.iter().any(|pointer| is_asked(&lines[line][..end], pointer))
    })
}

/// The line compares the pointer with null, or takes it for a truth value.
fn is_asked(line: &str, pointer: &str) -> bool {
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    // Programs have null pointers of their own, such as `Z_NULL`.
    let is_null_word = |word: &str| word == "0" || word == "nullptr" || word.ends_with("NULL");
    let is_null = |text: &str| {
        let text = text.trim_start_matches('(').trim_start();
        let end = text.find(|letter| !is_name(letter)).unwrap_or(text.len());
        is_null_word(&text[..end])
    };
    line.match_indices(pointer).any(|(at, _)| {
        let (before, behind) = (line[..at].trim_end(), line[at + pointer.len()..].trim_start());
        if line[..at].ends_with(is_name)
            || line[..at].ends_with(['.', '>'])
            || line[at + pointer.len()..].starts_with(is_name)
        {
            return false;
        }
        let compared = behind.strip_prefix("==").or_else(|| behind.strip_prefix("!="));
        let is_compared = compared.is_some_and(|compared| is_null(compared.trim_start()));
        let turned =
            before.strip_suffix("==").or_else(|| before.strip_suffix("!=")).map(str::trim_end);
        let is_turned = turned.is_some_and(|turned| {
            is_null_word(turned.rsplit(|letter| !is_name(letter)).next().unwrap_or(turned))
        });
        // What stands alone between brackets is a truth value, unless the brackets are a call's.
        let opens = before.strip_suffix('(').map(str::trim_end);
        let in_brackets = opens.is_some_and(|open| {
            !open.ends_with(is_name)
                || ["if", "while", "for", "likely"].iter().any(|word| open.ends_with(word))
        });
        let begins = in_brackets || ["&&", "||", "!"].iter().any(|word| before.ends_with(word));
        let ends =
            behind.is_empty() || [")", "&&", "||", "?"].iter().any(|word| behind.starts_with(word));
        is_compared || is_turned || begins && ends
    })
}

/// The line assigns to a variable or member of this name, or to an element of it; or it steps it,
/// or takes its address.
pub fn writes(line: &str, name: &str) -> bool {
    is_written(line, name, true)
}

/// The same, but for elements: the pointer to them stays what it is.
pub fn replaces(line: &str, name: &str) -> bool {
    is_written(line, name, false)
}

fn is_written(line: &str, name: &str, with_elements: bool) -> bool {
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    line.match_indices(name).any(|(at, _)| {
        let (before, behind) = (&line[..at], &line[at + name.len()..]);
        if before.ends_with(is_name) || behind.starts_with(is_name) {
            return false;
        }
        // An index between the name and what is done with it.
        let behind = behind.trim_start();
        let behind = behind
            .strip_prefix('[')
            .filter(|_| with_elements)
            .and_then(|rest| rest.split_once(']'))
            .map_or(behind, |(_, rest)| rest.trim_start());
        let is_assigned = behind.starts_with('=') && !behind.starts_with("==");
        let is_compound = ["+=", "-=", "*=", "/=", "%=", "|=", "&=", "^=", "<<=", ">>="]
            .iter()
            .any(|word| behind.starts_with(word));
        let is_stepped = ["++", "--"]
            .iter()
            .any(|word| behind.starts_with(word) || before.trim_end().ends_with(word));
        let before = before.trim_end();
        let is_address = before.ends_with('&')
            && !before.ends_with("&&")
            && !before.trim_end_matches('&').trim_end().ends_with([')', ']'])
            && !before.trim_end_matches('&').trim_end().ends_with(is_name);
        is_assigned || is_compound || is_stepped || is_address
    })
}

/// The line with a variable in place of an expression wherever it is read: `p->n++` reads it,
/// and then writes it.
pub fn read_from(line: &str, expression: &str, name: &str) -> String {
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let code = code_of(line);
    let (mut out, mut rest) = (String::new(), line);
    // What stands in a literal or a comment is no code, and is as long there.
    while let Some(at) = code[code.len() - rest.len()..].find(expression) {
        let (before, behind) = (&rest[..at], &rest[at + expression.len()..]);
        let is_inside = before.ends_with(is_name)
            || before.ends_with("->")
            || before.ends_with('.')
            || behind.starts_with(is_name);
        out += before;
        let operator = behind.trim_start();
        let stepped =
            [("++", "+"), ("--", "-")].into_iter().find(|(step, _)| operator.starts_with(step));
        let is_written = operator.starts_with('=') && !operator.starts_with("==");
        let compound = ["+", "-", "*", "|", "&", "^"]
            .into_iter()
            .find(|word| operator.starts_with(&format!("{word}=")));
        rest = behind;
        if let (Some((step, sign)), true) = (stepped, before.trim().is_empty()) {
            out += &format!("{expression} = {name} {sign} 1");
            rest = &operator[step.len()..];
        } else if let (Some(sign), Some(end), true) =
            (compound, operator.find(';'), before.trim().is_empty())
        {
            out += &format!("{expression} = {name} {sign} ({})", operator[2..end].trim());
            rest = &operator[end..];
        } else {
            out += if is_inside || is_written || stepped.is_some() || compound.is_some() {
                expression
            } else {
                name
            };
        }
    }
    out + rest
}

/// The source with another text in place of one of its lines.
pub fn with_line(lines: &[&str], line: usize, text: String) -> String {
    let mut changed: Vec<String> = lines.iter().map(|&line| line.to_owned()).collect();
    changed[line] = text;
    changed.join("\n") + "\n"
}

/// A statement may stand before this line: it begins one, and the line before ends one
/// or opens a block.
pub fn starts_statement(lines: &[&str], line: usize) -> bool {
    let text = lines.get(line).map_or("", |line| line.trim_start());
    let is_one = text.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_')
        && !["else", "case", "default"].iter().any(|word| text.starts_with(word));
    let before = lines[..line.min(lines.len())]
        .iter()
        .rev()
        .map(|line| line.trim())
        .find(|recorded| !recorded.is_empty());
    is_one
        && before.is_some_and(|before| before.ends_with([';', '{', '}']) || before.ends_with("*/"))
}

/// The range of what stands between the brackets of an `if` that ends on its line.
pub fn condition(line: &str) -> Option<(usize, usize)> {
    let start = line.find("if (").or_else(|| line.find("if("))?;
    let open = start + line[start..].find('(')?;
    let mut depth = 0;
    for (at, character) in line[open..].char_indices() {
        match character {
            '(' => depth += 1,
            ')' if depth == 1 => return Some((open + 1, open + at)),
            ')' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// What of a line is loaded: names joined by `->`, `.` and plain indices. What is called or
/// assigned is not, but the pointer and the index of what is assigned are.
pub fn expressions(line: &str) -> Vec<String> {
    chains(line, false)
}

/// The same, with what is assigned: a line may read it first.
pub fn loads(line: &str) -> Vec<String> {
    chains(line, true)
}

fn chains(line: &str, with_assigned: bool) -> Vec<String> {
    let bytes = line.as_bytes();
    let is_name =
        |at: usize| bytes.get(at).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let mut found: Vec<String> = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let starts = bytes[at].is_ascii_alphabetic() || bytes[at] == b'_';
        if !starts {
            // A number is no name.
            at += 1;
            while at < bytes.len() && bytes[at - 1].is_ascii_digit() && is_name(at) {
                at += 1;
            }
            continue;
        }
        let from = at;
        let mut is_load = false;
        let mut parts = Vec::new();
        loop {
            while is_name(at) {
                at += 1;
            }
            if line[at..].starts_with("->") && is_name(at + 2) {
                at += 2;
                is_load = true;
            } else if line[at..].starts_with('.') && is_name(at + 1) {
                at += 1;
            } else if let Some(end) = line[at..].strip_prefix('[').and_then(|rest| rest.find(']')) {
                if is_load {
                    parts.push(line[from..at].to_owned());
                }
                parts.extend(chains(&line[at + 1..at + 1 + end], with_assigned));
                at += end + 2;
                is_load = true;
            } else {
                break;
            }
        }
        let rest = line[at..].trim_start();
        let is_assigned = rest.starts_with('=') && !rest.starts_with("==");
        let is_changed = ["+=", "-=", "*=", "|=", "&=", "^=", "++", "--", "("]
            .iter()
            .any(|word| rest.starts_with(word));
        let is_read =
            is_load && (with_assigned && !rest.starts_with('(') || !is_assigned && !is_changed);
        // Reading the whole reads its parts.
        let parts = if is_read && !with_assigned { Vec::new() } else { parts };
        for expression in is_read.then(|| line[from..at].to_owned()).into_iter().chain(parts) {
            if !found.contains(&expression) {
                found.push(expression);
            }
        }
    }
    found
}

/// The identifiers and numbers of a text.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'))
        .filter(|word| !word.is_empty())
}

fn is_identifier(word: &str) -> bool {
    word.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_')
}

/// The lines of the function around `line`, from where its name stands to its closing bracket, if
/// both begin in the first column.
pub fn enclosing(lines: &[&str], line: usize) -> Option<Range<usize>> {
    let is_head = |line: &&str| {
        line.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_')
            && line.contains('(')
            && !line.trim_end().ends_with(';')
    };
    let first = (0..=line).rev().take_while(|at| !lines[*at].starts_with('}'));
    let first = first.filter(|at| is_head(&lines[*at])).last()?;
    let last = (line..lines.len()).find(|at| lines[*at].starts_with('}'))?;
    Some(first..last + 1)
}

/// The lines of the definition of `name`.
pub fn definition(lines: &[&str], name: &str) -> Option<Range<usize>> {
    let opening = format!("{name}(");
    let is_it = |at: &usize| {
        !lines[*at].starts_with([' ', '\t', '#', '}', '/', '*'])
            && lines[*at].match_indices(&opening).any(|(from, _)| {
                !lines[*at][..from]
                    .ends_with(|letter: char| letter.is_ascii_alphanumeric() || letter == '_')
            })
    };
    // Up to the body, or to the end of a declaration.
    let has_body = |at: &usize| {
        let ends = lines[*at..].iter().find(|line| line.contains(['{', ';']));
        ends.is_some_and(|line| line.find('{') < line.find(';') || !line.contains(';'))
            && ends.is_some_and(|line| line.contains('{'))
    };
    let first = (0..lines.len()).filter(is_it).find(has_body)?;
    let last = (first..lines.len()).find(|at| lines[*at].starts_with('}'))?;
    Some(first..last + 1)
}

/// The lines of the loop that begins on `line`, header and body.
pub fn loop_lines(lines: &[&str], line: usize) -> Option<Range<usize>> {
    let first = lines[line].trim_start();
    let keyword = ["for", "while", "do"].into_iter().find(|keyword| {
        first
            .strip_prefix(keyword)
            .is_some_and(|rest| rest.starts_with([' ', '(', '{']) || rest.is_empty())
    })?;
    let (mut round, mut curly, mut has_header) = (0i32, 0i32, keyword == "do");
    for (at, text) in lines.iter().enumerate().skip(line) {
        let code = text.split("//").next().unwrap_or_default();
        for letter in code.chars() {
            match letter {
                '(' => round += 1,
                ')' => {
                    round -= 1;
                    has_header |= round == 0;
                }
                '{' => curly += 1,
                '}' => {
                    curly -= 1;
                    if curly == 0 && has_header {
                        return Some(line..at + 1);
                    }
                }
                ';' if round == 0 && curly == 0 && has_header => return Some(line..at + 1),
                _ => {}
            }
            if curly < 0 {
                return None;
            }
        }
    }
    None
}

/// What may change the values of expressions on these lines besides their names: a store by
/// another name, a call, or a macro, which may hide either. The sentence is what has to be true.
pub fn unchanged(lines: &[&str], range: Range<usize>, expressions: &[&str]) -> Option<String> {
    let function = enclosing(lines, range.start).unwrap_or(0..lines.len());
    let text: Vec<String> = lines[range].iter().map(|line| code_of(line)).collect();
    let text = text.join(" ");
    let may_change = stores(&text, &lines[function]) || calls(&text) || has_macro(&text);
    let quoted: Vec<String> =
        expressions.iter().map(|expression| format!("`{expression}`")).collect();
    let any = listed(&quoted, "or");
    may_change.then(|| format!("nothing that is stored or called there changes {any}"))
}

/// The line without what stands in its literals and comments, which is blank there.
pub fn code_of(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let (mut quote, mut is_escaped, mut in_comment) = (None, false, false);
    let mut rest = line.char_indices().peekable();
    while let Some((at, letter)) = rest.next() {
        let blank = |out: &mut String| out.extend(std::iter::repeat_n(' ', letter.len_utf8()));
        if in_comment {
            in_comment = !(letter == '/' && line[..at].ends_with('*'));
            blank(&mut out);
        } else if let Some(end) = quote {
            let ends = letter == end && !is_escaped;
            is_escaped = letter == '\\' && !is_escaped;
            quote = (!ends).then_some(end);
            blank(&mut out);
        } else if letter == '/' && line[at..].starts_with("//") {
            out.extend(std::iter::repeat_n(' ', line.len() - at));
            break;
        } else if letter == '/' && line[at..].starts_with("/*") {
            in_comment = true;
            out += "  ";
            rest.next();
        } else if letter == '"' || letter == '\'' {
            quote = Some(letter);
            blank(&mut out);
        } else {
            out.push(letter);
        }
    }
    out
}

/// Something is stored that is no variable of this function.
fn stores(text: &str, function: &[&str]) -> bool {
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    // A name that stands alone and is declared here.
    let is_local = |target: &str| {
        let name = target.trim();
        let last = name.rsplit(|letter: char| !is_name(letter)).next().unwrap_or_default();
        let is_alone = name == last;
        let is_declared = name.ends_with(last)
            && words(name).count() > 1
            && !name.contains(['>', '.', '[', '(', ')']);
        is_declared || is_alone && !last.is_empty() && is_declared_in(function, last)
    };
    let assigned = text.match_indices('=').any(|(at, _)| {
        let is_comparison = text[at + 1..].starts_with('=')
            || text[..at].ends_with(['=', '!', '<', '>'])
                && !text[..at].ends_with("<<")
                && !text[..at].ends_with(">>");
        let before =
            text[..at].trim_end_matches(['+', '-', '*', '/', '|', '&', '^', '%', '<', '>']);
        let start = before.rfind([';', '{', '}', ',', '(', '?', ':']).map_or(0, |at| at + 1);
        !is_comparison && !is_local(&before[start..])
    });
    let stepped = text.match_indices("++").chain(text.match_indices("--")).any(|(at, _)| {
        let (before, behind) = (text[..at].trim_end(), text[at + 2..].trim_start());
        let prefix: String = behind.chars().take_while(|letter| is_name(*letter)).collect();
        let rest = behind[prefix.len()..].trim_start();
        let is_plain = !prefix.is_empty()
            && !rest.starts_with(['[', '.', '('])
            && !rest.starts_with("->")
            && is_declared_in(function, &prefix);
        let name = before.rsplit(|letter: char| !is_name(letter)).next().unwrap_or_default();
        let head = before[..before.len() - name.len()].trim_end();
        let is_plain_before =
            !name.is_empty() && !head.ends_with(['.', '>', ']']) && is_declared_in(function, name);
        // As text alone shows it, one of the two is the operand.
        if prefix.is_empty() || !name.is_empty() { !is_plain_before } else { !is_plain }
    });
    assigned || stepped
}

/// A variable or parameter of this name is declared on one of these lines: a type stands before it.
fn is_declared_in(lines: &[&str], name: &str) -> bool {
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    lines.iter().any(|line| {
        line.match_indices(name).any(|(at, _)| {
            let (before, behind) = (&line[..at], &line[at + name.len()..]);
            if before.ends_with(is_name) || behind.starts_with(is_name) {
                return false;
            }
            // `int n`, `char *p`, and `int a, b` where the line begins so.
            let kind = before.trim_end().trim_end_matches('*').trim_end();
            let word = kind.rsplit(|letter: char| !is_name(letter)).next().unwrap_or_default();
            let is_type = is_identifier(word)
                && !["return", "else", "case", "goto", "sizeof", "do"].contains(&word);
            is_type || kind.ends_with(',') && words(kind).count() > 1 && !kind.contains(['(', '='])
        })
    })
}

/// Something is called: by its name, or through what stands in brackets.
fn calls(text: &str) -> bool {
    let keywords = ["if", "for", "while", "switch", "return", "sizeof", "do", "else"];
    text.match_indices('(').any(|(at, _)| {
        let before = text[..at].trim_end();
        let name = words(before).last().unwrap_or_default();
        let is_named = before.ends_with(name) && is_identifier(name) && !keywords.contains(&name);
        let through = before.ends_with([')', ']']);
        is_named || through
    })
}

/// A word is written as macros are.
fn has_macro(text: &str) -> bool {
    words(text).any(|word| {
        word.len() > 1
            && word.contains(|letter: char| letter.is_ascii_uppercase())
            && !word.contains(|letter: char| letter.is_ascii_lowercase())
            && is_identifier(word)
    })
}

/// A jump may come to one of these lines, or to any of the function: a declaration before it would
/// be passed by.
pub fn is_jumped_to(lines: &[&str], range: Range<usize>) -> bool {
    let function = enclosing(lines, range.start).unwrap_or(0..lines.len());
    let has_goto =
        lines[function].iter().any(|line| words(&code_of(line)).any(|word| word == "goto"));
    has_goto
        || lines[range].iter().any(|line| {
            let code = code_of(line);
            words(&code).any(|word| word == "case" || word == "default")
        })
}

/// The line has several statements, and so may write what it read.
pub fn has_several(line: &str) -> bool {
    let code = code_of(line);
    let is_for = code.trim_start().starts_with("for");
    code.matches(';').count() > if is_for { 2 } else { 1 }
}

/// The line has the name for something that is no member.
fn names(line: &str, name: &str) -> bool {
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    line.match_indices(name).any(|(at, _)| {
        let (before, behind) = (&line[..at], &line[at + name.len()..]);
        let is_whole = !before.ends_with(is_name) && !behind.starts_with(is_name);
        is_whole && !before.ends_with("->") && !before.ends_with('.')
    })
}

/// A call on these lines is passed what the expression begins with: nobody knows what it does to it.
pub fn is_passed(lines: &[&str], range: Range<usize>, expression: &str) -> bool {
    let root = words(expression).next().unwrap_or_default();
    let text = lines[range].join(" ");
    text.match_indices('(').any(|(at, _)| {
        let name = words(&text[..at]).last().unwrap_or_default();
        let is_call = text[..at].ends_with(name)
            && is_identifier(name)
            && !["if", "for", "while", "switch", "return", "sizeof"].contains(&name);
        let inside = text[at + 1..].split(';').next().unwrap_or_default();
        is_call
            && inside.split(',').any(|argument| {
                argument.trim().trim_start_matches('&').trim_end_matches(')').trim() == root
            })
    })
}

/// A name for a local variable of the function at line `at` that holds `expression`: none that the
/// function or the file has.
pub fn local_name(lines: &[&str], at: usize, expression: &str) -> String {
    let (plain, index) = expression.split_once('[').unwrap_or((expression, ""));
    let last = words(plain).last().unwrap_or("value");
    let stem = match words(index).last() {
        Some(number) if number.starts_with(|it: char| it.is_ascii_digit()) => {
            let is_number = last.ends_with(|it: char| it.is_ascii_digit());
            format!("{last}{}{number}", if is_number { "_" } else { "" })
        }
        Some(name) => format!("{last}_{name}"),
        None => last.to_owned(),
    };
    let function = enclosing(lines, at).unwrap_or(0..lines.len());
    let is_free = |name: &String| {
        // Macros, what they are made of included.
        let mut is_more = false;
        let is_macro = lines.iter().any(|line| {
            let is_one = is_more || line.trim_start().starts_with('#');
            is_more = is_one && line.ends_with('\\');
            is_one && words(line).any(|word| word == name.as_str())
        });
        !lines[function.clone()].iter().any(|line| names(line, name)) && !is_macro
    };
    let more = (2..).map(|nth| format!("{stem}_{nth}"));
    let mut all = [stem.clone(), format!("{stem}_now")].into_iter().chain(more);
    all.find(is_free).expect("there are more numbers than words")
}

/// `a`, `a and b`, `a, b and c`.
pub fn listed(parts: &[String], last: &str) -> String {
    match parts {
        [before @ .., end] if !before.is_empty() => format!("{} {last} {end}", before.join(", ")),
        _ => parts.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_of_a_line() {
        let of = |line| expressions(line).join(" ");
        assert_eq!(of("    if (caller->cap == 0)"), "caller->cap");
        assert_eq!(of("a->b = c->d[3].e + f(x->y) + 0x1f;"), "c->d[3].e x->y");
        assert_eq!(of("p->n += 1; return g->h(1);"), "");
        assert_eq!(of("q->at[q->n] = it;"), "q->at q->n");
        assert_eq!(of("x = y + 2;"), "");
    }

    #[test]
    fn a_line_that_reads_a_variable_in_place_of_a_load() {
        let of = |line| read_from(line, "q->n", "kept_7");
        assert_eq!(of("    q->n++;"), "    q->n = kept_7 + 1;");
        assert_eq!(of("    q->n -= 2 * it;"), "    q->n = kept_7 - (2 * it);");
        assert_eq!(
            of("    q->at[q->n] = q->next + qq->n;"),
            "    q->at[kept_7] = q->next + qq->n;"
        );
        assert_eq!(of("    if (q->n == 3)"), "    if (kept_7 == 3)");
        assert_eq!(of("    q->n = 3;"), "    q->n = 3;");
        assert_eq!(of("    x = y[q->n++];"), "    x = y[q->n++];");
    }

    #[test]
    fn what_changes_on_the_way_is_not_read_before() {
        // As a search through a list: the pointer gets its value after the test, and the loop goes
        // on with it.
        let search = "    if (list == 0)\n        return 0;\n    at = list->first;\n    while (at && at->key != key)\n        at = at->next;\n    return at;\n}";
        let lines: Vec<&str> = search.lines().collect();
        assert!(!is_kept(&lines, 0, 4, "at->key"));
        assert!(!is_kept(&lines, 3, 4, "at->key"), "the loop writes it on a later line");
        assert!(is_kept(&lines, 0, 3, "list->first"));
        // As a counter: a member that is stepped, one that is stored, and an element.
        let counter = "    if (q->full)\n        return;\n    q->n++;\n    q->at[i] = 3;\n    take(&key);\n    use(q->n == 3 && flags & mask);\n}";
        let lines: Vec<&str> = counter.lines().collect();
        assert!(
            !is_kept(&lines, 0, 6, "q->n")
                && !is_kept(&lines, 0, 6, "q->at[i]")
                && !is_kept(&lines, 0, 6, "key->first")
        );
        assert!(
            is_kept(&lines, 0, 2, "q->n")
                && is_kept(&lines, 0, 6, "q->full")
                && is_kept(&lines, 0, 6, "mask->bits")
        );
    }

    #[test]
    fn a_pointer_that_is_asked_for_null_is_not_followed_before() {
        for test in [
            "if (p == NULL || q)",
            "if ((p != 0) && (q))",
            "if (NULL == p)",
            "if (p == Z_NULL || q)",
            "if (Z_NULL != p)",
            "if (!p)",
            "if (p && q->n)",
            "while (q && p)",
            "if (unlikely(!p))",
            "x = q || p ? 1 : 2;",
        ] {
            assert!(asks_for_null(&[test, "x = p->n;"], 0, 1, "p->n"), "{test}");
        }
        for other in [
            "if (q == NULL)",
            "if (p == q)",
            "if (p->n == 0)",
            "if (!p->n)",
            "if (use(p))",
            "if (pp == 0)",
            "if (r->p == 0)",
            "if (p == 0x10)",
        ] {
            assert!(!asks_for_null(&[other, "x = p->n;"], 0, 1, "p->n"), "{other}");
        }
        // Each pointer on the way; and a test on the line itself, before and after.
        assert!(asks_for_null(&["if (p->next == NULL)", "x = p->next->n;"], 0, 1, "p->next->n"));
        assert!(asks_for_null(&["if (list == 0)", "x = list[3];"], 0, 1, "list[3]"));
        assert!(asks_for_null(&["if (p == NULL || p->n == 3)"], 0, 0, "p->n"));
        assert!(!asks_for_null(&["if (p->n == 3 && p)"], 0, 0, "p->n"));
    }

    #[test]
    fn what_may_change_a_value_asks_for_a_promise() {
        let asks = |line: &str| {
            let lines = ["int f(struct s *p, int *q, int k)", "{", "    int i, *at;", line, "}"];
            unchanged(&lines, 3..4, &["p->n"]).is_some()
        };
        for line in [
            "    ++*q;",
            "    --*q;",
            "    (*q)++;",
            "    p->m++;",
            "    q[i]--;",
            "    *q = k;",
            "    total = k;",
            "    total++;",
            "    i = k; p->m += 2;",
            "    (*cb)(i);",
            "    table[i](k);",
            "    note(i);",
            "    STEP;",
            "    *at++ = k;",
        ] {
            assert!(asks(line), "{line}");
        }
        for line in [
            "    i++;",
            "    ++i;",
            "    k += p->n * 5;",
            "    int a = p->n;",
            "    if (i == k && k <= p->n)",
            "    i = k << 2;",
            "    for (i = 0; i < p->n; i++)",
            "    i = p->n; /* note(i) = */ // ++*q",
        ] {
            assert!(!asks(line), "{line}");
        }
    }

    #[test]
    fn literals_and_comments_are_no_code() {
        assert_eq!(code_of(r#"f("a->n\"", 'x'); // a->n"#).trim_end(), r"f(        ,    );");
        assert_eq!(code_of("a /* b->n */ + c"), "a            + c");
        let changed = read_from(r#"note("s->n is", s->n); /* s->n */"#, "s->n", "n");
        assert_eq!(changed, r#"note("s->n is", n); /* s->n */"#);
        assert_eq!(read_from("é(s->n); /* ü */ t(s->n);", "s->n", "n"), "é(n); /* ü */ t(n);");
    }

    #[test]
    fn a_name_that_a_macro_is_made_of_is_taken() {
        let lines =
            ["#define LIMIT \\", "    cap", "int f(struct s *s)", "{", "    g(s->cap);", "}"];
        assert_eq!(local_name(&lines, 4, "s->cap"), "cap_now");
    }

    #[test]
    fn jumps_pass_declarations_by() {
        let lines =
            ["int f(int k)", "{", "    switch (k) {", "    case 1:", "        g();", "    }", "}"];
        assert!(is_jumped_to(&lines, 2..5) && !is_jumped_to(&lines, 4..5));
        let lines =
            ["int f(int k)", "{", "    if (k) goto out;", "    g();", "out:", "    h();", "}"];
        assert!(is_jumped_to(&lines, 3..4));
        assert!(has_several("a = 1; b = 2;") && !has_several("for (i = 0; i < n; i++)"));
        assert!(!has_several("f(\";;\");"));
    }

    #[test]
    fn the_condition_of_an_if() {
        let of = |line: &str| condition(line).map(|(from, to)| line[from..to].to_owned());
        assert_eq!(of("  if (f(a) && (b))").as_deref(), Some("f(a) && (b)"));
        assert_eq!(of("  if (a &&"), None);
        assert_eq!(of("  x = 1;"), None);
    }

    #[test]
    fn where_a_statement_may_stand() {
        let lines = [
            "{",
            "    if (a)",
            "        b();",
            "    else",
            "    if (c)",
            "",
            "  /* so */",
            "    if (d)",
        ];
        let all: Vec<usize> =
            (0..lines.len()).filter(|&idx| starts_statement(&lines, idx)).collect();
        assert_eq!(all, [1, 7]);
    }
}
