// Operands into the engine's form: 16 bytes of each row become vectors over rows, then values and exponents.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "number/engine_prepare.cpp"
#include "number/engine_targets.h"
// After engine_targets.h:
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "number/engine_floats-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tilepath::number::engine::HWY_NAMESPACE {
#if HWY_TARGET == HWY_SCALAR
const PrepareKernels* prepare_kernels() { return nullptr; }
#else
namespace {
/// Element `i` of each word, extended to 16 bits at the top of the 32.
template <class L, bool is_signed, int bits>
HWY_INLINE typename L::VI extended(typename L::VU word, int i) {
    const auto x = hn::ShiftLeftSame(word, 32 - bits * (i + 1));
    if constexpr (is_signed)
        return hn::ShiftRight<16 - bits>(hn::BitCast(L::i32, x));
    else
        return hn::BitCast(L::i32, hn::ShiftRight<16 - bits>(x));
}

template <int block, bool is_signed, int bits>
void integers_of(const Rows& rows, std::int32_t* out) {
    using L = Lanes<block>;
    constexpr int per_word = 32 / bits;
    for_each_chunk<block>(rows, [&](const typename L::VU(&words)[4], int row, int at) HWY_ATTR {
#pragma GCC unroll 16
        for (int e = 0; e < 4 * per_word; e += 2) {
            const auto even = extended<L, is_signed, bits>(words[e / per_word], e % per_word);
            const auto odd = extended<L, is_signed, bits>(words[e / per_word], e % per_word + 1);
            const auto low = hn::BitCast(L::i32, hn::ShiftRight<16>(hn::BitCast(L::u32, even)));
            const auto high = hn::And(odd, hn::Set(L::i32, std::int32_t(0xffff0000)));
            hn::Store(hn::Or(high, low), L::i32, out + (at * 8 / bits + e) / 2 * block + row);
        }
    });
}

template <int block>
void integers_in(int bits, bool is_signed, const Rows& rows, std::int32_t* out) {
    if (bits == 8)
        is_signed ? integers_of<block, true, 8>(rows, out) : integers_of<block, false, 8>(rows, out);
    else
        is_signed ? integers_of<block, true, 4>(rows, out) : integers_of<block, false, 4>(rows, out);
}

void integers(int bits, bool is_signed, const Rows& rows, int block, std::int32_t* out) {
    block == block_rows ? integers_in<block_rows>(bits, is_signed, rows, out)
                        : integers_in<block_columns>(bits, is_signed, rows, out);
}

template <int block>
void bits_in(const Rows& rows, std::int32_t* out) {
    using L = Lanes<block>;
    for_each_chunk<block>(rows, [&](const typename L::VU(&words)[4], int row, int at) HWY_ATTR {
        for (int w = 0; w < 4; ++w) hn::Store(hn::BitCast(L::i32, words[w]), L::i32, out + (at / 4 + w) * block + row);
    });
}

void bits(const Rows& rows, int block, std::int32_t* out) {
    block == block_rows ? bits_in<block_rows>(rows, out) : bits_in<block_columns>(rows, out);
}

}  // namespace

const PrepareKernels* prepare_kernels() {
    static constexpr PrepareKernels table{floats, integers, bits};
    return &table;
}
#endif
}  // namespace tilepath::number::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tilepath::number::engine {
HWY_EXPORT(prepare_kernels);
const PrepareKernels* best_prepare_kernels() { return HWY_DYNAMIC_DISPATCH(prepare_kernels)(); }
}  // namespace tilepath::number::engine
#endif
