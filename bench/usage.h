// The processor time and the context switches of this process, all threads together.
#pragma once

#include <sys/resource.h>

namespace forelock::bench {

struct Usage {
  double user_us = 0;
  double system_us = 0;
  double voluntary_switches = 0;
  double involuntary_switches = 0;

  static Usage now() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto micros = [](const timeval& time) {
      return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_usec);
    };
    return {micros(usage.ru_utime), micros(usage.ru_stime), static_cast<double>(usage.ru_nvcsw),
            static_cast<double>(usage.ru_nivcsw)};
  }

  Usage& operator+=(const Usage& other) {
    user_us += other.user_us;
    system_us += other.system_us;
    voluntary_switches += other.voluntary_switches;
    involuntary_switches += other.involuntary_switches;
    return *this;
  }
  Usage operator-(const Usage& other) const {
    return {user_us - other.user_us, system_us - other.system_us, voluntary_switches - other.voluntary_switches,
            involuntary_switches - other.involuntary_switches};
  }
};

}  // namespace forelock::bench
