// A box element by element, in pieces of 2 bits, written from the manual's sentences (PTX ISA 5.5) and from what an
// H200 recorded; it shares nothing with the code under test but the map's fields.
#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include "machine/tma.h"

namespace tilepath::machine::model {

inline std::uint32_t bits_of(TensorType type) {
    constexpr std::uint32_t bits[] = {8, 16, 32, 32, 64, 64, 16, 32, 64, 16, 32, 32, 32, 4, 4, 6};
    return bits[static_cast<int>(type)];
}

inline std::uint32_t swizzle(layout::SwizzleMode mode, std::uint32_t a) {
    using layout::SwizzleMode;
    switch (mode) {
        case SwizzleMode::none: return a;
        case SwizzleMode::b32:
        case SwizzleMode::b96: return a ^ (a >> 7 & 1) << 4;
        case SwizzleMode::b64: return a ^ (a >> 7 & 3) << 4;
        case SwizzleMode::b128: return a ^ (a >> 7 & 7) << 4;
        case SwizzleMode::b128_atom_32b: return a ^ (a >> 7 & 3) << 5;
        case SwizzleMode::b128_atom_32b_flip_8b: return a ^ (a >> 7 & 3) << 5 ^ (a >> 7 & 1) << 3;
        case SwizzleMode::b128_atom_64b: return a ^ (a >> 7 & 1) << 6;
    }
    return a;
}

inline std::uint32_t span(layout::SwizzleMode mode) {
    using layout::SwizzleMode;
    return mode == SwizzleMode::b32 ? 32 : mode == SwizzleMode::b64 ? 64 : mode == SwizzleMode::b96 ? 96 : 128;
}

struct Piece {
    bool inside = false;       ///< a load reads it from memory
    bool stored = false;       ///< a store writes it
    std::uint64_t global = 0;  ///< in pieces from address 0
};
/// By piece of shared memory.
using Box = std::map<std::uint64_t, Piece>;

/// The coordinates, in the tensor, of every row of the box: dimensions other than the innermost.
inline std::vector<std::vector<std::int64_t>> rows_of(const TensorMap& map, const BoxPlace& place) {
    const bool interleaved = map.interleave != Interleave::none;
    std::vector<std::vector<std::int64_t>> rows;
    if (place.mode == BoxMode::four_rows) {
        for (int i = 1; i <= 4; ++i) rows.push_back({place.at[i]});
        return rows;
    }
    const std::uint32_t first = interleaved ? 0 : 1;
    if (map.tiled()) {
        rows.push_back({});
        // The outermost dimension varies slowest.
        for (std::uint32_t d = map.rank; d-- > first;) {
            std::vector<std::vector<std::int64_t>> more;
            const std::uint32_t box = interleaved && d == map.rank - 2 ? 1 : map.box[d];
            for (const auto& row : rows)
                for (std::uint32_t j = 0; j < box; j += map.element_strides[d]) {
                    std::vector<std::int64_t> next{place.at[d] + std::int64_t{j}};
                    next.insert(next.end(), row.begin(), row.end());
                    more.push_back(next);
                }
            rows = more;
        }
        return rows;
    }
    if (map.walk != ImageWalk::im2col) {
        // PTX ISA 5.5.5: the box moves by wOffset; halos follow all pixels, or each 32 of 128.
        const auto halo = place.offsets[0], pixels = map.walk == ImageWalk::im2col_w ? map.pixels_per_column : 128;
        const std::uint32_t every = map.walk == ImageWalk::im2col_w ? pixels : 32;
        const std::int64_t offset = place.offsets[1], begin = map.lower[0] + offset,
                           end = static_cast<std::int64_t>(map.dims[1]) - 1 + map.upper[0] + offset;
        std::vector<std::pair<std::int64_t, std::int64_t>> walk;  // W, N
        for (std::int64_t w = place.at[1] + offset, n = place.at[map.rank - 1]; walk.size() < pixels + halo;) {
            walk.emplace_back(w, n);
            w += map.element_strides[1];
            if (w > end) w = begin, ++n;
        }
        for (std::uint32_t pixel = 0; pixel < pixels; pixel += every)
            for (std::uint32_t i = 0; i < every + halo; ++i) {
                std::vector<std::int64_t> row(place.at.begin() + 1, place.at.begin() + map.rank);
                row.front() = walk[pixel + i].first, row.back() = walk[pixel + i].second;
                rows.push_back(row);
            }
        return rows;
    }
    std::vector<std::int64_t> at(place.at.begin() + first, place.at.begin() + map.rank);
    const std::uint32_t images = map.rank - 2, n = interleaved ? map.rank - 1 : images;
    for (std::uint32_t pixel = 0; pixel < map.pixels_per_column; ++pixel) {
        std::vector<std::int64_t> shifted = at;
        for (std::uint32_t i = 0; i < images; ++i) shifted[i] += place.offsets[i];
        rows.push_back(shifted);
        bool carried = true;
        for (std::uint32_t i = 0; i < images && carried; ++i) {
            at[i] += map.element_strides[i + first];
            carried = at[i] > static_cast<std::int64_t>(map.dims[i + first]) - 1 + map.upper[i];
            if (carried) at[i] = map.lower[i];
        }
        if (carried) ++at[n];
    }
    return rows;
}

inline Box box_of(const TensorMap& map, const BoxPlace& place) {
    const bool interleaved = map.interleave != Interleave::none;
    const bool padded = map.type == TensorType::u4_align16b || map.type == TensorType::u6_align16b;
    const std::uint32_t slice = map.interleave == Interleave::b16 ? 16 : 32;
    const std::uint32_t bits = interleaved ? slice * 8 : bits_of(map.type);
    const std::uint32_t inner = interleaved ? 1 : !map.tiled() ? map.channels_per_pixel : map.box[0];
    const std::uint32_t dense = padded ? inner : inner * bits / 8;
    const std::uint32_t pitch = interleaved || map.swizzle == layout::SwizzleMode::none ? dense : span(map.swizzle);
    Box out;
    std::uint32_t row_index = 0;
    for (const auto& row : rows_of(map, place)) {
        bool row_inside = true;
        std::int64_t address = static_cast<std::int64_t>(map.address);
        for (std::size_t i = 0; i < row.size(); ++i) {
            const std::size_t d = interleaved ? i : i + 1;
            row_inside = row_inside && row[i] >= 0 && row[i] < static_cast<std::int64_t>(map.dims[d]);
            address += row[i] * (d == 0 ? slice : static_cast<std::int64_t>(map.strides[d - 1]));
        }
        for (std::uint32_t index = 0; index < inner; ++index) {
            const std::int64_t column = interleaved ? 0 : place.at[0] + std::int64_t{index};
            const std::int64_t columns = interleaved ? 1 : static_cast<std::int64_t>(map.dims[0]);
            // A row's last unit of 16 bytes is stored whole.
            const std::int64_t stored_bits = (columns * bits + 127) / 128 * 128;
            const std::uint32_t at = padded ? index / 16 * 128 + index % 16 * bits : index * bits;
            for (std::uint32_t bit = 0; bit < bits; bit += 2) {
                const std::uint32_t linear = place.shared + row_index * pitch + (at + bit) / 8;
                Piece& piece = out[std::uint64_t{swizzle(map.swizzle, linear)} * 4 + (at + bit) % 8 / 2];
                piece.inside = row_inside && column >= 0 && column < columns;
                piece.stored = row_inside && column >= 0 && column * bits < stored_bits;
                piece.global = static_cast<std::uint64_t>(address * 8 + column * bits + bit) / 2;
            }
        }
        ++row_index;
    }
    return out;
}

inline std::uint8_t piece_at(const std::uint8_t* bytes, std::uint64_t piece) {
    return bytes[piece / 4] >> piece % 4 * 2 & 3;
}
inline void set_piece(std::uint8_t* bytes, std::uint64_t piece, std::uint8_t value) {
    std::uint8_t& byte = bytes[piece / 4];
    byte = static_cast<std::uint8_t>((byte & ~(3 << piece % 4 * 2)) | value << piece % 4 * 2);
}

}  // namespace tilepath::machine::model
