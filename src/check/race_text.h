#pragma once
#include <string>
#include <string_view>

#include "check/ordering.h"

namespace tilepath::check {

/// What a race is: the check that it is a finding of, the message, and what would order the two.
struct RaceText {
    std::string_view check, message, advice;
};
RaceText text_of(const Race& race);

/// `CTA 0, warp 1, lane 3 writes`; of a copy counted on an mbarrier with `{}` for the phase.
std::string who_text(const Agent& agent, std::uint32_t warp, std::uint8_t lane, bool wrote);

/// `both at 0x400 of shared`.
std::string place_text(const Race& race);

}  // namespace tilepath::check
