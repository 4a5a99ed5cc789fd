#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/check_options.h"
#include "cli/commands.h"
#include "check/provenance/product_of.h"
#include "cli/run_options.h"
#include "host/compare.h"
#include "host/launch_file.h"
#include "host/stop.h"
#include "report/data_path.h"
#include "report/findings.h"
#include "report/json_text.h"

namespace tilepath::cli {
namespace {

struct Options : RunOptions {
    std::string file;
    bool counts = false, checks = false;
    CheckOptions check;
    host::StopRequest stop;
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
        if (report.cancelled != 0) launch["cancelled"] = report.cancelled;
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

/// `faults`: what ends the kernel is told here, not by findings.
int tell(const host::Job& job, const host::Outcome& outcome, bool on_gpu, bool faults = true) {
    if (!job.module_note.empty()) fmt::print("{}\n", job.module_note);
    for (std::size_t i = 0; i < outcome.reports.size(); ++i) {
        const exec::LaunchReport& report = outcome.reports[i];
        if (faults && report.fault) std::fputs(exec::to_string(*report.fault).c_str(), stderr);
        if (faults && report.deadlock) std::fputs(exec::to_string(*report.deadlock).c_str(), stderr);
        if (report.ok() && on_gpu) fmt::print("{}: ran on the GPU\n", job.launches[i].entry);
        else if (report.ok()) fmt::print("{}: {} CTAs, {}{} micro-operations\n", job.launches[i].entry, report.ctas,
                                          report.cancelled == 0 ? "" : fmt::format("{} cancelled, ", report.cancelled), report.operations);
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

/// What the GPU has in a buffer against what tilepath has.
host::Difference disagreement(const host::Job& job, const host::Outcome& gpu, const host::Outcome& own, std::size_t buffer) {
    return host::compare(job.buffers[buffer], gpu.buffers[buffer], own.buffers[buffer]);
}

bool disagree(const host::Job& job, const host::Outcome& gpu, const host::Outcome& own) {
    for (std::size_t i = 0; i < job.buffers.size(); ++i)
        if (disagreement(job, gpu, own, i).different) return true;
    return false;
}

nlohmann::json disagreements_as_json(const host::Job& job, const host::Outcome& gpu, const host::Outcome& own) {
    nlohmann::json out = nlohmann::json::array();
    for (std::size_t i = 0; i < job.buffers.size(); ++i) {
        const host::Difference difference = disagreement(job, gpu, own, i);
        const host::Buffer& buffer = job.buffers[i];
        nlohmann::json row{{"name", buffer.name}, {"compared", difference.compared}, {"different", difference.different}};
        for (const host::Difference::Element& one : difference.first)
            row["first"].push_back({{"index", one.index}, {"gpu", host::to_text(buffer.dtype, one.found)},
                                    {"tilepath", host::to_text(buffer.dtype, one.expected)}});
        out.push_back(row);
    }
    return out;
}

/// --stop-at: runs until a warp comes to the line, and shows what was asked for.
int run_to_line(const Options& options, host::Job& job, exec::LaunchOptions& how) {
    if (options.on_gpu()) return report_bad_input(fail("--stop-at stops tilepath, not a GPU", "leave out --device gpu").error());
    auto stop = host::Stop::create(job, options.stop);
    if (!stop) return report_bad_input(stop.error());
    how.breakpoint = stop->get();
    if (options.json) how.print = [](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); };
    auto outcome = host::run_on_cpu(job, how);
    if (!outcome) return report_bad_input(outcome.error());
    const bool stopped = (*stop)->has_stopped();
    const int status = stopped ? exit_clean : outcome->ok() ? exit_bad_input : exit_kernel_fault;
    if (options.json) {
        nlohmann::json out = to_json(job, *outcome, status);
        out.erase("buffers");
        if (stopped) out["stop"] = (*stop)->text();
        fmt::print("{}\n", report::json_text(out));
    } else if (stopped) {
        std::fputs((*stop)->text().c_str(), stdout);
    } else if (!outcome->ok()) {
        tell(job, *outcome, false);
    }
    if (!stopped) return outcome->ok() ? report_bad_input((*stop)->not_reached().error()) : status;
    return status;
}

int run(const Options& options) {
    auto file = host::read_launch_file(options.file);
    if (!file) return report_bad_input(file.error());
    auto job = host::prepare(*file, options.arch);
    if (!job) return report_bad_input(job.error());
    auto how = options.launch_options();
    if (!how) return report_bad_input(how.error());
    if (options.checks && options.on_gpu())
        return report_bad_input(check_needs_cpu().error());
    if (!options.stop.at.empty()) return run_to_line(options, *job, *how);
    report::DataPathCounter counter(*job->launches.front().program);
    machine::Tee observers;
    if (options.counts) observers.add(counter);
    auto session = CheckSession::create(options.check);
    if (!session) return report_bad_input(session.error());
    std::optional<CheckSession::Run> checked;
    if (options.checks) checked.emplace(*session, observers);
    if (options.counts || options.checks) how->observer = &observers;
    // With --json standard output holds nothing but the JSON.
    if (options.json) how->print = [](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); };

    const host::Placed placed = [&](std::span<const machine::Address> addresses) {
        if (!checked) return;
        if (auto product = check::product_of(*job, addresses)) checked->expect(std::move(*product));
    };
    auto outcome = options.on_gpu() ? host::run_on_gpu(*job) : host::run_on_cpu(*job, *how, placed);
    if (!outcome) return report_bad_input(outcome.error());
    std::optional<host::Outcome> own;  // of tilepath, beside the GPU's
    if (options.compares_gpu()) {
        auto ran = host::run_on_cpu(*job, *how);
        if (!ran) return report_bad_input(ran.error());
        if (!ran->ok()) return tell(*job, *ran, false);
        own = std::move(*ran);
    }
    if (auto saved = host::save(*job, *outcome); !saved) return report_bad_input(saved.error());
    std::vector<check::Finding> findings;
    if (checked) {
        findings = session->take(*checked, *job, *outcome, {});
        if (auto written = session->write(); !written) return report_bad_input(written.error());
    }
    int status = exit_clean;
    const bool found_wrong = check::count_of(findings, check::Severity::finding) != 0;
    if (options.json) {
        if (found_wrong) status = exit_difference;
        for (const auto& [buffer, difference] : differences(*job, *outcome))
            if (difference.different) status = exit_difference;
        if (own && disagree(*job, *outcome, *own)) status = exit_difference;
        if (!outcome->ok()) status = exit_kernel_fault;
        nlohmann::json out = to_json(*job, *outcome, status);
        if (own) out["gpu_and_tilepath"] = disagreements_as_json(*job, *outcome, *own);
        if (options.checks) out["findings"] = report::findings_as_json(findings);
        if (checked) out["shared_reads"] = report::tile_reads_as_json(checked->provenance());
        if (checked && job->gemm) out["provenance"] = report::provenance_as_json(checked->provenance());
        fmt::print("{}\n", report::json_text(out));
    } else {
        status = tell(*job, *outcome, options.on_gpu(), !options.checks);
        if (checked && job->gemm) std::fputs(report::provenance_text(checked->provenance()).c_str(), stdout);
        if (checked) std::fputs(report::tile_reads_text(checked->provenance()).c_str(), stdout);
        if (options.checks) std::fputs((report::findings_text(findings) + session->notes()).c_str(), stdout);
        if (status == exit_clean && found_wrong) status = exit_difference;
        if (own) {
            for (std::size_t i = 0; i < job->buffers.size(); ++i)
                std::fputs(host::describe_disagreement(job->buffers[i], disagreement(*job, *outcome, *own, i)).c_str(), stdout);
            if (status == exit_clean && disagree(*job, *outcome, *own)) status = exit_difference;
        }
    }
    if (options.counts && !options.json && !options.on_gpu()) fmt::print("data path\n{}", report::to_string(counter));
    return status;
}

}  // namespace

void add_check(CLI::App& program, int& exit_status) {
    auto options = std::make_shared<Options>();
    options->checks = true;
    CLI::App* command = program.add_subcommand(
        "check", "Run the kernels of a launch file and tell what is wrong with their data path: exit status 1 if anything is");
    command->add_option("FILE", options->file, "The launch file (`tilepath init` writes one)")->required();
    options->add_to(*command);
    options->check.add_to(*command);
    command->add_flag("--counts", options->counts, "Print which instructions moved what, how often");
    command->callback([options, &exit_status] { exit_status = run(*options); });
}

void add_run(CLI::App& program, int& exit_status) {
    auto options = std::make_shared<Options>();
    CLI::App* command = program.add_subcommand("run", "Run the kernels of a launch file: buffers in, buffers out");
    command->add_option("FILE", options->file, "The launch file (`tilepath init` writes one)")->required();
    options->add_to(*command);
    command->add_flag("--counts", options->counts, "Print which instructions moved what, how often");
    CLI::Option* at = command->add_option("--stop-at", options->stop.at,
                                          "Run until a warp comes to this line: LINE of the PTX, or FILE:LINE of its source");
    command
        ->add_option("--show", options->stop.show,
                     "What to print there, with commas between: %r1, %f2:f32, shared:0x400+64, BUFFER[128]+64, global:%rd1+16, local:0+16")
        ->delimiter(',')
        ->needs(at);
    command->add_option("--warp", options->stop.warp, "Only this warp of a CTA; default: the first that comes")->needs(at);
    command->add_option("--cta", options->stop.cta, "Only this CTA: its x, y and z")->delimiter(',')->expected(1, 3)->needs(at);
    command->add_option("--count", options->stop.count, "Stop not the first time, but the Nth")->check(CLI::PositiveNumber)->needs(at);
    command->callback([options, &exit_status] { exit_status = run(*options); });
}

}  // namespace tilepath::cli
