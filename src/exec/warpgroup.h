#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "exec/code.h"
#include "machine/events.h"

namespace tilepath::exec {

struct Frame;

inline constexpr int warpgroup_warps = 4;

/// One wgmma of a warpgroup, from the first warp that executes it until it has completed.
struct PendingWgmma {
    const Code* code = nullptr;
    const LoadedFunction* function = nullptr;
    std::uint64_t a = 0, b = 0;  ///< descriptors; a: 0 with A in registers
    /// What one warp brings: its registers, and what it executed before.
    struct Part {
        Frame* frame = nullptr;   ///< null: the warp has not come here yet
        std::uint64_t entry = 0;  ///< of the frame: it is gone if that has changed
        std::uint64_t group = 0;  ///< commit groups that the warp had closed before
        bool accumulates = false;
    };
    std::array<Part, warpgroup_warps> parts;

    bool whole() const {
        for (const Part& part : parts)
            if (part.frame == nullptr) return false;
        return true;
    }
};

/// The wgmma operations of four warps. One completes only after all four have executed it, and then for all of them:
/// recorded on an H200, where a wgmma.wait_group of one warp lasts until the slowest has issued. So kernels may let one
/// thread free the operands in shared memory for all.
struct Warpgroup {
    std::vector<PendingWgmma> pending;                    ///< in the order of execution, which is the same in all warps
    std::uint64_t landed = 0;                             ///< operations before pending.front()
    std::array<std::uint64_t, warpgroup_warps> issued{};  ///< operations that each warp has executed
    std::array<std::uint64_t, warpgroup_warps> committed{};  ///< groups that it has closed

    void clear() {
        pending.clear();
        landed = 0;
        issued.fill(0);
        committed.fill(0);
    }
    /// Operations that `warp` has executed and all of whose groups but the newest `keep` must be complete.
    std::size_t covered(std::size_t warp, std::uint64_t keep) const {
        std::size_t count = 0;
        for (std::size_t i = 0; i < pending.size(); ++i) {
            const PendingWgmma::Part& part = pending[i].parts[warp];
            if (part.frame != nullptr && part.group + keep < committed[warp]) count = i + 1;
        }
        return count;
    }
    /// Operations from the first on that all warps have executed.
    std::size_t whole() const {
        std::size_t count = 0;
        while (count < pending.size() && pending[count].whole()) ++count;
        return count;
    }
    /// The same, of closed groups.
    std::size_t whole_and_closed() const {
        std::size_t count = 0;
        const auto closed = [&](const PendingWgmma& each) {
            for (std::size_t w = 0; w < each.parts.size(); ++w)
                if (each.parts[w].group >= committed[w]) return false;
            return true;
        };
        while (count < pending.size() && pending[count].whole() && closed(pending[count])) ++count;
        return count;
    }
};

/// Where the 16-byte chunks of a matrix operand lie in shared memory: the descriptor walked once for each phase of its
/// start in the swizzle's pattern, which depends on nothing else of the start.
struct OperandTable {
    std::vector<std::int32_t>
        chunks;  ///< by (row, chunk of k), or, MN-major, by (k, chunk of rows); from `start` less its phase
    std::int32_t least = 0, most = 0;  ///< of the chunks' first bytes
    std::vector<machine::Run> runs;    ///< the same bytes in ascending order, neighbours joined
    std::string error;                 ///< why there is none
};

/// How a wgmma reads one of its operands in shared memory.
struct OperandShape {
    int rows = 0;       ///< m of A, n of B
    int row_bytes = 0;  ///< of k
    int bits = 0;       ///< of an element
    bool mn_major = false;

    friend bool operator==(const OperandShape&, const OperandShape&) = default;
};

/// OperandTables by descriptor and shape. They are few: a kernel's descriptors differ in their start.
class OperandTables {
  public:
    const OperandTable& find(std::uint64_t descriptor, const OperandShape& shape);

  private:
    struct Entry {
        std::uint64_t key;
        OperandShape shape;
        OperandTable table;
    };
    std::vector<std::unique_ptr<Entry>> entries_;
    std::size_t last_ = 0;
};

/// Where an operand's chunks begin in the shared window: what OperandTable's offsets are added to.
std::uint32_t table_base(std::uint64_t descriptor);

/// Copies an operand out of `shared`, row r to `out` + r · `stride`, k packed. Nothing is checked.
void copy_operand(const OperandTable& table, const OperandShape& shape, const std::uint8_t* shared,
                  std::uint64_t descriptor, int first_row, int rows, std::uint8_t* out, std::size_t stride);

}  // namespace tilepath::exec
