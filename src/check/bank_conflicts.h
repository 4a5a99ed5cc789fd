#pragma once
#include <bitset>

#include "check/per_instruction.h"
#include "check/warp_access.h"

namespace tilepath::check {

/// Wavefronts that a warp's access of shared memory takes, and that it would take if no two words met in a bank: the
/// model of layout/bank.h, phases by width, broadcasts free.
struct Wavefronts {
    std::uint32_t taken = 0, ideal = 0;
};
Wavefronts count_wavefronts(const WarpAccess& access);

/// Shared memory has no bank conflicts: per instruction, the wavefronts of its warps against the ideal, and a swizzle
/// of the buffer under which all accesses that meet there would be free of conflicts.
class BankConflicts : public Check {
  public:
    /// Findings are instructions whose wavefronts exceed the ideal by this factor.
    static constexpr double threshold = 1.25;

    void access(const machine::Access& event) override;
    void copy_issued(const machine::Copy& event) override;
    std::vector<Finding> findings(const program::Program& program) override;

    struct Tally {
        const program::Function* function = nullptr;
        std::uint64_t times = 0, wavefronts = 0, ideal = 0;
        std::uint32_t worst_excess = 0;
        WarpAccess worst;
        std::vector<WarpAccess> samples;  ///< the worst and a few others, for the swizzle
        std::bitset<2048> lines;          ///< of 128 bytes that it touches, of one CTA's shared memory
    };

  private:
    void add(const machine::EventSite& site, const WarpAccess& access);

    PerInstruction<Tally> tallies_;
    CopyGatherer copies_;
};

}  // namespace tilepath::check
