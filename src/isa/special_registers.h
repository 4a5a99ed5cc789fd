#pragma once
#include <optional>
#include <string_view>

#include "program/op.h"
#include "program/types.h"

namespace tilepath::isa {

struct SpecialRegisterTraits {
    std::string_view text;
    program::SpecialRegister id;
    int index;
    program::DataType type;
};

/// By its whole text: `%tid.x`, `%clock64`, `%envreg7`, `%pm3`.
std::optional<SpecialRegisterTraits> special_register_named(std::string_view text);

}  // namespace tilepath::isa
