// The findings of the doctor.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace forelock::cli {

enum class Health { ok, warn, fail };

struct Finding {
  Health health = Health::ok;
  std::string check;      // stable, short: "dns", "session"
  std::string message;    // what was seen
  std::string hint = {};  // what to do about it; empty when there is nothing to do
  int exit_code = 0;      // of a failure
};

enum class DoctorScope { all, quick };

// In the order of the checks.
class DoctorReport {
 public:
  void ok(std::string check, std::string message);
  void warn(std::string check, std::string message, std::string hint);
  void fail(std::string check, std::string message, std::string hint, int exit_code);

  const std::vector<Finding>& findings() const { return findings_; }
  // 0, or that of the first failure.
  int exit_code() const;
  std::size_t warnings() const;
  bool warns_of(std::string_view check) const;

 private:
  std::vector<Finding> findings_;
};

}  // namespace forelock::cli
