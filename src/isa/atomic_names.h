#pragma once
#include <string_view>

#include "program/op.h"

namespace tilepath::isa {

/// What `.exch`, `.cas`, `.add`, … of atom and red mean.
inline program::AtomicOp atomic_named(std::string_view word) {
    static constexpr std::string_view words[] = {"exch", "cas", "add", "inc", "dec", "min", "max", "and", "or", "xor"};
    std::uint8_t at = 0;  // in AtomicOp's order
    while (words[at] != word) ++at;
    return static_cast<program::AtomicOp>(at);
}

}  // namespace tilepath::isa
