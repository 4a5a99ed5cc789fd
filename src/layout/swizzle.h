#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tilepath::layout {

/// Swizzle<B,M,S>: XORs B bits, taken S places above bit M, into bits M to M+B−1: x ^ ((x & (2^B−1) << (M+S)) >> S). A
/// negative S moves the bits up instead. B = 0 is the identity. Needs |S| ≥ B, so that applying it twice gives x back.
struct Swizzle {
    int bits = 0;
    int base = 0;
    int shift = 0;

    std::uint64_t operator()(std::uint64_t x) const {
        std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
        if (shift >= 0) return x ^ ((x >> (base + shift) & mask) << base);
        return x ^ ((x >> base & mask) << (base - shift));
    }
    /// Fits 62-bit numbers, and the two bit fields do not overlap.
    bool valid() const;
    friend bool operator==(const Swizzle&, const Swizzle&) = default;
};

/// `Sw<3,4,3>`.
std::string to_string(const Swizzle& swizzle);

/// The swizzles of the hardware's copies and matrix operands. Each is a function of the absolute shared-memory byte
/// address.
enum class SwizzleMode : std::uint8_t {
    none,
    b32,
    b64,
    b128,
    b128_atom_32b,
    b128_atom_32b_flip_8b,
    b128_atom_64b,
    b96
};

/// One mode and its three encodings, which differ: a tensor map's, wgmma's and tcgen05's descriptor.
struct SwizzleTraits {
    SwizzleMode mode;
    std::string_view name;                 ///< as launch files write it: `128B_atom_32B`
    Swizzle bytes;                         ///< on byte addresses
    int span_bytes;                        ///< of a row before the pattern shifts; 16 for none
    int pattern_bytes;                     ///< the pattern's period: the alignment that starts it at phase 0
    std::optional<int> tensor_map;         ///< CUtensorMapSwizzle
    std::optional<int> wgmma;              ///< bits 62-63 of the matrix descriptor (PTX ISA 9.7.15.5.1.2)
    std::optional<int> tcgen05;            ///< bits 61-63 of the shared-memory descriptor (PTX ISA 9.7.16.4.1)
    std::optional<int> replace_mode;       ///< swizzle_mode of tensormap.replace
    std::optional<int> replace_atomicity;  ///< swizzle_atomicity of tensormap.replace
};

const SwizzleTraits& traits(SwizzleMode mode);
std::span<const SwizzleTraits> all_swizzle_modes();
/// The mode named `32B`, `128B_atom_32B`, …; upper and lower case alike.
std::optional<SwizzleMode> swizzle_mode_named(std::string_view name);

/// Where the byte at `address` of the unswizzled image lies. PTX ISA 5.5.6; the flip of 8-byte halves on odd 128-byte
/// lines (b128_atom_32b_flip_8b) is inferred, no public record shows which lines.
std::uint64_t swizzled(SwizzleMode mode, std::uint64_t address);

}  // namespace tilepath::layout
