//! What a C library asks of the runtime, asked by one of our own: an archive that calls it as newlib
//! and picolibc do, and brings locks that do nothing, as they do.

use crate::support;

use std::path::Path;
use std::process::Command;

use support::{Build, SCHEMES, run};

/// The library's own locks: for programs without threads.
const NO_LOCKS: &str = r#"
struct __lock { char unused; } __lock___libc_recursive_mutex, __lock___malloc_recursive_mutex;
void __retarget_lock_init_recursive(struct __lock **it) { (void)it; }
void __retarget_lock_acquire_recursive(struct __lock *it) { (void)it; }
void __retarget_lock_release_recursive(struct __lock *it) { (void)it; }
void __retarget_lock_close_recursive(struct __lock *it) { (void)it; }
"#;

/// `malloc` and a file with a buffer, each with a lock; what is done under it lets others run.
const LIBRARY: &str = r#"
#include "regwin.h"
struct __lock;
extern struct __lock __lock___libc_recursive_mutex, __lock___malloc_recursive_mutex;
void __retarget_lock_init_recursive(struct __lock **it);
void __retarget_lock_acquire_recursive(struct __lock *it);
void __retarget_lock_release_recursive(struct __lock *it);
int write(int file, const void *bytes, unsigned long n);
void *_sbrk(long more);
void *malloc(unsigned long bytes);
void free(void *block);
void *calloc(unsigned long bytes);
void print(const char *text);

/* Blocks that were freed, else more of the heap. */
static struct block { struct block *next; unsigned long bytes; } *first;
void *malloc(unsigned long bytes)
{
    bytes = (bytes + 7) & ~7ul;
    __retarget_lock_acquire_recursive(&__lock___malloc_recursive_mutex);
    struct block **at = &first, *it;
    while ((it = *at) && it->bytes < bytes)
        at = &it->next;
    thr_yield();
    if (it) {
        *at = it->next;
    } else {
        it = _sbrk((long)(bytes + 8));
        if (it == (void *)-1)
            it = 0;
        else
            it->bytes = bytes;
    }
    __retarget_lock_release_recursive(&__lock___malloc_recursive_mutex);
    return it ? it + 1 : 0;
}
void free(void *block)
{
    struct block *it = (struct block *)block - 1;
    __retarget_lock_acquire_recursive(&__lock___malloc_recursive_mutex);
    it->next = first;
    thr_yield();
    first = it;
    __retarget_lock_release_recursive(&__lock___malloc_recursive_mutex);
}
/* The lock is taken again. */
void *calloc(unsigned long bytes)
{
    __retarget_lock_acquire_recursive(&__lock___malloc_recursive_mutex);
    unsigned char *it = malloc(bytes);
    thr_yield();
    for (unsigned long i = 0; i < bytes; i++)
        it[i] = 0;
    __retarget_lock_release_recursive(&__lock___malloc_recursive_mutex);
    return it;
}
/* Its lock is made when it is used first. */
static struct { struct __lock *lock; char bytes[64]; unsigned n; } file;
void print(const char *text)
{
    __retarget_lock_acquire_recursive(&__lock___libc_recursive_mutex);
    if (!file.lock)
        __retarget_lock_init_recursive(&file.lock);
    __retarget_lock_release_recursive(&__lock___libc_recursive_mutex);
    __retarget_lock_acquire_recursive(file.lock);
    for (; *text; text++) {
        file.bytes[file.n] = *text;
        thr_yield();
        file.n++;
        if (*text == '\n') {
            write(1, file.bytes, file.n);
            file.n = 0;
        }
    }
    __retarget_lock_release_recursive(file.lock);
}
"#;

