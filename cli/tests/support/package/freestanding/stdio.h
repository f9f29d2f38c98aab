/* What anywhere.c uses of it, for a processor without a C library. */
typedef const int FILE;
extern FILE *const stdout, *const stderr;

/* Understands %d, %s and %02x. */
int printf(const char *format, ...);
int fprintf(FILE *to, const char *format, ...);
