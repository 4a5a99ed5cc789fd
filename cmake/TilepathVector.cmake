# exec/alu/vector/: the bodies of lane operations, compiled once for every processor of the architecture (as a part of
# tilepath_exec) and again for each vector unit that may be there; which one runs is chosen when the program starts.
file(GLOB vector_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/exec/alu/vector/*.cpp)
# No body sets errno or looks at floating-point exceptions, which would keep loops from being vectorised.
# Builds for one vector unit ask for speed of compilation instead.
set_source_files_properties(${vector_sources} PROPERTIES
  COMPILE_OPTIONS "$<IF:$<BOOL:${TILEPATH_ONE_VECTOR_UNIT}>,-O1,-O3>;-fno-math-errno;-fno-trapping-math" SKIP_PRECOMPILE_HEADERS ON)
set_property(SOURCE ${CMAKE_CURRENT_SOURCE_DIR}/exec/alu/vector/rounded.cpp
  APPEND PROPERTY COMPILE_OPTIONS "-frounding-math")

function(tilepath_vector_target name)
  add_library(tilepath_exec_${name} OBJECT ${vector_sources})
  target_compile_definitions(tilepath_exec_${name} PRIVATE TILEPATH_ALU_TARGET=${name})
  target_compile_options(tilepath_exec_${name} PRIVATE -fno-strict-aliasing ${ARGN})
  target_include_directories(tilepath_exec_${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(tilepath_exec_${name} PRIVATE tilepath_flags)
  target_sources(tilepath_exec PRIVATE $<TARGET_OBJECTS:tilepath_exec_${name}>)
endfunction()

if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$" AND NOT TILEPATH_ONE_VECTOR_UNIT)
  set(avx2 -mavx2 -mfma -mbmi -mbmi2 -mlzcnt -mpopcnt -mf16c)
  tilepath_vector_target(avx2 ${avx2})
  tilepath_vector_target(avx512 ${avx2} -mavx512f -mavx512bw -mavx512dq -mavx512vl -mprefer-vector-width=512)
endif()
