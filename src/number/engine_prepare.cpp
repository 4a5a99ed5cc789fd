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

template <int rows>
struct Tags {
    hn::CappedTag<std::uint32_t, rows> u;
    hn::Rebind<std::int32_t, decltype(u)> i;
    hn::Rebind<float, decltype(u)> f;
    static constexpr int lanes = int(hn::MaxLanes(hn::CappedTag<std::uint32_t, rows>()));
};

/// The four words of each of `lanes` rows, as vectors over rows.
template <int rows, class V>
HWY_INLINE void load_words(const Tags<rows>& tags, const std::byte* chunk, int row, V (&words)[4]) {
    const auto* source = reinterpret_cast<const std::uint32_t*>(chunk + row * chunk_bytes);
    hn::LoadInterleaved4(tags.u, source, words[0], words[1], words[2], words[3]);
}

template <class VF, class VI>
struct Decoded {
    VF value;
    VI exponent;
};

/// `x`: elements at the top of 32 bits. `largest` gathers the largest magnitudes seen.
template <bool with_specials, int rows, class VI>
HWY_INLINE auto decode(const Tags<rows>& tags, const FloatRule& rule, VI x, VI& largest) {
    using VF = hn::Vec<decltype(tags.f)>;
    const VI bits = hn::And(hn::ShiftRightSame(x, rule.right), hn::Set(tags.i, rule.mask));
    const VI magnitude = hn::And(bits, hn::Set(tags.i, 0x7fffffff));
    VF value = hn::Mul(hn::BitCast(tags.f, bits), hn::Set(tags.f, rule.factor));
    if constexpr (with_specials) {
        const VI is_infinity = hn::VecFromMask(tags.i, hn::Eq(magnitude, hn::Set(tags.i, rule.infinity)));
        const VI infinity = hn::Or(hn::Set(tags.i, 0x7f800000), hn::AndNot(hn::Set(tags.i, 0x7fffffff), bits));
        const VI special = hn::Or(hn::And(is_infinity, infinity), hn::AndNot(is_infinity, hn::Set(tags.i, 0x7fffffff)));
        const auto is_special = hn::Gt(magnitude, hn::Set(tags.i, rule.largest_finite));
        value = hn::BitCast(tags.f, hn::IfThenElse(is_special, special, hn::BitCast(tags.i, value)));
    } else {
        largest = hn::Max(largest, magnitude);
    }
    const VI field = hn::And(hn::BitCast(tags.i, value), hn::Set(tags.i, 0x7f800000));
    const VI exponent =
        hn::Add(hn::Max(field, hn::Set(tags.i, rule.least_exponent)), hn::Set(tags.i, rule.exponent_offset));
    const auto is_zero = hn::Eq(magnitude, hn::Zero(tags.i));
    return Decoded<VF, VI>{value, hn::IfThenElse(is_zero, hn::Set(tags.i, rule.zero_exponent), exponent)};
}

/// Where element `e` of a row goes.
HWY_INLINE int place(const FloatRule& rule, int e, int elements) {
    return rule.halves ? (e / 4 * 2 + e % 2) + (e % 4 / 2) * (elements / 2) : e;
}

template <bool with_specials, int rows, int bits>
HWY_INLINE bool prepare_chunk(const FloatRule& rule, const std::byte* chunk, int first, int elements,
                              const FloatBlock& out) {
    constexpr Tags<rows> tags;
    using VI = hn::Vec<decltype(tags.i)>;
    constexpr int per_word = 32 / bits;
    VI largest = hn::Zero(tags.i);
    for (int row = 0; row < rows; row += tags.lanes) {
        hn::Vec<decltype(tags.u)> words[4];
        load_words<rows>(tags, chunk, row, words);
#pragma GCC unroll 16
        for (int e = 0; e < 4 * per_word; e += 2) {
            const auto element = [&](int i) HWY_ATTR {
                // The element's highest bit to bit 31. tf32 fills its container from the top.
                const int left = bits == 32 ? 0 : 32 - rule.element_bits - i % per_word * bits;
                return decode<with_specials, rows, VI>(
                    tags, rule, hn::BitCast(tags.i, hn::ShiftLeftSame(words[i / per_word], left)), largest);
            };
            const auto even = element(e), odd = element(e + 1);
            const int k = place(rule, first + e, elements);
            hn::Store(even.value, tags.f, out.values + k * rows + row);
            hn::Store(odd.value, tags.f, out.values + (k + 1) * rows + row);
            const VI low = hn::BitCast(tags.i, hn::ShiftRight<16>(hn::BitCast(tags.u, even.exponent)));
            hn::Store(hn::Or(odd.exponent, low), tags.i, out.exponents + k / 2 * rows + row);
        }
    }
    return !hn::AllFalse(tags.i, hn::Gt(largest, hn::Set(tags.i, rule.largest_finite)));
}

