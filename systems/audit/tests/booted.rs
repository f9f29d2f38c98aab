//! A kernel's code as it is after it started, of arm64 and of riscv: by the core, by the kernel's
//! own tables, by its log and by what the user says. And tables that cannot be meant so.

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
    linked("aarch64-linux-gnu-gcc", TABLES, text, is_moved)
}

/// What this compiler makes of the tables and the text.
fn linked(compiler: &str, tables_source: &str, text: &str, is_moved: bool) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let [tables, source, linked] =
        ["tables.c", "f.s", "vmlinux"].map(|word| folder.path().join(word));
    std::fs::write(&tables, tables_source).expect("a scratch file");
    let code = format!(".text\n.global f\n.type f, %function\n{text}.size f, . - f\n");
    std::fs::write(&source, code).expect("a scratch file");
    let mut command = Command::new(compiler);
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
    let branches = ["b ", "j "];
    let is_one = |text: &str| branches.iter().any(|branch| text.starts_with(branch));
    path(audit).into_iter().map(|text| if is_one(text) { &text[..1] } else { text }).collect()
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

/// The tables of a riscv kernel in small, with the layout of version 6.12.
const RISCV_TABLES: &str = r#"
typedef unsigned int u32; typedef unsigned long u64;
struct riscv_isa_ext_data {
    const u32 id; const char *name, *property; const u32 *subset_ext_ids; const u32 subset_ext_size;
    int (*validate)(const struct riscv_isa_ext_data *, const u64 *);
};
struct errata_info_t { char name[32]; _Bool (*check_func)(u64, u64); };
int asks_more(const struct riscv_isa_ext_data *it, const u64 *isa) { return it->id == *isa; }
_Bool errata_cip_453_check_func(u64 arch, u64 version) { return arch < version; }
_Bool errata_cip_1200_check_func(u64 arch, u64 version) { return arch > version; }
static const u32 of_c[] = {80, 83}, of_zicbom[] = {127}, of_zk[] = {52};
const struct riscv_isa_ext_data riscv_isa_ext[] = {
    {8, "i", "i"}, {2, "c", "c", of_c, 2}, {21, "v", "v"}, {30, "zbb", "zbb"},
    {31, "zicbom", "zicbom", of_zicbom, 1, asks_more}, {34, "zicboz", "zicboz", 0, 0, asks_more},
    {80, "zca", "zca"}, {83, "zcf", "zcf", 0, 0, asks_more}, {-1, "zk", "zk", of_zk, 1}, {52, "zkr", "zkr"},
    {90, "zother", "zother"},
};
const struct riscv_isa_ext_data riscv_isa_vendor_ext_andes[] = { {0, "xandespmu", "xandespmu"} };
static struct errata_info_t errata_list[] = { {"cip-453", errata_cip_453_check_func}, {"cip-1200", errata_cip_1200_check_func} };
_Bool __riscv_isa_extension_available(const u64 *isa, u32 bit) { return riscv_isa_ext[bit].id == *isa; }
_Bool sifive_errata_patch_func(u64 arch, u64 version) { return errata_list[version].check_func(arch, version); }
int off_key[4] = {0}; int on_key[4] = {1};
"#;

/// The linked kernel with this function `f`.
fn riscv_kernel(code: &str, is_moved: bool) -> Vec<u8> {
    let text = format!(".option norvc\n.option norelax\nf:\n{code}");
    linked("riscv64-linux-gnu-gcc", RISCV_TABLES, &text, is_moved)
}

/// A row of `.alternative` for the words from 886 to 887: of a vendor, and its number.
fn riscv_row(vendor: &str, number: &str) -> String {
    format!(
        ".pushsection .alternative, \"a\"\n.4byte 886b - ., 888f - .\n\
         .2byte {vendor}, 889f - 888f\n.4byte {number}\n.popsection\n"
    )
}

/// A branch that is none where the row holds.
fn riscv_branch(vendor: &str, number: &str) -> Vec<u8> {
    riscv_kernel(&riscv_branched(&riscv_row(vendor, number)), false)
}

