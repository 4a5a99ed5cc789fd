// The inputs of recorded runs: each element is a function of (seed, operand, its index in the buffer), so that a host
// program and a recorder on a GPU make the same bits without a file. Plain C++, no dependency.
#pragma once

#include <cstdint>

namespace tilepath::kernels {

enum class InputOperand : std::uint64_t { a = 1, b = 2, c = 3, bias = 4, scale_a = 5, scale_b = 6 };

// SplitMix64 (Steele, Lea, Flood 2014): the state advances by a constant, the output is a bijection of the state.
constexpr std::uint64_t splitmix64_mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

// Output number `index` of the SplitMix64 whose state begins as a mixture of seed and operand.
constexpr std::uint64_t input_bits(std::uint64_t seed, InputOperand operand, std::uint64_t index) {
    const std::uint64_t state = splitmix64_mix(seed * 8 + static_cast<std::uint64_t>(operand));
    return splitmix64_mix(state + (index + 1) * 0x9E3779B97F4A7C15u);
}

// A binary floating-point number with `exponents` values of the exponent field from `first_exponent` on: one in sixteen
// is +0; else bit 59 is the sign, bits 47..32 choose the exponent, the low bits are the significand.
constexpr std::uint32_t input_float(std::uint64_t bits, int exponent_bits, int significand_bits,
                                    std::uint32_t first_exponent, std::uint32_t exponents) {
    if (bits >> 60 == 0) return 0;
    const std::uint32_t sign = bits >> 59 & 1;
    const std::uint32_t exponent = first_exponent + ((bits >> 32 & 0xFFFF) * exponents >> 16);
    const std::uint32_t significand = bits & ((1u << significand_bits) - 1);
    return sign << (exponent_bits + significand_bits) | exponent << significand_bits | significand;
}

constexpr std::uint16_t input_f16(std::uint64_t bits) {  // 2^-12 to 2^8
    return static_cast<std::uint16_t>(input_float(bits, 5, 10, 3, 20));
}
constexpr std::uint16_t input_bf16(std::uint64_t bits) {  // 2^-15 to 2^9
    return static_cast<std::uint16_t>(input_float(bits, 8, 7, 112, 24));
}
constexpr std::uint32_t input_f32(std::uint64_t bits) {  // 2^-15 to 2^9; for tf32 too, the low 13 bits as they come
    return input_float(bits, 8, 23, 112, 24);
}
constexpr std::uint8_t input_e4m3(std::uint64_t bits) {  // 2^-6 to 2^6
    return static_cast<std::uint8_t>(input_float(bits, 4, 3, 1, 12));
}
constexpr std::uint8_t input_e5m2(std::uint64_t bits) {  // 2^-10 to 2^8
    return static_cast<std::uint8_t>(input_float(bits, 5, 2, 5, 18));
}
constexpr std::uint8_t input_e2m1(std::uint64_t bits) { return bits & 15; }  // all of them: 0 to 6, both signs
constexpr std::uint8_t input_fp6(std::uint64_t bits) { return bits & 63; }   // all of e2m3, of e3m2
constexpr std::uint8_t input_ue8m0(std::uint64_t bits) { return 122 + (bits >> 32) % 11; }  // 2^-5 to 2^5
constexpr std::uint8_t input_ue4m3(std::uint64_t bits) {                                    // 0, and 2^-9 to 448
    return static_cast<std::uint8_t>((bits >> 32) % 0x7F);
}
constexpr std::uint8_t input_s8(std::uint64_t bits) { return static_cast<std::uint8_t>(bits); }
constexpr std::uint32_t input_s32(std::uint64_t bits) { return static_cast<std::uint32_t>(bits); }

}  // namespace tilepath::kernels
