// The truncated fused dot product on vectors over the rows of A.
//
// Quick path, per group of products: the largest exponent (8-bit lanes, four products at a time), then each product in
// f32, exact, times 2^(F − e_max), exact, converted to an integer, which truncates toward zero, and added. It holds
// while all of that stays inside f32's range. Everything else, infinities and NaN included, takes the wide path: the
// same in f64, where every product is exact and in range.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "number/engine_fused.cpp"
#include "number/engine_targets.h"
// After engine_targets.h:
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "number/engine_quick-inl.h"
#include "number/engine_wide-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tilepath::number::engine::HWY_NAMESPACE {
#if HWY_TARGET == HWY_SCALAR
FusedKernel fused_kernel(const FusedRule&) { return nullptr; }
#else
namespace {
/// Where one block of C, and of results, lie column by column: f32, and values of binary16 when D is f16.
struct State {
    const float* c;
    std::ptrdiff_t c_stride;
    float* d;
    std::ptrdiff_t d_stride;
};

/// A group that the quick path refused, or that is special.
template <ResultRounding rounding, SumRange range>
HWY_NOINLINE void rare_group(const FusedRule& rule, const Group& g, float* values) {
    VF state[columns];
#pragma GCC unroll 8
    for (int c = 0; c < columns; ++c) state[c] = hn::Load(f32, values + c * lanes);
    if (g.a_special || g.b_special || !quick_group<rounding, range, true>(rule, g, state)) wide_groups(rule, g, state);
#pragma GCC unroll 8
    for (int c = 0; c < columns; ++c) hn::Store(state[c], f32, values + c * lanes);
}

/// The groups of [first, last) of k, chained, for one block of D.
template <ResultRounding rounding, SumRange range>
HWY_INLINE void add_groups(const FusedRule& rule, const Operands& operands, int block, int first, int last,
                           const State& state) {
    const auto* const a = reinterpret_cast<const float*>(operands.a);
    const auto* const b = reinterpret_cast<const float*>(operands.b + std::size_t(block) * operands.b_block_bytes);
    const auto* const a_exponents = reinterpret_cast<const std::int32_t*>(a + operands.elements * block_rows);
    const auto* const b_exponents = reinterpret_cast<const std::int8_t*>(b + operands.elements * block_columns);
    const bool a_special = operands.a_special, b_special = operands.b_special[block];
    const bool special = a_special | b_special;
    for (int row = 0; row < block_rows; row += lanes)
        for (int column = 0; column < block_columns; column += columns) {
            VF sums[columns];
#pragma GCC unroll 8
            for (int c = 0; c < columns; ++c) sums[c] = hn::LoadU(f32, state.c + (column + c) * state.c_stride + row);
            for (int k = first; k < last; k += rule.group_length) {
                const Group g{a + k * block_rows + row,
                              b + k * block_columns + column,
                              a_exponents + k * block_rows + row,
                              b_exponents + k * block_columns + column,
                              HWY_MIN(rule.group_length, last - k),
                              a_special,
                              b_special};
                if (HWY_LIKELY(!special) && HWY_LIKELY((quick_group<rounding, range, false>(rule, g, sums)))) continue;
                HWY_ALIGN float values[columns * lanes];
#pragma GCC unroll 8
                for (int c = 0; c < columns; ++c) hn::Store(sums[c], f32, values + c * lanes);
                rare_group<rounding, range>(rule, g, values);
#pragma GCC unroll 8
                for (int c = 0; c < columns; ++c) sums[c] = hn::Load(f32, values + c * lanes);
            }
#pragma GCC unroll 8
            for (int c = 0; c < columns; ++c) hn::StoreU(sums[c], f32, state.d + (column + c) * state.d_stride + row);
        }
}

HWY_ALIGN constexpr float zeros[block_rows] = {};

template <ResultRounding rounding>
HWY_INLINE VF load_c(const Accumulators& tile, int row, int column) {
    if (!tile.c) return hn::Zero(f32);
    const std::ptrdiff_t at = column * tile.c_stride + row;
    if constexpr (rounding == ResultRounding::rne_f16) return load_f16(static_cast<const std::uint16_t*>(tile.c) + at);
    return hn::LoadU(f32, static_cast<const float*>(tile.c) + at);
}

template <ResultRounding rounding>
HWY_INLINE void store_d(VF v, const Accumulators& tile, int row, int column) {
    const std::ptrdiff_t at = column * tile.d_stride + row;
    if constexpr (rounding == ResultRounding::rne_f16)
        store_f16(v, static_cast<std::uint16_t*>(tile.d) + at);
    else
        hn::StoreU(v, f32, static_cast<float*>(tile.d) + at);
}

/// One IEEE addition, to nearest, in D's format. (Of two binary16 values it is exact enough in f32: 24 ≥ 2 · 11 + 2.)
template <ResultRounding rounding>
HWY_INLINE VF add_ieee(VF x, VF y) {
    VF sum = hn::Add(x, y);
    if constexpr (rounding == ResultRounding::rne_f16) sum = round_to_f16(sum);
    return hn::IfThenElse(hn::IsNaN(sum), float_of(set(magnitude_bits)), sum);
}

template <class Body>
HWY_INLINE void for_each_vector(Body body) {
    for (int column = 0; column < block_columns; ++column)
        for (int row = 0; row < block_rows; row += lanes) body(row, column);
}

/// D is f32 and C comes first: the groups work on D itself.
template <ResultRounding rounding, SumRange range>
void multiply_in_place(const FusedRule& rule, const Operands& operands, const Accumulators& tile) {
    const std::ptrdiff_t c_stride = tile.c ? tile.c_stride : 0;
    State state{tile.c ? static_cast<const float*>(tile.c) : zeros, c_stride, static_cast<float*>(tile.d),
                tile.d_stride};
    for (int block = 0; block < operands.column_blocks; ++block) {
        add_groups<rounding, range>(rule, operands, block, 0, operands.elements, state);
        state.c += block_columns * state.c_stride;
        state.d += block_columns * state.d_stride;
    }
}

/// D is f16, or C comes last (fp8_through_f16).
template <ResultRounding rounding, SumRange range>
void multiply_aside(const FusedRule& rule, const Operands& operands, const Accumulators& tile) {
    HWY_ALIGN float sums[block_columns][block_rows], second[block_columns][block_rows];
    const State in_place{sums[0], block_rows, sums[0], block_rows}, from_zero{zeros, 0, second[0], block_rows};
    const int elements = operands.elements, middle = rule.separate_halves ? elements / 2 : elements;
    for (int block = 0; block < operands.column_blocks; ++block) {
        const int first = block * block_columns;
        for_each_vector([&](int row, int column) HWY_ATTR {
            const VF c = rule.starts_from_zero ? hn::Zero(f32) : load_c<rounding>(tile, row, first + column);
            hn::Store(c, f32, &sums[column][row]);
        });
        add_groups<rounding, range>(rule, operands, block, 0, middle, in_place);
        if (rule.separate_halves) add_groups<rounding, range>(rule, operands, block, middle, elements, from_zero);
        for_each_vector([&](int row, int column) HWY_ATTR {
            VF result = hn::Load(f32, &sums[column][row]);
            if (rule.separate_halves) result = add_ieee<rounding>(result, hn::Load(f32, &second[column][row]));
            if (rule.starts_from_zero) result = add_ieee<rounding>(result, load_c<rounding>(tile, row, first + column));
            store_d<rounding>(result, tile, row, first + column);
        });
    }
}

template <ResultRounding rounding, SumRange range>
FusedKernel kernel_for(const FusedRule& rule) {
    if (rounding == ResultRounding::rne_f16 || rule.starts_from_zero) return multiply_aside<rounding, range>;
    return multiply_in_place<rounding, range>;
}

template <ResultRounding rounding>
FusedKernel kernel_for(const FusedRule& rule) {
    switch (rule.range) {
        case SumRange::fits: return kernel_for<rounding, SumRange::fits>(rule);
        case SumRange::fits_less_c: return kernel_for<rounding, SumRange::fits_less_c>(rule);
        case SumRange::halves_fit: return kernel_for<rounding, SumRange::halves_fit>(rule);
    }
    return nullptr;
}

}  // namespace

FusedKernel fused_kernel(const FusedRule& rule) {
    switch (rule.rounding) {
        case ResultRounding::rz_f32: return kernel_for<ResultRounding::rz_f32>(rule);
        case ResultRounding::rz_e8m13: return kernel_for<ResultRounding::rz_e8m13>(rule);
        case ResultRounding::rne_f16: return kernel_for<ResultRounding::rne_f16>(rule);
    }
    return nullptr;
}
#endif
}  // namespace tilepath::number::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tilepath::number::engine {
HWY_EXPORT(fused_kernel);
FusedKernel best_fused_kernel(const FusedRule& rule) { return HWY_DYNAMIC_DISPATCH(fused_kernel)(rule); }
}  // namespace tilepath::number::engine
#endif
