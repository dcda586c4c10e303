#include "cli/dlq/queue_reading.h"

#include <unistd.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "base/counted.h"
#include "cli/dlq/letters_json.h"
#include "cli/dlq/letters_text.h"
#include "cli/output/quantity_text.h"
#include "forelock/error.h"
#include "forward/open_outbox.h"
#include "records/wall_time.h"

namespace forelock::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string ages_text(const drain::LetterStatistics& letters, WallTime now) {
  if (!letters.oldest) return {};
  return ", oldest failed " + duration_text(age_of(*letters.oldest, now)) + " ago, newest " +
         duration_text(age_of(*letters.newest, now)) + " ago";
}

}  // namespace

QueueReader::QueueReader(const Settings& settings, drain::StoreKind kind, LogSink log)
    : settings_(settings),
      kind_(kind),
      store_(drain::open_store(settings, kind, log, drain::StoreAccess::look)),
      log_(log) {}

QueueReading QueueReader::read_outbox(const Settings& settings, const LogSink& log) {
  QueueReading reading;
  try {
    outbox::OutboxOptions options = forward::outbox_options(settings, log);
    options.read_only = true;
    reading.outbox = outbox::Outbox(std::move(options)).depth();
  } catch (const Error& problem) {
    reading.outbox_problem = problem.what();
  }
  reading.at = records::wall_time_now();
  return reading;
}

QueueReading QueueReader::read(const drain::LetterFilter& filter) {
  QueueReading reading = read_outbox(settings_, log_);
  store_->scan(filter, reading.letters);
  drain::LetterFilter parked = filter;
  parked.parked = true;
  if (!filter.parked) store_->scan(parked, reading.parked);
  reading.at = records::wall_time_now();
  return reading;
}

Json QueueReader::outbox_json(const Settings& settings, const QueueReading& reading) {
  if (!reading.outbox) return {{"outbox", nullptr}, {"outbox_problem", reading.outbox_problem}};
  const outbox::OutboxDepth& outbox = *reading.outbox;
  return {{"outbox",
           {{"path", settings.outbox_path().string()},
            {"rows", outbox.rows},
            {"parked", outbox.parked},
            {"bytes", outbox.bytes},
            {"max_bytes", settings.outbox_max_bytes()},
            {"oldest_failed_at", outbox.oldest ? Json(records::format_wall_time(*outbox.oldest)) : Json(nullptr)},
            {"oldest_age_ms", outbox.oldest ? Json(age_of(*outbox.oldest, reading.at).count()) : Json(nullptr)}}}};
}

Json QueueReader::json_of(const QueueReading& reading) const {
  Json json = {{"at", records::format_wall_time(reading.at)}, {"store", store_->describe()}};
  json.update(cli::json_of(reading.letters, reading.at));
  json["parked"] = reading.parked.letters;
  json.update(outbox_json(settings_, reading));
  const bool kafka = forward::kafka_is_configured(settings_) && kind_ == drain::StoreKind::configured;
  json["topic"] = kafka ? Json(settings_.dlq_topic()) : Json(nullptr);
  return json;
}

std::string QueueReader::text_of(const QueueReading& reading, const Console& console) const {
  const drain::LetterStatistics& letters = reading.letters;
  std::string text = console.styled(printable(store_->describe()), Style::heading) + '\n';
  text += "  letters     " + std::to_string(letters.letters) + ", " + size_text(letters.bytes) +
          ages_text(letters, reading.at) + '\n';
  if (letters.unreadable_letters > 0) {
    text += "  unreadable  " + console.styled(std::to_string(letters.unreadable_letters), Style::bad) +
            " (forelock dlq list names them)\n";
  }
  if (reading.parked.letters > 0)
    text += "  parked      " + console.styled(std::to_string(reading.parked.letters), Style::warning) + '\n';
  text += outbox_line(reading);
  const std::string histogram = histogram_of(letters, console);
  return histogram.empty() ? text : text + '\n' + histogram;
}

std::string QueueReader::outbox_line(const QueueReading& reading) const {
  if (!reading.outbox) {
    return "  outbox      not readable by user " + std::to_string(geteuid()) + ": " +
           printable(reading.outbox_problem) + '\n';
  }
  const outbox::OutboxDepth& outbox = *reading.outbox;
  std::string text = "  outbox      " + base::counted(outbox.rows, "row") + ", " + size_text(outbox.bytes) + " of " +
                     size_text(static_cast<std::uint64_t>(settings_.outbox_max_bytes()));
  if (outbox.oldest) text += ", oldest failed " + duration_text(age_of(*outbox.oldest, reading.at)) + " ago";
  if (outbox.rows > 0 && forward::kafka_is_configured(settings_)) text += " (to Kafka: forelock dlq forward)";
  return text + '\n';
}

}  // namespace forelock::cli
