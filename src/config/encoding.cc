#include "config/encoding.h"

#include <cstddef>

#include "base/utf8.h"
#include "config/problems.h"

namespace forelock::config {
void check_utf8(std::string_view text, std::string_view file) {
  int line = 1;
  for (std::size_t at = 0; at < text.size();) {
    const base::Utf8Sequence sequence = base::utf8_sequence_at(text, at);
    if (!sequence.valid) fail(file, line, "a byte that is not UTF-8", "save the file in the encoding UTF-8");
    const bool ends_line = text[at] == '\n' || (text[at] == '\r' && text.substr(at + 1, 1) != "\n");
    if (ends_line) ++line;
    at += sequence.length;
  }
}

}  // namespace forelock::config
