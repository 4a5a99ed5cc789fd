// Boxes of tensors as they are issued: the rules that the hardware ends as illegal instructions, each by its name.
#include <fmt/format.h>

#include "exec/bulk_operands.h"
#include "exec/executor.h"

namespace tilepath::exec {

using layout::SwizzleMode;
using machine::Access;
using machine::BoxRow;
using machine::ImageWalk;
using machine::Place;
using program::AtomicOp;
using program::Bulk;
using program::Space;

// PTX ISA 9.7.9.25.5.3; s64 and tf32 as recorded on an H200.
program::DataType reduced_type(machine::TensorType type, AtomicOp op) {
    using enum machine::TensorType;
    using program::DataType;
    const bool adds = op == AtomicOp::add, counts = op == AtomicOp::inc || op == AtomicOp::dec;
    const bool orders = op == AtomicOp::min || op == AtomicOp::max;
    switch (type) {
        case u32: return DataType::u32;
        case s32: return counts ? DataType::none : DataType::s32;
        case u64: return counts ? DataType::none : DataType::u64;
        case s64: return orders ? DataType::s64 : DataType::none;
        case f16: return adds || orders ? DataType::f16 : DataType::none;
        case bf16: return adds || orders ? DataType::bf16 : DataType::none;
        case f32:
        case f32_ftz:
        case tf32:
        case tf32_ftz: return adds ? DataType::f32 : DataType::none;
        case f64: return adds ? DataType::f64 : DataType::none;
        case u8:
        case u16:
        case u4_align8b:
        case u4_align16b:
        case u6_align16b: break;
    }
    return DataType::none;
}

namespace {

/// The types of elements that a reduction takes.
std::string reduced_type_names(AtomicOp op) {
    std::string out;
    for (int i = 0; i <= static_cast<int>(machine::TensorType::u6_align16b); ++i) {
        const auto type = static_cast<machine::TensorType>(i);
        if (reduced_type(type, op) != program::DataType::none)
            out += fmt::format("{}{}", out.empty() ? "" : ", ", machine::traits(type).name);
    }
    return out;
}

ImageWalk walk_of(Bulk::Mode mode) {
    switch (mode) {
        case Bulk::Mode::tile:
        case Bulk::Mode::four_rows: break;
        case Bulk::Mode::im2col: return ImageWalk::im2col;
        case Bulk::Mode::im2col_w: return ImageWalk::im2col_w;
        case Bulk::Mode::im2col_w_128: return ImageWalk::im2col_w_128;
    }
    return ImageWalk::tiled;
}

/// im2col_w and im2col_w_128 (PTX ISA 5.5.5, 9.7.9.25.5.2): the first pixel lies outside of the box on its left side
/// only.
std::string refused_wide_place(const machine::TensorMap& map, const machine::BoxPlace& place) {
    const std::uint32_t halo = place.offsets[0], offset = place.offsets[1];
    const std::uint32_t most = map.walk == ImageWalk::im2col_w ? 511 : 31;
    if (halo > most) return fmt::format("wHalo is 0 to {} in {}, found {}", most, name(map.walk), halo);
    if (offset > 31) return fmt::format("wOffset is 0 to 31, found {}", offset);
    const std::int64_t last = static_cast<std::int64_t>(map.dims[1]) - 1 + map.upper[0];
    if (place.at[1] > last)
        return fmt::format("coordinate 1 lies at most at the bounding box's end, {}, found {}", last, place.at[1]);
    return {};
}

/// What is wrong with coordinates, as recorded on an H200, which ends such copies as illegal instructions; or nothing.
std::string refused_place(const machine::TensorMap& map, const machine::BoxPlace& place, bool stores) {
    const machine::TensorTypeTraits& type = machine::traits(map.type);
    const int unit = type.padded() ? 128 : type.bits == 4 ? 2 : 128 / type.bits;
    if (map.interleave == machine::Interleave::none && place.at[0] % unit != 0)
        return fmt::format("coordinate 0 is a multiple of {} with {}, found {}", unit, type.name, place.at[0]);
    const bool four_rows = place.mode == machine::BoxMode::four_rows, wide = map.walk > ImageWalk::im2col;
    for (std::uint32_t d = 0; stores && d < (four_rows ? 5 : map.rank); ++d)
        if (place.at[d] < 0) return fmt::format("coordinate {} of a store is not negative, found {}", d, place.at[d]);
    if (wide && !stores) return refused_wide_place(map, place);
    for (std::uint32_t i = 0; !map.tiled() && i < (wide ? 1 : map.image_dimensions()); ++i) {
        const std::uint32_t d = map.interleave == machine::Interleave::none ? i + 1 : i;
        const std::int64_t last = static_cast<std::int64_t>(map.dims[d]) - 1 + map.upper[i];
        if (place.at[d] < map.lower[i] || place.at[d] > last)
            return fmt::format("coordinate {} lies in the bounding box from {} to {}, found {}", d, map.lower[i], last,
                               place.at[d]);
        if (stores && (map.lower[i] < 0 || map.upper[i] > 0))
            return fmt::format("the bounding box of a store lies within the tensor, found corners {} and {}",
                               map.lower[i], map.upper[i]);
    }
    return {};
}

}  // namespace

bool Executor::check_row(Context& c, int lane, const BoxRow& row, Access::Kind kind) {
    return row.begin == row.end ||
           check_bytes(c, lane, {Space::global, row.global + row.begin}, row.end - row.begin, 1, kind);
}

/// Whether the instruction fits the map, and its place.
bool Executor::judge_box(Context& c, const Bulk& what, int lane, const machine::TensorMap& map,
                         const machine::BoxPlace& place) {
    const auto wrong = [&](std::string message) {
        return wrong_bulk(c, lane, FaultKind::bulk_copy, std::move(message));
    };
    const bool stores = what.destination == Space::global;
    if (map.rank != what.dimensions)
        return wrong(fmt::format("the tensor map has {} dimensions, the instruction {}", map.rank, what.dimensions));
    if (map.walk != walk_of(what.mode) &&
        !(stores && map.walk != ImageWalk::tiled && walk_of(what.mode) == ImageWalk::im2col))
        return wrong(fmt::format("the tensor map is {}, the instruction {}", name(map.walk), name(walk_of(what.mode))));
    if (what.mode == Bulk::Mode::four_rows && (map.box[1] != 1 || map.interleave != machine::Interleave::none))
        return wrong(fmt::format("four rows are copied with a map of box[1] = 1 and no interleave, found box[1] = {}{}",
                                 map.box[1], map.interleave == machine::Interleave::none ? "" : " and interleave"));
    if (what.reduces && reduced_type(map.type, what.reduction) == program::DataType::none)
        return wrong(fmt::format("this reduction takes elements of {}, found {}", reduced_type_names(what.reduction),
                                 machine::traits(map.type).name));
    if (const std::string message = refused_place(map, place, stores); !message.empty()) return wrong(message);
    // cuTensorMapEncodeTiled's list of swizzles by type and direction; the flip, PTX ISA 5.5.7.
    if (stores && map.type == machine::TensorType::u4_align16b)
        return wrong("tensors of 16u4_align16b are only loaded");
    if (!stores && map.type == machine::TensorType::u6_align16b && map.swizzle == SwizzleMode::b128_atom_64b)
        return wrong("tensors of 16u6_align16b with swizzle 128B_atom_64B are only stored");
    if (stores && map.swizzle == SwizzleMode::b128_atom_32b_flip_8b)
        return wrong("tensors with swizzle 128B_atom_32B_flip_8B are only loaded");
    return true;
}

bool Executor::prepare_box(Context& c, const Bulk& what, int lane, PendingBulk& out) {
    const bool stores = what.destination == Space::global;
    out.map = source_value(c, stores ? destination : source, lane);
    const machine::TensorMap* const map = tensor_map(c, lane, out.map);
    if (map == nullptr) return false;
    machine::BoxPlace place;
    place.mode = what.mode == Bulk::Mode::tile        ? machine::BoxMode::tile
                 : what.mode == Bulk::Mode::four_rows ? machine::BoxMode::four_rows
                                                      : machine::BoxMode::im2col;
    const int coordinates = what.mode == Bulk::Mode::four_rows ? 5 : what.dimensions;
    for (int d = 0; d < coordinates; ++d)
        place.at[static_cast<std::size_t>(d)] = static_cast<std::int32_t>(source_value(c, first_coordinate + d, lane));
    for (int i = 0; i < what.offsets; ++i)
        place.offsets[static_cast<std::size_t>(i)] =
            static_cast<std::uint32_t>(source_value(c, first_coordinate + coordinates + i, lane));
    if (!judge_box(c, what, lane, *map, place)) return false;
    if (!what.prefetch) place.shared = static_cast<std::uint32_t>(source_value(c, stores ? source : destination, lane));
    out.box.emplace(*map, place);
    out.bytes = out.box->transaction_bytes();
    out.global = map->address;
    const Access::Kind kind = !stores ? Access::Kind::read : what.reduces ? Access::Kind::atomic : Access::Kind::write;
    if (what.prefetch) return true;
    // The whole tensor in one allocation is the rule; else each row is looked up.
    const auto range = launch_.memory.find(map->address);
    if (range && (kind == Access::Kind::read || !range->read_only) && map->fits(range->end - map->address)) return true;
    machine::BoxWalk walk = *out.box;
    BoxRow row;
    while (walk.next(row))
        if (!check_row(c, lane, row, kind)) return false;
    return true;
}

}  // namespace tilepath::exec
