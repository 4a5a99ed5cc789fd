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

/// A vector clock: how far each agent's doings are known. Those of the own cluster by index, others, which only global
/// memory can tell of, by agent.
class Clock {
  public:
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
    /// Of the same cluster.
    void join(const Clock& other) {
        if (local_.size() < other.local_.size()) local_.resize(other.local_.size());
        for (std::size_t i = 0; i < other.local_.size(); ++i) local_[i] = std::max(local_[i], other.local_[i]);
        for (const Entry& each : other.foreign_) raise_foreign(each.first, each.second);
    }
    void clear() { local_.clear(), foreign_.clear(); }

    using Entry = std::pair<AgentId, Epoch>;
    const std::vector<Epoch>& local() const { return local_; }
    const std::vector<Entry>& foreign() const { return foreign_; }

  private:
    std::vector<Epoch> local_;
    std::vector<Entry> foreign_;  ///< ascending
};

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
