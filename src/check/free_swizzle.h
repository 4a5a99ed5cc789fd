#pragma once
#include <span>
#include <string>

#include "check/warp_access.h"

namespace tilepath::check {

/// What to do so that none of these accesses of one buffer has a bank conflict: the swizzle of addresses that does it,
/// the hardware's modes first, or a padded row pitch; or that neither does. `instructions`: how many they come from.
std::string free_swizzle(std::span<const WarpAccess> accesses, std::size_t instructions);

}  // namespace tilepath::check
