/* The tracing library: measures each window from start to wait, and the time inside MPI, per call
   site and rank. Preloaded before the MPI library; writes DIR/rank-N.json at MPI_Finalize, where
   DIR is $MEANWHILE_TRACE_DIR.

   Programs compiled with the plugin say which site starts and ends (`__overlap_trace`); the calls
   themselves come through the profiling interface, each with the address that it returns to. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SITES_MAX = 4096, EVENTS_MAX = 1 << 18, MERGED_NS = 2000 };

struct site {
  const char *name; /* MPI_Send|file.c|28, or only MPI_Send for a call that was not converted */
  const char *from; /* for such a call, the address it returns to */
  uint64_t count, bytes, window_ns, mpi_ns, started_ns;
  uint64_t started;  /* of those, how often not blocking, with a window behind it */
  uint64_t large;    /* and how often as a start and a wait, since it is large on all ranks */
  int open;
};

/* A call, or a window from its start to its wait. */
struct event {
  uint64_t begin_ns, end_ns;
  int site, is_window;
};

static struct event *events; /* none unless $MEANWHILE_TRACE_EVENTS is set */
static int n_events;
static uint64_t n_left_out;
static struct site sites[SITES_MAX];
static int n_sites;
static struct site *current; /* whose start or wait is running */
static struct site *called;  /* whose call is */
static char *agreement;      /* what the ranks of a program agree on, and whether */
static int is_agreed;
static int depth;            /* inside a call of MPI, which may call others */
static uint64_t began_ns;    /* when MPI was ready, else the first call */

static uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Polls that follow each other are one event. */
static void note(const struct site *s, int is_window, uint64_t begin, uint64_t end) {
  struct event *last = n_events ? &events[n_events - 1] : NULL;
  int site = (int)(s - sites);
  if (last && !is_window && !last->is_window && last->site == site && begin - last->end_ns < MERGED_NS) {
    last->end_ns = end;
  } else if (n_events == EVENTS_MAX) {
    n_left_out++;
  } else if (events) {
    events[n_events++] = (struct event){begin, end, site, is_window};
  }
}

/* MPI is ready: time begins, for all ranks at once if they all come here. */
static void begin(int all) {
  if (getenv("MEANWHILE_TRACE_EVENTS")) {
    events = calloc(EVENTS_MAX, sizeof *events);
    if (all)
      PMPI_Barrier(MPI_COMM_WORLD);
  }
  began_ns = now();
}

static struct site *find(const char *name, const char *from) {
  for (int i = 0; i < n_sites; i++)
    if (sites[i].from == from && (sites[i].name == name || strcmp(sites[i].name, name) == 0))
      return &sites[i];
  if (n_sites == SITES_MAX)
    return NULL;
  sites[n_sites].from = from;
  sites[n_sites].name = name;
  return &sites[n_sites++];
}

/* Event 0: a start begins; 1: a wait begins; 2: the start or the wait is done; 3: the start stays blocking. 4: `name` says
   whether the ranks agree on their collectives, and `bytes`; 5: the call starts nonblocking as they agree. */
void __overlap_trace(int event, const char *name, int64_t bytes) {
  if (event == 4) {
    agreement = strdup(name);
    is_agreed = (int)bytes;
    return;
  }
  if (event == 5) {
    if (called && called != current)
      called->large++;
    return;
  }
  if (event == 2) {
    current = NULL;
    return;
  }
  struct site *s = find(name, NULL);
  current = s;
  if (!s)
    return;
  if (event == 0) {
    s->started++;
    s->count++;
    s->bytes += (uint64_t)bytes;
    s->open = 1;
    s->started_ns = now();
  } else if (event == 3) {
    s->started--;
    s->open = 0;
  } else if (s->open) {
    s->open = 0;
    uint64_t end = now();
    s->window_ns += end - s->started_ns;
    note(s, 1, s->started_ns, end);
  }
}

/* Starts the clock for a call; the site it belongs to, or NULL inside another call. */
static struct site *enter(const char *name, const char *from, uint64_t bytes, uint64_t *since) {
  struct site *s = NULL;
  if (depth++ == 0) {
    s = current ? current : find(name, from);
    if (s && s != current) {
      s->count++;
      s->bytes += bytes;
    }
    called = s;
  }
  if (!began_ns)
    begin(0);
  *since = now();
  return s;
}

