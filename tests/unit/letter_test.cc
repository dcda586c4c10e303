
#include <nlohmann/json.hpp>

#include "forelock/error.h"
#include "letter/base64.h"
#include "letter/letter_headers.h"
#include "letter/letter_json.h"
#include "letter/letter_limits.h"
#include "sample_letter.h"
#include "support/test.h"

namespace forelock {
namespace {

using letter::from_json;
using letter::headers_of;
using letter::to_json;
using nlohmann::json;
using test::fields_of;
using test::sample_letter;

const char* const sample_json =
    R"({"schema":1,"id":"5f0c1a2e-0001-4000-8000-000000000001","type":"saveContent","monitor":"P1",)"
    R"("priority":"background","lockInfo":"Bulk propagation",)"
    R"("payload":{"encoding":"base64","data":"c29tZSBieXRlcw=="},)"
    R"("attempts":[{"n":1,"at":"2025-11-21T13:45:00.123Z","code":"connection_loss",)"
    R"("message":"No server could be reached","waited_ms":0},)"
    R"({"n":2,"at":"2025-11-21T13:45:03.123Z","code":"lock_timeout","message":"Not obtained","waited_ms":2000}],)"
    R"("max_attempts":4,"enqueued_at":"2025-11-21T13:44:59.123Z","failed_at":"2025-11-21T13:45:03.123Z",)"
    R"("replay_count":1,"client":{"host":"node-1","pid":4711,"instance":"node-1/4711","version":"0.1.0"},)"
    R"("traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"})";

// The code and the message of what `call` throws.
std::pair<ErrorCode, std::string> error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return {error.code(), error.what()};
  }
  ADD_FAILURE() << "nothing was thrown";
  return {ErrorCode::internal, ""};
}

std::pair<ErrorCode, std::string> writing_error(const DeadLetter& letter) {
  return error_of([&] { to_json(letter); });
}

std::pair<ErrorCode, std::string> reading_error(const std::string& text) {
  return error_of([&] { from_json(text); });
}

// The sample, changed as a tree.
std::string changed(const std::function<void(json&)>& change) {
  json tree = json::parse(sample_json);
  change(tree);
  return tree.dump();
}

std::string header(const DeadLetter& letter, const std::string& name) {
  for (const letter::Header& candidate : headers_of(letter)) {
    if (candidate.name == name) return candidate.value;
  }
  return "(none)";
}

TEST(Base64, IsThatOfTheStandard) {
  const std::vector<std::pair<std::string, std::string>> vectors{// RFC 4648, section 10
                                                                 {"", ""},
                                                                 {"f", "Zg=="},
                                                                 {"fo", "Zm8="},
                                                                 {"foo", "Zm9v"},
                                                                 {"foob", "Zm9vYg=="},
                                                                 {"fooba", "Zm9vYmE="},
                                                                 {"foobar", "Zm9vYmFy"},
                                                                 {std::string("\xFF\xEF\x00", 3), "/+8A"}};
  for (const auto& [bytes, text] : vectors) {
    std::string out = "before ";
    letter::append_base64(bytes, out);
    EXPECT_EQ(out, "before " + text);
    EXPECT_EQ(letter::decode_base64(text), bytes);
  }
}

TEST(Base64, TakesNoOtherSpelling) {
  for (const char* const text : {"Z", "Zg", "Zg=", "Zg= =", "Zg==\n", " Zg==", "Zh==", "Zm9=", "Zm8",
                                 "Z===", "====", "Zg==Zg==", "Zm9v====", "Zm-_", "Zm9\xC3"}) {
    EXPECT_EQ(letter::decode_base64(text), std::nullopt) << text;
  }
}

TEST(LetterJson, HasTheDocumentedKeysInTheirOrder) {
  EXPECT_EQ(to_json(sample_letter()), sample_json);
}

TEST(LetterJson, LeavesOutWhatIsNotThere) {
  DeadLetter letter = sample_letter();
  letter.traceparent.clear();
  EXPECT_THAT(to_json(letter), Not(HasSubstr("traceparent")));
  letter.traceparent = "00-\nX: y";  // it would break a header
  EXPECT_THAT(to_json(letter), Not(HasSubstr("traceparent")));
  EXPECT_THAT(to_json(letter), Not(HasSubstr("reason")));
}

TEST(LetterJson, KeepsAReasonThatIsNotTheLastAttempts) {
  DeadLetter letter = sample_letter();
  letter.reason = "out_of_patience";
  EXPECT_THAT(to_json(letter), HasSubstr(R"(,"reason":"out_of_patience")"));
  EXPECT_EQ(from_json(to_json(letter)).reason, "out_of_patience");
  letter.reason.clear();
  EXPECT_EQ(from_json(to_json(letter)).reason, "lock_timeout");
}

