//! Functions joined with those that they branch to: from a vector to `eret` as one path.

use audit::audit::{Audit, Options};
use audit::code_file::CodeFile;
use audit::cpus;
use audit::decode::Isa;
use audit::program::boot::BootWords;
use audit::program::content::Content;
use audit::program::toolchain::{self, Build};
use audit::timing::licence::Effort;
use audit::views::text::View;
use machine::in_order::Core;
use report::Diagnostic;

/// Assembly as an object file, or linked without a symbol table if it is stripped.
fn built(code: &str, is_linked: bool) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let [source, object, linked] = ["f.s", "f.o", "f.elf"].map(|word| folder.path().join(word));
    std::fs::write(&source, format!(".text\n{code}")).expect("a scratch file");
    let bytes = toolchain::compile(&source, Isa::A64, "cortex-a53", &Build::default())
        .unwrap_or_else(|error| panic!("{error}"));
    if !is_linked {
        return bytes;
    }
    std::fs::write(&object, &bytes).expect("a scratch file");
    let mut command = std::process::Command::new("ld.lld-19");
    command.args(["-e", "0x10000", "-Ttext=0x10000"]).arg("-o").arg(&linked).arg(&object);
    assert!(command.status().expect("it runs").success(), "{code}");
    std::fs::read(&linked).expect("what was linked")
}

fn joined(bytes: &[u8], name: &str) -> Result<Audit, Diagnostic> {
    let wanted = cpus::named("cortex-a53").unwrap_or_else(|error| panic!("{error}"));
    let content = Content::from(bytes.to_vec());
    let mut file = CodeFile::read("f", &content, Some(wanted), &BootWords::default())?;
    let name = file.join(name)?;
    let options =
        Options { avoid: Vec::new(), through: Vec::new(), effort: Effort::Search, recorded: None };
    file.audit(Some(&name), Core::bundled("cortex-a53").as_ref(), &options, &View::default())
}

/// The instructions of the path without their operands.
fn path(audit: &Audit) -> Vec<&str> {
    let texts = audit.trace.places.iter().map(|idx| &audit.function.instructions[*idx].text);
    texts.filter_map(|text| text.split(' ').next()).collect()
}

/// Two vectors, of which the second goes to a handler and on to where the kernel is left.
const VECTORS: &str = ".global vectors\nvectors:\nb other\n.balign 0x80\nsub sp, sp, #336\nb entry\n.balign 0x80\nb other\n\
                       .size vectors, . - vectors\n.global other\nother: hvc #0\nb other\n.size other, . - other\n";
const REST: &str = ".global entry\nentry: mrs x21, sp_el0\nbl work\nb leave\n.size entry, . - entry\n\
                    .global leave\nleave: add sp, sp, #336\neret\n.size leave, . - leave\n\
                    .global work\n.type work, %function\nwork: ret\n.size work, . - work\n";

#[test]
fn a_vector_is_one_path_to_the_return_from_the_exception() {
    for is_linked in [false, true] {
        let bytes = built(&format!("{VECTORS}{REST}"), is_linked);
        let audit = joined(&bytes, "vectors+0x80").unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(
            path(&audit),
            ["sub", "b", "mrs", "bl", "b", "add", "eret"],
            "{is_linked}: the other vectors are left out"
        );
        assert_eq!(audit.function.instructions.len(), 7);
        // The call stays one, the branches are inside.
        assert_eq!(audit.function.callees.values().collect::<Vec<_>>(), ["work"]);
        let alone = joined(&bytes, "leave").unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(path(&alone), ["add", "eret"]);
    }
}

#[test]
fn what_lies_before_the_entry_stays_another_function() {
    let code = ".global first\nfirst: ret\n.size first, . - first\n\
                .global second\nsecond: cbz x0, third\nb first\n.size second, . - second\n\
                .global third\nthird: mov x0, #1\nret\n.size third, . - third\n";
    let audit = joined(&built(code, true), "second").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(audit.function.instructions.len(), 4);
    assert_eq!(audit.function.callees.values().collect::<Vec<_>>(), ["first"]);
}

#[test]
fn code_that_runs_out_and_names_of_nothing_are_refused() {
    let out = ".global f\nf: mov x0, #1\n.size f, . - f\n";
    let error = joined(&built(out, true), "f").expect_err("it has no end");
    assert!(error.message.contains("runs out of its code"), "{error}");
    for (name, said) in [
        ("g", "has no function"),
        ("f+0xhere", "has no function"),
        ("f+0x100", "no entry is at 0x100"),
    ] {
        let error = joined(&built(out, true), name).expect_err("there is none");
        assert!(error.message.contains(said), "{error}");
    }
}