static void leave(struct site *s, uint64_t since) {
  if (--depth == 0)
    called = NULL;
  if (!s)
    return;
  uint64_t end = now();
  s->mpi_ns += end - since;
  note(s, 0, since, end);
}

/* What a call sends, or receives if it only receives, in bytes. */
static uint64_t payload(int n, MPI_Datatype d) {
  int size = 0;
  if (depth > 0 || current || n <= 0 || d == MPI_DATATYPE_NULL || PMPI_Type_size(d, &size) != MPI_SUCCESS)
    return 0;
  return (uint64_t)n * (uint64_t)size;
}

/* The same for a count for each process. */
static uint64_t payloads(const int n[], MPI_Datatype d, MPI_Comm c) {
  int ranks = 0;
  uint64_t sum = 0;
  if (depth > 0 || current || !n || PMPI_Comm_size(c, &ranks) != MPI_SUCCESS)
    return 0;
  for (int i = 0; i < ranks; i++)
    sum += payload(n[i], d);
  return sum;
}

#define WRAP(name, bytes, parameters, arguments)                                                   \
  int MPI_##name parameters {                                                                      \
    uint64_t since;                                                                                \
    struct site *s = enter("MPI_" #name, __builtin_return_address(0), bytes, &since);              \
    int code = PMPI_##name arguments;                                                              \
    leave(s, since);                                                                               \
    return code;                                                                                   \
  }

#define D MPI_Datatype
#define C MPI_Comm
#define R MPI_Request *
#define S MPI_Status *
#define IN const void *
#define INTS const int[]
#define SENT payload(n, d)

WRAP(Send, SENT, (IN b, int n, D d, int p, int t, C c), (b, n, d, p, t, c))
WRAP(Ssend, SENT, (IN b, int n, D d, int p, int t, C c), (b, n, d, p, t, c))
WRAP(Bsend, SENT, (IN b, int n, D d, int p, int t, C c), (b, n, d, p, t, c))
WRAP(Rsend, SENT, (IN b, int n, D d, int p, int t, C c), (b, n, d, p, t, c))
WRAP(Recv, SENT, (void *b, int n, D d, int p, int t, C c, S z), (b, n, d, p, t, c, z))
WRAP(Mrecv, SENT, (void *b, int n, D d, MPI_Message *m, S z), (b, n, d, m, z))
WRAP(Sendrecv, SENT, (IN b, int n, D d, int p, int t, void *o, int m, D e, int q, int u, C c, S z),
     (b, n, d, p, t, o, m, e, q, u, c, z))
WRAP(Sendrecv_replace, SENT, (void *b, int n, D d, int p, int t, int q, int u, C c, S z), (b, n, d, p, t, q, u, c, z))
WRAP(Isend, SENT, (IN b, int n, D d, int p, int t, C c, R r), (b, n, d, p, t, c, r))
WRAP(Issend, SENT, (IN b, int n, D d, int p, int t, C c, R r), (b, n, d, p, t, c, r))
WRAP(Ibsend, SENT, (IN b, int n, D d, int p, int t, C c, R r), (b, n, d, p, t, c, r))
WRAP(Irsend, SENT, (IN b, int n, D d, int p, int t, C c, R r), (b, n, d, p, t, c, r))
WRAP(Irecv, SENT, (void *b, int n, D d, int p, int t, C c, R r), (b, n, d, p, t, c, r))
WRAP(Probe, 0, (int p, int t, C c, S z), (p, t, c, z))
WRAP(Iprobe, 0, (int p, int t, C c, int *f, S z), (p, t, c, f, z))
WRAP(Mprobe, 0, (int p, int t, C c, MPI_Message *m, S z), (p, t, c, m, z))
WRAP(Start, 0, (R r), (r))
WRAP(Startall, 0, (int n, MPI_Request r[]), (n, r))

