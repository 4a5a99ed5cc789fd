// The types of A and B, as the entries name them, each with its mma.sync (PTX ISA 9.7.14.5): D (16 x 8, f32) = A B + D.
#pragma once

#include <cstdint>

namespace tilepath::kernels::blackwell_rtx::inputs {

#define TILEPATH_FRAGMENTS \
    "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1])
#define TILEPATH_TYPE(name)                                                                                   \
    struct name {                                                                                             \
        __device__ static void mma(float (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) { \
            asm volatile("mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32." #name "." #name                \
                         ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"               \
                         : TILEPATH_FRAGMENTS);                                                               \
        }                                                                                                     \
    }
// Scales: the lanes with thread id 0 and 1 of each four give those of A's rows lane / 4 and lane / 4 + 8, those with 0
// that of B's column lane / 4: four factors in a register, `byte` the first.
#define TILEPATH_SCALED_TYPE(name, shape, kind, scale)                                                          \
    struct name {                                                                                               \
        __device__ static void mma(float (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2],     \
                                   std::uint32_t scale_a, std::uint32_t scale_b, std::uint16_t byte) {          \
            asm volatile("mma.sync.aligned." shape ".row.col.kind::" kind ".f32." #name "." #name ".f32." scale \
                         " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3}, {%10}, {%12, %13}, " \
                         "{%11}, {%12, %13};"                                                                   \
                         : TILEPATH_FRAGMENTS, "r"(scale_a), "r"(scale_b), "h"(byte), "h"(std::uint16_t{0}));   \
        }                                                                                                       \
    }

namespace none {
TILEPATH_TYPE(e4m3);
TILEPATH_TYPE(e5m2);
}  // namespace none
namespace mx {
TILEPATH_SCALED_TYPE(e4m3, "m16n8k32", "mxf8f6f4.block_scale.scale_vec::1X", "ue8m0");
TILEPATH_SCALED_TYPE(e2m1, "m16n8k64", "mxf4.block_scale.scale_vec::2X", "ue8m0");
}  // namespace mx
namespace nv {
TILEPATH_SCALED_TYPE(e2m1, "m16n8k64", "mxf4nvf4.block_scale.scale_vec::4X", "ue4m3");
}  // namespace nv

#undef TILEPATH_SCALED_TYPE
#undef TILEPATH_TYPE
#undef TILEPATH_FRAGMENTS

}  // namespace tilepath::kernels::blackwell_rtx::inputs
