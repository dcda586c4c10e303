// Assembles settings: checks each value, then conditions on several, and reports all problems at once.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "config/option.h"
#include "config/problems.h"
#include "config/settings_data.h"
#include "forelock/settings.h"

namespace forelock::config {

inline constexpr std::size_t largest_file = 1 << 20;  // bytes

class SettingsBuilder {
 public:
  SettingsBuilder() = default;
  explicit SettingsBuilder(const SettingsData& base) : given_(base.given), doubts_(base.doubts) {}

  // Throws ConfigurationException when the text as a whole cannot be read.
  void add_text(std::string_view text, Settings::Format format, std::string_view file);
  // Goes over whatever was added before.
  void add_override(const Settings::Override& override);

  // Throws ConfigurationException with every problem found.
  std::shared_ptr<const SettingsData> build();

 private:
  enum class Strangers { left_alone, refused };

  void assign(const std::string& spelling, const std::string& text, std::string_view source, int line,
              Strangers strangers);
  void assign_secret(const Option& option, Given given);
  void assign_without_option(Given given, Strangers strangers);
  void assign_option(const Option& option, Given given);
  void refuse(const Given& given, std::string message, std::string hint);

  void doubt_ageing(SettingsData& data) const;
  std::shared_ptr<SettingsData> with_defaults() const;
  void check_prefixes(const SettingsData& data);
  void check_prefixes(const SettingsData& data, Priority first, Priority second);
  void check_acl(const SettingsData& data);
  void check_tls(const SettingsData& data);
  void check_sasl(const SettingsData& data);
  static TlsSettings tls_settings(const SettingsData& data);
  static SaslSettings sasl_settings(const SettingsData& data);
  const Given* given(OptionId id) const;

  std::map<std::string, Given> given_;
  std::vector<ConfigurationProblem> doubts_;
  std::array<bool, static_cast<std::size_t>(OptionId::count)> refused_{};  // no second complaint about these
  Problems problems_;
};

}  // namespace forelock::config
