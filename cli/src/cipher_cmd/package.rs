//! Door: `meanwhile cipher package`: a folder with a C library, a Rust crate and a Python package.

use std::path::{Component, Path, PathBuf};

use cipher::options::{Emit, Slicing};
use cipher::package::{self, Choice, MANIFEST, OverMode, Part};
use cipher::recipe_file::RecipeFile;
use cipher::{library, suite, user_layout};
use report::Diagnostic;
use serde_json::{Value, json};

use super::options::{self, Which};
use crate::output::{Failure, Output, write_file};

/// Arguments of `meanwhile cipher package`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Bundled primitives or Usuba files.
    #[arg(value_name = "NAME|FILE", required = true)]
    subjects: Vec<String>,
    /// Folders searched for included files after the file's own.
    #[arg(short = 'I', value_name = "DIR")]
    include: Vec<PathBuf>,
    /// The node to work on instead of a file's last.
    #[arg(long, value_name = "NODE")]
    entry: Option<String>,
    /// Where a file's bytes go [default: FILE's name with .layout.toml for .ua, if it is there].
    #[arg(long, value_name = "FILE")]
    layout: Option<PathBuf>,
    /// Authenticated: `gcm`, `gcm-siv` for block ciphers of 16 bytes, `poly1305`, `xpoly1305` for
    /// ChaCha20, `aead` for ascon-p12, which also has `hash` and `xof`. For sectors: `xts`; `cbc`
    /// decrypts, and `cmac` makes tags. Bare:
    /// `ctr`, for ChaCha20 also `ctr64`; `stream`: the usual one; `blocks`: none [default: the
    /// usual one where there is one]. Several are separated by commas.
    #[arg(long, value_name = "MODE", value_delimiter = ',', value_parser = options::ModeName)]
    mode: Vec<String>,
    /// One slicing [default: vertical or horizontal, whichever needs fewer operations for a block,
    /// on each target; else bitsliced].
    #[arg(long, value_parser = options::slicing())]
    slicing: Option<Slicing>,
    /// Recipes that `meanwhile cipher tune` wrote, several times for several: each is for its
    /// cipher on its target.
    #[arg(long, value_name = "FILE", conflicts_with = "slicing")]
    recipe: Vec<PathBuf>,
    /// The back end of the functions on blocks, if no recipe names it: the C compiler; ours, in
    /// assembly files beside the C, which is used where they cannot be; or the one that is faster
    /// by the model, C where they are alike.
    #[arg(long, default_value = "c", value_parser = options::emit())]
    emit: Emit,
    /// How long assembly searches for an order: millions of steps walked for
    /// each block [default: 10].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(..=100_000))]
    budget: Option<u32>,
    /// The name of library, crate and Python package [default: that of the first cipher].
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// In front of every function, type and file in C, as in `acme_aes128_blocks`: for two packages
    /// with one cipher in one program. Types in Rust and Python have none.
    #[arg(long, value_name = "TEXT", default_value = "", value_parser = options::prefix)]
    prefix: String,
    /// The folder, which is made.
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Write over a package of ours that is there already; other files in it stay.
    ///
    /// A link, a folder that is not a package, or another file in the place of one that would
    /// be written is refused.
    #[arg(long)]
    force: bool,
}

