// Mutation tests: one line of a GEMM of kernels/ is changed, and the checks must say so. A mutant that no check finds
// must compute D right under every completion policy and seed that is tried, and stands in the list of survivors with
// the reason. TILEPATH_WHOLE_MUTATION=1 tries ten seeds of each policy, else two.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <regex>

#include "check/finding.h"
#include "check/provenance/product_of.h"
#include "host/gemm.h"
#include "isa/build.h"
#include "ptx/read.h"

namespace tilepath::check {
namespace {

/// What is changed in a line that matches.
struct Rule {
    std::string name, line, becomes;  ///< regular expression and replacement; an empty replacement removes the line
    int most = 4;                     ///< lines that are tried, spread over those that match
};

struct Mutant {
    const Rule* rule = nullptr;
    unsigned line = 0;  ///< in the module
    std::string text;
};

struct Subject {
    std::string kernel, arch;
    host::GemmCase problem;
    std::vector<Rule> rules;
    /// Rules with a mutant that no check finds and that changes nothing, and why.
    std::map<std::string, std::string> survivors;
};

std::vector<Mutant> mutants_of(const std::string& module, const std::string& entry, const Rule& rule) {
    const std::size_t begin = module.find(".entry " + entry + "(");
    EXPECT_NE(begin, std::string::npos);
    const std::size_t end = module.find("\n}", begin);
    const std::regex pattern(rule.line);
    std::vector<Mutant> all;
    auto line = static_cast<unsigned>(1 + std::count(module.begin(), module.begin() + std::ptrdiff_t(begin), '\n'));
    for (std::size_t at = begin; at < end; ++line) {
        const std::size_t stop = module.find('\n', at);
        const std::string text = module.substr(at, stop - at);
        if (std::regex_search(text, pattern)) {
            const std::string changed = rule.becomes.empty() ? "" : std::regex_replace(text, pattern, rule.becomes);
            all.push_back({&rule, line, module.substr(0, at) + changed + module.substr(stop)});
        }
        at = stop + 1;
    }
    const auto count = static_cast<std::size_t>(rule.most);
    if (all.size() <= count) return all;
    std::vector<Mutant> spread;
    for (std::size_t i = 0; i < count; ++i) spread.push_back(std::move(all[i * all.size() / count]));
    return spread;
}

/// That a mutant is slower does not say that it is wrong.
bool counts(const Finding& finding) { return finding.check != "coalescing" && finding.check != "bank-conflicts"; }

struct Tried {
    bool found = false, differs = false;
    std::string said;
};

class Mutation {
  public:
    explicit Mutation(const Subject& subject) : subject_(subject) {
        const host::GemmKernel* const kernel = host::gemm_kernel_named(subject.kernel);
        EXPECT_NE(kernel, nullptr);
        auto job = host::gemm_job(*kernel, subject.problem, subject.arch);
        EXPECT_TRUE(job) << (job ? "" : to_string(job.error()));
        job_ = std::move(*job);
        auto expected = host::gemm_reference(job_);
        EXPECT_TRUE(expected);
        expected_ = std::move(*expected);
    }

    std::string module() const { return std::string(job_.job.ptx->text()); }

    Tried check(const std::string& text) {
        Tried out;
        if (!use(text, out)) return out;
        Checks checks;
        exec::LaunchOptions options = limited();
        options.observer = &checks;
        const auto outcome = host::run_on_cpu(job_.job, options, [&](std::span<const machine::Address> addresses) {
            checks.expect(product_of(job_, addresses));
        });
        if (!outcome) return out;
        if (!outcome->ok()) out.found = true, out.said = "fault or deadlock";
        for (const Finding& each : checks.findings(*job_.job.launches[0].program)) {
            if (!counts(each)) continue;
            out.found = true;
            out.said = fmt::format("{}: {} ({})", each.check, each.message, each.place.ptx.line);
            break;
        }
        return out;
    }

    /// Whether D is wrong under some policy and seed.
    bool differs(const std::string& text, std::uint64_t seeds) {
        Tried ignored;
        if (!use(text, ignored)) return true;
        for (const auto policy : {machine::CopyPolicy::eager, machine::CopyPolicy::late, machine::CopyPolicy::random}) {
            for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
                exec::LaunchOptions options = limited();
                options.copies = policy;
                options.seed = seed;
                const auto outcome = host::run_on_cpu(job_.job, options);
                if (!outcome || !outcome->ok() || outcome->buffers[host::gemm_d] != expected_) return true;
            }
        }
        return false;
    }

  private:
    static exec::LaunchOptions limited() {
        exec::LaunchOptions options;
        options.seed = 1;
        options.timeout = std::chrono::seconds(60);
        return options;
    }
    /// The mutant's program in place of the kernel's; one that is no legal PTX is found by that.
    bool use(const std::string& text, Tried& out) {
        auto module = ptx::read(Source("mutant.ptx", text));
        if (!module) return out.found = true, out.said = "refused: " + module.error().front().message, false;
        auto program = isa::build(*module, subject_.kernel);
        if (!program) return out.found = true, out.said = "refused: " + program.error().front().message, false;
        job_.job.launches[0].program = std::make_shared<program::Program>(std::move(*program));
        return true;
    }

