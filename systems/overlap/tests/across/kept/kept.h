/* Exchanges that have to be over when they return, and products not to be called before that. */
#include <mpi.h>
#define N 20000L
#define ROWS (2 * N)
struct cells {
  double at[ROWS + N];
};
struct part {
  int up, down;
  const int *columns;
  double *sent;
};
void exchange(struct part *p, double *x);
void product(const struct part *p, const double *x, double *y);
/* Sends from its own variables. */
void send_room(struct part *p, double *x);
void send_told(struct part *p, double *x);
void tell(struct part *p, double *sent);
/* Reads a copy of what is received. */
void product_of_copy(const struct part *p, struct cells x, double *y);
/* Others are in the place of these. */
void weak_exchange(struct part *p, double *x);
void weak_product(const struct part *p, const double *x, double *y);
void wrapped(struct part *p, double *x);
int sent(void);
