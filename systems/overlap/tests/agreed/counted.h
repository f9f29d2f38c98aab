#include <stdint.h>

/* How many collectives of the counted kinds were started nonblocking so far. */
uint64_t started(void);
