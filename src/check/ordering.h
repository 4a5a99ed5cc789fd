#pragma once
#include <map>
#include <memory>
#include <unordered_map>

#include "check/finding.h"
#include "check/ordering_state.h"
#include "check/repeated_copy.h"

namespace tilepath::check {

/// Two accesses that nothing orders, or an asynchronous operation that something does not wait for, as it was met
/// first.
struct Race {
    std::uint64_t times = 0;
    Conflict conflict;
    program::Space space{};
    machine::Address address = 0;
    Agent earlier;                   ///< the warp or engine
    std::uint32_t earlier_warp = 0;  ///< that issued what the engine did
    std::uint32_t cta = 0, warp = 0;
    Agent later;
    Stamp stamp;  ///< the later access's
    bool writes = false;
    Epoch waited = 0;                ///< earlier is a phase of an mbarrier: those that the warp has waited for
    bool other_lane_waited = false;  ///< another lane of the warp knows that the earlier one is through
};

/// Something wrong with what orders accesses, told once by instruction.
struct Misuse {
    std::string check, message, advice;
    std::vector<std::string> facts;
    std::uint32_t other_site = 0;  ///< 0: none
    std::uint64_t times = 0;
    Severity severity = Severity::finding;
};

/// Nothing is read too early, nothing is overwritten too soon: happens-before over warps, proxies and asynchronous
/// operations, by vector clocks, over shared and global memory.
///
/// A warp's lanes share a clock; they know of one another where they have met (bar.warp.sync and all that waits for
/// every lane). What some lanes have learned since they know alone, and what they tell others is what they have done
/// themselves (ordering_lanes.cpp). Each mbarrier, each warp's cp.async, each lane's bulk copies into global memory and
/// each warpgroup's wgmmas have clocks of their own, whose time are phases and groups: whoever has waited for one knows
/// it.
class Ordering : public Check {
  public:
    Ordering() : global_(agents_) { sites_.emplace_back(); }

    void access(const machine::Access& event) override;
    void copy_issued(const machine::Copy& event) override;
    void bulk_issued(const machine::BulkCopy& event) override;
    void barrier(const machine::BarrierEvent& event) override;
    void fence(const machine::Fence& event) override;
    void group(const machine::GroupEvent& event) override;
    void wgmma(const machine::WgmmaEvent& event) override;
    void tensor_map(const machine::TensorMapEvent& event) override;
    void converged(const machine::EventSite& event) override;
    void tensor_issued(const machine::TensorOperation& event) override;
    void tensor_landed(const machine::TensorOperation& event) override;
    void tensor_allocation(const machine::TensorAllocation& event) override;
    void launch_begins(const program::Function& function) override;
    void cta_begins(const machine::CtaEvent& event) override;
    void cta_ends(const machine::CtaEvent& event) override;
    std::vector<Finding> findings(const program::Programs& programs) override;

    /// Of shadow memory, at most so far: for the promise of at most 16 bytes a byte.
    std::size_t shadow_bytes() const;
    /// Of the memory that it is for.
    std::size_t followed_bytes() const { return most_followed_bytes_; }

  private:
    struct Who {
        ClusterState* cluster = nullptr;
        CtaState* cta = nullptr;
        WarpState* warp = nullptr;
    };
    Who who(const machine::EventSite& site);
    std::uint32_t site_of(const machine::EventSite& site);
    AgentId new_agent(ClusterState& cluster, const Agent& agent, std::uint32_t& index);
    void forget_launch();
    std::size_t cells() const;

    // ordering_lanes.cpp
    static void release(WarpState& warp, std::uint32_t lanes, Knowledge& to);
    static void acquire(WarpState& warp, const machine::EventSite& site, const Knowledge& from);
    static void meet(WarpState& warp, const machine::EventSite& site);
    static void add_own(const WarpState& warp, std::uint32_t lanes, Clock& to);
    static void add_copies(const WarpState& warp, std::uint32_t lanes, Clock& to);
    static const Knowledge& knowledge(const WarpState& warp, std::uint32_t lane);

