// The names of special registers (PTX ISA 10); their list is special_registers.inc.
#pragma once
#include <optional>
#include <span>
#include <string_view>

namespace tilepath::ptx {

/// The row of special_registers.inc that a name (`%tid`, `%envreg31`, `%pm0_64`, …) belongs to, and its number there.
struct SpecialRegisterName {
    std::size_t row = 0;
    unsigned number = 0;
};
std::optional<SpecialRegisterName> special_register_named(std::string_view name);

/// Those that are not numbered, for suggestions.
std::span<const std::string_view> special_registers();

}  // namespace tilepath::ptx
