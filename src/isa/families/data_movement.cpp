// mov with its packing forms, cvta, isspacep: PTX ISA 9.7.9.
#include <fmt/format.h>

#include <algorithm>

#include "isa/lowering.h"
#include "isa/spaces.h"

namespace tilepath::isa {
namespace {

/// mov.v2, mov.v4 (PTX ISA 6.4.3): element by element; one value goes to all, a vector special register to four.
void move_vector(Lowering& to, const Bound& in) {
    const DataType type = in.type();
    const std::vector<Operand> into = to.write_vector(in["d"], type);
    const std::size_t length = in.word("vec") == "v2" ? 2 : 4;
    if (length * static_cast<std::size_t>(program::bits(type)) > 128)
        to.error(in.instruction().span,
                 fmt::format("a vector has at most 128 bits: no mov.v{}.{}", length, program::traits(type).name));
    std::vector<Operand> from;
    const ptx::Operand& a = in["a"];
    const ptx::Symbol* symbol = a.kind == ptx::OperandKind::identifier ? to.module().symbol(a) : nullptr;
    if (symbol && symbol->kind == ptx::SymbolKind::special) {
        ptx::Operand part = a;
        for (const auto component : {ptx::Component::x, ptx::Component::y, ptx::Component::z, ptx::Component::w}) {
            part.component = component;
            from.push_back(to.read(part, type));
        }
    } else {
        from = to.read_vector(a, type);
    }
    if (a.kind != ptx::OperandKind::vector && from.size() == 1) from.assign(length, Operand(from.front()));
    if (into.size() != length || from.size() != length)
        return to.error(in.instruction().span, fmt::format("expected vectors of {} elements, found {} and {}", length,
                                                           into.size(), from.size()));
    // A register may be read after an element before it is written: mov.v2 {a, b}, {b, a}.
    for (Operand& element : from) {
        if (element.kind != Operand::Kind::reg || std::find(into.begin(), into.end(), element) == into.end()) continue;
        const Operand copy = to.temporary(type);
        to.emit(Op::mov, type, {copy}, {element});
        element = copy;
    }
    for (std::size_t i = 0; i < length; ++i)
        if (into[i].kind != Operand::Kind::none) to.emit(Op::mov, type, {into[i]}, {from[i]});
}

/// mov d, {a, b}; mov {d, e}, a; mov d, a, where `a` may be a register, constant, special register or a symbol's
/// address.
void lower_mov(Lowering& to, const Bound& in) {
    const DataType type = in.type();
    const ptx::Operand &d = in["d"], &a = in["a"];
    auto element = [&](const ptx::Operand& vector) {
        const std::size_t parts = to.module().children(vector).size();
        const int width = program::bits(type) / static_cast<int>(std::max<std::size_t>(1, parts));
        switch (width) {
            case 8: return DataType::b8;
            case 16: return DataType::b16;
            case 32: return DataType::b32;
            case 64: return DataType::b64;
            default: break;
        }
        to.error(vector.span,
                 fmt::format("a .{} value does not split into {} parts", program::traits(type).name, parts),
                 "2 or 4 parts of 8, 16, 32 or 64 bits");
        return DataType::b32;
    };
    if (in.has("vec")) return move_vector(to, in);
    const bool splits = a.kind == ptx::OperandKind::vector || d.kind == ptx::OperandKind::vector;
    if (splits && program::traits(type).kind != program::TypeKind::bits)
        to.error(in.instruction().span, fmt::format("mov.{} does not take a value apart", program::traits(type).name),
                 fmt::format("write mov.b{}", program::bits(type)));
    if (a.kind == ptx::OperandKind::vector) {
        const DataType part = element(a);
        to.emit(Op::pack, type, std::vector{to.write(d, type)}, to.read_vector(a, part)).source_type = part;
    } else if (d.kind == ptx::OperandKind::vector) {
        const DataType part = element(d);
        to.emit(Op::unpack, part, to.write_vector(d, part), std::vector{to.read(a, type)}).source_type = type;
    } else if (type == DataType::pred) {
        to.emit(Op::mov, type, {to.write(d, type)}, {to.read_predicate(a)});
    } else {
        to.emit(Op::mov, type, {to.write(d, type)}, {to.read(a, type)});
    }
}

void lower_cvta(Lowering& to, const Bound& in) {
    const DataType type = in.type();
    const ptx::Operand& a = in["a"];
    const Operand d = to.write(in["d"], type);
    to.emit(in.has("to") ? Op::cvta_to : Op::cvta, type, {d}, {to.read(a, type)}).space = space_named(in.word("space"));
}

void lower_isspacep(Lowering& to, const Bound& in) {
    const Operand p = to.write(in["p"], DataType::pred);
    const ptx::Operand& a = in["a"];
    const bool is_literal = a.kind == ptx::OperandKind::immediate;
    const Operand address = to.read(a, is_literal ? DataType::u64 : DataType::none);
    const DataType declared =
        address.kind == Operand::Kind::reg ? to.out().registers[address.index].type : DataType::u64;
    if (const int width = program::bits(declared); declared == DataType::pred || (width != 32 && width != 64))
        to.error(a.span, fmt::format("an address register has 32 or 64 bits; '{}' is a .{} register",
                                     to.module().text(a.span), program::traits(declared).name));
    to.emit(Op::isspacep, DataType::u64, {p}, {address}).space = space_named(in.word("space"));
}

constexpr std::string_view spaces = "space: const global local shared shared::cta shared::cluster";
constexpr std::string_view parameters = "space: param param::entry";

}  // namespace

std::vector<Family> data_movement_families() {
    return {
        {.manual = "9.7.9.3, 9.7.9.4",
         .forms = {{"mov.type d, a", {"type: pred b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64"}, since(1, 0)},
                   {"mov.vec.type d, a",
                    {"vec: v2 v4", "type: b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64"},
                    since(1, 0)},
                   {"mov.type d, a", {"type: b128"}, since(8, 3, 70)}},
         .lower = lower_mov},
        {.manual = "9.7.9.20",
         .forms = {{"cvta{.to}.space.type d, a", {spaces, "type: u32 u64"}, since(2, 0, 20)},
                   {"cvta{.to}.space.type d, a", {parameters, "type: u32 u64"}, since(7, 7, 70)}},
         .lower = lower_cvta},
        {.manual = "9.7.9.19",
         .forms = {{"isspacep.space p, a:none", {spaces}, since(2, 0, 20)},
                   {"isspacep.space p, a:none", {parameters}, since(7, 7, 70)}},
         .lower = lower_isspacep},
    };
}

}  // namespace tilepath::isa
