//! Instructions that write mask registers, or work on them.

use iced_x86::{Instruction, Mnemonic, Register};

use super::machine::{Machine, Stop};
use super::moves::{self, Move};
use super::operation::Operation;
use super::terms::{Graph, Term, Value};
use super::vector::{Bitwise, immediate, width};

impl Machine {
    /// Instructions on mask registers; false if it is none.
    pub(super) fn mask_instruction(&mut self, it: &Instruction) -> Result<bool, Stop> {
        use Mnemonic as M;
        let bits = match it.mnemonic() {
            M::Kmovb | M::Kxnorb | M::Kxorb | M::Kandb | M::Korb | M::Knotb | M::Kandnb => 8,
            M::Kmovw | M::Kxnorw | M::Kxorw | M::Kandw | M::Korw | M::Knotw | M::Kandnw => 16,
            M::Kmovd | M::Kxnord | M::Kxord | M::Kandd | M::Kord | M::Knotd | M::Kandnd => 32,
            M::Kmovq | M::Kxnorq | M::Kxorq | M::Kandq | M::Korq | M::Knotq | M::Kandnq => 64,
            M::Kshiftlb | M::Kshiftrb => return self.mask_shift(it, 8),
            M::Kshiftlw | M::Kshiftrw => return self.mask_shift(it, 16),
            M::Kshiftld | M::Kshiftrd => return self.mask_shift(it, 32),
            M::Kshiftlq | M::Kshiftrq => return self.mask_shift(it, 64),
            M::Kunpckbw => return self.masks_joined(it, 8),
            M::Kunpckwd => return self.masks_joined(it, 16),
            M::Kunpckdq => return self.masks_joined(it, 32),
            M::Vptestmb | M::Vptestnmb => return self.tested_to_mask(it, 8),
            M::Vptestmw | M::Vptestnmw => return self.tested_to_mask(it, 16),
            M::Vptestmd | M::Vptestnmd => return self.tested_to_mask(it, 32),
            M::Vptestmq | M::Vptestnmq => return self.tested_to_mask(it, 64),
            M::Vpcmpb | M::Vpcmpub => return self.ordered_to_mask(it, 8),
            M::Vpcmpw | M::Vpcmpuw => return self.ordered_to_mask(it, 16),
            M::Vpcmpd | M::Vpcmpud => return self.ordered_to_mask(it, 32),
            M::Vpcmpq | M::Vpcmpuq => return self.ordered_to_mask(it, 64),
            M::Vpmovm2b => return self.mask_to_vector(it, 8),
            M::Vpmovm2w => return self.mask_to_vector(it, 16),
            M::Vpmovm2d => return self.mask_to_vector(it, 32),
            M::Vpmovm2q => return self.mask_to_vector(it, 64),
            M::Vpmovb2m => return self.signs_to_mask(it, 8),
            M::Vpmovw2m => return self.signs_to_mask(it, 16),
            M::Vpmovd2m => return self.signs_to_mask(it, 32),
            M::Vpmovq2m => return self.signs_to_mask(it, 64),
            _ => return Ok(false),
        };
        let value: Value = match it.op_count() {
            2 => {
                let value = self.operand(it, 1, bits)?;
                let value = if matches!(it.mnemonic(), M::Knotb | M::Knotw | M::Knotd | M::Knotq) {
                    value.iter().map(|value| !*value).collect()
                } else {
                    value
                };
                if it.op0_register().is_k() {
                    self.set_mask(it.op0_register(), &value, bits);
                } else {
                    let value = self.graph.bits(&value, 0, bits);
                    let to = self.operand_bits(it, 0);
                    let value =
                        if to > bits { self.graph.widened(&value, bits, to) } else { value };
                    self.set_operand(it, 0, &value)?;
                }
                return Ok(true);
            }
            _ => {
                let (a, b) = (self.register(it.op1_register()), self.register(it.op2_register()));
                let name = it.mnemonic();
                let f: Bitwise = match name {
                    M::Kxnorb | M::Kxnorw | M::Kxnord | M::Kxnorq => |graph, a, b| !graph.xor(a, b),
                    M::Kxorb | M::Kxorw | M::Kxord | M::Kxorq => Graph::xor,
                    M::Kandb | M::Kandw | M::Kandd | M::Kandq => Graph::and,
                    M::Kandnb | M::Kandnw | M::Kandnd | M::Kandnq => |graph, a, b| graph.and(!a, b),
                    _ => Graph::or,
                };
                a.iter().zip(&b).map(|(a, b)| f(&mut self.graph, *a, *b)).collect()
            }
        };
        self.set_mask(it.op0_register(), &value, bits);
        Ok(true)
    }

    fn mask_to_vector(&mut self, it: &Instruction, element: u32) -> Result<bool, Stop> {
        let bits = width(it);
        let value = self.mask_bits(it.op1_register(), bits, element);
        self.set_vector(it.op0_register(), &value, bits, false);
        Ok(true)
    }

