//! Options that take one of a few names: clap shows the names in the help, completes them in
//! shells, and says which there are, and which is meant, if it is given another.

use clap::builder::{PossibleValuesParser, TypedValueParser};

/// A parser of the names of `all`.
pub fn one_of<T: Clone + Send + Sync + 'static>(
    all: impl IntoIterator<Item = T>,
    name: impl Fn(&T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    let all: Vec<(&'static str, T)> = all.into_iter().map(|found| (name(&found), found)).collect();
    let names: Vec<&'static str> = all.iter().map(|pair| pair.0).collect();
    PossibleValuesParser::new(names).map(move |text| {
        let found = all.iter().find(|pair| pair.0 == text);
        found.expect("clap lets only these names through").1.clone()
    })
}

pub fn yes_or_no() -> impl TypedValueParser<Value = bool> {
    one_of([true, false], |it| if *it { "yes" } else { "no" })
}
