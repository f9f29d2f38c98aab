//! A library of ciphers as a C library, a Rust crate and a Python package: the texts of all their
//! files.
//!
//! `c` writes a file for each target and one that chooses among them; `rust` and `python` build the
//! same C and call it. `Stream` describes a counter mode, `modes` has AEAD and hashes over a
//! permutation, and `over` those that are C over the functions of any cipher.

mod c;
mod modes;
mod over;
mod python;
mod rust;
mod targets;

use report::Diagnostic;

use crate::emit_c::{self, Arch, CounterPiece, EmitOptions, Mode, Sponge, Unit};
use crate::library::{self, Vector};
use crate::native::Cc;
use crate::options::{Emit, Interleave, Schedule, Slicing, Unroll};
use crate::recipe::{Made, Recipe};
use crate::target::Target;
use crate::unit::{Subject, c_prefix};

pub use over::{MODES as OVER, OverMode};

/// The file that marks a folder as a package of ours.
pub const MANIFEST: &str = "meanwhile-package.json";

/// A file of the package: its path in the folder, and its text.
pub type File = (String, String);

/// One cipher of the package.
#[derive(Debug)]
pub struct Part {
    /// The prefix in C: `aes128`.
    name: String,
    /// The module in Rust: the same without the user's prefix.
    module: String,
    title: String,
    /// The type in Rust and Python: `Aes128`.
    type_name: String,
    targets: Vec<TargetFile>,
    /// The byte strings that round keys are made from, with their sizes.
    keys: Vec<(String, usize)>,
    n_in: usize,
    n_out: usize,
    /// A block cipher, which keeps the size of blocks, or its inverse.
    cipher: Option<Crypt>,
    stream: Option<Stream>,
    /// A mode over its permutation or compression function instead of blocks.
    sponge: Option<Sponge>,
    /// Modes over its functions.
    over: Vec<&'static OverMode>,
    /// The name of its program.
    primitive: String,
    vectors: Vec<Vector>,
    /// Its program is not the user's.
    is_bundled: bool,
}

/// A file of C as build systems list it.
struct CFile {
    path: String,
    flags: &'static [&'static str],
    assembly: Option<String>,
}

/// What a block cipher does with a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Crypt {
    Encrypt,
    Decrypt,
}

/// Its code for one target.
#[derive(Debug)]
struct TargetFile {
    arch: Arch,
    source: String,
    header: String,
    /// Its assembly and the recipe for validating it, if it has any.
    assembled: Option<Assembled>,
    /// Blocks at a time.
    width: usize,
    /// Of those, in a batch; the others are interleaved.
    batch: usize,
    keys_bytes: usize,
    stream_bytes: usize,
    /// Bytes of the state of a message in pieces, in modes over a permutation.
    state_bytes: usize,
    slicing: Slicing,
}

/// A program with its functions on blocks in assembly.
#[derive(Debug)]
pub struct Assembled {
    /// The recipe that made it.
    pub recipe: Recipe,
    pub made: Made,
}

/// The stream in addition to the blocks.
#[derive(Debug)]
struct Stream {
    mode: String,
    bits: u32,
    params: Vec<Param>,
}

/// What a stream starts from.
#[derive(Debug)]
enum Param {
    Bytes(String, usize),
    Counter,
}

#[derive(Debug, Clone, Default)]
pub struct Choice {
    /// `ctr`, `ctr64`, `stream` (the usual one), `blocks` (none), or one of Ascon's; else the usual
    /// one where there is one.
    pub mode: Option<String>,
    /// One slicing; else the one with the fewest operations for a block, bitslicing where
    /// there is no other.
    pub slicing: Option<Slicing>,
    /// The prefix of every name in C, such as `acme_`.
    pub prefix: String,
    /// Tuned ways, at most one for a target, instead of the choice by operations.
    pub ways: Vec<Recipe>,
    /// The back end of targets without a tuned way, and the budget of its search.
    pub emit: Emit,
    pub budget: Option<u32>,
}

