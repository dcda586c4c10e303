#include "cli/serve/letter_count.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "cli/dlq/queue_reading.h"
#include "forelock/error.h"

namespace forelock::cli {
namespace {

using ReadingClock = std::chrono::steady_clock;

constexpr int times_a_reading = 10;
constexpr unsigned http_ok = 200;

QueueReading read_queue(const Settings& settings, const LogSink& log, bool& readable) {
  try {
    return QueueReader(settings, drain::StoreKind::configured, log).read({});
  } catch (const Error& problem) {
    if (problem.code() != ErrorCode::kafka_unavailable) throw;
    readable = false;
    return QueueReader::read_outbox(settings, log);
  }
}

LetterNumbers read_numbers(const Settings& settings, const LogSink& log) {
  LetterNumbers numbers;
  const QueueReading reading = read_queue(settings, log, numbers.readable);
  numbers.letters = reading.letters.letters;
  numbers.parked = reading.parked.letters;
  numbers.unreadable = reading.letters.unreadable_letters + reading.parked.unreadable_letters;
  numbers.oldest = reading.letters.oldest;
  if (reading.outbox) numbers.outbox_rows = reading.outbox->rows;
  return numbers;
}

}  // namespace

LetterCount::LetterCount(BackRoom& back_room, Settings settings, LogSink log,
                         std::function<void(std::function<void()>)> post)
    : back_room_(back_room), settings_(std::move(settings)), log_(std::move(log)), post_(std::move(post)) {}

void LetterCount::tick() {
  const auto begun_at = ReadingClock::now();
  if (under_way_ || begun_at < next_) return;
  auto numbers = std::make_shared<std::optional<LetterNumbers>>();
  under_way_ = back_room_.ask(
      [numbers, settings = settings_, log = log_] {
        *numbers = read_numbers(settings, log);
        return web::Response{http_ok, {}, {}, false};
      },
      [this, numbers, begun_at](const web::Response&) {
        post_([this, numbers, begun_at] {
          const auto now = ReadingClock::now();
          numbers_ = *numbers;
          under_way_ = false;
          next_ = now + std::max<ReadingClock::duration>(interval, times_a_reading * (now - begun_at));
        });
      });
}

}  // namespace forelock::cli
