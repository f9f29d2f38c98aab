//! Priorities, mutexes and semaphores do what a plain model of them does; interrupts nest; what is
//! wrong is refused or named.

use crate::support;

use std::collections::VecDeque;
use std::fmt::Write as _;

use regwin::Scheme;
use support::{Build, SCHEMES};

/// One step of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Lock(usize),
    Unlock(usize),
    Take(usize),
    Give(usize),
    Yield,
    Priority(usize, u32),
    Join(usize),
}

const MUTEXES: usize = 3;
const SEMAPHORES: usize = 2;

/// Threads that do random steps; without priorities none changes its own.
struct Script {
    priorities: Vec<u32>,
    steps: Vec<Vec<Step>>,
    has_priorities: bool,
}

impl Script {
    fn random(rng: &mut fastrand::Rng, has_priorities: bool) -> Script {
        let n = rng.usize(2..=8);
        let priority = |rng: &mut fastrand::Rng| [rng.u32(1..=4), rng.u32(0..32)][rng.usize(..2)];
        let step = |rng: &mut fastrand::Rng| match rng.u32(..20) {
            0..=5 => Step::Lock(rng.usize(..MUTEXES)),
            6..=11 => Step::Unlock(rng.usize(..MUTEXES)),
            12..=13 => Step::Take(rng.usize(..SEMAPHORES)),
            14..=15 => Step::Give(rng.usize(..SEMAPHORES)),
            16 => Step::Join(rng.usize(..n)),
            17..=18 if has_priorities => Step::Priority(rng.usize(..n), priority(rng)),
            _ => Step::Yield,
        };
        let steps = (0..n).map(|_| (0..rng.usize(4..40)).map(|_| step(rng)).collect()).collect();
        Script { priorities: (0..n).map(|_| priority(rng)).collect(), steps, has_priorities }
    }

    /// The program: each thread notes its number before a step and the result after it.
    fn program(&self) -> String {
        let mut table = String::new();
        for steps in &self.steps {
            table.push('{');
            for step in steps {
                let (op, a, b) = match *step {
                    Step::Lock(m) => ('L', m, 0),
                    Step::Unlock(m) => ('U', m, 0),
                    Step::Take(s) => ('T', s, 0),
                    Step::Give(s) => ('G', s, 0),
                    Step::Yield => ('Y', 0, 0),
                    Step::Priority(t, p) => ('P', t, p as usize),
                    Step::Join(t) => ('J', t, 0),
                };
                let _ = write!(table, "{{'{op}',{a},{b}}},");
            }
            table.push_str("{0,0,0}},\n");
        }
        let priorities: String =
            self.priorities.iter().map(|priority| format!("{priority},")).collect();
        let create = if self.has_priorities {
            "thr_create_at(priorities[i], &threads[i], \"t\", stacks[i], sizeof stacks[i], run, (void *)i)"
        } else {
            "thr_create(&threads[i], \"t\", stacks[i], sizeof stacks[i], run, (void *)i)"
        };
        let change =
            if self.has_priorities { "r = thr_set_priority(&threads[s->a], s->b)" } else { "" };
        format!(
            r#"
#include <regwin.h>
#define N {n}
static const struct {{ char op; unsigned char a, b; }} script[N][41] = {{ {table} }};
static const unsigned char priorities[N] = {{ {priorities} }};
static struct thr threads[N];
static unsigned stacks[N][256] __attribute__((aligned(8)));
static struct mutex mutexes[{MUTEXES}];
static struct semaphore semaphores[{SEMAPHORES}];
static char trace[4096];
static unsigned n_trace;
static void note(unsigned c) {{ trace[n_trace++] = (char)c; }}
static void run(void *x)
{{
    unsigned me = (unsigned)x;
    for (typeof(&script[0][0]) s = script[me]; s->op; s++) {{
        int r = 0;
        note('a' + me);
        switch (s->op) {{
        case 'L': r = mutex_lock(&mutexes[s->a]); break;
        case 'U': r = mutex_unlock(&mutexes[s->a]); break;
        case 'T': semaphore_take(&semaphores[s->a]); break;
        case 'G': semaphore_give(&semaphores[s->a]); break;
        case 'Y': thr_yield(); break;
        case 'P': {change}; break;
        case 'J': r = thr_join(&threads[s->a]); break;
        }}
        note('A' + me);
        note((unsigned)('0' - r));
    }}
    note('.');
}}
int main(void)
{{
    for (unsigned i = 0; i < {MUTEXES}; i++) mutex_open(&mutexes[i], "m");
    for (unsigned i = 0; i < {SEMAPHORES}; i++) semaphore_open(&semaphores[i], "s", i);
    for (unsigned i = 0; i < N; i++) {create};
    return 0;
}}
void machine_idle(void *x) {{ (void)x; (void)priorities; trace[n_trace] = 0; console_text(trace); machine_stop(); }}
"#,
            n = self.steps.len(),
        )
    }
}

