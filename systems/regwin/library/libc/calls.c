/* What a C library asks of an operating system, under the names of newlib (_write) and picolibc (write): the console, a heap, and an
 * end. Weak, so that a program's own take their place. There are no files, no input, no time
 * of day and no errno: what fails returns -1. */
#include "../kernel.h"

/* Both names of a function. */
#define CALL(type, name, parameters) \
    type name parameters __attribute__((weak, alias("_" #name))); \
    type _##name parameters __attribute__((weak)); \
    type _##name parameters

/* The end of the image, and the end of memory: the linker script says them. */
extern char __heap_start[], __heap_end[];
static char *heap = __heap_start;
static struct mutex console = {.name = "the console"};

/* What a thread writes by one call stays together. */
CALL(int, write, (int file, const void *bytes, unsigned long n))
{
    if (file != 1 && file != 2)
        return -1;
    mutex_lock(&console);
    for (unsigned long i = 0; i < n; i++)
        console_byte(((const unsigned char *)bytes)[i]);
    mutex_unlock(&console);
    return (int)n;
}

CALL(int, read, (int file, void *bytes, unsigned long n))
{
    (void)bytes;
    (void)n;
    return file ? -1 : 0;
}

CALL(void *, sbrk, (long more))
{
    unsigned before = kernel_enter();
    char *start = heap;
    int fits = more < 0 ? heap - __heap_start >= -more : __heap_end - heap >= more;
    if (fits)
        heap += more;
    kernel_leave(before);
    return fits ? start : (void *)-1;
}

CALL(int, open, (const char *name, int flags, ...))
{
    (void)name;
    (void)flags;
    return -1;
}

CALL(int, unlink, (const char *name))
{
    (void)name;
    return -1;
}

CALL(int, close, (int file))
{
    (void)file;
    return -1;
}

CALL(int, fstat, (int file, void *to))
{
    (void)file;
    (void)to;
    return -1;
}

CALL(int, isatty, (int file))
{
    return file >= 0 && file <= 2;
}

CALL(long, times, (void *to))
{
    (void)to;
    return -1;
}

CALL(int, gettimeofday, (void *to, void *zone))
{
    (void)to;
    (void)zone;
    return -1;
}

CALL(int, getpid, (void))
{
    return 1;
}

static __attribute__((noreturn)) void end(const char *what, int number)
{
    console_text(what);
    console_number((unsigned)number);
    console_text("\n");
    machine_stop();
}

CALL(int, kill, (int process, int signal))
{
    (void)process;
    end("regwin: signal ", signal);
}

/* All threads end with it. */
void _exit(int status) __attribute__((weak, noreturn));
void _exit(int status)
{
    if (status)
        end("regwin: exit ", status);
    machine_stop();
}
