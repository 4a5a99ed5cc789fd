#include "machine/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace tilepath::machine {
namespace {

using number::Generation;

// CUDA C++ Programming Guide, "Technical Specifications per Compute Capability"; sm_90's row was read off an H200.
// Multiprocessors: the card's data sheet.
constexpr Device table[] = {
    // name, architecture, model, generation, SMs, shared/SM, shared/block, threads/SM, blocks/SM
    {"sm_80", 80, "A100", Generation::ampere, 108, 164 << 10, 163 << 10, 2048, 32},
    {"sm_86", 86, "RTX A6000", Generation::ampere, 84, 100 << 10, 99 << 10, 1536, 16},
    {"sm_87", 87, "Jetson AGX Orin", Generation::ampere, 16, 164 << 10, 163 << 10, 1536, 16},
    {"sm_89", 89, "L40S", Generation::ada, 142, 100 << 10, 99 << 10, 1536, 24},
    {"sm_90", 90, "H200", Generation::hopper, 132, 228 << 10, 227 << 10, 2048, 32},
    {"sm_100", 100, "B200", Generation::blackwell, 148, 228 << 10, 227 << 10, 2048, 32},
    {"sm_103", 103, "B300", Generation::blackwell, 148, 228 << 10, 227 << 10, 2048, 32},
    {"sm_110", 110, "Jetson Thor", Generation::blackwell, 20, 228 << 10, 227 << 10, 1536, 24},
    {"sm_120", 120, "RTX 5090", Generation::blackwell_rtx, 170, 100 << 10, 99 << 10, 1536, 24},
    {"sm_121", 121, "GB10", Generation::blackwell_rtx, 48, 100 << 10, 99 << 10, 1536, 24},
};

}  // namespace

std::span<const Device> all_devices() { return table; }

Result<Device> device_named(std::string_view arch) {
    std::string_view bare = arch;
    if (bare.ends_with('a') || bare.ends_with('f')) bare.remove_suffix(1);
    for (const Device& device : table)
        if (device.name == bare) return device;
    std::string names;
    for (const Device& device : table) names += (names.empty() ? "" : ", ") + std::string(device.name);
    return fail(fmt::format("expected a device, found \"{}\"", arch), "devices: " + names);
}

std::uint32_t resident_blocks(const Device& device, std::uint32_t threads, std::uint32_t shared_bytes) {
    const std::uint32_t warps = std::max(1u, (threads + 31) / 32);
    const std::uint32_t by_warps = device.warps_per_multiprocessor() / warps;
    const std::uint32_t by_shared =
        device.shared_per_multiprocessor / (shared_bytes + Device::reserved_shared_per_block);
    return std::max(1u, std::min({device.blocks_per_multiprocessor, by_warps, by_shared}));
}

}  // namespace tilepath::machine
