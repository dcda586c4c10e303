#include "zookeeper/session_core.h"

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "base/thread_start.h"
#include "zookeeper/client_threads.h"
#include "zookeeper/descriptor_flags.h"
#include "zookeeper/drain_patience.h"
#include "zookeeper/host_resolver.h"
#include "zookeeper/namespace_prefix.h"
#include "zookeeper/reply_mapping.h"
#include "zookeeper/request_sender.h"

namespace forelock::zookeeper {

using coordination::Reply;
using coordination::ReplyCode;
using coordination::Request;
using coordination::RequestTag;

namespace {

// How long a closing session waits for all answers.
constexpr std::chrono::milliseconds drain_limit{5000};
// How long a session that knows no address waits for the name service before it says so.
constexpr std::chrono::milliseconds lookup_limit{2000};

Reply failure(ReplyCode code) {
  Reply reply;
  reply.code = code;
  return reply;
}

// Makes the paths absolute; false when one is invalid.
class PathPreparation {
 public:
  explicit PathPreparation(const NamespacePrefix& prefix) : prefix_(prefix) {}

  bool operator()(coordination::Create& create) const {
    return prepare(create.path, create.mode == coordination::CreateMode::ephemeral_sequential);
  }
  bool operator()(coordination::Transaction& transaction) const {
    if (transaction.operations.empty()) return false;
    for (coordination::Operation& operation : transaction.operations) {
      const auto* create = std::get_if<coordination::Create>(&operation);
      if (create != nullptr && create->mode == coordination::CreateMode::container) return false;
      if (!std::visit(*this, operation)) return false;
    }
    return true;
  }
  bool operator()(auto& request) const { return prepare(request.path, false); }

 private:
  bool prepare(std::string& path, bool sequential) const {
    if (!is_valid_path(path, sequential)) return false;
    prefix_.make_absolute(path);
    return true;
  }

