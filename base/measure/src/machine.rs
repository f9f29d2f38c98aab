//! Door: facts about the machine we run on: processor, cores, load, kernel, compilers.

use std::process::Command;
use std::time::Duration;

use crate::system;
use crate::tool::{self, ToolError};

/// The machine we run on; what cannot be found out reads `unknown`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Machine {
    /// Model name of the processor.
    pub cpu: String,
    /// Cores this process may use.
    pub n_cores: usize,
    /// True inside a virtual machine.
    pub virtualised: bool,
    /// Name and release of the kernel.
    pub kernel: String,
    /// Name and version of the distribution.
    pub distribution: String,
}

impl Machine {
    /// Looks at this machine.
    pub fn here() -> Machine {
        let cpu_info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        let distribution = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
        Machine {
            cpu: cpu_name(&cpu_info),
            n_cores: std::thread::available_parallelism().map_or(1, usize::from),
            virtualised: flags(&cpu_info).any(|flag| flag == "hypervisor"),
            kernel: format!("{} {}", std::env::consts::OS, or_unknown(release.trim())),
            distribution: or_unknown(os_name(&distribution)).to_owned(),
        }
    }
}

/// The most memory that this process has had so far, in megabytes; 0 where the system does not say.
pub fn peak_memory_mb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<f64>().ok())
        .map_or(0.0, |kb| kb * 1024.0 / 1e6)
}

/// What a processor says of itself: vendor, family, model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Processor {
    pub vendor: String,
    /// The family, its extension added.
    pub family: u32,
    /// The model, its extension added.
    pub model: u32,
}

/// The processor of this machine; `None` where the system does not name it so, as
/// on other than x86.
pub fn processor() -> Option<Processor> {
    processor_of(&std::fs::read_to_string("/proc/cpuinfo").ok()?)
}

fn processor_of(cpu_info: &str) -> Option<Processor> {
    let number = |key: &str| field(cpu_info, key)?.parse().ok();
    Some(Processor {
        vendor: field(cpu_info, "vendor_id")?.to_owned(),
        family: number("cpu family")?,
        model: number("model")?,
    })
}

/// Processor time of all children that have ended so far, and of theirs, in seconds; 0 where the
/// system does not say.
pub fn children_seconds() -> f64 {
    let status = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name, in parentheses, may hold blanks; user and system time of children are fields 16 and
    // 17.
    let fields = status.rsplit_once(')').map_or("", |pair| pair.1).split_whitespace();
    let ticks: u64 = fields.skip(13).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
    ticks as f64 / system::ticks_per_second() as f64
}

/// Mean number of running threads over the last minute; `None` where the kernel does not say.
pub fn load() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/loadavg").ok()?;
    text.split_whitespace().next()?.parse().ok()
}

/// The first line with a number that `program` with `args`, such as `--version`, writes; the first
/// one if none has any.
pub fn version(program: &str, args: &[&str]) -> Result<String, ToolError> {
    let mut command = Command::new(program);
    command.args(args);
    let ran = tool::run(&mut command, b"", Duration::from_secs(20))?.ok()?;
    let text = ran.text();
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    // MPICH's mpirun begins with a heading.
    let line = lines
        .clone()
        .find(|line| line.contains(|letter: char| letter.is_ascii_digit()))
        .or_else(|| lines.next());
    line.map(str::to_owned).ok_or(ToolError { ran: ran.command, said: "nothing".to_owned() })
}

/// A CPU feature by the name the compiler's `-m` option gives it, and whether this CPU and
/// its kernel offer it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Feature {
    pub name: &'static str,
    /// True if programs may use it here.
    pub present: bool,
}

/// The features our compilers' outputs may need on this kind of processor.
#[cfg(target_arch = "x86_64")]
pub fn features() -> Vec<Feature> {
    macro_rules! detect {
        ($($name:tt)*) => {
            vec![$(Feature { name: $name, present: std::arch::is_x86_feature_detected!($name) }),*]
        };
    }
    detect!["ssse3" "sse4.1" "avx" "avx2" "avx512f" "avx512bw" "avx512vl" "avx512vbmi"]
}

