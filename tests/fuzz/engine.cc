// Bytes as a schedule: processes with an engine each, a server that answers truthfully, and connections that break at
// any point. Whatever is called, applied, delivered, cut or expired in whatever order: nothing crashes, no two
// contenders hold one monitor at once, no token comes twice, and in the end nothing is left.
//
// A letter and its arguments are one step; see step() below.
#include "check.h"
#include "engine/bytes.h"
#include "engine/process.h"
#include "engine/server.h"

namespace forelock::fuzz {
namespace {

using namespace std::chrono_literals;
using coordination::ReplyCode;

constexpr std::size_t most_steps = 400;
constexpr int most_rounds = 400;

lock::EngineOptions options_from(std::size_t bits) {
  lock::EngineOptions options;
  options.watch_mode = (bits & 1) != 0 ? WatchMode::predecessor : WatchMode::parent;
  options.hold_watch_delay = 10ms;
  options.give_up_after = 300ms;
  options.safety_poll = 200ms;
  options.remembered_monitors = (bits & 2) != 0 ? 1 : 8;
  return options;
}

// Near the end of the sequence counter, if asked for.
model::TreeRules rules_from(std::size_t bits) {
  model::TreeRules rules;
  if ((bits & 4) != 0) rules.first_counter["/P"] = model::Tree::last_counter - 6;
  if ((bits & 8) != 0) rules.first_counter["/Q"] = (std::int64_t{1} << 30) - 3;
  return rules;
}

class World final : public Caller::Judge {
 public:
  explicit World(std::size_t bits) : server_(rules_from(bits)) {
    for (const char* name : {"x", "y"}) processes_.emplace_back(name, options_from(bits), *this, server_);
    for (Process& process : processes_) process.connect(now_);
  }

  void step(Bytes& bytes);
  void finish();

  void granted(const Caller::Contender& contender) override;

 private:
  void settle();
  void administer(Bytes& bytes);
  void expire(Process& process);
  void check_beliefs() const;

  TimePoint now_{std::chrono::hours(1)};
  Server server_;
  std::deque<Process> processes_;
  std::vector<Notice> notices_;
  std::map<std::string, lock::Token> highest_;
  std::set<lock::Token> tokens_;
  bool robbed_ = false;  // an administrator has removed something under somebody
};

void World::step(Bytes& bytes) {
  static constexpr ReplyCode refusals[] = {ReplyCode::no_auth, ReplyCode::quota_exceeded, ReplyCode::server_error,
                                           ReplyCode::request_too_large};
  const std::uint8_t what = bytes.byte();
  Process& process = processes_[(what & 0x20) == 0 ? 0 : 1];  // capital letters: the first one
  switch (what & 0x1f) {
    case 'c' & 0x1f:  // call
      process.call(bytes, now_);
      break;
    case 'a' & 0x1f:  // apply
      process.apply(now_, notices_);
      break;
    case 'd' & 0x1f:  // deliver
      process.deliver(now_);
      break;
    case 'b' & 0x1f:  // both, as often as it goes
      while (!process.idle()) {
        process.apply(now_, notices_);
        process.deliver(now_);
        settle();
      }
      break;
    case 'w' & 0x1f:  // wait
      now_ += std::chrono::milliseconds(1 << bytes.choice(9));
      break;
    case 't' & 0x1f:  // tick
      process.tick(now_);
      break;
    case 'n' & 0x1f:  // the next timer falls due
      if (process.next_timer() != lock::never) now_ = std::max(now_, process.next_timer());
      process.tick(now_);
      break;
    case 'x' & 0x1f: {  // cut
      const std::size_t applied = bytes.choice(4);
      process.cut(applied, bytes.choice(4), now_, notices_);
      break;
    }
    case 'r' & 0x1f:  // reconnect
      process.connect(now_);
      break;
    case 'e' & 0x1f:  // expire, if it may be
      expire(process);
      break;
    case 'f' & 0x1f:  // fail
      process.refuse(refusals[bytes.choice(std::size(refusals))]);
      break;
    case 'm' & 0x1f:  // the administrator, or the server's sweeping
      administer(bytes);
      break;
    default:
      break;
  }
  settle();
  check_beliefs();
}

void World::settle() {
  for (const Notice& notice : std::exchange(notices_, {})) {
    for (Process& process : processes_) {
      if (process.session() == notice.session) process.notify(notice.event);
    }
  }
}

void World::expire(Process& process) {
  if (server_.may_end(process.session(), now_)) server_.end(process.session(), notices_);
}

void World::administer(Bytes& bytes) {
  const std::string monitor = bytes.choice(2) == 0 ? "/P" : "/Q";
  const model::Node* node = server_.tree().find(monitor);
  if (node == nullptr) return;
  const std::size_t chosen = bytes.choice(8);
  if (chosen >= node->children.size()) {
    if (node->children.empty() && node->counter > 0) server_.administer(coordination::Delete{monitor}, notices_);
    return;
  }
  robbed_ = true;
  server_.administer(coordination::Delete{monitor + "/" + node->children[chosen]}, notices_);
}

void World::granted(const Caller::Contender& contender) {
  demand(tokens_.insert(contender.token).second, "no token comes twice");
  lock::Token& highest = highest_[contender.monitor];
  demand(contender.token > highest || robbed_, "tokens rise");
  highest = std::max(highest, contender.token);
}

// Who has been granted and not lost believes to hold for as long as its session is certain to live.
void World::check_beliefs() const {
  if (robbed_) return;
  std::set<std::string> held;
  for (const Process& process : processes_) {
    if (now_ >= process.caller().engine().valid_until()) continue;
    for (const auto& [id, contender] : process.caller().contenders()) {
      if (contender.phase != Caller::Phase::held) continue;
      demand(held.insert(contender.monitor).second, "one holder of a monitor");
      const model::Node* lock = server_.tree().find("/" + contender.monitor + "/privateLock");
      demand(lock != nullptr && lock->ephemeral_owner == process.session(), "who believes to hold owns privateLock");
      demand(lock->data.find(contender.guid) != std::string::npos, "privateLock names its holder");
    }
  }
}

// Everything gets through from now on, and everybody gives up: then nothing may be left.
void World::finish() {
  for (int round = 0; round < most_rounds; ++round) {
    std::size_t left = 0;
    TimePoint next = now_ + 20ms;
    for (Process& process : processes_) {
      process.connect(now_);
      process.give_up(now_);
      for (int i = 0; i < 1000 && !process.idle(); ++i) {
        process.apply(now_, notices_);
        process.deliver(now_);
        settle();
      }
      demand(process.idle(), "the requests of a process come to an end");
      left += process.caller().engine().contenders();
      next = std::min(next, process.next_timer());
    }
    check_beliefs();
    if (left == 0) break;
    now_ = std::max(now_, next);
    for (Process& process : processes_) process.tick(now_);
  }
  for (const Process& process : processes_) process.caller().expect_all_told();
  for (const auto& [path, node] : server_.tree().nodes()) demand(node.ephemeral_owner == 0, "no node is left");
}

}  // namespace
}  // namespace forelock::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  forelock::fuzz::Bytes bytes(data, size);
  forelock::fuzz::World world(bytes.choice(16));
  for (std::size_t i = 0; i < forelock::fuzz::most_steps && !bytes.done(); ++i) world.step(bytes);
  world.finish();
  return 0;
}
