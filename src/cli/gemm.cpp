#include <fmt/format.h>
#include <unistd.h>

#include <bit>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "atom/mma.h"
#include "cli/commands.h"
#include "cli/run_options.h"
#include "host/compare.h"
#include "host/gemm.h"
#include "report/data_path.h"

namespace tilepath::cli {
namespace {

using kernels::GemmEntry;
using kernels::GemmType;

struct Options : RunOptions {
    std::string dtype = "f16", layout = "tn", epilogue = "none";
    int m = 256, n = 256, k = 256;
    double alpha = 1, beta = 0;
    std::uint64_t seed = 1;
    bool simt = false;
};

const GemmEntry* find_entry(const Options& options) {
    for (const GemmEntry& entry : kernels::gemm_entries) {
        const bool wide_output = entry.output == (entry.input == GemmType::s8 ? GemmType::s32 : GemmType::f32);
        if (kernels::name(entry.input) == options.dtype && wide_output && entry.simt == options.simt && entry.linear == (options.epilogue == "linear") &&
            entry.a == options.layout[0] && entry.b == options.layout[1])
            return &entry;
    }
    return nullptr;
}

std::string progress_line(const char* what, std::uint64_t done, std::uint64_t all) {
    return fmt::format("\r{} {:3}%", what, all ? done * 100 / all : 100);
}

/// Shows progress on a terminal, once a run has taken a second.
class ProgressLine {
  public:
    explicit ProgressLine(const char* what) : what_(what), shown_(isatty(2) != 0) {}
    ~ProgressLine() {
        if (printed_) std::fputs("\r                              \r", stderr);
    }
    void operator()(std::uint64_t done, std::uint64_t all) {
        using namespace std::chrono_literals;
        if (!shown_ || std::chrono::steady_clock::now() - begin_ < 1s) return;
        std::fputs(progress_line(what_, done, all).c_str(), stderr);
        printed_ = true;
    }

