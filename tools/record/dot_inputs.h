// Inputs for recorded dot products, made to find what a model may have wrong: alignment and truncation, cancellation,
// subnormals, overflow, signed zeros, infinities, NaN. Twelve families take turns, so that any run of twelve lines has
// one of each.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "record.h"

namespace record {

// A binary floating-point format. e4m3 has no infinity and a NaN of all ones; the others are IEEE's.
struct Format {
    const char* name;
    int bits, exponent_bits, significand_bits;
    int stored_below = 0;  // bits below the significand that the format stores and ignores (tf32)

    bool is_e4m3() const { return exponent_bits == 4; }
    int bias() const { return (1 << (exponent_bits - 1)) - 1; }
    int lowest() const { return 1 - bias(); }  // exponent of the least normal number
    int highest() const { return is_e4m3() ? 8 : bias(); }
    std::uint64_t code(std::uint64_t sign, std::uint64_t exponent_field, std::uint64_t significand) const {
        return sign << (bits - 1) | (exponent_field << significand_bits | significand) << stored_below;
    }
    std::uint64_t infinity() const { return is_e4m3() ? code(0, 15, 6) : code(0, (1 << exponent_bits) - 1, 0); }
    std::uint64_t nan() const { return is_e4m3() ? code(0, 15, 7) : code(0, (1 << exponent_bits) - 1, 1); }
    std::uint64_t largest() const { return infinity() - (is_e4m3() ? 0 : std::uint64_t{1} << stored_below); }
    std::uint64_t sign_bit() const { return std::uint64_t{1} << (bits - 1); }
    bool is_special(std::uint64_t x) const {
        const std::uint64_t magnitude = (x & ~sign_bit()) >> stored_below << stored_below;
        return is_e4m3() ? magnitude == nan() : magnitude >= infinity();
    }
    double value(std::uint64_t x) const {
        const std::uint64_t field = (x & ~sign_bit()) >> stored_below;
        const int exponent = static_cast<int>(field >> significand_bits);
        const std::uint64_t significand = field & ((std::uint64_t{1} << significand_bits) - 1);
        const std::uint64_t whole = exponent > 0 ? significand | std::uint64_t{1} << significand_bits : significand;
        const double magnitude =
            std::ldexp(static_cast<double>(whole), std::max(exponent, 1) - bias() - significand_bits);
        return x & sign_bit() ? -magnitude : magnitude;
    }
    // Toward zero; beyond the largest number, that number.
    std::uint64_t truncated(double x) const {
        const std::uint64_t sign = std::signbit(x) ? sign_bit() : 0;
        int exponent;
        const double fraction = std::frexp(std::fabs(x), &exponent);  // in [0.5, 1)
        if (fraction == 0) return sign;
        if (--exponent > highest()) return sign | largest();
        const int unit = std::max(exponent, lowest()) - significand_bits;
        const auto whole = static_cast<std::uint64_t>(std::ldexp(fraction, exponent + 1 - unit));
        const std::uint64_t field =
            exponent < lowest() ? whole : whole + (static_cast<std::uint64_t>(exponent - lowest()) << significand_bits);
        return sign | field << stored_below;
    }
};

inline constexpr Format f64{"f64", 64, 11, 52}, f32{"f32", 32, 8, 23}, tf32{"tf32", 32, 8, 10, 13},
    f16{"f16", 16, 5, 10}, bf16{"bf16", 16, 8, 7}, e4m3{"e4m3", 8, 4, 3}, e5m2{"e5m2", 8, 5, 2};

struct Dot {
    std::vector<std::uint64_t> a, b;
    std::uint64_t c = 0;
};

class DotInputs {
  public:
    DotInputs(const Format& a, const Format& b, const Format& c, int k, std::uint64_t seed)
        : a_(a), b_(b), c_(c), k_(k), random_(seed) {}

