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

using Four = std::uint32_t __attribute__((vector_size(16)));

Four load(const std::uint32_t* from) {
    Four four;
    std::memcpy(&four, from, sizeof four);
    return four;
}

void transpose(Four (&x)[4]) {
    const Four low01 = __builtin_shufflevector(x[0], x[1], 0, 4, 1, 5);
    const Four low23 = __builtin_shufflevector(x[2], x[3], 0, 4, 1, 5);
    const Four high01 = __builtin_shufflevector(x[0], x[1], 2, 6, 3, 7);
    const Four high23 = __builtin_shufflevector(x[2], x[3], 2, 6, 3, 7);
    x[0] = __builtin_shufflevector(low01, low23, 0, 1, 4, 5);
    x[1] = __builtin_shufflevector(low01, low23, 2, 3, 6, 7);
    x[2] = __builtin_shufflevector(high01, high23, 0, 1, 4, 5);
    x[3] = __builtin_shufflevector(high01, high23, 2, 3, 6, 7);
}

void gather_runs(const TileMap& map, const Row* rows, const std::uint32_t* places, std::uint8_t* tile) {
    const std::int32_t* run = map.runs.data();
    for (int r = 0; r < map.registers; ++r, run += 4) {
        const std::uint32_t* const from = rows[places[r]].lane;
        for (int g = 0; g < warp_lanes / 4; g += 4) {
            Four x[4];
            for (int i = 0; i < 4; ++i) x[i] = load(from + 4 * (g + i));
            transpose(x);
            for (int t = 0; t < 4; ++t) std::memcpy(tile + run[t] + g * map.unit, &x[t], sizeof x[t]);
        }
    }
}

void scatter_runs(const TileMap& map, const std::uint8_t* tile, Row* rows, const std::uint32_t* places) {
    const std::int32_t* run = map.runs.data();
    for (int r = 0; r < map.registers; ++r, run += 4) {
        std::uint32_t* const to = rows[places[r]].lane;
        for (int g = 0; g < warp_lanes / 4; g += 4) {
            Four x[4];
            for (int t = 0; t < 4; ++t) std::memcpy(&x[t], tile + run[t] + g * map.unit, sizeof x[t]);
            transpose(x);
            for (int i = 0; i < 4; ++i) std::memcpy(to + 4 * (g + i), &x[i], sizeof x[i]);
        }
    }
}

/// See TileMap::runs.
void find_runs(TileMap& map) {
    if (map.unit != 4 || map.register_bytes != 4) return;
    for (int r = 0; r < map.registers; ++r) {
        const std::int32_t* const offset = map.offsets.data() + r * warp_lanes;
        for (int lane = 0; lane < warp_lanes; ++lane)
            if (offset[lane % 4] < 0 || offset[lane] != offset[lane % 4] + lane / 4 * map.unit) return map.runs.clear();
        map.runs.insert(map.runs.end(), offset, offset + 4);
    }
}

}  // namespace

void TileMap::gather(const Row* rows, const std::uint32_t* places, std::uint8_t* tile) const {
    if (!runs.empty())
        gather_runs(*this, rows, places, tile);
    else if (unit == 8)
        gather_units<std::uint64_t>(*this, rows, places, tile);
    else if (unit == 4)
        gather_units<std::uint32_t>(*this, rows, places, tile);
    else if (unit == 2)
        gather_units<std::uint16_t>(*this, rows, places, tile);
    else
        gather_units<std::uint8_t>(*this, rows, places, tile);
}

void TileMap::scatter(const std::uint8_t* tile, Row* rows, const std::uint32_t* places, LaneMask lanes) const {
    if (!runs.empty() && lanes == all_lanes)
        scatter_runs(*this, tile, rows, places);
    else if (unit == 8)
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
    const int warps = static_cast<int>(held.elements.size()) / (warp_lanes * held.registers * held.slots);
    const int rows = fragment.rows / warps;
    map.tile_bytes = fragment.elements() / warps * element_bits / 8;
    const auto bit_of = [&](std::int32_t element) {
        const int column = element % fragment.columns, row = element / fragment.columns % fragment.rows;
        const int block = element / fragment.columns / fragment.rows;
        const int number = order == TileOrder::by_rows ? element : (block * fragment.columns + column) * rows + row;
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
        if (together) return find_runs(map), map;
    }
    TILEPATH_ASSERT(false, "a fragment whose elements share bytes in another order than the tile");
}

}  // namespace tilepath::exec
