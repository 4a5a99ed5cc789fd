// Tensor maps in a kernel's memory: found, judged, changed.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "exec/executor.h"

namespace tilepath::exec {

using machine::Access;
using machine::TensorMap;
using program::Space;
using program::TensorMapField;

namespace {

/// The type whose number is tensormap.replace's (PTX ISA 9.7.9.27), not the driver's.
std::optional<machine::TensorType> type_of_elemtype(std::uint64_t number) {
    for (int i = 0; i <= static_cast<int>(machine::TensorType::u6_align16b); ++i)
        if (static_cast<std::uint64_t>(machine::traits(static_cast<machine::TensorType>(i)).replace_elemtype) == number)
            return static_cast<machine::TensorType>(i);
    return {};
}

std::optional<layout::SwizzleMode> swizzle_of(int mode, int atomicity) {
    for (const layout::SwizzleTraits& row : layout::all_swizzle_modes())
        if (row.replace_mode == mode && row.replace_atomicity == atomicity) return row.mode;
    return {};
}

/// False if the value is none that the field has.
bool replace(TensorMap& map, TensorMapField field, std::size_t ordinal, std::uint64_t value) {
    const auto word = static_cast<std::uint32_t>(value);
    const layout::SwizzleTraits& swizzle = layout::traits(map.swizzle);
    switch (field) {
        case TensorMapField::global_address: map.address = value; return true;
        case TensorMapField::rank: map.rank = word + 1; return word < TensorMap::most_dimensions;
        case TensorMapField::box_dim: map.box[ordinal] = word; return word >= 1 && word <= 256;
        case TensorMapField::global_dim: map.dims[ordinal] = word; return word >= 1;
        case TensorMapField::global_stride: map.strides[ordinal] = value; return true;
        case TensorMapField::element_stride: map.element_strides[ordinal] = word; return word >= 1 && word <= 8;
        case TensorMapField::elemtype: {
            const auto type = type_of_elemtype(value);
            if (type) map.type = *type;
            return type.has_value();
        }
        case TensorMapField::interleave_layout:
            map.interleave = static_cast<machine::Interleave>(word);
            return word <= 2;
        case TensorMapField::swizzle_mode:
        case TensorMapField::swizzle_atomicity: {
            const bool mode = field == TensorMapField::swizzle_mode;
            // Modes other than 128B have one atomicity; a map that gets its mode first keeps none of another.
            const int wanted = static_cast<int>(word),
                      kept = (mode ? swizzle.replace_atomicity : swizzle.replace_mode).value_or(0);
            auto found = mode ? swizzle_of(wanted, kept) : swizzle_of(kept, wanted);
            if (!found && mode) found = swizzle_of(wanted, 0);
            if (found) map.swizzle = *found;
            return found.has_value();
        }
        case TensorMapField::fill_mode: map.nan_fill = word == 1; return word <= 1;
    }
    return false;
}

}  // namespace

/// Its 128 bytes, or null after a fault.
const std::uint8_t* Executor::tensor_map_bytes(Context& c, int lane, machine::Address generic) {
    machine::Place at = machine::place_of_generic(generic);
    const auto wrong = [&](FaultKind kind, std::string message) {
        fail_access(c, kind, Access::Kind::read, lane, at, TensorMap::bytes, std::move(message));
        return nullptr;
    };
    if (at.space != Space::global && at.space != Space::param)
        return wrong(FaultKind::bulk_copy,
                     "a tensor map that a copy reads lies in constant, parameter or global memory");
    if (at.address % TensorMap::alignment != 0)
        return wrong(FaultKind::misaligned,
                     fmt::format("a tensor map's address is a multiple of {}", TensorMap::alignment));
    constexpr std::uint32_t half = TensorMap::bytes / 2;
    const std::uint8_t* const bytes = resolve_one(c, Access::Kind::read, lane, at, half);
    if (bytes == nullptr || resolve_one(c, Access::Kind::read, lane, {at.space, at.address + half}, half) == nullptr)
        return nullptr;
    return bytes;
}

const TensorMap* Executor::tensor_map(Context& c, int lane, machine::Address generic) {
    const std::uint8_t* bytes = tensor_map_bytes(c, lane, generic);
    if (bytes == nullptr) return nullptr;
    const machine::Place at = machine::place_of_generic(generic);
    bool stale = false;
    if (launch_.stale && at.space == Space::global) {
        std::memcpy(patched_map_.data(), bytes, patched_map_.size());
        stale = launch_.stale->tensormap.overlay(at.address, patched_map_.data(), patched_map_.size());
        bytes = patched_map_.data();
    }
    for (const KnownMap& known : std::span(known_maps_).first(std::min(next_known_map_, known_maps_.size())))
        if (std::memcmp(known.bytes.data(), bytes, known.bytes.size()) == 0) return &known.map;
    const auto map = machine::decode(std::span<const std::uint8_t, TensorMap::bytes>(bytes, TensorMap::bytes));
    const auto wrong = [&](std::string message) {
        if (stale) message += "; it has changed, but no fence.proxy.tensormap::generic has made that visible to copies";
        fail_access(c, FaultKind::bulk_copy, Access::Kind::read, lane, machine::place_of_generic(generic),
                    TensorMap::bytes, std::move(message));
        return nullptr;
    };
    if (!map) return wrong("these bytes are no tensor map that tilepath has encoded");
    if (const Diagnostics broken = machine::broken_rules(*map); !broken.empty()) return wrong(broken.front().message);
    KnownMap& known = known_maps_[next_known_map_++ % known_maps_.size()];
    std::memcpy(known.bytes.data(), bytes, known.bytes.size());
    known.map = *map;
    return &known.map;
}

Step Executor::replace_tensor_map(Context& c) {
    const auto field = static_cast<TensorMapField>(c.op().variant);
    for (LaneMask left = c.active; left != 0; left &= left - 1) {
        const int lane = std::countr_zero(left);
        machine::Place at{c.code.space, source_value(c, 0, lane)};
        if (at.space == Space::generic) at = machine::place_of_generic(at.address);
        const auto wrong = [&](FaultKind kind, std::string message) {
            return fail_access(c, kind, Access::Kind::atomic, lane, at, TensorMap::bytes, std::move(message));
        };
        if (at.space != Space::global && at.space != Space::shared)
            return wrong(FaultKind::bulk_copy, "tensormap.replace changes a map in global or shared memory");
        if (at.address % TensorMap::alignment != 0)
            return wrong(FaultKind::misaligned,
                         fmt::format("a tensor map's address is a multiple of {}", TensorMap::alignment));
        constexpr std::uint32_t half = TensorMap::bytes / 2;
        std::uint8_t* const bytes = resolve_one(c, Access::Kind::atomic, lane, at, half);
        if (bytes == nullptr ||
            resolve_one(c, Access::Kind::atomic, lane, {at.space, at.address + half}, half) == nullptr)
            return Step::fault;
        auto map = machine::decode(std::span<const std::uint8_t, TensorMap::bytes>(bytes, TensorMap::bytes));
        if (!map) return wrong(FaultKind::bulk_copy, "these bytes are no tensor map that tilepath has encoded");
        const std::uint64_t value = source_value(c, 1, lane);
        if (!replace(*map, field, static_cast<std::size_t>(c.op().immediate), value))
            return wrong(FaultKind::bulk_copy, fmt::format("the field does not have the value {}", value));
        const auto fresh = machine::encode(*map);
        if (launch_.stale && at.space == Space::global) before_global_write(at.address, TensorMap::bytes);
        std::memcpy(bytes, fresh.data(), fresh.size());
        machine::EventSite where = site(c);
        where.lanes = 1u << lane;
        if (observer_ != nullptr) observer_->tensor_map({where, false, at});
    }
    wrote();
    return Step::next;
}

/// tensormap.cp_fenceproxy: the warp copies the map once, and what it did before is visible with it.
Step Executor::copy_tensor_map(Context& c) {
    const int lane = std::countr_zero(c.active);
    const machine::Place into{Space::global, source_value(c, 0, lane)}, from{Space::shared, source_value(c, 1, lane)};
    std::array<std::uint8_t*, 2> to{};
    std::array<const std::uint8_t*, 2> source{};
    constexpr std::uint32_t half = TensorMap::bytes / 2;
    for (std::uint32_t i = 0; i < 2; ++i) {
        to[i] = resolve_one(c, Access::Kind::write, lane, {into.space, into.address + i * half}, half);
        source[i] = to[i] == nullptr
                        ? nullptr
                        : resolve_one(c, Access::Kind::read, lane, {from.space, from.address + i * half}, half);
        if (source[i] == nullptr) return Step::fault;
    }
    if (launch_.stale) {
        before_global_write(into.address, TensorMap::bytes);
        launch_.stale->tensormap.release(into.address, TensorMap::bytes);
    }
    for (std::size_t i = 0; i < 2; ++i) std::memcpy(to[i], source[i], half);
    if (observer_ != nullptr) observer_->tensor_map({site(c), true, into});
    wrote();
    return Step::next;
}

}  // namespace tilepath::exec
