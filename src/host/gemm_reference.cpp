// D by the scalar reference: a second way from inputs to bits that shares nothing with the interpreter or the engine.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <thread>

#include "host/gemm.h"
#include "kernels/epilogue.h"
#include "number/conversion.h"
#include "number/recipe.h"

namespace tilepath::host {
namespace {

using kernels::GemmType;
using number::Format;
using number::Term;

Format format_of(GemmType type) { return *number::format_named(kernels::name(type)); }
float as_float(std::uint64_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits)); }

/// One operand as rows of k elements, padded with zeros to the k that the kernel walks.
struct Rows {
    std::vector<Term> terms;    ///< tensor cores, and s8
    std::vector<float> values;  ///< SIMT in f32
    std::size_t pitch = 0;

    std::span<const Term> row(std::size_t r) const { return std::span(terms).subspan(r * pitch, pitch); }
    std::span<const float> chain(std::size_t r) const { return std::span(values).subspan(r * pitch, pitch); }
};

class Reference {
  public:
    explicit Reference(const GemmJob& gemm) : p_(gemm.product), job_(gemm.job) {}

    Result<std::vector<std::uint8_t>> run(const Progress& progress) {
        auto generation = number::generation_of(job_.arch);
        if (!generation) return std::unexpected(generation.error());
        if (!p_.fma_chain) {
            const Format accumulator = p_.input == GemmType::s8 ? Format::s32 : Format::f32;
            number::DotRequest request{.device = *generation,
                                       .instruction = p_.instruction,
                                       .a = format_of(p_.input),
                                       .b = format_of(p_.input_b),
                                       .d = accumulator};
            if (p_.scale != kernels::BlockScale::none) {
                const bool fp4 = p_.input == GemmType::e2m1 && p_.input_b == GemmType::e2m1;
                request.scaling = fp4 ? number::Scaling::per_group : number::Scaling::per_dot;
                request.scale = p_.scale == kernels::BlockScale::mx ? Format::ue8m0 : Format::ue4m3;
                request.scale_block = kernels::scale_block(p_.scale);
                scales_a_ = scales(p_.scale_a, p_.m), scales_b_ = scales(p_.scale_b, p_.n);
            }
            auto recipe = number::recipe(request);
            if (!recipe) return std::unexpected(recipe.error());
            recipe_ = *recipe;
        }
        a_ = rows(job_.buffers[0], p_.a, p_.m, p_.input);
        b_ = rows(job_.buffers[1], p_.b, p_.n, p_.input_b);
        d_.assign(job_.buffers[gemm_d].bytes.size(), p_.between_rows);
        const int all = p_.batch * p_.m;
        std::atomic<int> next{0};
        std::atomic<int> finished{0};
        auto work = [&](bool tells) {
            for (int row; (row = next++) < all;) {
                for (int n = 0; n < p_.n; ++n) element(row / p_.m, row % p_.m, n);
                ++finished;
                if (tells && progress)
                    progress(static_cast<std::uint64_t>(finished.load()), static_cast<std::uint64_t>(all));
            }
        };
        std::vector<std::jthread> helpers;
        for (unsigned i = 1; i < std::max(1u, std::thread::hardware_concurrency()); ++i)
            helpers.emplace_back(work, false);
        work(true);
        helpers.clear();
        return std::move(d_);
    }

  private:
    /// `count` rows of each matrix of the batch.
    Rows rows(const Buffer& buffer, const GemmProduct::Matrix& matrix, int count, GemmType type) const {
        Rows out;
        out.pitch = static_cast<std::size_t>(p_.padded_k);
        const Format format = format_of(type);
        const std::size_t all = static_cast<std::size_t>(p_.batch) * static_cast<std::size_t>(count) * out.pitch;
        if (p_.fma_chain)
            out.values.resize(all);
        else
            out.terms.resize(all, number::decode_term(0, format));
        for (int r = 0; r < p_.batch * count; ++r)
            for (int k = 0; k < p_.k; ++k) {
                const auto from = static_cast<std::uint64_t>(matrix.at(r / count, r % count, k));
                const std::uint64_t bits = host::element(buffer.bytes, buffer.dtype, from);
                const std::size_t at = static_cast<std::size_t>(r) * out.pitch + static_cast<std::size_t>(k);
                if (p_.fma_chain)
                    out.values[at] = as_float(number::convert(bits, format, Format::f32));
                else
                    out.terms[at] = number::decode_term(bits, format);
            }
        return out;
    }

