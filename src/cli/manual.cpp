// The manual page, in man(7)'s macros.
#include <fmt/format.h>

#include "cli/definitions.h"

namespace tilepath::cli {
namespace {

/// As roff prints it: no backslash, hyphen or leading dot means anything.
std::string plain(const std::string& text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        if (byte == '\\') {
            out += "\\e";
        } else if (byte == '-') {
            out += "\\-";
        } else if (byte < 0x80) {
            out += text[i];
        } else {  // UTF-8, by number: not every roff reads it
            const int more = byte >= 0xF0 ? 3 : byte >= 0xE0 ? 2 : 1;
            unsigned code = byte & (0x3Fu >> more);
            for (int n = 0; n < more && i + 1 < text.size(); ++n)
                code = code << 6 | (static_cast<unsigned char>(text[++i]) & 0x3F);
            out += fmt::format("\\[u{:04X}]", code);
        }
    }
    return out.starts_with('.') || out.starts_with('\'') ? "\\&" + out : out;
}

/// The values to choose from, where a line may break between two.
std::string what_it_takes(const OptionDefinition& option) {
    std::string words;
    for (const std::string& value : option.values) words += (words.empty() ? "" : "|\\:") + plain(value);
    return words.empty() ? plain(option.value) : words;
}

std::string heading(const OptionDefinition& option) {
    std::string out;
    for (const std::string& name : option.names)
        out += fmt::format("{}\\fB{}\\fR", out.empty() ? "" : ", ", plain(name));
    if (!option.flag && !option.positional) out += fmt::format(" \\fI{}\\fR", what_it_takes(option));
    return out;
}

std::string options(const CommandDefinition& command) {
    std::string out;
    for (const OptionDefinition& option : command.options) {
        out += fmt::format(".TP\n{}\n{}", heading(option), plain(option.description));
        if (option.positional && !option.values.empty()) out += ": " + what_it_takes(option);
        out += "\n";
    }
    return out;
}

std::string synopsis(const CommandDefinition& command) {
    std::string out = fmt::format("\\fBtilepath {}\\fR [\\fIoptions\\fR]", plain(command.name));
    for (const OptionDefinition& option : command.options)
        if (option.positional)
            out += (option.required ? " \\fI" : " [\\fI") + plain(option.names.front()) +
                   (option.required ? "\\fR" : "\\fR]");
    return out;
}

}  // namespace

std::string manual(const std::vector<CommandDefinition>& commands, const std::string& version,
                   const std::string& footer) {
    std::string out = fmt::format(
        ".\\\" Written by `tilepath completion man`.\n.TH TILEPATH 1 \"\" \"{}\" \"User Commands\"\n", plain(version));
    out += ".SH NAME\ntilepath \\- runs NVIDIA PTX kernels on a CPU\n.SH SYNOPSIS\n";
    for (std::size_t i = 1; i < commands.size(); ++i) out += synopsis(commands[i]) + "\n.br\n";
    out += fmt::format(".SH DESCRIPTION\n{}\n.SH OPTIONS\n{}.SH COMMANDS\n", plain(commands[0].description),
                       options(commands[0]));
    for (std::size_t i = 1; i < commands.size(); ++i)
        out += fmt::format(".SS tilepath {}\n{}\n{}", plain(commands[i].name), plain(commands[i].description),
                           options(commands[i]));
    return out + fmt::format(".SH EXIT STATUS\n{}\n", plain(footer));
}

}  // namespace tilepath::cli
