# A file as the bytes of an array in C: cmake -DFROM=FILE -DTO=FILE -P embed.cmake
file(READ "${FROM}" bytes HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
file(WRITE "${TO}" "${bytes}\n")
