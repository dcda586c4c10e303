// Events of a librdkafka client, for the host's log and for messages.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "forelock/client.h"
#include "kafka/handles.h"
#include "kafka/user_settings.h"

namespace forelock::kafka {

// Thread-safe. Must outlive the clients that report to it; the log sink is called from the threads that call
// rd_kafka_poll(), one call at a time.
class ClientEvents {
 public:
  ClientEvents(LogSink log, const Mask& mask);
  ClientEvents(const ClientEvents&) = delete;
  ClientEvents& operator=(const ClientEvents&) = delete;

  // Lets clients that are made with it report here. `on_delivery` is for producers, and called by rd_kafka_poll().
  using DeliveryHook = std::function<void(const rd_kafka_message_t&)>;
  void install(rd_kafka_conf_t* conf);
  void install(rd_kafka_conf_t* conf, DeliveryHook on_delivery);

  // For the host's log, masked. Lines beyond a few a second are left out, and counted.
  void log(std::string_view level, std::string_view message);

  // What the way to the brokers met lately, masked, such as "127.0.0.1:9092/bootstrap: Connect to … failed: Connection
  // refused"; empty if nothing.
  std::string last_problem() const;
  // "; last problem: …", or nothing.
  std::string and_last_problem() const;

  // Why a broker refused who we say we are, if one lately did: trying again does not help.
  std::optional<std::string> refusal() const;

  // The client cannot go on and must be replaced: why. Known after its events were served.
  std::optional<std::string> fatal() const;
  void set_fatal(std::string reason);
  // For the next client.
  void forget();

 private:
  using Clock = std::chrono::steady_clock;

  static void on_log(const rd_kafka_t* client, int level, const char* facility, const char* message);
  static void on_delivery(rd_kafka_t* client, const rd_kafka_message_t* message, void* opaque);
  static void on_error(rd_kafka_t* client, int error, const char* reason, void* opaque);

  void write(std::string_view level, std::string_view message, bool limited);
  bool take_token();

  const LogSink log_;
  const Mask mask_;
  DeliveryHook on_delivery_;
  mutable std::mutex mutex_;
  std::string problem_;
  Clock::time_point problem_at_{};
  std::optional<std::string> refusal_;
  Clock::time_point refusal_at_{};
  std::optional<std::string> fatal_;

  std::mutex log_mutex_;
  double tokens_;
  Clock::time_point filled_at_;
  std::uint64_t left_out_ = 0;
};

}  // namespace forelock::kafka
