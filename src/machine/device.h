#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"
#include "number/recipe.h"

namespace tilepath::machine {

/// What of a GPU a kernel can notice: sizes, limits, and whose arithmetic its tensor cores have.
struct Device {
    std::string_view name;   ///< sm_90
    int architecture = 0;    ///< 90
    std::string_view model;  ///< a card that has it, whose number of multiprocessors this is
    number::Generation generation{};
    std::uint32_t multiprocessors = 0;
    std::uint32_t shared_per_multiprocessor = 0;  ///< bytes
    std::uint32_t shared_per_block = 0;           ///< bytes that a launch may opt in to
    std::uint32_t threads_per_multiprocessor = 0;
    std::uint32_t blocks_per_multiprocessor = 0;

    static constexpr std::uint32_t reserved_shared_per_block = 1024;  ///< recorded on an H200
    static constexpr std::uint32_t registers_per_multiprocessor = 65536;
    static constexpr std::uint32_t threads_per_block = 1024;
    static constexpr std::uint32_t block_limit[3] = {1024, 1024, 64};
    static constexpr std::uint32_t grid_limit[3] = {0x7FFFFFFF, 65535, 65535};

    std::uint32_t warps_per_multiprocessor() const { return threads_per_multiprocessor / 32; }
};

std::span<const Device> all_devices();

/// From an architecture's name, suffix or not: `sm_80`, `sm_90a`, `sm_100f`. The error names what exists.
Result<Device> device_named(std::string_view arch);

/// How many blocks of that shape one multiprocessor holds at once. Registers are not counted: only ptxas knows them.
std::uint32_t resident_blocks(const Device& device, std::uint32_t threads, std::uint32_t shared_bytes);

}  // namespace tilepath::machine
