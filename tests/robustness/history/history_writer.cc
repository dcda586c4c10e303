#include "robustness/history/history_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include "records/json_text.h"

namespace forelock::robustness {
namespace {

std::string json_string(std::string_view text) {
  std::string json = "\"";
  records::append_json_text(text, json);
  return json + '"';
}

}  // namespace

HistoryEvent::HistoryEvent(const HistoryWriter& writer, std::string_view name, Clock::time_point at) : writer_(writer) {
  const auto time = std::chrono::duration_cast<std::chrono::nanoseconds>(at.time_since_epoch());
  line_ = "{\"t\":" + std::to_string(time.count()) + writer.who_ + ",\"event\":" + json_string(name);
}

HistoryEvent::HistoryEvent(HistoryEvent&& other) noexcept
    : writer_(other.writer_), line_(std::exchange(other.line_, {})) {}

HistoryEvent::~HistoryEvent() {
  if (line_.empty()) return;
  line_ += "}\n";
  if (write(writer_.file_, line_.data(), line_.size()) == static_cast<ssize_t>(line_.size())) return;
  // A history with holes proves nothing.
  std::perror("the history cannot be written");
  std::abort();
}

HistoryEvent& HistoryEvent::add(std::string_view key, std::string_view text) {
  return add_literal(key, json_string(text));
}

HistoryEvent& HistoryEvent::add_literal(std::string_view key, std::string_view value) {
  line_.append(",\"").append(key).append("\":").append(value);
  return *this;
}

HistoryWriter::HistoryWriter(const std::filesystem::path& directory, const std::string& process, std::string_view kind)
    : process_(process), who_(",\"process\":" + json_string(process) + ",\"kind\":" + json_string(kind)) {
  const auto path = directory / (process + ".ndjson");
  file_ = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file_ < 0) throw std::system_error(errno, std::generic_category(), path.string());
}

HistoryWriter::~HistoryWriter() {
  close(file_);
}

}  // namespace forelock::robustness
