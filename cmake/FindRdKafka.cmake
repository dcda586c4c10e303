# Finds Kafka's C client (Debian: librdkafka-dev) as RdKafka::rdkafka.
find_path(RdKafka_INCLUDE_DIR librdkafka/rdkafka.h)
find_library(RdKafka_LIBRARY rdkafka)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(RdKafka REQUIRED_VARS RdKafka_LIBRARY RdKafka_INCLUDE_DIR)
if(RdKafka_FOUND AND NOT TARGET RdKafka::rdkafka)
  add_library(RdKafka::rdkafka UNKNOWN IMPORTED)
  set_target_properties(RdKafka::rdkafka PROPERTIES
    IMPORTED_LOCATION "${RdKafka_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${RdKafka_INCLUDE_DIR}")
endif()
