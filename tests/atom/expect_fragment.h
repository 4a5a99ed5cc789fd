#pragma once
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "atom/fragment.h"
#include "manual_decode.h"

namespace tilepath::atom {

/// Compares a fragment with a decode for every lane, register and element, both ways, and checks that it is a
/// bijection: every element once, every field of every register filled. Element i of a lane lies in register i / slots,
/// field i % slots.
inline void expect_fragment(const Fragment& fragment, const std::string& name, int lanes,
                            const std::function<manual::At(int lane, int i)>& decode, int offset_in_field = 0) {
    SCOPED_TRACE(name + " " + fragment.operand);
    HeldElements held_by = held(fragment);
    std::vector<ElementPlace> where = places(fragment);
    ASSERT_EQ(held_by.elements.size(), where.size());
    ASSERT_EQ(static_cast<std::size_t>(lanes * held_by.registers * held_by.slots), where.size());
    std::vector<bool> seen(where.size());
    for (int lane = 0; lane < lanes; ++lane) {
        for (int i = 0; i < held_by.registers * held_by.slots; ++i) {
            manual::At at = decode(lane, i);
            ASSERT_TRUE(at.row >= 0 && at.row < fragment.rows && at.column >= 0 && at.column < fragment.columns);
            int element = (at.block * fragment.rows + at.row) * fragment.columns + at.column;
            ASSERT_EQ(held_by.at(lane, i / held_by.slots, i % held_by.slots), element)
                << "lane " << lane << " element " << i;
            ElementPlace expected{static_cast<std::uint8_t>(lane / 32), static_cast<std::uint8_t>(lane % 32),
                                  static_cast<std::uint16_t>(i / held_by.slots),
                                  static_cast<std::uint8_t>(i % held_by.slots * held_by.slot_bits + offset_in_field)};
            ASSERT_EQ(where[static_cast<std::size_t>(element)], expected) << "lane " << lane << " element " << i;
            ASSERT_FALSE(seen[static_cast<std::size_t>(element)]);
            seen[static_cast<std::size_t>(element)] = true;
        }
    }
}

}  // namespace tilepath::atom