WRAP(Wait, 0, (R r, S z), (r, z))
WRAP(Waitall, 0, (int n, MPI_Request r[], MPI_Status z[]), (n, r, z))
WRAP(Waitany, 0, (int n, MPI_Request r[], int *i, S z), (n, r, i, z))
WRAP(Waitsome, 0, (int n, MPI_Request r[], int *m, int i[], MPI_Status z[]), (n, r, m, i, z))
WRAP(Test, 0, (R r, int *f, S z), (r, f, z))
WRAP(Testall, 0, (int n, MPI_Request r[], int *f, MPI_Status z[]), (n, r, f, z))
WRAP(Testany, 0, (int n, MPI_Request r[], int *i, int *f, S z), (n, r, i, f, z))
WRAP(Testsome, 0, (int n, MPI_Request r[], int *m, int i[], MPI_Status z[]), (n, r, m, i, z))

/* A collective call and its nonblocking twin. */
#define BOTH(name, twin, bytes, parameters, arguments)                                             \
  WRAP(name, bytes, (OPEN parameters), (OPEN arguments))                                           \
  WRAP(twin, bytes, (OPEN parameters, R r), (OPEN arguments, r))
#define OPEN(...) __VA_ARGS__

BOTH(Barrier, Ibarrier, 0, (C c), (c))
BOTH(Bcast, Ibcast, SENT, (void *b, int n, D d, int root, C c), (b, n, d, root, c))
BOTH(Reduce, Ireduce, SENT, (IN b, void *o, int n, D d, MPI_Op op, int root, C c), (b, o, n, d, op, root, c))
BOTH(Allreduce, Iallreduce, SENT, (IN b, void *o, int n, D d, MPI_Op op, C c), (b, o, n, d, op, c))
BOTH(Scan, Iscan, SENT, (IN b, void *o, int n, D d, MPI_Op op, C c), (b, o, n, d, op, c))
BOTH(Exscan, Iexscan, SENT, (IN b, void *o, int n, D d, MPI_Op op, C c), (b, o, n, d, op, c))
BOTH(Reduce_scatter_block, Ireduce_scatter_block, SENT, (IN b, void *o, int n, D d, MPI_Op op, C c), (b, o, n, d, op, c))
BOTH(Reduce_scatter, Ireduce_scatter, payloads(n, d, c), (IN b, void *o, const int n[], D d, MPI_Op op, C c), (b, o, n, d, op, c))
BOTH(Gather, Igather, SENT, (IN b, int n, D d, void *o, int m, D e, int root, C c), (b, n, d, o, m, e, root, c))
BOTH(Gatherv, Igatherv, SENT, (IN b, int n, D d, void *o, const int m[], const int q[], D e, int root, C c),
     (b, n, d, o, m, q, e, root, c))
BOTH(Scatter, Iscatter, payload(m, e), (IN b, int n, D d, void *o, int m, D e, int root, C c), (b, n, d, o, m, e, root, c))
BOTH(Scatterv, Iscatterv, payload(m, e), (IN b, const int n[], const int p[], D d, void *o, int m, D e, int root, C c),
     (b, n, p, d, o, m, e, root, c))
BOTH(Allgather, Iallgather, SENT, (IN b, int n, D d, void *o, int m, D e, C c), (b, n, d, o, m, e, c))
BOTH(Allgatherv, Iallgatherv, SENT, (IN b, int n, D d, void *o, const int m[], const int q[], D e, C c), (b, n, d, o, m, q, e, c))
BOTH(Alltoall, Ialltoall, SENT, (IN b, int n, D d, void *o, int m, D e, C c), (b, n, d, o, m, e, c))
BOTH(Alltoallv, Ialltoallv, payloads(n, d, c),
     (IN b, const int n[], const int p[], D d, void *o, const int m[], const int q[], D e, C c), (b, n, p, d, o, m, q, e, c))
BOTH(Alltoallw, Ialltoallw, 0,
     (IN b, const int n[], const int p[], const D d[], void *o, const int m[], const int q[], const D e[], C c),
     (b, n, p, d, o, m, q, e, c))
BOTH(Neighbor_allgather, Ineighbor_allgather, SENT, (IN b, int n, D d, void *o, int m, D e, C c), (b, n, d, o, m, e, c))
BOTH(Neighbor_allgatherv, Ineighbor_allgatherv, SENT, (IN b, int n, D d, void *o, const int m[], const int q[], D e, C c),
     (b, n, d, o, m, q, e, c))
