#pragma once
#include <cstdint>

namespace tilepath::exec {

/// What 32 addresses have in common.
struct Survey {
    std::uint64_t least = 0, greatest = 0;
    std::uint64_t bits = 0;    ///< all of them or-ed
    bool consecutive = false;  ///< the i-th is the first + i × stride
};
Survey survey(const std::uint64_t* addresses, std::uint64_t stride);

/// Whether the i-th of 32 addresses is the first + i × stride.
bool are_consecutive(const std::uint64_t* addresses, std::uint64_t stride);
bool are_consecutive(const std::uint32_t* addresses, std::uint32_t stride);

/// out[i] = base[i] + offset, for 32-bit registers modulo 2^32.
void add_offset(const std::uint64_t* base, std::int64_t offset, std::uint64_t* out);
void add_offset(const std::uint32_t* base, std::int64_t offset, std::uint64_t* out);

}  // namespace tilepath::exec
