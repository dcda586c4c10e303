#include "contract/grouping_backend.h"

#include "grouping/grouping_session.h"

namespace forelock::contract {
namespace {

using namespace coordination;

// Serialises both sides, as a driver of the protocol does.
class GroupedSession final : public BackendSession, public Session, public SessionListener {
 public:
  GroupedSession(Backend& below, SessionListener& listener, Identity identity)
      : grouping_({.at_once = 1, .under_way = 1, .operations = 64, .bytes = 64 * 1024}, listener) {
    const std::lock_guard guard(mutex_);
    below_ = below.new_session(*this, identity);
    grouping_.use(&below_->session());
  }

  Session& session() override { return *this; }
  void close() override { below_->close(); }
  void cut() override { below_->cut(); }
  void heal() override { below_->heal(); }
  void withhold_replies() override { below_->withhold_replies(); }
  void expire() override { below_->expire(); }

  void submit(RequestTag tag, Request request) override {
    if (auto* transaction = std::get_if<Transaction>(&request)) transaction->groupable = true;
    in_step([&] { grouping_.submit(tag, std::move(request)); });
  }
  void on_reply(RequestTag tag, Reply reply) override {
    in_step([&] { grouping_.on_reply(tag, std::move(reply)); });
  }
  void on_watch(const WatchEvent& event) override {
    in_step([&] { grouping_.on_watch(event); });
  }
  void on_session(const SessionEvent& event) override {
    in_step([&] { grouping_.on_session(event); });
  }

 private:
  template <class Action>
  void in_step(Action action) {
    const std::lock_guard guard(mutex_);
    action();
    grouping_.flush();
  }

  std::recursive_mutex mutex_;  // a listener may submit
  grouping::GroupingSession grouping_;
  std::unique_ptr<BackendSession> below_;
};

class GroupingBackend final : public Backend {
 public:
  explicit GroupingBackend(std::unique_ptr<Backend> below) : below_(std::move(below)) {}

  Capabilities capabilities() const override { return below_->capabilities(); }
  std::unique_ptr<BackendSession> new_session(SessionListener& listener, Identity identity) override {
    return std::make_unique<GroupedSession>(*below_, listener, identity);
  }
  std::chrono::steady_clock::time_point now() const override { return below_->now(); }
  bool run_until(const std::function<bool()>& predicate) override { return below_->run_until(predicate); }
  void limit_descendants(const std::string& path, int count) override { below_->limit_descendants(path, count); }

 private:
  const std::unique_ptr<Backend> below_;
};

}  // namespace

BackendMaker grouping(BackendMaker below) {
  return {below.name + "_grouping",
          [make = std::move(below.make)] { return std::make_unique<GroupingBackend>(make()); }};
}

}  // namespace forelock::contract
