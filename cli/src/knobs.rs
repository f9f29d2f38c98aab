//! `-X KEY=VALUE`: settings that few people need, in a table of one row a key, from which the
//! parser, the help and the guide come.

/// One key, which sets something in a `T`.
pub struct Key<T: 'static> {
    pub name: &'static str,
    /// What it takes, as help shows it.
    pub values: &'static str,
    pub default: &'static str,
    pub help: &'static str,
    /// Sets it from a text; `None` if it does not take that.
    pub set: fn(&mut T, &str) -> Option<()>,
}

/// A key of a table, by its place there, with a value that it takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Knob {
    key: usize,
    value: String,
}

/// What the user wrote after `-X`.
///
/// Errors: a sentence that names the key meant, or what the key takes.
pub fn parse<T: Default>(keys: &[Key<T>], text: &str) -> Result<Knob, String> {
    let names = || keys.iter().map(|key| key.name);
    let all = || format!("the keys are {}", names().collect::<Vec<_>>().join(", "));
    let Some((name, value)) = text.split_once('=') else {
        return Err(format!("write KEY=VALUE; {}", all()));
    };
    let Some(key) = keys.iter().position(|key| key.name == name) else {
        let help = report::did_you_mean(name, names()).unwrap_or_else(all);
        return Err(format!("there is no key `{name}`: {help}"));
    };
    (keys[key].set)(&mut T::default(), value)
        .ok_or_else(|| format!("`{name}` takes {}", keys[key].values))?;
    Ok(Knob { key, value: value.to_owned() })
}

/// Turns the knobs in the order of the command line, so that of one key the last counts.
pub fn apply<T>(keys: &[Key<T>], knobs: &[Knob], to: &mut T) {
    for knob in knobs {
        (keys[knob.key].set)(to, &knob.value).expect("it was parsed so");
    }
}

/// Whether one of the knobs sets the key of this name.
pub fn sets<T>(keys: &[Key<T>], knobs: &[Knob], name: &str) -> bool {
    knobs.iter().any(|knob| keys[knob.key].name == name)
}

/// The keys below a first line, for `--help`.
pub fn help<T>(first: &str, keys: &[Key<T>]) -> String {
    let mut text = first.to_owned();
    for key in keys {
        text += &format!("\n  {}={}  {} [{}]", key.name, key.values, key.help, key.default);
    }
    text
}

/// That the defaults in a table are those that count, but where `unset` means the same as one, and
/// that the table of a guide is this one.
#[cfg(test)]
pub fn check_table<T: Default + PartialEq + std::fmt::Debug>(
    keys: &[Key<T>],
    unset: &[&str],
    guide: &str,
) {
    for Key { name, values, default, help, set } in keys {
        let mut with_default = T::default();
        assert!(set(&mut with_default, default).is_some(), "{name} does not take {default}");
        assert!(
            unset.contains(name) || with_default == T::default(),
            "{name} is not {default}: {with_default:?}"
        );
        let row = format!("| `{name}` | {values} | {default} | {help} |\n");
        assert!(guide.contains(&row), "the guide lacks {row}");
    }
}
