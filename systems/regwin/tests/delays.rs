//! The assembly leaves the processor the three instructions that a write of `%psr` or `%wim` may
//! take.
//!
//! QEMU writes at once, so no run can show a mistake. This reads the words of every image.

use crate::support::mock;

use mock::{Image, Rtos};
use regwin::code::Code;
use regwin::image::{Program, Recipe};
use regwin::{Allocate, Schedule, Scheme, Variant, sparc, work};

/// `wr ..., %wim` and `wr ..., %psr` by the third operation field.
const WRITE_PSR: u32 = 0x31;
const WRITE_WIM: u32 = 0x32;
/// `rett`, which looks at the mask as `restore` does.
const RETT: u32 = 0x39;

fn op3(word: u32) -> Option<u32> {
    (word >> 30 == 2).then_some(word >> 19 & 63)
}

fn is_branch(word: u32) -> bool {
    word >> 30 == 0 && word >> 22 & 7 == 2
}

/// Registers 8 to 31 that a word names: outs, locals and ins, which change with the window.
fn names_windowed(word: u32) -> bool {
    let (rd, rs1, rs2) = (word >> 25 & 31, word >> 14 & 31, word & 31);
    match word >> 30 {
        0 => word >> 22 & 7 == 4 && rd >= 8,
        1 => true,
        _ => rd >= 8 || rs1 >= 8 || word >> 13 & 1 == 0 && rs2 >= 8,
    }
}

/// Where a window instruction may come sooner, because the mask before and after both allow it:
/// the emulated restores stay inside the thread's windows, and an overflow returns to the
/// window that the `save` was run in, which is no thread's reserved one before or after. Label
/// and length in bytes.
const EITHER_MASK_WILL_DO: [(&str, u32); 6] = [
    ("lone_underflow", 8),
    ("underflow_plain", 8),
    ("underflow_adds", 8),
    ("overflow_free", 16),
    ("overflow_other_stored", 20),
    ("overflow_stored", 20),
];

/// What is wrong with these words; a fault is an index and a sentence.
fn faults(
    words: &[u32],
    is_switch: bool,
    may_be_early: impl Fn(usize) -> bool,
) -> Vec<(usize, &'static str)> {
    let mut found = Vec::new();
    for (idx, word) in words.iter().enumerate() {
        let following = || (idx + 1..words.len()).take(3).map(|at| (at, words[at]));
        match op3(*word) {
            Some(WRITE_WIM) => {
                // What follows a jump is its delay slot; after that, other code comes.
                for (at, next) in following() {
                    if (sparc::is_save(next) || sparc::is_restore(next) || op3(next) == Some(RETT))
                        && !may_be_early(at)
                    {
                        found.push((at, "a window instruction may still see the old %wim"));
                    }
                }
            }
            Some(WRITE_PSR) => {
                for (at, next) in following() {
                    let reads = op3(next) == Some(0x29) || is_branch(next) && next >> 25 & 7 != 0;
                    if reads {
                        found.push((at, "an instruction may still see the old %psr"));
                    }
                    if is_switch && names_windowed(next) {
                        found.push((
                            at,
                            "an instruction may still name registers of the old window",
                        ));
                    }
                }
            }
            _ => {}
        }
    }
    found
}

