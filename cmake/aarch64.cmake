# A build for aarch64 on another machine, by Debian's cross compiler. scripts/arm64.sh uses it, and names in the
# environment FORELOCK_SYSROOT, a folder with what Debian has for arm64, and FORELOCK_ZOOKEEPER_CLIENT.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_SYSROOT "$ENV{FORELOCK_SYSROOT}")
# Libraries and headers are those of the other system, programs those of this one.
set(CMAKE_FIND_ROOT_PATH "${CMAKE_SYSROOT}" "$ENV{FORELOCK_ZOOKEEPER_CLIENT}")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
