//! Compares the interpreter with a program after the passes, and names the pass that broke it.

use std::panic::{AssertUnwindSafe, catch_unwind};

use cipher::elaborate::{check, elaborate};
use cipher::interp::{self, Port, Words};
use cipher::ir::{self, Dir, Program, eval::eval};
use cipher::options::{Fixslice, Interleave, Options, Recipe, Schedule, Slicing, Unroll};
use cipher::passes::inline::Inline;
use cipher::passes::{
    arrays, bitslice, carry, complements, copy_propagation, cse, dead_code, estimate, fixslice,
    fold_constants, hslice, inline, loops, perms, tables, ternary, turns, vslice,
};
use cipher::pipeline::{compile, slicings};
use cipher::syntax::{ast, load_text};

/// Arguments of an entry and the results that the interpreter gives, both word by word.
pub struct Case {
    /// The words of all parameters, with the bits of each.
    pub args: Vec<(u64, u32)>,
    /// The words of all results, with the bits of each.
    pub results: Vec<(u64, u32)>,
}

/// A random value for every word of the parameters, now and then an extreme one.
pub fn random_args(ports: &[Port], rng: &mut fastrand::Rng) -> Vec<Words> {
    let word = |m: u32, rng: &mut fastrand::Rng| {
        let value = match rng.u32(0..12) {
            0 => 0,
            1 => u64::MAX,
            2 => 1 << (m - 1),
            _ => rng.u64(..),
        };
        value & (u64::MAX >> (64 - m))
    };
    ports.iter().map(|p| (0..p.n).map(|_| word(p.m, rng)).collect()).collect()
}

/// Runs the interpreter on `args`.
pub fn interpret(
    program: &ast::Program,
    entry: &str,
    word: Option<u32>,
    args: &[Words],
) -> Result<Case, String> {
    let (inputs, outputs) = interp::interface(program, entry, word)
        .ok_or_else(|| format!("`{entry}` is not a node of known sizes"))?;
    let results = interp::run(program, entry, word, args)
        .map_err(|error| format!("the interpreter: {error}"))?;
    let flat = |ports: &[Port], words: &[Words]| {
        ports
            .iter()
            .zip(words)
            .flat_map(|(p, all)| all.iter().map(|v| (*v, p.m)).collect::<Vec<_>>())
            .collect()
    };
    Ok(Case { args: flat(&inputs, args), results: flat(&outputs, &results) })
}

/// The words as the program takes them: as bits, most significant first, if it is bitsliced.
fn spread(words: &[(u64, u32)], is_bitsliced: bool) -> Vec<u64> {
    if !is_bitsliced {
        return words.iter().map(|w| w.0).collect();
    }
    words.iter().flat_map(|(v, m)| (0..*m).rev().map(move |i| v >> i & 1)).collect()
}

/// Each of `n_batches` interleaved batches gets its own case.
fn differs(
    program: &Program,
    cases: &[Case],
    is_bitsliced: bool,
    n_batches: u32,
) -> Option<String> {
    for first in 0..cases.len() {
        let own: Vec<&Case> = cases.iter().cycle().skip(first).take(n_batches as usize).collect();
        let args: Vec<u64> = own.iter().flat_map(|case| spread(&case.args, is_bitsliced)).collect();
        let want: Vec<u64> =
            own.iter().flat_map(|case| spread(&case.results, is_bitsliced)).collect();
        let got = eval(program, program.entries[0], &args);
        if got != want {
            return Some(format!("inputs {args:x?}\n  expected {want:x?}\n  computed {got:x?}"));
        }
    }
    None
}

/// All choices of the compiler that change the passes.
pub fn all_options(slicing: Slicing, word: Option<u32>) -> Vec<Options> {
    let mut all = Vec::new();
    for inline in [Inline::Auto, Inline::All, Inline::None] {
        for unroll in [Unroll::Auto, Unroll::Yes, Unroll::No] {
            for specialise in [true, false] {
                if !specialise && slicing != Slicing::Bit {
                    continue;
                }
                for ternary in [false, true] {
                    // Every choice meets every scheduler and every window in some program.
                    let schedule =
                        [Schedule::None, Schedule::Bitslice, Schedule::Mslice, Schedule::Auto]
                            [all.len() % 4];
                    let look_behind = 1 + all.len() % 20;
                    let interleave = match all.len() / 2 % 5 {
                        0 => Interleave::Auto,
                        n => Interleave::Times(n as u32),
                    };
                    let recipe = Recipe {
                        word,
                        inline,
                        unroll,
                        specialise,
                        fixslice: [Fixslice::Yes, Fixslice::No][all.len() / 4 % 2],
                        schedule,
                        look_behind,
                        interleave,
                        ..Recipe::unordered(slicing)
                    };
                    let complements = !ternary;
                    all.push(Options { ternary, complements, ..Options::generic(recipe) });
                }
            }
        }
    }
    all
}

