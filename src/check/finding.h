// check/: what is wrong with a kernel's data path. One check per file; each consumes the machine's events and tells
// what it found when the kernel has ended.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "check/warp_access.h"
#include "machine/tee.h"
#include "program/code_place.h"

namespace tilepath::check {

/// How sure it is that the kernel is at fault.
enum class Severity : std::uint8_t {
    finding,  ///< it is wrong, or slower than it need be: the exit status is 1
    note      ///< it is legal or tolerated, and worth knowing: the exit status stays
};

/// Something that a check has found at one instruction, over the whole run.
struct Finding {
    std::string check;    ///< its name: `coalescing`, `bank-conflicts`
    std::string message;  ///< what is wrong, one line
    program::CodePlace place;
    std::optional<program::CodePlace> other;  ///< the access or instruction that it clashes with
    std::vector<unsigned> also;               ///< lines of the PTX with the same finding: copies of one source line
    std::vector<std::string> facts;           ///< one bad example: lanes, addresses
    std::optional<WarpAccess> banks;          ///< bank-conflicts: the example, to draw
    std::string advice;                       ///< what to change
    std::uint64_t times = 0;                  ///< executions by a warp that it counts
    double weight = 0;                        ///< the worst first: what the fault costs, in sectors or wavefronts
    Severity severity = Severity::finding;
};

/// `finding`, `note`.
std::string_view name(Severity severity);
/// How many there are of one kind. Only findings decide about the exit status.
std::size_t count_of(const std::vector<Finding>& findings, Severity severity);

/// A consumer of events that ends with findings.
class Check : public machine::Observer {
  public:
    virtual std::vector<Finding> findings(const program::Programs& programs) = 0;
};

class Ordering;
class Provenance;
class Relay;
struct Product;

/// Every check, fed from one stream. What looks at registers does so while the kernel runs, the rest on a thread of its
/// own.
class Checks : public machine::Tee {
  public:
    Checks();
    ~Checks() override;

    /// What the kernel is to compute, for the check that follows its elements. Before it runs.
    void expect(Product product);
    const Provenance& provenance() const { return *provenance_; }
    Provenance& provenance() { return *provenance_; }

    /// Memory that the checks have followed, at most at one time, and the shadow memory that it took.
    struct ShadowSize {
        std::size_t followed = 0, shadow = 0;
    };
    ShadowSize shadow_size();

    /// The worst first; the order depends on nothing but the events.
    std::vector<Finding> findings(const program::Programs& programs);

  private:
    std::vector<std::unique_ptr<Check>> checks_;
    Ordering* ordering_ = nullptr;      ///< one of them
    Provenance* provenance_ = nullptr;  ///< one of them
    std::unique_ptr<Relay> relay_;      ///< goes before what it hands events to
};

/// Findings of one check in the copies of one source line (a loop unrolled, a function inlined) become one, that of the
/// worst copy; where no source line is known, those that cost the same by the same instruction.
std::vector<Finding> grouped(std::vector<Finding> findings);

/// What stays the same of a finding when lines move: its check, function, instruction's name and source file, and the
/// how manieth of those it is. By finding, in their order.
std::vector<std::string> fingerprints(const std::vector<Finding>& findings);

/// `file.ptx:12, 15, 18, … and 4 more`.
std::string line_list(const std::string& file, const std::vector<unsigned>& lines);

/// Lines for a terminal, each ended.
std::string to_string(const Finding& finding);

}  // namespace tilepath::check