    /// Of `count` rows of each matrix of the batch, those of one row one behind the other.
    std::vector<std::uint64_t> scales(const GemmProduct::Scales& of, int count) const {
        std::vector<std::uint64_t> out;
        for (int r = 0; r < p_.batch * count; ++r)
            for (int block = 0; block < blocks(); ++block)
                out.push_back(job_.buffers[of.buffer].bytes[of.at(r / count, r % count, block)]);
        return out;
    }
    int blocks() const { return p_.padded_k / kernels::scale_block(p_.scale); }

    std::uint32_t accumulate(std::size_t a_row, std::size_t b_row) const {
        if (p_.fma_chain) {
            const std::span<const float> a = a_.chain(a_row), b = b_.chain(b_row);
            float sum = 0;
            for (std::size_t k = 0; k < a.size(); ++k) sum = kernels::fma_rn(a[k], b[k], sum);
            return std::bit_cast<std::uint32_t>(sum);
        }
        if (a_.pitch == 0) return 0;
        number::Scales scales;
        if (p_.scale != kernels::BlockScale::none) {
            const auto of_row = [&](const std::vector<std::uint64_t>& all, std::size_t row) {
                return std::span(all).subspan(row * static_cast<std::size_t>(blocks()),
                                              static_cast<std::size_t>(blocks()));
            };
            scales = {of_row(scales_a_, a_row), of_row(scales_b_, b_row)};
        }
        return number::dot(recipe_, a_.row(a_row), b_.row(b_row), 0, scales);
    }

    void element(int matrix, int m, int n) {
        const std::uint32_t sum =
            accumulate(static_cast<std::size_t>(matrix * p_.m + m), static_cast<std::size_t>(matrix * p_.n + n));
        const auto at = static_cast<std::uint64_t>(p_.d.at(matrix, m, n));
        const Buffer& c = job_.buffers[2];
        const std::uint64_t c_bits = host::element(c.bytes, c.dtype, at);
        const DType& dtype = job_.buffers[gemm_d].dtype;
        if (p_.output == GemmType::s32) {
            const int value = kernels::scale_rn(static_cast<int>(sum), static_cast<int>(c_bits),
                                                static_cast<int>(p_.alpha), static_cast<int>(p_.beta));
            return set_element(d_, dtype, at, static_cast<std::uint32_t>(value));
        }
        const float c_value = as_float(number::convert(c_bits, format_of(p_.output), Format::f32));
        float value = 0;
        if (p_.linear) {
            const Buffer& bias = job_.buffers[4];
            value = kernels::linear_rn(as_float(sum), c_value, as_float(p_.alpha), as_float(p_.beta),
                                       as_float(host::element(bias.bytes, bias.dtype, static_cast<std::uint64_t>(n))));
        } else {
            value = kernels::scale_rn(as_float(sum), c_value, as_float(p_.alpha), as_float(p_.beta));
        }
        set_element(d_, dtype, at,
                    number::convert(std::bit_cast<std::uint32_t>(value), Format::f32, format_of(p_.output)));
    }

    const GemmProduct& p_;
    const Job& job_;
    number::DotRecipe recipe_;
    Rows a_, b_;
    std::vector<std::uint64_t> scales_a_, scales_b_;
    std::vector<std::uint8_t> d_;
};

}  // namespace

Result<std::vector<std::uint8_t>> gemm_reference(const GemmJob& job, const Progress& progress) {
    return Reference(job).run(progress);
}

}  // namespace tilepath::host