impl TargetFile {
    /// The suffix of its names: `x86_64`.
    fn suffix(&self) -> String {
        self.arch.name().replace('-', "_")
    }

    /// Its assembly file. No C file has the same stem, since some build systems name
    /// objects by the stem.
    fn assembly_file(&self, part: &Part) -> Option<String> {
        self.assembled.as_ref().map(|_| format!("src/{}_{}_kernel.s", part.name, self.suffix()))
    }
}

/// Compiles a program for every target.
///
/// Errors: errors of the program, or the reason why it has no such mode or slicing.
pub fn part(
    subject: &Subject,
    choice: &Choice,
    vectors: Vec<Vector>,
) -> Result<Part, Vec<Diagnostic>> {
    let Some(primitive) = &subject.primitive else {
        let message =
            format!("`{}` has no byte interface, so there is nothing to package", subject.entry);
        let help = "a layout file beside the program says where its bytes go; docs/format/ciphers.md has the form";
        return Err(vec![Diagnostic::new(message).with_help(help)]);
    };
    let usual = primitive.modes().into_iter().next().map(|mode| mode.0);
    let mode = match choice.mode.as_deref() {
        Some("blocks") => None,
        Some("stream") => Some(usual.unwrap_or_else(|| "ctr".into())),
        Some(mode) => Some(mode.to_string()),
        None => usual,
    };
    let sponge = mode.as_deref().and_then(|mode| subject.sponge(mode));
    let module =
        sponge.as_ref().map_or_else(|| c_prefix(&primitive.name).replace('-', "_"), Sponge::prefix);
    let vectors = sponge.as_ref().map_or(vectors, |sponge| library::vectors(sponge.name()));
    let name = format!("{}{module}", choice.prefix);
    let possible = choice.slicing.map_or_else(|| subject.slicings(None), |idx| vec![idx]);
    let mut targets = Vec::new();
    let mut unit = None;
    for arch in Arch::ALL {
        let is_keyless_stream = |own: &Unit| own.counter.is_some() && own.key_fields().is_empty();
        if arch.row().is_for_rests && !unit.as_ref().is_some_and(is_keyless_stream) {
            continue;
        }
        let own_name = format!("{name}_{}", arch.name().replace('-', "_"));
        let (recipe, made) = match choice.ways.iter().find(|way| way.arch == arch) {
            Some(way) => {
                let (mode, stem) = (mode.clone(), Some(own_name.clone()));
                let recipe = Recipe { mode, stem, ..way.clone() };
                let made = recipe.make(subject)?;
                (recipe, made)
            }
            None => compile(subject, &possible, arch, (mode.as_deref(), choice, &own_name))?,
        };
        let own_mode = made.unit.mode.clone().map(|mode| Mode { name: own_name.clone(), ..mode });
        let permutation = if sponge.is_some() { "_permutation" } else { "" };
        let own = Unit {
            name: Some(format!("{own_name}{permutation}")),
            mode: own_mode,
            has_each_key: sponge.is_none() && !made.unit.key_fields().is_empty(),
            ..made.unit.clone()
        };
        let options = EmitOptions {
            arch,
            with_lines: false,
            with_harness: false,
            with_sliced: false,
            with_both: true,
            is_masked: false,
        };
        let shape = emit_c::shape(&made.compiled, arch);
        let batch = own.output_bytes() * shape.blocks() as usize;
        let is_block = own.counter.as_ref().is_some_and(emit_c::Counter::is_block);
        let block = if is_block { 0 } else { own.output_bytes() };
        targets.push(TargetFile {
            arch,
            source: emit_c::source(&made.compiled, &own, options),
            header: emit_c::header(&made.compiled, &own, arch),
            width: shape.blocks() as usize,
            batch: shape.slices() as usize,
            keys_bytes: (own.key_registers(shape).1 * shape.register_bits() as usize / 8)
                .next_multiple_of(64),
            // The block, six words, then the key stream.
            stream_bytes: (block.next_multiple_of(8) + 6 * 8).next_multiple_of(64)
                + batch.next_multiple_of(64),
            state_bytes: own.mode.as_ref().map_or(0, |mode| mode.state_bytes(shape)),
            slicing: made.compiled.slicing,
            assembled: (!made.assembly.is_empty()).then_some(Assembled { recipe, made }),
        });
        unit = Some(own);
    }
    let unit = unit.expect("there are targets");
    let input =
        unit.fields.iter().find(|field| field.name == "input").expect("a layout has an input");
    let (n_in, n_out) = (input.layout.n_bytes, unit.output_bytes());
    let keys: Vec<(String, usize)> = unit
        .key_fields()
        .iter()
        .map(|key_field| (key_field.name.clone(), key_field.layout.n_bytes))
        .collect();
    let stream = unit.counter.as_ref().map(|counter| Stream {
        mode: counter.mode.clone(),
        bits: counter.bits,
        params: counter
            .pieces
            .iter()
            .filter_map(|piece| match piece {
                CounterPiece::Fixed(_) => None,
                CounterPiece::Given(name, n) => Some(Param::Bytes(name.clone(), *n)),
                CounterPiece::Counter if counter.is_block() => {
                    Some(Param::Bytes("counter".into(), counter.n_bytes()))
                }
                CounterPiece::Counter => Some(Param::Counter),
            })
            .collect(),
    });
    let way = match primitive.kind.as_str() {
        "block decryption" => Some(Crypt::Decrypt),
        kind => kind.ends_with("block cipher").then_some(Crypt::Encrypt),
    };
    let cipher = way.filter(|_| n_in == n_out && !keys.is_empty());
    let title = sponge.as_ref().map_or_else(|| primitive.title(), |it| it.title().to_owned());
    let type_name = camel(&module);
    let is_bundled = crate::library::primitive(&primitive.name).is_some();
    Ok(Part {
        name,
        module,
        title,
        type_name,
        targets,
        keys,
        n_in,
        n_out,
        cipher,
        stream,
        sponge,
        over: Vec::new(),
        primitive: primitive.name.clone(),
        vectors,
        is_bundled,
    })
}

