//! The known-answer tests: which combinations are run, and one of them.

use std::path::Path;

use measure::tool::ToolError;
use serde::Serialize;

use crate::cases::{case_bytes, compose};
use crate::emit_c::{Arch, Sponge, shape};
use crate::library::{self, Primitive, Vector, primitive, primitives};
use crate::native::{self, Cc};
use crate::options::{Emit, Interleave, Schedule, Slicing, Unroll};
use crate::recipe::Recipe;
use crate::run_text::{from_hex, to_hex};
use crate::unit::Subject;
use crate::user_layout;

/// Programs of more equations are compiled at -O0 only: optimising them
/// takes minutes and gigabytes.
const OPTIMISED_MAX: usize = 12_000;

#[derive(Debug, Clone, Serialize)]
pub struct SuiteRow {
    /// Name of the primitive.
    pub primitive: String,
    /// One of its modes instead of its blocks.
    pub mode: Option<String>,
    /// How it is sliced.
    pub slicing: Slicing,
    pub arch: Arch,
    pub cc: Cc,
    pub schedule: Schedule,
    /// Which loops are written out.
    pub unroll: Unroll,
    /// The C compiler's optimisation flag; large programs get -O0 in its place.
    pub opt: &'static str,
    pub emit: Emit,
}

/// The result of a combination.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Every vector, in every slice.
    Passed,
    Failed(String),
    /// The processor lacks this feature.
    Skipped(&'static str),
}

/// The combinations to run; `None` is no restriction.
#[derive(Debug, Clone)]
pub struct Filter {
    /// Names of primitives; empty for all.
    pub names: Vec<String>,
    pub mode: Option<String>,
    pub slicing: Option<Slicing>,
    pub arch: Option<Arch>,
    pub cc: Option<Cc>,
    /// One choice about loops.
    pub unroll: Option<Unroll>,
    /// The back end; one for all.
    pub emit: Emit,
}

impl Default for Filter {
    fn default() -> Self {
        Filter {
            names: vec![],
            mode: None,
            slicing: None,
            arch: None,
            cc: None,
            unroll: None,
            emit: Emit::C,
        }
    }
}

impl Filter {
    fn takes(&self, row: &SuiteRow) -> bool {
        (self.names.is_empty() || self.names.contains(&row.primitive))
            && self.mode.as_ref().is_none_or(|mode| row.mode.as_ref() == Some(mode))
            && self.slicing.is_none_or(|s| s == row.slicing)
            && self.arch.is_none_or(|a| a == row.arch)
            && self.cc.is_none_or(|c| c == row.cc)
            && self.unroll.is_none_or(|u| u == row.unroll)
    }

    /// The rows that it accepts, with its back end.
    fn choose(&self, mut rows: Vec<SuiteRow>) -> Vec<SuiteRow> {
        rows.retain(|row| self.takes(row) && (self.emit != Emit::Asm || row.arch.has_assembly()));
        rows.into_iter().map(|row| SuiteRow { emit: self.emit, ..row }).collect()
    }

    fn is_narrow(&self) -> bool {
        self.slicing.is_some() || self.arch.is_some() || self.cc.is_some() || self.unroll.is_some()
    }
}

fn slicings(name: &str) -> Vec<Slicing> {
    Subject::named(name).map_or_else(|_| Vec::new(), |subject| subject.slicings(None))
}

/// The modes of a bundled primitive that are not counter modes.
fn modes(name: &str) -> Vec<String> {
    let modes = primitive(name).into_iter().flat_map(Primitive::sponge_modes);
    modes.map(str::to_owned).collect()
}

/// The published vectors of a bundled primitive, or those beside a user's file.
pub fn vectors(name: &str) -> Result<Vec<Vector>, String> {
    if let Some(primitive) = primitive(name) {
        return Ok(primitive.vectors());
    }
    let path = user_layout::vectors_beside(Path::new(name));
    let text = std::fs::read_to_string(&path)
        .map_err(|error| format!("cannot read the vectors {}: {error}", path.display()))?;
    library::parse_vectors(&text).map_err(|why| format!("{}: {why}", path.display()))
}

