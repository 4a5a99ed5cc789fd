#pragma once
#include <array>
#include <cstdint>
#include <span>

#include "machine/tensor_map.h"

namespace tilepath::machine {

/// How an instruction reads its coordinates (PTX ISA 5.5).
enum class BoxMode : std::uint8_t {
    tile,
    im2col,    ///< im2col_w and im2col_w_128 too: the map says which
    four_rows  ///< tile::gather4, tile::scatter4: coordinate 0, then the rows
};

/// A box as an instruction names it.
struct BoxPlace {
    BoxMode mode = BoxMode::tile;
    std::array<std::int32_t, 5> at{};        ///< innermost first
    std::array<std::uint32_t, 3> offsets{};  ///< im2col: W first; im2col_w and _w_128: wHalo, wOffset
    std::uint32_t shared = 0;                ///< address of the box in shared memory; of the rank only low bits count
};

/// A row of a box: elements that follow one another in global memory and, but for the swizzle, in shared memory.
struct BoxRow {
    Address global = 0;                ///< of its first element, which may lie out of bounds
    std::uint32_t begin = 0, end = 0;  ///< its bytes within the tensor; none: begin = end
    std::uint32_t stored_end = 0;      ///< those that a store writes: whole units of 16 bytes (recorded on an H200)
    std::uint32_t shared = 0;          ///< where it lies before swizzling
};

/// Walks the rows of a box, one after the other. A copy of the walk goes on from where it is.
class BoxWalk {
  public:
    BoxWalk(const TensorMap& map, const BoxPlace& place);

    const TensorMap& map() const { return map_; }
    const BoxPlace& place() const { return place_; }
    std::uint32_t rows() const { return rows_; }
    std::uint32_t rows_left() const { return rows_ - row_; }
    /// Bytes of one row in global memory, which are those that an mbarrier counts: out of bounds or not, without
    /// padding.
    std::uint32_t row_bytes() const { return row_bytes_; }
    /// From one row to the next in shared memory: the swizzle's span, even where the box is narrower (recorded on an
    /// H200).
    std::uint32_t pitch() const { return pitch_; }
    std::uint32_t transaction_bytes() const { return rows_ * row_bytes_; }
    std::uint32_t shared_bytes() const { return rows_ * pitch_; }

    /// The next row; false after the last.
    bool next(BoxRow& row);

  private:
    void begin_tile();
    void begin_im2col();
    void begin_wide();
    void step_tile();
    void step_im2col();
    void step_wide();
    void advance_wide();
    bool place_outer(BoxRow& row) const;

    /// A dimension that rows run over.
    struct Outer {
        std::int64_t start = 0, position = 0;        ///< where the walk begins, and is
        std::int64_t step = 1, first = 0, last = 0;  ///< tile: first = start; im2col: the bounding box
        std::int64_t extent = 1, stride = 0;         ///< of the tensor, bytes
        std::int64_t offset = 0;                     ///< im2col: added where memory is accessed
    };

    Outer& add_outer(std::uint32_t dimension);

    TensorMap map_;
    BoxPlace place_;
    std::array<Outer, 5> outer_{};
    std::uint32_t outer_count_ = 0, rows_ = 1, row_ = 0, row_bytes_ = 0, pitch_ = 0;
    std::array<std::int64_t, 2> behind_halo_{};  ///< im2col_w_128: W and N of the pixel that follows 32 others
    bool whole_ = false;             ///< a tile that lies within the tensor: none of its rows needs to be clipped
    Address outer_offset_ = 0;       ///< of such a tile's next row, in bytes
    std::int64_t inner_ = 0;         ///< element that a row begins with
    std::int64_t inner_extent_ = 0;  ///< elements of dimension 0; interleaved: a slice is always whole
};

/// Writes a row into shared memory: elements converted and filled as the map says. `source`: the row's bytes in
/// memory from `begin` on. `images`: shared memory of each CTA (offset 0) that the row goes to.
void load_row(const TensorMap& map, const BoxWalk& walk, const BoxRow& row, const std::uint8_t* source,
              std::span<std::uint8_t* const> images);

/// Reads a row from shared memory as it goes to global: `out` takes row_bytes() bytes.
void read_row(const TensorMap& map, const BoxWalk& walk, const BoxRow& row, const std::uint8_t* image,
              std::uint8_t* out);

/// The longest row in bytes: 256 elements of 8 bytes.
inline constexpr std::uint32_t longest_row = 2048;

}  // namespace tilepath::machine
