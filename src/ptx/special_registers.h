// The predefined registers (PTX ISA 10).
#pragma once
#include <string_view>

namespace tilepath::ptx {

/// Whether `name` (`%tid`, `%envreg31`, `%pm0_64`, …) is predefined.
bool is_special_register(std::string_view name);

}  // namespace tilepath::ptx
