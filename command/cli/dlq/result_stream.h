// Results too many to be held in memory.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "cli/output/console.h"
#include "cli/output/text_table.h"

namespace forelock::cli {

// Gathers text for stdout into large writes. What is left is written by flush() alone: a destructor could not say that
// it failed.
class ResultStream {
 public:
  explicit ResultStream(const Console& console) : console_(console) {}

  void write(std::string_view text);
  void write_json(const nlohmann::ordered_json& json);  // on a line of its own
  void flush();

 private:
  const Console& console_;
  std::string waiting_;
};

// A table whose first rows decide the columns' widths.
class StreamedTable {
 public:
  StreamedTable(std::vector<TextTable::Column> columns, const Console& console);

  void add(std::vector<TextTable::Cell> row);
  // Writes what is left; a table without rows is not written at all.
  void finish();

  static constexpr std::size_t deciding_rows = 500;

 private:
  const Console& console_;
  ResultStream out_;
  TextTable first_;
  std::size_t rows_ = 0;
  std::vector<std::size_t> widths_;  // empty while the first rows come
};

}  // namespace forelock::cli
