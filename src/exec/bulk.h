#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "machine/tma.h"
#include "program/function.h"

namespace tilepath::exec {

struct Code;
struct LoadedFunction;
struct Warp;

/// One thread's bulk copy on its way.
struct PendingBulk {
    std::uint64_t id = 0;
    const program::Bulk* what = nullptr;
    const LoadedFunction* function = nullptr;  ///< the instruction that issued it
    const Code* code = nullptr;
    Warp* warp = nullptr;
    std::uint8_t lane = 0;
    std::uint64_t group = 0;          ///< the thread's bulk group, of those that write global memory
    std::uint64_t map = 0;            ///< of a tensor: generic address of its map
    std::uint64_t global = 0;         ///< address of the bytes in global memory, or where a tensor begins
    std::uint32_t shared_source = 0;  ///< shared addresses
    std::uint32_t shared_destination = 0, mbarrier = 0;
    std::uint32_t byte_mask = 0;          ///< of a store with .cp_mask: which of each 16 bytes
    std::uint32_t ctas = 0;               ///< ranks of those into whose shared memory it goes
    std::uint32_t bytes = 0, done = 0;    ///< done: by a load that lands in pieces
    std::optional<machine::BoxWalk> box;  ///< of a tensor: its rows that have not landed
    bool read = false;                    ///< a store: its source is in `staged`
    std::vector<std::uint8_t> staged;

    bool writes_global() const { return what->destination == program::Space::global; }
};

}  // namespace tilepath::exec
