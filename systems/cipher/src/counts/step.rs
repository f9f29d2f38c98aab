//! Door: runs a program in single steps in a child process and shows every instruction of one call.

use std::ops::Range;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use iced_x86::{Decoder, DecoderOptions, Instruction, OpKind, Register};
use nix::errno::Errno;
use nix::libc::{c_long, user_regs_struct};
use nix::sys::ptrace;
use nix::sys::resource::{Resource, setrlimit};
use nix::sys::signal::Signal;
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::Pid;
use rustc_hash::FxHashMap;

use super::executed::{Executed, OperandCount};
use super::{Path, ToolError, failed, touches_memory};

/// A longer call is no cipher's; it would take minutes.
const STEPS_MAX: u64 = 50_000_000;
/// Processor time after which the system ends the child.
const LIMIT_S: u64 = 120;
/// The one-byte instruction that stops a traced program.
const BREAKPOINT: c_long = 0xcc;
/// Bytes of the longest instruction.
const INSTRUCTION_BYTES: usize = 15;
/// Bytes of the stack that a function may use.
const STACK_BYTES: u64 = 8 << 20;
/// The key under which the system tells a program where it starts.
const AT_ENTRY: u64 = 9;

/// Everything from the first instruction to the return of the second call of the function at
/// `function`; `entry` is where execution starts and `constants` is read-only memory, all as the
/// file says.
pub fn second_call(
    program: &Path,
    entry: u64,
    function: u64,
    constants: &[Range<u64>],
) -> Result<Executed, ToolError> {
    let failed = |said: String| failed("single-step", program, said);
    let mut child = Traced::start(program)
        .map_err(|error| failed(format!("it cannot be started as a traced program: {error}")))?;
    child.follow(entry, function, constants).map_err(|fault| match fault {
        StepFault::System(error) => failed(error.desc().to_owned()),
        StepFault::Ended(how) => {
            failed(format!("it ended before its second call was over: {how:?}"))
        }
        StepFault::TooLong => failed(format!("a call takes more than {STEPS_MAX} instructions")),
        StepFault::NoStart => failed("the system does not tell where it was loaded".to_owned()),
        StepFault::NoInstruction(at) => failed(format!("there is no instruction at {at:#x}")),
    })
}

/// Why a call could not be followed.
enum StepFault {
    System(Errno),
    Ended(WaitStatus),
    TooLong,
    NoStart,
    NoInstruction(u64),
}

impl From<Errno> for StepFault {
    fn from(error: Errno) -> StepFault {
        StepFault::System(error)
    }
}

/// Where the operand in memory of an instruction lies.
fn address(instruction: &Instruction, registers: &user_regs_struct) -> Option<u64> {
    let number = |register: Register| {
        Some(match register {
            Register::RAX => registers.rax,
            Register::RBX => registers.rbx,
            Register::RCX => registers.rcx,
            Register::RDX => registers.rdx,
            Register::RSI => registers.rsi,
            Register::RDI => registers.rdi,
            Register::RBP => registers.rbp,
            Register::RSP => registers.rsp,
            Register::R8 => registers.r8,
            Register::R9 => registers.r9,
            Register::R10 => registers.r10,
            Register::R11 => registers.r11,
            Register::R12 => registers.r12,
            Register::R13 => registers.r13,
            Register::R14 => registers.r14,
            Register::R15 => registers.r15,
            // The base of a segment that programs of 64 bits do not use.
            Register::ES | Register::CS | Register::SS | Register::DS => 0,
            _ => return None,
        })
    };
    let operand =
        (0..instruction.op_count()).find(|idx| instruction.op_kind(*idx) == OpKind::Memory)?;
    instruction.virtual_address(operand, 0, |register, _, _| number(register))
}

/// A stopped child; ended when dropped.
struct Traced {
    child: Child,
    id: Pid,
    has_ended: bool,
}

