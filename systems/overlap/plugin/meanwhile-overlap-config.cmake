# find_package(meanwhile-overlap) defines meanwhile::overlap; linking a target to it compiles the
# target with the plugin. The compiler must be clang 19. Options go through the environment variable
# MEANWHILE_OVERLAP, such as "strength=frontier,progress=auto,collectives=safe".
if(NOT TARGET meanwhile::overlap)
  get_filename_component(meanwhile_overlap_plugin "${CMAKE_CURRENT_LIST_DIR}/../../overlap.so" ABSOLUTE)
  foreach(language C CXX)
    if(CMAKE_${language}_COMPILER_ID AND NOT (CMAKE_${language}_COMPILER_ID STREQUAL "Clang" AND
                                              CMAKE_${language}_COMPILER_VERSION MATCHES "^19\\."))
      message(WARNING "meanwhile-overlap is for clang 19; ${CMAKE_${language}_COMPILER_ID} "
                      "${CMAKE_${language}_COMPILER_VERSION} compiles ${language} without it")
    endif()
  endforeach()
  add_library(meanwhile::overlap INTERFACE IMPORTED)
  foreach(language C CXX)
    if(CMAKE_${language}_COMPILER_ID STREQUAL "Clang" AND CMAKE_${language}_COMPILER_VERSION MATCHES "^19\\.")
      target_compile_options(meanwhile::overlap INTERFACE "$<$<COMPILE_LANGUAGE:${language}>:-fpass-plugin=${meanwhile_overlap_plugin}>")
    endif()
  endforeach()
endif()
