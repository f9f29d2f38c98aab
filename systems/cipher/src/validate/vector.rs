//! Instructions on vector registers, one step each: bitwise, on elements, shifts, and what only
//! moves bits.

use iced_x86::{EncodingKind, Instruction, Mnemonic, OpKind, Register};
use smallvec::SmallVec;

use super::machine::{Machine, Stop};
use super::moves::{self, Move};
use super::operation::Operation;
use super::shuffles::{blended, shuffle};
use super::terms::{Graph, Term, Value};

pub(super) type Bitwise = fn(&mut Graph, Term, Term) -> Term;

fn is_legacy(it: &Instruction) -> bool {
    it.code().encoding() == EncodingKind::Legacy
}

/// What a mask does to the lowest elements of these is not followed.
fn unmasked(it: &Instruction) -> Result<(), Stop> {
    if it.op_mask() == Register::None {
        return Ok(());
    }
    Err(Stop::Unknown(format!("{:?} under a mask", it.mnemonic())))
}

/// The first of two sources: old instructions write over theirs.
fn first(it: &Instruction) -> u32 {
    u32::from(!is_legacy(it))
}

/// Bits of the first operand that is a vector register.
pub(super) fn width(it: &Instruction) -> u32 {
    let register = (0..it.op_count())
        .filter(|op| it.op_kind(*op) == OpKind::Register)
        .map(|op| it.op_register(op));
    register
        .filter(|register| register.is_vector_register())
        .map(|register| register.size() as u32 * 8)
        .next()
        .unwrap_or(0)
}

pub(super) fn immediate(it: &Instruction) -> u32 {
    it.immediate(it.op_count() - 1) as u32
}

/// What the sources of an instruction are shifted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shift {
    Left,
    Right,
    RightWithSign,
    TurnLeft,
    TurnRight,
}

impl Shift {
    fn moves(self, total: u32, bits: u32, by: u64) -> Vec<Move> {
        // A rotation goes around; a shift by more than there is takes all.
        let around = (by % u64::from(bits)) as u32;
        let by = by.min(64) as u32;
        match self {
            Shift::Left => moves::left(total, bits, by),
            Shift::Right => moves::right(total, bits, by, false),
            Shift::RightWithSign => moves::right(total, bits, by, true),
            Shift::TurnLeft => moves::turned(total, bits, around),
            Shift::TurnRight => moves::turned(total, bits, (bits - around) % bits),
        }
    }
}

/// Bytes of which the address of a memory operand must be a multiple. Source: Intel's manual,
/// volume 1, 4.1.1 and 14.9.
fn alignment(it: &Instruction) -> u64 {
    use Mnemonic as M;
    let size = it.memory_size().size() as u64;
    match it.mnemonic() {
        M::Vmovdqa
        | M::Vmovdqa32
        | M::Vmovdqa64
        | M::Vmovaps
        | M::Vmovapd
        | M::Vmovntdq
        | M::Vmovntdqa
        | M::Vmovntps => size,
        M::Movdqu | M::Movups | M::Movupd | M::Lddqu => 1,
        _ if is_legacy(it) && size == 16 => 16,
        _ => 1,
    }
}

impl Machine {
    fn must_be_aligned(&self, it: &Instruction) -> Result<(), Stop> {
        if (0..it.op_count()).all(|op| it.op_kind(op) != OpKind::Memory) || alignment(it) <= 1 {
            return Ok(());
        }
        let address = self.address(it)?;
        if address.is_multiple_of(alignment(it)) {
            return Ok(());
        }
        Err(Stop::Fault(format!(
            "{:?} at {address:#x}, which is no multiple of {}",
            it.mnemonic(),
            alignment(it)
        )))
    }

