#include "bench/replays.h"

#include <stdexcept>
#include <utility>

#include "bench/bench_server.h"
#include "bench/raw_replay.h"
#include "drain/open_store.h"
#include "drain/replayer.h"
#include "kafka/admin.h"

namespace forelock::bench {
namespace {

class Silence final : public drain::ReplayObserver {
 public:
  void event(Event, const drain::StoredLetter&, const std::string&) override {}
};

}  // namespace

Replays::Replays(Settings settings, std::string bootstrap, int partitions, std::vector<RawLetter> letters,
                 RawPublisher::Headers headers)
    : settings_(std::move(settings)),
      first_topic_(settings_.dlq_topic()),
      bootstrap_(std::move(bootstrap)),
      partitions_(partitions),
      letters_(std::move(letters)),
      headers_(std::move(headers)),
      server_(server_options(true)),
      client_(std::make_unique<Client>(client_settings(server_.connect_string()))) {
  if (!client_->wait_connected(std::chrono::seconds(30))) throw std::runtime_error(client_->last_problem());
}

void Replays::fill() {
  ++topics_;
  settings_.set("dlq.topic", topic());
  kafka::Admin admin(settings_);
  admin.create({.name = topic(), .partitions = partitions_, .config = {}});
  admin.create({.name = topic() + ".resolved", .config = {{"cleanup.policy", "compact"}}});
  RawPublisher publisher("", bootstrap_, topic(), headers_);
  for (const RawLetter& letter : letters_) publisher.accept(letter);
  publisher.wait_until_empty();
}

void Replays::replay_raw() const {
  run({.bootstrap = bootstrap_,
       .topic = topic(),
       .resolved = topic() + ".resolved",
       .partitions = partitions_,
       .letters = static_cast<int>(letters_.size()),
       .threads = static_cast<int>(drain::ReplayOptions{}.concurrency)});
}

void Replays::replay() {
  const auto store = drain::open_store(settings_, drain::StoreKind::configured);
  const auto target = [](const drain::StoredLetter&, WriteLock&, std::stop_token) -> drain::TryResult {
    return {drain::TryOutcome::done, ""};
  };
  Silence silence;
  const auto report = drain::Replayer(*client_, *store, target, silence).run({}, {});
  if (report.replayed != letters_.size() || !report.unsettled.empty()) {
    throw std::runtime_error("replayed " + std::to_string(report.replayed) + " letters; " + report.unsettled);
  }
}

}  // namespace forelock::bench
