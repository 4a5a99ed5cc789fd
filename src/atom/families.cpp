#include "atom/families.h"

#include <fmt/format.h>

#include <algorithm>

#include "atom/rules.h"
#include "base/assert.h"

namespace tilepath::atom {
namespace {

using enum number::Format;
using number::Format;
using number::traits;

std::string shape_names(const std::vector<ShapeRule>& rules) {
    std::string text;
    for (const ShapeRule& rule : rules) text += fmt::format("{}{}", text.empty() ? "" : ", ", to_string(rule.shape));
    return text;
}

std::string_view name(Major major) { return major == Major::row ? "row" : "col"; }

struct KindRow {
    MmaKind kind;
    std::string_view qualifier;
    bool in_bytes;  ///< one element per byte, whatever its width
};
constexpr KindRow kinds[] = {
    {MmaKind::none, "", false},
    {MmaKind::f8f6f4, ".kind::f8f6f4", true},
    {MmaKind::mxf8f6f4, ".kind::mxf8f6f4", true},
    {MmaKind::mxf4, ".kind::mxf4", false},
    {MmaKind::mxf4nvf4, ".kind::mxf4nvf4", false},
};
const KindRow& row_of(MmaKind kind) { return kinds[static_cast<std::size_t>(kind)]; }

Result<void> check_accumulators(std::string_view instruction, const MmaFamily& family, Shape shape, MmaTypes types) {
    if (!has(family.accumulators, types.d) || !has(family.accumulators, types.c)) {
        return fail(fmt::format("{} {} accumulates in {}, found D {} and C {}", family.name, instruction,
                                names(family.accumulators), traits(types.d).name, traits(types.c).name));
    }
    if (types.d != types.c && !(is_quad(shape, types.a) && types.d == f32)) {
        return fail(fmt::format("{} wants D and C of one type, found D {} and C {}", instruction, traits(types.d).name,
                                traits(types.c).name),
                    "only f16 m8n8k4 takes C f16 with D f32");
    }
    return {};
}

}  // namespace

const std::vector<MmaFamily>& mma_families() {
    using enum MmaKind;
    static const std::vector<Format> fp8_to_fp4{e4m3, e5m2, e3m2, e2m3, e2m1};
    // clang-format off
    static const std::vector<MmaFamily> rows{
        {"f16", none, {f16}, false, {f16, f32},
         {{{8, 8, 4}, 70}, {{16, 8, 8}, 75}, {{16, 8, 16}, 80}}, {{{16, 8, 16}, 80}, {{16, 8, 32}, 80}}},
        {"bf16", none, {bf16}, false, {f32},
         {{{16, 8, 8}, 80}, {{16, 8, 16}, 80}}, {{{16, 8, 16}, 80}, {{16, 8, 32}, 80}}},
        {"tf32", none, {tf32}, false, {f32},
         {{{16, 8, 4}, 80}, {{16, 8, 8}, 80}}, {{{16, 8, 8}, 80}, {{16, 8, 16}, 80}}},
        {"f64", none, {f64}, false, {f64},
         {{{8, 8, 4}, 80}, {{16, 8, 4}, 90}, {{16, 8, 8}, 90}, {{16, 8, 16}, 90}}, {}},
        {"8-bit integer", none, {s8, u8}, true, {s32},
         {{{8, 8, 16}, 75}, {{16, 8, 16}, 80}, {{16, 8, 32}, 80}}, {{{16, 8, 32}, 80}, {{16, 8, 64}, 80}}},
        {"4-bit integer", none, {s4, u4}, true, {s32},
         {{{8, 8, 32}, 75}, {{16, 8, 32}, 80}, {{16, 8, 64}, 80}}, {{{16, 8, 64}, 80}, {{16, 8, 128}, 80}}},
        {"b1", none, {b1}, false, {s32},
         {{{8, 8, 128}, 75}, {{16, 8, 128}, 80}, {{16, 8, 256}, 80}}, {}},
        {"fp8", none, {e4m3, e5m2}, true, {f16, f32},
         {{{16, 8, 16}, 89}, {{16, 8, 32}, 89}}, {{{16, 8, 64}, 89}}},
        {"kind::f8f6f4", f8f6f4, fp8_to_fp4, true, {f16, f32},
         {{{16, 8, 16}, 100}, {{16, 8, 32}, 100}}, {{{16, 8, 64}, 100}}},
        {"kind::mxf8f6f4", mxf8f6f4, fp8_to_fp4, true, {f32}, {{{16, 8, 32}, 120}}, {{{16, 8, 64}, 120}}},
        {"kind::mxf4", mxf4, {e2m1}, false, {f32}, {{{16, 8, 64}, 120}}, {{{16, 8, 128}, 120}}},
        {"kind::mxf4nvf4", mxf4nvf4, {e2m1}, false, {f32}, {{{16, 8, 64}, 120}}, {{{16, 8, 128}, 120}}},
    };
    // clang-format on
    return rows;
}

bool has_narrow_floats(MmaTypes types) {
    auto narrow = [](Format format) { return traits(format).floating && traits(format).bits < 8; };
    return narrow(types.a) || narrow(types.b);
}

Result<FamilyShape> find_family(std::string_view instruction, std::vector<ShapeRule> MmaFamily::*shapes, Shape shape,
                                MmaTypes types, MmaKind kind) {
    auto family = std::ranges::find_if(mma_families(), [&](const MmaFamily& row) {
        return row.kind == kind && !(row.*shapes).empty() && has(row.inputs, types.a);
    });
    if (family == mma_families().end()) {
        return fail(
            fmt::format("{}{} multiplies no {} matrices", instruction, row_of(kind).qualifier, traits(types.a).name),
            "6- and 4-bit floats need a .kind; f32 data is multiplied as tf32");
    }
    if (!has(family->inputs, types.b) || (types.a != types.b && !family->mixed)) {
        return fail(fmt::format("{} {} wants B of {}, found {}", family->name, instruction,
                                family->mixed ? names(family->inputs) : std::string(traits(types.a).name),
                                traits(types.b).name));
    }
    auto rule = std::ranges::find((*family).*shapes, shape, &ShapeRule::shape);
    if (rule == ((*family).*shapes).end()) {
        return fail(fmt::format("{} {} has no shape {}", family->name, instruction, to_string(shape)),
                    "its shapes: " + shape_names((*family).*shapes));
    }
    if (auto ok = check_accumulators(instruction, *family, shape, types); !ok) return std::unexpected(ok.error());
    return FamilyShape{&*family, &*rule};
}

std::optional<MmaKind> mma_kind_named(std::string_view word) {
    if (word.empty()) return MmaKind::none;
    for (const KindRow& row : kinds)
        if (row.kind != MmaKind::none && row.qualifier.substr(1) == word) return row.kind;
    return {};
}

Packing packing_of(Format format, MmaKind kind) { return row_of(kind).in_bytes ? in_bytes(format) : packed(format); }

std::string mma_name(Shape shape, MmaTypes types, Major a_major, Major b_major, MmaKind kind) {
    return fmt::format("{}.{}.{}{}.{}.{}.{}.{}", to_string(shape), name(a_major), name(b_major), row_of(kind).qualifier,
                       traits(types.d).name, traits(types.a).name, traits(types.b).name, traits(types.c).name);
}

}  // namespace tilepath::atom