fn riscv_branched(rows: &str) -> String {
    format!("886: j 1f\n887: add a0, a0, a1\nret\n1: li a0, 0\nret\n{rows}888: nop\n889:\n")
}

const RISCV_SKIPPED: [&str; 3] = ["j", "li a0, 0", "ret"];
const RISCV_DONE: [&str; 3] = ["nop", "add a0, a0, a1", "ret"];

/// The file of all that a running kernel says of its processors.
fn cpuinfo(isa: &str, version: u64) -> String {
    format!(
        "processor\t: 0\nhart\t\t: 1\nisa\t\t: {isa}\nmvendorid\t: 0x489\n\
         marchid\t\t: 0x8000000000000007\nmimpid\t\t: {version:#x}\nhart isa\t: {isa}_zother\n"
    )
}

/// Each is a vendor and a number, what is known besides, and whether the row is taken; none if that
/// is open.
fn check_riscv_rows(cpu: &str, cases: &[(&str, &str, &[&str], Option<bool>)]) {
    for (vendor, number, known, is_taken) in cases {
        let audit = audited(&riscv_branch(vendor, number), cpu, known);
        let expected = if *is_taken == Some(true) { RISCV_DONE } else { RISCV_SKIPPED };
        let name = format!("{vendor} {number} {known:?}");
        assert_eq!(short(&audit), expected, "{name}: {}", said(&audit));
        assert_eq!(audit.function.tables.n_open() > 0, is_taken.is_none(), "{name}");
        assert!(audit.findings.iter().all(|found| found.ways.is_empty()), "{name}");
    }
}

#[test]
fn riscv_words_are_those_of_the_extensions() {
    let (with, without) = (cpuinfo("rv64imafdc_zbb", 0), cpuinfo("rv64imafdc", 0));
    check_riscv_rows(
        "sifive-u74",
        &[
            // The core has one, not the other, and its chip decides of the third.
            ("0", "2", &[], Some(true)),
            ("0", "21", &[], Some(false)),
            ("0", "30", &[], None),
            ("0", "30", &["zbb=on"], Some(true)),
            ("0", "30", &["30=off"], Some(false)),
            ("0", "30", &[&with], Some(true)),
            ("0", "30", &[&without], Some(false)),
            ("0", "30", &[&with, "zbb=off"], Some(false)),
            // One hart's alone is not the system's.
            ("0", "90", &[&with], Some(false)),
            // The kernel has no row of this number: nothing sets it.
            ("0", "99", &[], Some(false)),
            ("0", "30", &["none"], Some(false)),
        ],
    );
    check_riscv_rows("rocket", &[("0", "2", &[], None), ("0", "30", &[], None)]);
    // A kernel that can be moved has its pointers in another table.
    let moved = riscv_kernel(&riscv_branched(&riscv_row("0", "2")), true);
    assert_eq!(short(&audited(&moved, "sifive-u74", &[])), RISCV_DONE);
    // Without that table no name can be read, and no extension is known to be absent.
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join("vmlinux");
    std::fs::write(&path, &moved).expect("a scratch file");
    let mut cut = Command::new("llvm-objcopy-19");
    assert!(cut.arg("--remove-section=.rela.dyn").arg(&path).status().expect("it runs").success());
    let cut = audited(&std::fs::read(&path).expect("what is left"), "sifive-u74", &[]);
    assert_eq!(short(&cut), RISCV_SKIPPED);
    assert_eq!(cut.function.tables.n_open(), 1);
    let open = audited(&riscv_branch("0", "30"), "sifive-u74", &[]);
    assert!(said(&open).contains("what becomes of 1 of them, by `zbb`"), "{}", said(&open));
}

