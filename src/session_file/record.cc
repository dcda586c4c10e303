#include "session_file/record.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

namespace forelock::session_file {
namespace {

constexpr std::string_view head = "forelock-session-file 1\n";
constexpr std::size_t id_digits = 16;

void add_hex(std::string& text, std::uint64_t number) {
  constexpr std::string_view digits = "0123456789abcdef";
  for (int shift = 60; shift >= 0; shift -= 4) text += digits[(number >> static_cast<unsigned>(shift)) & 15U];
}

std::optional<std::uint64_t> hex(std::string_view digits) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number, 16);
  if (digits.size() != id_digits || error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return number;
}

// FNV-1a: against tearing, not against people, who may not write to the file.
std::uint64_t sum_of(std::string_view text) {
  std::uint64_t sum = 14695981039346656037U;
  for (const char letter : text) sum = (sum ^ static_cast<unsigned char>(letter)) * 1099511628211U;
  return sum;
}

std::uint64_t half(const std::array<char, 16>& password, std::size_t from) {
  std::uint64_t number = 0;
  for (std::size_t i = from; i < from + 8; ++i) number = number << 8U | static_cast<unsigned char>(password[i]);
  return number;
}

void set_half(std::array<char, 16>& password, std::size_t from, std::uint64_t number) {
  for (std::size_t i = 8; i-- > 0; number >>= 8U) password[from + i] = static_cast<char>(number & 255U);
}

// Takes the text's first line, without its end.
std::optional<std::string_view> take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end + 1);
  return line;
}

bool take(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

// "session ID PASSWORD ENSEMBLE", with `session ` gone.
std::optional<RecordedSession> session_of(std::string_view line) {
  constexpr std::size_t password_at = id_digits + 1;
  constexpr std::size_t ensemble_at = password_at + 2 * id_digits + 1;
  if (line.size() <= ensemble_at || line[password_at - 1] != ' ' || line[ensemble_at - 1] != ' ') return std::nullopt;
  const auto id = hex(line.substr(0, id_digits));
  const auto first = hex(line.substr(password_at, id_digits));
  const auto second = hex(line.substr(password_at + id_digits, id_digits));
  if (!id || *id == 0 || !first || !second) return std::nullopt;
  RecordedSession session{std::string(line.substr(ensemble_at)), static_cast<std::int64_t>(*id), {}};
  set_half(session.password, 0, *first);
  set_half(session.password, 8, *second);
  return session;
}

std::optional<Record> record_of(std::string_view text) {
  std::string_view rest = text.substr(head.size());
  Record record;
  auto line = take_line(rest);
  if (!line || !take(*line, "boot ") || line->empty()) return std::nullopt;
  record.boot = *line;
  line = take_line(rest);
  if (!line || !take(*line, "file ") || line->empty()) return std::nullopt;
  record.place = *line;
  while ((line = take_line(rest)) && take(*line, "session ")) {
    auto session = session_of(*line);
    if (!session || record.sessions.size() == most_sessions) return std::nullopt;
    record.sessions.push_back(*std::move(session));
  }
  if (!line || !rest.empty()) return std::nullopt;
  const std::string_view summed(text.data(), static_cast<std::size_t>(line->data() - text.data()));
  if (!take(*line, "sum ") || hex(*line) != sum_of(summed)) return std::nullopt;
  return record;
}

}  // namespace

std::string to_text(const Record& record) {
  std::string text = std::string(head) + "boot " + record.boot + "\nfile " + record.place + '\n';
  for (const RecordedSession& session : record.sessions) {
    text += "session ";
    add_hex(text, static_cast<std::uint64_t>(session.id));
    text += ' ';
    add_hex(text, half(session.password, 0));
    add_hex(text, half(session.password, 8));
    text += ' ' + session.ensemble + '\n';
  }
  const std::uint64_t sum = sum_of(text);
  text += "sum ";
  add_hex(text, sum);
  return text + '\n';
}

ReadRecord read_record(std::string_view text) {
  if (text.empty()) return {};
  const bool zeros = std::all_of(text.begin(), text.end(), [](char letter) { return letter == '\0'; });
  if (zeros || head.starts_with(text)) return {RecordState::torn, {}};
  if (text.size() > largest_record || !text.starts_with(head)) return {RecordState::foreign, {}};
  if (auto record = record_of(text)) return {RecordState::whole, *std::move(record)};
  return {RecordState::torn, {}};
}

}  // namespace forelock::session_file
