/* A program without a C library: its start, and the functions that it calls, over
   the system calls of Linux on AArch64. */
#include "stdio.h"
#include "string.h"
#include <stdarg.h>
#include <stdint.h>

static FILE out = 1, err = 2;
FILE *const stdout = &out, *const stderr = &err;

void *memmove(void *to, const void *from, size_t n) {
  volatile char *t = to;
  const volatile char *f = from;
  if ((uintptr_t)to <= (uintptr_t)from)
    for (size_t i = 0; i < n; i++)
      t[i] = f[i];
  else
    while (n-- > 0)
      t[n] = f[n];
  return to;
}

void *memcpy(void *to, const void *from, size_t n) {
  return memmove(to, from, n);
}

void *memset(void *to, int byte, size_t n) {
  volatile char *t = to;
  for (size_t i = 0; i < n; i++)
    t[i] = (char)byte;
  return to;
}

int memcmp(const void *a, const void *b, size_t n) {
  const unsigned char *x = a, *y = b;
  for (size_t i = 0; i < n; i++)
    if (x[i] != y[i])
      return x[i] - y[i];
  return 0;
}

int strcmp(const char *a, const char *b) {
  while (*a && *a == *b)
    a++, b++;
  return (unsigned char)*a - (unsigned char)*b;
}

char *strcpy(char *to, const char *from) {
  size_t n = 0;
  while (from[n])
    n++;
  return memcpy(to, from, n + 1);
}

static long call(long number, long a, long b, long c) {
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
  return x0;
}

static void put(FILE *to, const char *text, size_t n) {
  call(64, *to, (long)text, (long)n);
}

static int print(FILE *to, const char *format, va_list args) {
  for (const char *p = format; *p; p++) {
    if (*p != '%') {
      put(to, p, 1);
    } else if (*++p == 's') {
      const char *text = va_arg(args, const char *);
      size_t n = 0;
      while (text[n])
        n++;
      put(to, text, n);
    } else if (*p == 'd') {
      int value = va_arg(args, int);
      char digits[12];
      int at = 12;
      unsigned left = value < 0 ? 0u - (unsigned)value : (unsigned)value;
      do
        digits[--at] = (char)('0' + left % 10);
      while (left /= 10);
      if (value < 0)
        digits[--at] = '-';
      put(to, digits + at, (size_t)(12 - at));
    } else {
      unsigned value = va_arg(args, unsigned);
      p += 2;
      put(to, &"0123456789abcdef"[value >> 4 & 15], 1);
      put(to, &"0123456789abcdef"[value & 15], 1);
    }
  }
  return 0;
}

int printf(const char *format, ...) {
  va_list args;
  va_start(args, format);
  print(stdout, format, args);
  va_end(args);
  return 0;
}

int fprintf(FILE *to, const char *format, ...) {
  va_list args;
  va_start(args, format);
  print(to, format, args);
  va_end(args);
  return 0;
}

int main(void);

void _start(void) {
  call(93, main(), 0, 0);
  __builtin_unreachable();
}
