# One library per folder of src/. A folder names the folders it uses; every test links one folder's library, so that a use
# of a folder which is not named does not link.

add_library(tilepath_flags INTERFACE)
# The precompiled headers are named <…>, not by path: builds in different folders then share ccache's results.
target_include_directories(tilepath_flags INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/cmake>)
# Results are defined to the bit: no contraction of a*b+c into fma, no fast-math.
target_compile_options(tilepath_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -ffp-contract=off
  $<$<BOOL:${TILEPATH_WERROR}>:-Werror>
  $<$<BOOL:${TILEPATH_FUZZ}>:-fsanitize=fuzzer-no-link>)
# Fuzz programs are compiled for one vector unit: clang with sanitizers takes minutes for each.
target_compile_definitions(tilepath_flags INTERFACE
  $<$<BOOL:${TILEPATH_FUZZ}>:TILEPATH_ASSERT_ABORTS>
  $<$<BOOL:${TILEPATH_ONE_VECTOR_UNIT}>:TILEPATH_ONE_VECTOR_UNIT;HWY_COMPILE_ONLY_STATIC>)
# g++ 12 warns of overflows inside its own std::string and std::vector once it has inlined them: told, but no error.
if(TILEPATH_WERROR AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(tilepath_flags INTERFACE -Wno-error=stringop-overflow -Wno-error=stringop-overread
    -Wno-error=array-bounds -Wno-error=restrict -Wno-error=maybe-uninitialized)
endif()
if(TILEPATH_SANITIZE)
  target_compile_options(tilepath_flags INTERFACE -fsanitize=${TILEPATH_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=all)
  target_link_options(tilepath_flags INTERFACE -fsanitize=${TILEPATH_SANITIZE})
endif()

# tilepath_folder(NAME [USES folder...] [PRIVATE library...])
function(tilepath_folder name)
  cmake_parse_arguments(arg "" "" "USES;PRIVATE" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "/main\\.cpp$")
  list(TRANSFORM arg_USES PREPEND tilepath_)
  if(sources)
    add_library(tilepath_${name} STATIC ${sources})
    target_link_libraries(tilepath_${name} PUBLIC ${arg_USES} PRIVATE ${arg_PRIVATE} $<BUILD_INTERFACE:tilepath_flags>)
    target_include_directories(tilepath_${name} PUBLIC $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}>
      $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    target_precompile_headers(tilepath_${name} PRIVATE <precompiled.h>)
  else()
    add_library(tilepath_${name} INTERFACE)
    target_link_libraries(tilepath_${name} INTERFACE ${arg_USES})
    target_include_directories(tilepath_${name} INTERFACE $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}>
      $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  endif()
  set_property(GLOBAL APPEND PROPERTY TILEPATH_FOLDERS tilepath_${name})
endfunction()

# tilepath_test(FOLDER [USES library...]): tests/FOLDER/*.cpp as one GoogleTest program, linked with that folder alone.
function(tilepath_test folder)
  cmake_parse_arguments(arg "" "" "USES" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cpp)
  if(NOT sources)
    return()
  endif()
  add_executable(test_${folder} ${sources})
  target_link_libraries(test_${folder} PRIVATE tilepath_${folder} ${arg_USES} tilepath_flags GTest::gtest_main GTest::gmock)
  target_include_directories(test_${folder} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_compile_definitions(test_${folder} PRIVATE TILEPATH_TEST_DIR="${CMAKE_CURRENT_SOURCE_DIR}")
  target_precompile_headers(test_${folder} PRIVATE <precompiled_test.h>)
  gtest_discover_tests(test_${folder} DISCOVERY_MODE PRE_TEST TEST_PREFIX "${folder}." PROPERTIES TIMEOUT 600)
endfunction()