    /// Executes an instruction on vector or mask registers; false if it is none.
    pub fn vector(&mut self, it: &Instruction) -> Result<bool, Stop> {
        use Mnemonic as M;
        self.must_be_aligned(it)?;
        if self.is_shuffled(it)? {
            return Ok(true);
        }
        match it.mnemonic() {
            M::Movdqa
            | M::Movdqu
            | M::Movaps
            | M::Movups
            | M::Movapd
            | M::Movupd
            | M::Lddqu
            | M::Vlddqu => self.whole(it, 64)?,
            M::Vmovdqa
            | M::Vmovdqu
            | M::Vmovdqa64
            | M::Vmovdqu64
            | M::Vmovapd
            | M::Vmovupd
            | M::Vmovntdq
            | M::Movntdq => self.whole(it, 64)?,
            M::Vmovdqa32 | M::Vmovdqu32 | M::Vmovaps | M::Vmovups => self.whole(it, 32)?,
            M::Vmovdqu16 => self.whole(it, 16)?,
            M::Vmovdqu8 => self.whole(it, 8)?,
            M::Movq | M::Vmovq => self.scalar(it, 64)?,
            M::Movd | M::Vmovd => self.scalar(it, 32)?,
            M::Movss | M::Vmovss => self.scalar_or_merged(it, 32)?,
            M::Movsd | M::Vmovsd => self.scalar_or_merged(it, 64)?,
            M::Movlps | M::Movlpd | M::Vmovlps | M::Vmovlpd => self.half(it, 0)?,
            M::Movhps | M::Movhpd | M::Vmovhps | M::Vmovhpd => self.half(it, 64)?,
            M::Pand | M::Vpand | M::Andps | M::Andpd | M::Vandps | M::Vandpd | M::Vpandq => {
                self.bitwise_vector(it, 64, Graph::and)?
            }
            M::Vpandd => self.bitwise_vector(it, 32, Graph::and)?,
            M::Por | M::Vpor | M::Orps | M::Orpd | M::Vorps | M::Vorpd | M::Vporq => {
                self.bitwise_vector(it, 64, Graph::or)?
            }
            M::Vpord => self.bitwise_vector(it, 32, Graph::or)?,
            M::Pxor | M::Vpxor | M::Xorps | M::Xorpd | M::Vxorps | M::Vxorpd | M::Vpxorq => {
                self.bitwise_vector(it, 64, Graph::xor)?
            }
            M::Vpxord => self.bitwise_vector(it, 32, Graph::xor)?,
            M::Pandn | M::Vpandn | M::Andnps | M::Andnpd | M::Vandnps | M::Vandnpd | M::Vpandnq => {
                self.bitwise_vector(it, 64, |graph, a, b| graph.and(!a, b))?;
            }
            M::Vpandnd => self.bitwise_vector(it, 32, |graph, a, b| graph.and(!a, b))?,
            M::Vpternlogd => self.ternary(it, 32)?,
            M::Vpternlogq => self.ternary(it, 64)?,
            M::Paddb | M::Vpaddb => self.elements(it, 8, Operation::Add)?,
            M::Paddw | M::Vpaddw => self.elements(it, 16, Operation::Add)?,
            M::Paddd | M::Vpaddd => self.elements(it, 32, Operation::Add)?,
            M::Paddq | M::Vpaddq => self.elements(it, 64, Operation::Add)?,
            M::Psubb | M::Vpsubb => self.difference_of(it, 8)?,
            M::Psubw | M::Vpsubw => self.difference_of(it, 16)?,
            M::Psubd | M::Vpsubd => self.difference_of(it, 32)?,
            M::Psubq | M::Vpsubq => self.difference_of(it, 64)?,
            M::Pmullw | M::Vpmullw => self.elements(it, 16, Operation::Mul)?,
            M::Pmulld | M::Vpmulld => self.elements(it, 32, Operation::Mul)?,
            M::Vpmullq => self.elements(it, 64, Operation::Mul)?,
            M::Pmuludq | M::Vpmuludq => self.wide_product(it)?,
            M::Pmulhuw | M::Vpmulhuw => self.high_product(it)?,
            M::Pcmpeqb | M::Vpcmpeqb => self.elements(it, 8, Operation::Equal)?,
            M::Pcmpeqw | M::Vpcmpeqw => self.elements(it, 16, Operation::Equal)?,
            M::Pcmpeqd | M::Vpcmpeqd => self.elements(it, 32, Operation::Equal)?,
            M::Pcmpeqq | M::Vpcmpeqq => self.elements(it, 64, Operation::Equal)?,
            M::Pcmpgtb | M::Vpcmpgtb => self.elements(it, 8, Operation::Greater)?,
            M::Pcmpgtw | M::Vpcmpgtw => self.elements(it, 16, Operation::Greater)?,
            M::Pcmpgtd | M::Vpcmpgtd => self.elements(it, 32, Operation::Greater)?,
            M::Pcmpgtq | M::Vpcmpgtq => self.elements(it, 64, Operation::Greater)?,
            M::Psllw | M::Vpsllw => self.shifted(it, 16, Shift::Left)?,
            M::Pslld | M::Vpslld => self.shifted(it, 32, Shift::Left)?,
            M::Psllq | M::Vpsllq => self.shifted(it, 64, Shift::Left)?,
            M::Psrlw | M::Vpsrlw => self.shifted(it, 16, Shift::Right)?,
            M::Psrld | M::Vpsrld => self.shifted(it, 32, Shift::Right)?,
            M::Psrlq | M::Vpsrlq => self.shifted(it, 64, Shift::Right)?,
            M::Psraw | M::Vpsraw => self.shifted(it, 16, Shift::RightWithSign)?,
            M::Psrad | M::Vpsrad => self.shifted(it, 32, Shift::RightWithSign)?,
            M::Vpsraq => self.shifted(it, 64, Shift::RightWithSign)?,
            M::Vprold => self.shifted(it, 32, Shift::TurnLeft)?,
            M::Vprolq => self.shifted(it, 64, Shift::TurnLeft)?,
            M::Vprord => self.shifted(it, 32, Shift::TurnRight)?,
            M::Vprorq => self.shifted(it, 64, Shift::TurnRight)?,
            M::Vpsllvw => self.shifted_each(it, 16, Shift::Left)?,
            M::Vpsllvd => self.shifted_each(it, 32, Shift::Left)?,
            M::Vpsllvq => self.shifted_each(it, 64, Shift::Left)?,
            M::Vpsrlvw => self.shifted_each(it, 16, Shift::Right)?,
            M::Vpsrlvd => self.shifted_each(it, 32, Shift::Right)?,
            M::Vpsrlvq => self.shifted_each(it, 64, Shift::Right)?,
            M::Vpsravd => self.shifted_each(it, 32, Shift::RightWithSign)?,
            M::Vprolvd => self.shifted_each(it, 32, Shift::TurnLeft)?,
            M::Vprolvq => self.shifted_each(it, 64, Shift::TurnLeft)?,
            M::Vprorvd => self.shifted_each(it, 32, Shift::TurnRight)?,
            M::Vprorvq => self.shifted_each(it, 64, Shift::TurnRight)?,
            M::Pshufb | M::Vpshufb => self.byte_shuffle(it)?,
            M::Vpermb => self.permuted(it, 8)?,
            M::Vpermw => self.permuted(it, 16)?,
            M::Vpermd | M::Vpermps => self.permuted(it, 32)?,
            M::Vpermq | M::Vpermpd => self.permuted(it, 64)?,
            M::Vpermt2b | M::Vpermi2b => self.permuted_two(it, 8)?,
            M::Vpermt2w | M::Vpermi2w => self.permuted_two(it, 16)?,
            M::Vpermt2d | M::Vpermt2ps | M::Vpermi2d | M::Vpermi2ps => self.permuted_two(it, 32)?,
            M::Vpermt2q | M::Vpermt2pd | M::Vpermi2q | M::Vpermi2pd => self.permuted_two(it, 64)?,
            M::Vinserti128 | M::Vinsertf128 | M::Vinserti64x2 | M::Vinsertf64x2 => {
                self.insert_lane(it, 128, 64)?
            }
            M::Vinserti32x4 | M::Vinsertf32x4 => self.insert_lane(it, 128, 32)?,
            M::Vinserti64x4 | M::Vinsertf64x4 => self.insert_lane(it, 256, 64)?,
            M::Vinserti32x8 | M::Vinsertf32x8 => self.insert_lane(it, 256, 32)?,
            M::Vextracti128 | M::Vextractf128 | M::Vextracti64x2 | M::Vextractf64x2 => {
                self.extract_lane(it, 128, 64)?
            }
            M::Vextracti32x4 | M::Vextractf32x4 => self.extract_lane(it, 128, 32)?,
            M::Vextracti64x4 | M::Vextractf64x4 => self.extract_lane(it, 256, 64)?,
            M::Vextracti32x8 | M::Vextractf32x8 => self.extract_lane(it, 256, 32)?,
            M::Vpbroadcastb => self.broadcast(it, 8, 8)?,
            M::Vpbroadcastw => self.broadcast(it, 16, 16)?,
            M::Vpbroadcastd | M::Vbroadcastss => self.broadcast(it, 32, 32)?,
            M::Vpbroadcastq | M::Vbroadcastsd => self.broadcast(it, 64, 64)?,
            M::Vbroadcasti128 | M::Vbroadcastf128 | M::Vbroadcasti64x2 | M::Vbroadcastf64x2 => {
                self.broadcast(it, 128, 64)?
            }
            M::Vbroadcasti32x4 | M::Vbroadcastf32x4 => self.broadcast(it, 128, 32)?,
            M::Vbroadcasti64x4 | M::Vbroadcastf64x4 => self.broadcast(it, 256, 64)?,
            M::Vbroadcasti32x8 | M::Vbroadcastf32x8 => self.broadcast(it, 256, 32)?,
            M::Vpblendmb => self.blend_by_mask(it, 8)?,
            M::Vpblendmw => self.blend_by_mask(it, 16)?,
            M::Vpblendmd | M::Vblendmps => self.blend_by_mask(it, 32)?,
            M::Vpblendmq | M::Vblendmpd => self.blend_by_mask(it, 64)?,
            M::Vpblendvb => self.blend_by_vector(it)?,
            M::Pinsrb | M::Vpinsrb => self.insert(it, 8)?,
            M::Pinsrw | M::Vpinsrw => self.insert(it, 16)?,
            M::Pinsrd | M::Vpinsrd => self.insert(it, 32)?,
            M::Pinsrq | M::Vpinsrq => self.insert(it, 64)?,
            M::Pextrb | M::Vpextrb => self.extract(it, 8)?,
            M::Pextrw | M::Vpextrw => self.extract(it, 16)?,
            M::Pextrd | M::Vpextrd => self.extract(it, 32)?,
            M::Pextrq | M::Vpextrq => self.extract(it, 64)?,
            M::Packuswb | M::Vpackuswb => self.packed(it, 16, false)?,
            M::Packusdw | M::Vpackusdw => self.packed(it, 32, false)?,
            M::Packsswb | M::Vpacksswb => self.packed(it, 16, true)?,
            M::Packssdw | M::Vpackssdw => self.packed(it, 32, true)?,
            M::Pmovzxbw | M::Vpmovzxbw => self.extended(it, 8, 16, false)?,
            M::Pmovzxbd | M::Vpmovzxbd => self.extended(it, 8, 32, false)?,
            M::Pmovzxbq | M::Vpmovzxbq => self.extended(it, 8, 64, false)?,
            M::Pmovzxwd | M::Vpmovzxwd => self.extended(it, 16, 32, false)?,
            M::Pmovzxwq | M::Vpmovzxwq => self.extended(it, 16, 64, false)?,
            M::Pmovzxdq | M::Vpmovzxdq => self.extended(it, 32, 64, false)?,
            M::Pmovsxbw | M::Vpmovsxbw => self.extended(it, 8, 16, true)?,
            M::Pmovsxbd | M::Vpmovsxbd => self.extended(it, 8, 32, true)?,
            M::Pmovsxbq | M::Vpmovsxbq => self.extended(it, 8, 64, true)?,
            M::Pmovsxwd | M::Vpmovsxwd => self.extended(it, 16, 32, true)?,
            M::Pmovsxwq | M::Vpmovsxwq => self.extended(it, 16, 64, true)?,
            M::Pmovsxdq | M::Vpmovsxdq => self.extended(it, 32, 64, true)?,
            M::Vpmovwb => self.narrowed(it, 16, 8)?,
            M::Vpmovdb => self.narrowed(it, 32, 8)?,
            M::Vpmovqb => self.narrowed(it, 64, 8)?,
            M::Vpmovdw => self.narrowed(it, 32, 16)?,
            M::Vpmovqw => self.narrowed(it, 64, 16)?,
            M::Vpmovqd => self.narrowed(it, 64, 32)?,
            M::Vzeroupper => self.zero_upper(),
            _ => return Ok(self.mask_instruction(it)? || self.scattered(it)?),
        }
        Ok(true)
    }