const PROGRAM: &str = r#"
#include "regwin.h"
void *malloc(unsigned long bytes);
void free(void *block);
void *calloc(unsigned long bytes);
void print(const char *text);
typedef int jmp_buf[8];
int setjmp(jmp_buf where) __attribute__((returns_twice));
void longjmp(jmp_buf where, int value) __attribute__((noreturn));
#define N 4
static struct thr t[N];
static unsigned stacks[N][1024] __attribute__((aligned(8)));
static unsigned wrong;
static __attribute__((noinline)) void deep(jmp_buf where, unsigned depth, int value)
{
    if (!depth)
        longjmp(where, value);
    deep(where, depth - 1, value);
    __asm__ volatile("");
}
static void work(void *argument)
{
    unsigned me = (unsigned)argument;
    for (unsigned i = 1; i <= 40; i++) {
        unsigned bytes = 8 + (me * 7 + i * 5) % 60;
        unsigned char *a = malloc(bytes), *b = calloc(bytes);
        for (unsigned k = 0; k < bytes; k++) {
            wrong += b[k] != 0;
            a[k] = (unsigned char)(me + i);
            b[k] = (unsigned char)(me + i + 1);
        }
        char line[] = "thread 0 is here\n";
        line[7] = (char)('0' + me);
        print(line);
        for (unsigned k = 0; k < bytes; k++)
            wrong += a[k] != (unsigned char)(me + i) || b[k] != (unsigned char)(me + i + 1);
        free(a);
        free(b);
        jmp_buf where;
        int came = setjmp(where);
        if (!came)
            deep(where, i % 12, (int)(i % 3));
        wrong += came != (i % 3 ? (int)(i % 3) : 1);
    }
#ifdef PREEMPT
    if (thr_alive() == 1)
        thr_preempt(0);
#endif
}
int main(void)
{
    for (int i = 0; i < N; i++)
        thr_create(&t[i], "t", stacks[i], sizeof stacks[i], work, (void *)i);
#ifdef PREEMPT
    thr_preempt(3);
#endif
    return 0;
}
void machine_idle(void *unused)
{
    (void)unused;
#ifdef PREEMPT
    while (thr_alive())
        machine_wait();
#endif
    console_text(wrong ? "wrong\n" : "right\n");
    thr_report();
    machine_stop();
}
"#;

/// The program's object, what the runtime has for C libraries, and the C library's archive: linked.
/// What the linker says, if it fails.
fn link(build: &Build, at: &Path, program: &str, no_locks: &str) -> Result<(), String> {
    for (name, text) in [("program.c", program), ("lib.c", LIBRARY), ("lock.c", no_locks)] {
        std::fs::write(at.join(name), text).expect("a source");
        run(support::compiler(build).current_dir(at).args(["-ffunction-sections", name]));
    }
    run(Command::new("sparc64-linux-gnu-ar")
        .current_dir(at)
        .args(["rcs", "c.a", "lib.o", "lock.o"]));
    let library = support::library(build).join("lib");
    let out = Command::new("sparc64-linux-gnu-ld")
        .current_dir(at)
        .args(regwin::library::LINK)
        .arg("-T")
        .arg(library.join("regwin.ld"))
        .args(["-o", "x.elf", "program.o"])
        .arg(library.join("regwin-libc.o"))
        .arg("--start-group")
        .arg(library.join(format!("librw-{}.a", build.scheme.name())))
        .args(["c.a", "--end-group"])
        .output()
        .expect("the linker starts");
    if out.status.success() {
        Ok(())
    } else {
        Err(String::from_utf8_lossy(&out.stderr).into_owned())
    }
}

fn printed(build: Build, program: &str) -> String {
    let folder = measure::scratch::folder().expect("a folder");
    link(&build, folder.path(), program, NO_LOCKS).expect("it is linked");
    support::ran(folder.path(), build.windows)
}

