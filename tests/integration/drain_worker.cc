// A process that drains a dead-letter store, for tests that kill it or look at what it needs.
//
// drain_worker replay JOURNAL KEY=VALUE...   replays; each letter is written to the journal: "tried MONITOR ID", and
//                                            "done MONITOR ID" when it went well
// drain_worker statistics KEY=VALUE...       counts the letters
// drain_worker find ID KEY=VALUE...          looks for one
//
// KEY=VALUE is any setting, or concurrency=N, tries=N. Letters of type "poison" fail, those of type "deadly" kill the
// process. Prints one line of what came of it; exits 0, or 1 when something was thrown.
#include <signal.h>
#include <sys/resource.h>

#include "drain/letter_statistics.h"
#include "drain/open_store.h"
#include "drain/replayer.h"
#include "forelock/client.h"
#include "forelock/settings.h"
#include "integration/drain_journal.h"

namespace {

using forelock::drain::StoredLetter;
using forelock::drain::TryOutcome;
using forelock::drain::TryResult;

class Silence final : public forelock::drain::ReplayObserver {
 public:
  void event(Event, const StoredLetter&, const std::string&) override {}
};

struct Arguments {
  forelock::Settings settings;
  forelock::drain::ReplayOptions options;
};

Arguments parse(int first, int count, char** arguments) {
  Arguments parsed;
  for (int i = first; i < count; ++i) {
    const std::string argument = arguments[i];
    const auto equals = argument.find('=');
    const std::string key = argument.substr(0, equals);
    const std::string value = argument.substr(equals + 1);
    if (key == "concurrency") {
      parsed.options.concurrency = std::stoul(value);
    } else if (key == "tries") {
      parsed.options.max_tries = static_cast<std::uint32_t>(std::stoul(value));
    } else {
      parsed.settings.set(key, value);
    }
  }
  return parsed;
}

void replay(const std::string& path, const Arguments& arguments) {
  forelock::test::DrainJournal journal(path);
  const auto target = [&journal](const StoredLetter& letter, forelock::WriteLock&, std::stop_token) -> TryResult {
    const std::string name = letter.letter.monitor + " " + letter.letter.id;
    journal.write("tried " + name);
    if (letter.letter.type == "deadly") raise(SIGKILL);
    if (letter.letter.type == "poison") return {TryOutcome::failed, "poison"};
    journal.write("done " + name);
    return {TryOutcome::done, ""};
  };
  forelock::Client client(arguments.settings);
  const auto store = forelock::drain::open_store(arguments.settings, forelock::drain::StoreKind::configured);
  Silence silence;
  const auto report = forelock::drain::Replayer(client, *store, target, silence).run(arguments.options, {});
  std::cout << "replayed " << report.replayed << " failed " << report.failed << " later " << report.later << " parked "
            << report.parked << " skipped " << report.skipped << " ";
}

void count(const Arguments& arguments) {
  const auto store = forelock::drain::open_store(arguments.settings, forelock::drain::StoreKind::configured);
  forelock::drain::LetterStatistics statistics;
  store->scan({}, statistics);
  std::cout << "letters " << statistics.letters << " ";
}

void find(const std::string& id, const Arguments& arguments) {
  const auto store = forelock::drain::open_store(arguments.settings, forelock::drain::StoreKind::configured);
  std::cout << "letters " << (store->find(id) ? 1 : 0) << " ";
}

}  // namespace

int main(int count_of, char** arguments) {
  if (count_of < 2) return 64;
  const std::string what = arguments[1];
  const auto begin = std::chrono::steady_clock::now();
  try {
    if (what == "replay" && count_of > 2) {
      replay(arguments[2], parse(3, count_of, arguments));
    } else if (what == "statistics") {
      count(parse(2, count_of, arguments));
    } else if (what == "find" && count_of > 2) {
      find(arguments[2], parse(3, count_of, arguments));
    } else {
      return 64;
    }
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin);
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto ms_of = [](const timeval& time) { return time.tv_sec * 1000 + time.tv_usec / 1000; };
    std::cout << "ms " << took.count() << " processor_ms " << ms_of(usage.ru_utime) + ms_of(usage.ru_stime)
              << " kilobytes " << usage.ru_maxrss << std::endl;
    return 0;
  } catch (const std::exception& problem) {
    std::cout << "unexpected: " << problem.what() << std::endl;
    return 1;
  }
}