    /// Writes a vector result, as far as the mask of the instruction says.
    pub(super) fn write(
        &mut self,
        it: &Instruction,
        value: &[Term],
        bits: u32,
        element: u32,
    ) -> Result<(), Stop> {
        let is_memory = it.op_kind(0) == OpKind::Memory;
        let value: Value = match it.op_mask() {
            Register::None => value.into(),
            mask => {
                let old = match () {
                    () if is_memory => {
                        let address = self.address(it)?;
                        self.load(address, bits)?
                    }
                    () if it.zeroing_masking() => self.graph.assemble(bits, &[], &[]),
                    () => self.vector_operand(it, 0, bits)?,
                };
                let mask = self.mask_bits(mask, bits, element);
                self.select(&mask, value, &old)
            }
        };
        if is_memory {
            let address = self.address(it)?;
            return self.store(address, bits, &value);
        }
        self.set_vector(it.op0_register(), &value, bits, is_legacy(it));
        Ok(())
    }

    /// A mask register's bits, each as wide as an element.
    pub(super) fn mask_bits(&mut self, mask: Register, bits: u32, element: u32) -> Value {
        let value = self.register(mask);
        let moves: Vec<Move> = moves::each(bits, element)
            .flat_map(|at| (0..element).map(move |i| Move::first(at / element, at + i, 1)))
            .collect();
        self.graph.assemble(bits, &[&value], &moves)
    }

