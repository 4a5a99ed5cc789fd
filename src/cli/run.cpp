#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/run_options.h"
#include "host/compare.h"
#include "host/launch_file.h"
#include "report/data_path.h"

namespace tilepath::cli {
namespace {

struct Options : RunOptions {
    std::string file;
    bool counts = false;
};

/// Differences of every buffer that has an expectation, by buffer.
std::vector<std::pair<const host::Buffer*, host::Difference>> differences(const host::Job& job, const host::Outcome& outcome) {
    std::vector<std::pair<const host::Buffer*, host::Difference>> out;
    for (std::size_t i = 0; i < job.buffers.size(); ++i)
        if (const host::Buffer& buffer = job.buffers[i]; buffer.expected)
            out.emplace_back(&buffer, host::compare(buffer, outcome.buffers[i], *buffer.expected));
    return out;
}

nlohmann::json to_json(const host::Job& job, const host::Outcome& outcome, int exit_status) {
    nlohmann::json out{{"exit_status", exit_status}, {"arch", job.arch}};
    if (!job.module_note.empty()) out["module"] = job.module_note;
    for (std::size_t i = 0; i < outcome.reports.size(); ++i) {
        const exec::LaunchReport& report = outcome.reports[i];
        nlohmann::json launch{{"entry", job.launches[i].entry}, {"ctas", report.ctas}, {"operations", report.operations}};
        if (report.fault) launch["fault"] = {{"kind", exec::name(report.fault->kind)}, {"message", report.fault->message},
                                             {"text", exec::to_string(*report.fault)}};
        if (report.deadlock) launch["deadlock"] = {{"timed_out", report.deadlock->timed_out}, {"text", exec::to_string(*report.deadlock)}};
        out["launches"].push_back(launch);
    }
    for (const auto& [buffer, difference] : differences(job, outcome)) {
        nlohmann::json row{{"name", buffer->name}, {"compared", difference.compared}, {"different", difference.different}};
        for (const host::Difference::Element& one : difference.first)
            row["first"].push_back({{"index", one.index}, {"found", host::to_text(buffer->dtype, one.found)},
                                    {"expected", host::to_text(buffer->dtype, one.expected)}});
        out["buffers"].push_back(row);
    }
    return out;
}

int tell(const host::Job& job, const host::Outcome& outcome, bool on_gpu) {
    if (!job.module_note.empty()) fmt::print("{}\n", job.module_note);
    for (std::size_t i = 0; i < outcome.reports.size(); ++i) {
        const exec::LaunchReport& report = outcome.reports[i];
        if (report.fault) std::fputs(exec::to_string(*report.fault).c_str(), stderr);
        if (report.deadlock) std::fputs(exec::to_string(*report.deadlock).c_str(), stderr);
        if (report.ok() && on_gpu) fmt::print("{}: ran on the GPU\n", job.launches[i].entry);
        else if (report.ok()) fmt::print("{}: {} CTAs, {} micro-operations\n", job.launches[i].entry, report.ctas, report.operations);
    }
    if (!outcome.ok()) return exit_kernel_fault;
    int status = exit_clean;
    for (const auto& [buffer, difference] : differences(job, outcome)) {
        if (difference.different) status = exit_difference;
        if (difference.different) std::fputs(host::to_string(*buffer, difference).c_str(), stdout);
        else fmt::print("{}: {} elements as expected\n", buffer->name, difference.compared);
    }
    return status;
}

int run(const Options& options) {
    auto file = host::read_launch_file(options.file);
    if (!file) return report_bad_input(file.error());
    auto job = host::prepare(*file, options.arch);
    if (!job) return report_bad_input(job.error());
    auto how = options.launch_options();
    if (!how) return report_bad_input(how.error());
    report::DataPathCounter counter(*job->launches.front().program);
    if (options.counts) how->observer = &counter;
    // With --json standard output holds nothing but the JSON.
    if (options.json) how->print = [](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); };

    auto outcome = options.on_gpu() ? host::run_on_gpu(*job) : host::run_on_cpu(*job, *how);
    if (!outcome) return report_bad_input(outcome.error());
    if (auto saved = host::save(*job, *outcome); !saved) return report_bad_input(saved.error());
    int status = exit_clean;
    if (options.json) {
        for (const auto& [buffer, difference] : differences(*job, *outcome))
            if (difference.different) status = exit_difference;
        if (!outcome->ok()) status = exit_kernel_fault;
        fmt::print("{}\n", to_json(*job, *outcome, status).dump(2));
    } else {
        status = tell(*job, *outcome, options.on_gpu());
    }
    if (options.counts && !options.json && !options.on_gpu()) fmt::print("data path\n{}", report::to_string(counter));
    return status;
}

}  // namespace

void add_run(CLI::App& program, int& exit_status) {
    auto options = std::make_shared<Options>();
    CLI::App* command = program.add_subcommand("run", "Run the kernels of a launch file: buffers in, buffers out");
    command->add_option("FILE", options->file, "The launch file (`tilepath init` writes one)")->required();
    options->add_to(*command);
    command->add_flag("--counts", options->counts, "Print which instructions moved what, how often");
    command->callback([options, &exit_status] { exit_status = run(*options); });
}

}  // namespace tilepath::cli
