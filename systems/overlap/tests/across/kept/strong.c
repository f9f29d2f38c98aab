/* What takes the place of others. */
#include "kept.h"
void __real_wrapped(struct part *p, double *x);
void __wrap_wrapped(struct part *p, double *x) {
  x[3] += 1;
  __real_wrapped(p, x);
}
void weak_exchange(struct part *p, double *x) {
  x[4] += 1;
  exchange(p, x);
}
void weak_product(const struct part *p, const double *x, double *y) {
  product(p, x, y);
  y[5] += 1;
}
void tell(struct part *p, double *sent) { p->sent = sent; }
