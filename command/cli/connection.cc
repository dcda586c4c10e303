#include "cli/connection.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "cli/left_behind.h"
#include "cli/log/command_log.h"
#include "client/client_core.h"
#include "zookeeper/drain_patience.h"

namespace forelock::cli {
namespace {

constexpr int debug_verbosity = 3;
// Well below longest_close: the end must be on its way by then.
constexpr std::chrono::milliseconds patience_with_answers{100};

void show(const Console& console, std::string_view level, std::string_view message) {
  const int needed = level == "debug" ? debug_verbosity : level == "info" ? 2 : 1;
  if (console.verbosity() >= needed) console.tell(std::string(level) + ": " + printable(message));
}

}  // namespace

LogSink log_to(const Console& console) {
  return [console](std::string_view level, std::string_view message) {
    CommandLog::instance().write(level, message);
    show(console, level, message);
  };
}

LogDetail log_detail(const Console& console) {
  return console.verbosity() >= debug_verbosity ? LogDetail::debug : CommandLog::instance().detail();
}

LogSink dead_letter_log(const Console& console) {
  struct Last {
    std::mutex mutex;
    std::string message;
  };
  return [console, last = std::make_shared<Last>()](std::string_view level, std::string_view message) {
    CommandLog::instance().write(level, message);
    const bool chatter = message.starts_with("Kafka: ");  // of its client, which tries again by itself
    if (level != "error" || chatter) return show(console, level, message);
    const std::lock_guard guard(last->mutex);
    if (last->message == message) return;
    last->message = message;
    console.tell(console.text() ? "error: " + printable(message) : message);
  };
}

CommandClient::CommandClient(const Settings& settings, const Console& console, client::ClientUse use) {
  zookeeper::drain_patience = patience_with_answers;
  auto core = std::make_shared<client::ClientCore>(settings, log_to(console), log_detail(console));
  core->start(use);
  client_ = std::make_shared<Client>(std::move(core));
}

CommandClient::~CommandClient() {
  close();
}

void CommandClient::close() {
  if (std::exchange(closed_, true)) return;
  try {
    do_or_leave_behind([client = client_] { client->close(); }, longest_close);
  } catch (const std::exception&) {
    client_->close();  // no thread is to be had: it takes as long as it takes
  }
}

std::chrono::milliseconds patience(const Settings& settings) {
  return std::max<std::chrono::milliseconds>(settings.session_timeout(), std::chrono::seconds(1));
}

}  // namespace forelock::cli
