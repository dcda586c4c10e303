// forelock manpage: the manual, as troff.
#include <CLI/CLI.hpp>

#include "cli/command_tree.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "forelock/version.h"

namespace forelock::cli {
namespace {

// A text line of troff: backslashes and leading dots would be commands, '-' a hyphen.
std::string troff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out.starts_with('.') || out.starts_with('\'') ? "\\&" + out : out;
}

void append_options(const std::vector<OptionEntry>& options, std::string& out) {
  for (const OptionEntry& option : options) {
    if (!option.long_names.empty() && option.long_names.front() == "help") continue;  // said once, for all
    std::string names;
    for (const std::string& name : option.short_names) names += (names.empty() ? "" : ", ") + ("\\-" + troff(name));
    for (const std::string& name : option.long_names) names += (names.empty() ? "" : ", ") + ("\\-\\-" + troff(name));
    out += ".TP\n\\fB" + names + "\\fR";
    if (!option.value.empty()) out += " \\fI" + troff(option.value) + "\\fR";
    out += '\n' + troff(option.help);
    for (std::size_t i = 0; i < option.choices.size(); ++i) out += (i == 0 ? " (one of " : ", ") + option.choices[i];
    out += option.choices.empty() ? "\n" : ")\n";
  }
}

void append_command(const CommandEntry& command, std::string& out) {
  out += ".SS \"";
  for (const std::string& word : command.path) out += (word == command.path.front() ? "" : " ") + troff(word);
  for (const OptionEntry& argument : command.arguments) out += ' ' + argument.long_names.front();
  out += "\"\n" + troff(command.help) + ".\n";
  for (const OptionEntry& argument : command.arguments) {
    out += ".TP\n\\fI" + troff(argument.long_names.front()) + "\\fR\n" + troff(argument.help) + '\n';
  }
  append_options(command.options, out);
  for (const CommandEntry& sub : command.subcommands) append_command(sub, out);
}

constexpr std::string_view description_section = R"(.SH DESCRIPTION
\fBforelock\fR locks things by name, across machines, with the help of an Apache ZooKeeper ensemble: one holder at a
time, and foreground work before background work. \fBforelock run\fR holds a lock while a command runs, and ends the
command when the lock is lost. The other commands look at locks, wait for them, free them, and care for operations that
have failed for good (dead letters).
.SH EXAMPLES
.TP
\fBforelock run \-m article\-4711 \-\-timeout 30s \-\- ./save.sh\fR
Run a command under the lock of an article.
.TP
\fBforelock run \-m nightly \-p background \-\-timeout 0 \-q \-E 0 \-\- ./nightly.sh\fR
For cron: skip the run, in silence, while the last one still goes on.
.TP
\fBforelock ls\fR
Who holds what, and who waits.
.TP
\fBforelock show article\-4711\fR
The holder and the whole line of one monitor; it ends with the command that takes the lock away.
.TP
\fBforelock wait nightly \-\-timeout 10m && ./report.sh\fR
Go on when it is free.
.TP
\fBforelock doctor\fR
What is wrong between this machine and the servers, and what to do about it.
.TP
\fBforelock run \-m article\-4711 \-\-retry \-\-payload article.json \-\- ./save.sh\fR
As an operation: with retries and, in the end, a dead letter (\fBforelock dlq list\fR).
.TP
\fBforelock dev \-\- ./try.sh\fR
With a throw\-away ZooKeeper around it.
)";

constexpr std::string_view files_section = R"(.SH FILES
.TP
The file of \fB\-\-config\fR or FORELOCK_CONFIG
Settings, as .properties or .yaml; \fBforelock config\fR shows those in force and where each comes from.
.TP
$XDG_STATE_HOME/forelock/outbox.db, ~/.local/state/forelock/outbox.db
Dead letters that are not in Kafka (\fBdlq.outbox.path\fR).
.TP
The system's log
One line for each lock that was taken away by force (journalctl \-t forelock).
.SH SEE ALSO
.BR flock (1),
.BR timeout (1),
.BR journalctl (1)
.PP
docs/tutorial.md, docs/configuration.md and docs/dead\-letters.md of the sources.
)";

