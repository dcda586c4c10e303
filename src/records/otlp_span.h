// A span as OTLP/JSON (opentelemetry-proto), for an OpenTelemetry collector.
#pragma once

#include <string>

#include "forelock/tracing.h"

namespace forelock::records {

// Who the spans are of.
struct SpanSource {
  std::string service;   // service.name
  std::string instance;  // service.instance.id: host/pid
  std::string version;   // of this library
  // Whether the monitor's id and the lock info are written.
  bool with_monitors = false;
};

// An ExportTraceServiceRequest of one span, as one line without its end. What is not UTF-8 is replaced.
std::string otlp_line(const SpanSource& source, const LockSpan& span);

}  // namespace forelock::records
