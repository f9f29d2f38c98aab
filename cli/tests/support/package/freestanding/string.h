/* What the code of packages uses of it, for a processor without a C library. */
#include <stddef.h>

void *memcpy(void *to, const void *from, size_t n);
void *memmove(void *to, const void *from, size_t n);
void *memset(void *to, int byte, size_t n);
int memcmp(const void *a, const void *b, size_t n);
char *strcpy(char *to, const char *from);
int strcmp(const char *a, const char *b);
