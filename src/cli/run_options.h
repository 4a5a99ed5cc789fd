#pragma once
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "base/result.h"
#include "exec/launch.h"

namespace tilepath::cli {

/// The options that `run` and `gemm` share: on what and how a kernel runs.
struct RunOptions {
    std::string arch, device = "cpu", copies = "eager", ctas;
    std::optional<std::uint64_t> schedule;
    std::optional<double> timeout;
    unsigned threads = 0;
    bool json = false;

    void add_to(CLI::App& command);
    /// What exec needs of them; an error where --ctas or --timeout say nothing sensible.
    Result<exec::LaunchOptions> launch_options() const;
    bool on_gpu() const { return device != "cpu"; }
    bool compares_gpu() const { return device == "gpu"; }
};

/// The error of a check on a GPU.
inline std::unexpected<Diagnostics> check_needs_cpu() {
    return fail("a check follows every access, which a GPU does not tell", "leave out --device");
}

}  // namespace tilepath::cli
