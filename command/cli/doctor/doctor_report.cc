#include "cli/doctor/doctor_report.h"

#include <algorithm>
#include <utility>

#include "cli/exit_code.h"

namespace forelock::cli {

void DoctorReport::ok(std::string check, std::string message) {
  findings_.push_back({Health::ok, std::move(check), std::move(message), {}, exit_ok});
}

void DoctorReport::warn(std::string check, std::string message, std::string hint) {
  findings_.push_back({Health::warn, std::move(check), std::move(message), std::move(hint), exit_ok});
}

void DoctorReport::fail(std::string check, std::string message, std::string hint, int exit_code) {
  findings_.push_back({Health::fail, std::move(check), std::move(message), std::move(hint), exit_code});
}

int DoctorReport::exit_code() const {
  for (const Finding& finding : findings_) {
    if (finding.health == Health::fail) return finding.exit_code;
  }
  return exit_ok;
}

std::size_t DoctorReport::warnings() const {
  return static_cast<std::size_t>(std::count_if(findings_.begin(), findings_.end(),
                                                [](const Finding& finding) { return finding.health == Health::warn; }));
}

bool DoctorReport::warns_of(std::string_view check) const {
  return std::any_of(findings_.begin(), findings_.end(), [check](const Finding& finding) {
    return finding.health == Health::warn && finding.check == check;
  });
}

}  // namespace forelock::cli
