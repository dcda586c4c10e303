#include "robustness/worker/client_source.h"

#include "robustness/worker/patience.h"
#include "support/wait_until.h"

namespace forelock::robustness {
namespace {

void log_line(std::string_view level, std::string_view message) {
  std::ostringstream line;
  line << std::chrono::steady_clock::now().time_since_epoch().count() << " " << level << ": " << message << "\n";
  std::cerr << line.str();
}

}  // namespace

ClientSource::ClientSource(const Settings& settings, HistoryWriter& history, std::uint64_t seed)
    : settings_(settings), history_(history), seed_(seed), client_(make()) {}

std::shared_ptr<GatedClient> ClientSource::make() const {
  return std::make_shared<GatedClient>(settings_, &log_line);
}

std::shared_ptr<GatedClient> ClientSource::get() const {
  const std::lock_guard guard(mutex_);
  return client_;
}

void ClientSource::replace() {
  auto next = make();
  {
    const std::lock_guard guard(mutex_);
    std::swap(next, client_);
  }
  next->gate.close();
  next->close();
  history_.event("client_closed");
}

void ClientSource::replace_now_and_then(const std::stop_token& stop) {
  std::mt19937_64 random(seed_);
  while (true) {
    pause(stop, std::chrono::milliseconds(std::uniform_int_distribution(4000, 20000)(random)));
    if (stop.stop_requested()) return;
    replace();
  }
}

void ClientSource::settle(std::chrono::milliseconds patience) {
  const auto client = get();
  test::wait_until([&] { return client->statistics().contenders == 0; }, patience);
  history_.event("quiet").add("contenders", client->statistics().contenders);
}

}  // namespace forelock::robustness
