/* Calls a function with more than it takes, which works where arguments are passed in registers. */
#include "kept.h"
void taken(struct part *p, double *x, double *y);
void call_taken(struct part *p, double *x, double *y) {
  taken(p, x, y);
  product(p, x, y);
}
