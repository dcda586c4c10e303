// A SpanFile writes spans to a file, as lines of OTLP/JSON.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "forelock/tracing.h"
#include "records/otlp_span.h"

namespace forelock::client {

// Any number of processes may write to one file. It is opened for each line, so that a tool may rename it at any time.
class SpanFile final : public Tracer {
 public:
  // `warn` writes to the log: once, until writing has succeeded again.
  SpanFile(std::filesystem::path path, records::SpanSource source, std::function<void(const std::string&)> warn);

  void ended(const LockSpan& span) override;

 private:
  const std::filesystem::path path_;
  const records::SpanSource source_;
  const std::function<void(const std::string&)> warn_;
  bool failing_ = false;
};

// $OTEL_SERVICE_NAME, else the program's name as OpenTelemetry wants it.
std::string service_name();

}  // namespace forelock::client
