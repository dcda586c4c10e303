// Goes through the text once, in the order in which to_json writes; whatever is not as expected ends it.
#include "letter/letter_scan.h"

#include <charconv>
#include <nlohmann/json.hpp>
#include <string>

#include "letter/letter_json.h"
#include "letter/letter_limits.h"
#include "records/wall_time.h"

namespace forelock::letter {
namespace {

class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  // Whether everything so far was as expected. Nothing is taken once it was not.
  bool good() const { return good_; }
  bool at_end() const { return good_ && rest_.empty(); }

  bool has(std::string_view expected) {
    if (!good_ || !rest_.starts_with(expected)) return false;
    rest_.remove_prefix(expected.size());
    return true;
  }
  void literal(std::string_view expected) { good_ = has(expected); }

  template <class Number>
  void number(std::string_view name, Number& number) {
    literal(name);
    if (!good_) return;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
    good_ = error == std::errc();
    if (good_) rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
  }

  void text(std::string_view name, std::string& out) {
    const std::string_view inside = raw_text(name);
    if (!good_) return;
    if (inside.find('\\') == std::string_view::npos) {
      out = inside;
      return;
    }
    const auto value = nlohmann::json::parse('"' + std::string(inside) + '"', nullptr, false);
    good_ = value.is_string();
    if (good_) out = value.get_ref<const std::string&>();
  }

  void skip_text(std::string_view name) { raw_text(name); }

  void time(std::string_view name, WallTime& out) {
    const auto time = records::parse_wall_time(raw_text(name));
    good_ = good_ && time;
    if (good_) out = *time;
  }

 private:
  // What stands between the quotes, still escaped.
  std::string_view raw_text(std::string_view name) {
    literal(name);
    literal("\"");
    if (!good_) return {};
    std::size_t end = rest_.find('"');
    // One that is escaped has an odd number of backslashes before it.
    while (end != std::string_view::npos && backslashes_before(end) % 2 != 0) end = rest_.find('"', end + 1);
    good_ = end != std::string_view::npos;
    if (!good_) return {};
    const std::string_view inside = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return inside;
  }

  std::size_t backslashes_before(std::size_t end) const {
    std::size_t begin = end;
    while (begin > 0 && rest_[begin - 1] == '\\') --begin;
    return end - begin;
  }

  std::string_view rest_;
  bool good_ = true;
};

void scan_attempts(Scanner& scanner, DeadLetter& letter) {
  do {
    FailedAttempt& attempt = letter.attempts.emplace_back();
    scanner.number("{\"n\":", attempt.number);
    scanner.time(",\"at\":", attempt.at);
    scanner.text(",\"code\":", attempt.code);
    scanner.text(",\"message\":", attempt.message);
    std::chrono::milliseconds::rep waited = 0;
    scanner.number(",\"waited_ms\":", waited);
    attempt.waited = std::chrono::milliseconds(waited);
    scanner.literal("}");
  } while (letter.attempts.size() < max_attempts && scanner.has(","));
}

}  // namespace

std::optional<DeadLetter> scan_json(std::string_view json) {
  DeadLetter letter;
  std::int64_t schema = 0;
  std::string priority;
  Scanner scanner(json);
  scanner.number("{\"schema\":", schema);
  if (schema != schema_version) return std::nullopt;
  scanner.text(",\"id\":", letter.id);
  scanner.text(",\"type\":", letter.type);
  scanner.text(",\"monitor\":", letter.monitor);
  scanner.text(",\"priority\":", priority);
  scanner.text(",\"lockInfo\":", letter.lock_info);
  scanner.skip_text(R"(,"payload":{"encoding":"base64","data":)");
  scanner.literal("},\"attempts\":[");
  if (!scanner.good()) return std::nullopt;
  scan_attempts(scanner, letter);
  scanner.literal("]");
  scanner.number(",\"max_attempts\":", letter.max_attempts);
  scanner.time(",\"enqueued_at\":", letter.enqueued_at);
  scanner.time(",\"failed_at\":", letter.failed_at);
  scanner.number(",\"replay_count\":", letter.replay_count);
  scanner.text(",\"client\":{\"host\":", letter.client.host);
  scanner.number(",\"pid\":", letter.client.pid);
  scanner.text(",\"instance\":", letter.client.instance);
  scanner.text(",\"version\":", letter.client.version);
  scanner.literal("}");
  letter.reason = letter.attempts.back().code;
  if (scanner.has(",\"reason\":")) scanner.text("", letter.reason);
  if (scanner.has(",\"traceparent\":")) scanner.text("", letter.traceparent);
  scanner.literal("}");
  if (!scanner.at_end() || flaw_of(letter)) return std::nullopt;
  const auto parsed = parse_priority(priority);
  if (!parsed) return std::nullopt;
  letter.priority = *parsed;
  return letter;
}

}  // namespace forelock::letter
