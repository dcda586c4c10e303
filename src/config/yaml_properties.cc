#include "config/yaml_properties.h"

#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <cstddef>
#include <sstream>
#include <string>

#include "config/encoding.h"
#include "config/printable.h"
#include "config/problems.h"
#include "config/yaml_events.h"

namespace forelock::config {
namespace {

std::string_view line_at(std::string_view text, int line) {
  for (; line > 1 && !text.empty(); --line) text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  return text.substr(0, text.find('\n'));
}

// yaml-cpp takes the end of the text for the end of an open quote, which would swallow every setting behind a forgotten
// one. The mark for the end of a document must not stand in a quoted text, and that it does notice.
std::string with_end_mark(std::string_view text) {
  std::string marked(text);
  if (!text.empty() && !text.ends_with('\n')) marked += '\n';
  return marked + "...\n";
}

int lines_of(std::string_view text) {
  const auto ends = std::count(text.begin(), text.end(), '\n');
  return static_cast<int>(ends) + (text.empty() || text.ends_with('\n') ? 0 : 1);
}

bool is_indented_with_tab(std::string_view line) {
  return line.substr(0, line.find_first_not_of(" \t")).find('\t') != std::string_view::npos;
}

}  // namespace

std::vector<Property> parse_yaml(std::string_view text, std::string_view file, Problems& problems) {
  check_utf8(text, file);
  if (text.find('\0') != std::string_view::npos) {
    fail(file, 0, "the file has a NUL character", "save it as text in the encoding UTF-8");
  }
  YamlEvents events(file, problems);
  try {
    std::istringstream input(with_end_mark(text));
    YAML::Parser parser(input);
    if (parser.HandleNextDocument(events)) {
      // Only to see whether there is one: what it contains does not count.
      Problems ignored;
      YamlEvents second("", ignored);
      if (parser.HandleNextDocument(second)) {
        fail(file, 0, "the file has more than one YAML document", "keep the first, without '---' behind it");
      }
    }
  } catch (const YAML::DeepRecursion&) {
    fail(file, 0, "not valid YAML: nested too deeply", "is it the right file?");
  } catch (const YAML::Exception& error) {
    const int line = error.mark.is_null() ? 0 : error.mark.line + 1;
    if (line > lines_of(text)) {
      fail(file, 0, "not valid YAML: a quote or a bracket is still open at the end", "close it");
    }
    fail(file, line, "not valid YAML: " + printable(error.msg),
         is_indented_with_tab(line_at(text, line)) ? "indent with spaces, not with tabs"
                                                   : "look at the indentation and the quotes around this line");
  }
  return events.properties();
}

}  // namespace forelock::config
