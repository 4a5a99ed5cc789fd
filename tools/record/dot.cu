// Records single dot products d = sum a[k] b[k] + c of the tensor-core instructions, one file for each form, in the
// format of tests/vectors/README.md: hexadecimal columns a b c d. Each product lies at another row and column of the
// tile; all else is zero.
//
//     nvcc -std=c++20 -gencode=arch=compute_90a,code=sm_90a tools/record/dot.cu -o dot && ./dot FOLDER
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include <array>
#include <vector>

#include "dot_inputs.h"

namespace {

constexpr int lines = 312, integer_lines = 120;

struct Packed {  // up to 32 bytes of each operand, as the registers hold them: ascending k from the lowest bits up
    std::uint32_t a[8], b[8], c[2], d[2];
};

// ---- mma.sync: fragments are four-byte words of k whatever the type; D is four 32-bit registers or two of f16 pairs

#define MMA_KERNEL(name, instruction, words, d16)                                                            \
    __global__ void name(Packed* all) {                                                                      \
        Packed& p = all[blockIdx.x];                                                                         \
        const unsigned lane = threadIdx.x, g = lane / 4, t = lane % 4, row = blockIdx.x % 16,                \
                       column = blockIdx.x / 5 % 8;                                                          \
        std::uint32_t a[4] = {}, b[2] = {}, c[4] = {}, d[4] = {};                                            \
        for (unsigned r = 0; r < (words) / 2; ++r) a[r] = g + 8 * (r % 2) == row ? p.a[t + 4 * (r / 2)] : 0; \
        for (unsigned r = 0; r < (words) / 4; ++r) b[r] = g == column ? p.b[t + 4 * r] : 0;                  \
        for (unsigned i = 0; i < 4; ++i) {                                                                   \
            if (g + 8 * (i / 2) == row && 2 * t + i % 2 == column) {                                         \
                if (d16)                                                                                     \
                    c[i / 2] |= p.c[0] << (16 * (i % 2));                                                    \
                else                                                                                         \
                    c[i] = p.c[0];                                                                           \
            }                                                                                                \
        }                                                                                                    \
        MMA_##words##_##d16(instruction);                                                                    \
        for (unsigned i = 0; i < 4; ++i) {                                                                   \
            if (g + 8 * (i / 2) == row && 2 * t + i % 2 == column)                                           \
                p.d[0] = d16 ? d[i / 2] >> (16 * (i % 2)) & 0xFFFF : d[i];                                   \
        }                                                                                                    \
    }
#define MMA_8_0(text)                                                                                                 \
    asm volatile("mma.sync.aligned." text " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"                \
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])                                                     \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]), "r"(c[2]), \
                   "r"(c[3]))
#define MMA_8_1(text)                                                                  \
    asm volatile("mma.sync.aligned." text " {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%8,%9};" \
                 : "=r"(d[0]), "=r"(d[1])                                              \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]))
#define MMA_4_0(text)                                                                      \
    asm volatile("mma.sync.aligned." text " {%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%8,%9,%10};" \
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])                          \
                 : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]))

