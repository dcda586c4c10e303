// Histories written by hand, for the tests of the rules: in the recorded format, read by the real reader.
#pragma once

#include <nlohmann/json.hpp>

#include "robustness/check/history.h"

namespace forelock::robustness {

// What one process writes. Times are milliseconds since the run's begin.
class PlantedProcess {
 public:
  PlantedProcess(std::string name, std::string kind) : name_(std::move(name)), kind_(std::move(kind)) {}

  PlantedProcess& event(double at, const char* name, nlohmann::ordered_json keys = nlohmann::ordered_json::object());
  // A line as it stands.
  PlantedProcess& line(const std::string& text);

  // --- clients ---

  // Calls from here on are for this monitor, of this class.
  PlantedProcess& on(std::string monitor);
  PlantedProcess& background();
  PlantedProcess& invoke(double at, int call, int deadline_ms = 2000, const char* mode = "timeout");
  // The guid is "g" and the token.
  PlantedProcess& granted(double at, int call, std::int64_t token, std::int64_t session = 1);
  PlantedProcess& refused(double at, int call, const char* code = "lock_timeout");
  PlantedProcess& unhealthy(double at, int call) { return about(at, "unhealthy", call); }
  PlantedProcess& lost(double at, int call, const char* reason = "deadline_passed");
  PlantedProcess& release(double at, int call) { return about(at, "release", call); }
  PlantedProcess& released(double at, int call, const char* code = "");
  // Asked for, granted, held, released.
  PlantedProcess& holds(double from, double to, int call, std::int64_t token, std::int64_t session = 1);
  PlantedProcess& beats(double from, double to);

  // --- the resource ---

  PlantedProcess& enters(double at, const char* client, int call, std::int64_t token, bool accepted = true);
  PlantedProcess& leaves(double at, const char* client, int call, const char* how = "left");

  // --- the runner ---

  PlantedProcess& fault(double from, double to, const char* kind, const char* target, const char* detail = "");
  PlantedProcess& transaction(std::int64_t zxid, std::int64_t session, const char* type, const char* path,
                              const std::string& guid = "");
  // The transactions of an uncontended acquisition, and of its release.
  PlantedProcess& claims(std::int64_t zxid, std::int64_t session, const char* node);
  // The claim of somebody who has a node already.
  PlantedProcess& takes(std::int64_t zxid, std::int64_t session, const std::string& guid);
  PlantedProcess& frees(std::int64_t zxid, std::int64_t session, const char* node);

  const std::string& text() const { return text_; }

 private:
  PlantedProcess& about(double at, const char* name, int call,
                        nlohmann::ordered_json keys = nlohmann::ordered_json::object());

  std::string name_;
  std::string kind_;
  std::string monitor_ = "P1";
  std::string priority_ = "foreground";
  std::string text_;
  int faults_ = 0;
};

class PlantedHistory {
 public:
  PlantedProcess& process(const std::string& name, const std::string& kind);
  PlantedProcess& client(const std::string& name) { return process(name, "api"); }
  PlantedProcess& resource() { return process("resource", "resource"); }
  PlantedProcess& runner() { return process("runner", "runner"); }

  History read() const;

 private:
  std::deque<PlantedProcess> processes_;
  std::map<std::string, PlantedProcess*> by_name_;
};

}  // namespace forelock::robustness
