#include "cli/dlq/result_stream.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "cli/output/json_output.h"
#include "cli/output/text_table.h"

namespace forelock::cli {
namespace {

constexpr std::size_t enough_to_write = 64 * 1024;

}  // namespace

void ResultStream::write(std::string_view text) {
  waiting_ += text;
  if (waiting_.size() >= enough_to_write) flush();
}

void ResultStream::write_json(const nlohmann::ordered_json& json) {
  write(json_text(json) + '\n');
}

void ResultStream::flush() {
  if (!waiting_.empty()) console_.write(std::exchange(waiting_, {}));
}

StreamedTable::StreamedTable(std::vector<TextTable::Column> columns, const Console& console)
    : console_(console), out_(console), first_(std::move(columns)) {}

void StreamedTable::add(std::vector<TextTable::Cell> row) {
  if (!widths_.empty()) {
    out_.write(first_.line(std::move(row), widths_, console_));
    return;
  }
  first_.add(std::move(row));
  if (++rows_ < deciding_rows) return;
  out_.write(first_.str(console_));
  widths_ = first_.widths();
  fit_columns(widths_, console_);
}

void StreamedTable::finish() {
  if (widths_.empty() && rows_ > 0) out_.write(first_.str(console_));
  out_.flush();
}

}  // namespace forelock::cli
