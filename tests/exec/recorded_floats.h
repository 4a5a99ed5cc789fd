#pragma once
// Draws of a random number generator as numbers of a floating-point format.
#include <algorithm>
#include <cstdint>
#include <map>
#include <string>

namespace tilepath::recorded {

struct Floating {
    int bits, exponent_bits, fraction_bits;
    std::uint64_t largest, infinity;  ///< e4m3 has no infinity: NaN stands there
};

inline const Floating* floating(const std::string& type) {
    static const std::map<std::string, Floating> formats{
        {"f16", {16, 5, 10, 0x7BFF, 0x7C00}},
        {"bf16", {16, 8, 7, 0x7F7F, 0x7F80}},
        {"f32", {32, 8, 23, 0x7F7FFFFF, 0x7F800000}},
        {"tf32", {32, 8, 23, 0x7F7FFFFF, 0x7F800000}},
        {"f64", {64, 11, 52, 0x7FEFFFFFFFFFFFFF, 0x7FF0000000000000}},
        {"e4m3", {8, 4, 3, 0x7E, 0x7F}},
        {"e5m2", {8, 5, 2, 0x7B, 0x7C}},
    };
    auto found = formats.find(type);
    return found == formats.end() ? nullptr : &found->second;
}

inline std::uint64_t mask_of(int bits) { return bits == 64 ? ~std::uint64_t(0) : (std::uint64_t(1) << bits) - 1; }

/// Draws of a random number generator as numbers of a format. Each draw is a statement of its own, in the order of the
/// recordings: sign, fraction, exponent. (C++ leaves the order of a call's arguments to the compiler.)
template <class Below>
struct FloatDraw {
    const Floating& f;
    Below below;

    std::uint64_t assemble(std::int64_t exponent, std::uint64_t fraction, bool negative) const {
        const std::int64_t most = std::int64_t(mask_of(f.exponent_bits)) - 1;
        const std::uint64_t x = std::uint64_t(std::clamp<std::int64_t>(exponent, 0, most)) << f.fraction_bits |
                                (fraction & mask_of(f.fraction_bits));
        return std::min(x, f.largest) | std::uint64_t(negative) << (f.bits - 1);
    }
    std::int64_t bias() const { return std::int64_t(mask_of(f.exponent_bits - 1)); }
    std::uint64_t fraction() const {
        const std::uint64_t high = below(1u << 31);
        return high << 31 ^ below(1u << 31);
    }
    std::uint64_t two_fractions() const {
        const std::uint64_t low = fraction();
        return low ^ fraction() << 32;
    }
    bool sign() const { return below(2) != 0; }
    /// Ends in a run of zeros or ones.
    std::uint64_t rough_fraction() const {
        const std::uint64_t run = mask_of(int(below(std::uint64_t(f.fraction_bits) + 1)));
        return below(2) == 0 ? fraction() & ~run : fraction() | run;
    }
    std::uint64_t around(std::int64_t spread, std::uint64_t fraction_bits) const {
        const bool negative = sign();
        return assemble(bias() - spread + std::int64_t(below(std::uint64_t(2 * spread + 1))), fraction_bits, negative);
    }
    std::uint64_t special() const {
        const std::uint64_t least_normal = mask_of(f.fraction_bits) + 1, quiet = least_normal >> 1;
        const std::uint64_t one = std::uint64_t(bias()) << f.fraction_bits;
        const std::uint64_t values[] = {0,
                                        0,
                                        1,
                                        least_normal - 1,
                                        least_normal,
                                        one,
                                        one + 1,
                                        one - 1,
                                        f.largest,
                                        f.infinity,
                                        f.infinity | quiet,
                                        f.infinity | 1,
                                        f.infinity | (fraction() & mask_of(f.fraction_bits))};
        const std::uint64_t value = values[below(13)];
        return value | below(2) << (f.bits - 1);
    }
    std::uint64_t finite() const {
        const bool negative = sign();
        const std::uint64_t fraction_bits = fraction();
        return assemble(std::int64_t(below(mask_of(f.exponent_bits))), fraction_bits, negative);
    }
    std::uint64_t tiny() const {
        const bool negative = sign();
        const std::uint64_t fraction_bits = rough_fraction();
        return assemble(std::int64_t(below(std::uint64_t(f.fraction_bits) + 2)), fraction_bits, negative);
    }
    /// n / 2^drop from -most to most, exact.
    std::uint64_t small(std::uint64_t most) const {
        std::uint64_t n = below(most + 1);
        const bool negative = below(2) != 0;
        if (n == 0) return std::uint64_t(negative) << (f.bits - 1);
        int exponent = 0;
        while (n >> (exponent + 1) != 0) ++exponent;
        const std::uint64_t fraction_bits = (n << f.fraction_bits >> exponent) & mask_of(f.fraction_bits);
        return assemble(bias() + exponent, fraction_bits, negative);
    }
    std::uint64_t plain(std::uint64_t before) const {
        const std::int64_t top = std::int64_t(mask_of(f.exponent_bits)) - 1;
        switch (below(8)) {
            case 0: return special();
            case 1: return two_fractions();
            case 2: return around(f.fraction_bits + 3, rough_fraction());
            case 3: before ^= below(2) << (f.bits - 1); return before + below(3) - 1;
            case 4: return tiny();
            case 5: {
                const bool negative = sign();
                const std::uint64_t fraction_bits = rough_fraction();
                return assemble(top - std::int64_t(below(3)), fraction_bits, negative);
            }
            default: return around(4, below(2) == 0 ? fraction() : rough_fraction());
        }
    }
    std::uint64_t dot(std::uint32_t row) const {
        const std::int64_t wide = std::min<std::int64_t>(bias() - 1, f.fraction_bits + 6);
        switch (row % 8) {
            case 0: return around(2, fraction());
            case 1: return finite();
            case 2: return around(wide, rough_fraction());
            case 3: return below(64) == 0 ? special() : around(3, fraction());
            case 4: return below(3) == 0 ? around(1, fraction()) : tiny();
            case 5: return small(3);
            case 6: {
                const bool negative = sign();
                const std::uint64_t half = below(2) << (f.fraction_bits - 1);
                return assemble(bias() + std::int64_t(below(2)) * 3, half, negative);
            }
            default: return below(16) == 0 ? two_fractions() : around(1, fraction());
        }
    }
};

}  // namespace tilepath::recorded