    fn whole(&mut self, it: &Instruction, element: u32) -> Result<(), Stop> {
        let bits = width(it);
        let value = self.vector_operand(it, 1, bits)?;
        self.write(it, &value, bits, element)
    }

    fn is_shuffled(&mut self, it: &Instruction) -> Result<bool, Stop> {
        let last = it.op_count() - u32::from(it.op_count() > 0);
        let has_control = it.op_count() > 0 && it.op_kind(last) == OpKind::Immediate8;
        let bits = width(it);
        let control = if has_control { immediate(it) } else { 0 };
        // The same names with a register for a control are other instructions.
        let needs_control = matches!(
            it.mnemonic(),
            Mnemonic::Vpermq | Mnemonic::Vpermpd | Mnemonic::Vpermilps | Mnemonic::Vpermilpd
        );
        if bits == 0 || needs_control && !has_control {
            return Ok(false);
        }
        let Some(shuffle) = shuffle(it.mnemonic(), control, bits) else { return Ok(false) };
        let second = it.op_count() - 1 - u32::from(has_control);
        let b = self.vector_operand(it, second, bits)?;
        let value = if shuffle.n_sources == 1 {
            self.graph.assemble(bits, &[&b], &shuffle.moves)
        } else {
            let a = self.vector_operand(it, second - 1, bits)?;
            self.graph.assemble(bits, &[&a, &b], &shuffle.moves)
        };
        self.write(it, &value, bits, shuffle.element)?;
        Ok(true)
    }

