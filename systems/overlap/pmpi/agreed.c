/* Large collectives of a process start alike, wherever they stand: in the program, in its
 * libraries, by any name, from C and from Fortran. Each becomes its nonblocking form and a wait if
 * it is large by a rule whose every term MPI makes equal on all ranks of a matched call: the kind,
 * the processes of the communicator, the bytes of the type signature. So ranks that come to one
 * collective by different ways start it the same way, and a call that the plugin has widened, which
 * asks the same rule, meets its like.
 *
 * A rank that has this not, or has it with other numbers, would not answer. So each rank puts what
 * it has into the key space of the launcher before MPI_Init, whose exchange carries it to all, and
 * reads that of all ranks behind it. Unless all are equal, everything stays blocking;
 * MEANWHILE_OVERLAP_VERBOSE=1 says why.
 *
 * Linked into a program, never into a shared library: the program's names come before those of all
 * its libraries. They are weak, since the program or a tool in it may have some of its own. The
 * Fortran binding of Open MPI calls the names with P, that of MPICH those without; both are here.
 * MIN_BYTES is a number where the user has set one for all kinds. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* As the plugin numbers them, see handles.h. */
#include "handles.h"

#define SHARED __attribute__((weak))

/* From how many bytes of a rank's buffer on each kind starts nonblocking. */
#ifdef MIN_BYTES
#define LEAST(KIND, ompi, mpich) [AGREED_##KIND] = (MIN_BYTES),
#elif defined OPEN_MPI
#define LEAST(KIND, ompi, mpich) [AGREED_##KIND] = (ompi),
#else
#define LEAST(KIND, ompi, mpich) [AGREED_##KIND] = (mpich),
#endif
static const int64_t least_bytes[AGREED_KINDS] = {AGREED_LEAST(LEAST)};

/* What a rank puts: a version of the rule, its numbers, the library. */
enum { VALUE_MAX = 512 };
static char value[VALUE_MAX];

/* Set once, in MPI_Init, and the same on all ranks. */
static int is_agreed;
/* Kept on a communicator that was asked about before: whether all of it are processes of this
 * world. */
static int inside = MPI_KEYVAL_INVALID;
static MPI_Group world = MPI_GROUP_NULL;
static char within, foreign;

/* ---- The key space of a launcher ---- */

/* A service of a launcher: `put` comes before MPI_Init, `get` behind it, `end` last. Both write
 * nothing on failure. */
struct service {
    int (*put)(const char *text);
    int (*get)(int rank, char *text);
    void (*end)(void);
};

#define KEY "meanwhile.overlap"

/* PMIx, of the library that Open MPI has loaded or will load. The layouts are those of its standard
 * from version 2 on. */
struct pmix_proc {
    char nspace[256];
    uint32_t rank;
};
struct pmix_value {
    uint16_t type;
    union {
        uint8_t flag;
        char *string;
        char room[56];
    } data;
};
struct pmix_info {
    char key[512];
    uint32_t flags;
    struct pmix_value value;
};
enum { PMIX_TYPE_BOOL = 1, PMIX_TYPE_STRING = 3, PMIX_TO_ALL = 3 };

static void *pmix;
static struct pmix_proc pmix_me;

static int pmix_put(const char *text)
{
    /* Without a launcher there is none, and some versions do not survive being asked. */
    if (!getenv("PMIX_NAMESPACE") || !(pmix = dlopen("libpmix.so.2", RTLD_LAZY)))
        return 0;
    int (*init)(struct pmix_proc *, struct pmix_info *, size_t) = dlsym(pmix, "PMIx_Init");
    int (*put)(uint8_t, const char *, struct pmix_value *) = dlsym(pmix, "PMIx_Put");
    int (*commit)(void) = dlsym(pmix, "PMIx_Commit");
    if (!init || !put || !commit || init(&pmix_me, NULL, 0) != 0) {
        pmix = NULL;
        return 0;
    }
    struct pmix_value mine = {.type = PMIX_TYPE_STRING, .data.string = (char *)text};
    return put(PMIX_TO_ALL, KEY, &mine) == 0 && commit() == 0;
}

