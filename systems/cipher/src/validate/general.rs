//! Instructions on general registers, flags and the flow of control, one step each.

use iced_x86::{ConditionCode, FlowControl, Instruction, Mnemonic, OpKind, Register};

use super::machine::{Flags, Machine, Place, Stop, Truth};
use super::moves::{self, Move};
use super::operation::Operation;
use super::terms::{Term, Value};

/// Where the walk goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// With the instruction after.
    Behind,
    At(u64),
}

type Bitwise = fn(&mut super::terms::Graph, Term, Term) -> Term;

impl Machine {
    /// Executes an instruction on general registers; `None` if it is none.
    pub fn general(&mut self, it: &Instruction) -> Result<Option<Next>, Stop> {
        use Mnemonic as M;
        match it.mnemonic() {
            M::Mov => self.mov(it)?,
            M::Movzx => self.extend(it, false)?,
            M::Movsx | M::Movsxd => self.extend(it, true)?,
            M::Lea => self.lea(it)?,
            M::Xchg => self.exchange(it)?,
            M::Bswap => self.bswap(it)?,
            M::Cdqe => self.convert(Register::EAX, Register::RAX),
            M::Cwde => self.convert(Register::AX, Register::EAX),
            M::Cdq => self.sign(Register::EAX, Register::EDX),
            M::Cqo => self.sign(Register::RAX, Register::RDX),
            M::And => self.bitwise(it, |graph, a, b| graph.and(a, b))?,
            M::Or => self.bitwise(it, |graph, a, b| graph.or(a, b))?,
            M::Xor => self.bitwise(it, |graph, a, b| graph.xor(a, b))?,
            M::Test => self.test(it)?,
            M::Not => self.not(it)?,
            M::Add => self.sum(it, false)?,
            M::Sub => self.sum(it, true)?,
            M::Cmp => self.compare(it)?,
            M::Inc => self.step_by_one(it, 1)?,
            M::Dec => self.step_by_one(it, u64::MAX)?,
            M::Neg => self.neg(it)?,
            M::Imul => self.imul(it)?,
            M::Shl | M::Sal | M::Shr | M::Sar | M::Rol | M::Ror => self.shift(it)?,
            M::Shld | M::Shrd => self.double_shift(it)?,
            M::Adc => self.sum_with_carry(it, false)?,
            M::Sbb => self.sum_with_carry(it, true)?,
            M::Bt | M::Btc | M::Btr | M::Bts => self.bit_test(it)?,
            M::Div | M::Idiv => return Err(self.division(it)?),
            M::Push => {
                let value = self.operand(it, 0, 64)?;
                self.push(&value)?;
            }
            M::Pop => {
                let value = self.pop()?;
                self.set_operand(it, 0, &value)?;
            }
            M::Leave => {
                let frame = self.register(Register::RBP);
                self.set_register(Register::RSP, &frame);
                let value = self.pop()?;
                self.set_register(Register::RBP, &value);
            }
            M::Stosq | M::Stosb | M::Stosd | M::Movsq | M::Movsb | M::Movsd
                if it.has_rep_prefix() =>
            {
                self.repeated_string(it)?
            }
            M::Nop | M::Endbr64 | M::Cld | M::Prefetcht0 => {}
            M::Jmp | M::Call | M::Ret => return self.flow(it).map(Some),
            _ if it.flow_control() == FlowControl::ConditionalBranch => {
                return self.branch(it).map(Some);
            }
            _ if is_cmov(it) => self.cmov(it)?,
            _ if is_set(it) => {
                let (yes, no) = (self.graph.number_value(1, 8), self.graph.number_value(0, 8));
                let truth = self.truth(it.condition_code())?;
                let value = self.choose(truth, 8, &yes, &no);
                self.set_operand(it, 0, &value)?;
            }
            _ => return Ok(None),
        }
        Ok(Some(Next::Behind))
    }

    fn mov(&mut self, it: &Instruction) -> Result<(), Stop> {
        let bits = self.operand_bits(it, 0);
        let value = self.operand(it, 1, bits)?;
        self.set_operand(it, 0, &value)
    }

    fn extend(&mut self, it: &Instruction, with_sign: bool) -> Result<(), Stop> {
        let (from, to) = (self.operand_bits(it, 1), self.operand_bits(it, 0));
        let value = self.operand(it, 1, from)?;
        let value = if with_sign {
            self.graph.sign_extended(&value, from, to)
        } else {
            self.graph.widened(&value, from, to)
        };
        self.set_operand(it, 0, &value)
    }

