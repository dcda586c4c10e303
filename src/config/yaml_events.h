// Flattens the events of a YAML parser to properties with dotted keys.
//
// Events and not the tree of YAML::Node: they carry the line of everything, show keys that appear twice, and never
// expand an alias.
#pragma once

#include <yaml-cpp/anchor.h>
#include <yaml-cpp/emitterstyle.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/mark.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "config/problems.h"
#include "config/property.h"

namespace forelock::config {

class YamlEvents final : public YAML::EventHandler {
 public:
  YamlEvents(std::string_view file, Problems& problems) : file_(file), problems_(problems) {}

  const std::vector<Property>& properties() const { return properties_; }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override;
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override;
  void OnSequenceEnd() override;
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override;
  void OnMapEnd() override;

 private:
  // A collection that is open.
  struct Level {
    bool foreign = false;  // nothing in it can be ours; sequences are always foreign, and the rest is for mappings
    bool at_key = true;    // the next node is a key
    std::string path;      // dotted, without the last key
    std::string key;       // the last key with its path; empty when nothing under it can be ours
    int key_line = 0;
  };

  void scalar(const std::string& value, int line);
  void key(const std::string& text, int line);
  void value(const std::string& text);
  void collection(bool is_mapping, int line);
  bool is_passed_over(bool is_mapping, int line);
  void refuse(int line, const std::string& key, std::string message, std::string hint);

  std::string file_;
  Problems& problems_;
  std::vector<Level> open_;
  std::vector<Property> properties_;
  std::unordered_map<std::string, int> lines_;  // of the keys seen
};

}  // namespace forelock::config
