/* For code that knows more of a thread than RTEMS, such as a reader of other threads' stacks. */
#ifndef REGWIN_PORT_H
#define REGWIN_PORT_H

struct _Thread_Control;

/* Forgets the windows of a thread that is not to run any more, before its stack is used for something else. */
void regwin_thread_gone(struct _Thread_Control *thread);
/* All windows of suspended threads go to their stacks and contexts, as without this module. */
void regwin_store_others(void);
/* The same with interrupts masked. */
void rw_store_others(void);
#endif
