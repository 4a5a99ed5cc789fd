// Operands into the engine's form: 16 bytes of each row become vectors over rows, then values and exponents.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "number/engine_prepare.cpp"
#include "number/engine_targets.h"
// After engine_targets.h:
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "number/engine_kernels.h"

HWY_BEFORE_NAMESPACE();
namespace tilepath::number::engine::HWY_NAMESPACE {
#if HWY_TARGET == HWY_SCALAR
const PrepareKernels* prepare_kernels() { return nullptr; }
#else
namespace {
namespace hn = hwy::HWY_NAMESPACE;

/// Vectors over the rows of a block of `block` rows.
template <int block>
struct Lanes {
    using U32 = hn::CappedTag<std::uint32_t, block>;
    using I32 = hn::Rebind<std::int32_t, U32>;
    using F32 = hn::Rebind<float, U32>;
    static constexpr U32 u32{};
    static constexpr I32 i32{};
    static constexpr F32 f32{};
    static constexpr int count = int(hn::MaxLanes(u32));
    using VU = hn::Vec<U32>;
    using VI = hn::Vec<I32>;
    using VF = hn::Vec<F32>;
};

// ------------------------------------------------------------------------------------------ rows into vectors

/// 16 bytes each of rows 0, 4, 8, … below `count`.
template <class D>
HWY_INLINE hn::Vec<D> load_every_fourth(D d, const std::byte* from, std::ptrdiff_t stride) {
    if constexpr (hn::MaxLanes(d) == 4) {
        return hn::LoadU(d, reinterpret_cast<const std::uint32_t*>(from));
    } else {
        const hn::Half<D> half;
        const std::ptrdiff_t upper = std::ptrdiff_t(hn::MaxLanes(half)) * stride;
        return hn::Combine(d, load_every_fourth(half, from + upper, stride), load_every_fourth(half, from, stride));
    }
}

/// The four 32-bit words of `L::count` rows, as vectors over rows.
template <class L>
HWY_INLINE void load_words(const std::byte* from, std::ptrdiff_t stride, typename L::VU (&words)[4]) {
    const auto row0 = load_every_fourth(L::u32, from, stride), row1 = load_every_fourth(L::u32, from + stride, stride);
    const auto row2 = load_every_fourth(L::u32, from + 2 * stride, stride);
    const auto row3 = load_every_fourth(L::u32, from + 3 * stride, stride);
    const hn::RepartitionToWide<typename L::U32> u64;
    const auto low01 = hn::BitCast(u64, hn::InterleaveLower(L::u32, row0, row1));
    const auto low23 = hn::BitCast(u64, hn::InterleaveLower(L::u32, row2, row3));
    const auto high01 = hn::BitCast(u64, hn::InterleaveUpper(L::u32, row0, row1));
    const auto high23 = hn::BitCast(u64, hn::InterleaveUpper(L::u32, row2, row3));
    words[0] = hn::BitCast(L::u32, hn::InterleaveLower(u64, low01, low23));
    words[1] = hn::BitCast(L::u32, hn::InterleaveUpper(u64, low01, low23));
    words[2] = hn::BitCast(L::u32, hn::InterleaveLower(u64, high01, high23));
    words[3] = hn::BitCast(L::u32, hn::InterleaveUpper(u64, high01, high23));
}

/// Calls body(words, row, at) for every chunk, `at` bytes into the rows, and every vector of rows.
template <int block, class Body>
HWY_INLINE void for_each_chunk(const Rows& rows, const Body& body) {
    using L = Lanes<block>;
    for (int at = 0; at < rows.bytes; at += chunk_bytes) {
        const std::byte* from = rows.data + at;
        std::ptrdiff_t stride = rows.stride;
        HWY_ALIGN std::byte filled[block * chunk_bytes];
        const int bytes = HWY_MIN(chunk_bytes, rows.bytes - at);
        if (rows.count < block || bytes < chunk_bytes) {
            hwy::ZeroBytes<sizeof filled>(filled);
            for (int r = 0; r < rows.count; ++r)
                __builtin_memcpy(filled + r * chunk_bytes, from + r * stride, std::size_t(bytes));
            from = filled;
            stride = chunk_bytes;
        }
        for (int row = 0; row < block; row += L::count) {
            typename L::VU words[4];
            load_words<L>(from + row * stride, stride, words);
            body(words, row, at);
        }
    }
}

// ----------------------------------------------------------------------------------------------------- floats

/// `special`: unshifted values, infinities and NaN.
enum class Values { narrow_exponents, wide_exponents, special };

template <class L>
struct Decoded {
    typename L::VF value;
    typename L::VI exponent;
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
    const VI exponent = hn::Add(hn::Max(field, set(rule.least_exponent - lost)), set(rule.exponent_offset + lost));
    const auto is_zero = hn::Eq(magnitude, hn::Zero(L::i32));
    return {value, hn::IfThenElse(is_zero, set(rule.zero_exponent), exponent)};
}

/// The upper half of every lane of `exponents` to `out.exponents[k]`.
template <int block>
HWY_INLINE void store_exponents(typename Lanes<block>::VI exponents, const FloatBlock& out, int k, int row) {
    using L = Lanes<block>;
    const auto upper = hn::ShiftRight<16>(hn::BitCast(L::u32, exponents));
    if constexpr (block == block_rows) {
        const auto high = hn::And(exponents, hn::Set(L::i32, std::int32_t(0xffff0000)));
        auto* const to = reinterpret_cast<std::int32_t*>(out.exponents) + k * block + row;
        hn::Store(hn::Or(high, hn::BitCast(L::i32, upper)), L::i32, to);
    } else {
        const hn::Rebind<std::uint16_t, typename L::U32> u16;
        hn::Store(hn::TruncateTo(u16, upper), u16, reinterpret_cast<std::uint16_t*>(out.exponents) + k * block + row);
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
            store_exponents<block>(even.exponent, out, k, row);
            store_exponents<block>(odd.exponent, out, k + 1, row);
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
        const auto exponent = hn::Add(hn::Max(field, hn::Set(i16, 1 << 7)), hn::Set(i16, pairs.offset));
        const auto is_zero = hn::Eq(magnitude, hn::Zero(i16));
        const auto result = hn::IfThenElse(is_zero, hn::Set(i16, pairs.zero_exponent), exponent);
        store_exponents<block>(hn::ShiftLeft<16>(hn::BitCast(L::i32, result)), out, k, row);
        store_exponents<block>(hn::BitCast(L::i32, result), out, k + 1, row);
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
bool floats_of(const FloatRule& rule, const Rows& rows, int elements, const FloatBlock& out) {
    if (!decode_quick<block, bits>(rule, rows, elements, out)) return false;
    decode_block<block, bits, Values::special>(rule, rows, elements, out);
    return true;
}

template <int block>
bool floats_in(const FloatRule& rule, const Rows& rows, int elements, const FloatBlock& out) {
    if (rule.container_bits == 8) return floats_of<block, 8>(rule, rows, elements, out);
    if (rule.container_bits == 16) return floats_of<block, 16>(rule, rows, elements, out);
    return floats_of<block, 32>(rule, rows, elements, out);
}

bool floats(const FloatRule& rule, const Rows& rows, int block, int elements, const FloatBlock& out) {
    return block == block_rows ? floats_in<block_rows>(rule, rows, elements, out)
                               : floats_in<block_columns>(rule, rows, elements, out);
}

// ------------------------------------------------------------------------------------------- integers and bits

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