  private:
    const char* what_;
    bool shown_, printed_ = false;
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

std::string mma_name(GemmType type) {
    switch (type) {
        case GemmType::f16: return "m16n8k16.row.col.f32.f16.f16.f32";
        case GemmType::bf16: return "m16n8k16.row.col.f32.bf16.bf16.f32";
        case GemmType::tf32: return "m16n8k8.row.col.f32.tf32.tf32.f32";
        case GemmType::s8: return "m16n8k32.row.col.s32.s8.s8.s32";
        case GemmType::f32:
        case GemmType::e4m3:
        case GemmType::e5m2:
        case GemmType::s32: break;
    }
    return "";
}

void print_tiling(const GemmEntry& entry, const host::GemmCase& problem, const host::Job& job) {
    const exec::LaunchShape& shape = job.launches.front().shape;
    fmt::print("tiling\n");
    if (entry.simt) {
        const kernels::SimtConfig config;
        fmt::print("  D {}×{} in {}×{} CTA tiles of {}×{}, each by {} threads that compute {}×{} elements\n", problem.m, problem.n, shape.grid.y,
                   shape.grid.x, config.cta_m, config.cta_n, config.threads(), config.thread_m(), config.thread_n());
        fmt::print("  k: {} steps of {}, one fma per element and k, ascending\n", (problem.k + config.cta_k - 1) / config.cta_k, config.cta_k);
        return;
    }
    const kernels::GemmConfig config = kernels::gemm_config(entry.input);
    const int steps = (problem.k + config.cta_k() - 1) / config.cta_k();
    fmt::print("  D {}×{} in {}×{} CTA tiles of {}×{}\n", problem.m, problem.n, shape.grid.y, shape.grid.x, config.cta_m, config.cta_n);
    fmt::print("  CTA tile: {} warps, each a warp tile of {}×{}\n", config.warps_m() * config.warps_n(), config.warp_m, config.warp_n);
    fmt::print("  warp tile: {}×{} MMA atoms mma.sync.{}\n", config.warp_m / config.mma_m, config.warp_n / config.mma_n, mma_name(entry.input));
    fmt::print("  k: {} steps of {}, {} MMAs of k {} in each, ascending; {} cp.async stages in {} of shared memory\n", steps, config.cta_k(),
               config.cta_k() / config.mma_k(), config.mma_k(), config.stages, report::bytes_text(static_cast<std::uint64_t>(config.dynamic_shared_bytes())));
}

/// What one lane holds of one operand: `a0 {A(1,2) A(1,3)}`.
std::string lane_text(const atom::Fragment& fragment, int lane, char letter) {
    const atom::HeldElements held = atom::held(fragment);
    std::string out;
    for (int reg = 0; reg < held.registers; ++reg) {
        out += fmt::format("{}{}{} {{", out.empty() ? "" : "  ", static_cast<char>(std::tolower(letter)), reg);
        const char* separator = "";
        for (int slot = 0; slot < held.slots; ++slot)
            if (int element = held.at(lane, reg, slot); element >= 0)
                out += fmt::format("{}({},{})", std::exchange(separator, " "), element / fragment.columns, element % fragment.columns);
        out += "}";
    }
    return out;
}

void print_fragment(const GemmEntry& entry) {
    using number::Format;
    const kernels::GemmConfig config = kernels::gemm_config(entry.input);
    const Format input = *number::format_named(kernels::name(entry.input));
    const Format sum = entry.input == GemmType::s8 ? Format::s32 : Format::f32;
    auto found = atom::mma_sync({config.mma_m, config.mma_n, config.mma_k()}, {sum, input, input, sum});
    if (!found) return;
    constexpr int lane = 5;
    fmt::print("fragment of lane {} in {}: (row,column), low bits first\n", lane, found->name);
    fmt::print("  A (m,k)   {}\n  B (k,n)   {}\n  C, D (m,n) {}\n", lane_text(found->a, lane, 'a'), lane_text(found->b, lane, 'b'), lane_text(found->d, lane, 'd'));
}

int run(const Options& options) {
    const GemmEntry* entry = find_entry(options);
    if (!entry) {
        std::string have;
        for (const GemmEntry& row : kernels::gemm_entries) have += fmt::format("{}{}", have.empty() ? "" : " ", row.name);
        return report_bad_input(fail(fmt::format("there is no{} GEMM for --dtype {} --layout {}{}", options.simt ? " SIMT" : "", options.dtype, options.layout,
                                                 options.epilogue == "linear" ? " --epilogue linear" : ""),
                                     "there are: " + have).error());
    }
    host::GemmCase problem{.m = options.m, .n = options.n, .k = options.k, .seed = options.seed};
    if (entry->output == GemmType::s32) {
        problem.alpha = static_cast<std::uint32_t>(static_cast<std::int32_t>(options.alpha));
        problem.beta = static_cast<std::uint32_t>(static_cast<std::int32_t>(options.beta));
    } else {
        problem.alpha = std::bit_cast<std::uint32_t>(static_cast<float>(options.alpha));
        problem.beta = std::bit_cast<std::uint32_t>(static_cast<float>(options.beta));
    }
    auto job = host::gemm_job(*entry, problem, options.arch.empty() ? "sm_80" : options.arch);
    if (!job) return report_bad_input(job.error());
    auto how = options.launch_options();
    if (!how) return report_bad_input(how.error());

    const auto seconds_since = [](auto begin) { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); };
    auto begin = std::chrono::steady_clock::now();
    report::DataPathCounter counter(*job->launches.front().program);
    how->observer = &counter;
    Result<host::Outcome> outcome = fail("not run");
    {
        ProgressLine progress("running");
        how->progress = std::ref(progress);
        outcome = options.on_gpu() ? host::run_on_gpu(*job) : host::run_on_cpu(*job, *how);
    }
    if (!outcome) return report_bad_input(outcome.error());
    const double ran = seconds_since(begin);
    const exec::LaunchReport& report = outcome->reports.front();
    if (report.fault) std::fputs(exec::to_string(*report.fault).c_str(), stderr);
    if (report.deadlock) std::fputs(exec::to_string(*report.deadlock).c_str(), stderr);
    if (!report.ok()) return exit_kernel_fault;

