// Collector buffers, in which a sequence of tcgen05.mma keeps the matrix that its products share: A, or B of .ws.
#include <fmt/format.h>

#include "exec/executor.h"
#include "exec/tcgen05.h"

namespace tilepath::exec {

/// The hardware may read the operand again, or take what the collector buffer holds: a use wants the same operand's
/// fill to be still valid (PTX ISA 9.7.16.10, tcgen05.mma).
bool Tcgen05::use_collector(Context& c, int lane, const program::Tcgen05Mma& what, const PendingTcgen05& operation) {
    using Collect = program::Tcgen05Mma::Collect;
    using Buffer = program::Tcgen05Mma::Buffer;
    const bool of_a = !what.weight_stationary;
    const Buffer buffer = what.collector != Buffer::none ? what.collector : of_a ? Buffer::a : Buffer::b0;
    const auto index = static_cast<std::size_t>(buffer) - static_cast<std::size_t>(Buffer::a);
    TensorState::Collector& collector = state_of(*c.warp.cta).collectors[index];
    const std::uint64_t operand = of_a ? operation.operands.a : operation.operands.b;
    const bool uses = what.collect == Collect::use || what.collect == Collect::lastuse;
    // .ashift has ::lastuse and no ::fill: there it says no more than ::discard.
    if (uses && !what.ashift && (!collector.filled || collector.operand != operand))
        return wrong(
            c, lane,
            collector.filled
                ? fmt::format("the collector holds {:#x}, filled in {}, not this {}, {:#x}; fill it first, with "
                              "::fill in the product that reads it first",
                              collector.operand, where(collector.by), of_a ? "A" : "B", operand)
                : fmt::format("nothing has filled the collector since it was discarded; the first product "
                              "that reads this {} says ::fill, those after it ::use, the last ::lastuse",
                              of_a ? "A" : "B"));
    if (what.collect == Collect::fill) collector = {true, operand, operation.by};
    if (what.collect == Collect::lastuse || what.collect == Collect::discard) collector.filled = false;
    return true;
}

}  // namespace tilepath::exec