BOTH(Neighbor_alltoall, Ineighbor_alltoall, SENT, (IN b, int n, D d, void *o, int m, D e, C c), (b, n, d, o, m, e, c))
BOTH(Neighbor_alltoallv, Ineighbor_alltoallv, 0,
     (IN b, const int n[], const int p[], D d, void *o, const int m[], const int q[], D e, C c), (b, n, p, d, o, m, q, e, c))
BOTH(Neighbor_alltoallw, Ineighbor_alltoallw, 0,
     (IN b, const int n[], const MPI_Aint p[], const D d[], void *o, const int m[], const MPI_Aint q[], const D e[], C c),
     (b, n, p, d, o, m, q, e, c))

WRAP(Win_fence, 0, (int a, MPI_Win w), (a, w))
WRAP(Win_start, 0, (MPI_Group g, int a, MPI_Win w), (g, a, w))
WRAP(Win_complete, 0, (MPI_Win w), (w))
WRAP(Win_post, 0, (MPI_Group g, int a, MPI_Win w), (g, a, w))
WRAP(Win_wait, 0, (MPI_Win w), (w))
WRAP(Win_lock, 0, (int l, int p, int a, MPI_Win w), (l, p, a, w))
WRAP(Win_unlock, 0, (int p, MPI_Win w), (p, w))
WRAP(Win_lock_all, 0, (int a, MPI_Win w), (a, w))
WRAP(Win_unlock_all, 0, (MPI_Win w), (w))
WRAP(Win_flush, 0, (int p, MPI_Win w), (p, w))
WRAP(Win_flush_all, 0, (MPI_Win w), (w))
#undef S

/* Names hold no quotes that JSON would not; a file name could. */
static void put_string(FILE *out, const char *text, size_t length) {
  fputc('"', out);
  for (size_t i = 0; i < length; i++) {
    unsigned char letter = (unsigned char)text[i];
    if (letter == '"' || letter == '\\')
      fprintf(out, "\\%c", letter);
    else if (letter < ' ')
      fprintf(out, "\\u%04x", letter);
    else
      fputc(letter, out);
  }
  fputc('"', out);
}

/* The file that holds an address, and where in it. */
static void put_place(FILE *out, const char *from) {
  Dl_info in;
  if (!from || !dladdr(from, &in) || !in.dli_fname)
    return;
  fprintf(out, ", \"object\": ");
  put_string(out, in.dli_fname, strlen(in.dli_fname));
  fprintf(out, ", \"address\": %llu", (unsigned long long)(from - (const char *)in.dli_fbase));
}

static void store(void) {
  static int done;
  int rank = 0, ranks = 1;
  if (done++)
    return;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const char *folder = getenv("MEANWHILE_TRACE_DIR");
  char path[4096];
  if (!folder || snprintf(path, sizeof path, "%s/rank-%d.json", folder, rank) >= (int)sizeof path)
    return;
  FILE *out = fopen(path, "w");
  if (!out)
    return;
  fprintf(out, "{\"rank\": %d, \"ranks\": %d, \"wall_us\": %.3f, \"agreement\": ", rank, ranks,
          began_ns ? (double)(now() - began_ns) / 1e3 : 0.0);
  if (agreement) {
    fprintf(out, "{\"agreed\": %s, \"said\": ", is_agreed ? "true" : "false");
    put_string(out, agreement, strlen(agreement));
    fputc('}', out);
  } else {
    fprintf(out, "null");
  }
  fprintf(out, ", \"rows\": [");
  for (int i = 0; i < n_sites; i++) {
    const struct site *s = &sites[i];
    const char *file = strchr(s->name, '|');
    const char *line = file ? strrchr(s->name, '|') : NULL;
    fprintf(out, "%s\n{\"call\": ", i ? "," : "");
    put_string(out, s->name, file ? (size_t)(file - s->name) : strlen(s->name));
    fprintf(out, ", \"file\": ");
    put_string(out, file ? file + 1 : "", file ? (size_t)(line - file - 1) : 0);
    fprintf(out, ", \"line\": %d, \"rank\": %d, \"count\": %llu, \"bytes\": %llu, \"window_us\": ", line ? atoi(line + 1) : 0,
            rank, (unsigned long long)s->count, (unsigned long long)s->bytes);
    if (file && s->started)
      fprintf(out, "%.3f", (double)s->window_ns / (double)s->started / 1e3);
    else
      fprintf(out, "null");
    fprintf(out, ", \"nonblocking\": %llu, \"mpi_us\": %.3f", (unsigned long long)(s->started + s->large),
            (double)s->mpi_ns / 1e3);
    put_place(out, s->from);
    fputc('}', out);
  }
  fprintf(out, "\n], \"left_out\": %llu, \"events\": [", (unsigned long long)n_left_out);
  for (int i = 0; i < n_events; i++)
    fprintf(out, "%s[%d,%d,%.3f,%.3f]", i ? "," : "", events[i].site, events[i].is_window,
            ((double)events[i].begin_ns - (double)began_ns) / 1e3, (double)(events[i].end_ns - events[i].begin_ns) / 1e3);
  fprintf(out, "]}\n");
  fclose(out);
}

