#include <cstdio>
#include <exception>

#include "cli/commands.h"

int main(int argc, char** argv) {
    using namespace tilepath::cli;
    CLI::App program{"Runs NVIDIA PTX kernels on an ordinary CPU, with the Tensor Cores modelled to the bit."};
    program.name("tilepath");
    program.require_subcommand(1);
    program.set_version_flag("--version", "tilepath " TILEPATH_VERSION);
    program.footer("Exit status: 0 clean, 1 a difference or finding, 2 bad input, 3 a fault of the running kernel, 4 a fault of tilepath.");
    int exit_status = exit_clean;
    add_gemm(program, exit_status);
    add_run(program, exit_status);
    add_check(program, exit_status);
    add_init(program, exit_status);
    add_extract(program, exit_status);
    add_dot(program, exit_status);
    add_isa(program, exit_status);
    add_completion(program, exit_status);
    add_layout(program, exit_status);
    add_show(program, exit_status);
    try {
        program.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return program.exit(error) == 0 ? exit_clean : exit_bad_input;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "tilepath: internal error: %s\nThis is a fault of tilepath, not of your input.\n", error.what());
        return exit_internal;
    }
    return exit_status;
}
