#pragma once
#include <cstdint>
#include <string>

namespace tilepath::machine {

/// `lane 5`, `lanes 0-15, 31`.
std::string describe_lanes(std::uint32_t lanes);

}  // namespace tilepath::machine
