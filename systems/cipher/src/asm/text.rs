//! A function as assembly text for GNU as and for clang: System V, position independent, with call
//! frame information.

use std::fmt::Write;

use super::allocate::Allocator;
use super::sink::{Sink, ValuePlace};
use super::steps::{Base, BodyItem, FRAME, Memory, Step, StepFunction, StepKind, StepLoop};
use super::{AssemblyTarget, Plan};

/// General registers by number, each in its four widths.
const GENERAL: [[&str; 4]; 16] = [
    ["rax", "eax", "ax", "al"],
    ["rcx", "ecx", "cx", "cl"],
    ["rdx", "edx", "dx", "dl"],
    ["rbx", "ebx", "bx", "bl"],
    ["rsi", "esi", "si", "sil"],
    ["rdi", "edi", "di", "dil"],
    ["rbp", "ebp", "bp", "bpl"],
    ["r8", "r8d", "r8w", "r8b"],
    ["r9", "r9d", "r9w", "r9b"],
    ["r10", "r10d", "r10w", "r10b"],
    ["r11", "r11d", "r11w", "r11b"],
    ["r12", "r12d", "r12w", "r12b"],
    ["r13", "r13d", "r13w", "r13b"],
    ["r14", "r14d", "r14w", "r14b"],
    ["r15", "r15d", "r15w", "r15b"],
    ["rsp", "esp", "sp", "spl"],
];
/// The registers in which the caller passes pointers.
const ARGUMENTS: [&str; 6] = ["rdi", "rsi", "rdx", "rcx", "r8", "r9"];
/// Further registers for addresses where values are vectors; `r11` loads the
/// addresses that have none.
const ADDRESSES: [&str; 7] = ["rax", "r10", "rbx", "r12", "r13", "r14", "r15"];
const SAVED: [&str; 6] = ["rbp", "rbx", "r12", "r13", "r14", "r15"];

/// Where an address is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kept {
    Register(&'static str),
    /// At this offset in the frame.
    Frame(i32),
}

struct AssemblyText<'a> {
    function: &'a StepFunction,
    target: &'a AssemblyTarget,
    out: String,
    addresses: Vec<Kept>,
    /// Where spill slots begin in the frame.
    slots: i32,
    n_slots: u32,
    n_labels: u32,
    n_blocks: usize,
    /// The counter of each depth of loops, and a word for swaps.
    counters: i32,
}

/// The text of a function whose blocks are planned, in the order of the items.
pub fn text(function: &StepFunction, plans: &[Plan], target: &AssemblyTarget) -> String {
    let mut text = AssemblyText {
        function,
        target,
        out: String::new(),
        addresses: Vec::new(),
        slots: 0,
        n_slots: 0,
        n_labels: 0,
        n_blocks: 0,
        counters: 0,
    };
    text.places();
    text.start_addresses();
    text.items(&function.items, plans, 0);
    text.whole()
}