    /// `movd` and `movq`: between a general register or memory and the lowest element, with zeros
    /// above.
    fn scalar(&mut self, it: &Instruction, bits: u32) -> Result<(), Stop> {
        unmasked(it)?;
        let is_vector =
            |op: u32| it.op_kind(op) == OpKind::Register && it.op_register(op).is_vector_register();
        let value = if is_vector(1) {
            self.vector_operand(it, 1, bits)?
        } else {
            self.operand(it, 1, bits)?
        };
        if !is_vector(0) {
            return self.set_operand(it, 0, &value);
        }
        let value = self.graph.widened(&value, bits, 128);
        self.set_vector(it.op0_register(), &value, 128, is_legacy(it));
        Ok(())
    }

    fn scalar_or_merged(&mut self, it: &Instruction, bits: u32) -> Result<(), Stop> {
        unmasked(it)?;
        if (0..it.op_count()).any(|op| it.op_kind(op) == OpKind::Memory) {
            return self.scalar(it, bits);
        }
        let (a, b) = (
            self.vector_operand(it, first(it), 128)?,
            self.vector_operand(it, first(it) + 1, 128)?,
        );
        let value = self.graph.assemble(
            128,
            &[&a, &b],
            &[Move { source: 1, from: 0, to: 0, n: bits }, Move::first(bits, bits, 128 - bits)],
        );
        self.write(it, &value, 128, bits)
    }

    /// Half of the lowest 128 bits, from memory or to it.
    fn half(&mut self, it: &Instruction, at: u32) -> Result<(), Stop> {
        if it.op_kind(0) == OpKind::Memory {
            let value = self.vector_operand(it, 1, 128)?;
            let value = self.graph.bits(&value, at, 64);
            return self.set_operand(it, 0, &value);
        }
        let old = self.vector_operand(it, first(it), 128)?;
        let new = self.operand(it, first(it) + 1, 64)?;
        let value = self.graph.assemble(
            128,
            &[&old, &new],
            &[Move::first(64 - at, 64 - at, 64), Move { source: 1, from: 0, to: at, n: 64 }],
        );
        self.write(it, &value, 128, 64)
    }

    fn two(&mut self, it: &Instruction) -> Result<(u32, Value, Value), Stop> {
        let bits = width(it);
        Ok((
            bits,
            self.vector_operand(it, first(it), bits)?,
            self.vector_operand(it, first(it) + 1, bits)?,
        ))
    }

    fn bitwise_vector(&mut self, it: &Instruction, element: u32, f: Bitwise) -> Result<(), Stop> {
        let (bits, a, b) = self.two(it)?;
        let value: Value = a.iter().zip(&b).map(|(a, b)| f(&mut self.graph, *a, *b)).collect();
        self.write(it, &value, bits, element)
    }

    fn ternary(&mut self, it: &Instruction, element: u32) -> Result<(), Stop> {
        let bits = width(it);
        let table = immediate(it) as u8;
        // Where the result does not depend on what was there, it need not be known.
        let (a, b, c) = (
            self.vector_operand(it, 0, bits)?,
            self.vector_operand(it, 1, bits)?,
            self.vector_operand(it, 2, bits)?,
        );
        let value: Value =
            (0..a.len()).map(|i| self.graph.ternary(table, a[i], b[i], c[i])).collect();
        self.write(it, &value, bits, element)
    }

    fn elements(
        &mut self,
        it: &Instruction,
        element: u32,
        operation: Operation,
    ) -> Result<(), Stop> {
        if it.op0_register().is_k() {
            return self.compared_to_mask(it, element, operation);
        }
        let (bits, a, b) = self.two(it)?;
        let value = self.graph.elements(operation, element, &a, &b);
        self.write(it, &value, bits, element)
    }

    fn difference_of(&mut self, it: &Instruction, element: u32) -> Result<(), Stop> {
        let (bits, a, b) = self.two(it)?;
        let value = self.graph.difference(element, &a, &b);
        self.write(it, &value, bits, element)
    }