/// Operations of the text that C compilers turn into about one instruction each.
const OPERATIONS: [&str; 11] =
    ["&", "|", "^", "+", "~", "<<", ">>", "shuffle", "permute", "vqtbl", "TERNARY("];

/// A program in the slicing with the fewest operations for a block on this target. Bitslicing is
/// for programs that have no other one: its batches of 64 to 512 blocks are long.
fn compile(
    subject: &Subject,
    possible: &[Slicing],
    arch: Arch,
    (mode, choice, stem): (Option<&str>, &Choice, &str),
) -> Result<(Recipe, Made), Vec<Diagnostic>> {
    let recipe = |slicing: Slicing, unroll: Unroll, interleave: Interleave| {
        let mut recipe = Recipe::new(slicing, arch, Cc::Gcc, unroll, "-O3");
        recipe.interleave = interleave;
        recipe.mode = mode.map(str::to_string);
        recipe
    };
    let cost = |slicing: Slicing| {
        // An order changes no operation, and takes time.
        let mut recipe = recipe(slicing, Unroll::Yes, Interleave::Times(1));
        recipe.schedule = Schedule::None;
        let made = recipe.make(subject).ok()?;
        let options = EmitOptions {
            arch,
            with_lines: false,
            with_harness: false,
            with_sliced: false,
            with_both: false,
            is_masked: false,
        };
        // The moves of bytes are left out, as they are loops in some slicings.
        let unit = Unit { name: None, ..made.unit.clone() };
        let text = emit_c::source(&made.compiled, &unit, options);
        let n_operations: usize =
            OPERATIONS.iter().map(|operation| text.matches(operation).count()).sum();
        Some(n_operations * 1000 / emit_c::shape(&made.compiled, arch).blocks() as usize)
    };
    let words: Vec<Slicing> =
        possible.iter().copied().filter(|found| *found != Slicing::Bit).collect();
    let chosen = match (possible, &words[..]) {
        ([only], _) | (_, [only]) => Some(*only),
        _ => words
            .iter()
            .filter_map(|word| Some((cost(*word)?, *word)))
            .min_by_key(|pair| pair.0)
            .map(|pair| pair.1),
    };
    // Where a processor has a single target, as AArch64 does, single messages of Ascon use it too.
    let is_only =
        Arch::ALL.iter().filter(|found| found.row().processor == arch.row().processor).count() == 1;
    let sponge = mode.and_then(|mode| subject.sponge(mode));
    // If no slicing works, the error is that of bitslicing.
    let mut recipe = recipe(chosen.unwrap_or(Slicing::Bit), Unroll::Auto, Interleave::Auto);
    // Nor are states interleaved that registers do not hold: Keccak's and SHA-256's.
    let n_registers = Target::generic().n_registers;
    if sponge.is_some_and(|sponge| is_only || 2 * sponge.words().0 > n_registers) {
        recipe.interleave = Interleave::Times(1);
    }
    // Targets without assembly use the C compiler.
    if choice.emit != Emit::Asm || arch.has_assembly() {
        (recipe.emit, recipe.budget) = (choice.emit, choice.budget);
    }
    recipe.stem = Some(stem.into());
    let made = recipe.make(subject)?;
    Ok((recipe, made))
}

