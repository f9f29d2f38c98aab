/* The position in a file, which newlib counts in a long and picolibc in 64 bits. There are no files. */
long _lseek(int file, long offset, int from) __attribute__((weak));
long _lseek(int file, long offset, int from)
{
    (void)file;
    (void)offset;
    (void)from;
    return -1;
}

long long lseek(int file, long long offset, int from) __attribute__((weak));
long long lseek(int file, long long offset, int from)
{
    (void)file;
    (void)offset;
    (void)from;
    return -1;
}