TEST(LetterJson, ReadsWhatItWrites) {
  EXPECT_EQ(fields_of(from_json(to_json(sample_letter()))), fields_of(sample_letter()));
}

TEST(LetterJson, KeepsRandomBytesAndTexts) {
  std::mt19937 random(4);  // NOLINT: the same ones each time
  for (int i = 0; i < 300; ++i) {
    DeadLetter letter = sample_letter();
    letter.payload.resize(random() % 1000);
    for (char& c : letter.payload) c = static_cast<char>(random());
    for (std::string* const text : {&letter.lock_info, &letter.monitor, &letter.attempts[0].message}) {
      text->assign(1 + random() % 40, '\0');
      for (char& c : *text) c = static_cast<char>(random() % 128);
    }
    letter.monitor += "\xC3\xA4\xF0\x9F\x94\x92";
    letter.client.pid = static_cast<std::int64_t>(random()) - 1000;
    letter.replay_count = random() % 2 == 0 ? 0 : std::numeric_limits<std::uint32_t>::max();
    letter.attempts[1].waited = std::chrono::milliseconds(random());
    ASSERT_EQ(fields_of(from_json(to_json(letter))), fields_of(letter)) << i;
  }
}

TEST(LetterJson, TakesAFullPayload) {
  const DeadLetter letter = sample_letter("id", std::string(letter::max_payload_bytes, '\xFF'));
  EXPECT_EQ(from_json(to_json(letter)).payload, letter.payload);
}

TEST(LetterJson, IsNeverLongerThanItSays) {
  DeadLetter letter =
      sample_letter(std::string(letter::max_id_bytes, '"'), std::string(letter::max_payload_bytes, 'x'));
  const std::string long_text(5000, '\x01');
  letter.type = std::string(letter::max_type_bytes, '\x01');
  letter.monitor = std::string(letter::max_monitor_bytes, '\x01');
  letter.lock_info = letter.client.host = letter.client.instance = letter.client.version = letter.reason = long_text;
  letter.attempts.assign(letter::max_attempts, {4'000'000'000, sample_letter().failed_at, long_text, long_text,
                                                std::chrono::milliseconds::max()});
  const std::string text = to_json(letter);
  EXPECT_LE(text.size(), letter::max_written_bytes);
  EXPECT_EQ(to_json(from_json(text)), text);
}

TEST(LetterJson, ReplacesWhatIsNotUtf8InTextsForPeople) {
  DeadLetter letter = sample_letter();
  letter.lock_info = "bulk \xFF run";
  letter.attempts.back().message = "half a character: \xE2\x82";
  const DeadLetter read = from_json(to_json(letter));
  EXPECT_EQ(read.lock_info, "bulk \xEF\xBF\xBD run");
  EXPECT_EQ(read.attempts.back().message, "half a character: \xEF\xBF\xBD");
}

TEST(LetterJson, RefusesAMonitorThatCannotBeAKey) {
  DeadLetter letter = sample_letter();
  letter.monitor = "P\xFF";
  EXPECT_THAT(writing_error(letter), ::testing::Pair(ErrorCode::invalid_argument, HasSubstr("not UTF-8")));
  letter.monitor = "\xED\xA0\x80";  // half of a surrogate pair
  EXPECT_EQ(writing_error(letter).first, ErrorCode::invalid_argument);
  letter.monitor.clear();
  EXPECT_THAT(writing_error(letter).second, HasSubstr("no monitor"));
  letter.monitor = std::string(256, 'x');
  EXPECT_THAT(writing_error(letter).second, AllOf(HasSubstr("256 bytes"), HasSubstr("at most 255")));
}

TEST(LetterJson, SaysWhyALetterCannotBeWritten) {
  const auto message = [](const std::function<void(DeadLetter&)>& change) {
    DeadLetter letter = sample_letter();
    change(letter);
    return writing_error(letter).second;
  };
  EXPECT_THAT(message([](DeadLetter& l) { l.id.clear(); }), HasSubstr("no id"));
  EXPECT_THAT(message([](DeadLetter& l) { l.id = "a\nb"; }), HasSubstr("printable ASCII"));
  EXPECT_THAT(message([](DeadLetter& l) { l.id = std::string(129, 'x'); }), HasSubstr("at most 128"));
  EXPECT_THAT(message([](DeadLetter& l) { l.type.clear(); }), HasSubstr("no type"));
  EXPECT_THAT(message([](DeadLetter& l) { l.type = std::string(129, 'x'); }), HasSubstr("at most 128"));
  EXPECT_THAT(message([](DeadLetter& l) { l.attempts.clear(); }), HasSubstr("no failed attempt"));
  EXPECT_THAT(message([](DeadLetter& l) { l.attempts.resize(1002); }), HasSubstr("at most 1001"));
}

