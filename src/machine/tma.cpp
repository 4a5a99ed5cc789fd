// A row of a box between global and shared memory: swizzled, filled, converted.
#include "machine/tma.h"

#include <algorithm>
#include <cstring>

#include "number/format.h"

namespace tilepath::machine {
namespace {

using layout::SwizzleMode;

/// Where swizzled bytes lie, a piece at a time. Every mode only changes address bits below 7, by the line's number, so
/// that one XOR serves a line of 128 bytes.
template <std::uint32_t unit, class Move>
void each_unit(SwizzleMode mode, std::uint32_t address, std::uint32_t bytes, Move move) {
    const layout::Swizzle swizzle = layout::traits(mode).bytes;
    const bool flips = mode == SwizzleMode::b128_atom_32b_flip_8b;
    constexpr std::uint32_t line = 128;
    for (std::uint32_t done = 0; done < bytes;) {
        const std::uint32_t at = address + done;
        const auto pattern = static_cast<std::uint32_t>(swizzle(at & ~(line - 1)) ^ (at & ~(line - 1))) |
                             (flips && (at & line) != 0 ? 8 : 0);
        const std::uint32_t end = std::min(bytes, done + line - at % line);
        for (; done < end; done += unit) move((address + done) ^ pattern, done);
    }
}

/// A whole line of 128 bytes, the common row: eight moves of 16 bytes, written out.
template <class Move>
bool whole_line(SwizzleMode mode, std::uint32_t address, std::uint32_t bytes, Move move) {
    if (bytes != 128 || address % 128 != 0 || mode == SwizzleMode::b128_atom_32b_flip_8b) return false;
    const auto pattern = static_cast<std::uint32_t>(layout::traits(mode).bytes(address)) ^ address;
#pragma GCC unroll 8
    for (std::uint32_t i = 0; i < 128; i += 16)
        move(address + (i ^ pattern), i, std::integral_constant<std::uint32_t, 16>{});
    return true;
}

/// 16 bytes move together unless the mode swaps their halves.
template <class Move>
void each_piece(SwizzleMode mode, std::uint32_t address, std::uint32_t bytes, Move move) {
    if (whole_line(mode, address, bytes, move)) return;
    const auto copy = [&](auto size) {
        each_unit<size>(mode, address, bytes, [&](std::uint32_t to, std::uint32_t from) { move(to, from, size); });
    };
    if (mode == SwizzleMode::b128_atom_32b_flip_8b)
        copy(std::integral_constant<std::uint32_t, 8>{});
    else
        copy(std::integral_constant<std::uint32_t, 16>{});
}

void put(SwizzleMode mode, std::uint8_t* image, std::uint32_t address, const std::uint8_t* data, std::uint32_t bytes) {
    if (mode == SwizzleMode::none)
        std::memcpy(image + address, data, bytes);
    else
        each_piece(mode, address, bytes, [&](std::uint32_t to, std::uint32_t from, auto size) {
            std::memcpy(image + to, data + from, size);
        });
}

void take(SwizzleMode mode, const std::uint8_t* image, std::uint32_t address, std::uint8_t* data, std::uint32_t bytes) {
    if (mode == SwizzleMode::none)
        std::memcpy(data, image + address, bytes);
    else
        each_piece(mode, address, bytes, [&](std::uint32_t to, std::uint32_t from, auto size) {
            std::memcpy(data + from, image + to, size);
        });
}

/// Loads of tf32 round to nearest even; a NaN becomes 0x7FFFE000 (recorded on an H200).
void round_to_tf32(std::uint8_t* data, std::uint32_t bytes) {
    for (std::uint32_t i = 0; i < bytes; i += 4) {
        std::uint32_t word = 0;
        std::memcpy(&word, data + i, 4);
        const std::uint32_t magnitude = word & 0x7FFFFFFF;
        if (magnitude > 0x7F800000)
            word = 0x7FFFE000;
        else
            word = (word + 0xFFF + (word >> 13 & 1)) & ~0x1FFFu;
        std::memcpy(data + i, &word, 4);
    }
}

bool rounds(TensorType type) { return type == TensorType::tf32 || type == TensorType::tf32_ftz; }

/// Groups of 16 elements, packed in global memory, one to 16 bytes in shared.
struct Groups {
    std::uint32_t packed, bytes;
    explicit Groups(const TensorMap& map, std::uint32_t row_bytes)
        : packed(static_cast<std::uint32_t>(traits(map.type).group_global_bytes())), bytes(row_bytes) {}
    template <class Move>
    void each(Move move) const {
        for (std::uint32_t i = 0; i * packed < bytes; ++i) move(i * packed, i * 16);
    }
};

}  // namespace

void load_row(const TensorMap& map, const BoxWalk& walk, const BoxRow& row, const std::uint8_t* source,
              std::span<std::uint8_t* const> images) {
    const std::uint32_t bytes = walk.row_bytes(), address = shared_offset(row.shared);
    const bool whole = row.begin == 0 && row.end == bytes;
    alignas(16) std::uint8_t buffer[longest_row];
    const std::uint8_t* data = source;
    if (!whole || rounds(map.type)) {
        if (row.begin != row.end) std::memcpy(buffer + row.begin, source, row.end - row.begin);
        if (rounds(map.type)) round_to_tf32(buffer + row.begin, row.end - row.begin);
        const std::uint64_t fill = map.nan_fill ? traits(map.type).nan : 0;
        const auto fill_bytes = [&](std::uint32_t from, std::uint32_t to) {
            for (std::uint32_t i = from; i < to; ++i) buffer[i] = static_cast<std::uint8_t>(fill >> 8 * (i % 8));
        };
        fill_bytes(0, row.begin);
        fill_bytes(row.end, bytes);
        data = buffer;
    }
    const bool padded = traits(map.type).padded();
    for (std::uint8_t* image : images) {
        if (!padded) {
            put(map.swizzle, image, address, data, bytes);
            continue;
        }
        // The bytes between groups stay as they are.
        Groups(map, bytes).each([&](std::uint32_t from, std::uint32_t to) {
            std::uint8_t group[16];
            take(map.swizzle, image, address + to, group, 16);
            std::memcpy(group, data + from, static_cast<std::size_t>(traits(map.type).group_global_bytes()));
            put(map.swizzle, image, address + to, group, 16);
        });
    }
}

void read_row(const TensorMap& map, const BoxWalk& walk, const BoxRow& row, const std::uint8_t* image,
              std::uint8_t* out) {
    const std::uint32_t bytes = walk.row_bytes(), address = shared_offset(row.shared);
    if (!traits(map.type).padded()) return take(map.swizzle, image, address, out, bytes);
    Groups(map, bytes).each([&](std::uint32_t to, std::uint32_t from) {
        std::uint8_t group[16];
        take(map.swizzle, image, address + from, group, 16);
        std::memcpy(out + to, group, static_cast<std::size_t>(traits(map.type).group_global_bytes()));
    });
}

}  // namespace tilepath::machine
