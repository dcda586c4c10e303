// The settings behind a handle.
#pragma once

#include <mutex>
#include <string>
#include <utility>

#include "capi/object.h"
#include "forelock/settings.h"

namespace forelock::capi {

// Thread-safe.
class ConfigObject final : public Object {
 public:
  static constexpr Kind object_kind = Kind::config;

  explicit ConfigObject(Settings settings) : Object(object_kind), settings_(std::move(settings)) {}

  Settings settings() const {
    const std::lock_guard guard(mutex_);
    return settings_;
  }
  void set(const std::vector<Settings::Override>& overrides) {
    const std::lock_guard guard(mutex_);
    settings_.set(overrides);
  }

 private:
  mutable std::mutex mutex_;
  Settings settings_;
};

}  // namespace forelock::capi
