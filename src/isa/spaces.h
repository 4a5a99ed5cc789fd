#pragma once
#include <string_view>

#include "program/types.h"

namespace tilepath::isa {

/// The space that a modifier of ld, st, atom, … names; generic for "".
inline program::Space space_named(std::string_view word) {
    using program::Space;
    if (word.starts_with("shared")) return word == "shared::cluster" ? Space::shared_cluster : Space::shared;
    if (word == "global") return Space::global;
    if (word == "local") return Space::local;
    if (word.starts_with("param")) return Space::param;
    if (word == "const") return Space::constant;
    return Space::generic;
}

}  // namespace tilepath::isa
