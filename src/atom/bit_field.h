#pragma once
#include <cstdint>

namespace tilepath::atom {

/// Bits [begin, begin + bits) of a descriptor.
struct BitField {
    int begin;
    int bits;

    constexpr std::uint64_t mask() const { return ((std::uint64_t{1} << bits) - 1) << begin; }
    constexpr std::uint64_t get(std::uint64_t word) const { return (word & mask()) >> begin; }
    constexpr std::uint64_t put(std::uint64_t value) const { return value << begin & mask(); }
    constexpr bool holds(std::uint64_t value) const { return value >> bits == 0; }
};

}  // namespace tilepath::atom
