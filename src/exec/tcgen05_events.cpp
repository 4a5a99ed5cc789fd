// What observers are told of tcgen05.
#include "exec/executor.h"
#include "exec/tcgen05.h"

namespace tilepath::exec {

using machine::TensorCells;
using machine::TensorOperation;

namespace {

TensorOperation::Kind kind_of(const PendingTcgen05& operation) {
    switch (operation.kind) {
        case PendingTcgen05::Kind::mma: return TensorOperation::Kind::multiply;
        case PendingTcgen05::Kind::copy: return TensorOperation::Kind::copy;
        case PendingTcgen05::Kind::shift: return TensorOperation::Kind::shift;
        case PendingTcgen05::Kind::commit: break;
    }
    return TensorOperation::Kind::commit;
}

}  // namespace

void Tcgen05::tell(const TensorUse& by, bool allocated, std::uint32_t column, std::uint32_t columns) {
    if (executor_.observer_ != nullptr)
        executor_.observer_->tensor_allocation(
            {event_site(*by.warp, *by.function, *by.code, by.lanes), allocated, column, columns});
}

void Tcgen05::tell(const PendingTcgen05& operation, std::span<const TensorCells> cells, bool landed, bool unwritten) {
    TensorOperation event;
    event.site = event_site(*operation.by.warp, *operation.by.function, *operation.by.code, operation.by.lanes);
    event.id = operation.id;
    event.kind = kind_of(operation);
    event.cta_group = operation.cta_group;
    event.cells = cells;
    for (std::uint32_t i = 0; i < operation.cta_group; ++i)
        event.ctas[i] = static_cast<std::uint32_t>(cta_at(operation, i).state.linear);
    const bool multiplies = operation.kind == PendingTcgen05::Kind::mma;
    event.a = multiplies ? operation.operands.a : operation.descriptor;
    event.b = operation.operands.b;
    event.instruction = operation.operands.instruction;
    event.accumulates = multiplies && operation.operands.accumulates;
    event.mbarrier = operation.mbarrier;
    event.mbarrier_ctas = operation.ctas != 0 ? operation.ctas : 1u << machine::shared_rank(operation.mbarrier) % 32;
    event.unwritten = unwritten;
    if (landed)
        executor_.observer_->tensor_landed(event);
    else
        executor_.observer_->tensor_issued(event);
}

void Tcgen05::tell(const PendingTransfer& transfer, std::span<const TensorCells> cells, bool landed, bool unwritten) {
    TensorOperation event;
    event.site = event_site(*transfer.by.warp, *transfer.by.function, *transfer.by.code, transfer.by.lanes);
    event.id = transfer.id;
    event.kind = transfer.by.code->op->op == program::Op::tcgen05_st ? TensorOperation::Kind::store
                                                                     : TensorOperation::Kind::load;
    event.cells = cells;
    event.ctas[0] = event.site.cta;
    if (transfer.frame->entry == transfer.entry) event.registers = registers_of(*transfer.frame, *transfer.by.code);
    event.unwritten = unwritten;
    if (landed)
        executor_.observer_->tensor_landed(event);
    else
        executor_.observer_->tensor_issued(event);
}

}  // namespace tilepath::exec
