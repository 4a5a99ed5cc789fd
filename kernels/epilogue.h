// The epilogue's arithmetic, defined to the bit: f32, every operation a single one rounded to nearest even, subnormals
// kept. Host C++ and the kernels compile the same lines; on the host a NaN result is given as 0x7FFFFFFF, as the GPU
// gives it.
#pragma once

#if defined(__CUDACC__)
#define TILEPATH_RN_FUNCTION __device__ inline
#else
#include <bit>
#include <cmath>
#include <cstdint>
#define TILEPATH_RN_FUNCTION inline
#endif

namespace tilepath::kernels {

#if defined(__CUDA_ARCH__)
TILEPATH_RN_FUNCTION float mul_rn(float a, float b) { return __fmul_rn(a, b); }
TILEPATH_RN_FUNCTION float fma_rn(float a, float b, float c) { return __fmaf_rn(a, b, c); }
#elif defined(__CUDACC__)
TILEPATH_RN_FUNCTION float mul_rn(float a, float b);
TILEPATH_RN_FUNCTION float fma_rn(float a, float b, float c);
#else
inline float canonical_nan(float x) { return x == x ? x : std::bit_cast<float>(std::uint32_t{0x7FFFFFFF}); }
inline float mul_rn(float a, float b) { return canonical_nan(a * b); }
inline float fma_rn(float a, float b, float c) { return canonical_nan(std::fma(a, b, c)); }
#endif

// GELU(x) = x Phi(x), Phi the normal distribution function, to within 1e-6 + 2e-7 |x|. For |x| <= 5,
// Phi(x) = 0.5 + x P(t), t = 2 (x/5)^2 - 1 in [-1, 1], P a polynomial of degree 12 fitted to (Phi(x) - 0.5) / x so that
// the largest error of x^2 P is least. Outside, Phi is 1 or 0: +Inf gives +Inf, -Inf gives -0. NaN gives NaN. No
// operation here is a product that feeds a sum outside an fma, so no compiler can contract one.
TILEPATH_RN_FUNCTION float gelu_rn(float x) {
    const float low = x < -5.0f ? -5.0f : x;
    const float y = low > 5.0f ? 5.0f : low;
    const float t = fma_rn(mul_rn(y, y), 0.08f, -1.0f);
    float p = 0x1.04f368p-11f;
    p = fma_rn(p, t, -0x1.8e94b4p-10f);
    p = fma_rn(p, t, 0x1.05454cp-9f);
    p = fma_rn(p, t, -0x1.7c7692p-9f);
    p = fma_rn(p, t, 0x1.945ddcp-8f);
    p = fma_rn(p, t, -0x1.67e12cp-7f);
    p = fma_rn(p, t, 0x1.0e4990p-6f);
    p = fma_rn(p, t, -0x1.7e4d36p-6f);
    p = fma_rn(p, t, 0x1.01714ap-5f);
    p = fma_rn(p, t, -0x1.4b3ac4p-5f);
    p = fma_rn(p, t, 0x1.a6104ep-5f);
    p = fma_rn(p, t, -0x1.1fef5ep-4f);
    p = fma_rn(p, t, 0x1.218356p-3f);
    const float phi = fma_rn(y, p, 0.5f);
    const float above = y <= -5.0f ? 0.0f : phi;
    const float both = y >= 5.0f ? 1.0f : above;
    return mul_rn(low, both);
}

// alpha acc + beta c; c is not read when beta is zero.
TILEPATH_RN_FUNCTION float scale_rn(float accumulator, float c, float alpha, float beta) {
    return beta == 0.0f ? mul_rn(alpha, accumulator) : fma_rn(alpha, accumulator, mul_rn(beta, c));
}
TILEPATH_RN_FUNCTION int scale_rn(int accumulator, int c, int alpha, int beta) {  // modulo 2^32
    return static_cast<int>(static_cast<unsigned>(alpha) * static_cast<unsigned>(accumulator) +
                            static_cast<unsigned>(beta) * static_cast<unsigned>(c));
}

// GELU(alpha acc + beta c + bias), the sum as two fma: c with the bias first.
TILEPATH_RN_FUNCTION float linear_rn(float accumulator, float c, float alpha, float beta, float bias) {
    return gelu_rn(fma_rn(alpha, accumulator, beta == 0.0f ? bias : fma_rn(beta, c, bias)));
}

}  // namespace tilepath::kernels