/// The model: lists in order, and nothing clever.
struct Model<'a> {
    script: &'a Script,
    trace: String,
    at: Vec<usize>,
    /// The result of the step that a thread waits in.
    priority: Vec<u32>,
    base: Vec<u32>,
    ready: Vec<usize>,
    waits: Vec<Option<Step>>,
    ended: Vec<bool>,
    owner: [Option<usize>; MUTEXES],
    lockers: [Vec<usize>; MUTEXES],
    count: [u32; SEMAPHORES],
    takers: [Vec<usize>; SEMAPHORES],
    joiners: Vec<Vec<usize>>,
}

impl<'a> Model<'a> {
    fn new(script: &'a Script) -> Model<'a> {
        let n = script.steps.len();
        let priority = if script.has_priorities { script.priorities.clone() } else { vec![0; n] };
        let mut model = Model {
            script,
            trace: String::new(),
            at: vec![0; n],
            base: priority.clone(),
            priority,
            ready: Vec::new(),
            waits: vec![None; n],
            ended: vec![false; n],
            owner: [None; MUTEXES],
            lockers: Default::default(),
            count: std::array::from_fn(|it| it as u32),
            takers: Default::default(),
            joiners: vec![Vec::new(); n],
        };
        (0..n).for_each(|idx| model.push(idx));
        model
    }

    /// Behind those that are as urgent.
    fn insert(list: &mut Vec<usize>, priority: &[u32], t: usize) {
        let at = list.iter().position(|idx| priority[*idx] > priority[t]).unwrap_or(list.len());
        list.insert(at, t);
    }

    fn push(&mut self, t: usize) {
        Model::insert(&mut self.ready, &self.priority, t);
    }

    fn wake(&mut self, list: Vec<usize>) {
        for t in list {
            self.waits[t] = None;
            self.push(t);
        }
    }

    fn settle(&mut self, t: usize) {
        if !self.script.has_priorities {
            return;
        }
        let held = (0..MUTEXES).filter(|m| self.owner[*m] == Some(t));
        let lent =
            held.filter_map(|m| self.lockers[m].first().map(|locker| self.priority[*locker])).min();
        let priority = self.base[t].min(lent.unwrap_or(u32::MAX));
        if priority == self.priority[t] {
            return;
        }
        let joined = self.joiners.iter().position(|joiner| joiner.contains(&t));
        let list = match (self.waits[t], joined) {
            (Some(Step::Lock(m)), _) => &mut self.lockers[m],
            (Some(Step::Take(s)), _) => &mut self.takers[s],
            (_, Some(other)) => &mut self.joiners[other],
            _ => &mut self.ready,
        };
        let was_there = list.contains(&t);
        list.retain(|list| *list != t);
        self.priority[t] = priority;
        if was_there {
            Model::insert(list, &self.priority, t);
        }
        if let Some(Step::Lock(m)) = self.waits[t] {
            self.settle(self.owner[m].expect("a mutex that is waited for has an owner"));
        }
    }

    /// The result of a step, or nothing if the thread waits. True if the thread goes after those
    /// that are as urgent.
    fn step(&mut self, t: usize, step: Step) -> (Option<u8>, bool) {
        match step {
            Step::Yield => return (Some(b'0'), true),
            Step::Lock(m) => {
                let Some(owner) = self.owner[m] else {
                    self.owner[m] = Some(t);
                    return (Some(b'0'), false);
                };
                let mut next = Some(owner);
                while let Some(it) = next {
                    if it == t {
                        return (Some(b'3'), false);
                    }
                    next =
                        if let Some(Step::Lock(m)) = self.waits[it] { self.owner[m] } else { None };
                }
                self.waits[t] = Some(step);
                Model::insert(&mut self.lockers[m], &self.priority, t);
                self.settle(owner);
                return (None, false);
            }
            Step::Unlock(m) => {
                if self.owner[m] != Some(t) {
                    return (Some(b'1'), false);
                }
                let next =
                    if self.lockers[m].is_empty() { None } else { Some(self.lockers[m].remove(0)) };
                self.owner[m] = next;
                self.wake(next.into_iter().collect());
                self.settle(t);
                next.into_iter().for_each(|it| self.settle(it));
            }
            Step::Take(s) => {
                if self.count[s] == 0 {
                    self.waits[t] = Some(step);
                    Model::insert(&mut self.takers[s], &self.priority, t);
                    return (None, false);
                }
                self.count[s] -= 1;
            }
            Step::Give(s) => {
                if self.takers[s].is_empty() {
                    self.count[s] += 1;
                } else {
                    let first = self.takers[s].remove(0);
                    self.wake(vec![first]);
                }
            }
            Step::Priority(other, priority) => {
                self.base[other] = priority;
                self.settle(other);
            }
            Step::Join(other) => {
                if other == t {
                    return (Some(b'1'), false);
                }
                if !self.ended[other] {
                    self.waits[t] = Some(step);
                    Model::insert(&mut self.joiners[other], &self.priority, t);
                    return (None, false);
                }
            }
        }
        (Some(b'0'), false)
    }

    fn run(mut self) -> String {
        let mut pending: Vec<Option<u8>> = vec![None; self.at.len()];
        let letter = |t: usize, base: u8| char::from(base + t as u8);
        let mut running: VecDeque<usize> = VecDeque::new();
        loop {
            let Some(t) = running
                .pop_front()
                .or_else(|| (!self.ready.is_empty()).then(|| self.ready.remove(0)))
            else {
                return self.trace;
            };
            if let Some(result) = pending[t].take() {
                self.trace.extend([letter(t, b'A'), char::from(result)]);
            }
            let Some(step) = self.script.steps[t].get(self.at[t]).copied() else {
                self.trace.push('.');
                self.ended[t] = true;
                let joiners = std::mem::take(&mut self.joiners[t]);
                self.wake(joiners);
                continue;
            };
            self.trace.push(letter(t, b'a'));
            self.at[t] += 1;
            let (result, goes_behind) = self.step(t, step);
            // A thread that waits gets 0 when it is woken.
            pending[t] = Some(result.unwrap_or(b'0'));
            if result.is_none() {
                continue;
            }
            let first = self.ready.first().map(|ready| self.priority[*ready]);
            if goes_behind {
                self.push(t);
            } else if self.script.has_priorities
                && first.is_some_and(|found| found < self.priority[t])
            {
                // It is preempted, and stays the first of its priority.
                let at = self
                    .ready
                    .iter()
                    .position(|idx| self.priority[*idx] >= self.priority[t])
                    .unwrap_or(self.ready.len());
                self.ready.insert(at, t);
            } else {
                running.push_front(t);
            }
        }
    }
}

#[test]
fn threads_run_in_the_order_of_a_plain_model() {
    let options: [&[&str]; 4] = [&["priorities"], &[], &["priorities", "preempt"], &["preempt"]];
    let n_seeds = if std::env::var_os("MEANWHILE_LONG").is_some() { 2000 } else { 32 };
    for seed in 0..n_seeds {
        let mut rng = fastrand::Rng::with_seed(seed);
        let options = options[seed as usize % 4];
        let script = Script::random(&mut rng, options.contains(&"priorities"));
        let expected = Model::new(&script).run();
        let scheme = SCHEMES[seed as usize / 4 % 4];
        let build = Build {
            options,
            windows: rng.u32(4..=32),
            clang: rng.u32(..4) == 0,
            ..Build::of(scheme)
        };
        assert_eq!(
            support::printed(build, &script.program()),
            expected,
            "seed {seed}, {build:?}: {:?}",
            script.steps
        );
    }
}

/// Priority inversion: a low thread owns what a high one waits for, and a middle one is ready.
const INVERSION: &str = r#"
#include <regwin.h>
static struct thr low, middle, high;
static unsigned stacks[3][256] __attribute__((aligned(8)));
static struct mutex m;
static struct semaphore go;
static void has(void *x) { (void)x; mutex_lock(&m); semaphore_give(&go); console_text("low has it\n"); mutex_unlock(&m); console_text("low goes on\n"); }
static void wants(void *x) { (void)x; semaphore_take(&go); thr_wake_middle(); mutex_lock(&m); console_text("high has it\n"); mutex_unlock(&m); }
"#;

#[test]
fn a_thread_in_the_middle_does_not_hold_up_an_urgent_one() {
    let program = INVERSION.replace("thr_wake_middle()", "thr_wake(&middle)").replace(
        "static void has",
        "static void spins(void *x) { (void)x; thr_block(THR_LEAVE); console_text(\"middle\\n\"); }\nstatic void has",
    ) + r#"
int main(void)
{
    mutex_open(&m, "m");
    semaphore_open(&go, "go", 0);
    thr_create_at(20, &low, "low", stacks[0], sizeof stacks[0], has, 0);
    thr_create_at(10, &middle, "middle", stacks[1], sizeof stacks[1], spins, 0);
    thr_create_at(5, &high, "high", stacks[2], sizeof stacks[2], wants, 0);
    return 0;
}
void machine_idle(void *x) { (void)x; thr_report(); machine_stop(); }
"#;
    for scheme in SCHEMES {
        let build = Build { options: &["priorities"], ..Build::of(scheme) };
        let text = "low has it\nhigh has it\nmiddle\nlow goes on\nregwin: done\n";
        assert_eq!(support::printed(build, &program), text, "{scheme:?}");
    }
}

fn irq_program(body: &str, main: &str) -> String {
    format!(
        r#"
#include <regwin.h>
static struct thr t, worker;
static unsigned stack[1024] __attribute__((aligned(8))), worker_stack[512] __attribute__((aligned(8)));
static __attribute__((noinline)) unsigned deep(unsigned n) {{ unsigned k = n ? deep(n - 1) : 0; __asm__ volatile("" : "+r"(k)); return k + n; }}
static void say(const char *what, unsigned n) {{ console_text(what); console_number(n); console_text("\n"); }}
{body}
int main(void) {{ thr_create(&t, "t", stack, sizeof stack, run, 0); {main} return 0; }}
void machine_idle(void *x) {{ (void)x; while (thr_alive() > ALIVE) machine_wait(); machine_stop(); }}
"#
    )
}

/// Handlers go deep themselves, so windows of the interrupted handler and thread are
/// stored and loaded meanwhile.
#[test]
fn interrupts_nest_by_level() {
    let body = r#"
#define ALIVE 0
#define DEPTH 12
static void on(void *level)
{
    say("begin ", (unsigned)level);
    if ((unsigned)level == 4) {
        irq_raise(2);
        irq_raise(9);
        irq_raise(4);
    }
    say("deep ", deep(DEPTH));
    say("end ", (unsigned)level);
    irq_detach((unsigned)level);
    if ((unsigned)level == 4)
        irq_detach(4);
}
static void run(void *x)
{
    (void)x;
    for (unsigned level = 2; level <= 9; level++)
        if (irq_attach(level, on, (void *)level))
            say("refused ", level);
    if (irq_attach(9, on, 0) != THR_REFUSED || irq_attach(0, on, 0) != THR_REFUSED || irq_attach(15, on, 0) != THR_REFUSED)
        say("accepted", 0);
    unsigned before = irq_lock();
    irq_raise(4);
    say("masked ", deep(20));
    irq_unlock(before);
    say("after ", deep(25));
}
"#;
    let deeper = body.replace("#define DEPTH 12", "#define DEPTH 60");
    let nested = "masked 210\nbegin 4\nbegin 9\ndeep 78\nend 9\ndeep 78\nend 4\nbegin 2\ndeep 78\nend 2\nafter 325\n";
    for scheme in SCHEMES {
        for windows in [4, 5, 8, 31] {
            let build = Build { options: &["preempt"], windows, ..Build::of(scheme) };
            assert_eq!(
                support::printed(build, &irq_program(body, "")),
                nested,
                "{scheme:?}, {windows} windows"
            );
        }
        let build = Build { options: &["preempt"], ..Build::of(scheme) };
        let text = support::printed(build, &irq_program(&deeper, ""));
        assert!(text.ends_with("regwin: overflow the stack of interrupts\n"), "{scheme:?}: {text}");
    }
}

#[test]
fn a_handler_leaves_work_to_a_thread_and_wakes_the_urgent() {
    let body = r#"
#define ALIVE 1
static struct work work;
static struct queue queue;
static unsigned items[2], n_lost;
static void later(void *x) { say("work for ", *(unsigned *)x); }
static void on(void *x)
{
    unsigned n = *(unsigned *)x;
    for (unsigned i = 0; i < 3; i++)
        n_lost += queue_try_send(&queue, &n) == THR_REFUSED;
    work_post(&work);
    work_post(&work);
    (*(unsigned *)x)++;
}
static void run(void *x)
{
    (void)x;
    static unsigned n = 7;
    unsigned got;
    work.run = later;
    work.argument = &n;
    queue_open(&queue, "queue", items, sizeof items[0], 2);
    irq_attach(3, on, &n);
    irq_raise(3);
    say("work was done, lost ", n_lost);
    while (queue_try_receive(&queue, &got) == 0)
        say("got ", got);
    say("end ", queue_receive_for(&queue, &got, 2) == THR_TIMEOUT);
}
"#;
    let main = "thr_create_at(1, &worker, \"worker\", worker_stack, sizeof worker_stack, work_loop, 0); thr_preempt(1000);";
    let text = "work for 8\nwork was done, lost 1\ngot 7\ngot 7\nend 1\n";
    for scheme in SCHEMES {
        let build = Build { options: &["preempt", "priorities"], ..Build::of(scheme) };
        assert_eq!(support::printed(build, &irq_program(body, main)), text, "{scheme:?}");
    }
}

/// Four threads take from a pool of three blocks, fill what they have, and give it back
/// after others have run.
#[test]
fn a_block_of_a_pool_has_one_owner_and_a_thread_waits_for_the_next() {
    let program = r#"
#include <regwin.h>
#define N 4
static struct thr threads[N];
static unsigned stacks[N][512] __attribute__((aligned(8)));
static struct pool pool;
static unsigned blocks[3][6], n_taken, n_wrong;
static void run(void *x)
{
    for (unsigned round = 0; round < 100; round++) {
        unsigned *block = pool_take(&pool), mine = (unsigned)x << 16 | round;
        n_taken++;
        n_wrong += block < blocks[0] || block > blocks[2] || (block - blocks[0]) % 6 != 0;
        for (unsigned i = 0; i < 6; i++)
            block[i] = mine;
        thr_yield();
        for (unsigned i = 0; i < 6; i++)
            n_wrong += block[i] != mine;
        pool_give(&pool, block);
    }
}
int main(void)
{
    n_wrong += pool_open(&pool, "pool", (char *)blocks + 2, 24, 2) != THR_REFUSED || pool_open(&pool, "pool", blocks, 6, 3) != THR_REFUSED
        || pool_open(&pool, "pool", blocks, 0, 3) != THR_REFUSED || pool_open(&pool, "pool", blocks, sizeof blocks[0], 3) != 0;
    for (unsigned i = 0; i < N; i++)
        thr_create(&threads[i], "t", stacks[i], sizeof stacks[i], run, (void *)i);
    return 0;
}
void machine_idle(void *unused)
{
    (void)unused;
    void *a = pool_try(&pool), *b = pool_try(&pool), *c = pool_try(&pool), *none = pool_try(&pool);
    n_wrong += !a || !b || !c || a == b || b == c || a == c || none != 0;
    console_text("taken ");
    console_number(n_taken);
    console_text(", wrong ");
    console_number(n_wrong);
    console_text("\n");
    thr_report();
    machine_stop();
}
"#;
    for scheme in SCHEMES {
        for options in [&[][..], &["priorities"], &["preempt", "working-set"]] {
            let build = Build { options, ..Build::of(scheme) };
            assert_eq!(
                support::printed(build, program),
                "taken 400, wrong 0\nregwin: done\n",
                "{scheme:?}, {options:?}"
            );
        }
    }
}

/// The one block is the running thread's; a wait for it ends after two ticks, and a handler
/// gives and takes it.
#[test]
fn a_wait_for_a_block_ends_after_a_time_and_handlers_use_pools() {
    let body = r#"
#define ALIVE 0
static struct pool pool;
static unsigned block[4];
static void on(void *x)
{
    pool_give(&pool, *(void **)x);
    say("handler has it ", pool_try(&pool) == block);
    say("and no other ", pool_try(&pool) == 0);
    pool_give(&pool, block);
}
static void run(void *x)
{
    (void)x;
    static void *mine;
    pool_open(&pool, "pool", block, sizeof block, 1);
    mine = pool_take_for(&pool, 2);
    say("first ", mine == block);
    say("none ", pool_take_for(&pool, 2) == 0);
    irq_attach(3, on, &mine);
    irq_raise(3);
    say("again ", pool_take_for(&pool, 2) == block);
    thr_preempt(0);
}
"#;
    let text = "first 1\nnone 1\nhandler has it 1\nand no other 1\nagain 1\n";
    for scheme in SCHEMES {
        let build = Build { options: &["preempt"], ..Build::of(scheme) };
        assert_eq!(
            support::printed(build, &irq_program(body, "thr_preempt(1000);")),
            text,
            "{scheme:?}"
        );
    }
}

#[test]
fn what_is_wrong_with_an_interrupt_is_named() {
    let unhandled = "#define ALIVE 0\nstatic void run(void *x) { (void)x; *(volatile unsigned *)0x80000240 |= 1 << 5; irq_raise(5); deep(3); }";
    let floats = "#define ALIVE 0\nstatic volatile double d;\nstatic void on(void *x) { (void)x; d = d + 1; }\n\
                  static void run(void *x) { (void)x; d = d * 2; irq_attach(5, on, 0); irq_raise(5); say(\"on\", deep(3)); }";
    for scheme in SCHEMES {
        let build = Build { options: &["preempt", "fpu"], ..Build::of(scheme) };
        assert_eq!(
            support::printed(build, &irq_program(unhandled, "")),
            "regwin: interrupt 5 has no handler\n",
            "{scheme:?}"
        );
        let text = support::printed(build, &irq_program(floats, ""));
        assert!(
            text.starts_with("regwin: trap 00000004 at ") && text.ends_with(" in t\n"),
            "{scheme:?}: {text}"
        );
    }
}

/// A program's own trap, taken with any number of windows in use; its vector counts in the locals
/// of the trap's window.
#[test]
fn a_program_adds_entries_to_the_trap_table() {
    let body = r#"
#define ALIVE 0
void my_trap(void);
unsigned n_traps;
__asm__(".section .text.mine,\"ax\"\n.global my_trap\nmy_trap:\n"
        "sethi %hi(n_traps), %l4\n ld [%l4 + %lo(n_traps)], %l5\n add %l5, %l3, %l5\n st %l5, [%l4 + %lo(n_traps)]\n"
        "wr %l0, %psr\n nop\n nop\n nop\n jmp %l2\n rett %l2 + 4\n.previous\n");
static __attribute__((noinline)) unsigned traps(unsigned n)
{
    unsigned k = n ? traps(n - 1) : 0;
    __asm__ volatile("ta 5" : "+r"(k) : : "memory");
    return k + n;
}
static void run(void *x)
{
    (void)x;
    say("taken ", (unsigned)-trap_attach(5, my_trap));
    say("flush ", (unsigned)-trap_attach(0x83, my_trap));
    say("reset ", (unsigned)-trap_attach(0, my_trap));
    say("none ", (unsigned)-trap_attach(256, my_trap));
    say("mine ", (unsigned)-trap_attach(0x85, my_trap));
    say("again ", (unsigned)-trap_attach(0x85, my_trap));
    say("sum ", traps(20));
    say("types ", n_traps);
}
"#;
    let text = format!(
        "taken 1\nflush 1\nreset 1\nnone 1\nmine 0\nagain 1\nsum 210\ntypes {}\n",
        21 * 0x85
    );
    for scheme in SCHEMES {
        for windows in [4, 8] {
            let build = Build { options: &["preempt"], windows, ..Build::of(scheme) };
            assert_eq!(
                support::printed(build, &irq_program(body, "")),
                text,
                "{scheme:?}, {windows} windows"
            );
        }
    }
}

/// Waits that end after a time end in the order of their times, whichever began
/// first, and not before.
#[test]
fn times_end_in_order() {
    let body = r#"
#define ALIVE 0
static struct thr sleepers[5];
static unsigned stacks[5][256] __attribute__((aligned(8)));
static struct mutex m;
static struct semaphore s;
static void sleeps(void *x)
{
    unsigned n = (unsigned)x, before = thr_now();
    if (n == 3) {
        int r = mutex_lock_for(&m, n);
        say("mutex ", (unsigned)-r);
    } else if (n == 4) {
        int r = semaphore_take_for(&s, n);
        say("semaphore ", (unsigned)-r);
    } else {
        thr_sleep(n);
    }
    say("slept ", thr_now() - before);
}
static void run(void *x)
{
    (void)x;
    static const unsigned char ticks[5] = {4, 1, 3, 9, 2};
    semaphore_open(&s, "s", 0);
    mutex_open(&m, "m");
    mutex_lock(&m);
    unsigned before = irq_lock();
    for (unsigned i = 0; i < 5; i++)
        thr_create(&sleepers[i], "sleeper", stacks[i], sizeof stacks[i], sleeps, (void *)(unsigned)ticks[i]);
    irq_unlock(before);
    thr_join(&sleepers[3]);
    say("all ", thr_alive());
}
"#;
    let text = "slept 1\nslept 2\nmutex 2\nslept 3\nsemaphore 2\nslept 4\nslept 9\nall 1\n";
    for scheme in SCHEMES {
        for options in [&["preempt"] as &[&str], &["preempt", "priorities"]] {
            let build = Build { options, ..Build::of(scheme) };
            assert_eq!(
                support::printed(build, &irq_program(body, "thr_preempt(3000);")),
                text,
                "{scheme:?} {options:?}"
            );
        }
    }
}

/// When no thread can go on, each is said with the one that it waits for.
#[test]
fn a_report_names_what_threads_wait_for() {
    let program = r#"
#include <regwin.h>
static struct thr a, b, c;
static unsigned stacks[3][256] __attribute__((aligned(8)));
static struct mutex m;
static struct semaphore s;
static void takes(void *x) { (void)x; mutex_lock(&m); thr_self()->local = "local"; semaphore_take(&s); }
static void locks(void *x) { (void)x; if (thr_self()->local == 0) mutex_lock(&m); }
static void joins(void *x) { (void)x; thr_join(&b); }
int main(void)
{
    mutex_open(&m, "the mutex");
    semaphore_open(&s, "the semaphore", 0);
    thr_create(&a, "a", stacks[0], sizeof stacks[0], takes, 0);
    thr_create(&b, "b", stacks[1], sizeof stacks[1], locks, 0);
    thr_create(&c, "c", stacks[2], sizeof stacks[2], joins, 0);
    return 0;
}
void machine_idle(void *x) { (void)x; thr_report(); machine_stop(); }
"#;
    let text = "regwin: stuck a waits for the semaphore\nregwin: stuck b waits for the mutex\nregwin: stuck c waits for the end of b\n";
    for options in [&[] as &[&str], &["priorities"], &["preempt"]] {
        assert_eq!(
            support::printed(Build { options, ..Build::of(Scheme::Sp) }, program),
            text,
            "{options:?}"
        );
    }
}
