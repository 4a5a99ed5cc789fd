#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "machine/events.h"

namespace tilepath::check {

/// Something that lasts, on the way from its beginning to when it is known to be over. Time counts the events of the
/// run.
struct Span {
    std::string name;   ///< what: the operation
    std::string track;  ///< on which engine or barrier of the CTA
    std::uint32_t cta = 0, warp = 0;
    std::uint64_t begin = 0, end = 0;
    std::string detail;
};

/// What of a run is asynchronous, over time, from its issue to when somebody has waited for it, or, where nobody does,
/// to its landing: copies, wgmma, operations of tcgen05, stores into a cluster's shared memory, try_cancel; and the
/// phases of mbarriers. Only of the first `most` spans.
class Timeline : public machine::Observer {
  public:
    static constexpr std::size_t most = 100'000;

    void bulk_issued(const machine::BulkCopy& event) override;
    void bulk_landed(const machine::BulkCopy& event) override;
    void copy_issued(const machine::Copy& event) override;
    void copy_landed(const machine::Copy& event) override;
    void access(const machine::Access& event) override;
    void operation(const machine::EventSite& site) override;
    void multiply(const machine::Multiply& event) override;
    void wgmma(const machine::WgmmaEvent& event) override;
    void group(const machine::GroupEvent& event) override;
    void barrier(const machine::BarrierEvent& event) override;
    void tensor_issued(const machine::TensorOperation& event) override;
    void tensor_landed(const machine::TensorOperation& event) override;
    void cta_begins(const machine::CtaEvent& event) override;
    bool wants_operations() const override { return true; }

    /// In order of their beginning; what has not ended ends with the run.
    std::vector<Span> spans() const;
    /// How many there were beyond `most`.
    std::uint64_t left_out() const { return left_out_; }

  private:
    static constexpr std::size_t none = ~std::size_t{0};
    using Spans = std::vector<std::size_t>;
    using Warp = std::pair<std::uint64_t, std::uint64_t>;
    /// Of an mbarrier: what the current phase, and those that are complete but not waited for, stand for.
    struct Phases {
        std::size_t span = none;
        Spans pending;
        std::vector<std::pair<std::uint64_t, Spans>> complete;  ///< by generation
    };
    /// One instruction's stores that count on an mbarrier when they land.
    struct Stores {
        std::size_t span = none;
        std::uint32_t left = 0;
    };

    std::size_t begin(const machine::EventSite& site, std::string name, std::string track, std::string detail = {});
    void end(std::size_t span) {
        if (span != none) spans_[span].end = now_;
    }
    void end(Spans& spans) {
        for (const std::size_t span : spans) end(span);
        spans.clear();
    }
    std::vector<Spans>& groups_of(const machine::EventSite& site, machine::GroupEvent::Engine engine);
    Phases& phases_of(const machine::EventSite& site, machine::Address mbarrier);
    static Warp warp_of(const machine::EventSite& site) { return {site.cta, site.warp}; }

    std::vector<Span> spans_;
    std::uint64_t now_ = 0, left_out_ = 0;
    std::map<std::uint64_t, std::size_t> bulks_, copies_, tensors_;  ///< by id, until they land
    std::map<std::pair<Warp, int>, std::vector<Spans>> groups_;      ///< by warp and engine: the last one is open
    std::map<std::pair<Warp, bool>, Spans> transfers_;               ///< of Tensor Memory, by warp; true: stores
    std::map<Warp, Spans> uncommitted_;                              ///< of tcgen05, by warp
    std::map<std::pair<Warp, const program::MicroOp*>, std::deque<Stores>> stores_;
    std::map<std::tuple<std::uint64_t, std::uint32_t, std::uint32_t>, Phases> phases_;  ///< by cluster, rank, offset
    std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint32_t> cta_of_;           ///< by cluster and rank
    std::uint32_t ctas_per_cluster_ = 1;
};

}  // namespace tilepath::check
