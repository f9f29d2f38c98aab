/* What the drivers of modes over ciphers share: MODE is the prefix in C, HEADER its header, and
   cases have strings in hex. */
#include HEADER
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOINED_(a, b) a##b
#define JOINED(a, b) JOINED_(a, b)
#define CALL(name) JOINED(MODE, name)

enum { MOST = 1 << 16 };

static inline void expect(int is_right, const char *what)
{
    if (!is_right) {
        printf("%s\n", what);
        exit(1);
    }
}

static inline size_t bytes(const char *text, uint8_t *out)
{
    size_t n = 0;
    unsigned byte;
    for (; text[0] != '-' && text[0] && text[1]; text += 2, n++) {
        expect(n < MOST && sscanf(text, "%2x", &byte) == 1, "not hex");
        out[n] = (uint8_t)byte;
    }
    return n;
}

static inline void show(const uint8_t *data, size_t n)
{
    for (size_t i = 0; i < n; i++)
        printf("%02x", data[i]);
}

/* The next case: its verb, and strings with their lengths; NULL at the end. */
static inline const char *next_case(int n_strings, uint8_t (*given)[MOST], size_t *n)
{
    static char line[12 * MOST];
    if (!fgets(line, sizeof line, stdin))
        return NULL;
    const char *verb = strtok(line, " \n");
    for (int i = 0; i < n_strings; i++)
        n[i] = bytes(strtok(NULL, " \n"), given[i]);
    return verb;
}
