#pragma once
#include <cstdint>

namespace tilepath::exec::alu {

/// The sine or cosine of an f32 angle in radians of any magnitude; NaN for infinities and NaN.
float large_angle(std::uint32_t angle, bool cosine);

}  // namespace tilepath::exec::alu
