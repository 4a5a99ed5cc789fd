#include "machine/lanes.h"

#include <fmt/format.h>

#include <bit>

namespace tilepath::machine {

std::string describe_lanes(std::uint32_t lanes) {
    std::string out;
    for (int lane = 0; lane < 32;) {
        if ((lanes >> lane & 1) == 0) {
            ++lane;
            continue;
        }
        int last = lane;
        while (last + 1 < 32 && (lanes >> (last + 1) & 1)) ++last;
        out += (out.empty() ? "" : ", ") + (last == lane ? fmt::format("{}", lane) : fmt::format("{}-{}", lane, last));
        lane = last + 1;
    }
    return (std::popcount(lanes) == 1 ? "lane " : "lanes ") + out;
}

}  // namespace tilepath::machine
