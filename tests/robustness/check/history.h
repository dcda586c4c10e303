// A recorded history (tests/robustness/README.md has the format), reduced to what the rules ask about.
//
// Plain values, read once and never changed. Sized for some hundred thousand acquisitions: what occurs often is a
// number or an index.
#pragma once

#include "support/standard.h"

namespace forelock::robustness {

// All processes of a run are on one machine: CLOCK_MONOTONIC is the same for all.
using Instant = std::chrono::steady_clock::time_point;
using Span = std::chrono::steady_clock::duration;

inline constexpr Instant never = Instant::max();

// After it has been stopped, a process must get the processor before it can look at the clock.
inline constexpr Span waking = std::chrono::milliseconds(250);

struct Interval {
  Instant begin;
  Instant end;
};

// What kind of client it was decides what it promises: only `api` and `async` claim to know when a lock is certain.
enum class Kind { api, async, cli, literal, resource, runner };

struct Process {
  std::string name;
  Kind kind = Kind::api;
  Instant last{};               // its last sign of life
  bool ended = false;           // it said that it was done
  bool torn = false;            // its last line is: it was killed
  Span session_timeout{0};      // 0: not said
  bool lingers = false;         // its locks stay with it for a while when they have been released
  std::vector<Interval> still;  // it was stopped, or the machine let it wait; sorted, apart
};

// The contender's place in the queue, of a node's name such as "A-0000000007".
struct Place {
  std::uint32_t prefix = 0;  // index into History::prefixes
  std::int64_t number = -1;

  bool operator==(const Place&) const = default;
};

enum class Priority { foreground, background };

// One acquisition, from the call to the end of its release. What did not happen is `never`.
struct Call {
  std::uint32_t process = 0;
  std::uint32_t monitor = 0;
  std::uint64_t number = 0;
  Priority priority = Priority::foreground;
  bool steps_aside = false;      // takes the place of the call before it
  bool changes_class = false;    // perhaps
  std::optional<Span> deadline;  // what was asked for
  Instant invoked{};
  Instant granted = never;
  Instant refused = never;
  Instant unhealthy = never;
  Instant lost = never;
  Instant release = never;
  Instant released = never;
  std::int64_t token = 0;          // 0: the client knows none
  std::int64_t session = 0;        // of a granted one; 0: not said
  std::uint64_t guid = 0;          // of a granted one, hashed; 0: not said
  std::optional<Place> place;      // of a granted one, if the client knows it
  std::uint32_t refusal_code = 0;  // indices into History::words; 0 is ""
  std::uint32_t loss_reason = 0;
  std::uint32_t release_code = 0;

  // When the client began to give it up, or learned that it was not certain any more.
  Instant doubted() const { return std::min({unhealthy, lost, release}); }
};

// A visit of a holder to the resource.
struct Access {
  enum class End { open, left, gone, fenced };
  std::uint32_t client = 0;  // a process
  std::uint32_t monitor = 0;
  std::uint64_t call = 0;
  std::int64_t token = 0;
  bool accepted = false;
  Instant begin{};
  Instant end = never;
  End how = End::open;
};

// One operation of a transaction that the servers have applied, on a contender's node or on privateLock; or a monitor
// that was made, perhaps anew.
struct LoggedChange {
  enum class Type { create, set, remove, session_end, monitor_made };
  std::int64_t zxid = 0;
  std::int64_t session = 0;
  Type type = Type::create;
  bool is_lock = false;
  std::uint32_t monitor = 0;
  Place place;             // of a contender's node
  std::uint64_t guid = 0;  // in the data, hashed; 0: none
};

struct Fault {
  std::string kind;
  std::string target;
  Instant begin{};
  Instant end = never;
  std::uint32_t monitor = 0;     // of a node that was deleted
  std::optional<Place> deleted;  // that node
  std::int64_t session = 0;      // one that was ended; 0: none
};

// A node that should have been gone.
struct Remaining {
  std::string path;
  std::string sessions;
};

// The silence of a stall round begins for this holder; or the server that it is connected to is left by the others.
struct Stall {
  std::uint32_t client = 0;
  Instant begin{};
  std::optional<std::uint64_t> call;
  std::optional<std::uint32_t> monitor;
  bool servers_hear = false;  // only what they say is lost
};

struct SessionEnd {
  std::int64_t session = 0;
  Instant at{};
};

// An operation, and the dead letter that it may have become.
struct Letter {
  bool handed = false;        // somebody has begun it
  std::uint32_t process = 0;  // that one
  bool accepted = false;      // its caller was told: it is a dead letter
  bool succeeded = false;     // … it has succeeded
  bool kept = false;          // … it has failed, and is the caller's
  std::size_t in_topic = 0;
  std::size_t in_outbox = 0;
  std::string hash;  // of what was handed over, or else of what was found first; may be empty
  bool altered = false;
};

// What somebody used at that time: memory, descriptors, watches, …
struct Sample {
  Instant at{};
  std::map<std::string, std::int64_t> counts;
};

struct History {
  std::vector<Process> processes;
  std::vector<std::string> monitors;
  std::vector<std::string> prefixes;
  std::vector<std::string> words;  // codes and reasons; the first is ""
  std::vector<Call> calls;         // by process, then number
  std::vector<Access> accesses;    // by begin
  std::vector<LoggedChange> log;   // by zxid, in the order within a transaction
  std::vector<Fault> faults;
  std::vector<Remaining> remaining;
  std::vector<Stall> stalls;
  std::vector<Stall> depositions;
  std::vector<SessionEnd> session_ends;
  std::vector<std::string> hung;  // processes that did not end
  std::map<std::string, Letter> letters;
  std::map<std::string, std::vector<Sample>> samples;  // by process, or "servers"; in the order of time
  Instant begin = never;                               // of the first event

  const Process& process_of(const Call& call) const { return processes[call.process]; }
  const std::string& word(std::uint32_t index) const { return words[index]; }
};

// Says which line of which file is wrong, and how.
class HistoryError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace forelock::robustness
