// Colours of text, where the output has them.
#pragma once

#include <string>

namespace forelock::demo {

class Style {
 public:
  explicit Style(bool colour) : colour_(colour) {}

  std::string bold(const std::string& text) const { return wrap("1", text); }
  std::string dim(const std::string& text) const { return wrap("2", text); }
  std::string good(const std::string& text) const { return wrap("32", text); }
  std::string bad(const std::string& text) const { return wrap("1;31", text); }
  std::string interactive(const std::string& text) const { return wrap("36", text); }
  std::string bulk(const std::string& text) const { return wrap("33", text); }

 private:
  std::string wrap(const char* code, const std::string& text) const {
    return colour_ ? "\033[" + std::string(code) + "m" + text + "\033[0m" : text;
  }

  bool colour_;
};

}  // namespace forelock::demo
