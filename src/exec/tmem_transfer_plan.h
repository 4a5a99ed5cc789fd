#pragma once
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "exec/decoded.h"
#include "machine/tensor_memory.h"
#include "program/function.h"

namespace tilepath::exec {

/// Which cells tcgen05.ld or st moves to or from which lane's register, made of atom/'s layout.
struct TransferPlan {
    int registers = 0;
    bool packed = false;
    int lanes = 32;  ///< from the address' lane on
    /// By (register, lane): the cell, counted from the one at the address, column by column (TensorMemory::column).
    /// Packed: that of the lower half; the upper half's is in the next column.
    std::vector<std::int32_t> cells;
    std::vector<bool> runs;  ///< by register: its lanes' cells follow one another
    int columns = 0;         ///< of each block
    int blocks = 1;          ///< 2 of .16x32bx2
    const program::TmemTransfer* what = nullptr;

    /// What is touched from that address on. Columns beyond the last are the caller's to find.
    std::vector<machine::TensorCells> touched(machine::TensorMemoryAddress at, bool store) const;
    /// `first`: the cell at the address. `places`: the rows of the registers.
    void load(const std::uint32_t* first, Row* rows, const std::uint32_t* places) const;
    void store(std::uint32_t* first, const Row* values) const;
    /// tcgen05.ld.red: each lane's least or greatest of what it loaded.
    void reduce(program::DataType type, const Row* rows, const std::uint32_t* places, Row& out) const;
};

/// Plans by instruction, made when it is first executed.
class TransferPlans {
  public:
    const TransferPlan& find(const program::TmemTransfer& what, bool store);

  private:
    std::unordered_map<const program::TmemTransfer*, std::unique_ptr<TransferPlan>> plans_;
};

}  // namespace tilepath::exec