    fn convert(&mut self, from: Register, to: Register) {
        let value = self.register(from);
        let value = self.graph.sign_extended(&value, from.size() as u32 * 8, to.size() as u32 * 8);
        self.set_register(to, &value);
    }

    /// Fills a register with the sign of another one.
    fn sign(&mut self, from: Register, to: Register) {
        let bits = from.size() as u32 * 8;
        let value = self.register(from);
        let value = self.graph.assemble(bits, &[&value], &moves::right(bits, bits, bits - 1, true));
        self.set_register(to, &value);
    }

    fn lea(&mut self, it: &Instruction) -> Result<(), Stop> {
        let bits = self.operand_bits(it, 0);
        if let Ok(address) = self.address(it) {
            let value = self.graph.number_value(address, bits);
            return self.set_operand(it, 0, &value);
        }
        if [it.memory_base(), it.memory_index()]
            .iter()
            .any(|it| *it != Register::None && it.size() < 8)
        {
            return Err(Stop::Unknown("an address of 32 bits".into()));
        }
        // Arithmetic on what is no address.
        let part = |machine: &mut Machine, register: Register| match register {
            Register::None => machine.graph.number_value(0, 64),
            _ => machine.register(register.full_register()),
        };
        let (base, index) = (part(self, it.memory_base()), part(self, it.memory_index()));
        let index = self.graph.assemble(
            64,
            &[&index],
            &moves::left(64, 64, it.memory_index_scale().trailing_zeros()),
        );
        let sum = self.graph.elements(Operation::Add, 64, &base, &index);
        let displacement = self.graph.number_value(it.memory_displacement64(), 64);
        let sum = self.graph.elements(Operation::Add, 64, &sum, &displacement);
        let value = self.graph.bits(&sum, 0, bits);
        self.set_operand(it, 0, &value)
    }

    fn exchange(&mut self, it: &Instruction) -> Result<(), Stop> {
        let bits = self.operand_bits(it, 0);
        let (a, b) = (self.operand(it, 0, bits)?, self.operand(it, 1, bits)?);
        self.set_operand(it, 0, &b)?;
        self.set_operand(it, 1, &a)
    }

    fn bswap(&mut self, it: &Instruction) -> Result<(), Stop> {
        let bits = self.operand_bits(it, 0);
        let value = self.operand(it, 0, bits)?;
        let moves: Vec<Move> =
            moves::each(bits, 8).map(|at| Move::first(at, bits - 8 - at, 8)).collect();
        let value = self.graph.assemble(bits, &[&value], &moves);
        self.set_operand(it, 0, &value)
    }

    /// Both operands of an instruction that also writes the first.
    fn both(&mut self, it: &Instruction) -> Result<(u32, Value, Value), Stop> {
        let bits = self.operand_bits(it, 0);
        Ok((bits, self.operand(it, 0, bits)?, self.operand(it, 1, bits)?))
    }

    fn bitwise(&mut self, it: &Instruction, f: Bitwise) -> Result<(), Stop> {
        let (bits, a, b) = self.both(it)?;
        let value: Value = if matches!(it.mnemonic(), Mnemonic::Xor) && a == b {
            self.graph.number_value(0, bits)
        } else {
            a.iter().zip(&b).map(|(a, b)| f(&mut self.graph, *a, *b)).collect()
        };
        self.set_flags(bits, &value);
        self.set_operand(it, 0, &value)
    }

    fn test(&mut self, it: &Instruction) -> Result<(), Stop> {
        let (bits, a, b) = self.both(it)?;
        let value: Value = a.iter().zip(&b).map(|(a, b)| self.graph.and(*a, *b)).collect();
        self.set_flags(bits, &value);
        Ok(())
    }

    fn not(&mut self, it: &Instruction) -> Result<(), Stop> {
        let bits = self.operand_bits(it, 0);
        let value = self.operand(it, 0, bits)?;
        let value = self.complement(&value, bits);
        self.set_operand(it, 0, &value)
    }

    /// The complement of a value of so many bits.
    pub fn complement(&mut self, value: &[Term], bits: u32) -> Value {
        let mask = self.graph.number_value(u64::MAX, bits.min(64));
        value.iter().map(|value| self.graph.xor(*value, mask[0])).collect()
    }

