// How many dead letters a second go through the outbox to Kafka, next to the same promise on bare SQLite and
// librdkafka: from many threads, and from an outbox that is full. With an outbox on a disk, and in memory, where a wait
// for the disk costs nothing. One run measures all variants in interleaved rounds.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "bench/options.h"
#include "bench/raw_publisher.h"
#include "bench/samples.h"
#include "bench/usage.h"
#include "forelock/dead_letter_queue.h"
#include "forward/forwarder.h"
#include "kafka/admin.h"
#include "letter/letter_headers.h"
#include "letter/letter_json.h"
#include "outbox/outbox.h"
#include "support/temporary_directory.h"
#include "support/test_broker.h"

namespace forelock::bench {
namespace {

constexpr const char* topic = "MdmDeadLetterQueue";

DeadLetter make_letter(const std::string& id, int monitor, int payload_bytes) {
  const WallTime begin{std::chrono::milliseconds(1'763'733'600'000)};
  DeadLetter letter;
  letter.id = id;
  letter.type = "saveContent";
  letter.monitor = "product-" + std::to_string(monitor);
  letter.lock_info = "Bulk propagation";
  letter.payload = std::string(static_cast<std::size_t>(payload_bytes), 'x');
  letter.reason = "lock_timeout";
  for (std::uint32_t n = 1; n <= 4; ++n) {
    letter.attempts.push_back({n, begin + std::chrono::seconds(2 * n), "lock_timeout",
                               "product-1 was not obtained within 2000 ms: held by search-2/4711/worker for 3100 ms",
                               std::chrono::milliseconds(2000)});
  }
  letter.max_attempts = 4;
  letter.enqueued_at = begin;
  letter.failed_at = letter.attempts.back().at;
  letter.client = {"search-1", 4711, "search-1/4711", "0.1.0"};
  return letter;
}

RawLetter raw(const DeadLetter& letter) {
  return {letter.id, letter.monitor, letter::to_json(letter)};
}

RawPublisher::Headers headers_of(const DeadLetter& letter) {
  RawPublisher::Headers headers;
  for (const letter::Header& header : letter::headers_of(letter)) headers.emplace_back(header.name, header.value);
  return headers;
}

// One way to get letters through. A block is measured from its first letter until nothing is left of the last.
struct Variant {
  std::string name;
  std::string floor;  // the variant that it is compared with
  std::string what;
  std::function<void()> block;
  std::function<void()> prepare = [] {};
  int letters = 0;  // of a block

  Samples rates{};
  Usage usage{};
  double seconds = 0;
};

class Benchmark {
 public:
  explicit Benchmark(const Options& options)
      : options_(options), memory_("/dev/shm/forelock-bench-" + std::to_string(getpid())) {
    std::filesystem::create_directory(memory_);
    const kafka::TopicSpec spec{.name = topic,
                                .partitions = options.number("partitions"),
                                .config = {{"segment.bytes", "16777216"}, {"retention.bytes", "33554432"}}};
    kafka::Admin(settings(disk_.path() / "unused")).create(spec);
    make_letters();
    for (const bool sync : {true, false}) {
      add_publishing(sync);
      add_forwarding(sync);
    }
  }
  ~Benchmark() {
    variants_.clear();
    std::filesystem::remove_all(memory_);
  }
  Benchmark(const Benchmark&) = delete;
  Benchmark& operator=(const Benchmark&) = delete;

  void run() {
    const std::string& only = options_.text("only");
    const int rounds = options_.number("rounds");
    for (int round = -1; round < rounds; ++round) {  // the first is not counted
      for (std::size_t i = 0; i < variants_.size(); ++i) {
        Variant& variant = variants_[(i + static_cast<std::size_t>(round + 1)) % variants_.size()];
        if (only.empty() || variant.name == only) measure(variant, round >= 0);
      }
    }
  }

  // The median and the extremes over the rounds of the ratio of the rates.
  Samples ratios(const Variant& variant) const {
    Samples ratios;
    for (const Variant& floor : variants_) {
      if (floor.name != variant.floor) continue;
      for (std::size_t i = 0; i < variant.rates.count(); ++i) ratios.add(variant.rates.at(i) / floor.rates.at(i));
    }
    return ratios;
  }

