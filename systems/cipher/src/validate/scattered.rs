//! Gathers and scatters: elements at addresses that a vector register holds.

use iced_x86::{Instruction, Mnemonic, OpKind, Register};

use super::machine::{Machine, Place, Stop};
use super::moves::Move;
use super::terms::Value;

impl Machine {
    /// Executes a gather or a scatter; false if it is none.
    pub(super) fn scattered(&mut self, it: &Instruction) -> Result<bool, Stop> {
        use Mnemonic as M;
        let (index, element) = match it.mnemonic() {
            M::Vpscatterdd | M::Vscatterdps | M::Vpgatherdd | M::Vgatherdps => (32, 32),
            M::Vpscatterdq | M::Vscatterdpd | M::Vpgatherdq | M::Vgatherdpd => (32, 64),
            M::Vpscatterqd | M::Vscatterqps | M::Vpgatherqd | M::Vgatherqps => (64, 32),
            M::Vpscatterqq | M::Vscatterqpd | M::Vpgatherqq | M::Vgatherqpd => (64, 64),
            _ => return Ok(false),
        };
        let is_scatter = it.op_kind(0) == OpKind::Memory;
        let data = if is_scatter { it.op1_register() } else { it.op0_register() };
        let bits = data.size() as u32 * 8;
        let index_bits = it.memory_index().size() as u32 * 8;
        let addresses = self.addresses(it, index, (bits / element).min(index_bits / index))?;
        // AVX2 has the mask in a third register: the sign of each element.
        let (mask, step) = match it.op_mask() {
            Register::None => (it.op2_register(), element),
            mask => (mask, 1),
        };
        let chosen = self.register(mask);
        let old = self.register(data);
        let mut new: Vec<(u32, Value)> = Vec::new();
        for (i, address) in (0..).zip(addresses) {
            match self.graph.known_bits(&chosen, i * step + step - 1, 1) {
                None => return Err(Stop::Leak(Place::Address)),
                Some(0) => {}
                Some(_) if is_scatter => {
                    let value = self.graph.bits(&old, i * element, element);
                    self.store(address, element, &value)?;
                }
                Some(_) => new.push((i, self.load(address, element)?)),
            }
        }
        if step == 1 {
            self.set_mask(mask, &[super::terms::Term::ZERO], 8);
        } else {
            let zeros = self.graph.assemble(128, &[], &[]);
            self.set_vector(mask, &zeros, 128, false);
        }
        if !is_scatter {
            let n = index_bits / index * element;
            let is_old = |i: &u32| *i * element < n && new.iter().all(|pair| pair.0 != *i);
            let mut moves: Vec<Move> = (0..bits / element)
                .filter(is_old)
                .map(|i| Move::first(i * element, i * element, element))
                .collect();
            moves.extend(new.iter().enumerate().map(|(k, it)| Move {
                source: k + 1,
                from: 0,
                to: it.0 * element,
                n: element,
            }));
            let sources: Vec<&[_]> =
                std::iter::once(&old[..]).chain(new.iter().map(|pair| &pair.1[..])).collect();
            let value = self.graph.assemble(bits, &sources, &moves);
            self.set_vector(data, &value, bits, false);
        }
        Ok(true)
    }

    /// The address of each element: base, index times scale, displacement.
    fn addresses(&mut self, it: &Instruction, index: u32, n: u32) -> Result<Vec<u64>, Stop> {
        let base = match it.memory_base() {
            Register::None => 0,
            base => {
                let base = self.register(base);
                self.graph.known(&base).ok_or(Stop::Leak(Place::Address))?
            }
        };
        let indices = self.register(it.memory_index());
        let address = |i: u32| {
            let at = self
                .graph
                .known_bits(&indices, i * index, index)
                .ok_or(Stop::Leak(Place::Address))?;
            let at = if index == 32 { i64::from(at as u32 as i32) as u64 } else { at };
            let at = at.wrapping_mul(it.memory_index_scale().into());
            Ok(base.wrapping_add(at).wrapping_add(it.memory_displacement64()))
        };
        (0..n).map(address).collect()
    }
}
