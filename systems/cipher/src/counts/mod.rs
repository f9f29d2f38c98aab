//! Door: counts the instructions of a built program: those that a call executes, and those that
//! touch memory.
//!
//! Both look at `run`, the function around the entry that the harness makes, by its symbol. A
//! call is counted by single-stepping it in a child process, which works for every instruction
//! set that the processor has; emulation under valgrind ends at AVX-512.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;

use iced_x86::{Decoder, DecoderOptions, Instruction, Mnemonic, OpKind, Register};
use measure::tool::ToolError;
use object::{
    Architecture, Object, ObjectSection, ObjectSymbol, SectionIndex, SectionKind, SymbolKind,
};

use crate::emit_c::Arch;

mod executed;
mod least;

pub use executed::{Executed, OperandCount};
pub use least::{Least, least};

/// The function that is counted, as the harness calls it.
const COUNTED: &str = "run";

/// Machine code of `run` and of all that it calls in the same file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct StackCount {
    /// Instructions; padding is left out.
    pub instructions: u64,
    /// Instructions that read or write memory at an address from the stack pointer, or from the
    /// frame pointer where the function has one. Pushes, pops, calls and addresses that another
    /// register holds are not counted.
    pub stack_operands: u64,
    /// Instructions that read or write memory at any address, those on the stack among them;
    /// pushes, pops, calls, and addresses that are only worked out are not counted.
    pub memory_operands: u64,
}

/// What one call of `run` executes in a program of `native::build`.
///
/// The second call is counted, so that nothing is left to bind. Fails for programs that do not
/// run on this machine itself, and where the system does not let a parent trace its child.
pub fn executed(program: &Path, arch: Arch) -> Result<Executed, ToolError> {
    if let Some(missing) = crate::native::missing_feature(arch) {
        return Err(failed("single-step", program, format!("the processor has no {missing}")));
    }
    if arch.row().emulator.is_some() {
        return Err(failed(
            "single-step",
            program,
            "it runs under an emulator, which has no single steps",
        ));
    }
    let data = read(program)?;
    let code = MappedCode::new(program, &data)?;
    let run = code.function_at_symbol()?;
    step::second_call(program, code.entry, run.address, &code.constants())
}

/// Instructions that one call of `run` executes.
pub fn instructions(program: &Path, arch: Arch) -> Result<u64, ToolError> {
    executed(program, arch).map(|executed| executed.n_instructions())
}

/// Counts, without running it, the instructions of `run` and of the functions of the same file
/// that it reaches by direct calls and jumps.
pub fn stack_operands(program: &Path) -> Result<StackCount, ToolError> {
    let data = read(program)?;
    let code = MappedCode::new(program, &data)?;
    let mut count = StackCount { instructions: 0, stack_operands: 0, memory_operands: 0 };
    let mut seen = BTreeSet::new();
    let mut waiting = vec![code.function_at_symbol()?];
    while let Some(function) = waiting.pop() {
        if !seen.insert(function.address) {
            continue;
        }
        let instructions = code.decode(function)?;
        let with_frame = instructions.iter().any(makes_frame);
        for instruction in &instructions {
            count.instructions += u64::from(instruction.mnemonic() != Mnemonic::Nop);
            count.stack_operands += u64::from(touches_stack(instruction, with_frame));
            count.memory_operands += u64::from(touches_memory(instruction));
            waiting.extend(target(instruction).and_then(|address| code.function_around(address)));
        }
    }
    Ok(count)
}

fn failed(what: &str, program: &Path, said: impl Into<String>) -> ToolError {
    ToolError { ran: format!("{what} {}", program.display()), said: said.into() }
}

fn read(program: &Path) -> Result<Vec<u8>, ToolError> {
    std::fs::read(program).map_err(|error| failed("read", program, error.to_string()))
}

/// The functions of a program.
struct MappedCode<'a> {
    program: &'a Path,
    file: object::File<'a>,
    /// Where execution starts, as the file says.
    entry: u64,
    functions: Vec<MappedFunction>,
}

/// A function's place in a program.
#[derive(Debug, Clone, Copy)]
struct MappedFunction {
    address: u64,
    size: u64,
    section: SectionIndex,
    is_counted: bool,
}

