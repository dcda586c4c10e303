// forelock dlq replay: puts letters through again.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/connection.h"
#include "cli/dlq/dlq_commands.h"
#include "cli/dlq/dlq_filter.h"
#include "cli/dlq/letter_lookup.h"
#include "cli/dlq/letters_json.h"
#include "cli/dlq/letters_text.h"
#include "cli/dlq/run_replay.h"
#include "cli/exit_code.h"
#include "cli/hints.h"
#include "cli/opensearch/opensearch_options.h"
#include "cli/opensearch/write_letter.h"
#include "cli/output/quantity_text.h"
#include "drain/letter_statistics.h"
#include "records/wall_time.h"

namespace forelock::cli {
namespace {

using std::chrono::milliseconds;

class DlqReplayCommand final : public Command {
 public:
  CLI::App* add_to(CLI::App& root) override {
    CLI::App* app =
        root.add_subcommand("replay", "Replay dead letters, each under its lock; without --execute a dry run");
    filter_.add_to(*app);
    app->add_flag("--execute", execute_, "Do it");
    app->add_option("--exec", command_,
                    "Pass each to this shell command on stdin; exit 0: done, 75: retry later, else failed")
        ->type_name("COMMAND");
    app->add_option(
           "--stdin", input_,
           "What COMMAND reads: the whole record as a line of JSON, or the payload as with run --retry [record]")
        ->type_name("WHAT")
        ->check(CLI::IsMember({"record", "payload"}));
    app->add_option("--to-topic", topic_, "Produce each into this Kafka topic")->type_name("TOPIC");
    opensearch_.add_to(*app);
    app->add_option("--max", max_, "Try at most N letters")->type_name("N")->check(CLI::PositiveNumber.description(""));
    app->add_option("--rate", rate_, "Begin at most N letters per second")
        ->type_name("N")
        ->check(CLI::PositiveNumber.description(""));
    app->add_option("--concurrency", concurrency_,
                    "At most N monitors in parallel; letters of one monitor never are [4]")
        ->type_name("N")
        ->check(CLI::Range(std::size_t{1}, drain::ReplayOptions::max_concurrency).description(""));
    app->add_option("--max-replays", max_replays_, "Park a letter that has failed N times [3]")
        ->type_name("N")
        ->check(CLI::Range(1, 1000).description(""));
    add_duration(*app, "--lock-timeout", lock_timeout_, "Wait this long for each letter's lock [2000]");
    app->footer("Example: forelock dlq replay --type saveContent --exec ./save.sh --stdin payload --execute");
    return app;
  }

  int run(const Context& context) override {
    const Settings settings = context.globals.settings();
    check(settings);
    ReplayRequest request;
    request.options = options();
    request.kind = filter_.store_kind();
    request.command = command_;
    request.topic = topic_;
    if (opensearch_.given()) request.opensearch = {opensearch_.server(), opensearch_.http()};
    request.input = input_ == "payload" ? TargetInput::payload : TargetInput::record;
    request.which = filter_.words().substr(std::min<std::size_t>(filter_.words().size(), 1));
    const auto store = open_letters(context, request.kind);
    complete_ids(*store, request.options.filter.ids, execute_ ? Purpose::change : Purpose::look);
    if (execute_) return run_replay(request, settings, context);

    say_what_would_be(request.options.filter, *store, context);
    return exit_ok;
  }

 private:
  void check(const Settings& settings) const {
    const int targets = (command_.empty() ? 0 : 1) + (topic_.empty() ? 0 : 1) + (opensearch_.given() ? 1 : 0);
    if (targets > 1) throw_usage("replay: --exec, --to-topic and --to-opensearch: one of them");
    if (execute_ && targets == 0) {
      throw_usage("replay: --execute needs to know where to: --exec COMMAND, --to-topic TOPIC or --to-opensearch URL",
                  "see: forelock dlq replay --help");
    }
    if (command_.empty() && targets > 0 && !input_.empty()) {
      throw_usage("replay: --stdin is for the command of --exec");
    }
    opensearch_.check();
    if (!topic_.empty()) require_kafka(settings, "--to-topic");
  }

  drain::ReplayOptions options() const {
    drain::ReplayOptions options;
    options.filter = filter_.filter(records::wall_time_now());
    if (opensearch_.given()) restrict_to_writes(options.filter.types);
    options.max = max_;
    options.max_unresolved = 0;  // they are shown as they come up
    options.rate = rate_.value_or(0);
    options.concurrency = concurrency_;
    options.max_tries = max_replays_;
    if (lock_timeout_) options.lock_timeout = *lock_timeout_;
    return options;
  }

