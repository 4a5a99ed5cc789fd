#include "tcgen05_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

namespace tilepath::exec {
namespace {

using atom::Tcgen05Kind;
using number::Format;

// Columns of Tensor Memory: D from 0, and per step A, scales, metadata.
constexpr int a_column = 256, a_columns = 16;
constexpr std::uint32_t a_start = 0x2000, b_start = 0x12000;

bool packed4(Tcgen05Kind kind) { return kind == Tcgen05Kind::mxf4 || kind == Tcgen05Kind::mxf4nvf4; }

int bits_of(const Tcgen05Case& c, Format format) {
    return c.kind == Tcgen05Kind::tf32 ? 32 : number::traits(format).bits;
}

/// Bytes from one 8-row group (K-major), or 8 columns of k, to the next, and the leading offset: packed atoms, with
/// room between some.
struct Offsets {
    std::uint32_t leading = 0, stride = 0;
};
int span_of(Swizzle swizzle) {
    return swizzle == Swizzle::none ? 16 : swizzle == Swizzle::b32 ? 32 : swizzle == Swizzle::b64 ? 64 : 128;
}
Offsets offsets_of(bool mn_major, Swizzle swizzle, int rows) {
    const auto span = static_cast<std::uint32_t>(span_of(swizzle));
    if (!mn_major && swizzle == Swizzle::none) return {static_cast<std::uint32_t>((rows + 7) / 8 * 128 + 256), 128};
    if (!mn_major) return {static_cast<std::uint32_t>(rows) * span, 8 * span};
    if (swizzle == Swizzle::none) return {static_cast<std::uint32_t>(rows * 32 + 128), 128};
    const std::uint32_t atom = swizzle == Swizzle::b128_atom_32 ? 512 : 8 * span;
    return {8 * atom, atom};  // of k up to 64: eight atoms along k, then the next along mn
}

/// Where the second buffer begins, for `two_buffers`.
std::uint32_t second_of(std::uint32_t start) { return start / 1024 * 1024 + (start < b_start ? 0x4000 : 0x8000); }

std::uint64_t descriptor_of(std::uint32_t start, bool mn_major, Swizzle swizzle, int rows) {
    const Offsets at = offsets_of(mn_major, swizzle, rows);
    return start >> 4 | std::uint64_t{at.leading >> 4} << 16 | std::uint64_t{at.stride >> 4} << 32 | 1ull << 46 |
           static_cast<std::uint64_t>(swizzle) << 61;
}

std::uint64_t in_two_buffers(std::uint64_t descriptor, std::uint32_t start) {
    return (descriptor & ~(0x3FFFull << 16)) | std::uint64_t{second_of(start) >> 4} << 16 | 1ull << 52;
}

}  // namespace

int Tcgen05Bench::k() const {
    if (case_.k96) return 96;
    const int dense = case_.kind == Tcgen05Kind::f16    ? 16
                      : case_.kind == Tcgen05Kind::tf32 ? 8
                      : packed4(case_.kind)             ? 64
                                                        : 32;
    return case_.sparse ? 2 * dense : dense;
}
int Tcgen05Bench::stored_k() const { return case_.sparse ? k() / 2 : k(); }
int Tcgen05Bench::factors() const { return case_.block != 0 ? stored_k() / case_.block : 0; }
int Tcgen05Bench::parts() const {
    if (case_.ws) return 128 / case_.m;
    return case_.cta_group == 2 && case_.m == 128 && !case_.sparse ? 2 : 1;
}

Tcgen05Bench::Place Tcgen05Bench::d_place(int m, int n) const {
    const int row = m % rows_per_cta(), cta = m / rows_per_cta(), width = case_.n / parts();
    if (rows_per_cta() == 64 && parts() == 1) return {cta, row / 16 * 32 + row % 16 + case_.lane, n};
    return {cta, row + n / width * (128 / parts()), n % width};
}

/// Runs of used columns (0) and zeroed ones (1) alternate (PTX ISA 9.7.16.4.3, examples); start counts below a run.
bool Tcgen05Bench::zeroed(int n) const {
    if ((case_.zero_columns >> 39 & 1) == 0) return false;
    const int width = case_.n * case_.m / 128, part = n / width;
    const int skip = static_cast<int>(case_.zero_columns >> 40 & 255) + 1;
    const int use = static_cast<int>(case_.zero_columns >> 48 & 255) + 1;
    bool zero = case_.zero_columns >> (32 + part) & 1;
    int left = (zero ? skip : use) - static_cast<int>(case_.zero_columns >> (8 * part) & 255);
    for (int column = 0; column < n % width; ++column)
        if (--left == 0) {
            zero = !zero;
            left = zero ? skip : use;
        }
    return zero;
}

std::uint64_t Tcgen05Bench::draw(Format format) {
    if (!number::traits(format).floating || number::traits(format).bits <= 6)
        return random_() & ((1ull << number::traits(format).bits) - 1);
    if (case_.specials != 0 && std::uniform_real_distribution<double>()(random_) < case_.specials)
        return number::from_double(std::numeric_limits<double>::infinity() * (random_() % 4 == 0 ? 0
                                                                              : random_() % 2    ? 1
                                                                                                 : -1),
                                   format);
    std::normal_distribution<double> normal;
    const std::uint64_t bits = number::from_double(normal(random_) * 3, format);
    return format == Format::tf32 ? bits | (random_() & 0x1FFF) : bits;
}

Tcgen05Bench::Matrix Tcgen05Bench::draw_matrix(Format format, int rows, int columns) {
    Matrix matrix(static_cast<std::size_t>(rows * columns));
    for (std::uint64_t& element : matrix) element = draw(format);
    return matrix;
}

void Tcgen05Bench::put_shared(int cta, std::uint32_t start, bool mn_major, Swizzle swizzle, Format format, int rows,
                              int row, int k, std::uint64_t bits) {
    const int width = bits_of(case_, format);
    const bool padded = width < 8 && !packed4(case_.kind);
    const Offsets at = offsets_of(mn_major, swizzle, rows);
    const int span = span_of(swizzle), leading = static_cast<int>(at.leading), stride = static_cast<int>(at.stride);
    const int k_bit = padded ? k / 16 * 128 + k % 16 * width : k * width, k_byte = k_bit / 8;
    const int size = std::max(1, width / 8), per_span = span / size, fours = swizzle == Swizzle::b128_atom_32 ? 4 : 8;
    int byte = 0;
    if (!mn_major && swizzle == Swizzle::none)
        byte = row / 8 * stride + row % 8 * 16 + k_byte / 16 * leading + k_byte % 16;
    else if (!mn_major)
        byte = row / 8 * stride + row % 8 * span + k_byte % span + k_byte / span * leading;
    else if (swizzle == Swizzle::none)
        byte = row / per_span * stride + row % per_span * size + k / 8 * leading + k % 8 * 16;
    else
        byte = row / per_span * leading + row % per_span * size + k / fours * stride + k % fours * span;
    auto address = start + static_cast<std::uint32_t>(byte);
    const int in_row = static_cast<int>(start % 128) + k_byte;
    if (case_.two_buffers && in_row >= 128)
        address = second_of(start) + static_cast<std::uint32_t>(row / 8 * stride + row % 8 * 128 + in_row - 128);
    if (swizzle == Swizzle::b128_atom_32)
        address ^= (address >> 7 & 3) << 5;
    else
        address ^= (address >> 7 & static_cast<std::uint32_t>(span / 16 - 1)) << 4;
    for (int i = 0; i < width; i += 8) {
        std::uint8_t& to = shared[static_cast<std::size_t>(cta)].at(address + static_cast<std::uint32_t>(i / 8));
        const int shift = k_bit % 8, most = width - i < 8 ? width - i : 8;
        const auto value = static_cast<unsigned>(bits >> i & ((1u << most) - 1));
        to = static_cast<std::uint8_t>((to & ~(((1u << most) - 1) << shift)) | value << shift);
        if (shift + most > 8) {  // six bits over two bytes
            std::uint8_t& next = (&to)[1];
            const unsigned mask = (1u << (shift + most - 8)) - 1;
            next = static_cast<std::uint8_t>((next & ~mask) | value >> (8 - shift));
        }
    }
}

void Tcgen05Bench::put_tmem(int cta, int lane, int column, int bit, int width, std::uint64_t bits) {
    std::uint32_t& cell = tensor[static_cast<std::size_t>(cta)].column(static_cast<std::uint32_t>(column))[lane];
    const std::uint32_t mask = width == 32 ? ~0u : ((1u << width) - 1) << bit;
    cell = (cell & ~mask) | (static_cast<std::uint32_t>(bits) << bit & mask);
}

void Tcgen05Bench::put_a(int step) {
    a_ = draw_matrix(case_.a, case_.m, stored_k());
    const int container = case_.kind == Tcgen05Kind::f16    ? 16
                          : case_.kind == Tcgen05Kind::tf32 ? 32
                          : packed4(case_.kind)             ? 4
                                                            : 8;
    const std::uint32_t start =
        a_start + static_cast<std::uint32_t>(step) * (case_.within_row ? 32 : 0x4000) + case_.phase;
    Tcgen05Operands& to = operands.back();
    to.a = case_.a_in_tmem
               ? static_cast<std::uint64_t>(case_.lane) << 16 | static_cast<unsigned>(a_column + step * a_columns)
               : descriptor_of(start, case_.a_mn_major, case_.a_swizzle, rows_per_cta());
    if (case_.two_buffers) to.a = in_two_buffers(to.a, start);
    for (int m = 0; m < case_.m; ++m)
        for (int i = 0; i < stored_k(); ++i) {
            const int row = m % rows_per_cta(), cta = m / rows_per_cta();
            const std::uint64_t bits = a_[static_cast<std::size_t>(m * stored_k() + i)];
            if (!case_.a_in_tmem) {
                put_shared(cta, start, case_.a_mn_major, case_.a_swizzle, case_.a, rows_per_cta(), row, i, bits);
                continue;
            }
            const bool middle = container == 8 && case_.a == Format::e2m1;  // 00SEEM00
            for (int part = 0; part < parts(); ++part)
                put_tmem(cta, d_place(m, part * case_.n / parts()).lane,
                         a_column + step * a_columns + i * container / 32, i * container % 32 + (middle ? 2 : 0),
                         middle ? 4 : container, bits);
        }
}

void Tcgen05Bench::put_b(int step) {
    const int own = case_.n / case_.cta_group, columns = case_.n + column_shift();
    b_ = draw_matrix(case_.b, columns, k());
    const std::uint32_t start =
        b_start + static_cast<std::uint32_t>(step) * (case_.within_row ? 32 : 0x8000) + case_.phase;
    operands.back().b = descriptor_of(start, case_.b_mn_major, case_.b_swizzle, own + column_shift());
    if (case_.two_buffers) operands.back().b = in_two_buffers(operands.back().b, start);
    for (int n = 0; n < columns; ++n)
        for (int i = 0; i < k(); ++i)
            put_shared(std::min(n / own, case_.cta_group - 1), start, case_.b_mn_major, case_.b_swizzle, case_.b,
                       own + column_shift(), case_.cta_group == 1 ? n : n % own, i,
                       b_[static_cast<std::size_t>(n * k() + i)]);
}

}  // namespace tilepath::exec
