
# Some functions are in assembly for GNU as and System V, too, and the compiler's own assembler takes it; anywhere else, or with OFF
# here, they are compiled from C.
option(@OPTION@ "Take functions in assembly where there are some" ON)
if(@OPTION@ AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$" AND CMAKE_SIZEOF_VOID_P EQUAL 8
        AND UNIX AND NOT APPLE AND NOT CYGWIN AND CMAKE_C_COMPILER_ID MATCHES "GNU|Clang")
    enable_language(ASM)
@KERNELS@
endif()
