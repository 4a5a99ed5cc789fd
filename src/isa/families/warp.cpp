// Lanes of one warp with one another: PTX ISA 9.7.9.5, 9.7.9.6, 9.7.13.8 to 9.7.13.14.
#include "isa/plain.h"

namespace tilepath::isa {
namespace {

using program::VoteMode;

/// The membermask; of the forms without .sync, the lanes that execute the instruction together. From sm_70 on those
/// went away with PTX ISA 6.4.
Operand membermask(Lowering& to, const Bound& in) {
    if (const ptx::Operand* given = in.operand("membermask")) return to.read(*given, DataType::u32);
    const ptx::Module& module = to.module();
    const Target target = target_named(module.architecture()).value_or(Target{});
    if (target.sm >= 70 && std::pair(module.version_major, module.version_minor) >= std::pair(6u, 4u))
        to.error(in.instruction().span,
                 fmt::format("'{}' without .sync ended with PTX ISA 6.3 on sm_70 and later", in.form().opcode),
                 "write .sync and a membermask");
    const Operand mask = to.temporary(DataType::b32);
    to.emit(Op::activemask, DataType::b32, {mask}, {});
    return mask;
}

/// `d` or `d|p`.
std::vector<Operand> value_and_predicate(Lowering& to, const ptx::Operand& operand, DataType type) {
    if (operand.kind != ptx::OperandKind::pair) return {to.write(operand, type)};
    std::span<const ptx::Operand> parts = to.module().children(operand);
    return {to.write(parts[0], type), to.write(parts[1], DataType::pred)};
}

void shuffle(Lowering& to, const Bound& in) {
    static constexpr std::string_view modes[] = {"up", "down", "bfly", "idx"};  // in ShuffleMode's order
    std::uint8_t mode = 0;
    while (modes[mode] != in.word("mode")) ++mode;
    std::vector<Operand> destinations = value_and_predicate(to, in["d"], DataType::b32), sources;
    if (destinations.front().kind == Operand::Kind::none && destinations.size() == 2)
        to.error(in["d"].span, "'shfl' does not discard its value: expected a register, found '_'");
    for (std::string_view name : {"a", "b", "c"}) sources.push_back(to.read(in[name], DataType::b32));
    sources.push_back(membermask(to, in));
    to.emit(Op::shfl, DataType::b32, destinations, sources).variant = mode;
}

void vote(Lowering& to, const Bound& in) {
    const std::string_view word = in.has("ballot") ? "ballot" : in.word("mode");
    const VoteMode mode = word == "all"   ? VoteMode::all
                          : word == "any" ? VoteMode::any
                          : word == "uni" ? VoteMode::uni
                                          : VoteMode::ballot;
    const Operand d = to.write(in["d"], in.type());
    const Operand mask = membermask(to, in);
    to.emit(Op::vote, in.type(), {d}, {to.read_predicate(in["a"]), mask}).variant = static_cast<std::uint8_t>(mode);
}

void match(Lowering& to, const Bound& in) {
    std::vector<Operand> destinations = value_and_predicate(to, in["d"], DataType::b32);
    std::vector<Operand> sources{to.read(in["a"], in.type()), to.read(in["membermask"], DataType::u32)};
    to.emit(Op::match, in.type(), destinations, sources).variant = in.has("all") ? 1 : 0;
}

void reduce(Lowering& to, const Bound& in) {
    static constexpr std::string_view operations[] = {"add", "min", "max", "and", "or", "xor"};  // in ReduxOp's order
    std::uint8_t operation = 0;
    while (operations[operation] != in.word("op")) ++operation;
    const DataType type = in.type() == DataType::b32 ? DataType::u32 : in.type();  // no real literals for bits either
    const Operand d = to.write(in["d"], type), a = to.read(in["a"], type);
    to.emit(Op::redux, in.type(), {d}, {a, to.read(in["membermask"], DataType::u32)}).variant = operation;
}

void elect(Lowering& to, const Bound& in) {
    if (const ptx::Operand& predicate = to.module().children(in["d"])[1]; predicate.kind == ptx::OperandKind::sink)
        to.error(predicate.span, "'elect' does not discard its predicate: expected a register, found '_'");
    std::vector<Operand> destinations = value_and_predicate(to, in["d"], DataType::b32);
    const Operand mask = to.read(in["membermask"], DataType::u32);
    to.emit(Op::elect, DataType::b32, destinations, std::span(&mask, 1));
}

}  // namespace

std::vector<Family> warp_families() {
    return {
        {.manual = "9.7.9.6",
         .forms = {{"shfl.sync.mode.type d{|p}, a, b, c, membermask",
                    {"mode: up down bfly idx", "type: b32"},
                    since(6, 0, 30)},
                   {"shfl.mode.type d{|p}, a, b, c", {"mode: up down bfly idx", "type: b32"}, since(3, 0, 30)}},
         .lower = shuffle},
        {.manual = "9.7.13.9",
         .forms = {{"vote.sync.mode.type d, a, membermask:u32", {"mode: all any uni", "type: pred"}, since(6, 0, 30)},
                   {"vote.sync.ballot.type d, a:pred, membermask", {"type: b32"}, since(6, 0, 30)},
                   {"vote.mode.type d, a", {"mode: all any uni", "type: pred"}, since(1, 2, 12)},
                   {"vote.ballot.type d, a:pred", {"type: b32"}, since(2, 0, 20)}},
         .lower = vote},
        {.manual = "9.7.13.10",
         .forms = {{"match.any.sync.type d:b32, a, membermask:u32", {"type: b32 b64"}, since(6, 0, 70)},
                   {"match.all.sync.type d:b32{|p}, a, membermask:u32", {"type: b32 b64"}, since(6, 0, 70)}},
         .lower = match},
        {.manual = "9.7.13.11",
         .forms = {{"activemask.type d", {"type: b32"}, since(6, 2, 30)}},
         .lower = lower_plain<Op::activemask>},
        {.manual = "9.7.13.12",
         .forms = {{"redux.sync.op.type d, a, membermask:u32", {"op: add min max", "type: u32 s32"}, since(7, 0, 80)},
                   {"redux.sync.op.type d, a, membermask:u32", {"op: and or xor", "type: b32"}, since(7, 0, 80)},
                   {"redux.sync.op{.abs}{.NaN}.type d, a, membermask:u32",
                    {"op: min max", "type: f32"},
                    since(8, 6, 100, Suffix::family)}},
         .lower = reduce},
        {.manual = "9.7.13.14", .forms = {{"elect.sync d|p, membermask", {}, since(8, 0, 90)}}, .lower = elect},
    };
}

}  // namespace tilepath::isa