/// All bundled primitives, since a primitive's place in the list decides its combinations, and the
/// user's files among the names.
fn all_names(filter: &Filter) -> Vec<String> {
    let files = filter.names.iter().filter(|name| primitive(name).is_none()).cloned();
    primitives().iter().map(|primitive| primitive.name.clone()).chain(files).collect()
}

/// The primitives and user's files of the filter; if it names none, all bundled primitives.
fn names(filter: &Filter) -> Vec<String> {
    let bundled = primitives()
        .iter()
        .map(|primitive| &primitive.name)
        .filter(|name| filter.names.is_empty() || filter.names.contains(name));
    bundled.chain(filter.names.iter().filter(|name| primitive(name).is_none())).cloned().collect()
}

/// Every primitive in each of its slicings and on each target at least once, with the compilers
/// taking turns; with a filter on anything but names, all combinations that it allows.
pub fn covering(filter: &Filter) -> Vec<SuiteRow> {
    if filter.is_narrow() {
        return matrix(filter).into_iter().filter(|row| row.opt == "-O1").collect();
    }
    let mut rows = Vec::new();
    for (n, primitive) in all_names(filter).iter().enumerate() {
        let slicings = slicings(primitive);
        if slicings.is_empty() {
            continue;
        }
        for (k, arch) in Arch::ALL.into_iter().enumerate() {
            // Bitsliced code is the largest and the same everywhere, so two targets run it.
            let slicing = slicings[(k + n) % slicings.len()];
            let unroll = if slicing == Slicing::Bit {
                Unroll::No
            } else {
                [Unroll::Auto, Unroll::No][(k + n) % 2]
            };
            rows.push(row(primitive, slicing, arch, Cc::ALL[(k + n) % 2], unroll, "-O1"));
        }
        let covered: Vec<Slicing> =
            rows.iter().filter(|r| r.primitive == *primitive).map(|r| r.slicing).collect();
        for slicing in slicings.into_iter().filter(|s| !covered.contains(s)) {
            rows.push(row(primitive, slicing, Arch::X86_64, Cc::ALL[n % 2], Unroll::No, "-O1"));
        }
        // A mode adds C around the same code, and most of that does not depend on the slicing.
        for (k, mode) in modes(primitive).into_iter().enumerate() {
            let own: Vec<SuiteRow> = rows
                .iter()
                .filter(|r| r.primitive == *primitive && r.mode.is_none())
                .cloned()
                .collect();
            rows.extend(own.into_iter().map(|row| SuiteRow {
                mode: Some(mode.clone()),
                cc: Cc::ALL[(n + k + row.arch as usize) % 2],
                ..row
            }));
        }
    }
    filter.choose(rows)
}

/// Every combination, and one at -O3 for each primitive.
pub fn matrix(filter: &Filter) -> Vec<SuiteRow> {
    let mut rows = Vec::new();
    for primitive in &names(filter) {
        let slicings = slicings(primitive);
        if slicings.is_empty() {
            continue;
        }
        for slicing in &slicings {
            for arch in Arch::ALL {
                for cc in Cc::ALL {
                    for unroll in [Unroll::No, Unroll::Yes] {
                        let row = row(primitive, *slicing, arch, cc, unroll, "-O1");
                        rows.extend(
                            modes(primitive)
                                .into_iter()
                                .map(|mode| SuiteRow { mode: Some(mode), ..row.clone() }),
                        );
                        rows.push(row);
                    }
                }
            }
        }
        let last = slicings[slicings.len() - 1];
        rows.push(row(primitive, last, Arch::Avx2, Cc::Gcc, Unroll::No, "-O3"));
    }
    filter.choose(rows)
}

fn row(
    primitive: &str,
    slicing: Slicing,
    arch: Arch,
    cc: Cc,
    unroll: Unroll,
    opt: &'static str,
) -> SuiteRow {
    // Two targets get the slicing's scheduler, the others the order that users have.
    let schedule = match (arch, slicing) {
        (Arch::X86_64 | Arch::Avx512, Slicing::Bit) => Schedule::Bitslice,
        (Arch::X86_64 | Arch::Avx512, _) => Schedule::Mslice,
        (Arch::Avx2 | Arch::Avx512vl | Arch::Sse | Arch::Neon, _) => Schedule::Auto,
    };
    SuiteRow {
        primitive: primitive.to_string(),
        mode: None,
        slicing,
        arch,
        cc,
        schedule,
        unroll,
        opt,
        emit: Emit::C,
    }
}

