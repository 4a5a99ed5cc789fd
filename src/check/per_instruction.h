#pragma once
#include <map>

#include "check/finding.h"

namespace tilepath::check {

/// What a check counts of each instruction. A Tally has `function`, which is filled in here.
template <class Tally>
class PerInstruction {
  public:
    Tally& of(const machine::EventSite& site) {
        if (site.op != last_op_) {
            last_op_ = site.op;
            last_ = &tallies_[site.op];
            last_->function = site.function;
        }
        return *last_;
    }
    auto begin() const { return tallies_.begin(); }
    auto end() const { return tallies_.end(); }

  private:
    std::map<const program::MicroOp*, Tally> tallies_;
    const program::MicroOp* last_op_ = nullptr;
    Tally* last_ = nullptr;
};

}  // namespace tilepath::check
