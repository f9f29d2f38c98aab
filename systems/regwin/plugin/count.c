/* Counts executed instructions under QEMU: a plugin for TCG, of interface version 1 (QEMU 7 and 8) and 2 (QEMU 9 and later).
 *
 * Arguments: words=FILE, for each word of code from `base` on a little-endian number: see BIT_*;
 * base=ADDRESS; unit=BYTES, 4 if left out: a place for each so many
 * bytes of code, 1 where instructions are of several sizes; out=FILE; watches=N, 1 if left out: the file has so many tables, one after the
 * other, which differ in BIT_SUM, BIT_ENTRY and BIT_LEAVE, and the spans of each are counted by
 * themselves. With limit=N the machine ends after N instructions, or where a BIT_STOP is reached for
 * the Mth time (stops=M, 1 if left out), and it is
 * looked at where trap tables are; targets=FILE has a number for each word: how many words from
 * `base` the branch there leads to, or 0. Written at the end, one item a line, numbers in hexadecimal:
 *   count ADDRESS N              this word was executed N times
 *   table ADDRESS                a trap went to a table here
 *   limit N                      that many instructions were executed and it was not at its end
 *   load ADDRESS N               a BIT_LOAD instruction read from here N times
 *   span W COST0 COST1 S R N     N times, from a BIT_ENTRY of table W to the next or a BIT_LEAVE,
 *   its BIT_SUM instructions cost this
 *                                much and stored S and loaded R windows
 *
 * A block is cut after each instruction that may trap, so a counter a part is exact. QEMU's header
 * is not needed: what is used of it is declared here, and is the same in both versions. Counters
 * that QEMU adds to by itself are not: version 2 keeps them elsewhere.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
    BIT_JUMPS = 1 << 25, /* it may be left for another place than the next */
    BIT_HALTS = 1 << 26, /* executed a second time, it has ended the machine, which takes a while */
    SHIFT_COST0 = 8,
    SHIFT_COST1 = 16,
};

/* What is added up in a span. */
struct sum {
    uint32_t cost0, cost1, n_stores, n_loads;
};

/* A run of words: how often it was executed, and what that adds to a span of each table. */
struct part {
    uint64_t n;
    uint32_t first, n_words;
    /* Where it goes on unless it traps: the next word, or where the branch before its last word leads.
     * The number of that word; 0 if a register decides. */
    uint32_t next_word, target;
    int halts;
    struct part *next;
    struct sum sums[];
};

struct item {
    uint32_t key[4];
    uint64_t n;
};

#define ITEMS_MAX 4096

/* The spans of a table. */
struct watch {
    const uint32_t *words;
    struct sum sum;
    int in_span;
    struct item spans[ITEMS_MAX];
    unsigned n_spans;
};

static uint32_t *words, n_words; /* what any table says of each word */
static uint64_t base, unit = 4;
static const char *out_path;
static struct part **parts; /* by first word */
static struct watch *watches;
static unsigned n_watches = 1;
static int stopped;
static struct item loads[ITEMS_MAX];
static unsigned n_load_items;
static uint64_t limit, n_stops = 1, n_done; /* of a whole image, in instructions; 0: no limit */
static const struct part *before;
static uint32_t *targets; /* by word: the number of the word that a branch leads to, or 0 */
static uint64_t tables[16];
static unsigned n_tables;

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

static void end_span(struct watch *it)
{
    if (it->in_span)
        count(it->spans, &it->n_spans, (uint32_t[]){it->sum.cost0, it->sum.cost1, it->sum.n_stores, it->sum.n_loads});
    it->sum = (struct sum){0};
}

static void on_entry(unsigned cpu, void *at)
{
    (void)cpu;
    if (stopped)
        return;
    for (struct watch *it = watches; it < watches + n_watches; it++) {
        if (it->words[(uintptr_t)at] & BIT_ENTRY) {
            end_span(it);
            it->in_span = 1;
        }
    }
}

static void on_leave(unsigned cpu, void *at)
{
    (void)cpu;
    if (stopped)
        return;
    for (struct watch *it = watches; it < watches + n_watches; it++) {
        if (it->words[(uintptr_t)at] & BIT_LEAVE) {
            end_span(it);
            it->in_span = 0;
        }
    }
}

static void write_all(void);

/* What was executed before this part goes on elsewhere: it trapped, and a trap table is here. */
static void note_table(uint64_t address)
{
    for (unsigned i = 0; i < n_tables; i++)
        if (tables[i] == address)
            return;
    if (n_tables < sizeof tables / sizeof *tables)
        tables[n_tables++] = address;
}

