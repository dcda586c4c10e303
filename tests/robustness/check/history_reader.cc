#include "robustness/check/history_reader.h"

#include "robustness/check/history_line.h"
#include "robustness/check/intervals.h"
#include "robustness/check/settled_log.h"

namespace forelock::robustness {
namespace {

// Numbers for texts that occur again and again.
class Names {
 public:
  explicit Names(std::vector<std::string>& texts) : texts_(texts) {}

  std::uint32_t number(const std::string& text) {
    const auto [found, added] = numbers_.try_emplace(text, static_cast<std::uint32_t>(texts_.size()));
    if (added) texts_.push_back(text);
    return found->second;
  }

 private:
  std::vector<std::string>& texts_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

// A process beats about ten times a second: a longer silence means that it did not run.
constexpr Span longest_heartbeat = std::chrono::milliseconds(250);

// Written for people, or judged elsewhere.
constexpr const char* not_asked_about[] = {
    "queued",  "contended", "client_closed",   "quiet",          "run",          "fault_skipped",
    "started", "ended",     "process_started", "process_killed", "process_ended"};

Kind kind_of(const HistoryLine& line) {
  static const std::map<std::string, Kind> kinds = {{"api", Kind::api},           {"async", Kind::async},
                                                    {"cli", Kind::cli},           {"literal", Kind::literal},
                                                    {"resource", Kind::resource}, {"runner", Kind::runner}};
  const auto found = kinds.find(line.text("kind"));
  if (found == kinds.end()) line.wrong("unknown kind");
  return found->second;
}

Access::End ending_of(const HistoryLine& line) {
  static const std::map<std::string, Access::End> endings = {
      {"left", Access::End::left}, {"gone", Access::End::gone}, {"fenced", Access::End::fenced}};
  const auto found = endings.find(line.text("how"));
  if (found == endings.end()) line.wrong("unknown end of an access");
  return found->second;
}

// 64 bits are enough to keep a million acquisitions apart, and 36 characters for each would be most of the memory.
std::uint64_t hashed(const std::string& guid) {
  return guid.empty() ? 0 : std::hash<std::string>{}(guid);
}

}  // namespace

class HistoryReader::Impl {
 public:
  Impl() { words_.number(""); }

  void read(std::istream& file, const std::string& name);
  History finish();

 private:
  using Handler = void (Impl::*)(const HistoryLine&);

  void take(const HistoryLine& line);
  void take_call_event(const HistoryLine& line, const std::string& event);
  void invoke(const HistoryLine& line);
  void access_begin(const HistoryLine& line);
  void access_end(const HistoryLine& line);
  void fault_begin(const HistoryLine& line);
  void fault_end(const HistoryLine& line);
  void server_transaction(const HistoryLine& line);
  void remaining(const HistoryLine& line);
  Stall stall_of(const HistoryLine& line);
  void stalled(const HistoryLine& line) { history_.stalls.push_back(stall_of(line)); }
  void deposed(const HistoryLine& line) { history_.depositions.push_back(stall_of(line)); }
  void session_end(const HistoryLine& line);
  void hung(const HistoryLine& line) { history_.hung.push_back(line.text("target")); }
  void heartbeat(const HistoryLine& line);
  void letter(const HistoryLine& line);
  void sample(const HistoryLine& line);

  std::uint32_t process_number(const std::string& name);
  std::optional<Place> place_of(const std::string& node);
  static void once(const HistoryLine& line, Instant& what);