    const Subject& subject_;
    host::GemmJob job_;
    std::vector<std::uint8_t> expected_;
};

const Subject& ampere() {
    static const Subject subject{
        "gemm_f16_tn",
        "sm_80",
        {.m = 128, .n = 128, .k = 256},
        {
            {"wait_group removed", R"(cp\.async\.wait_group)", "", 4},
            {"commit_group removed", R"(cp\.async\.commit_group)", "", 4},
            {"barrier removed", R"(\b(bar|barrier)\.sync)", "", 6},
            {"ldmatrix one chunk further", R"((ldmatrix.*\[%r\d+)(\+\d+)?\])", "$1+16]", 6},
            {"ldmatrix registers exchanged", R"((ldmatrix.*)\{(%r\d+), ?(%r\d+),)", "$1{$3, $2,", 6},
            {"ldmatrix transposed", R"((ldmatrix\.sync\.aligned\.m8n8\.x4))", "$1.trans", 6},
            {"A's registers exchanged", R"(^(.*mma\.sync.*\{.*\}, ?\{)(%r\d+), ?(%r\d+),)", "$1$3, $2,", 6},
            {"copy to the wrong place", R"((cp\.async\.cg\.shared\.global) \[(%r\d+)\])", "$1 [$2+16]", 6},
            {"copy from the wrong place", R"((cp\.async\.cg\.shared\.global \[%r\d+\], ?\[%rd\d+))", "$1+16", 6},
            {"epilogue stores beside", R"((st\.shared\.v2\.f32\s+\[%r\d+)(\+\d+)?\])", "$1+8]", 6},
        },
        {{"wait_group removed", "the last one: every group that holds a copy has been waited for in the loop"}}};
    return subject;
}

const Subject& hopper() {
    static const Subject subject{
        "hopper_f16_tn",
        "sm_90a",
        {.m = 512, .n = 256, .k = 448, .clusters = 1},
        {
            {"proxy fence removed", R"(fence\.proxy\.async)", "", 8},
            {"wgmma.fence removed", R"(wgmma\.fence)", "", 1},
            {"wgmma commit removed", R"(wgmma\.commit_group)", "", 1},
            {"wgmma wait removed", R"(wgmma\.wait_group)", "", 2},
            {"wgmma waits for one group less", R"((wgmma\.wait_group\.sync\.aligned) 1)", "$1 2", 2},
            {"descriptor without swizzle", R"((or\.b64\s+(%rd\d+), %rd\d+, 46116862933388492\d\d;))",
             "$1 xor.b64 $2, $2, 0x4000000000000000;", 8},
            {"descriptor with 64B", R"((or\.b64\s+(%rd\d+), %rd\d+, 46116862933388492\d\d;))",
             "$1 xor.b64 $2, $2, 0xC000000000000000;", 8},
            {"descriptor with half the stride", R"((or\.b64\s+(%rd\d+), %rd\d+, 46116862933388492\d\d;))",
             "$1 xor.b64 $2, $2, 0x0000006000000000;", 8},
            {"start of the descriptor 16 bytes further", R"((or\.b64\s+(%rd\d+), %rd\d+, 46116862933388492\d\d;))",
             "$1 add.s64 $2, $2, 1;", 8},
            {"fewer bytes expected", R"((mbarrier\.arrive\.expect_tx.*\]), ?%r\d+)", "$1, 4096", 4},
            {"phase of zero", R"((mbarrier\.try_wait\.parity.*\]), ?%r\d+)", "$1, 0", 9},
            {"coordinates exchanged", R"((cp\.async\.bulk\.tensor.*\{)(%r\d+), (%r\d+))", "$1$3, $2", 8},
            {"barrier removed", R"(\bbarrier\.sync\.aligned)", "", 8},
            {"bulk wait removed", R"(cp\.async\.bulk\.wait_group)", "", 8},
            {"bulk commit removed", R"(cp\.async\.bulk\.commit_group)", "", 4},
            {"arrival removed", R"(mbarrier\.arrive\.shared::cluster)", "", 2},
            {"initialisation removed", R"(mbarrier\.init)", "", 4},
            {"initialisation not published", R"(fence\.mbarrier_init)", "", 1},
            {"cluster arrival removed", R"(barrier\.cluster\.arrive)", "", 2},
            {"cluster wait removed", R"(barrier\.cluster\.wait)", "", 2},
            {"epilogue stores beside", R"((st\.shared\.v2\.f32 \[%r\d+)\])", "$1+8]", 6},
            {"B read in the other major-ness", R"((wgmma\.mma_async.*, 1, 1, 0), 0;)", "$1, 1;", 4},
        },
        {{"phase of zero",
          "in the copies of the loop's body for the last steps, whose parity is zero whenever they run"},
         {"initialisation not published",
          "barrier.cluster.arrive.release publishes it too; the fence is for arrive.relaxed (PTX ISA 9.7.13.4)"}}};
    return subject;
}

/// What can be changed in either of Blackwell's two: dense, and with block scales.
std::vector<Rule> blackwell_rules() {
    const std::string constant = R"(or\.b64\s+(%rd\d+), %rd\d+, 46117566620495380\d\d;)";
    return {
        {"descriptor without swizzle", "(" + constant + ")", "$1 xor.b64 $2, $2, 0x4000000000000000;", 4},
        {"descriptor with 64B", "(" + constant + ")", "$1 xor.b64 $2, $2, 0xC000000000000000;", 4},
        {"descriptor with half the stride", "(" + constant + ")", "$1 xor.b64 $2, $2, 0x0000006000000000;", 4},
        {"start of the descriptor 16 bytes further", "(" + constant + ")", "$1 add.s64 $2, $2, 1;", 4},
        {"fewer bytes expected", R"((mbarrier\.arrive\.expect_tx.*\]), ?%r\d+)", "$1, 4096", 4},
        {"phase of zero", R"((mbarrier\.try_wait\.parity.*\]), ?%r\d+)", "$1, 0", 6},
        {"coordinates exchanged", R"((cp\.async\.bulk\.tensor.*\{)(%r\d+), (%r\d+))", "$1$3, $2", 4},
        {"commit removed", R"(tcgen05\.commit)", "", 4},
        {"accumulates from the first step on", R"((tcgen05\.mma.*), p;)", "$1, 1;", 2},
        {"proxy fence removed", R"(fence\.proxy\.async)", "", 4},
        {"bulk wait removed", R"(cp\.async\.bulk\.wait_group)", "", 4},
        {"columns of the load shifted", R"((tcgen05\.ld.*\[%r\d+)\])", "$1+1]", 4},
        {"arrival removed", R"(mbarrier\.arrive\.shared::c)", "", 2},
        {"initialisation removed", R"(mbarrier\.init)", "", 4},
        {"deallocation removed", R"(tcgen05\.dealloc)", "", 1},
    };
}

/// Of both.
const std::map<std::string, std::string>& blackwell_survivors() {
    static const std::map<std::string, std::string> survivors{
        {"phase of zero", "in copies of a loop's body whose parity is zero whenever they run"},
        {"accumulates from the first step on", "in copies of the loop's body that never do the first step"},
        {"bulk wait removed", "the last one: a store that has not read its box when its CTA exits reads it then"},
        {"arrival removed", "of an accumulator that no later tile of this problem waits for"},
        {"initialisation removed", "of a barrier that no tile of this problem comes to"}};
    return survivors;
}

const Subject& blackwell() {
    static const Subject subject{"blackwell_f16_tn",
                                 "sm_100a",
                                 {.m = 256, .n = 256, .k = 448, .clusters = 1},
                                 blackwell_rules(),
                                 blackwell_survivors()};
    return subject;
}

const Subject& blackwell_scaled() {
    static const Subject subject = [] {
        std::vector<Rule> rules = blackwell_rules();
        rules.push_back({"scales of another stage", R"((tcgen05\.cp.*\[%r\d+)\])", "$1+4]", 4});
        return Subject{"blackwell_mxf8_tn",
                       "sm_100a",
                       {.m = 256, .n = 128, .k = 896, .clusters = 1},
                       rules,
                       blackwell_survivors()};
    }();
    return subject;
}

/// Tries every mutant; what is neither found nor harmless is an error, so is a survivor without a reason.
void try_all(const Subject& subject) {
    Mutation mutation(subject);
    const std::string module = mutation.module();
    EXPECT_FALSE(mutation.check(module).found) << "the kernel itself: " << mutation.check(module).said;
    const std::uint64_t seeds = std::getenv("TILEPATH_WHOLE_MUTATION") != nullptr ? 10 : 2;
    int all = 0, found = 0, survived = 0;
    for (const Rule& rule : subject.rules) {
        for (const Mutant& mutant : mutants_of(module, subject.kernel, rule)) {
            ++all;
            const Tried tried = mutation.check(mutant.text);
            if (tried.found) {
                ++found;
                if (std::getenv("TILEPATH_TELL_MUTANTS") != nullptr)
                    fmt::print("found    {}: line {}: {}\n", rule.name, mutant.line, tried.said);
                continue;
            }
            const bool differs = mutation.differs(mutant.text, seeds);
            EXPECT_FALSE(differs) << rule.name << ", line " << mutant.line << ": changes D, and no check finds it";
            const bool listed = subject.survivors.contains(rule.name);
            EXPECT_TRUE(differs || listed) << rule.name << ", line " << mutant.line << ": survives without a reason";
            ++survived;
        }
    }
    fmt::print("{}: {} mutants, {} found, {} survived\n", subject.kernel, all, found, survived);
}

TEST(Mutation, OfTheAmpereGemm) { try_all(ampere()); }
TEST(Mutation, OfTheHopperGemm) { try_all(hopper()); }
TEST(Mutation, OfTheBlackwellGemm) { try_all(blackwell()); }
TEST(Mutation, OfTheBlockScaledGemm) { try_all(blackwell_scaled()); }

}  // namespace
}  // namespace tilepath::check
