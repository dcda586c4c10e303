// Tables of rows and columns for people.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cli/output/console.h"

namespace forelock::cli {

// Takes from the widest columns until all of them, with the gaps between them, have room in `columns`, or are so narrow
// that they say nothing.
void fit_columns(std::vector<std::size_t>& widths, std::size_t columns);

// The same for the terminal behind stdout; elsewhere nothing is cut.
void fit_columns(std::vector<std::size_t>& widths, const Console& console);

class TextTable {
 public:
  struct Column {
    std::string heading;
    bool right = false;  // numbers
  };
  struct Cell {
    std::string text;  // made printable, and cut when very long
    Style style = Style::plain;
  };

  explicit TextTable(std::vector<Column> columns);

  // As many cells as columns.
  void add(std::vector<Cell> row);
  bool empty() const { return rows_.empty(); }

  // With a heading and a newline after each row.
  std::string str(const Console& console) const;

  // The columns' widths that the rows so far need.
  std::vector<std::size_t> widths() const;
  // One row in columns of these widths, with a newline; what is wider is not cut.
  std::string line(std::vector<Cell> row, const std::vector<std::size_t>& widths, const Console& console) const;

  static constexpr std::size_t widest_cell = 60;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

// How many columns a terminal uses for it.
std::size_t display_width(std::string_view text);

// At most `width` columns, with "…" at the end where something was cut.
std::string cut_to_width(std::string_view text, std::size_t width);

}  // namespace forelock::cli
