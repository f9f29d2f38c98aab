//! An arm64 kernel's code as it is after it started: by the core, by the kernel's own tables, by its
//! log and by what the user says. And tables that cannot be meant so.

use std::process::Command;

use audit::audit::{Audit, Options};
use audit::code_file::CodeFile;
use audit::cpus;
use audit::finding::Kind;
use audit::program::boot::BootWords;
use audit::program::content::Content;
use audit::timing::licence::Effort;
use audit::views::text::{Sources, View, text};
use machine::in_order::Core;
use report::Diagnostic;

/// The tables of a kernel in small, with the layout of version 6.1.
const TABLES: &str = r#"
typedef unsigned int u32; typedef unsigned short u16; typedef unsigned char u8;
struct midr_range { u32 model, rv_min, rv_max; };
struct arm64_cpu_capabilities {
    const char *desc; u16 capability, type;
    _Bool (*matches)(const struct arm64_cpu_capabilities *, int);
    void (*cpu_enable)(void);
    union {
        struct { struct midr_range midr_range; const void *fixed_revs; };
        const struct midr_range *midr_range_list;
        struct { u32 sys_reg; u8 field_pos, field_width, min_field_value, hwcap_type; _Bool sign; unsigned long hwcap; };
    };
    const struct arm64_cpu_capabilities *match_list;
};
#define TEST(name) _Bool name(const struct arm64_cpu_capabilities *it, int scope) { return it->type == scope; }
TEST(has_cpuid_feature) TEST(is_affected_midr_range_list) TEST(cpucap_multi_entry_cap_matches) TEST(has_weather)
void alt_cb_patch_nops(void) {} void patch_the_rest(void) {}
static const struct midr_range a53[] = { {0x410fd030, 0, 4}, {0} };
static const struct arm64_cpu_capabilities ways[] = { {.matches = has_cpuid_feature, .sys_reg = 0x180420, .field_pos = 4, .field_width = 4, .min_field_value = 9}, {.matches = is_affected_midr_range_list, .midr_range_list = a53}, {0} };
__attribute__((used)) static const struct arm64_cpu_capabilities arm64_features[] = {
    {"LSE atomic instructions", 26, 0, has_cpuid_feature, .sys_reg = 0x180600, .field_pos = 20, .field_width = 4, .min_field_value = 2},
    {"Fair weather", 3, 0, has_weather}, {0} };
__attribute__((used)) static const struct arm64_cpu_capabilities arm64_errata[] = {
    {"ARM erratum 845719", 55, 0, is_affected_midr_range_list, .midr_range_list = a53},
    {"Several ways", 56, 0, cpucap_multi_entry_cap_matches, .match_list = ways}, {0} };
int off_key[4] = {0}; int on_key[4] = {1};
"#;

/// A row of `.altinstructions` for the words from 661 to 662.
fn row(feature: &str, replacement: &str) -> String {
    let length = if replacement.starts_with('6') { "664f - 663f" } else { "0" };
    format!(
        ".pushsection .altinstructions, \"a\"\n.word 661b - ., {replacement} - .\n.hword {feature}\n\
         .byte 662b - 661b, {length}\n.popsection\n"
    )
}

/// The linked kernel with this function `f`, at a fixed place, or one that can be moved.
fn kernel(code: &str, is_moved: bool) -> Vec<u8> {
    kernel_of(&format!("f:\n{code}"), is_moved)
}

/// The same with the label `f` in the text, for what lies before it.
fn kernel_of(text: &str, is_moved: bool) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let [tables, source, linked] =
        ["tables.c", "f.s", "vmlinux"].map(|word| folder.path().join(word));
    std::fs::write(&tables, TABLES).expect("a scratch file");
    let code = format!(".text\n.global f\n.type f, %function\n{text}.size f, . - f\n");
    std::fs::write(&source, code).expect("a scratch file");
    let mut command = Command::new("aarch64-linux-gnu-gcc");
    command.args(["-g", "-O1", "-nostdlib", "-Wl,-e,f", "-Wl,--build-id=none"]);
    command.args(if is_moved { ["-shared", "-fPIC", "-Wl,-Bsymbolic"] } else { ["-static"; 3] });
    let output = command.arg("-o").arg(&linked).args([&tables, &source]).output();
    let output = output.expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::fs::read(&linked).expect("what was linked")
}