static int pmix_get(int rank, char *text)
{
    int (*get)(const struct pmix_proc *, const char *, const struct pmix_info *, size_t,
        struct pmix_value **) = dlsym(pmix, "PMIx_Get");
    struct pmix_proc other = pmix_me;
    other.rank = (uint32_t)rank;
    /* What is not there now will not come: it is not waited for. */
    struct pmix_info at_once = {
        .key = "pmix.immediate", .value = {.type = PMIX_TYPE_BOOL, .data.flag = 1}};
    struct pmix_value *found = NULL;
    if (!get || get(&other, KEY, &at_once, 1, &found) != 0 || !found)
        return 0;
    int is_text = found->type == PMIX_TYPE_STRING && found->data.string;
    if (is_text) {
        snprintf(text, VALUE_MAX, "%s", found->data.string);
        free(found->data.string);
    }
    free(found);
    return is_text;
}

/* As often as it was begun: MPI's own use of it goes on. */
static void pmix_end(void)
{
    int (*finalize)(const struct pmix_info *, size_t) = pmix ? dlsym(pmix, "PMIx_Finalize") : NULL;
    if (finalize)
        finalize(NULL, 0);
}

#ifndef OPEN_MPI
/* PMI of Hydra: lines on a socket, a question and an answer. MPICH keeps its own functions for it
 * hidden, and is silent there before and behind MPI_Init. */
static int pmi = -1;
static char pmi_space[VALUE_MAX];

static int pmi_ask(const char *question, char *answer)
{
    size_t length = strlen(question), n = 0;
    if (send(pmi, question, length, MSG_NOSIGNAL) != (ssize_t)length)
        return 0;
    while (n + 1 < 4 * VALUE_MAX && read(pmi, &answer[n], 1) == 1 && answer[n] != '\n')
        n++;
    int is_whole = answer[n] == '\n';
    answer[n] = 0;
    return is_whole;
}

/* The word behind `name` in an answer. */
static int pmi_word(const char *answer, const char *name, char *word)
{
    const char *at = strstr(answer, name);
    return at && sscanf(at + strlen(name), "%511s", word) == 1;
}

static int pmi_put(const char *text)
{
    const char *socket = getenv("PMI_FD"), *rank = getenv("PMI_RANK");
    char question[4 * VALUE_MAX], answer[4 * VALUE_MAX] = "", code[VALUE_MAX];
    /* Others speak otherwise on a socket of this name. */
    if (!socket || !rank || !getenv("HYDI_CONTROL_FD"))
        return 0;
    pmi = atoi(socket);
    if (!pmi_ask("cmd=init pmi_version=1 pmi_subversion=1\n", answer) ||
        !pmi_word(answer, "rc=", code) || strcmp(code, "0") != 0 ||
        !pmi_ask("cmd=get_my_kvsname\n", answer) || !pmi_word(answer, "kvsname=", pmi_space))
        return 0;
    snprintf(question, sizeof question, "cmd=put kvsname=%s key=" KEY ".%s value=%s\n", pmi_space,
        rank, text);
    return pmi_ask(question, answer) && pmi_word(answer, "rc=", code) && strcmp(code, "0") == 0;
}

static int pmi_get(int rank, char *text)
{
    char question[4 * VALUE_MAX], answer[4 * VALUE_MAX] = "", code[VALUE_MAX];
    snprintf(question, sizeof question, "cmd=get kvsname=%s key=" KEY ".%d\n", pmi_space, rank);
    return pmi_ask(question, answer) && pmi_word(answer, "rc=", code) && strcmp(code, "0") == 0 &&
           pmi_word(answer, "value=", text);
}

static void pmi_end(void)
{
}
#endif

static const struct service services[] = {
#ifndef OPEN_MPI
    {pmi_put, pmi_get, pmi_end},
#endif
    {pmix_put, pmix_get, pmix_end},
};
static const struct service *service;

/* ---- The agreement ---- */

static const char *why_not;
/* The first rank that is the reason, and the first that is ours and says so. */
static int of_rank = -1, voice;

