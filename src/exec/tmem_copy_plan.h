#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "machine/tensor_memory.h"
#include "program/function.h"

namespace tilepath::exec {

/// What a tcgen05.cp does through one kind of descriptor, made of atom/'s layouts: 16 bytes of shared memory become
/// four cells of one lane, and of the lanes that get a copy.
struct CopyPlan {
    std::string error;  ///< why the descriptor is none; the rest is empty then
    struct Chunk {
        std::int32_t source = 0;  ///< first byte, from copy_base() on
        std::int32_t cell = 0;    ///< the first, counted from the one at the address, column by column
    };
    std::vector<Chunk> chunks;         ///< with the copies
    std::int32_t least = 0, most = 0;  ///< of the chunks' first bytes
    std::uint32_t columns = 0;
    std::vector<std::uint32_t> lanes;  ///< that are written, from the address' lane on
    int element_bits = 8, element_shift = 0;

    std::vector<machine::TensorCells> touched(machine::TensorMemoryAddress at) const;
    /// `shared`: from offset 0 on; `first`: the cell at the address.
    void copy(const std::uint8_t* shared, std::uint64_t descriptor, std::uint32_t* first) const;
};

/// Where the chunks of a descriptor are counted from: its start, less the start's place in the swizzle's pattern.
std::uint32_t copy_base(std::uint64_t descriptor);

/// Plans by instruction and descriptor, its start aside.
class CopyPlans {
  public:
    const CopyPlan& find(const program::TmemCopy& what, std::uint64_t descriptor);

  private:
    struct Entry {
        program::TmemCopy what;
        std::uint64_t key = 0;
        CopyPlan plan;
    };
    std::vector<std::unique_ptr<Entry>> entries_;
};

}  // namespace tilepath::exec
