#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "number/explain.h"
#include "number/format.h"

namespace tilepath::number {
namespace {

using Source = ExplainedTerm::Source;

std::string hex(std::uint64_t bits, Format format) {
    return fmt::format("{:0{}x}", bits, std::max(1, traits(format).container_bits / 4));
}

std::string source_text(const ExplainedTerm& t) {
    switch (t.source) {
        case Source::c: return "c";
        case Source::product: return fmt::format("k={}", t.k);
        case Source::scaled_group: return fmt::format("k={}..{}", t.k, t.k + 15);
    }
    return "";
}

std::string value_text(const ExplainedTerm& t) {
    switch (t.kind) {
        case Class::nan: return "NaN";
        case Class::infinity: return t.negative ? "-Inf" : "+Inf";
        case Class::zero: return t.negative ? "-0" : "+0";
        case Class::finite: break;
    }
    return fmt::format("{:+.9g}", std::ldexp(double(t.significand), t.exponent - t.fraction_bits));
}

std::string rounding_text(ResultRounding rounding) {
    switch (rounding) {
        case ResultRounding::rz_f32: return "truncated to 24 bits";
        case ResultRounding::rz_e8m13: return "truncated to 14 bits";
        case ResultRounding::rne_f16: return "rounded to nearest even f16";
    }
    return "";
}

std::string group_text(const DotRecipe& r, const ExplainedGroup& g) {
    if (g.special) {
        std::string text = "  decided by special values:";
        for (const ExplainedTerm& t : g.terms)
            if (t.kind == Class::nan || t.kind == Class::infinity)
                text += fmt::format(" {} {}", source_text(t), value_text(t));
        return fmt::format("{} -> {}\n", text, hex(g.result, r.d));
    }
    std::string text = fmt::format("  largest exponent {}, least bit kept 2^{}\n", g.largest, g.least);
    text += fmt::format("  {:>8}  {:>17}  {:>8}  {:>5}  {:>18}  {}\n", "term", "value", "exponent", "shift",
                        fmt::format("x 2^{}", g.least), "cut off");
    int zeros = 0;
    for (const ExplainedTerm& t : g.terms) {
        if (t.kind == Class::zero) {
            ++zeros;
            continue;
        }
        const double whole = std::ldexp(double(t.significand), t.exponent - t.fraction_bits);
        const std::string lost = t.cut ? fmt::format("{:+.4g}", whole - std::ldexp(double(t.kept), g.least)) : "";
        text += fmt::format("  {:>8}  {:>17}  {:>8}  {:>5}  {:>18}  {}\n", source_text(t), value_text(t), t.exponent,
                            t.shift, t.kept, lost);
    }
    if (zeros != 0) text += fmt::format("  {:>8}  {} zero term{}\n", "", zeros, zeros == 1 ? "" : "s");
    text += fmt::format("  sum {} x 2^{} = {:+.9g}, {} -> {} ({:.9g})\n", g.sum, g.least,
                        std::ldexp(double(g.sum), g.least), rounding_text(r.rounding), hex(g.result, r.d),
                        to_double(g.result, r.d));
    return text;
}

}  // namespace

std::string to_string(const DotRecipe& r, const Explanation& e) {
    std::string text;
    for (std::size_t i = 0; i < e.groups.size(); ++i) {
        if (e.groups.size() > 1) text += fmt::format("group {} of {}\n", i + 1, e.groups.size());
        text += group_text(r, e.groups[i]);
    }
    for (const ExplainedOperation& o : e.operations) {
        text += fmt::format("  {}:", o.text);
        for (const std::uint64_t x : o.operands)
            text += fmt::format(" {} ({:.9g})", hex(x, o.format), to_double(x, o.format));
        text += fmt::format(" -> {} ({:.9g})\n", hex(o.result, o.format), to_double(o.result, o.format));
    }
    switch (r.kind) {
        case DotRecipe::Kind::integer:
        case DotRecipe::Kind::bit_and:
        case DotRecipe::Kind::bit_xor:
            text += fmt::format("  exact sum {}{} -> {}\n", e.integer_sum,
                                r.saturate ? ", clamped to 32 bits" : ", modulo 2^32", hex(e.result, r.d));
            break;
        case DotRecipe::Kind::cuda_core_f32:
            text += fmt::format("  binary32 code without a tensor core: {}\n",
                                r.d == Format::f16 ? "(c + fma(a1, b1, a0 b0)) + fma(a3, b3, a2 b2), rounded to f16"
                                                   : "c + fma(a3, b3, fma(a2, b2, fma(a1, b1, a0 b0)))");
            break;
        case DotRecipe::Kind::fused:
        case DotRecipe::Kind::fp8_through_f16:
        case DotRecipe::Kind::fma_chain_f64: break;
    }
    return text;
}

}  // namespace tilepath::number