fn read(bytes: &[u8], cpu: &str, said: &[&str]) -> Result<CodeFile, Diagnostic> {
    let mut words = BootWords::default();
    for word in said {
        assert!(words.add(word) || words.add_log(word), "{word}");
    }
    let wanted = cpus::named(cpu).unwrap_or_else(|error| panic!("{error}"));
    CodeFile::read("vmlinux", &Content::from(bytes.to_vec()), Some(wanted), &words)
}

fn audited(bytes: &[u8], cpu: &str, said: &[&str]) -> Audit {
    let file = read(bytes, cpu, said).unwrap_or_else(|error| panic!("{error}"));
    let options =
        Options { avoid: Vec::new(), through: Vec::new(), effort: Effort::Search, recorded: None };
    file.audit(Some("f"), Core::bundled(cpu).as_ref(), &options, &View::default())
        .unwrap_or_else(|error| panic!("{error}"))
}

/// The instructions of the path.
fn path(audit: &Audit) -> Vec<&str> {
    let texts = audit.trace.places.iter().map(|idx| &audit.function.instructions[*idx].text);
    texts.map(String::as_str).collect()
}

fn said(audit: &Audit) -> String {
    text(audit, &Sources::default(), &View::default())
}

/// A branch that is none where the processor has the feature.
fn branch(feature: &str) -> String {
    format!(
        "661: b 1f\n662: add w0, w0, w1\nret\n1: mov w0, #0\nret\n{}663: nop\n664:\n",
        row(feature, "663f")
    )
}

const SKIPPED: [&str; 3] = ["b", "mov w0, #0", "ret"];
const DONE: [&str; 3] = ["nop", "add w0, w0, w1", "ret"];

/// The path, with branches without their targets.
fn short(audit: &Audit) -> Vec<&str> {
    path(audit).into_iter().map(|text| if text.starts_with("b ") { "b" } else { text }).collect()
}

#[test]
fn words_are_those_of_the_core() {
    for is_moved in [false, true] {
        let lse = kernel(&branch("26"), is_moved);
        assert_eq!(short(&audited(&lse, "cortex-a53", &[])), SKIPPED, "{is_moved}");
        let written = audited(&lse, "cortex-a55", &[]);
        assert_eq!(short(&written), DONE, "{is_moved}");
        let line = "1 alternative: as after the kernel started on cortex-a55, 1 written over";
        assert!(said(&written).contains(line), "{}", said(&written));
        // What is asked for stays as in the file.
        assert_eq!(short(&audited(&lse, "cortex-a55", &["none"])), SKIPPED);
        // A fault of the Cortex-A53, by a list of models and by one of several ways.
        for number in ["55", "56"] {
            let erratum = kernel(&branch(number), is_moved);
            assert_eq!(short(&audited(&erratum, "cortex-a53", &[])), DONE, "{number}{is_moved}");
            assert_eq!(short(&audited(&erratum, "cortex-a55", &[])), SKIPPED, "{number}");
        }
    }
    // The kernel has no row of this number: it was built without.
    let without = audited(&kernel(&branch("9"), false), "cortex-a55", &[]);
    assert_eq!((short(&without), without.function.tables.n_open()), (SKIPPED.to_vec(), 0));
}

