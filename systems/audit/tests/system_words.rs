//! What changes the system's state, orders memory or signs pointers is decoded, of every set with
//! such words: a word that is not ends all that is concluded. The texts are assembled by llvm-mc,
//! each by itself.

use std::process::Command;
use std::time::Duration;

use audit::decode::Isa;
use audit::decode::code::Flow;

/// The bytes of each text.
fn assembled(triple: &str, features: &str, texts: &str) -> Vec<(String, Vec<u8>)> {
    let mut command = Command::new("llvm-mc-19");
    command.args(["--show-encoding", "--triple", triple, "--mattr", features]);
    let ran = measure::tool::run(
        &mut command,
        texts.replace("; ", "\n").as_bytes(),
        Duration::from_secs(60),
    );
    let said =
        ran.and_then(measure::tool::Ran::ok).unwrap_or_else(|error| panic!("{error}")).text();
    let byte = |text: &str| {
        u8::from_str_radix(text.trim().trim_start_matches("0x"), 16)
            .expect("an encoding is hexadecimal")
    };
    let line = |it: &str| {
        let (text, rest) = it.split_once("encoding: [")?;
        let text = text.trim_end_matches([' ', '@', '/', '#', '\t', ';']).trim().to_owned();
        Some((text, rest.split(']').next()?.split(',').map(byte).collect()))
    };
    said.lines().filter_map(line).collect()
}

fn all_are_decoded(isa: Isa, triple: &str, features: &str, texts: &str) {
    let words = assembled(triple, features, texts);
    assert_eq!(words.len(), texts.split("; ").count(), "each text is one instruction");
    let refused: Vec<String> = words
        .iter()
        .filter_map(|(text, bytes)| {
            isa.decode(0, bytes).err().map(|error| format!("{text}: {error}"))
        })
        .collect();
    assert_eq!(refused, Vec::<String>::new());
}

#[test]
fn of_aarch64() {
    let features = "+v8.7a,+mte,+pauth,+rcpc3,+lor,+altnzcv,+sb,+ssbs,+nmi,+el3,+spe,+tracev8.4";
    let state = "msr tco, #1; msr dit, #1; msr ssbs, #1; msr pan, #1; msr uao, #1; msr spsel, #0; msr daifset, #2; msr daifclr, #15; \
                 msr allint, #1; cfinv; xaflag; axflag; rmif x1, #3, #5; setf8 w1; setf16 w1; mrs x0, daif; msr nzcv, x3";
    let barriers = "sb; dsb synxs; dsb oshnxs; dmb ishld; dsb ish; isb; clrex; ssbb; pssbb; wfet x3; wfit x3; wfe; csdb; esb; psb csync; tsb csync";
    let ordered = "ldapr w0, [x1]; ldapr x0, [sp]; ldaprb w0, [x1]; ldaprh w0, [x1]; ldapur w0, [x1, #4]; ldapur x0, [x1, #-4]; \
                   ldapurb w0, [x1]; ldapurh w0, [x1]; ldapursb x0, [x1]; ldapursh w0, [x1]; ldapursw x0, [x1]; stlur w0, [x1, #4]; \
                   stlur x0, [x1]; stlurb w0, [x1]; stlurh w0, [x1]; ldlar x0, [x1]; ldlarb w0, [x1]; stllr w0, [x1]; stllrh w0, [x1]; \
                   ldar x0, [x1]; stlr w0, [x1]; ldaxp x0, x3, [x1]; stlxr w2, x0, [x1]; casal x0, x1, [x2]; swpal x0, x1, [x2]; \
                   ldapr x0, [x1], #8; stlr x0, [x1, #-8]!; ldiapp x0, x1, [x2]; stilp w0, w1, [x2]";
    let signed = "pacia x0, x1; pacdb x0, sp; autia x0, x1; autizb x0; xpaci x0; xpacd x0; pacga x0, x1, x2; braa x0, x1; brabz x0; \
                  blraa x0, x1; blrabz x0; retaa; retab; eretaa; ldraa x0, [x1]; ldrab x0, [x1, #-8]!";
    let tags =
        "irg x0, x1; gmi x0, x1, x2; stg x0, [x1]; ldgm x0, [x1]; stgm x0, [x1]; stzgm x0, [x1]";
    let calls = "svc #1; hvc #1; smc #1; brk #1; hlt #1; dcps1; eret; drps; udf #1";
    for texts in [state, barriers, ordered, signed, tags, calls] {
        all_are_decoded(Isa::A64, "aarch64", features, texts);
    }
}