    /// Products of 64 bits of the lower halves.
    fn wide_product(&mut self, it: &Instruction) -> Result<(), Stop> {
        let (bits, a, b) = self.two(it)?;
        let lower: Vec<Move> = moves::each(bits, 64).map(|at| Move::first(at, at, 32)).collect();
        let (a, b) =
            (self.graph.assemble(bits, &[&a], &lower), self.graph.assemble(bits, &[&b], &lower));
        let value = self.graph.elements(Operation::Mul, 64, &a, &b);
        self.write(it, &value, bits, 64)
    }

    /// The upper halves of products of 16 bits by powers of two, which are shifts.
    fn high_product(&mut self, it: &Instruction) -> Result<(), Stop> {
        let (bits, a, b) = self.two(it)?;
        let factors = |value: &[Term]| -> Option<Vec<u32>> {
            let known = moves::each(bits, 16)
                .map(|at| self.graph.known_bits(value, at, 16).filter(|bit| bit.is_power_of_two()));
            known.map(|known| Some(known?.trailing_zeros())).collect()
        };
        let (value, factors) = match (factors(&a), factors(&b)) {
            (_, Some(factors)) => (&a, factors),
            (Some(factors), _) => (&b, factors),
            _ => return Err(Stop::Unknown("the upper half of a product".into())),
        };
        let moves: Vec<Move> = moves::each(bits, 16)
            .zip(factors)
            .map(|(at, by)| Move::first(at + 16 - by, at, by))
            .collect();
        let value = self.graph.assemble(bits, &[value], &moves);
        self.write(it, &value, bits, 16)
    }

    /// By a number in the instruction, or in the lowest 64 bits of a register or of memory.
    fn shifted(&mut self, it: &Instruction, element: u32, shift: Shift) -> Result<(), Stop> {
        let bits = width(it);
        let last = it.op_count() - 1;
        let source = if it.op_count() == 3 { 1 } else { 0 };
        let by = match it.op_kind(last) {
            OpKind::Immediate8 => it.immediate(last),
            _ => {
                let count = self.vector_operand(it, last, 128)?;
                match self.graph.known_bits(&count, 0, 64) {
                    Some(by) => by,
                    None => return Err(Stop::Unknown("a vector shift by a register".into())),
                }
            }
        };
        let value = self.vector_operand(it, source, bits)?;
        let value = self.graph.assemble(bits, &[&value], &shift.moves(bits, element, by));
        self.write(it, &value, bits, element)
    }

    fn shifted_each(&mut self, it: &Instruction, element: u32, shift: Shift) -> Result<(), Stop> {
        let (bits, value, counts) = self.two(it)?;
        let mut all = Vec::new();
        for at in moves::each(bits, element) {
            let Some(by) = self.graph.known_bits(&counts, at, element) else {
                return Err(Stop::Unknown("a vector shift by a register".into()));
            };
            let moved = shift.moves(element, element, by).into_iter();
            all.extend(moved.map(|moved| Move {
                from: moved.from + at,
                to: moved.to + at,
                ..moved
            }));
        }
        let value = self.graph.assemble(bits, &[&value], &all);
        self.write(it, &value, bits, element)
    }

    /// Numbers that choose what is moved: `n` bits of each element.
    fn choices(
        &self,
        value: &[Term],
        bits: u32,
        element: u32,
    ) -> Result<SmallVec<[u32; 64]>, Stop> {
        let known = moves::each(bits, element)
            .map(|at| self.graph.known_bits(value, at, element).map(|bit| bit as u32));
        known
            .collect::<Option<_>>()
            .ok_or_else(|| Stop::Unknown("a shuffle by a register that is not constant".into()))
    }

    fn byte_shuffle(&mut self, it: &Instruction) -> Result<(), Stop> {
        let (bits, value, control) = self.two(it)?;
        let Ok(choices) = self.choices(&control, bits, 8) else {
            let value = self.looked_up(&value, &control, bits);
            return self.write(it, &value, bits, 8);
        };
        let chosen = choices.iter().enumerate().filter(|pair| pair.1 & 128 == 0);
        let moves: Vec<Move> = chosen
            .map(|(i, choice)| {
                Move::first((i as u32 / 16 * 16 + (choice & 15)) * 8, i as u32 * 8, 8)
            })
            .collect();
        let value = self.graph.assemble(bits, &[&value], &moves);
        self.write(it, &value, bits, 8)
    }

