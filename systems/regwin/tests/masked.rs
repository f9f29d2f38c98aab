//! How long interrupts are masked: no run of a user's own program exceeds the bound, whatever its
//! compiler did to the loops, and what has no bound is named.

use crate::support;

use regwin::code::Code;
use regwin::qemu::Watch;
use regwin::wcet::masked::{self, Given, Section};
use regwin::{Scheme, qemu, wcet, work};
use support::{Build, SCHEMES, linked, printed};

const OPTIONS: &[&str] = &["preempt", "priorities", "fpu"];

/// An image, its sections with so many windows, and the longest of each that a run showed.
struct Looked {
    sections: Vec<Section>,
    seen: Vec<Option<u64>>,
}

impl Looked {
    fn at(build: &Build, program: &str, given: &[(&str, u32)], runs: bool) -> Looked {
        let folder = linked(build, program);
        let path = folder.path().join("x.elf");
        let code =
            Code::parse(&std::fs::read(&path).expect("it was linked")).expect("it is an image");
        let cores = work::cores();
        let routines =
            wcet::bounds(&code, &cores[0], &[build.windows]).expect("the image is the runtime's");
        // The first loop of a function, as a refusal names it.
        let all = |given: &[Given]| {
            masked::sections(&code, &cores[0], &routines, given).expect("the given loops are there")
        };
        let named = |(function, most): &(&str, u32)| {
            let whys = all(&[]).into_iter().flat_map(|it| it.unbounded);
            let place = whys
                .filter_map(|why| Some(why.split_once("the loop at ")?.1.to_owned()))
                .find(|text| text.starts_with(function));
            let place = place.unwrap_or_else(|| panic!("a loop of {function} has no bound"));
            let digits =
                place.split_once("(0x").expect("an address").1.split(')').next().expect("an end");
            Given { address: u32::from_str_radix(digits, 16).expect("an address"), most: *most }
        };
        let given: Vec<Given> = given.iter().map(named).collect();
        let sections = all(&given);
        let mut seen = Vec::new();
        if runs {
            let watches: Vec<Watch> =
                sections.iter().map(|section| masked::watch(&code, &cores[0], section)).collect();
            let raw = qemu::run_watched(
                &path,
                &code,
                build.windows,
                &[],
                [&cores[0], &cores[1]],
                &watches,
            )
            .expect("it ends");
            assert!(raw.console.ends_with("regwin: done\n"), "{}", raw.console);
            seen = raw
                .spans
                .iter()
                .map(|found| found.iter().map(|span| u64::from(span.cycles[0])).max())
                .collect();
        }
        Looked { sections, seen }
    }

    /// The sections that begin with a lock in a function, or in what a compiler made of it.
    fn locked(&self, function: &str) -> impl Iterator<Item = (usize, &Section)> {
        let is = |section: &&Section| {
            section.function.split('.').next() == Some(function) && !section.after_switch
        };
        self.sections.iter().enumerate().filter(move |pair| is(&pair.1))
    }

    /// The longest of them.
    fn most(&self, function: &str) -> u64 {
        let of = self.locked(function).map(|locked| locked.1);
        of.map(|found| {
            found
                .ways
                .first()
                .and_then(masked::Ways::any)
                .unwrap_or_else(|| panic!("{found:?}"))
                .most
        })
        .max()
        .expect("it locks")
    }

    fn seen(&self, function: &str) -> u64 {
        self.locked(function)
            .filter_map(|locked| self.seen[locked.0])
            .max()
            .unwrap_or_else(|| panic!("{function} ran"))
    }

    /// No section of this run took longer than its bound; how many there were.
    fn keeps(&self, what: &str) -> usize {
        let ran = self
            .sections
            .iter()
            .zip(&self.seen)
            .filter_map(|(section, seen)| Some((section, (*seen)?)));
        let bounded = ran.filter(|ran| ran.0.unbounded.is_empty());
        bounded
            .inspect(|(section, seen)| {
                let most = section.ways[0].any().expect("it ended").most;
                assert!(*seen <= most, "{what}: {seen} of {most}: {section:?}");
            })
            .count()
    }

    fn whys(&self, function: &str) -> Vec<&str> {
        self.locked(function).flat_map(|locked| &locked.1.unbounded).map(String::as_str).collect()
    }
}

const FRAME: &str = r#"
#include "regwin.h"
static volatile unsigned data[16], count = 16;
static struct thr one, two;
static unsigned stacks[2][1024] __attribute__((aligned(8)));
static unsigned total;
static struct semaphore semaphore;
BODY
static void work(void *unused)
{
    (void)unused;
    for (int i = 0; i < 6; i++) {
        total += body();
        semaphore_give(&semaphore);
        thr_yield();
        semaphore_take(&semaphore);
    }
}
void machine_idle(void *unused)
{
    (void)unused;
    while (thr_alive())
        machine_wait();
    thr_report();
    machine_stop();
}
int main(void)
{
    semaphore_open(&semaphore, "semaphore", 0);
    thr_create(&one, "one", stacks[0], sizeof stacks[0], work, 0);
    thr_create(&two, "two", stacks[1], sizeof stacks[1], work, 0);
    thr_preempt(500);
    return 0;
}
"#;

