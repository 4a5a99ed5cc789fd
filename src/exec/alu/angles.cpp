#include "exec/alu/angles.h"

#include <bit>
#include <cmath>

namespace tilepath::exec::alu {

float large_angle(std::uint32_t angle, bool cosine) {
    const double x = std::bit_cast<float>(angle);
    return float(cosine ? std::cos(x) : std::sin(x));
}

}  // namespace tilepath::exec::alu
