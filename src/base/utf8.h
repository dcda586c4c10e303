// UTF-8 as Unicode defines it (table 3-7): no overlong forms, no surrogates, nothing past U+10FFFF.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace forelock::base {

struct Utf8Sequence {
  std::size_t length = 1;  // in bytes; of invalid bytes, how many are to be replaced as a whole
  bool valid = false;
  char32_t code_point = 0;  // if it is valid
};

// The sequence that begins at `at`, which is before the text's end. An invalid one ends before the first byte that
// cannot belong to it.
Utf8Sequence utf8_sequence_at(std::string_view text, std::size_t at);

bool is_utf8(std::string_view text);

// The most bytes, at most `limit`, that end between two characters. Of text that is not UTF-8, `limit` or up to three
// bytes less.
std::size_t cut_between_characters(std::string_view text, std::size_t limit);

// Appends a Unicode scalar value.
void append_utf8(char32_t code_point, std::string& out);

}  // namespace forelock::base
