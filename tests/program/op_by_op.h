#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "program/function.h"

namespace tilepath::program {

/// A kernel put together op by op: 32-bit registers from 0 on, behind them one of another type.
class OpByOp {
  public:
    OpByOp(std::size_t registers, DataType behind) {
        function_.entry = true;
        function_.registers.assign(registers, {DataType::b32, {}});
        function_.registers.push_back({behind, {}});
        function_.instructions.emplace_back();
        begin_block();
    }
    MicroOp& op(Op kind, std::vector<RegisterId> destinations = {}, std::vector<RegisterId> sources = {}) {
        MicroOp op;
        op.op = kind;
        op.type = DataType::b32;
        op.first_operand = static_cast<std::uint32_t>(function_.operands.size());
        op.destinations = static_cast<std::uint16_t>(destinations.size());
        op.sources = static_cast<std::uint16_t>(sources.size());
        for (RegisterId r : destinations) function_.operands.push_back(Operand::reg(r));
        for (RegisterId r : sources) function_.operands.push_back(Operand::reg(r));
        function_.ops.push_back(op);
        function_.blocks.back().last = static_cast<std::uint32_t>(function_.ops.size());
        return function_.ops.back();
    }
    void begin_block() {
        const auto at = static_cast<std::uint32_t>(function_.ops.size());
        function_.blocks.push_back({at, at, {}});
    }
    void goes_to(std::vector<BlockId> successors) { function_.blocks.back().successors = std::move(successors); }

  protected:
    Function function_;
};

}  // namespace tilepath::program
