#include "engine_problems.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "number/recipe.h"

namespace tilepath::number {
namespace {

bool is_finite(std::uint64_t bits, Format format) {
    const Class kind = decode(bits, format).kind;
    return kind == Class::zero || kind == Class::finite;
}

std::uint64_t any_bits(Format format, Random& random) {
    const int bits = traits(format).bits;
    if (format == Format::tf32) return random() & 0xffffffff;
    return random() & (bits == 64 ? ~0ull : (1ull << bits) - 1);
}

std::uint64_t finite_bits(Format format, Random& random) {
    for (;;)
        if (const std::uint64_t bits = any_bits(format, random); is_finite(bits, format)) return bits;
}

/// With the exponent field limited to [low, high].
std::uint64_t with_exponent(Format format, int low, int high, Random& random) {
    const FormatTraits& f = traits(format);
    const int fraction_bits = format == Format::tf32 ? 23 : f.fraction_bits;
    const int top = (1 << f.exponent_bits) - 1;
    const std::uint64_t field = std::uint64_t(std::clamp(low + int(random() % std::uint64_t(high - low + 1)), 0, top));
    const std::uint64_t sign = f.is_signed ? random() & 1 : 0;
    const std::uint64_t bits =
        ((sign << f.exponent_bits | field) << fraction_bits) | (random() & ((1ull << fraction_bits) - 1));
    return is_finite(bits, format) ? bits : finite_bits(format, random);
}

std::uint64_t draw(Family family, Format format, Random& random) {
    const FormatTraits& f = traits(format);
    if (!f.floating) {
        if (family == Family::zeros) return random() % 4 ? 0 : any_bits(format, random);
        if (family == Family::largest) {
            const std::uint64_t half = 1ull << (f.bits - 1);  // the extremes of signed and of unsigned
            const std::uint64_t extremes[] = {half, half - 1, 2 * half - 1};
            return extremes[random() % 3];
        }
        return any_bits(format, random);
    }
    const int top = (1 << f.exponent_bits) - 1;
    switch (family) {
        case Family::bits: return any_bits(format, random);
        case Family::finite_bits:
        case Family::one_special: return finite_bits(format, random);
        case Family::near:
        case Family::cancelling: return with_exponent(format, f.bias - 2, f.bias + 2, random);
        case Family::largest: return with_exponent(format, top - 1, top, random) | (random() % 8 ? 0 : 1);
        case Family::zeros: {
            const std::uint64_t sign = f.is_signed ? (random() & 1) << (f.container_bits == 32 ? 31 : f.bits - 1) : 0;
            return random() % 8 ? sign : finite_bits(format, random);
        }
        case Family::subnormal: return with_exponent(format, 0, 1, random);
        case Family::one_sign: {
            const int fraction_bits = format == Format::tf32 ? 23 : f.fraction_bits;
            const std::uint64_t ones = (1ull << fraction_bits) - 1;
            const std::uint64_t fraction = random() % 8 ? ones : random() & ones;
            return std::uint64_t(f.bias) << fraction_bits | fraction;
        }
        case Family::edges: return finite_bits(format, random);  // see draw_edges
    }
    return 0;
}

std::uint64_t negated(std::uint64_t bits, Format format) {
    return bits ^ 1ull << (format == Format::tf32 ? 31 : traits(format).bits - 1);
}

std::uint64_t special_bits(Format format, Random& random) {
    if (traits(format).specials == Specials::none) return finite_bits(format, random);
    for (;;)
        if (const std::uint64_t bits = any_bits(format, random); !is_finite(bits, format)) return bits;
}

/// All operands and C around exponents whose sums meet one limit: of f32 and f16 products and results, and of the
/// engine's own ranges (F − 105, F + 20; 46 for one operand). Some products are far smaller, and some may
/// be ordinary.
void draw_edges(const DotRecipe& r, Problem& p, Random& random) {
    const int f = r.fraction_bits;
    const int limits[] = {f - 105, f + 20, f, 127, 134, -126, -149, -100, 14, -14, -24, -28};
    const int sum = limits[random() % std::size(limits)] + int(random() % 5) - 2;
    const int splits[] = {sum / 2, 0, 44, 45, 46, -116, 127, -126, int(random() % 256) - 128};
    const int of_a = splits[random() % std::size(splits)], spread = int(random() % 4);
    const bool with_smaller = random() % 2, with_ordinary = random() % 2;
    const auto around = [&](Format format, int exponent, int k) {
        if (random() % 16 == 0) return std::uint64_t(0);
        const int here = k % 4 == 1 && with_smaller ? exponent - 13 : k % 4 == 3 && with_ordinary ? 0 : exponent;
        const int field = here + traits(format).bias;
        return with_exponent(format, field - spread, field + spread, random);
    };
    for (std::size_t i = 0; i < p.a.size(); ++i) p.a[i] = around(r.a, of_a, int(i) % p.k);
    for (std::size_t i = 0; i < p.b.size(); ++i) p.b[i] = around(r.b, sum - of_a, int(i) % p.k);
    const int of_c = sum + int(random() % 34) - 30;
    for (std::uint64_t& c : p.c) c = random() % 4 ? around(r.d, of_c, 0) : 0;
}

}  // namespace

std::vector<DotRecipe> all_recipes() {
    std::vector<DotRecipe> recipes;
    const auto add = [&](const DotRequest& request) {
        const auto found = recipe(request);
        if (found && std::find(recipes.begin(), recipes.end(), *found) == recipes.end()) recipes.push_back(*found);
    };
    for (int device = 0; device <= int(Generation::blackwell_rtx); ++device)
        for (int instruction = 0; instruction <= int(Instruction::wmma); ++instruction)
            for (const Format a : all_formats())
                for (const Format b : all_formats())
                    for (const Format d : {Format::f32, Format::f16, Format::s32, Format::f64}) {
                        DotRequest request{.device = Generation(device), .instruction = Instruction(instruction)};
                        request.a = a, request.b = b, request.d = d;
                        add(request);
                        request.saturate = true, add(request), request.saturate = false;
                        request.exclusive_or = true, add(request), request.exclusive_or = false;
                        request.separate_halves = true, add(request), request.separate_halves = false;
                        request.m8n8k4 = true, add(request);
                    }
    return recipes;
}

std::string describe(const DotRecipe& r) {
    return fmt::format("kind {} {} x {} -> {}, L {}, F {}, e_zero {}, saturate {}, separate {}", int(r.kind),
                       traits(r.a).name, traits(r.b).name, traits(r.d).name, r.group_length, r.fraction_bits,
                       r.zero_exponent, r.saturate, r.separate_halves);
}

Problem draw_problem(const DotRecipe& r, Family family, int m, int n, int k, Random& random) {
    Problem p{m, n, k, {}, {}, {}};
    for (int i = 0; i < m * k; ++i) p.a.push_back(draw(family, r.a, random));
    for (int i = 0; i < n * k; ++i) p.b.push_back(draw(family, r.b, random));
    const bool float_c = traits(r.d).floating;
    for (int i = 0; i < m * n; ++i) {
        // Any C beside near operands is too far from them to show its own truncation.
        const bool near_products = float_c && family == Family::near && random() % 4 != 0;
        p.c.push_back(near_products ? with_exponent(r.d, traits(r.d).bias - 4, traits(r.d).bias + 12, random)
                                    : draw(family, r.d, random));
    }
    if (family == Family::cancelling && traits(r.a).is_signed)
        for (int row = 0; row < m; ++row)
            for (int i = 0; i + 3 < k; i += 4) {
                p.a[std::size_t(row * k + i + 1)] = negated(p.a[std::size_t(row * k + i)], r.a);
                p.a[std::size_t(row * k + i + 2)] = draw(Family::subnormal, r.a, random);
            }
    if (family == Family::cancelling)
        for (int column = 0; column < n; ++column)
            for (int i = 0; i + 1 < k; i += 4) p.b[std::size_t(column * k + i + 1)] = p.b[std::size_t(column * k + i)];
    if (family == Family::edges && float_c && traits(r.a).floating) draw_edges(r, p, random);
    if (family == Family::one_special && traits(r.a).floating) {
        p.a[random() % p.a.size()] = special_bits(r.a, random);
        if (random() % 2) p.b[random() % p.b.size()] = special_bits(r.b, random);
        if (float_c && random() % 2) p.c[random() % p.c.size()] = special_bits(r.d, random);
    }
    return p;
}

}  // namespace tilepath::number
