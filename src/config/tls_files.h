// Reads the files of `zookeeper.tls.…`.
#pragma once

#include <string>

#include "forelock/settings.h"

namespace forelock::config {

// The texts of the files that are set; the others are empty.
struct TlsTexts {
  std::string authorities;
  std::string certificate;
  std::string key;
  std::string key_password;
  std::string revocations;
};

// At most 1 MiB of each. The key and its password are to be in private files (config/private_file.h), or
// what the program has given. Throws
// ConfigurationException, without any of the contents.
TlsTexts read_tls_files(const Settings& settings);

}  // namespace forelock::config