fn program(body: &str) -> String {
    FRAME.replace("BODY", body)
}

/// One section in a loop with a bound; one around it; one that two functions make, with loops in
/// each other and a window overflow; one that computes with floats.
const SECTIONS: &str = r#"
#define OWN __attribute__((noinline)) static
OWN unsigned sum_of(unsigned n)
{
    unsigned sum = 0, before = irq_lock();
    THR_LOOP(16, for (unsigned i = 0; i < n; i++))
        sum += data[i];
    irq_unlock(before);
    return sum;
}
OWN unsigned nested(unsigned n)
{
    unsigned before = irq_lock(), sum = sum_of(n) + 1;
    irq_unlock(before);
    return sum;
}
static unsigned kept;
OWN void begins(void) { kept = irq_lock(); }
OWN void ends(void) { irq_unlock(kept); }
OWN unsigned deep(unsigned n) { return n + data[n & 15]; }
OWN void across(unsigned n)
{
    begins();
    THR_LOOP(4, for (unsigned i = 0; i < n; i++)) {
        if (i & 1)
            continue;
        THR_LOOP(8, for (unsigned k = 0; k < 2 * n; k++))
            data[k] += deep(i + k);
    }
    ends();
}
OWN unsigned halves(unsigned n)
{
    float x = (float)n;
    unsigned before = irq_lock(), i = 0;
    THR_LOOP(20, while (x > 1.0f)) {
        x *= 0.5f;
        i++;
    }
    irq_unlock(before);
    return i;
}
OWN unsigned body(void)
{
    across(count / 4);
    return sum_of(count) + nested(count) + halves(1000);
}
"#;

#[test]
fn no_section_takes_longer_than_its_bound() {
    for scheme in SCHEMES {
        for (clang, windows) in [(false, 4), (true, 8), (false, 31)] {
            let build = Build { options: OPTIONS, clang, windows, ..Build::of(scheme) };
            let looked = Looked::at(&build, &program(SECTIONS), &[], true);
            let n = looked.keeps(&format!("{build:?}"));
            assert!(n >= 10, "{build:?}: only {n} sections ran");
            for function in ["sum_of", "nested", "begins", "halves"] {
                let (whys, seen) = (looked.whys(function), looked.seen(function));
                assert!(
                    whys.is_empty() && seen > 0,
                    "{build:?}: {function}: {seen} cycles seen, {whys:?}"
                );
            }
            // As often as it says, and straight on in each turn: here the bound is what happens.
            assert_eq!(looked.most("sum_of"), looked.seen("sum_of"), "{build:?}");
            assert!(
                looked.most("nested") > looked.most("sum_of"),
                "{build:?}: what is around takes longer"
            );
        }
    }
}

/// Loops that compilers unroll, peel and put into other functions, at random: the bound holds for
/// what became of them. More of them under MEANWHILE_LONG.
#[test]
fn no_optimisation_of_a_loop_breaks_its_bound() {
    for seed in 0..if std::env::var_os("MEANWHILE_LONG").is_some() { 20 } else { 3 } {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut body = String::new();
        let mut n_functions = 0;
        for function in 0..4 {
            let mut text = String::new();
            let depth = rng.usize(1..4);
            for level in 0..depth {
                let most = rng.u32(1..7);
                let runs = rng.u32(0..=most);
                let runs =
                    if rng.bool() { most.to_string() } else { format!("(count / 16 * {runs})") };
                text += &format!(
                    "THR_LOOP({most}, for (unsigned i{level} = 0; i{level} < {runs}; i{level}++)) {{\n"
                );
                text += ["", "sum += data[sum & 15];\n", "if (sum & 1) { sum++; continue; }\n"]
                    [rng.usize(0..3)];
            }
            text += &if function > 0 && rng.bool() {
                format!("sum += f{}(sum);\n", rng.u32(0..function))
            } else {
                "data[sum & 15]++;\n".to_owned()
            };
            text += &"}\n".repeat(depth);
            body += &format!(
                "static unsigned f{function}(unsigned sum)\n{{\n    unsigned before = irq_lock();\n{text}    irq_unlock(before);\n    return sum;\n}}\n"
            );
            n_functions += 1;
        }
        let calls: Vec<String> =
            (0..n_functions).map(|idx| format!("f{idx}(count + {idx})")).collect();
        body += &format!(
            "__attribute__((noinline)) static unsigned body(void) {{ return {}; }}\n",
            calls.join(" + ")
        );
        for (clang, flags) in [
            (false, &["-O2"][..]),
            (false, &["-O3", "-funroll-all-loops", "-fpeel-loops"]),
            (true, &["-O3"]),
            (true, &["-O0"]),
        ] {
            let build = Build { options: OPTIONS, clang, flags, ..Build::of(Scheme::Sp) };
            let looked = Looked::at(&build, &program(&body), &[], true);
            let n = looked.keeps(&format!("seed {seed}, {flags:?}: {body}"));
            let own = looked
                .sections
                .iter()
                .filter(|section| section.function == "body" || section.function.starts_with('f'));
            for section in own.filter(|own| !own.function.starts_with("fpu")) {
                assert!(
                    section.unbounded.is_empty(),
                    "seed {seed}, {flags:?}: {section:?}\n{body}"
                );
            }
            assert!(n > 4, "seed {seed}, {flags:?}: {n} sections ran");
        }
    }
}

