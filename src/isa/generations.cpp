#include "isa/generations.h"

#include <algorithm>

namespace tilepath::isa {
namespace {

/// An instruction, targets that lack it, and what to do about it.
struct Row {
    std::string_view opcode;
    std::string_view word;   ///< how one of its modifiers begins; empty: any
    int least_sm;            ///< that the form needs
    int from_sm, before_sm;  ///< the targets
    std::string_view note;
};
constexpr Row rows[] = {
    {"wgmma", "", 90, 0, 90,
     "wgmma is Hopper's (sm_90a) alone; this device multiplies with mma.sync, operands in registers"},
    {"wgmma", "", 90, 91, 120,
     "wgmma is Hopper's (sm_90a) alone: it accumulates in registers. This device has tcgen05.mma in its place, which "
     "accumulates in Tensor Memory"},
    {"wgmma", "", 90, 120, 1000,
     "wgmma is Hopper's (sm_90a) alone, no later device has it; mma.sync is on all of them, with ldmatrix to build its "
     "operands"},
    {"tcgen05", "", 100, 0, 90,
     "Tensor Memory came with sm_100; this device multiplies with mma.sync, all in registers"},
    {"tcgen05", "", 100, 90, 100,
     "this device has no Tensor Memory: wgmma.mma_async (sm_90a) reads A and B from shared memory too, and accumulates "
     "in registers"},
    {"tcgen05", "", 100, 120, 1000,
     "this device has no Tensor Memory, so that kernels made for it (FlashAttention-4 is one) cannot run here; "
     "mma.sync multiplies, on sm_120a with .block_scale and the kinds of tcgen05.mma"},
    {"mma", "kind::", 120, 0, 100,
     "no device before sm_120 has it: widen the elements and scale the products yourself"},
    {"mma", "kind::", 120, 100, 120,
     "this device scales blocks, and multiplies 6- and 4-bit floats, with tcgen05.mma: its kinds f8f6f4, mxf8f6f4, "
     "mxf4 and mxf4nvf4; mma.sync does so on sm_120a and sm_120f"},
};

}  // namespace

std::string_view other_generation(const ptx::Head& head, Needs needs, Target target) {
    for (const Row& row : rows) {
        if (row.opcode != head.opcode || needs.sm < row.least_sm || target.sm < row.from_sm ||
            target.sm >= row.before_sm)
            continue;
        const auto begins = [&](const ptx::Modifier& each) { return each.text.starts_with(row.word); };
        if (row.word.empty() || std::ranges::any_of(head.modifiers, begins)) return row.note;
    }
    return {};
}

}  // namespace tilepath::isa
