# The libraries that users link, made from the rooms, and everything that is installed. Included last: it needs the
# rooms.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# forelock_outside_uses(OUT ROOM...): what the rooms link beyond other rooms. Libraries of headers alone are left out:
# whoever links the static library must not need them.
function(forelock_outside_uses out)
  set(pending ${ARGN})
  set(seen "")
  set(outside "")
  while(pending)
    list(POP_FRONT pending room)
    if(room IN_LIST seen)
      continue()
    endif()
    list(APPEND seen ${room})
    get_target_property(uses ${room} LINK_LIBRARIES)
    foreach(use IN LISTS uses)
      if(use MATCHES "^forelock_room_")
        list(APPEND pending ${use})
      elseif(use AND NOT use STREQUAL "forelock_options")
        list(APPEND outside ${use})
      endif()
    endforeach()
  endwhile()
  list(REMOVE_ITEM outside nlohmann_json::nlohmann_json)
  list(REMOVE_DUPLICATES outside)
  set(${out} ${outside} PARENT_SCOPE)
endfunction()

# forelock_library(TARGET OUTPUT-NAME ROOM...): one of the libraries that users link, made from these rooms, without
# what it links.
function(forelock_library target name)
  set(objects ${ARGN})
  list(TRANSFORM objects REPLACE "(.+)" "$<TARGET_OBJECTS:forelock_room_\\1>")
  add_library(${target} ${objects})
  # Before 1.0 a minor version may change the ABI, so it is part of the SONAME.
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name}
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
    LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib" ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib"
    LINKER_LANGUAGE CXX)
  target_include_directories(${target} PUBLIC
    "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>" "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
  target_compile_features(${target} PUBLIC cxx_std_20)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "SHARED_LIBRARY")
    # Hidden visibility does not cover what the standard library's headers instantiate in here; the script does.
    set(exports "${PROJECT_SOURCE_DIR}/cmake/forelock.exports")
    # Never unloaded: threads that look a name up are not waited for, and ZooKeeper's client calls into it.
    target_link_options(${target} PRIVATE
      "LINKER:--version-script=${exports}" "LINKER:--as-needed" "LINKER:--exclude-libs,ALL" "LINKER:-z,nodelete")
    if(NOT FORELOCK_SANITIZE)
      target_link_options(${target} PRIVATE "LINKER:--no-undefined")  # a sanitizer's runtime comes with the program
    endif()
    set_target_properties(${target} PROPERTIES LINK_DEPENDS "${exports}")
  endif()
endfunction()

# The lock: needs ZooKeeper's client.
set(forelock_rooms
  base coordination grouping lock config records session_file zookeeper retry sets linger agent client capi)
forelock_library(forelock forelock ${forelock_rooms})
add_library(forelock::forelock ALIAS forelock)
list(TRANSFORM forelock_rooms PREPEND forelock_room_)
forelock_outside_uses(forelock_dependencies ${forelock_rooms})
target_link_libraries(forelock PRIVATE ${forelock_dependencies} "$<BUILD_INTERFACE:forelock_options>")
set(forelock_targets forelock)

# The dead-letter queue: needs SQLite and Kafka's client besides.
if(FORELOCK_BUILD_DLQ)
  set(forelock_dlq_rooms base letter outbox kafka drain forward capi_dlq)
  forelock_library(forelock_dlq forelock-dlq ${forelock_dlq_rooms})
  add_library(forelock::dlq ALIAS forelock_dlq)
  set_target_properties(forelock_dlq PROPERTIES EXPORT_NAME dlq)
  list(TRANSFORM forelock_dlq_rooms PREPEND forelock_room_)
  forelock_outside_uses(forelock_dlq_dependencies ${forelock_dlq_rooms})
  list(REMOVE_ITEM forelock_dlq_dependencies ${forelock_dependencies})
  target_link_libraries(forelock_dlq
    PUBLIC forelock PRIVATE ${forelock_dlq_dependencies} "$<BUILD_INTERFACE:forelock_options>")
  if(BUILD_SHARED_LIBS)
    # What libforelock exports comes from there; the rest of these rooms is hidden there, so it gets its own copy.
    target_link_libraries(forelock_dlq PRIVATE
      "$<BUILD_INTERFACE:forelock_room_config;forelock_room_records;forelock_room_retry>")
  endif()
  list(APPEND forelock_targets forelock_dlq)
endif()

if(NOT FORELOCK_INSTALL)
  return()
endif()