  const NamespacePrefix& prefix_;
};

}  // namespace

SessionCore::SessionCore(SessionOptions options, coordination::SessionListener& listener)
    : options_(std::move(options)),
      connect_(parse_connect_string(options_.servers)),
      prefix_(connect_.chroot),
      acl_(options_.acl),
      names_(options_.names ? options_.names : std::make_shared<NameLookup>(connect_.servers, options_.resolver)),
      listener_(listener),
      log_hook_(options_.log, [this] { connection_broken(); }) {}

SessionCore::~SessionCore() {
  close();
}

void SessionCore::start() {
  names_->begin();
  names_->wait(lookup_limit);
  const std::vector<ResolvedServer> servers = names_->latest();
  const std::string addresses = client_address_list(servers);
  if (addresses.empty()) {
    throw NoServerAddress("no ZooKeeper server has an address (" + failures_of(servers) +
                          "): check the host names in '" + options_.servers + "' and this machine's name service");
  }
  std::lock_guard submit_lock(submit_mutex_);
  if (handle_ != nullptr) return;
  const base::SignalsBlocked signals_blocked;
  {
    std::lock_guard lock(queue_mutex_);
    if (link_ == Link::closed) return;
    if (!attendant_.thread.joinable()) attendant_.thread = base::start_thread("forelock-zk", [this] { attend(); });
  }
  const ClientThreads threads;
  const std::vector<int> descriptors = open_descriptors();
  servers_.asked_at = options_.clock ? options_.clock() : std::chrono::steady_clock::now();
  // The C client may call back before this returns; a submission from there waits for submit_mutex_.
  handle_ = make_client(addresses);
  if (handle_ == nullptr) {
    throw std::system_error(errno, std::generic_category(), "cannot make a ZooKeeper client for " + addresses);
  }
  // While a connection is up the addresses, numeric anyway, are not looked at again.
  zoo_set_servers_resolution_delay(handle_, -1);
  protect_new_pipes(descriptors);
  servers_.given = addresses;
}

void SessionCore::close() {
  if (fork_guard_.in_child()) return;
  std::lock_guard close_lock(close_mutex_);
  zhandle_t* handle = nullptr;
  {
    std::lock_guard submit_lock(submit_mutex_);
    std::lock_guard lock(queue_mutex_);
    if (finished_) return;
    link_ = Link::closed;  // from here on nothing is sent
    handle = handle_;
  }
  if (handle != nullptr) drain(handle);
  {
    std::lock_guard submit_lock(submit_mutex_);
    std::lock_guard lock(queue_mutex_);
    handle_ = nullptr;
    attendant_.stop = true;
  }
  attendant_.wakes.notify_all();
  // Joins the client's threads. Replies that arrive meanwhile are delivered; those still missing are dropped by the
  // client.
  if (handle != nullptr) zookeeper_close(handle);
  if (attendant_.thread.joinable()) attendant_.thread.join();

  std::lock_guard delivery(delivery_mutex_);
  while (true) {
    ReplyQueue::Serial end = 0;
    {
      std::lock_guard lock(queue_mutex_);
      finished_ = queue_.empty();
      if (finished_) return;
      queue_.fail_all(ReplyCode::connection_loss);
      end = queue_.end();
    }
    deliver_ready(end);
  }
}

// The C client's close stops reading, and answers that come later make the kernel reset the connection: a server that
// writes on then drops what it has not read yet, the end of the session included, and its nodes stay for a whole
// time-out. So the end is sent behind the last answer; after drain_patience without one, all the same: a server that
// stands still finds it behind the requests when it goes on, and reads it if they are few.
void SessionCore::drain(zhandle_t* handle) {
  if (zoo_state(handle) != ZOO_CONNECTED_STATE) return;
  const auto begun = std::chrono::steady_clock::now();
  std::unique_lock lock(queue_mutex_);
  while (!queue_.empty() && std::chrono::steady_clock::now() < begun + drain_limit) {
    const ReplyQueue::Serial oldest = queue_.oldest();
    const auto moved_on = [&] { return queue_.empty() || queue_.oldest() != oldest; };
    if (!answered_.wait_for(lock, drain_patience.load(), moved_on)) return;
  }
}

void SessionCore::submit(RequestTag tag, Request request) {
  if (fork_guard_.in_child()) {
    listener_.on_reply(tag, failure(ReplyCode::session_expired));
    return;
  }
  const std::optional<ReplyCode> refused = prepare(request);
  std::unique_lock order(submit_mutex_);
  Call* call = nullptr;
  {
    std::unique_lock lock(queue_mutex_);
    if (finished_) {
      lock.unlock();
      order.unlock();
      listener_.on_reply(tag, failure(ReplyCode::connection_loss));
      return;
    }
    const ReplyCode code = link_ != Link::connected ? refusal_of(link_) : refused.value_or(ReplyCode::ok);
    const ReplyQueue::Serial serial = queue_.push(tag);
    if (code == ReplyCode::ok) {
      call = calls_.acquire(this, serial);
    } else {
      queue_.store_local(serial, code);
    }
  }
  if (call == nullptr) {
    attendant_.wakes.notify_one();
    return;
  }
  const ReplyQueue::Serial serial = call->serial;
  const int sent = send(call, request);
  if (sent == ZOK) return;
  {
    std::lock_guard lock(queue_mutex_);
    queue_.store_local(serial, reply_code(sent));
    // With these two the client may have kept the call.
    if (sent != ZMARSHALLINGERROR && sent != ZSYSTEMERROR) calls_.release(call);
  }
  attendant_.wakes.notify_one();
}

std::optional<ReplyCode> SessionCore::prepare(Request& request) const {
  if (!std::visit(PathPreparation(prefix_), request)) return ReplyCode::invalid_argument;
  if (request_size(request, acl_.wire_bytes()) > options_.max_request_bytes) return ReplyCode::request_too_large;
  return std::nullopt;
}

ReplyCode SessionCore::refusal_of(Link link) const {
  switch (link) {
    case Link::connected:
      return ReplyCode::ok;
    case Link::expired:
      return ReplyCode::session_expired;
    case Link::auth_failed:
      return ReplyCode::auth_failed;
    case Link::disconnected:
    case Link::closed:
      break;
  }
  return ReplyCode::connection_loss;
}

// Requires submit_mutex_. Our link state follows the events, so it may be a moment behind. What the client takes while
// it has no connection it would send after the next one, long after the caller was told of the loss.
//
// And zoo_amulti must not meet the end of its session (request_sender.h), however long the calling thread is not run:
// so the I/O thread waits for it before it gives the connection up (connection_broken()), and without that no session
// expires. From then on nothing may be sent, although the handle says for a moment longer that it is connected, until
// the completion thread has heard of a connection that is not known to be broken.
bool SessionCore::may_send() const {
  return handle_ != nullptr && connections_.begun > connections_.broken && zoo_state(handle_) == ZOO_CONNECTED_STATE;
}

void SessionCore::connection_broken() {
  const std::lock_guard order(submit_mutex_);
  if (handle_ == nullptr || zoo_state(handle_) < 0) return;
  if (zoo_state(handle_) == ZOO_CONNECTED_STATE) {
    ++connections_.broken;
  } else if (take_new_servers()) {
    return;
  }
  // From one attempt to the next the client goes on by two addresses: of an even number it would try one half for ever.
  const std::size_t count = address_count();
  if (count % 2 == 0 && ++servers_.failures % (count / 2) == 0) zoo_cycle_next_server(handle_);
}

// Requires submit_mutex_.
std::size_t SessionCore::address_count() const {
  return static_cast<std::size_t>(std::count(servers_.given.begin(), servers_.given.end(), ',')) + 1;
}

// Requires submit_mutex_; on the I/O thread, when an attempt to connect has failed. Of a connection that was up the
// client would not say any more that it is lost.
bool SessionCore::take_new_servers() {
  if (servers_.next.empty() || zoo_set_servers(handle_, servers_.next.c_str()) != ZOK) return false;
  servers_.given = std::exchange(servers_.next, {});
  servers_.failures = 0;
  return true;
}

// Requires submit_mutex_.
int SessionCore::send(Call* call, Request& request) {
  if (!may_send()) return ZCONNECTIONLOSS;
  if (auto* create = std::get_if<coordination::Create>(&request);
      create != nullptr && create->mode == coordination::CreateMode::container) {
    if (containers_unsupported_.load(std::memory_order_relaxed)) {
      create->mode = coordination::CreateMode::persistent;
    } else {
      call->container = std::make_unique<coordination::Create>(*create);
    }
  }
  const int sent = send_request(handle_, acl_, call, request);
  // The client gives the connection up on this thread when its pipe is full, and says nothing.
  if (zoo_state(handle_) != ZOO_CONNECTED_STATE) ++connections_.broken;
  return sent;
}

void SessionCore::finish(Call* call, Reply reply) {
  std::lock_guard delivery(delivery_mutex_);
  RequestTag tag = 0;
  bool deliver = false;
  bool more = false;
  {
    std::lock_guard lock(queue_mutex_);
    const ReplyQueue::Serial serial = call->serial;
    calls_.release(call);
    deliver = queue_.take_oldest(serial, tag);
    if (!deliver) queue_.store(serial, std::move(reply));
    more = queue_.ready();
    if (link_ == Link::closed) answered_.notify_all();
  }
  if (deliver) listener_.on_reply(tag, std::move(reply));
  if (more) deliver_ready(~ReplyQueue::Serial{0});
}

void SessionCore::retry_without_container(Call* call) {
  containers_unsupported_.store(true, std::memory_order_relaxed);
  Request again = std::move(*call->container);
  call->container.reset();
  bool wanted = false;
  int sent = ZCONNECTIONLOSS;
  {
    std::lock_guard order(submit_mutex_);
    {
      std::lock_guard lock(queue_mutex_);
      wanted = queue_.hold(call->serial);
    }
    if (wanted) sent = send(call, again);
  }
  if (sent != ZOK) finish(call, failure(reply_code(sent)));
}

// Requires delivery_mutex_.
void SessionCore::deliver_ready(ReplyQueue::Serial end) {
  while (true) {
    RequestTag tag = 0;
    Reply reply;
    {
      std::lock_guard lock(queue_mutex_);
      if (!queue_.take_ready(end, tag, reply)) return;
      if (link_ == Link::closed) answered_.notify_all();
    }
    listener_.on_reply(tag, std::move(reply));
  }
}

void SessionCore::attend() {
  std::unique_lock lock(queue_mutex_);
  while (!attendant_.stop) {
    if (queue_.ready()) {
      lock.unlock();
      {
        std::lock_guard delivery(delivery_mutex_);
        deliver_ready(~ReplyQueue::Serial{0});
      }
      lock.lock();
    } else if (attendant_.setup_again_at && *attendant_.setup_again_at <= std::chrono::steady_clock::now()) {
      attendant_.setup_again_at.reset();
      lock.unlock();
      {
        std::lock_guard order(submit_mutex_);
        if (handle_ != nullptr) look_for_chroot(handle_);
      }
      lock.lock();
    } else if (attendant_.setup_again_at) {
      attendant_.wakes.wait_until(lock, *attendant_.setup_again_at);
    } else {
      attendant_.wakes.wait(lock);
    }
  }
}

RefreshResult SessionCore::refresh_servers() {
  if (fork_guard_.in_child()) return RefreshResult::failed;
  names_->begin();
  names_->wait(NameLookup::patience);
  const std::vector<ResolvedServer> servers = names_->latest();
  const auto failed = [](const ResolvedServer& server) { return !server.addresses.error.empty(); };
  if (std::all_of(servers.begin(), servers.end(), failed)) return RefreshResult::failed;
  const std::string addresses = client_address_list(servers);
  std::lock_guard order(submit_mutex_);
  if (handle_ == nullptr) return RefreshResult::failed;
  // Not from here: the client would change, on our thread, what its I/O thread reads without a lock, and close its
  // socket under it.
  servers_.next = addresses == servers_.given ? "" : addresses;
  return servers_.next.empty() ? RefreshResult::unchanged : RefreshResult::deferred;
}

}  // namespace forelock::zookeeper
