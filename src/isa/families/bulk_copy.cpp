// Copies of bytes in a row that complete later: PTX ISA 9.7.9.25.4. Those of tensors are in bulk_tensor.cpp.
#include <fmt/format.h>

#include "isa/bulk.h"

namespace tilepath::isa {
namespace {

using program::Bulk;

/// 16 bytes at a time, as far as the size is known.
void check_size(Lowering& to, const ptx::Operand& size) {
    if (size.kind == ptx::OperandKind::immediate && size.bits % 16 != 0)
        to.error(size.span, fmt::format("a bulk copy moves a multiple of 16 bytes; found {}",
                                        static_cast<std::int64_t>(size.bits)));
}

void copy(Lowering& to, const Bound& in) {
    Bulk bulk;
    bulk.prefetch = in.has("prefetch");
    bulk.source = space_named(in.word("src"));
    bulk.destination = bulk.prefetch ? Space::shared : space_named(in.word("dst"));
    if (in.has("op")) {
        bulk.reduces = true;
        bulk.reduction = atomic_named(in.word("op"));
        bulk.type = in.type();
    }
    BulkOperands operands;
    if (!bulk.prefetch) operands.destination = whole_address(to, to.address(in["dst"], bulk.destination));
    operands.source = whole_address(to, to.address(in["src"], bulk.source));
    check_size(to, in["size"]);
    operands.bytes = to.read(in["size"], DataType::u32);
    emit_bulk(to, in, bulk, operands);
}

void wait(Lowering& to, const Bound& in) {
    const std::int64_t pending = to.immediate(in["n"], "the number of groups");
    if (pending < 0)
        to.error(in["n"].span,
                 fmt::format("the number of groups that may stay pending is not negative; found {}", pending));
    MicroOp& out = to.emit(Op::bulk_wait, DataType::none, {}, {});
    out.immediate = pending;
    out.variant = in.has("read") ? 1 : 0;
}

constexpr std::string_view hint = "hint: L2::cache_hint", global_source = "src: global",
                           cta_source = "src: shared::cta";
constexpr std::string_view on_mbarrier = "done: mbarrier::complete_tx::bytes", in_group = "done: bulk_group";
constexpr std::string_view multicast = "to: multicast::cluster";

Family copies() {
    return {.manual = "9.7.9.25.4.1",
            .forms = {{"cp.async.bulk.dst.src.done [dst], [src], size, [mbar]",
                       {"dst: shared::cta", global_source, on_mbarrier},
                       since(8, 6, 90)},
                      {"cp.async.bulk.dst.src.done.hint [dst], [src], size, [mbar], policy:b64",
                       {"dst: shared::cta", global_source, on_mbarrier, hint},
                       since(8, 6, 90)},
                      {"cp.async.bulk.dst.src.done [dst], [src], size, [mbar]",
                       {"dst: shared::cluster", global_source, on_mbarrier},
                       since(8, 0, 90)},
                      {"cp.async.bulk.dst.src.done.hint [dst], [src], size, [mbar], policy:b64",
                       {"dst: shared::cluster", global_source, on_mbarrier, hint},
                       since(8, 0, 90)},
                      {"cp.async.bulk.dst.src.done.to [dst], [src], size, [mbar], mask:b16",
                       {"dst: shared::cluster", global_source, on_mbarrier, multicast},
                       since(8, 0, 90)},
                      {"cp.async.bulk.dst.src.done.to.hint [dst], [src], size, [mbar], mask:b16, policy:b64",
                       {"dst: shared::cluster", global_source, on_mbarrier, multicast, hint},
                       since(8, 0, 90)},
                      {"cp.async.bulk.dst.src.done [dst], [src], size, [mbar]",
                       {"dst: shared::cluster", cta_source, on_mbarrier},
                       since(8, 0, 90)},
                      {"cp.async.bulk.dst.src.done [dst], [src], size",
                       {"dst: global", cta_source, in_group},
                       since(8, 0, 90)},
                      {"cp.async.bulk.dst.src.done.hint [dst], [src], size, policy:b64",
                       {"dst: global", cta_source, in_group, hint},
                       since(8, 0, 90)},
                      {"cp.async.bulk.dst.src.done.cp_mask [dst], [src], size, byte_mask:b16",
                       {"dst: global", cta_source, in_group},
                       since(8, 6, 100)},
                      {"cp.async.bulk.dst.src.done.hint.cp_mask [dst], [src], size, policy:b64, byte_mask:b16",
                       {"dst: global", cta_source, in_group, hint},
                       since(8, 6, 100)}},
            .lower = copy};
}

Family reductions() {
    Family family{.manual = "9.7.9.25.4.2", .forms = {}, .lower = copy};
    auto to_cluster = [&](std::string_view operations, std::string_view type) {
        family.forms.push_back({"cp.reduce.async.bulk.dst.src.done.op.type [dst], [src], size, [mbar]",
                                {"dst: shared::cluster", cta_source, on_mbarrier, operations, type},
                                since(8, 0, 90)});
    };
    to_cluster("op: and or xor", "type: b32");
    to_cluster("op: add", "type: u32 s32 u64");
    to_cluster("op: min max", "type: u32 s32");
    to_cluster("op: inc dec", "type: u32");
    auto to_global = [&](std::string_view operations, std::string_view type) {
        family.forms.push_back({"cp.reduce.async.bulk.dst.src.done.op.type [dst], [src], size",
                                {"dst: global", cta_source, in_group, operations, type},
                                since(8, 0, 90)});
        family.forms.push_back({"cp.reduce.async.bulk.dst.src.done.hint.op.type [dst], [src], size, policy:b64",
                                {"dst: global", cta_source, in_group, hint, operations, type},
                                since(8, 0, 90)});
    };
    to_global("op: and or xor", "type: b32 b64");
    to_global("op: add", "type: u32 s32 u64 f32 f64");
    to_global("op: min max", "type: u32 s32 u64 s64 f16 bf16");
    to_global("op: inc dec", "type: u32");
    family.forms.push_back({"cp.reduce.async.bulk.dst.src.done.op.noftz.type [dst], [src], size",
                            {"dst: global", cta_source, in_group, "op: add", "type: f16 bf16"},
                            since(8, 0, 90)});
    family.forms.push_back({"cp.reduce.async.bulk.dst.src.done.hint.op.noftz.type [dst], [src], size, policy:b64",
                            {"dst: global", cta_source, in_group, hint, "op: add", "type: f16 bf16"},
                            since(8, 0, 90)});
    return family;
}

}  // namespace

std::vector<Family> bulk_copy_families() {
    return {copies(),
            reductions(),
            {.manual = "9.7.9.25.4.3",
             .forms = {{"cp.async.bulk.prefetch.L2.src [src], size", {global_source}, since(8, 0, 90)},
                       {"cp.async.bulk.prefetch.L2.src.hint [src], size, policy:b64",
                        {global_source, hint},
                        since(8, 0, 90)}},
             .lower = copy},
            {.manual = "9.7.9.25.3.2",
             .forms = {{"cp.async.bulk.commit_group", {}, since(8, 0, 90)}},
             .lower = [](Lowering& to, const Bound&) { to.emit(Op::bulk_commit, DataType::none, {}, {}); }},
            {.manual = "9.7.9.25.3.3",
             .forms = {{"cp.async.bulk.wait_group{.read} n", {}, since(8, 0, 90)}},
             .lower = wait}};
}

}  // namespace tilepath::isa
