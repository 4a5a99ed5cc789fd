#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "machine/address_map.h"

namespace tilepath::machine {

/// When an asynchronous operation lands within its legal window.
enum class CopyPolicy : std::uint8_t {
    eager,  ///< at issue
    late,   ///< when something that must see it is executed, or when nothing else can run
    random  ///< at any time between, by the seed
};

/// One lane's cp.async, or its cp.async.mbarrier.arrive, on the way.
struct PendingCopy {
    std::uint64_t id = 0;
    const void *instruction = nullptr, *function = nullptr;  ///< whoever issued it knows what these are
    std::uint8_t* destination = nullptr;
    const std::uint8_t* source = nullptr;
    Address destination_address = 0, source_address = 0;
    std::uint64_t group = 0;  ///< the lane's commit group
    std::uint8_t lane = 0;
    std::uint8_t bytes = 0, source_bytes = 0;
    bool arrival =
        false;  ///< not a copy: arrives on the mbarrier at `destination` once the lane's earlier copies have landed
};

/// The cp.async engine of one warp: what its lanes have issued and what has not landed yet.
class AsyncCopies {
  public:
    bool empty() const { return pending_.empty(); }
    void clear() {
        if (!used_) return;
        pending_.clear();
        committed_.fill(0);
        used_ = false;
    }
    std::size_t size() const { return pending_.size(); }

    /// Adds to the lane's open group.
    void issue(PendingCopy copy) {
        used_ = true;
        copy.group = committed_[copy.lane];
        pending_.push_back(copy);
    }
    void commit(std::uint32_t lanes) {
        used_ = true;
        for (int lane = 0; lane < 32; ++lane) committed_[lane] += lanes >> lane & 1;
    }

    /// Lands what must have landed once all but the newest `keep` groups of these lanes are complete, in order of
    /// issue. `land(const PendingCopy&)` does it.
    template <class Land>
    void wait_groups(std::uint32_t lanes, std::uint64_t keep, Land land) {
        land_if(
            [&](const PendingCopy& copy) {
                return (lanes >> copy.lane & 1) && copy.group + keep < committed_[copy.lane];
            },
            land);
    }
    /// wait_all: the open group too.
    template <class Land>
    void wait_all(std::uint32_t lanes, Land land) {
        land_if([&](const PendingCopy& copy) { return (lanes >> copy.lane & 1) != 0; }, land);
    }
    /// Lands every copy that `choose(copy)` picks, and arrivals that no copy holds back any more.
    template <class Choose, class Land>
    void land_if(Choose choose, Land land) {
        std::uint32_t held_back = 0;  // lanes with an earlier copy that stays pending
        std::size_t kept = 0;
        for (std::size_t i = 0; i < pending_.size(); ++i) {
            const PendingCopy copy = pending_[i];
            const std::uint32_t lane = 1u << copy.lane;
            const bool lands = copy.arrival ? (held_back & lane) == 0 : choose(copy);
            if (lands) {
                land(copy);
                continue;
            }
            if (!copy.arrival) held_back |= lane;
            pending_[kept++] = copy;
        }
        pending_.resize(kept);
    }

  private:
    std::vector<PendingCopy> pending_;
    std::array<std::uint64_t, 32> committed_{};
    bool used_ = false;
};

}  // namespace tilepath::machine