impl<'a> MappedCode<'a> {
    fn new(program: &'a Path, data: &'a [u8]) -> Result<MappedCode<'a>, ToolError> {
        let file = object::File::parse(data)
            .map_err(|error| failed("read", program, error.to_string()))?;
        if file.architecture() != Architecture::X86_64 {
            return Err(failed("decode", program, "it is not x86-64 code"));
        }
        let mut functions: Vec<MappedFunction> = file
            .symbols()
            .filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.size() > 0)
            .filter_map(|symbol| {
                let is_counted = symbol.name().is_ok_and(|name| name == COUNTED);
                Some(MappedFunction {
                    address: symbol.address(),
                    size: symbol.size(),
                    section: symbol.section_index()?,
                    is_counted,
                })
            })
            .collect();
        functions.sort_by_key(|function| (function.address, !function.is_counted));
        functions.dedup_by_key(|function| function.address);
        Ok(MappedCode { program, entry: file.entry(), file, functions })
    }

    fn function_at_symbol(&self) -> Result<MappedFunction, ToolError> {
        let mut found = self.functions.iter().filter(|function| function.is_counted);
        match (found.next(), found.next()) {
            (Some(function), None) => Ok(*function),
            (None, _) => {
                Err(failed("read", self.program, format!("it has no function `{COUNTED}`")))
            }
            _ => Err(failed("read", self.program, format!("it has several functions `{COUNTED}`"))),
        }
    }

    /// Memory that is loaded and never written.
    fn constants(&self) -> Vec<Range<u64>> {
        let is_constant = |section: &object::Section<'_, '_>| {
            matches!(section.kind(), SectionKind::ReadOnlyData | SectionKind::ReadOnlyDataWithRel)
        };
        self.file
            .sections()
            .filter(is_constant)
            .map(|section| section.address()..section.address() + section.size())
            .collect()
    }

    fn function_around(&self, address: u64) -> Option<MappedFunction> {
        let after = self.functions.partition_point(|function| function.address <= address);
        let function = self.functions[..after].last()?;
        (address < function.address + function.size).then_some(*function)
    }

    fn decode(&self, function: MappedFunction) -> Result<Vec<Instruction>, ToolError> {
        let failed = |said: String| failed("decode", self.program, said);
        let section = self
            .file
            .section_by_index(function.section)
            .map_err(|error| failed(error.to_string()))?;
        let bytes = section
            .data_range(function.address, function.size)
            .map_err(|error| failed(error.to_string()))?;
        let bytes = bytes.ok_or_else(|| {
            failed(format!("the code at {:#x} is not in the file", function.address))
        })?;
        let instructions: Vec<Instruction> =
            Decoder::with_ip(64, bytes, function.address, DecoderOptions::NONE)
                .into_iter()
                .collect();
        match instructions.iter().find(|instruction| instruction.is_invalid()) {
            Some(bad) => Err(failed(format!("there is no instruction at {:#x}", bad.ip()))),
            None => Ok(instructions),
        }
    }
}

/// Makes rbp point into the stack.
fn makes_frame(instruction: &Instruction) -> bool {
    let from_stack = match instruction.mnemonic() {
        Mnemonic::Mov => instruction.op1_register() == Register::RSP,
        Mnemonic::Lea => instruction.memory_base() == Register::RSP,
        _ => false,
    };
    from_stack && instruction.op0_register() == Register::RBP
}

fn touches_memory(it: &Instruction) -> bool {
    !matches!(it.mnemonic(), Mnemonic::Lea | Mnemonic::Nop)
        && it.op_kinds().any(|kind| kind == OpKind::Memory)
}

fn touches_stack(instruction: &Instruction, with_frame: bool) -> bool {
    let base = instruction.memory_base();
    touches_memory(instruction) && (base == Register::RSP || with_frame && base == Register::RBP)
}

/// Where a direct call or jump goes.
fn target(instruction: &Instruction) -> Option<u64> {
    (instruction.op0_kind() == OpKind::NearBranch64).then(|| instruction.near_branch_target())
}

// Here alone is what the system must offer for single steps.
#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
mod step {
    use super::executed::Executed;
    use super::{Path, Range, ToolError, failed};

