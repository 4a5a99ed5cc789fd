#include <cstdio>

#include "cli/commands.h"
#include "cli/definitions.h"

namespace tilepath::cli {

void add_completion(CLI::App& program, int&) {
    auto what = std::make_shared<std::string>();
    CLI::App* command = program.add_subcommand("completion", "Print the completion of a shell, or the manual page");
    command->add_option("SHELL", *what, "For which shell; man: the manual page")
        ->required()
        ->check(CLI::IsMember(std::vector<std::string>{"bash", "zsh", "fish", "man"}));
    command->callback([what, &program] {
        const std::vector<CommandDefinition> commands = definitions(program);
        const std::string text = *what == "bash"   ? bash_completion(commands)
                                 : *what == "zsh"  ? zsh_completion(commands)
                                 : *what == "fish" ? fish_completion(commands)
                                                   : manual(commands, program.version(), program.get_footer());
        std::fputs(text.c_str(), stdout);
    });
}

}  // namespace tilepath::cli