#[test]
fn of_arm() {
    let modes = "cps #19; cpsie i; cpsid i; cpsie aif; cpsid if, #31; cpsie a, #16; setend be; setpan #1; srsia sp!, #19; rfeia r0!; \
                 smc #1; hvc #1; eret; bxj r0; hlt #1; svc #1; mrs r0, cpsr; msr cpsr_c, r0; mrs r0, r8_usr; mrs r0, lr_irq; \
                 msr sp_svc, r0; msr elr_hyp, r0; mrs r0, spsr_abt";
    let ordered = "lda r0, [r1]; ldab r0, [r1]; ldah r0, [r1]; stl r0, [r1]; stlb r0, [r1]; stlh r0, [r1]; ldaex r0, [r1]; ldaexb r0, [r1]; \
                   ldaexh r0, [r1]; ldaexd r0, r1, [r2]; stlex r3, r0, [r1]; stlexd r4, r0, r1, [r2]; dmb ishld; dsb ish; isb; clrex; sb";
    for texts in [modes, ordered] {
        all_are_decoded(Isa::A32, "armv8.1a", "+trustzone,+virtualization,+sb", texts);
        all_are_decoded(Isa::T32, "thumbv8.1a", "+trustzone,+virtualization,+sb", texts);
    }
}

#[test]
fn of_riscv() {
    let texts = "fence rw, w; fence.tso; fence.i; ecall; ebreak; sret; mret; wfi; sfence.vma a0, a1; sfence.w.inval; sfence.inval.ir; \
                 sinval.vma a0, a1; hfence.vvma a0, a1; hinval.gvma a0, a1; hlv.wu a0, (a1); hlvx.hu a0, (a1); hsv.d a0, (a1); wrs.nto; wrs.sto; \
                 cbo.clean (a0); cbo.flush (a0); cbo.inval (a0); cbo.zero (a0); lr.d.aqrl a0, (a1); sc.w.rl a0, a2, (a1); amoadd.w.aqrl a0, a2, (a1)";
    all_are_decoded(Isa::Riscv64, "riscv64", "+a,+h,+svinval,+zicbom,+zicboz,+zawrs", texts);
}

/// Nobody knows how long such a word takes, nor what it waits for.
#[test]
fn a_word_that_is_not_decoded_does_not_wait() {
    use audit::facts::trace::Guide;
    use audit::program::function::Function;
    use audit::timing::licence::Effort;
    let unknown: &[u8] = &[0x02, 0x10, 0x21, 0x19];
    let waits = |middle: &[u8]| {
        // ldr x0, [x0]; the word; add x1, x0, x0; ret
        let code = [
            [0x00, 0x00, 0x40, 0xf9].as_slice(),
            middle,
            &[0x01, 0x00, 0x00, 0x8b],
            &[0xc0, 0x03, 0x5f, 0xd6],
        ];
        let decode = |(nth, bytes): (usize, &&[u8])| {
            let word = Isa::A64.decode(4 * nth as u64, bytes);
            word.unwrap_or_else(|word| Isa::A64.unknown(&word, bytes))
        };
        let instructions: Vec<_> = code.iter().enumerate().map(decode).collect();
        let function = Function {
            name: "f".to_owned(),
            isa: Isa::A64,
            frames: vec![Vec::new(); instructions.len()],
            instructions,
            callees: Default::default(),
            is_cold: false,
            constants: Default::default(),
            tables: Default::default(),
            cases: Default::default(),
            arguments: Default::default(),
            addresses: Default::default(),
        };
        let core = machine::in_order::Core::bundled("cortex-a53").expect("it is bundled");
        let timed =
            audit::timing::time_path(&function, &core, &Guide::of(&function), Effort::Bounds)
                .expect("it has instructions");
        timed.timing.stall_cycles
    };
    assert_eq!(waits(unknown)[1..3], [0, 0]);
    // add x0, x0, #1 in its place waits for the load, and the next for it.
    assert!(waits(&[0x00, 0x04, 0x00, 0x91])[1] > 0);
}

/// Calls to a debugger or an emulator come back, breakpoints of other numbers do not.
#[test]
fn semihosting_comes_back() {
    for (isa, triple, calls, stops) in [
        (Isa::T32, "thumbv7m", "bkpt #171", "bkpt #170; udf #171"),
        (Isa::T32, "thumbv8a", "hlt #60; bkpt #171", "hlt #61"),
        (Isa::A32, "armv8a", "hlt #61440", "hlt #61441; bkpt #171"),
        (Isa::A64, "aarch64", "hlt #0xf000", "hlt #0xf001; brk #0xf000"),
    ] {
        for (texts, is_flow) in [(calls, Flow::Next), (stops, Flow::Stop)] {
            for (text, bytes) in assembled(triple, "", texts) {
                let decoded =
                    isa.decode(0, &bytes).unwrap_or_else(|error| panic!("{text}: {error}"));
                assert_eq!(decoded.flow, is_flow, "{triple}: {text}");
            }
        }
    }
}
