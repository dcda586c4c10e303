// The log of a client in a host that uses spdlog.
#include "forelock/spdlog_sink.h"
#include "support/test.h"

#include <spdlog/sinks/base_sink.h>

#include "client/client_log.h"

namespace forelock {
namespace {

class Kept final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  std::vector<std::pair<spdlog::level::level_enum, std::string>> lines;
  bool fails = false;

 private:
  void sink_it_(const spdlog::details::log_msg& line) override {
    if (fails) throw std::runtime_error("no room");
    lines.emplace_back(line.level, std::string(line.payload.data(), line.payload.size()));
  }
  void flush_() override {}
};

class SpdlogSinkTest : public ::testing::Test {
 protected:
  std::shared_ptr<Kept> kept_ = std::make_shared<Kept>();
  std::shared_ptr<spdlog::logger> logger_ = std::make_shared<spdlog::logger>("host", kept_);
};

TEST_F(SpdlogSinkTest, LinesHaveTheLevelOfTheSameName) {
  logger_->set_level(spdlog::level::debug);
  const LogSink sink = spdlog_sink(logger_);
  for (const char* level : {"error", "warning", "info", "debug", "news"}) sink(level, level);
  const std::vector<std::pair<spdlog::level::level_enum, std::string>> expected = {{spdlog::level::err, "error"},
                                                                                   {spdlog::level::warn, "warning"},
                                                                                   {spdlog::level::info, "info"},
                                                                                   {spdlog::level::debug, "debug"},
                                                                                   {spdlog::level::info, "news"}};
  EXPECT_EQ(kept_->lines, expected);
}

TEST_F(SpdlogSinkTest, ALineIsNoFormat) {
  spdlog_sink(logger_)("warning", "monitor {} and {0:>10000000} and {");
  ASSERT_EQ(kept_->lines.size(), 1u);
  EXPECT_EQ(kept_->lines[0].second, "monitor {} and {0:>10000000} and {");
}

TEST_F(SpdlogSinkTest, TheLoggersLevelDecidesWhatTheClientLogs) {
  EXPECT_EQ(spdlog_detail(*logger_), LogDetail::normal);
  logger_->set_level(spdlog::level::debug);
  EXPECT_EQ(spdlog_detail(*logger_), LogDetail::debug);
  logger_->set_level(spdlog::level::err);
  EXPECT_EQ(spdlog_detail(*logger_), LogDetail::normal);
}

TEST_F(SpdlogSinkTest, ALoggerThatFailsLosesOnlyItsLines) {
  for (const bool throws : {false, true}) {
    logger_->set_error_handler([throws](const std::string&) {
      if (throws) throw std::runtime_error("no room");
    });
    client::ClientLog log(spdlog_sink(logger_));
    log.start();
    kept_->fails = true;
    log.write("error", "first");
    while (log.waiting() > 0) std::this_thread::yield();
    log.stop();
    kept_->fails = false;
    client::ClientLog next(spdlog_sink(logger_));
    next.start();
    next.write("error", "second");
    next.stop();
    ASSERT_FALSE(kept_->lines.empty());
    EXPECT_EQ(kept_->lines.back().second, "second");
  }
  EXPECT_EQ(kept_->lines.size(), 2u);
}

}  // namespace
}  // namespace forelock
