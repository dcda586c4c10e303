#include "integration/wire_tap.h"

#include "support/test.h"
#include "support/wait_until.h"

namespace forelock::test {
namespace {

// Request numbers with a meaning of their own.
constexpr std::int32_t ping = -2;
constexpr std::int32_t watch_event = -1;
// So many requests are written down.
constexpr std::size_t traced = 20;

std::int32_t number_at(const std::string& packet, std::size_t offset) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(packet.at(offset + i));
  return static_cast<std::int32_t>(value);
}

// Takes the first complete packet off the stream; false if there is none.
bool next_packet(std::string& stream, std::string& packet) {
  if (stream.size() < 4) return false;
  const auto size = static_cast<std::size_t>(number_at(stream, 0));
  if (stream.size() < 4 + size) return false;
  packet = stream.substr(4, size);
  stream.erase(0, 4 + size);
  return true;
}

}  // namespace

WireTap::WireTap(TcpProxy& proxy) : proxy_(proxy) {
  proxy_.set_filter([this](TcpProxy::Direction direction, const std::string& bytes) { pass(direction, bytes); });
}

WireTap::~WireTap() {
  proxy_.set_filter({});
}

WireTap::Traffic WireTap::take(const std::function<std::size_t()>& sent) {
  const bool complete = wait_until(
      [&] {
        const std::size_t expected = sent();
        const std::lock_guard guard(mutex_);
        return open_.empty() && total_ >= expected;
      },
      std::chrono::seconds(5));
  const std::size_t expected = sent();
  const std::lock_guard guard(mutex_);
  if (!complete) {
    ADD_FAILURE() << expected << " requests sent, " << total_ << " seen, " << open_.size() << " not answered;"
                  << traffic_.trace;
  }
  reply_since_request_ = true;
  return std::exchange(traffic_, {});
}

void WireTap::pass(TcpProxy::Direction direction, const std::string& bytes) {
  const std::lock_guard guard(mutex_);
  const bool out = direction == TcpProxy::Direction::to_server;
  std::string& stream = out ? to_server_ : to_client_;
  stream += bytes;
  for (std::string packet; next_packet(stream, packet);) {
    if (!std::exchange(out ? greeted_ : answered_, true)) continue;
    out ? request(packet) : reply(packet);
  }
}

void WireTap::request(const std::string& packet) {
  const std::int32_t number = number_at(packet, 0);
  if (number == ping) return;
  open_[number] = number_at(packet, 4);
  ++traffic_.requests;
  ++total_;
  if (traffic_.requests <= traced) traffic_.trace += " >" + std::to_string(open_[number]);
  if (std::exchange(reply_since_request_, false)) ++traffic_.round_trips;
}

void WireTap::reply(const std::string& packet) {
  const std::int32_t number = number_at(packet, 0);
  if (number == watch_event && traffic_.requests <= traced) traffic_.trace += " !";
  const auto request = open_.find(number);
  if (request == open_.end()) return;
  if (traffic_.requests <= traced) traffic_.trace += " <" + std::to_string(request->second);
  open_.erase(request);
  reply_since_request_ = true;
}

std::ostream& operator<<(std::ostream& out, const WireTap::Traffic& traffic) {
  out << traffic.requests << " requests, " << traffic.round_trips << " round trips:" << traffic.trace;
  return out;
}

}  // namespace forelock::test