  History history_;
  Names words_{history_.words};
  Names monitors_{history_.monitors};
  Names prefixes_{history_.prefixes};
  std::unordered_map<std::string, std::uint32_t> process_numbers_;
  std::vector<std::string> file_of_;  // by process
  // Of the file that is being read.
  std::uint32_t process_ = 0;
  bool begun_ = false;
  Instant beat_ = never;
  std::unordered_map<std::uint64_t, std::size_t> calls_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::size_t> open_accesses_;
  std::unordered_map<std::string, std::size_t> open_faults_;
};

std::uint32_t HistoryReader::Impl::process_number(const std::string& name) {
  const auto [found, added] = process_numbers_.try_emplace(name, static_cast<std::uint32_t>(history_.processes.size()));
  if (added) {
    history_.processes.emplace_back().name = name;
    file_of_.emplace_back();
  }
  return found->second;
}

// As the servers name them: a prefix, '-', and ten digits, or a sign and at least nine.
std::optional<Place> HistoryReader::Impl::place_of(const std::string& node) {
  const auto dash = node.find('-');
  if (dash == std::string::npos || dash == 0 || node.size() < dash + 11) return std::nullopt;
  const std::string digits = node.substr(dash + 1);
  const auto first = digits.begin() + (digits.front() == '-' ? 1 : 0);
  if (!std::all_of(first, digits.end(), [](char c) { return c >= '0' && c <= '9'; })) return std::nullopt;
  if (digits.size() > 11) return std::nullopt;
  return Place{prefixes_.number(node.substr(0, dash)), std::stoll(digits)};
}

void HistoryReader::Impl::read(std::istream& file, const std::string& name) {
  begun_ = false;
  beat_ = never;
  calls_.clear();
  open_accesses_.clear();
  open_faults_.clear();
  std::string text;
  for (std::size_t number = 1; std::getline(file, text); ++number) {
    const bool torn = file.eof();  // no newline behind it
    const std::string where = name + ":" + std::to_string(number);
    const auto line = HistoryLine::parse(text, where);
    if (!line && !torn) throw HistoryError(where + ": no JSON object: " + text);
    if (!line) {
      if (begun_) history_.processes[process_].torn = true;
      return;
    }
    if (!begun_) {
      process_ = process_number(line->text("process"));
      if (!file_of_[process_].empty()) {
        line->wrong("this process has a file already, " + file_of_[process_]);
      }
      file_of_[process_] = name;
      history_.processes[process_].kind = kind_of(*line);
      begun_ = true;
    }
    take(*line);
  }
}

void HistoryReader::Impl::take(const HistoryLine& line) {
  static const std::map<std::string, Handler, std::less<>> handlers = {
      {"invoke", &Impl::invoke},
      {"access_begin", &Impl::access_begin},
      {"access_end", &Impl::access_end},
      {"fault_begin", &Impl::fault_begin},
      {"fault_end", &Impl::fault_end},
      {"server_transaction", &Impl::server_transaction},
      {"remaining", &Impl::remaining},
      {"stalled", &Impl::stalled},
      {"deposed", &Impl::deposed},
      {"session_expired_at_server", &Impl::session_end},
      {"hung", &Impl::hung},
      {"heartbeat", &Impl::heartbeat},
      {"sample", &Impl::sample},
      {"handed", &Impl::letter},
      {"accepted", &Impl::letter},
      {"succeeded", &Impl::letter},
      {"kept", &Impl::letter},
      {"found", &Impl::letter},
  };
  Process& process = history_.processes[process_];
  if (line.text("process") != process.name) line.wrong("the file is of the process " + process.name);
  if (kind_of(line) != process.kind) line.wrong("a process has one kind");
  const std::string& event = line.text("event");
  const Instant time = line.time();
  history_.begin = std::min(history_.begin, time);
  process.last = std::max(process.last, time);
  if (event == "started" && line.has("session_timeout_ms")) {
    process.session_timeout = std::chrono::milliseconds(line.integer("session_timeout_ms"));
  }
  if (event == "started" && line.has("linger_ms")) process.lingers = line.integer("linger_ms") > 0;
  process.ended |= event == "ended";
  if (const auto found = handlers.find(event); found != handlers.end()) return (this->*found->second)(line);
  const auto* end = std::end(not_asked_about);
  if (std::find_if(std::begin(not_asked_about), end, [&](const char* known) { return event == known; }) != end) return;
  take_call_event(line, event);
}

void HistoryReader::Impl::invoke(const HistoryLine& line) {
  Call call;
  call.process = process_;
  call.number = static_cast<std::uint64_t>(line.integer("call"));
  call.monitor = monitors_.number(line.text("monitor"));
  const std::string& priority = line.text("priority");
  if (priority != "foreground" && priority != "background") line.wrong("unknown priority");
  call.priority = priority == "foreground" ? Priority::foreground : Priority::background;
  call.steps_aside = line.text("mode") == "step_aside";
  call.changes_class = line.text("mode") == "moved";
  if (const auto deadline = line.optional("deadline_ms", &HistoryLine::integer)) {
    call.deadline = std::chrono::milliseconds(*deadline);
  }
  call.invoked = line.time();
  if (!calls_.try_emplace(call.number, history_.calls.size()).second) line.wrong("this call was invoked before");
  history_.calls.push_back(call);
}

void HistoryReader::Impl::once(const HistoryLine& line, Instant& what) {
  if (what != never) line.wrong("this call has had this event before");
  what = line.time();
}

void HistoryReader::Impl::take_call_event(const HistoryLine& line, const std::string& event) {
  static constexpr const char* events[] = {"granted", "refused", "unhealthy", "lost", "release", "released"};
  if (std::find(std::begin(events), std::end(events), event) == std::end(events)) line.wrong("unknown event");
  const auto found = calls_.find(static_cast<std::uint64_t>(line.integer("call")));
  if (found == calls_.end()) line.wrong("this call was never invoked");
  Call& call = history_.calls[found->second];
  if (history_.monitors[call.monitor] != line.text("monitor")) line.wrong("this call is for another monitor");
  if (event == "granted") {
    if (call.refused != never) line.wrong("this call was refused before");
    once(line, call.granted);
    call.token = line.decimal("token");
    if (line.has("session")) call.session = line.session("session");
    if (line.has("guid")) call.guid = hashed(line.text("guid"));
    if (const std::string& node = line.text("node"); !node.empty()) {
      call.place = place_of(node);
      if (!call.place) line.wrong("this is no name of a contender's node");
    }
    return;
  }
  if (event == "refused") {
    if (call.granted != never) line.wrong("this call was granted before");
    once(line, call.refused);
    call.refusal_code = words_.number(line.text("code"));
    return;
  }
  if (call.granted == never) line.wrong("this call was not granted");
  if (event == "unhealthy") {
    once(line, call.unhealthy);
  } else if (event == "lost") {
    once(line, call.lost);
    call.loss_reason = words_.number(line.text("reason"));
  } else if (event == "release") {
    once(line, call.release);
  } else {
    if (call.release == never) line.wrong("this call's release was not called");
    once(line, call.released);
    call.release_code = words_.number(line.text("code"));
  }
}

void HistoryReader::Impl::access_begin(const HistoryLine& line) {
  Access access;
  access.client = process_number(line.text("client"));
  access.monitor = monitors_.number(line.text("monitor"));
  access.call = static_cast<std::uint64_t>(line.integer("call"));
  access.token = line.decimal("token");
  access.accepted = line.truth("accepted");
  access.begin = line.time();
  if (access.accepted && !open_accesses_.try_emplace({access.client, access.call}, history_.accesses.size()).second) {
    line.wrong("this call is inside already");
  }
  history_.accesses.push_back(access);
}

void HistoryReader::Impl::access_end(const HistoryLine& line) {
  const std::uint32_t client = process_number(line.text("client"));
  const auto found = open_accesses_.find({client, static_cast<std::uint64_t>(line.integer("call"))});
  if (found == open_accesses_.end()) line.wrong("this call is not inside");
  Access& access = history_.accesses[found->second];
  access.end = line.time();
  access.how = ending_of(line);
  open_accesses_.erase(found);
}

void HistoryReader::Impl::fault_begin(const HistoryLine& line) {
  if (!open_faults_.try_emplace(line.identity("id"), history_.faults.size()).second) {
    line.wrong("this fault has begun before");
  }
  Fault fault;
  fault.kind = line.text("fault");
  fault.target = line.text("target");
  fault.begin = line.time();
  if (fault.kind.ends_with("_deleted")) {
    fault.monitor = monitors_.number(fault.target);
    fault.deleted = place_of(line.text("detail"));
    if (!fault.deleted) line.wrong("\"detail\" is no name of a contender's node");
  }
  if (fault.kind == "session_expired") fault.session = line.session("detail");
  history_.faults.push_back(std::move(fault));
}

void HistoryReader::Impl::fault_end(const HistoryLine& line) {
  const auto found = open_faults_.find(line.identity("id"));
  if (found == open_faults_.end()) line.wrong("this fault has not begun");
  Fault& fault = history_.faults[found->second];
  if (fault.kind != line.text("fault")) line.wrong("this fault began as " + fault.kind);
  if (fault.end != never) line.wrong("this fault has ended before");
  fault.end = line.time();
}

void HistoryReader::Impl::server_transaction(const HistoryLine& line) {
  static const std::map<std::string, LoggedChange::Type> types = {{"create", LoggedChange::Type::create},
                                                                  {"set", LoggedChange::Type::set},
                                                                  {"delete", LoggedChange::Type::remove},
                                                                  {"close_session", LoggedChange::Type::session_end}};
  const auto type = types.find(line.text("type"));
  if (type == types.end()) line.wrong("unknown type of a transaction");
  LoggedChange change;
  change.zxid = line.session("zxid");
  change.session = line.session("session");
  change.type = type->second;
  if (line.has("guid")) change.guid = hashed(line.text("guid"));
  if (change.type != LoggedChange::Type::session_end) {
    const std::string& path = line.text("path");
    const auto last = path.rfind('/');
    if (last == std::string::npos) line.wrong("\"path\" is no path");
    const std::string name = path.substr(last + 1);
    change.is_lock = name == "privateLock";
    const auto place = place_of(name);
    if (!change.is_lock && !place && change.type == LoggedChange::Type::create) {
      change.type = LoggedChange::Type::monitor_made;
      change.monitor = monitors_.number(name);
      history_.log.push_back(change);
      return;
    }
    if (last == 0 || (!change.is_lock && !place)) return;  // not of a line in front of a monitor
    if (place) change.place = *place;
    const auto above = path.rfind('/', last - 1);
    change.monitor = monitors_.number(path.substr(above + 1, last - above - 1));
  }
  history_.log.push_back(change);
}

void HistoryReader::Impl::remaining(const HistoryLine& line) {
  history_.remaining.push_back({line.text("path"), line.has("sessions") ? line.text("sessions") : ""});
}

Stall HistoryReader::Impl::stall_of(const HistoryLine& line) {
  Stall stall{.client = process_number(line.text("client")), .begin = line.time(), .call = {}, .monitor = {}};
  if (const auto call = line.optional("call", &HistoryLine::integer)) stall.call = static_cast<std::uint64_t>(*call);
  if (line.has("monitor")) stall.monitor = monitors_.number(line.text("monitor"));
  stall.servers_hear = line.has("direction") && line.text("direction") == "to_client";
  return stall;
}

void HistoryReader::Impl::session_end(const HistoryLine& line) {
  history_.session_ends.push_back({line.session("session"), line.time()});
}

void HistoryReader::Impl::heartbeat(const HistoryLine& line) {
  const Instant time = line.time();
  if (beat_ != never && time - beat_ > longest_heartbeat) history_.processes[process_].still.push_back({beat_, time});
  beat_ = time;
}

void HistoryReader::Impl::letter(const HistoryLine& line) {
  Letter& letter = history_.letters[line.text("id")];
  const std::string& event = line.text("event");
  if (event == "handed") {
    if (letter.handed) line.wrong("this operation was begun before");
    letter.handed = true;
    letter.process = process_;
  }
  letter.accepted |= event == "accepted";
  letter.succeeded |= event == "succeeded";
  letter.kept |= event == "kept";
  if (event == "found") {
    const std::string& where = line.text("where");
    if (where != "topic" && where != "outbox") line.wrong("unknown place of a dead letter");
    ++(where == "topic" ? letter.in_topic : letter.in_outbox);
  }
  if (line.has("hash")) {
    const std::string& hash = line.text("hash");
    if (letter.hash.empty()) letter.hash = hash;
    letter.altered |= letter.hash != hash;
  }
}

void HistoryReader::Impl::sample(const HistoryLine& line) {
  Sample sample{.at = line.time(), .counts = {}};
  for (const char* key : {"memory_kib", "descriptors", "threads", "watches", "nodes"}) {
    if (line.has(key)) sample.counts[key] = line.integer(key);
  }
  if (sample.counts.empty()) line.wrong("a sample of nothing");
  history_.samples[line.text("target")].push_back(std::move(sample));
}

History HistoryReader::Impl::finish() {
  for (const Fault& fault : history_.faults) {
    if (!fault.kind.starts_with("client_paused")) continue;
    const auto found = process_numbers_.find(fault.target);
    if (found != process_numbers_.end()) history_.processes[found->second].still.push_back({fault.begin, fault.end});
  }
  for (Process& process : history_.processes) process.still = apart(std::move(process.still));
  const auto order = [](const Call& call) { return std::pair(call.process, call.number); };
  std::sort(history_.calls.begin(), history_.calls.end(),
            [&](const Call& a, const Call& b) { return order(a) < order(b); });
  std::stable_sort(history_.accesses.begin(), history_.accesses.end(),
                   [](const Access& a, const Access& b) { return a.begin < b.begin; });
  std::stable_sort(history_.log.begin(), history_.log.end(),
                   [](const LoggedChange& a, const LoggedChange& b) { return a.zxid < b.zxid; });
  settle_log(history_);
  return std::move(history_);
}

HistoryReader::HistoryReader() : impl_(std::make_unique<Impl>()) {}
HistoryReader::~HistoryReader() = default;

void HistoryReader::read(std::istream& file, const std::string& name) {
  impl_->read(file, name);
}

History HistoryReader::finish() {
  History history = impl_->finish();
  impl_ = std::make_unique<Impl>();
  return history;
}

History read_history(const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> files;
  std::error_code problem;
  for (const auto& entry : std::filesystem::directory_iterator(directory, problem)) {
    if (entry.path().extension() == ".ndjson") files.push_back(entry.path());
  }
  if (problem) throw HistoryError(directory.string() + ": " + problem.message());
  if (files.empty()) throw HistoryError(directory.string() + ": no *.ndjson files, so no history");
  std::sort(files.begin(), files.end());
  HistoryReader reader;
  for (const std::filesystem::path& path : files) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw HistoryError(path.string() + ": cannot be read");
    reader.read(file, path.filename().string());
  }
  return reader.finish();
}

}  // namespace forelock::robustness
