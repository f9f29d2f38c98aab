/* What is called when the system begins. */
#define RTEMS_SYSINIT_ITEM(function, module, order) void (*const mock_sysinit)(void) = function
