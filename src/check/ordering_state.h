#pragma once
#include <map>
#include <memory>
#include <unordered_map>

#include "check/shadow.h"
#include "machine/events.h"

namespace tilepath::check {

/// What a release publishes through a place in memory, for whoever acquires it, in any cluster.
struct Published {
    struct Known {
        std::vector<Clock::Entry> agents;
        std::vector<LaneEpoch> lanes;  ///< without indices
    };
    Known seen, fenced_shared, fenced_global;
};
using PublishedPtr = std::shared_ptr<const Published>;

/// A warp's cp.async: batches end where a group is committed or an arrival on an mbarrier is asked for.
struct CopyGroups {
    AgentId agent = 0;  ///< 0: none yet
    std::uint32_t index = 0;
    Epoch batch = 1;
    std::uint32_t lanes = 0;  ///< that have copied
    std::array<std::uint32_t, 32> committed{};
    std::array<Epoch, 32> waited{};  ///< by lane: the batches that it knows to be complete, of its own
    std::array<Epoch, 32> told{};    ///< of these, what the whole warp knows of
    bool untold = false;             ///< the two differ
    std::vector<Epoch> last_batch;   ///< by group number
};

/// A lane's bulk copies into global memory.
struct BulkGroups {
    AgentId reads = 0, writes = 0;
    std::uint32_t reads_index = 0, writes_index = 0;
    std::uint32_t committed = 0;
    std::uint32_t last_read = 0, last_site = 0;  ///< the newest group with a copy out of shared memory; which copy
};

/// A thread's tcgen05 operations, or a warp's loads or stores of Tensor Memory.
struct TensorQueue {
    AgentId agent = 0;
    std::uint32_t index = 0;
    Epoch epoch = 1;  ///< of what is issued now: it grows with each commit or wait
};

struct WarpState {
    AgentId agent = 0;
    std::uint32_t index = 0, number = 0;  ///< of the agent in the cluster; of the warp in the CTA
    Epoch epoch = 1;
    Knowledge knows;  ///< of the warp itself: up to where its lanes have met
    /// Lanes that have learned something for themselves since, and what they know. No lane is in two.
    struct Apart {
        std::uint32_t lanes = 0;
        Knowledge knows;
    };
    std::vector<Apart> apart;
    std::uint32_t accessed = 0;  ///< lanes that have accessed memory since all met
    std::uint64_t activity = 0;  ///< what it has done so far, arrivals of the same instruction aside
    bool init_fenced = false;    ///< it has executed a fence.mbarrier_init
    /// What it knew at its last fence: what a relaxed write publishes.
    struct {
        PublishedPtr all, some;  ///< of the fence's lanes; of `some_lanes` only
        Epoch epoch = 0;
        std::uint32_t lanes = 0, accessed = 0, some_lanes = 0;
    } fenced;
    std::vector<PublishedPtr> read;  ///< by relaxed reads since its last fence: what that acquires
    CopyGroups copies;
    std::map<std::uint32_t, BulkGroups> bulks;  ///< by lane
    std::uint32_t wgmma_groups = 0;             ///< committed
    TensorQueue tcgen05, tensor_loads, tensor_stores;
    std::vector<const program::MicroOp*> loads;  ///< of Tensor Memory, that no wait has come behind
    /// A commit that has not landed: what it completes, and what was known when it was issued. What the operations
    /// before it have read has landed before them, so whoever waits for the commit knows that too.
    struct Commit {
        std::uint64_t id = 0;
        Epoch completes = 0;
        Knowledge knows;
    };
    std::vector<Commit> commits;
    Clock tensor;                ///< what its own operations on Tensor Memory come after
    bool wgmma_pending = false;  ///< one has been issued and not waited for
};

struct BarrierState {
    Knowledge pending, done;
    std::uint64_t generation = 0;
};

/// What others of the cluster have done to a CTA's shared memory: it must not end before they are known to be through.
struct Visit {
    Epoch epoch = 0;
    std::uint32_t site = 0;
};

struct MbarrierState : BarrierState {
    AgentId agent = 0;
    std::uint32_t index = 0;
    // Who has initialised it, and whether it still is.
    AgentId by = 0;
    Epoch by_epoch = 0;
    std::uint32_t by_lanes = 0;
    std::uint32_t by_site = 0;
    bool live = false;
    bool shown = false;  ///< to the async proxy, by a fence of who has initialised it
    // Of the phase that has not completed: bytes, and by which instructions.
    std::int64_t expected = 0, transferred = 0;
    std::uint32_t expect_site = 0, transfer_site = 0;
    std::vector<std::pair<AgentId, Visit>> users;  ///< who has arrived or waited last when

    void used(AgentId by_whom, Epoch epoch, std::uint32_t site) {
        for (auto& [user, visit] : users)
            if (user == by_whom) return void(visit = {epoch, site});
        users.push_back({by_whom, {epoch, site}});
    }
};

struct CtaState {
    std::uint32_t linear = 0, rank = 0;
    std::vector<Cell> cells;
    std::vector<WarpState> warps;
    std::array<BarrierState, 16> barriers;
    std::map<std::uint32_t, MbarrierState> mbarriers;      ///< by offset
    std::vector<std::pair<AgentId, std::uint32_t>> wgmma;  ///< by warpgroup: agent and its index
    std::map<AgentId, Visit> visits;
    std::vector<Cell> tensor;  ///< Tensor Memory, by columns of 128 lanes; empty: not touched
    std::map<machine::Address, std::uint64_t> acquired_maps;  ///< generic address: which edit has been acquired
};

struct ClusterState {
    explicit ClusterState(const std::vector<Agent>& all) : shadow(all), tensor_shadow(all) {}

    std::uint32_t serial = 0;
    std::vector<AgentId> agents;                  ///< by index
    std::vector<std::unique_ptr<CtaState>> ctas;  ///< by rank
    std::uint32_t ended = 0;
    BarrierState barrier;
    Clock map_released;  ///< what lies before a release of tensor maps
    Shadow shadow, tensor_shadow;
    struct {
        AgentId agent = 0;  ///< 0: something else has touched Tensor Memory since
        Epoch epoch = 0;
        std::vector<machine::TensorCells> cells;
    } last_product;
    std::unordered_map<machine::Address, std::vector<PublishedPtr>> places;  ///< by shared address
};

}  // namespace tilepath::check
