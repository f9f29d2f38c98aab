//! Streams against those of OpenSSL and libgcrypt: cycles a byte of one message with its own
//! counter, the two in turn in one process.

use machine::Kind;
use measure::tool::ToolError;
use serde::Serialize;

use cipher::emit_c::Arch;
use cipher::native::{self, Cc, PeerCipher};
use cipher::options::{Emit, Interleave, Recipe, Slicing, Unroll};
use cipher::speed::Sampling;
use cipher::speed::launches_in_turn;
use cipher::unit::Subject;

/// The other libraries; the last is OpenSSL as it comes, with AES instructions.
pub const PEERS: [&str; 3] = ["openssl", "libgcrypt", "openssl-aes-ni"];
/// Default lengths of messages.
pub const BYTES: [usize; 4] = [64, 1 << 10, 1 << 14, 1 << 20];

/// One stream on one target with messages of one length, against one library.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cell {
    /// Name of the primitive.
    pub primitive: &'static str,
    pub mode: &'static str,
    pub peer: &'static str,
    /// How it is sliced.
    pub slicing: Slicing,
    pub arch: Arch,
    pub cc: Cc,
    pub opt: &'static str,
    /// Which loops are written out.
    pub unroll: Unroll,
    /// The back end of the functions that work on blocks.
    pub emit: Emit,
    /// Bytes of a message.
    pub bytes: usize,
}

#[derive(Debug, Clone, Serialize)]
pub struct Cost {
    /// Median: time-stamp cycles a byte, ours.
    pub cycles_per_byte: f64,
    /// Median of the other's.
    pub cycles_per_byte_peer: f64,
    /// Median of the ratios ours / theirs of the pairs; below 1 ours is faster.
    pub ratio: f64,
    /// Distribution-free 95 % interval of that median.
    pub interval: [f64; 2],
    pub pairs: usize,
    /// Interleaved batches of blocks in ours.
    pub interleave: u32,
    /// The version by which the library calls itself.
    pub peer_version: String,
    /// Processor features that it was told not to use, by its own names; empty: none.
    pub peer_without: &'static str,
    /// What happened to the samples, if anything.
    pub warnings: Vec<String>,
}

/// The streams that these libraries have, on AVX2 and AVX-512, in the fastest slicing with loops
/// written out, by the back end, compiler and flag that make it fastest. Empty lists of names and
/// targets stand for all of them.
pub fn cells(
    names: &[String],
    archs: &[Arch],
    peers: &[&'static str],
    bytes: &[usize],
) -> Vec<Cell> {
    let mut ways = Vec::new();
    for arch in Arch::measured().filter(|arch| arch.row().kind != Kind::General) {
        for aes in ["aes-128", "aes-192", "aes-256"] {
            ways.push((aes, Slicing::Horizontal, arch, Cc::Clang, "-O3", Emit::C));
        }
        // At -O3 gcc writes out the loops around two batches, which makes what moves the bytes
        // slower on AVX2. C compilers make little of two batches there, whose words are twice the
        // registers.
        ways.push((
            "chacha20",
            Slicing::Vertical,
            arch,
            Cc::Gcc,
            "-O2",
            if arch == Arch::Avx2 { Emit::Asm } else { Emit::C },
        ));
        ways.push(("serpent-128", Slicing::Vertical, arch, Cc::Clang, "-O3", Emit::C));
    }
    let mut cells = Vec::new();
    for &peer in peers {
        for &(primitive, slicing, arch, cc, opt, emit) in &ways {
            let is_wanted = names.is_empty() || names.iter().any(|name| name == primitive);
            let is_wanted = is_wanted && (archs.is_empty() || archs.contains(&arch));
            if is_wanted && other(peer, primitive, arch).is_some() {
                let unroll = Unroll::Yes;
                let cell = |&bytes: &usize| Cell {
                    primitive,
                    mode: "ctr",
                    peer,
                    slicing,
                    arch,
                    cc,
                    opt,
                    unroll,
                    emit,
                    bytes,
                };
                cells.extend(bytes.iter().map(cell));
            }
        }
    }
    cells
}

/// The other library's cipher: AES without AES instructions unless the library is taken as it
/// comes, the others with the vectors of the target. `None` if the library does not have it.
fn other(peer: &'static str, primitive: &str, arch: Arch) -> Option<PeerCipher> {
    let is_openssl = peer != "libgcrypt";
    let as_it_comes = peer == "openssl-aes-ni";
    if as_it_comes && !primitive.starts_with("aes") {
        return None;
    }
    let cipher = match (primitive, is_openssl) {
        ("aes-128", true) => "EVP_aes_128_ctr",
        ("aes-192", true) => "EVP_aes_192_ctr",
        ("aes-256", true) => "EVP_aes_256_ctr",
        ("chacha20", true) => "EVP_chacha20",
        ("aes-128", false) => "AES",
        ("aes-192", false) => "AES192",
        ("aes-256", false) => "AES256",
        ("chacha20", false) => "CHACHA20",
        ("serpent-128", false) => "SERPENT128",
        _ => return None,
    };
    let without = match (is_openssl, arch) {
        (true, _) if as_it_comes => "",
        (true, _) if primitive.starts_with("aes") => "~0x200000200000000:~0x0",
        (true, _) if arch.has_ternary() => "",
        (true, _) => "~0x0:~0xd0030000",
        (false, _) if arch.has_ternary() => "intel-aesni,intel-vaes-vpclmul",
        (false, _) => "intel-aesni,intel-vaes-vpclmul,intel-avx512",
    };
    Some(PeerCipher { peer: if is_openssl { "openssl" } else { peer }, cipher, without })
}

/// Measures a cell: each launch of the program runs both in turn.
pub fn measure(cell: &Cell, sampling: Sampling) -> Result<Cost, ToolError> {
    let subject = Subject::bundled(cell.primitive)
        .expect("cells name bundled primitives")
        .expect("bundled programs are right");
    let mut recipe = Recipe::new(cell.slicing, cell.arch, cell.cc, cell.unroll, cell.opt);
    recipe.mode = Some(cell.mode.into());
    recipe.emit = cell.emit;
    recipe.interleave = if cell.emit == Emit::C { Interleave::Auto } else { Interleave::Times(2) };
    let made = recipe.make(&subject).expect("bundled programs compile in their slicings");
    assert!(made.refused.is_none(), "assembly knows the operations of {}", cell.primitive);
    let program = recipe.build(&made)?;
    let other = other(cell.peer, cell.primitive, cell.arch)
        .expect("cells are of libraries that have the cipher");
    let calls = (200_000 / cell.bytes).clamp(1, 400) as u32;
    let mut peer_version = String::new();
    let launch = || {
        let (ours, theirs, version) = native::against(&program, other, 40, calls, cell.bytes)?;
        peer_version = version;
        Ok((ours, theirs))
    };
    let summary = launches_in_turn(sampling, cell.bytes as f64, launch)?;
    Ok(Cost {
        cycles_per_byte: summary.a_median,
        cycles_per_byte_peer: summary.b_median,
        ratio: summary.ratio,
        interval: [summary.ratio_low, summary.ratio_high],
        pairs: summary.n,
        interleave: made.compiled.interleave,
        peer_version,
        peer_without: other.without,
        warnings: summary.warnings.iter().map(ToString::to_string).collect(),
    })
}
