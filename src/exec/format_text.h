#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace tilepath::exec {

/// printf as device code has it (CUDA C++ Programming Guide, "Formatted Output"): appends to `out` and returns how many
/// arguments it took. `next(bytes)` gives the next argument of 4 or 8 bytes, `string(address)` what a `%s` points at.
int format_text(std::string_view format, const std::function<std::uint64_t(std::uint32_t)>& next,
                const std::function<std::string(std::uint64_t)>& string, std::string& out);

}  // namespace tilepath::exec
