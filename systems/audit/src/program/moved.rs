//! Words that a kernel writes into its code, of the sets whose kernels are read as they are after
//! their start: `nop`, branches, and words of an alternative, moved to where they are written.
//!
//! ```text
//! 0x2000:  b 0x2010       at 0x1000 it is still  b 0x2010
//! ```
//!
//! Source: Linux, `kernel/alternative.c` and `kernel/jump_label.c`, of arm64 in version 6.1 and of
//! riscv in version 6.12.

use std::ops::Range;

use crate::decode::Isa;

/// Kernels of this set are read as they are after they started.
pub fn is_read(isa: Isa) -> bool {
    matches!(isa, Isa::A64 | Isa::Riscv32 | Isa::Riscv64)
}

/// The word of `nop`.
pub fn nop(isa: Isa) -> u32 {
    match isa {
        Isa::Riscv32 | Isa::Riscv64 => 0x0000_0013,
        Isa::A32 | Isa::T32 | Isa::Sparc | Isa::A64 | Isa::X86 => 0xd503_201f,
    }
}

/// The word that goes from one place to another; none if it does not reach.
pub fn branch(isa: Isa, from: u64, to: u64) -> Option<u32> {
    let distance = to.wrapping_sub(from).cast_signed();
    match isa {
        Isa::Riscv32 | Isa::Riscv64 => jal(0, distance),
        Isa::A32 | Isa::T32 | Isa::Sparc | Isa::A64 | Isa::X86 => {
            let fits = (-(1 << 27)..1 << 27).contains(&distance) && distance % 4 == 0;
            fits.then_some(0x1400_0000 | (distance >> 2) as u32 & 0x03ff_ffff)
        }
    }
}

/// Words of `source`, as a kernel puts them at `to`: branches out of them lead where they led. None
/// if one of them cannot be there, or is not understood.
pub fn moved(isa: Isa, words: &[u32], source: &Range<u64>, to: u64) -> Option<Vec<u32>> {
    match isa {
        Isa::Riscv32 | Isa::Riscv64 => moved_riscv(words, source, to),
        Isa::A32 | Isa::T32 | Isa::Sparc | Isa::A64 | Isa::X86 => moved_a64(words, source, to),
    }
}

fn moved_a64(words: &[u32], source: &Range<u64>, to: u64) -> Option<Vec<u32>> {
    let one = |(nth, word): (usize, &u32)| {
        let (from, to) = (source.start + 4 * nth as u64, to + 4 * nth as u64);
        // Where the distance stands, of how many bits, and what it counts.
        let (at, n_bits) = match word {
            word if word & 0x7c00_0000 == 0x1400_0000 => (0, 26),
            word if word & 0xff00_0010 == 0x5400_0000 || word & 0x7e00_0000 == 0x3400_0000 => {
                (5, 19)
            }
            word if word & 0x7e00_0000 == 0x3600_0000 => (5, 14),
            // A kernel leaves a literal, and the address of one, out.
            word if word & 0x3b00_0000 == 0x1800_0000 || word & 0x9f00_0000 == 0x1000_0000 => {
                return None;
            }
            word if word & 0x9f00_0000 == 0x9000_0000 => return page(*word, from, to),
            word => return Some(*word),
        };
        let mask = (1u32 << n_bits) - 1;
        let distance = i64::from(((word >> at & mask) << (32 - n_bits)) as i32 >> (32 - n_bits));
        let target = from.wrapping_add_signed(4 * distance);
        if (source.start..=source.end).contains(&target) {
            return Some(*word);
        }
        let new = target.wrapping_sub(to).cast_signed() >> 2;
        let fits = (-(1i64 << (n_bits - 1))..1i64 << (n_bits - 1)).contains(&new);
        fits.then_some(word & !(mask << at) | (new as u32 & mask) << at)
    };
    words.iter().enumerate().map(one).collect()
}

/// `adrp` moved from one place to another.
fn page(word: u32, from: u64, to: u64) -> Option<u32> {
    let low = word >> 29 & 3;
    let high = word >> 5 & 0x7_ffff;
    let pages = i64::from(((high << 2 | low) << 11) as i32 >> 11);
    let new = pages + ((from >> 12).cast_signed() - (to >> 12).cast_signed());
    let fits = (-(1i64 << 20)..1i64 << 20).contains(&new);
    let new = new as u32;
    fits.then_some(word & 0x9f00_001f | (new & 3) << 29 | (new >> 2 & 0x7_ffff) << 5)
}

const OPCODE: u32 = 0x7f;
const AUIPC: u32 = 0x17;
const BRANCH: u32 = 0x63;
const JALR: u32 = 0x67;
const JAL: u32 = 0x6f;