  // Letters of others may stand in the same queue: they are none of OpenSearch's business, and no failures.
  static void restrict_to_writes(std::vector<std::string>& types) {
    const std::string type(opensearch_write_type);
    if (types.empty()) types.push_back(type);
    if (types != std::vector{type}) throw_usage("replay: --to-opensearch is for letters of type " + type + " alone");
  }

  void say_what_would_be(const drain::LetterFilter& filter, drain::LetterStore& store, const Context& context) const {
    drain::LetterStatistics letters;
    store.scan(filter, letters);
    const std::uint64_t overtaken = drain::overtaken_by(filter, store);
    const WallTime now = records::wall_time_now();
    const std::uint64_t count = max_ ? std::min(*max_, letters.letters) : letters.letters;
    const std::string next = next_command(filter, context);
    if (!context.console.text()) {
      nlohmann::ordered_json json = {
          {"dry_run", true}, {"store", store.describe()}, {"would_try", count}, {"would_overtake", overtaken}};
      json.update(json_of(letters, now));
      json["next"] = count == 0 ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(next);
      return context.console.write_json(json);
    }
    std::string text = "Nothing to replay in the " + store.describe() + '\n';
    if (count > 0) {
      text = "Would replay " + count_of_letters(count) + " from the " + store.describe() + ", oldest failed " +
             duration_text(age_of(*letters.oldest, now)) + " ago\n\n" + histogram_of(letters, context.console) + '\n' +
             how() + (overtaken > 0 ? "\n\n" + overtaken_text(overtaken) : "") + "\n\nNothing was done. To do it:\n  " +
             next + '\n';
    }
    if (letters.unreadable_letters > 0) {
      text += std::to_string(letters.unreadable_letters) +
              " records cannot be read and are left alone: forelock dlq list names them\n";
    }
    context.console.write(text);
  }

  static std::string overtaken_text(std::uint64_t count) {
    return count_of_letters(count) + (count == 1 ? " does not match and stands" : " do not match and stand") +
           " before others of the same monitors that do: the later work would be done first";
  }

  std::string how() const {
    const std::string target = !command_.empty() ? (input_ == "payload" ? "its payload" : "its record") +
                                                       std::string(" to: /bin/sh -c ") + shell_quoted(command_)
                               : !topic_.empty()     ? "into the topic " + topic_
                               : opensearch_.given() ? "as a write to " + opensearch_.server().text
                                                     : "to --exec COMMAND, --to-topic TOPIC or --to-opensearch URL";
    return "Each under its monitor's lock at background priority, one monitor's letters in order, up to " +
           std::to_string(concurrency_) + (concurrency_ == 1 ? " monitor" : " monitors") + " at once, " +
           printable(target);
  }

  std::string next_command(const drain::LetterFilter& filter, const Context& context) const {
    std::string text = "forelock dlq replay" + filter_.words(filter.ids) + repeat_words(context.globals);
    if (!topic_.empty()) {
      text += " --to-topic " + shell_quoted(topic_);
    } else if (opensearch_.given()) {
      text += opensearch_.words();
    } else {
      text += " --exec " + (command_.empty() ? "COMMAND" : shell_quoted(command_));
      if (!input_.empty()) text += " --stdin " + input_;
    }
    if (max_) text += " --max " + std::to_string(*max_);
    if (rate_) text += " --rate " + nlohmann::json(*rate_).dump();
    if (concurrency_ != drain::ReplayOptions{}.concurrency) text += " --concurrency " + std::to_string(concurrency_);
    if (max_replays_ != drain::ReplayOptions{}.max_tries) text += " --max-replays " + std::to_string(max_replays_);
    if (lock_timeout_) text += " --lock-timeout " + std::to_string(lock_timeout_->count());
    return text + " --execute";
  }

  DlqFilter filter_;
  bool execute_ = false;
  std::string command_;
  std::string topic_;
  std::string input_;
  OpenSearchOptions opensearch_;
  std::optional<std::uint64_t> max_;
  std::optional<double> rate_;
  std::size_t concurrency_ = drain::ReplayOptions{}.concurrency;
  std::uint32_t max_replays_ = drain::ReplayOptions{}.max_tries;
  std::optional<milliseconds> lock_timeout_;
};

}  // namespace

std::unique_ptr<Command> make_dlq_replay_command() {
  return std::make_unique<DlqReplayCommand>();
}

}  // namespace forelock::cli
