// check/: what is wrong with a kernel's data path. One check per file; each consumes the machine's events and tells
// what it found when the kernel has ended.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "machine/tee.h"
#include "program/code_place.h"

namespace tilepath::check {

/// Something that a check has found at one instruction, over the whole run.
struct Finding {
    std::string check;    ///< its name: `coalescing`, `bank-conflicts`
    std::string message;  ///< what is wrong, one line
    program::CodePlace place;
    std::vector<std::string> facts;  ///< one bad example: lanes, addresses
    std::string advice;              ///< what to change
    std::uint64_t times = 0;         ///< executions by a warp that it counts
    double weight = 0;               ///< the worst first: what the fault costs, in sectors or wavefronts
};

/// A consumer of events that ends with findings.
class Check : public machine::Observer {
  public:
    virtual std::vector<Finding> findings(const program::Program& program) = 0;
};

/// Every check, fed from one stream.
class Checks : public machine::Tee {
  public:
    Checks();

    /// The worst first; the order depends on nothing but the events.
    std::vector<Finding> findings(const program::Program& program);

  private:
    std::vector<std::unique_ptr<Check>> checks_;
};

/// Lines for a terminal, each ended.
std::string to_string(const Finding& finding);

}  // namespace tilepath::check