    /// Flags of a bitwise operation.
    fn set_flags(&mut self, bits: u32, value: &[Term]) {
        self.flags = match self.graph.known(value) {
            Some(number) => Flags::Known {
                zero: number == 0,
                sign: number >> (bits - 1) & 1 == 1,
                carry: Some(false),
                overflow: false,
            },
            None => Flags::Result(bits, value.into()),
        };
    }

    fn sum(&mut self, it: &Instruction, is_difference: bool) -> Result<(), Stop> {
        let (bits, a, b) = self.both(it)?;
        let value =
            if is_difference { self.difference(bits, &a, &b) } else { self.plus(bits, &a, &b) };
        self.flags_of_sum(bits, is_difference, &a, &b);
        self.set_operand(it, 0, &value)
    }

    fn plus(&mut self, bits: u32, a: &[Term], b: &[Term]) -> Value {
        let wide = bits.max(self.graph.granule());
        let value = self.graph.elements(Operation::Add, wide, a, b);
        self.cut(value, bits)
    }

    fn difference(&mut self, bits: u32, a: &[Term], b: &[Term]) -> Value {
        let wide = bits.max(self.graph.granule());
        let value = self.graph.difference(wide, a, b);
        self.cut(value, bits)
    }

    /// A value without what is above so many bits.
    fn cut(&mut self, value: Value, bits: u32) -> Value {
        if bits < self.graph.granule() { self.graph.bits(&value, 0, bits) } else { value }
    }

    fn flags_of_sum(&mut self, bits: u32, is_difference: bool, a: &[Term], b: &[Term]) {
        self.flags = match (self.graph.known(a), self.graph.known(b)) {
            (Some(x), Some(y)) => {
                let mask = u64::MAX >> (64 - bits);
                let result =
                    if is_difference { x.wrapping_sub(y) } else { x.wrapping_add(y) } & mask;
                let top = |number: u64| number >> (bits - 1) & 1 == 1;
                let carry = if is_difference { x < y } else { result < x };
                let overflow = if is_difference {
                    top(x) != top(y) && top(result) != top(x)
                } else {
                    top(x) == top(y) && top(result) != top(x)
                };
                Flags::Known { zero: result == 0, sign: top(result), carry: Some(carry), overflow }
            }
            _ if is_difference => Flags::Compared(bits, a.into(), b.into()),
            _ => Flags::Unknown,
        };
    }

    fn sum_with_carry(&mut self, it: &Instruction, is_difference: bool) -> Result<(), Stop> {
        let (bits, a, b) = self.both(it)?;
        let carry = self.truth(ConditionCode::b)?;
        let (one, zero) = (self.graph.number_value(1, bits), self.graph.number_value(0, bits));
        let carry = self.choose(carry, bits, &one, &zero);
        let one_by_one = |machine: &mut Machine, a: &[Term], b: &[Term]| {
            if is_difference { machine.difference(bits, a, b) } else { machine.plus(bits, a, b) }
        };
        let value = one_by_one(self, &a, &b);
        let value = one_by_one(self, &value, &carry);
        self.flags = Flags::Unknown;
        self.set_operand(it, 0, &value)
    }

    fn compare(&mut self, it: &Instruction) -> Result<(), Stop> {
        let (bits, a, b) = self.both(it)?;
        self.flags_of_sum(bits, true, &a, &b);
        Ok(())
    }

    fn step_by_one(&mut self, it: &Instruction, by: u64) -> Result<(), Stop> {
        let bits = self.operand_bits(it, 0);
        let value = self.operand(it, 0, bits)?;
        let one = self.graph.number_value(by, bits);
        // The carry stays what it was.
        let carry = if let Flags::Known { carry, .. } = self.flags { carry } else { None };
        let sum = self.plus(bits, &value, &one);
        self.flags_of_sum(bits, false, &value, &one);
        if let Flags::Known { carry: it, .. } = &mut self.flags {
            *it = carry;
        }
        self.set_operand(it, 0, &sum)
    }

    fn neg(&mut self, it: &Instruction) -> Result<(), Stop> {
        let bits = self.operand_bits(it, 0);
        let value = self.operand(it, 0, bits)?;
        let zero = self.graph.number_value(0, bits);
        let result = self.difference(bits, &zero, &value);
        self.flags_of_sum(bits, true, &zero, &value);
        self.set_operand(it, 0, &result)
    }