#[test]
fn what_the_core_does_not_say_is_open_until_the_user_says_it() {
    let weather = kernel(&branch("3"), false);
    let open = audited(&weather, "cortex-a53", &[]);
    assert_eq!(open.function.tables.n_open(), 1);
    assert!(
        said(&open).contains("what becomes of 1 of them, by `Fair weather`"),
        "{}",
        said(&open)
    );
    let log = "[    0.1] CPU features: detected: Fair weather\n";
    let other = "[    0.1] CPU features: detected: CRC32 instructions\n";
    for on in ["Fair weather=on", "3=on", log] {
        let audit = audited(&weather, "cortex-a53", &[on]);
        assert_eq!((short(&audit), audit.function.tables.n_open()), (DONE.to_vec(), 0), "{on}");
    }
    for off in [&["Fair weather=off"] as &[&str], &[other], &[log, "3=off"]] {
        let audit = audited(&weather, "cortex-a53", off);
        assert_eq!((short(&audit), audit.function.tables.n_open()), (SKIPPED.to_vec(), 0));
    }
    let error = read(&weather, "cortex-a53", &["Fair wether=on"]).expect_err("there is no such");
    assert!(error.message.contains("nothing of this name"), "{error}");
    assert!(error.help.is_some_and(|help| help.contains("`Fair weather`")));
}

#[test]
fn a_branch_that_is_written_over_counts_on_other_cores() {
    // Without the feature `w3` is 5 at the label, to which the Cortex-A55 comes with 7 alone.
    let code = format!(
        "mov w3, #5\n661: b 1f\n662: mov w3, #7\ncbz w1, 1f\nadd w0, w0, w3\nret\n\
         1: mov w3, #7\nadd w0, w3, w1\nret\n{}663: nop\n664:\n",
        row("26", "663f")
    );
    let audit = audited(&kernel(&code, false), "cortex-a55", &[]);
    let label = audit.function.instructions.iter().rposition(|it| it.text == "mov w3, #7");
    let of_it = audit.findings.iter().filter(|finding| Some(finding.idx) == label);
    assert_eq!(of_it.count(), 0, "{}", said(&audit));
}

#[test]
fn what_is_open_stands_as_in_the_file() {
    let rows = row("26", "663f") + &row("3", "663f");
    let code = format!("661: nop\n662: add w0, w0, w1\nret\n{rows}663: mov w1, #1\n664:\n");
    let audit = audited(&kernel(&code, false), "cortex-a55", &[]);
    assert_eq!((path(&audit)[0], audit.function.tables.n_open()), ("nop", 1));
    let known = audited(&kernel(&code, false), "cortex-a55", &["3=off"]);
    assert_eq!(path(&known)[0], "mov w1, #1");
}

#[test]
fn functions_of_the_kernel_write_too() {
    let callback = |feature: &str, name: &str| {
        let code = "661: b 1f\n662: add w0, w0, w1\nret\n1: mov w0, #0\nret\n";
        kernel(&format!("{code}{}", row(feature, name)), false)
    };
    // Version 6.0 set the highest bit; before it was the number behind all.
    let nops = callback("0x8000 + 26", "alt_cb_patch_nops");
    assert_eq!(short(&audited(&nops, "cortex-a55", &[])), DONE);
    assert_eq!(short(&audited(&nops, "cortex-a53", &[])), SKIPPED);
    let old = callback("84", "alt_cb_patch_nops");
    assert_eq!(short(&audited(&old, "cortex-a53", &[])), DONE);
    let rest = callback("0x8000 + 26", "patch_the_rest");
    let open = audited(&rest, "cortex-a55", &[]);
    assert!(said(&open).contains("by `patch_the_rest`"), "{}", said(&open));
    assert_eq!(audited(&rest, "cortex-a55", &["patch_the_rest=off"]).function.tables.n_open(), 0);
    // Without the feature it is not called.
    assert_eq!(audited(&rest, "cortex-a53", &[]).function.tables.n_open(), 0);
}

#[test]
fn a_branch_that_is_written_leads_where_it_led() {
    let code = format!(
        "661: nop\n662: add w0, w0, w1\nret\n1: mov w0, #0\nret\n{}663: cbz w0, 1b\n664:\n",
        row("26", "663f")
    );
    for is_moved in [false, true] {
        let audit = audited(&kernel(&code, is_moved), "cortex-a55", &[]);
        assert_eq!(audit.function.target(0), Some(3), "{is_moved}");
    }
}

