#include "model/model_session.h"

namespace forelock::model {

using coordination::ReplyCode;
using coordination::SessionEvent;
using coordination::WatchEvent;

namespace {

// The size from which a server cuts the connection instead of answering.
constexpr std::size_t largest_request = 1024 * 1024 - 1;

std::size_t size_of(const coordination::Operation& operation) {
  return std::visit(
      [](const auto& one) {
        std::size_t size = one.path.size() + 64;
        if constexpr (requires { one.data; }) size += one.data.size();
        return size;
      },
      operation);
}

std::size_t size_of(const coordination::Request& request) {
  return std::visit(
      [](const auto& one) -> std::size_t {
        if constexpr (requires { one.operations; }) {
          std::size_t size = 0;
          for (const auto& operation : one.operations) size += size_of(operation);
          return size;
        } else {
          std::size_t size = one.path.size() + 64;
          if constexpr (requires { one.data; }) size += one.data.size();
          return size;
        }
      },
      request);
}

}  // namespace

ModelSession::ModelSession(Ensemble& ensemble, coordination::SessionListener& listener, ClientOptions options)
    : ensemble_(ensemble),
      timeline_(ensemble.timeline()),
      random_(ensemble.random()),
      listener_(&listener),
      options_(options),
      asked_at_(timeline_.now()) {
  timeline_.at(timeline_.now(), *this, attempt);
}

void ModelSession::submit(coordination::RequestTag tag, coordination::Request request) {
  Fate fate = std::exchange(fate_, {});
  if (state_ == State::expired) return answer(tag, ReplyCode::session_expired);
  if (size_of(request) > largest_request) fate = {ReplyCode::request_too_large, false, false};
  if (state_ != State::connected) return answer(tag, ReplyCode::connection_loss);
  Pending pending{tag, next_number_++, Asked::nothing, {}};
  const auto note = [&](Asked asked, const std::string& path) {
    pending.asked = asked;
    pending.path = path;
  };
  if (const auto* get = std::get_if<coordination::Get>(&request)) {
    if (get->watch) note(Asked::data_watch, get->path);
  } else if (const auto* exists = std::get_if<coordination::Exists>(&request)) {
    if (exists->watch) note(Asked::absent_watch, exists->path);
  } else if (const auto* list = std::get_if<coordination::List>(&request)) {
    if (list->watch) note(Asked::child_watch, list->path);
  } else if (const auto* removal = std::get_if<coordination::RemoveDataWatch>(&request)) {
    note(Asked::no_data_watch, removal->path);
  }
  Upstream message;
  message.kind = Upstream::Kind::request;
  message.number = pending.number;
  message.tag = tag;
  message.request = std::move(request);
  message.fate = fate;
  pending_.push_back(std::move(pending));
  connection_->send(std::move(message));
}

void ModelSession::receive(Connection& connection, Downstream message) {
  if (&connection != connection_) return;
  heard_ = timeline_.now();
  if (message.zxid > seen_zxid_) seen_zxid_ = message.zxid;
  switch (message.kind) {
    case Downstream::Kind::connected:
      return on_connected(message.session);
    case Downstream::Kind::reply:
      return on_reply(std::move(message));
    case Downstream::Kind::watch:
      return on_watch(std::move(message.watch));
    case Downstream::Kind::hung_up:
      lose_connection(0);
      return retry();
    case Downstream::Kind::refused:
      connection_->abandon(0);
      connection_ = nullptr;
      return retry();
    case Downstream::Kind::expired:
      connection_->abandon(0);
      connection_ = nullptr;
      state_ = State::expired;
      return tell(SessionEvent::Kind::expired);
    case Downstream::Kind::closed:
      state_ = State::closed;
      return;
    case Downstream::Kind::pong:
      return;
  }
}

void ModelSession::on_connected(coordination::SessionId session) {
  state_ = State::connected;
  id_ = session;
  tell(SessionEvent::Kind::connected);
  Upstream message;
  message.kind = Upstream::Kind::set_watches;
  message.watches.seen_zxid = seen_zxid_;
  message.watches.data.assign(data_watches_.begin(), data_watches_.end());
  message.watches.absent.assign(absent_watches_.begin(), absent_watches_.end());
  message.watches.children.assign(child_watches_.begin(), child_watches_.end());
  if (!message.watches.empty()) connection_->send(std::move(message));
  if (!silence_watched_) {
    silence_watched_ = true;
    timeline_.after(options_.timeout * 2 / 3, *this, silence);
    if (options_.pings) timeline_.after(options_.timeout / 3, *this, ping);
  }
}

void ModelSession::on_reply(Downstream message) {
  if (pending_.empty() || pending_.front().number != message.number) return;
  Pending pending = std::move(pending_.front());
  pending_.pop_front();
  const bool absent = message.reply.code == ReplyCode::no_node;
  switch (pending.asked) {
    case Asked::nothing:
      break;
    case Asked::data_watch:
      if (message.reply.ok()) data_watches_.insert(pending.path);
      break;
    case Asked::absent_watch:
      if (message.reply.ok()) data_watches_.insert(pending.path);
      if (absent) absent_watches_.insert(pending.path);
      break;
    case Asked::child_watch:
      if (message.reply.ok()) child_watches_.insert(pending.path);
      break;
    case Asked::no_data_watch:
      data_watches_.erase(pending.path);
      absent_watches_.erase(pending.path);
      break;
  }
  push(Answer{pending.tag, std::move(message.reply)});
}

void ModelSession::on_watch(WatchEvent event) {
  std::size_t known = 0;
  if (event.kind != WatchEvent::Kind::children_changed) {
    known += data_watches_.erase(event.path) + absent_watches_.erase(event.path);
  }
  if (event.kind == WatchEvent::Kind::children_changed || event.kind == WatchEvent::Kind::deleted) {
    known += child_watches_.erase(event.path);
  }
  if (known > 0) push(std::move(event));
}

void ModelSession::lose_connection(std::size_t keep) {
  connection_->abandon(keep);
  connection_ = nullptr;
  answer_all(ReplyCode::connection_loss);
  if (state_ != State::connected) return;
  state_ = State::connecting;
  tell(SessionEvent::Kind::disconnected);
}

void ModelSession::retry() {
  if (ended() || listener_ == nullptr) return;
  const Instant soon = timeline_.now() + random_.between(options_.shortest_retry, options_.longest_retry);
  timeline_.at(std::max(soon, blocked_), *this, attempt);
}

void ModelSession::connect() {
  int server = std::exchange(preferred_, -1);
  if (server < 0 && random_.chance(0.8)) server = options_.home;
  if (server < 0 || server >= ensemble_.servers()) {
    server = static_cast<int>(random_.below(static_cast<std::size_t>(ensemble_.servers())));
  }
  connection_ = &ensemble_.connect(server, *this);
  connection_->session = id_;
  connection_->privileged = options_.privileged;
  Upstream message;
  message.kind = Upstream::Kind::connect;
  message.timeout = options_.timeout;
  message.closes = options_.closes;
  message.watches.seen_zxid = seen_zxid_;
  connection_->send(std::move(message));
  timeline_.after(options_.timeout / 3, *this, attempt_over, ++attempts_);
}

void ModelSession::fire(std::uint32_t what, std::uint64_t detail) {
  if (what == deliver) {
    if (paused()) {
      ++held_;
    } else {
      deliver_one();
    }
    return;
  }
  if (what == resume) return wake();
  if (ended() || listener_ == nullptr) return;
  if (paused()) return timeline_.at(paused_until_, *this, what, detail);
  switch (what) {
    case attempt:
      if (state_ != State::connecting || connection_ != nullptr) return;
      if (blocked_ > timeline_.now()) return timeline_.at(blocked_, *this, attempt);
      return connect();
    case attempt_over:
      if (state_ != State::connecting || connection_ == nullptr || detail != attempts_) return;
      connection_->abandon(0);
      connection_ = nullptr;
      return retry();
    case silence: {
      const Instant limit = heard_ + options_.timeout * 2 / 3;
      if (state_ == State::connected && timeline_.now() >= limit) {
        lose_connection(random_.below(underway() + 1));
        retry();
      }
      return timeline_.at(std::max(limit, timeline_.now() + options_.timeout / 3), *this, silence);
    }
    default: {
      Upstream message;
      if (state_ == State::connected) connection_->send(std::move(message));
      return timeline_.after(options_.timeout / 3, *this, ping);
    }
  }
}

void ModelSession::cut(std::size_t keep) {
  if (connection_ == nullptr || ended()) return;
  lose_connection(keep);
  retry();
}

void ModelSession::unblock() {
  blocked_ = {};
  if (connection_ != nullptr) {
    connection_->stall_up({});
    connection_->stall_down({});
    connection_->poke();
  } else if (!ended()) {
    timeline_.after(options_.shortest_retry, *this, attempt);
  }
}

void ModelSession::stall(bool up, bool down, Instant until) {
  if (connection_ == nullptr) return;
  if (up) connection_->stall_up(until);
  if (down) connection_->stall_down(until);
}

void ModelSession::pause(Instant until) {
  paused_until_ = std::max(paused_until_, until);
  timeline_.at(paused_until_, *this, resume);
}

void ModelSession::wake() {
  if (paused()) return;
  for (; held_ > 0; --held_) timeline_.at(timeline_.now(), *this, deliver);
  if (connection_ != nullptr) connection_->poke();
}

void ModelSession::crash(std::size_t keep) {
  listener_ = nullptr;
  state_ = State::closed;
  if (connection_ != nullptr) connection_->abandon(keep);
  connection_ = nullptr;
  pending_.clear();
  inbox_.clear();
}

void ModelSession::begin_close() {
  if (ended()) return;
  if (state_ != State::connected) {
    state_ = State::closed;
    return;
  }
  Upstream message;
  message.kind = Upstream::Kind::close;
  message.number = next_number_++;
  connection_->send(std::move(message));
}

void ModelSession::finish_close() {
  if (listener_ == nullptr) return;
  state_ = State::closed;
  if (connection_ != nullptr) connection_->abandon(connection_->underway());
  connection_ = nullptr;
  answer_all(ReplyCode::connection_loss);
  while (!inbox_.empty()) deliver_one();
  listener_ = nullptr;
}

void ModelSession::answer(coordination::RequestTag tag, ReplyCode code) {
  Answer lost{tag, {}};
  lost.reply.code = code;
  push(std::move(lost));
}

void ModelSession::answer_all(ReplyCode code) {
  for (const Pending& pending : std::exchange(pending_, {})) answer(pending.tag, code);
}

void ModelSession::tell(SessionEvent::Kind kind) {
  SessionEvent event;
  event.kind = kind;
  event.session = id_;
  event.timeout = options_.timeout;
  event.asked_at = asked_at_;
  push(std::move(event));
}

void ModelSession::push(Event event) {
  inbox_.push_back(std::move(event));
  last_delivery_ = std::max(last_delivery_, timeline_.now() + random_.between(Span{}, options_.longest_handling));
  timeline_.at(last_delivery_, *this, deliver);
}

void ModelSession::deliver_one() {
  if (inbox_.empty() || listener_ == nullptr) return;
  Event event = std::move(inbox_.front());
  inbox_.pop_front();
  if (auto* reply = std::get_if<Answer>(&event)) {
    listener_->on_reply(reply->tag, std::move(reply->reply));
  } else if (const auto* watch = std::get_if<WatchEvent>(&event)) {
    listener_->on_watch(*watch);
  } else {
    listener_->on_session(std::get<SessionEvent>(event));
  }
}

}  // namespace forelock::model