pub fn run(args: Args, out: &mut Output) -> Result<(), Failure> {
    let old = earlier(&args.output, args.force)?;
    if args.subjects.len() > 1 && (args.layout.is_some() || args.entry.is_some()) {
        return Err(Failure::user(
            "--layout and --entry are for one file",
            Some("a layout beside each file is found by itself"),
        ));
    }
    let (over, own): (Vec<&String>, Vec<&String>) =
        args.mode.iter().partition(|mode| OverMode::named(mode).is_some());
    let over: Vec<&'static OverMode> =
        over.into_iter().filter_map(|mode| OverMode::named(mode)).collect();
    // A mode over a cipher comes with the cipher and its usual stream.
    let modes: Vec<Option<String>> = if own.is_empty() {
        vec![None]
    } else {
        own.into_iter().map(|mode| Some(mode.clone())).collect()
    };
    let recipes = read_recipes(&args.recipe)?;
    options::check_budget(args.emit, args.budget, "--budget")?;
    let mut is_used = vec![false; recipes.len()];
    let mut parts: Vec<Part> = Vec::new();
    let inverses: Vec<String> = args
        .subjects
        .iter()
        .filter_map(|cipher| over.iter().find_map(|mode| mode.inverse_of(cipher)))
        .filter(|inverse| !args.subjects.contains(inverse))
        .collect();
    let without_modes = [None];
    let of_inverses = inverses.iter().map(|inverse| (inverse, &without_modes[..]));
    for (subject, modes) in
        args.subjects.iter().map(|subject| (subject, &modes[..])).chain(of_inverses)
    {
        let which = Which {
            subject: subject.clone(),
            include: args.include.clone(),
            entry: args.entry.clone(),
            layout: args.layout.clone(),
        };
        let loaded = which.load_with_bytes(out)?;
        // Tests of the package use them; a program of one's own may have none, but not wrong ones.
        let own = user_layout::vectors_beside(Path::new(subject));
        let vectors = if library::primitive(subject).is_some() || own.exists() {
            suite::vectors(subject).map_err(|why| {
                Failure::user(why, Some("docs/format/ciphers.md has the form of vectors"))
            })?
        } else {
            out.line(&format!(
                "{subject}: there is no {}, so the package has no test against vectors",
                own.display()
            ));
            Vec::new()
        };
        let mut ways = Vec::new();
        for (k, it) in recipes.iter().enumerate() {
            if it.check(&loaded).is_ok() {
                is_used[k] = true;
                ways.push(it.way.clone());
            }
        }
        for mode in modes {
            let choice = Choice {
                mode: mode.clone(),
                slicing: args.slicing,
                prefix: args.prefix.clone(),
                ways: ways.clone(),
                emit: args.emit,
                budget: args.budget,
            };
            let part = package::part(&loaded, &choice, vectors.clone())
                .map_err(|errors| near_mode(errors, mode.as_deref()))?;
            if parts.iter().any(|it| it.name() == part.name()) {
                return Err(Failure::user(
                    format!("`{}` is in the package twice", part.name()),
                    Some("leave one out; a FILE's name is `name` in its layout"),
                ));
            }
            parts.push(part);
        }
    }
    for mode in over {
        mode.add_to(&mut parts).map_err(Failure::User)?;
    }
    if let Some(k) = is_used.iter().position(|it| !it) {
        let message = format!(
            "{} is of `{}`, as it was when it was tuned, and no such program is packaged",
            args.recipe[k].display(),
            recipes[k].subject
        );
        return Err(Failure::user(
            message,
            Some("`meanwhile cipher tune` makes one for the program that is"),
        ));
    }
    for part in &parts {
        check_name(&part.name().replace('_', "-"))?;
    }
    let name = args.name.clone().unwrap_or_else(|| usual_name(&parts));
    check_name(&name)?;
    // Nothing is written that is found to be wrong.
    let mut validated = Vec::new();
    for it in parts.iter().flat_map(Part::assembled) {
        if let Some(said) = super::validate::assembly(&it.made, &it.recipe, out)? {
            validated.push((
                format!(
                    "{} in assembly, {}",
                    it.recipe.stem.as_deref().unwrap_or_default(),
                    said.text
                ),
                said.is_proved,
            ));
        }
    }
    let files = package::files(&name, &parts);
    let mut paths: Vec<&str> = files.iter().map(|file| file.0.as_str()).collect();
    paths.sort_unstable();
    if let Some(twice) = paths.windows(2).find(|window| window[0] == window[1]) {
        let message = format!("two of these ciphers have a file {}", twice[0]);
        return Err(Failure::user(message, Some("`name` in a layout is the name of its cipher")));
    }
    if let Some(path) = paths.iter().find(|path| is_of_others(&args.output, path, &old)) {
        let message =
            format!("{} is not of the package that is there", args.output.join(path).display());
        return Err(Failure::user(message, Some("move it away, or choose another folder")));
    }
    // What lies in a package that is written over is ours by its list; the list comes first, so
    // that half a package is ours.
    let kept: Vec<&str> = files.iter().map(|file| file.0.as_str()).collect();
    for path in old.iter().filter(|value| !kept.contains(&value.as_str())) {
        let path = args.output.join(path);
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(failed("remove", &path, &error));
            }
            _ => {}
        }
    }
    for (path, text) in files.iter().rev() {
        let path = args.output.join(path);
        measure::file::create_folder_of(&path)
            .map_err(|error| failed("create the folder of", &path, &error))?;
        write_file(&path, text)?;
    }
    for part in &parts {
        let slicings: Vec<String> = part
            .slicings()
            .iter()
            .map(|(arch, slicing)| format!("{} {}", arch.name(), slicing.letter()))
            .collect();
        out.line(&format!(
            "{}: {}, mode {}",
            part.name(),
            slicings.join(", "),
            part.mode().unwrap_or("blocks")
        ));
        part.over().for_each(|mode| out.line(&format!("{mode}: over {}", part.name())));
    }
    validated.iter().for_each(|pair| out.line(&pair.0));
    out.line(&format!(
        "{}: {} files; C with CMake, Rust in rust, Python in python",
        args.output.display(),
        files.len()
    ));
    let rows: Vec<Value> = parts
        .iter()
        .map(|part| {
            let slicings: serde_json::Map<String, Value> =
                part.slicings().iter().map(|(arch, slicing)| (arch.name().to_owned(), slicing.letter().into())).collect();
            let assembled: Vec<&str> = part.assembled().map(|assembled| assembled.recipe.arch.name()).collect();
            let over: Vec<String> = part.over().collect();
            json!({"name": part.name(), "mode": part.mode(), "over": over, "slicings": slicings, "assembly": assembled})
        })
        .collect();
    let is_proved = validated.len() == parts.iter().flat_map(Part::assembled).count()
        && validated.iter().all(|pair| pair.1);
    let validated = if validated.is_empty() { Value::Null } else { is_proved.into() };
    out.object(&json!({"ok": true, "name": name, "validated": validated, "output": args.output.display().to_string(), "ciphers": rows, "files": kept}));
    Ok(())
}

