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

/// Halves of what e2m1's nibbles stand for, plus `bias`.
#define TILEPATH_FP4_HALVES(bias)                                                                                    \
    bias, 1 + bias, 2 + bias, 3 + bias, 4 + bias, 6 + bias, 8 + bias, 12 + bias, bias, bias - 1, bias - 2, bias - 3, \
        bias - 4, bias - 6, bias - 8, bias - 12
HWY_ALIGN constexpr std::int8_t fp4_halves_a[16] = {TILEPATH_FP4_HALVES(fp4_bias)};
HWY_ALIGN constexpr std::int8_t fp4_halves_b[16] = {TILEPATH_FP4_HALVES(0)};
#undef TILEPATH_FP4_HALVES

/// One group: 16 elements of two words.
template <int block>
HWY_INLINE void fp4_group_of(typename Lanes<block>::VU first, typename Lanes<block>::VU second, std::int32_t* out) {
    using L = Lanes<block>;
    constexpr bool is_a = block == block_rows;
    const hn::Repartition<std::int8_t, typename L::I32> s8;
    const auto table = hn::LoadDup128(s8, is_a ? fp4_halves_a : fp4_halves_b);
    const auto nibbles = hn::Set(L::u32, 0x0f0f0f0f);
    auto sums = hn::Zero(s8);
    const auto element_word = [&](typename L::VU x, int word) HWY_ATTR {
        const auto bytes = hn::TableLookupBytes(table, hn::BitCast(s8, hn::And(x, nibbles)));
        hn::Store(hn::BitCast(L::i32, bytes), L::i32, out + word * block);
        sums = hn::Add(sums, bytes);
    };
    element_word(first, 0), element_word(hn::ShiftRight<4>(first), 1);
    element_word(second, 2), element_word(hn::ShiftRight<4>(second), 3);
    const auto nonzero = [](typename L::VU x) HWY_ATTR {
        const auto any = hn::Or(x, hn::Or(hn::ShiftRight<1>(x), hn::ShiftRight<2>(x)));
        return hn::And(any, hn::Set(L::u32, 0x11111111));
    };
    const auto bits = hn::Or(nonzero(first), hn::ShiftLeft<1>(nonzero(second)));
    hn::Store(hn::BitCast(L::i32, bits), L::i32, out + fp4_word::nonzero * block);
    if constexpr (!is_a) {
        const auto four = hn::BitCast(L::i32, sums);
        const auto byte = [&](int up) HWY_ATTR { return hn::ShiftRight<24>(hn::ShiftLeftSame(four, up)); };
        const auto sum = hn::Add(hn::Add(byte(24), byte(16)), hn::Add(byte(8), byte(0)));
        const auto bias = hn::Mul(sum, hn::Set(L::i32, -fp4_bias));
        hn::Store(hn::And(bias, hn::Set(L::i32, 0xffff)), L::i32, out + fp4_word::bias * block);
    }
}

template <int block>
void fp4_in(const Rows& rows, std::int32_t* out) {
    using L = Lanes<block>;
    constexpr int group_words = block * (block == block_rows ? fp4_words_a : fp4_words_b);
    for_each_chunk<block>(rows, [&](const typename L::VU(&words)[4], int row, int at) HWY_ATTR {
        std::int32_t* const group = out + at / 8 * group_words + row;
        fp4_group_of<block>(words[0], words[1], group);
        fp4_group_of<block>(words[2], words[3], group + group_words);
    });
}

void fp4(const Rows& rows, int block, std::int32_t* out) {
    block == block_rows ? fp4_in<block_rows>(rows, out) : fp4_in<block_columns>(rows, out);
}

}  // namespace

const PrepareKernels* prepare_kernels() {
    static constexpr PrepareKernels table{floats, integers, bits, fp4};
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
