//! Usuba programs, bundled or as one types, compiled as `meanwhile cipher compile` does.

use std::path::Path;

use cipher::emit_c::{self, Arch};
use cipher::library::{self, Primitive, primitives};
use cipher::native::Cc;
use cipher::options::{Slicing, Unroll};
use cipher::recipe::Recipe;
use cipher::unit::Subject;
use cipher::user_layout;
use report::{Diagnostic, did_you_mean};
use serde::Deserialize;
use serde_json::{Value, json};

/// The program and its options.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProgramAsked {
    /// A bundled primitive, or the name of a file.
    name: String,
    /// The text of that file.
    text: Option<String>,
    /// That of the layout file beside it.
    layout: Option<String>,
    /// `b`, `v` or `h`, else the first whose C is short enough.
    slicing: Option<String>,
    arch: String,
    mode: Option<String>,
}

/// The bundled primitives, with the texts from which one may go on.
pub fn list() -> Vec<Value> {
    let one = |primitive: &Primitive| {
        let modes = primitive.modes().into_iter().map(|mode| mode.0);
        let sponges = primitive.sponge_modes().map(str::to_owned);
        json!({
            "name": primitive.name,
            "title": primitive.title(),
            "text": primitive.text(),
            "layout": layout(&primitive.name),
            "modes": modes.chain(sponges).collect::<Vec<String>>(),
        })
    };
    let lea = json!({
        "name": "lea",
        "title": "lea: your own program, with its layout (Hong et al., WISA 2013)",
        "text": include_str!("../../examples/lea/lea.ua"),
        "layout": include_str!("../../examples/lea/lea.layout.toml"),
        "modes": ["ctr"],
        "is_file": true,
    });
    std::iter::once(lea).chain(primitives().iter().map(one)).collect()
}

/// The layout file that says of a program what the index says of this primitive.
fn layout(name: &str) -> String {
    let index = library::file("index.toml").expect("it is bundled");
    let named = format!("\nname = \"{name}\"\n");
    let entry = index.split("[[primitive]]").find(|entry| entry.starts_with(&named));
    let entry = entry.expect("each primitive has its part of the index");
    // A layout file lies beside its program, and only Ascon as it is bundled knows a second permutation.
    let stays = |line: &&str| !line.starts_with("file = ") && !line.starts_with("short = ");
    entry.trim().lines().filter(stays).fold(String::new(), |text, line| text + line + "\n")
}

pub fn answer(asked: &ProgramAsked) -> Result<Value, Vec<Diagnostic>> {
    let (subject, note) = subject(asked)?;
    let arch = Arch::from_name(&asked.arch)
        .ok_or_else(|| unknown("target", &asked.arch, &Arch::ALL.map(|arch| arch.name())))?;
    let slicing = match asked.slicing.as_deref() {
        None => subject.slicing(None).ok_or_else(|| subject.no_slicing(None))?,
        Some(letter) => slicing(letter)?,
    };
    let mut recipe = Recipe::new(slicing, arch, Cc::Gcc, Unroll::Auto, "-O3");
    recipe.mode = asked.mode.clone();
    let made = recipe.make(&subject)?;
    let remarks = subject.warnings.iter().chain(&made.compiled.warnings).map(Diagnostic::remark);
    let told: Vec<String> = made.choices().into_iter().chain([recipe.amount(&made)]).collect();
    let slicings: Vec<&str> =
        subject.slicings(None).iter().map(|slicing| slicing.letter()).collect();
    Ok(json!({
        "ok": true,
        "subject": subject.name(),
        "slicing": slicing.letter(),
        "slicings": slicings,
        "source": recipe.source(&made, false, false),
        "header": emit_c::header(&made.compiled, &made.unit, arch),
        "told": told,
        "warnings": note.into_iter().chain(remarks).collect::<Vec<String>>(),
    }))
}

/// The program, checked, and a note if its bytes are taken in order.
fn subject(asked: &ProgramAsked) -> Result<(Subject, Option<String>), Vec<Diagnostic>> {
    let Some(text) = &asked.text else {
        let names = primitives().iter().map(|primitive| primitive.name.as_str());
        let none = || {
            let mut error = Diagnostic::new(format!("there is no primitive `{}`", asked.name));
            error.help = did_you_mean(&asked.name, names);
            vec![error]
        };
        return Ok((Subject::bundled(&asked.name).ok_or_else(none)??, None));
    };
    let path = Path::new(&asked.name);
    let subject = Subject::text(&asked.name, text, None)?;
    match asked.layout.as_deref().filter(|layout| !layout.trim().is_empty()) {
        None => Ok(subject.guessed(path)),
        Some(layout) => {
            let beside = user_layout::beside(path).display().to_string();
            Ok((subject.with_layout_text(&beside, layout, path)?, None))
        }
    }
}

fn slicing(letter: &str) -> Result<Slicing, Vec<Diagnostic>> {
    let all = [Slicing::Bit, Slicing::Vertical, Slicing::Horizontal];
    let found = all.iter().find(|slicing| slicing.letter() == letter);
    found.copied().ok_or_else(|| unknown("slicing", letter, &all.map(|slicing| slicing.letter())))
}

fn unknown(what: &str, name: &str, there: &[&str]) -> Vec<Diagnostic> {
    let error = Diagnostic::new(format!("there is no {what} `{name}`"));
    vec![error.with_help(format!("there are {}", there.join(", ")))]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_bundled_program_can_be_edited_with_its_layout() {
        for primitive in primitives() {
            let asked = ProgramAsked {
                name: format!("{}.ua", primitive.name),
                text: Some(primitive.text().to_owned()),
                layout: Some(layout(&primitive.name)),
                slicing: None,
                arch: "avx2".to_owned(),
                mode: None,
            };
            let (edited, note) = subject(&asked).unwrap_or_else(|all| panic!("{}", all[0]));
            assert_eq!((edited.name(), note), (primitive.name.as_str(), None));
            assert_eq!(edited.entry, primitive.entry);
        }
    }

    #[test]
    fn what_is_not_there_is_said() {
        let asked = ProgramAsked {
            name: "aes-182".to_owned(),
            text: None,
            layout: None,
            slicing: None,
            arch: "avx2".to_owned(),
            mode: None,
        };
        let said = answer(&asked).expect_err("there is no such cipher");
        assert!(
            said[0].remark().starts_with("there is no primitive `aes-182` (did you mean `aes-")
        );
        let asked =
            ProgramAsked { name: "aes-192".to_owned(), arch: "avx1024".to_owned(), ..asked };
        let said = answer(&asked).expect_err("there is no such target");
        assert!(said[0].remark().starts_with("there is no target `avx1024` (there are x86-64,"));
    }
}
