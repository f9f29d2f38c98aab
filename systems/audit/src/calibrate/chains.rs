//! The chains of an instruction set: what stands in a loop, alone, side by side, or one behind the
//! other.

use super::forms::{COPIES, ChainForm, ChainSet, Consumer, Gives};

/// The register that waits are for.
const WAITED: &str = "5";

/// One loop that is timed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimedChain {
    /// `alu`, `alu+mul` side by side, `alu>load.base` one behind the other.
    pub name: String,
    /// What stands before the loop; empty if nothing.
    pub before: String,
    /// What is repeated, one instruction a line.
    pub step: Vec<String>,
    /// How often it stands in a round.
    pub copies: usize,
    /// What the preprocessor has to find.
    pub guards: Vec<&'static str>,
}

/// All chains of a set, those that others rest on first.
pub fn chains(set: &ChainSet) -> Vec<TimedChain> {
    let mut all: Vec<TimedChain> = set.forms.iter().map(|form| alone(set, form)).collect();
    let named = |name: &str| set.forms.iter().find(|form| form.name == name);
    for form in set.forms.iter().filter(|form| form.name != "alu") {
        let alu = named("alu").expect("every set adds");
        let mut chain = beside(set, &[form, alu, alu, alu, alu]);
        chain.name = format!("{}+4*alu", form.name);
        all.push(chain);
        for other in set.beside.iter().filter_map(|name| named(name)) {
            let at = |name: &str| set.beside.iter().position(|other| *other == name);
            // Of two that are both on the list, once.
            if at(form.name).is_none_or(|nth| Some(nth) > at(other.name)) {
                all.push(beside(set, &[form, other]));
            }
        }
    }
    let alu = named("alu").expect("every set adds");
    for form in set.others.iter().filter(|form| form.name.ends_with(".base")) {
        all.extend([alone(set, form), beside(set, &[form, alu])]);
    }
    all.extend(set.firsts.iter().map(|form| beside(set, &[alu, form])));
    for producer in set.forms.iter().chain(set.others) {
        let is_central = set.central.contains(&producer.name);
        let readers = set.readers.iter().filter(|reader| reader.is_central || is_central);
        all.extend(readers.filter_map(|reader| behind(set, producer, reader)));
    }
    all.extend(set.singles.iter().map(|(name, before, text, copies)| TimedChain {
        name: (*name).to_owned(),
        before: (*before).to_owned(),
        step: lines(text, set.zero),
        copies: *copies,
        guards: Vec::new(),
    }));
    all
}

/// Four of them with results in four registers, or what has none four times.
fn alone(set: &ChainSet, form: &ChainForm) -> TimedChain {
    TimedChain { name: form.name.to_owned(), ..beside(set, &[form, form]) }
}

fn beside(set: &ChainSet, forms: &[&ChainForm]) -> TimedChain {
    let twice = forms.iter().chain(forms).enumerate();
    let step = twice.flat_map(|(nth, form)| {
        let text = form.text.replace("{d}", &(nth % 4 + 2).to_string());
        lines(&text, set.zero)
    });
    let step: Vec<String> = step.collect();
    let names: Vec<&str> = forms.iter().map(|form| form.name).collect();
    TimedChain {
        name: names.join("+"),
        before: String::new(),
        // A round is no longer than a branch of Thumb reaches.
        copies: if step.len() > 8 { COPIES / 3 } else { COPIES },
        step,
        guards: guards(forms.iter().map(|form| form.guard)),
    }
}

/// What waits behind what it waits for; none if the reader cannot take that result.
fn behind(set: &ChainSet, producer: &ChainForm, reader: &Consumer) -> Option<TimedChain> {
    let values = match (reader.wants, producer.gives) {
        (Gives::Flags, Gives::Flags) | (Gives::Zero, Gives::Zero | Gives::Address) => set.zero,
        (Gives::Address, Gives::Address) => set.address,
        _ => return None,
    };
    // What counts up an address has that, whatever its reader makes of it.
    let moves_base = producer.name.ends_with(".base");
    if moves_base && (reader.wants == Gives::Flags || reader.name.starts_with("div")) {
        return None;
    }
    let is_index = reader.name.ends_with(".index");
    if moves_base && is_index {
        return None;
    }
    let mut step = lines(&producer.text.replace("{d}", WAITED), values);
    step.extend(lines(&reader.text.replace("{x}", WAITED), values));
    Some(TimedChain {
        name: format!("{}>{}", producer.name, reader.name),
        before: String::new(),
        step,
        copies: COPIES,
        guards: guards([producer.guard, reader.guard].into_iter()),
    })
}

fn lines(text: &str, (value, place): (&str, &str)) -> Vec<String> {
    let text = text.replace("{v}", value).replace("{p}", place);
    text.split("; ").map(str::to_owned).collect()
}

fn guards(all: impl Iterator<Item = &'static str>) -> Vec<&'static str> {
    let mut found: Vec<&'static str> = all.filter(|guard| !guard.is_empty()).collect();
    found.sort_unstable();
    found.dedup();
    found
}