#[test]
fn an_extension_of_riscv_may_come_with_another_or_be_refused() {
    let zicbom = cpuinfo("rv64imac_zicbom", 0);
    let zk = cpuinfo("rv64imac_zkr", 0);
    check_riscv_rows(
        "sifive-u74",
        &[
            // No row has this number but as a part of Zicbom, which the core has not.
            ("0", "127", &[], Some(false)),
            ("0", "127", &[&zicbom], Some(true)),
            ("0", "127", &[&zk], Some(false)),
            ("0", "52", &[&zk], Some(true)),
            // C has both; the kernel asks more of the second.
            ("0", "80", &[], Some(true)),
            ("0", "83", &[], None),
        ],
    );
    check_riscv_rows(
        "rocket",
        &[
            ("0", "127", &[], None),
            ("0", "127", &["zicbom=on"], Some(true)),
            // The kernel may have refused Zicbom alone: its part is there.
            ("0", "127", &[&zk], None),
            // What another vendor adds is in a list that is not read.
            ("0x722", "0x8000", &[], None),
        ],
    );
}

#[test]
fn blocks_of_riscv_have_to_be_small_enough() {
    let zicboz = cpuinfo("rv64imac_zicboz", 0);
    let fits = "blocks of at most 256 bytes=on";
    let row = ("0", "34 | 8 << 16");
    check_riscv_rows(
        "rocket",
        &[
            (row.0, row.1, &[], None),
            (row.0, row.1, &["zicboz=off"], Some(false)),
            (row.0, row.1, &[&zicboz], None),
            (row.0, row.1, &[&zicboz, fits], Some(true)),
            (row.0, row.1, &[&zicboz, "blocks of at most 256 bytes=off"], Some(false)),
            // Without a size they only have to be there.
            ("0", "34", &[&zicboz], Some(true)),
        ],
    );
}

#[test]
fn faults_of_riscv_are_those_of_a_vendor() {
    let early = cpuinfo("rv64imafdc", 0x2018_1004);
    let late = cpuinfo("rv64imafdc", 0x421_0427);
    check_riscv_rows(
        "sifive-u74",
        &[
            ("0x489", "1", &[], None),
            ("0x489", "1", &[&early], Some(true)),
            ("0x489", "1", &[&late], Some(false)),
            ("0x489", "1", &["cip-1200=on"], Some(true)),
            ("0x489", "0", &[&early], Some(true)),
            ("0x489", "0", &[&late], Some(false)),
            // The core is no T-Head's, nor has it what Andes adds.
            ("0x5b7", "0", &[], Some(false)),
            ("0x31e", "0x8000", &[], Some(false)),
        ],
    );
    check_riscv_rows(
        "rocket",
        &[
            ("0x489", "1", &[], None),
            ("0x5b7", "0", &[], None),
            ("0x5b7", "0", &[&early], Some(false)),
            ("0x5b7", "0", &["T-Head:0=on"], Some(true)),
            ("0x31e", "0x8000", &["xandespmu=on"], Some(true)),
            ("0x31e", "0x8000", &[&early], Some(false)),
        ],
    );
}

#[test]
fn a_fault_of_riscv_is_written_after_extensions() {
    let second = ".pushsection .alternative, \"a\"\n.4byte 886b - ., 890f - .\n\
                  .2byte 0, 4\n.4byte 2\n.popsection\n";
    let of_fault = riscv_row("0x489", "1");
    for rows in [format!("{of_fault}{second}"), format!("{second}{of_fault}")] {
        let code = format!("{}890: li a0, 7\n", riscv_branched(&rows));
        let bytes = riscv_kernel(&code, false);
        let with = audited(&bytes, "sifive-u74", &["cip-1200=on"]);
        assert_eq!(short(&with), RISCV_DONE, "{}", said(&with));
        let without = audited(&bytes, "sifive-u74", &["cip-1200=off"]);
        assert_eq!(path(&without)[0], "li a0, 7", "{}", said(&without));
        // T-Head's page tables are asked for before extensions are.
        let rows = rows.replace("0x489", "0x5b7").replace(".4byte 1\n", ".4byte 0\n");
        let bytes = riscv_kernel(&format!("{}890: li a0, 7\n", riscv_branched(&rows)), false);
        let with = audited(&bytes, "rocket", &["T-Head:0=on", "c=on"]);
        assert_eq!(path(&with)[0], "li a0, 7", "{}", said(&with));
        let alone = audited(&bytes, "rocket", &["T-Head:0=on", "c=off"]);
        assert_eq!(short(&alone), RISCV_DONE, "{}", said(&alone));
    }
}

