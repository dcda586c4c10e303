#include "config/properties.h"

#include <charconv>
#include <cstddef>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/utf8.h"
#include "config/encoding.h"
#include "config/option_table.h"
#include "config/printable.h"
#include "config/problems.h"

namespace forelock::config {
namespace {

constexpr bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\f';
}
constexpr bool is_line_end(char c) {
  return c == '\n' || c == '\r';
}
constexpr bool is_separator(char c) {
  return c == '=' || c == ':';
}

// Joins the natural lines of a text to logical ones: comments, blank lines and leading blanks are gone, continuations
// resolved. Same steps as the LineReader inside java.util.Properties, so that its odd corners come out the same: after
// a backslash alone on its line a comment may follow, and a backslash alone at the end of the file is an empty key.
class LogicalLines {
 public:
  explicit LogicalLines(std::string_view text) : rest_(text) {}

  // Goes to the next logical line; false at the end.
  bool next() {
    text_.clear();
    bool skipping_blanks = true;
    bool continued = false;
    bool backslash = false;  // the last character is a backslash that is not itself escaped
    while (!rest_.empty()) {
      const int line = next_line_;
      const char c = take();
      if (skipping_blanks) {
        if (is_blank(c) || (!continued && is_line_end(c))) continue;
        skipping_blanks = false;
        continued = false;
      }
      if (text_.empty() && (c == '#' || c == '!')) {
        while (!rest_.empty() && !is_line_end(take())) {
        }
        skipping_blanks = true;
      } else if (!is_line_end(c)) {
        if (text_.empty()) line_ = line;
        text_ += c;
        backslash = c == '\\' && !backslash;
      } else if (text_.empty()) {
        skipping_blanks = true;
      } else if (!backslash) {
        return true;
      } else if (!rest_.empty()) {
        text_.pop_back();
        if (c == '\r' && rest_.front() == '\n') take();
        skipping_blanks = true;
        continued = true;
        backslash = false;
      }
    }
    if (text_.empty()) return false;
    if (backslash) text_.pop_back();
    return true;
  }

  std::string_view text() const { return text_; }
  int line() const { return line_; }  // where it begins

 private:
  char take() {
    const char c = rest_.front();
    if (c == '\r' || (c == '\n' && last_ != '\r')) ++next_line_;
    last_ = c;
    rest_.remove_prefix(1);
    return c;
  }

  std::string_view rest_;
  std::string text_;
  int line_ = 1;
  int next_line_ = 1;
  char last_ = '\0';
};

// Collects UTF-16 units of \uxxxx escapes and bytes of UTF-8, and makes UTF-8 of both.
class Utf8Writer {
 public:
  void byte(char c) {
    end_pair();
    out_ += c;
  }

  void unit(char32_t unit) {
    const bool is_low = unit >= 0xDC00 && unit <= 0xDFFF;
    if (high_ != 0 && is_low) {
      base::append_utf8(0x10000 + ((high_ - 0xD800) << 10) + (unit - 0xDC00), out_);
      high_ = 0;
      return;
    }
    end_pair();
    if (unit >= 0xD800 && unit <= 0xDBFF) {
      high_ = unit;
    } else {
      base::append_utf8(is_low ? replacement_character : unit, out_);
    }
  }

  std::string finish() {
    end_pair();
    return std::move(out_);
  }

 private:
  void end_pair() {
    if (high_ != 0) base::append_utf8(replacement_character, out_);
    high_ = 0;
  }

  std::string out_;
  char32_t high_ = 0;  // a high surrogate that waits for its partner
};

char32_t hexadecimal_unit(std::string_view text, std::size_t at, std::string_view file, int line) {
  const std::string_view digits = text.substr(at, 4);
  unsigned unit = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), unit, 16);
  if (digits.size() != 4 || error != std::errc{} || end != digits.data() + 4) {
    fail(file, line, "a malformed \\uxxxx escape", "write four hexadecimal digits after \\u, or \\\\ for a backslash");
  }
  return unit;
}

std::string unescape(std::string_view text, std::string_view file, int line) {
  Utf8Writer out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    // A logical line never ends inside an escape, so there is a character after a backslash.
    if (text[i] != '\\' || i + 1 == text.size()) {
      out.byte(text[i]);
      continue;
    }
    const char c = text[++i];
    if (c == 'u') {
      out.unit(hexadecimal_unit(text, i + 1, file, line));
      i += 4;
    } else {
      out.byte(c == 't' ? '\t' : c == 'n' ? '\n' : c == 'r' ? '\r' : c == 'f' ? '\f' : c);
    }
  }
  return out.finish();
}

Property split(std::string_view text, std::string_view file, int line) {
  std::size_t key_end = 0;
  bool escaped = false;
  for (; key_end < text.size(); ++key_end) {
    const char c = text[key_end];
    if (!escaped && (is_separator(c) || is_blank(c))) break;
    escaped = c == '\\' && !escaped;
  }
  std::size_t value = key_end;
  bool separated = false;
  for (; value < text.size(); ++value) {
    if (is_blank(text[value])) continue;
    if (separated || !is_separator(text[value])) break;
    separated = true;
  }
  return {unescape(text.substr(0, key_end), file, line), unescape(text.substr(value), file, line), line};
}

// As Java reads a stream of bytes: each is a character.
std::string from_latin1(std::string_view text) {
  std::string out;
  for (const char c : text) base::append_utf8(static_cast<unsigned char>(c), out);
  return out;
}

// Many files of Java programs are Latin-1. In what is not ours that is of no interest; in a key or a value of ours it
// would be read as other characters than were meant.
Property property_of(const LogicalLines& lines, std::string_view file) {
  if (base::is_utf8(lines.text())) return split(lines.text(), file, lines.line());
  Property property = split(from_latin1(lines.text()), file, lines.line());
  if (is_own_key(property.key)) {
    throw ConfigurationException({{std::string(file), lines.line(), printable(property.key), "a byte that is not UTF-8",
                                   "save the file in the encoding UTF-8, or write \\uXXXX"}});
  }
  return property;
}

}  // namespace

std::vector<Property> parse_properties(std::string_view text, std::string_view file) {
  if (text.starts_with("\xFE\xFF") || text.starts_with("\xFF\xFE")) {
    fail(file, 1, "the file is UTF-16", "save the file in the encoding UTF-8");
  }
  std::vector<Property> properties;
  std::unordered_map<std::string, std::size_t> places;
  for (LogicalLines lines(text); lines.next();) {
    Property property = property_of(lines, file);
    const auto [place, is_new] = places.try_emplace(property.key, properties.size());
    if (is_new) {
      properties.push_back(std::move(property));
    } else {
      properties[place->second] = std::move(property);
    }
  }
  return properties;
}

}  // namespace forelock::config