constexpr std::string_view exit_section = R"(.SH EXIT STATUS
.TP
0
Done; with \fBrun\fR and \fBdev\fR the command's own code.
.TP
1
The answer is no: unknown monitor or dead letter, the holder changed, letters failed again.
.TP
64
The command line is wrong.
.TP
69
ZooKeeper, Kafka or OpenSearch cannot be reached.
.TP
70
A defect of this command.
.TP
73
\fBrun \-\-retry\fR: the operation has failed and the dead\-letter queue did not take it: it is in no queue.
.TP
74
The output, or the outbox, cannot be written or read.
.TP
75
The lock was not obtained in time; \fBrun \-E\fR gives another code. \fBdlq replay\fR: run it again later.
.TP
76
The lock was lost while the command ran.
.TP
77
Not authorised.
.TP
78
The configuration is wrong.
.TP
79
\fBrun \-\-retry\fR: the operation has failed and is in the dead\-letter queue.
.TP
126, 127
The command cannot be executed, or was not found.
.TP
128+n
Ended by signal n.
)";

constexpr std::string_view environment_section = R"(.SH ENVIRONMENT
.TP
FORELOCK_CONFIG
Settings file, where \fB\-\-config\fR is not given.
.TP
FORELOCK_ZOOKEEPER
Servers, over those of the settings file; \fB\-\-zookeeper\fR and \fB\-\-set\fR go over it.
.TP
FORELOCK_OPENSEARCH_CREDENTIALS
user:password for \fBdlq replay \-\-to\-opensearch\fR, where \fB\-\-opensearch\-credentials\fR is not given.
.TP
NO_COLOR
No colours, unless \fB\-\-color=always\fR.
.PP
The command of \fBrun\fR finds FORELOCK_MONITOR, FORELOCK_TOKEN, FORELOCK_SESSION, FORELOCK_PRIORITY,
FORELOCK_OWNER, FORELOCK_HELD and FORELOCK_EXPIRES_IN_MS;
with several monitors, instead of the first two, FORELOCK_MONITORS (a JSON array) and
FORELOCK_TOKENS (a JSON object, tokens as text); with \fB\-\-retry\fR also FORELOCK_ATTEMPT and FORELOCK_OPERATION.
That of \fBdlq replay \-\-exec\fR finds the former, FORELOCK_OPERATION, and FORELOCK_DLQ_ID, FORELOCK_DLQ_TYPE,
FORELOCK_DLQ_REASON, FORELOCK_DLQ_TRIES and FORELOCK_DLQ_REPLAY_COUNT.
)";

std::string manual(const CommandEntry& root) {
  std::string out = ".TH FORELOCK 1 \"\" \"forelock " + std::string(version()) +
                    "\" \"User Commands\"\n.SH NAME\nforelock \\- " + troff(root.help) +
                    "\n.SH SYNOPSIS\n\\fBforelock\\fR [\\fIoptions\\fR] \\fIcommand\\fR [\\fIarguments\\fR]\n" +
                    std::string(description_section) +
                    ".SH OPTIONS\nThey may stand before or behind the command. \\fB\\-\\-help\\fR behind a command "
                    "describes it.\n";
  append_options(root.options, out);
  out += ".SH COMMANDS\n";
  for (const CommandEntry& command : root.subcommands) append_command(command, out);
  out += environment_section;
  out += exit_section;
  return out += files_section;
}

class ManpageCommand final : public Command {
 public:
  CLI::App* add_to(CLI::App& root) override {
    return root.add_subcommand("manpage", "Print the manual page (forelock manpage | man -l -)");
  }

  int run(const Context& context) override {
    context.console.write(manual(tree_of(context.root)));
    return exit_ok;
  }
};

}  // namespace

std::unique_ptr<Command> make_manpage_command() {
  return std::make_unique<ManpageCommand>();
}

}  // namespace forelock::cli
