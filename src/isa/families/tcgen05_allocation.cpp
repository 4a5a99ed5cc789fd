// tcgen05.alloc, dealloc, relinquish_alloc_permit, commit and fence: PTX ISA 9.7.16.7, 9.7.16.11, 9.7.16.12. What is
// refused, ptxas 13.0 refuses.
#include <fmt/format.h>

#include <bit>

#include "isa/spaces.h"
#include "isa/tensor_memory.h"

namespace tilepath::isa {
namespace {

/// A power of two from 32 to 512, as far as it is known.
Operand read_columns(Lowering& to, const Bound& in) {
    const ptx::Operand& operand = in["columns"];
    if (operand.kind == ptx::OperandKind::immediate) {
        const auto columns = static_cast<std::int64_t>(operand.bits);
        if (columns < 32 || columns > 512 || !std::has_single_bit(operand.bits))
            to.error(operand.span,
                     fmt::format("Tensor Memory is allocated by 32, 64, 128, 256 or 512 columns; found {}", columns));
    }
    return to.read(operand, DataType::u32);
}

void allocate(Lowering& to, const Bound& in) {
    const Space space = space_named(in.word("ss"));
    const Address address = to.address(in["dst"], space);
    MicroOp& out = to.emit(Op::tcgen05_alloc, DataType::b32, {}, {address.base, read_columns(to, in)});
    out.space = address.space;
    out.immediate = address.offset;
    out.variant = static_cast<std::uint8_t>(cta_group(in));
}

void deallocate(Lowering& to, const Bound& in) {
    const Operand address = to.read(in["taddr"], DataType::u32);
    to.emit(Op::tcgen05_dealloc, DataType::b32, {}, {address, read_columns(to, in)}).variant =
        static_cast<std::uint8_t>(cta_group(in));
}

void relinquish(Lowering& to, const Bound& in) {
    to.emit(Op::tcgen05_relinquish, DataType::none, {}, {}).variant = static_cast<std::uint8_t>(cta_group(in));
}

void commit(Lowering& to, const Bound& in) {
    const Space space = in.has("shared::cluster") ? Space::shared_cluster : Space::generic;
    const Address address = to.address(in["mbar"], space);
    Operand mask = Operand::none();
    if (const ptx::Operand* given = in.operand("mask")) {
        require_register(to, *given);
        mask = to.read(*given, DataType::b16);
    }
    MicroOp& out = to.emit(Op::tcgen05_commit, DataType::b64, {}, {address.base, mask});
    out.space = address.space;
    out.immediate = address.offset;
    out.variant = static_cast<std::uint8_t>(cta_group(in));
}

template <int variant>
void fence(Lowering& to, const Bound&) {
    to.emit(Op::tcgen05_fence, DataType::none, {}, {}).variant = variant;
}

}  // namespace

std::vector<Family> tcgen05_allocation_families() {
    return {
        {.manual = "9.7.16.7.1",
         .forms = {{"tcgen05.alloc.group.sync.aligned{.ss}.b32 [dst], columns:b32",
                    {cta_groups, "ss: shared::cta"},
                    tensor_memory}},
         .lower = allocate},
        {.manual = "9.7.16.7.1",
         .forms = {{"tcgen05.dealloc.group.sync.aligned.b32 taddr:b32, columns:b32", {cta_groups}, tensor_memory}},
         .lower = deallocate},
        {.manual = "9.7.16.7.1",
         .forms = {{"tcgen05.relinquish_alloc_permit.group.sync.aligned", {cta_groups}, tensor_memory}},
         .lower = relinquish},
        {.manual = "9.7.16.12.1",
         .forms =
             {{"tcgen05.commit.group.mbarrier::arrive::one{.shared::cluster}.b64 [mbar]", {cta_groups}, tensor_memory},
              {"tcgen05.commit.group.mbarrier::arrive::one{.shared::cluster}.multicast::cluster.b64 [mbar], mask:b16",
               {cta_groups},
               tensor_memory}},
         .lower = commit},
        {.manual = "9.7.16.11.1",
         .forms = {{"tcgen05.fence::before_thread_sync", {}, tensor_memory}},
         .lower = fence<0>},
        {.manual = "9.7.16.11.1",
         .forms = {{"tcgen05.fence::after_thread_sync", {}, tensor_memory}},
         .lower = fence<1>},
    };
}

}  // namespace tilepath::isa