MMA_KERNEL(mma_f16_f32, "m16n8k16.row.col.f32.f16.f16.f32", 8, 0)
MMA_KERNEL(mma_f16_f16, "m16n8k16.row.col.f16.f16.f16.f16", 8, 1)
MMA_KERNEL(mma_bf16_f32, "m16n8k16.row.col.f32.bf16.bf16.f32", 8, 0)
MMA_KERNEL(mma_tf32_f32, "m16n8k8.row.col.f32.tf32.tf32.f32", 8, 0)
MMA_KERNEL(mma_f16_f32_k8, "m16n8k8.row.col.f32.f16.f16.f32", 4, 0)
MMA_KERNEL(mma_tf32_f32_k4, "m16n8k4.row.col.f32.tf32.tf32.f32", 4, 0)
MMA_KERNEL(mma_e4m3_f32, "m16n8k32.row.col.f32.e4m3.e4m3.f32", 8, 0)
MMA_KERNEL(mma_e5m2_f32, "m16n8k32.row.col.f32.e5m2.e5m2.f32", 8, 0)
MMA_KERNEL(mma_e4m3_e5m2_f32, "m16n8k32.row.col.f32.e4m3.e5m2.f32", 8, 0)
MMA_KERNEL(mma_e4m3_f16, "m16n8k32.row.col.f16.e4m3.e4m3.f16", 8, 1)
MMA_KERNEL(mma_e5m2_f16, "m16n8k32.row.col.f16.e5m2.e5m2.f16", 8, 1)
MMA_KERNEL(mma_s8, "m16n8k32.row.col.s32.s8.s8.s32", 8, 0)
MMA_KERNEL(mma_u8, "m16n8k32.row.col.s32.u8.u8.s32", 8, 0)
MMA_KERNEL(mma_s8_u8, "m16n8k32.row.col.s32.s8.u8.s32", 8, 0)
MMA_KERNEL(mma_s8_sat, "m16n8k32.row.col.satfinite.s32.s8.s8.s32", 8, 0)
MMA_KERNEL(mma_u8_sat, "m16n8k32.row.col.satfinite.s32.u8.u8.s32", 8, 0)
MMA_KERNEL(mma_s4, "m16n8k64.row.col.s32.s4.s4.s32", 8, 0)
MMA_KERNEL(mma_u4, "m16n8k64.row.col.s32.u4.u4.s32", 8, 0)
MMA_KERNEL(mma_s4_sat, "m16n8k64.row.col.satfinite.s32.s4.s4.s32", 8, 0)

__global__ void mma_f64(Packed* all) {
    Packed& p = all[blockIdx.x];
    const unsigned g = threadIdx.x / 4, t = threadIdx.x % 4, row = blockIdx.x % 8, column = blockIdx.x / 3 % 8;
    const double a = g == row ? reinterpret_cast<double*>(p.a)[t] : 0,
                 b = g == column ? reinterpret_cast<double*>(p.b)[t] : 0;
    double c[2], d[2];
    for (unsigned i = 0; i < 2; ++i) c[i] = g == row && 2 * t + i == column ? *reinterpret_cast<double*>(p.c) : 0;
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%4,%5};"
                 : "=d"(d[0]), "=d"(d[1])
                 : "d"(a), "d"(b), "d"(c[0]), "d"(c[1]));
    for (unsigned i = 0; i < 2; ++i) {
        if (g == row && 2 * t + i == column) *reinterpret_cast<double*>(p.d) = d[i];
    }
}

// ---- mma.m8n8k4 with f16, Volta's shape: lanes 0-3 and 16-19 hold the first of a warp's four products, rows and
// columns (lane mod 4) + 4 (lane >= 16)

#define VOLTA_KERNEL(name, instruction, d_list, d16)                                                                   \
    __global__ void name(Packed* all) {                                                                                \
        Packed& p = all[blockIdx.x];                                                                                   \
        const unsigned lane = threadIdx.x, high = lane >= 16 ? 4 : 0, mine = lane % 4 + high, row = blockIdx.x % 8,    \
                       column = blockIdx.x / 3 % 8;                                                                    \
        const bool used = lane % 16 < 4;                                                                               \
        std::uint32_t a[2] = {}, b[2] = {}, d[8] = {};                                                                 \
        const auto here = [&](unsigned i) {                                                                            \
            return used && (d16 ? mine == row && i == column                                                           \
                                : (lane & 1) + (i & 2) + high == row && (i & 4) + (lane & 2) + (i & 1) == column);     \
        };                                                                                                             \
        for (unsigned i = 0; i < 2; ++i) {                                                                             \
            if (used && mine == row) a[i] = p.a[i];                                                                    \
            if (used && mine == column) b[i] = p.b[i];                                                                 \
        }                                                                                                              \
        for (unsigned i = 0; i < 8; ++i) {                                                                             \
            if (here(i)) (d16 ? d[i / 2] : d[i]) |= d16 ? p.c[0] << (16 * (i % 2)) : p.c[0];                           \
        }                                                                                                              \
        asm volatile("mma.sync.aligned.m8n8k4.row.col." instruction " {" d_list "}, {%8,%9}, {%10,%11}, {" d_list "};" \
                     : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7])  \
                     : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(b[1]));                                                    \
        for (unsigned i = 0; i < 8; ++i) {                                                                             \
            if (here(i)) p.d[0] = d16 ? d[i / 2] >> (16 * (i % 2)) & 0xFFFF : d[i];                                    \
        }                                                                                                              \
    }