/// Compiles one combination and runs every vector through it, several times over so that every
/// slice and a last partial group are used.
pub fn test(row: &SuiteRow) -> Result<Outcome, ToolError> {
    if let Some(feature) = native::missing_feature(row.arch) {
        return Ok(Outcome::Skipped(feature));
    }
    let subject = match Subject::named(&row.primitive) {
        Ok(subject) => subject,
        Err(errors) => return Ok(Outcome::Failed(errors[0].to_string())),
    };
    let vectors = match vectors(&row.primitive) {
        Ok(vectors) => vectors,
        Err(why) => return Ok(Outcome::Failed(why)),
    };
    let mut recipe = Recipe::new(row.slicing, row.arch, row.cc, row.unroll, row.opt);
    recipe.schedule = row.schedule;
    // A longer search would not test more.
    (recipe.emit, recipe.budget) = (row.emit, (row.emit != Emit::C).then_some(1));
    // As by default: if the model chooses the order, it also chooses the batches.
    recipe.interleave =
        if row.schedule == Schedule::Auto { Interleave::Auto } else { Interleave::Times(1) };
    recipe.mode = row.mode.clone();
    let made = match recipe.make(&subject) {
        Ok(made) => made,
        Err(errors) => return Ok(Outcome::Failed(errors[0].to_string())),
    };
    if let Some(why) = &made.refused {
        return Ok(Outcome::Failed(why.clone()));
    }
    if made.n_equations() > OPTIMISED_MAX {
        recipe.opt = "-O0";
    }
    let program = recipe.build(&made)?;
    if let Some(mode) = &made.unit.mode {
        return test_mode(&mode.sponge, row, &program);
    }
    let Some(primitive) = subject.primitive.as_ref() else {
        return Ok(Outcome::Failed(format!(
            "nothing says where the bytes of `{}` go",
            subject.entry
        )));
    };
    let n_cases = shape(&made.compiled, row.arch).blocks() as usize + vectors.len();
    let mut cases = Vec::new();
    for vector in vectors.iter().cycle().take(n_cases) {
        let fields = compose(primitive, vector.fields.clone());
        match fields.and_then(|fields| case_bytes(&subject, &made.unit, None, &fields)) {
            Ok(bytes) => cases.push(bytes),
            Err(why) => {
                return Ok(Outcome::Failed(format!(
                    "vector {} does not fit: {why}",
                    1 + cases.len() % vectors.len()
                )));
            }
        }
    }
    let outputs = native::run_cases(&program, row.arch, &cases, made.unit.output_bytes())?;
    for (case, (output, vector)) in outputs.iter().zip(vectors.iter().cycle()).enumerate() {
        if !to_hex(output).eq_ignore_ascii_case(&vector.output) {
            return Ok(Outcome::Failed(format!(
                "vector {} in slice {case} gives {}",
                1 + case % vectors.len(),
                to_hex(output)
            )));
        }
    }
    Ok(Outcome::Passed)
}

/// Runs the vectors of a mode; the program also tries each in pieces, in other places, forged and
/// many at a time.
fn test_mode(sponge: &Sponge, row: &SuiteRow, program: &Path) -> Result<Outcome, ToolError> {
    for (i, vector) in library::vectors(sponge.name()).iter().enumerate() {
        let field = |name: &str| from_hex(&vector.fields[name]).expect("bundled vectors are hex");
        let text = field("input");
        let length = |bytes: usize| (bytes as u64).to_le_bytes().to_vec();
        let message = match sponge {
            Sponge::Aead => [
                length(field("ad").len()),
                length(text.len()),
                field("key"),
                field("nonce"),
                field("ad"),
                text,
            ]
            .concat(),
            Sponge::Digest(_) => {
                [length(text.len()), length(vector.output.len() / 2), text].concat()
            }
        };
        let output = to_hex(&native::run_mode(program, row.arch, &message)?);
        if output != vector.output {
            return Ok(Outcome::Failed(format!("vector {} gives {output}", i + 1)));
        }
    }
    Ok(Outcome::Passed)
}
