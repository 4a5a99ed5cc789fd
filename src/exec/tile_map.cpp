// Fragments in registers and the dense tile that they are of.
#include <algorithm>
#include <cstring>

#include "base/assert.h"
#include "exec/matrix_plan.h"

namespace tilepath::exec {
namespace {

template <class Unit>
void gather_units(const TileMap& map, const Row* rows, const std::uint32_t* places, std::uint8_t* tile) {
    const std::int32_t* offset = map.offsets.data();
    const int pieces = map.register_bytes / map.unit * warp_lanes;
    for (int r = 0; r < map.registers; ++r, offset += pieces) {
        const auto* from = reinterpret_cast<const std::uint8_t*>(&rows[places[r]]);
        const auto move = [&](int i) {
            std::memcpy(tile + offset[i], from + static_cast<std::size_t>(i) * sizeof(Unit), sizeof(Unit));
        };
        if (map.complete) {
            for (int i = 0; i < pieces; ++i) move(i);
        } else {
            for (int i = 0; i < pieces; ++i)
                if (offset[i] >= 0) move(i);
        }
    }
}

template <class Unit>
void scatter_units(const TileMap& map, const std::uint8_t* tile, Row* rows, const std::uint32_t* places,
                   LaneMask lanes) {
    const std::int32_t* offset = map.offsets.data();
    const int per_lane = map.register_bytes / map.unit, pieces = per_lane * warp_lanes;
    for (int r = 0; r < map.registers; ++r, offset += pieces) {
        auto* to = reinterpret_cast<std::uint8_t*>(&rows[places[r]]);
        const auto move = [&](int i) {
            std::memcpy(to + static_cast<std::size_t>(i) * sizeof(Unit), tile + offset[i], sizeof(Unit));
        };
        if (map.complete && lanes == all_lanes) {
            for (int i = 0; i < pieces; ++i) move(i);
        } else {
            for (int i = 0; i < pieces; ++i)
                if (offset[i] >= 0 && (lanes >> i / per_lane & 1)) move(i);
        }
    }
}

}  // namespace

void TileMap::gather(const Row* rows, const std::uint32_t* places, std::uint8_t* tile) const {
    if (unit == 8)
        gather_units<std::uint64_t>(*this, rows, places, tile);
    else if (unit == 4)
        gather_units<std::uint32_t>(*this, rows, places, tile);
    else if (unit == 2)
        gather_units<std::uint16_t>(*this, rows, places, tile);
    else
        gather_units<std::uint8_t>(*this, rows, places, tile);
}

void TileMap::scatter(const std::uint8_t* tile, Row* rows, const std::uint32_t* places, LaneMask lanes) const {
    if (unit == 8)
        scatter_units<std::uint64_t>(*this, tile, rows, places, lanes);
    else if (unit == 4)
        scatter_units<std::uint32_t>(*this, tile, rows, places, lanes);
    else if (unit == 2)
        scatter_units<std::uint16_t>(*this, tile, rows, places, lanes);
    else
        scatter_units<std::uint8_t>(*this, tile, rows, places, lanes);
}

TileMap map_tile(const atom::Fragment& fragment, int element_bits, TileOrder order) {
    const atom::HeldElements held = atom::held(fragment);
    TILEPATH_ASSERT(held.slot_bits == element_bits, "a fragment packed otherwise than the tile");
    TileMap map;
    map.registers = fragment.registers;
    map.register_bytes = fragment.register_bits / 8;
    map.tile_bytes = fragment.elements() * element_bits / 8;
    const auto bit_of = [&](std::int32_t element) {
        const int column = element % fragment.columns, row = element / fragment.columns % fragment.rows;
        const int block = element / fragment.columns / fragment.rows;
        const int number =
            order == TileOrder::by_rows ? element : (block * fragment.columns + column) * fragment.rows + row;
        return number * element_bits;
    };
    // Starts with whole registers and halves the unit until every piece lies together in the tile.
    for (map.unit = map.register_bytes; map.unit >= 1; map.unit /= 2) {
        const int slots = 8 * map.unit / element_bits;
        bool together = slots >= 1;
        map.offsets.clear();
        for (int reg = 0; reg < held.registers && together; ++reg) {
            for (int lane = 0; lane < warp_lanes && together; ++lane) {
                for (int first = 0; first < held.slots && together; first += slots) {
                    const std::int32_t element = held.at(lane, reg, first);
                    const int bit = element < 0 ? -1 : bit_of(element);
                    together = element < 0 || bit % 8 == 0;
                    for (int slot = 1; slot < slots; ++slot) {
                        const std::int32_t next = held.at(lane, reg, first + slot);
                        together = together &&
                                   (element < 0 ? next < 0 : next >= 0 && bit_of(next) == bit + slot * element_bits);
                    }
                    map.offsets.push_back(bit < 0 ? -1 : bit / 8);
                }
            }
        }
        map.complete = std::ranges::find(map.offsets, -1) == map.offsets.end();
        if (together) return map;
    }
    TILEPATH_ASSERT(false, "a fragment whose elements share bytes in another order than the tile");
}

}  // namespace tilepath::exec
