#pragma once
#include <span>
#include <unordered_set>

#include "exec/decoded.h"
#include "machine/cta.h"
#include "machine/device_memory.h"

namespace tilepath::exec {

struct Warp;
struct Frame;

/// A warp right before an operation: its registers, and the memory that it sees. Good only during the call that hands
/// it over.
class StoppedWarp {
  public:
    StoppedWarp(Warp& warp, const Frame& frame, const program::MicroOp& op, LaneMask lanes,
                std::span<const std::uint8_t> parameters, const machine::DeviceMemory& memory)
        : warp_(warp), frame_(frame), op_(op), lanes_(lanes), parameters_(parameters), memory_(memory) {}

    const program::Function& function() const;
    const program::MicroOp& op() const { return op_; }
    machine::Dim3 cta() const;
    std::uint32_t warp() const;
    LaneMask lanes() const { return lanes_; }  ///< those that stand here, whatever the guard says
    /// A register's bits in a lane; of 128 the lower half. Registers that share a slot hold what was written last.
    std::uint64_t value(program::RegisterId id, int lane) const;
    std::span<const std::uint8_t> shared() const;         ///< of the CTA, from offset 0 on
    std::span<const std::uint8_t> local(int lane) const;  ///< from address 0 on
    std::span<const std::uint8_t> parameters() const { return parameters_; }
    const machine::DeviceMemory& memory() const { return memory_; }

  private:
    Warp& warp_;
    const Frame& frame_;
    const program::MicroOp& op_;
    LaneMask lanes_;
    std::span<const std::uint8_t> parameters_;
    const machine::DeviceMemory& memory_;
};

/// Operations before which somebody wants to look at the warp. The launch runs on one host thread then.
class Breakpoint {
  public:
    virtual ~Breakpoint() = default;
    bool is_at(const program::MicroOp* op) const { return operations_.contains(op); }
    /// Whether the launch ends here.
    virtual bool reached(const StoppedWarp& warp) = 0;

  protected:
    std::unordered_set<const program::MicroOp*> operations_;
};

}  // namespace tilepath::exec