  void print_table(std::FILE* out) const {
    std::fprintf(out, "%-24s %12s   %-22s %10s %10s\n", "", "letters/s", "ratio to its floor", "processor", "switches");
    std::fprintf(out, "%-24s %12s   %-22s %10s %10s\n", "", "median", "[rounds from, to]", "us/letter", "/letter");
    for (const Variant& variant : variants_) {
      const auto count = static_cast<double>(variant.letters) * static_cast<double>(variant.rates.count());
      const Samples ratio = ratios(variant);
      char compared[64] = "-";
      if (ratio.count() > 0) {
        std::snprintf(compared, sizeof compared, "%.2f [%.2f, %.2f]", ratio.median(), ratio.lowest(), ratio.highest());
      }
      std::fprintf(out, "%-24s %12.0f   %-22s %10.1f %10.2f\n", variant.name.c_str(), variant.rates.median(), compared,
                   (variant.usage.user_us + variant.usage.system_us) / count, variant.usage.voluntary_switches / count);
    }
  }

  nlohmann::json to_json() const {
    nlohmann::json all = nlohmann::json::array();
    for (const Variant& variant : variants_) {
      const auto count = static_cast<double>(variant.letters) * static_cast<double>(variant.rates.count());
      const Samples ratio = ratios(variant);
      nlohmann::json each = {{"name", variant.name},
                             {"what", variant.what},
                             {"letters", variant.letters},
                             {"median_per_second", variant.rates.median()},
                             {"lowest_per_second", variant.rates.lowest()},
                             {"highest_per_second", variant.rates.highest()},
                             {"user_us", variant.usage.user_us / count},
                             {"system_us", variant.usage.system_us / count},
                             {"voluntary_switches", variant.usage.voluntary_switches / count}};
      if (ratio.count() > 0) {
        each["floor"] = variant.floor;
        each["ratio"] = ratio.median();
        each["ratio_lowest"] = ratio.lowest();
        each["ratio_highest"] = ratio.highest();
      }
      all.push_back(std::move(each));
    }
    return all;
  }

  std::size_t record_bytes() const { return letter::to_json(filled_.front()).size(); }

 private:
  Settings settings(const std::filesystem::path& outbox) const {
    Settings settings;
    settings.set({{"dlq.outbox.path", outbox.string()},
                  {"dlq.outbox.max.bytes", "4294967296"},
                  {"dlq.topic", topic},
                  {"kafka.bootstrap.servers", broker_.bootstrap()}});
    return settings;
  }

  // The same letters for all; only their ids differ from block to block.
  void make_letters() {
    const int payload = options_.number("payload");
    for (int i = 0; i < options_.number("filled"); ++i) {
      filled_.push_back(make_letter("filled-" + std::to_string(i), i % 64, payload));
    }
    headers_ = headers_of(filled_.front());
    std::vector<RawLetter> raw_letters;
    for (const DeadLetter& letter : filled_) raw_letters.push_back(raw(letter));
    RawPublisher::fill(memory_ / "raw-filled", raw_letters);
    // In memory, and by many threads, since each add() is a transaction.
    outbox::Outbox outbox({.path = memory_ / "filled", .max_bytes = std::int64_t{4} << 30});
    in_threads([&](int thread, int threads) {
      for (std::size_t i = static_cast<std::size_t>(thread); i < filled_.size(); i += static_cast<std::size_t>(threads))
        outbox.add(filled_[i]);
    });
  }

  void in_threads(const std::function<void(int thread, int threads)>& work) const {
    const int count = options_.number("threads");
    std::vector<std::thread> threads;
    for (int thread = 0; thread < count; ++thread) threads.emplace_back([&, thread] { work(thread, count); });
    for (std::thread& thread : threads) thread.join();
  }

  // Each thread gives its letters one after the other, as callers of accept() do.
  template <class Give>
  void publish(const Give& give) {
    const int block = ++blocks_;
    in_threads([&](int thread, int) {
      DeadLetter letter = filled_[static_cast<std::size_t>(thread) % filled_.size()];
      const std::string prefix = std::to_string(block) + "-" + std::to_string(thread) + "-";
      for (int i = 0; i < options_.number("letters"); ++i) {
        letter.id = prefix + std::to_string(i);
        give(letter);
      }
    });
  }

