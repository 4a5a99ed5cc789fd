#pragma once
#include "check/per_instruction.h"
#include "check/sectors.h"

namespace tilepath::check {

/// Global memory coalesces: per instruction, the sectors and lines that its warps touch against the fewest that could
/// hold the bytes they ask for.
class Coalescing : public Check {
  public:
    /// Findings are instructions whose sectors exceed the fewest by this factor.
    static constexpr double threshold = 1.25;

    void access(const machine::Access& event) override;
    void copy_issued(const machine::Copy& event) override;
    void bulk_issued(const machine::BulkCopy& event) override;
    std::vector<Finding> findings(const program::Program& program) override;

    struct Tally {
        const program::Function* function = nullptr;
        std::uint64_t times = 0, sectors = 0, lines = 0, fewest_sectors = 0, fewest_lines = 0;
        std::uint32_t worst_excess = 0;  ///< sectors of `worst` above its fewest
        WarpAccess worst;
    };

    /// Of an instruction that copies boxes of tensors.
    struct BoxTally {
        const program::Function* function = nullptr;
        std::uint64_t times = 0;
        SectorCount all, worst;
        std::uint32_t row_bytes = 0, rows = 0;   ///< of the worst: what a row has within the tensor
        machine::Address first = 0, second = 0;  ///< where its first two rows begin
    };

  private:
    std::vector<Finding> box_findings(const program::Program& program) const;
    void add(const machine::EventSite& site, const WarpAccess& access);

    PerInstruction<Tally> tallies_;
    PerInstruction<BoxTally> boxes_;
    CopyGatherer copies_;
};

}  // namespace tilepath::check
