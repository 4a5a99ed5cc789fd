#pragma once
#include <cstdint>
#include <map>
#include <string>
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

/// What of a run is asynchronous, over time: copies from their issue to their landing or to the wait for them, wgmmas
/// to theirs, phases of mbarriers. Only of the first `most` spans.
class Timeline : public machine::Observer {
  public:
    static constexpr std::size_t most = 100'000;

    void bulk_issued(const machine::BulkCopy& event) override;
    void bulk_landed(const machine::BulkCopy& event) override;
    void copy_issued(const machine::Copy& event) override;
    void access(const machine::Access&) override { ++now_; }
    void multiply(const machine::Multiply& event) override;
    void wgmma(const machine::WgmmaEvent& event) override;
    void group(const machine::GroupEvent& event) override;
    void barrier(const machine::BarrierEvent& event) override;

    /// In order of their beginning; what has not ended ends with the run.
    std::vector<Span> spans() const;
    /// How many there were beyond `most`.
    std::uint64_t left_out() const { return left_out_; }

  private:
    static constexpr std::size_t none = ~std::size_t{0};
    using Key = std::pair<std::uint64_t, std::uint64_t>;
    std::size_t begin(const machine::EventSite& site, std::string name, std::string track, std::string detail = {});
    void end(std::size_t span) {
        if (span != none) spans_[span].end = now_;
    }
    static Key warp_of(const machine::EventSite& site) { return {site.cta, site.warp}; }

    std::vector<Span> spans_;
    std::uint64_t now_ = 0, left_out_ = 0;
    std::map<std::uint64_t, std::size_t> bulks_;  ///< by id
    std::map<std::pair<Key, int>, std::vector<std::vector<std::size_t>>>
        groups_;                         ///< by warp and engine: the last one is open
    std::map<Key, std::size_t> phases_;  ///< by CTA and mbarrier
};

}  // namespace tilepath::check
