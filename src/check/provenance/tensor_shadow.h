#pragma once
#include <map>
#include <memory>
#include <vector>

#include "check/provenance/shadow.h"

namespace tilepath::check {

/// Which element of D each cell of a tile in Tensor Memory holds: made once for each shape.
struct TensorTileMap {
    int columns = 0;                                    ///< 32-bit columns that the tile takes in each CTA
    int n = 0;                                          ///< columns of D
    std::uint32_t lowest_lane = 0;                      ///< that the tile reaches
    int element_bytes = 4;                              ///< f16 lies in the lower half of its cell
    std::array<std::vector<std::int32_t>, 2> elements;  ///< by CTA of the pair; (column, lane) to m · n + n; −1: none

    std::int32_t at(std::uint32_t cta, std::uint32_t column, std::uint32_t lane) const {
        const std::vector<std::int32_t>& of = elements[cta];
        return of.empty() ? -1 : of[column * 128 + lane];
    }
};

/// The sums in an accumulator in Tensor Memory, held once for all its cells.
struct TensorSums {
    std::shared_ptr<const TensorTileMap> map;
    std::vector<std::uint32_t> m, n;
    std::uint32_t ks = 0;
};

/// The origins of Tensor Memory, cell by cell, but for accumulators.
class TensorShadow {
  public:
    static constexpr std::uint32_t lanes = 128, columns = 512;

    Word read(MemoryShadow::Cta cta, std::uint32_t lane, std::uint32_t column) const;
    void read(MemoryShadow::Cta cta, std::uint32_t lane, std::uint32_t column, Words& to, std::size_t at) const;
    void write(MemoryShadow::Cta cta, std::uint32_t lane, std::uint32_t column, const Word& word);
    /// What these cells hold comes from nowhere that is followed.
    void forget(MemoryShadow::Cta cta, const machine::TensorCells& cells);
    /// The accumulator that begins at this column, of this shape; null if there is none.
    std::shared_ptr<TensorSums> sums(MemoryShadow::Cta cta, std::uint32_t column, const TensorTileMap* map) const;
    /// The accumulator takes these columns; what others were there ends. `part`: the CTA's rank in its pair.
    void set_sums(MemoryShadow::Cta cta, std::uint32_t column, std::uint32_t part, std::shared_ptr<TensorSums> sums);
    /// Nobody has written these columns since.
    void allocated(MemoryShadow::Cta cta, std::uint32_t column, std::uint32_t count);
    void leave(MemoryShadow::Cta cta);
    /// That it takes, at most so far.
    std::size_t bytes() const { return most_bytes_; }

  private:
    struct Tile {
        std::uint32_t column = 0, part = 0;
        std::shared_ptr<TensorSums> sums;
    };
    struct Cta {
        Words cells;  ///< by (column, lane)
        std::vector<Tile> tiles;
    };
    const Cta* find(MemoryShadow::Cta cta) const;
    static const Tile* tile_at(const Cta& cta, std::uint32_t lane, std::uint32_t column);
    static Word word(const Tile& tile, std::uint32_t lane, std::uint32_t column);
    static void dissolve(Cta& cta, std::size_t tile);
    static bool meet(const Tile& tile, const machine::TensorCells& cells);

    std::map<MemoryShadow::Cta, Cta> ctas_;
    mutable MemoryShadow::Cta last_cta_;
    mutable const Cta* last_ = nullptr;  ///< of last_cta_
    std::size_t most_bytes_ = 0;
};

}  // namespace tilepath::check
