#pragma once
#include <memory>
#include <optional>
#include <string>

#include "check/provenance/product.h"
#include "exec/launch.h"
#include "generated/program.h"

namespace tilepath::generated {

/// Runs a generated kernel in every way that must not matter, and compares.
class Agreement {
  public:
    explicit Agreement(const std::string& arch);

    /// What is wrong: the text of the program does not read, print, build or verify; or a run faults, or ends with
    /// another memory than the first. Empty: nothing. `seed` chooses the input and the schedules. A wild kernel may
    /// fault, but one seed always tells the same, and no run goes on for ever.
    std::string check(const Kernel& kernel, std::uint64_t seed);

    /// Micro-operations of all runs so far.
    std::uint64_t operations() const { return operations_; }
    /// Runs that ended in a fault, and in a deadlock.
    std::uint64_t faults() const { return faults_; }
    std::uint64_t deadlocks() const { return deadlocks_; }
    /// What the checks found.
    std::uint64_t findings() const { return findings_; }
    /// Wild programs that do not build.
    std::uint64_t refusals() const { return refusals_; }

  private:
    struct Memory {
        std::vector<std::uint8_t> slots, results, counters;
        bool operator==(const Memory&) const = default;
    };
    /// How one run goes about it.
    struct Way {
        std::string name;
        exec::LaunchOptions options;
        const program::Program* program = nullptr;
        bool in_parts = false;  ///< CTA by CTA
    };
    std::string run(const Kernel& kernel, const Way& way, std::uint64_t seed, Memory& out);
    std::string check_wild(const Kernel& kernel, std::span<const Way> ways, std::uint64_t seed);
    /// Under every check, with a product that the seed makes up: the same memory as without, the same findings twice,
    /// and none of ordering in a program that has no race.
    std::string check_observed(const Kernel& kernel, const program::Program& program, std::uint64_t seed);
    check::Product made_up_product(std::uint64_t seed) const;
    std::string difference(const Kernel& kernel, const Memory& a, const Memory& b) const;

    machine::Device device_;
    std::unique_ptr<machine::DeviceMemory> memory_;
    machine::Address input_, slots_, results_, counters_;
    std::uint64_t operations_ = 0, faults_ = 0, deadlocks_ = 0, refusals_ = 0, findings_ = 0;
};

}  // namespace tilepath::generated