    /// A byte shuffle as a look-up of each byte of a secret in 16 bytes of a register, by
    /// a tree of choices.
    fn looked_up(&mut self, table: &[Term], control: &[Term], bits: u32) -> Value {
        let in_bytes = |from: &dyn Fn(u32) -> u32, n: u32| -> Vec<Move> {
            moves::each(bits, 8)
                .flat_map(|at| {
                    (0..8 / n).map(|i| Move::first(from(at), at + i * n, n)).collect::<Vec<_>>()
                })
                .collect()
        };
        let mut entries: Vec<Value> = (0..16)
            .map(|k| {
                self.graph.assemble(bits, &[table], &in_bytes(&|at| at / 128 * 128 + k * 8, 8))
            })
            .collect();
        for level in 0..4 {
            let mask = self.graph.assemble(bits, &[control], &in_bytes(&|at| at + level, 1));
            entries =
                entries.chunks(2).map(|chunk| self.select(&mask, &chunk[1], &chunk[0])).collect();
        }
        let zeroed = self.graph.assemble(bits, &[control], &in_bytes(&|at| at + 7, 1));
        entries[0].iter().zip(&zeroed).map(|(value, mask)| self.graph.and(*value, !*mask)).collect()
    }

    fn permuted(&mut self, it: &Instruction, element: u32) -> Result<(), Stop> {
        let bits = width(it);
        let (control, value) =
            (self.vector_operand(it, 1, bits)?, self.vector_operand(it, 2, bits)?);
        let n = bits / element;
        let choices = self.choices(&control, bits, element)?;
        let moves: Vec<Move> = choices
            .iter()
            .enumerate()
            .map(|(i, it)| Move::first(it % n * element, i as u32 * element, element))
            .collect();
        let value = self.graph.assemble(bits, &[&value], &moves);
        self.write(it, &value, bits, element)
    }

    fn permuted_two(&mut self, it: &Instruction, element: u32) -> Result<(), Stop> {
        use Mnemonic as M;
        let bits = width(it);
        let (first, control) = match it.mnemonic() {
            M::Vpermt2b | M::Vpermt2w | M::Vpermt2d | M::Vpermt2ps | M::Vpermt2q | M::Vpermt2pd => {
                (0, 1)
            }
            _ => (1, 0),
        };
        let control = self.vector_operand(it, control, bits)?;
        let (a, b) = (self.vector_operand(it, first, bits)?, self.vector_operand(it, 2, bits)?);
        let n = bits / element;
        let choices = self.choices(&control, bits, element)?;
        let chosen = choices.iter().enumerate();
        let moves: Vec<Move> = chosen
            .map(|(i, it)| Move {
                source: (it / n % 2) as usize,
                from: it % n * element,
                to: i as u32 * element,
                n: element,
            })
            .collect();
        let value = self.graph.assemble(bits, &[&a, &b], &moves);
        self.write(it, &value, bits, element)
    }

    fn insert_lane(&mut self, it: &Instruction, lane: u32, element: u32) -> Result<(), Stop> {
        let bits = width(it);
        let (a, b) = (self.vector_operand(it, 1, bits)?, self.vector_operand(it, 2, lane)?);
        let at = immediate(it) % (bits / lane) * lane;
        let mut moves: Vec<Move> = moves::each(bits, lane)
            .filter(|each| *each != at)
            .map(|each| Move::first(each, each, lane))
            .collect();
        moves.push(Move { source: 1, from: 0, to: at, n: lane });
        let value = self.graph.assemble(bits, &[&a, &b], &moves);
        self.write(it, &value, bits, element)
    }

    fn extract_lane(&mut self, it: &Instruction, lane: u32, element: u32) -> Result<(), Stop> {
        let bits = it.op1_register().size() as u32 * 8;
        let value = self.vector_operand(it, 1, bits)?;
        let value = self.graph.bits(&value, immediate(it) % (bits / lane) * lane, lane);
        self.write(it, &value, lane, element)
    }

    fn broadcast(&mut self, it: &Instruction, n: u32, element: u32) -> Result<(), Stop> {
        let bits = it.op0_register().size() as u32 * 8;
        let is_general =
            it.op_kind(1) == OpKind::Register && !it.op1_register().is_vector_register();
        let value =
            if is_general { self.operand(it, 1, n)? } else { self.vector_operand(it, 1, n)? };
        let value = self.repeated(&value, n, bits);
        self.write(it, &value, bits, element)
    }

    fn blend_by_mask(&mut self, it: &Instruction, element: u32) -> Result<(), Stop> {
        let bits = width(it);
        let (a, b) = (self.vector_operand(it, 1, bits)?, self.vector_operand(it, 2, bits)?);
        let mask = match it.op_mask() {
            Register::None => self.graph.number_of_ones(bits),
            mask => self.mask_bits(mask, bits, element),
        };
        let a = if it.zeroing_masking() { self.graph.assemble(bits, &[], &[]) } else { a };
        let value = self.select(&mask, &b, &a);
        self.set_vector(it.op0_register(), &value, bits, false);
        Ok(())
    }

