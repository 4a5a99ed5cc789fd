// Integer and bit matrix multiplies on vectors over the rows of A: exact sums of at most 32 bits, modulo 2^32.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "number/engine_integer.cpp"
#include "number/engine_targets.h"
// After engine_targets.h:
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "number/engine_vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tilepath::number::engine::HWY_NAMESPACE {
#if HWY_TARGET == HWY_SCALAR
IntegerKernel integer_kernel() { return nullptr; }
#else
namespace {
/// Two products of 16-bit integers, or the population of 32 bits.
template <IntegerRule::Kind kind>
HWY_INLINE VI add_word(VI a, VI b, VI sum) {
    if constexpr (kind == IntegerRule::Kind::multiply) {
        return hn::Add(sum, pairs_of_words(hn::BitCast(i16, a), hn::BitCast(i16, b)));
    } else {
        const VI bits = kind == IntegerRule::Kind::bit_and ? hn::And(a, b) : hn::Xor(a, b);
        return hn::Add(sum, hn::BitCast(i32, hn::PopulationCount(hn::BitCast(u32, bits))));
    }
}

/// C + sum, wrapped, or clamped where it leaves 32 bits.
HWY_INLINE VI add_c(VI c, VI sum, bool saturate) {
    const VI wrapped = hn::Add(c, sum);
    if (!saturate) return wrapped;
    const auto overflow = hn::Lt(hn::And(hn::Xor(c, wrapped), hn::Xor(sum, wrapped)), hn::Zero(i32));
    const VI limit = hn::Xor(hn::ShiftRight<31>(c), hn::Set(i32, INT32_MAX));
    return hn::IfThenElse(overflow, limit, wrapped);
}

template <IntegerRule::Kind kind>
HWY_INLINE void multiply_block(const IntegerRule& rule, const std::int32_t* a, const std::int32_t* b, int words,
                               const Accumulators& tile, int first_column) {
    for (int row = 0; row < block_rows; row += lanes) {
        VI sums[block_columns];
#pragma GCC unroll 8
        for (int c = 0; c < block_columns; ++c) sums[c] = hn::Zero(i32);
        for (int w = 0; w < words; ++w) {
            const VI word = hn::Load(i32, a + w * block_rows + row);
#pragma GCC unroll 8
            for (int c = 0; c < block_columns; ++c)
                sums[c] = add_word<kind>(word, hn::Set(i32, b[w * block_columns + c]), sums[c]);
        }
#pragma GCC unroll 8
        for (int c = 0; c < block_columns; ++c) {
            const auto* source = static_cast<const std::int32_t*>(tile.c);
            const int column = first_column + c;
            const VI old = source ? hn::LoadU(i32, source + column * tile.c_stride + row) : hn::Zero(i32);
            hn::StoreU(add_c(old, sums[c], rule.saturate), i32,
                       static_cast<std::int32_t*>(tile.d) + column * tile.d_stride + row);
        }
    }
}

template <IntegerRule::Kind kind>
HWY_INLINE void multiply(const IntegerRule& rule, const Operands& operands, const Accumulators& tile) {
    const int words = kind == IntegerRule::Kind::multiply ? operands.elements / 2 : operands.elements / 32;
    const auto* const a = reinterpret_cast<const std::int32_t*>(operands.a);
    for (int block = 0; block < operands.column_blocks; ++block) {
        const std::byte* const b = operands.b + std::size_t(block) * operands.b_block_bytes;
        multiply_block<kind>(rule, a, reinterpret_cast<const std::int32_t*>(b), words, tile, block * block_columns);
    }
}

void multiply_any(const IntegerRule& rule, const Operands& operands, const Accumulators& tile) {
    switch (rule.kind) {
        case IntegerRule::Kind::multiply: return multiply<IntegerRule::Kind::multiply>(rule, operands, tile);
        case IntegerRule::Kind::bit_and: return multiply<IntegerRule::Kind::bit_and>(rule, operands, tile);
        case IntegerRule::Kind::bit_xor: return multiply<IntegerRule::Kind::bit_xor>(rule, operands, tile);
    }
}

}  // namespace

IntegerKernel integer_kernel() { return multiply_any; }
#endif
}  // namespace tilepath::number::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tilepath::number::engine {
HWY_EXPORT(integer_kernel);
IntegerKernel best_integer_kernel() { return HWY_DYNAMIC_DISPATCH(integer_kernel)(); }
}  // namespace tilepath::number::engine
#endif