  void add_publishing(bool sync) {
    const std::string where = sync ? "" : " no fsync";
    const std::filesystem::path folder = sync ? disk_.path() : memory_;
    const int letters = options_.number("letters") * options_.number("threads");
    // Prepared once: the floor does not serialise.
    const RawLetter prepared = raw(filled_.front());
    const auto bare = [this, prepared](RawPublisher& publisher) {
      publish([&](const DeadLetter& letter) { publisher.accept({letter.id, letter.monitor, prepared.record}); });
      publisher.wait_until_empty();
    };
    if (sync) {
      const auto alone = std::make_shared<RawPublisher>("", broker_.bootstrap(), topic, headers_);
      variants_.push_back({.name = "librdkafka alone",
                           .floor = "",
                           .what = "an idempotent producer, nothing durable before it",
                           .block = [bare, alone] { bare(*alone); },
                           .letters = letters});
    }
    const auto floor = std::make_shared<RawPublisher>(folder / "raw", broker_.bootstrap(), topic, headers_);
    variants_.push_back({.name = "raw" + where,
                         .floor = "",
                         .what = "SQLite insert in groups, idempotent producer, SQLite delete in groups",
                         .block = [bare, floor] { bare(*floor); },
                         .letters = letters});
    const auto queue = std::make_shared<DeadLetterQueue>(settings(folder / "outbox.db"));
    variants_.push_back({.name = "queue" + where,
                         .floor = "raw" + where,
                         .what = "DeadLetterQueue::accept() from many threads",
                         .block =
                             [this, queue] {
                               publish([&](const DeadLetter& letter) { queue->accept(letter); });
                               if (!queue->flush(std::chrono::minutes(5))) throw std::runtime_error("not delivered");
                             },
                         .letters = letters});
  }

  void add_forwarding(bool sync) {
    const std::string where = sync ? "" : " no fsync";
    const std::filesystem::path folder = sync ? disk_.path() : memory_;
    const auto copy = [](const std::filesystem::path& from, const std::filesystem::path& to) {
      for (const char* beside : {"", "-journal", ".lock"}) {
        std::filesystem::remove(to.string() + beside);
        if (std::filesystem::exists(from.string() + beside)) {
          std::filesystem::copy_file(from.string() + beside, to.string() + beside);
        }
      }
    };
    variants_.push_back({.name = "raw filled" + where,
                         .floor = "",
                         .what = "the same from a file that is full",
                         .block =
                             [this, folder] {
                               RawPublisher publisher(folder / "raw-full", broker_.bootstrap(), topic, headers_);
                               publisher.forward();
                               publisher.wait_until_empty();
                             },
                         .prepare = [this, folder, copy] { copy(memory_ / "raw-filled", folder / "raw-full"); },
                         .letters = options_.number("filled")});
    variants_.push_back({.name = "forwarder" + where,
                         .floor = "raw filled" + where,
                         .what = "the forwarder, from an outbox that is full",
                         .block =
                             [this, folder] {
                               outbox::Outbox outbox({.path = folder / "full.db"});
                               forward::Forwarder forwarder(settings(folder / "full.db"), outbox, {});
                               while (outbox.depth().rows > 0) forwarder.wait_for_removal(std::chrono::seconds(1));
                             },
                         .prepare = [this, folder, copy] { copy(memory_ / "filled", folder / "full.db"); },
                         .letters = options_.number("filled")});
  }

  static void measure(Variant& variant, bool count) {
    variant.prepare();
    const Usage before = Usage::now();
    const auto begin = Clock::now();
    variant.block();
    const std::chrono::duration<double> time = Clock::now() - begin;
    if (!count) return;
    variant.usage += Usage::now() - before;
    variant.rates.add(variant.letters / time.count());
  }

  const Options& options_;
  test::TemporaryDirectory disk_;
  const std::filesystem::path memory_;
  // What is confirmed is of no use any more, and must not fill the disk.
  test::TestBroker broker_{{.config_lines = {"log.retention.check.interval.ms=1000"}, .listeners = {}}};
  std::vector<DeadLetter> filled_;
  RawPublisher::Headers headers_;
  std::vector<Variant> variants_;
  int blocks_ = 0;
};

int run(const Options& options) {
  Benchmark benchmark(options);
  benchmark.run();
  if (!options.text("only").empty()) return 0;
  if (options.flag("table")) {
    std::fprintf(stderr, "dlq, records of %zu bytes, %d threads with %d letters each, %d in a full outbox, %d rounds\n",
                 benchmark.record_bytes(), options.number("threads"), options.number("letters"),
                 options.number("filled"), options.number("rounds"));
    benchmark.print_table(stderr);
    std::fprintf(stderr, "target: 0.70 of its floor\n");
  }
  const nlohmann::json result = {{"benchmark", "dlq"},
                                 {"rounds", options.number("rounds")},
                                 {"threads", options.number("threads")},
                                 {"record_bytes", benchmark.record_bytes()},
                                 {"variants", benchmark.to_json()}};
  std::printf("%s\n", result.dump(2).c_str());
  return 0;
}

}  // namespace
}  // namespace forelock::bench

int main(int argc, char** argv) {
  return forelock::bench::run(forelock::bench::Options(argc, argv,
                                                       {{"rounds", "5"},
                                                        {"threads", "64"},
                                                        {"letters", "100"},
                                                        {"filled", "60000"},
                                                        {"payload", "500"},
                                                        {"partitions", "4"},
                                                        {"table", "on"},
                                                        {"only", ""}}));
}