static void on_image_part(const struct part *part)
{
    if (before && before->next_word && part->first != before->next_word && part->first != before->target && part->first % 4 == 0)
        note_table((base + unit * part->first) & ~0xfffull);
    int is_over = before && before->halts && part->first == before->first + before->n_words - 1;
    before = part;
    if (is_over || n_done >= limit) {
        write_all();
        _exit(0);
    }
    n_done += part->n_words;
}

static void on_part(unsigned cpu, void *data)
{
    struct part *part = data;
    (void)cpu;
    if (limit)
        on_image_part(part);
    part->n++;
    for (unsigned i = 0; i < n_watches; i++) {
        if (watches[i].in_span) {
            watches[i].sum.cost0 += part->sums[i].cost0;
            watches[i].sum.cost1 += part->sums[i].cost1;
            watches[i].sum.n_stores += part->sums[i].n_stores;
            watches[i].sum.n_loads += part->sums[i].n_loads;
        }
    }
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
    if (watches->in_span || stopped)
        return;
    for (uint32_t i = 0; i < n_words; i++)
        for (struct part *p = parts[i]; p; p = p->next)
            p->n = 0;
    for (unsigned i = 0; i < n_watches; i++)
        watches[i].n_spans = 0;
    n_load_items = 0;
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
            fprintf(out, "count %" PRIx64 " %" PRIx64 "\n", base + unit * i, counts[i]);
    for (unsigned i = 0; i < n_tables; i++)
        fprintf(out, "table %" PRIx64 "\n", tables[i]);
    if (limit && n_done >= limit)
        fprintf(out, "limit %" PRIx64 "\n", n_done);
    for (unsigned i = 0; i < n_load_items; i++)
        fprintf(out, "load %" PRIx32 " %" PRIx64 "\n", loads[i].key[0], loads[i].n);
    for (unsigned w = 0; w < n_watches; w++) {
        for (unsigned i = 0; i < watches[w].n_spans; i++) {
            const struct item *it = &watches[w].spans[i];
            fprintf(out, "span %x %" PRIx32 " %" PRIx32 " %" PRIx32 " %" PRIx32 " %" PRIx64 "\n", w, it->key[0], it->key[1], it->key[2],
                    it->key[3], it->n);
        }
    }
    fclose(out);
}

static void on_stop(unsigned cpu, void *data)
{
    (void)cpu, (void)data;
    if (stopped || --n_stops > 0)
        return;
    for (unsigned i = 0; i < n_watches; i++)
        end_span(&watches[i]);
    write_all();
    stopped = 1;
    if (limit)
        _exit(0);
}

static struct part *part(uint32_t first, uint32_t n)
{
    struct part **at = &parts[first];
    while (*at && (*at)->n_words != n)
        at = &(*at)->next;
    if (!*at) {
        *at = calloc(1, sizeof **at + n_watches * sizeof(struct sum));
        if (!*at)
            abort();
        (*at)->first = first;
        (*at)->n_words = n;
    }
    return *at;
}

/* Adds what a word costs to the sums of the tables that count it. */
static void add(struct sum *sums, uint64_t at)
{
    for (unsigned i = 0; i < n_watches; i++) {
        uint32_t word = watches[i].words[at];
        if (word & BIT_SUM) {
            sums[i].cost0 += word >> SHIFT_COST0 & 255;
            sums[i].cost1 += word >> SHIFT_COST1 & 255;
            sums[i].n_stores += !!(word & BIT_STORES);
            sums[i].n_loads += !!(word & BIT_LOADS);
        }
    }
}