/// That of the first cipher, or of the only mode over it.
fn usual_name(parts: &[Part]) -> String {
    let over: Vec<String> = parts.iter().flat_map(Part::over).collect();
    let name = if let [only] = &over[..] { only } else { parts[0].name() };
    name.replace('_', "-")
}

/// An unknown mode whose name is close to that of a mode over ciphers.
fn near_mode(mut errors: Vec<Diagnostic>, mode: Option<&str>) -> Failure {
    let names = package::OVER.iter().map(|over| over.name);
    if let (Some(mode), [error]) = (mode, &mut errors[..])
        && error.message.contains(&format!("no mode `{mode}`"))
        && let Some(guess) = report::did_you_mean(mode, names)
    {
        error.help = Some(guess);
    }
    Failure::User(errors)
}

/// The recipes, each for another program or target.
fn read_recipes(paths: &[PathBuf]) -> Result<Vec<RecipeFile>, Failure> {
    let mut all: Vec<RecipeFile> = Vec::new();
    for path in paths {
        let it = RecipeFile::read(path).map_err(|error| Failure::User(vec![error]))?;
        if all.iter().any(|other| other.program == it.program && other.way.arch == it.way.arch) {
            let message = format!(
                "{} is the second recipe of `{}` for {}",
                path.display(),
                it.subject,
                it.way.arch.name()
            );
            return Err(Failure::user(message, Some("leave one out")));
        }
        all.push(it);
    }
    Ok(all)
}

fn failed(what: &str, path: &Path, error: &std::io::Error) -> Failure {
    Failure::environment(format!("{what} {}", path.display()), error)
}

/// True if something lies at `path` in the package that is not in its list, or the
/// way there leaves it.
fn is_of_others(folder: &Path, path: &str, old: &[String]) -> bool {
    let leaves = |path: &Path| {
        folder
            .join(path)
            .symlink_metadata()
            .is_ok_and(|symlink_metadata| symlink_metadata.is_symlink())
    };
    let is_there = folder.join(path).symlink_metadata().is_ok()
        && path != MANIFEST
        && !old.iter().any(|it| it == path);
    is_there
        || Path::new(path)
            .ancestors()
            .filter(|ancestor| !ancestor.as_os_str().is_empty())
            .any(leaves)
}

/// What CMake, cargo and pip all take for a name.
fn check_name(name: &str) -> Result<(), Failure> {
    let inside = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let is_free = name.len() > 1 && !cipher::names::is_taken(name);
    if is_free
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(inside)
        && !name.ends_with('-')
    {
        return Ok(());
    }
    Err(Failure::user(
        format!("`{name}` cannot be the name of a package"),
        Some(
            "two or more lower case letters, digits and `-`, a letter first, no word of C, Rust or Python",
        ),
    ))
}

/// The files of the package that is there, if one is and may be written over.
fn earlier(folder: &Path, force: bool) -> Result<Vec<String>, Failure> {
    let is_empty = match std::fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => true,
        Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => {
            return Err(Failure::user(
                format!("{} is a file", folder.display()),
                Some("-o names a folder, which is made"),
            ));
        }
        Err(error) => return Err(failed("read", folder, &error)),
    };
    if is_empty {
        return Ok(Vec::new());
    }
    let manifest = std::fs::read_to_string(folder.join(MANIFEST))
        .ok()
        .and_then(|text| serde_json::from_str::<Value>(&text).ok());
    let Some(manifest) =
        manifest.filter(|manifest| manifest["made_by"] == "meanwhile cipher package")
    else {
        let message = format!("{} has files and is no package of ours", folder.display());
        return Err(Failure::User(vec![
            Diagnostic::new(message).with_help("name a folder that is empty or not there"),
        ]));
    };
    if !force {
        return Err(Failure::user(
            format!("{} is there already", folder.display()),
            Some("--force writes over it"),
        ));
    }
    let paths = manifest["files"].as_array().into_iter().flatten().filter_map(Value::as_str);
    // A list that was changed must not reach out of the folder.
    let is_inside =
        |path: &&str| Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
    Ok(paths.filter(is_inside).map(str::to_owned).collect())
}
