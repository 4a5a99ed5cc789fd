#pragma once
#include <optional>
#include <vector>

#include "exec/code.h"

namespace tilepath::exec {

/// What need not be executed because a launch knows it before it begins: kernels read parameters and the sizes of grid
/// and block into registers, and copy those, before they do anything.
struct Folding {
    std::vector<std::optional<std::uint64_t>> value;  ///< by register: what it holds all the time
    std::vector<program::RegisterId> same;            ///< by register: the one whose place it shares (often itself)
    std::vector<bool> dropped;                        ///< by operation
};
Folding fold(const program::Function& function, const LaunchConstants& constants);
/// Nothing folded.
Folding no_folding(const program::Function& function);

/// Whether `op` moves its source: cvta of global and constant memory, whose generic addresses are the same.
bool is_identity(const program::MicroOp& op);

}  // namespace tilepath::exec
