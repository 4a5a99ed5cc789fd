// The predefined registers (PTX ISA 10).
#pragma once
#include <span>
#include <string_view>

namespace tilepath::ptx {

/// Whether `name` (`%tid`, `%envreg31`, `%pm0_64`, …) is predefined.
bool is_special_register(std::string_view name);

/// Those that are not numbered, for suggestions.
std::span<const std::string_view> special_registers();

}  // namespace tilepath::ptx