/// What cannot be bounded is named, and only that.
#[test]
fn what_has_no_bound_is_named() {
    const TABLE: [(&str, &str); 8] = [
        (
            "unsigned before = irq_lock(); while (data[0] < count) data[0]++; irq_unlock(before);",
            "the loop at looked_at+",
        ),
        (
            "unsigned before = irq_lock(); for (unsigned n = 0; n < count; n++) THR_LOOP(3, for (unsigned i = 0; i < 3; i++)) data[i] += n; \
             irq_unlock(before);",
            "the loop at looked_at+",
        ),
        (
            "unsigned before = irq_lock(); data[1] = down(count); irq_unlock(before);",
            "down calls itself again",
        ),
        (
            "unsigned before = irq_lock(); data[1] = by_pointer(count); irq_unlock(before);",
            "where the computed call at looked_at+",
        ),
        (
            "irq_lock(); if (data[3] == 77) for (;;) data[2]++; irq_unlock(0);",
            "the loop at looked_at+",
        ),
        (
            "if (data[3] == 77) irq_lock();",
            "looked_at returns with interrupts masked, and its address is taken",
        ),
        (
            "unsigned before = irq_lock(); __asm__ volatile(\"ta 5\"); irq_unlock(before);",
            "what the trap at looked_at+",
        ),
        ("data[4] = ((unsigned (*)(void))pointer)();", "the address of irq_lock is taken"),
    ];
    for (text, why) in TABLE {
        for clang in [false, true] {
            let body = format!(
                "__attribute__((noinline)) static unsigned down(unsigned n) {{ return n > 16 ? down(n - 1) + data[n & 15] : n; }}\n\
                 static unsigned (*volatile by_pointer)(unsigned) = down;\n\
                 __attribute__((unused)) static void *volatile pointer = {};\n\
                 __attribute__((noinline)) static void looked_at(void) {{ {text} }}\n\
                 static void (*volatile called)(void) = looked_at;\n\
                 __attribute__((noinline)) static unsigned bounded(void) {{ unsigned x = irq_lock(); irq_unlock(x); return x; }}\n\
                 static unsigned body(void) {{ looked_at(); called(); return bounded(); }}",
                if why.contains("irq_lock") { "(void *)irq_lock" } else { "0" }
            );
            let looked = Looked::at(
                &Build { options: OPTIONS, clang, ..Build::of(Scheme::Ns) },
                &program(&body),
                &[],
                false,
            );
            let whys: Vec<&str> = looked
                .sections
                .iter()
                .flat_map(|section| &section.unbounded)
                .map(String::as_str)
                .collect();
            let named: Vec<&&str> = whys.iter().filter(|set| set.contains(why)).collect();
            assert_eq!(named.len(), 1, "clang {clang}: {text}: {whys:?}");
            assert!(looked.most("bounded") > 0);
        }
    }
}

/// A loop of which nothing is known has the bound that is given for it, each time
/// that it is reached.
#[test]
fn bounds_may_be_given_from_outside() {
    let body = r#"
__attribute__((noinline)) static void copies(unsigned n)
{
    unsigned before = irq_lock();
    for (unsigned i = 0; i < n; i++)
        data[i & 15] += i;
    irq_unlock(before);
}
static unsigned body(void)
{
    copies(count);
    return count;
}
"#;
    for clang in [false, true] {
        let build = Build { options: OPTIONS, clang, ..Build::of(Scheme::Adaptive) };
        assert_eq!(printed(build, &program(body)), "regwin: done\n");
        let given = Looked::at(&build, &program(body), &[("copies", 16)], true);
        let (most, seen) = (given.most("copies"), given.seen("copies"));
        assert!(seen <= most && most < 2 * seen, "{seen} of {most}");
        assert!(
            Looked::at(&build, &program(body), &[("copies", 32)], false).most("copies")
                > most + 16 * 3
        );
    }
}