#[test]
fn every_image_keeps_the_delays() {
    let mut n_writes = 0;
    let plain = |scheme, schedule| Recipe::new(Program::Scenario, scheme, schedule);
    let mut recipes: Vec<Recipe> = Scheme::ALL
        .into_iter()
        .flat_map(|it| Schedule::ALL.map(|schedule| plain(it, schedule)))
        .collect();
    for allocate in Allocate::ALL {
        recipes.extend(
            [Scheme::Snp, Scheme::Sp]
                .map(|scheme| Recipe { allocate, ..plain(scheme, Schedule::Fifo) }),
        );
    }
    for variant in
        [Variant::Checked, Variant::Preempt, Variant::Float, Variant::Fpu, Variant::CopyAll]
    {
        recipes.extend(
            [Scheme::Snp, Scheme::Sp, Scheme::Adaptive]
                .map(|scheme| Recipe { variant, ..plain(scheme, Schedule::Fifo) }),
        );
    }
    for variant in [
        Variant::Checked,
        Variant::Preempt,
        Variant::Float,
        Variant::Fpu,
        Variant::TwoATrap,
        Variant::FourATrap,
    ] {
        recipes.push(Recipe { variant, ..plain(Scheme::Ns, Schedule::Fifo) });
    }
    for recipe in recipes {
        let (_, code) = work::image(&recipe).expect("the image is built");
        for (range, is_switch) in [(&code.traps, false), (&code.switches, true)] {
            let first = ((range.start - code.base) / 4) as usize;
            let words = &code.words[first..((range.end - code.base) / 4) as usize];
            n_writes += words
                .iter()
                .filter(|word| matches!(op3(**word), Some(WRITE_PSR | WRITE_WIM)))
                .count();
            let early: Vec<_> = EITHER_MASK_WILL_DO
                .iter()
                .filter_map(|(label, length)| code.try_address(label).map(|at| at..at + length))
                .collect();
            let may_be_early =
                |idx: usize| early.iter().any(|set| set.contains(&code.address_of(first + idx)));
            let found = faults(words, is_switch, may_be_early);
            let named: Vec<String> = found
                .iter()
                .map(|(idx, why)| format!("{:#x}: {why}", code.address_of(first + idx)))
                .collect();
            assert!(named.is_empty(), "{recipe:?}: {named:#?}");
        }
    }
    assert!(n_writes > 20, "the test looks at the writes: {n_writes}");
}

/// The ports write no mask that is needed sooner, but for overflows, which return to a window
/// that both masks allow.
#[test]
fn the_ports_keep_the_delays() {
    for rtos in Rtos::BOTH {
        let defines = ["-DTHREADS=2", "-DDEPTH=1", "-DTURNS=9"].map(str::to_owned);
        let image = Image {
            rtos,
            ported: true,
            windows: 8,
            clang: false,
            program: "turns.c",
            defines: &defines,
        };
        let folder = tempfile::tempdir().expect("a scratch folder");
        let elf = std::fs::read(image.build(folder.path(), &[])).expect("it was linked");
        let code = Code::parse(&elf).expect("it is an image");
        let at = |name: &str| ((code.address(name) - code.base) / 4) as usize;
        let ends = [at("rw_switch"), at("__switch_end")];
        for (words, is_switch) in
            [(at("rw_overflow")..at("__trap_end"), false), (ends[0]..ends[1], true)]
        {
            let first = words.start;
            let found = faults(&code.words[words], is_switch, |_| false);
            let named: Vec<String> = found
                .iter()
                .map(|(idx, why)| format!("{}: {why}", code.place(code.address_of(first + idx))))
                .collect();
            assert!(named.is_empty(), "{rtos:?}: {named:#?}");
        }
    }
}

#[test]
fn a_mistake_is_found() {
    let (write_wim, write_psr, restore, nop) = (0x8190_8000, 0x8188_8000, 0x81e8_0000, 0x0100_0000);
    assert!(faults(&[write_wim, nop, nop, nop, restore], false, |_| false).is_empty());
    assert_eq!(faults(&[write_wim, nop, nop, restore], false, |_| false).len(), 1);
    let rett = 0x81cc_a004;
    assert_eq!(faults(&[write_wim, nop, nop, rett], false, |_| false).len(), 1);
    assert!(faults(&[write_wim, nop, nop, nop, rett], false, |_| false).is_empty());
    let (branch, move_local, retl) = (0x0280_0004, 0xa010_2001, 0x81c3_e008);
    assert_eq!(faults(&[write_psr, nop, branch], false, |_| false).len(), 1);
    assert_eq!(faults(&[write_psr, nop, move_local], true, |_| false).len(), 1);
    assert_eq!(faults(&[write_psr, nop, nop, retl], true, |_| false).len(), 1);
    assert!(faults(&[write_psr, nop, nop, nop, retl], true, |_| false).is_empty());
}
