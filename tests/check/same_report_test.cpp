// Same seed, same report: a GEMM of each generation with one line changed, run twice, on one thread and on four, says
// the same to the byte, facts and order included.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <regex>

#include "check/finding.h"
#include "check/provenance/product_of.h"
#include "host/gemm.h"
#include "isa/build.h"
#include "ptx/read.h"

namespace tilepath::check {
namespace {

struct Changed {
    const char *kernel, *arch, *line, *becomes;  ///< regular expression and replacement of every line of the entry
};

std::string report_of(const Changed& how, std::uint32_t threads, machine::CopyPolicy copies) {
    auto job = host::gemm_job(*host::gemm_kernel_named(how.kernel), {.m = 128, .n = 128, .k = 128}, how.arch);
    EXPECT_TRUE(job) << to_string(job.error());
    std::string text(job->job.ptx->text());
    const std::size_t begin = text.find(fmt::format(".entry {}(", how.kernel)), end = text.find("\n}", begin);
    const std::string body = text.substr(begin, end - begin);
    const std::string changed = std::regex_replace(body, std::regex(how.line), how.becomes);
    EXPECT_NE(body, changed) << how.line;
    text.replace(begin, end - begin, changed);
    auto module = ptx::read(Source("changed.ptx", text));
    EXPECT_TRUE(module) << to_string(module.error());
    auto program = isa::build(*module, how.kernel);
    EXPECT_TRUE(program) << to_string(program.error());
    job->job.launches[0].program = std::make_shared<program::Program>(std::move(*program));
    Checks checks;
    exec::LaunchOptions options;
    options.observer = &checks;
    options.seed = 7;
    options.threads = threads;
    options.copies = copies;
    options.timeout = std::chrono::seconds(60);
    (void)host::run_on_cpu(job->job, options, [&](std::span<const machine::Address> addresses) {
        checks.expect(product_of(*job, addresses));
    });
    std::string out;
    for (const Finding& each : checks.findings(job->job.programs())) out += to_string(each);
    return out;
}

class SameReport : public testing::TestWithParam<Changed> {};

TEST_P(SameReport, WithTheSameSeed) {
    for (const auto copies : {machine::CopyPolicy::eager, machine::CopyPolicy::random}) {
        const std::string first = report_of(GetParam(), 1, copies);
        EXPECT_NE(first, "") << "the change is found";
        EXPECT_EQ(first, report_of(GetParam(), 1, copies));
        EXPECT_EQ(first, report_of(GetParam(), 4, copies));
    }
}

INSTANTIATE_TEST_SUITE_P(Gemms, SameReport,
                         testing::Values(Changed{"gemm_f16_tn", "sm_80", R"(cp\.async\.wait_group[^;]*;)", ""},
                                         Changed{"hopper_f16_tn", "sm_90a", R"(fence\.proxy\.async[^;]*;)", ""},
                                         Changed{"blackwell_f16_tn", "sm_100a", R"(tcgen05\.fence::after_thread_sync;)",
                                                 ""},
                                         Changed{"rtx_mxf8_tn", "sm_120a", R"(fence\.proxy\.async[^;]*;)", ""}),
                         [](const auto& changed) { return std::string(changed.param.kernel); });

}  // namespace
}  // namespace tilepath::check
