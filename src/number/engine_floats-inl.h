// Floats of an operand into the engine's form: values and exponents.
// Per target: included once by each pass of foreach_target.
#if defined(TILEPATH_ENGINE_FLOATS) == defined(HWY_TARGET_TOGGLE)
#ifdef TILEPATH_ENGINE_FLOATS
#undef TILEPATH_ENGINE_FLOATS
#else
#define TILEPATH_ENGINE_FLOATS
#endif

#include <hwy/highway.h>

#include "number/engine_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tilepath::number::engine::HWY_NAMESPACE {
#if HWY_TARGET != HWY_SCALAR
namespace {
/// `special`: unshifted values, infinities and NaN.
enum class Values { narrow_exponents, wide_exponents, special };

template <class L>
struct Decoded {
    typename L::VF value;
    typename L::VI exponent;  // in the highest 8 bits
};

/// `x`: elements at the top of 32 bits, shifted right by `rule.right`.
template <class L, Values values>
HWY_INLINE Decoded<L> decode(const FloatRule& rule, typename L::VI x, typename L::VI& largest) {
    using VI = typename L::VI;
    const auto set = [](std::int32_t v) HWY_ATTR { return hn::Set(L::i32, v); };
    constexpr int shift = values == Values::special ? 0 : value_shift << 23;
    const float factor = values == Values::special ? rule.factor : rule.factor * (1.0f / (1 << value_shift));
    const VI bits = hn::And(x, set(rule.mask));
    const VI magnitude = hn::And(bits, set(0x7fffffff));
    auto value = hn::Mul(hn::BitCast(L::f32, bits), hn::Set(L::f32, factor));
    if constexpr (values == Values::special) {
        const auto is_infinity = hn::Eq(magnitude, set(rule.infinity));
        const VI infinity = hn::Or(set(0x7f800000), hn::And(bits, set(INT32_MIN)));
        const VI special = hn::IfThenElse(is_infinity, infinity, set(0x7fffffff));
        const auto is_special = hn::Gt(magnitude, set(rule.largest_finite));
        value = hn::BitCast(L::f32, hn::IfThenElse(is_special, special, hn::BitCast(L::i32, value)));
    } else {
        largest = hn::Max(largest, magnitude);
    }
    // bf16 and tf32 have f32's exponents, and those of their least values get lost when shifted down.
    constexpr bool from_bits = values == Values::wide_exponents;
    const VI field = hn::And(from_bits ? bits : hn::BitCast(L::i32, value), set(0x7f800000));
    constexpr int lost = from_bits ? 0 : shift;
    const VI exponent = hn::Sub(hn::Max(field, set(rule.least_exponent - lost)), set((127 << 23) - lost));
    const auto is_zero = hn::Eq(magnitude, hn::Zero(L::i32));
    const VI result = hn::IfThenElse(is_zero, set(zero_value_exponent * (1 << 23)), exponent);
    return {value, hn::ShiftLeft<1>(result)};
}

/// Byte `byte` of every 32-bit lane of `exponents` to `out.exponents[k]`.
template <int byte, int block>
HWY_INLINE void store_exponents(typename Lanes<block>::VI exponents, const FloatBlock& out, int k, int row) {
    using L = Lanes<block>;
    if constexpr (block == block_rows) {
        const hn::Repartition<std::uint8_t, typename L::U32> u8;
        HWY_ALIGN static constexpr std::uint8_t places[16] = {
            byte,     byte,     byte,     byte,     byte + 4,  byte + 4,  byte + 4,  byte + 4,
            byte + 8, byte + 8, byte + 8, byte + 8, byte + 12, byte + 12, byte + 12, byte + 12};
        const auto copies = hn::TableLookupBytes(hn::BitCast(u8, exponents), hn::LoadDup128(u8, places));
        auto* const to = reinterpret_cast<std::int32_t*>(out.exponents) + k * block + row;
        hn::Store(hn::BitCast(L::i32, copies), L::i32, to);
    } else {
        const hn::Rebind<std::uint8_t, typename L::U32> u8;
        const auto lowest = hn::ShiftRight<8 * byte>(hn::BitCast(L::u32, exponents));
        hn::StoreU(hn::TruncateTo(u8, lowest), u8, reinterpret_cast<std::uint8_t*>(out.exponents) + k * block + row);
    }
}

/// Which element of four comes at place `i`: 8-bit elements in the order that `decode_pairs` finds them in.
template <int bits>
HWY_INLINE int element_at(const FloatRule& rule, int i) {
    return bits != 8 || rule.halves || i % 4 == 0 || i % 4 == 3 ? i : i ^ 3;
}

HWY_INLINE int place(const FloatRule& rule, int i, int elements) {
    return rule.halves ? (i / 4 * 2 + i % 2) + (i % 4 / 2) * (elements / 2) : i;
}

template <int block, int bits, Values values>
HWY_INLINE bool decode_block(const FloatRule& given, const Rows& rows, int elements, const FloatBlock& out) {
    using L = Lanes<block>;
    const FloatRule rule = given;  // a copy that no store can change
    constexpr int per_word = 32 / bits;
    auto largest = hn::Zero(L::i32);
    for_each_chunk<block>(rows, [&](const typename L::VU(&words)[4], int row, int at) HWY_ATTR {
        const auto element = [&](int i) HWY_ATTR {
            // The element's highest bit to bit 31. tf32 fills its container from the top.
            const auto word = hn::BitCast(L::i32, words[i / per_word]);
            if constexpr (bits == 32) return decode<L, values>(rule, word, largest);
            const int left = 32 - rule.element_bits - element_at<bits>(rule, i) % per_word * bits;
            return decode<L, values>(rule, hn::ShiftRightSame(hn::ShiftLeftSame(word, left), rule.right), largest);
        };
#pragma GCC unroll 8
        for (int i = 0; i < 4 * per_word; i += 2) {
            const auto even = element(i), odd = element(i + 1);
            const int k = place(rule, at * 8 / bits + i, elements);
            hn::Store(even.value, L::f32, out.values + k * block + row);
            hn::Store(odd.value, L::f32, out.values + (k + 1) * block + row);
            store_exponents<3, block>(even.exponent, out, k, row);
            store_exponents<3, block>(odd.exponent, out, k + 1, row);
        }
    });
    return !hn::AllFalse(L::i32, hn::Gt(largest, hn::Set(L::i32, rule.largest_quick)));
}

/// Formats of at most 16 bits, two elements a lane: what `decode` does without special values, in half the work.
template <int block, int bits>
HWY_INLINE bool decode_pairs(const FloatRule& rule, const Rows& rows, const FloatBlock& out) {
    using L = Lanes<block>;
    const hn::Repartition<std::int16_t, typename L::I32> i16;
    const hn::Repartition<std::uint16_t, typename L::I32> u16;
    const PairRule pairs = rule.pairs;
    const int right = rule.right, element_bits = rule.element_bits;
    const auto mask = hn::Set(L::i32, rule.mask);
    const auto factor = hn::Set(L::f32, rule.factor * (1.0f / (1 << value_shift)));
    auto largest = hn::Zero(i16);
    // `x`: elements k (low half) and k + 1 at the top of 16 bits.
    const auto pair = [&](typename L::VU x, int k, int row) HWY_ATTR {
        const auto even = hn::And(hn::ShiftRightSame(hn::BitCast(L::i32, hn::ShiftLeft<16>(x)), right), mask);
        const auto odd = hn::And(hn::ShiftRightSame(hn::BitCast(L::i32, x), right), mask);
        hn::Store(hn::Mul(hn::BitCast(L::f32, even), factor), L::f32, out.values + k * block + row);
        hn::Store(hn::Mul(hn::BitCast(L::f32, odd), factor), L::f32, out.values + (k + 1) * block + row);

        const auto magnitude = hn::And(hn::BitCast(i16, x), hn::Set(i16, 0x7fff));
        largest = hn::Max(largest, magnitude);
        const auto field = hn::And(hn::ShiftRightSame(magnitude, right), hn::Set(i16, pairs.field));
        const auto exponent = hn::Sub(hn::Max(field, hn::Set(i16, 1 << 7)), hn::Set(i16, pairs.bias));
        const auto is_zero = hn::Eq(magnitude, hn::Zero(i16));
        const auto result = hn::IfThenElse(is_zero, hn::Set(i16, zero_value_exponent * (1 << 7)), exponent);
        const auto bytes = hn::BitCast(L::i32, hn::ShiftLeft<1>(result));
        store_exponents<1, block>(bytes, out, k, row);
        store_exponents<3, block>(bytes, out, k + 1, row);
    };
    for_each_chunk<block>(rows, [&](const typename L::VU(&words)[4], int row, int at) HWY_ATTR {
        const int first = at * 8 / bits;
#pragma GCC unroll 4
        for (int w = 0; w < 4; ++w) {
            if constexpr (bits == 16) {
                pair(words[w], first + 2 * w, row);
            } else {
                const auto word = hn::BitCast(u16, words[w]);
                const auto elements02 = hn::ShiftLeftSame(word, 16 - element_bits);
                const auto elements13 = hn::ShiftLeftSame(hn::And(word, hn::Set(u16, 0xff00)), 8 - element_bits);
                pair(hn::BitCast(L::u32, elements02), first + 4 * w, row);
                pair(hn::BitCast(L::u32, elements13), first + 4 * w + 2, row);
            }
        }
    });
    return !hn::AllFalse(i16, hn::Gt(largest, hn::Set(i16, pairs.largest_quick)));
}

template <int block, int bits>
HWY_INLINE bool decode_quick(const FloatRule& rule, const Rows& rows, int elements, const FloatBlock& out) {
    if constexpr (bits == 32) return decode_block<block, bits, Values::wide_exponents>(rule, rows, elements, out);
    if (bits == 8 && rule.halves) return decode_block<block, bits, Values::narrow_exponents>(rule, rows, elements, out);
    return decode_pairs < block, bits == 32 ? 16 : bits > (rule, rows, out);
}

template <int block, int bits>
bool floats_of(const FloatRule& rule, const Rows& rows, int elements, bool special, const FloatBlock& out) {
    if (!decode_quick<block, bits>(rule, rows, elements, out) && !special) return false;
    decode_block<block, bits, Values::special>(rule, rows, elements, out);
    return true;
}

template <int block>
bool floats_in(const FloatRule& rule, const Rows& rows, int elements, bool special, const FloatBlock& out) {
    if (rule.container_bits == 8) return floats_of<block, 8>(rule, rows, elements, special, out);
    if (rule.container_bits == 16) return floats_of<block, 16>(rule, rows, elements, special, out);
    return floats_of<block, 32>(rule, rows, elements, special, out);
}

bool floats(const FloatRule& rule, const Rows& rows, int block, int elements, bool special, const FloatBlock& out) {
    return block == block_rows ? floats_in<block_rows>(rule, rows, elements, special, out)
                               : floats_in<block_columns>(rule, rows, elements, special, out);
}

}  // namespace
#endif
}  // namespace tilepath::number::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
