// What the headers beside the kernels say, against sources other than themselves.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <set>
#include <string>

#include "kernels/ampere/gemm_config.h"
#include "kernels/epilogue.h"
#include "kernels/inputs.h"
#include "kernels/ptx_text.h"

namespace tilepath::kernels {
namespace {

TEST(GemmEntries, AreTheEntriesOfThePtxAndNoMore) {
    std::set<std::string> modules;
    for (const GemmEntry& entry : gemm_entries) modules.insert(std::string(entry.module));
    for (const std::string& module : modules) {
        const std::string text = ptx_text("ampere", module);
        std::size_t entries = 0;
        for (const GemmEntry& entry : gemm_entries) {
            if (entry.module != module) continue;
            ++entries;
            const std::size_t at = text.find(".visible .entry " + std::string(entry.name) + "(");
            ASSERT_NE(at, std::string::npos) << entry.name;
            const std::string head = text.substr(at, text.find('{', at) - at);
            EXPECT_EQ(occurrences(head, ".param"), gemm_parameter_offsets.size()) << entry.name;
            EXPECT_EQ(occurrences(head, ".param .u64"), 5u) << entry.name;
            const int threads = entry.simt ? SimtConfig{}.threads() : gemm_config(entry.input).threads();
            EXPECT_NE(head.find(".maxntid " + std::to_string(threads)), std::string::npos) << head;
        }
        EXPECT_EQ(occurrences(text, ".visible .entry "), entries) << module;
    }
}

TEST(GemmConfig, SwizzleKeepsTheBanksOfEightRowsApart) {
    // The rows of one 8x8 matrix of ldmatrix: consecutive rows, one chunk. Eight chunks of 16 bytes are the 32 banks
    // once.
    for (const int row_bytes : {64, 128, 256}) {
        for (int first = 0; first < 64; first += 8) {
            for (int chunk = 0; chunk < row_bytes / 16; ++chunk) {
                std::set<int> banks;
                for (int row = first; row < first + 8; ++row) {
                    const int swizzled = swizzled_chunk(row, chunk, row_bytes);
                    EXPECT_LT(swizzled, row_bytes / 16);
                    banks.insert((row * row_bytes / 16 + swizzled) % 8);
                }
                EXPECT_EQ(banks.size(), 8u) << row_bytes << ' ' << first << ' ' << chunk;
            }
        }
    }
}

TEST(GemmConfig, IsWhatFitsTwiceIntoAnA100) {
    for (const GemmType type : {GemmType::f16, GemmType::bf16, GemmType::tf32, GemmType::s8}) {
        const GemmConfig config = gemm_config(type);
        EXPECT_LE(2 * (config.dynamic_shared_bytes() + 1024),
                  164 * 1024);  // CUDA C++ Programming Guide, compute capability 8.0
        EXPECT_EQ(config.threads(), 128);
    }
    EXPECT_EQ(gemm_config(GemmType::f16).mma_k(), 16);  // PTX ISA, mma.sync: m16n8k16 .f16
    EXPECT_EQ(gemm_config(GemmType::tf32).mma_k(), 8);  // m16n8k8 .tf32
    EXPECT_EQ(gemm_config(GemmType::s8).mma_k(), 32);   // m16n8k32 .s8
}

TEST(Inputs, AreSplitMix64) {
    // The first outputs for seed 1234567, as published with the algorithm's reference code.
    constexpr std::uint64_t golden = 0x9E3779B97F4A7C15u;
    EXPECT_EQ(splitmix64_mix(1234567 + golden), 6457827717110365317u);
    EXPECT_EQ(splitmix64_mix(1234567 + 2 * golden), 3203168211198807973u);
    EXPECT_EQ(splitmix64_mix(1234567 + 3 * golden), 9817491932198370423u);
}

TEST(Gelu, IsWithinItsBoundOfTheExactFunction) {
    for (int i = -120000; i <= 120000; ++i) {
        const float x = static_cast<float>(i) * 1e-4f;
        const double exact = x * 0.5 * std::erfc(-double{x} / std::sqrt(2.0));
        EXPECT_LE(std::fabs(gelu_rn(x) - exact), 1e-6 + 2e-7 * std::fabs(x)) << x;
    }
}

TEST(Gelu, SpecialValues) {
    const auto bits = [](float x) { return std::bit_cast<std::uint32_t>(gelu_rn(x)); };
    constexpr float infinity = std::numeric_limits<float>::infinity();
    EXPECT_EQ(bits(infinity), 0x7F800000u);
    EXPECT_EQ(bits(-infinity), 0x80000000u);
    EXPECT_EQ(bits(std::numeric_limits<float>::quiet_NaN()), 0x7FFFFFFFu);
    EXPECT_EQ(bits(-std::numeric_limits<float>::signaling_NaN()), 0x7FFFFFFFu);
    EXPECT_EQ(bits(0.0f), 0u);
    EXPECT_EQ(bits(-0.0f), 0x80000000u);
    EXPECT_EQ(bits(5.0f), std::bit_cast<std::uint32_t>(5.0f));
    EXPECT_EQ(bits(-5.0f), 0x80000000u);
    EXPECT_EQ(bits(1e-40f), 0x00008B61u);  // half of the subnormal 0x000116C2: Phi(0) = 0.5 exactly
    EXPECT_EQ(std::bit_cast<std::uint32_t>(1e-40f), 0x000116C2u);
}

TEST(Epilogue, SumsAreSingleFma) {
    const float a = 1.0f + 0x1p-12f, tiny = 0x1p-24f;
    // a * a = 1 + 2^-11 + 2^-24; with c = -(1 + 2^-11) a single rounding keeps the 2^-24, two would lose it.
    EXPECT_EQ(scale_rn(a, -(1.0f + 0x1p-11f), a, 1.0f), tiny);
    EXPECT_EQ(scale_rn(2.0f, std::numeric_limits<float>::quiet_NaN(), 3.0f, 0.0f), 6.0f);  // c not read
    EXPECT_EQ(scale_rn(0x7FFFFFFF, 1, 1, 1), std::numeric_limits<int>::min());
    EXPECT_EQ(linear_rn(0.0f, 0.0f, 1.0f, 0.0f, 6.0f), 6.0f);
    EXPECT_EQ(linear_rn(1.0f, 2.0f, 2.0f, 3.0f, 4.0f), 12.0f);
}

}  // namespace
}  // namespace tilepath::kernels
