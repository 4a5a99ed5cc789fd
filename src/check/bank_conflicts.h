#pragma once
#include <bitset>

#include "check/per_instruction.h"

namespace tilepath::check {

/// Wavefronts that a warp's access of shared memory takes, and that it would take if no two words met in a bank: the
/// model of layout/bank.h, phases by width, broadcasts free.
struct Wavefronts {
    std::uint32_t taken = 0, ideal = 0;
};
Wavefronts count_wavefronts(const WarpAccess& access);

/// Shared memory has no bank conflicts: per instruction, the wavefronts of its warps against the ideal, and a swizzle
/// of the buffer under which all accesses that meet there would be free of conflicts.
class BankConflicts : public WarpAccessCheck {
  public:
    BankConflicts() : WarpAccessCheck(false) {}

    /// Findings are instructions whose wavefronts exceed the ideal by this factor.
    static constexpr double threshold = 1.25;

    std::vector<Finding> findings(const program::Programs& programs) override;

    struct Tally : InstructionTally {
        std::uint64_t wavefronts = 0, ideal = 0;
        std::uint32_t worst_excess = 0;
        WarpAccess worst;
        std::vector<WarpAccess> samples;  ///< the worst and a few others, for the swizzle
        std::bitset<2048> lines;          ///< of 128 bytes that it touches, of one CTA's shared memory
    };

  private:
    bool concerns(program::Space space) const override;
    void add(const machine::EventSite& site, const WarpAccess& access) override;

    PerInstruction<Tally> tallies_;
};

}  // namespace tilepath::check
