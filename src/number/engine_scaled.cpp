// mxf8f6f4 on vectors over the rows of A. The scales' powers of two move all products of a group by the same exponent,
// so that C, moved the other way, meets them as in an unscaled group, and the result is moved back: the quick path,
// wherever that keeps C and the result normal. Everything else takes the wide path.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "number/engine_scaled.cpp"
#include "number/engine_targets.h"
// After engine_targets.h:
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "number/engine_quick-inl.h"
#include "number/engine_wide-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tilepath::number::engine::HWY_NAMESPACE {
#if HWY_TARGET == HWY_SCALAR
FusedKernel scaled_kernel() { return nullptr; }
#else
namespace {
constexpr auto rounding = ResultRounding::rz_f32;
constexpr auto range = SumRange::halves_fit;
/// Below it the exponent that zero terms count with could be the largest one.
constexpr int least_scale = -100;

/// v · 2^exponent where `v` is zero or both are normal; elsewhere `bad` becomes negative.
HWY_INLINE VF moved(VF v, VI exponent, VI& bad) {
    const VI field = hn::And(hn::ShiftRight<23>(bits_of(v)), set(0xff)), to = hn::Add(field, exponent);
    const auto is_zero = hn::Eq(hn::And(bits_of(v), set(magnitude_bits)), hn::Zero(i32));
    const VI least = hn::Min(hn::Min(field, to), hn::Sub(set(255), hn::Max(field, to)));  // at least 1: normal
    bad = hn::Or(bad, hn::IfThenZeroElse(is_zero, hn::Sub(least, set(1))));
    return hn::IfThenZeroElse(hn::RebindMask(f32, is_zero), float_of(hn::Add(bits_of(v), hn::ShiftLeft<23>(exponent))));
}

template <bool excusing>
HWY_INLINE bool quick_scaled_group(const FusedRule& rule, const Group& g, VF (&state)[columns]) {
    const VI of_a = hn::Load(i32, g.a_scales);
    VF values[columns];
    VI bad = hn::Zero(i32);
#pragma GCC unroll 8
    for (int c = 0; c < columns; ++c) {
        const VI scale = hn::Add(of_a, set(g.b_scales[c]));
        bad = hn::Or(bad, hn::Sub(scale, set(least_scale)));
        values[c] = moved(state[c], hn::Neg(scale), bad);
    }
    if (!hn::AllFalse(i32, hn::Lt(bad, hn::Zero(i32)))) return false;
    if (!quick_group<rounding, range, excusing>(rule, g, values)) return false;
#pragma GCC unroll 8
    for (int c = 0; c < columns; ++c) values[c] = moved(values[c], hn::Add(of_a, set(g.b_scales[c])), bad);
    if (!hn::AllFalse(i32, hn::Lt(bad, hn::Zero(i32)))) return false;
#pragma GCC unroll 8
    for (int c = 0; c < columns; ++c) state[c] = values[c];
    return true;
}

HWY_NOINLINE void rare_scaled_group(const FusedRule& rule, const Group& g, float* values) {
    VF state[columns];
#pragma GCC unroll 8
    for (int c = 0; c < columns; ++c) state[c] = hn::Load(f32, values + c * lanes);
    if (g.a_special || g.b_special || !quick_scaled_group<true>(rule, g, state)) wide_groups(rule, g, state);
#pragma GCC unroll 8
    for (int c = 0; c < columns; ++c) hn::Store(state[c], f32, values + c * lanes);
}

HWY_INLINE void add_group(const FusedRule& rule, const Group& g, VF (&state)[columns]) {
    if (HWY_LIKELY(!(g.a_special | g.b_special)) && HWY_LIKELY(quick_scaled_group<false>(rule, g, state))) return;
    HWY_ALIGN float values[columns * lanes];
#pragma GCC unroll 8
    for (int c = 0; c < columns; ++c) hn::Store(state[c], f32, values + c * lanes);
    rare_scaled_group(rule, g, values);
#pragma GCC unroll 8
    for (int c = 0; c < columns; ++c) state[c] = hn::Load(f32, values + c * lanes);
}

struct Block {
    const float *a, *b;
    const std::int32_t *a_exponents, *a_scales, *b_scales;
    const std::int8_t* b_exponents;
    bool a_special, b_special;
};
Block block_of(const Operands& operands, int block) {
    const std::byte* const b = operands.b + std::size_t(block) * operands.b_block_bytes;
    const int elements = operands.elements;
    return {reinterpret_cast<const float*>(operands.a),
            reinterpret_cast<const float*>(b),
            reinterpret_cast<const std::int32_t*>(operands.a + elements * block_rows * 4),
            reinterpret_cast<const std::int32_t*>(operands.a + elements * block_rows * float_bytes_a),
            reinterpret_cast<const std::int32_t*>(b + elements * block_columns * float_bytes_b),
            reinterpret_cast<const std::int8_t*>(b + elements * block_columns * 4),
            operands.a_special,
            operands.b_special[block] != 0};
}

void multiply(const FusedRule& given, const Operands& operands, const Accumulators& tile) {
    const FusedRule rule = given;  // a copy that no store can change
    const auto* const source = static_cast<const float*>(tile.c);
    for (int block = 0; block < operands.column_blocks; ++block) {
        const Block all = block_of(operands, block);
        for (int row = 0; row < block_rows; row += lanes)
            for (int column = 0; column < block_columns; column += columns) {
                const std::ptrdiff_t first = block * block_columns + column;
                VF state[columns];
#pragma GCC unroll 8
                for (int c = 0; c < columns; ++c)
                    state[c] = source ? hn::LoadU(f32, source + (first + c) * tile.c_stride + row) : hn::Zero(f32);
                for (int k = 0; k < operands.elements; k += rule.group_length) {
                    const int at_a = k * block_rows + row, at_b = k * block_columns + column;
                    const int scale = k / rule.group_length;
                    const Group g{all.a + at_a,
                                  all.b + at_b,
                                  all.a_exponents + at_a,
                                  all.b_exponents + at_b,
                                  rule.group_length,
                                  all.a_special,
                                  all.b_special,
                                  all.a_scales + scale * block_rows + row,
                                  all.b_scales + scale * block_columns + column};
                    add_group(rule, g, state);
                }
#pragma GCC unroll 8
                for (int c = 0; c < columns; ++c)
                    hn::StoreU(state[c], f32, static_cast<float*>(tile.d) + (first + c) * tile.d_stride + row);
            }
    }
}

}  // namespace

FusedKernel scaled_kernel() { return multiply; }
#endif
}  // namespace tilepath::number::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tilepath::number::engine {
HWY_EXPORT(scaled_kernel);
FusedKernel best_scaled_kernel() { return HWY_DYNAMIC_DISPATCH(scaled_kernel)(); }
}  // namespace tilepath::number::engine
#endif
