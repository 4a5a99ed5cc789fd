#pragma once
#include <vector>

#include "program/function.h"

namespace tilepath::check {

/// A wgmma whose registers something accesses without a wgmma.fence in between, on some path.
struct UnfencedWgmma {
    const program::MicroOp* wgmma = nullptr;
    const program::MicroOp* by = nullptr;  ///< what accesses them; null: no fence has come yet at all
};

/// wgmma.fence orders accesses to registers before a wgmma that uses them: it stands before the first, and wherever the
/// accumulators or A's registers have been touched by anything else. Wgmmas of one shape that go on with the same
/// accumulators need none among them (PTX ISA 9.7.15.7.1).
std::vector<UnfencedWgmma> unfenced_wgmmas(const program::Function& function);

}  // namespace tilepath::check
