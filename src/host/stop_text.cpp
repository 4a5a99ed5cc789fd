// What a stopped warp looks like, in words.
#include "host/stop_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <map>

namespace tilepath::host {
namespace {

using exec::StoppedWarp;
using program::DataType;
using program::RegisterId;
using program::Space;

/// How a register's bits are written: by the dtype that was asked for, else by its declared type.
std::string value_text(std::uint64_t bits, DataType declared, const std::optional<DType>& asked) {
    const auto type = asked ? asked : dtype_named(program::traits(declared).name);
    if (type) {
        const std::uint64_t mask = type->bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << type->bits) - 1;
        return to_text(*type, bits & mask);
    }
    return fmt::format("{:#0{}x}", bits, 2 + std::min(program::bits(declared), 64) / 4);
}

std::string lanes_of(std::uint32_t mask) { return mask == exec::all_lanes ? "all lanes" : exec::describe_lanes(mask); }

/// `name = value in all lanes`, or lines of four lanes.
std::string lane_values(const std::string& head, const StoppedWarp& warp, const std::vector<std::string>& values) {
    std::string first;
    bool uniform = true;
    std::size_t width = 0;
    for (int lane = 0; lane < exec::warp_lanes; ++lane) {
        if ((warp.lanes() >> lane & 1) == 0) continue;
        const std::string& value = values[static_cast<std::size_t>(lane)];
        if (first.empty()) first = value;
        uniform = uniform && value == first;
        width = std::max(width, value.size());
    }
    if (uniform) return fmt::format("{} = {} in {}\n", head, first, lanes_of(warp.lanes()));
    std::string out = fmt::format("{}, by lane\n", head);
    for (int row = 0; row < exec::warp_lanes; row += 4) {
        if ((warp.lanes() >> row & 15) == 0) continue;
        std::string line = fmt::format("  {:>3}:", row);
        for (int lane = row; lane < row + 4; ++lane)
            line +=
                fmt::format("  {:<{}}", warp.lanes() >> lane & 1 ? values[static_cast<std::size_t>(lane)] : "-", width);
        line.resize(line.find_last_not_of(' ') + 1);
        out += line + "\n";
    }
    return out;
}

std::string register_text(const ShowItem& item, const StoppedWarp& warp, const RegisterState& state) {
    std::string out;
    const program::Function& function = warp.function();
    for (RegisterId id = 0; id < function.registers.size(); ++id) {
        if (function.registers[id].name != item.name) continue;
        const DataType type = function.registers[id].type;
        std::string head = fmt::format("{} (.{})", item.name, program::traits(type).name);
        if (!state.live[id]) {
            if (!state.written[id]) {
                out += head + ": dead here: nothing reads it before it is written\n";
                continue;
            }
            head += ", dead here, its last value";
        }
        if (type == DataType::pred) {
            std::uint32_t mask = 0;
            for (int lane = 0; lane < exec::warp_lanes; ++lane)
                mask |= static_cast<std::uint32_t>(warp.value(id, lane)) << lane;
            mask &= warp.lanes();
            out += fmt::format("{} = {}\n", head,
                               mask == 0              ? "false"
                               : mask == warp.lanes() ? "true"
                                                      : "true in " + lanes_of(mask));
            continue;
        }
        std::vector<std::string> values;
        for (int lane = 0; lane < exec::warp_lanes; ++lane)
            values.push_back(value_text(warp.value(id, lane), type, item.type));
        out += lane_values(head, warp, values);
    }
    return out.empty() ? fmt::format("{}: {} has no such register\n", item.name, function.name) : out;
}

/// Sixteen bytes a line as 32-bit words; with a dtype its elements, as many as fit a line well.
std::string bytes_text(std::uint64_t address, std::span<const std::uint8_t> bytes, const std::optional<DType>& type) {
    std::string out;
    const std::size_t step = type && type->bits > 32 ? 32 : 16;
    for (std::size_t at = 0; at < bytes.size(); at += step) {
        const auto row = bytes.subspan(at, std::min(step, bytes.size() - at));
        out += fmt::format("  {:#06x}:", address + at);
        if (type) {
            for (std::uint64_t i = 0; i < row.size() * 8 / static_cast<std::uint64_t>(type->bits); ++i)
                out += "  " + to_text(*type, element(row, *type, i));
        } else {
            for (std::size_t i = 0; i < row.size(); i += 4) {
                out += "  ";
                for (std::size_t j = std::min(i + 4, row.size()); j-- > i;) out += fmt::format("{:02x}", row[j]);
            }
        }
        out += "\n";
    }
    return out;
}

/// The bytes that were asked for; nothing if they are not all there.
std::optional<std::span<const std::uint8_t>> part(std::span<const std::uint8_t> whole, std::uint64_t at,
                                                  std::uint64_t bytes) {
    if (at > whole.size() || whole.size() - at < bytes) return {};
    return whole.subspan(at, bytes);
}

std::string local_text(const std::string& head, std::uint64_t address, const ShowItem& item, const StoppedWarp& warp) {
    std::string out, first;
    bool uniform = true;
    std::vector<std::string> each;
    for (int lane = 0; lane < exec::warp_lanes; ++lane) {
        if ((warp.lanes() >> lane & 1) == 0) continue;
        const auto bytes = part(warp.local(lane), address, item.bytes);
        if (!bytes)
            return fmt::format("{}: beyond the {} bytes of local memory that each thread has here\n", head,
                               warp.local(lane).size());
        std::string text = bytes_text(address, *bytes, item.type);
        if (first.empty()) first = text;
        uniform = uniform && text == first;
        out += fmt::format(" lane {}\n{}", lane, text);
    }
    return uniform ? fmt::format("{}, {}\n{}", head, lanes_of(warp.lanes()), first) : fmt::format("{}\n{}", head, out);
}

std::string memory_text(const Job& job, const ShowItem& item, const StoppedWarp& warp, const RegisterState& state) {
    std::uint64_t address = item.address;
    std::string head = item.text;
    if (!item.address_register.empty()) {
        const program::Function& function = warp.function();
        RegisterId id = 0;
        while (id < function.registers.size() && function.registers[id].name != item.address_register) ++id;
        if (id == function.registers.size()) return fmt::format("{}: {} has no such register\n", head, function.name);
        if (!state.live[id] && !state.written[id])
            return fmt::format("{}: {} is dead here\n", head, item.address_register);
        const int lane = std::countr_zero(warp.lanes());
        address = warp.value(id, lane);
        head += fmt::format(", {:#x} in lane {}", address, lane);
    }
    std::optional<std::span<const std::uint8_t>> bytes;
    std::optional<DType> type = item.type;
    std::string where;
    switch (*item.space) {
        case Space::shared:
            // Offsets of a cluster's CTA carry its rank above bit 24.
            bytes = part(warp.shared(), address & 0xFFFFFF, item.bytes);
            where = fmt::format("the CTA's shared memory, which ends at {:#x}", warp.shared().size());
            break;
        case Space::param:
            bytes = part(warp.parameters(), address, item.bytes);
            where = fmt::format("the kernel's {} bytes of parameters", warp.parameters().size());
            break;
        case Space::local: return local_text(head, address, item, warp);
        case Space::global:
        case Space::generic:
        case Space::shared_cluster:
        case Space::constant: {
            auto allocation = item.name.empty() ? warp.memory().describe(address) : warp.memory().named(item.name);
            if (!allocation) return fmt::format("{}: no allocation is there\n", head);
            const std::uint64_t size = allocation->range.end - allocation->range.begin;
            const std::uint64_t offset = item.name.empty() ? address - allocation->range.begin : address;
            bytes = part(
                {reinterpret_cast<const std::uint8_t*>(static_cast<std::uintptr_t>(allocation->range.begin)), size},
                offset, item.bytes);
            where = fmt::format("'{}', which has {} bytes", allocation->name, size);
            for (const Buffer& buffer : job.buffers)
                if (!type && buffer.name == allocation->name) type = buffer.dtype;
        }
    }
    if (!bytes) return fmt::format("{}: not within {}\n", head, where);
    return fmt::format("{}\n{}", head, bytes_text(address, *bytes, type));
}

}  // namespace

