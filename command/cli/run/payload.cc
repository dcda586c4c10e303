#include "cli/run/payload.h"

#include <fcntl.h>

#include <cerrno>
#include <memory>
#include <system_error>
#include <utility>

#include "cli/failure.h"
#include "cli/left_behind.h"
#include "cli/process/descriptor.h"
#include "forelock/operation.h"

namespace forelock::cli {
namespace {

[[noreturn]] void throw_unreadable(const std::string& file, int error) {
  throw_usage("run: --payload " + file + ": " + std::generic_category().message(error));
}

std::string read_all(const std::string& file) {
  const Descriptor input(file == "-" ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                                     : open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (input.get() < 0) throw_unreadable(file, errno);
  std::string payload(Operation::max_payload_bytes + 1, '\0');  // one more tells that there is too much
  std::size_t size = 0;
  while (size < payload.size()) {
    const ssize_t count = read(input.get(), payload.data() + size, payload.size() - size);
    if (count == 0) break;
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw_unreadable(file, errno);
    size += static_cast<std::size_t>(count);
  }
  if (size > Operation::max_payload_bytes) {
    throw_usage("run: --payload " + file + " is larger than " + std::to_string(Operation::max_payload_bytes) + " bytes",
                "put it into a store, and its place there into the payload");
  }
  payload.resize(size);
  return payload;
}

}  // namespace

std::string read_payload(const std::string& file, SignalSource& signals) {
  const auto payload = std::make_shared<std::string>();
  do_unless_signalled([payload, file] { *payload = read_all(file); }, signals);
  return std::move(*payload);
}

}  // namespace forelock::cli
