#pragma once
#include "exec/alu/types.h"
#include "exec/alu/vector/lanes.h"

namespace tilepath::exec::alu::TILEPATH_ALU_TARGET {

/// Bodies that depend on a type's width alone.
struct ByWidth {
    LaneFunction w8 = nullptr, w16 = nullptr, w32 = nullptr, w64 = nullptr, w128 = nullptr;
};

TILEPATH_BODY LaneFunction pick_width(program::DataType type, const ByWidth& bodies) {
    switch (width_of(type)) {
        case 8: return bodies.w8;
        case 16: return bodies.w16;
        case 32: return bodies.w32;
        case 64: return bodies.w64;
        case 128: return bodies.w128;
        default: return nullptr;
    }
}

struct ByWidths {
    int whole, element;
    LaneFunction body;
};

template <int n>
LaneFunction pick_widths(program::DataType whole, program::DataType element, const ByWidths (&table)[n]) {
    for (const ByWidths& row : table)
        if (row.whole == width_of(whole) && row.element == width_of(element)) return row.body;
    return nullptr;
}

}  // namespace tilepath::exec::alu::TILEPATH_ALU_TARGET
