#pragma once
#include <algorithm>
#include <array>
#include <cstdint>

#include "machine/address_map.h"

namespace tilepath::check {

/// Where a byte comes from, in 64 bits: its kind, which byte of a value it is, and of what.
class Origin {
  public:
    enum class Kind : std::uint8_t {
        unknown,    ///< arithmetic that no check follows
        unwritten,  ///< shared or Tensor Memory that nobody has written
        zero,       ///< a constant, or what fills a box outside its tensor
        memory,     ///< the byte of global memory at address()
        element,    ///< of a value converted from the element at address()
        sum         ///< of a sum of products: row m of A, column n of B, over the ks of a set
    };

    constexpr Origin() = default;
    static constexpr Origin unwritten() { return Origin(Kind::unwritten, 0, 0); }
    /// A cell of Tensor Memory: registers may hold it, and even compute with it, if nobody uses what comes of that.
    static constexpr Origin unwritten_cell() { return Origin(Kind::unwritten, 0, 1); }
    static constexpr Origin zero() { return Origin(Kind::zero, 0, 0); }
    static constexpr Origin memory(machine::Address address) { return Origin(Kind::memory, 0, address); }
    static constexpr Origin element(machine::Address address) { return Origin(Kind::element, 0, address); }
    static constexpr std::uint32_t most_rows = 1u << 20, most_sets = 1u << 18;
    /// m and n below 2^20 (others count as the last); a set of ks by its number, below 2^18.
    static constexpr Origin sum(std::uint32_t m, std::uint32_t n, std::uint32_t ks) {
        const std::uint64_t last = most_rows - 1;
        return Origin(Kind::sum, 0,
                      std::min<std::uint64_t>(m, last) << 38 | std::min<std::uint64_t>(n, last) << 18 | ks);
    }

    constexpr Kind kind() const { return static_cast<Kind>(bits_ >> kind_at); }
    constexpr machine::Address address() const { return bits_ & ((std::uint64_t{1} << 48) - 1); }
    constexpr std::uint32_t m() const { return bits_ >> 38 & (most_rows - 1); }
    constexpr std::uint32_t n() const { return bits_ >> 18 & (most_rows - 1); }
    constexpr std::uint32_t ks() const { return bits_ & (most_sets - 1); }

    /// Byte `i` of the value whose byte 0 this is.
    constexpr Origin byte(unsigned i) const {
        Origin out = *this;
        if (kind() == Kind::memory) out.bits_ += i;
        if (kind() == Kind::element || kind() == Kind::sum) out.bits_ += std::uint64_t{i} << 58;
        return out;
    }
    /// Of a sum: whether its row and column are those of the matrices, not only of zeros around them.
    constexpr bool somewhere() const { return m() != most_rows - 1 && n() != most_rows - 1; }
    constexpr bool known() const { return kind() > Kind::unwritten; }
    /// As it is kept: the kind stands from kind_at on, below 6.
    constexpr std::uint64_t bits() const { return bits_; }
    static constexpr Origin of_bits(std::uint64_t bits) {
        Origin out;
        out.bits_ = bits;
        return out;
    }
    static constexpr unsigned kind_at = 61;
    friend constexpr bool operator==(Origin, Origin) = default;

  private:
    constexpr Origin(Kind kind, unsigned byte, std::uint64_t payload)
        : bits_(std::uint64_t(kind) << kind_at | std::uint64_t{byte} << 58 | payload) {}

    std::uint64_t bits_ = 0;
};

/// The origin of a value of `width` bytes: that of its first byte, if all belong together; else unknown.
inline Origin whole(const Origin* bytes, unsigned width) {
    for (unsigned i = 1; i < width; ++i)
        if (bytes[i] != bytes[0].byte(i)) return {};
    // A part of a larger value is no value.
    if (bytes[0].kind() == Origin::Kind::element || bytes[0].kind() == Origin::Kind::sum)
        return bytes[0].byte(1) == bytes[1] ? bytes[0] : Origin{};
    return bytes[0];
}

/// The four bytes of a 32-bit register of one lane.
using Word = std::array<Origin, 4>;

}  // namespace tilepath::check
