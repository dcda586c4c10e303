/// \file
/// The log of a client as lines of an spdlog logger: for hosts that use spdlog. Header-only.
///
/// The library does not need spdlog, and `forelock/forelock.h` does not include this file: a program that does finds
/// and links spdlog by itself (CMake: `find_package(spdlog)`, `spdlog::spdlog`).
#pragma once

#include <spdlog/logger.h>

#include <memory>
#include <string_view>
#include <utility>

#include "forelock/client.h"

namespace forelock {

/// A sink that writes each line to `logger`, at the level of the same name; an unknown level counts as "info". Lines
/// are written as they are, never read as a format. The sink shares ownership of the logger.
///
/// Thread-safety: called by one thread at a time for each client. A sink that several clients share, or a logger that
/// the host writes to as well, must be one of spdlog's `_mt` kinds. A logger whose file blocks delays later lines and
/// the end of Client::close(), and nothing else (LogSink). What it throws loses the line.
///
/// \param logger must not be null.
inline LogSink spdlog_sink(std::shared_ptr<spdlog::logger> logger) {
  return [logger = std::move(logger)](std::string_view level, std::string_view message) {
    const auto as = level == "error"     ? spdlog::level::err
                    : level == "warning" ? spdlog::level::warn
                    : level == "debug"   ? spdlog::level::debug
                                         : spdlog::level::info;
    logger->log(as, spdlog::string_view_t(message.data(), message.size()));
  };
}

/// How much a client has to log for `logger`, by the logger's level at the time of this call: LogDetail::debug if it
/// takes lines of level debug. For Client's constructor; a later `set_level` does not change what the client logs.
inline LogDetail spdlog_detail(const spdlog::logger& logger) {
  return logger.should_log(spdlog::level::debug) ? LogDetail::debug : LogDetail::normal;
}

}  // namespace forelock
