/* T1: takes LaTeX commands, formulas and comments out; one word a line is left. */
#include "spell.h"

/* What a scan knows: the character it looks at. */
struct scan {
    int c;
    unsigned n;
    char word[WORD_MAX];
};

static __attribute__((noinline)) int next(struct scan *s)
{
    s->c = stream_get(&streams[S1]);
    return s->c;
}

static inline int is_letter(int c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static void comment(struct scan *s)
{
    while (s->c >= 0 && s->c != '\n')
        next(s);
}

static void formula(struct scan *s)
{
    do
        next(s);
    while (s->c >= 0 && s->c != '$');
    next(s);
}

/* An argument in braces, with those inside it. */
static void argument(struct scan *s)
{
    next(s);
    while (s->c >= 0 && s->c != '}') {
        if (s->c == '{')
            argument(s);
        else
            next(s);
    }
    next(s);
}

static void optional(struct scan *s)
{
    while (s->c >= 0 && s->c != ']')
        next(s);
    next(s);
}

static int equal(const char *a, const char *b, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (a[i] != b[i])
            return 0;
    return b[n] == 0;
}

/* Commands whose argument is a name, not text. */
static const char *const names[] = {"begin", "end", "label", "ref", "cite", "usepackage", "documentclass", "texttt", "include"};

static void letters(struct scan *s)
{
    s->n = 0;
    while (is_letter(s->c)) {
        if (s->n < WORD_MAX)
            s->word[s->n++] = (char)s->c;
        next(s);
    }
}

static void command(struct scan *s)
{
    next(s);
    if (!is_letter(s->c)) {
        next(s);
        return;
    }
    letters(s);
    if (s->c == '[')
        optional(s);
    if (s->c != '{')
        return;
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        if (equal(s->word, names[i], s->n)) {
            argument(s);
            return;
        }
    }
}

static void word(struct scan *s)
{
    letters(s);
    if (s->n > 1)
        word_write(&streams[S2], s->word, s->n, 0);
}

/* One step: a comment, a formula, a command, a word, or a character that is none of them. */
static __attribute__((noinline)) void step(struct scan *s)
{
    switch (s->c) {
    case '%':
        comment(s);
        break;
    case '$':
        formula(s);
        break;
    case '\\':
        command(s);
        break;
    default:
        if (is_letter(s->c))
            word(s);
        else
            next(s);
    }
}

void delatex(void *unused)
{
    struct scan s;
    (void)unused;
    next(&s);
    while (s.c >= 0)
        step(&s);
    stream_close(&streams[S2]);
}
