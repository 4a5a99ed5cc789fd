#pragma once
#include <optional>
#include <string_view>

#include "isa/form.h"
#include "program/op.h"

namespace tilepath::isa {

struct SpecialRegisterTraits {
    program::SpecialRegister id;
    int index;    ///< among those of its id: number or component
    bool vector;  ///< it needs a component
    DataType type;
    Needs needs;
};

/// `%clock64`, `%envreg7`, `%pm3`; of a vector, `%tid`, the first component.
std::optional<SpecialRegisterTraits> special_register_traits(std::string_view name);

}  // namespace tilepath::isa
