#include "check/provenance/tensor_shadow.h"

#include <algorithm>

namespace tilepath::check {

Word TensorShadow::word(const Tile& tile, std::uint32_t lane, std::uint32_t column) {
    const TensorSums& sums = *tile.sums;
    const std::int32_t element = sums.map->at(tile.part, column - tile.column, lane);
    if (element < 0) return {};
    const Origin first = Origin::sum(sums.m[static_cast<std::size_t>(element / sums.map->n)],
                                     sums.n[static_cast<std::size_t>(element % sums.map->n)], sums.ks);
    Word out{};
    for (unsigned i = 0; i < static_cast<unsigned>(sums.map->element_bytes); ++i) out[i] = first.byte(i);
    return out;
}

Word TensorShadow::read(MemoryShadow::Cta cta, std::uint32_t lane, std::uint32_t column) const {
    const auto found = ctas_.find(cta);
    if (found == ctas_.end() || lane >= lanes || column >= columns) return {};
    for (const Tile& tile : found->second.tiles)
        if (column >= tile.column && column < tile.column + static_cast<std::uint32_t>(tile.sums->map->columns) &&
            tile.sums->map->at(tile.part, column - tile.column, lane) >= 0)
            return word(tile, lane, column);
    return found->second.cells.empty() ? Word{} : found->second.cells[column * lanes + lane];
}

/// An accumulator becomes plain cells.
void TensorShadow::dissolve(Cta& cta, std::size_t index) {
    if (cta.cells.empty()) cta.cells.resize(std::size_t{columns} * lanes);
    const Tile tile = cta.tiles[index];
    cta.tiles.erase(cta.tiles.begin() + static_cast<std::ptrdiff_t>(index));
    for (std::uint32_t c = 0; c < static_cast<std::uint32_t>(tile.sums->map->columns); ++c)
        for (std::uint32_t lane = 0; lane < lanes; ++lane)
            if (tile.sums->map->at(tile.part, c, lane) >= 0)
                cta.cells[(tile.column + c) * lanes + lane] = word(tile, lane, tile.column + c);
}

void TensorShadow::write(MemoryShadow::Cta cta, std::uint32_t lane, std::uint32_t column, const Word& word) {
    if (lane >= lanes || column >= columns) return;
    Cta& to = ctas_[cta];
    for (std::size_t i = 0; i < to.tiles.size();) {
        const Tile& tile = to.tiles[i];
        const bool covers =
            column >= tile.column && column < tile.column + static_cast<std::uint32_t>(tile.sums->map->columns);
        if (covers && tile.sums->map->at(tile.part, column - tile.column, lane) >= 0)
            dissolve(to, i);
        else
            ++i;
    }
    if (to.cells.empty()) to.cells.resize(std::size_t{columns} * lanes);
    to.cells[column * lanes + lane] = word;
}

std::shared_ptr<TensorSums> TensorShadow::sums(MemoryShadow::Cta cta, std::uint32_t column,
                                               const TensorTileMap* map) const {
    const auto found = ctas_.find(cta);
    if (found == ctas_.end()) return nullptr;
    for (const Tile& tile : found->second.tiles)
        if (tile.column == column && tile.sums->map.get() == map) return tile.sums;
    return nullptr;
}

void TensorShadow::set_sums(MemoryShadow::Cta cta, std::uint32_t column, std::uint32_t part,
                            std::shared_ptr<TensorSums> sums) {
    Cta& to = ctas_[cta];
    const auto end = column + static_cast<std::uint32_t>(sums->map->columns);
    for (std::size_t i = 0; i < to.tiles.size();) {
        const Tile& tile = to.tiles[i];
        if (tile.column == column && tile.sums->map == sums->map) {
            to.tiles.erase(to.tiles.begin() + static_cast<std::ptrdiff_t>(i));
        } else if (tile.column < end && column < tile.column + static_cast<std::uint32_t>(tile.sums->map->columns)) {
            dissolve(to, i);
        } else {
            ++i;
        }
    }
    to.tiles.push_back({column, part, std::move(sums)});
}

}  // namespace tilepath::check
