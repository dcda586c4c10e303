// robustness_check DIRECTORY [--bound-ms N] [--command-bound-ms N]
//
// Judges the history in the directory (tests/robustness/README.md). What it finds is explained on stderr; the last line
// of stdout is one JSON object with the counts. Exit 0 if nothing was violated, 1 if something was, 2 if the history
// cannot be understood.
#include "robustness/check/history_reader.h"
#include "robustness/check/verdict.h"

namespace {

struct Options {
  std::string directory;
  forelock::robustness::Bounds bounds;
};

Options read_options(int count, char** arguments) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string argument = arguments[i];
    if (argument == "--bound-ms" || argument == "--command-bound-ms") {
      if (++i == count) throw std::invalid_argument(argument + " needs a number");
      const std::chrono::milliseconds bound(std::stoul(arguments[i]));
      (argument == "--bound-ms" ? options.bounds.library : options.bounds.command) = bound;
    } else if (argument.starts_with("--") || !options.directory.empty()) {
      throw std::invalid_argument("unknown argument '" + argument + "'");
    } else {
      options.directory = argument;
    }
  }
  if (options.directory.empty()) throw std::invalid_argument("no directory");
  return options;
}

}  // namespace

int main(int count, char** arguments) {
  Options options;
  try {
    options = read_options(count, arguments);
  } catch (const std::exception& problem) {
    std::cerr << "robustness_check: " << problem.what()
              << "\nusage: robustness_check DIRECTORY [--bound-ms N] [--command-bound-ms N]\n";
    return 64;
  }
  try {
    const forelock::robustness::History history = forelock::robustness::read_history(options.directory);
    const forelock::robustness::Verdict verdict = forelock::robustness::judge(history, options.bounds);
    verdict.explain(std::cerr);
    std::cout << verdict.json() << std::endl;
    return verdict.clean() ? 0 : 1;
  } catch (const forelock::robustness::HistoryError& problem) {
    std::cerr << "robustness_check: " << problem.what() << '\n';
    return 2;
  }
}
