#include "cli/log/command_log.h"

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "base/counted.h"
#include "cli/exit_code.h"
#include "cli/failure.h"
#include "cli/log/rotating_file.h"
#include "cli/output/console.h"
#include "cli/output/json_output.h"
#include "cli/output/message_writer.h"
#include "forelock/spdlog_sink.h"

namespace forelock::cli {
namespace {

constexpr const char* time_pattern = "%Y-%m-%dT%H:%M:%S.%eZ";
constexpr const char* text_pattern = "%Y-%m-%dT%H:%M:%S.%eZ %l %P %v";

std::unique_ptr<spdlog::pattern_formatter> in_utc(const char* pattern, const char* end) {
  return std::make_unique<spdlog::pattern_formatter>(pattern, spdlog::pattern_time_type::utc, end);
}

class JsonFormatter final : public spdlog::formatter {
 public:
  void format(const spdlog::details::log_msg& line, spdlog::memory_buf_t& out) override {
    spdlog::memory_buf_t time;
    time_->format(line, time);
    const auto level = spdlog::level::to_string_view(line.level);
    const std::string text = json_text({{"time", std::string(time.data(), time.size())},
                                        {"level", std::string(level.data(), level.size())},
                                        {"pid", getpid()},
                                        {"message", std::string(line.payload.data(), line.payload.size())}}) +
                             '\n';
    out.append(text.data(), text.data() + text.size());
  }
  std::unique_ptr<spdlog::formatter> clone() const override { return std::make_unique<JsonFormatter>(); }

 private:
  std::unique_ptr<spdlog::pattern_formatter> time_ = in_utc(time_pattern, "");
};

std::unique_ptr<spdlog::formatter> formatter_of(const std::string& format) {
  if (format == "json") return std::make_unique<JsonFormatter>();
  return in_utc(text_pattern, "\n");
}

// Hands formatted lines to the thread that writes them.
class WriterSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit WriterSink(MessageWriter::Outlet outlet) : writer_(std::move(outlet)) {}

 private:
  void sink_it_(const spdlog::details::log_msg& line) override {
    spdlog::memory_buf_t text;
    formatter_->format(line, text);
    writer_.write(std::string(text.data(), text.size()));
  }
  void flush_() override { writer_.flush(); }

  MessageWriter writer_;
};

[[noreturn]] void fail(const std::string& path, const std::error_code& error) {
  const bool pipe = error == std::errc::not_supported;
  throw FailureException({exit_output,
                          "output",
                          "the log file " + path + (pipe ? " is no file" : " cannot be written: " + error.message()),
                          pipe ? "name a file with --log-file"
                               : "name a file with --log-file in a folder that this user can write to, on a disk with "
                                 "room; or leave --log-file out",
                          {},
                          false,
                          {}});
}

}  // namespace

struct CommandLog::Open {
  // What the writer's thread alone touches, which no signal reaches: a limit on the size of files is an error there,
  // and does not end the process.
  struct Outlet {
    void append(std::string_view lines) {
      if (lost > 0) {
        if (file.append(note(base::counted(lost, "line was", "lines were") + " lost: the file could not be written"))) {
          ++lost;
          return;
        }
        lost = 0;
      }
      const std::error_code problem = file.append(lines);
      if (!problem) return;
      ++lost;
      error.store(problem.value());
      if (opened.load() && !std::exchange(told, true)) {
        tell("the log file " + file.path() + " cannot be written: " + problem.message() + "; lines are lost");
      }
    }
    std::string note(const std::string& message) const {
      spdlog::memory_buf_t text;
      formatter->format(spdlog::details::log_msg("", spdlog::level::warn, message), text);
      return {text.data(), text.size()};
    }

    RotatingFile file;
    std::unique_ptr<spdlog::formatter> formatter;
    std::function<void(const std::string&)> tell;
    std::size_t lost = 0;
    bool told = false;
    std::atomic<bool> opened{false};
    std::atomic<int> error{0};
  };

  std::shared_ptr<Outlet> outlet;
  std::shared_ptr<spdlog::logger> logger;
  LogSink sink;
};

CommandLog& CommandLog::instance() {
  static auto* const log = new CommandLog();
  return *log;
}

void CommandLog::open(const LogOptions& options, std::string_view first, std::function<void(const std::string&)> tell) {
  std::shared_ptr<Open::Outlet> outlet;
  try {
    outlet.reset(new Open::Outlet{.file = RotatingFile(options.file, RotatingFile::Limits()),
                                  .formatter = formatter_of(options.format),
                                  .tell = std::move(tell)});
  } catch (const std::system_error& error) {
    fail(options.file, error.code());
  }
  auto sink = std::make_shared<WriterSink>(MessageWriter::Outlet{
      .write = [outlet](std::string_view lines) { outlet->append(lines); },
      .left_out =
          [outlet](std::size_t count) {
            return outlet->note(base::counted(count, "line was", "lines were") + " left out: the disk is too slow");
          }});
  sink->set_formatter(formatter_of(options.format));
  auto logger = std::make_shared<spdlog::logger>("forelock", std::move(sink));
  logger->set_error_handler([](const std::string&) {});  // for want of memory
  logger->set_level(spdlog::level::from_str(options.level));
  spdlog_sink(logger)("info", first);
  if (const int error = outlet->error.load(); error != 0) fail(options.file, {error, std::generic_category()});
  outlet->opened.store(true);
  open_ = std::make_shared<Open>(Open{outlet, logger, spdlog_sink(logger)});
}

void CommandLog::write(std::string_view level, std::string_view message) {
  if (open_) open_->sink(level, printable(message));
}

LogDetail CommandLog::detail() const {
  return open_ ? spdlog_detail(*open_->logger) : LogDetail::normal;
}

void CommandLog::flush() {
  if (open_) open_->logger->flush();
}

}  // namespace forelock::cli
