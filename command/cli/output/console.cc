#include "cli/output/console.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "cli/exit_code.h"
#include "cli/log/command_log.h"
#include "cli/output/json_output.h"
#include "cli/output/message_writer.h"

namespace forelock::cli {
namespace {

// 0, or the errno of a failure.
int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

bool wants_color(const std::string& mode, int descriptor) {
  if (mode != "auto") return mode == "always";
  const char* no_color = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  const bool refused = no_color != nullptr && *no_color != '\0';
  const bool dumb = terminal == nullptr || std::string_view(terminal) == "dumb";
  return !refused && !dumb && isatty(descriptor) == 1;
}

std::string_view escape_of(Style style) {
  switch (style) {
    case Style::heading:
      return "\x1b[1m";
    case Style::good:
      return "\x1b[32m";
    case Style::warning:
      return "\x1b[33m";
    case Style::bad:
      return "\x1b[31m";
    case Style::faint:
      return "\x1b[2m";
    case Style::plain:
      break;
  }
  return "";
}

std::string paint(std::string_view text, Style style, bool color) {
  const std::string_view escape = color ? escape_of(style) : "";
  if (escape.empty()) return std::string(text);
  return std::string(escape) + std::string(text) + "\x1b[0m";
}

nlohmann::ordered_json or_null(const std::string& text) {
  return text.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(text);
}

nlohmann::ordered_json json_of(const Failure& failure) {
  nlohmann::ordered_json error = {{"code", failure.code},
                                  {"message", failure.message},
                                  {"hint", or_null(failure.hint)},
                                  {"monitor", or_null(failure.monitor)},
                                  {"retryable", failure.retryable}};
  if (!failure.problems.empty()) {
    auto& problems = error["problems"] = nlohmann::ordered_json::array();
    for (const ConfigurationProblem& problem : failure.problems) {
      problems.push_back({{"file", problem.file},
                          {"line", problem.line},
                          {"key", problem.key},
                          {"message", problem.message},
                          {"hint", problem.hint}});
    }
  }
  if (failure.details) error.update(*failure.details);
  return {{"error", std::move(error)}};
}

}  // namespace

Console::Console(ConsoleOptions options)
    : options_(std::move(options)),
      stdout_is_terminal_(isatty(STDOUT_FILENO) == 1),
      stdout_color_(wants_color(options_.color, STDOUT_FILENO)),
      stderr_color_(wants_color(options_.color, STDERR_FILENO)) {}

int Console::terminal_columns() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

void Console::write(std::string_view text) const {
  const int error = write_all(STDOUT_FILENO, text);
  if (error == EPIPE) throw OutputClosed{};
  if (error != 0) {
    throw FailureException({exit_output,
                            "output",
                            "cannot write the result: " + std::generic_category().message(error),
                            {},
                            {},
                            false,
                            {}});
  }
}

void Console::write_json(const nlohmann::ordered_json& json) const {
  write(json_text(json) + '\n');
}

void Console::note(std::string_view message) const {
  CommandLog::instance().write("info", message);
  if (!options_.quiet) tell(message);
}

void Console::warn(std::string_view message) const {
  CommandLog::instance().write("warning", message);
  tell(message);
}

void Console::tell(std::string_view message) const {
  if (!text()) return write_json_to_stderr({{"message", std::string(message)}});
  MessageWriter::of_stderr().write("forelock: " + printable(message) + '\n');
}

void Console::report(const Failure& failure) const {
  CommandLog::instance().write("error", failure.code + ": " + failure.message);
  if (!text()) {
    write_json_to_stderr(json_of(failure));
    return;
  }
  // A configuration's problems say file and line themselves.
  std::string message = failure.problems.empty()
                            ? paint("forelock: ", Style::bad, stderr_color_) + printable(failure.message)
                            : failure.message;
  message += '\n';
  if (!failure.hint.empty())
    message += paint("  hint: ", Style::heading, stderr_color_) + printable(failure.hint) + '\n';
  MessageWriter::of_stderr().write(std::move(message));
}

std::string Console::styled(std::string_view text, Style style) const {
  return paint(text, style, stdout_color_);
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    // U+0080 to U+009F, two bytes in UTF-8, steer terminals too.
    const bool c1 = c == 0xC2 && i + 1 < text.size() && (static_cast<unsigned char>(text[i + 1]) & 0xE0U) == 0x80;
    if (c1) ++i;
    if (c == '\n' || c == '\t' || c == '\r') {
      out += ' ';
    } else {
      out += c < 0x20 || c == 0x7F || c1 ? '?' : text[i];
    }
  }
  return out;
}

}  // namespace forelock::cli
