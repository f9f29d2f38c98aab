/* The tracing library: measures each window from start to wait, and the time inside MPI, per call
   site and rank. Preloaded before the MPI library; writes DIR/rank-N.json at MPI_Finalize, where
   DIR is $MEANWHILE_TRACE_DIR.

   Programs compiled with the plugin say which site starts and ends (`__overlap_trace`); the calls
   themselves come through the profiling interface. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SITES_MAX = 4096 };

struct site {
  const char *name; /* MPI_Send|file.c|28, or only MPI_Send for a call that was not converted */
  uint64_t count, bytes, window_ns, mpi_ns, started_ns;
  int open;
};

static struct site sites[SITES_MAX];
static int n_sites;
static struct site *current; /* whose start or wait is running */
static int depth;            /* inside a call of MPI, which may call others */

static uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static struct site *find(const char *name) {
  for (int i = 0; i < n_sites; i++)
    if (sites[i].name == name || strcmp(sites[i].name, name) == 0)
      return &sites[i];
  if (n_sites == SITES_MAX)
    return NULL;
  sites[n_sites].name = name;
  return &sites[n_sites++];
}

/* Event 0: a message starts; 1: its wait begins. */
void __overlap_trace(int event, const char *name, int64_t bytes) {
  struct site *s = find(name);
  current = s;
  if (!s)
    return;
  if (event == 0) {
    s->count++;
    s->bytes += (uint64_t)bytes;
    s->open = 1;
    s->started_ns = now();
  } else if (s->open) {
    s->open = 0;
    s->window_ns += now() - s->started_ns;
  }
}

/* Starts the clock for a call; the site it belongs to, or NULL inside another call. `ends` is set
   for calls that may follow others of the same site. */
static struct site *enter(const char *name, int ends, uint64_t *since) {
  struct site *s = NULL;
  if (depth++ == 0) {
    s = current ? current : find(name);
    if (s && s != current)
      s->count++;
    if (!ends)
      current = NULL;
  }
  *since = now();
  return s;
}

static void leave(struct site *s, uint64_t since) {
  depth--;
  if (s)
    s->mpi_ns += now() - since;
}

#define WRAP(name, ends, parameters, arguments)                                                    \
  int MPI_##name parameters {                                                                      \
    uint64_t since;                                                                                \
    struct site *s = enter("MPI_" #name, ends, &since);                                            \
    int code = PMPI_##name arguments;                                                              \
    leave(s, since);                                                                               \
    return code;                                                                                   \
  }

#define D MPI_Datatype
#define C MPI_Comm
#define R MPI_Request *
WRAP(Send, 0, (const void *b, int n, D d, int p, int t, C c), (b, n, d, p, t, c))
WRAP(Recv, 0, (void *b, int n, D d, int p, int t, C c, MPI_Status *s_), (b, n, d, p, t, c, s_))
WRAP(Sendrecv, 0, (const void *b, int n, D d, int p, int t, void *rb, int rn, D rd, int rp, int rt, C c, MPI_Status *s_),
     (b, n, d, p, t, rb, rn, rd, rp, rt, c, s_))
WRAP(Isend, 0, (const void *b, int n, D d, int p, int t, C c, R r), (b, n, d, p, t, c, r))
WRAP(Irecv, 1, (void *b, int n, D d, int p, int t, C c, R r), (b, n, d, p, t, c, r))
WRAP(Barrier, 0, (C c), (c))
WRAP(Bcast, 0, (void *b, int n, D d, int root, C c), (b, n, d, root, c))
WRAP(Ibcast, 0, (void *b, int n, D d, int root, C c, R r), (b, n, d, root, c, r))
WRAP(Reduce, 0, (const void *b, void *o, int n, D d, MPI_Op op, int root, C c), (b, o, n, d, op, root, c))
WRAP(Ireduce, 0, (const void *b, void *o, int n, D d, MPI_Op op, int root, C c, R r), (b, o, n, d, op, root, c, r))
WRAP(Allreduce, 0, (const void *b, void *o, int n, D d, MPI_Op op, C c), (b, o, n, d, op, c))
WRAP(Iallreduce, 0, (const void *b, void *o, int n, D d, MPI_Op op, C c, R r), (b, o, n, d, op, c, r))
WRAP(Allgather, 0, (const void *b, int n, D d, void *o, int m, D e, C c), (b, n, d, o, m, e, c))
WRAP(Iallgather, 0, (const void *b, int n, D d, void *o, int m, D e, C c, R r), (b, n, d, o, m, e, c, r))
WRAP(Alltoall, 0, (const void *b, int n, D d, void *o, int m, D e, C c), (b, n, d, o, m, e, c))
WRAP(Ialltoall, 0, (const void *b, int n, D d, void *o, int m, D e, C c, R r), (b, n, d, o, m, e, c, r))
WRAP(Gather, 0, (const void *b, int n, D d, void *o, int m, D e, int root, C c), (b, n, d, o, m, e, root, c))
WRAP(Igather, 0, (const void *b, int n, D d, void *o, int m, D e, int root, C c, R r), (b, n, d, o, m, e, root, c, r))
WRAP(Scatter, 0, (const void *b, int n, D d, void *o, int m, D e, int root, C c), (b, n, d, o, m, e, root, c))
WRAP(Iscatter, 0, (const void *b, int n, D d, void *o, int m, D e, int root, C c, R r), (b, n, d, o, m, e, root, c, r))
WRAP(Wait, 1, (R r, MPI_Status *s_), (r, s_))
WRAP(Waitall, 1, (int n, MPI_Request r[], MPI_Status s_[]), (n, r, s_))
WRAP(Test, 1, (R r, int *flag, MPI_Status *s_), (r, flag, s_))

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

static void store(int rank, int ranks) {
  const char *folder = getenv("MEANWHILE_TRACE_DIR");
  char path[4096];
  if (!folder || snprintf(path, sizeof path, "%s/rank-%d.json", folder, rank) >= (int)sizeof path)
    return;
  FILE *out = fopen(path, "w");
  if (!out)
    return;
  fprintf(out, "{\"rank\": %d, \"ranks\": %d, \"rows\": [", rank, ranks);
  for (int i = 0; i < n_sites; i++) {
    const struct site *s = &sites[i];
    const char *file = strchr(s->name, '|');
    const char *line = file ? strrchr(s->name, '|') : NULL;
    double executions = s->count ? (double)s->count : 1;
    fprintf(out, "%s\n{\"call\": ", i ? "," : "");
    put_string(out, s->name, file ? (size_t)(file - s->name) : strlen(s->name));
    fprintf(out, ", \"file\": ");
    put_string(out, file ? file + 1 : "", file ? (size_t)(line - file - 1) : 0);
    fprintf(out, ", \"line\": %d, \"rank\": %d, \"count\": %llu, \"bytes\": %llu, \"window_us\": ", line ? atoi(line + 1) : 0,
            rank, (unsigned long long)s->count, (unsigned long long)s->bytes);
    if (file)
      fprintf(out, "%.3f", (double)s->window_ns / executions / 1e3);
    else
      fprintf(out, "null");
    fprintf(out, ", \"mpi_us\": %.3f}", (double)s->mpi_ns / 1e3);
  }
  fprintf(out, "\n]}\n");
  fclose(out);
}

int MPI_Finalize(void) {
  int rank = 0, ranks = 1;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  store(rank, ranks);
  return PMPI_Finalize();
}
