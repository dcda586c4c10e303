// Bytes as whatever may happen to one engine: calls, replies of any content (also twice, or to nothing), watch events
// of anything, session events in any order, ticks. Nothing crashes, no two contenders of it hold one monitor at once,
// everybody is told one ending, and the end of the session is the end of all.
#include "check.h"
#include "engine/arbitrary_reply.h"
#include "engine/bytes.h"
#include "engine/caller.h"

namespace forelock::fuzz {
namespace {

using namespace std::chrono_literals;
using coordination::SessionEvent;
using coordination::WatchEvent;

constexpr std::size_t most_steps = 400;

class Anything final : public Caller::Judge {
 public:
  void granted(const Caller::Contender&) override {}
};

class Run {
 public:
  explicit Run(std::size_t bits) : caller_("x", options_from(bits), judge_) { connect(7); }

  void step(Bytes& bytes);
  void finish(bool close);

 private:
  static lock::EngineOptions options_from(std::size_t bits) {
    lock::EngineOptions options;
    options.watch_mode = (bits & 1) != 0 ? WatchMode::predecessor : WatchMode::parent;
    options.remembered_monitors = (bits & 2) != 0 ? 1 : 8;
    return options;
  }
  void connect(coordination::SessionId session) {
    session_ = session;
    caller_.engine().on_session({SessionEvent::Kind::connected, session, 400ms, now_}, now_);
  }
  void answer(Bytes& bytes);
  void answer_again(Bytes& bytes);
  void watch(Bytes& bytes);
  void session_event(Bytes& bytes);

  Anything judge_;
  Caller caller_;
  lock::TimePoint now_{std::chrono::hours(1)};
  coordination::SessionId session_ = 0;
};

void Run::step(Bytes& bytes) {
  switch (bytes.byte() & 0x1f) {
    case 'c' & 0x1f:  // call
      return caller_.call(bytes, now_);
    case 'a' & 0x1f:  // answer
      return answer(bytes);
    case 'g' & 0x1f:  // a reply to nothing, or to what was answered long ago
      return answer_again(bytes);
    case 'v' & 0x1f:  // watch event
      return watch(bytes);
    case 's' & 0x1f:
      return session_event(bytes);
    case 'w' & 0x1f:  // wait
      now_ += std::chrono::milliseconds(1 << bytes.choice(12));
      return;
    case 't' & 0x1f:
      return caller_.engine().tick(now_);
    case 'n' & 0x1f:  // the next timer falls due
      if (caller_.engine().next_timer() != lock::never) now_ = std::max(now_, caller_.engine().next_timer());
      return caller_.engine().tick(now_);
    case 'k' & 0x1f:
      return caller_.engine().on_answered(now_, true, now_);
    default:
      return;
  }
}

void Run::answer(Bytes& bytes) {
  if (caller_.outbox.empty()) return;
  // Mostly the oldest one.
  const std::size_t out_of_order = bytes.choice(16);
  const std::size_t chosen = out_of_order > 12 ? out_of_order % caller_.outbox.size() : 0;
  const auto position = caller_.outbox.begin() + static_cast<std::ptrdiff_t>(chosen);
  const Sent sent = std::move(*position);
  caller_.outbox.erase(position);
  caller_.engine().on_reply(sent.tag, arbitrary_reply(sent.request, session_, bytes), now_);
}

void Run::answer_again(Bytes& bytes) {
  const coordination::RequestTag tag = bytes.byte();
  const auto& waiting = caller_.outbox;
  if (std::any_of(waiting.begin(), waiting.end(), [&](const Sent& sent) { return sent.tag == tag; })) return;
  caller_.engine().on_reply(tag, {}, now_);
}

void Run::watch(Bytes& bytes) {
  static constexpr const char* paths[] = {"/P",
                                          "/P/privateLock",
                                          "/P/A-0000000000",
                                          "/P/A-0000000001",
                                          "/Q",
                                          "/Q/privateLock",
                                          "/",
                                          "/P/B-0000000001",
                                          "",
                                          "P",
                                          "/P/",
                                          "/zookeeper"};
  static constexpr WatchEvent::Kind kinds[] = {WatchEvent::Kind::created, WatchEvent::Kind::deleted,
                                               WatchEvent::Kind::data_changed, WatchEvent::Kind::children_changed};
  const char* path = paths[bytes.choice(std::size(paths))];
  caller_.engine().on_watch({kinds[bytes.choice(std::size(kinds))], path}, now_);
}

void Run::session_event(Bytes& bytes) {
  switch (bytes.choice(4)) {
    case 0:
      return connect(session_);
    case 1:
      return connect(session_ + 1);
    case 2:
      return caller_.engine().on_session({SessionEvent::Kind::disconnected, session_, 0ms}, now_);
    default:
      caller_.engine().on_session({SessionEvent::Kind::expired, session_, 0ms}, now_);
      return caller_.expect_all_told();
  }
}

void Run::finish(bool close) {
  caller_.give_up(now_);
  if (close) {
    caller_.engine().close(now_);
  } else {
    caller_.engine().on_session({SessionEvent::Kind::expired, session_, 0ms}, now_);
  }
  caller_.expect_all_told();
}

}  // namespace
}  // namespace forelock::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  forelock::fuzz::Bytes bytes(data, size);
  const std::size_t bits = bytes.choice(16);
  forelock::fuzz::Run run(bits);
  for (std::size_t i = 0; i < forelock::fuzz::most_steps && !bytes.done(); ++i) run.step(bytes);
  run.finish((bits & 4) != 0);
  return 0;
}
