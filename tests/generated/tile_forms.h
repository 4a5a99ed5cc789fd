#pragma once
// Instructions of the asynchronous engines, of clusters and of Tensor Memory, whose operands a generator has to choose.
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "generated/choices.h"
#include "isa/instances.h"

namespace tilepath::generated {

class TileForms {
  public:
    explicit TileForms(const std::string& target);
    const std::string& target() const { return target_; }

    /// `key`: the words that a form begins with before one that may vary or be left out, `tcgen05.ld.sync`,
    /// `cp.async.bulk.tensor`, `mbarrier.arrive`.
    bool has(std::string_view key) const { return by_words_.contains(key); }
    const isa::Instance& choose(std::string_view key, Choices& choices) const;
    /// The first of some choices that `fits`, or nothing.
    const isa::Instance* choose(std::string_view key, Choices& choices,
                                const std::function<bool(const isa::Instance&)>& fits) const;
    /// Any of them, every key as likely.
    const isa::Instance& any(Choices& choices) const;

  private:
    std::string target_;
    std::map<std::string, std::vector<isa::Instance>, std::less<>> by_words_;
};

}  // namespace tilepath::generated
