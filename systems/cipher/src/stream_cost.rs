//! Streams beside OpenSSL's: cycles a byte of one message with a counter of its own, the two in turn in one process.

use measure::pairs::Paired;
use measure::tool::ToolError;
use serde::Serialize;

use crate::emit_c::Arch;
use crate::gain::Care;
use crate::native::{self, Cc};
use crate::pipeline::{Slicing, Unroll};
use crate::recipe::Recipe;
use crate::speed::N_LAUNCHES;
use crate::unit::Subject;

/// One stream on one target with messages of one length.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cell {
    /// Name of the primitive.
    pub primitive: &'static str,
    /// How it is sliced.
    pub slicing: Slicing,
    /// The target.
    pub arch: Arch,
    /// The C compiler.
    pub cc: Cc,
    /// Which loops are written out.
    pub unroll: Unroll,
    /// Bytes of a message.
    pub bytes: usize,
}

/// What was measured.
#[derive(Debug, Clone, Serialize)]
pub struct Cost {
    /// Median: time-stamp cycles a byte, ours.
    pub cycles_per_byte: f64,
    /// Median of OpenSSL's.
    pub cycles_per_byte_openssl: f64,
    /// Median of the ratios ours / OpenSSL's of the pairs; below 1 ours is faster.
    pub ratio: f64,
    /// Distribution-free 95 % interval of that median.
    pub interval: [f64; 2],
    /// Pairs of samples.
    pub pairs: usize,
    /// Processor features that OpenSSL was told to do without, as `OPENSSL_ia32cap` takes them; empty: none.
    pub openssl_without: &'static str,
    /// What happened to the samples, if anything.
    pub warnings: Vec<String>,
}

/// AES-128 and ChaCha20 on AVX2 and AVX-512, compiled in the way that was fastest when `speed` was published.
pub fn cells(names: &[String], archs: &[Arch]) -> Vec<Cell> {
    let ways = [
        ("aes-128", Slicing::Horizontal, Arch::Avx2, Cc::Clang, Unroll::Yes),
        ("aes-128", Slicing::Horizontal, Arch::Avx512, Cc::Clang, Unroll::Yes),
        ("chacha20", Slicing::Vertical, Arch::Avx2, Cc::Gcc, Unroll::Yes),
        ("chacha20", Slicing::Vertical, Arch::Avx512, Cc::Gcc, Unroll::No),
    ];
    let mut cells = Vec::new();
    for (primitive, slicing, arch, cc, unroll) in ways {
        let is_named = names.is_empty() || names.iter().any(|name| name == primitive);
        if is_named && (archs.is_empty() || archs.contains(&arch)) {
            cells.extend([64, 1 << 10, 1 << 14, 1 << 20].map(|bytes| Cell { primitive, slicing, arch, cc, unroll, bytes }));
        }
    }
    cells
}

/// AES without its own instructions; ChaCha20 with the vectors that the target has.
fn openssl(cell: &Cell) -> (&'static str, &'static str) {
    match (cell.primitive, cell.arch) {
        ("aes-128", _) => ("EVP_aes_128_ctr", "~0x200000200000000:~0x0"),
        (_, Arch::Avx512) => ("EVP_chacha20", ""),
        _ => ("EVP_chacha20", "~0x0:~0xd0030000"),
    }
}

/// Measures a cell: each launch of the program runs both in turn.
pub fn measure(cell: &Cell, care: Care) -> Result<Cost, ToolError> {
    let subject = Subject::bundled(cell.primitive).expect("cells name bundled primitives").expect("bundled programs are right");
    let mut recipe = Recipe::new(cell.slicing, cell.arch, cell.cc, cell.unroll, "-O3");
    recipe.mode = Some("ctr".into());
    let made = recipe.make(&subject).expect("bundled programs compile in their slicings");
    let program = recipe.build(&made)?;
    let (cipher, features) = openssl(cell);
    let calls = (200_000 / cell.bytes).clamp(1, 400) as u32;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..care.n_pairs {
        let mut least = (f64::MAX, f64::MAX);
        for _ in 0..N_LAUNCHES {
            let (a, b) = native::against_openssl(&program, cipher, features, 40, calls, cell.bytes)?;
            least = (least.0.min(a), least.1.min(b));
        }
        ours.push(least.0 / cell.bytes as f64);
        theirs.push(least.1 / cell.bytes as f64);
    }
    let summary = Paired { a: ours, b: theirs }.summary();
    Ok(Cost {
        cycles_per_byte: summary.a_median,
        cycles_per_byte_openssl: summary.b_median,
        ratio: summary.ratio,
        interval: [summary.ratio_low, summary.ratio_high],
        pairs: summary.n,
        openssl_without: features,
        warnings: summary.warnings.iter().map(ToString::to_string).collect(),
    })
}
