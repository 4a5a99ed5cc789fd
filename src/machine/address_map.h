// machine/: the state of a device without a will of its own: memory and the address map, CTAs and warps, barriers, the
// asynchronous engines, and the events that they report.
#pragma once
#include <cstdint>

#include "program/types.h"

namespace tilepath::machine {

/// A 64-bit generic address, or an address within a space, as the instruction says.
using Address = std::uint64_t;

// One reservation of host addresses holds everything a kernel can point at; the bases are the same in every run.
// Bases of windows have 32 zero low bits, as recorded on an H200.
inline constexpr Address device_memory_base = 0x2000'0000'0000;
inline constexpr Address device_memory_bytes = 1ull << 40;  ///< of one DeviceMemory
inline constexpr int device_memories = 8;                   ///< how many a process may hold at once
inline constexpr Address window_base = device_memory_base + device_memories * device_memory_bytes;
inline constexpr Address window_bytes = 1ull << 32;
inline constexpr Address shared_window = window_base;
inline constexpr Address local_window = window_base + window_bytes;
inline constexpr Address param_window = window_base + 2 * window_bytes;
inline constexpr Address function_window = window_base + 3 * window_bytes;  ///< what function pointers look like
inline constexpr Address windows_end = window_base + 4 * window_bytes;

// A shared address is rank << 24 | offset (recorded on an H200).
inline constexpr int shared_rank_shift = 24;
inline constexpr std::uint32_t shared_offset_mask = (1u << shared_rank_shift) - 1;
constexpr std::uint32_t shared_address(std::uint32_t rank, std::uint32_t offset) {
    return rank << shared_rank_shift | offset;
}
constexpr std::uint32_t shared_rank(std::uint32_t address) { return address >> shared_rank_shift; }
constexpr std::uint32_t shared_offset(std::uint32_t address) { return address & shared_offset_mask; }

/// An address and the space it lies in.
struct Place {
    program::Space space = program::Space::global;
    Address address = 0;  ///< within that space
};

/// Where a generic address points. Everything outside the windows is global.
constexpr Place place_of_generic(Address address) {
    if (address - window_base >= windows_end - window_base) return {program::Space::global, address};
    const Address offset = address & (window_bytes - 1);
    switch ((address - window_base) / window_bytes) {
        case 0: return {program::Space::shared, offset};
        case 1: return {program::Space::local, offset};
        case 2: return {program::Space::param, offset};
        default: return {program::Space::global, address};
    }
}

/// The generic address of an address in a space: what `cvta` computes.
constexpr Address generic_address(program::Space space, Address address) {
    switch (space) {
        case program::Space::shared:
        case program::Space::shared_cluster: return shared_window + (address & (window_bytes - 1));
        case program::Space::local: return local_window + (address & (window_bytes - 1));
        case program::Space::param: return param_window + (address & (window_bytes - 1));
        case program::Space::generic:
        case program::Space::global:
        case program::Space::constant: return address;
    }
    return address;
}

/// The reverse: what `cvta.to` computes. An address of another space gives what the subtraction gives on hardware.
constexpr Address space_address(program::Space space, Address generic) { return generic - generic_address(space, 0); }

/// The value of a pointer to a function of the program, and back (a negative result: not a function pointer).
constexpr Address function_address(std::uint32_t index) { return function_window + (index + 1ull) * 16; }
constexpr std::int64_t function_index(Address address) {
    if (address <= function_window || address >= windows_end || address % 16 != 0) return -1;
    return static_cast<std::int64_t>((address - function_window) / 16) - 1;
}

}  // namespace tilepath::machine