    fn imul(&mut self, it: &Instruction) -> Result<(), Stop> {
        let bits = self.operand_bits(it, 0);
        let (a, b) = match it.op_count() {
            2 => (self.operand(it, 0, bits)?, self.operand(it, 1, bits)?),
            3 => (self.operand(it, 1, bits)?, self.operand(it, 2, bits)?),
            _ => return Err(Stop::Unknown("a product of twice the size".into())),
        };
        let value = self.graph.elements(Operation::Mul, bits.max(self.graph.granule()), &a, &b);
        let value = self.cut(value, bits);
        self.flags = Flags::Unknown;
        self.set_operand(it, 0, &value)
    }

    fn shift(&mut self, it: &Instruction) -> Result<(), Stop> {
        use Mnemonic as M;
        let bits = self.operand_bits(it, 0);
        let value = self.operand(it, 0, bits)?;
        let count = if it.op_count() == 1 {
            self.graph.number_value(1, 8)
        } else {
            self.operand(it, 1, 8)?
        };
        let Some(count) = self.graph.known(&count) else {
            return self.shift_by_register(it, bits, &value, &count);
        };
        let count = (count & if bits == 64 { 63 } else { 31 }) as u32;
        if count == 0 {
            return Ok(());
        }
        let moves = match it.mnemonic() {
            M::Shl | M::Sal => moves::left(bits, bits, count),
            M::Shr => moves::right(bits, bits, count, false),
            M::Sar => moves::right(bits, bits, count, true),
            M::Rol => moves::turned(bits, bits, count % bits),
            _ => moves::turned(bits, bits, (bits - count % bits) % bits),
        };
        let result = self.graph.assemble(bits, &[&value], &moves);
        self.set_flags(bits, &result);
        let shifted_out = match it.mnemonic() {
            M::Shl | M::Sal => bits.checked_sub(count),
            _ => Some(count - 1).filter(|found| *found < bits),
        };
        let carried = shifted_out
            .and_then(|at| self.graph.known_bits(&value, at, 1))
            .map(|known_bits| known_bits == 1);
        let was_signed = self.graph.known_bits(&value, bits - 1, 1) == Some(1);
        self.flags = match std::mem::replace(&mut self.flags, Flags::Unknown) {
            _ if matches!(it.mnemonic(), M::Rol | M::Ror) => Flags::Unknown,
            Flags::Known { zero, sign, .. } => {
                Flags::Known { zero, sign, carry: carried, overflow: sign != was_signed }
            }
            Flags::Result(bits, value) => Flags::Shifted(bits, value),
            other => other,
        };
        self.set_operand(it, 0, &result)
    }

    fn shift_by_register(
        &mut self,
        it: &Instruction,
        bits: u32,
        value: &[Term],
        count: &[Term],
    ) -> Result<(), Stop> {
        let operation = match it.mnemonic() {
            Mnemonic::Shl | Mnemonic::Sal => Operation::Shl,
            Mnemonic::Shr => Operation::Shr,
            Mnemonic::Sar => Operation::Sar,
            _ => return Err(Stop::Unknown("a rotation by a register".into())),
        };
        self.shifts.insert(it.ip());
        let mask = self.graph.number_value(if bits == 64 { 63 } else { 31 }, 8);
        let count: Value = count.iter().zip(&mask).map(|(a, b)| self.graph.and(*a, *b)).collect();
        let count = self.graph.widened(&count, 8, bits.max(self.graph.granule()));
        if bits < self.graph.granule() && operation == Operation::Sar {
            return Err(Stop::Unknown("a shift of part of a word by a register".into()));
        }
        let result = self.graph.elements(operation, bits.max(self.graph.granule()), value, &count);
        let result = self.cut(result, bits);
        self.flags = Flags::Unknown;
        self.set_operand(it, 0, &result)
    }

    /// Divisions take longer for some numbers than for others.
    fn division(&mut self, it: &Instruction) -> Result<Stop, Stop> {
        let operands =
            [self.operand(it, 0, 64)?, self.register(Register::RAX), self.register(Register::RDX)];
        let is_known = operands.iter().all(|operand| self.graph.known(operand).is_some());
        Ok(if is_known { Stop::Unknown("a division".into()) } else { Stop::Leak(Place::Division) })
    }