fn show(options: &Options) -> String {
    let Options { recipe, ternary, complements, .. } = options;
    format!("ternary {ternary} complements {complements} {recipe:?}")
}

/// A panic's message instead of the panic.
pub fn caught<T>(what: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(what)).unwrap_or_else(|panic| {
        let text = panic
            .downcast_ref::<String>()
            .cloned()
            .or_else(|| panic.downcast_ref::<&str>().map(|s| s.to_string()));
        Err(format!("panic: {}", text.unwrap_or_default()))
    })
}

/// Compiles with these options and compares; a difference is traced to the pass that made it.
pub fn compiled_agrees(
    program: &ast::Program,
    entry: &str,
    options: &Options,
    cases: &[Case],
) -> Result<(), String> {
    let outcome = caught(|| {
        let compiled = compile(program, &[entry], options)
            .map_err(|errors| format!("refused: {}", errors[0]))?;
        match differs(
            &compiled.program,
            cases,
            compiled.slicing == Slicing::Bit,
            compiled.interleave,
        ) {
            Some(what) => Err(what),
            None => Ok(()),
        }
    });
    outcome.map_err(|what| {
        let guilty = caught(|| pass_that_differs(program, entry, options, cases))
            .unwrap_or_else(|panic| panic);
        format!("{}\n{what}\nguilty: {guilty}", show(options))
    })
}

/// Runs the passes as `compile` does, one by one, until the results differ.
fn pass_that_differs(
    ast: &ast::Program,
    entry: &str,
    options: &Options,
    cases: &[Case],
) -> Result<String, String> {
    let dir = match options.recipe.slicing {
        Slicing::Bit => Dir::B,
        Slicing::Vertical => Dir::V,
        Slicing::Horizontal => Dir::H,
    };
    let mut program = elaborate(ast, &[entry], dir, options.recipe.word())
        .map_err(|errors| errors[0].to_string())?
        .program;
    let keep = options.recipe.unroll == Unroll::No;
    let each = |program: &mut Program, pass: &dyn Fn(&mut ir::Node)| {
        program.nodes.iter_mut().filter(|n| !n.no_opt).for_each(pass)
    };
    let slice = |program: &mut Program| match options.recipe.slicing {
        Slicing::Bit => {
            bitslice::bitslice(program, options.recipe.specialise).map_err(|no| format!("{no:?}"))
        }
        Slicing::Vertical => vslice::vslice(program).map(|_| ()).map_err(|no| format!("{no:?}")),
        Slicing::Horizontal => hslice::hslice(program).map(|_| ()).map_err(|no| format!("{no:?}")),
    };
    let circuits = |program: &mut Program| {
        let mut cache = tables::Cache::new();
        program.nodes.iter_mut().for_each(|node| {
            tables::tables(node, &mut cache, true);
        });
    };
    type Step<'a> = (&'a str, Box<dyn Fn(&mut Program) -> Result<(), String> + 'a>);
    let simple = |name, pass: fn(&mut ir::Node)| -> Step<'_> {
        (
            name,
            Box::new(move |program| {
                each(program, &pass);
                Ok(())
            }),
        )
    };
    let mut steps: Vec<Step<'_>> = vec![
        (
            "loops",
            Box::new(|program| {
                program.nodes.iter_mut().for_each(|node| {
                    loops::loops(node, &|it| it.unroll.map_or(keep, |unroll| !unroll));
                });
                Ok(())
            }),
        ),
        simple("perms", perms::perms),
        (
            "tables",
            Box::new(|program| {
                circuits(program);
                Ok(())
            }),
        ),
        ("slice", Box::new(slice)),
        (
            "tables after slicing",
            Box::new(|program| {
                circuits(program);
                Ok(())
            }),
        ),
        simple("carry", carry::carry),
        simple("arrays", arrays::arrays),
    ];
    let simplify = |steps: &mut Vec<Step<'_>>| {
        for _ in 0..3 {
            steps.push(simple("copy_propagation", copy_propagation::copy_propagation));
            steps.push(simple("fold_constants", |node| {
                fold_constants::fold_constants(node);
            }));
            steps.push(simple("cse", |node| {
                cse::cse(node);
            }));
        }
        steps.push(simple("copy_propagation", copy_propagation::copy_propagation));
        steps.push(simple("dead_code", dead_code::dead_code));
        steps.push(simple("arrays", arrays::arrays));
    };
    simplify(&mut steps);
    steps.push((
        "inline",
        Box::new(|program| {
            inline::inline(program, options.recipe.inline, options.recipe.thresholds)
                .map_err(|_| "too large".into())
        }),
    ));
    steps.push(simple("carry after inlining", carry::carry));
    simplify(&mut steps);
    if options.recipe.fixslice == Fixslice::Yes && options.recipe.slicing != Slicing::Bit {
        let count =
            |pattern: &[u8]| estimate::steps(pattern, &options.target, options.recipe.slicing);
        steps.push((
            "fixslice",
            Box::new(move |program| {
                let rotates = options.recipe.slicing == Slicing::Vertical;
                fixslice::fixslice(program, &[], rotates, &count, &|_| true);
                Ok(())
            }),
        ));
        simplify(&mut steps);
    }
    if options.recipe.slicing == Slicing::Horizontal {
        steps.push(simple("turns", turns::turns));
        simplify(&mut steps);
    }
    if options.complements {
        steps.push((
            "complements",
            Box::new(|program| {
                complements::complements(program, &[]);
                Ok(())
            }),
        ));
        simplify(&mut steps);
    }
    if options.ternary {
        steps.push(simple("ternary", ternary::ternary));
        steps.push(simple("dead_code", dead_code::dead_code));
    }
    let mut is_bitsliced = false;
    if program.nodes.iter().flat_map(|n| &n.vars).all(|v| v.ty.m == 1) {
        is_bitsliced = true;
    }
    let mut before = String::new();
    for (name, pass) in &steps {
        let step = caught(|| {
            pass(&mut program)?;
            if *name == "slice" {
                is_bitsliced |= options.recipe.slicing == Slicing::Bit;
            }
            ir::verify::verify(&program, name);
            Ok(differs(&program, cases, is_bitsliced, 1))
        });
        match step {
            Ok(None) => before = program.to_string(),
            Ok(Some(_)) => return Ok(format!("{name}\nbefore:\n{before}\nafter:\n{program}")),
            Err(what) => return Ok(format!("{name}: {what}\nbefore:\n{before}")),
        }
    }
    Ok("none of the passes alone".into())
}

