#pragma once
#include <cstdint>
#include <optional>

#include "machine/events.h"
#include "machine/tma.h"

namespace tilepath::check {

/// Recognises bulk copies that several lanes of a warp issue in one execution of an instruction, each the same bytes
/// from the same place to the same place. The hardware carries out each of them: recorded on an H200, whose `cp.reduce`
/// by 32 lanes adds 32 times. Copies that move the same bytes do not disturb one another.
class RepeatedCopies {
  public:
    /// Whether a lower lane has just issued the same copy. To be asked of each bulk copy in turn.
    bool repeats(const machine::BulkCopy& event) {
        const machine::EventSite& site = event.site;
        const bool same = site.op == last_.site.op && site.cta == last_.site.cta && site.warp == last_.site.warp &&
                          event.lane > last_.lane && event.source == last_.source &&
                          event.destination == last_.destination && event.bytes == last_.bytes &&
                          event.map == last_.map && (event.box == nullptr || same_box(event.box->place(), place_));
        last_ = event;
        if (event.box != nullptr) place_ = event.box->place();
        return same;
    }

  private:
    static bool same_box(const machine::BoxPlace& a, const machine::BoxPlace& b) {
        return a.mode == b.mode && a.at == b.at && a.offsets == b.offsets && a.shared == b.shared;
    }

    machine::BulkCopy last_;  ///< its box may be gone
    machine::BoxPlace place_;
};

}  // namespace tilepath::check