    fn double_shift(&mut self, it: &Instruction) -> Result<(), Stop> {
        let (bits, a, b) = self.both(it)?;
        let count = self.operand(it, 2, 8)?;
        let Some(count) = self.graph.known(&count) else {
            return Err(Stop::Unknown("a double shift by a register".into()));
        };
        let count = (count & if bits == 64 { 63 } else { 31 }) as u32;
        if count == 0 || count >= bits {
            return if count == 0 {
                Ok(())
            } else {
                Err(Stop::Unknown("a double shift by more than its size".into()))
            };
        }
        let moves = if it.mnemonic() == Mnemonic::Shld {
            [
                Move::first(0, count, bits - count),
                Move { source: 1, from: bits - count, to: 0, n: count },
            ]
        } else {
            [
                Move::first(count, 0, bits - count),
                Move { source: 1, from: 0, to: bits - count, n: count },
            ]
        };
        let value = self.graph.assemble(bits, &[&a, &b], &moves);
        self.flags = Flags::Unknown;
        self.set_operand(it, 0, &value)
    }

    fn bit_test(&mut self, it: &Instruction) -> Result<(), Stop> {
        let (bits, a, b) = self.both(it)?;
        if it.op_kind(0) == OpKind::Memory && it.op_kind(1) == OpKind::Register {
            return Err(Stop::Unknown("a bit of memory".into()));
        }
        let Some(at) = self.graph.known(&b) else {
            return Err(Stop::Unknown("a bit chosen by a register".into()));
        };
        let at = at as u32 % bits;
        let bit = self.graph.bits(&a, at, 1);
        let mask = self.graph.number_value(1 << at, bits);
        let f: Bitwise = match it.mnemonic() {
            Mnemonic::Btc => |graph, a, mask| graph.xor(a, mask),
            Mnemonic::Btr => |graph, a, mask| graph.and(a, !mask),
            Mnemonic::Bts => |graph, a, mask| graph.or(a, mask),
            _ => {
                self.flags = Flags::Carry(bit[0]);
                return Ok(());
            }
        };
        let value: Value =
            a.iter().zip(&mask).map(|(a, mask)| f(&mut self.graph, *a, *mask)).collect();
        self.flags = Flags::Carry(bit[0]);
        self.set_operand(it, 0, &value)
    }

    fn push(&mut self, value: &[Term]) -> Result<(), Stop> {
        let top = self.stack()? - 8;
        self.set_number(Register::RSP, top);
        self.store(top, 64, value)
    }

    fn pop(&mut self) -> Result<Value, Stop> {
        let top = self.stack()?;
        let value = self.load(top, 64)?;
        self.set_number(Register::RSP, top + 8);
        Ok(value)
    }

    pub fn stack(&mut self) -> Result<u64, Stop> {
        let pointer = self.register(Register::RSP);
        self.graph.known(&pointer).ok_or(Stop::Leak(Place::Address))
    }

    fn repeated_string(&mut self, it: &Instruction) -> Result<(), Stop> {
        let number = |machine: &mut Machine, register: Register| {
            let value = machine.register(register);
            machine.graph.known(&value).ok_or(Stop::Leak(Place::Address))
        };
        let bits = it.memory_size().size() as u32 * 8;
        let step = u64::from(bits / 8);
        let (n, to) = (number(self, Register::RCX)?, number(self, Register::RDI)?);
        let is_move = matches!(it.mnemonic(), Mnemonic::Movsq | Mnemonic::Movsb | Mnemonic::Movsd);
        let from = if is_move { number(self, Register::RSI)? } else { 0 };
        for i in 0..n {
            let value = if is_move {
                self.load(from + i * step, bits)?
            } else {
                let whole = self.register(Register::RAX);
                self.graph.bits(&whole, 0, bits)
            };
            self.store(to + i * step, bits, &value)?;
        }
        self.set_number(Register::RCX, 0);
        self.set_number(Register::RDI, to + n * step);
        if is_move {
            self.set_number(Register::RSI, from + n * step);
        }
        Ok(())
    }

    fn flow(&mut self, it: &Instruction) -> Result<Next, Stop> {
        if it.mnemonic() == Mnemonic::Ret {
            let value = self.pop()?;
            return self.graph.known(&value).map(Next::At).ok_or(Stop::Leak(Place::Branch));
        }
        let target = match it.op_kind(0) {
            OpKind::NearBranch64 => it.near_branch64(),
            _ => {
                let value = self.operand(it, 0, 64)?;
                self.graph.known(&value).ok_or(Stop::Leak(Place::Branch))?
            }
        };
        if it.mnemonic() == Mnemonic::Call {
            let back = self.graph.number_value(it.next_ip(), 64);
            self.push(&back)?;
        }
        Ok(Next::At(target))
    }