#[test]
fn threads_share_a_c_library() {
    for scheme in SCHEMES {
        for options in [&[][..], &["preempt", "fpu"], &["preempt", "priorities"]] {
            for windows in [4, 8] {
                let build = Build { options, windows, ..Build::of(scheme) };
                let text = printed(build, PROGRAM);
                let (lines, end) = text.split_at(text.len() - "right\nregwin: done\n".len());
                assert_eq!(end, "right\nregwin: done\n", "{build:?}: {text}");
                let mut lines: Vec<&str> = lines.lines().collect();
                lines.sort_unstable();
                let due: Vec<String> =
                    (0..4 * 40).map(|i| format!("thread {} is here", i / 40)).collect();
                assert_eq!(lines, due, "{build:?}");
            }
        }
    }
}

/// Both of its names for each, where the heap ends, and an end with a number.
#[test]
fn calls_answer() {
    let program = r#"
#include "regwin.h"
int write(int file, const void *bytes, unsigned long n);
int _write(int file, const void *bytes, unsigned long n);
int read(int file, void *bytes, unsigned long n);
int _open(const char *name, int flags, ...);
int isatty(int file);
long long lseek(int file, long long offset, int from);
void *sbrk(long more);
void *_sbrk(long more);
void _exit(int status) __attribute__((noreturn));
extern char __heap_start[], __heap_end[];
#define CHECK(it) if (!(it)) console_text("not so: " #it "\n")
int main(void)
{
    CHECK(write(1, "one\n", 4) == 4);
    CHECK(_write(2, "two\n", 4) == 4);
    CHECK(write(3, "three\n", 6) == -1);
    CHECK(read(0, 0, 1) == 0 && read(3, 0, 1) == -1);
    CHECK(_open("file", 0) == -1 && lseek(1, 0, 0) == -1);
    CHECK(isatty(1) && !isatty(3));
    long all = __heap_end - __heap_start;
    CHECK(sbrk(0) == __heap_start && (unsigned)__heap_start % 8 == 0);
    CHECK(sbrk(-1) == (void *)-1 && sbrk(all + 1) == (void *)-1);
    CHECK(_sbrk(all - 8) == __heap_start && sbrk(16) == (void *)-1 && sbrk(8) == __heap_end - 8);
    CHECK(_sbrk(-all) == __heap_end && sbrk(0) == __heap_start);
    volatile char *last = (volatile char *)((unsigned)__heap_end - 1);
    *last = 7;
    CHECK(*last == 7);
    _exit(3);
}
void machine_idle(void *unused) { (void)unused; machine_stop(); }
"#;
    assert_eq!(printed(Build::of(SCHEMES[2]), program), "one\ntwo\nregwin: exit 3\n");
}

#[test]
fn a_programs_own_call_is_taken() {
    let program = r#"
#include "regwin.h"
void print(const char *text);
int write(int file, const void *bytes, unsigned long n)
{
    (void)file;
    (void)bytes;
    console_number((unsigned)n);
    console_text(" bytes\n");
    return (int)n;
}
static struct thr t;
static unsigned stack[1024] __attribute__((aligned(8)));
static void work(void *unused) { (void)unused; print("six..\n"); }
int main(void) { return thr_create(&t, "t", stack, sizeof stack, work, 0); }
void machine_idle(void *unused) { (void)unused; thr_report(); machine_stop(); }
"#;
    assert_eq!(printed(Build::of(SCHEMES[2]), program), "6 bytes\nregwin: done\n");
}

/// The library's locks that do nothing are in one file; if one of ours is missing, they do not take
/// the place of all.
#[test]
fn a_lock_that_is_not_here_is_not_linked() {
    let folder = measure::scratch::folder().expect("a folder");
    let program = PROGRAM.replace(
        "int main(void)\n{",
        "extern char __lock___new_mutex;\nint main(void)\n{\n    __lock___new_mutex = 0;",
    );
    let locks = NO_LOCKS.replace("struct __lock {", "char __lock___new_mutex; struct __lock {");
    let said = link(&Build::of(SCHEMES[2]), folder.path(), &program, &locks)
        .expect_err("there are two of each lock");
    assert!(said.contains("multiple definition of `__retarget_lock_acquire_recursive'"), "{said}");
}
