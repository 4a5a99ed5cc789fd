// wgmma.mma_async.m64n256kX for every input type: D (64 x 256, f32, 128 registers a thread) = A B + D. A from shared
// memory through a descriptor, or, for 16-bit types, from registers.
#pragma once

#include <cstdint>

namespace tilepath::kernels {

// The matrix descriptor of a tile in the 128B swizzle (PTX ISA 9.7.15.5.1.2.2). Offsets in bytes. K-major: `leading` is
// not used, `stride` leads from 8 rows to the next 8. MN-major: `leading` from 64 elements to the next 64 along M or N,
// `stride` from 8 k to the next 8.
__device__ inline std::uint64_t matrix_descriptor(std::uint32_t shared, std::uint32_t leading, std::uint32_t stride) {
    constexpr std::uint64_t swizzle_128b = 1;
    return (shared & 0x3ffff) >> 4 | std::uint64_t{leading >> 4} << 16 | std::uint64_t{stride >> 4} << 32 |
           swizzle_128b << 62;
}

#define TILEPATH_8(f, i) f(i), f(i + 1), f(i + 2), f(i + 3), f(i + 4), f(i + 5), f(i + 6), f(i + 7)
#define TILEPATH_64(f, i)                                                                                        \
    TILEPATH_8(f, i), TILEPATH_8(f, i + 8), TILEPATH_8(f, i + 16), TILEPATH_8(f, i + 24), TILEPATH_8(f, i + 32), \
        TILEPATH_8(f, i + 40), TILEPATH_8(f, i + 48), TILEPATH_8(f, i + 56)
#define TILEPATH_ACCUMULATOR(i) "+f"(d[i])
#define TILEPATH_D                                                                                                   \
    "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, "     \
    "%23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, " \
    "%45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, " \
    "%67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, " \
    "%89, %90, %91, %92, %93, %94, %95, %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, "  \
    "%109, %110, %111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, "   \
    "%127}"

// The accumulator begins at +0 where `accumulate` is 0. PTX ISA 9.7.15.5.2.
#define TILEPATH_WGMMA_SS(instruction)                                                          \
    asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %130, 0;\n\t" instruction " " TILEPATH_D \
                 ", %128, %129, p, 1, 1;\n\t}"                                                  \
                 : TILEPATH_64(TILEPATH_ACCUMULATOR, 0), TILEPATH_64(TILEPATH_ACCUMULATOR, 64)  \
                 : "l"(a), "l"(b), "r"(accumulate))
#define TILEPATH_WGMMA_SS_MAJOR(instruction)                                                    \
    asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %130, 0;\n\t" instruction " " TILEPATH_D \
                 ", %128, %129, p, 1, 1, %131, %132;\n\t}"                                      \
                 : TILEPATH_64(TILEPATH_ACCUMULATOR, 0), TILEPATH_64(TILEPATH_ACCUMULATOR, 64)  \
                 : "l"(a), "l"(b), "r"(accumulate), "n"(int(a_mn_major)), "n"(int(b_mn_major)))
#define TILEPATH_WGMMA_RS_MAJOR(instruction)                                                    \
    asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %133, 0;\n\t" instruction " " TILEPATH_D \
                 ", {%128, %129, %130, %131}, %132, p, 1, 1, %134;\n\t}"                        \
                 : TILEPATH_64(TILEPATH_ACCUMULATOR, 0), TILEPATH_64(TILEPATH_ACCUMULATOR, 64)  \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(accumulate), "n"(int(b_mn_major)))

using Accumulators = float[128];

#define TILEPATH_16_BIT_TYPE(name)                                                                                     \
    struct name {                                                                                                      \
        static constexpr int bytes = 2;                                                                                \
        template <bool a_mn_major, bool b_mn_major>                                                                    \
        __device__ static void mma(Accumulators& d, std::uint64_t a, std::uint64_t b, int accumulate) {                \
            TILEPATH_WGMMA_SS_MAJOR("wgmma.mma_async.sync.aligned.m64n256k16.f32." #name "." #name);                   \
        }                                                                                                              \
        template <bool b_mn_major>                                                                                     \
        __device__ static void mma_rs(Accumulators& d, const std::uint32_t (&a)[4], std::uint64_t b, int accumulate) { \
            TILEPATH_WGMMA_RS_MAJOR("wgmma.mma_async.sync.aligned.m64n256k16.f32." #name "." #name);                   \
        }                                                                                                              \
    }
#define TILEPATH_K_MAJOR_TYPE(name, size, shape)                                                        \
    struct name {                                                                                       \
        static constexpr int bytes = size;                                                              \
        template <bool a_mn_major, bool b_mn_major>                                                     \
        __device__ static void mma(Accumulators& d, std::uint64_t a, std::uint64_t b, int accumulate) { \
            static_assert(!a_mn_major && !b_mn_major, "wgmma reads only 16-bit types MN-major");        \
            TILEPATH_WGMMA_SS("wgmma.mma_async.sync.aligned." shape ".f32." #name "." #name);           \
        }                                                                                               \
    }

namespace inputs {
TILEPATH_16_BIT_TYPE(f16);
TILEPATH_16_BIT_TYPE(bf16);
TILEPATH_K_MAJOR_TYPE(tf32, 4, "m64n256k8");
TILEPATH_K_MAJOR_TYPE(e4m3, 1, "m64n256k32");
TILEPATH_K_MAJOR_TYPE(e5m2, 1, "m64n256k32");
}  // namespace inputs

#undef TILEPATH_16_BIT_TYPE
#undef TILEPATH_K_MAJOR_TYPE
#undef TILEPATH_WGMMA_SS
#undef TILEPATH_WGMMA_SS_MAJOR
#undef TILEPATH_WGMMA_RS_MAJOR
#undef TILEPATH_D
#undef TILEPATH_ACCUMULATOR
#undef TILEPATH_64
#undef TILEPATH_8

}  // namespace tilepath::kernels
