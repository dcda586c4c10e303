#include "cli/help_text.h"

#include <algorithm>

namespace forelock::cli {
namespace {

constexpr std::size_t least_columns = 40;
// A description shares its line with an option if that ends so many blanks before it.
constexpr std::string_view gap = "  ";

// Columns, not bytes: continuation bytes of UTF-8 take none.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80; }));
}

// Where the text in a line begins that goes on in the next one.
std::size_t hanging_indent(std::string_view line, std::size_t columns) {
  const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
  const std::size_t space = line.find(gap, begin);
  const std::size_t description = space == std::string_view::npos ? space : line.find_first_not_of(' ', space);
  return description == std::string_view::npos || description > columns / 2 ? begin + gap.size() : description;
}

void add_fitted(std::string_view line, std::size_t columns, std::string& out) {
  const std::string indent(hanging_indent(line, columns), ' ');
  std::size_t used = 0;
  bool begun = false;
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t word = std::min(line.find_first_not_of(' ', at), line.size());
    const std::size_t end = std::min(line.find(' ', word), line.size());
    const std::string_view blanks = line.substr(at, word - at);
    const std::string_view text = line.substr(word, end - word);
    if (begun && used + blanks.size() + width_of(text) > columns) {
      out += '\n' + indent;
      used = indent.size();
    } else {
      out += blanks;
      used += blanks.size();
    }
    out += text;
    used += width_of(text);
    begun = true;
    at = end;
  }
}

}  // namespace

std::string fitted_help(std::string_view help, std::size_t columns) {
  if (columns == 0) return std::string(help);
  columns = std::max(columns, least_columns);
  std::string out;
  while (!help.empty()) {
    const std::size_t end = std::min(help.find('\n'), help.size());
    const std::string_view line = help.substr(0, end);
    if (width_of(line) <= columns) {
      out += line;
    } else {
      add_fitted(line, columns, out);
    }
    if (end < help.size()) out += '\n';
    help.remove_prefix(std::min(end + 1, help.size()));
  }
  return out;
}

}  // namespace forelock::cli
