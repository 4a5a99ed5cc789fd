#include <gtest/gtest.h>

#include "fused_dot_requests.h"
#include "number/fused_dot.h"
#include "second_model.h"

namespace tilepath::number {
namespace {

struct Case {
    DotRequest request;
    std::size_t length;
};

std::vector<Case> fused_cases() {
    std::vector<Case> cases;
    const Format inputs[] = {Format::f16,  Format::bf16, Format::tf32, Format::e4m3,
                             Format::e5m2, Format::e3m2, Format::e2m3, Format::e2m1};
    for (unsigned device = 0; device <= unsigned(Generation::blackwell_rtx); ++device)
        for (const Instruction instruction :
             {Instruction::mma_sync, Instruction::wgmma, Instruction::tcgen05_mma, Instruction::wmma})
            for (const Format a : inputs)
                for (const Format b : inputs)
                    for (const Format d : {Format::f32, Format::f16})
                        for (const Scaling scaling : {Scaling::none, Scaling::per_dot, Scaling::per_group}) {
                            DotRequest q{.device = Generation(device),
                                         .instruction = instruction,
                                         .a = a,
                                         .b = b,
                                         .d = d,
                                         .scaling = scaling};
                            const auto r = recipe(q);
                            if (!r || r->kind != DotRecipe::Kind::fused) continue;
                            cases.push_back({q, scaling == Scaling::per_group ? 64u
                                                : traits(a).bits <= 8         ? 32u
                                                : traits(a).bits == 16        ? 16u
                                                                              : 8u});
                            if (scaling != Scaling::per_group) continue;
                            q.scale = Format::ue4m3, q.scale_block = 16;
                            cases.push_back({q, 64});
                        }
    return cases;
}

TEST(FusedDot, AgreesWithASecondModelOnEveryRow) {
    std::mt19937_64 random(20251130);
    const auto cases = fused_cases();
    EXPECT_GT(cases.size(), 150u);
    for (const Case& one : cases) {
        const DotRecipe r = require(one.request);
        for (unsigned trial = 0; trial < 400; ++trial) {
            const unsigned style = trial % 4;
            const Bits a = finite_row(random, r.a, one.length, style), b = finite_row(random, r.b, one.length, style);
            const std::uint64_t c = finite_row(random, r.d, 1, (trial / 4) % 4).front();
            Bits scale_a, scale_b;
            for (std::size_t k = 0; r.scale_block != 0 && k < one.length; k += std::size_t(r.scale_block)) {
                // Near one another, so that several groups and c overlap.
                const auto scale = [&] { return r.scale == Format::ue8m0 ? 110 + random() % 30 : random() % 0x7f; };
                scale_a.push_back(scale()), scale_b.push_back(scale());
            }
            const Scales scales{scale_a, scale_b};
            ASSERT_EQ(dot(r, a, b, c, scales), second_fused_dot(r, a, b, c, scales))
                << name(one.request.device) << " " << name(one.request.instruction) << " " << traits(r.a).name << ","
                << traits(r.b).name << "," << traits(r.d).name << " trial " << trial;
        }
    }
}

}  // namespace
}  // namespace tilepath::number