template <int rows, int bits>
bool prepare_floats_of(const FloatRule& rule, const std::byte* chunk, int first, int elements, const FloatBlock& out) {
    if (!prepare_chunk<false, rows, bits>(rule, chunk, first, elements, out)) return false;
    prepare_chunk<true, rows, bits>(rule, chunk, first, elements, out);
    return true;
}

template <int rows>
bool prepare_floats_in(const FloatRule& rule, const std::byte* chunk, int first, int elements, const FloatBlock& out) {
    if (rule.container_bits == 8) return prepare_floats_of<rows, 8>(rule, chunk, first, elements, out);
    if (rule.container_bits == 16) return prepare_floats_of<rows, 16>(rule, chunk, first, elements, out);
    return prepare_floats_of<rows, 32>(rule, chunk, first, elements, out);
}

bool prepare_floats(const FloatRule& rule, const std::byte* chunk, int rows, int first, int elements,
                    const FloatBlock& out) {
    return rows == block_rows ? prepare_floats_in<block_rows>(rule, chunk, first, elements, out)
                              : prepare_floats_in<block_columns>(rule, chunk, first, elements, out);
}

/// Element `i` of each word, extended to 16 bits at the top of the 32.
template <bool is_signed, int bits, int rows, class VU>
HWY_INLINE auto extended(const Tags<rows>& tags, VU word, int i) {
    const VU x = hn::ShiftLeftSame(word, 32 - bits * (i + 1));
    if constexpr (is_signed)
        return hn::ShiftRight<16 - bits>(hn::BitCast(tags.i, x));
    else
        return hn::BitCast(tags.i, hn::ShiftRight<16 - bits>(x));
}

template <bool is_signed, int bits, int rows>
void prepare_integers_of(const std::byte* chunk, int first, std::int32_t* out) {
    constexpr Tags<rows> tags;
    constexpr int per_word = 32 / bits;
    for (int row = 0; row < rows; row += tags.lanes) {
        hn::Vec<decltype(tags.u)> words[4];
        load_words<rows>(tags, chunk, row, words);
        for (int e = 0; e < 4 * per_word; e += 2) {
            const auto word = words[e / per_word];
            const auto even = extended<is_signed, bits, rows>(tags, word, e % per_word);
            const auto odd = extended<is_signed, bits, rows>(tags, word, e % per_word + 1);
            const auto low = hn::BitCast(tags.i, hn::ShiftRight<16>(hn::BitCast(tags.u, even)));
            const auto high = hn::And(odd, hn::Set(tags.i, std::int32_t(0xffff0000)));
            hn::Store(hn::Or(high, low), tags.i, out + (first + e) / 2 * rows + row);
        }
    }
}

template <int rows>
void prepare_integers_in(int bits, bool is_signed, const std::byte* chunk, int first, std::int32_t* out) {
    if (bits == 8)
        is_signed ? prepare_integers_of<true, 8, rows>(chunk, first, out)
                  : prepare_integers_of<false, 8, rows>(chunk, first, out);
    else
        is_signed ? prepare_integers_of<true, 4, rows>(chunk, first, out)
                  : prepare_integers_of<false, 4, rows>(chunk, first, out);
}

void prepare_integers(int bits, bool is_signed, const std::byte* chunk, int rows, int first, std::int32_t* out) {
    rows == block_rows ? prepare_integers_in<block_rows>(bits, is_signed, chunk, first, out)
                       : prepare_integers_in<block_columns>(bits, is_signed, chunk, first, out);
}

template <int rows>
void prepare_bits_in(const std::byte* chunk, int first, std::int32_t* out) {
    constexpr Tags<rows> tags;
    for (int row = 0; row < rows; row += tags.lanes) {
        hn::Vec<decltype(tags.u)> words[4];
        load_words<rows>(tags, chunk, row, words);
        for (int w = 0; w < 4; ++w)
            hn::Store(hn::BitCast(tags.i, words[w]), tags.i, out + (first / 32 + w) * rows + row);
    }
}

void prepare_bits(const std::byte* chunk, int rows, int first, std::int32_t* out) {
    rows == block_rows ? prepare_bits_in<block_rows>(chunk, first, out)
                       : prepare_bits_in<block_columns>(chunk, first, out);
}

}  // namespace

const PrepareKernels* prepare_kernels() {
    static constexpr PrepareKernels table{prepare_floats, prepare_integers, prepare_bits};
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
