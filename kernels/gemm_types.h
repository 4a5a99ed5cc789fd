// The element types of the GEMMs of kernels/, and their inputs in recorded runs. Plain C++, host and device.
#pragma once

#include <cstdint>
#include <string_view>

#include "inputs.h"

#if defined(__CUDACC__)
#define TILEPATH_HOST_DEVICE __host__ __device__
#else
#define TILEPATH_HOST_DEVICE
#endif

namespace tilepath::kernels {

enum class GemmType {
    f16,
    bf16,
    tf32,
    f32,
    e4m3,
    e5m2,
    e2m3,
    e3m2,
    e2m1,
    s8,
    s32
};  // tf32: stored as f32, its low 13 bits ignored

constexpr int element_bits(GemmType type) {
    switch (type) {
        case GemmType::e2m1: return 4;  // two in a byte, the first in the low half
        case GemmType::e2m3:
        case GemmType::e3m2: return 6;  // four in three bytes, the first in the low bits
        case GemmType::e4m3:
        case GemmType::e5m2:
        case GemmType::s8: return 8;
        case GemmType::f16:
        case GemmType::bf16: return 16;
        case GemmType::tf32:
        case GemmType::f32:
        case GemmType::s32: return 32;
    }
    return 0;
}
constexpr int element_bytes(GemmType type) { return element_bits(type) / 8; }  // of whole bytes

// Scales that blocks of A's rows and B's columns share along k. mx: a power of two (ue8m0) for each 32 elements; nv: an
// unsigned e4m3 for each 16.
enum class BlockScale { none, mx, nv };

constexpr int scale_block(BlockScale scale) {
    switch (scale) {
        case BlockScale::none: return 0;
        case BlockScale::mx: return 32;
        case BlockScale::nv: return 16;
    }
    return 0;
}

/// As number/ and launch files name it.
constexpr std::string_view name(GemmType type) {
    switch (type) {
        case GemmType::f16: return "f16";
        case GemmType::bf16: return "bf16";
        case GemmType::tf32: return "tf32";
        case GemmType::f32: return "f32";
        case GemmType::e4m3: return "e4m3";
        case GemmType::e5m2: return "e5m2";
        case GemmType::e2m3: return "e2m3";
        case GemmType::e3m2: return "e3m2";
        case GemmType::e2m1: return "e2m1";
        case GemmType::s8: return "s8";
        case GemmType::s32: return "s32";
    }
    return "";
}

/// The element that a recorded run puts at `index` of an operand's buffer, bits = input_bits(seed, operand, index).
constexpr std::uint32_t input_element(GemmType type, std::uint64_t bits) {
    switch (type) {
        case GemmType::f16: return input_f16(bits);
        case GemmType::bf16: return input_bf16(bits);
        case GemmType::tf32:
        case GemmType::f32: return input_f32(bits);
        case GemmType::e4m3: return input_e4m3(bits);
        case GemmType::e5m2: return input_e5m2(bits);
        case GemmType::e2m3:
        case GemmType::e3m2: return input_fp6(bits);
        case GemmType::e2m1: return input_e2m1(bits);
        case GemmType::s8: return input_s8(bits);
        case GemmType::s32: return input_s32(bits);
    }
    return 0;
}

}  // namespace tilepath::kernels
