#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "machine/named_barrier.h"

namespace tilepath::machine {

struct Dim3 {
    std::uint32_t x = 1, y = 1, z = 1;

    std::uint64_t count() const { return std::uint64_t{x} * y * z; }
    friend bool operator==(const Dim3&, const Dim3&) = default;
};

/// The coordinates of a linear index, x fastest.
constexpr Dim3 coordinates(std::uint64_t index, const Dim3& extent) {
    return {static_cast<std::uint32_t>(index % extent.x), static_cast<std::uint32_t>(index / extent.x % extent.y),
            static_cast<std::uint32_t>(index / extent.x / extent.y)};
}

/// What the warps of one CTA share.
struct Cta {
    Dim3 id;
    std::uint64_t linear = 0;          ///< in the grid
    std::uint32_t rank = 0;            ///< in its cluster
    std::vector<std::uint8_t> shared;  ///< from offset 0 on, the reserved bytes included
    /// Shared memory as the async proxy sees it: what wgmma, bulk copies and TMA read.
    const std::uint8_t* async_view() const { return async_shared.empty() ? shared.data() : async_shared.data(); }
    /// Kept apart where a missing proxy fence shall show: the async proxy writes both images, others `shared` alone.
    std::vector<std::uint8_t> async_shared;
    /// fence.proxy.async: what was written to `shared` becomes visible to the async proxy.
    void fence_async_proxy() {
        if (!async_shared.empty()) async_shared = shared;
    }
    std::array<NamedBarrier, NamedBarrier::count> barriers;
    std::uint32_t used_barriers = 0;  ///< mask of those at which threads have arrived
    std::uint32_t live_threads = 0;
};

}  // namespace tilepath::machine