static void on_block(plugin_id id, struct qemu_plugin_tb *tb)
{
    (void)id;
    size_t n = qemu_plugin_tb_n_insns(tb);
    for (size_t from = 0; from < n;) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, from);
        uint64_t first = (qemu_plugin_insn_vaddr(insn) - base) / unit;
        size_t to = from;
        while (to < n) {
            struct qemu_plugin_insn *it = qemu_plugin_tb_get_insn(tb, to);
            uint64_t at = (qemu_plugin_insn_vaddr(it) - base) / unit;
            uint32_t word = at < n_words ? words[at] : 0;
            /* A part is a run of words; entries begin one. */
            if (at != first + (to - from) || (to > from && word & (BIT_ENTRY | BIT_LEAVE | BIT_START | BIT_STOP)))
                break;
            to++;
            if (word & BIT_START)
                qemu_plugin_register_vcpu_insn_exec_cb(it, on_start, 0, NULL);
            if (word & BIT_ENTRY)
                qemu_plugin_register_vcpu_insn_exec_cb(it, on_entry, 0, (void *)(uintptr_t)at);
            if (word & BIT_LEAVE)
                qemu_plugin_register_vcpu_insn_exec_cb(it, on_leave, 0, (void *)(uintptr_t)at);
            if (word & BIT_STOP)
                qemu_plugin_register_vcpu_insn_exec_cb(it, on_stop, 0, NULL);
            if (word & BIT_LOAD)
                qemu_plugin_register_vcpu_mem_cb(it, on_load, 0, 3, NULL);
            if (word & BIT_TRAPS)
                break;
        }
        if (first < n_words) {
            struct part *it = part((uint32_t)first, (uint32_t)(to - from));
            memset(it->sums, 0, n_watches * sizeof *it->sums);
            uint64_t last = first + (to - from) - 1;
            it->halts = last < n_words && words[last] & BIT_HALTS;
            int is_known = last > 0 && last < n_words && !(words[last] & BIT_JUMPS);
            int is_slot = is_known && words[last - 1] & BIT_JUMPS;
            it->target = is_slot && targets ? targets[last - 1] : 0;
            it->next_word = is_known && (!is_slot || it->target) ? (uint32_t)last + 1 : 0;
            for (uint64_t at = first; at < first + (to - from) && at < n_words; at++)
                add(it->sums, at);
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

/* All numbers of a file. */
static uint32_t *read_numbers(FILE *in, size_t *n)
{
    uint32_t word, *all = NULL;
    size_t room = 0;
    for (*n = 0; fread(&word, sizeof word, 1, in) == 1; all[(*n)++] = word) {
        if (*n == room) {
            room = room ? 2 * room : 4096;
            all = realloc(all, room * sizeof *all);
            if (!all)
                abort();
        }
    }
    return all;
}

/* The tables of a file, and what any of them says of each word. */
static void read_words(FILE *in)
{
    size_t n;
    uint32_t *all = read_numbers(in, &n);
    n_words = (uint32_t)(n / n_watches);
    words = calloc(n_words, sizeof *words);
    watches = calloc(n_watches, sizeof *watches);
    parts = calloc(n_words, sizeof *parts);
    if (!words || !watches || !parts)
        abort();
    for (unsigned i = 0; i < n_watches; i++) {
        watches[i].words = all + (size_t)i * n_words;
        for (uint32_t at = 0; at < n_words; at++)
            words[at] |= watches[i].words[at];
    }
}

EXPORT int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv)
{
    const char *words_path = NULL, *targets_path = NULL;
    (void)info;
    for (int i = 0; i < argc; i++) {
        if (strncmp(argv[i], "words=", 6) == 0)
            words_path = argv[i] + 6;
        else if (strncmp(argv[i], "base=", 5) == 0)
            base = strtoull(argv[i] + 5, NULL, 0);
        else if (strncmp(argv[i], "unit=", 5) == 0)
            unit = strtoull(argv[i] + 5, NULL, 0);
        else if (strncmp(argv[i], "watches=", 8) == 0)
            n_watches = (unsigned)strtoul(argv[i] + 8, NULL, 0);
        else if (strncmp(argv[i], "targets=", 8) == 0)
            targets_path = argv[i] + 8;
        else if (strncmp(argv[i], "stops=", 6) == 0)
            n_stops = strtoull(argv[i] + 6, NULL, 0);
        else if (strncmp(argv[i], "limit=", 6) == 0)
            limit = strtoull(argv[i] + 6, NULL, 0);
        else if (strncmp(argv[i], "out=", 4) == 0)
            out_path = strdup(argv[i] + 4);
    }
    FILE *in = words_path ? fopen(words_path, "rb") : NULL;
    if (!in || !out_path || n_watches == 0 || unit == 0) {
        fprintf(stderr, "count: words= and out= are needed, and watches= of 1 or more\n");
        return 1;
    }
    read_words(in);
    fclose(in);
    FILE *branches = targets_path ? fopen(targets_path, "rb") : NULL;
    size_t n_targets = 0;
    if (branches) {
        targets = read_numbers(branches, &n_targets);
        fclose(branches);
    }
    if (targets_path && n_targets < n_words) {
        fprintf(stderr, "count: %s does not have a number for each word\n", targets_path);
        return 1;
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_block);
    qemu_plugin_register_atexit_cb(id, on_exit_, NULL);
    return 0;
}
