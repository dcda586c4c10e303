#include "describe.h"

#include "trace.h"

namespace forelock::simulation {

void Trace::add(const std::string& who, const std::string& what) {
  const double at = std::chrono::duration<double, std::milli>(timeline_.now() - model::Timeline::start).count();
  std::array<char, 32> when{};
  std::snprintf(when.data(), when.size(), "%10.3f ", at);
  lines_.push_back(when.data() + who + std::string(who.size() < 9 ? 9 - who.size() : 1, ' ') + what);
}

namespace {

std::string_view name_of(coordination::CreateMode mode) {
  switch (mode) {
    case coordination::CreateMode::persistent:
      return "persistent";
    case coordination::CreateMode::container:
      return "container";
    case coordination::CreateMode::ephemeral:
      return "ephemeral";
    case coordination::CreateMode::ephemeral_sequential:
      return "sequential";
  }
  return "?";
}

std::string version(std::int32_t wanted) {
  return wanted == coordination::any_version ? std::string() : " v" + std::to_string(wanted);
}

template <typename One>
std::string describe_one(const One& one) {
  using namespace coordination;
  if constexpr (std::is_same_v<One, Create>) {
    return "create " + one.path + " " + std::string(name_of(one.mode)) + " '" + one.data + "'";
  } else if constexpr (std::is_same_v<One, Delete>) {
    return "delete " + one.path + version(one.version);
  } else if constexpr (std::is_same_v<One, SetData>) {
    return "set " + one.path + version(one.version) + " '" + one.data + "'";
  } else if constexpr (std::is_same_v<One, Check>) {
    return "check " + one.path + version(one.version);
  } else if constexpr (std::is_same_v<One, Get>) {
    return "get " + one.path + (one.watch ? " +watch" : "");
  } else if constexpr (std::is_same_v<One, Exists>) {
    return "exists " + one.path + (one.watch ? " +watch" : "");
  } else if constexpr (std::is_same_v<One, List>) {
    return "list " + one.path + (one.watch ? " +watch" : "");
  } else if constexpr (std::is_same_v<One, Sync>) {
    return "sync " + one.path;
  } else if constexpr (std::is_same_v<One, RemoveDataWatch>) {
    return "unwatch " + one.path;
  } else {
    std::string text = "{";
    for (const auto& operation : one.operations) {
      if (text.size() > 1) text += "; ";
      text += std::visit([](const auto& part) { return describe_one(part); }, operation);
    }
    return text + "}";
  }
}

}  // namespace

std::string describe(const coordination::Request& request) {
  return std::visit([](const auto& one) { return describe_one(one); }, request);
}

std::string describe(const coordination::Reply& reply) {
  std::string text(name_of(reply.code));
  if (!reply.ok()) return text;
  if (!reply.path.empty()) text += " " + reply.path;
  if (!reply.data.empty()) text += " '" + reply.data + "'";
  if (reply.stat.czxid != 0 || reply.stat.cversion != 0) {
    text += " [created " + std::to_string(reply.stat.created_children()) + ", mzxid " +
            std::to_string(reply.stat.mzxid) + ", v" + std::to_string(reply.stat.version) + "]";
    auto children = reply.children;
    std::sort(children.begin(), children.end());
    for (const auto& child : children) text += " " + child;
  }
  for (const auto& result : reply.operations) {
    if (!result.path.empty()) text += " " + result.path;
    if (result.stat.mzxid != 0) text += " mzxid " + std::to_string(result.stat.mzxid);
  }
  return text;
}

std::string describe(const coordination::WatchEvent& event) {
  using Kind = coordination::WatchEvent::Kind;
  switch (event.kind) {
    case Kind::created:
      return "created " + event.path;
    case Kind::deleted:
      return "deleted " + event.path;
    case Kind::data_changed:
      return "data changed " + event.path;
    case Kind::children_changed:
      return "children changed " + event.path;
  }
  return "?";
}

std::string describe(const coordination::SessionEvent& event) {
  using Kind = coordination::SessionEvent::Kind;
  switch (event.kind) {
    case Kind::connected:
      return "connected, session " + std::to_string(event.session);
    case Kind::disconnected:
      return "disconnected";
    case Kind::expired:
      return "expired";
    case Kind::auth_failed:
      return "auth failed";
  }
  return "?";
}

std::string_view name_of(lock::RefusalReason reason) {
  using Reason = lock::RefusalReason;
  switch (reason) {
    case Reason::timed_out:
      return "timed_out";
    case Reason::unavailable:
      return "unavailable";
    case Reason::not_admitted:
      return "not_admitted";
    case Reason::cancelled:
      return "cancelled";
    case Reason::connection_lost:
      return "connection_lost";
    case Reason::session_expired:
      return "session_expired";
    case Reason::rejected:
      return "rejected";
    case Reason::closed:
      return "closed";
  }
  return "?";
}

std::string_view name_of(lock::ReleaseOutcome outcome) {
  using Outcome = lock::ReleaseOutcome;
  switch (outcome) {
    case Outcome::released:
      return "released";
    case Outcome::gone:
      return "gone";
    case Outcome::session_expired:
      return "session_expired";
  }
  return "?";
}

}  // namespace forelock::simulation
