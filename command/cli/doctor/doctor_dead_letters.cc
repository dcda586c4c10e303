#include "cli/doctor/doctor_checks.h"

#include <sys/statvfs.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "base/counted.h"
#include "cli/output/quantity_text.h"
#include "forelock/error.h"
#include "forward/open_outbox.h"
#include "kafka/queue_topics.h"
#include "outbox/outbox.h"
#include "records/wall_time.h"

namespace forelock::cli {
namespace {

constexpr std::chrono::minutes long_wait{10};

// The folder in which the outbox is, or would be made.
std::filesystem::path existing_folder(std::filesystem::path path) {
  std::error_code ignored;
  do {
    path = path.parent_path();
  } while (path.has_relative_path() && !std::filesystem::exists(path, ignored));
  return path;
}

void examine_space(const Settings& settings, const std::filesystem::path& folder, DoctorReport& report) {
  struct statvfs space {};
  if (statvfs(folder.c_str(), &space) != 0) return;
  const std::uint64_t free = std::uint64_t{space.f_bavail} * space.f_frsize;
  const auto wanted = static_cast<std::uint64_t>(settings.outbox_max_bytes());
  if (free >= wanted) return;
  report.warn("outbox",
              size_text(free) + " are free in " + folder.string() + ", less than the outbox may need (" +
                  size_text(wanted) + ")",
              "make room, lower dlq.outbox.max.bytes, or set dlq.outbox.path to another place");
}

void examine_backlog(const Settings& settings, const LogSink& log, DoctorReport& report) {
  outbox::OutboxOptions options = forward::outbox_options(settings, log);
  options.read_only = true;
  const outbox::OutboxDepth depth = outbox::Outbox(std::move(options)).depth();
  const auto waited = depth.oldest ? records::wall_time_now() - *depth.oldest : std::chrono::milliseconds(0);
  const std::string text = settings.outbox_path().string() + " holds " + base::counted(depth.rows, "letter");
  if (forward::kafka_is_configured(settings) && depth.rows > 0 && waited > long_wait) {
    report.warn("outbox", text + ", the oldest for " + duration_text(waited) + ": nothing brings them to Kafka",
                "forelock dlq forward");
  } else {
    report.ok("outbox", text);
  }
}

void examine_outbox(const Settings& settings, const LogSink& log, DoctorReport& report) {
  const std::filesystem::path& path = settings.outbox_path();
  if (path.empty()) {
    report.warn("outbox", "there is no place for dead letters: no dlq.outbox.path, and no home folder",
                "set dlq.outbox.path");
    return;
  }
  std::error_code error;
  const bool exists = std::filesystem::exists(path, error);
  const std::filesystem::path folder = existing_folder(path);
  std::error_code ignored;
  if ((error && error != std::errc::permission_denied) || !std::filesystem::is_directory(folder, ignored)) {
    report.warn("outbox", path.string() + ": " + (error ? error.message() : folder.string() + " is no folder"),
                "set dlq.outbox.path to another place");
    return;
  }
  struct statvfs space {};
  if (!exists && statvfs(folder.c_str(), &space) == 0 && space.f_blocks == 0) {
    report.warn("outbox",
                path.string() + " cannot be made: " + folder.string() + " is in a file system without room for files",
                "set dlq.outbox.path to another place");
    return;
  }
  const std::string user = "user " + std::to_string(geteuid());
  if (error || access(exists ? path.c_str() : folder.c_str(), R_OK | W_OK) != 0) {
    report.warn("outbox", (exists ? path : folder).string() + " cannot be used by " + user,
                "run this as the user of the service, or set dlq.outbox.path");
    return;
  }
  examine_space(settings, folder, report);
  if (!exists) {
    report.ok("outbox", path.string() + " will be made for the first letter");
    return;
  }
  try {
    examine_backlog(settings, log, report);
  } catch (const Error& problem) {
    report.warn("outbox", problem.what(), problem.hint());
  }
}

void examine_kafka(const Settings& settings, const LogSink& log, DoctorReport& report) {
  try {
    const std::vector<kafka::TopicFault> faults = kafka::queue_faults(settings, log);
    for (const kafka::TopicFault& fault : faults) report.warn("kafka", fault.text(), "forelock dlq init --alter");
    if (faults.empty())
      report.ok("kafka", "the brokers answer; the topics of " + settings.dlq_topic() + " keep letters");
  } catch (const Error& problem) {
    report.warn("kafka", problem.what(),
                problem.hint().empty() ? "dead letters wait in the outbox meanwhile: check kafka.bootstrap.servers"
                                       : problem.hint());
  }
}

}  // namespace

void examine_dead_letters(const Settings& settings, const LogSink& log, DoctorReport& report) {
  examine_outbox(settings, log, report);
  if (forward::kafka_is_configured(settings)) examine_kafka(settings, log, report);
}

}  // namespace forelock::cli
