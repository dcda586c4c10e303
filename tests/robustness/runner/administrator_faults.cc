// What somebody with full rights can do to the nodes of a monitor.
#include "integration/lock_history.h"
#include "robustness/runner/scene.h"
#include "robustness/worker/patience.h"
#include "support/child_process.h"

namespace forelock::robustness {
namespace {

using namespace std::chrono_literals;

constexpr const char* private_lock = "privateLock";

class AdministratorFaults {
 public:
  explicit AdministratorFaults(Scene& scene) : scene_(scene) {}

  Undo remove_waiter(Strike& strike) {
    const Line line = look(strike);
    if (line.waiters.empty()) return nobody(strike);
    const std::string& node = strike.one_of(line.waiters);
    strike.begin(line.monitor, node);
    scene_.administrator.remove({path(line.monitor) + "/" + node});
    return {};
  }

  Undo remove_holder(Strike& strike, bool with_lock) {
    const Line line = look(strike);
    if (line.holder.empty()) return nobody(strike);
    strike.begin(line.monitor, line.holder);
    const std::string parent = path(line.monitor) + "/";
    scene_.excuses.removing(line.monitor);
    if (with_lock) {
      scene_.administrator.remove({parent + line.holder, parent + private_lock});
    } else {
      scene_.administrator.remove({parent + line.holder});
    }
    scene_.excuses.removed(line.monitor);
    return {};
  }

  // Monitors that killed clients have left behind, and none that is in use.
  Undo sweep(Strike& strike) {
    strike.begin(scene_.chroot);
    test::ChildProcess command(scene_.sweep, scene_.sweep_log);
    const auto longest = std::chrono::steady_clock::now() + 10s;
    while (command.running() && std::chrono::steady_clock::now() < longest) pause(strike.stop(), 20ms);
    return {};
  }

  // Nothing more can be created below the monitor.
  Undo set_quota(Strike& strike) {
    const std::string& monitor = strike.one_of(scene_.monitors);
    const std::string quota = "/zookeeper/quota" + path(monitor);
    strike.begin(monitor);
    scene_.administrator.create("/zookeeper/quota" + scene_.chroot, "");
    scene_.administrator.create(quota, "");
    scene_.administrator.create(quota + "/zookeeper_limits", "count=-1,bytes=-1=;byteHardLimit=-1;countHardLimit=1");
    scene_.administrator.create(quota + "/zookeeper_stats", "count=1,bytes=0");
    return [this, quota] {
      // Also if the server cannot be reached at first.
      for (int attempt = 0; attempt < 20; ++attempt) {
        scene_.administrator.remove({quota + "/zookeeper_limits"});
        scene_.administrator.remove({quota + "/zookeeper_stats"});
        const auto left = scene_.administrator.children(quota);
        if (left && left->empty()) return;
      }
    };
  }

  // Nobody may create or delete below the monitor.
  Undo set_acl(Strike& strike) {
    const std::string monitor = path(strike.one_of(scene_.monitors));
    strike.begin(monitor);
    scene_.administrator.permit(monitor, ZOO_PERM_READ | ZOO_PERM_ADMIN);
    return [this, monitor] {
      for (int attempt = 0; attempt < 20; ++attempt) {
        if (scene_.administrator.permit(monitor, ZOO_PERM_ALL) || !scene_.administrator.get(monitor)) return;
      }
    };
  }

 private:
  struct Line {
    std::string monitor;
    std::string holder;  // its node
    std::vector<std::string> waiters;
  };

  std::string path(const std::string& monitor) const { return scene_.chroot + "/" + monitor; }

  // One of the monitors that somebody holds, if there is one.
  Line look(Strike& strike) {
    for (int attempt = 0; attempt < 5; ++attempt) {
      Line line;
      line.monitor = strike.one_of(scene_.monitors);
      const auto children = scene_.administrator.children(path(line.monitor));
      if (!children || children->size() < 2) continue;
      const auto lock = scene_.administrator.get(path(line.monitor) + "/" + private_lock);
      const std::string guid = lock ? test::guid_in(lock->data) : "";
      for (const std::string& name : *children) {
        if (name == private_lock) continue;
        const auto node = scene_.administrator.get(path(line.monitor) + "/" + name);
        if (!node) continue;
        if (!guid.empty() && test::guid_in(node->data) == guid) {
          line.holder = name;
        } else {
          line.waiters.push_back(name);
        }
      }
      if (!line.holder.empty() || !line.waiters.empty()) return line;
    }
    return {};
  }

  static Undo nobody(Strike& strike) {
    strike.skip("nobody holds or waits");
    return {};
  }

  Scene& scene_;
};

}  // namespace

std::vector<FaultKind> administrator_faults(Scene& scene) {
  const auto faults = std::make_shared<AdministratorFaults>(scene);
  return {
      {"waiter_deleted", 3, 0ms, 0ms, [faults](Strike& strike) { return faults->remove_waiter(strike); }},
      {"holder_deleted", 2, 0ms, 0ms, [faults](Strike& strike) { return faults->remove_holder(strike, false); }},
      {"lock_deleted", 3, 0ms, 0ms, [faults](Strike& strike) { return faults->remove_holder(strike, true); }},
      {"left_overs_swept", 1, 0ms, 0ms, [faults](Strike& strike) { return faults->sweep(strike); }},
      {"quota_changed", 1, 100ms, 2000ms, [faults](Strike& strike) { return faults->set_quota(strike); }},
      {"acl_changed", 1, 100ms, 1500ms, [faults](Strike& strike) { return faults->set_acl(strike); }},
  };
}

}  // namespace forelock::robustness
