/* Counts executed instructions under QEMU: a plugin for TCG, of interface version 1 (QEMU 7 and 8) and 2 (QEMU 9 and later).
 *
 * Arguments: words=FILE, for each word of code from `base` on a little-endian number: see BIT_*;
 * base=ADDRESS; out=FILE. Written at the end, one item a line, numbers in hexadecimal:
 *   count ADDRESS N              this word was executed N times
 *   load ADDRESS N               a BIT_LOAD instruction read from here N times
 *   span COST0 COST1 S R N       N times, from a BIT_ENTRY to the next or a BIT_LEAVE, BIT_SUM instructions cost this much
 *                                and stored S and loaded R windows
 *
 * A block is cut behind each instruction that may trap, so a counter a part is exact. QEMU's header
 * is not needed: what is used of it is declared here, and is the same in both versions. Counters that QEMU adds to by itself are
 * not: version 2 keeps them elsewhere.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

typedef uint64_t plugin_id;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
EXPORT int qemu_plugin_version = 1;
/* Since version 2. */
void *qemu_plugin_scoreboard_new(size_t) __attribute__((weak));
void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id, void (*)(plugin_id, struct qemu_plugin_tb *));
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *, void (*)(unsigned, void *), int flags, void *);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *, void (*)(unsigned, uint32_t, uint64_t, void *), int flags, int rw, void *);
void qemu_plugin_register_atexit_cb(plugin_id, void (*)(plugin_id, void *), void *);

enum {
    BIT_TRAPS = 1 << 0, /* may trap */
    BIT_SUM = 1 << 1,   /* its cost is added to the span */
    BIT_ENTRY = 1 << 2, /* a span begins */
    BIT_LOAD = 1 << 3,  /* its address is counted */
    BIT_STORES = 1 << 4, /* the first store of a window */
    BIT_LOADS = 1 << 5, /* the first load of a window */
    BIT_START = 1 << 6, /* all counts begin */
    BIT_STOP = 1 << 7,  /* all counts end */
    BIT_LEAVE = 1 << 24, /* a span ends */
    SHIFT_COST0 = 8,
    SHIFT_COST1 = 16,
};

/* A run of words: how often it was executed, and what that adds to a span. */
struct part {
    uint64_t n;
    uint32_t first, n_words;
    uint32_t cost0, cost1, n_stores, n_loads;
    struct part *next;
};

struct item {
    uint32_t key[4];
    uint64_t n;
};

#define ITEMS_MAX 4096

static uint32_t *words, n_words;
static uint64_t base;
static const char *out_path;
static struct part **parts; /* by first word */
static uint64_t cost0, cost1, n_stores, n_loads;
static int in_span, stopped;
static struct item spans[ITEMS_MAX], loads[ITEMS_MAX];
static unsigned n_spans, n_load_items;

static void count(struct item *items, unsigned *n_items, const uint32_t key[4])
{
    for (unsigned i = 0; i < *n_items; i++) {
        if (memcmp(items[i].key, key, sizeof items[i].key) == 0) {
            items[i].n++;
            return;
        }
    }
    if (*n_items == ITEMS_MAX) {
        fprintf(stderr, "count: more than %d different items\n", ITEMS_MAX);
        exit(1);
    }
    memcpy(items[*n_items].key, key, sizeof items->key);
    items[(*n_items)++].n = 1;
}

static void end_span(void)
{
    if (in_span)
        count(spans, &n_spans, (uint32_t[]){(uint32_t)cost0, (uint32_t)cost1, (uint32_t)n_stores, (uint32_t)n_loads});
    cost0 = cost1 = n_stores = n_loads = 0;
}

static void on_entry(unsigned cpu, void *data)
{
    (void)cpu, (void)data;
    if (stopped)
        return;
    end_span();
    in_span = 1;
}

static void on_leave(unsigned cpu, void *data)
{
    (void)cpu, (void)data;
    if (stopped)
        return;
    end_span();
    in_span = 0;
}

static void on_part(unsigned cpu, void *data)
{
    struct part *part = data;
    (void)cpu;
    part->n++;
    cost0 += part->cost0;
    cost1 += part->cost1;
    n_stores += part->n_stores;
    n_loads += part->n_loads;
}

static void on_load(unsigned cpu, uint32_t info, uint64_t address, void *data)
{
    (void)cpu, (void)info, (void)data;
    if (!stopped)
        count(loads, &n_load_items, (uint32_t[]){(uint32_t)address, 0, 0, 0});
}

static void on_start(unsigned cpu, void *data)
{
    (void)cpu, (void)data;
    if (in_span || stopped)
        return;
    for (uint32_t i = 0; i < n_words; i++)
        for (struct part *p = parts[i]; p; p = p->next)
            p->n = 0;
    n_spans = n_load_items = 0;
}

