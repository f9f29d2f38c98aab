/* Numbers that Zephyr generates; zephyr.c compares them with the records. */
#define _thread_offset_to_y 16
#define _thread_offset_to_psr 20
#define _thread_offset_to_l0_and_l1 24
#define _thread_offset_to_o6 88
#define ___thread_t_switch_handle_OFFSET 96
#define _thread_offset_to_tls 100
#define _kernel_offset_to_irq_stack 4
