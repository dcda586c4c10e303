// A Console is where results and everything else go: results to stdout, the rest to stderr, where a reader that does
// not read blocks nothing.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "cli/failure.h"

namespace forelock::cli {

enum class Format { text, json, ndjson };

// One of the few things that colour says; without colour the text says it alone.
enum class Style { plain, heading, good, warning, bad, faint };

// The reader of stdout has gone away: the rest is not wanted.
struct OutputClosed {};

struct ConsoleOptions {
  Format format = Format::text;
  bool quiet = false;
  int verbosity = 0;
  std::string color = "auto";  // or "always", "never"
};

class Console {
 public:
  explicit Console(ConsoleOptions options);

  Format format() const { return options_.format; }
  bool text() const { return options_.format == Format::text; }
  bool quiet() const { return options_.quiet; }
  int verbosity() const { return options_.verbosity; }
  bool stdout_is_terminal() const { return stdout_is_terminal_; }
  // Columns of the terminal behind stdout; 0 where there is none.
  static int terminal_columns();

  // Writes a result to stdout. \throws OutputClosed, FailureException.
  void write(std::string_view text) const;
  // Writes a result as one line of JSON.
  void write_json(const nlohmann::ordered_json& json) const;

  // As warn(), for what the log has already.
  void tell(std::string_view message) const;
  // The following go into the log file too, if there is one.
  // For people, one line on stderr, made printable; not with -q.
  void note(std::string_view message) const;
  // For people, one line on stderr, made printable; always.
  void warn(std::string_view message) const;
  // On stderr: for people, or as one JSON object.
  void report(const Failure& failure) const;

  // With colour on stdout, if there is to be colour.
  std::string styled(std::string_view text, Style style) const;

 private:
  ConsoleOptions options_;
  bool stdout_is_terminal_;
  bool stdout_color_;
  bool stderr_color_;
};

// What others wrote must not steer our terminal: control characters become '?', newlines and tabs a blank.
std::string printable(std::string_view text);

}  // namespace forelock::cli
