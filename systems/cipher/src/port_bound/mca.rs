//! Door: asks llvm-mca, in tests, what each instruction takes, and compares: the mnemonics of our
//! assembly, and those of C compilers in emitted programs.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::process::Command;
use std::time::Duration;

use expect_test::{Expect, expect};
use iced_x86::{Decoder, DecoderOptions};
use measure::tool;
use serde_json::Value;

use super::*;

const GENERAL: &str = "and rax, rbx; or rax, rbx; xor rax, rbx; not rax; add rax, rbx; sub rax, rbx; lea rax, [rbx + rcx]; imul rax, rbx;
    shl rax, 3; shr rax, 3; sar rax, 3; rol rax, 3; rol ax, 3; movzx eax, bl; movsx eax, bl; movsx eax, bx; mov rax, rbx; xor eax, eax;
    mov rax, qword ptr [rdi]; mov qword ptr [rdi], rax; movzx eax, byte ptr [rdi]; xor rax, qword ptr [rdi]; add qword ptr [rdi], 8;
    sub dword ptr [rdi], 1; ror rax, 3; rorx rax, rbx, 3; shlx rax, rbx, rcx; shrx rax, rbx, rcx; sarx rax, rbx, rcx; shl rax, cl;
    shld rax, rbx, 3; shrd rax, rbx, 3; andn rax, rbx, rcx; bswap rax; bswap eax; bt rax, 3; test rax, rbx; cmp rax, rbx; inc rax; dec rax;
    neg rax; adc rax, rbx; sbb rax, rbx; mul rbx; mulx rax, rbx, rcx; cmovne rax, rbx; setne al; cdq; cqo; cdqe; cwde; movsxd rax, ebx;
    movsxd rax, dword ptr [rdi]; movbe rax, qword ptr [rdi]; lea rax, [rbx + 8*rcx + 4]";
/// On vectors of 256 bits, and of 128 where there are no others.
const VECTOR: &str = "vpand ymm0, ymm1, ymm2; vpor ymm0, ymm1, ymm2; vpxor ymm0, ymm1, ymm2; vpandn ymm0, ymm1, ymm2; vpaddb ymm0, ymm1, ymm2;
    vpaddw ymm0, ymm1, ymm2; vpaddd ymm0, ymm1, ymm2; vpaddq ymm0, ymm1, ymm2; vpsubd ymm0, ymm1, ymm2; vpsubq ymm0, ymm1, ymm2;
    vpmullw ymm0, ymm1, ymm2; vpmulld ymm0, ymm1, ymm2; vpsllw ymm0, ymm1, 3; vpslld ymm0, ymm1, 3; vpsllq ymm0, ymm1, 3; vpsrlw ymm0, ymm1, 3;
    vpsrld ymm0, ymm1, 3; vpsrlq ymm0, ymm1, 3; vpsraw ymm0, ymm1, 3; vpsrad ymm0, ymm1, 3; vpshufb ymm0, ymm1, ymm2; vpshufd ymm0, ymm1, 78;
    vmovdqu ymm0, ymmword ptr [rdi]; vmovdqu ymmword ptr [rdi], ymm0; vmovdqa ymm0, ymm1; vpxor ymm0, ymm1, ymmword ptr [rdi];
    vpxor ymm0, ymm1, ymm1; vandps ymm0, ymm1, ymm2; vxorps ymm0, ymm1, ymm2; vpcmpeqd ymm0, ymm1, ymm2; vpcmpeqd ymm0, ymm1, ymm1;
    vpminud ymm0, ymm1, ymm2; vpblendd ymm0, ymm1, ymm2, 3; vpblendw ymm0, ymm1, ymm2, 3; vpblendvb ymm0, ymm1, ymm2, ymm3;
    vpsllvd ymm0, ymm1, ymm2; vpsrlvq ymm0, ymm1, ymm2; vpslld ymm0, ymm1, xmm2; vpslldq ymm0, ymm1, 4; vpsrldq ymm0, ymm1, 4;
    vpunpcklbw ymm0, ymm1, ymm2; vpunpckhqdq ymm0, ymm1, ymm2; vunpcklps ymm0, ymm1, ymm2; vshufps ymm0, ymm1, ymm2, 3;
    vpackuswb ymm0, ymm1, ymm2; vpalignr ymm0, ymm1, ymm2, 3; vpermq ymm0, ymm1, 3; vpermd ymm0, ymm1, ymm2; vperm2i128 ymm0, ymm1, ymm2, 33;
    vinserti128 ymm0, ymm1, xmm2, 1; vinserti128 ymm0, ymm1, xmmword ptr [rdi], 1; vextracti128 xmm0, ymm1, 1; vpbroadcastq ymm0, xmm1;
    vpbroadcastb ymm0, xmm1; vpbroadcastq ymm0, qword ptr [rdi]; vbroadcasti128 ymm0, xmmword ptr [rdi]; vpmovzxbw ymm0, xmm1;
    vpmovmskb eax, ymm1; vmovd xmm0, eax; vmovq xmm0, rax; vmovq rax, xmm0; vpinsrq xmm0, xmm1, rax, 1; vpextrq rax, xmm1, 1;
    pshufb xmm0, xmm1; movdqa xmm0, xmmword ptr [rdi]; punpcklqdq xmm0, xmm1; pxor xmm0, xmm1; pand xmm0, xmm1; movaps xmmword ptr [rdi], xmm0";
