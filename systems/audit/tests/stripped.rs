//! Programs without symbols, and code without a file around it: their functions are what they were
//! with symbols.

use std::path::Path;
use std::process::Command;

use audit::code_file::CodeFile;
use audit::cpus;
use audit::program::Program;
use audit::program::boot::BootWords;
use audit::program::content::Content;

/// Calls, a call in the place of a return, constants beside the code, a loop, a table of jumps, and
/// a function that only a pointer leads to.
const SOURCE: &str = "
#define APART __attribute__((noinline))
volatile unsigned out;
unsigned (*volatile pointer)(unsigned);
APART static unsigned mix(unsigned x) { return (x ^ 0x12345678u) * 0x9e3779b1u; }
APART static unsigned rounds(unsigned x, unsigned n)
{
    while (n--)
        x = mix(x + n);
    return x;
}
APART static unsigned last(unsigned x) { out = x; return mix(x + 77777777u); }
APART static unsigned choose(unsigned x)
{
    switch (x & 7) {
    case 0: return rounds(x, 3);
    case 1: out = 12; return x + 5;
    case 2: out = x; return 9;
    case 3: return last(x);
    case 4: out = 7 * x; out = x; return x * 5;
    case 5: return x << 9 | x >> 3;
    default: return rounds(x + 1, x);
    }
}
APART unsigned pointed(unsigned x) { return x * 3 + out; }
void __aeabi_unwind_cpp_pr0(void) {}
void stop(void) __attribute__((noreturn));
void stop(void) { for (;;) out = 1; }
APART void never(unsigned x) { out = x ^ 0x7edcba98u; stop(); }
void start(void)
{
    pointer = pointed;
    for (;;)
        out = out == 99 ? (never(7), 1) : choose(out) + last(1) + pointer(2);
}
";

/// Targets: the compiler with its flags, the machine.
const TARGETS: [(&[&str], &str); 6] = [
    (&["clang-19", "--target=aarch64-none-elf", "-fuse-ld=lld-19"], "cortex-a53"),
    (&["clang-19", "--target=riscv64-none-elf", "-march=rv64gc", "-fuse-ld=lld-19"], "sifive-u74"),
    (&["arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb"], "cortex-m4"),
    (&["arm-none-eabi-gcc", "-mcpu=cortex-m0plus", "-mthumb", "-fno-jump-tables"], "cortex-m0plus"),
    (&["arm-linux-gnueabi-gcc", "-mcpu=cortex-a7", "-marm"], "cortex-a7"),
    (&["gcc", "-static"], "zen4"),
];

fn run(folder: &Path, program: &str, arguments: &[&str]) {
    let ran = Command::new(program).current_dir(folder).args(arguments).output().expect("it runs");
    assert!(
        ran.status.success(),
        "{program} {arguments:?}: {}",
        String::from_utf8_lossy(&ran.stderr)
    );
}

/// The program linked, as `all`.
fn link(folder: &Path, command: &[&str]) {
    std::fs::write(folder.join("f.c"), SOURCE).expect("a scratch file");
    let flags =
        ["-O2", "-ffreestanding", "-nostdlib", "-fno-pic", "-Wl,-e,start", "f.c", "-o", "all"];
    let place = if command[0].starts_with("arm-none") { "-Wl,-Ttext=0x8000000" } else { "-static" };
    run(folder, command[0], &[&command[1..], &[place], &flags].concat());
}

fn read(path: &Path, cpu: &str, base: Option<u64>, asked: Option<u64>) -> CodeFile {
    let bytes = std::fs::read(path).expect("what was made");
    let content = Content::from(bytes).with(base, asked);
    let wanted = cpus::named(cpu).unwrap_or_else(|error| panic!("{error}"));
    CodeFile::read("all", &content, Some(wanted), &BootWords::default())
        .unwrap_or_else(|error| panic!("{}: {error}: {:?}", path.display(), error.help))
}

/// The address of each function with its instructions.
fn functions(program: &Program) -> Vec<(u64, Vec<(u64, String)>)> {
    let texts = |symbol| {
        let decoded = program.decode(symbol).unwrap_or_else(|error| panic!("{error}"));
        let instructions = decoded.function.instructions.into_iter();
        // What aligns a case or the next function is a part of this one where symbols end at the
        // next.
        let is_filler =
            |text: &str| text.starts_with("nop") || ["mov r8, r8", "xchg %ax, %ax"].contains(&text);
        let texts = instructions.map(|it| (it.address, it.text));
        texts.filter(|(_, text)| !is_filler(text)).collect::<Vec<_>>()
    };
    program.symbols.iter().map(|symbol| (symbol.address, texts(symbol))).collect()
}

#[test]
fn functions_are_found_where_calls_lead() {
    for (command, cpu) in TARGETS {
        let folder = tempfile::tempdir().expect("a scratch folder");
        link(folder.path(), command);
        let named = read(&folder.path().join("all"), cpu, None, None);
        let named = &named.programs[0];
        let at = |name: &str| named.symbol(name).unwrap_or_else(|error| panic!("{error}")).address;
        run(
            folder.path(),
            "llvm-objcopy-19",
            &["--strip-all", "-R.eh_frame", "-R.ARM.exidx", "all", "bare"],
        );
        for asked in [None, Some(at("pointed"))] {
            let bare = read(&folder.path().join("bare"), cpu, None, asked);
            let found = functions(&bare.programs[0]);
            let known = functions(named);
            for function in &found {
                let same = known.iter().find(|other| other.0 == function.0);
                let same = same.unwrap_or_else(|| panic!("{cpu}: {:#x} is none", function.0));
                assert!(function == same, "{cpu}: {function:#x?} is not {same:#x?}");
            }
            let has = |name: &str| found.iter().any(|function| function.0 == at(name));
            let names = ["start", "choose", "rounds", "mix", "never"];
            assert!(names.iter().all(|name| has(name)), "{cpu}: {:#x?}", bare.programs[0].symbols);
            // Nothing but a pointer leads there.
            assert_eq!(has("pointed"), asked.is_some(), "{cpu}");
            let inside = format!("{:#x}", at("rounds") + 2);
            let meant = bare.meant(Some(&inside)).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(meant.1.address, at("rounds"), "{cpu}");
        }
    }
}

