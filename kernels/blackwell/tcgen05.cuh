// One function for each instruction of the fifth generation's Tensor Cores (PTX ISA 9.7.16), and the kinds of
// tcgen05.mma.
#pragma once

#include <cstdint>

#include "../ptx.cuh"
#include "gemm_config.h"

namespace tilepath::kernels::ptx {

// `cta_group` is a word of the instruction: the template's parameter of that name chooses between the two.
#define TILEPATH_BY_GROUP(before, after, ...)       \
    if constexpr (cta_group == 1)                   \
        asm volatile(before "1" after __VA_ARGS__); \
    else                                            \
        asm volatile(before "2" after __VA_ARGS__)

// The whole warp. Writes the address of `columns` columns to shared memory.
template <int cta_group>
__device__ inline void tcgen05_alloc(std::uint32_t shared, int columns) {
    TILEPATH_BY_GROUP("tcgen05.alloc.cta_group::", ".sync.aligned.shared::cta.b32 [%0], %1;", ::"r"(shared),
                      "r"(columns)
                      : "memory");
}
template <int cta_group>
__device__ inline void tcgen05_relinquish_alloc_permit() {
    TILEPATH_BY_GROUP("tcgen05.relinquish_alloc_permit.cta_group::", ".sync.aligned;", ::: "memory");
}
template <int cta_group>
__device__ inline void tcgen05_dealloc(std::uint32_t tmem, int columns) {
    TILEPATH_BY_GROUP("tcgen05.dealloc.cta_group::", ".sync.aligned.b32 %0, %1;", ::"r"(tmem), "r"(columns) : "memory");
}

__device__ inline void tcgen05_fence_before_thread_sync() {
    asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
}
__device__ inline void tcgen05_fence_after_thread_sync() {
    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
}
__device__ inline void tcgen05_wait_ld() { asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory"); }
__device__ inline void tcgen05_wait_st() { asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory"); }

// Arrives once at the barrier when everything that this thread gave to the Tensor Cores before is done; with `ctas`, at
// the barriers in the same place of every CTA whose bit is set.
template <int cta_group>
__device__ inline void tcgen05_commit(std::uint32_t barrier) {
    TILEPATH_BY_GROUP("tcgen05.commit.cta_group::", ".mbarrier::arrive::one.shared::cluster.b64 [%0];", ::"r"(barrier)
                      : "memory");
}
template <int cta_group>
__device__ inline void tcgen05_commit_multicast(std::uint32_t barrier, std::uint16_t ctas) {
    TILEPATH_BY_GROUP(
        "tcgen05.commit.cta_group::", ".mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%0], %1;",
        ::"r"(barrier), "h"(ctas)
        : "memory");
}

// 32 rows of 16 bytes to four columns, the same in each of the four groups of 32 lanes.
template <int cta_group>
__device__ inline void tcgen05_cp_32x128b_warpx4(std::uint32_t tmem, std::uint64_t descriptor) {
    TILEPATH_BY_GROUP("tcgen05.cp.cta_group::", ".32x128b.warpx4 [%0], %1;", ::"r"(tmem), "l"(descriptor) : "memory");
}

#define TILEPATH_8(f, i) f(i), f(i + 1), f(i + 2), f(i + 3), f(i + 4), f(i + 5), f(i + 6), f(i + 7)
#define TILEPATH_32(f) TILEPATH_8(f, 0), TILEPATH_8(f, 8), TILEPATH_8(f, 16), TILEPATH_8(f, 24)
#define TILEPATH_32_NAMES                                                                                            \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, " \
    "%24, %25, %26, %27, %28, %29, %30, %31"
#define TILEPATH_OUT(i) "=r"(r[i])
#define TILEPATH_IN(i) "r"(r[i])

// The warp's 32 lanes of 32 columns: register i of lane l is column i of lane l.
__device__ inline void tcgen05_ld_32x32b_x32(std::uint32_t (&r)[32], std::uint32_t tmem) {
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x32.b32 {" TILEPATH_32_NAMES "}, [%32];"
                 : TILEPATH_32(TILEPATH_OUT)
                 : "r"(tmem)
                 : "memory");
}
__device__ inline void tcgen05_st_32x32b_x32(std::uint32_t tmem, const std::uint32_t (&r)[32]) {
    asm volatile("tcgen05.st.sync.aligned.32x32b.x32.b32 [%32], {" TILEPATH_32_NAMES "};" ::TILEPATH_32(TILEPATH_IN),
                 "r"(tmem)
                 : "memory");
}

#undef TILEPATH_IN
#undef TILEPATH_OUT
#undef TILEPATH_32_NAMES
#undef TILEPATH_32
#undef TILEPATH_8

// Loads whose bytes count on a barrier of this CTA or, with cta_group 2, of its peer.
template <int cta_group>
__device__ inline void tma_load_for(std::uint32_t shared, const CUtensorMap* map, std::uint32_t barrier, int x, int y,
                                    int z) {
    if constexpr (cta_group == 1)
        tma_load(shared, map, barrier, x, y, z);
    else
        asm volatile(
            "cp.async.bulk.tensor.3d.cta_group::2.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], "
            "[%1, {%3, %4, %5}], [%2];" ::"r"(shared),
            "l"(reinterpret_cast<std::uint64_t>(map)), "r"(barrier), "r"(x), "r"(y), "r"(z)
            : "memory");
}
// Into the same place of every CTA whose bit is set in `ctas`; the bytes count on the barrier in the first or, as
// `barrier` lies, the second CTA of each one's pair.
__device__ inline void tma_load_multicast_pairs(std::uint32_t shared, const CUtensorMap* map, std::uint32_t barrier,
                                                int x, int y, int z, std::uint16_t ctas) {
    asm volatile(
        "cp.async.bulk.tensor.3d.cta_group::2.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        ".multicast::cluster [%0], [%1, {%3, %4, %5}], [%2], %6;" ::"r"(shared),
        "l"(reinterpret_cast<std::uint64_t>(map)), "r"(barrier), "r"(x), "r"(y), "r"(z), "h"(ctas)
        : "memory");
}

}  // namespace tilepath::kernels::ptx

namespace tilepath::kernels::blackwell {

// The shared-memory descriptor (PTX ISA 9.7.16.4.1). Offsets in bytes; K-major in a swizzle, `leading` is not used.
enum class Swizzle : std::uint64_t { none = 0, b128_atom_32b = 1, b128 = 2 };
__device__ inline std::uint64_t shared_descriptor(std::uint32_t shared, std::uint32_t leading, std::uint32_t stride,
                                                  Swizzle swizzle) {
    constexpr std::uint64_t version = 1;
    return (shared & 0x3ffff) >> 4 | std::uint64_t{leading >> 4} << 16 | std::uint64_t{stride >> 4} << 32 |
           version << 46 | static_cast<std::uint64_t>(swizzle) << 61;
}

// The instruction descriptor (PTX ISA 9.7.16.4.2) of D in f32.
__host__ __device__ constexpr std::uint32_t instruction_descriptor(int format_a, int format_b, bool a_mn_major,
                                                                   bool b_mn_major, int m, int n) {
    return 1u << 4 | static_cast<std::uint32_t>(format_a) << 7 | static_cast<std::uint32_t>(format_b) << 10 |
           std::uint32_t{a_mn_major} << 15 | std::uint32_t{b_mn_major} << 16 | static_cast<std::uint32_t>(n / 8) << 17 |
           static_cast<std::uint32_t>(m / 16) << 24;
}
// With block scales; `id` chooses the byte of the scales' columns that is the first factor along k.
__host__ __device__ constexpr std::uint32_t scaled_descriptor(int format_a, int format_b, bool power_of_two,
                                                              bool a_mn_major, bool b_mn_major, int m, int n, int id) {
    return static_cast<std::uint32_t>(id) << 4 | static_cast<std::uint32_t>(format_a) << 7 |
           static_cast<std::uint32_t>(format_b) << 10 | std::uint32_t{a_mn_major} << 15 |
           std::uint32_t{b_mn_major} << 16 | static_cast<std::uint32_t>(n / 8) << 17 |
           std::uint32_t{power_of_two} << 23 | static_cast<std::uint32_t>(m / 128) << 27 |
           static_cast<std::uint32_t>(id) << 29;
}

// The kinds. mma: D = A B, + D where `accumulate` is not 0; A through a descriptor, or (mma_tmem) from
// Tensor Memory.
#define TILEPATH_MMA(kind, a_text, a_constraint)                                                              \
    TILEPATH_BY_GROUP("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %4, 0;\n\ttcgen05.mma.cta_group::",               \
                      ".kind::" kind " [%0], " a_text ", %2, %3, p;\n\t}", ::"r"(d), a_constraint(a), "l"(b), \
                      "r"(descriptor), "r"(accumulate)                                                        \
                      : "memory")
#define TILEPATH_SCALED_MMA(kind)                                                                        \
    TILEPATH_BY_GROUP("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %4, 0;\n\ttcgen05.mma.cta_group::",          \
                      ".kind::" kind " [%0], %1, %2, %3, [%5], [%6], p;\n\t}", ::"r"(d), "l"(a), "l"(b), \
                      "r"(descriptor), "r"(accumulate), "r"(scale_a), "r"(scale_b)                       \
                      : "memory")

template <Kind kind>
struct Mma;
#define TILEPATH_KIND(of, text)                                                                                      \
    template <>                                                                                                      \
    struct Mma<of> {                                                                                                 \
        template <int cta_group>                                                                                     \
        __device__ static void mma(std::uint32_t d, std::uint64_t a, std::uint64_t b, std::uint32_t descriptor,      \
                                   int accumulate) {                                                                 \
            TILEPATH_MMA(text, "%1", "l");                                                                           \
        }                                                                                                            \
        template <int cta_group>                                                                                     \
        __device__ static void mma_tmem(std::uint32_t d, std::uint32_t a, std::uint64_t b, std::uint32_t descriptor, \
                                        int accumulate) {                                                            \
            TILEPATH_MMA(text, "[%1]", "r");                                                                         \
        }                                                                                                            \
    }
#define TILEPATH_SCALED_KIND(of, text)                                                                          \
    template <>                                                                                                 \
    struct Mma<of> {                                                                                            \
        template <int cta_group>                                                                                \
        __device__ static void mma(std::uint32_t d, std::uint64_t a, std::uint64_t b, std::uint32_t descriptor, \
                                   int accumulate, std::uint32_t scale_a, std::uint32_t scale_b) {              \
            TILEPATH_SCALED_MMA(text);                                                                          \
        }                                                                                                       \
    }

TILEPATH_KIND(Kind::f16, "f16");
TILEPATH_KIND(Kind::tf32, "tf32");
TILEPATH_KIND(Kind::f8f6f4, "f8f6f4");
TILEPATH_SCALED_KIND(Kind::mxf8f6f4, "mxf8f6f4.block_scale.scale_vec::1X");
TILEPATH_SCALED_KIND(Kind::mxf4, "mxf4.block_scale.scale_vec::2X");
TILEPATH_SCALED_KIND(Kind::mxf4nvf4, "mxf4nvf4.block_scale.scale_vec::4X");

#undef TILEPATH_SCALED_KIND
#undef TILEPATH_KIND
#undef TILEPATH_SCALED_MMA
#undef TILEPATH_MMA
#undef TILEPATH_BY_GROUP

}  // namespace tilepath::kernels::blackwell
