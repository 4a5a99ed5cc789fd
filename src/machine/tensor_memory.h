#pragma once
#include <array>
#include <bitset>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tilepath::machine {

/// What can be wrong with the life of Tensor Memory (PTX ISA 9.7.16.1, 9.7.16.7).
enum class TensorMemoryError : std::uint8_t {
    none,
    columns,        ///< a number of columns that is none of 32, 64, 128, 256, 512
    no_permit,      ///< an allocation after relinquish_alloc_permit
    not_allocated,  ///< a deallocation of columns that no allocation begins with, or of another number of them
};

/// The Tensor Memory of one CTA: 128 lanes of 512 columns of 32 bits (PTX ISA 9.7.16.1). Its addresses are
/// lane << 16 | column. Cells know whether anyone has written them.
class TensorMemory {
  public:
    static constexpr std::uint32_t lanes = 128, columns = 512, fewest_columns = 32;

    /// The cells of a column, lane by lane: a tile of D is an array by columns with a pitch of 128.
    std::uint32_t* column(std::uint32_t index) { return cells_.data() + std::size_t{index} * lanes; }
    const std::uint32_t* column(std::uint32_t index) const { return cells_.data() + std::size_t{index} * lanes; }

    /// Which of the 32 lanes from 32 · `slab` on hold something in that column.
    std::uint32_t written(std::uint32_t index, std::uint32_t slab) const { return written_[index][slab]; }
    void set_written(std::uint32_t index, std::uint32_t slab, std::uint32_t mask) { written_[index][slab] |= mask; }
    void assign_written(std::uint32_t index, std::uint32_t slab, std::uint32_t mask) { written_[index][slab] = mask; }

    /// Where a missing tcgen05.fence shall show, threads have an image of their own: what products, copies and shifts
    /// write is not in it before a fence. Otherwise `seen` is `column`.
    void keep_apart() { seen_ = cells_; }
    const std::uint32_t* seen(std::uint32_t index) const {
        return (seen_.empty() ? cells_ : seen_).data() + std::size_t{index} * lanes;
    }
    std::uint32_t* own_image(std::uint32_t index) { return seen_.data() + std::size_t{index} * lanes; }
    bool apart() const { return !seen_.empty(); }
    void set_unseen(std::uint32_t first, std::uint32_t count);
    bool unseen(std::uint32_t first, std::uint32_t count) const;
    /// tcgen05.fence::after_thread_sync.
    void show();

    /// The first column of the new allocation, first fit; nothing while no room is free: the warp waits.
    std::optional<std::uint32_t> allocate(std::uint32_t count);
    TensorMemoryError check_allocation(std::uint32_t count) const;
    TensorMemoryError deallocate(std::uint32_t first, std::uint32_t count);
    void relinquish_permit() { permit_ = false; }

    /// Whether all of these columns belong to allocations.
    bool allocated(std::uint32_t first, std::uint32_t count) const;
    /// The allocations that are still there: their first columns and sizes, `columns 0-127, 256-287`; empty if none.
    std::string describe_allocations() const;
    bool any_allocated() const;

    /// Before the first use, and between CTAs: nothing allocated, nothing written, every cell poisoned.
    void reset();
    bool in_use() const { return !cells_.empty(); }

  private:
    std::vector<std::uint32_t> cells_;
    std::vector<std::uint32_t> seen_;  ///< empty: as cells_
    std::bitset<columns> unseen_;
    std::array<std::array<std::uint32_t, lanes / 32>, columns> written_{};
    std::array<std::uint16_t, columns / fewest_columns> sizes_{};  ///< by unit of 32 columns: that begin there
    bool permit_ = true;
};

/// An address of Tensor Memory.
struct TensorMemoryAddress {
    std::uint32_t lane = 0, column = 0;

    static constexpr TensorMemoryAddress of(std::uint32_t address) { return {address >> 16, address & 0xFFFF}; }
    constexpr std::uint32_t bits() const { return lane << 16 | column; }
};

/// Cells that an operation reads or writes: some lanes of some columns.
struct TensorCells {
    enum class Role : std::uint8_t { d, a, metadata, scale_a, scale_b, data };  ///< data: of a load, store, copy, shift
    Role role = Role::data;
    bool read = false, write = false;
    std::uint32_t cta = 0;                  ///< rank in the pair; 0 for cta_group::1
    std::uint32_t column = 0, columns = 0;  ///< the first, and how many
    std::array<std::uint32_t, 4> lanes{};   ///< masks of the 128 lanes, alike in all these columns
};

}  // namespace tilepath::machine