impl AssemblyText<'_> {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "\t{text}");
    }

    fn is_vector(&self) -> bool {
        self.target.registers.is_vector
    }

    fn slot_bytes(&self) -> i32 {
        self.function.word_bytes.max(4)
    }

    /// Gives addresses their registers or places, and lays out the frame: arrays,
    /// addresses, counters, spill slots.
    fn places(&mut self) {
        let mut at = (self.function.frame_bytes + 7) & !7;
        let mut spare = ADDRESSES.iter();
        for (idx, address) in self.function.addresses.iter().enumerate() {
            let own = match address.base {
                Base::Pointer(k) if address.terms.is_empty() => ARGUMENTS.get(k as usize).copied(),
                _ => None,
            };
            let register = if idx as u32 == FRAME || !self.is_vector() {
                None
            } else {
                own.or_else(|| spare.next().copied())
            };
            self.addresses.push(register.map_or(Kept::Frame(at), Kept::Register));
            at += if register.is_none() { 8 } else { 0 };
        }
        self.counters = at;
        at += 8 * (1 + depth(&self.function.items));
        let unit = self.slot_bytes();
        self.slots = (at + unit - 1) / unit * unit;
    }

    fn bytes_of_frame(&self) -> i32 {
        let end = self.slots + self.n_slots as i32 * self.slot_bytes();
        (end + 63) & !63
    }

    /// The callee-saved registers that are used.
    fn saved(&self) -> Vec<&'static str> {
        if !self.is_vector() {
            return SAVED.to_vec();
        }
        let is_used = |name: &&str| {
            self.addresses
                .iter()
                .any(|address| matches!(address, Kept::Register(own) if own == name))
        };
        SAVED[1..].iter().filter(|name| is_used(name)).copied().collect()
    }

    fn start_addresses(&mut self) {
        for (idx, address) in self.function.addresses.iter().enumerate().skip(1) {
            let kept = self.addresses[idx];
            let (what, from) = match address.base {
                Base::Pointer(k) => match ARGUMENTS.get(k as usize) {
                    Some(own) => ("mov", (*own).to_string()),
                    None => ("mov", format!("qword ptr [{}]", self.stack_argument(k as i32 - 6))),
                },
                Base::Table(id) => ("lea", format!("[rip + .L{}_t{id}]", self.function.name)),
                Base::Frame(at) => ("lea", format!("[rsp + {at}]")),
                Base::Buffer(pair, is_written) => (
                    "lea",
                    format!(
                        "[rsp + {}]",
                        self.function.pairs[pair as usize][usize::from(is_written)]
                    ),
                ),
            };
            match kept {
                Kept::Register(name) if name == from => {}
                Kept::Register(name) => self.line(&format!("{what} {name}, {from}")),
                Kept::Frame(at) if ARGUMENTS.contains(&from.as_str()) => {
                    self.line(&format!("mov qword ptr [rsp + {at}], {from}"))
                }
                Kept::Frame(at) => {
                    self.line(&format!("{what} r11, {from}"));
                    self.line(&format!("mov qword ptr [rsp + {at}], r11"));
                }
            }
        }
    }

    /// The place on the stack of a pointer that is not passed in a register.
    fn stack_argument(&self, k: i32) -> String {
        if self.is_vector() {
            format!("rbp + {}", 16 + 8 * k)
        } else {
            format!("rsp + FRAME_BYTES + {}", 8 * SAVED.len() as i32 + 8 + 8 * k)
        }
    }

    fn items(&mut self, items: &[BodyItem], plans: &[Plan], depth: i32) {
        for item in items {
            match item {
                BodyItem::Block(_) => self.block(plans),
                BodyItem::Loop(it) => self.kept_loop(it, plans, depth),
            }
        }
    }

    fn block(&mut self, plans: &[Plan]) {
        let plan = &plans[self.n_blocks];
        self.n_blocks += 1;
        let mut allocator =
            Allocator::new(plan.block, &self.function.constants, self.target.registers);
        let n_slots = allocator.run(&plan.order, &plan.header, plan.buffer, self);
        self.n_slots = self.n_slots.max(n_slots);
    }

    fn kept_loop(&mut self, it: &StepLoop, plans: &[Plan], depth: i32) {
        let counter = format!("dword ptr [rsp + {}]", self.counters + 8 * (1 + depth));
        self.line(&format!("mov {counter}, {}", it.n));
        let plan = (it.body.len() == 1)
            .then(|| &plans[self.n_blocks])
            .filter(|plan| !plan.block.carried.is_empty());
        if let Some(plan) = plan {
            self.carried(plan, it, true);
        }
        let label = format!(".L{}_{}", self.function.name, self.n_labels);
        self.n_labels += 1;
        let _ = writeln!(self.out, "\t.p2align 5\n{label}:");
        self.items(&it.body, plans, depth + 1);
        self.advance(it, 1);
        let is_in_memory = plan.is_none_or(|plan| plan.header.iter().any(Option::is_none));
        if let Some(pair) = it.pair.filter(|_| is_in_memory) {
            self.exchange(pair);
        }
        self.line(&format!("sub {counter}, 1"));
        self.line(&format!("jnz {label}"));
        self.advance(it, -i64::from(it.n));
        if let Some(plan) = plan {
            self.carried(plan, it, false);
        }
    }

    /// Loads the carried values that have registers before the loop, or stores them after it.
    fn carried(&mut self, plan: &Plan, it: &StepLoop, is_load: bool) {
        let pair = it.pair.expect("a loop that carries has buffers");
        let address = self.buffer(pair, false);
        let spare = if self.is_vector() {
            None
        } else {
            // The address goes into a register that carries nothing.
            (0..self.target.registers.n as u8).find(|r| !plan.header.contains(&Some(*r)))
        };
        if let Some(register) = spare {
            self.load_address(register, address);
        }
        for (carried, register) in plan.block.carried.iter().zip(&plan.header) {
            let Some(register) = *register else { continue };
            let place = match spare {
                Some(base) => ValuePlace::Based(base, carried.offset),
                None => ValuePlace::Memory(Memory { address, offset: carried.offset }),
            };
            if is_load { self.load(register, place) } else { self.store(place, register) }
        }
    }

    fn buffer(&self, pair: u32, is_written: bool) -> u32 {
        let is_it =
            |address: &super::steps::Address| address.base == Base::Buffer(pair, is_written);
        self.function.addresses.iter().position(is_it).expect("buffers have addresses") as u32
    }

    /// Moves the addresses that the loop's counter moves.
    fn advance(&mut self, it: &StepLoop, times: i64) {
        for (idx, address) in self.function.addresses.iter().enumerate() {
            let Some((_, bytes)) = address.terms.iter().find(|(id, _)| *id == it.id) else {
                continue;
            };
            let by = bytes * times;
            match self.addresses[idx] {
                Kept::Register(name) => self.line(&format!("add {name}, {by}")),
                Kept::Frame(at) => self.line(&format!("add qword ptr [rsp + {at}], {by}")),
            }
        }
    }

    fn exchange(&mut self, pair: u32) {
        let kept = [self.buffer(pair, false), self.buffer(pair, true)]
            .map(|found| self.addresses[found as usize]);
        let name = |kept: Kept| match kept {
            Kept::Register(name) => name.to_string(),
            Kept::Frame(at) => format!("qword ptr [rsp + {at}]"),
        };
        let (a, b) = (name(kept[0]), name(kept[1]));
        if let [Kept::Register(_), Kept::Register(_)] = kept {
            self.line(&format!("xchg {a}, {b}"));
            return;
        }
        // No register is certain to be free, so one is saved.
        let aside = format!("qword ptr [rsp + {}]", self.counters);
        self.line(&format!("mov {aside}, r11"));
        self.line(&format!("mov r11, {a}"));
        self.line(&format!("xchg r11, {b}"));
        self.line(&format!("mov {a}, r11"));
        self.line(&format!("mov r11, {aside}"));
    }

    fn whole(mut self) -> String {
        let name = &self.function.name;
        let (bytes, saved) = (self.bytes_of_frame(), self.saved());
        let mut out = format!(
            "\t.text\n\t.p2align 5\n\t.globl {name}\n\t.hidden {name}\n\t.type {name}, @function\n{name}:\n\t.cfi_startproc\n"
        );
        let is_vector = self.is_vector();
        let mut frame = 8;
        let mut push = |out: &mut String, name: &str, is_moving: bool| {
            let _ = writeln!(out, "\tpush {name}");
            frame += 8;
            if is_moving {
                let _ = writeln!(out, "\t.cfi_def_cfa_offset {frame}");
            }
            let _ = writeln!(out, "\t.cfi_offset {name}, -{frame}");
        };
        if is_vector {
            push(&mut out, "rbp", true);
            out += "\tmov rbp, rsp\n\t.cfi_def_cfa_register rbp\n";
        }
        saved.iter().for_each(|name| push(&mut out, name, !is_vector));
        if is_vector {
            out += "\tand rsp, -64\n";
        }
        let _ = writeln!(out, "\tsub rsp, {bytes}");
        if !is_vector {
            let _ = writeln!(out, "\t.cfi_def_cfa_offset {}", bytes + 8 * saved.len() as i32 + 8);
        }
        out += &self.out.replace("FRAME_BYTES", &bytes.to_string());
        if is_vector {
            let _ = writeln!(out, "\tvzeroupper\n\tlea rsp, [rbp - {}]", 8 * saved.len());
        } else {
            let _ =
                writeln!(out, "\tadd rsp, {bytes}\n\t.cfi_def_cfa_offset {}", 8 * saved.len() + 8);
        }
        let mut left = 8 * saved.len() + 8;
        for name in saved.iter().rev() {
            left -= 8;
            let _ = writeln!(out, "\tpop {name}");
            let _ = if is_vector { Ok(()) } else { writeln!(out, "\t.cfi_def_cfa_offset {left}") };
        }
        if is_vector {
            out += "\tpop rbp\n\t.cfi_def_cfa rsp, 8\n";
        }
        let _ = writeln!(out, "\tret\n\t.cfi_endproc\n\t.size {name}, . - {name}\n");
        self.out = out;
        self.constants();
        self.out
    }

    fn constants(&mut self) {
        if self.function.constants.is_empty() {
            return;
        }
        self.out += "\t.section .rodata\n\t.p2align 6\n";
        let copies = if self.is_vector() { self.function.word_bytes / 16 } else { 1 };
        for (id, words) in self.function.constants.iter().enumerate() {
            let _ = writeln!(self.out, ".L{}_c{id}:", self.function.name);
            for _ in 0..copies {
                let _ = writeln!(self.out, "\t.quad {:#x}, {:#x}", words[0], words[1]);
            }
        }
        for (id, table) in self.function.tables.iter().enumerate() {
            let _ = writeln!(self.out, ".L{}_t{id}:", self.function.name);
            for word in table {
                self.table_word(word.map_or([0; 2], |id| self.function.constants[id as usize]));
            }
        }
    }

    /// A word of a table, in the width of words in memory.
    fn table_word(&mut self, words: [u64; 2]) {
        let _ = match self.function.word_bytes {
            1 => writeln!(self.out, "\t.byte {:#x}", words[0]),
            2 => writeln!(self.out, "\t.short {:#x}", words[0]),
            4 => writeln!(self.out, "\t.long {:#x}", words[0]),
            8 => writeln!(self.out, "\t.quad {:#x}", words[0]),
            bytes => {
                let list = vec![format!("{:#x}, {:#x}", words[0], words[1]); bytes as usize / 16];
                writeln!(self.out, "\t.quad {}", list.join(", "))
            }
        };
    }

    /// A register of values; `width` is 0 for 64 bits, 1 for 32, and so on.
    fn register(&self, number: u8, width: usize) -> String {
        match self.target.registers.is_vector {
            true if self.function.word_bytes == 64 => format!("zmm{number}"),
            true => format!("ymm{number}"),
            false => GENERAL[number as usize][width].to_string(),
        }
    }

    /// The width in which general registers compute.
    fn width(&self) -> usize {
        if self.function.word_bytes == 8 { 0 } else { 1 }
    }

    /// A memory operand or register; addresses that have no register are read first.
    fn place(&mut self, place: ValuePlace) -> String {
        let pointer =
            if self.is_vector() { "" } else { ["qword ptr ", "dword ptr "][self.width()] };
        match place {
            ValuePlace::Register(number) => self.register(number, self.width()),
            ValuePlace::Immediate(value) => value.to_string(),
            ValuePlace::Slot(slot) => {
                format!("{pointer}[rsp + {}]", self.slots + slot as i32 * self.slot_bytes())
            }
            ValuePlace::Constant(id) => format!("{pointer}[rip + .L{}_c{id}]", self.function.name),
            ValuePlace::Based(register, offset) => {
                format!("{pointer}[{} + {offset}]", GENERAL[register as usize][0])
            }
            ValuePlace::Memory(memory) if memory.address == FRAME => {
                format!("{pointer}[rsp + {}]", memory.offset)
            }
            ValuePlace::Memory(memory) => match self.addresses[memory.address as usize] {
                Kept::Register(name) => format!("{pointer}[{name} + {}]", memory.offset),
                Kept::Frame(at) => {
                    self.line(&format!("mov r11, qword ptr [rsp + {at}]"));
                    format!("{pointer}[r11 + {}]", memory.offset)
                }
            },
        }
    }

    fn operate_vector(&mut self, step: &Step, kind: StepKind, dst: &str, args: &[String]) {
        let is_wide = self.function.word_bytes == 64;
        let letter = |lane: u8| match lane {
            8 => "b",
            16 => "w",
            32 => "d",
            _ => "q",
        };
        let (a, b) = (&args[0], args.get(1).map_or("", String::as_str));
        let q = if is_wide { "q" } else { "" };
        let line = match kind {
            StepKind::And => format!("vpand{q} {dst}, {a}, {b}"),
            StepKind::Or => format!("vpor{q} {dst}, {a}, {b}"),
            StepKind::Xor => format!("vpxor{q} {dst}, {a}, {b}"),
            StepKind::AndNot => format!("vpandn{q} {dst}, {b}, {a}"),
            StepKind::Ternary(table) => format!("vpternlogq {dst}, {b}, {}, {table:#04x}", args[2]),
            StepKind::Add => format!("vpadd{} {dst}, {a}, {b}", letter(step.lane)),
            StepKind::Sub => format!("vpsub{} {dst}, {a}, {b}", letter(step.lane)),
            StepKind::Mul => format!("vpmull{} {dst}, {a}, {b}", letter(step.lane)),
            StepKind::Shl(n) => format!("vpsll{} {dst}, {a}, {n}", letter(step.lane)),
            StepKind::Shr(n) => format!("vpsrl{} {dst}, {a}, {n}", letter(step.lane)),
            StepKind::Sar(n) => format!("vpsra{} {dst}, {a}, {n}", letter(step.lane)),
            StepKind::Rotl(n) => format!("vprol{} {dst}, {a}, {n}", letter(step.lane)),
            StepKind::Bytes => format!("vpshufb {dst}, {a}, {b}"),
            StepKind::Swap => format!("vpshufd {dst}, {a}, 0x4e"),
            StepKind::Not | StepKind::Store(_) | StepKind::Keep(_) => {
                panic!("no operation of vectors")
            }
        };
        self.line(&line);
    }

    fn operate_general(&mut self, step: &Step, kind: StepKind, dst: u8, args: &[ValuePlace]) {
        let texts: Vec<String> = args.iter().map(|arg| self.place(*arg)).collect();
        let name = self.register(dst, self.width());
        let b = texts.get(1).map_or("", String::as_str);
        let narrow = match step.lane {
            16 => Some(2),
            8 => Some(3),
            _ => None,
        };
        let widen = |text: &mut Self, how: &str| {
            if let Some(width) = narrow {
                let low = text.register(dst, width);
                text.line(&format!("{how} {name}, {low}"));
            }
        };
        let line = match kind {
            StepKind::And => format!("and {name}, {b}"),
            StepKind::Or => format!("or {name}, {b}"),
            StepKind::Xor => format!("xor {name}, {b}"),
            StepKind::Add if texts[0] == name => format!("add {name}, {b}"),
            StepKind::Add if b == name => format!("add {name}, {}", texts[0]),
            StepKind::Add => {
                let wide = |place: ValuePlace, text: &Self| match place {
                    ValuePlace::Register(number) => text.register(number, 0),
                    other => text.clone_place(other),
                };
                format!("lea {name}, [{} + {}]", wide(args[0], self), wide(args[1], self))
            }
            StepKind::Sub => format!("sub {name}, {b}"),
            StepKind::Mul => format!("imul {name}, {b}"),
            StepKind::Not => format!("not {name}"),
            StepKind::Shl(n) => format!("shl {name}, {n}"),
            StepKind::Shr(n) => {
                widen(self, "movzx");
                format!("shr {name}, {n}")
            }
            StepKind::Sar(n) => {
                widen(self, "movsx");
                format!("sar {name}, {n}")
            }
            StepKind::Rotl(n) => format!(
                "rol {}, {n}",
                narrow.map_or(name.clone(), |width| self.register(dst, width))
            ),
            StepKind::AndNot
            | StepKind::Ternary(_)
            | StepKind::Bytes
            | StepKind::Swap
            | StepKind::Store(_)
            | StepKind::Keep(_) => {
                panic!("no operation of general registers")
            }
        };
        self.line(&line);
    }

    fn clone_place(&self, place: ValuePlace) -> String {
        match place {
            ValuePlace::Immediate(value) => value.to_string(),
            other => panic!("a sum of registers and numbers has no {other:?}"),
        }
    }

    /// The width of a narrow word in memory, if it is narrow.
    fn narrow(&self, place: ValuePlace) -> Option<(&'static str, usize)> {
        match (self.function.word_bytes, place) {
            (2, ValuePlace::Memory(_) | ValuePlace::Based(..)) => Some(("word ptr ", 2)),
            (1, ValuePlace::Memory(_) | ValuePlace::Based(..)) => Some(("byte ptr ", 3)),
            _ => None,
        }
    }
}