    fn branch(&mut self, it: &Instruction) -> Result<Next, Stop> {
        match self.truth(it.condition_code())? {
            Truth::Known(true) => Ok(Next::At(it.near_branch64())),
            Truth::Known(false) => Ok(Next::Behind),
            Truth::Depends(_) => Err(Stop::Leak(Place::Branch)),
        }
    }

    fn cmov(&mut self, it: &Instruction) -> Result<(), Stop> {
        let (bits, old, new) = self.both(it)?;
        let truth = self.truth(it.condition_code())?;
        let value = self.choose(truth, bits, &new, &old);
        self.set_operand(it, 0, &value)
    }

    /// Whether a condition holds.
    fn truth(&mut self, condition: ConditionCode) -> Result<Truth, Stop> {
        use ConditionCode as C;
        let unknown = || Err(Stop::Unknown(format!("the condition {condition:?}")));
        // Each condition is another one, or its opposite.
        let (condition, is_opposite) = match condition {
            C::ne => (C::e, true),
            C::ae => (C::b, true),
            C::a => (C::be, true),
            C::ge => (C::l, true),
            C::g => (C::le, true),
            C::ns => (C::s, true),
            C::no => (C::o, true),
            other => (other, false),
        };
        let truth = match self.flags.clone() {
            Flags::Known { zero, sign, carry, overflow } => Truth::Known(match condition {
                C::e => zero,
                C::b | C::be => match carry {
                    Some(carry) => carry || condition == C::be && zero,
                    None => return unknown(),
                },
                C::l => sign != overflow,
                C::le => zero || sign != overflow,
                C::s => sign,
                C::o => overflow,
                _ => return unknown(),
            }),
            Flags::Compared(bits, a, b) => match condition {
                C::e => self.compared(Operation::Equal, bits, &a, &b),
                C::b => self.compared(Operation::Below, bits, &a, &b),
                C::l => self.compared(Operation::Greater, bits, &b, &a),
                C::be => opposite(self.compared(Operation::Below, bits, &b, &a)),
                C::le => opposite(self.compared(Operation::Greater, bits, &a, &b)),
                _ => return unknown(),
            },
            Flags::Shifted(_, _) if !matches!(condition, C::e | C::s) => return unknown(),
            Flags::Result(bits, value) | Flags::Shifted(bits, value) => match condition {
                C::e => {
                    let zero = self.graph.number_value(0, bits);
                    self.compared(Operation::Equal, bits, &value, &zero)
                }
                C::s | C::l => Truth::Depends(self.graph.bits(&value, bits - 1, 1)[0]),
                C::b | C::o => Truth::Known(false),
                _ => return unknown(),
            },
            Flags::Carry(bit) if condition == C::b => Truth::Depends(bit),
            Flags::Carry(_) | Flags::Unknown => return unknown(),
        };
        let truth = match truth {
            Truth::Depends(term) => {
                self.graph.number(term).map_or(Truth::Depends(term), |it| Truth::Known(it & 1 == 1))
            }
            known @ Truth::Known(_) => known,
        };
        Ok(if is_opposite { opposite(truth) } else { truth })
    }

    fn compared(&mut self, operation: Operation, bits: u32, a: &[Term], b: &[Term]) -> Truth {
        let granule = self.graph.granule();
        let (bits, a, b) = if bits < granule {
            (
                granule,
                self.graph.sign_extended(a, bits, granule),
                self.graph.sign_extended(b, bits, granule),
            )
        } else {
            (bits, a.into(), b.into())
        };
        let value = self.graph.elements(operation, bits, &a, &b);
        Truth::Depends(self.graph.bits(&value, 0, 1)[0])
    }
}

fn opposite(truth: Truth) -> Truth {
    match truth {
        Truth::Known(it) => Truth::Known(!it),
        Truth::Depends(term) => Truth::Depends(!term),
    }
}

fn is_cmov(it: &Instruction) -> bool {
    it.condition_code() != ConditionCode::None && it.op_count() == 2
}

fn is_set(it: &Instruction) -> bool {
    it.condition_code() != ConditionCode::None && it.op_count() == 1
}
