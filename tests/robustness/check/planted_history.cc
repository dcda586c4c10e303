#include "robustness/check/planted_history.h"

#include "robustness/check/history_reader.h"

namespace forelock::robustness {

using Keys = nlohmann::ordered_json;

PlantedProcess& PlantedProcess::event(double at, const char* name, Keys keys) {
  Keys object{
      {"t", 1'000'000'000 + static_cast<std::int64_t>(at * 1e6)}, {"process", name_}, {"kind", kind_}, {"event", name}};
  object.update(keys);
  return line(object.dump());
}

PlantedProcess& PlantedProcess::line(const std::string& text) {
  text_ += text + '\n';
  return *this;
}

PlantedProcess& PlantedProcess::about(double at, const char* name, int call, Keys keys) {
  Keys all{{"call", call}, {"monitor", monitor_}, {"priority", priority_}};
  all.update(keys);
  return event(at, name, std::move(all));
}

PlantedProcess& PlantedProcess::on(std::string monitor) {
  monitor_ = std::move(monitor);
  return *this;
}

PlantedProcess& PlantedProcess::background() {
  priority_ = "background";
  return *this;
}

PlantedProcess& PlantedProcess::invoke(double at, int call, int deadline_ms, const char* mode) {
  return about(at, "invoke", call, {{"deadline_ms", deadline_ms}, {"mode", mode}});
}

PlantedProcess& PlantedProcess::granted(double at, int call, std::int64_t token, std::int64_t session) {
  return about(at, "granted", call,
               {{"token", std::to_string(token)},
                {"node", ""},
                {"guid", "g" + std::to_string(token)},
                {"session", "0x" + std::to_string(session)}});
}

PlantedProcess& PlantedProcess::refused(double at, int call, const char* code) {
  return about(at, "refused", call, {{"code", code}});
}

PlantedProcess& PlantedProcess::lost(double at, int call, const char* reason) {
  return about(at, "lost", call, {{"reason", reason}});
}

PlantedProcess& PlantedProcess::released(double at, int call, const char* code) {
  return about(at, "released", call, {{"code", code}});
}

PlantedProcess& PlantedProcess::holds(double from, double to, int call, std::int64_t token, std::int64_t session) {
  return invoke(from - 1, call).granted(from, call, token, session).release(to, call).released(to + 1, call);
}

PlantedProcess& PlantedProcess::beats(double from, double to) {
  for (double at = from; at <= to; at += 100) event(at, "heartbeat");
  return *this;
}

PlantedProcess& PlantedProcess::enters(double at, const char* client, int call, std::int64_t token, bool accepted) {
  return event(at, "access_begin",
               {{"client", client},
                {"call", call},
                {"monitor", monitor_},
                {"token", std::to_string(token)},
                {"accepted", accepted}});
}

PlantedProcess& PlantedProcess::leaves(double at, const char* client, int call, const char* how) {
  return event(at, "access_end", {{"client", client}, {"call", call}, {"monitor", monitor_}, {"how", how}});
}

PlantedProcess& PlantedProcess::fault(double from, double to, const char* kind, const char* target,
                                      const char* detail) {
  const Keys keys{{"fault", kind}, {"target", target}, {"detail", detail}, {"id", ++faults_}};
  return event(from, "fault_begin", keys).event(to, "fault_end", keys);
}

PlantedProcess& PlantedProcess::transaction(std::int64_t zxid, std::int64_t session, const char* type, const char* path,
                                            const std::string& guid) {
  return event(1e6, "server_transaction",
               {{"zxid", zxid}, {"session", session}, {"type", type}, {"path", path}, {"guid", guid}});
}

PlantedProcess& PlantedProcess::claims(std::int64_t zxid, std::int64_t session, const char* node) {
  const std::string guid = "g" + std::to_string(zxid);
  return transaction(zxid, session, "create", node, guid).takes(zxid, session, guid);
}

PlantedProcess& PlantedProcess::takes(std::int64_t zxid, std::int64_t session, const std::string& guid) {
  return transaction(zxid, session, "create", "/P1/privateLock")
      .transaction(zxid, session, "set", "/P1/privateLock", guid);
}

PlantedProcess& PlantedProcess::frees(std::int64_t zxid, std::int64_t session, const char* node) {
  return transaction(zxid, session, "delete", node).transaction(zxid, session, "delete", "/P1/privateLock");
}

PlantedProcess& PlantedHistory::process(const std::string& name, const std::string& kind) {
  PlantedProcess*& process = by_name_[name];
  if (process == nullptr) process = &processes_.emplace_back(name, kind);
  return *process;
}

History PlantedHistory::read() const {
  HistoryReader reader;
  for (const auto& [name, process] : by_name_) {
    std::istringstream file(process->text());
    reader.read(file, name + ".ndjson");
  }
  return reader.finish();
}

}  // namespace forelock::robustness