/// On vectors of 512 bits.
const VECTOR512: &str = "vpandq zmm0, zmm1, zmm2; vporq zmm0, zmm1, zmm2; vpxorq zmm0, zmm1, zmm2; vpandnq zmm0, zmm1, zmm2;
    vpternlogq zmm0, zmm1, zmm2, 150; vpternlogq zmm0, zmm1, zmmword ptr [rdi], 150; vpaddb zmm0, zmm1, zmm2; vpaddd zmm0, zmm1, zmm2; vpaddq zmm0, zmm1, zmm2;
    vpsubd zmm0, zmm1, zmm2; vpmullw zmm0, zmm1, zmm2; vpmulld zmm0, zmm1, zmm2; vpmullq zmm0, zmm1, zmm2; vpsllw zmm0, zmm1, 3;
    vpslld zmm0, zmm1, 3; vpsllq zmm0, zmm1, 3; vpsrlq zmm0, zmm1, 3; vpsraq zmm0, zmm1, 3; vprold zmm0, zmm1, 3; vprolq zmm0, zmm1, 3;
    vprord zmm0, zmm1, 3; vpshufb zmm0, zmm1, zmm2; vpshufd zmm0, zmm1, 78; vmovdqu64 zmm0, zmmword ptr [rdi];
    vmovdqu64 zmmword ptr [rdi], zmm0; vmovdqa64 zmm0, zmm1; vpxorq zmm0, zmm1, zmmword ptr [rdi]; vpunpcklbw zmm0, zmm1, zmm2;
    vpunpckhqdq zmm0, zmm1, zmm2; vpermq zmm0, zmm1, 3; vpermq zmm0, zmm1, zmm2; vpermt2q zmm0, zmm1, zmm2; vshufi64x2 zmm0, zmm1, zmm2, 3;
    vinserti64x4 zmm0, zmm1, ymm2, 1; vextracti64x4 ymm0, zmm1, 1; vpbroadcastq zmm0, xmm1; vpbroadcastq zmm0, rax; valignq zmm0, zmm1, zmm2, 3;
    vprold ymm0, ymm1, 3; vpternlogq ymm0, ymm1, ymm2, 150; vpblendmq zmm0 {k1}, zmm1, zmm2; vmovdqu64 ymm16, ymmword ptr [rdi];
    vmovdqa64 ymmword ptr [rdi], ymm16";

fn lines(texts: &str) -> Vec<&str> {
    texts.split(';').map(str::trim).collect()
}

fn said(program: &str, options: &[&str], text: &str) -> String {
    let ran =
        tool::run(Command::new(program).args(options), text.as_bytes(), Duration::from_secs(60))
            .and_then(tool::Ran::ok);
    ran.unwrap_or_else(|error| panic!("{error}")).text()
}

