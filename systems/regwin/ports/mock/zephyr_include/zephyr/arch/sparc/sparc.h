/* Fields of the state register, as Zephyr names them. */
#define PSR_PIL 0xf00
#define PSR_ET 0x20
#define PSR_EF 0x1000
