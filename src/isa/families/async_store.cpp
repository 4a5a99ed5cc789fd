// Stores and reductions into a cluster's shared memory that complete on an mbarrier: PTX ISA 9.7.9.12, 9.7.13.7.
#include <fmt/format.h>

#include "isa/atomic_names.h"
#include "isa/plain.h"
#include "isa/spaces.h"

namespace tilepath::isa {
namespace {

/// Address first, mbarrier last.
MicroOp& emit_between(Lowering& to, const Bound& in, Op op, const std::vector<Operand>& values) {
    const Space space = space_named(in.word("ss"));
    const Address at = to.address(in["a"], space);
    std::vector<Operand> sources{at.base};
    sources.insert(sources.end(), values.begin(), values.end());
    sources.push_back(whole_address(to, to.address(in["mbar"], space)));
    MicroOp& out = to.emit(op, in.type(), {}, sources);
    out.space = space;
    out.immediate = at.offset;
    return out;
}

void store(Lowering& to, const Bound& in) {
    const std::size_t length = in.has("vec") ? static_cast<std::size_t>(in.word("vec")[1] - '0') : 1;
    const std::vector<Operand> values = to.read_vector(in["b"], in.type());
    if (values.size() != length)
        to.error(in["b"].span, fmt::format("expected a vector of {} registers, found {}", length, values.size()));
    if (length * static_cast<std::size_t>(program::bits(in.type())) > 128)
        to.error(in.instruction().span,
                 fmt::format("'st.async' has no .{}.{}", in.word("vec"), program::traits(in.type()).name),
                 "vectors have at most 128 bits");
    emit_between(to, in, Op::st_async, values).vector = static_cast<std::uint8_t>(length);
}

void reduce(Lowering& to, const Bound& in) {
    emit_between(to, in, Op::red_async, {to.read(in["b"], in.type())}).variant =
        static_cast<std::uint8_t>(atomic_named(in.word("op")));
}

/// Released to global memory, with nothing that tells when: at once is as good a time as any.
void complete(MicroOp& out, const Address& at) {
    out.space = at.space;
    out.immediate = at.offset;
}

void store_released(Lowering& to, const Bound& in) {
    const Address at = to.address(in["a"], space_named(in.word("ss")));
    const Operand value = to.read(in["b"], in.type());
    if (program::bits(in.type()) == 8 && value.kind == Operand::Kind::reg &&
        program::bits(to.out().registers[value.index].type) != 8)
        to.error(in["b"].span, fmt::format("'st.async' of one byte takes an 8-bit register; found '{}'",
                                           to.module().text(in["b"].span)));
    complete(to.emit(Op::st, in.type(), {}, {at.base, value}), at);
}

void reduce_released(Lowering& to, const Bound& in) {
    const Address at = to.address(in["a"], space_named(in.word("ss")));
    MicroOp& out = to.emit(Op::atom, in.type(), {}, {at.base, to.read(in["b"], in.type())});
    out.variant = static_cast<std::uint8_t>(atomic_named(in.word("op")));
    complete(out, at);
}

constexpr std::string_view cluster = "ss: shared::cluster", spaces = "ss: shared::cluster shared::cta";
constexpr std::string_view types = "type: b32 b64 u32 u64 s32 s64 f32 f64";

}  // namespace

std::vector<Family> async_store_families() {
    constexpr std::string_view released = "red.async{.mmio}.release.scope{.ss}.op.type [a], b",
                               relaxed = "red.async.relaxed.scope{.ss}.op.type [a], b";
    constexpr std::string_view global_scopes = "scope: gpu sys";
    constexpr std::string_view reduction =
        "red.async.relaxed.cluster{.ss}.mbarrier::complete_tx::bytes.op.type [a], b, [mbar]";
    return {
        {.manual = "9.7.9.12",
         .forms = {{"st.async{.weak}{.ss}.mbarrier::complete_tx::bytes{.vec}.type [a], b, [mbar]",
                    {spaces, types, "vec: v2 v4"},
                    since(8, 1, 90)},
                   {"st.async.scope{.ss}.mbarrier::complete_tx::bytes{.vec}.type [a], b, [mbar]",
                    {"scope: cluster", cluster, types, "vec: v2 v4"},
                    since(8, 1, 90)}},
         .lower = store},
        {.manual = "9.7.9.12",
         .forms = {{"st.async{.mmio}.release.scope{.ss}.type [a], b",
                    {"scope: gpu sys", "ss: global", "type: b8 b16 b32 b64 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64"},
                    since(8, 7, 100)}},
         .lower = store_released},
        // The manual has only .add of these.
        {.manual = "9.7.13.7",
         .forms = {{released, {global_scopes, "ss: global", "op: add", "type: u32 s32 u64 s64"}, since(8, 7, 100)},
                   {released, {global_scopes, "ss: global", "op: inc dec", "type: u32"}, since(8, 7, 100)},
                   {released, {global_scopes, "ss: global", "op: min max", "type: u32 s32"}, since(8, 7, 100)},
                   {released, {global_scopes, "ss: global", "op: and or xor", "type: b32"}, since(8, 7, 100)},
                   {relaxed, {global_scopes, "ss: global", "op: add", "type: u32 s32 u64 s64"}, since(8, 7, 100)},
                   {relaxed, {global_scopes, "ss: global", "op: inc dec", "type: u32"}, since(8, 7, 100)},
                   {relaxed, {global_scopes, "ss: global", "op: min max", "type: u32 s32"}, since(8, 7, 100)},
                   {relaxed, {global_scopes, "ss: global", "op: and or xor", "type: b32"}, since(8, 7, 100)}},
         .lower = reduce_released},
        {.manual = "9.7.13.7",
         .forms = {{reduction, {cluster, "op: inc dec", "type: u32"}, since(8, 1, 90)},
                   {reduction, {cluster, "op: min max", "type: u32 s32"}, since(8, 1, 90)},
                   {reduction, {cluster, "op: and or xor", "type: b32"}, since(8, 1, 90)},
                   {reduction, {cluster, "op: add", "type: u32 s32 u64 s64"}, since(8, 1, 90)}},
         .lower = reduce},
    };
}

}  // namespace tilepath::isa