    fn blend_by_vector(&mut self, it: &Instruction) -> Result<(), Stop> {
        let bits = width(it);
        let (a, b, mask) = (
            self.vector_operand(it, 1, bits)?,
            self.vector_operand(it, 2, bits)?,
            self.vector_operand(it, 3, bits)?,
        );
        let choices: Option<SmallVec<[bool; 64]>> =
            (0..bits / 8).map(|i| Some(self.graph.known_bits(&mask, i * 8 + 7, 1)? == 1)).collect();
        let value = match choices {
            Some(choices) => {
                self.graph.assemble(bits, &[&a, &b], &blended(bits, 8, |i| choices[i as usize]))
            }
            None => {
                let mask = self.graph.assemble(bits, &[&mask], &moves::right(bits, 8, 7, true));
                self.select(&mask, &b, &a)
            }
        };
        self.write(it, &value, bits, 8)
    }

    fn insert(&mut self, it: &Instruction, n: u32) -> Result<(), Stop> {
        let a = self.vector_operand(it, first(it), 128)?;
        let b = self.operand(it, first(it) + 1, n)?;
        let at = immediate(it) % (128 / n) * n;
        let around = [
            Move::first(0, 0, at),
            Move::first(at + n, at + n, 128 - at - n),
            Move { source: 1, from: 0, to: at, n },
        ];
        let value = self.graph.assemble(128, &[&a, &b], &around);
        self.write(it, &value, 128, n)
    }

    fn extract(&mut self, it: &Instruction, n: u32) -> Result<(), Stop> {
        let value = self.vector_operand(it, 1, 128)?;
        let value = self.graph.bits(&value, immediate(it) % (128 / n) * n, n);
        let to = self.operand_bits(it, 0);
        let value = if to > n { self.graph.widened(&value, n, to) } else { value };
        self.set_operand(it, 0, &value)
    }

    /// Elements cut to half their size, which must be the size of the numbers in them.
    fn packed(&mut self, it: &Instruction, element: u32, with_sign: bool) -> Result<(), Stop> {
        let (bits, a, b) = self.two(it)?;
        let half = element / 2;
        for at in moves::each(bits, element) {
            for value in [&a, &b] {
                let high = self.graph.bits(value, at + half, half);
                let sign = if with_sign { 0..half } else { 0..0 };
                let sign: Vec<Move> = sign.map(|k| Move::first(at + half - 1, k, 1)).collect();
                if high != self.graph.assemble(half, &[value], &sign) {
                    return Err(Stop::Unknown("a pack that may saturate".into()));
                }
            }
        }
        let n = 128 / element;
        let lane = |at: u32| {
            (0..2 * n).map(move |i| Move {
                source: (i / n) as usize,
                from: at + i % n * element,
                to: at + i * half,
                n: half,
            })
        };
        let moves: Vec<Move> = moves::each(bits, 128).flat_map(lane).collect();
        let value = self.graph.assemble(bits, &[&a, &b], &moves);
        self.write(it, &value, bits, half)
    }

    fn extended(
        &mut self,
        it: &Instruction,
        from: u32,
        to: u32,
        with_sign: bool,
    ) -> Result<(), Stop> {
        let bits = it.op0_register().size() as u32 * 8;
        let value = self.vector_operand(it, 1, bits / to * from)?;
        let one = |i: u32| {
            let sign = if with_sign { from..to } else { 0..0 };
            std::iter::once(Move::first(i * from, i * to, from))
                .chain(sign.map(move |k| Move::first(i * from + from - 1, i * to + k, 1)))
        };
        let moves: Vec<Move> = (0..bits / to).flat_map(one).collect();
        let value = self.graph.assemble(bits, &[&value], &moves);
        self.write(it, &value, bits, to)
    }

    fn narrowed(&mut self, it: &Instruction, from: u32, to: u32) -> Result<(), Stop> {
        let bits = it.op1_register().size() as u32 * 8;
        let value = self.vector_operand(it, 1, bits)?;
        let moves: Vec<Move> =
            (0..bits / from).map(|i| Move::first(i * from, i * to, to)).collect();
        let narrow = bits / from * to;
        if it.op_kind(0) == OpKind::Memory || narrow >= 128 {
            let value = self.graph.assemble(narrow, &[&value], &moves);
            return self.write(it, &value, narrow, to);
        }
        unmasked(it)?;
        let value = self.graph.assemble(128, &[&value], &moves);
        self.write(it, &value, 128, to)
    }
}

impl Graph {
    /// A value of ones.
    pub fn number_of_ones(&self, bits: u32) -> Value {
        (0..self.n_granules(bits)).map(|_| Term::ONES).collect()
    }
}
