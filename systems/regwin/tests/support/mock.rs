//! Mock kernels of Zephyr and RTEMS with or without the ports, as images that QEMU runs.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use regwin::library;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rtos {
    Zephyr,
    Rtems,
}

impl Rtos {
    pub const BOTH: [Rtos; 2] = [Rtos::Zephyr, Rtos::Rtems];

    fn name(self) -> &'static str {
        match self {
            Rtos::Zephyr => "zephyr",
            Rtos::Rtems => "rtems",
        }
    }

    /// What the linker puts the port's in the place of, as its build file says.
    fn wrapped(self) -> Vec<String> {
        let file = match self {
            Rtos::Zephyr => include_str!("../../ports/zephyr/CMakeLists.txt"),
            Rtos::Rtems => include_str!("../../ports/rtems/regwin.mk"),
        };
        let words = file.split([' ', ',', '\n', '(', ')', '=']).filter(|part| {
            part.starts_with("__sparc_trap_")
                || part.starts_with("z_sparc_")
                || *part == "arch_new_thread"
                || part.starts_with("_CPU_")
                || part.starts_with("_SPARC_")
        });
        words.map(|word| format!("--wrap={word}")).collect()
    }
}

/// An image of a mock kernel, and how it is made.
#[derive(Debug, Clone, Copy)]
pub struct Image<'a> {
    pub rtos: Rtos,
    /// With the port, or as the RTOS is by itself.
    pub ported: bool,
    pub windows: u32,
    pub clang: bool,
    pub program: &'a str,
    pub defines: &'a [String],
}

fn run(command: &mut Command) -> String {
    let out = command.stdin(Stdio::null()).output().expect("the tool starts");
    let text =
        format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    assert!(out.status.success(), "{command:?}: {text}");
    text
}

impl Image<'_> {
    /// Code is compiled with the flags that an RTOS has: the globals that belong to applications
    /// are used, frames open late.
    fn compile(&self, folder: &Path, from: &Path, more: &[String]) -> PathBuf {
        let is_c = from.extension().is_some_and(|ending| ending == "c");
        let clang = is_c && self.clang;
        let mut command = Command::new(if clang { library::CLANG } else { library::GCC });
        command.args([
            "-mcpu=leon3",
            "-O2",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-ffreestanding",
            "-fno-pic",
            "-fno-stack-protector",
        ]);
        if clang {
            command.arg("--target=sparc-none-elf");
        } else {
            command.args([
                "-m32",
                "-no-pie",
                "-ffixed-g5",
                "-ffixed-g6",
                "-ffixed-g7",
                "-Wa,--noexecstack",
            ]);
        }
        let ports = Path::new(env!("CARGO_MANIFEST_DIR")).join("ports");
        let name = self.rtos.name();
        for include in [format!("mock/{name}_include"), "mock".to_owned(), name.to_owned()] {
            command.arg("-I").arg(ports.join(include));
        }
        let windows = self.windows;
        command.args([
            format!("-DSPARC_NUMBER_OF_REGISTER_WINDOWS={windows}"),
            format!("-DCONFIG_SPARC_NWIN={windows}"),
        ]);
        command.args([
            "-DCONFIG_THREAD_LOCAL_STORAGE",
            "-DCONFIG_PREEMPT_ENABLED",
            "-DCONFIG_THREAD_ABORT_HOOK",
        ]);
        let object =
            folder.join(format!("{}.o", from.file_name().expect("a file").to_string_lossy()));
        run(command.args(more).arg("-c").arg(from).arg("-o").arg(&object));
        object
    }

    /// The linked image, with more sources than the mock's own.
    pub fn build(&self, folder: &Path, more_sources: &[&Path]) -> PathBuf {
        let ports = Path::new(env!("CARGO_MANIFEST_DIR")).join("ports");
        let (name, program) = (self.rtos.name(), self.program);
        let mock = [
            format!("{name}.c"),
            format!("{name}_arch.S"),
            format!("{name}_reset.S"),
            "machine.c".to_owned(),
            program.to_owned(),
        ];
        let mut sources: Vec<PathBuf> =
            mock.iter().map(|found| ports.join("mock").join(found)).collect();
        sources.extend(more_sources.iter().map(|more_source| more_source.to_path_buf()));
        if self.ported {
            sources.extend(["regwin.S", "regwin.c"].map(|word| ports.join(name).join(word)));
        }
        let objects: Vec<PathBuf> =
            sources.iter().map(|source| self.compile(folder, source, self.defines)).collect();
        let image = folder.join("x.elf");
        let mut link = Command::new("sparc64-linux-gnu-ld");
        link.args(library::LINK).arg("-T").arg(ports.join("mock/mock.ld"));
        if self.ported {
            link.args(self.rtos.wrapped());
        }
        run(link.arg("-o").arg(&image).args(objects));
        image
    }
}
