/* What compilers call for copies of records, by name. */
typedef unsigned long size;

void *memcpy(void *to, const void *from, size n);
void *memmove(void *to, const void *from, size n);
void *memset(void *to, int byte, size n);
int memcmp(const void *a, const void *b, size n);

void *memcpy(void *to, const void *from, size n)
{
    unsigned char *t = to;
    const unsigned char *f = from;
    while (n--)
        *t++ = *f++;
    return to;
}

void *memmove(void *to, const void *from, size n)
{
    unsigned char *t = to;
    const unsigned char *f = from;
    if (t <= f)
        return memcpy(to, from, n);
    while (n--)
        t[n] = f[n];
    return to;
}

void *memset(void *to, int byte, size n)
{
    unsigned char *t = to;
    while (n--)
        *t++ = (unsigned char)byte;
    return to;
}

int memcmp(const void *a, const void *b, size n)
{
    const unsigned char *x = a, *y = b;
    for (; n; n--, x++, y++)
        if (*x != *y)
            return *x < *y ? -1 : 1;
    return 0;
}