VOLTA_KERNEL(volta_f16_f16, "f16.f16.f16.f16", "%0,%1,%2,%3", 1)
VOLTA_KERNEL(volta_f16_f32, "f32.f16.f16.f32", "%0,%1,%2,%3,%4,%5,%6,%7", 0)

// ---- wmma m16n16: whole matrices in shared memory

template <class Element, class Fragment, class Accumulator, int k>
__global__ void wmma_tile(Packed* all) {
    using namespace nvcuda::wmma;
    __shared__ alignas(128) Element a[16 * k], b[16 * k];
    __shared__ alignas(128) Accumulator d[16 * 16];
    Packed& p = all[blockIdx.x];
    const unsigned row = blockIdx.x % 16, column = blockIdx.x / 5 % 16;
    if (threadIdx.x == 0) {
        for (int i = 0; i < 16 * k; ++i) a[i] = b[i] = Element(0.0f);
        for (int i = 0; i < 256; ++i) d[i] = Accumulator(0.0f);
        memcpy(a + row * k, p.a, k * sizeof(Element));
        memcpy(b + column * k, p.b, k * sizeof(Element));
        memcpy(d + row * 16 + column, p.c, sizeof(Accumulator));
    }
    __syncwarp();
    fragment<matrix_a, 16, 16, k, Fragment, row_major> fragment_a;
    fragment<matrix_b, 16, 16, k, Fragment, col_major> fragment_b;
    fragment<accumulator, 16, 16, k, Accumulator> fragment_d;
    load_matrix_sync(fragment_a, a, k);
    load_matrix_sync(fragment_b, b, k);
    load_matrix_sync(fragment_d, d, 16, mem_row_major);
    mma_sync(fragment_d, fragment_a, fragment_b, fragment_d);
    store_matrix_sync(d, fragment_d, 16, mem_row_major);
    __syncwarp();
    if (threadIdx.x == 0) memcpy(p.d, d + row * 16 + column, sizeof(Accumulator));
}

// ---- wgmma m64n8: both operands in shared memory, along k, not swizzled: 8 x 16-byte core matrices, two of them along
// k

__device__ std::uint64_t descriptor(const void* shared) {
    const std::uint64_t address = __cvta_generic_to_shared(shared), k_step = 128, row_step = 256;
    return address >> 4 | k_step >> 4 << 16 | row_step >> 4 << 32;
}

#define WGMMA_KERNEL(name, instruction, immediates, d16)                                            \
    __global__ void name(Packed* all) {                                                             \
        __shared__ alignas(128) std::uint32_t a[64 * 8], b[8 * 8];                                  \
        Packed& p = all[blockIdx.x];                                                                \
        const unsigned lane = threadIdx.x % 32, g = lane / 4 + threadIdx.x / 32 * 16, t = lane % 4; \
        const unsigned row = blockIdx.x * 7 % 64, column = blockIdx.x / 5 % 8;                      \
        for (unsigned i = threadIdx.x; i < 64 * 8; i += 128) a[i] = 0;                              \
        for (unsigned i = threadIdx.x; i < 8 * 8; i += 128) b[i] = 0;                               \
        __syncthreads();                                                                            \
        if (threadIdx.x < 8) {                                                                      \
            const unsigned word = threadIdx.x;                                                      \
            a[row / 8 * 64 + word / 4 * 32 + row % 8 * 4 + word % 4] = p.a[word];                   \
            b[word / 4 * 32 + column * 4 + word % 4] = p.b[word];                                   \
        }                                                                                           \
        std::uint32_t d[4] = {};                                                                    \
        for (unsigned i = 0; i < 4; ++i) {                                                          \
            if (g + 8 * (i / 2) == row && 2 * t + i % 2 == column) {                                \
                if (d16)                                                                            \
                    d[i / 2] |= p.c[0] << (16 * (i % 2));                                           \
                else                                                                                \
                    d[i] = p.c[0];                                                                  \
            }                                                                                       \
        }                                                                                           \
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");                                \
        __syncthreads();                                                                            \
        WGMMA_##d16(instruction, immediates);                                                       \
        for (unsigned i = 0; i < 4; ++i) {                                                          \
            if (g + 8 * (i / 2) == row && 2 * t + i % 2 == column)                                  \
                p.d[0] = d16 ? d[i / 2] >> (16 * (i % 2)) & 0xFFFF : d[i];                          \
        }                                                                                           \
    }
#define WGMMA_0(text, immediates)                                                            \
    asm volatile("wgmma.fence.sync.aligned;\n\twgmma.mma_async.sync.aligned." text           \
                 " {%0,%1,%2,%3}, %4, %5, 1" immediates                                      \
                 ";\n\twgmma.commit_group.sync.aligned;\n\twgmma.wait_group.sync.aligned 0;" \
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])                            \
                 : "l"(descriptor(a)), "l"(descriptor(b))                                    \
                 : "memory")