/// All files of a package called `name`, the manifest last.
pub fn files(name: &str, parts: &[Part]) -> Vec<File> {
    let sources = c::sources(parts);
    let mut files = c::project(name, parts);
    files.extend(sources.iter().cloned());
    for (folder, mut own) in
        [("rust", rust::crate_files(name, parts)), ("python", python::package_files(name, parts))]
    {
        own.extend(sources.iter().map(|(path, text)| (format!("c/{path}"), text.clone())));
        files.extend(own.into_iter().map(|(path, text)| (format!("{folder}/{path}"), text)));
    }
    let names: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
    let paths: Vec<&str> = files.iter().map(|file| file.0.as_str()).collect();
    let manifest = serde_json::json!({"made_by": "meanwhile cipher package", "name": name, "ciphers": names, "files": paths});
    files.push((MANIFEST.into(), format!("{manifest:#}\n")));
    files
}

impl Part {
    /// Its name in C.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its modes over its functions, by their names in C.
    pub fn over(&self) -> impl Iterator<Item = String> {
        self.over.iter().map(|mode| mode.prefix(self))
    }

    /// Every C file, with the flags of its target and the assembly that can replace some of its
    /// functions.
    fn c_files(&self) -> Vec<CFile> {
        let plain =
            |name: &str| CFile { path: format!("src/{name}.c"), flags: &[], assembly: None };
        let of_target = |target: &TargetFile| CFile {
            path: format!("src/{}_{}.c", self.name, target.suffix()),
            flags: target.arch.flags(),
            assembly: target.assembly_file(self),
        };
        let own = std::iter::once(plain(&self.name)).chain(self.targets.iter().map(of_target));
        own.chain(self.over().map(|name| plain(&name))).collect()
    }

    /// Its headers by name.
    fn headers(&self) -> impl Iterator<Item = String> {
        std::iter::once(self.name.clone()).chain(self.over())
    }

    /// Its mode, if it has one.
    pub fn mode(&self) -> Option<&str> {
        self.sponge
            .as_ref()
            .map(Sponge::mode)
            .or_else(|| self.stream.as_ref().map(|stream| stream.mode.as_str()))
    }

    /// Its slicing on each target.
    pub fn slicings(&self) -> Vec<(Arch, Slicing)> {
        self.targets.iter().map(|target| (target.arch, target.slicing)).collect()
    }

