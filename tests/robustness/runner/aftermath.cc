#include "robustness/runner/aftermath.h"

#include "integration/lock_history.h"
#include "integration/transaction_log.h"
#include "records/session_text.h"
#include "robustness/runner/agreement.h"

namespace forelock::robustness {
namespace {

using test::LoggedOperation;
using test::LoggedTransaction;

// As much of a transaction as the history needs.
struct Entry {
  ServerSet servers;  // whose log has it
  LoggedTransaction transaction;
};

bool concerns(const LoggedTransaction& transaction, const std::string& below) {
  if (transaction.closes_session) return true;
  for (const LoggedOperation& operation : transaction.operations) {
    if (operation.path.starts_with(below)) return true;
  }
  return false;
}

const char* name_of_kind(LoggedOperation::Kind kind) {
  switch (kind) {
    case LoggedOperation::Kind::create:
      return "create";
    case LoggedOperation::Kind::remove:
      return "delete";
    case LoggedOperation::Kind::set:
      return "set";
    case LoggedOperation::Kind::other:
      break;
  }
  return nullptr;
}

void write(const LoggedTransaction& transaction, const std::string& below, HistoryWriter& history) {
  const auto begin = [&](const char* type, std::size_t index, std::size_t count) {
    HistoryEvent event = history.event("server_transaction");
    event.add("zxid", transaction.zxid).add("session", records::session_text(transaction.session));
    event.add("type", type).add("index", index).add("count", count);
    return event;
  };
  if (transaction.closes_session) begin("close_session", 0, 1).add("path", "");
  for (std::size_t i = 0; i < transaction.operations.size(); ++i) {
    const LoggedOperation& operation = transaction.operations[i];
    const char* type = name_of_kind(operation.kind);
    if (type == nullptr || !operation.path.starts_with(below)) continue;
    HistoryEvent event = begin(type, i, transaction.operations.size());
    event.add("path", operation.path);
    if (operation.data.empty()) continue;
    event.add("guid", test::guid_in(operation.data));
  }
}

using RemainingNodes = std::vector<std::pair<std::string, std::int64_t>>;

// Each with its session; nothing if the servers do not answer.
std::optional<RemainingNodes> remaining_nodes(Administrator& administrator, const std::string& chroot) {
  administrator.sync(chroot);
  const auto monitors = administrator.children(chroot);
  if (!monitors) return std::nullopt;
  RemainingNodes remaining;
  for (const std::string& monitor : *monitors) {
    const std::string parent = chroot + "/" + monitor;
    const auto nodes = administrator.children(parent);
    if (!nodes) return std::nullopt;
    for (const std::string& node : *nodes) {
      const std::string path = parent + "/" + node;
      if (const auto found = administrator.get(path)) remaining.emplace_back(path, found->session);
    }
  }
  return remaining;
}

}  // namespace

bool nothing_remains(Administrator& administrator, const std::string& chroot) {
  const auto nodes = remaining_nodes(administrator, chroot);
  return nodes && nodes->empty();
}

int record_remaining(Administrator& administrator, const std::string& chroot, std::string_view sessions,
                     HistoryWriter& history) {
  const auto nodes = remaining_nodes(administrator, chroot);
  if (!nodes) return -1;
  for (const auto& [path, session] : *nodes) {
    history.event("remaining")
        .add("path", path)
        .add("session", records::session_text(session))
        .add("sessions", sessions);
  }
  return static_cast<int>(nodes->size());
}

LoggedCounts record_transactions(Cluster& cluster, const std::string& chroot, HistoryWriter& history) {
  const std::string below = chroot + "/";
  std::map<std::int64_t, Entry> entries;
  Agreement agreement;
  for (std::size_t server = 0; server < Cluster::size; ++server) {
    for (const auto& directory : cluster.log_directories(server)) {
      agreement.add(server, directory);
      for (LoggedTransaction& transaction : test::read_transaction_log(directory)) {
        if (!concerns(transaction, below)) continue;
        Entry& entry = entries[transaction.zxid];
        if (entry.servers.none()) entry.transaction = std::move(transaction);
        entry.servers.set(server);
      }
    }
  }
  LoggedCounts counts;
  for (const auto& [zxid, entry] : entries) {
    if (!agreement.reached(zxid, entry.servers)) {
      ++counts.dropped;
      continue;
    }
    ++counts.transactions;
    write(entry.transaction, below, history);
  }
  return counts;
}

}  // namespace forelock::robustness