TEST(LetterJson, RefusesTooLargeAPayloadWithoutQuotingIt) {
  const DeadLetter letter = sample_letter("id", "secret" + std::string(letter::max_payload_bytes, '-'));
  const auto [code, message] = writing_error(letter);
  EXPECT_EQ(code, ErrorCode::request_too_large);
  EXPECT_THAT(message, AllOf(HasSubstr("1048582 bytes"), HasSubstr("at most 1048576"), Not(HasSubstr("secret"))));
}

TEST(LetterJson, IgnoresUnknownKeysWhateverTheyHold) {
  const std::string text = changed([](json& tree) {
    tree["colour"] = {1, {{"deep", json::array({nullptr, true, 1.5, "x"})}}};
    tree["client"]["colour"] = "blue";
    tree["attempts"][0]["colour"] = json::array();
  });
  EXPECT_EQ(fields_of(from_json(text)), fields_of(sample_letter()));
}

TEST(LetterJson, SaysWhichKeyIsWrongAndHow) {
  const auto message = [](const std::function<void(json&)>& change) {
    const auto [code, text] = reading_error(changed(change));
    EXPECT_EQ(code, ErrorCode::record_invalid);
    return text;
  };
  for (const char* const key : {"schema", "id", "type", "monitor", "priority", "lockInfo", "payload", "attempts",
                                "max_attempts", "enqueued_at", "failed_at", "replay_count", "client"}) {
    EXPECT_THAT(message([&](json& tree) { tree.erase(key); }), HasSubstr(std::string(key) + " is missing"));
    EXPECT_THAT(message([&](json& tree) { tree[key] = nullptr; }), HasSubstr(std::string(key) + " is of type null"));
  }
  EXPECT_THAT(message([](json& tree) { tree["attempts"][1].erase("at"); }), HasSubstr("attempts[1].at is missing"));
  EXPECT_THAT(message([](json& tree) { tree["attempts"][1]["at"] = "today"; }),
              HasSubstr("attempts[1].at is not a time in ISO 8601"));
  EXPECT_THAT(message([](json& tree) { tree["attempts"][0]["n"] = -1; }), HasSubstr("attempts[0].n is out of range"));
  EXPECT_THAT(message([](json& tree) { tree["attempts"][0]["n"] = 4294967296; }), HasSubstr("0 to 4294967295"));
  EXPECT_THAT(message([](json& tree) { tree["attempts"][0]["n"] = 1.5; }), HasSubstr("a whole number was expected"));
  EXPECT_THAT(message([](json& tree) { tree["attempts"][0] = 7; }), HasSubstr("attempts[0] is of type number"));
  EXPECT_THAT(message([](json& tree) { tree["attempts"] = json::array(); }), HasSubstr("no failed attempt"));
  EXPECT_THAT(message([](json& tree) { tree["priority"] = "urgent"; }), HasSubstr("priority is neither"));
  EXPECT_THAT(message([](json& tree) { tree["client"].erase("pid"); }), HasSubstr("client.pid is missing"));
  EXPECT_THAT(message([](json& tree) { tree["client"]["pid"] = 18446744073709551615U; }),
              HasSubstr("client.pid is out of range"));
  EXPECT_THAT(message([](json& tree) { tree["schema"] = 0; }), HasSubstr("schema is out of range"));
  EXPECT_THAT(message([](json& tree) { tree["monitor"] = ""; }), HasSubstr("no monitor id"));
  EXPECT_THAT(message([](json& tree) { tree["id"] = "\x01"; }), HasSubstr("printable ASCII"));
  EXPECT_THAT(message([](json& tree) { tree["payload"]["encoding"] = "hex"; }), HasSubstr("payload.encoding"));
  EXPECT_THAT(message([](json& tree) { tree["traceparent"] = 1; }), HasSubstr("traceparent is of type number"));
}

TEST(LetterJson, NeverQuotesThePayload) {
  const auto message = [](const std::function<void(json&)>& change) { return reading_error(changed(change)).second; };
  EXPECT_THAT(message([](json& tree) { tree["payload"]["data"] = "c2Vj!"; }),
              AllOf(HasSubstr("payload.data is not base64"), Not(HasSubstr("c2Vj"))));
  std::string broken = sample_json;
  broken.insert(broken.find("c29t") + 4, "\x01");
  const std::string place = "byte " + std::to_string(broken.find('\x01') + 1) + ' ';
  EXPECT_THAT(reading_error(broken).second, AllOf(HasSubstr(place), Not(HasSubstr("c29t"))));
}

