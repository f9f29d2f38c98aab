/* As much of RTEMS' assembly headers as the port and the mock use, under RTEMS' names; rtems.c compares the numbers with the records. */
#ifndef SPARC_NUMBER_OF_REGISTER_WINDOWS
#define SPARC_NUMBER_OF_REGISTER_WINDOWS 8
#endif
#define SPARC_HAS_FPU 1
#define SPARC_MINIMUM_STACK_FRAME_SIZE 96
#define SPARC_PSR_ET_MASK 0x20
#define SPARC_PSR_PIL_MASK 0xf00
#define SPARC_PSR_EF_MASK 0x1000
#define SPARC_SWTRAP_IRQDIS 9

#define G5_OFFSET 0
#define G7_OFFSET 4
#define L0_OFFSET 8
#define O6_SP_OFFSET 72
#define PSR_OFFSET 80
#define ISR_DISPATCH_DISABLE_STACK_OFFSET 84
#define SPARC_CONTEXT_CONTROL_FSR_OFFSET 88

#define ISF_PSR_OFFSET 96 + 0
#define ISF_NPC_OFFSET 96 + 8
#define ISF_G1_OFFSET 96 + 12
#define ISF_G2_OFFSET 96 + 16
#define ISF_G4_OFFSET 96 + 24
#define ISF_G7_OFFSET 96 + 36
#define ISF_I0_OFFSET 96 + 40
#define ISF_I2_OFFSET 96 + 48
#define ISF_I4_OFFSET 96 + 56
#define ISF_I6_FP_OFFSET 96 + 64
#define ISF_I7_OFFSET 96 + 68
#define ISF_Y_OFFSET 96 + 72
#define CPU_INTERRUPT_FRAME_SIZE 96 + 80