static void write_all(void)
{
    FILE *out = fopen(out_path, "w");
    uint64_t *counts = calloc(n_words, sizeof *counts);
    if (!out || !counts) {
        perror(out_path);
        exit(1);
    }
    for (uint32_t i = 0; i < n_words; i++)
        for (struct part *p = parts[i]; p; p = p->next)
            for (uint32_t k = 0; k < p->n_words; k++)
                counts[p->first + k] += p->n;
    for (uint32_t i = 0; i < n_words; i++)
        if (counts[i])
            fprintf(out, "count %" PRIx64 " %" PRIx64 "\n", base + 4 * i, counts[i]);
    for (unsigned i = 0; i < n_load_items; i++)
        fprintf(out, "load %" PRIx32 " %" PRIx64 "\n", loads[i].key[0], loads[i].n);
    for (unsigned i = 0; i < n_spans; i++) {
        const uint32_t *key = spans[i].key;
        fprintf(out, "span %" PRIx32 " %" PRIx32 " %" PRIx32 " %" PRIx32 " %" PRIx64 "\n", key[0], key[1], key[2], key[3], spans[i].n);
    }
    fclose(out);
}

static void on_stop(unsigned cpu, void *data)
{
    (void)cpu, (void)data;
    if (stopped)
        return;
    end_span();
    write_all();
    stopped = 1;
}

static struct part *part(uint32_t first, uint32_t n)
{
    struct part **at = &parts[first];
    while (*at && (*at)->n_words != n)
        at = &(*at)->next;
    if (!*at) {
        *at = calloc(1, sizeof **at);
        if (!*at)
            abort();
        (*at)->first = first;
        (*at)->n_words = n;
    }
    return *at;
}

static void on_block(plugin_id id, struct qemu_plugin_tb *tb)
{
    (void)id;
    size_t n = qemu_plugin_tb_n_insns(tb);
    for (size_t from = 0; from < n;) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, from);
        uint64_t first = (qemu_plugin_insn_vaddr(insn) - base) / 4;
        uint32_t sum0 = 0, sum1 = 0, stores = 0, fills = 0;
        size_t to = from;
        while (to < n) {
            struct qemu_plugin_insn *it = qemu_plugin_tb_get_insn(tb, to);
            uint64_t at = (qemu_plugin_insn_vaddr(it) - base) / 4;
            uint32_t word = at < n_words ? words[at] : 0;
            /* A part is a run of words; entries begin one. */
            if (at != first + (to - from) || (to > from && word & (BIT_ENTRY | BIT_LEAVE | BIT_START | BIT_STOP)))
                break;
            to++;
            if (word & BIT_SUM) {
                sum0 += word >> SHIFT_COST0 & 255;
                sum1 += word >> SHIFT_COST1 & 255;
                stores += !!(word & BIT_STORES);
                fills += !!(word & BIT_LOADS);
            }
            if (word & BIT_START)
                qemu_plugin_register_vcpu_insn_exec_cb(it, on_start, 0, NULL);
            if (word & BIT_ENTRY)
                qemu_plugin_register_vcpu_insn_exec_cb(it, on_entry, 0, NULL);
            if (word & BIT_LEAVE)
                qemu_plugin_register_vcpu_insn_exec_cb(it, on_leave, 0, NULL);
            if (word & BIT_STOP)
                qemu_plugin_register_vcpu_insn_exec_cb(it, on_stop, 0, NULL);
            if (word & BIT_LOAD)
                qemu_plugin_register_vcpu_mem_cb(it, on_load, 0, 3, NULL);
            if (word & BIT_TRAPS)
                break;
        }
        if (first < n_words) {
            struct part *it = part((uint32_t)first, (uint32_t)(to - from));
            it->cost0 = sum0;
            it->cost1 = sum1;
            it->n_stores = stores;
            it->n_loads = fills;
            qemu_plugin_register_vcpu_insn_exec_cb(insn, on_part, 0, it);
        }
        from = to;
    }
}

static void on_exit_(plugin_id id, void *data)
{
    (void)id, (void)data;
    if (!stopped)
        write_all();
}

/* Runs before QEMU reads the version, which must be one that it has. */
__attribute__((constructor)) static void choose_version(void)
{
    if (qemu_plugin_scoreboard_new)
        qemu_plugin_version = 2;
}

EXPORT int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv)
{
    const char *words_path = NULL;
    (void)info;
    for (int i = 0; i < argc; i++) {
        if (strncmp(argv[i], "words=", 6) == 0)
            words_path = argv[i] + 6;
        else if (strncmp(argv[i], "base=", 5) == 0)
            base = strtoull(argv[i] + 5, NULL, 0);
        else if (strncmp(argv[i], "out=", 4) == 0)
            out_path = strdup(argv[i] + 4);
    }
    FILE *in = words_path ? fopen(words_path, "rb") : NULL;
    if (!in || !out_path) {
        fprintf(stderr, "count: words= and out= are needed\n");
        return 1;
    }
    uint32_t word;
    size_t room = 0;
    while (fread(&word, sizeof word, 1, in) == 1) {
        if (n_words == room) {
            room = room ? 2 * room : 4096;
            words = realloc(words, room * sizeof *words);
            if (!words)
                abort();
        }
        words[n_words++] = word;
    }
    fclose(in);
    parts = calloc(n_words, sizeof *parts);
    if (!parts)
        abort();
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_block);
    qemu_plugin_register_atexit_cb(id, on_exit_, NULL);
    return 0;
}
