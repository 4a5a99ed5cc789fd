#pragma once
#include <cstdint>

#include "machine/address_map.h"
#include "program/function.h"

namespace tilepath::machine {

/// The mbarrier on which a bulk copy counts what it brings to the CTA of rank `rank`: at the same offset there, or with
/// .cta_group::2 in the CTA of its pair whose rank is odd or even as the named mbarrier's is (PTX ISA 9.7.9.25.5.2).
inline std::uint32_t signalled_mbarrier(const program::Bulk& bulk, std::uint32_t rank, std::uint32_t mbarrier) {
    if (bulk.pair_mbarrier) rank = (rank & ~1u) | (shared_rank(mbarrier) & 1u);
    return shared_address(rank, shared_offset(mbarrier));
}

}  // namespace tilepath::machine