/// The instructions of a text, through llvm-mc.
fn decoded(texts: &[&str]) -> Vec<Instruction> {
    let text = format!(".intel_syntax noprefix\n{}\n", texts.join("\n"));
    let said =
        said("llvm-mc-19", &["--triple=x86_64", "--mcpu=sapphirerapids", "--show-encoding"], &text);
    let encodings =
        said.lines().filter_map(|line| line.split("encoding: [").nth(1)?.split(']').next());
    let byte = |text: &str| {
        u8::from_str_radix(text.trim().trim_start_matches("0x"), 16)
            .expect("an encoding is hexadecimal")
    };
    let decode = |text: &str| {
        let bytes: Vec<u8> = text.split(',').map(byte).collect();
        Decoder::with_ip(64, &bytes, 0, DecoderOptions::NONE).decode()
    };
    let all: Vec<Instruction> = encodings.map(decode).collect();
    assert_eq!(all.len(), texts.len(), "one instruction a line");
    all
}

/// Cycles that each of these takes where many run and none waits, and the units that
/// compute it, by llvm-mca.
fn theirs(cpu: &str, texts: &[&str]) -> Vec<(f64, BTreeSet<String>)> {
    let regions: String =
        texts.iter().map(|text| format!("# LLVM-MCA-BEGIN\n{text}\n# LLVM-MCA-END\n")).collect();
    let options = ["--mtriple=x86_64", "--mcpu", cpu, "--iterations=100", "--json"];
    let answer: Value = serde_json::from_str(&said(
        "llvm-mca-19",
        &options,
        &format!(".intel_syntax noprefix\n{regions}"),
    ))
    .expect("llvm-mca answers in JSON");
    let names: Vec<&str> = answer["TargetInfo"]["Resources"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    let of = |region: &Value| {
        let cycles = region["InstructionInfoView"]["InstructionList"][0]["RThroughput"]
            .as_f64()
            .expect("a number");
        let pressure =
            region["ResourcePressureView"]["ResourcePressureInfo"].as_array().expect("a list");
        let used = pressure
            .iter()
            .filter(|value| value["ResourceUsage"].as_f64().is_some_and(|number| number > 0.0));
        (
            cycles,
            used.filter_map(|used| unit(names[used["ResourceIndex"].as_u64()? as usize])).collect(),
        )
    };
    let all: Vec<(f64, BTreeSet<String>)> =
        answer["CodeRegions"].as_array().expect("a list").iter().map(of).collect();
    assert_eq!(all.len(), texts.len(), "one region for each");
    all
}

/// A unit that computes, as machine files name it.
fn unit(theirs: &str) -> Option<String> {
    let is_number = |text: &&str| text.parse::<u32>().is_ok();
    let after = |prefix: &str| theirs.strip_prefix(prefix).filter(is_number);
    let port = after("SKLPort")
        .or(after("SKXPort"))
        .filter(|after| ["0", "1", "5", "6"].contains(after))
        .map(|after| format!("p{after}"));
    port.or(after("Zn4ALU").map(|after| format!("alu{after}")))
        .or(after("Zn4FP").map(|after| format!("fp{after}")))
}

fn ours(machine: &Machine, it: &Instruction) -> (f64, BTreeSet<String>) {
    let n = 1000;
    let cycles =
        bound(machine, &[(*it, n)]).unwrap_or_else(|why| panic!("{why}")).cycles / n as f64;
    let work = work(machine, it, &mut InstructionInfoFactory::new()).expect("it is known");
    let units =
        work.units.iter().flat_map(|unit| unit.0.iter()).map(|idx| machine.units[idx].clone());
    let is_computing = |text: &String| {
        ["alu", "fp"].iter().any(|with| text.starts_with(with))
            || ["p0", "p1", "p5", "p6"].contains(&text.as_str())
    };
    (cycles, units.filter(is_computing).collect())
}

/// Where the two differ, a line each: `<` where ours is lower, so that the bound is looser than it
/// could be, `>` where it is higher and `!` where llvm-mca takes a unit that is not among ours, so
/// that one of the two is wrong.
fn differences(machine: &str, cpu: &str, texts: &str) -> String {
    let (machine, texts) = (Machine::bundled(machine).expect("it is bundled"), lines(texts));
    let mut out = String::new();
    for ((text, instruction), theirs) in texts.iter().zip(decoded(&texts)).zip(theirs(cpu, &texts))
    {
        let ours = ours(&machine, &instruction);
        let sign = match ours.0 - theirs.0 {
            it if it > 0.01 => '>',
            _ if !theirs.1.is_subset(&ours.1) && !ours.1.is_empty() => '!',
            it if it < -0.01 => '<',
            _ => continue,
        };
        let named = |of: &(f64, BTreeSet<String>)| {
            let units = of.1.iter().fold(String::new(), |all, it| all + " " + it);
            format!("{:.2}{}", of.0, if units.is_empty() { ", no unit" } else { &units })
        };
        let _ = writeln!(out, "{sign} {text}: {}; llvm-mca {}", named(&ours), named(&theirs));
    }
    out
}

fn check(machine: &str, cpu: &str, texts: &str, expected: Expect) {
    expected.assert_eq(&differences(machine, cpu, texts));
}

#[test]
fn zen_4_general() {
    check(
        "zen4",
        "znver4",
        GENERAL,
        expect![[r#"
            < lea rax, [rbx + rcx]: 0.25 alu0 alu1 alu2 alu3; llvm-mca 0.33, no unit
            < movzx eax, bl: 0.17, no unit; llvm-mca 0.25 alu0 alu1 alu2 alu3
            < mov qword ptr [rdi], rax: 0.50, no unit; llvm-mca 1.00, no unit
            < add qword ptr [rdi], 8: 0.50 alu0 alu1 alu2 alu3; llvm-mca 0.67 alu0 alu1 alu2 alu3
            < sub dword ptr [rdi], 1: 0.50 alu0 alu1 alu2 alu3; llvm-mca 0.67 alu0 alu1 alu2 alu3
            < shld rax, rbx, 3: 0.17, no unit; llvm-mca 1.50 alu1 alu2
            < shrd rax, rbx, 3: 0.17, no unit; llvm-mca 1.50 alu1 alu2
            < bt rax, 3: 0.25 alu0 alu1 alu2 alu3; llvm-mca 0.50 alu1 alu2
            < adc rax, rbx: 0.25 alu0 alu1 alu2 alu3; llvm-mca 1.00 alu0 alu1 alu2 alu3
            < sbb rax, rbx: 0.25 alu0 alu1 alu2 alu3; llvm-mca 1.00 alu0 alu1 alu2 alu3
            < mul rbx: 1.00 alu1; llvm-mca 3.00 alu1
            < cmovne rax, rbx: 0.25 alu0 alu1 alu2 alu3; llvm-mca 0.50 alu0 alu3
            < setne al: 0.25 alu0 alu1 alu2 alu3; llvm-mca 1.00 alu0 alu3
        "#]],
    );
}

// Measured on Zen 4, by pairs in turn: shuffles share one pipe with shifts and one with products,
// as llvm-mca has it of `vpshufb` alone.
#[test]
fn zen_4_vectors() {
    check(
        "zen4",
        "znver4",
        VECTOR,
        expect![[r#"
            < vpshufb ymm0, ymm1, ymm2: 0.50 fp0 fp1; llvm-mca 1.00 fp0 fp1
            < vpshufd ymm0, ymm1, 78: 0.33 fp0 fp1 fp2; llvm-mca 0.50 fp1 fp2
            < vpcmpeqd ymm0, ymm1, ymm1: 0.17, no unit; llvm-mca 0.25 fp0 fp1 fp2 fp3
            < vpblendvb ymm0, ymm1, ymm2, ymm3: 0.25 fp0 fp1 fp2 fp3; llvm-mca 0.50 fp0 fp3
            < vpslld ymm0, ymm1, xmm2: 0.17, no unit; llvm-mca 1.00 fp0 fp1
            < vpslldq ymm0, ymm1, 4: 0.50 fp0 fp1; llvm-mca 1.00 fp0 fp1
            < vpsrldq ymm0, ymm1, 4: 0.50 fp0 fp1; llvm-mca 1.00 fp0 fp1
            < vpunpcklbw ymm0, ymm1, ymm2: 0.33 fp0 fp1 fp2; llvm-mca 0.50 fp1 fp2
            < vpunpckhqdq ymm0, ymm1, ymm2: 0.33 fp0 fp1 fp2; llvm-mca 0.50 fp1 fp2
            < vunpcklps ymm0, ymm1, ymm2: 0.33 fp0 fp1 fp2; llvm-mca 0.50 fp1 fp2
            < vshufps ymm0, ymm1, ymm2, 3: 0.33 fp0 fp1 fp2; llvm-mca 0.50 fp1 fp2
            ! vpackuswb ymm0, ymm1, ymm2: 0.50 fp0 fp1; llvm-mca 0.50 fp1 fp2
            ! vpalignr ymm0, ymm1, ymm2, 3: 0.50 fp0 fp1; llvm-mca 0.50 fp1 fp2
            < vpermq ymm0, ymm1, 3: 0.50 fp0 fp1; llvm-mca 1.00 fp1
            < vpermd ymm0, ymm1, ymm2: 0.50 fp0 fp1; llvm-mca 1.00 fp1
            < vperm2i128 ymm0, ymm1, ymm2, 33: 0.50 fp0 fp1; llvm-mca 1.00 fp1
            < vinserti128 ymm0, ymm1, xmm2, 1: 0.50 fp0 fp1; llvm-mca 1.00 fp1
            < vinserti128 ymm0, ymm1, xmmword ptr [rdi], 1: 0.50 fp0 fp1 fp2 fp3; llvm-mca 1.00 fp1
            < vextracti128 xmm0, ymm1, 1: 0.50 fp0 fp1; llvm-mca 1.00 fp0
            < vpbroadcastq ymm0, xmm1: 0.50 fp0 fp1; llvm-mca 1.00 fp1
            < vpbroadcastb ymm0, xmm1: 0.50 fp0 fp1; llvm-mca 1.00 fp1
            ! vpmovzxbw ymm0, xmm1: 0.50 fp0 fp1; llvm-mca 0.50 fp1 fp2
            < vpmovmskb eax, ymm1: 0.17, no unit; llvm-mca 1.00 fp2
            < vmovd xmm0, eax: 0.17, no unit; llvm-mca 1.00, no unit
            < vmovq xmm0, rax: 0.17, no unit; llvm-mca 1.00, no unit
            < vmovq rax, xmm0: 0.17, no unit; llvm-mca 1.00, no unit
            < vpinsrq xmm0, xmm1, rax, 1: 0.17, no unit; llvm-mca 1.00, no unit
            < vpextrq rax, xmm1, 1: 0.17, no unit; llvm-mca 1.00, no unit
            ! pshufb xmm0, xmm1: 0.50 fp0 fp1; llvm-mca 0.50 fp1 fp2
            < punpcklqdq xmm0, xmm1: 0.33 fp0 fp1 fp2; llvm-mca 0.50 fp1 fp2
        "#]],
    );
}

// Measured on Zen 4: one shift, load, `vpermq` or `valignq` of 512 bits a cycle, a store in two;
// `vprold` has the pipes of products.
#[test]
fn zen_4_wide_vectors() {
    check(
        "zen4",
        "znver4",
        VECTOR512,
        expect![[r#"
            > vpternlogq zmm0, zmm1, zmmword ptr [rdi], 150: 1.00 fp0 fp1 fp2 fp3; llvm-mca 0.50 fp0 fp1 fp2 fp3
            < vpmullw zmm0, zmm1, zmm2: 0.50 fp0 fp3; llvm-mca 1.00 fp0 fp3
            < vpmullq zmm0, zmm1, zmm2: 0.50 fp0 fp3; llvm-mca 1.00 fp0 fp3
            > vpsllw zmm0, zmm1, 3: 1.00 fp1 fp2; llvm-mca 0.50 fp0 fp1
            > vpslld zmm0, zmm1, 3: 1.00 fp1 fp2; llvm-mca 0.50 fp0 fp1
            > vpsllq zmm0, zmm1, 3: 1.00 fp1 fp2; llvm-mca 0.50 fp0 fp1
            > vpsrlq zmm0, zmm1, 3: 1.00 fp1 fp2; llvm-mca 0.50 fp0 fp1
            > vpsraq zmm0, zmm1, 3: 1.00 fp1 fp2; llvm-mca 0.50 fp0 fp1
            ! vprold zmm0, zmm1, 3: 1.00 fp0 fp3; llvm-mca 1.00 fp0 fp1
            ! vprolq zmm0, zmm1, 3: 1.00 fp0 fp3; llvm-mca 1.00 fp0 fp1
            ! vprord zmm0, zmm1, 3: 1.00 fp0 fp3; llvm-mca 1.00 fp0 fp1
            < vpshufd zmm0, zmm1, 78: 0.67 fp0 fp1 fp2; llvm-mca 1.00 fp1 fp2
            > vmovdqu64 zmm0, zmmword ptr [rdi]: 1.00, no unit; llvm-mca 0.50, no unit
            > vmovdqu64 zmmword ptr [rdi], zmm0: 2.00, no unit; llvm-mca 1.00, no unit
            > vpxorq zmm0, zmm1, zmmword ptr [rdi]: 1.00 fp0 fp1 fp2 fp3; llvm-mca 0.50 fp0 fp1 fp2 fp3
            < vpunpcklbw zmm0, zmm1, zmm2: 0.67 fp0 fp1 fp2; llvm-mca 1.00 fp1 fp2
            < vpunpckhqdq zmm0, zmm1, zmm2: 0.67 fp0 fp1 fp2; llvm-mca 1.00 fp1 fp2
            > vpermq zmm0, zmm1, zmm2: 1.00 fp0 fp1; llvm-mca 0.50 fp1 fp2
            ! vpermt2q zmm0, zmm1, zmm2: 1.00 fp0 fp1; llvm-mca 1.00 fp1 fp2
            < vextracti64x4 ymm0, zmm1, 1: 0.50 fp0 fp1; llvm-mca 1.00 fp1
            > valignq zmm0, zmm1, zmm2, 3: 1.00 fp0 fp1; llvm-mca 0.50 fp1 fp2
            < vprold ymm0, ymm1, 3: 0.25 fp0 fp1 fp2 fp3; llvm-mca 1.00 fp0 fp1
            < vpblendmq zmm0 {k1}, zmm1, zmm2: 0.50 fp0 fp1 fp2 fp3; llvm-mca 1.00 fp0 fp3
        "#]],
    );
}

// Four micro-operations enter in a cycle: Intel's manual. Of products the second micro-operation,
// for the upper half, is left out.
#[test]
fn skylake_general() {
    check(
        "skylake",
        "skylake",
        GENERAL,
        expect![[r#"
            < lea rax, [rbx + rcx]: 0.25 p0 p1 p5 p6; llvm-mca 0.50 p1 p5
            > xor eax, eax: 0.25, no unit; llvm-mca 0.17, no unit
            < shl rax, cl: 0.50 p0 p6; llvm-mca 1.50 p0 p6
            < shld rax, rbx, 3: 0.25, no unit; llvm-mca 1.00 p1
            < shrd rax, rbx, 3: 0.25, no unit; llvm-mca 1.00 p1
            < andn rax, rbx, rcx: 0.25 p0 p1 p5 p6; llvm-mca 0.50 p1 p5
            < bswap rax: 0.25 p0 p1 p5 p6; llvm-mca 0.50 p0 p1 p5 p6
            < bswap eax: 0.25 p0 p1 p5 p6; llvm-mca 0.50 p1 p5
            < bt rax, 3: 0.25 p0 p1 p5 p6; llvm-mca 0.50 p0 p6
            < adc rax, rbx: 0.25 p0 p1 p5 p6; llvm-mca 0.50 p0 p6
            < sbb rax, rbx: 0.25 p0 p1 p5 p6; llvm-mca 0.50 p0 p6
            ! mul rbx: 1.00 p1; llvm-mca 1.00 p1 p5
            ! mulx rax, rbx, rcx: 1.00 p1; llvm-mca 1.00 p1 p5
            < cmovne rax, rbx: 0.25 p0 p1 p5 p6; llvm-mca 0.50 p0 p6
            < setne al: 0.25 p0 p1 p5 p6; llvm-mca 0.50 p0 p6
            < cdq: 0.25 p0 p1 p5 p6; llvm-mca 0.50 p0 p6
            < cqo: 0.25 p0 p1 p5 p6; llvm-mca 0.50 p0 p6
            < lea rax, [rbx + 8*rcx + 4]: 0.25 p0 p1 p5 p6; llvm-mca 0.50 p1 p5
        "#]],
    );
}

#[test]
fn skylake_vectors() {
    check(
        "skylake",
        "skylake",
        VECTOR,
        expect![[r#"
            < vpshufd ymm0, ymm1, 78: 0.33 p0 p1 p5; llvm-mca 1.00 p5
            < vmovdqa ymm0, ymm1: 0.25, no unit; llvm-mca 0.33 p0 p1 p5
            > vpxor ymm0, ymm1, ymm1: 0.25, no unit; llvm-mca 0.17, no unit
            < vpcmpeqd ymm0, ymm1, ymm2: 0.33 p0 p1 p5; llvm-mca 0.50 p0 p1
            < vpcmpeqd ymm0, ymm1, ymm1: 0.25, no unit; llvm-mca 0.50 p0 p1
            < vpminud ymm0, ymm1, ymm2: 0.33 p0 p1 p5; llvm-mca 0.50 p0 p1
            < vpblendw ymm0, ymm1, ymm2, 3: 0.33 p0 p1 p5; llvm-mca 1.00 p5
            < vpblendvb ymm0, ymm1, ymm2, ymm3: 0.33 p0 p1 p5; llvm-mca 0.67 p0 p1 p5
            < vpslld ymm0, ymm1, xmm2: 0.25, no unit; llvm-mca 1.00 p0 p1 p5
            < vpunpcklbw ymm0, ymm1, ymm2: 0.33 p0 p1 p5; llvm-mca 1.00 p5
            < vpunpckhqdq ymm0, ymm1, ymm2: 0.33 p0 p1 p5; llvm-mca 1.00 p5
            < vunpcklps ymm0, ymm1, ymm2: 0.33 p0 p1 p5; llvm-mca 1.00 p5
            < vshufps ymm0, ymm1, ymm2, 3: 0.33 p0 p1 p5; llvm-mca 1.00 p5
            < vpmovmskb eax, ymm1: 0.25, no unit; llvm-mca 1.00 p0
            < vmovd xmm0, eax: 0.25, no unit; llvm-mca 1.00 p5
            < vmovq xmm0, rax: 0.25, no unit; llvm-mca 1.00 p5
            < vmovq rax, xmm0: 0.25, no unit; llvm-mca 1.00 p0
            < vpinsrq xmm0, xmm1, rax, 1: 0.25, no unit; llvm-mca 2.00 p5
            < vpextrq rax, xmm1, 1: 0.25, no unit; llvm-mca 1.00 p0 p5
            < punpcklqdq xmm0, xmm1: 0.33 p0 p1 p5; llvm-mca 1.00 p5
        "#]],
    );
}

// Port 1 takes no vector operation while there are some of 512 bits: Intel's manual. llvm-mca lets
// sums and ternary logic use it.
#[test]
fn skylake_wide_vectors() {
    check(
        "skylake",
        "skylake-avx512",
        VECTOR512,
        expect![[r#"
            > vpternlogq zmm0, zmm1, zmm2, 150: 0.50 p0 p5; llvm-mca 0.33 p0 p1 p5
            ! vpternlogq zmm0, zmm1, zmmword ptr [rdi], 150: 0.50 p0 p5; llvm-mca 0.50 p0 p1 p5
            > vpaddb zmm0, zmm1, zmm2: 0.50 p0 p5; llvm-mca 0.33 p0 p1 p5
            > vpaddd zmm0, zmm1, zmm2: 0.50 p0 p5; llvm-mca 0.33 p0 p1 p5
            > vpaddq zmm0, zmm1, zmm2: 0.50 p0 p5; llvm-mca 0.33 p0 p1 p5
            > vpsubd zmm0, zmm1, zmm2: 0.50 p0 p5; llvm-mca 0.33 p0 p1 p5
            < vpmullq zmm0, zmm1, zmm2: 0.50 p0 p5; llvm-mca 1.50 p0 p5
            < vpshufd zmm0, zmm1, 78: 0.50 p0 p5; llvm-mca 1.00 p5
            < vmovdqa64 zmm0, zmm1: 0.25, no unit; llvm-mca 0.50 p0 p5
            < vpunpcklbw zmm0, zmm1, zmm2: 0.50 p0 p5; llvm-mca 1.00 p5
            < vpunpckhqdq zmm0, zmm1, zmm2: 0.50 p0 p5; llvm-mca 1.00 p5
        "#]],
    );
}