#[test]
fn a_branch_of_riscv_that_is_written_leads_where_it_led() {
    let code = format!(
        "886: nop\n887: add a0, a0, a1\nret\n1: li a0, 0\nret\n{}888: j 1b\n889:\n",
        riscv_row("0", "2")
    );
    let audit = audited(&riscv_kernel(&code, false), "sifive-u74", &[]);
    assert_eq!(audit.function.target(0), Some(3), "{}", said(&audit));
    // What a kernel would not lead there is not taken for known.
    let code = code.replace("888: j 1b", "888: beqz a0, 1b");
    let audit = audited(&riscv_kernel(&code, false), "sifive-u74", &[]);
    assert!(said(&audit).contains("which is not read"), "{}", said(&audit));
}

#[test]
fn alternatives_of_older_riscv_kernels_have_pointers() {
    let row = ".pushsection .alternative, \"a\"\n.8byte 886b, 888f, 0, 889f - 888f\n\
               .4byte 30\n.popsection\n";
    let bytes = riscv_kernel(&riscv_branched(&format!("{row}{row}")), false);
    for (word, expected) in [("zbb=on", RISCV_DONE), ("zbb=off", RISCV_SKIPPED)] {
        let audit = audited(&bytes, "rocket", &[word]);
        assert_eq!((short(&audit), audit.function.tables.n_open()), (expected.to_vec(), 0));
    }
}

/// A word that a key makes a branch.
fn riscv_label(word: &str, key: &str) -> Vec<u8> {
    let code = format!(
        "1: {word}\nadd a0, a0, a1\nret\n2: li a0, 0\nret\n\
         .pushsection __jump_table, \"aw\"\n.balign 8\n.4byte 1b - ., 2b - .\n\
         .8byte {key} - .\n.popsection\n"
    );
    riscv_kernel(&code, false)
}

#[test]
fn a_jump_label_of_riscv_is_as_its_key_is() {
    let states = |bytes: &[u8], cpu_words: &[&str]| audited(bytes, "sifive-u74", cpu_words);
    let off = riscv_label("nop", "off_key");
    assert_eq!(short(&states(&off, &[])), RISCV_DONE);
    assert!(said(&states(&off, &[])).contains("keys as they begin: `off_key`"));
    assert_eq!(short(&states(&off, &["off_key=on"])), RISCV_SKIPPED);
    let likely = riscv_label("nop", "on_key + 1");
    assert_eq!(short(&states(&likely, &["on_key=off"])), RISCV_SKIPPED);
    let unlikely = riscv_label("j 2f", "on_key");
    assert_eq!(short(&states(&unlikely, &[])), RISCV_SKIPPED);
    assert_eq!(short(&states(&unlikely, &["on_key=off"])), RISCV_DONE);
}

#[test]
fn a_function_of_riscv_that_can_be_traced_begins_with_two_words() {
    for (n_short, n_words) in [(4, 2), (8, 4)] {
        let code = format!(
            ".option rvc\n{}.option norvc\nadd a0, a0, a1\nret\n\
             .pushsection __mcount_loc, \"aw\"\n.balign 8\n.8byte f\n.popsection\n",
            "nop\n".repeat(n_short)
        );
        for is_moved in [false, true] {
            let audit = audited(&riscv_kernel(&code, is_moved), "sifive-u74", &[]);
            let expected = [&["nop"].repeat(n_words)[..], &RISCV_DONE[1..]].concat();
            assert_eq!(path(&audit), expected, "{n_short}{is_moved}");
        }
    }
}