#define WGMMA_1(text, immediates)                                                                                   \
    asm volatile("wgmma.fence.sync.aligned;\n\twgmma.mma_async.sync.aligned." text " {%0,%1}, %2, %3, 1" immediates \
                 ";\n\twgmma.commit_group.sync.aligned;\n\twgmma.wait_group.sync.aligned 0;"                        \
                 : "+r"(d[0]), "+r"(d[1])                                                                           \
                 : "l"(descriptor(a)), "l"(descriptor(b))                                                           \
                 : "memory")

WGMMA_KERNEL(wgmma_f16_f32, "m64n8k16.f32.f16.f16", ", 1, 1, 0, 0", 0)
WGMMA_KERNEL(wgmma_f16_f16, "m64n8k16.f16.f16.f16", ", 1, 1, 0, 0", 1)
WGMMA_KERNEL(wgmma_bf16_f32, "m64n8k16.f32.bf16.bf16", ", 1, 1, 0, 0", 0)
WGMMA_KERNEL(wgmma_tf32_f32, "m64n8k8.f32.tf32.tf32", ", 1, 1", 0)
WGMMA_KERNEL(wgmma_e4m3_f32, "m64n8k32.f32.e4m3.e4m3", ", 1, 1", 0)
WGMMA_KERNEL(wgmma_e5m2_f32, "m64n8k32.f32.e5m2.e5m2", ", 1, 1", 0)
WGMMA_KERNEL(wgmma_e5m2_e4m3_f32, "m64n8k32.f32.e5m2.e4m3", ", 1, 1", 0)
WGMMA_KERNEL(wgmma_e4m3_f16, "m64n8k32.f16.e4m3.e4m3", ", 1, 1", 1)
WGMMA_KERNEL(wgmma_e5m2_f16, "m64n8k32.f16.e5m2.e5m2", ", 1, 1", 1)
WGMMA_KERNEL(wgmma_s8, "m64n8k32.s32.s8.s8", "", 0)
WGMMA_KERNEL(wgmma_s8_sat, "m64n8k32.satfinite.s32.s8.s8", "", 0)
WGMMA_KERNEL(wgmma_u8, "m64n8k32.s32.u8.u8", "", 0)

// ---- Host

using Kernel = void (*)(Packed*);

void pack(std::uint32_t* words, int index, int bits, std::uint64_t x) {
    if (bits == 64)
        words[2 * index] = static_cast<std::uint32_t>(x), words[2 * index + 1] = x >> 32;
    else
        words[index * bits / 32] |= static_cast<std::uint32_t>(x) << (index * bits % 32);
}

