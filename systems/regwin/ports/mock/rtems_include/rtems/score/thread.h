/* A thread. */
#ifndef MOCK_THREAD_H
#define MOCK_THREAD_H
#include <rtems/score/cpu.h>

typedef struct _Thread_Control {
    Context_Control Registers;
    char is_alive, is_zombie, restarts;
} Thread_Control;
#endif
