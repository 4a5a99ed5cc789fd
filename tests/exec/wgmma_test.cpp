// wgmma against the manual's formulas and number/'s scalar reference.
#include "wgmma_case.h"

namespace tilepath::exec {
namespace {

void expect_model(const WgmmaCase& test) {
    const WgmmaData data = random_data(test);
    const std::vector<std::uint32_t> expected = model_wgmma(test, data), found = run_wgmma(test, data);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) wrong += expected[i] != found[i];
    EXPECT_EQ(wrong, 0u) << test.instruction(0) << " of " << expected.size();
}

/// Tiles one after the other, packed without gaps, as the mode wants them.
WgmmaOperand packed(const WgmmaCase& test, int mn, int width, std::uint32_t start) {
    WgmmaOperand operand;
    operand.width = width;
    operand.start = start;
    const int row_bytes = test.k() * test.bits() / 8;  // of all of k
    const auto w = static_cast<std::uint32_t>(width);
    operand.stride = 128 * w;
    operand.leading = static_cast<std::uint32_t>(mn) * 16 * w;
    if (width == 1) operand.step = static_cast<std::uint32_t>(row_bytes / 16) * operand.leading;
    return operand;
}

WgmmaOperand packed_mn(int mn, int width, std::uint32_t start) {
    WgmmaOperand operand;
    operand.mn_major = true;
    operand.width = width;
    operand.start = start;
    const auto w = static_cast<std::uint32_t>(width), atoms = static_cast<std::uint32_t>(mn / (8 * width));
    const std::uint32_t next_mn = 128 * w, next_k = 128 * w * atoms;
    operand.leading = width == 1 ? next_k : next_mn;
    operand.stride = width == 1 ? next_mn : next_k;
    operand.step = 2 * next_k;
    return operand;
}

constexpr std::uint32_t at_a = 1024, at_b = 17 * 1024;

void place_operands(WgmmaCase& test, int width_a, int width_b) {
    test.in_a = packed(test, 64, width_a, at_a);
    if (test.sparse) test.in_a.leading = 1024 * static_cast<std::uint32_t>(width_a);
    test.in_b = packed(test, test.n, width_b, at_b);
}

TEST(Wgmma, EveryTypeComputesAsTheManualSays) {
    static const char* const types[][3] = {
        {"f32", "f16", "f16"},   {"f16", "f16", "f16"},   {"f32", "bf16", "bf16"}, {"f32", "tf32", "tf32"},
        {"f32", "e4m3", "e4m3"}, {"f32", "e4m3", "e5m2"}, {"f32", "e5m2", "e4m3"}, {"f32", "e5m2", "e5m2"},
        {"f16", "e4m3", "e4m3"}, {"f16", "e5m2", "e4m3"}, {"s32", "s8", "s8"},     {"s32", "s8", "u8"},
        {"s32", "u8", "s8"},     {"s32", "u8", "u8"},     {"s32", "b1", "b1"},
    };
    std::uint64_t seed = 1;
    for (const auto& type : types) {
        for (const int n : {8, 24, 64, 256}) {
            for (const bool in_registers : {false, true}) {
                WgmmaCase test{.d = type[0], .a = type[1], .b = type[2], .n = n, .a_in_registers = in_registers};
                test.seed = ++seed;
                place_operands(test, 8, 8);
                expect_model(test);
            }
        }
    }
}

TEST(Wgmma, EverySwizzleAndBothMajors) {
    std::uint64_t seed = 100;
    for (const int width_a : {1, 2, 4, 8}) {
        for (const int width_b : {1, 2, 4, 8}) {
            for (const bool mn_a : {false, true}) {
                for (const bool mn_b : {false, true}) {
                    WgmmaCase test{.a = "bf16", .b = "bf16", .n = 128};
                    test.seed = ++seed;
                    place_operands(test, width_a, width_b);
                    if (mn_a) test.in_a = packed_mn(64, width_a, at_a);
                    if (mn_b) test.in_b = packed_mn(128, width_b, at_b);
                    expect_model(test);
                }
            }
        }
    }
}

// Starts inside the swizzle's pattern with and without a base offset, offsets of no particular order.
TEST(Wgmma, StartsAndBaseOffsets) {
    std::uint64_t seed = 200;
    for (const int width : {1, 2, 4, 8}) {
        for (const int base_offset : {0, 1, 3, 7}) {
            for (const bool mn : {false, true}) {
                WgmmaCase test{.n = 64};
                test.seed = ++seed;
                place_operands(test, width, width);
                if (mn) test.in_a = packed_mn(64, width, at_a), test.in_b = packed_mn(64, width, at_b);
                test.in_a.start += 128u * static_cast<unsigned>(base_offset);
                test.in_b.start += 128u * static_cast<unsigned>(base_offset) + 48;
                test.in_a.base_offset = test.in_b.base_offset = base_offset;
                test.in_a.stride += 16;
                test.in_b.leading += 144;
                expect_model(test);
            }
        }
    }
}

// Four k steps in one group: the start advances inside the swizzle's row.
TEST(Wgmma, AChainOfOperationsOnTheSameAccumulators) {
    std::uint64_t seed = 300;
    for (const char* type : {"f16", "bf16", "tf32", "e4m3", "s8", "b1"}) {
        for (const bool in_registers : {false, true}) {
            const std::string a = type;
            WgmmaCase test{.d = a == "s8" || a == "b1" ? "s32" : "f32", .a = a, .b = a, .n = 32};
            test.a_in_registers = in_registers;
            test.steps = 4;
            test.seed = ++seed;
            place_operands(test, 8, 8);
            expect_model(test);
        }
    }
    WgmmaCase half{.d = "f16", .n = 32, .steps = 3};
    place_operands(half, 8, 1);
    expect_model(half);
    WgmmaCase saturating{.d = "s32", .a = "s8", .b = "u8", .n = 32, .saturate = true, .steps = 4};
    place_operands(saturating, 8, 4);
    expect_model(saturating);
}

TEST(Wgmma, ScaleDAndNegation) {
    std::uint64_t seed = 400;
    for (const char* scale_d : {"0", "1", "%p1", "%p2", "!%p1", "!%p2"}) {
        WgmmaCase test{.n = 16, .steps = 2, .scale_d = scale_d};
        test.seed = ++seed;
        place_operands(test, 8, 8);
        expect_model(test);
    }
    static const char* const types[][2] = {{"f16", "f16"}, {"bf16", "bf16"}, {"tf32", "tf32"}, {"e4m3", "e5m2"}};
    for (const auto& type : types) {
        for (int negated = 1; negated < 4; ++negated) {
            for (const bool in_registers : {false, true}) {
                WgmmaCase test{.a = type[0], .b = type[1], .n = 16, .a_in_registers = in_registers};
                test.negate_a = negated % 2 == 1, test.negate_b = negated / 2 == 1;
                test.seed = ++seed;
                place_operands(test, 4, 4);
                expect_model(test);
            }
        }
    }
}

TEST(Wgmma, SparseOperandsFollowTheMetadata) {
    static const char* const types[][3] = {{"f32", "f16", "f16"},   {"f16", "f16", "f16"},   {"f32", "bf16", "bf16"},
                                           {"f32", "tf32", "tf32"}, {"f32", "e4m3", "e5m2"}, {"f16", "e5m2", "e5m2"},
                                           {"s32", "s8", "u8"},     {"s32", "u8", "u8"}};
    std::uint64_t seed = 500;
    for (const auto& type : types) {
        for (const int width : {1, 2, 4, 8}) {
            for (const bool in_registers : {false, true}) {
                WgmmaCase test{.d = type[0], .a = type[1], .b = type[2], .n = 24};
                test.sparse = true;
                test.a_in_registers = in_registers;
                test.seed = ++seed;
                test.selector = test.bits() == 8 ? 0 : static_cast<int>(seed % 2);
                test.saturate = test.d == "s32" && width == 8;
                place_operands(test, width, width);
                expect_model(test);
            }
        }
    }
}

}  // namespace
}  // namespace tilepath::exec
