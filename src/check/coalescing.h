#pragma once
#include "check/per_instruction.h"
#include "check/repeated_copy.h"
#include "check/sectors.h"

namespace tilepath::check {

/// Global memory coalesces: per instruction, the sectors and lines that its warps touch against the fewest that could
/// hold the bytes they ask for.
class Coalescing : public WarpAccessCheck {
  public:
    Coalescing() : WarpAccessCheck(true) {}

    /// Findings are instructions whose sectors exceed the fewest by this factor.
    static constexpr double threshold = 1.25;

    void bulk_issued(const machine::BulkCopy& event) override;
    std::vector<Finding> findings(const program::Programs& programs) override;

    struct Tally : InstructionTally {
        std::uint64_t sectors = 0, lines = 0, fewest_sectors = 0, fewest_lines = 0;
        std::uint32_t worst_excess = 0;  ///< sectors of `worst` above its fewest
        WarpAccess worst;
    };

    /// Of an instruction that copies boxes of tensors.
    struct BoxTally : InstructionTally {
        SectorCount all, worst;
        std::uint32_t row_bytes = 0, rows = 0;   ///< of the worst: what a row has within the tensor
        machine::Address first = 0, second = 0;  ///< where its first two rows begin
        std::uint64_t repeated = 0;              ///< copies that a lower lane has issued already
    };

  private:
    std::vector<Finding> box_findings(const program::Programs& programs) const;
    bool concerns(program::Space space) const override;
    void add(const machine::EventSite& site, const WarpAccess& access) override;

    PerInstruction<Tally> tallies_;
    PerInstruction<BoxTally> boxes_;
    RepeatedCopies repeated_;
};

}  // namespace tilepath::check
