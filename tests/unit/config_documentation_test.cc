// docs/configuration.md has the table of the code.
#include "config/option_table.h"
#include "support/test.h"

namespace forelock::config {
namespace {

TEST(ConfigurationDocument, HasTheTableOfTheCode) {
  std::ifstream file(FORELOCK_CONFIGURATION_DOCUMENT);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(text.find("\n" + markdown_table() + "\n"), std::string::npos)
      << "docs/configuration.md must contain this table:\n\n"
      << markdown_table();
}

}  // namespace
}  // namespace forelock::config
