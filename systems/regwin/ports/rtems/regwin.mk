# For a program on RTEMS: the two objects before the libraries, and these options for the linker.
REGWIN_SOURCES := regwin.S regwin.c
REGWIN_LDFLAGS := $(foreach name,_CPU_Context_switch _CPU_Context_switch_no_return _CPU_Context_restore \
    _SPARC_Start_multitasking _SPARC_Interrupt_trap,-Wl,--wrap=$(name))
