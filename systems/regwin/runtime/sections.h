/* Where C code of the runtime goes: what runs once, and what no interrupt may switch away from. */
#define BOOT __attribute__((section(".text.boot")))
#define RUNTIME __attribute__((section(".text.app")))