    /// The programs with functions on blocks in assembly, each with its target.
    pub fn assembled(&self) -> impl Iterator<Item = &Assembled> {
        self.targets.iter().filter_map(|target| target.assembled.as_ref())
    }

    /// The vectors that tests of the package can use: those of keys and whole blocks, in hex.
    fn plain_vectors(&self) -> impl Iterator<Item = (Vec<&str>, &str, &str)> {
        self.vectors.iter().filter_map(|vector| {
            let given: Option<Vec<&str>> = self
                .keys
                .iter()
                .map(|(key, n)| {
                    Some(vector.fields.get(key)?.as_str()).filter(|var| var.len() == 2 * n)
                })
                .collect();
            let input = vector.fields.get("input")?.as_str();
            (input.len() == 2 * self.n_in).then_some((given?, input, vector.output.as_str()))
        })
    }
}

/// `skinny128_256` becomes `Skinny128_256`, and `aes128_decrypt` becomes `Aes128Decrypt`: Rust
/// warns of other underscores.
fn camel(name: &str) -> String {
    let mut out = String::new();
    let mut is_start = true;
    for c in name.chars() {
        if c == '_' {
            is_start = true;
        } else if is_start
            && c.is_ascii_digit()
            && out.ends_with(|letter: char| letter.is_ascii_digit())
        {
            out.push('_');
            out.push(c);
            is_start = false;
        } else {
            out.extend(if is_start { c.to_uppercase().collect::<Vec<_>>() } else { vec![c] });
            is_start = false;
        }
    }
    out
}

/// The field of a manifest, unless one of the programs is the user's.
fn licence<'a>(parts: &[Part], field: &'a str) -> &'a str {
    if parts.iter().all(|part| part.is_bundled) { field } else { "" }
}

/// The first page of a crate or a Python package.
fn readme(name: &str, parts: &[Part], more: &str) -> String {
    let mut list = String::new();
    for part in parts {
        list += &format!("- `{}`: {}\n", part.type_name, part.title);
        list += &part.over.iter().map(|mode| mode.line(part)).collect::<String>();
    }
    fill(include_str!("templates/README.md"), &[("NAME", name), ("LIST", &list), ("MORE", more)])
}

/// A template with each `@NAME@` replaced by its value.
fn fill(template: &str, values: &[(&str, &str)]) -> String {
    values
        .iter()
        .fold(template.to_string(), |text, (name, value)| text.replace(&format!("@{name}@"), value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slicing_is_the_one_that_was_measured_to_be_faster() {
        // The faster of v and h in experiments/cipher-speed, except gift-128 on AVX2: v is taken,
        // although h is faster by a ninth.
        for (name, arch, faster) in [
            ("aes-128", Arch::Avx2, Slicing::Horizontal),
            ("aes-128", Arch::X86_64, Slicing::Horizontal),
            ("clyde-128", Arch::Avx2, Slicing::Vertical),
            ("clyde-128", Arch::X86_64, Slicing::Horizontal),
            ("gimli", Arch::Avx2, Slicing::Vertical),
            ("serpent-128", Arch::Avx2, Slicing::Vertical),
            ("chacha20", Arch::Avx2, Slicing::Vertical),
        ] {
            let subject = Subject::named(name).expect("it is bundled");
            let (_, made) =
                compile(&subject, &subject.slicings(None), arch, (None, &Choice::default(), name))
                    .expect("it compiles");
            assert_eq!(made.compiled.slicing, faster, "{name} {}", arch.name());
        }
    }

    #[test]
    fn types_are_named_after_functions() {
        for (function, ty) in [
            ("aes128", "Aes128"),
            ("aes128_decrypt", "Aes128Decrypt"),
            ("skinny128_256", "Skinny128_256"),
            ("spongent_pi160", "SpongentPi160"),
            ("lea_128_v2", "Lea128V2"),
        ] {
            assert_eq!(camel(function), ty);
        }
    }
}