    begin = std::chrono::steady_clock::now();
    ProgressLine verifying("verifying");
    auto expected = host::gemm_reference(*entry, problem, *job, std::ref(verifying));
    if (!expected) return report_bad_input(expected.error());
    const double verified = seconds_since(begin);
    host::Buffer d = job->buffers[host::gemm_d];
    const int pitch = options.n;
    d.shape = {options.m, pitch};
    host::Difference difference = host::compare(d, outcome->buffers[host::gemm_d], *expected);
    const int status = difference.different ? exit_difference : exit_clean;

    if (options.json) {
        nlohmann::json out{{"entry", entry->name}, {"arch", job->arch}, {"device", options.device}, {"m", options.m}, {"n", options.n}, {"k", options.k},
                           {"seed", options.seed}, {"compared", difference.compared}, {"different", difference.different}, {"exit_status", status},
                           {"hash", fmt::format("{:016x}", host::fnv1a(outcome->buffers[host::gemm_d]))}, {"flop", counter.flop()},
                           {"global_read", counter.global_read()}, {"global_written", counter.global_written()},
                           {"shared_read", counter.shared_read()}, {"shared_written", counter.shared_written()}};
        for (const report::DataPathCounter::Row& row : counter.rows())
            out["data_path"].push_back({{"path", row.path}, {"instruction", row.instruction}, {"warps", row.times}, {"bytes", row.bytes}, {"flop", row.flop}});
        fmt::print("{}\n", out.dump(2));
        return status;
    }
    fmt::print("{} on {}{}: D = {}, M {}, N {}, K {}, seed {}\n", entry->name, options.on_gpu() ? "a GPU, compared with " : "", job->arch,
               entry->linear ? "GELU(alpha A B + beta C + bias)" : "alpha A B + beta C", options.m, options.n, options.k, options.seed);
    print_tiling(*entry, problem, *job);
    if (!options.on_gpu()) fmt::print("data path\n{}", report::to_string(counter));
    if (!entry->simt) print_fragment(*entry);
    if (difference.different) std::fputs(host::to_string(d, difference).c_str(), stdout);
    else fmt::print("verified: all {} elements of D equal the scalar reference to the bit", difference.compared);
    if (!difference.different) fmt::print(" (run {:.2f} s, reference {:.2f} s)\n", ran, verified);
    return status;
}

}  // namespace

void add_gemm(CLI::App& program, int& exit_status) {
    auto options = std::make_shared<Options>();
    CLI::App* command = program.add_subcommand("gemm", "Run one generation's GEMM, verify every bit of D, explain its data path");
    options->add_to(*command);
    command->add_option("--dtype", options->dtype, "Type of A and B: f16, bf16, tf32, s8; f32 with --simt")->check(CLI::IsMember({"f16", "bf16", "tf32", "s8", "f32"}));
    command->add_option("-m", options->m, "Rows of A and D");
    command->add_option("-n", options->n, "Columns of B and D");
    command->add_option("-k", options->k, "Columns of A, rows of B");
    command->add_option("--layout", options->layout, "Of A and B as BLAS names them: t A row-major / n column-major, n B column-major / t row-major")
        ->check(CLI::IsMember({"tn", "nn", "nt", "tt"}));
    command->add_option("--alpha", options->alpha, "D = alpha A B + beta C");
    command->add_option("--beta", options->beta, "D = alpha A B + beta C");
    command->add_option("--epilogue", options->epilogue, "linear: add a bias and apply GELU")->check(CLI::IsMember({"none", "linear"}));
    command->add_option("--seed", options->seed, "Of the inputs");
    command->add_flag("--simt", options->simt, "The plain kernel without Tensor Cores, to compare");
    command->callback([options, &exit_status] { exit_status = run(*options); });
}

}  // namespace tilepath::cli