# The C++ runtime, which a program in C that links the static library must name.
set(forelock_cxx_runtime ${CMAKE_CXX_IMPLICIT_LINK_LIBRARIES})
list(FILTER forelock_cxx_runtime INCLUDE REGEX "^(stdc\\+\\+|c\\+\\+|c\\+\\+abi|m)$")
list(REMOVE_DUPLICATES forelock_cxx_runtime)
list(TRANSFORM forelock_cxx_runtime PREPEND "-l" OUTPUT_VARIABLE forelock_cxx_runtime_flags)
list(JOIN forelock_cxx_runtime_flags " " forelock_cxx_runtime_flags)

# A static library needs ZooKeeper's client with TLS beside it, where it was built with that.
set(forelock_zookeeper_flags -lzookeeper_mt)
if(ZooKeeper_TLS)
  set(forelock_zookeeper_flags "-lforelock_zookeeper_mt -lssl -lcrypto")
  if(NOT BUILD_SHARED_LIBS)
    install(FILES "${ZooKeeper_LIBRARY}" DESTINATION "${CMAKE_INSTALL_LIBDIR}")
  endif()
endif()

set(forelock_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/forelock")
install(TARGETS ${forelock_targets} EXPORT forelockTargets)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/forelock" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  FILES_MATCHING PATTERN "*.h")
install(EXPORT forelockTargets NAMESPACE forelock:: DESTINATION "${forelock_package_dir}")

configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/forelockConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/package/forelockConfig.cmake" INSTALL_DESTINATION "${forelock_package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/package/forelockConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES
  "${PROJECT_BINARY_DIR}/package/forelockConfig.cmake" "${PROJECT_BINARY_DIR}/package/forelockConfigVersion.cmake"
  "${CMAKE_CURRENT_LIST_DIR}/FindRdKafka.cmake" "${CMAKE_CURRENT_LIST_DIR}/FindZooKeeper.cmake"
  DESTINATION "${forelock_package_dir}")

# pkg-config finds the prefix from the file's own place, so that an installed tree can be moved.
file(RELATIVE_PATH forelock_prefix_from_pc "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
string(REGEX REPLACE "/$" "" forelock_prefix_from_pc "${forelock_prefix_from_pc}")
foreach(target IN LISTS forelock_targets)
  get_target_property(name ${target} OUTPUT_NAME)
  configure_file("${CMAKE_CURRENT_LIST_DIR}/${name}.pc.in" "${PROJECT_BINARY_DIR}/package/${name}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/package/${name}.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endforeach()
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")

# The completions and the manual page, which the command writes itself.
if(TARGET forelock_cli AND NOT CMAKE_CROSSCOMPILING AND NOT FORELOCK_SANITIZE)
  set(texts "${PROJECT_BINARY_DIR}/texts")
  set(forelock_texts "")
  foreach(text IN ITEMS "forelock.bash|completion bash" "_forelock|completion zsh" "forelock.fish|completion fish"
                        "forelock.1|manpage")
    string(REGEX REPLACE "\\|.*" "" file "${text}")
    string(REGEX REPLACE ".*\\|" "" arguments "${text}")
    separate_arguments(arguments)
    add_custom_command(OUTPUT "${texts}/${file}"
      COMMAND ${CMAKE_COMMAND} -E make_directory "${texts}"
      COMMAND forelock_cli ${arguments} > "${texts}/${file}"
      DEPENDS forelock_cli VERBATIM)
    list(APPEND forelock_texts "${texts}/${file}")
  endforeach()
  add_custom_target(forelock_texts ALL DEPENDS ${forelock_texts})
  install(FILES "${texts}/forelock.bash" RENAME forelock
    DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
  install(FILES "${texts}/_forelock" DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions")
  install(FILES "${texts}/forelock.fish" DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d")
  install(FILES "${texts}/forelock.1" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
  install(FILES "${PROJECT_SOURCE_DIR}/config/forelock-forward.service"
    "${PROJECT_SOURCE_DIR}/config/forelock-forward@.service"
    "${PROJECT_SOURCE_DIR}/config/forelock-serve.service" DESTINATION lib/systemd/system)
  install(FILES "${PROJECT_SOURCE_DIR}/config/prometheus-alerts.yaml"
    "${PROJECT_SOURCE_DIR}/config/grafana-dashboard.json" DESTINATION "${CMAKE_INSTALL_DATADIR}/forelock")
  install(FILES "${PROJECT_SOURCE_DIR}/config/forelock.sysusers" RENAME forelock.conf DESTINATION lib/sysusers.d)
endif()