/// A kernel of RISC-V changes `jal`, and `auipc` with `jalr` where both have `ra`.
fn moved_riscv(words: &[u32], source: &Range<u64>, to: u64) -> Option<Vec<u32>> {
    const REGISTER: u32 = 0x1f;
    const RA: u32 = 1;
    let is_inside = |target: u64| source.contains(&target);
    // A branch is left as it is, and may lead on behind the place as well.
    let is_behind_or_inside = |target: u64| target == source.end || is_inside(target);
    let mut new = words.to_vec();
    for nth in 0..words.len() {
        let (word, from) = (words[nth], source.start + 4 * nth as u64);
        let here = to + 4 * nth as u64;
        match word & OPCODE {
            JAL => {
                let target = from.wrapping_add_signed(jal_distance(word));
                if !is_inside(target) {
                    let distance = target.wrapping_sub(here).cast_signed();
                    new[nth] = jal(word >> 7 & REGISTER, distance)?;
                }
            }
            // It is put there as it is, and is meant to stay inside.
            BRANCH if is_behind_or_inside(from.wrapping_add_signed(branch_distance(word))) => {}
            BRANCH => return None,
            AUIPC => {
                let call = *words.get(nth + 1)?;
                let is_call = call & OPCODE == JALR
                    && [word >> 7, call >> 7, call >> 15]
                        .iter()
                        .all(|field| field & REGISTER == RA);
                if !is_call {
                    return None;
                }
                let low = i64::from((call as i32) >> 20);
                let distance = i64::from((word & !0xfff) as i32) + low;
                let distance = from.wrapping_add_signed(distance).wrapping_sub(here).cast_signed();
                let high = i32::try_from(distance.wrapping_add(0x800)).ok()? as u32 & !0xfff;
                new[nth] = word & 0xfff | high;
                new[nth + 1] = call & 0x000f_ffff | (distance as u32) << 20;
            }
            // A short instruction ends between two words.
            _ if word & 3 != 3 => return None,
            _ => {}
        }
    }
    Some(new)
}

/// `auipc t0`, of the upper part of a distance.
pub fn upper_of(distance: u64) -> u32 {
    const T0: u32 = 5;
    distance.wrapping_add(0x800) as u32 & !0xfff | T0 << 7 | AUIPC
}

/// `jal`, which leaves its return address in `link`.
fn jal(link: u32, distance: i64) -> Option<u32> {
    let fits = (-(1 << 20)..1 << 20).contains(&distance) && distance % 2 == 0;
    let bits = distance as u32;
    let high = (bits >> 20 & 1) << 31 | (bits >> 1 & 0x3ff) << 21;
    let low = (bits >> 11 & 1) << 20 | (bits >> 12 & 0xff) << 12;
    fits.then_some(high | low | link << 7 | JAL)
}

fn jal_distance(word: u32) -> i64 {
    let low = (word >> 21 & 0x3ff) << 1 | (word >> 20 & 1) << 11 | (word >> 12 & 0xff) << 12;
    i64::from(low) - (i64::from(word >> 31) << 20)
}

fn branch_distance(word: u32) -> i64 {
    let low = (word >> 8 & 0xf) << 1 | (word >> 25 & 0x3f) << 5 | (word >> 7 & 1) << 11;
    i64::from(low) - (i64::from(word >> 31) << 12)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_branch_out_of_an_alternative_leads_where_it_led() {
        let source = 0x2000..0x2008;
        // b 0x2010; b 0x2000, which is inside.
        assert_eq!(
            moved(Isa::A64, &[0x1400_0004, 0x17ff_ffff], &source, 0x1000),
            Some(vec![0x1400_0404, 0x17ff_ffff])
        );
        // tbz w0, #0, 0x2010, and as far as it does not reach.
        assert_eq!(moved(Isa::A64, &[0x3600_0080], &source, 0x1000), Some(vec![0x3600_8080]));
        assert_eq!(moved(Isa::A64, &[0x3600_0080], &source, 0x10_0000), None);
        // adrp x0, 0x3000; a literal.
        assert_eq!(moved(Isa::A64, &[0xb000_0000], &source, 0x1000), Some(vec![0xd000_0000]));
        assert_eq!(moved(Isa::A64, &[0x5800_0040], &source, 0x1000), None);
    }

    #[test]
    fn riscv_moves_jumps_and_calls() {
        let source = 0x2000..0x2008;
        let at = |words: &[u32], to: u64| moved(Isa::Riscv64, words, &source, to);
        // j 0x2010; j 0x2000, which is inside.
        assert_eq!(at(&[0x0100_006f, 0xffdf_f06f], 0x1000), Some(vec![0x0100_106f, 0xffdf_f06f]));
        assert_eq!(at(&[0x0100_006f], 0x40_0000), None);
        // j 0x2008, right behind: a kernel changes it, though not a branch that leads there.
        assert_eq!(at(&[0x0080_006f], 0x1000), Some(vec![0x0080_106f]));
        // auipc ra, 1; jalr ra, -4(ra), and to t0, which a kernel leaves as it is.
        let call = [0x0000_1097, 0xffc0_80e7];
        assert_eq!(at(&call, 0x1000), Some(vec![0x0000_2097, 0xffc0_80e7]));
        assert_eq!(at(&call, 0x27fc), Some(vec![0x0000_1097, 0x8000_80e7]));
        assert_eq!(at(&[0x0000_1297, 0xffc2_82e7], 0x1000), None);
        // beq a0, a1, 0x2008 stays inside, 0x200c does not; c.nop; add a0, a0, a1.
        assert_eq!(at(&[0x00b5_0463], 0x1000), Some(vec![0x00b5_0463]));
        assert_eq!(at(&[0x00b5_0663], 0x1000), None);
        assert_eq!(at(&[0x0001_0001], 0x1000), None);
        assert_eq!(at(&[0x00b5_0533], 0x1000), Some(vec![0x00b5_0533]));
        for distance in [-0x10_0000, -2, 0, 0x7fe, 0x800, 0xf_fffe] {
            assert_eq!(jal(0, distance).map(jal_distance), Some(distance));
        }
        assert_eq!(branch(Isa::Riscv64, 0x1000, 0x1008), Some(0x0080_006f));
    }
}