TEST(LetterJson, RefusesWhatIsNoJsonOrTooMuchOfIt) {
  const std::string whole = sample_json;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    ASSERT_EQ(reading_error(whole.substr(0, size)).first, ErrorCode::record_invalid) << size;
  }
  EXPECT_EQ(reading_error(whole + "x").first, ErrorCode::record_invalid);
  EXPECT_THAT(reading_error("[]").second, HasSubstr("the record is of type array"));
  EXPECT_THAT(reading_error(std::string(100'000, '[')).second, HasSubstr("nested deeper than 32"));
  EXPECT_THAT(reading_error(R"({"unknown":)" + std::string(100'000, '[')).second, HasSubstr("nested deeper than 32"));
  EXPECT_THAT(reading_error(std::string(letter::max_letter_bytes + 1, ' ')).second, HasSubstr("at most 8388608"));
  EXPECT_THAT(reading_error(R"({"schema":1e999})").second, HasSubstr("number"));
  EXPECT_EQ(reading_error("{\"id\":\"\xFF\"}").first, ErrorCode::record_invalid);
}

TEST(LetterJson, NamesBothVersionsOfANewerRecord) {
  const auto [code, message] = reading_error(R"({"schema":2,"payload":"moved elsewhere"})");
  EXPECT_EQ(code, ErrorCode::record_too_new);
  EXPECT_THAT(message, AllOf(HasSubstr("schema 2"), HasSubstr("up to 1")));
}

TEST(LetterHeaders, AreTheDocumentedOnes) {
  std::vector<std::string> lines;
  for (const letter::Header& one : headers_of(sample_letter())) lines.push_back(one.name + ": " + one.value);
  EXPECT_THAT(
      lines, ::testing::ElementsAre(
                 "content-type: application/json", "ce_specversion: 1.0", "ce_id: 5f0c1a2e-0001-4000-8000-000000000001",
                 "ce_source: /forelock/node-1/4711", "ce_type: forelock.dead-letter.saveContent",
                 "ce_time: 2025-11-21T13:45:03.123Z", "ce_subject: P1", "dlq_reason: lock_timeout",
                 "dlq_message: Not obtained", "dlq_attempts: 2", "dlq_max_attempts: 4",
                 "dlq_first_failed_at: 2025-11-21T13:45:00.123Z", "dlq_failed_at: 2025-11-21T13:45:03.123Z",
                 "dlq_replay_count: 1", "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"));
  DeadLetter letter = sample_letter();
  letter.traceparent.clear();
  EXPECT_EQ(headers_of(letter).size(), 14U);
}

TEST(LetterHeaders, AreTheSameAfterTheOutbox) {
  const auto before = headers_of(sample_letter());
  const auto after = headers_of(from_json(to_json(sample_letter())));
  ASSERT_EQ(before.size(), after.size());
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_EQ(before[i].value, after[i].value) << before[i].name;
}

TEST(LetterHeaders, AreOneLineOfUtf8Each) {
  DeadLetter letter = sample_letter();
  letter.attempts.back().message = "no\r\nlock:\t\x7F \xC2\x85 \xFF \xC3\xA4";
  letter.type = "save\nX-Evil: 1";
  letter.client.host = "a b/\xC3\xA4?";
  EXPECT_EQ(header(letter, "dlq_message"), "no  lock:     \xEF\xBF\xBD \xC3\xA4");
  EXPECT_EQ(header(letter, "ce_type"), "forelock.dead-letter.save X-Evil: 1");
  EXPECT_EQ(header(letter, "ce_source"), "/forelock/a%20b%2F%C3%A4%3F/4711");
  letter.client.host.clear();
  EXPECT_EQ(header(letter, "ce_source"), "/forelock/unknown/4711");
}

TEST(LetterHeaders, AreCutBetweenCharacters) {
  DeadLetter letter = sample_letter();
  letter.attempts.back().message = std::string(999, 'x') + "\xC3\xA4 and more";
  EXPECT_EQ(header(letter, "dlq_message"), std::string(999, 'x'));
  letter.attempts.back().message = std::string(998, 'x') + "\xC3\xA4 and more";
  EXPECT_EQ(header(letter, "dlq_message"), std::string(998, 'x') + "\xC3\xA4");
  letter.attempts.back().message = std::string(2000, 'x');
  EXPECT_EQ(header(letter, "dlq_message").size(), 1000U);
}

}  // namespace
}  // namespace forelock