impl Traced {
    /// Starts `program bench 1 2` and stops it before its first instruction.
    #[allow(unsafe_code)]
    fn start(program: &Path) -> std::io::Result<Traced> {
        let mut command = Command::new(program);
        command
            .args(["bench", "1", "2"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        // SAFETY: both calls are single system calls, which a child may make between fork and exec.
        unsafe {
            command.pre_exec(|| {
                setrlimit(Resource::RLIMIT_CPU, LIMIT_S, LIMIT_S)?;
                Ok(ptrace::traceme()?)
            });
        }
        let child = command.spawn()?;
        let id = Pid::from_raw(
            i32::try_from(child.id()).expect("process ids are positive numbers of 31 bits"),
        );
        Ok(Traced { child, id, has_ended: false })
    }

    fn follow(
        &mut self,
        entry: u64,
        function: u64,
        constants: &[Range<u64>],
    ) -> Result<Executed, StepFault> {
        self.wait()?;
        ptrace::setoptions(self.id, ptrace::Options::PTRACE_O_EXITKILL)?;
        let start = self.start_address().ok_or(StepFault::NoStart)?;
        let moved_by = start.wrapping_sub(entry);
        let function = function.wrapping_add(moved_by);
        self.run_to(function)?;
        // Past the first instruction, or the next breakpoint would be hit at once.
        self.step()?;
        self.run_to(function)?;
        let at_call = ptrace::getregs(self.id)?;
        let back = ptrace::read(self.id, at_call.rsp as *mut _)? as u64;
        let frame = at_call.rsp.saturating_sub(STACK_BYTES)..at_call.rsp;
        let is_constant = |address: u64| {
            constants.iter().any(|constant| constant.contains(&address.wrapping_sub(moved_by)))
        };
        let mut seen: FxHashMap<u64, (Instruction, u64)> = FxHashMap::default();
        let (mut operands, mut now, mut n_done) = (OperandCount::default(), at_call, 0);
        loop {
            let (instruction, times) = match seen.entry(now.rip) {
                std::collections::hash_map::Entry::Occupied(it) => it.into_mut(),
                std::collections::hash_map::Entry::Vacant(it) => {
                    it.insert((self.decode(now.rip)?, 0))
                }
            };
            let instruction = *instruction;
            self.step()?;
            let next = ptrace::getregs(self.id)?;
            // A repeated instruction stops after each round and stays where it is.
            if next.rip != now.rip {
                n_done += 1;
                *times += 1;
                if touches_memory(&instruction) {
                    match address(&instruction, &now) {
                        Some(at) if frame.contains(&at) => operands.frame += 1,
                        Some(at) if is_constant(at) => operands.constants += 1,
                        _ => operands.arrays += 1,
                    }
                }
            }
            now = next;
            // Deeper calls return to elsewhere, or with a lower stack pointer.
            if now.rip == back && now.rsp > at_call.rsp {
                let mut instructions: Vec<(Instruction, u64)> =
                    seen.into_values().filter(|seen| seen.1 > 0).collect();
                instructions.sort_by_key(|instruction| instruction.0.ip());
                return Ok(Executed { instructions, operands });
            }
            if n_done > STEPS_MAX {
                return Err(StepFault::TooLong);
            }
        }
    }

    /// The instruction at an address of the child's memory, be it the program's or a library's.
    fn decode(&self, at: u64) -> Result<Instruction, StepFault> {
        let mut bytes = Vec::new();
        while bytes.len() < INSTRUCTION_BYTES {
            // The last instruction before memory that is not there has fewer bytes after it.
            let Ok(word) = ptrace::read(self.id, at.wrapping_add(bytes.len() as u64) as *mut _)
            else {
                break;
            };
            bytes.extend(word.to_ne_bytes());
        }
        let instruction = Decoder::with_ip(64, &bytes, at, DecoderOptions::NONE).decode();
        if instruction.is_invalid() { Err(StepFault::NoInstruction(at)) } else { Ok(instruction) }
    }

    /// Runs on until the instruction at `address` is next.
    fn run_to(&mut self, address: u64) -> Result<(), StepFault> {
        let code = ptrace::read(self.id, address as *mut _)?;
        ptrace::write(self.id, address as *mut _, code & !0xff | BREAKPOINT)?;
        ptrace::cont(self.id, None)?;
        self.wait()?;
        ptrace::write(self.id, address as *mut _, code)?;
        let mut registers = ptrace::getregs(self.id)?;
        registers.rip = address;
        Ok(ptrace::setregs(self.id, registers)?)
    }

    fn step(&mut self) -> Result<(), StepFault> {
        ptrace::step(self.id, None)?;
        self.wait()
    }

    /// Waits until the child has stopped at a breakpoint or after a step.
    fn wait(&mut self) -> Result<(), StepFault> {
        match waitpid(self.id, None)? {
            WaitStatus::Stopped(_, Signal::SIGTRAP) => Ok(()),
            status => {
                self.has_ended =
                    matches!(status, WaitStatus::Exited(..) | WaitStatus::Signaled(..));
                Err(StepFault::Ended(status))
            }
        }
    }

    /// Where the loaded program starts, from the table that the system gives it: pairs of
    /// 8-byte numbers, key and value.
    fn start_address(&self) -> Option<u64> {
        let table = std::fs::read(format!("/proc/{}/auxv", self.id)).ok()?;
        let number = |bytes: &[u8]| bytes.try_into().ok().map(u64::from_ne_bytes);
        let mut pairs = table.chunks_exact(16);
        let found = pairs.find(|pair| number(&pair[..8]) == Some(AT_ENTRY))?;
        number(&found[8..])
    }
}

impl Drop for Traced {
    fn drop(&mut self) {
        if !self.has_ended {
            // The child has not been waited for to its end, so its id is still its own.
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}