std::string describe_stop(const Job& job, const StoppedWarp& warp, const std::vector<ShowItem>& items) {
    const program::Function& function = warp.function();
    const program::InstructionPlace& place = function.instructions[warp.op().instruction];
    std::string out = fmt::format("stopped before {}:{}: {}", job.ptx->name(), job.ptx->line(place.span.begin),
                                  job.ptx->text(place.span));
    for (const Launch& launch : job.launches) {
        const auto& functions = launch.program->functions;
        if (&function < functions.data() || &function >= functions.data() + functions.size() || place.location < 0)
            continue;
        const program::SourceLocation& location = launch.program->locations[static_cast<std::size_t>(place.location)];
        out += fmt::format("  ({}:{})", location.file, location.line);
    }
    const machine::Dim3 cta = warp.cta();
    out += fmt::format("\n  in {}, CTA ({}, {}, {}), warp {}, {}\n", function.name, cta.x, cta.y, cta.z, warp.warp(),
                       lanes_of(warp.lanes()));
    const RegisterState state = register_state(function, warp.op());
    for (const ShowItem& item : items)
        out += item.space ? memory_text(job, item, warp, state) : register_text(item, warp, state);
    return out;
}

std::string list_of_registers(const std::set<std::string>& names) {
    // Numbered ones of one stem join to ranges.
    std::map<std::string, std::vector<unsigned long>> stems;
    std::vector<std::string> out;
    for (const std::string& name : names) {
        std::size_t digits = name.size();
        while (digits > 0 && std::isdigit(static_cast<unsigned char>(name[digits - 1]))) --digits;
        if (digits == name.size() || name.size() - digits > 9)
            out.push_back(name);
        else
            stems[name.substr(0, digits)].push_back(std::strtoul(name.c_str() + digits, nullptr, 10));
    }
    for (auto& [stem, numbers] : stems) {
        std::ranges::sort(numbers);
        for (std::size_t i = 0; i < numbers.size();) {
            std::size_t end = i + 1;
            while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
            out.push_back(end == i + 1 ? fmt::format("{}{}", stem, numbers[i])
                                       : fmt::format("{}{}-{}{}", stem, numbers[i], stem, numbers[end - 1]));
            i = end;
        }
    }
    std::string text;
    for (std::size_t i = 0; i < out.size() && i < 30; ++i) text += (i ? ", " : "") + out[i];
    return out.size() > 30 ? text + ", …" : text;
}

}  // namespace tilepath::host
