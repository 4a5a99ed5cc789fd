// Every result that an H200 gave for the GEMMs of kernels/hopper, computed anew from what the headers beside the
// kernels promise: the inputs, the order of k, the dot product of number/ for wgmma, the epilogue.
#include <gtest/gtest.h>

#include <bit>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "kernels/epilogue.h"
#include "kernels/hopper/gemm_config.h"
#include "number/conversion.h"
#include "number/recipe.h"

namespace tilepath::kernels::hopper {
namespace {

using number::Format;

Format format(GemmType type) { return *number::format_named(name(type)); }
float as_float(std::uint32_t bits, GemmType type) { return static_cast<float>(number::to_double(bits, format(type))); }

struct Line {
    std::string entry;
    int m = 0, n = 0, k = 0, batch = 0;
    std::uint32_t alpha = 0, beta = 0;
    std::uint64_t seed = 0, hash = 0;
};

std::vector<Line> recorded() {
    std::ifstream file(TILEPATH_TEST_DIR "/vectors/gemm_hopper_h200.txt");
    std::vector<Line> lines;
    for (std::string text; std::getline(file, text);) {
        if (text.starts_with('#')) continue;
        Line line;
        std::istringstream words(text);
        words >> line.entry >> line.m >> line.n >> line.k >> line.batch >> std::hex >> line.alpha >> line.beta >>
            std::dec >> line.seed >> std::hex >> line.hash;
        EXPECT_TRUE(words) << text;
        lines.push_back(line);
    }
    return lines;
}

class Reference {
  public:
    Reference(const GemmEntry& entry, const Line& line)
        : entry_(entry),
          line_(line),
          recipe_(*number::recipe({.device = number::Generation::hopper,
                                   .instruction = number::Instruction::wgmma,
                                   .a = format(entry.input),
                                   .b = format(entry.input),
                                   .d = Format::f32})) {
        const int cta_k = gemm_config(entry.input).cta_k();
        padded_k_ = (line.k + cta_k - 1) / cta_k * cta_k;
        a_ = rows(line.m, entry.a == 't', InputOperand::a), b_ = rows(line.n, entry.b == 'n', InputOperand::b);
    }

    std::uint64_t hash() const {
        const int ldd = leading_dimension(line_.n, entry_.output), bytes = element_bytes(entry_.output);
        std::uint64_t hash = 0xCBF29CE484222325u;
        for (int batch = 0; batch < line_.batch; ++batch) {
            for (int m = 0; m < line_.m; ++m) {
                for (int n = 0; n < ldd; ++n) {
                    // The TMA stores whole units of 16 bytes, so that the padding of a row receives what the kernel has
                    // there in shared memory: the epilogue of zeros, which is zero.
                    const std::uint32_t d = n < line_.n ? result(batch, m, n) : 0u;
                    for (int i = 0; i < bytes; ++i) hash = (hash ^ (d >> (8 * i) & 0xFF)) * 0x100000001B3u;
                }
            }
        }
        return hash;
    }

  private:
    // One operand as rows of padded_k_ elements, one row for each batch and m or n, zeros beyond K.
    std::vector<number::Term> rows(int outer_extent, bool k_contiguous, InputOperand operand) const {
        const std::size_t ld = leading_dimension(k_contiguous ? line_.k : outer_extent, entry_.input);
        const std::size_t matrix = ld * (k_contiguous ? outer_extent : line_.k);
        std::vector<std::uint64_t> bits(std::size_t(line_.batch) * outer_extent * padded_k_, 0);
        for (int batch = 0; batch < line_.batch; ++batch) {
            for (int outer = 0; outer < outer_extent; ++outer) {
                for (int k = 0; k < line_.k; ++k) {
                    const std::size_t index = batch * matrix + (k_contiguous ? outer * ld + k : k * ld + outer);
                    bits[(std::size_t(batch) * outer_extent + outer) * padded_k_ + k] =
                        input_element(entry_.input, input_bits(line_.seed, operand, index));
                }
            }
        }
        return number::decode_terms(bits, recipe_.a);
    }

    std::uint32_t result(int batch, int m, int n) const {
        const std::size_t a = (std::size_t(batch) * line_.m + m) * padded_k_,
                          b = (std::size_t(batch) * line_.n + n) * padded_k_;
        const int step = gemm_config(entry_.input).mma_k();
        std::uint32_t sum = 0;
        for (int k = 0; k < padded_k_; k += step)
            sum = number::dot(recipe_, std::span(a_).subspan(a + k, step), std::span(b_).subspan(b + k, step), sum);
        const std::size_t at = (std::size_t(batch) * line_.m + m) * leading_dimension(line_.n, entry_.output) + n;
        const float alpha = std::bit_cast<float>(line_.alpha), beta = std::bit_cast<float>(line_.beta);
        const auto input = [&](GemmType type, InputOperand operand, std::size_t index) {
            return as_float(input_element(type, input_bits(line_.seed, operand, index)), type);
        };
        const float accumulator = std::bit_cast<float>(sum), c = input(entry_.output, InputOperand::c, at);
        const float d = entry_.linear
                            ? linear_rn(accumulator, c, alpha, beta, input(GemmType::f32, InputOperand::bias, n))
                            : scale_rn(accumulator, c, alpha, beta);
        const std::uint32_t bits = std::bit_cast<std::uint32_t>(d);
        if (entry_.output == GemmType::f32) return bits;
        return static_cast<std::uint32_t>(number::convert(bits, Format::f32, format(entry_.output)));
    }

    const GemmEntry& entry_;
    const Line& line_;
    number::DotRecipe recipe_;
    int padded_k_ = 0;
    std::vector<number::Term> a_, b_;
};

class GemmHopperOnH200 : public ::testing::TestWithParam<GemmEntry> {};

TEST_P(GemmHopperOnH200, EveryCaseAgreesToTheBit) {
    const GemmEntry& entry = GetParam();
    int cases = 0;
    for (const Line& line : recorded()) {
        if (line.entry != entry.name) continue;
        ++cases;
        EXPECT_EQ(Reference(entry, line).hash(), line.hash)
            << line.m << 'x' << line.n << 'x' << line.k << " batch " << line.batch;
    }
    EXPECT_GE(cases, 20);
}

INSTANTIATE_TEST_SUITE_P(Entries, GemmHopperOnH200, ::testing::ValuesIn(gemm_entries),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace tilepath::kernels::hopper
