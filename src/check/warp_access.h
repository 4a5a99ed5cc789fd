#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "machine/events.h"

namespace tilepath::check {

/// A warp's access, kept: which lanes, how many bytes each, from where.
struct WarpAccess {
    std::array<machine::Address, 32> addresses{};
    std::uint32_t lanes = 0;
    std::uint32_t bytes = 0;  ///< per lane
    std::uint32_t cta = 0, warp = 0;

    static WarpAccess of(const machine::Access& event);
    /// All 32 lanes, one behind the other.
    bool consecutive() const;
    /// Bytes from each active lane to the next, if that is the same everywhere and there are at least two.
    std::optional<std::int64_t> stride() const;
};

/// `lanes 0-31, 4 bytes each, 512 bytes apart from 0x…`, or the first few addresses.
std::string describe(const WarpAccess& access);

/// Gathers the lanes' cp.async of one execution, which come one by one.
class CopyGatherer {
  public:
    /// Gives what came before if `event` begins another execution. `from_source`: addresses in global memory, else in
    /// shared memory.
    std::optional<std::pair<machine::EventSite, WarpAccess>> add(const machine::Copy& event, bool from_source);
    std::optional<std::pair<machine::EventSite, WarpAccess>> take();

  private:
    machine::EventSite site_;
    WarpAccess access_;
    std::uint32_t last_lane_ = 0;
};

}  // namespace tilepath::check