static void *next_of(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

static const void *object_of(const void *address)
{
    Dl_info in;
    return address && dladdr(address, &in) ? in.dli_fbase : NULL;
}

/* The first name that is not ours alone: the program's own function, or a tool's, may do anything
 * in its place. Our tracing library may stand in front. */
static const char *not_ours(void);

#ifdef OPEN_MPI
static int takes_gpu_buffers(void)
{
    static const char *const names[] = {"MPIX_Query_cuda_support", "MPIX_Query_rocm_support"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        int (*query)(void) = dlsym(RTLD_DEFAULT, names[i]);
        if (query && query())
            return 1;
    }
    return 0;
}
#else
/* MPICH cannot be asked before MPI_Init, but one that takes such buffers is linked with what makes
 * them. */
static int is_gpu_library(struct dl_phdr_info *object, size_t size, void *unused)
{
    static const char *const names[] = {
        "libcudart.so", "libcuda.so", "libamdhip64.so", "libze_loader.so"};
    (void)size, (void)unused;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (object->dlpi_name && strstr(object->dlpi_name, names[i]))
            return 1;
    return 0;
}

static int takes_gpu_buffers(void)
{
    return dl_iterate_phdr(is_gpu_library, NULL);
}
#endif

/* A version of the rule, its numbers, and which library: another one may have other forms. */
static void describe(void)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    PMPI_Get_library_version(library, &length);
    for (int i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)library[i]) * UINT64_C(0x100000001b3);
    int n = snprintf(value, sizeof value, "1-%016llx", (unsigned long long)hash);
    for (int kind = 0; kind < AGREED_KINDS; kind++)
        n += snprintf(value + n, sizeof value - (size_t)n, "-%lld", (long long)least_bytes[kind]);
}

static void put_mine(void)
{
    describe();
    if ((why_not = not_ours()))
        return;
    if (takes_gpu_buffers()) {
        why_not = "the library takes buffers of a GPU, which its nonblocking forms may not";
        return;
    }
    for (size_t i = 0; !service && i < sizeof services / sizeof *services; i++)
        if (services[i].put(value))
            service = &services[i];
        else
            services[i].end();
}

/* Reads what all ranks have. */
static void compare(int ranks)
{
    char other[VALUE_MAX];
    voice = -1;
    for (int rank = 0; rank < ranks && (!why_not || voice < 0); rank++) {
        int is_ours = service->get(rank, other);
        if (is_ours && voice < 0)
            voice = rank;
        if (why_not || (is_ours && strcmp(other, value) == 0))
            continue;
        why_not = is_ours ? "has another version of overlap, other settings or another MPI library"
                          : "was linked without overlap, or stays blocking itself";
        of_rank = rank;
    }
}

/* At MPI_Finalize, by way of MPI_COMM_SELF. */
static int forget(MPI_Comm comm, int key, void *kept, void *extra)
{
    (void)comm, (void)kept, (void)extra;
    is_agreed = 0;
    PMPI_Group_free(&world);
    PMPI_Comm_free_keyval(&inside);
    return PMPI_Comm_free_keyval(&key);
}

/* Our tracing library, if it is preloaded: event 4 is what came of the agreement, 5 that the call
 * that it sees starts nonblocking. */
static void (*trace)(int event, const char *text, int64_t is_agreed);

static void say(int rank)
{
    const char *wanted = getenv("MEANWHILE_OVERLAP_VERBOSE");
    char text[2 * VALUE_MAX];
    if (is_agreed)
        snprintf(text, sizeof text, "large collectives start nonblocking on all ranks");
    else if (of_rank >= 0)
        snprintf(text, sizeof text, "all collectives stay blocking: rank %d %s", of_rank, why_not);
    else
        snprintf(text, sizeof text, "all collectives stay blocking: %s", why_not);
    if ((trace = (void (*)(int, const char *, int64_t))dlsym(RTLD_DEFAULT, "__overlap_trace")))
        trace(4, text, is_agreed);
    if (wanted && *wanted && strcmp(wanted, "0") != 0 && rank == voice)
        fprintf(stderr, "meanwhile: %s\n", text);
}