/// The features our compilers' outputs may need on this kind of processor.
#[cfg(target_arch = "aarch64")]
pub fn features() -> Vec<Feature> {
    vec![Feature { name: "neon", present: std::arch::is_aarch64_feature_detected!("neon") }]
}

/// The features our compilers' outputs may need on this kind of processor.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub fn features() -> Vec<Feature> {
    Vec::new()
}

/// Today as `YYYY-MM-DD`, in universal time.
pub fn today() -> String {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let n_days = since.map_or(0, |since| since.as_secs() / 86_400);
    date_of(i64::try_from(n_days).unwrap_or(0))
}

/// The Gregorian date `n_days` after 1970-01-01. Years are counted from March, so that the
/// leap day is the last day of a year; 400 years have 146097 days.
fn date_of(n_days: i64) -> String {
    let day = n_days + 719_468; // days from 0000-03-01
    let (era, day) = (day.div_euclid(146_097), day.rem_euclid(146_097));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153; // from March
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, year) = if month < 10 { (month + 3, year) } else { (month - 9, year + 1) };
    format!("{:04}-{month:02}-{day:02}", year + 400 * era)
}

fn cpu_name(cpu_info: &str) -> String {
    let name = ["model name", "Model", "Hardware"].iter().find_map(|key| field(cpu_info, key));
    or_unknown(name.unwrap_or("")).to_owned()
}

fn flags(cpu_info: &str) -> impl Iterator<Item = &str> {
    field(cpu_info, "flags").unwrap_or("").split_whitespace()
}

fn field<'a>(cpu_info: &'a str, key: &str) -> Option<&'a str> {
    let lines = cpu_info.lines().filter_map(|line| line.split_once(':'));
    lines
        .map(|(name, value)| (name.trim(), value.trim()))
        .find(|(name, _)| *name == key)
        .map(|(_, value)| value)
}

fn os_name(os_release: &str) -> &str {
    let line = os_release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="));
    line.unwrap_or("").trim_matches('"')
}

fn or_unknown(text: &str) -> &str {
    if text.is_empty() { "unknown" } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_from_the_kernel() {
        let info = "processor\t: 0\nmodel name\t: Example 9000\nflags\t\t: fpu hypervisor avx2\n";
        assert_eq!(cpu_name(info), "Example 9000");
        assert!(flags(info).any(|flag| flag == "hypervisor"));
        assert_eq!(cpu_name(""), "unknown");
        assert_eq!(
            os_name("ID=debian\nPRETTY_NAME=\"Debian GNU/Linux 12\"\n"),
            "Debian GNU/Linux 12"
        );
    }

    #[test]
    fn processors_say_what_they_are() {
        let amd = "vendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\nmodel name\t: Example 9000\n";
        assert_eq!(
            processor_of(amd),
            Some(Processor { vendor: "AuthenticAMD".into(), family: 25, model: 17 })
        );
        let intel = "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 143\n";
        assert_eq!(
            processor_of(intel),
            Some(Processor { vendor: "GenuineIntel".into(), family: 6, model: 143 })
        );
        assert_eq!(processor_of("CPU implementer\t: 0x41\nCPU part\t: 0xd08\n"), None);
    }

    #[test]
    fn dates() {
        for (n_days, date) in [
            (0, "1970-01-01"),
            (59, "1970-03-01"),
            (11_016, "2000-02-29"),
            (20_453, "2025-12-31"),
            (20_454, "2026-01-01"),
        ] {
            assert_eq!(date_of(n_days), date);
        }
    }

    #[test]
    fn the_time_of_children_is_counted() {
        let before = children_seconds();
        let spin = "i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done";
        let status = std::process::Command::new("sh").args(["-c", spin]).status().expect("sh runs");
        assert!(status.success() && children_seconds() > before);
    }

    #[test]
    fn a_missing_compiler_says_what_was_run() {
        let error = version("no-such-compiler", &["--version"]).expect_err("it is missing");
        assert_eq!(error.ran, "no-such-compiler --version");
    }

    #[test]
    fn this_machine_has_a_core() {
        assert!(Machine::here().n_cores >= 1);
    }
}
