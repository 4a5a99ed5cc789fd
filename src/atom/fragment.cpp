#include "atom/fragment.h"

#include <algorithm>

#include "base/assert.h"
#include "layout/table.h"

namespace tilepath::atom {
namespace {

using layout::Axis;

layout::Table table_of(const Fragment& fragment) {
    Result<layout::Table> table = layout::Table::of(fragment.layout);
    TILEPATH_ASSERT(table, "a fragment too large to enumerate");
    TILEPATH_ASSERT(table->elements() == fragment.elements(), "a fragment whose layout has another size");
    return *std::move(table);
}

ElementPlace place_in(const layout::Table& table, std::int64_t element, std::int64_t replica) {
    return {static_cast<std::uint8_t>(table.at(Axis::wid_in_wg, element, replica)),
            static_cast<std::uint8_t>(table.at(Axis::laneid, element, replica)),
            static_cast<std::uint16_t>(table.at(Axis::reg, element, replica)),
            static_cast<std::uint8_t>(table.at(Axis::bit, element, replica))};
}

/// The distance of two fields in a register: more than an element's width for 6- and 4-bit floats in bytes.
int slot_pitch(const Fragment& fragment) {
    std::int64_t pitch = fragment.register_bits;
    bool shared = false;
    for (const layout::Iter& iter : fragment.layout.digits()) {
        if (iter.axis != Axis::bit || iter.extent == 1) continue;
        pitch = std::min(pitch, iter.stride);
        shared = true;
    }
    return shared ? static_cast<int>(pitch) : fragment.element_bits;
}

}  // namespace

std::vector<ElementPlace> places(const Fragment& fragment, int copy) {
    TILEPATH_ASSERT(copy >= 0 && copy < fragment.copies(), "a copy that the fragment does not have");
    layout::Table table = table_of(fragment);
    std::vector<ElementPlace> all;
    all.reserve(static_cast<std::size_t>(table.elements()));
    for (std::int64_t element = 0; element < table.elements(); ++element) all.push_back(place_in(table, element, copy));
    return all;
}

HeldElements held(const Fragment& fragment) {
    layout::Table table = table_of(fragment);
    HeldElements all;
    all.registers = fragment.registers;
    all.slot_bits = slot_pitch(fragment);
    all.slots = fragment.register_bits / all.slot_bits;
    std::int64_t warps = 1;
    for (std::int64_t warp : table.column(Axis::wid_in_wg)) warps = std::max(warps, warp + 1);
    all.elements.assign(static_cast<std::size_t>(warps * 32 * all.registers * all.slots), -1);
    for (std::int64_t element = 0; element < table.elements(); ++element) {
        for (std::int64_t replica = 0; replica < table.replicas(); ++replica) {
            ElementPlace at = place_in(table, element, replica);
            int slot = ((at.warp * 32 + at.lane) * all.registers + at.reg) * all.slots + at.bit / all.slot_bits;
            all.elements[static_cast<std::size_t>(slot)] = static_cast<std::int32_t>(element);
        }
    }
    return all;
}

}  // namespace tilepath::atom
