#include "session_file/boot.h"

#include <linux/magic.h>

#include <algorithm>
#include <fstream>
#include <iterator>

namespace forelock::session_file {
namespace {

constexpr long xfs_magic = 0x58465342;  // older systems' linux/magic.h has all but this one

}  // namespace

std::string boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  file >> id;
  return id;
}

bool locks_last(long file_system) {
  constexpr long known[] = {EXT4_SUPER_MAGIC, xfs_magic, BTRFS_SUPER_MAGIC, TMPFS_MAGIC, OVERLAYFS_SUPER_MAGIC};
  return std::find(std::begin(known), std::end(known), file_system) != std::end(known);
}

bool is_overlay(long file_system) {
  return file_system == OVERLAYFS_SUPER_MAGIC;
}

}  // namespace forelock::session_file
