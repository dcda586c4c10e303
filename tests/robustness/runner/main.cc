// robustness_run: one run with one seed. Writes a history; robustness_check judges it. Exit 1 if the run itself failed.
#include "robustness/runner/run.h"

int main(int count, char** arguments) {
  using namespace forelock::robustness;
  try {
    const RunOptions options = RunOptions::parse(count, arguments);
    Run run(options);
    const auto problems = run.play();
    for (const std::string& each : problems) std::cerr << "problem: " << each << "\n";
    std::cout << run.summary() << std::endl;
    return problems.empty() ? 0 : 1;
  } catch (const std::exception& problem) {
    std::cerr << "robustness_run: " << problem.what() << std::endl;
    return 64;
  }
}
