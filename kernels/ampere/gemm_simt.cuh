// D = epilogue(A B, C) without tensor cores: f32 fma (s8: integers) in ascending k. For comparison; as plain as a tiled
// kernel can be.
#pragma once

#include "../output.cuh"
#include "gemm_config.h"
#include "types.cuh"

#include <type_traits>

namespace tilepath::kernels {

template <typename Type, bool a_k_contiguous, bool b_k_contiguous, typename Output, bool linear>
__device__ __forceinline__ void gemm_simt(const typename Type::Element* a, const typename Type::Element* b,
                                          const Output* c, Output* d, const float* bias, int m_extent, int n_extent,
                                          int k_extent, int lda, int ldb, int ldc, int ldd,
                                          typename Type::Accumulator alpha, typename Type::Accumulator beta) {
    using Accumulator = typename Type::Accumulator;
    constexpr SimtConfig config;
    const int thread_n = threadIdx.x % config.threads_n, thread_m = threadIdx.x / config.threads_n;
    const int cta_m = blockIdx.y * config.cta_m, cta_n = blockIdx.x * config.cta_n;

    // ---- A tile of each operand, already converted; one more column keeps the stores of a row of k out of one
    // another's banks. The tile of D takes their place in the end; its rows are further apart by a thread's step in n,
    // so that the two that a warp stores at once differ in their banks.
    using Slice = Accumulator[config.cta_k][config.cta_m + 1];
    static_assert(config.cta_m == config.cta_n);
    constexpr int pitch = config.cta_n + config.threads_n;
    __shared__ Accumulator shared[config.cta_m * pitch];
    static_assert(2 * sizeof(Slice) <= sizeof(shared));
    Slice& a_tile = reinterpret_cast<Slice*>(shared)[0];
    Slice& b_tile = reinterpret_cast<Slice*>(shared)[1];
    const auto load = [&](Slice& tile, auto contiguous, const auto* global, int ld, int outer_origin, int k0,
                          int outer_limit) {
        constexpr bool k_contiguous = decltype(contiguous)::value;
#pragma unroll
        for (unsigned first = 0; first < config.cta_k * config.cta_m; first += config.threads()) {
            const unsigned i = first + threadIdx.x;
            const int k = k_contiguous ? i % config.cta_k : i / config.cta_m;
            const int outer = k_contiguous ? i / config.cta_k : i % config.cta_m;
            const std::int64_t row = k_contiguous ? outer_origin + outer : k0 + k;
            const int column = k_contiguous ? k0 + k : outer_origin + outer;
            if (outer_origin + outer < outer_limit && k0 + k < k_extent) {
                tile[k][outer] = Type::to_accumulator(global[row * ld + column]);
            }
        }
    };

    // ---- Along k
    Accumulator accumulators[config.thread_m()][config.thread_n()] = {};
    for (int k0 = 0; k0 < k_extent; k0 += config.cta_k) {
        load(a_tile, std::bool_constant<a_k_contiguous>{}, a, lda, cta_m, k0, m_extent);
        load(b_tile, std::bool_constant<b_k_contiguous>{}, b, ldb, cta_n, k0, n_extent);
        __syncthreads();
        const int steps = min(config.cta_k, k_extent - k0);
#pragma unroll 1
        for (int k = 0; k < steps; ++k) {
#pragma unroll
            for (int i = 0; i < config.thread_m(); ++i) {
#pragma unroll
                for (int j = 0; j < config.thread_n(); ++j) {
                    const Accumulator x = a_tile[k][thread_m + i * config.threads_m];
                    const Accumulator y = b_tile[k][thread_n + j * config.threads_n];
                    if constexpr (std::is_same_v<Accumulator, float>)
                        accumulators[i][j] = fma_rn(x, y, accumulators[i][j]);
                    else
                        accumulators[i][j] += x * y;
                }
            }
        }
        __syncthreads();
    }

    // ---- Epilogue, by way of shared memory so that it is one short loop
#pragma unroll
    for (int i = 0; i < config.thread_m(); ++i) {
#pragma unroll
        for (int j = 0; j < config.thread_n(); ++j) {
            shared[(thread_m + i * config.threads_m) * pitch + thread_n + j * config.threads_n] = accumulators[i][j];
        }
    }
    __syncthreads();
#pragma unroll 1
    for (unsigned i = threadIdx.x; i < config.cta_m * config.cta_n; i += config.threads()) {
        const int row = i / config.cta_n, column = i % config.cta_n, m = cta_m + row, n = cta_n + column;
        if (m >= m_extent || n >= n_extent) continue;
        const Accumulator old =
            beta != Accumulator{0} ? to_accumulator(c[static_cast<std::int64_t>(m) * ldc + n]) : Accumulator{0};
        const float bias_value = linear ? bias[n] : 0.0f;
        d[static_cast<std::int64_t>(m) * ldd + n] =
            to_output<Output>(epilogue<linear>(shared[row * pitch + column], old, alpha, beta, bias_value));
    }
}

}  // namespace tilepath::kernels

#define TILEPATH_GEMM_SIMT_ENTRY(module, name, input, a_layout, b_layout, output, epilogue)                           \
    extern "C" __global__ void __launch_bounds__(tilepath::kernels::SimtConfig{}.threads())                           \
        name(const tilepath::kernels::types::input::Element* a, const tilepath::kernels::types::input::Element* b,    \
             const tilepath::kernels::types::output::Stored* c, tilepath::kernels::types::output::Stored* d,          \
             const float* bias, int m, int n, int k, int lda, int ldb, int ldc, int ldd,                              \
             tilepath::kernels::types::input::Accumulator alpha, tilepath::kernels::types::input::Accumulator beta) { \
        tilepath::kernels::gemm_simt<tilepath::kernels::types::input, #a_layout[0] == 't', #b_layout[0] == 'n',       \
                                     tilepath::kernels::types::output::Stored, #epilogue[0] == 'l'>(                  \
            a, b, c, d, bias, m, n, k, lda, ldb, ldc, ldd, alpha, beta);                                              \
    }
