#include "check/provenance/tensor_shadow.h"

#include <algorithm>

namespace tilepath::check {
namespace {

constexpr PackedWord unwritten = PackedWord::from(Origin::unwritten_cell());

}  // namespace

const TensorShadow::Cta* TensorShadow::find(MemoryShadow::Cta cta) const {
    if (last_ == nullptr || last_cta_ != cta) {
        const auto found = ctas_.find(cta);
        if (found == ctas_.end()) return nullptr;
        last_cta_ = cta, last_ = &found->second;
    }
    return last_;
}

void TensorShadow::leave(MemoryShadow::Cta cta) {
    std::size_t now = 0;
    for (const auto& [each, state] : ctas_) now += state.cells.bytes();
    most_bytes_ = std::max(most_bytes_, now);
    ctas_.erase(cta);
    last_ = nullptr;
}

/// The accumulator that this cell is of.
const TensorShadow::Tile* TensorShadow::tile_at(const Cta& cta, std::uint32_t lane, std::uint32_t column) {
    for (const Tile& tile : cta.tiles)
        if (column >= tile.column && column < tile.column + static_cast<std::uint32_t>(tile.sums->map->columns) &&
            tile.sums->map->at(tile.part, column - tile.column, lane) >= 0)
            return &tile;
    return nullptr;
}

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
    const Cta* const from = find(cta);
    if (lane >= lanes || column >= columns) return {};
    if (from == nullptr) return unwritten.word();
    if (const Tile* const tile = tile_at(*from, lane, column)) return word(*tile, lane, column);
    return from->cells.empty() ? unwritten.word() : from->cells.word(column * lanes + lane);
}

void TensorShadow::read(MemoryShadow::Cta cta, std::uint32_t lane, std::uint32_t column, Words& to,
                        std::size_t at) const {
    const Cta* const from = find(cta);
    if (lane >= lanes || column >= columns) return to.set(at, PackedWord{});
    if (from == nullptr) return to.set(at, unwritten);
    if (const Tile* const tile = tile_at(*from, lane, column)) return to.set(at, word(*tile, lane, column));
    if (from->cells.empty()) return to.set(at, unwritten);
    to.take(at, from->cells, column * lanes + lane);
}

/// An accumulator becomes plain cells.
void TensorShadow::dissolve(Cta& cta, std::size_t index) {
    if (cta.cells.empty()) cta.cells.resize(std::size_t{columns} * lanes, unwritten);
    const Tile tile = cta.tiles[index];
    cta.tiles.erase(cta.tiles.begin() + static_cast<std::ptrdiff_t>(index));
    for (std::uint32_t c = 0; c < static_cast<std::uint32_t>(tile.sums->map->columns); ++c)
        for (std::uint32_t lane = 0; lane < lanes; ++lane)
            if (tile.sums->map->at(tile.part, c, lane) >= 0)
                cta.cells.set((tile.column + c) * lanes + lane, word(tile, lane, tile.column + c));
}

/// Whether one of these cells is the accumulator's.
bool TensorShadow::meet(const Tile& tile, const machine::TensorCells& cells) {
    const std::uint32_t end =
        std::min(cells.column + cells.columns, tile.column + static_cast<std::uint32_t>(tile.sums->map->columns));
    for (std::uint32_t column = std::max(cells.column, tile.column); column < end; ++column)
        for (std::uint32_t lane = 0; lane < lanes; ++lane)
            if ((cells.lanes[lane / 32] >> lane % 32 & 1) != 0 &&
                tile.sums->map->at(tile.part, column - tile.column, lane) >= 0)
                return true;
    return false;
}

void TensorShadow::forget(MemoryShadow::Cta cta, const machine::TensorCells& cells) {
    Cta& state = ctas_[cta];
    for (std::size_t i = 0; i < state.tiles.size();) {
        if (meet(state.tiles[i], cells))
            dissolve(state, i);
        else
            ++i;
    }
    Words& all = state.cells;
    if (all.empty()) all.resize(std::size_t{columns} * lanes, unwritten);
    const std::uint32_t end = std::min(cells.column + cells.columns, columns);
    for (std::uint32_t column = cells.column; column < end; ++column)
        for (std::uint32_t lane = 0; lane < lanes; ++lane)
            if (cells.lanes[lane / 32] >> lane % 32 & 1) all.set(column * lanes + lane, PackedWord{});
}

void TensorShadow::allocated(MemoryShadow::Cta cta, std::uint32_t column, std::uint32_t count) {
    const auto found = ctas_.find(cta);
    if (found == ctas_.end()) return;
    Cta& of = found->second;
    std::erase_if(of.tiles, [&](const Tile& tile) { return tile.column >= column && tile.column < column + count; });
    if (of.cells.empty()) return;
    const std::size_t end = std::size_t{std::min(column + count, columns)} * lanes;
    for (std::size_t at = std::size_t{column} * lanes; at < end; ++at) of.cells.set(at, unwritten);
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
    if (to.cells.empty()) to.cells.resize(std::size_t{columns} * lanes, unwritten);
    to.cells.set(column * lanes + lane, word);
}

std::shared_ptr<TensorSums> TensorShadow::sums(MemoryShadow::Cta cta, std::uint32_t column,
                                               const TensorTileMap* map) const {
    const Cta* const from = find(cta);
    if (from == nullptr) return nullptr;
    for (const Tile& tile : from->tiles)
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
