//! Makes a failing program smaller: drops definitions and lines, and replaces right sides by
//! constants, as long as it still fails.

/// The smallest text found for which `fails` still holds, in at most `tries`
/// attempts and 20 seconds.
pub fn shrink(text: &str, mut tries: usize, fails: &dyn Fn(&str) -> bool) -> String {
    let mut best = text.to_string();
    let start = std::time::Instant::now();
    loop {
        let before = best.len();
        for candidate in candidates(&best) {
            if tries == 0 || start.elapsed().as_secs() >= 20 {
                return best;
            }
            if candidate.len() >= best.len() {
                continue;
            }
            tries -= 1;
            if fails(&candidate) {
                best = candidate;
                break;
            }
        }
        if best.len() == before {
            return best;
        }
    }
}

fn candidates(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    let paragraphs: Vec<&str> = text.split("\n\n").collect();
    for at in 0..paragraphs.len() {
        let rest: Vec<&str> =
            paragraphs.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, p)| *p).collect();
        all.push(rest.join("\n\n"));
    }
    let lines: Vec<&str> = text.lines().collect();
    let with = |at: usize, line: Option<String>| -> String {
        let kept = lines
            .iter()
            .enumerate()
            .filter_map(|(i, l)| if i == at { line.clone() } else { Some(l.to_string()) });
        kept.collect::<Vec<_>>().join("\n") + "\n"
    };
    for at in 0..lines.len() {
        all.push(with(at, None));
        for length in 2..5 {
            let rest = lines
                .iter()
                .enumerate()
                .filter(|(i, _)| !(at..at + length).contains(i))
                .map(|(_, l)| *l);
            all.push(rest.collect::<Vec<_>>().join("\n") + "\n");
        }
        let line = lines[at];
        let Some((left, right)) = line.split_once('=') else { continue };
        let end = if right.ends_with(';') { ";" } else { "" };
        for value in ["0", "(0,0)", "(0,0,0)", "(0,0,0,0)", "(0,0,0,0,0)", "(0,0,0,0,0,0)"] {
            all.push(with(at, Some(format!("{left}= {value}{end}"))));
        }
        // One side of a binary operation, or the inside of parentheses.
        for (i, c) in right.char_indices() {
            if "&|^+-<>".contains(c) {
                all.push(with(at, Some(format!("{left}={}{end}", &right[..i]))));
                all.push(with(
                    at,
                    Some(format!("{left}= {}", right[i + 1..].trim_start_matches(['<', '>', '!']))),
                ));
            }
        }
    }
    all
}