    Dot next() {
        Dot dot{std::vector<std::uint64_t>(k_), std::vector<std::uint64_t>(k_)};
        const int family = line_++ % 12;
        switch (family) {
            case 0: raw(dot); break;
            case 1: finite(dot), dot.c = finite(c_); break;
            case 2: finite(dot); break;
            case 3: cancelling(dot); break;
            case 4: cancelling_c(dot); break;
            case 5: subnormal(dot); break;
            case 6: moderate(dot), dot.c = near(c_, 0), sprinkle_specials(dot); break;
            case 7: large(dot); break;
            case 8: moderate(dot), dot.c = near(c_, static_cast<int>(random_.below(9)) - 2); break;
            case 9: zeros(dot); break;
            case 10: alignment_edge(dot); break;
            case 11: one_binade(dot); break;
        }
        return dot;
    }

  private:
    std::uint64_t any(const Format& f) { return random_.bits() >> (64 - f.bits); }
    std::uint64_t finite(const Format& f) {
        for (;;) {
            if (const std::uint64_t x = any(f); !f.is_special(x)) return x;
        }
    }
    // A number of this exponent as far as the format has it: beyond, the nearest exponent, or a subnormal.
    std::uint64_t near(const Format& f, int exponent) {
        const std::uint64_t significand = random_.bits() >> (64 - f.significand_bits), sign = random_.bits() & 1;
        std::uint64_t x;
        if (exponent < f.lowest()) {
            const int shift = std::min(f.lowest() - exponent, f.significand_bits);
            x = f.code(sign, 0, (significand | std::uint64_t{1} << f.significand_bits) >> shift);
        } else {
            x = f.code(sign, std::min(exponent, f.highest()) + f.bias(), significand);
        }
        if (f.is_special(x)) x -= std::uint64_t{1} << f.stored_below;
        return f.stored_below > 0 ? x | random_.below(std::uint64_t{1} << f.stored_below) : x;
    }
    // Two factors whose exponents sum to this, as far as the formats go.
    void product(Dot& dot, int k, int exponent) {
        const int spread = static_cast<int>(random_.below(9)) - 4;
        const int first = std::clamp(exponent / 2 + spread, a_.lowest(), a_.highest());
        const int of_b = std::clamp(exponent - first, b_.lowest(), b_.highest());
        dot.a[k] = near(a_, exponent - of_b), dot.b[k] = near(b_, of_b);
    }
    int lowest_product() const { return a_.lowest() + b_.lowest(); }
    int highest_product() const { return std::min(a_.highest() + b_.highest(), c_.highest() - 5); }
    int some_product() {
        const int low = std::max(lowest_product(), c_.lowest());
        return low + static_cast<int>(random_.below(highest_product() - low + 1));
    }

