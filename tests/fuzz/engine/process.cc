#include "engine/process.h"

namespace forelock::fuzz {

using coordination::ReplyCode;
using coordination::SessionEvent;

Process::Process(std::string name, const lock::EngineOptions& options, Caller::Judge& judge, Server& server)
    : server_(server), caller_(std::move(name), options, judge) {}

void Process::apply(TimePoint now, std::vector<Notice>& notices) {
  if (caller_.outbox.empty()) return;
  const Sent sent = std::move(caller_.outbox.front());
  caller_.outbox.pop_front();
  Answer answer{sent.tag, {}};
  if (!linked_) {
    answer.reply.code = ReplyCode::connection_loss;
  } else if (!server_.alive(session_)) {
    answer.reply.code = ReplyCode::session_expired;
  } else {
    const std::size_t told = notices.size();
    answer.reply = server_.answer(session_, sent.request, now, notices);
    // Our own watches fire before the reply.
    for (std::size_t i = told; i < notices.size(); ++i) {
      if (notices[i].session == session_) notify(notices[i].event);
    }
    std::erase_if(notices, [this](const Notice& notice) { return notice.session == session_; });
  }
  inbox_.emplace_back(std::move(answer));
}

void Process::refuse(ReplyCode code) {
  if (caller_.outbox.empty() || !linked_) return;
  Answer answer{caller_.outbox.front().tag, {}};
  caller_.outbox.pop_front();
  answer.reply.code = code;
  inbox_.emplace_back(std::move(answer));
}

void Process::notify(const coordination::WatchEvent& event) {
  if (linked_) {
    inbox_.emplace_back(event);
  } else {
    missed_.push_back(event);
  }
}

void Process::deliver(TimePoint now) {
  if (inbox_.empty()) return;
  Event event = std::move(inbox_.front());
  inbox_.pop_front();
  if (auto* answer = std::get_if<Answer>(&event)) {
    caller_.engine().on_reply(answer->tag, std::move(answer->reply), now);
  } else if (const auto* watch = std::get_if<coordination::WatchEvent>(&event)) {
    caller_.engine().on_watch(*watch, now);
  } else {
    const auto& change = std::get<SessionEvent>(event);
    caller_.engine().on_session(change, now);
    if (change.kind == SessionEvent::Kind::expired) renew(now);
  }
}

void Process::answer_all(ReplyCode code) {
  for (const Sent& sent : std::exchange(caller_.outbox, {})) {
    Answer answer{sent.tag, {}};
    answer.reply.code = code;
    inbox_.emplace_back(std::move(answer));
  }
}

void Process::cut(std::size_t applied, std::size_t arrived, TimePoint now, std::vector<Notice>& notices) {
  if (!linked_) return;
  for (; applied > 0 && !caller_.outbox.empty(); --applied) apply(now, notices);
  linked_ = false;
  // What has not arrived: answers are lost, watches fire again after the reconnect.
  for (std::size_t i = std::min(arrived, inbox_.size()); i < inbox_.size(); ++i) {
    if (auto* answer = std::get_if<Answer>(&inbox_[i])) {
      answer->reply = {};
      answer->reply.code = ReplyCode::connection_loss;
    } else if (const auto* watch = std::get_if<coordination::WatchEvent>(&inbox_[i])) {
      missed_.push_back(*watch);
      inbox_[i] = Answer{};  // a tag that nobody has
    }
  }
  answer_all(ReplyCode::connection_loss);
  inbox_.emplace_back(SessionEvent{SessionEvent::Kind::disconnected, session_, {}});
}

void Process::connect(TimePoint now) {
  if (linked_ && server_.alive(session_)) return;
  if (expiry_told_) return;  // the engine has not heard of it yet: what it sends still belongs to the old session
  if (session_ != 0 && !server_.alive(session_)) {
    expiry_told_ = true;
    answer_all(ReplyCode::session_expired);
    inbox_.emplace_back(SessionEvent{SessionEvent::Kind::expired, session_, {}});
    return;
  }
  if (session_ == 0) {
    session_ = server_.open(now);
    opened_at_ = now;
  } else {
    server_.resume(session_, now);
  }
  answer_all(ReplyCode::connection_loss);  // sent while there was no connection
  linked_ = true;
  inbox_.emplace_back(SessionEvent{SessionEvent::Kind::connected, session_, session_timeout, opened_at_});
  for (const auto& event : std::exchange(missed_, {})) inbox_.emplace_back(event);
}

void Process::renew(TimePoint now) {
  expiry_told_ = false;
  linked_ = false;
  session_ = 0;
  missed_.clear();
  caller_.outbox.clear();
  connect(now);
}

}  // namespace forelock::fuzz
