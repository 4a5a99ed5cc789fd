// atom and red: PTX ISA 9.7.13.5, 9.7.13.6. Memory order and scope change no result of a kernel without a race; every
// operation is atomic for all.
#include <fmt/format.h>

#include "isa/atomic_names.h"
#include "isa/plain.h"
#include "isa/spaces.h"

namespace tilepath::isa {
namespace {

void atomic(Lowering& to, const Bound& in) {
    const Address at = to.address(in["a"], space_named(in.word("space")));
    const std::size_t length = in.has("vec") ? static_cast<std::size_t>(in.word("vec")[1] - '0') : 1;
    std::vector<Operand> destinations, sources{at.base};
    auto check = [&](const ptx::Operand& operand, std::size_t found) {
        if (found != length)
            to.error(operand.span, fmt::format("expected a vector of {} registers, found {}", length, found));
    };
    if (const ptx::Operand* d = in.operand("d"); d && d->kind != ptx::OperandKind::sink) {
        destinations = to.write_vector(*d, in.type());
        check(*d, destinations.size());
    }
    for (Operand part : to.read_vector(in["b"], in.type())) sources.push_back(part);
    check(in["b"], sources.size() - 1);
    if (in.operand("c")) sources.push_back(to.read(in["c"], in.type()));
    if (in.type() == DataType::b128 && in.word("scope") == "sys")
        available(to, in.instruction().span, ".b128 with .sys", since(8, 4, 90));
    if (in.operand("policy")) to.read(in["policy"], DataType::u64);
    MicroOp& out = to.emit(Op::atom, in.type(), destinations, sources);
    out.space = at.space;
    out.immediate = at.offset;
    out.vector = static_cast<std::uint8_t>(length);
    out.variant = static_cast<std::uint8_t>(atomic_named(in.word("op")));
}

struct Row {
    std::string_view syntax;  ///< after order, scope and space
    std::vector<std::string_view> words;
    Needs needs;
    bool shared = true;  ///< shared memory has it too
};

/// Each row with the orders, scopes and spaces that it has.
void add_forms(Family& family, std::string_view opcode, std::string_view orders, const std::vector<Row>& rows) {
    for (const Row& row : rows) {
        std::vector<std::string_view> words{
            orders, "scope: cta cluster gpu sys",
            row.shared ? "space: global shared shared::cta shared::cluster" : "space: global"};
        words.insert(words.end(), row.words.begin(), row.words.end());
        family.forms.push_back(
            {keep(fmt::format("{}{{.sem}}{{.scope}}{{.space}}{}", opcode, row.syntax)), std::move(words), row.needs});
    }
}

constexpr std::string_view vector_halves = "vec: v2 v4 v8", vector_words = "vec: v2 v4";

std::vector<Row> vector_rows(std::string_view operands, std::string_view hinted_operands) {
    std::vector<Row> rows;
    const Needs needs = since(8, 1, 90);
    auto add = [&](std::string_view start, std::vector<std::string_view> words) {
        rows.push_back({keep(fmt::format("{}.vec.type{}", start, operands)), words, needs, false});
        rows.push_back(
            {keep(fmt::format("{}.L2::cache_hint.vec.type{}", start, hinted_operands)), words, needs, false});
    };
    add(".op", {"op: add", vector_words, "type: f32"});
    add(".op.noftz", {"op: add min max", vector_halves, "type: f16 bf16"});
    add(".op.noftz", {"op: add min max", vector_words, "type: f16x2 bf16x2"});
    return rows;
}

std::vector<Row> scalar_rows(std::string_view operands, std::string_view hinted_operands) {
    std::vector<Row> rows;
    auto add = [&](std::string_view start, std::vector<std::string_view> words, Needs needs) {
        rows.push_back({keep(fmt::format("{}.type{}", start, operands)), words, needs});
        rows.push_back({keep(fmt::format("{}.L2::cache_hint.type{}", start, hinted_operands)), words, needs, false});
    };
    add(".op", {"op: and or xor", "type: b32 b64"}, since(1, 1, 11));
    add(".op", {"op: add", "type: u32 s32 u64 f32"}, since(1, 1, 11));
    add(".op", {"op: add", "type: f64"}, since(5, 0, 60));
    add(".op", {"op: inc dec", "type: u32"}, since(1, 1, 11));
    add(".op", {"op: min max", "type: u32 s32 u64 s64"}, since(1, 1, 11));
    add(".op.noftz", {"op: add", "type: f16x2"}, since(6, 2, 60));
    add(".op.noftz", {"op: add", "type: f16"}, since(6, 3, 70));
    add(".op.noftz", {"op: add", "type: bf16 bf16x2"}, since(7, 8, 90));
    return rows;
}

Family atom_family() {
    Family family{.manual = "9.7.13.5", .forms = {}, .lower = atomic};
    constexpr std::string_view orders = "sem: relaxed acquire release acq_rel";
    constexpr std::string_view one = " d, [a], b", hinted = " d, [a], b, policy:b64";
    add_forms(family, "atom", orders, scalar_rows(one, hinted));
    add_forms(family, "atom", orders,
              {{".op.type d, [a], b", {"op: exch", "type: b32 b64"}, since(1, 1, 11)},
               {".op.L2::cache_hint.type d, [a], b, policy:b64", {"op: exch", "type: b32 b64"}, since(7, 4, 80), false},
               {".op.type d, [a], b", {"op: exch", "type: b128"}, since(8, 3, 90)},
               {".op.L2::cache_hint.type d, [a], b, policy:b64", {"op: exch", "type: b128"}, since(8, 3, 90), false},
               {".op.type d, [a], b, c", {"op: cas", "type: b32 b64"}, since(1, 1, 11)},
               {".op.type d, [a], b, c", {"op: cas", "type: b16"}, since(6, 3, 70)},
               {".op.type d, [a], b, c", {"op: cas", "type: b128"}, since(8, 3, 90)}});
    add_forms(family, "atom", orders, vector_rows(one, hinted));
    return family;
}

Family red_family() {
    Family family{.manual = "9.7.13.6", .forms = {}, .lower = atomic};
    constexpr std::string_view orders = "sem: relaxed release";
    constexpr std::string_view one = " [a], b", hinted = " [a], b, policy:b64";
    add_forms(family, "red", orders, scalar_rows(one, hinted));
    add_forms(family, "red", orders, vector_rows(one, hinted));
    return family;
}

}  // namespace

std::vector<Family> atomics_families() { return {atom_family(), red_family()}; }

}  // namespace tilepath::isa
