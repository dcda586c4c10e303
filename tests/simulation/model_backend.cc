#include "model_backend.h"

#include "model/ensemble.h"
#include "model/model_session.h"

namespace forelock::simulation {
namespace {

using model::Instant;

model::EnsembleOptions options_for(int servers) {
  model::EnsembleOptions options;
  options.servers = servers;
  options.container_chance = 1.0;
  return options;
}

// What outlives the sessions: a timeline refers to everything that ever acted in it.
struct Stage {
  explicit Stage(int servers) : random(1), ensemble(timeline, random, options_for(servers)) {}

  model::Timeline timeline;
  model::Random random;
  model::Ensemble ensemble;
  std::vector<std::unique_ptr<model::ModelSession>> sessions;

  bool run_until(const std::function<bool()>& predicate) {
    const Instant hopeless = timeline.now() + std::chrono::seconds(60);
    while (!predicate()) {
      if (timeline.now() > hopeless || !timeline.step()) return false;
    }
    return true;
  }
};

class ModelBackendSession final : public contract::BackendSession {
 public:
  ModelBackendSession(Stage& stage, model::ModelSession& session) : stage_(stage), session_(session) {}
  ~ModelBackendSession() override { close(); }

  coordination::Session& session() override { return session_; }

  void close() override {
    session_.begin_close();
    stage_.run_until([this] { return session_.ended() || !session_.connected(); });
    session_.finish_close();
  }

  void cut() override {
    session_.block_until(Instant::max());
    session_.cut(stage_.random.below(session_.underway() + 1));
  }
  void heal() override { session_.unblock(); }
  void withhold_replies() override { session_.stall(false, true, Instant::max()); }
  void expire() override { stage_.ensemble.expire(session_.id()); }

 private:
  Stage& stage_;
  model::ModelSession& session_;
};

class ModelBackend final : public contract::Backend {
 public:
  explicit ModelBackend(int servers) : stage_(servers) {}

  contract::Capabilities capabilities() const override {
    return {.cut = true,
            .withhold_replies = true,
            .expire = true,
            .containers_vanish = true,
            .access_control = true,
            .quota = true};
  }

  std::unique_ptr<contract::BackendSession> new_session(coordination::SessionListener& listener,
                                                        contract::Identity identity) override {
    model::ClientOptions options;
    options.timeout = std::chrono::seconds(10);
    options.pings = true;
    options.privileged = options.closes = identity == contract::Identity::owner;
    stage_.sessions.push_back(std::make_unique<model::ModelSession>(stage_.ensemble, listener, options));
    return std::make_unique<ModelBackendSession>(stage_, *stage_.sessions.back());
  }

  std::chrono::steady_clock::time_point now() const override { return stage_.timeline.now(); }

  bool run_until(const std::function<bool()>& predicate) override { return stage_.run_until(predicate); }

  void limit_descendants(const std::string& path, int count) override { stage_.ensemble.rules().limits[path] = count; }

 private:
  Stage stage_;
};

}  // namespace

std::unique_ptr<contract::Backend> make_model_backend(int servers) {
  return std::make_unique<ModelBackend>(servers);
}

}  // namespace forelock::simulation
