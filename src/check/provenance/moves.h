#pragma once
#include "check/provenance/product.h"
#include "check/provenance/warp_registers.h"

namespace tilepath::check {

/// What a warp's access touches: by lane, its space, the CTA whose shared memory it is, and where.
struct LaneAddresses {
    std::uint32_t lanes = 0;
    std::array<program::Space, 32> spaces{};
    std::array<machine::Address, 32> addresses{};
};

/// What an operation that moves or converts data does to the origins of its registers. True if it was one of those.
bool move_origins(const WarpRegisters& registers);

/// What arithmetic does: a sum of products stays one through scaling and additions of what is no product, two parts of
/// one element's sum become one, and an element multiplied by another is a product of the kernel's if `product` says
/// so.
void compute_origins(const WarpRegisters& registers, const Product* product, KSets& sets);

}  // namespace tilepath::check
