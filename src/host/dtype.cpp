#include "host/dtype.h"

#include <fmt/format.h>

#include <cmath>

namespace tilepath::host {
namespace {

using enum DType::Kind;
using number::Format;

// The TMA types name how a tensor map converts or pads; in global memory they are the plain type.
constexpr DType table[] = {
    {"u8", 8, unsigned_, {}},   {"u16", 16, unsigned_, {}}, {"u32", 32, unsigned_, {}}, {"u64", 64, unsigned_, {}},
    {"s8", 8, signed_, {}},     {"s16", 16, signed_, {}},   {"s32", 32, signed_, {}},   {"s64", 64, signed_, {}},
    {"u4", 4, unsigned_, {}},   {"s4", 4, signed_, {}},     {"b1", 1, unsigned_, {}},
    {"f64", 64, floating, Format::f64},     {"f32", 32, floating, Format::f32},     {"tf32", 32, floating, Format::tf32},
    {"f16", 16, floating, Format::f16},     {"bf16", 16, floating, Format::bf16},   {"e4m3", 8, floating, Format::e4m3},
    {"e5m2", 8, floating, Format::e5m2},    {"e3m2", 6, floating, Format::e3m2},    {"e2m3", 6, floating, Format::e2m3},
    {"e2m1", 4, floating, Format::e2m1},    {"ue8m0", 8, floating, Format::ue8m0},  {"ue4m3", 8, floating, Format::ue4m3},
    {"f32_ftz", 32, floating, Format::f32}, {"tf32_ftz", 32, floating, Format::tf32},
    {"16u4_align8b", 4, unsigned_, {}},     {"16u4_align16b", 4, unsigned_, {}},    {"16u6_align16b", 6, unsigned_, {}},
};

}  // namespace

std::optional<DType> dtype_named(std::string_view name) {
    for (const DType& row : table)
        if (row.name == name) return row;
    return {};
}

std::string dtype_names() {
    std::string out;
    for (const DType& row : table) out += fmt::format("{}{}", out.empty() ? "" : " ", row.name);
    return out;
}

std::uint64_t bytes_of(const DType& dtype, std::uint64_t elements) {
    return (elements * static_cast<std::uint64_t>(dtype.bits) + 7) / 8;
}

std::uint64_t element(std::span<const std::uint8_t> bytes, const DType& dtype, std::uint64_t position) {
    const std::uint64_t bit = position * static_cast<std::uint64_t>(dtype.bits);
    std::uint64_t out = 0;
    // A 6-bit element can lie across two bytes; whole-byte types are the same walk.
    for (std::uint64_t byte = bit / 8, taken = 0; taken < static_cast<std::uint64_t>(dtype.bits) + bit % 8; ++byte, taken += 8) {
        const std::uint64_t value = bytes[byte];
        out |= taken >= bit % 8 ? value << (taken - bit % 8) : value >> (bit % 8);
    }
    return dtype.bits == 64 ? out : out & ((std::uint64_t{1} << dtype.bits) - 1);
}

void set_element(std::span<std::uint8_t> bytes, const DType& dtype, std::uint64_t position, std::uint64_t bits) {
    const std::uint64_t bit = position * static_cast<std::uint64_t>(dtype.bits);
    for (int i = 0; i < dtype.bits;) {
        const std::uint64_t at = bit + static_cast<std::uint64_t>(i);
        const int low = static_cast<int>(at % 8), count = std::min(8 - low, dtype.bits - i);
        const unsigned mask = ((1u << count) - 1) << low;
        bytes[at / 8] = static_cast<std::uint8_t>((bytes[at / 8] & ~mask) | ((bits >> i << low) & mask));
        i += count;
    }
}

std::uint64_t from_number(const DType& dtype, double value) {
    if (dtype.kind == floating) return number::from_double(value, dtype.format, {.satfinite = std::isfinite(value)});
    if (std::isnan(value)) return 0;
    const double low = dtype.kind == signed_ ? -std::ldexp(1.0, dtype.bits - 1) : 0.0;
    const double high = std::ldexp(1.0, dtype.kind == signed_ ? dtype.bits - 1 : dtype.bits);
    const double whole = std::nearbyint(value);
    if (whole <= low) return static_cast<std::uint64_t>(static_cast<std::int64_t>(low));
    if (whole >= high) return dtype.kind == signed_ ? (std::uint64_t{1} << (dtype.bits - 1)) - 1 : ~std::uint64_t{0};
    return dtype.kind == signed_ ? static_cast<std::uint64_t>(static_cast<std::int64_t>(whole)) : static_cast<std::uint64_t>(whole);
}

double to_number(const DType& dtype, std::uint64_t bits) {
    if (dtype.kind == floating) return number::to_double(bits, dtype.format);
    if (dtype.kind == unsigned_) return static_cast<double>(bits);
    return static_cast<double>(static_cast<std::int64_t>(bits << (64 - dtype.bits)) >> (64 - dtype.bits));
}

std::string to_text(const DType& dtype, std::uint64_t bits) {
    const int digits = (dtype.bits + 3) / 4;
    if (dtype.kind == floating) return fmt::format("{:.9g} (0x{:0{}x})", to_number(dtype, bits), bits, digits);
    if (dtype.kind == unsigned_) return fmt::format("{} (0x{:0{}x})", bits, bits, digits);
    return fmt::format("{} (0x{:0{}x})", static_cast<std::int64_t>(bits << (64 - dtype.bits)) >> (64 - dtype.bits), bits, digits);
}

}  // namespace tilepath::host
