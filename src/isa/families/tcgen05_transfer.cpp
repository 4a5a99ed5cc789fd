// tcgen05.ld, ld.red, st and wait: PTX ISA 9.7.16.8; ptxas 13.0 takes the first three without .aligned. Which shapes
// repeat how often, and with how many registers, is for atom/ to say, whose maps CuTe and TVM have both.
#include <fmt/format.h>

#include <charconv>

#include "atom/tmem_transfer.h"
#include "isa/matrix_rules.h"
#include "isa/tensor_memory.h"

namespace tilepath::isa {
namespace {

using atom::TmemShape;
using program::TmemTransfer;

TmemShape shape_of(const Bound& in) {
    using enum TmemShape;
    for (const TmemShape shape : {s32x32b, s16x64b, s16x128b, s16x256b})
        if (atom::name(shape) == in.word("shape")) return shape;
    return s16x32bx2;
}

TmemTransfer describe(Lowering& to, const Bound& in) {
    TmemTransfer out;
    out.shape = shape_of(in);
    const std::string_view number = in.word("num").substr(1);
    std::from_chars(number.data(), number.data() + number.size(), out.repeats);
    out.packed = in.has("pack::16b") || in.has("unpack::16b");
    if (const ptx::Operand* split = in.operand("immHalfSplitoff")) {
        // ptxas 13.0 takes any number; addresses of Tensor Memory have 32 bits.
        out.half_split = static_cast<std::int32_t>(to.immediate(*split, "immHalfSplitoff"));
    }
    return out;
}

atom::TmemReduction reduction_of(const Bound& in) {
    using Type = atom::TmemReduction::Type;
    const DataType type = in.type();
    return {in.word("op") == "max", in.has("abs"), in.has("NaN"),
            type == DataType::f32   ? Type::f32
            : type == DataType::s32 ? Type::s32
                                    : Type::u32};
}

void emit_transfer(Lowering& to, Op op, DataType type, const Address& address, const TmemTransfer& transfer,
                   std::span<const Operand> destinations, std::span<const Operand> sources) {
    MicroOp& out = to.emit(op, type, destinations, sources);
    out.flags.aligned = true;  // it is, where ptxas lets the word be left out
    out.immediate = address.offset;
    out.detail = static_cast<std::uint32_t>(to.out().tmem_transfers.size());
    to.out().tmem_transfers.push_back(transfer);
}

void load(Lowering& to, const Bound& in) {
    const TmemTransfer transfer = describe(to, in);
    auto atom = atom::tmem_transfer(false, transfer.shape, transfer.repeats, transfer.packed);
    if (!atom) return refuse(to, atom.error());
    const Address address = tensor_address(to, in["taddr"]);
    const std::vector<Operand> destinations = write_fragment(to, in["r"], atom->fragment);
    emit_transfer(to, Op::tcgen05_ld, DataType::b32, address, transfer, destinations, std::span(&address.base, 1));
}

void load_and_reduce(Lowering& to, const Bound& in) {
    TmemTransfer transfer = describe(to, in);
    const atom::TmemReduction reduction = reduction_of(in);
    auto atom = atom::tmem_reducing_load(transfer.shape, transfer.repeats, reduction);
    if (!atom) return refuse(to, atom.error());
    transfer.reduces = true;
    transfer.maximum = reduction.maximum, transfer.absolute = reduction.absolute, transfer.nan = reduction.nan;
    const Address address = tensor_address(to, in["taddr"]);
    std::vector<Operand> destinations = write_fragment(to, in["r"], atom->fragment);
    // Triton 3.9 writes {redval}, and ptxas 13.0 takes it.
    const std::vector<Operand> reduced = to.write_vector(in["redval"], in.type());
    if (reduced.size() != 1)
        return to.error(in["redval"].span, fmt::format("expected one register to write, found {}", reduced.size()));
    destinations.push_back(reduced.front());
    emit_transfer(to, Op::tcgen05_ld, in.type(), address, transfer, destinations, std::span(&address.base, 1));
}

void store(Lowering& to, const Bound& in) {
    const TmemTransfer transfer = describe(to, in);
    auto atom = atom::tmem_transfer(true, transfer.shape, transfer.repeats, transfer.packed);
    if (!atom) return refuse(to, atom.error());
    const Address address = tensor_address(to, in["taddr"]);
    std::vector<Operand> sources = to.read_vector(in["r"], DataType::b32);
    require_some_register(to, in["r"], sources);
    check_registers(to, in["r"], sources.size(), atom->fragment.registers);
    sources.insert(sources.begin(), address.base);
    emit_transfer(to, Op::tcgen05_st, DataType::b32, address, transfer, {}, sources);
}

template <int variant>
void wait(Lowering& to, const Bound&) {
    to.emit(Op::tcgen05_wait, DataType::none, {}, {}).variant = variant;
}

constexpr std::string_view shapes = "shape: 32x32b 16x64b 16x128b 16x256b", split_shape = "shape: 16x32bx2",
                           reducing_shape = "shape: 32x32b";
constexpr std::string_view numbers = "num: x1 x2 x4 x8 x16 x32 x64 x128", more = "num: x2 x4 x8 x16 x32 x64 x128";
constexpr std::string_view operations = "op: min max";
constexpr Needs reducing = since(8, 8, 103, Suffix::tensor_memory);

Family loads() {
    return {.manual = "9.7.16.8.3",
            .forms = {{"tcgen05.ld.sync{.aligned}.shape.num{.pack::16b}.b32 r:vector, [taddr]",
                       {shapes, numbers},
                       tensor_memory},
                      {"tcgen05.ld.sync{.aligned}.shape.num{.pack::16b}.b32 r:vector, [taddr], immHalfSplitoff:none",
                       {split_shape, numbers},
                       tensor_memory}},
            .lower = load,
            .evidence = Evidence::Kind::model};
}

Family reducing_loads() {
    return {
        .manual = "9.7.16.8.3",
        .forms =
            {{"tcgen05.ld.red.sync{.aligned}.shape.num.op{.abs}{.NaN}.type r:vector, redval:type, [taddr]",
              {reducing_shape, more, operations, "type: f32"},
              reducing},
             {"tcgen05.ld.red.sync{.aligned}.shape.num.op.type r:vector, redval:type, [taddr]",
              {reducing_shape, more, operations, "type: u32 s32"},
              reducing},
             {"tcgen05.ld.red.sync{.aligned}.shape.num.op{.abs}{.NaN}.type r:vector, redval:type, [taddr], "
              "immHalfSplitoff:none",
              {split_shape, more, operations, "type: f32"},
              reducing},
             {"tcgen05.ld.red.sync{.aligned}.shape.num.op.type r:vector, redval:type, [taddr], immHalfSplitoff:none",
              {split_shape, more, operations, "type: u32 s32"},
              reducing}},
        .lower = load_and_reduce,
        .evidence = Evidence::Kind::model,
        .inferred = "with .16x32bx2 each thread reduces the columns that it loads"};
}

Family stores() {
    return {.manual = "9.7.16.8.4",
            .forms = {{"tcgen05.st.sync{.aligned}.shape.num{.unpack::16b}.b32 [taddr], r:vector",
                       {shapes, numbers},
                       tensor_memory},
                      {"tcgen05.st.sync{.aligned}.shape.num{.unpack::16b}.b32 [taddr], immHalfSplitoff:none, r:vector",
                       {split_shape, numbers},
                       tensor_memory}},
            .lower = store,
            .evidence = Evidence::Kind::model};
}

}  // namespace

std::vector<Family> tcgen05_transfer_families() {
    return {
        loads(),
        reducing_loads(),
        stores(),
        {.manual = "9.7.16.8.5", .forms = {{"tcgen05.wait::ld.sync.aligned", {}, tensor_memory}}, .lower = wait<0>},
        {.manual = "9.7.16.8.5", .forms = {{"tcgen05.wait::st.sync.aligned", {}, tensor_memory}}, .lower = wait<1>}};
}

}  // namespace tilepath::isa
