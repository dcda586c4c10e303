#include "cli/output/text_table.h"

#include <wchar.h>

#include <algorithm>
#include <utility>

namespace forelock::cli {
namespace {

constexpr std::string_view gap = "  ";

// The length in bytes of the character that begins here, and its columns; a byte that is not UTF-8 counts as one of
// each.
struct Character {
  std::size_t bytes;
  std::size_t columns;
};

Character character_at(std::string_view text, std::size_t at) {
  mbstate_t state{};
  wchar_t character = 0;
  const std::size_t bytes = mbrtowc(&character, text.data() + at, text.size() - at, &state);
  if (bytes == 0 || bytes > text.size() - at) return {1, 1};
  const int columns = wcwidth(character);
  return {bytes, columns < 0 ? 1 : static_cast<std::size_t>(columns)};
}

}  // namespace

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t at = 0; at < text.size();) {
    const Character character = character_at(text, at);
    width += character.columns;
    at += character.bytes;
  }
  return width;
}

std::string cut_to_width(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return std::string(text);
  std::size_t used = 1;  // the ellipsis
  std::size_t at = 0;
  while (at < text.size()) {
    const Character character = character_at(text, at);
    if (used + character.columns > width) break;
    used += character.columns;
    at += character.bytes;
  }
  return std::string(text.substr(0, at)) + "…";
}

void fit_columns(std::vector<std::size_t>& widths, std::size_t columns) {
  constexpr std::size_t least = 8;  // less says nothing
  std::size_t used = (widths.size() - 1) * gap.size();
  for (const std::size_t width : widths) used += width;
  while (used > columns) {
    const auto widest = std::max_element(widths.begin(), widths.end());
    if (*widest <= least) return;
    --*widest;
    --used;
  }
}

void fit_columns(std::vector<std::size_t>& widths, const Console& console) {
  const int columns = console.stdout_is_terminal() ? Console::terminal_columns() : 0;
  if (columns > 0) fit_columns(widths, static_cast<std::size_t>(columns));
}

TextTable::TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

void TextTable::add(std::vector<Cell> row) {
  for (Cell& cell : row) cell.text = cut_to_width(printable(cell.text), widest_cell);
  row.resize(columns_.size());
  rows_.push_back(std::move(row));
}

std::string TextTable::str(const Console& console) const {
  std::vector<Cell> heading;
  for (const Column& column : columns_) heading.push_back({column.heading, Style::heading});
  std::vector<std::size_t> widest = widths();
  fit_columns(widest, console);
  std::string text = line(heading, widest, console);
  for (const auto& row : rows_) text += line(row, widest, console);
  return text;
}

std::vector<std::size_t> TextTable::widths() const {
  std::vector<std::size_t> widest;
  for (const Column& column : columns_) widest.push_back(display_width(column.heading));
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widest[i] = std::max(widest[i], display_width(row[i].text));
  }
  return widest;
}

std::string TextTable::line(std::vector<Cell> row, const std::vector<std::size_t>& widths,
                            const Console& console) const {
  row.resize(columns_.size());
  std::string text;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (i > 0) text += gap;
    const std::size_t room = console.stdout_is_terminal() ? std::min(widths[i], widest_cell) : widest_cell;
    const std::string shown = cut_to_width(printable(row[i].text), room);
    const std::size_t width = display_width(shown);
    const std::string padding(widths[i] > width ? widths[i] - width : 0, ' ');
    const bool last = i + 1 == row.size();
    if (columns_[i].right) text += padding;
    text += console.styled(shown, row[i].style);
    if (!columns_[i].right && !last) text += padding;
  }
  return text + '\n';
}

}  // namespace forelock::cli
