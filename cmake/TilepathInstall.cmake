# cmake --install: the program, the headers of include/tilepath, and tilepath::tilepath for find_package. The libraries of
# the folders are static, so the package names what they link: see tilepath-config.cmake.in.
include(CMakePackageConfigHelpers)

# What the API stands on; the program's own folders stay out.
get_property(installed GLOBAL PROPERTY TILEPATH_FOLDERS)
list(REMOVE_ITEM installed tilepath_cli tilepath_report)
set_target_properties(tilepath_api PROPERTIES EXPORT_NAME tilepath)
target_compile_features(tilepath_api PUBLIC cxx_std_23)
add_library(tilepath::tilepath ALIAS tilepath_api)

set(package_directory ${CMAKE_INSTALL_LIBDIR}/cmake/tilepath)
install(TARGETS ${installed} EXPORT tilepath ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT tilepath NAMESPACE tilepath:: FILE tilepath-targets.cmake DESTINATION ${package_directory})
install(DIRECTORY include/tilepath DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} PATTERN diagnostic.h EXCLUDE)
# diagnostic.h passes on base/'s Diagnostic and Result; installed, it holds them, since src/ stays behind.
set(diagnostic_header "#pragma once\n")
foreach(file diagnostic.h result.h)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS src/base/${file})
  file(READ src/base/${file} text)
  string(REGEX REPLACE "#pragma once\n|#include \"[^\n]*\"\n" "" text "${text}")
  string(APPEND diagnostic_header "${text}")
endforeach()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/include/tilepath/diagnostic.h CONTENT "${diagnostic_header}" @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/include/tilepath/diagnostic.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tilepath)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(TARGET tilepath_cli_program)
  install(TARGETS tilepath_cli_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  if(NOT CMAKE_CROSSCOMPILING)
    set(texts ${PROJECT_BINARY_DIR}/texts)
    install(FILES ${texts}/tilepath DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
    install(FILES ${texts}/_tilepath DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
    install(FILES ${texts}/tilepath.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
    install(FILES ${texts}/tilepath.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  endif()
endif()

configure_package_config_file(cmake/tilepath-config.cmake.in ${PROJECT_BINARY_DIR}/tilepath-config.cmake
  INSTALL_DESTINATION ${package_directory})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tilepath-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tilepath-config.cmake ${PROJECT_BINARY_DIR}/tilepath-config-version.cmake
  DESTINATION ${package_directory})
