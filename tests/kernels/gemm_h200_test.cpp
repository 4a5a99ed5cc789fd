// Every result that an H200 gave for the GEMMs of kernels/ampere, computed anew from what the headers beside the
// kernels promise: the inputs, the order of k, the dot product of number/, the epilogue.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "kernels/ampere/gemm_config.h"
#include "kernels/epilogue.h"
#include "kernels/inputs.h"
#include "number/conversion.h"
#include "number/recipe.h"

namespace tilepath::kernels {
namespace {

using number::Format;

Format format(GemmType type) { return *number::format_named(name(type)); }

std::uint32_t element(GemmType type, std::uint64_t seed, InputOperand operand, std::size_t index) {
    return input_element(type, input_bits(seed, operand, index));
}

float as_float(std::uint32_t bits, GemmType type) { return static_cast<float>(number::to_double(bits, format(type))); }

struct Line {
    std::string entry;
    int m = 0, n = 0, k = 0, pad = 0, offset = 0;
    std::uint32_t alpha = 0, beta = 0;
    std::uint64_t seed = 0, hash = 0;
};

std::vector<Line> recorded() {
    std::ifstream file(TILEPATH_TEST_DIR "/vectors/gemm_h200.txt");
    std::vector<Line> lines;
    for (std::string text; std::getline(file, text);) {
        if (text.starts_with('#')) continue;
        Line line;
        std::istringstream words(text);
        words >> line.entry >> line.m >> line.n >> line.k >> line.pad >> line.offset >> std::hex >> line.alpha >>
            line.beta >> std::dec >> line.seed >> std::hex >> line.hash;
        EXPECT_TRUE(words) << text;
        lines.push_back(line);
    }
    return lines;
}

class Reference {
  public:
    Reference(const GemmEntry& entry, const Line& line) : entry_(entry), line_(line) {
        const GemmConfig config = gemm_config(entry.input);
        padded_k_ = entry.simt ? line.k : (line.k + config.cta_k() - 1) / config.cta_k() * config.cta_k();
        fill(a_, line.m, entry.a == 't', line.m, InputOperand::a);
        fill(b_, line.n, entry.b == 'n', line.n, InputOperand::b);
        if (entry.simt) {
            for (const auto x : a_) a_floats_.push_back(as_float(static_cast<std::uint32_t>(x), entry.input));
            for (const auto x : b_) b_floats_.push_back(as_float(static_cast<std::uint32_t>(x), entry.input));
            return;
        }
        const number::DotRequest request{.device = number::Generation::hopper,
                                         .a = format(entry.input),
                                         .b = format(entry.input),
                                         .d = format(entry.input == GemmType::s8 ? GemmType::s32 : GemmType::f32)};
        recipe_ = *number::recipe(request);
        a_terms_ = number::decode_terms(a_, recipe_.a), b_terms_ = number::decode_terms(b_, recipe_.b);
    }

    std::uint64_t hash() const {
        const int ldd = line_.n + line_.pad, bytes = element_bytes(entry_.output);
        std::uint64_t hash = 0xCBF29CE484222325u;
        for (int m = 0; m < line_.m; ++m) {
            for (int n = 0; n < ldd; ++n) {
                const std::uint32_t d = n < line_.n ? result(m, n) : 0xA5A5A5A5u;
                for (int i = 0; i < bytes; ++i) hash = (hash ^ (d >> (8 * i) & 0xFF)) * 0x100000001B3u;
            }
        }
        return hash;
    }

  private:
    // One operand as rows of padded_k_ elements, one row for each m or n, zeros beyond K.
    void fill(std::vector<std::uint64_t>& rows, int outer_extent, bool k_contiguous, int contiguous_outer,
              InputOperand operand) {
        const std::size_t ld = (k_contiguous ? line_.k : contiguous_outer) + line_.pad;
        rows.assign(std::size_t(outer_extent) * padded_k_, 0);
        for (int outer = 0; outer < outer_extent; ++outer) {
            for (int k = 0; k < line_.k; ++k) {
                const std::size_t index = line_.offset + (k_contiguous ? outer * ld + k : k * ld + outer);
                rows[std::size_t(outer) * padded_k_ + k] = element(entry_.input, line_.seed, operand, index);
            }
        }
    }

    std::uint32_t accumulated(int m, int n) const {
        const std::size_t a = std::size_t(m) * padded_k_, b = std::size_t(n) * padded_k_;
        if (!entry_.simt) {
            const int step = gemm_config(entry_.input).mma_k();
            std::uint32_t d = 0;
            for (int k = 0; k < padded_k_; k += step) {
                d = number::dot(recipe_, std::span(a_terms_).subspan(a + k, step),
                                std::span(b_terms_).subspan(b + k, step), d);
            }
            return d;
        }
        if (entry_.input == GemmType::s8) {
            std::uint32_t sum = 0;
            for (int k = 0; k < line_.k; ++k)
                sum += std::int32_t{std::int8_t(a_[a + k])} * std::int32_t{std::int8_t(b_[b + k])};
            return sum;
        }
        float sum = 0;
        for (int k = 0; k < line_.k; ++k) {
            sum = fma_rn(a_floats_[a + k], b_floats_[b + k], sum);
        }
        return std::bit_cast<std::uint32_t>(sum);
    }

    std::uint32_t result(int m, int n) const {
        const std::uint32_t accumulator = accumulated(m, n);
        const std::size_t at = std::size_t(m) * (line_.n + line_.pad) + n;
        const std::uint32_t old = element(entry_.output, line_.seed, InputOperand::c, at);
        if (entry_.output == GemmType::s32)
            return scale_rn(int(accumulator), int(old), int(line_.alpha), int(line_.beta));
        const float alpha = std::bit_cast<float>(line_.alpha), beta = std::bit_cast<float>(line_.beta);
        const float sum = std::bit_cast<float>(accumulator), c = as_float(old, entry_.output);
        const float d =
            entry_.linear
                ? linear_rn(sum, c, alpha, beta,
                            as_float(element(GemmType::f32, line_.seed, InputOperand::bias, n), GemmType::f32))
                : scale_rn(sum, c, alpha, beta);
        const std::uint32_t bits = std::bit_cast<std::uint32_t>(d);
        if (entry_.output == GemmType::f32) return bits;
        return static_cast<std::uint32_t>(number::convert(bits, Format::f32, format(entry_.output)));
    }

    const GemmEntry& entry_;
    const Line& line_;
    int padded_k_ = 0;
    number::DotRecipe recipe_;
    std::vector<std::uint64_t> a_, b_;
    std::vector<float> a_floats_, b_floats_;
    std::vector<number::Term> a_terms_, b_terms_;
};

TEST(GemmOnH200, EveryEntryAndCaseAgreesToTheBit) {
    const std::vector<Line> lines = recorded();
    ASSERT_EQ(lines.size() % std::size(gemm_entries), 0u);
    ASSERT_GE(lines.size() / std::size(gemm_entries), 20u);
    for (const GemmEntry& entry : gemm_entries) {
        std::size_t cases = 0;
        for (const Line& line : lines) {
            if (line.entry != entry.name) continue;
            ++cases;
            EXPECT_EQ(Reference(entry, line).hash(), line.hash)
                << entry.name << ' ' << line.m << 'x' << line.n << 'x' << line.k << " pad " << line.pad << " offset "
                << line.offset;
        }
        EXPECT_GE(cases, 20u) << entry.name;
    }
}

}  // namespace
}  // namespace tilepath::kernels
