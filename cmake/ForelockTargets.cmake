# One CMake target per room. A room is a static library: the rooms of the library end up in libforelock,
# and a room can include only what it links, so a wrong include does not compile.
include(GNUInstallDirs)

add_library(forelock_options INTERFACE)
target_compile_features(forelock_options INTERFACE cxx_std_20)
target_compile_options(forelock_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor -Woverloaded-virtual
  -Wcast-align -Wformat=2 -Wimplicit-fallthrough $<$<BOOL:${FORELOCK_WARNINGS_AS_ERRORS}>:-Werror>)
if(CMAKE_UNITY_BUILD)
  # It takes a source file that is included by a unit for a header.
  target_compile_options(forelock_options INTERFACE -Wno-subobject-linkage)
endif()
if(FORELOCK_SANITIZE)
  target_compile_options(forelock_options INTERFACE
    -fsanitize=${FORELOCK_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(forelock_options INTERFACE -fsanitize=${FORELOCK_SANITIZE})
endif()

# forelock_room(NAME [MUTATIONS] SOURCES... [USES rooms-or-libraries...]): a room, linked as forelock_room_NAME.
# Its headers are included as "NAME/header.h". MUTATIONS: for the tests there is also forelock_room_NAME_mutation, the
# same with its deliberate bugs compiled in, over such builds of the rooms below that have some.
set(forelock_rooms_with_mutations "^(forelock_room_(agent|grouping|linger|lock|retry|sets))$")
function(forelock_room name)
  cmake_parse_arguments(ROOM "MUTATIONS" "" "SOURCES;USES" ${ARGN})
  add_library(forelock_room_${name} STATIC ${ROOM_SOURCES})
  set_target_properties(forelock_room_${name} PROPERTIES
    POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON CXX_EXTENSIONS OFF)
  target_include_directories(forelock_room_${name}
    PUBLIC "${PROJECT_SOURCE_DIR}/include" "${PROJECT_BINARY_DIR}/include" "${PROJECT_BINARY_DIR}/rooms/${name}")
  # Only this room's folder is visible under its own name: a room sees the rooms that it uses, and no other.
  file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/rooms/${name}")
  file(CREATE_LINK "${CMAKE_CURRENT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}/rooms/${name}/${name}" SYMBOLIC)
  target_link_libraries(forelock_room_${name} PUBLIC ${ROOM_USES} PRIVATE forelock_options)
  # A unity build keeps the subfolders of a room apart: their files may have names in common.
  if(ROOM_SOURCES MATCHES "/")
    set_target_properties(forelock_room_${name} PROPERTIES UNITY_BUILD_MODE GROUP)
    foreach(source IN LISTS ROOM_SOURCES)
      cmake_path(GET source PARENT_PATH folder)
      set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "top${folder}")
    endforeach()
  endif()
  if(ROOM_MUTATIONS AND FORELOCK_BUILD_TESTS)
    set(uses ${ROOM_USES})
    list(TRANSFORM uses REPLACE "${forelock_rooms_with_mutations}" "\\1_mutation")
    forelock_room(${name}_mutation SOURCES ${ROOM_SOURCES} USES ${uses})
    target_compile_definitions(forelock_room_${name}_mutation PUBLIC FORELOCK_MUTATION_BUILD)
    target_include_directories(forelock_room_${name}_mutation PUBLIC "${PROJECT_BINARY_DIR}/rooms/${name}")
  endif()
endfunction()

# forelock_evidence(TEST...): these are run by scripts/evidence.sh, not by scripts/test.sh.
function(forelock_evidence)
  foreach(test IN LISTS ARGN)
    set_property(TEST ${test} APPEND PROPERTY LABELS evidence)
  endforeach()
endfunction()

# forelock_test(NAME SOURCES... USES... [LABELS...] [TIMEOUT s]): one gtest program, registered with CTest. Those
# with the label "unit" are built by the target unit_tests, not by all.
function(forelock_test name)
  cmake_parse_arguments(T "" "TIMEOUT" "SOURCES;USES;LABELS" ${ARGN})
  add_executable(${name} ${T_SOURCES})
  if("unit" IN_LIST T_LABELS)
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
    add_dependencies(unit_tests ${name})
  endif()
  # For scripts/check.sh: the tests of a room.
  if(name MATCHES "^unit_")
    set(rooms ${T_USES})
    list(FILTER rooms INCLUDE REGEX "^forelock_room_")
    foreach(room IN LISTS rooms)
      string(REPLACE "forelock_room_" "" room ${room})
      file(APPEND "${PROJECT_BINARY_DIR}/check/${room}" "${name}\n")
    endforeach()
  endif()
  target_link_libraries(${name} PRIVATE ${T_USES} GTest::gmock GTest::gtest_main forelock_options)
  if(NOT T_TIMEOUT)
    set(T_TIMEOUT 120)
  endif()
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "${T_LABELS}" TIMEOUT ${T_TIMEOUT})
endfunction()