#[test]
fn unwind_tables_name_functions_that_no_call_leads_to() {
    for (command, cpu) in [TARGETS[0], TARGETS[5]] {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let tables = ["-funwind-tables", "-fasynchronous-unwind-tables"];
        let command = [command, &tables].concat();
        link(folder.path(), &command);
        let named = read(&folder.path().join("all"), cpu, None, None);
        run(folder.path(), "llvm-objcopy-19", &["--strip-all", "all", "bare"]);
        let bare = read(&folder.path().join("bare"), cpu, None, None);
        let pointed = named.programs[0].symbol("pointed").expect("it is one").address;
        assert_eq!(bare.programs[0].name_at(pointed), Some(&format!("{pointed:#x}")[..]), "{cpu}");
    }
}

#[test]
fn images_are_the_program_that_they_were_made_of() {
    let (command, cpu) = TARGETS[2];
    let folder = tempfile::tempdir().expect("a scratch folder");
    let at = folder.path();
    link(at, command);
    let named = read(&at.join("all"), cpu, None, None);
    let known = functions(&named.programs[0]);
    let choose = named.programs[0].symbol("choose").expect("it is one").address;
    for (format, base) in [("ihex", None), ("srec", None), ("binary", Some(0x0800_0000))] {
        run(at, "arm-none-eabi-objcopy", &["-O", format, "-j", ".text", "all", "image"]);
        let image = read(&at.join("image"), cpu, base, Some(choose));
        let found = functions(&image.programs[0]);
        let same = |address| {
            let [one, other] = [&found, &known].map(|all| all.iter().find(|it| it.0 == address));
            assert!(one.is_some() && one == other, "{format}: {address:#x}: {one:#x?} {other:#x?}");
        };
        same(choose);
        let rounds = named.programs[0].symbol("rounds").expect("it is one").address;
        same(rounds);
    }
}

#[test]
fn vectors_of_a_cortex_m_are_starts() {
    let mut image: Vec<u8> = Vec::new();
    // A stack, reset, a fault, a reserved word, an interrupt; then code of two bytes each.
    for word in [0x2000_1000_u32, 0x15, 0x17, 0, 0x19] {
        image.extend(word.to_le_bytes());
    }
    for half in [0xe7fe_u16, 0xbf00, 0x4770] {
        image.extend(half.to_le_bytes());
    }
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join("f.bin");
    std::fs::write(&path, image).expect("a scratch file");
    let file = read(&path, "cortex-m0plus", Some(0), None);
    let starts: Vec<u64> = file.programs[0].symbols.iter().map(|symbol| symbol.address).collect();
    assert_eq!(starts, [0x14, 0x16, 0x18]);
}

/// A library that is stripped keeps the names of its exports; others have addresses.
#[test]
fn what_is_not_exported_has_an_address() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let at = folder.path();
    std::fs::write(
        at.join("f.c"),
        "__attribute__((noinline)) static int hidden(int x) { return 77 / x; }\n\
         int shown(int x) { return hidden(x) + hidden(x + 1); }\n",
    )
    .expect("a scratch file");
    run(at, "gcc", &["-O2", "-shared", "-fPIC", "f.c", "-o", "all"]);
    let named = read(&at.join("all"), "zen4", None, None);
    let hidden = named.programs[0].symbol("hidden").expect("it is one").clone();
    run(at, "llvm-objcopy-19", &["--strip-all", "all", "bare"]);
    let bare = read(&at.join("bare"), "zen4", None, None);
    assert!(bare.warnings(&[]).iter().any(|said| said.contains("exported functions alone")));
    let bare = read(&at.join("bare"), "zen4", None, Some(hidden.address + 1));
    let found = bare.meant(Some(&format!("{:#x}", hidden.address + 1)));
    let found = found.unwrap_or_else(|error| panic!("{error}")).1;
    assert_eq!((found.address, found.size), (hidden.address, hidden.size));
    assert!(bare.programs[0].symbol("shown").is_ok());
}

/// Code is found by sections: without their headers it is said that these are missing.
#[test]
fn a_file_without_section_headers_says_so() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let at = folder.path();
    link(at, TARGETS[5].0);
    let mut bytes = std::fs::read(at.join("all")).expect("what was linked");
    // Where they begin, and how many there are.
    bytes[40..48].fill(0);
    bytes[60..64].fill(0);
    let wanted = cpus::named("zen4").unwrap_or_else(|error| panic!("{error}"));
    let file = CodeFile::read("all", &Content::from(bytes), Some(wanted), &BootWords::default());
    let error = file.expect_err("nothing is found");
    assert!(
        error.help.as_deref().is_some_and(|help| help.contains("no section headers")),
        "{error}"
    );
}