void record_form(const std::string& folder, const std::string& name, Kernel kernel, int threads,
                 const std::vector<record::Dot>& dots, int a_bits, int b_bits, int d_bits) {
    std::vector<Packed> packed(dots.size(), Packed{});
    for (std::size_t i = 0; i < dots.size(); ++i) {
        for (std::size_t k = 0; k < dots[i].a.size(); ++k) {
            pack(packed[i].a, static_cast<int>(k), a_bits, dots[i].a[k]),
                pack(packed[i].b, static_cast<int>(k), b_bits, dots[i].b[k]);
        }
        pack(packed[i].c, 0, d_bits, dots[i].c);
    }
    Packed* device;
    const std::size_t bytes = packed.size() * sizeof(Packed);
    record::must(cudaMalloc(&device, bytes), "cudaMalloc");
    record::must(cudaMemcpy(device, packed.data(), bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
    kernel<<<static_cast<unsigned>(packed.size()), threads>>>(device);
    record::must(cudaMemcpy(packed.data(), device, bytes, cudaMemcpyDeviceToHost), name.c_str());
    record::must(cudaFree(device), "cudaFree");
    const record::File file(folder, "h200_" + name + ".txt");
    for (std::size_t i = 0; i < dots.size(); ++i) {
        const auto hex = [&](std::uint64_t x, int bits) {
            std::fprintf(file.get(), "%0*llx", bits / 4, static_cast<unsigned long long>(x));
        };
        for (const std::uint64_t x : dots[i].a) hex(x, a_bits);
        std::fputc(' ', file.get());
        for (const std::uint64_t x : dots[i].b) hex(x, b_bits);
        std::fputc(' ', file.get()), hex(dots[i].c, d_bits), std::fputc(' ', file.get());
        hex(d_bits == 64 ? std::uint64_t{packed[i].d[1]} << 32 | packed[i].d[0] : packed[i].d[0], d_bits);
        std::fputc('\n', file.get());
    }
}

struct FloatForm {
    const char* name;
    Kernel kernel;
    int threads, k;
    const record::Format &a, &b, &d;
};
using record::bf16, record::e4m3, record::e5m2, record::f16, record::f32, record::f64, record::tf32;
const FloatForm float_forms[] = {
    {"mma_f16_f32", mma_f16_f32, 32, 16, f16, f16, f32},
    {"mma_f16_f16", mma_f16_f16, 32, 16, f16, f16, f16},
    {"mma_bf16_f32", mma_bf16_f32, 32, 16, bf16, bf16, f32},
    {"mma_tf32_f32", mma_tf32_f32, 32, 8, tf32, tf32, f32},
    {"mma_f16_f32_k8", mma_f16_f32_k8, 32, 8, f16, f16, f32},
    {"mma_tf32_f32_k4", mma_tf32_f32_k4, 32, 4, tf32, tf32, f32},
    {"mma_e4m3_f32", mma_e4m3_f32, 32, 32, e4m3, e4m3, f32},
    {"mma_e5m2_f32", mma_e5m2_f32, 32, 32, e5m2, e5m2, f32},
    {"mma_e4m3_e5m2_f32", mma_e4m3_e5m2_f32, 32, 32, e4m3, e5m2, f32},
    {"mma_e4m3_f16", mma_e4m3_f16, 32, 32, e4m3, e4m3, f16},
    {"mma_e5m2_f16", mma_e5m2_f16, 32, 32, e5m2, e5m2, f16},
    {"mma_f64_f64_k4", mma_f64, 32, 4, f64, f64, f64},
    {"wgmma_f16_f32", wgmma_f16_f32, 128, 16, f16, f16, f32},
    {"wgmma_f16_f16", wgmma_f16_f16, 128, 16, f16, f16, f16},
    {"wgmma_bf16_f32", wgmma_bf16_f32, 128, 16, bf16, bf16, f32},
    {"wgmma_tf32_f32", wgmma_tf32_f32, 128, 8, tf32, tf32, f32},
    {"wgmma_e4m3_f32", wgmma_e4m3_f32, 128, 32, e4m3, e4m3, f32},
    {"wgmma_e5m2_f32", wgmma_e5m2_f32, 128, 32, e5m2, e5m2, f32},
    {"wgmma_e5m2_e4m3_f32", wgmma_e5m2_e4m3_f32, 128, 32, e5m2, e4m3, f32},
    {"wgmma_e4m3_f16", wgmma_e4m3_f16, 128, 32, e4m3, e4m3, f16},
    {"wgmma_e5m2_f16", wgmma_e5m2_f16, 128, 32, e5m2, e5m2, f16},
};

// Recorded after the integers, so that the seeds of the others stay.
const FloatForm other_float_forms[] = {
    {"mma_f16_f16_m8n8k4", volta_f16_f16, 32, 4, f16, f16, f16},
    {"mma_f16_f32_m8n8k4", volta_f16_f32, 32, 4, f16, f16, f32},
    {"wmma_f16_f32", wmma_tile<__half, __half, float, 16>, 32, 16, f16, f16, f32},
    {"wmma_f16_f16", wmma_tile<__half, __half, __half, 16>, 32, 16, f16, f16, f16},
    {"wmma_bf16_f32", wmma_tile<__nv_bfloat16, __nv_bfloat16, float, 16>, 32, 16, bf16, bf16, f32},
    {"wmma_tf32_f32", wmma_tile<float, nvcuda::wmma::precision::tf32, float, 8>, 32, 8, tf32, tf32, f32},
};

struct IntegerForm {
    const char* name;
    Kernel kernel;
    int threads, bits;
};
const IntegerForm integer_forms[] = {
    {"mma_s8_s32", mma_s8, 32, 8},
    {"mma_u8_s32", mma_u8, 32, 8},
    {"mma_s8_u8_s32", mma_s8_u8, 32, 8},
    {"mma_s8_s32_satfinite", mma_s8_sat, 32, 8},
    {"mma_u8_s32_satfinite", mma_u8_sat, 32, 8},
    {"mma_s4_s32", mma_s4, 32, 4},
    {"mma_u4_s32", mma_u4, 32, 4},
    {"mma_s4_s32_satfinite", mma_s4_sat, 32, 4},
    {"wgmma_s8_s32", wgmma_s8, 128, 8},
    {"wgmma_s8_s32_satfinite", wgmma_s8_sat, 128, 8},
    {"wgmma_u8_s32", wgmma_u8, 128, 8},
};

// Random elements, or all near their extremes; c anywhere, or where the sum crosses the ends of s32.
std::vector<record::Dot> integer_inputs(int bits, std::uint64_t seed) {
    record::Random random(seed);
    std::vector<record::Dot> dots(integer_lines);
    for (int i = 0; i < integer_lines; ++i) {
        const std::uint64_t all = (1u << bits) - 1, top = 1u << (bits - 1);
        const auto extreme = [&] { return std::array{top, top - 1, all, std::uint64_t{0}}[random.below(4)]; };
        const std::uint64_t one_a = extreme(), one_b = extreme();
        for (int k = 0; k < 256 / bits; ++k) {
            dots[i].a.push_back(i % 3 == 0 ? random.bits() & all : i % 3 == 1 ? extreme() : one_a);
            dots[i].b.push_back(i % 3 == 0 ? random.bits() & all : i % 3 == 1 ? extreme() : one_b);
        }
        const std::uint32_t small = static_cast<std::uint32_t>(random.below(1u << 2 * bits));
        dots[i].c = std::array{static_cast<std::uint32_t>(random.bits()), 0x7FFFFFFFu - small, 0x80000000u + small,
                               small}[i / 3 % 4];
    }
    return dots;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) return std::fprintf(stderr, "dot FOLDER\n"), 2;
    std::uint64_t seed = 1;
    const auto record_float = [&](const FloatForm& form) {
        record::DotInputs inputs(form.a, form.b, form.d, form.k, seed++);
        std::vector<record::Dot> dots;
        for (int i = 0; i < lines; ++i) dots.push_back(inputs.next());
        record_form(argv[1], form.name, form.kernel, form.threads, dots, form.a.bits, form.b.bits, form.d.bits);
    };
    for (const FloatForm& form : float_forms) record_float(form);
    for (const IntegerForm& form : integer_forms) {
        record_form(argv[1], form.name, form.kernel, form.threads, integer_inputs(form.bits, seed++), form.bits,
                    form.bits, 32);
    }
    for (const FloatForm& form : other_float_forms) record_float(form);
    return 0;
}
