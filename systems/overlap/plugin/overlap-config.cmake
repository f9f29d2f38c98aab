# find_package(overlap) defines overlap::overlap; linking a target to it compiles the target with
# the plugin. The compiler must be clang 19. Options go through the environment variable
# MEANWHILE_OVERLAP, such as "strength=frontier,progress=auto,collectives=safe".
if(NOT TARGET overlap::overlap)
  get_filename_component(overlap_plugin "${CMAKE_CURRENT_LIST_DIR}/../../overlap.so" ABSOLUTE)
  add_library(overlap::overlap INTERFACE IMPORTED)
  target_compile_options(overlap::overlap INTERFACE "-fpass-plugin=${overlap_plugin}")
endif()
