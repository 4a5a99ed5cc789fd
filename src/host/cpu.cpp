#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "host/job.h"

namespace tilepath::host {
namespace {

std::uint64_t product(const std::vector<std::int64_t>& shape) {
    std::uint64_t out = 1;
    for (std::int64_t extent : shape) out *= static_cast<std::uint64_t>(extent);
    return out;
}

std::span<std::uint8_t> host_bytes(machine::Address address, std::size_t size) {
    return {reinterpret_cast<std::uint8_t*>(static_cast<std::uintptr_t>(address)), size};
}

/// The address of a module's variable, or of a fresh allocation; filled with what the buffer holds at first.
Result<machine::Address> place(const Buffer& buffer, const program::Program& program, const exec::ModuleImage& image,
                               machine::DeviceMemory& memory) {
    machine::Address address = 0;
    if (buffer.symbol) {
        // The first of that name: the module's, before one of a function's body.
        for (std::size_t i = program.variables.size(); i-- > 0;)
            if (program.variables[i].name == buffer.name) address = image.variables[i];
    } else {
        auto allocated = memory.allocate(buffer.bytes.size(), buffer.name);
        if (!allocated) return allocated;
        address = *allocated;
    }
    if (!buffer.bytes.empty())
        std::memcpy(host_bytes(address, buffer.bytes.size()).data(), buffer.bytes.data(), buffer.bytes.size());
    return address;
}

}  // namespace

std::uint64_t Buffer::elements() const { return product(shape); }

program::Programs Job::programs() const {
    std::vector<const program::Program*> out;
    for (const Launch& launch : launches) out.push_back(launch.program.get());
    return program::Programs(std::move(out));
}

bool Outcome::ok() const {
    for (const exec::LaunchReport& report : reports)
        if (!report.ok()) return false;
    return true;
}

Result<Outcome> run_on_cpu(const Job& job, const exec::LaunchOptions& options, const Placed& placed) {
    auto device = machine::device_named(job.arch);
    if (!device) return std::unexpected(device.error());
    auto memory = machine::DeviceMemory::create();
    if (!memory) return std::unexpected(memory.error());
    if (job.launches.empty()) return fail("nothing to run: the job has no launch");
    const program::Program& first = *job.launches.front().program;
    auto image = exec::load_variables(first, **memory);
    if (!image) return std::unexpected(image.error());

    std::vector<machine::Address> addresses;
    for (const Buffer& buffer : job.buffers) {
        auto address = place(buffer, first, *image, **memory);
        if (!address) return std::unexpected(address.error());
        addresses.push_back(*address);
    }
    if (placed) placed(addresses);
    std::vector<std::array<std::uint8_t, machine::TensorMap::bytes>> tensor_maps;
    for (const TensorMap& each : job.tensor_maps) {
        machine::TensorMap map = each.map;
        map.address = addresses[each.buffer] + static_cast<std::uint64_t>(each.offset);
        if (Diagnostics broken = machine::broken_rules(map, device->architecture); !broken.empty())
            return std::unexpected(std::move(broken));
        tensor_maps.push_back(machine::encode(map));
    }
    Outcome outcome;
    for (const Launch& launch : job.launches) {
        std::vector<std::uint8_t> parameters = launch.parameters;
        for (const Launch::BufferAddress& patch : launch.addresses) {
            const std::uint64_t address = addresses[patch.buffer] + static_cast<std::uint64_t>(patch.addend);
            std::memcpy(parameters.data() + patch.offset, &address, sizeof address);
        }
        for (const Launch::TensorMapPlace& place : launch.tensor_maps)
            std::ranges::copy(tensor_maps[place.map], parameters.begin() + place.offset);
        auto report = exec::launch(*launch.program, *device, **memory, *image, launch.shape, parameters, options);
        if (!report) return std::unexpected(report.error());
        outcome.reports.push_back(std::move(*report));
        if (!outcome.reports.back().ok() || outcome.reports.back().stopped) break;
    }
    for (std::size_t i = 0; i < job.buffers.size(); ++i) {
        std::span<std::uint8_t> bytes = host_bytes(addresses[i], job.buffers[i].bytes.size());
        outcome.buffers.emplace_back(bytes.begin(), bytes.end());
    }
    return outcome;
}

}  // namespace tilepath::host
