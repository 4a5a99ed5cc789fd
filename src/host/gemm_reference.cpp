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

using kernels::GemmEntry;
using kernels::GemmType;
using number::Format;
using number::Term;

Format format_of(GemmType type) { return *number::format_named(kernels::name(type)); }

/// One operand as rows of k elements, padded with zeros to the k that the kernel walks.
struct Rows {
    std::vector<Term> terms;    ///< tensor cores, and s8
    std::vector<float> values;  ///< SIMT in f32
    std::size_t pitch = 0;

    std::span<const Term> row(std::size_t r) const { return std::span(terms).subspan(r * pitch, pitch); }
};

class Reference {
  public:
    Reference(const GemmEntry& entry, const GemmCase& problem, const Job& job)
        : entry_(entry), problem_(problem), job_(job) {
        std::memcpy(&p_, job.launches.front().parameters.data(), job.launches.front().parameters.size());
    }

    Result<std::vector<std::uint8_t>> run(const Progress& progress) {
        auto generation = number::generation_of(job_.arch);
        if (!generation) return std::unexpected(generation.error());
        if (!fma_chain()) {
            const Format accumulator = entry_.input == GemmType::s8 ? Format::s32 : Format::f32;
            auto recipe = number::recipe(
                {.device = *generation, .a = format_of(entry_.input), .b = format_of(entry_.input), .d = accumulator});
            if (!recipe) return std::unexpected(recipe.error());
            recipe_ = *recipe;
        }
        a_ = rows(job_.buffers[0], problem_.m, entry_.a == 't' ? p_.lda : 1, entry_.a == 't' ? 1 : p_.lda);
        b_ = rows(job_.buffers[1], problem_.n, entry_.b == 't' ? 1 : p_.ldb, entry_.b == 't' ? p_.ldb : 1);
        d_.assign(job_.buffers[gemm_d].bytes.size(), 0xA5);
        std::atomic<int> next{0};
        std::atomic<int> finished{0};
        auto work = [&](bool tells) {
            for (int m; (m = next++) < problem_.m;) {
                for (int n = 0; n < problem_.n; ++n) element(m, n);
                ++finished;
                if (tells && progress)
                    progress(static_cast<std::uint64_t>(finished.load()), static_cast<std::uint64_t>(problem_.m));
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
    /// The SIMT kernel adds with one binary32 fma per k; its s8 form is exact like the tensor core's.
    bool fma_chain() const { return entry_.simt && entry_.input != GemmType::s8; }

    Rows rows(const Buffer& buffer, int count, std::int64_t row_step, std::int64_t k_step) const {
        const kernels::GemmConfig config = kernels::gemm_config(entry_.input);
        Rows out;
        out.pitch = static_cast<std::size_t>(problem_.k);
        if (!fma_chain())
            out.pitch = (out.pitch + static_cast<std::size_t>(config.cta_k()) - 1) /
                        static_cast<std::size_t>(config.cta_k()) * static_cast<std::size_t>(config.cta_k());
        const Format format = format_of(entry_.input);
        const std::size_t all = static_cast<std::size_t>(count) * out.pitch;
        if (fma_chain())
            out.values.resize(all);
        else
            out.terms.resize(all, number::decode_term(0, format));
        for (std::int64_t r = 0; r < count; ++r)
            for (std::int64_t k = 0; k < problem_.k; ++k) {
                const std::uint64_t bits =
                    host::element(buffer.bytes, buffer.dtype,
                                  static_cast<std::uint64_t>(problem_.offset + r * row_step + k * k_step));
                const std::size_t at = static_cast<std::size_t>(r) * out.pitch + static_cast<std::size_t>(k);
                if (fma_chain())
                    out.values[at] =
                        std::bit_cast<float>(static_cast<std::uint32_t>(number::convert(bits, format, Format::f32)));
                else
                    out.terms[at] = number::decode_term(bits, format);
            }
        return out;
    }

    std::uint32_t accumulate(int m, int n) const {
        if (fma_chain()) {
            float sum = 0;
            for (std::size_t k = 0; k < a_.pitch; ++k)
                sum = kernels::fma_rn(a_.values[static_cast<std::size_t>(m) * a_.pitch + k],
                                      b_.values[static_cast<std::size_t>(n) * b_.pitch + k], sum);
            return std::bit_cast<std::uint32_t>(sum);
        }
        if (a_.pitch == 0) return 0;
        return number::dot(recipe_, a_.row(static_cast<std::size_t>(m)), b_.row(static_cast<std::size_t>(n)), 0);
    }

    void element(int m, int n) {
        const std::uint32_t sum = accumulate(m, n);
        const std::uint64_t at =
            static_cast<std::uint64_t>(m) * static_cast<std::uint64_t>(p_.ldd) + static_cast<std::uint64_t>(n);
        const Buffer& c = job_.buffers[2];
        std::uint64_t c_bits = host::element(
            c.bytes, c.dtype,
            static_cast<std::uint64_t>(m) * static_cast<std::uint64_t>(p_.ldc) + static_cast<std::uint64_t>(n));
        const DType& dtype = job_.buffers[gemm_d].dtype;
        if (entry_.output == GemmType::s32) {
            const int value = kernels::scale_rn(static_cast<int>(sum), static_cast<int>(c_bits),
                                                static_cast<int>(p_.alpha), static_cast<int>(p_.beta));
            return set_element(d_, dtype, at, static_cast<std::uint32_t>(value));
        }
        const auto f32 = [](std::uint64_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits)); };
        const float c_value = f32(number::convert(c_bits, format_of(entry_.output), Format::f32));
        float value = 0;
        if (entry_.linear) {
            const Buffer& bias = job_.buffers[4];
            value = kernels::linear_rn(f32(sum), c_value, f32(p_.alpha), f32(p_.beta),
                                       f32(host::element(bias.bytes, bias.dtype, static_cast<std::uint64_t>(n))));
        } else {
            value = kernels::scale_rn(f32(sum), c_value, f32(p_.alpha), f32(p_.beta));
        }
        set_element(d_, dtype, at,
                    number::convert(std::bit_cast<std::uint32_t>(value), Format::f32, format_of(entry_.output)));
    }

    const GemmEntry& entry_;
    const GemmCase& problem_;
    const Job& job_;
    kernels::GemmParameters p_;
    number::DotRecipe recipe_;
    Rows a_, b_;
    std::vector<std::uint8_t> d_;
};

}  // namespace

Result<std::vector<std::uint8_t>> gemm_reference(const GemmEntry& entry, const GemmCase& problem, const Job& job,
                                                 const Progress& progress) {
    return Reference(entry, problem, job).run(progress);
}

}  // namespace tilepath::host