    void raw(Dot& dot) {
        for (int k = 0; k < k_; ++k) dot.a[k] = any(a_), dot.b[k] = any(b_);
        dot.c = any(c_);
    }
    void finite(Dot& dot) {
        for (int k = 0; k < k_; ++k) dot.a[k] = finite(a_), dot.b[k] = finite(b_);
    }
    void moderate(Dot& dot) {
        for (int k = 0; k < k_; ++k) product(dot, k, static_cast<int>(random_.below(7)) - 3);
    }
    void cancelling(Dot& dot) {
        const int top = some_product();
        for (int k = 0; k < k_; ++k) product(dot, k, top - static_cast<int>(random_.below(6)));
        for (int k = 0; k < k_ / 2; ++k) dot.a[k_ - 1 - k] = dot.a[k] ^ a_.sign_bit(), dot.b[k_ - 1 - k] = dot.b[k];
        for (int i = 0; i < 1 + k_ / 8; ++i)
            product(dot, static_cast<int>(random_.below(k_)), top - 10 - static_cast<int>(random_.below(22)));
        if (random_.one_in(2)) dot.c = near(c_, top - 8 - static_cast<int>(random_.below(24)));
    }
    void cancelling_c(Dot& dot) {
        const int top = some_product();
        for (int k = 0; k < k_; ++k) product(dot, k, top - 8 - static_cast<int>(random_.below(24)));
        const int big = static_cast<int>(random_.below(k_));
        product(dot, big, top);
        dot.c = c_.truncated(-a_.value(dot.a[big]) * b_.value(dot.b[big]));
        if (random_.one_in(3)) dot.c ^= 1;
    }
    void subnormal(Dot& dot) {
        const bool both = random_.one_in(2);
        for (int k = 0; k < k_; ++k) {
            dot.a[k] = near(a_, a_.lowest() - 1 - static_cast<int>(random_.below(a_.significand_bits)));
            dot.b[k] = near(b_, both ? b_.lowest() - 1
                                     : b_.lowest() + static_cast<int>(random_.below(b_.highest() - b_.lowest() + 1)));
        }
        if (!random_.one_in(3)) dot.c = near(c_, c_.lowest() - static_cast<int>(random_.below(c_.significand_bits)));
    }
    void sprinkle_specials(Dot& dot) {
        const auto special = [&](const Format& f) {
            const std::uint64_t choices[] = {0,       f.infinity(), f.infinity(),
                                             f.nan(), f.largest(),  std::uint64_t{1} << f.stored_below};
            const std::uint64_t x = choices[random_.below(6)];
            return random_.one_in(2) ? x ^ f.sign_bit() : x;
        };
        for (std::uint64_t i = 1 + random_.below(3); i > 0; --i) {
            const auto k = random_.below(k_);
            switch (random_.below(5)) {
                case 0: dot.c = special(c_); break;
                case 1: dot.a[k] = special(a_), dot.b[k] = special(b_); break;
                case 2:
                case 3: dot.a[k] = special(a_); break;
                case 4: dot.b[k] = special(b_); break;
            }
        }
    }
    void large(Dot& dot) {
        const int top = std::min(a_.highest() + b_.highest(), c_.highest() + 1);
        for (int k = 0; k < k_; ++k) product(dot, k, top - static_cast<int>(random_.below(4)));
        if (random_.one_in(2)) dot.c = near(c_, c_.highest() - static_cast<int>(random_.below(3)));
    }
    void zeros(Dot& dot) {
        for (int k = 0; k < k_; ++k) {
            dot.a[k] = random_.one_in(2) ? a_.sign_bit() : 0, dot.b[k] = random_.one_in(2) ? b_.sign_bit() : 0;
        }
        if (random_.one_in(2))
            product(dot, static_cast<int>(random_.below(k_)), lowest_product() - static_cast<int>(random_.below(6)));
        dot.c = random_.one_in(2) ? c_.sign_bit() : 0;
        if (random_.one_in(4)) dot.c = near(c_, c_.lowest() - c_.significand_bits + 1);
    }
    void alignment_edge(Dot& dot) {
        constexpr int windows[] = {11, 13, 21, 24, 25, 26};
        const int top = some_product(), window = c_.bits == 64 ? 53 : windows[random_.below(6)];
        for (int k = 0; k < k_; ++k) product(dot, k, top - window - 3 + static_cast<int>(random_.below(7)));
        if (random_.one_in(3)) {
            dot.c = near(c_, top);
        } else {
            product(dot, static_cast<int>(random_.below(k_)), top);
            if (random_.one_in(2)) dot.c = near(c_, top - window - 3 + static_cast<int>(random_.below(7)));
        }
    }
    void one_binade(Dot& dot) {
        const int e = static_cast<int>(random_.below(5)) - 2;
        for (int k = 0; k < k_; ++k) dot.a[k] = near(a_, e), dot.b[k] = near(b_, -e);
        if (random_.one_in(2)) dot.c = near(c_, static_cast<int>(random_.below(5)));
    }

    const Format& a_;
    const Format& b_;
    const Format& c_;
    int k_;
    Random random_;
    int line_ = 0;
};

}  // namespace record
