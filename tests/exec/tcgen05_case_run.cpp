// The rest of tcgen05_case.cpp: scale factors, metadata, and the product in plain loops.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "number/arithmetic.h"
#include "tcgen05_case.h"

namespace tilepath::exec {
namespace {

using atom::Tcgen05Kind;
using number::Format;

constexpr int scale_a_column = 320, scale_b_column = 384, metadata_column = 480;
constexpr int scale_columns = 16, metadata_columns = 8;
constexpr std::uint32_t shared_bytes = 0x34000;

number::Scaling scaling_of(Tcgen05Kind kind) {
    if (kind == Tcgen05Kind::mxf8f6f4) return number::Scaling::per_dot;
    return kind == Tcgen05Kind::mxf4 || kind == Tcgen05Kind::mxf4nvf4 ? number::Scaling::per_group
                                                                      : number::Scaling::none;
}

}  // namespace

/// Factor q of row r: byte q mod 4 of lane r mod 32 of every window, column r/32 + G (q/4), G columns per four factors.
void Tcgen05Bench::put_scales(int step) {
    if (factors() == 0) return;
    const auto scale = [&] { return case_.scale == Format::ue8m0 ? 120 + random_() % 15 : random_() % 0x7F; };
    scale_a_.resize(static_cast<std::size_t>(case_.m * factors()));
    scale_b_.resize(static_cast<std::size_t>(case_.n * factors()));
    for (std::uint64_t& each : scale_a_) each = scale();
    for (std::uint64_t& each : scale_b_) each = scale();
    const int a = scale_a_column + step * scale_columns, b = scale_b_column + step * scale_columns;
    // CUTLASS leaves the factor's id in the two highest bits of the address.
    operands.back().scale_a = static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(case_.sfa_id) << 30;
    operands.back().scale_b = static_cast<std::uint32_t>(b) | static_cast<std::uint32_t>(case_.sfb_id) << 30;
    for (int m = 0; m < case_.m; ++m)
        for (int f = 0; f < factors(); ++f)
            for (int copy = 0; copy < 4; ++copy) {
                const int row = m % rows_per_cta(), q = case_.sfa_id + f, group = rows_per_cta() / 32;
                put_tmem(m / rows_per_cta(), row % 32 + 32 * copy, a + row / 32 + group * (q / 4), q % 4 * 8, 8,
                         scale_a_[static_cast<std::size_t>(m * factors() + f)]);
            }
    const bool split = parts() == 2;
    const int rounded = (case_.n + 127) / 128 * 128;
    for (int n = 0; n < case_.n; ++n)
        for (int f = 0; f < factors(); ++f)
            for (int copy = 0; copy < (split ? 2 : 4); ++copy)
                for (int cta = 0; cta < case_.cta_group; ++cta) {
                    const int half = split ? n / (case_.n / 2) : 0, column = split ? n % (case_.n / 2) : n;
                    const int q = case_.sfb_id + f, group = split ? rounded / 64 : rounded / 32;
                    put_tmem(cta, column % 32 + 32 * copy + 64 * half, b + column / 32 + group * (q / 4), q % 4 * 8, 8,
                             scale_b_[static_cast<std::size_t>(n * factors() + f)]);
                }
}

void Tcgen05Bench::put_metadata(int step) {
    selected_.clear();
    if (!case_.sparse) return;
    const int column = metadata_column + step * metadata_columns;
    operands.back().metadata = static_cast<std::uint32_t>(case_.lane << 16 | column);
    const bool tf32 = case_.kind == Tcgen05Kind::tf32, f16 = case_.kind == Tcgen05Kind::f16;
    const bool pairs = scaling_of(case_.kind) == number::Scaling::per_group;
    const int chunk = tf32 ? 2 : pairs ? 8 : 4, window = rows_per_cta() == 64 && !case_.ws ? 32 : 16;
    const std::vector<unsigned> choices =
        tf32 ? std::vector{0b0100u, 0b1110u} : std::vector{0b0100u, 0b1000u, 0b1100u, 0b1001u, 0b1101u, 0b1110u};
    for (int m = 0; m < case_.m; ++m)
        for (int c = 0; c < k() / chunk; ++c) {
            const unsigned bits = choices[random_() % choices.size()];
            const int first = static_cast<int>(bits & 3), second = static_cast<int>(bits >> 2);
            if (tf32) {
                selected_.push_back(2 * c + (bits == 0b1110 ? 1 : 0));
            } else {
                for (const int index : {first, second})
                    for (int i = 0; i < (pairs ? 2 : 1); ++i)
                        selected_.push_back(chunk * c + index * (pairs ? 2 : 1) + i);
            }
            const int row = m % rows_per_cta(), cta = m / rows_per_cta();
            // f16 and tf32: 16 bits of a lane are a row's, 8 rows to 16 lanes, halves of k in lanes 8 apart.
            const int lane = f16 || tf32 ? row % 8 + window * (row / 16) + 8 * (c / 4) : row % 16 + window * (row / 16);
            const int bit = f16 || tf32 ? 4 * (c % 4) + 16 * (row / 8 % 2) : 4 * (c % 8);
            const int at = column + (f16 || tf32 ? case_.selector : c / 8);
            for (int part = 0; part < parts(); ++part)
                put_tmem(cta, lane + part * (128 / parts()) + case_.lane, at, bit, 4, bits);
        }
}

/// D of this step, on what the steps before left.
void Tcgen05Bench::compute(int step) {
    number::DotRequest request{.device = number::Generation::blackwell,
                               .instruction = number::Instruction::tcgen05_mma,
                               .a = case_.a,
                               .b = case_.b,
                               .d = case_.d,
                               .scaling = scaling_of(case_.kind),
                               .scale = case_.scale,
                               .scale_block = case_.block == 0 ? 32 : case_.block,
                               .saturate = case_.saturate};
    const number::DotRecipe recipe = *number::recipe(request);
    const auto sign = [&](Format format) {
        return 1ull << (format == Format::tf32 ? 31 : number::traits(format).bits - 1);
    };
    const auto stored = static_cast<std::size_t>(stored_k()), f = static_cast<std::size_t>(factors());
    std::vector<std::uint64_t> a(stored), b(stored);
    for (int m = 0; m < case_.m; ++m)
        for (int n = 0; n < case_.n; ++n) {
            const Place at = d_place(m, n);
            if (case_.disabled[static_cast<std::size_t>(at.cta * 4 + at.lane / 32)] >> at.lane % 32 & 1) continue;
            for (std::size_t i = 0; i < stored; ++i) {
                const std::size_t row = static_cast<std::size_t>(m) * stored + i;
                const int column = case_.sparse ? selected_[row] : static_cast<int>(i);
                a[i] = a_[row] ^ (case_.negate_a ? sign(case_.a) : 0);
                b[i] = b_[static_cast<std::size_t>((n + column_shift()) * k() + column)] ^
                       (case_.negate_b ? sign(case_.b) : 0);
                if (zeroed(n)) b[i] = 0;
            }
            std::uint32_t& cell =
                expected_[static_cast<std::size_t>(at.cta)][static_cast<std::size_t>(at.column * 128 + at.lane)];
            std::uint64_t c = case_.d == Format::f16 ? cell & 0xFFFF : cell;
            if (case_.scale_input_d != 0)
                c = number::mul(case_.d, c, number::from_double(1.0 / (1 << case_.scale_input_d), case_.d), {});
            number::Scales scales;
            if (f != 0)
                scales = {std::span(scale_a_).subspan(static_cast<std::size_t>(m) * f, f),
                          std::span(scale_b_).subspan(static_cast<std::size_t>(n) * f, f)};
            const bool adds = case_.accumulates || step > 0;
            cell = static_cast<std::uint32_t>(number::dot(recipe, a, b, adds ? c : 0, scales));
        }
}

Tcgen05Bench::Tcgen05Bench(const Tcgen05Case& c, unsigned seed) : case_(c), random_(seed) {
    for (std::size_t cta = 0; cta < 2; ++cta) {
        shared[cta].resize(shared_bytes);
        for (std::uint8_t& byte : shared[cta]) byte = static_cast<std::uint8_t>(random_());
        tensor[cta].reset();
        for (std::uint32_t column = 0; column < 512; ++column)
            for (int lane = 0; lane < 128; ++lane)
                tensor[cta].column(column)[lane] =
                    c.d == Format::s32 ? static_cast<std::uint32_t>(random_()) : static_cast<std::uint32_t>(draw(c.d));
    }
    std::array<std::vector<std::uint32_t>, 2> before;
    for (int step = 0; step < c.steps; ++step) {
        Tcgen05Operands& to = operands.emplace_back();
        if (c.within_row) case_.sfa_id = case_.sfb_id = factors() * step % 4;
        to.instruction = instruction_descriptor_of(case_);
        to.d = static_cast<std::uint32_t>(c.lane << 16);
        to.accumulates = c.accumulates || step > 0;
        to.zero_columns = c.zero_columns;
        to.scale_input_d = static_cast<std::uint8_t>(c.scale_input_d);
        to.disabled_lanes = c.disabled;
        put_a(step), put_b(step), put_scales(step), put_metadata(step);
        for (std::size_t cta = 0; cta < 2; ++cta)
            for (std::uint32_t column = step == 0 ? 0 : 256; column < 512; ++column) {
                expected_[cta].resize(512 * 128);
                std::copy_n(tensor[cta].column(column), 128, expected_[cta].begin() + column * 128);
            }
        compute(step);
    }
}

Tcgen05Ctas Tcgen05Bench::ctas() {
    return {case_.cta_group, {&tensor[0], &tensor[1]}, {shared[0].data(), shared[1].data()}};
}

std::string Tcgen05Bench::run(Tcgen05Multiplier& multiplier) {
    std::vector<const Tcgen05Plan*> plans;
    for (const Tcgen05Operands& each : operands) {
        plans.push_back(&multiplier.plan(words_of(case_), each));
        if (!plans.back()->error.empty()) return plans.back()->error;
    }
    for (std::size_t first = 0, end = 0; first < operands.size(); first = end) {
        while (end < operands.size() && plans[end]->chain == plans[first]->chain) ++end;
        if (auto wrong = multiplier.multiply(*plans[first], std::span(operands).subspan(first, end - first), ctas());
            !wrong.empty())
            return wrong;
    }
    for (std::size_t cta = 0; cta < 2; ++cta)
        for (std::uint32_t column = 0; column < 512; ++column)
            for (std::uint32_t lane = 0; lane < 128; ++lane) {
                const std::uint32_t found = tensor[cta].column(column)[lane];
                const std::uint32_t wanted = expected_[cta][column * 128 + lane];
                if (found != wanted)
                    return fmt::format("CTA {}, lane {}, column {}: expected {:#010x}, found {:#010x}", cta, lane,
                                       column, wanted, found);
            }
    return {};
}

}  // namespace tilepath::exec
