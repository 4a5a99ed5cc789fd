#include "isa/cta_groups.h"

#include <fmt/format.h>

namespace tilepath::isa {
namespace {

using program::MicroOp;
using program::Op;

/// 1 or 2; 0: the operation belongs to no group.
int cta_group(const MicroOp& op) {
    static constexpr Op grouped[] = {Op::tcgen05_alloc, Op::tcgen05_dealloc, Op::tcgen05_relinquish, Op::tcgen05_cp,
                                     Op::tcgen05_shift, Op::tcgen05_mma,     Op::tcgen05_commit};
    for (const Op each : grouped)
        if (op.op == each) return op.variant;
    return 0;
}

}  // namespace

void check_cta_groups(const ptx::Module& module, const program::Program& program, Diagnostics& diagnostics) {
    int first = 0;
    Span first_span;
    for (const program::Function& function : program.functions)
        for (const MicroOp& op : function.ops) {
            const int group = cta_group(op);
            if (group == 0 || group == first) continue;
            const Span span = function.instructions[op.instruction].span;
            if (first == 0) {
                first = group, first_span = span;
                continue;
            }
            Diagnostic fault{Severity::error,
                             fmt::format("cta_group::{} here, cta_group::{} in line {}: a kernel, with all that it "
                                         "calls, uses Tensor Memory as one CTA or as a pair, not both",
                                         group, first, module.place(first_span).line),
                             module.place(span),
                             {}};
            fault.notes.emplace_back(
                "PTX ISA 9.7.16.7.1: all tcgen05 instructions of a kernel name the same .cta_group");
            diagnostics.push_back(std::move(fault));
            return;
        }
}

}  // namespace tilepath::isa
