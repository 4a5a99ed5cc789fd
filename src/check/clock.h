#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace tilepath::check {

/// Who does things in an order of its own: a warp, or something asynchronous whose operations are complete up to a
/// number: the phases of an mbarrier, the groups of a copy engine. One number for the whole run.
using AgentId = std::uint32_t;
using Epoch = std::uint32_t;  ///< an agent's time; 0: nothing has happened yet

struct Agent {
    enum class Kind : std::uint8_t {
        warp,
        mbarrier,
        cp_async,
        bulk_reads,
        bulk_writes,
        wgmma,
        tcgen05,  ///< a thread's multiplies, copies and shifts
        tensor_loads,
        tensor_stores
    };
    Kind kind = Kind::warp;
    std::uint8_t lane = 0;      ///< bulk
    std::uint32_t cluster = 0;  ///< serial number of the cluster it lives in
    std::uint32_t index = 0;    ///< within the cluster
    std::uint32_t cta = 0;      ///< linear
    std::uint32_t number = 0;   ///< warp; of an mbarrier its shared address; of wgmma its first warp
};

/// How far the doings of some lanes of a warp are known, beyond what is known of all of it. The agent is the warp, or
/// its cp.async.
struct LaneEpoch {
    static constexpr std::uint32_t foreign = ~0u;

    AgentId agent = 0;
    std::uint32_t index = foreign;  ///< of the agent in the clock's cluster
    std::uint32_t lanes = 0;        ///< mask
    Epoch epoch = 0;
};

/// A vector clock: how far each agent's doings are known. Those of the own cluster by index, others, which only global
/// memory can tell of, by agent.
class Clock {
  public:
    static constexpr std::uint32_t all_lanes = ~0u;

    Epoch of(std::uint32_t index) const { return index < local_.size() ? local_[index] : 0; }
    Epoch of_foreign(AgentId agent) const {
        const auto at = std::ranges::lower_bound(foreign_, agent, {}, &Entry::first);
        return at != foreign_.end() && at->first == agent ? at->second : 0;
    }
    void raise(std::uint32_t index, Epoch epoch) {
        if (index >= local_.size()) local_.resize(index + 1);
        local_[index] = std::max(local_[index], epoch);
    }
    void raise_foreign(AgentId agent, Epoch epoch) {
        const auto at = std::ranges::lower_bound(foreign_, agent, {}, &Entry::first);
        if (at != foreign_.end() && at->first == agent)
            at->second = std::max(at->second, epoch);
        else
            foreign_.insert(at, {agent, epoch});
    }
    /// Of these lanes only.
    void raise_lanes(const LaneEpoch& of);
    /// The lanes of a warp whose doings are known up to `epoch`, where those of the whole warp are not.
    std::uint32_t lanes_of(AgentId agent, Epoch epoch) const {
        std::uint32_t out = 0;
        for (const LaneEpoch& each : lanes_)
            if (each.agent == agent && each.epoch >= epoch) out |= each.lanes;
        return out;
    }
    /// Of the same cluster.
    void join(const Clock& other) {
        if (local_.size() < other.local_.size()) local_.resize(other.local_.size());
        for (std::size_t i = 0; i < other.local_.size(); ++i) local_[i] = std::max(local_[i], other.local_[i]);
        for (const Entry& each : other.foreign_) raise_foreign(each.first, each.second);
        if (!lanes_.empty()) forget_known_lanes();
        for (const LaneEpoch& each : other.lanes_) raise_lanes(each);
    }
    void clear() { local_.clear(), foreign_.clear(), lanes_.clear(); }

    using Entry = std::pair<AgentId, Epoch>;
    const std::vector<Epoch>& local() const { return local_; }
    const std::vector<Entry>& foreign() const { return foreign_; }
    const std::vector<LaneEpoch>& lanes() const { return lanes_; }

  private:
    bool knows(const LaneEpoch& of) const {
        return (of.index == LaneEpoch::foreign ? of_foreign(of.agent) : this->of(of.index)) >= of.epoch;
    }
    void forget_known_lanes() {
        std::erase_if(lanes_, [&](const LaneEpoch& each) { return knows(each); });
    }

    std::vector<Epoch> local_;
    std::vector<Entry> foreign_;    ///< ascending
    std::vector<LaneEpoch> lanes_;  ///< of one agent no lane twice; nearly always empty
};

inline void Clock::raise_lanes(const LaneEpoch& of) {
    if (knows(of)) return;
    LaneEpoch fresh = of;
    if (of.lanes == all_lanes)
        std::erase_if(lanes_, [&](const LaneEpoch& each) { return each.agent == of.agent && each.epoch <= of.epoch; });
    for (LaneEpoch& each : lanes_) {
        if (each.agent != of.agent || of.lanes == all_lanes) continue;
        if (each.epoch == of.epoch)
            fresh.lanes |= each.lanes;
        else if (each.epoch > of.epoch)
            fresh.lanes &= ~each.lanes;
        if (each.epoch <= of.epoch) each.lanes &= ~fresh.lanes;
    }
    std::erase_if(lanes_, [](const LaneEpoch& each) { return each.lanes == 0; });
    if (fresh.lanes == all_lanes && fresh.index != LaneEpoch::foreign)
        raise(fresh.index, fresh.epoch);
    else if (fresh.lanes == all_lanes)
        raise_foreign(fresh.agent, fresh.epoch);
    else if (fresh.lanes != 0)
        lanes_.push_back(fresh);
}

/// What an agent knows; what of it a proxy fence lies behind: that much the async proxy sees too; and what of it lies
/// before a tcgen05.fence::before_thread_sync.
struct Knowledge {
    Clock seen, fenced_shared, fenced_global, tensor;

    void join(const Knowledge& other) {
        seen.join(other.seen);
        fenced_shared.join(other.fenced_shared);
        fenced_global.join(other.fenced_global);
        tensor.join(other.tensor);
    }
};

}  // namespace tilepath::check