    pub fn second_call(
        program: &Path,
        _: u64,
        _: u64,
        _: &[Range<u64>],
    ) -> Result<Executed, ToolError> {
        Err(failed("single-step", program, "this works on Linux for x86-64 only"))
    }
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod step;

/// Whether a test can step programs of this target here. Tells the test run
/// what this machine lacks.
#[cfg(test)]
pub(crate) fn can_step(test: &str, tools: &[&str], arch: Arch) -> bool {
    let no_tool = tools
        .iter()
        .find(|name| measure::tool::find(name).is_none())
        .map(|name| format!("{name} is missing"));
    let no_feature =
        crate::native::missing_feature(arch).map(|name| format!("the processor has no {name}"));
    let no_trace = cfg!(not(all(target_os = "linux", target_arch = "x86_64")))
        .then(|| "single steps need Linux on x86-64".to_owned());
    let Some(why) = no_tool.or(no_feature).or(no_trace) else { return true };
    testkit::skipped(&format!("{test}: {why}"));
    false
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::process::Command;
    use std::time::Duration;

    use measure::tool;

    use super::*;
    use crate::native::Cc;
    use crate::options::{Slicing, Unroll};
    use crate::recipe::Recipe;
    use crate::unit::Subject;

    const LIMIT: Duration = Duration::from_secs(60);

    fn has(tools: &[&str], arch: Arch) -> bool {
        can_step("counts of instructions", tools, arch)
    }

    /// A program whose `run` is the given assembly.
    fn assembled(folder: &Path, run: &str, helper: &str) -> PathBuf {
        let (text, program) = (folder.join("program.c"), folder.join("program"));
        let function = |name: &str, body: &str| {
            format!(
                "__asm__(\".type {name}, @function; {name}: {body}; .size {name}, . - {name}\");"
            )
        };
        let source = format!(
            "char bytes[64];
             const long fixed = 7;
             extern void run(void);
             {}
             {}
             int main(void) {{
                 for (int i = 0; i < 2; i++) {{
                     run();
                     __asm__ volatile(\"\" : : : \"rax\", \"rcx\", \"rdi\", \"memory\");
                 }}
                 return 0;
             }}",
            function("helper", helper),
            function("run", run),
        );
        std::fs::write(&text, source).expect("a scratch file");
        tool::run(
            Command::new("gcc").args(["-O1", "-w", "-o"]).arg(&program).arg(&text),
            &[],
            LIMIT,
        )
        .and_then(tool::Ran::ok)
        .unwrap_or_else(|error| panic!("{error}"));
        program
    }

    fn check(run: &str, helper: &str, executed: u64, standing: u64, on_stack: u64) {
        if !has(&["gcc"], Arch::X86_64) {
            return;
        }
        let folder = tempfile::tempdir().expect("a scratch folder");
        let program = assembled(folder.path(), run, helper);
        assert_eq!(
            instructions(&program, Arch::X86_64).unwrap_or_else(|error| panic!("{error}")),
            executed,
            "{run}"
        );
        let counted = stack_operands(&program).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((counted.instructions, counted.stack_operands), (standing, on_stack), "{run}");
        assert!(counted.memory_operands >= on_stack, "{run}: {counted:?}");
    }

    #[test]
    fn memory_is_counted_wherever_it_is_and_addresses_alone_are_not() {
        if !has(&["gcc"], Arch::X86_64) {
            return;
        }
        for (run, of_memory, on_stack) in [
            (
                "lea bytes(%rip), %rax; mov (%rax), %rcx; add %rcx, 8(%rax); mov %rcx, -8(%rsp); ret",
                3,
                1,
            ),
            ("lea bytes(%rip), %rax; lea 8(%rax), %rdi; xor %eax, %eax; ret", 0, 0),
        ] {
            let folder = tempfile::tempdir().expect("a scratch folder");
            let counted = stack_operands(&assembled(folder.path(), run, "ret"))
                .unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(
                (counted.memory_operands, counted.stack_operands),
                (of_memory, on_stack),
                "{run}"
            );
        }
    }

    #[test]
    fn executed_operands_are_told_apart_by_where_they_lie_whatever_register_points_there() {
        if !has(&["gcc"], Arch::X86_64) {
            return;
        }
        for (run, operands) in [
            // A buffer of the frame after another register, three times; the caller's array and a
            // constant once.
            (
                "lea -64(%rsp), %rax; mov $3, %ecx; 1: mov %rdx, (%rax); add $8, %rax; dec %ecx; jnz 1b; \
                 lea bytes(%rip), %rdi; mov (%rdi), %rdx; add fixed(%rip), %rdx; ret",
                OperandCount { frame: 3, constants: 1, arrays: 1 },
            ),
            // What is called has its frame below, and pushes, pops and addresses count for nothing.
            (
                "push %rax; call helper; mov (%rsp), %rcx; lea 8(%rsp), %rax; pop %rax; ret",
                OperandCount { frame: 2, constants: 0, arrays: 0 },
            ),
        ] {
            let folder = tempfile::tempdir().expect("a scratch folder");
            let program = assembled(folder.path(), run, "mov %rcx, -8(%rsp); ret");
            let found =
                executed(&program, Arch::X86_64).unwrap_or_else(|error| panic!("{error}")).operands;
            assert_eq!(found, operands, "{run}");
        }
    }

    #[test]
    fn a_straight_line() {
        check("xor %eax, %eax; inc %eax; ret", "ret", 3, 3, 0);
    }

    #[test]
    fn a_loop_counts_every_round() {
        check("mov $10, %ecx; 1: dec %ecx; jnz 1b; ret", "ret", 22, 4, 0);
    }

    #[test]
    fn a_repeated_instruction_counts_once() {
        check(
            "lea bytes(%rip), %rdi; mov $40, %ecx; xor %eax, %eax; rep stosb; ret",
            "ret",
            5,
            5,
            0,
        );
    }

    #[test]
    fn operands_on_the_stack_also_in_functions_that_are_called() {
        // Not counted: `lea`, the push and the pop.
        check(
            "push %rax; mov %rcx, (%rsp); lea 8(%rsp), %rax; call helper; pop %rax; ret",
            "mov -8(%rsp), %eax; add -16(%rsp), %rax; nop; ret",
            10,
            9,
            3,
        );
    }

    #[test]
    fn the_base_pointer_counts_only_as_a_frame_pointer() {
        check("push %rbp; mov %rsp, %rbp; mov %rax, -8(%rbp); pop %rbp; ret", "ret", 5, 5, 1);
        check("push %rbp; lea bytes(%rip), %rbp; mov %rax, 8(%rbp); pop %rbp; ret", "ret", 5, 5, 0);
    }

    #[test]
    fn a_function_that_is_jumped_to_is_part_of_it() {
        check("inc %eax; jmp helper", "mov %rax, -8(%rsp); ret", 4, 4, 1);
    }

    #[test]
    fn what_is_no_program_is_refused() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let path = folder.path().join("text");
        std::fs::write(&path, "not a program").expect("a scratch file");
        assert!(stack_operands(&path).is_err());
        assert!(instructions(&path, Arch::X86_64).is_err());
        let missing = stack_operands(&folder.path().join("nothing")).expect_err("there is no file");
        assert!(missing.ran.starts_with("read "), "{missing}");
        assert!(instructions(&path, Arch::Neon).is_err());
    }

    #[test]
    fn a_program_that_calls_once_is_refused() {
        if !has(&["gcc"], Arch::X86_64) {
            return;
        }
        let folder = tempfile::tempdir().expect("a scratch folder");
        let program =
            assembled(folder.path(), "mov $60, %eax; xor %edi, %edi; syscall; ret", "ret");
        let error =
            instructions(&program, Arch::X86_64).expect_err("the first call ends the program");
        assert!(error.said.starts_with("it ended before its second call was over"), "{error}");
    }

    fn rectangle(arch: Arch) -> PathBuf {
        let subject =
            Subject::bundled("rectangle-80").expect("it is bundled").expect("it is right");
        let recipe = Recipe::new(Slicing::Bit, arch, Cc::Gcc, Unroll::No, "-O2");
        let made = recipe.make(&subject).expect("it compiles");
        recipe.build(&made).unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn callgrind_counts_the_same() {
        if !has(&["gcc", "valgrind"], Arch::X86_64) {
            return;
        }
        let program = rectangle(Arch::X86_64);
        let collected = |calls: &str| {
            let mut command = Command::new("valgrind");
            command.args([
                "--tool=callgrind",
                "--toggle-collect=run",
                "--callgrind-out-file=/dev/null",
            ]);
            command.arg(&program).args(["bench", "1", calls]);
            let ran = tool::run(&mut command, &[], LIMIT)
                .and_then(tool::Ran::ok)
                .unwrap_or_else(|error| panic!("{error}"));
            let said = String::from_utf8_lossy(&ran.stderr).into_owned();
            let line = said
                .lines()
                .find(|line| line.contains("Collected : "))
                .unwrap_or_else(|| panic!("{said}"));
            line.rsplit(' ')
                .next()
                .and_then(|line| line.parse::<u64>().ok())
                .unwrap_or_else(|| panic!("{line}"))
        };
        let stepped =
            instructions(&program, Arch::X86_64).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(stepped, collected("2") - collected("1"));
    }

    #[test]
    fn wide_registers_are_stepped_too() {
        if !has(&["gcc"], Arch::Avx512) {
            return;
        }
        let count = |arch: Arch| {
            instructions(&rectangle(arch), arch).unwrap_or_else(|error| panic!("{error}"))
        };
        let (wide, narrow) = (count(Arch::Avx512), count(Arch::X86_64));
        assert!(
            wide > 0 && wide < narrow,
            "ternary logic and 32 registers: {wide} instructions, general registers: {narrow}"
        );
    }
}