    // ordering_access.cpp
    static Actor actor(const Who& who, const Knowledge& knows, std::uint32_t lanes, std::uint32_t site, bool writes);
    void touch_lanes(const Who& who, const Actor& actor, const machine::Access& event);
    void touch_shared(const Who& who, const Actor& actor, machine::Address address, std::uint32_t bytes,
                      std::uint8_t lane);
    void touch_global(machine::Address address, std::uint32_t bytes, std::uint8_t lane);
    void visit(const Who& who, CtaState& other, const Stamp& stamp);
    void note(const Who& who, const Actor& actor, program::Space space, const Shadow& shadow);
    void store_async(const Who& who, const machine::Access& event);
    // ordering_memory_order.cpp
    void order_before(const Who& who, const machine::Access& event);
    void order_after(const Who& who, const machine::Access& event);
    std::vector<PublishedPtr>& place(const Who& who, program::Space space, machine::Address address);
    PublishedPtr publish(const Who& who, std::uint32_t lanes) const;
    static PublishedPtr publish_fenced(WarpState& warp, std::uint32_t lanes);
    void learn(const Who& who, const machine::EventSite& site, const Published& published);
    void learn_read(const Who& who, const machine::EventSite& site);
    // ordering_barriers.cpp
    void at_mbarrier(const Who& who, const machine::BarrierEvent& event);
    void cluster_barrier(const Who& who, const machine::BarrierEvent& event);
    void arrive(const Who& who, const machine::BarrierEvent& event, MbarrierState& state, bool again);
    MbarrierState* find_mbarrier(const ClusterState& cluster, machine::Address address, CtaState** cta = nullptr) const;
    void check_initialised(const Who& who, const MbarrierState& state, const machine::EventSite& site);
    void check_through(const Who& who, const MbarrierState& state, const machine::EventSite& site);
    void check_bytes(const MbarrierState& state);
    void misuse(std::uint32_t site, std::uint32_t other, std::string check, std::string message,
                std::vector<std::string> facts, std::string advice, Severity severity = Severity::finding);
    // ordering_bulk.cpp
    void load_bulk(const Who& who, const machine::BulkCopy& event, std::uint32_t site);
    void store_bulk(const Who& who, const machine::BulkCopy& event, std::uint32_t site);
    BulkGroups& bulk_groups(const Who& who, std::uint32_t lane);
    void note_bulks_at_exit(const CtaState& cta);
    void touch_tensor(const machine::BulkCopy& event);
    void check_map(const Who& who, const machine::BulkCopy& event, std::uint32_t site);
    void check_written_map(const Who& who, machine::Address map, std::uint32_t site);
    // ordering_tensor.cpp
    TensorQueue& tensor_queue(const Who& who, TensorQueue& queue, Agent::Kind kind);
    void tensor_fence(const Who& who, const machine::EventSite& site);
    static bool touched_again(ClusterState& cluster, const machine::TensorOperation& event, const TensorQueue& queue);
    void touch_tensor_cells(ClusterState& cluster, CtaState& cta, const machine::TensorCells& cells);
    void touch_tensor_operands(const Who& who, const machine::TensorOperation& event, const Knowledge& knows,
                               Actor act);
    void note_early_use(const WarpState& warp, const machine::EventSite& settle);
    static void tensor_arrival(const Who& who, MbarrierState& state);
    // ordering_findings.cpp
    Finding finding_of(const program::Programs& programs, const Race& race) const;
    program::CodePlace place_of(const program::Programs& programs, std::uint32_t site) const;

    std::vector<Agent> agents_{1};
    std::vector<machine::EventSite> sites_;  ///< function and op by site; [0]: none
    std::unordered_map<const program::MicroOp*, std::uint32_t> site_numbers_;
    const program::MicroOp* last_op_ = nullptr;
    std::uint32_t last_site_ = 0;
    std::unordered_map<std::uint64_t, std::unique_ptr<ClusterState>> clusters_;
    std::vector<std::unique_ptr<ClusterState>> spare_;
    std::unordered_map<std::uint32_t, Who> ctas_;
    std::uint32_t last_cta_ = ~0u, serial_ = 0;
    Who last_;
    Shadow global_;
    ShadowPages pages_;
    std::unordered_map<machine::Address, std::vector<PublishedPtr>> places_;  ///< of global memory
    struct EditedMap {
        AgentId agent = 0;
        Epoch epoch = 0;
        std::uint32_t site = 0;
        std::uint64_t edit = 0;
        bool released = false;
    };
    std::map<machine::Address, EditedMap> maps_;  ///< by generic address
    std::uint64_t edits_ = 0;
    RepeatedCopies repeated_;  ///< stores
    struct Arrival {
        const WarpState* warp = nullptr;
        const program::MicroOp* op = nullptr;
        machine::Address barrier = 0;
        std::uint64_t activity = 0;
    } last_arrival_;
    using RaceKey = std::tuple<std::uint32_t, std::uint32_t, Disorder, bool, bool, program::Space>;
    bool told_the_other_way_round(const RaceKey& key) const;
    std::map<RaceKey, Race> races_;
    std::map<std::pair<std::uint32_t, std::string>, Misuse> misuses_;
    std::unordered_map<const program::Function*, std::uint32_t> wgmma_functions_;
    std::size_t most_shadow_bytes_ = 0, most_followed_bytes_ = 0;
};

}  // namespace tilepath::check
