// Tensor maps that a kernel changes: PTX ISA 9.7.9.27, 9.7.13.16.
#include <fmt/format.h>

#include "isa/plain.h"
#include "isa/spaces.h"
#include "isa/target.h"

namespace tilepath::isa {
namespace {

using program::TensorMapField;

struct FieldRow {
    std::string_view name;
    std::int64_t ordinals;  ///< how many of it a map has; 0: one, without a number
    std::int64_t last;      ///< the greatest value of a constant; 0: any
};
/// In TensorMapField's order; values as the manual's tables have them.
constexpr FieldRow fields[] = {
    {"global_address", 0, 0}, {"rank", 0, 0},           {"box_dim", 5, 0},           {"global_dim", 5, 0},
    {"global_stride", 4, 0},  {"element_stride", 5, 0}, {"elemtype", 0, 15},         {"interleave_layout", 0, 2},
    {"swizzle_mode", 0, 4},   {"fill_mode", 0, 1},      {"swizzle_atomicity", 0, 3},
};

/// The greatest constant of a field that the module's target has: packed types came with sm_100 and PTX ISA 8.7, the
/// 96B swizzle is sm_103a's (ptxas 13.0).
std::int64_t last_value(const ptx::Module& module, const FieldRow& row) {
    const Target target = target_named(module.architecture()).value_or(Target{});
    const auto has = [&](Needs needs) {
        return meets(needs, static_cast<int>(module.version_major), static_cast<int>(module.version_minor), target);
    };
    if (row.name == "elemtype" && !has(since(8, 7, 100, Suffix::families))) return 12;
    if (row.name == "swizzle_mode" && !has(since(8, 8, 103, Suffix::architecture))) return 3;
    return row.last;
}

void replace(Lowering& to, const Bound& in) {
    std::uint8_t field = 0;
    while (fields[field].name != in.word("field")) ++field;
    const FieldRow& row = fields[field];
    std::int64_t ordinal = 0;
    if (const ptx::Operand* given = in.operand("ord")) {
        ordinal = to.immediate(*given, "the ordinal");
        if (ordinal < 0 || ordinal >= row.ordinals)
            to.error(given->span,
                     fmt::format(".{} has the ordinals 0 to {}; found {}", row.name, row.ordinals - 1, ordinal));
    }
    if (row.last != 0) {
        const std::int64_t value = to.immediate(in["value"], fmt::format("the value of .{}", row.name));
        if (const std::int64_t last = last_value(to.module(), row); value < 0 || value > last)
            to.error(in["value"].span, fmt::format("the value of .{} is 0 to {}; found {}", row.name, last, value),
                     last == row.last ? "" : "later targets have more");
    }
    const Address at = to.address(in["a"], space_named(in.word("space")));
    const Operand base = whole_address(to, at), value = to.read(in["value"], in.type());
    MicroOp& out = to.emit(Op::tensormap_replace, in.type(), {}, {base, value});
    out.space = at.space;
    out.variant = field;
    out.immediate = ordinal;
}

void copy(Lowering& to, const Bound& in) {
    if (const std::int64_t bytes = to.immediate(in["size"], "the size"); bytes != 128)
        to.error(in["size"].span, fmt::format("a tensor map has 128 bytes; found {}", bytes));
    const Operand into = whole_address(to, to.address(in["dst"], Space::global));
    const Operand from = whole_address(to, to.address(in["src"], Space::shared));
    to.emit(Op::tensormap_copy, DataType::none, {}, {into, from}).space = Space::global;
}

constexpr std::string_view space = "space: global shared::cta";

FormText form(std::string_view syntax, std::string_view field, std::string_view type, Needs needs) {
    return {syntax, {space, field, type}, needs};
}

}  // namespace

std::vector<Family> tensormap_families() {
    constexpr std::string_view plain = "tensormap.replace.tile.field{.space}.b1024.type [a], value";
    constexpr std::string_view numbered = "tensormap.replace.tile.field{.space}.b1024.type [a], ord, value";
    const Needs needs = since(8, 3, 90, Suffix::families);
    return {
        {.manual = "9.7.9.27",
         .forms = {form(plain, "field: global_address", "type: b64", needs),
                   form(plain, "field: rank elemtype interleave_layout swizzle_mode fill_mode", "type: b32", needs),
                   form(plain, "field: swizzle_atomicity", "type: b32", since(8, 6, 100, Suffix::families)),
                   form(numbered, "field: box_dim global_dim element_stride", "type: b32", needs),
                   form(numbered, "field: global_stride", "type: b64", needs)},
         .lower = replace},
        {.manual = "9.7.13.16",
         .forms = {{"tensormap.cp_fenceproxy.dst.src.proxy.release.scope.sync.aligned [dst], [src], size",
                    {"dst: global", "src: shared::cta", "proxy: tensormap::generic", "scope: cta cluster gpu sys"},
                    since(8, 3, 90)}},
         .lower = copy},
    };
}

}  // namespace tilepath::isa
