// forelock completion: a script for a shell.
#include <CLI/CLI.hpp>

#include "cli/command_tree.h"
#include "cli/commands.h"
#include "cli/exit_code.h"

namespace forelock::cli {
namespace {

std::string joined(const std::vector<std::string>& words, const char* separator) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : separator) + word;
  return text;
}

std::vector<std::string> spellings(const OptionEntry& option) {
  std::vector<std::string> words;
  for (const std::string& name : option.short_names) words.push_back("-" + name);
  for (const std::string& name : option.long_names) words.push_back("--" + name);
  return words;
}

// Every value that the parser knows, for one case of the shell's `case`.
void append_value_cases(const CommandEntry& command, std::string& out) {
  for (const OptionEntry& option : command.options) {
    if (option.value.empty()) continue;
    out += "    " + joined(spellings(option), "|") + ") ";
    if (!option.choices.empty()) {
      out += "COMPREPLY=($(compgen -W '" + joined(option.choices, " ") + "' -- \"$cur\"))";
    } else if (option.value == "FILE" || option.value == "DIR") {
      out += "COMPREPLY=($(compgen -f -- \"$cur\"))";
    } else if (option.value == "MONITOR") {
      out += "COMPREPLY=($(compgen -W \"$(_forelock_monitors)\" -- \"$cur\"))";
    } else {
      out += "COMPREPLY=()";
    }
    out += "; return ;;\n";
  }
}

// The shell function that lists what an argument can be; empty for files.
std::string lister_of(const std::string& argument) {
  return argument == "MONITOR" ? "_forelock_monitors" : argument == "ID" ? "_forelock_letters" : "";
}

std::string options_after(const CommandEntry& command, const CommandEntry& root) {
  std::vector<std::string> words;
  for (const OptionEntry& option : command.options) {
    for (const std::string& name : option.long_names) words.push_back("--" + name);
  }
  if (!command.path.empty()) {
    for (const OptionEntry& option : root.options) {
      for (const std::string& name : option.long_names) {
        if (name != "help" && name != "version") words.push_back("--" + name);
      }
    }
  }
  return joined(words, " ");
}

std::string word_list(const std::string& list) {
  return "COMPREPLY=($(compgen -W '" + list + "' -- \"$cur\"))";
}

// What can follow a command: its options and the root's behind a dash; else its subcommands and arguments, if it has
// any.
void append_word_cases(const CommandEntry& command, const CommandEntry& root, std::string& out) {
  const std::string options = word_list(options_after(command, root));
  std::vector<std::string> names;
  for (const CommandEntry& sub : command.subcommands) names.push_back(sub.path.back());
  const std::string argument = command.arguments.empty() ? "" : command.arguments.front().long_names.front();
  std::string other = options;
  if (!names.empty()) other = word_list(joined(names, " "));
  if (!argument.empty()) {
    const std::string list = lister_of(argument);
    other = "COMPREPLY=($(compgen " + (list.empty() ? "-f" : "-W \"$(" + list + ")\"") + " -- \"$cur\"))";
  }
  out +=
      "    '" + joined(command.path, " ") + "') if [[ $cur == -* ]]; then " + options + "; else " + other + "; fi ;;\n";
  for (const CommandEntry& sub : command.subcommands) append_word_cases(sub, root, out);
}

void append_all_value_cases(const CommandEntry& command, std::string& out) {
  append_value_cases(command, out);
  for (const CommandEntry& sub : command.subcommands) append_all_value_cases(sub, out);
}

void append_paths(const CommandEntry& command, std::string& out) {
  for (const CommandEntry& sub : command.subcommands) {
    out += (out.empty() ? "'" : "|'") + joined(sub.path, " ") + "'";
    append_paths(sub, out);
  }
}

// The part that bash and zsh (through its emulation of bash's completion) share.
std::string bash_function(const CommandEntry& root, const std::string& name) {
  std::string paths;
  append_paths(root, paths);
  std::string out =
      "# With the servers and settings of this command line; a second at most. Ids that a shell would take apart are\n"
      "# left out.\n"
      "_forelock_ask() {\n"
      "  local -a given\n"
      "  local previous= word\n"
      "  for word in \"${COMP_WORDS[@]}\"; do\n"
      "    case $previous in --config|--zookeeper|--set) given+=(\"$previous\" \"$word\") ;; esac\n"
      "    previous=$word\n"
      "  done\n"
      "  timeout 1 forelock \"${given[@]}\" \"$@\" 2>/dev/null\n"
      "}\n"
      "_forelock_monitors() { _forelock_ask ls --names | grep -E '^[A-Za-z0-9_.:@+,/-]+$'; }\n"
      "_forelock_letters() {\n"
      "  _forelock_ask dlq list --limit 100 -o ndjson | sed -n 's/^{\"id\":\"\\([A-Za-z0-9_.:@+,/-]*\\)\".*/\\1/p'\n"
      "}\n"
      "" +
      name +
      "() {\n"
      "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command= word\n"
      "  case $prev in\n";
  append_all_value_cases(root, out);
  out +=
      "  esac\n"
      "  for word in \"${COMP_WORDS[@]:1:$((COMP_CWORD-1))}\"; do\n"
      "    [[ $word == -- ]] && { COMPREPLY=($(compgen -c -f -- \"$cur\")); return; }\n"
      "    case \"${command:+$command }$word\" in\n"
      "      " +
      paths +
      ") command=\"${command:+$command }$word\" ;;\n"
      "    esac\n"
      "  done\n"
      "  case $command in\n";
  append_word_cases(root, root, out);
  return out + "  esac\n}\n";
}

