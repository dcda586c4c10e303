// docs/configuration.md has the table of the code.
#include "config/option_table.h"
#include "support/test.h"
#include "support/text_of.h"

namespace forelock::config {
namespace {

TEST(ConfigurationDocument, HasTheTableOfTheCode) {
  const std::string text = test::text_of(FORELOCK_CONFIGURATION_DOCUMENT);
  EXPECT_NE(text.find("\n" + markdown_table() + "\n"), std::string::npos)
      << "docs/configuration.md must contain this table:\n\n"
      << markdown_table();
}

}  // namespace
}  // namespace forelock::config
