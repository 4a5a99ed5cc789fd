#pragma once
#include <deque>
#include <string>
#include <unordered_map>

#include "check/finding.h"

namespace tilepath::check {

/// What every check keeps of an instruction.
struct InstructionTally {
    const program::Function* function = nullptr;
    std::uint64_t times = 0;
};

/// A check's finding at an instruction, still without what is wrong and what it costs.
inline Finding finding_at(std::string check, const program::Programs& programs, const program::MicroOp* op,
                          const InstructionTally& tally) {
    Finding finding;
    finding.check = std::move(check);
    finding.place = program::code_place(programs, *tally.function, op);
    finding.times = tally.times;
    return finding;
}

/// What a check counts of each instruction, in the order in which they were first executed. A Tally is an
/// InstructionTally, whose `function` is filled in here.
template <class Tally>
class PerInstruction {
  public:
    Tally& of(const machine::EventSite& site) {
        if (site.op != last_op_) {
            const auto [at, fresh] = index_.try_emplace(site.op, tallies_.size());
            if (fresh) tallies_.emplace_back(site.op, Tally{});
            last_op_ = site.op;
            last_ = &tallies_[at->second].second;
            last_->function = site.function;
        }
        return *last_;
    }
    auto begin() const { return tallies_.begin(); }
    auto end() const { return tallies_.end(); }

  private:
    std::deque<std::pair<const program::MicroOp*, Tally>> tallies_;
    std::unordered_map<const program::MicroOp*, std::size_t> index_;
    const program::MicroOp* last_op_ = nullptr;
    Tally* last_ = nullptr;
};

/// A check of how the lanes of each access of one memory lie to each other. A cp.async is an access of its source and
/// of its destination.
class WarpAccessCheck : public Check {
  public:
    void access(const machine::Access& event) final {
        if (concerns(event.space)) add(event.site, WarpAccess::of(event));
    }
    void copy_issued(const machine::Copy& event) final {
        if (const auto whole = copies_.add(event, of_sources_)) add(whole->first, whole->second);
    }

  protected:
    /// `of_sources`: what a cp.async reads is looked at, else what it writes.
    explicit WarpAccessCheck(bool of_sources) : of_sources_(of_sources) {}
    virtual bool concerns(program::Space space) const = 0;
    virtual void add(const machine::EventSite& site, const WarpAccess& access) = 0;
    /// Call before the findings: the last cp.async is known to be whole when nothing comes after it.
    void end_copies() {
        if (const auto whole = copies_.take()) add(whole->first, whole->second);
    }

  private:
    bool of_sources_;
    CopyGatherer copies_;
};

}  // namespace tilepath::check
