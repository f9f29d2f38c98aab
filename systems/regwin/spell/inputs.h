/* Where the loader puts what a run is about. */
#ifndef INPUTS_H
#define INPUTS_H

#define OUTPUT_BYTES 16384

struct inputs {
    unsigned m, n;              /* bytes of S1, S4, S5, S6 and of S2, S3 */
    unsigned input_bytes;
};

#define INPUTS ((const struct inputs *)0x40400000u)
#define INPUT_TEXT ((const unsigned char *)0x40410000u)
#define INPUT_STOP ((const unsigned char *)0x40420000u)
#define INPUT_WORDS ((const unsigned char *)0x40430000u)

#endif
