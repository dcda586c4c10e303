// The quick look at a letter sees what the thorough one sees, or nothing.
#include "letter/letter_scan.h"
#include "letter/letter_headers.h"
#include "letter/letter_json.h"
#include "sample_letter.h"
#include "support/test.h"

namespace forelock::letter {
namespace {

using test::fields_of;
using test::sample_letter;

// Scans what to_json writes of it, and compares.
void expect_same(const DeadLetter& letter) {
  const std::string json = to_json(letter);
  const auto scanned = scan_json(json);
  ASSERT_TRUE(scanned) << json.substr(0, 1000);
  DeadLetter read = from_json(json);
  const auto headers = headers_of(read);
  const auto scanned_headers = headers_of(*scanned);
  ASSERT_EQ(headers.size(), scanned_headers.size());
  for (std::size_t i = 0; i < headers.size(); ++i) {
    EXPECT_EQ(headers[i].name, scanned_headers[i].name);
    EXPECT_EQ(headers[i].value, scanned_headers[i].value) << headers[i].name;
  }
  read.payload.clear();
  EXPECT_EQ(fields_of(*scanned), fields_of(read));
}

TEST(LetterScan, SeesEverythingButThePayload) {
  expect_same(sample_letter());
  expect_same(sample_letter("1", ""));
  expect_same(sample_letter("1", std::string(1024 * 1024, '\xFF')));
}

TEST(LetterScan, Texts) {
  for (const char* text : {"", "\"", "\\", "\\\"", "a\"b\\", "line\nline\ttab\x01", "Grüße 日本語 😀", "bad \xFF utf-8",
                           "{\"n\":1}", "],\"max_attempts\":7", "\\u0041"}) {
    DeadLetter letter = sample_letter();
    letter.lock_info = text;
    letter.attempts.back().message = text;
    letter.client.host = text;
    letter.client.version = text;
    expect_same(letter);
    if (letter.monitor = text; letter.monitor.find('\xFF') == std::string::npos && !letter.monitor.empty()) {
      expect_same(letter);
    }
  }
}

TEST(LetterScan, WhatMayBeThereOrNot) {
  DeadLetter letter = sample_letter();
  letter.priority = Priority::foreground;
  letter.traceparent.clear();
  expect_same(letter);
  letter.reason = "given_up";
  expect_same(letter);
  letter.traceparent = sample_letter().traceparent;
  expect_same(letter);
  letter.attempts.resize(1);
  expect_same(letter);
  letter.attempts.resize(1001, sample_letter().attempts.front());
  expect_same(letter);
}

TEST(LetterScan, NothingForTextThatIsCutOff) {
  const std::string json = to_json(sample_letter());
  for (std::size_t size = 0; size < json.size(); ++size) {
    EXPECT_FALSE(scan_json(std::string_view(json).substr(0, size))) << size;
  }
  EXPECT_FALSE(scan_json(json + " "));
}

TEST(LetterScan, NothingForLettersInAnotherForm) {
  const std::string json = to_json(sample_letter());
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = json;
    changed.replace(changed.find(from), from.size(), to);
    return changed;
  };
  const std::string other_forms[] = {with("{\"schema\"", "{ \"schema\""), with(",\"type\":", ",\"new\":1,\"type\":"),
                                     with("\"replay_count\":1", "\"replay_count\":1 "),
                                     with("\"priority\":\"background\"", "\"priority\": \"background\"")};
  for (const std::string& form : other_forms) {
    EXPECT_FALSE(scan_json(form)) << form;
    EXPECT_EQ(fields_of(from_json(form)), fields_of(sample_letter()));
  }
  EXPECT_FALSE(scan_json(with("\"schema\":1", "\"schema\":2"))) << "a newer one";
  EXPECT_FALSE(scan_json(with("background", "urgent")));
  EXPECT_FALSE(scan_json(with("2025-11-21T", "yesterday ")));
  EXPECT_FALSE(scan_json(with("\"attempts\":[{", "\"attempts\":[],\"x\":[{")));
  EXPECT_FALSE(scan_json(with("saveContent", "save\\qContent"))) << "no escape that there is";
  EXPECT_FALSE(scan_json("{}"));
  EXPECT_FALSE(scan_json(""));
}

}  // namespace
}  // namespace forelock::letter
