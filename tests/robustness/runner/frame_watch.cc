#include "robustness/runner/frame_watch.h"

namespace forelock::robustness {
namespace {

using Direction = test::TcpProxy::Direction;
using Verdict = test::TcpProxy::Verdict;
// Connections so much older are over.
constexpr int remembered_connections = 64;
// What is longer is not ZooKeeper's protocol.
constexpr std::size_t longest_frame = 4 * 1024 * 1024;
// Of TLS: type, version, length. What clients say is of this type.
constexpr std::size_t record_head = 5;
constexpr char application_data = 23;
// With what TLS adds a ping is shorter, and so is the length that the C client sends before each request; a request
// that names a node is longer.
constexpr std::size_t shortest_request = 64;

// ZooKeeper's numbers for operations.
enum : std::int32_t {
  create = 1,
  remove = 2,
  set_data = 5,
  get_children = 8,
  get_children2 = 12,
  multi = 14,
  create2 = 15,
  create_container = 19
};

template <typename Number>
Number number_at(std::string_view bytes, std::size_t offset) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < sizeof(Number); ++i) {
    value = value << 8 | (offset + i < bytes.size() ? static_cast<unsigned char>(bytes[offset + i]) : 0u);
  }
  return static_cast<Number>(value);
}

bool is(FrameWatch::Request request, std::string_view frame) {
  const auto operation = number_at<std::int32_t>(frame, 4);
  const auto first_part = number_at<std::int32_t>(frame, 8);  // of a transaction
  switch (request) {
    case FrameWatch::Request::claim:
      return operation == multi && first_part != remove;
    case FrameWatch::Request::release:
      return (operation == multi && first_part == remove) || operation == remove;
    case FrameWatch::Request::listing:
      return operation == get_children || operation == get_children2;
    case FrameWatch::Request::creation:
      return operation == create || operation == create2 || operation == create_container;
    case FrameWatch::Request::writing:
      return operation == set_data;
  }
  return false;
}

}  // namespace

void FrameWatch::set(Trap trap) {
  const std::lock_guard guard(mutex_);
  trap_ = std::move(trap);
  awaited_.reset();
}

void FrameWatch::clear() {
  const std::lock_guard guard(mutex_);
  trap_.reset();
  awaited_.reset();
}

std::int64_t FrameWatch::session() const {
  const std::lock_guard guard(mutex_);
  return session_;
}

FrameWatch::Streams& FrameWatch::streams_of(const Connection& connection) {
  const auto [found, added] = streams_.try_emplace(connection);
  if (added) {
    std::erase_if(streams_, [&](const auto& each) {
      return each.first.first == connection.first && each.first.second < connection.second - remembered_connections;
    });
  }
  return found->second;
}

Verdict FrameWatch::inspect(int proxy, int number, Direction direction, std::string& bytes) {
  const std::lock_guard guard(mutex_);
  const Connection connection(proxy, number);
  Stream& stream = streams_of(connection)[static_cast<std::size_t>(direction)];
  stream.unread += bytes;
  bytes.clear();
  Verdict verdict;
  while (!verdict.cut) {
    const auto extent = extent_of(stream.unread);
    if (!extent) break;
    if (extent->foreign) {
      bytes += std::exchange(stream.unread, {});
      break;
    }
    const std::string_view whole = std::string_view(stream.unread).substr(0, extent->size);
    const std::string_view frame = whole.substr(extent->head);
    Verdict one;
    if (encrypted_) {
      one = look_at_record(connection, direction, whole);
    } else if (std::exchange(stream.greeted, true)) {
      one = look(connection, direction, frame);
    } else {
      greet(direction, frame);
    }
    verdict.cut |= one.cut;
    verdict.delay = std::max(verdict.delay, one.delay);
    bytes.append(whole);
    stream.unread.erase(0, extent->size);
  }
  return verdict;
}

std::optional<FrameWatch::Extent> FrameWatch::extent_of(std::string_view stream) const {
  Extent extent;
  extent.head = encrypted_ ? record_head : 4;
  if (stream.size() < extent.head) return std::nullopt;
  const std::size_t length = encrypted_ ? number_at<std::uint16_t>(stream, 3) : number_at<std::uint32_t>(stream, 0);
  extent.foreign = encrypted_ ? stream[1] != 3 : length > longest_frame;
  extent.size = extent.head + length;
  if (!extent.foreign && stream.size() < extent.size) return std::nullopt;
  return extent;
}

// The next that is said to a client after a request counts as its reply; now and then it is an event.
Verdict FrameWatch::look_at_record(const Connection& connection, Direction direction, std::string_view record) {
  if (!trap_ || record[0] != application_data) return {};
  if (direction == Direction::to_server) {
    const bool waiting = awaited_ && awaited_->first == connection;
    if (waiting || record.size() < shortest_request) return {};
    if (trap_->deed == Deed::delay_request || trap_->deed == Deed::none) return spring();
    awaited_.emplace(connection, 0);
    return {};
  }
  if (!awaited_ || awaited_->first != connection) return {};
  return spring();
}

// The server's answer to a connection: version, time-out, session.
void FrameWatch::greet(Direction direction, std::string_view frame) {
  if (direction == Direction::to_server) return;
  if (const auto session = number_at<std::int64_t>(frame, 8); session != 0) session_ = session;
}

Verdict FrameWatch::look(const Connection& connection, Direction direction, std::string_view frame) {
  if (!trap_) return {};
  const auto number = number_at<std::int32_t>(frame, 0);
  if (direction == Direction::to_server) {
    // If the connection of a trapped request has ended meanwhile, the next one will do.
    const bool waiting = awaited_ && awaited_->first == connection;
    if (waiting || !is(trap_->request, frame)) return {};
    if (trap_->deed == Deed::delay_request || trap_->deed == Deed::none) return spring();
    awaited_.emplace(connection, number);
    return {};
  }
  if (!awaited_ || awaited_->first != connection || awaited_->second != number) return {};
  return spring();
}

Verdict FrameWatch::spring() {
  const Trap trap = *std::exchange(trap_, std::nullopt);
  awaited_.reset();
  if (trap.sprung) trap.sprung();
  Verdict verdict;
  verdict.cut = trap.deed == Deed::drop_reply;
  if (trap.deed == Deed::delay_request || trap.deed == Deed::delay_reply) verdict.delay = trap.delay;
  return verdict;
}

}  // namespace forelock::robustness
