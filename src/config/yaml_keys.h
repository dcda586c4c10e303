// YamlKeys collects the keys of a YAML text, Forelock's and others.
#pragma once

#include <yaml-cpp/anchor.h>
#include <yaml-cpp/emitterstyle.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/mark.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace forelock::config {

// Tells each key that has one text as its value, dotted, and its line. What is in lists, or under keys that are no
// plain text, is passed over; aliases are not expanded.
class YamlKeys final : public YAML::EventHandler {
 public:
  using Visitor = std::function<void(const std::string& key, int line)>;

  explicit YamlKeys(Visitor visitor) : visitor_(std::move(visitor)) {}

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override { scalar("", mark.line + 1); }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t, const std::string& value) override {
    scalar(value, mark.line + 1);
  }
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override { node(); }
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {
    begin(false);
  }
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {
    begin(true);
  }
  void OnSequenceEnd() override { open_.pop_back(); }
  void OnMapEnd() override { open_.pop_back(); }

 private:
  // A collection that is open.
  struct Level {
    bool passed_over = false;
    bool at_key = true;  // the next node is a key
    std::string path;    // of the collection
    std::string key;     // the last one, with its path; empty if it is no text
    int line = 0;        // of the key
  };

  void scalar(const std::string& text, int line);
  // Any other node. \returns whether it is the value of a key that is a text.
  bool node();
  void begin(bool is_mapping);

  const Visitor visitor_;
  std::vector<Level> open_;
};

}  // namespace forelock::config