    fn signs_to_mask(&mut self, it: &Instruction, element: u32) -> Result<bool, Stop> {
        let bits = it.op1_register().size() as u32 * 8;
        let value = self.vector_operand(it, 1, bits)?;
        let signs =
            self.graph.assemble(bits, &[&value], &moves::right(bits, element, element - 1, false));
        self.write_mask(it, &signs, bits, element)?;
        Ok(true)
    }

    fn mask_shift(&mut self, it: &Instruction, n: u32) -> Result<bool, Stop> {
        use Mnemonic as M;
        let value = self.register(it.op1_register());
        let by = immediate(it).min(n);
        let is_left =
            matches!(it.mnemonic(), M::Kshiftlb | M::Kshiftlw | M::Kshiftld | M::Kshiftlq);
        let moved = if is_left { Move::first(0, by, n - by) } else { Move::first(by, 0, n - by) };
        let value = self.graph.assemble(64, &[&value], &[moved]);
        self.set_mask(it.op0_register(), &value, 64);
        Ok(true)
    }

    /// The lower bits of the first source above those of the second.
    fn masks_joined(&mut self, it: &Instruction, n: u32) -> Result<bool, Stop> {
        let (high, low) = (self.register(it.op1_register()), self.register(it.op2_register()));
        let value = self.graph.assemble(
            64,
            &[&low, &high],
            &[Move::first(0, 0, n), Move { source: 1, from: 0, to: n, n }],
        );
        self.set_mask(it.op0_register(), &value, 64);
        Ok(true)
    }

    /// Where the conjunction of two elements is not 0, or where it is.
    fn tested_to_mask(&mut self, it: &Instruction, element: u32) -> Result<bool, Stop> {
        use Mnemonic as M;
        let bits = it.op1_register().size() as u32 * 8;
        let (a, b) = (self.vector_operand(it, 1, bits)?, self.vector_operand(it, 2, bits)?);
        let both: Value = a.iter().zip(&b).map(|(a, b)| self.graph.and(*a, *b)).collect();
        let zeros = self.graph.assemble(bits, &[], &[]);
        let is_zero = self.graph.elements(Operation::Equal, element, &both, &zeros);
        let is_for_zero =
            matches!(it.mnemonic(), M::Vptestnmb | M::Vptestnmw | M::Vptestnmd | M::Vptestnmq);
        let value =
            if is_for_zero { is_zero } else { is_zero.iter().map(|found| !*found).collect() };
        self.write_mask(it, &value, bits, element)?;
        Ok(true)
    }

    /// A comparison that the last operand names.
    fn ordered_to_mask(&mut self, it: &Instruction, element: u32) -> Result<bool, Stop> {
        use Mnemonic as M;
        let bits = it.op1_register().size() as u32 * 8;
        let (a, b) = (self.vector_operand(it, 1, bits)?, self.vector_operand(it, 2, bits)?);
        let has_sign = matches!(it.mnemonic(), M::Vpcmpb | M::Vpcmpw | M::Vpcmpd | M::Vpcmpq);
        let predicate = immediate(it) & 7;
        let value = match (predicate & 3, has_sign) {
            (0, _) => self.graph.elements(Operation::Equal, element, &a, &b),
            (1, true) => self.graph.elements(Operation::Greater, element, &b, &a),
            (1, false) => self.graph.elements(Operation::Below, element, &a, &b),
            // Not above is below or equal.
            (2, true) => self
                .graph
                .elements(Operation::Greater, element, &a, &b)
                .iter()
                .map(|element| !*element)
                .collect(),
            (2, false) => self
                .graph
                .elements(Operation::Below, element, &b, &a)
                .iter()
                .map(|element| !*element)
                .collect(),
            _ => self.graph.assemble(bits, &[], &[]),
        };
        let value =
            if predicate & 4 == 0 { value } else { value.iter().map(|value| !*value).collect() };
        self.write_mask(it, &value, bits, element)?;
        Ok(true)
    }

    pub(super) fn compared_to_mask(
        &mut self,
        it: &Instruction,
        element: u32,
        operation: Operation,
    ) -> Result<(), Stop> {
        let bits = it.op1_register().size() as u32 * 8;
        let (a, b) = (self.vector_operand(it, 1, bits)?, self.vector_operand(it, 2, bits)?);
        let value = self.graph.elements(operation, element, &a, &b);
        self.write_mask(it, &value, bits, element)
    }

    /// The lowest bit of each element into a mask register.
    fn write_mask(
        &mut self,
        it: &Instruction,
        value: &[Term],
        bits: u32,
        element: u32,
    ) -> Result<(), Stop> {
        let n = bits / element;
        let moves: Vec<Move> = (0..n).map(|i| Move::first(i * element, i, 1)).collect();
        let mut mask = self.graph.assemble(64, &[value], &moves);
        if it.op_mask() != Register::None {
            let among = self.register(it.op_mask());
            mask = mask.iter().zip(&among).map(|(a, b)| self.graph.and(*a, *b)).collect();
        }
        self.set_mask(it.op0_register(), &mask, n.min(64));
        Ok(())
    }
}
