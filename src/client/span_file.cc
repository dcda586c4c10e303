#include "client/span_file.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <system_error>
#include <utility>

namespace forelock::client {
namespace {

// The whole line in one call: the kernel keeps the lines of several processes apart.
std::error_code append_line(const std::filesystem::path& path, const std::string& line) {
  const int file = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0640);
  if (file < 0) return {errno, std::generic_category()};
  std::error_code problem;
  const ssize_t written = ::write(file, line.data(), line.size());
  if (written < 0) {
    problem = {errno, std::generic_category()};
  } else if (static_cast<std::size_t>(written) < line.size()) {
    problem = std::make_error_code(std::errc::no_space_on_device);
  }
  ::close(file);
  return problem;
}

}  // namespace

SpanFile::SpanFile(std::filesystem::path path, records::SpanSource source, std::function<void(const std::string&)> warn)
    : path_(std::move(path)), source_(std::move(source)), warn_(std::move(warn)) {}

void SpanFile::ended(const LockSpan& span) {
  const std::error_code problem = append_line(path_, records::otlp_line(source_, span) + '\n');
  if (!problem) {
    failing_ = false;
  } else if (!std::exchange(failing_, true)) {
    warn_("spans are lost: " + path_.string() + " cannot be written: " + problem.message());
  }
}

std::string service_name() {
  const char* const given = std::getenv("OTEL_SERVICE_NAME");
  if (given != nullptr && *given != '\0') return given;
  return std::string("unknown_service:") + program_invocation_short_name;
}

}  // namespace forelock::client
