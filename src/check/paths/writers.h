#pragma once
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "check/paths/tile_path.h"
#include "check/provenance/moves.h"
#include "check/provenance/shadow.h"

namespace tilepath::check {

/// By which instructions what lies somewhere has come there: a number for each way that occurs, so that a place keeps
/// no more than its number. 0: none.
class Ways {
  public:
    using Id = std::uint32_t;
    struct Way {
        StepKind kind{};
        const program::Function* function = nullptr;
        const program::MicroOp* op = nullptr;
        layout::SwizzleMode swizzle{};
        Id before = 0;
        bool multiplied = false;  ///< a matrix instruction lies on it
    };

    /// The way `before` with one more step. Arithmetic behind arithmetic is one step, the last.
    Id then(Id before, StepKind kind, const machine::EventSite& site, layout::SwizzleMode swizzle = {});
    const Way& at(Id id) const { return ways_[id]; }
    /// From its beginning on.
    std::vector<Way> steps(Id id) const;

  private:
    std::vector<Way> ways_{{}};
    std::map<std::tuple<Id, StepKind, const program::MicroOp*, layout::SwizzleMode>, Id> known_;
};

/// Who wrote each register, 16 bytes of shared memory, and column of Tensor Memory last.
class Writers {
  public:
    /// A register: where in shared memory its lanes' bytes came from, if it was loaded from there and is still whole.
    struct Register {
        Ways::Id way = 0;
        std::shared_ptr<const LaneAddresses> addresses;
        const program::MicroOp* load = nullptr;
        int reg = 0;  ///< which destination of the load
    };
    static constexpr std::uint32_t unit_bytes = 16;

    Ways ways;

    Register& reg(const machine::Registers& registers, std::uint32_t place);
    Ways::Id& shared(MemoryShadow::Cta cta, std::uint32_t address);
    Ways::Id& tensor_column(MemoryShadow::Cta cta, std::uint32_t column);
    void leave(MemoryShadow::Cta cta) { ctas_.erase(cta); }

  private:
    struct Cta {
        std::vector<Ways::Id> units, columns;
    };
    struct Frame {
        std::uint64_t number = 0;
        std::vector<Register> rows;
    };
    std::map<MemoryShadow::Cta, Cta> ctas_;
    std::unordered_map<const void*, Frame> frames_;
};

}  // namespace tilepath::check
