/// \file
/// Locks as spans of a distributed trace: one for an acquisition, one for the hold that follows it.
///
/// Off unless a Client is given a Tracer, or `zookeeper.trace.file` names a file for spans as OTLP/JSON.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "forelock/export.h"
#include "forelock/priority.h"

namespace forelock {

/// Where in a trace something happens: a span, as W3C Trace Context writes it.
struct FORELOCK_EXPORT TraceContext {
  std::array<std::uint8_t, 16> trace_id{};  ///< not all zeros
  std::array<std::uint8_t, 8> span_id{};    ///< not all zeros
  bool sampled = true;                      ///< false: the trace is not recorded, and neither are spans below it

  /// Reads a `traceparent`, of version 00 or a later one. Nothing for anything else.
  static std::optional<TraceContext> parse(std::string_view traceparent);
  /// As `traceparent`, version 00.
  std::string traceparent() const;

  /// Every field.
  bool operator==(const TraceContext&) const = default;
};

/// A span that has ended.
struct LockSpan {
  /// The part of a lock's course that a span covers.
  enum class Kind {
    acquisition,  ///< from the call until the lock is held or refused
    hold          ///< from then on until its release is called or it is lost
  };
  /// Instants by the wall clock.
  using Instant = std::chrono::time_point<std::chrono::system_clock, std::chrono::nanoseconds>;

  Kind kind = Kind::acquisition;                           ///< acquisition or hold
  TraceContext context;                                    ///< its own
  std::optional<std::array<std::uint8_t, 8>> parent_span;  ///< of the caller; of a hold without one: its acquisition
  Instant begin{};                                         ///< when it began
  Instant end{};                                           ///< never before `begin`, also where the clock was set back
  Priority priority = Priority::foreground;                ///< the class it contends in at the end
  /// Of an acquisition: "granted", or why not: "timed_out", "unavailable", "not_admitted", "cancelled",
  /// "connection_lost", "session_expired", "rejected", "closed". Of a hold: "released" (its release was called),
  /// "stepped_aside", or the name of the LossReason.
  std::string_view outcome;
  bool failed = false;  ///< neither granted nor given up by its caller
  /// Why a grant is right: "number" (no other contender has been there), "first_seen", "count", "listing",
  /// "read_after_lost_reply", or "lingered" (it was here already). Empty where it is not one lock's grant.
  std::string_view proof;
  std::int64_t token = 0;   ///< the fencing token of a grant; 0: none, or several (a lock set)
  std::string node;         ///< its last node in the queue, if it is known
  std::string behind;       ///< the first node that it has waited behind; empty: it is not known to have waited
  std::size_t place = 0;    ///< its last known place among those that wait; 0: not known (WriteLock::on_queued)
  std::size_t members = 1;  ///< how many monitors it is about
  std::string monitor;      ///< the monitor's id; of a set the first one. May be personal data: leave it out by default
  std::string lock_info;    ///< why the lock is taken; the same
};

/// Receives the spans of a client's locks: for a program with an OpenTelemetry SDK, or another tracer.
class FORELOCK_EXPORT Tracer {
 public:
  virtual ~Tracer() = default;
  Tracer() = default;
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;

  /// The span in which an acquisition is called; nothing: it begins a trace. Called on the caller's thread, unless the
  /// lock's options say it (LockOptions::traceparent). Must not throw, nor use the client.
  virtual std::optional<TraceContext> current() { return std::nullopt; }

  /// A span has ended. Called on a thread of its own, one span at a time: a tracer that blocks delays later spans
  /// (4,096 wait; more are dropped, and counted in the log) and the end of Client::close(), and nothing else. An
  /// exception loses the span. Not called for spans of a trace that is not sampled.
  virtual void ended(const LockSpan& span) = 0;
};

}  // namespace forelock
