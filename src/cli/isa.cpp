#include <cstdio>
#include <memory>

#include "cli/commands.h"
#include "cli/isa_listing.h"

namespace tilepath::cli {

void add_isa(CLI::App& program, int& exit_status) {
    struct Options {
        std::string pattern;
        bool json = false, markdown = false;
    };
    auto options = std::make_shared<Options>();
    CLI::App* command = program.add_subcommand("isa", "Which instruction forms are supported, and on what evidence");
    command->add_option("PATTERN", options->pattern,
                        "An opcode, * for any characters, then words: mma.m16n8k16.bf16; default: all");
    auto* json = command->add_flag("--json", options->json, "Print them as JSON");
    command->add_flag("--markdown", options->markdown, "Print them as docs/isa.md has them")->excludes(json);
    command->callback([options, &exit_status] {
        auto forms = forms_named(options->pattern);
        if (!forms) return void(exit_status = report_bad_input(forms.error()));
        const std::string text = options->json       ? forms_as_json(*forms)
                                 : options->markdown ? forms_as_markdown(*forms)
                                                     : forms_as_text(*forms);
        std::fputs(text.c_str(), stdout);
    });
}

}  // namespace tilepath::cli