int MPI_Init(int *argc, char ***argv) {
  int code = PMPI_Init(argc, argv);
  begin(1);
  return code;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
  int code = PMPI_Init_thread(argc, argv, required, provided);
  begin(1);
  return code;
}

int MPI_Finalize(void) {
  store();
  return PMPI_Finalize();
}

/* Fortran's calls reach MPI through bindings, which may pass the profiling interface by, and return into the library: these
   stand in front of them. All arguments are addresses; those that a call does not have are passed on as they were found. */
#define PARAMETERS                                                                                 \
  void *a0, void *a1, void *a2, void *a3, void *a4, void *a5, void *a6, void *a7, void *a8, void *a9, void *a10, void *a11,   \
      void *a12, void *a13
#define ARGUMENTS a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13
typedef void binding(PARAMETERS);

static binding *behind(const char *name) {
  binding *found = (binding *)dlsym(RTLD_NEXT, name);
  if (!found) {
    fprintf(stderr, "meanwhile overlap trace: there is no %s in the MPI library\n", name);
    abort();
  }
  return found;
}

/* As `payload`, with the places of the count and of the datatype among the arguments. */
static uint64_t payload_of(void *const a[], int count, int type) {
  return count < 0 ? 0 : payload((int)*(MPI_Fint *)a[count], MPI_Type_f2c(*(MPI_Fint *)a[type]));
}

