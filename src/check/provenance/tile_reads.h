#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "atom/shared_operand.h"
#include "machine/events.h"

namespace tilepath::check {

/// How the async proxy reads shared memory: wgmma and tcgen05.mma through descriptors, TMA stores. Nothing public says
/// what such reads cost, so that only this is told: whether they take whole canonical atoms, of 8 rows as wide as the
/// swizzle, which begin with its pattern.
class TileReads {
  public:
    void add(const program::MicroOp* op, const char* operand, std::uint32_t start, int base_offset,
             const atom::SharedOperand& shape);
    void add_store(const program::MicroOp* op, std::uint32_t begin, std::uint32_t row_bytes, layout::SwizzleMode mode);
    /// By what is read, `A K-major with swizzle 128B`, and whether it is canonical: by which instructions.
    const std::map<std::pair<std::string, bool>, std::set<const program::MicroOp*>>& all() const { return all_; }

  private:
    std::map<std::pair<std::string, bool>, std::set<const program::MicroOp*>> all_;
    std::set<std::tuple<const program::MicroOp*, char, layout::SwizzleMode, int, int, std::uint32_t>> seen_;
};

}  // namespace tilepath::check