#[test]
fn a_jump_label_is_as_its_key_is() {
    let label = |word: &str, key: &str| {
        let code = format!(
            "1: {word}\nadd w0, w0, w1\nret\n2: mov w0, #0\nret\n\
             .pushsection __jump_table, \"aw\"\n.balign 8\n.long 1b - ., 2b - .\n.quad {key} - .\n.popsection\n"
        );
        // The symbols around the rows are the linker script's in a kernel.
        kernel(&code, false)
    };
    let off = label("nop", "off_key");
    assert_eq!(short(&audited(&off, "cortex-a53", &[])), DONE);
    assert!(said(&audited(&off, "cortex-a53", &[])).contains("keys as they begin: `off_key`"));
    assert_eq!(short(&audited(&off, "cortex-a53", &["off_key=on"])), SKIPPED);
    // The lowest bit says that the code goes on in line while the key is set.
    let likely = label("nop", "on_key + 1");
    assert_eq!(short(&audited(&likely, "cortex-a53", &[])), DONE);
    assert_eq!(short(&audited(&likely, "cortex-a53", &["on_key=off"])), SKIPPED);
    let unlikely = label("b 2f", "on_key");
    assert_eq!(short(&audited(&unlikely, "cortex-a53", &[])), SKIPPED);
    assert_eq!(short(&audited(&unlikely, "cortex-a53", &["on_key=off"])), DONE);
}

#[test]
fn what_one_state_reads_is_not_dead_in_the_other() {
    let code = "mov w9, w1\n1: nop\nadd w0, w0, #1\nret\n2: add w0, w0, w9\nret\n\
                .pushsection __jump_table, \"aw\"\n.balign 8\n.long 1b - ., 2b - .\n.quad off_key - .\n.popsection\n";
    let audit = audited(&kernel(code, false), "cortex-a53", &[]);
    let dead = audit.findings.iter().filter(|finding| finding.kind == Kind::DeadValue);
    assert_eq!(dead.count(), 0, "{}", said(&audit));
    assert!(path(&audit).contains(&"add w0, w0, #1"));
}

#[test]
fn a_function_that_can_be_traced_keeps_its_way_back() {
    for is_moved in [false, true] {
        let code = "nop\nnop\nadd w0, w0, #1\nret\n\
                    .pushsection __mcount_loc, \"aw\"\n.balign 8\n.quad f\n.popsection\n";
        let audit = audited(&kernel(code, is_moved), "cortex-a53", &[]);
        assert_eq!(path(&audit), ["mov x9, x30", "nop", "add w0, w0, #1", "ret"], "{is_moved}");
        assert!(audit.findings.iter().all(|finding| finding.kind != Kind::DeadValue));
        assert!(!said(&audit).contains("alternative"), "{}", said(&audit));
    }
    let calls = "bl other\nnop\nadd w0, w0, #1\nret\nother: ret\n\
                 .pushsection __mcount_loc, \"aw\"\n.balign 8\n.quad f\n.popsection\n";
    assert_eq!(path(&audited(&kernel(calls, false), "cortex-a53", &[]))[..2], ["nop", "nop"]);
}

