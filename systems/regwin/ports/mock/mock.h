/* What a mock kernel gives the program that runs on it, and the program gives the kernel. */
#ifndef MOCK_H
#define MOCK_H

enum { MOCK_THREADS = 6, MOCK_STACK_WORDS = 2048 };

/* Makes thread `slot`, if it is none. Of one that has ended the stack is first filled, and must be as it was at the next call. */
void mock_make(unsigned slot, void (*entry)(unsigned slot));
/* Ends another thread, wherever it is. */
void mock_kill(unsigned slot);
int mock_is_alive(unsigned slot);
unsigned mock_self(void);
/* The other threads run, each for a while. */
void mock_yield(void);
/* An interrupt every so many ticks, at which others may run. */
void mock_ticks(unsigned ticks);
void mock_raise(unsigned level);
/* All windows of suspended threads go to memory, where the port is. */
void mock_store_others(void);
void mock_text(const char *text);
void mock_number(unsigned value);
void mock_stop(void) __attribute__((noreturn));
extern unsigned mock_switches, mock_interrupts;

/* The program: makes threads; handles an interrupt, and says whether others are to run; is told that no thread is left. */
void program_begins(void);
int program_interrupted(void);
void program_ends(void);

/* What both kernels have. */
extern unsigned mock_stacks[MOCK_THREADS][MOCK_STACK_WORDS];
unsigned mock_next(unsigned slot, const char *is_alive);
int mock_may_make(unsigned slot);
void mock_stack_dead(unsigned slot);
#endif
