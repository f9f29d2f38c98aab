/* An exchange, a product and their caller in files of their own. */
#include <mpi.h>
#define N 40000L
#define ROWS (4 * N)
struct part {
  int up, down;
  const int *columns;
  MPI_Comm comm;
};
/* Receives N cells behind the ROWS of `x` from below, sends the first ones up. */
void exchange(struct part *p, double *x);
/* The same, and tells the sum of what it received. */
double exchange_and_sum(struct part *p, double *x);
double now(void);
/* Each row reads three cells, some of them behind the own rows. */
int product(const struct part *p, const double *x, double *y);
/* Reads the halo, or writes it, or what is sent. */
double look(const double *x);
void change(double *x);
/* Messages that were sent by a nonblocking call. */
int sent(void);