/// The core form after the elaborator, not sliced, with loops written out or kept.
fn unsliced_agrees(
    program: &ast::Program,
    entry: &str,
    word: Option<u32>,
    cases: &[Case],
) -> Result<(), String> {
    for keep in [false, true] {
        caught(|| {
            let Ok(elaborated) = elaborate(program, &[entry], Dir::V, word)
                .or_else(|_| elaborate(program, &[entry], Dir::H, word))
            else {
                return elaborate(program, &[entry], Dir::B, word)
                    .map(|_| ())
                    .map_err(|errors| format!("refused: {}", errors[0]));
            };
            let mut core = elaborated.program;
            core.nodes.iter_mut().for_each(|node| {
                loops::loops(node, &|_| keep);
            });
            ir::verify::verify(&core, "loops");
            differs(&core, cases, false, 1).map_or(Ok(()), Err)
        })
        .map_err(|what| {
            format!(
                "the core form with loops {}: {what}",
                if keep { "kept" } else { "written out" }
            )
        })?;
    }
    Ok(())
}

/// The extent of a comparison.
#[derive(Default)]
pub struct Done {
    /// Slicings in which the program compiles.
    pub slicings: Vec<Slicing>,
}

/// Checks and interprets a program, and compares `n_options` ways to compile it
/// in every legal slicing.
pub fn agrees(
    text: &str,
    entry: &str,
    word: Option<u32>,
    n_options: usize,
    seed: u64,
) -> Result<Done, String> {
    let program =
        load_text("random.ua", text, &[]).map_err(|errors| format!("not parsed: {}", errors[0]))?;
    caught(|| check(&program).map_err(|errors| format!("not accepted: {}", errors[0])))?;
    let mut rng = fastrand::Rng::with_seed(seed);
    let is_open = interp::interface(&program, entry, None).is_none();
    let cases = |word: Option<u32>, rng: &mut fastrand::Rng| {
        let (ports, _) = interp::interface(&program, entry, word).ok_or("the sizes are open")?;
        (0..2)
            .map(|_| interpret(&program, entry, word, &random_args(&ports, rng)))
            .collect::<Result<Vec<_>, String>>()
    };
    let word = word.filter(|_| is_open);
    let words = caught(|| cases(word, &mut rng))?;
    unsliced_agrees(&program, entry, word, &words)?;
    let legal = caught(|| Ok(slicings(&program, &[entry], word)))?;
    for slicing in &legal {
        let bits = if *slicing == Slicing::Bit && is_open {
            Some(caught(|| cases(Some(1), &mut rng))?)
        } else {
            None
        };
        let mut all = all_options(*slicing, word);
        rng.shuffle(&mut all);
        for options in all.iter().take(n_options) {
            compiled_agrees(&program, entry, options, bits.as_ref().unwrap_or(&words))?;
        }
    }
    Ok(Done { slicings: legal })
}
