/* Underflow with one thread in the registers: the caller is loaded to where it was. */
#define UNDERFLOW_4 \
    l32e a0, a5, -16; l32e a1, a5, -12; l32e a2, a5, -8; l32e a3, a5, -4; rfwu
#define UNDERFLOW_8 \
    l32e a0, a9, -16; l32e a1, a9, -12; l32e a2, a9, -8; l32e a7, a1, -12; l32e a3, a9, -4; \
    l32e a4, a7, -32; l32e a5, a7, -28; l32e a6, a7, -24; l32e a7, a7, -20; rfwu
#define UNDERFLOW_12 \
    l32e a0, a13, -16; l32e a1, a13, -12; l32e a2, a13, -8; l32e a11, a1, -12; l32e a3, a13, -4; \
    l32e a4, a11, -48; l32e a5, a11, -44; l32e a6, a11, -40; l32e a7, a11, -36; \
    l32e a8, a11, -32; l32e a9, a11, -28; l32e a10, a11, -24; l32e a11, a11, -20; rfwu
/* Each frame is stored where the ABI says. */
#define OVERFLOW_TOP
