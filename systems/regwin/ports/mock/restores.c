/* Restores that add, each in a frame whose caller's window has gone to memory: RESTORES names a function and what it has to give. Before
 * each, register number r holds 1000 + 17 * r of the frame and 5000 + 13 * r of its caller; the
 * function puts what is in the target into `got`. */
#include "mock.h"

struct check {
    void (*function)(void);
    unsigned expected;
};
unsigned got;
#define CHECK(function, expected) extern void function(void);
RESTORES
#undef CHECK
#define CHECK(function, expected) {function, expected},
static const struct check checks[] = {RESTORES};

int program_interrupted(void)
{
    return 0;
}

static void thread(unsigned slot)
{
    (void)slot;
    unsigned n_wrong = 0, n = sizeof checks / sizeof *checks;
    for (unsigned i = 0; i < n; i++) {
        checks[i].function();
        if (got != checks[i].expected) {
            n_wrong++;
            mock_text("wrong: ");
            mock_number(i);
            mock_text("\n");
        }
    }
    mock_text("checked ");
    mock_number(n);
    mock_text(" wrong ");
    mock_number(n_wrong);
    mock_text("\n");
}

void program_begins(void)
{
    mock_make(0, thread);
}

void program_ends(void)
{
    mock_stop();
}
