#include "cli/completion.h"

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
    } else {
      out += "COMPREPLY=()";
    }
    out += "; return ;;\n";
  }
}

// What can follow a command: its options and the root's, its subcommands.
std::string words_after(const CommandEntry& command, const CommandEntry& root) {
  std::vector<std::string> words;
  for (const CommandEntry& sub : command.subcommands) words.push_back(sub.path.back());
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

void append_word_cases(const CommandEntry& command, const CommandEntry& root, std::string& out) {
  const std::string path = joined(command.path, " ");
  const std::string argument = command.arguments.empty() ? "" : command.arguments.front().long_names.front();
  const bool takes_file = !argument.empty() && argument != "MONITOR" && argument != "ID";
  out += "    '" + path + "') COMPREPLY=($(compgen -W '" + words_after(command, root) + "' -- \"$cur\"))";
  if (takes_file) out += "; [[ $cur == -* ]] || COMPREPLY+=($(compgen -f -- \"$cur\"))";
  out += " ;;\n";
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
std::string bash_function(const CommandEntry& root) {
  std::string paths;
  append_paths(root, paths);
  std::string out =
      "_forelock() {\n"
      "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} path= word\n"
      "  case $prev in\n";
  append_all_value_cases(root, out);
  out +=
      "  esac\n"
      "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
      "    [[ $word == -- ]] && { COMPREPLY=($(compgen -c -f -- \"$cur\")); return; }\n"
      "    case \"${path:+$path }$word\" in\n"
      "      " +
      paths +
      ") path=\"${path:+$path }$word\" ;;\n"
      "    esac\n"
      "  done\n"
      "  case $path in\n";
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
    } else if (!option.value.empty()) {
      out += " -x";
    }
    out += " -d " + fish_quoted(option.help) + '\n';
  }
}

// When the words so far are this command's: all of its path, and nobody else's who has a subcommand of its name.
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
  append_fish_options(command, seen.empty() ? "" : " -n " + fish_quoted(seen), out);
  for (const CommandEntry& sub : command.subcommands) {
    const std::string here = seen.empty() ? "__fish_use_subcommand" : seen;
    out += "complete -c forelock -n " + fish_quoted(here) + " -f -a " + sub.path.back() + " -d " +
           fish_quoted(sub.help) + '\n';
    append_fish(sub, root, out);
  }
}

}  // namespace

std::string bash_completion(const CommandEntry& root) {
  return "# bash completion for forelock: source it, or put it into /usr/share/bash-completion/completions/forelock\n" +
         bash_function(root) + "complete -F _forelock forelock\n";
}

std::string zsh_completion(const CommandEntry& root) {
  return "#compdef forelock\n# zsh completion for forelock: put it as _forelock into a directory of $fpath\n"
         "autoload -U +X bashcompinit && bashcompinit\n" +
         bash_function(root) + "complete -F _forelock forelock\n";
}

std::string fish_completion(const CommandEntry& root) {
  std::string out = "# fish completion for forelock: put it into ~/.config/fish/completions/forelock.fish\n";
  append_fish(root, root, out);
  return out;
}

}  // namespace forelock::cli
