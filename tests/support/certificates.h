#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "support/child_process.h"

namespace forelock::test {

// A certificate and its key, both in PEM; the key is closed to others.
struct Identity {
  std::filesystem::path certificate;
  std::filesystem::path key;
};

// What an authority signs.
struct IdentityOptions {
  std::string names = {};     // "DNS:a.example,IP:127.0.0.1"; empty: no such extension
  std::string password = {};  // of the key; empty: not encrypted
  bool expired = false;       // since a year
};

// An authority that openssl makes, in a folder that the caller keeps. Throws std::runtime_error with what openssl says.
class Authority {
 public:
  Authority(std::filesystem::path folder, const std::string& name);
  // One between `above` and those that it signs.
  Authority(std::filesystem::path folder, const std::string& name, const Authority& above);

  const std::filesystem::path& certificate() const { return certificate_; }
  // `name` is the subject's, and begins the names of the files: those of an earlier one are replaced at once.
  Identity issue(const std::string& name, const IdentityOptions& options) const;
  // A list in which these are revoked; its own time may be over.
  std::filesystem::path revoke(const std::vector<Identity>& revoked, bool expired = false) const;

 private:
  Authority(std::filesystem::path folder, const std::string& name, const Authority* above);
  std::filesystem::path file(const std::string& name) const { return folder_ / (name_ + "-" + name); }
  void run(std::vector<std::string> command) const;

  const std::filesystem::path folder_;
  const std::string name_;
  std::filesystem::path certificate_;
};

// The key and the certificate in one file, as ZooKeeper's servers take them.
std::filesystem::path joined(const Identity& identity);

}  // namespace forelock::test
