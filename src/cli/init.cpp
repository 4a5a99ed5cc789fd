#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

#include "cli/commands.h"
#include "host/launch_file.h"
#include "host/npy.h"

namespace tilepath::cli {

void add_init(CLI::App& program, int& exit_status) {
    struct Options {
        std::string module, entry, output;
        bool force = false;
    };
    auto options = std::make_shared<Options>();
    CLI::App* command = program.add_subcommand("init", "Write a launch file to fill in, from a kernel's parameters");
    command->add_option("MODULE", options->module, "PTX, CUDA C++ (.cu), or a file with PTX in it: an executable, library, object file, fatbin")->required();
    command->add_option("--entry", options->entry, "Which kernel, if the module has several");
    command->add_option("-o,--output", options->output, "Where to write it; default: the module's name with .toml, - for standard output");
    command->add_flag("--force", options->force, "Overwrite an existing file");
    command->callback([options, &exit_status] {
        auto text = host::launch_file_template(options->module, options->entry);
        if (!text) return void(exit_status = report_bad_input(text.error()));
        std::string path = options->output;
        if (path.empty()) path = std::filesystem::path(options->module).replace_extension(".toml").string();
        if (path == "-") return void(std::fputs(text->c_str(), stdout));
        if (std::filesystem::exists(path) && !options->force)
            return void(exit_status = report_bad_input(fail(fmt::format("{} exists already", path), "give another --output, or --force").error()));
        auto written = host::write_bytes(path, std::vector<std::uint8_t>(text->begin(), text->end()));
        if (!written) return void(exit_status = report_bad_input(written.error()));
        fmt::print("wrote {}: fill in the buffers, then `tilepath run {}`\n", path, path);
    });
}

}  // namespace tilepath::cli
