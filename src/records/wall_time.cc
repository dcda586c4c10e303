#include "records/wall_time.h"

#include <algorithm>
#include <array>

namespace forelock::records {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

// The calendar, from the year 0 on, which is a leap year. That of the standard library is missing in GCC 10's.
constexpr std::array<int, 13> days_before_month{0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365};

constexpr bool is_leap(int year) {
  return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

constexpr int day_number(int year) {
  const int past = year - 1;
  return year == 0 ? 0 : year * 365 + 1 + past / 4 - past / 100 + past / 400;
}

// Of the first day of a month, 1 to 13.
constexpr int day_number(int year, int month) {
  const bool past_leap_day = month > 2 && is_leap(year);
  return day_number(year) + days_before_month.at(static_cast<std::size_t>(month - 1)) + (past_leap_day ? 1 : 0);
}

constexpr int day_of_1970 = day_number(1970);
constexpr std::int64_t day_ms = 86'400'000;
constexpr WallTime first_writable{milliseconds(-day_ms * day_of_1970)};
static_assert(last_writable == WallTime{milliseconds(day_ms * (day_number(10'000) - day_of_1970) - 1)});

// Writes `digits` decimal digits, the last at out[-1].
void put_number(char* end, unsigned value, int digits) {
  for (int i = 0; i < digits; ++i) {
    *--end = static_cast<char>('0' + value % 10);
    value /= 10;
  }
}

// Reads text from the front, piece by piece; after a failure everything fails.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  int number(std::size_t digits) {
    int value = 0;
    for (std::size_t i = 0; i < digits; ++i) value = value * 10 + digit();
    return value;
  }

  void expect(char c) {
    if (!accept(c)) good_ = false;
  }

  bool accept(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  // The first three digits count, the others are only skipped.
  milliseconds fraction() {
    int value = digit();
    int digits = 1;
    for (; !rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9'; ++digits) {
      const int next = digit();
      if (digits < 3) value = value * 10 + next;
    }
    for (; digits < 3; ++digits) value *= 10;
    return milliseconds(value);
  }

  bool at_end() const { return good_ && rest_.empty(); }

 private:
  int digit() {
    if (rest_.empty() || rest_.front() < '0' || rest_.front() > '9') {
      good_ = false;
      return 0;
    }
    const int value = rest_.front() - '0';
    rest_.remove_prefix(1);
    return value;
  }

  std::string_view rest_;
  bool good_ = true;
};

}  // namespace

WallTime wall_time_now() {
  return std::chrono::time_point_cast<milliseconds>(std::chrono::system_clock::now());
}

void append_wall_time(WallTime time, std::string& out) {
  time = std::clamp(time, first_writable, last_writable);
  const std::int64_t since_year_0 = (time - first_writable).count();
  const auto day = static_cast<int>(since_year_0 / day_ms);
  const auto of_day = static_cast<unsigned>(since_year_0 % day_ms);
  int year = day / 366;
  while (day_number(year + 1) <= day) ++year;
  int month = 1;
  while (day_number(year, month + 1) <= day) ++month;
  char text[wall_time_bytes] = {0, 0, 0, 0, '-', 0, 0, '-', 0, 0, 'T', 0, 0, ':', 0, 0, ':', 0, 0, '.', 0, 0, 0, 'Z'};
  put_number(text + 4, static_cast<unsigned>(year), 4);
  put_number(text + 7, static_cast<unsigned>(month), 2);
  put_number(text + 10, static_cast<unsigned>(day - day_number(year, month) + 1), 2);
  put_number(text + 13, of_day / 3'600'000, 2);
  put_number(text + 16, of_day / 60'000 % 60, 2);
  put_number(text + 19, of_day / 1000 % 60, 2);
  put_number(text + 23, of_day % 1000, 3);
  out.append(text, sizeof text);
}

std::string format_wall_time(WallTime time) {
  std::string text;
  append_wall_time(time, text);
  return text;
}

WallTime later(WallTime time, std::chrono::milliseconds span) {
  const bool none = span > std::chrono::milliseconds::zero() && time > WallTime::max() - span;
  return none ? WallTime::max() : time + span;
}

std::optional<WallTime> parse_wall_time(std::string_view text) {
  Scanner scan(text);
  const int year = scan.number(4);
  scan.expect('-');
  const int month = scan.number(2);
  scan.expect('-');
  const int day = scan.number(2);
  scan.expect('T');
  const int hour = scan.number(2);
  scan.expect(':');
  const int minute = scan.number(2);
  scan.expect(':');
  const int second = scan.number(2);
  const milliseconds fraction = scan.accept('.') ? scan.fraction() : milliseconds(0);
  minutes offset{0};
  if (!scan.accept('Z')) {
    const int sign = scan.accept('-') ? -1 : 1;
    if (sign > 0) scan.expect('+');
    const int offset_hours = scan.number(2);
    scan.expect(':');
    const int offset_minutes = scan.number(2);
    if (offset_hours > 23 || offset_minutes > 59) return std::nullopt;
    offset = sign * (hours(offset_hours) + minutes(offset_minutes));
  }
  if (!scan.at_end() || month < 1 || month > 12 || day < 1) return std::nullopt;
  const int number = day_number(year, month) + day - 1;
  // 60 seconds: a leap second, which is the first of the next minute here.
  if (number >= day_number(year, month + 1) || hour > 23 || minute > 59 || second > 60) return std::nullopt;
  return first_writable + milliseconds(day_ms * number) + hours(hour) + minutes(minute) + seconds(second) + fraction -
         offset;
}

}  // namespace forelock::records
