include(${CMAKE_CURRENT_LIST_DIR}/@NAME@-targets.cmake)
