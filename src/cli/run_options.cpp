#include "cli/run_options.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace tilepath::cli {
namespace {

std::optional<std::uint64_t> number(std::string_view text) {
    std::uint64_t value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return {};
    return value;
}

}  // namespace

void RunOptions::add_to(CLI::App& command) {
    command.add_option("--arch", arch, "The device whose arithmetic and limits count: sm_80, sm_89, sm_90, …");
    command.add_option("--device", device, "cpu: this machine's processor; gpu: a real one, through its driver, compared with tilepath; gpu-alone")
        ->check(CLI::IsMember({"cpu", "gpu", "gpu-alone"}));
    command.add_option("--copies", copies, "When an asynchronous copy lands in its legal window: eager (at issue), late, random")
        ->check(CLI::IsMember({"eager", "late", "random"}));
    command.add_option("--schedule", schedule, "Run in the order of this seed, on one thread: the same order every time");
    command.add_option("--threads", threads, "Threads of this machine; default: one for each processor");
    command.add_option("--timeout", timeout, "Stop after so many seconds, and say where the kernel was");
    command.add_option("--ctas", ctas, "Only these CTAs, by linear index: FIRST:END, or a count");
    command.add_flag("--json", json, "Print the results as JSON");
}

Result<exec::LaunchOptions> RunOptions::launch_options() const {
    exec::LaunchOptions out;
    out.seed = schedule;
    out.threads = threads;
    out.copies = copies == "late" ? machine::CopyPolicy::late : copies == "random" ? machine::CopyPolicy::random : machine::CopyPolicy::eager;
    if (timeout) {
        if (!(*timeout > 0) || *timeout > 1e9) return fail(fmt::format("expected --timeout in seconds above 0, found {}", *timeout));
        out.timeout = std::chrono::milliseconds(std::max<std::int64_t>(1, std::llround(*timeout * 1000)));
    }
    if (!ctas.empty()) {
        const std::size_t colon = ctas.find(':');
        auto first = colon == std::string::npos ? std::optional<std::uint64_t>(0) : number(std::string_view(ctas).substr(0, colon));
        auto end = number(colon == std::string::npos ? std::string_view(ctas) : std::string_view(ctas).substr(colon + 1));
        if (!first || !end || *end <= *first)
            return fail(fmt::format("expected --ctas FIRST:END with FIRST below END, or a count, found '{}'", ctas));
        out.first_cta = *first;
        out.cta_count = *end - *first;
    }
    return out;
}

}  // namespace tilepath::cli