#define FORTRAN(name, in_c, count, type)                                                           \
  void mpi_##name##_(PARAMETERS) {                                                                 \
    static binding *real;                                                                          \
    void *const all[] = {ARGUMENTS};                                                               \
    uint64_t since;                                                                                \
    if (!real)                                                                                     \
      real = behind("mpi_" #name "_");                                                             \
    struct site *s = enter("MPI_" #in_c, __builtin_return_address(0), payload_of(all, count, type), &since);                  \
    real(ARGUMENTS);                                                                               \
    leave(s, since);                                                                               \
  }

FORTRAN(send, Send, 1, 2)
FORTRAN(ssend, Ssend, 1, 2)
FORTRAN(bsend, Bsend, 1, 2)
FORTRAN(rsend, Rsend, 1, 2)
FORTRAN(recv, Recv, 1, 2)
FORTRAN(sendrecv, Sendrecv, 1, 2)
FORTRAN(sendrecv_replace, Sendrecv_replace, 1, 2)
FORTRAN(isend, Isend, 1, 2)
FORTRAN(issend, Issend, 1, 2)
FORTRAN(ibsend, Ibsend, 1, 2)
FORTRAN(irsend, Irsend, 1, 2)
FORTRAN(irecv, Irecv, 1, 2)
FORTRAN(mrecv, Mrecv, 1, 2)
FORTRAN(bcast, Bcast, 1, 2)
FORTRAN(ibcast, Ibcast, 1, 2)
FORTRAN(gather, Gather, 1, 2)
FORTRAN(igather, Igather, 1, 2)
FORTRAN(gatherv, Gatherv, 1, 2)
FORTRAN(igatherv, Igatherv, 1, 2)
FORTRAN(allgather, Allgather, 1, 2)
FORTRAN(iallgather, Iallgather, 1, 2)
FORTRAN(allgatherv, Allgatherv, 1, 2)
FORTRAN(iallgatherv, Iallgatherv, 1, 2)
FORTRAN(alltoall, Alltoall, 1, 2)
FORTRAN(ialltoall, Ialltoall, 1, 2)
FORTRAN(reduce, Reduce, 2, 3)
FORTRAN(ireduce, Ireduce, 2, 3)
FORTRAN(allreduce, Allreduce, 2, 3)
FORTRAN(iallreduce, Iallreduce, 2, 3)
FORTRAN(scan, Scan, 2, 3)
FORTRAN(iscan, Iscan, 2, 3)
FORTRAN(exscan, Exscan, 2, 3)
FORTRAN(iexscan, Iexscan, 2, 3)
FORTRAN(reduce_scatter_block, Reduce_scatter_block, 2, 3)
FORTRAN(ireduce_scatter_block, Ireduce_scatter_block, 2, 3)
FORTRAN(scatter, Scatter, 4, 5)
FORTRAN(iscatter, Iscatter, 4, 5)
FORTRAN(scatterv, Scatterv, 5, 6)
FORTRAN(iscatterv, Iscatterv, 5, 6)
FORTRAN(probe, Probe, -1, -1)
FORTRAN(iprobe, Iprobe, -1, -1)
FORTRAN(mprobe, Mprobe, -1, -1)
FORTRAN(start, Start, -1, -1)
FORTRAN(startall, Startall, -1, -1)
FORTRAN(wait, Wait, -1, -1)
FORTRAN(waitall, Waitall, -1, -1)
FORTRAN(waitany, Waitany, -1, -1)
FORTRAN(waitsome, Waitsome, -1, -1)
FORTRAN(test, Test, -1, -1)
FORTRAN(testall, Testall, -1, -1)
FORTRAN(testany, Testany, -1, -1)
FORTRAN(testsome, Testsome, -1, -1)
FORTRAN(barrier, Barrier, -1, -1)
FORTRAN(ibarrier, Ibarrier, -1, -1)
FORTRAN(reduce_scatter, Reduce_scatter, -1, -1)
FORTRAN(ireduce_scatter, Ireduce_scatter, -1, -1)
FORTRAN(alltoallv, Alltoallv, -1, -1)
FORTRAN(ialltoallv, Ialltoallv, -1, -1)
FORTRAN(alltoallw, Alltoallw, -1, -1)
FORTRAN(ialltoallw, Ialltoallw, -1, -1)
FORTRAN(neighbor_allgather, Neighbor_allgather, 1, 2)
FORTRAN(ineighbor_allgather, Ineighbor_allgather, 1, 2)
FORTRAN(neighbor_alltoall, Neighbor_alltoall, 1, 2)
FORTRAN(ineighbor_alltoall, Ineighbor_alltoall, 1, 2)
FORTRAN(neighbor_allgatherv, Neighbor_allgatherv, -1, -1)
FORTRAN(ineighbor_allgatherv, Ineighbor_allgatherv, -1, -1)
FORTRAN(neighbor_alltoallv, Neighbor_alltoallv, -1, -1)
FORTRAN(ineighbor_alltoallv, Ineighbor_alltoallv, -1, -1)
FORTRAN(neighbor_alltoallw, Neighbor_alltoallw, -1, -1)
FORTRAN(ineighbor_alltoallw, Ineighbor_alltoallw, -1, -1)
FORTRAN(win_fence, Win_fence, -1, -1)
FORTRAN(win_start, Win_start, -1, -1)
FORTRAN(win_complete, Win_complete, -1, -1)
FORTRAN(win_post, Win_post, -1, -1)
FORTRAN(win_wait, Win_wait, -1, -1)
FORTRAN(win_lock, Win_lock, -1, -1)
FORTRAN(win_unlock, Win_unlock, -1, -1)
FORTRAN(win_lock_all, Win_lock_all, -1, -1)
FORTRAN(win_unlock_all, Win_unlock_all, -1, -1)
FORTRAN(win_flush, Win_flush, -1, -1)
FORTRAN(win_flush_all, Win_flush_all, -1, -1)

void mpi_init_(PARAMETERS) {
  behind("mpi_init_")(ARGUMENTS);
  if (!began_ns)
    begin(1);
}

void mpi_init_thread_(PARAMETERS) {
  behind("mpi_init_thread_")(ARGUMENTS);
  if (!began_ns)
    begin(1);
}

void mpi_finalize_(PARAMETERS) {
  store();
  behind("mpi_finalize_")(ARGUMENTS);
}
