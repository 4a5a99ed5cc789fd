#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>

#include "check/finding.h"
#include "check/provenance/product_of.h"
#include "check/provenance/provenance.h"
#include "cli/check_options.h"
#include "cli/commands.h"
#include "cli/gemm_text.h"
#include "cli/run_options.h"
#include "host/compare.h"
#include "host/gemm.h"
#include "report/accumulator_life.h"
#include "report/data_path.h"
#include "report/findings.h"
#include "report/json_text.h"

namespace tilepath::cli {
namespace {

using Generation = host::GemmKernel::Generation;
using kernels::GemmType;
using kernels::blackwell::Form;

struct Options : RunOptions {
    std::string dtype = "f16", dtype_b, output, layout = "tn", epilogue = "none";
    int m = 256, n = 256, k = 256, batch = 1;
    double alpha = 1, beta = 0;
    std::uint64_t seed = 1;
    bool simt = false, a_in_registers = false, checks = false;
    CheckOptions check;
    bool cta_pair = false, multicast = false, a_in_tmem = false;
};

/// The generations whose kernels an architecture runs, those with its own matrix instructions first. sm_120a has no
/// tcgen05: what Blackwell added to its mma.sync is kernels/blackwell_rtx, the rest is Ampere's.
std::vector<Generation> generations_for(std::string_view arch) {
    if (arch == "sm_90a") return {Generation::hopper};
    if (arch == "sm_100a") return {Generation::blackwell};
    if (arch == "sm_120a") return {Generation::blackwell_rtx, Generation::ampere};
    return {Generation::ampere};
}

bool runs_on(const host::GemmKernel& kernel, std::string_view arch) {
    return std::ranges::count(generations_for(arch), kernel.generation) != 0;
}

Form form_of(const Options& options) {
    if (options.a_in_tmem) return Form::tmem;
    if (options.multicast) return Form::quad;
    return options.cta_pair ? Form::pair : Form::single;
}

const host::GemmKernel* find_kernel(const Options& options, std::string_view arch) {
    const std::string_view output = !options.output.empty() ? std::string_view(options.output)
                                    : options.dtype == "s8" ? "s32"
                                                            : "f32";
    for (const Generation generation : generations_for(arch))
        for (const host::GemmKernel& kernel : host::gemm_kernels())
            if (kernel.generation == generation && kernel.dtype() == options.dtype &&
                kernel.dtype_b() == (options.dtype_b.empty() ? options.dtype : options.dtype_b) &&
                kernels::name(kernel.output) == output && kernel.simt == options.simt &&
                kernel.linear == (options.epilogue == "linear") && kernel.a == options.layout[0] &&
                kernel.b == options.layout[1] && kernel.a_in_registers == options.a_in_registers &&
                kernel.form == form_of(options))
                return &kernel;
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

Diagnostics no_such_kernel(const Options& options) {
    std::string have;
    for (const host::GemmKernel& kernel : host::gemm_kernels())
        if (options.arch.empty() || runs_on(kernel, options.arch))
            have += fmt::format("{}{}", have.empty() ? "" : " ", kernel.name);
    const auto word = [](bool asked, const char* text) { return asked ? text : ""; };
    return fail(
               fmt::format("there is no{}{}{}{}{} GEMM for --dtype {}{}{} --layout {}{}{}", options.simt ? " SIMT" : "",
                           options.a_in_registers ? " RS" : "", word(options.a_in_tmem, " TS"),
                           word(options.cta_pair, " CTA pair"), word(options.multicast, " multicast"), options.dtype,
                           options.dtype_b.empty() ? "" : " --dtype-b " + options.dtype_b,
                           options.output.empty() ? "" : " --output " + options.output, options.layout,
                           options.epilogue == "linear" ? " --epilogue linear" : "",
                           options.arch.empty() ? "" : " on " + options.arch),
               "there are: " + have)
        .error();
}

host::GemmCase case_of(const Options& options, const host::GemmKernel& kernel) {
    host::GemmCase out{.m = options.m, .n = options.n, .k = options.k, .batch = options.batch, .seed = options.seed};
    const auto bits = [&](double value) {
        return kernel.output == GemmType::s32 ? static_cast<std::uint32_t>(static_cast<std::int32_t>(value))
                                              : std::bit_cast<std::uint32_t>(static_cast<float>(value));
    };
    out.alpha = bits(options.alpha), out.beta = bits(options.beta);
    return out;
}

/// One GEMM that ran and was verified.
struct Verified {
    const host::GemmKernel& kernel;
    const host::GemmJob& gemm;
    const host::Buffer& d;
    const std::vector<std::uint8_t>& result;
    const host::Difference& difference;
    const report::DataPathCounter& counter;
    const report::AccumulatorLife& life;
    double ran = 0, verified = 0;  ///< seconds
    int status = exit_clean;
};

nlohmann::json as_json(const Options& options, const Verified& v) {
    const report::DataPathCounter& counter = v.counter;
    nlohmann::json out{{"entry", v.kernel.name},
                       {"arch", v.gemm.job.arch},
                       {"device", options.device},
                       {"m", options.m},
                       {"n", options.n},
                       {"k", options.k},
                       {"batch", options.batch},
                       {"seed", options.seed},
                       {"compared", v.difference.compared},
                       {"different", v.difference.different},
                       {"exit_status", v.status},
                       {"hash", fmt::format("{:016x}", host::fnv1a(v.result))},
                       {"flop", counter.flop()},
                       {"global_read", counter.global_read()},
                       {"global_written", counter.global_written()},
                       {"shared_read", counter.shared_read()},
                       {"shared_written", counter.shared_written()}};
    if (v.life.updates() != 0) out["accumulator"] = {{"updates", v.life.updates()}, {"loads", v.life.loads()}};
    for (const report::DataPathCounter::Row& row : counter.rows())
        out["data_path"].push_back({{"path", row.path},
                                    {"instruction", row.instruction},
                                    {"warps", row.times},
                                    {"bytes", row.bytes},
                                    {"flop", row.flop}});
    return out;
}

void print(const Options& options, const Verified& v) {
    const std::string batch = options.batch == 1 ? "" : fmt::format(", batch {}", options.batch);
    fmt::print("{} on {}{}: D = {}, M {}, N {}, K {}{}, seed {}\n", v.kernel.name,
               options.on_gpu() ? "a GPU, compared with " : "", v.gemm.job.arch,
               v.kernel.linear ? "GELU(alpha A B + beta C + bias)" : "alpha A B + beta C", options.m, options.n,
               options.k, batch, options.seed);
    std::fputs(gemm_tiling(v.kernel, v.gemm).c_str(), stdout);
    if (!options.on_gpu()) fmt::print("data path\n{}", report::to_string(v.counter));
    std::fputs(gemm_fragment(v.kernel).c_str(), stdout);
    if (!options.on_gpu()) std::fputs(v.life.text().c_str(), stdout);
    if (v.difference.different)
        std::fputs(host::to_string(v.d, v.difference).c_str(), stdout);
    else
        fmt::print(
            "verified: all {} elements of D equal the scalar reference to the bit (run {:.2f} s, reference "
            "{:.2f} s)\n",
            v.difference.compared, v.ran, v.verified);
}

/// Runs and verifies one generation's kernel; its facts go into `json`, or are printed.
int run_one(const Options& options, const host::GemmKernel& kernel, const std::string& arch, CheckSession& session,
            nlohmann::json& json) {
    auto gemm = host::gemm_job(kernel, case_of(options, kernel), arch);
    if (!gemm) return report_bad_input(gemm.error());
    auto how = options.launch_options();
    if (!how) return report_bad_input(how.error());
    if (options.checks && options.on_gpu()) return report_bad_input(check_needs_cpu().error());

    const auto seconds_since = [](auto begin) {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    auto begin = std::chrono::steady_clock::now();
    report::DataPathCounter counter(*gemm->job.launches.front().program);
    report::AccumulatorLife life;
    std::optional<CheckSession::Run> checked;
    machine::Tee observers;
    observers.add(counter);
    observers.add(life);
    if (options.checks) checked.emplace(session, observers);
    how->observer = &observers;
    const host::Placed placed = [&](std::span<const machine::Address> addresses) {
        if (checked) checked->expect(check::product_of(*gemm, addresses));
    };
    Result<host::Outcome> outcome = fail("not run");
    {
        ProgressLine progress("running");
        how->progress = std::ref(progress);
        outcome = options.on_gpu() ? host::run_on_gpu(gemm->job) : host::run_on_cpu(gemm->job, *how, placed);
    }
    if (!outcome) return report_bad_input(outcome.error());
    const double ran = seconds_since(begin);
    const exec::LaunchReport& report = outcome->reports.front();
    if (report.fault) std::fputs(exec::to_string(*report.fault).c_str(), stderr);
    if (report.deadlock) std::fputs(exec::to_string(*report.deadlock).c_str(), stderr);
    std::vector<check::Finding> findings;
    if (checked) findings = session.take(*checked, gemm->job, *outcome, fmt::format("{} on {}", kernel.name, arch));
    if (!report.ok()) {
        if (checked && !options.json) std::fputs(report::findings_text(findings).c_str(), stdout);
        return exit_kernel_fault;
    }

    begin = std::chrono::steady_clock::now();
    ProgressLine verifying("verifying");
    auto expected = host::gemm_reference(*gemm, std::ref(verifying));
    if (!expected) return report_bad_input(expected.error());
    host::Buffer d = gemm->job.buffers[host::gemm_d];
    const std::int64_t pitch = gemm->product.d.outer;
    d.shape = {static_cast<std::int64_t>(d.elements()) / pitch, pitch};
    const std::vector<std::uint8_t>& result = outcome->buffers[host::gemm_d];
    const host::Difference difference = host::compare(d, result, *expected);
    Verified verified{kernel,
                      *gemm,
                      d,
                      result,
                      difference,
                      counter,
                      life,
                      ran,
                      seconds_since(begin),
                      difference.different ? exit_difference : exit_clean};
    if (check::count_of(findings, check::Severity::finding) != 0) verified.status = exit_difference;
    if (options.json) {
        json.push_back(as_json(options, verified));
        if (options.checks) {
            json.back()["findings"] = report::findings_as_json(findings);
            json.back()["provenance"] = report::provenance_as_json(checked->provenance());
        }
    } else {
        print(options, verified);
        if (options.checks) {
            std::fputs(report::provenance_text(checked->provenance()).c_str(), stdout);
            std::fputs(report::tile_reads_text(checked->provenance()).c_str(), stdout);
            std::fputs(report::findings_text(findings).c_str(), stdout);
        }
    }
    return verified.status;
}

/// With --arch that device's kernel; without it, that of each generation that has one.
int run(const Options& options) {
    const std::vector<std::string> archs = options.arch.empty()
                                               ? std::vector<std::string>{"sm_80", "sm_90a", "sm_100a", "sm_120a"}
                                               : std::vector{options.arch};
    if (!options.checks && options.check.any())
        return report_bad_input(
            fail("--suppress, --baseline, --sarif, --html and --trace say what is done with findings",
                 "give --check too")
                .error());
    auto session = CheckSession::create(options.check);
    if (!session) return report_bad_input(session.error());
    nlohmann::json json;
    std::optional<int> status;
    for (const std::string& arch : archs) {
        const host::GemmKernel* const kernel = find_kernel(options, arch);
        if (kernel == nullptr) continue;
        if (status && !options.json) fmt::print("\n");
        status = std::max(status.value_or(exit_clean), run_one(options, *kernel, arch, *session, json));
        if (*status > exit_difference) break;
    }
    if (!status) return report_bad_input(no_such_kernel(options));
    if (auto written = session->write(); !written) return report_bad_input(written.error());
    if (!options.json) std::fputs(session->notes().c_str(), stdout);
    if (*status > exit_difference) return *status;
    if (options.json) fmt::print("{}\n", report::json_text(options.arch.empty() ? json : json.front()));
    return *status;
}

}  // namespace

void add_gemm(CLI::App& program, int& exit_status) {
    auto options = std::make_shared<Options>();
    CLI::App* command = program.add_subcommand(
        "gemm", "Run a GEMM of each generation, or of one (--arch), verify every bit of D, explain its data path");
    options->add_to(*command);
    const std::vector<std::string> dtypes = {"f16",  "bf16", "tf32", "e4m3", "e5m2", "e2m3", "e3m2",
                                             "e2m1", "mxf8", "mxf6", "mxf4", "nvf4", "s8",   "f32"};
    command
        ->add_option(
            "--dtype", options->dtype,
            "Type of A and B: f16, bf16, tf32; s8 on sm_80; e4m3, e5m2 from sm_90a on; mxf8, mxf4, nvf4 (with block "
            "scales) on sm_100a and sm_120a; e2m1, e2m3, e3m2, mxf6 (e2m3 with block scales) on sm_100a; f32 with "
            "--simt")
        ->check(CLI::IsMember(dtypes));
    command
        ->add_option("--dtype-b", options->dtype_b,
                     "Type of B where it is another: e4m3 and e2m1, e3m2 and e5m2, mxf8 and mxf4, mxf4 and mxf6")
        ->check(CLI::IsMember(dtypes));
    command->add_option("--output", options->output, "Type of D: f32 unless told, s32 for s8; f16 or bf16")
        ->check(CLI::IsMember({"f32", "f16", "bf16", "s32"}));
    command->add_option("-m", options->m, "Rows of A and D");
    command->add_option("-n", options->n, "Columns of B and D");
    command->add_option("-k", options->k, "Columns of A, rows of B");
    command->add_option("--batch", options->batch, "Products, one matrix behind the other; from sm_90a on");
    command
        ->add_option("--layout", options->layout,
                     "Of A and B as BLAS names them: t A row-major / n column-major, n B column-major / t row-major")
        ->check(CLI::IsMember({"tn", "nn", "nt", "tt"}));
    command->add_option("--alpha", options->alpha, "D = alpha A B + beta C");
    command->add_option("--beta", options->beta, "D = alpha A B + beta C");
    command->add_option("--epilogue", options->epilogue, "linear: add a bias and apply GELU")
        ->check(CLI::IsMember({"none", "linear"}));
    command->add_option("--seed", options->seed, "Of the inputs");
    command->add_flag("--check", options->checks, "Tell what is wrong with the data path, as `tilepath check` does");
    options->check.add_to(*command);
    command->add_flag("--simt", options->simt, "The plain kernel without Tensor Cores, to compare");
    command->add_flag("--a-in-registers", options->a_in_registers, "wgmma with A from registers; sm_90a");
    command->add_flag("--cta-pair", options->cta_pair, "tcgen05.mma over two CTAs, 256 rows of D; sm_100a");
    command->add_flag("--multicast", options->multicast, "Two such pairs, which load B for one another; sm_100a");
    command->add_flag("--a-in-tmem", options->a_in_tmem, "tcgen05.mma with A from Tensor Memory; sm_100a");
    command->callback([options, &exit_status] { exit_status = run(*options); });
}

}  // namespace tilepath::cli
