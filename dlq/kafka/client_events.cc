#include "kafka/client_events.h"

#include <syslog.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/counted.h"

namespace forelock::kafka {
namespace {

// A broker that is away must not flood the log, and the first lines are those that say why.
constexpr double burst = 20;
constexpr double lines_per_second = 0.5;
// Older problems explain nothing any more. The library repeats one that lasts after half a minute.
constexpr std::chrono::seconds problem_lifetime(60);

std::string_view level_name(int syslog_level) {
  if (syslog_level <= LOG_ERR) return "error";
  return syslog_level == LOG_WARNING ? "warning" : "info";
}

}  // namespace

ClientEvents::ClientEvents(LogSink log, const Mask& mask)
    : log_(std::move(log)), mask_(mask), tokens_(burst), filled_at_(Clock::now()) {}

void ClientEvents::install(rd_kafka_conf_t* conf) {
  rd_kafka_conf_set_opaque(conf, this);
  rd_kafka_conf_set_log_cb(conf, &ClientEvents::on_log);
  rd_kafka_conf_set_error_cb(conf, &ClientEvents::on_error);
}

void ClientEvents::install(rd_kafka_conf_t* conf, DeliveryHook on_delivery) {
  install(conf);
  on_delivery_ = std::move(on_delivery);
  rd_kafka_conf_set_dr_msg_cb(conf, &ClientEvents::on_delivery);
}

void ClientEvents::on_delivery(rd_kafka_t* /*client*/, const rd_kafka_message_t* message, void* opaque) {
  static_cast<ClientEvents*>(opaque)->on_delivery_(*message);
}

void ClientEvents::on_log(const rd_kafka_t* client, int level, const char* facility, const char* message) {
  auto* const self = static_cast<ClientEvents*>(rd_kafka_opaque(client));
  if (level <= LOG_ERR || std::string_view(facility) == "FAIL") {
    const std::lock_guard lock(self->mutex_);
    self->problem_ = self->mask_.applied_to(message);
    self->problem_at_ = Clock::now();
  }
  // What was asked for by kafka.debug is not left out.
  self->write(level_name(level), message, level < LOG_DEBUG);
}

void ClientEvents::on_error(rd_kafka_t* client, int error, const char* reason, void* opaque) {
  auto* const self = static_cast<ClientEvents*>(opaque);
  const auto code = static_cast<rd_kafka_resp_err_t>(error);
  if (code == RD_KAFKA_RESP_ERR__FATAL) {
    std::array<char, 512> text{};
    rd_kafka_fatal_error(client, text.data(), text.size());
    self->set_fatal(text.data());
  } else if (code == RD_KAFKA_RESP_ERR__AUTHENTICATION || code == RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED) {
    const std::lock_guard lock(self->mutex_);
    self->refusal_ = self->mask_.applied_to(reason);
    self->refusal_at_ = Clock::now();
  }
}

void ClientEvents::log(std::string_view level, std::string_view message) {
  write(level, message, true);
}

void ClientEvents::write(std::string_view level, std::string_view message, bool limited) {
  if (!log_) return;
  const std::lock_guard lock(log_mutex_);
  if (limited && !take_token()) {
    ++left_out_;
    return;
  }
  std::string line = "Kafka: " + mask_.applied_to(message);
  if (left_out_ > 0)
    line +=
        " (" + base::counted(std::exchange(left_out_, 0), "line before it was", "lines before it were") + " left out)";
  try {
    log_(level, line);
  } catch (...) {  // the host's own trouble; the library's threads must not get it
  }
}

bool ClientEvents::take_token() {
  const Clock::time_point now = Clock::now();
  tokens_ = std::min(burst, tokens_ + lines_per_second * std::chrono::duration<double>(now - filled_at_).count());
  filled_at_ = now;
  if (tokens_ < 1) return false;
  tokens_ -= 1;
  return true;
}

std::string ClientEvents::last_problem() const {
  const std::lock_guard lock(mutex_);
  return Clock::now() - problem_at_ < problem_lifetime ? problem_ : std::string();
}

std::string ClientEvents::and_last_problem() const {
  const std::string problem = last_problem();
  return problem.empty() ? problem : "; last problem: " + problem;
}

std::optional<std::string> ClientEvents::refusal() const {
  const std::lock_guard lock(mutex_);
  return Clock::now() - refusal_at_ < problem_lifetime ? refusal_ : std::nullopt;
}

std::optional<std::string> ClientEvents::fatal() const {
  const std::lock_guard lock(mutex_);
  return fatal_;
}

void ClientEvents::set_fatal(std::string reason) {
  const std::string masked = mask_.applied_to(reason);
  const std::lock_guard lock(mutex_);
  fatal_ = masked;
  problem_ = masked;
  problem_at_ = Clock::now();
}

void ClientEvents::forget() {
  const std::lock_guard lock(mutex_);
  refusal_.reset();
  fatal_.reset();
}

}  // namespace forelock::kafka