/// Since version 6.16 half of the call of a tracer is in place, whose other half is written last.
#[test]
fn a_function_of_riscv_may_have_half_of_a_call_of_its_tracer() {
    let of_tracer = |name: &str| {
        format!(".balign 4096\n.type {name}, %function\n{name}: ret\n.size {name}, 4\n")
    };
    let text = |name: &str| {
        format!(
            ".balign 4096\nf:\n.option rvc\n{}.option norvc\nadd a0, a0, a1\nret\n{}{}\
             .pushsection __mcount_loc, \"aw\"\n.balign 8\n.8byte f - 8\n.popsection\n",
            "nop\n".repeat(4),
            of_tracer("ftrace_caller"),
            of_tracer(name)
        )
    };
    for (name, is_half) in [("ftrace_call_adjust", true), ("ftrace_other", false)] {
        let bytes = linked("riscv64-linux-gnu-gcc", RISCV_TABLES, &text(name), false);
        let audit = audited(&bytes, "sifive-u74", &[]);
        let path = path(&audit);
        assert_eq!(path[0].starts_with("auipc t0,"), is_half, "{name}: {path:?}");
        assert_eq!(path[1..], ["nop", "add a0, a0, a1", "ret"], "{name}");
    }
}

#[test]
fn rows_of_riscv_that_cannot_be_meant_so_are_said_and_the_rest_is_judged() {
    let sound = "li t0, 1\nret\n";
    let table = |name: &str, rows: &str| {
        format!(".pushsection {name}, \"a\"\n.balign 8\n1: {rows}\n.popsection\n")
    };
    let of_nop = |row: &str| {
        format!(
            "{sound}886: nop\n2: nop\n887:\n{row}888: nop\nnop\n889:\n{}",
            table(".alternative", ".4byte 886b - ., 888b - .\n.2byte 0, 8\n.4byte 2",)
        )
    };
    let row = |old: &str, new: &str| format!(".4byte {old} - ., {new} - .\n.2byte 0, 8\n.4byte 2");
    let cases = [
        (of_nop(&table(".alternative", &row("2b", "888f"))), "reaches into"),
        (of_nop(&table(".alternative", &row("886b", "off_key"))), "takes its words from"),
        (
            of_nop(&table(".alternative", ".4byte f - ., 888f - .\n.2byte 0, 256\n.4byte 2")),
            "writes 256 bytes over",
        ),
        (of_nop(&table(".alternative", &row("off_key", "888f"))), "is for 0x"),
        (
            of_nop(&table("__ex_table", ".4byte 886b - ., off_key - .\n.2byte 1, 0")),
            "goes on at 0x",
        ),
        (
            of_nop(&table(
                "__ex_table",
                ".4byte 886b - ., f - .\n.2byte 1, 0\n.4byte riscv_isa_ext - ., f - .\n.2byte 1, 0",
            )),
            "is for 0x",
        ),
        (
            of_nop(&table("__jump_table", ".4byte 888f - ., off_key - .\n.8byte off_key - .")),
            "leads to 0x",
        ),
        (
            format!(
                "{sound}9: add a0, a0, a0\n8: ret\n{}",
                table("__jump_table", ".4byte 9b - ., 8b - .\n.8byte off_key - .")
            ),
            "neither `nop` nor `j`",
        ),
    ];
    for (code, fault) in cases {
        let bytes = riscv_kernel(&code, false);
        let file = read(&bytes, "sifive-u74", &[]).unwrap_or_else(|error| panic!("{error}"));
        let warnings = file.warnings(&[]);
        assert!(
            warnings.iter().any(|said| said.contains(fault) && said.contains("0x")),
            "{fault}: {warnings:?}"
        );
        let audit = audited(&bytes, "sifive-u74", &[]);
        let dead = audit.findings.iter().filter(|finding| finding.kind == Kind::DeadValue);
        assert_eq!(dead.count(), 1, "{fault}: {}", said(&audit));
    }
    // What puts data in place of data is no fault, and nothing of the code.
    let code = of_nop(&table(".alternative", &row("riscv_isa_ext", "riscv_isa_vendor_ext_andes")));
    let file = read(&riscv_kernel(&code, false), "sifive-u74", &[]);
    let file = file.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(file.warnings(&[]), Vec::<String>::new());
    assert_eq!(file.programs[0].tables.counts().alternatives, 1);
}
