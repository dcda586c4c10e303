#include "records/otlp_span.h"

#include <nlohmann/json.hpp>

#include "records/hex_text.h"

namespace forelock::records {
namespace {

using Json = nlohmann::json;

// The numbers of opentelemetry-proto.
constexpr int kind_client = 3;  // it waits for a remote service
constexpr int kind_internal = 1;
constexpr int status_error = 2;
constexpr unsigned flag_sampled = 1;

void add(Json& attributes, const char* key, std::string_view text) {
  if (!text.empty()) attributes.push_back({{"key", key}, {"value", {{"stringValue", text}}}});
}

// 64-bit integers are text in the JSON of protocol buffers.
void add(Json& attributes, const char* key, std::int64_t number) {
  attributes.push_back({{"key", key}, {"value", {{"intValue", std::to_string(number)}}}});
}

std::string nanoseconds_text(LockSpan::Instant instant) {
  return std::to_string(instant.time_since_epoch().count());
}

Json attributes_of(const LockSpan& span, bool with_monitors) {
  Json attributes = Json::array();
  add(attributes, "forelock.priority", name_of(span.priority));
  add(attributes, "forelock.outcome", span.outcome);
  add(attributes, "forelock.proof", span.proof);
  if (span.token != 0) add(attributes, "forelock.token", span.token);
  add(attributes, "forelock.node", span.node);
  add(attributes, "forelock.behind", span.behind);
  if (span.place != 0) add(attributes, "forelock.place", static_cast<std::int64_t>(span.place));
  if (span.members > 1) add(attributes, "forelock.members", static_cast<std::int64_t>(span.members));
  if (with_monitors) {
    add(attributes, "forelock.monitor", span.monitor);
    add(attributes, "forelock.info", span.lock_info);
  }
  return attributes;
}

}  // namespace

std::string otlp_line(const SpanSource& source, const LockSpan& span) {
  const bool acquisition = span.kind == LockSpan::Kind::acquisition;
  Json json = {
      {"traceId", hex_text(span.context.trace_id)},        {"spanId", hex_text(span.context.span_id)},
      {"flags", span.context.sampled ? flag_sampled : 0},  {"name", acquisition ? "forelock.acquire" : "forelock.hold"},
      {"kind", acquisition ? kind_client : kind_internal}, {"startTimeUnixNano", nanoseconds_text(span.begin)},
      {"endTimeUnixNano", nanoseconds_text(span.end)},     {"attributes", attributes_of(span, source.with_monitors)}};
  if (span.parent_span) json["parentSpanId"] = hex_text(*span.parent_span);
  if (span.failed) json["status"] = {{"code", status_error}, {"message", span.outcome}};

  Json resource = Json::array();
  add(resource, "service.name", source.service);
  add(resource, "service.instance.id", source.instance);
  const Json scope = {{"name", "forelock"}, {"version", source.version}};
  const Json scope_spans = {{"scope", scope}, {"spans", Json::array({std::move(json)})}};
  const Json resource_spans = {{"resource", {{"attributes", std::move(resource)}}},
                               {"scopeSpans", Json::array({scope_spans})}};
  const Json request = {{"resourceSpans", Json::array({resource_spans})}};
  return request.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace forelock::records
