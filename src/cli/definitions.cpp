#include "cli/definitions.h"

namespace tilepath::cli {
namespace {

/// CLI11 writes the words of IsMember behind the type, `TEXT:{cpu,gpu}`, and those of a transformer with what they become,
/// `value in {lane->0,bank->1} OR {0,1}`.
void read_type(const std::string& type, OptionDefinition& out) {
    const std::size_t open = type.find('{'), close = type.find('}');
    out.value = type.substr(0, type.find_first_of(":{ "));
    if (open == std::string::npos || close == std::string::npos || close < open) return;
    std::string word;
    for (char c : type.substr(open + 1, close - open - 1) + ",") {
        if (c != ',') {
            word += c;
            continue;
        }
        out.values.push_back(word.substr(0, word.find("->")));
        word.clear();
    }
}

CommandDefinition definition(const CLI::App& app) {
    CommandDefinition out{app.get_name(), app.get_description(), {}};
    for (const CLI::Option* option : app.get_options([](const CLI::Option*) { return true; })) {
        OptionDefinition each;
        each.positional = option->get_positional();
        if (each.positional) {
            each.names.push_back(option->get_name());
        } else {
            for (const std::string& name : option->get_snames()) each.names.push_back("-" + name);
            for (const std::string& name : option->get_lnames()) each.names.push_back("--" + name);
        }
        each.flag = option->get_items_expected_max() == 0;
        each.required = option->get_required();
        if (!each.flag) read_type(option->get_type_name(), each);
        each.description = option->get_description();
        out.options.push_back(std::move(each));
    }
    return out;
}

}  // namespace

std::vector<CommandDefinition> definitions(const CLI::App& program) {
    std::vector<CommandDefinition> out{definition(program)};
    for (const CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; }))
        out.push_back(definition(*command));
    return out;
}

}  // namespace tilepath::cli
