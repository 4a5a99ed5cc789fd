// Completion for bash, zsh and fish. Where no word of ours fits, each shell offers files.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/definitions.h"

namespace tilepath::cli {
namespace {

std::vector<std::string> option_names(const CommandDefinition& command) {
    std::vector<std::string> out;
    for (const OptionDefinition& option : command.options)
        if (!option.positional) out.insert(out.end(), option.names.begin(), option.names.end());
    return out;
}

std::vector<std::string> command_names(const std::vector<CommandDefinition>& commands) {
    std::vector<std::string> out;
    for (std::size_t i = 1; i < commands.size(); ++i) out.push_back(commands[i].name);
    return out;
}

/// Every character of `special` with a backslash before it.
std::string escaped(const std::string& text, std::string_view special) {
    std::string out;
    for (char c : text) {
        if (special.find(c) != std::string_view::npos) out += '\\';
        out += c;
    }
    return out;
}

/// Within single quotes of a POSIX shell.
std::string quoted(const std::string& text) {
    std::string out = "'";
    for (char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + "'";
}

/// Of a positional argument: words to choose from, or files.
std::vector<std::string> positional_words(const CommandDefinition& command) {
    for (const OptionDefinition& option : command.options)
        if (option.positional) return option.values;
    return {};
}

}  // namespace

std::string bash_completion(const std::vector<CommandDefinition>& commands) {
    std::string values, words;
    for (std::size_t i = 1; i < commands.size(); ++i) {
        for (const OptionDefinition& option : commands[i].options) {
            if (option.positional || option.flag || option.values.empty()) continue;
            std::vector<std::string> patterns;
            for (const std::string& name : option.names) patterns.push_back(commands[i].name + ":" + name);
            values +=
                fmt::format("        {}) words='{}' ;;\n", fmt::join(patterns, "|"), fmt::join(option.values, " "));
        }
        words += fmt::format("            {}:-*) words='{}' ;;\n", commands[i].name,
                             fmt::join(option_names(commands[i]), " "));
        if (const auto choices = positional_words(commands[i]); !choices.empty())
            words += fmt::format("            {}:*) words='{}' ;;\n", commands[i].name, fmt::join(choices, " "));
    }
    return fmt::format(
        "# Written by `tilepath completion bash`.\n"
        "_tilepath() {{\n"
        "    local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} words=\n"
        "    case $COMP_CWORD:${{COMP_WORDS[1]}}:$prev in\n"
        "        1:*) words='{} {}' ;;\n"
        "    esac\n"
        "    [ -n \"$words\" ] || case ${{COMP_WORDS[1]}}:$prev in\n"
        "{}"
        "    esac\n"
        "    [ -n \"$words\" ] || case ${{COMP_WORDS[1]}}:$cur in\n"
        "{}"
        "    esac\n"
        "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
        "}}\n"
        "complete -o bashdefault -o default -F _tilepath tilepath\n",
        fmt::join(command_names(commands), " "), fmt::join(option_names(commands[0]), " "), values, words);
}

std::string zsh_completion(const std::vector<CommandDefinition>& commands) {
    std::string list, cases;
    for (std::size_t i = 1; i < commands.size(); ++i) {
        list += fmt::format("        {}\n", quoted(escaped(commands[i].name, ":") + ":" + commands[i].description));
        cases += fmt::format("        {})\n            _arguments", commands[i].name);
        for (const OptionDefinition& option : commands[i].options) {
            const std::string description = escaped(option.description, "[]:\\");
            const std::string action =
                !option.values.empty() ? fmt::format("({})", fmt::join(option.values, " ")) : "_files";
            if (option.positional) {
                cases +=
                    " \\\n                " + quoted(fmt::format(":{}:{}", escaped(option.names.front(), ":"), action));
                continue;
            }
            for (const std::string& name : option.names)
                cases += " \\\n                " +
                         quoted(fmt::format("{}[{}]{}", name, description,
                                            option.flag ? "" : fmt::format(":{}:{}", option.value, action)));
        }
        cases += "\n            ;;\n";
    }
    return fmt::format(
        "#compdef tilepath\n"
        "# Written by `tilepath completion zsh`.\n"
        "_tilepath() {{\n"
        "    local -a commands=(\n{}    )\n"
        "    if (( CURRENT == 2 )); then\n"
        "        _describe command commands\n"
        "        return\n"
        "    fi\n"
        "    shift words\n"
        "    (( CURRENT-- ))\n"
        "    case $words[1] in\n{}    esac\n"
        "}}\n"
        "_tilepath \"$@\"\n",
        list, cases);
}

std::string fish_completion(const std::vector<CommandDefinition>& commands) {
    auto text = [](const std::string& from) { return "'" + escaped(from, "'\\") + "'"; };
    const std::string none = fmt::format("not __fish_seen_subcommand_from {}", fmt::join(command_names(commands), " "));
    std::string out = "# Written by `tilepath completion fish`.\n";
    for (std::size_t i = 0; i < commands.size(); ++i) {
        const CommandDefinition& command = commands[i];
        const std::string when = i == 0 ? none : "__fish_seen_subcommand_from " + command.name;
        if (i > 0)
            out += fmt::format("complete -c tilepath -f -n {} -a {} -d {}\n", text(none), command.name,
                               text(command.description));
        for (const OptionDefinition& option : command.options) {
            const std::string choices =
                option.values.empty()
                    ? ""
                    : fmt::format(" -x -a {}", text(fmt::format("{}", fmt::join(option.values, " "))));
            if (option.positional) {
                if (!choices.empty()) out += fmt::format("complete -c tilepath -n {}{}\n", text(when), choices);
                continue;
            }
            out += fmt::format("complete -c tilepath -n {}", text(when));
            for (const std::string& name : option.names)
                out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
            out += fmt::format("{}{} -d {}\n",
                               option.flag       ? ""
                               : choices.empty() ? " -r"
                                                 : "",
                               choices, text(option.description));
        }
    }
    return out;
}

}  // namespace tilepath::cli
