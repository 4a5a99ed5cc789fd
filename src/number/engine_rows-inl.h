// 16 bytes of each row of an operand, as vectors over rows.
// Per target: included once by each pass of foreach_target.
#if defined(TILEPATH_ENGINE_ROWS) == defined(HWY_TARGET_TOGGLE)
#ifdef TILEPATH_ENGINE_ROWS
#undef TILEPATH_ENGINE_ROWS
#else
#define TILEPATH_ENGINE_ROWS
#endif

#include <hwy/highway.h>

#include "number/engine_kernels.h"

HWY_BEFORE_NAMESPACE();
namespace tilepath::number::engine::HWY_NAMESPACE {
#if HWY_TARGET != HWY_SCALAR
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
    // A window into longer rows: the caller will come for what follows.
    constexpr int line_bytes = 64;
    if (rows.stride >= 2 * line_bytes)
        for (int r = 0; r < rows.count; ++r) __builtin_prefetch(rows.data + r * rows.stride + line_bytes);
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

}  // namespace
#endif
}  // namespace tilepath::number::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