static void agree(void)
{
    int ranks = 0, rank = 0, key = MPI_KEYVAL_INVALID;
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!why_not && service)
        compare(ranks);
    else if (!why_not && ranks > 1)
        why_not = "the launcher offers no key space that is known, PMIx or PMI of Hydra";
    if (service)
        service->end();
    if (!why_not && PMPI_Comm_group(MPI_COMM_WORLD, &world) == MPI_SUCCESS &&
        PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &inside, NULL) ==
            MPI_SUCCESS &&
        PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &key, NULL) == MPI_SUCCESS)
        is_agreed = PMPI_Comm_set_attr(MPI_COMM_SELF, key, NULL) == MPI_SUCCESS;
    say(rank);
}

/* The names of MPI_Init may call each other. */
static int depth;

static void before_init(void)
{
    if (depth++ == 0)
        put_mine();
}

static int behind_init(int code)
{
    if (--depth == 0 && code == MPI_SUCCESS)
        agree();
    return code;
}

#define INIT(P)                                                                    \
    SHARED int P##MPI_Init(int *argc, char ***argv)                                \
    {                                                                              \
        int (*next)(int *, char ***) = next_of(#P "MPI_Init");                     \
        before_init();                                                             \
        return behind_init(next(argc, argv));                                      \
    }                                                                              \
    SHARED int P##MPI_Init_thread(int *argc, char ***argv, int wanted, int *given) \
    {                                                                              \
        int (*next)(int *, char ***, int, int *) = next_of(#P "MPI_Init_thread");  \
        before_init();                                                             \
        return behind_init(next(argc, argv, wanted, given));                       \
    }
INIT()
INIT(P)

/* ---- The rule ---- */

/* True if all processes of `comm` are of this world, whose ranks agree. */
static int is_of_world(MPI_Comm comm)
{
    void *known = NULL;
    int is_known = 0, is_inter = 1, ranks = 0, all = 1;
    MPI_Group group;
    if (comm == MPI_COMM_WORLD)
        return 1;
    if (PMPI_Comm_get_attr(comm, inside, &known, &is_known) == MPI_SUCCESS && is_known)
        return known == &within;
    PMPI_Comm_test_inter(comm, &is_inter);
    if (!is_inter) {
        PMPI_Comm_group(comm, &group);
        PMPI_Group_size(group, &ranks);
        int *here = malloc(2 * sizeof *here * (size_t)ranks), *there = here + ranks;
        if (!here)
            abort();
        for (int i = 0; i < ranks; i++)
            here[i] = i;
        PMPI_Group_translate_ranks(group, ranks, here, world, there);
        for (int i = 0; i < ranks; i++)
            all &= there[i] != MPI_UNDEFINED;
        free(here);
        PMPI_Group_free(&group);
    }
    known = !is_inter && all ? &within : &foreign;
    PMPI_Comm_set_attr(comm, inside, known);
    return known == &within;
}

/* True if a collective of this kind is started nonblocking, here and on all ranks that take part.
 */
SHARED int32_t __overlap_agreed(int32_t kind, int64_t count, MPI_Datatype type, MPI_Comm comm)
{
    MPI_Count size = 0;
    int ranks = 1;
    if (!is_agreed || count < 0 || type == MPI_DATATYPE_NULL || comm == MPI_COMM_NULL ||
        PMPI_Type_size_x(type, &size) != MPI_SUCCESS || !is_of_world(comm))
        return 0;
    if (kind == AGREED_ALLGATHER || kind == AGREED_ALLTOALL || kind == AGREED_REDUCE_SCATTER_BLOCK)
        PMPI_Comm_size(comm, &ranks);
    return (__int128)count * size * ranks >= least_bytes[kind];
}

SHARED int32_t __overlap_agreed_fortran(
    int32_t kind, int64_t count, const MPI_Fint *type, const MPI_Fint *comm)
{
    return __overlap_agreed(kind, count, PMPI_Type_f2c(*type), PMPI_Comm_f2c(*comm));
}

/* ---- The collectives ---- */

#define OPEN(...) __VA_ARGS__

/* One by its name with P, which does it, and by that without: the next of that name, if a tool has
 * it, else the other. `starts` says whether it is large. */
#define ONE(Name, Twin, starts, parameters, arguments)                              \
    SHARED int PMPI_##Name(OPEN parameters)                                         \
    {                                                                               \
        static int(*next) parameters;                                               \
        MPI_Request request;                                                        \
        if (!(starts)) {                                                            \
            next = next ? next : (int(*) parameters)next_of("PMPI_" #Name);         \
            __attribute__((musttail)) return next arguments;                        \
        }                                                                           \
        if (trace)                                                                  \
            trace(5, NULL, 0);                                                      \
        int code = PMPI_##Twin(OPEN arguments, &request);                           \
        return code == MPI_SUCCESS ? PMPI_Wait(&request, MPI_STATUS_IGNORE) : code; \
    }                                                                               \
    static int plain_##Name(OPEN parameters)                                        \
    {                                                                               \
        static int(*next) parameters;                                               \
        if (!next) {                                                                \
            next = (int(*) parameters)next_of("MPI_" #Name);                        \
            if (object_of((void *)next) == object_of(next_of("PMPI_" #Name)))       \
                next = PMPI_##Name;                                                 \
        }                                                                           \
        __attribute__((musttail)) return next arguments;                            \
    }                                                                               \
    int MPI_##Name(OPEN parameters) __attribute__((weak, alias("plain_" #Name)));

#define ASK(KIND, type) __overlap_agreed(AGREED_##KIND, n, type, c)
#define IN const void *
#define D MPI_Datatype
#define C MPI_Comm

/* All of them, for counts of type N and with `_c` behind the names where there are names for large
 * counts. */
#define ALL(EACH, N, c_)                                                                          \
    EACH(Bcast##c_, Ibcast##c_, ASK(BCAST, d), (void *b, N n, D d, int root, C c),                \
        (b, n, d, root, c))                                                                       \
    EACH(Reduce##c_, Ireduce##c_, ASK(REDUCE, d),                                                 \
        (IN b, void *o, N n, D d, MPI_Op op, int root, C c), (b, o, n, d, op, root, c))           \
    EACH(Allreduce##c_, Iallreduce##c_, ASK(ALLREDUCE, d),                                        \
        (IN b, void *o, N n, D d, MPI_Op op, C c), (b, o, n, d, op, c))                           \
    EACH(Allgather##c_, Iallgather##c_, ASK(ALLGATHER, e),                                        \
        (IN b, N m, D d, void *o, N n, D e, C c), (b, m, d, o, n, e, c))                          \
    EACH(Alltoall##c_, Ialltoall##c_, ASK(ALLTOALL, e), (IN b, N m, D d, void *o, N n, D e, C c), \
        (b, m, d, o, n, e, c))                                                                    \
    EACH(Reduce_scatter_block##c_, Ireduce_scatter_block##c_, ASK(REDUCE_SCATTER_BLOCK, d),       \
        (IN b, void *o, N n, D d, MPI_Op op, C c), (b, o, n, d, op, c))                           \
    EACH(Scan##c_, Iscan##c_, ASK(SCAN, d), (IN b, void *o, N n, D d, MPI_Op op, C c),            \
        (b, o, n, d, op, c))                                                                      \
    EACH(Exscan##c_, Iexscan##c_, ASK(EXSCAN, d), (IN b, void *o, N n, D d, MPI_Op op, C c),      \
        (b, o, n, d, op, c))

ALL(ONE, int, )
#if MPI_VERSION >= 4
ALL(ONE, MPI_Count, _c)
#endif

static const char *not_ours(void)
{
#define CHECK(Name, Twin, starts, parameters, arguments)                               \
    {                                                                                  \
        const void *next = next_of("MPI_" #Name), *last = next_of("PMPI_" #Name),      \
                   *ours = dlsym(RTLD_DEFAULT, "__overlap_trace");                     \
        if (dlsym(RTLD_DEFAULT, "MPI_" #Name) != (void *)plain_##Name ||               \
            dlsym(RTLD_DEFAULT, "PMPI_" #Name) != (void *)PMPI_##Name)                 \
            return "the program, or a tool in it, has an MPI_" #Name " of its own";    \
        if (object_of(next) != object_of(last) && object_of(next) != object_of(ours)) \
            return "a tool in front of the library has an MPI_" #Name " of its own";   \
    }
    ALL(CHECK, int, )
#if MPI_VERSION >= 4
    ALL(CHECK, MPI_Count, _c)
#endif
    return NULL;
}