impl Sink for AssemblyText<'_> {
    fn operate(&mut self, step: &Step, kind: StepKind, dst: u8, args: &[ValuePlace]) {
        if self.is_vector() {
            let texts: Vec<String> = args.iter().map(|arg| self.place(*arg)).collect();
            let name = self.register(dst, 0);
            self.operate_vector(step, kind, &name, &texts);
        } else {
            self.operate_general(step, kind, dst, args);
        }
    }

    fn load(&mut self, dst: u8, place: ValuePlace) {
        let from = self.place(place);
        let name = self.register(dst, self.width());
        let line = match place {
            ValuePlace::Immediate(0) => format!("xor {0}, {0}", GENERAL[dst as usize][1]),
            _ if self.is_vector() && self.function.word_bytes == 64 => {
                format!("vmovdqu64 {name}, {from}")
            }
            _ if self.is_vector() => format!("vmovdqu {name}, {from}"),
            _ => match self.narrow(place) {
                Some((pointer, _)) => {
                    format!("movzx {name}, {}", from.replace("dword ptr ", pointer))
                }
                None => format!("mov {name}, {from}"),
            },
        };
        self.line(&line);
    }

    fn store(&mut self, place: ValuePlace, src: u8) {
        let to = self.place(place);
        let name = self.register(src, self.width());
        let line = match self.narrow(place) {
            _ if self.is_vector() && self.function.word_bytes == 64 => {
                format!("vmovdqu64 {to}, {name}")
            }
            _ if self.is_vector() => format!("vmovdqu {to}, {name}"),
            Some((pointer, width)) => {
                format!("mov {}, {}", to.replace("dword ptr ", pointer), self.register(src, width))
            }
            None => format!("mov {to}, {name}"),
        };
        self.line(&line);
    }

    fn load_address(&mut self, dst: u8, address: u32) {
        let Kept::Frame(at) = self.addresses[address as usize] else {
            panic!("addresses have registers of their own beside vectors")
        };
        self.line(&format!("mov {}, qword ptr [rsp + {at}]", GENERAL[dst as usize][0]));
    }

    fn copy(&mut self, dst: u8, src: u8) {
        let (to, from) = (self.register(dst, 0), self.register(src, 0));
        let name = match self.function.word_bytes {
            _ if !self.is_vector() => "mov",
            64 => "vmovdqa64",
            _ => "vmovdqa",
        };
        self.line(&format!("{name} {to}, {from}"));
    }
}

fn depth(items: &[BodyItem]) -> i32 {
    items
        .iter()
        .map(|item| if let BodyItem::Loop(item) = item { 1 + depth(&item.body) } else { 0 })
        .max()
        .unwrap_or(0)
}