std::string fish_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

void append_fish_options(const CommandEntry& command, const std::string& condition, std::string& out) {
  for (const OptionEntry& option : command.options) {
    out += "complete -c forelock" + condition;
    for (const std::string& name : option.short_names) out += " -s " + name;
    for (const std::string& name : option.long_names) out += " -l " + name;
    if (!option.choices.empty()) {
      out += " -x -a " + fish_quoted(joined(option.choices, " "));
    } else if (option.value == "FILE" || option.value == "DIR") {
      out += " -r -F";
    } else if (option.value == "MONITOR") {
      out += " -x -a '(__forelock_monitors)'";
    } else if (!option.value.empty()) {
      out += " -x";
    }
    out += " -d " + fish_quoted(option.help) + '\n';
  }
}

// When the words so far are this command's: all of its path, and not another command's with a subcommand of that name.
std::string fish_condition(const CommandEntry& command, const CommandEntry& root) {
  std::string condition;
  const auto seen = [](const std::string& word) { return "__fish_seen_subcommand_from " + word; };
  for (const std::string& word : command.path) condition += (condition.empty() ? "" : "; and ") + seen(word);
  if (command.path.size() != 1) return condition;
  for (const CommandEntry& other : root.subcommands) {
    for (const CommandEntry& sub : other.subcommands) {
      if (sub.path.back() == command.path.back()) condition += "; and not " + seen(other.path.back());
    }
  }
  return condition;
}

void append_fish(const CommandEntry& command, const CommandEntry& root, std::string& out) {
  const std::string seen = fish_condition(command, root);
  if (!command.arguments.empty() && !seen.empty()) {
    const std::string argument = command.arguments.front().long_names.front();
    if (argument == "MONITOR" || argument == "ID") {
      out += "complete -c forelock -n " + fish_quoted(seen) + " -f -a '(" +
             (argument == "ID" ? "__forelock_letters" : "__forelock_monitors") + ")'\n";
    }
  }
  append_fish_options(command, seen.empty() ? "" : " -n " + fish_quoted(seen), out);
  for (const CommandEntry& sub : command.subcommands) {
    const std::string here = seen.empty() ? "__fish_use_subcommand" : seen;
    out += "complete -c forelock -n " + fish_quoted(here) + " -f -a " + sub.path.back() + " -d " +
           fish_quoted(sub.help) + '\n';
    append_fish(sub, root, out);
  }
}

std::string bash_completion(const CommandEntry& root) {
  return "# bash completion for forelock: source it, or put it into /usr/share/bash-completion/completions/forelock\n" +
         bash_function(root, "_forelock") + "complete -F _forelock forelock\n";
}

std::string zsh_completion(const CommandEntry& root) {
  // The first time, zsh runs this file as the function of its name: it has to complete, too.
  return "#compdef forelock\n# zsh completion for forelock: put it as _forelock into a directory of $fpath\n"
         "autoload -U +X bashcompinit && bashcompinit\n" +
         bash_function(root, "_forelock_words") +
         "complete -F _forelock_words forelock\n"
         "[[ ${funcstack[1]} != _forelock ]] || _bash_complete -F _forelock_words\n";
}

std::string fish_completion(const CommandEntry& root) {
  std::string out = "# fish completion for forelock: put it into ~/.config/fish/completions/forelock.fish\n";
  out +=
      "function __forelock_ask\n"
      "  set -l given\n"
      "  set -l previous ''\n"
      "  for word in (commandline -opc)\n"
      "    contains -- $previous --config --zookeeper --set; and set -a given $previous $word\n"
      "    set previous $word\n"
      "  end\n"
      "  timeout 1 forelock $given $argv 2>/dev/null\n"
      "end\n"
      "function __forelock_monitors\n"
      "  __forelock_ask ls --names\n"
      "end\n"
      "function __forelock_letters\n"
      "  __forelock_ask dlq list --limit 100 -o ndjson | string replace -rf '^{\"id\":\"([^\"\\\\]*)\".*' '$1'\n"
      "end\n"
      "# Behind --: a command, and its own words.\n"
      "function __forelock_behind_dashes\n"
      "  contains -- -- (commandline -opc)\n"
      "end\n"
      "function __forelock_command\n"
      "  set -l words (commandline -opc)\n"
      "  set -l dashes (contains -i -- -- $words)\n"
      "  set -l own\n"
      "  test $dashes -lt (count $words); and set own $words[(math $dashes + 1)..-1]\n"
      "  complete -C (string join ' ' -- (string escape -- $own) (commandline -ct))\n"
      "end\n"
      "complete -c forelock -n __forelock_behind_dashes -x -a '(__forelock_command)'\n";
  append_fish(root, root, out);
  return out;
}

class CompletionCommand final : public Command {
 public:
  CLI::App* add_to(CLI::App& root) override {
    CLI::App* app = root.add_subcommand("completion", "Print a completion script: bash, zsh or fish");
    app->add_option("SHELL", shell_, "bash, zsh or fish")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
    return app;
  }

  int run(const Context& context) override {
    const CommandEntry tree = tree_of(context.root);
    context.console.write(shell_ == "bash"  ? bash_completion(tree)
                          : shell_ == "zsh" ? zsh_completion(tree)
                                            : fish_completion(tree));
    return exit_ok;
  }

 private:
  std::string shell_;
};

}  // namespace

std::unique_ptr<Command> make_completion_command() {
  return std::make_unique<CompletionCommand>();
}

}  // namespace forelock::cli
