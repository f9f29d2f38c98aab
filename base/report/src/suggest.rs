//! What a name that is not known was probably meant to be, as a sentence for help.

/// As many names are listed.
const N_SHOWN: usize = 8;

/// A question or a hint for the user who wrote `name`; `None` where no candidate is close. Of
/// these, the first that finds any:
///
/// 1. the same but for case: `AES-128`;
/// 2. what begins with it and goes on with no letter: `aes` for `aes-128` and `aes-192`;
/// 3. one slip (a letter missing, added, changed, or two swapped) in a name of three letters, and
///    one more for every further
///    three up to three. Of three digits and more two may be swapped, nothing else: `cortex-a53` is
//not `cortex-a35` with a slip;
/// 4. another number of the same family: `cortex-a72`.
pub fn did_you_mean<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    let mut known: Vec<&str> = Vec::new();
    for candidate in candidates {
        if candidate != name && !known.contains(&candidate) {
            known.push(candidate);
        }
    }
    let question = |names: &[&str]| format!("did you mean {}?", listed(names, "or", "`"));
    if let Some(same) = known.iter().find(|candidate| candidate.eq_ignore_ascii_case(name)) {
        return Some(question(&[same]));
    }
    let longer: Vec<&str> =
        known.iter().copied().filter(|candidate| goes_on_after(name, candidate)).collect();
    if !longer.is_empty() {
        return Some(question(&longer));
    }
    let n_slips_max = (name.chars().count() / 3).min(3);
    let near = known.iter().map(|candidate| (n_slips(name, candidate), *candidate));
    let near = near
        .filter(|(slips, candidate)| *slips <= n_slips_max && have_same_digits(name, candidate));
    if let Some((_, nearest)) = near.min_by_key(|(slips, _)| *slips) {
        return Some(question(&[nearest]));
    }
    let relatives: Vec<&str> = known
        .iter()
        .copied()
        .filter(|candidate| family(name).is_some() && family(name) == family(candidate))
        .collect();
    let verb = if relatives.len() == 1 { "is" } else { "are" };
    (!relatives.is_empty())
        .then(|| format!("of that family there {verb} {}", listed(&relatives, "and", "")))
}

fn goes_on_after(name: &str, candidate: &str) -> bool {
    let (Some(start), Some(rest)) = (candidate.get(..name.len()), candidate.get(name.len()..))
    else {
        return false;
    };
    let is_border = |next: char| !next.is_alphabetic();
    !name.is_empty() && start.eq_ignore_ascii_case(name) && rest.starts_with(is_border)
}

fn have_same_digits(name: &str, candidate: &str) -> bool {
    let digits = |text: &str| -> Vec<char> { text.chars().filter(char::is_ascii_digit).collect() };
    let (mut left, mut right) = (digits(name), digits(candidate));
    if left.len() > 2 {
        left.sort_unstable();
        right.sort_unstable();
    }
    left == right
}

/// What stands before the first number of a name.
fn family(name: &str) -> Option<String> {
    let end = name.find(|letter: char| letter.is_ascii_digit()).filter(|end| *end > 1)?;
    Some(name[..end].to_ascii_lowercase())
}

fn listed(names: &[&str], word: &str, quote: &str) -> String {
    let shown: Vec<String> =
        names.iter().take(N_SHOWN).map(|name| format!("{quote}{name}{quote}")).collect();
    match shown.as_slice() {
        [one] => one.clone(),
        all if names.len() > N_SHOWN => format!("{}, ...", all.join(", ")),
        [first @ .., last] => format!("{} {word} {last}", first.join(", ")),
        [] => String::new(),
    }
}

/// Edit distance with swaps of neighbours (optimal string alignment), case aside.
fn n_slips(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.to_lowercase().chars().collect();
    let b: Vec<char> = b.to_lowercase().chars().collect();
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 0..a.len() {
        let mut row = vec![i + 1];
        for j in 0..b.len() {
            let changed = last[j] + usize::from(a[i] != b[j]);
            let mut best = changed.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                best = best.min(before_last[j - 1] + 1);
            }
            row.push(best);
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, candidates: &[&str], expected: Option<&str>) {
        assert_eq!(did_you_mean(name, candidates.iter().copied()).as_deref(), expected, "{name}");
    }

    #[test]
    fn suggestions_only_when_close() {
        let names = ["round_key", "Round", "sbox", "state"];
        check("round_kye", &names, Some("did you mean `round_key`?"));
        check("round", &names, Some("did you mean `Round`?"));
        check("sbx", &names, Some("did you mean `sbox`?"));
        check("stats", &names, Some("did you mean `state`?"));
        for other in ["plain", "s", "", "sb"] {
            check(other, &names, None);
        }
    }

    #[test]
    fn a_case_a_prefix_and_a_family_come_before_slips() {
        let ciphers = ["aes-128", "aes-192", "ascon-p12", "des", "gift-128", "present-80"];
        check("aes", &ciphers, Some("did you mean `aes-128` or `aes-192`?"));
        check("AES", &ciphers, Some("did you mean `aes-128` or `aes-192`?"));
        check("AES-192", &ciphers, Some("did you mean `aes-192`?"));
        check("ascon", &ciphers, Some("did you mean `ascon-p12`?"));
        check("present", &ciphers, Some("did you mean `present-80`?"));
        check("aes-182", &ciphers, Some("did you mean `aes-128`?"));
        check("aes128", &ciphers, Some("did you mean `aes-128`?"));
        check("aes-256", &ciphers, Some("of that family there are aes-128 and aes-192"));
        check("aes-1", &ciphers, Some("did you mean `aes-128` or `aes-192`?"));
        check("dse", &ciphers, Some("did you mean `des`?"));
        check("camellia", &ciphers, None);
        let cores = ["cortex-a7", "cortex-a53", "cortex-m4", "leon3"];
        check("cortex-a72", &cores, Some("of that family there are cortex-a7 and cortex-a53"));
        check("leon4", &cores, Some("of that family there is leon3"));
        check("cortex-a35", &cores, Some("of that family there are cortex-a7 and cortex-a53"));
    }

    #[test]
    fn long_lists_are_cut() {
        let names: Vec<String> = (0..20).map(|idx| format!("x{idx}")).collect();
        let said = did_you_mean("x", names.iter().map(String::as_str)).expect("all begin so");
        assert!(said.ends_with("`x7`, ...?"), "{said}");
    }
}
