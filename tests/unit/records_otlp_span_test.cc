// Spans as OTLP/JSON, and the trace context. (The collector's own decoder: tests/otlp.)
#include <nlohmann/json.hpp>

#include "records/otlp_span.h"
#include "support/test.h"

namespace forelock::records {
namespace {

constexpr const char* w3c_example = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

TEST(TraceContextTest, ReadsWhatItWrites) {
  const auto context = TraceContext::parse(w3c_example);
  ASSERT_TRUE(context);
  EXPECT_TRUE(context->sampled);
  EXPECT_EQ(context->trace_id[0], 0x4b);
  EXPECT_EQ(context->span_id[7], 0xb7);
  EXPECT_EQ(context->traceparent(), w3c_example);
}

TEST(TraceContextTest, ALaterVersionMayHaveMore) {
  const std::string ids = "-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-";
  EXPECT_FALSE(TraceContext::parse("00" + ids + "00")->sampled);
  EXPECT_TRUE(TraceContext::parse("00" + ids + "ff")->sampled) << "the other flags are not ours";
  EXPECT_EQ(TraceContext::parse("cc" + ids + "01-what the future will be like")->traceparent(), w3c_example);
  EXPECT_TRUE(TraceContext::parse("cc" + ids + "01"));
  for (const std::string& bad : {"cc" + ids + "01.what", "00" + ids + "01-what", "ff" + ids + "01", "0" + ids + "01",
                                 "00" + ids + "0g", "00" + ids + "1", "00-" + ids + "01", std::string()}) {
    EXPECT_FALSE(TraceContext::parse(bad)) << bad;
  }
}

TEST(TraceContextTest, RefusesWhatIsNone) {
  for (const char* bad :
       {"00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e473600f067aa0ba902b7-0101",
        "00_4bf92f3577b34da6a3ce929d0e0e4736_00f067aa0ba902b7_01", " 00-4bf92f3577b34da6a3ce929d0e"}) {
    EXPECT_FALSE(TraceContext::parse(bad)) << bad;
  }
}

LockSpan example_span() {
  LockSpan span;
  span.context = *TraceContext::parse(w3c_example);
  span.begin = LockSpan::Instant(std::chrono::nanoseconds(1'700'000'000'123'456'789));
  span.end = span.begin + std::chrono::milliseconds(5);
  span.outcome = "granted";
  span.proof = "listing";
  span.token = 4294967301;
  span.monitor = "P\"1\xff";
  span.lock_info = "Save";
  return span;
}

nlohmann::json only_span(const nlohmann::json& line) {
  EXPECT_EQ(line["resourceSpans"].size(), 1u);
  EXPECT_EQ(line["resourceSpans"][0]["scopeSpans"].size(), 1u);
  return line["resourceSpans"][0]["scopeSpans"][0]["spans"].at(0);
}

std::string attribute(const nlohmann::json& span, const std::string& key) {
  for (const auto& one : span["attributes"]) {
    if (one["key"] == key) return one["value"].begin().value().get<std::string>();
  }
  return "none";
}

TEST(OtlpSpanTest, IsOneLineWithoutTheMonitor) {
  const std::string line = otlp_line({"articles", "web3/17", "0.1.0"}, example_span());
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const auto json = nlohmann::json::parse(line);
  EXPECT_EQ(json["resourceSpans"][0]["resource"]["attributes"][0]["value"]["stringValue"], "articles");
  const auto span = only_span(json);
  EXPECT_EQ(span["name"], "forelock.acquire");
  EXPECT_EQ(span["traceId"], "4bf92f3577b34da6a3ce929d0e0e4736");
  EXPECT_EQ(span["startTimeUnixNano"], "1700000000123456789");
  EXPECT_EQ(span["endTimeUnixNano"], "1700000000128456789");
  EXPECT_FALSE(span.contains("parentSpanId"));
  EXPECT_FALSE(span.contains("status"));
  EXPECT_EQ(attribute(span, "forelock.proof"), "listing");
  EXPECT_EQ(attribute(span, "forelock.token"), "4294967301");
  EXPECT_EQ(attribute(span, "forelock.monitor"), "none");
  EXPECT_EQ(attribute(span, "forelock.info"), "none");
}

TEST(OtlpSpanTest, NamesTheMonitorIfAskedTo) {
  const auto span = only_span(nlohmann::json::parse(otlp_line({"s", "i", "v", true}, example_span())));
  EXPECT_EQ(attribute(span, "forelock.monitor"), "P\"1\xef\xbf\xbd");
  EXPECT_EQ(attribute(span, "forelock.info"), "Save");
}

TEST(OtlpSpanTest, AFailureHasAStatus) {
  LockSpan hold = example_span();
  hold.kind = LockSpan::Kind::hold;
  hold.outcome = "removed";
  hold.failed = true;
  hold.parent_span = hold.context.span_id;
  const auto span = only_span(nlohmann::json::parse(otlp_line({"s", "i", "v"}, hold)));
  EXPECT_EQ(span["name"], "forelock.hold");
  EXPECT_EQ(span["parentSpanId"], "00f067aa0ba902b7");
  EXPECT_EQ(span["status"]["code"], 2);
  EXPECT_EQ(span["status"]["message"], "removed");
}

}  // namespace
}  // namespace forelock::records
