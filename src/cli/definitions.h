#pragma once
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace tilepath::cli {

/// The program's commands and options as CLI11 has them, so that completion and manual are never written by hand.
struct OptionDefinition {
    std::vector<std::string> names;  ///< "-o", "--output"; of a positional one "FILE"
    bool positional = false, flag = false, required = false;
    std::string value;                ///< what it takes: "TEXT", "UINT"
    std::vector<std::string> values;  ///< all that it may be, if those are few
    std::string description;
};

struct CommandDefinition {
    std::string name, description;
    std::vector<OptionDefinition> options;
};

/// First the program itself, then its subcommands in their order.
std::vector<CommandDefinition> definitions(const CLI::App& program);

// Texts made of them.
std::string bash_completion(const std::vector<CommandDefinition>& commands);
std::string zsh_completion(const std::vector<CommandDefinition>& commands);
std::string fish_completion(const std::vector<CommandDefinition>& commands);
std::string manual(const std::vector<CommandDefinition>& commands, const std::string& version,
                   const std::string& footer);

}  // namespace tilepath::cli