/// Since version 6.2 a row may name the two words before the function, which are its tracer's.
#[test]
fn words_of_a_tracer_before_a_function_are_not_its_beginning() {
    let table = ".pushsection __mcount_loc, \"aw\"\n.balign 8\n.quad f - 8\n.popsection\n";
    for (begins, wanted) in [
        ("", vec!["mov x9, x30", "nop", "add w0, w0, #1", "ret"]),
        ("bti c\n", vec!["hint #34", "mov x9, x30", "nop", "add w0, w0, #1", "ret"]),
    ] {
        let text = format!("nop\nnop\nf: {begins}nop\nnop\nadd w0, w0, #1\nret\n{table}");
        let audit = audited(&kernel_of(&text, false), "cortex-a53", &[]);
        assert_eq!(path(&audit), wanted, "{begins}");
    }
    // What follows at once may be an alternative, which is a patch of its own.
    let (row, table) = (row("26", "663f"), format!("ret\n663: nop\n664:\n{table}"));
    let text = format!("nop\nnop\nf: nop\nnop\n661: mov w0, #1\n662:\n{row}{table}");
    let audit = audited(&kernel_of(&text, false), "cortex-a55", &[]);
    assert_eq!(path(&audit), ["mov x9, x30", "nop", "nop", "ret"], "{}", said(&audit));
}

#[test]
fn rows_that_cannot_be_meant_so_are_said_and_the_rest_is_judged() {
    let lse = |code: &str| format!("661: {code}\n662:\n{}", row("26", "663f"));
    let sound = "mov w5, #1\nret\n";
    let table = |name: &str, rows: &str| {
        format!(".pushsection {name}, \"a\"\n.balign 8\n1: {rows}\n.popsection\n")
    };
    let overlap = format!(
        "{sound}{}663: nop\nnop\n664:\n{}663: nop\n664:\n",
        "661: nop\n2: nop\n662:\n".to_owned() + &row("26", "663f"),
        ".set first, 2b\n.pushsection .altinstructions, \"a\"\n.word first - ., 663f - .\n.hword 26\n.byte 4, 4\n.popsection\n"
    );
    let cases = [
        (overlap, "reaches into"),
        (format!("{sound}{}663: nop\nnop\n664:\n", lse("nop")), "writes 8 bytes over 4"),
        (
            format!(
                "{sound}{}663: nop\n664:\n{}",
                lse("nop"),
                table(".altinstructions", ".word 0x70000000, 0x70000000\n.hword 26\n.byte 4, 4")
            ),
            "is for 0x",
        ),
        (
            format!(
                "{sound}9: ldr w0, [x0]\nret\n{}",
                table("__ex_table", ".long 9b - ., off_key - .\n.short 1, 0")
            ),
            "goes on at 0x",
        ),
        (
            format!(
                "{sound}9: add w0, w0, w0\n8: ret\n{}",
                table("__jump_table", ".long 9b - ., 8b - .\n.quad off_key - .")
            ),
            "is no jump label's",
        ),
    ];
    for (code, fault) in cases {
        let bytes = kernel(&code, false);
        let file = read(&bytes, "cortex-a55", &[]).unwrap_or_else(|error| panic!("{error}"));
        let warnings = file.warnings(&[]);
        assert!(warnings.iter().any(|said| said.contains(fault)), "{fault}: {warnings:?}");
        assert!(
            warnings.iter().all(|said| said.contains("0x")),
            "each with its place: {warnings:?}"
        );
        let audit = audited(&bytes, "cortex-a55", &[]);
        let dead = audit.findings.iter().filter(|finding| finding.kind == Kind::DeadValue);
        assert_eq!(dead.count(), 1, "{fault}: {}", said(&audit));
    }
}

#[test]
fn sections_at_the_end_of_memory_are_read_or_refused() {
    let sound = kernel(&branch("26"), true);
    let number = |at: usize| u64::from_le_bytes(*sound[at..].first_chunk().expect("it is so long"));
    let is_code = |header: &usize| number(header + 8) & 4 != 0;
    let headers = (number(0x28) as usize..sound.len()).step_by(64);
    for header in headers.filter(|header| header + 64 <= sound.len() && !is_code(header)) {
        for address in [u64::MAX, u64::MAX - 15] {
            let mut bytes = sound.clone();
            bytes[header + 16..header + 24].copy_from_slice(&address.to_le_bytes());
            let name = format!("{header:#x} {address:#x}");
            let file =
                read(&bytes, "cortex-a55", &[]).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(file.programs[0].symbol("f").is_ok(), "{name}");
        }
    }
}
