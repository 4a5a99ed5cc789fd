// Any parameters of a tensor map, and any 128 bytes as one: what the rules allow is encoded without loss, and its boxes
// are walked to their end within what they say they take.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/assert.h"
#include "machine/tma.h"

using namespace tilepath;
using machine::TensorMap;

namespace {

/// Numbers out of the bytes; zeros behind their end.
struct Numbers {
    const std::uint8_t* data;
    std::size_t left;
    template <class T>
    T next() {
        T value{};
        const std::size_t taken = std::min(left, sizeof value);
        if (taken != 0) std::memcpy(&value, data, taken);
        data += taken, left -= taken;
        return value;
    }
};

TensorMap read(Numbers& in) {
    TensorMap map;
    map.type = static_cast<machine::TensorType>(in.next<std::uint8_t>() % 16);
    map.walk = static_cast<machine::ImageWalk>(in.next<std::uint8_t>() % 4);
    map.interleave = static_cast<machine::Interleave>(in.next<std::uint8_t>() % 3);
    const auto modes = layout::all_swizzle_modes();
    map.swizzle = modes[in.next<std::uint8_t>() % modes.size()].mode;
    map.nan_fill = in.next<std::uint8_t>() & 1;
    map.rank = in.next<std::uint8_t>() % 8;
    map.address = in.next<std::uint64_t>();
    for (auto& each : map.dims) each = in.next<std::uint8_t>() & 1 ? in.next<std::uint64_t>() : in.next<std::uint8_t>();
    for (auto& each : map.strides)
        each = in.next<std::uint8_t>() & 1 ? in.next<std::uint64_t>() : in.next<std::uint16_t>() * 16u;
    for (auto& each : map.box) each = in.next<std::uint16_t>();
    for (auto& each : map.element_strides) each = in.next<std::uint8_t>();
    for (auto& each : map.lower) each = in.next<std::int16_t>();
    for (auto& each : map.upper) each = in.next<std::int16_t>();
    map.channels_per_pixel = in.next<std::uint16_t>(), map.pixels_per_column = in.next<std::uint16_t>();
    // What a map of its rank and mode has not is as it is in every such map.
    const TensorMap none;
    for (std::uint32_t d = map.rank; d < map.dims.size(); ++d)
        map.dims[d] = none.dims[d], map.box[d] = none.box[d], map.element_strides[d] = none.element_strides[d];
    for (std::uint32_t d = map.rank == 0 ? 0 : map.rank - 1; d < map.strides.size(); ++d) map.strides[d] = 0;
    const std::uint32_t corners = map.tiled() ? 0 : map.walk == machine::ImageWalk::im2col ? map.image_dimensions() : 1;
    for (std::uint32_t i = corners; i < map.lower.size(); ++i) map.lower[i] = map.upper[i] = 0;
    if (map.tiled())
        map.channels_per_pixel = map.pixels_per_column = 1;
    else
        map.box = none.box;
    return map;
}

void walk(const TensorMap& map, Numbers& in) {
    machine::BoxPlace place;
    place.mode = !map.tiled()                                                        ? machine::BoxMode::im2col
                 : map.rank == 2 && map.box[1] == 1 && (in.next<std::uint8_t>() & 1) ? machine::BoxMode::four_rows
                                                                                     : machine::BoxMode::tile;
    if (place.mode == machine::BoxMode::four_rows && map.interleave != machine::Interleave::none) return;
    for (auto& each : place.at) each = in.next<std::int32_t>();
    for (auto& each : place.offsets) each = in.next<std::uint16_t>();
    machine::BoxWalk rows(map, place);
    const std::uint32_t count = rows.rows(), taken = rows.shared_bytes();
    machine::BoxRow row;
    std::uint32_t seen = 0;
    for (; rows.next(row); ++seen) {
        TILEPATH_ASSERT(row.begin <= row.end && row.end <= rows.row_bytes(), "what a row has lies in it");
        TILEPATH_ASSERT(row.stored_end >= row.end && row.stored_end <= rows.row_bytes() + 16, "and what it stores");
        TILEPATH_ASSERT(row.shared + rows.pitch() <= taken, "a row lies in the box's shared memory");
        TILEPATH_ASSERT(seen < count, "no more rows than it says");
    }
    TILEPATH_ASSERT(seen == count, "as many rows as it says");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Numbers in{data, size};
    const int sm = in.next<std::uint8_t>() & 1 ? 100 : 90;
    const TensorMap map = read(in);
    const Diagnostics broken = machine::broken_rules(map, sm);
    for (const Diagnostic& each : broken) TILEPATH_ASSERT(!each.message.empty(), "a broken rule has a name");
    const auto bytes = machine::encode(map);
    if (broken.empty()) {
        const auto again = machine::decode(bytes);
        TILEPATH_ASSERT(again && *again == map, "a map that breaks no rule is encoded without loss");
        walk(map, in);
    }
    // The kernel's own bytes behind the mark of an encoded map.
    std::array<std::uint8_t, TensorMap::bytes> changed = bytes;
    while (in.left >= 2) changed[8 + in.next<std::uint8_t>() % 120] = in.next<std::uint8_t>();
    if (const auto found = machine::decode(changed)) {
        if (machine::broken_rules(*found, sm).empty()) walk(*found, in);
        found->fits(1u << 20);
    }
    return 0;
}
