#include "atom/mma.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <optional>

#include "atom/rules.h"

namespace tilepath::atom {
namespace {

using layout::Axis;
using layout::Layout;
using enum number::Format;
using number::Format;
using number::traits;

struct ShapeRule {
    Shape shape;
    int minimum_sm;
};

/// One class of operand types and what it allows.
struct Family {
    std::string_view name;
    MmaKind kind;
    std::vector<Format> inputs;  ///< for A and for B
    bool mixed;                  ///< A and B may differ
    std::vector<Format> accumulators;
    std::vector<ShapeRule> shapes;
};

/// PTX ISA 9.7.14.5; architectures as ptxas 13.0 has them.
const std::vector<Family>& families() {
    static const std::vector<Family> rows{
        {"f16", MmaKind::none, {f16}, false, {f16, f32}, {{{8, 8, 4}, 70}, {{16, 8, 8}, 75}, {{16, 8, 16}, 80}}},
        {"bf16", MmaKind::none, {bf16}, false, {f32}, {{{16, 8, 8}, 80}, {{16, 8, 16}, 80}}},
        {"tf32", MmaKind::none, {tf32}, false, {f32}, {{{16, 8, 4}, 80}, {{16, 8, 8}, 80}}},
        {"f64",
         MmaKind::none,
         {f64},
         false,
         {f64},
         {{{8, 8, 4}, 80}, {{16, 8, 4}, 90}, {{16, 8, 8}, 90}, {{16, 8, 16}, 90}}},
        {"8-bit integer",
         MmaKind::none,
         {s8, u8},
         true,
         {s32},
         {{{8, 8, 16}, 75}, {{16, 8, 16}, 80}, {{16, 8, 32}, 80}}},
        {"4-bit integer",
         MmaKind::none,
         {s4, u4},
         true,
         {s32},
         {{{8, 8, 32}, 75}, {{16, 8, 32}, 80}, {{16, 8, 64}, 80}}},
        {"b1", MmaKind::none, {b1}, false, {s32}, {{{8, 8, 128}, 75}, {{16, 8, 128}, 80}, {{16, 8, 256}, 80}}},
        {"fp8", MmaKind::none, {e4m3, e5m2}, true, {f16, f32}, {{{16, 8, 16}, 89}, {{16, 8, 32}, 89}}},
        {"kind::f8f6f4", MmaKind::f8f6f4, {e4m3, e5m2, e3m2, e2m3, e2m1}, true, {f16, f32}, {{{16, 8, 32}, 100}}},
    };
    return rows;
}

bool has(const std::vector<Format>& formats, Format format) {
    return std::ranges::find(formats, format) != formats.end();
}

std::string names(const std::vector<Format>& formats) {
    std::string text;
    for (Format format : formats) text += fmt::format("{}{}", text.empty() ? "" : ", ", traits(format).name);
    return text;
}

std::string shape_names(const Family& family) {
    std::string text;
    for (const ShapeRule& rule : family.shapes)
        text += fmt::format("{}{}", text.empty() ? "" : ", ", to_string(rule.shape));
    return text;
}

/// f16 m8n8k4: four products; block p is held by lanes 4p … 4p+3 and the same plus 16. PTX ISA 9.7.14.5.1.
bool is_quad(Shape shape, Format a) { return shape == Shape{8, 8, 4} && a == f16; }

Fragment quad_fragment(std::string operand, int rows, int columns, Format format, layout::Mode row,
                       layout::Mode column) {
    Fragment made;
    made.operand = std::move(operand);
    made.blocks = 4;
    made.rows = rows;
    made.columns = columns;
    made.format = format;
    made.element_bits = traits(format).bits;
    made.layout = Layout::of({{{4, 4, Axis::laneid}}, std::move(row), std::move(column)});
    made.registers = rows * columns * made.element_bits / 8 / 32;
    return made;
}

void quad_fragments(MmaAtom& atom) {
    // The 8 rows or columns of a block that its 8 lanes own one each, and the four of the other extent, packed in two
    // registers.
    const layout::Mode by_lane{{2, 16, Axis::laneid}, {4, 1, Axis::laneid}};
    const layout::Mode four_packed{{2, 1, Axis::reg}, {2, 16, Axis::bit}};
    // The other way round: each lane owns one of four, and holds four of eight.
    const layout::Mode half_by_lane{{2, 16, Axis::laneid}, {2, 1, Axis::reg}, {2, 16, Axis::bit}};
    const layout::Mode four_by_lane{{4, 1, Axis::laneid}};
    bool a_by_row = atom.a_major == Major::row, b_by_column = atom.b_major == Major::column;
    atom.a = a_by_row ? quad_fragment("A", 8, 4, f16, by_lane, four_packed)
                      : quad_fragment("A", 8, 4, f16, half_by_lane, four_by_lane);
    atom.b = b_by_column ? quad_fragment("B", 4, 8, f16, four_packed, by_lane)
                         : quad_fragment("B", 4, 8, f16, four_by_lane, half_by_lane);
    auto accumulator = [&](std::string operand, Format format) {
        if (format == f16) {
            return quad_fragment(std::move(operand), 8, 8, format, by_lane, {{4, 1, Axis::reg}, {2, 16, Axis::bit}});
        }
        return quad_fragment(std::move(operand), 8, 8, format,
                             {{2, 16, Axis::laneid}, {2, 2, Axis::reg}, {2, 1, Axis::laneid}},
                             {{2, 4, Axis::reg}, {2, 2, Axis::laneid}, {2, 1, Axis::reg}});
    };
    atom.c = accumulator("C", atom.types.c);
    atom.d = accumulator("D", atom.types.d);
}

void fragments(MmaAtom& atom) {
    if (is_quad(atom.shape, atom.types.a)) {
        atom.blocks = 4;
        return quad_fragments(atom);
    }
    auto packing = [&](Format format) { return atom.kind == MmaKind::none ? packed(format) : in_bytes(format); };
    auto [m, n, k] = atom.shape;
    atom.a = a_fragment(m, k, atom.types.a, packing(atom.types.a));
    atom.b = b_fragment(k, n, atom.types.b, packing(atom.types.b));
    atom.c = c_fragment("C", m, n, atom.types.c);
    atom.d = c_fragment("D", m, n, atom.types.d);
}

std::string_view name(Major major) { return major == Major::row ? "row" : "col"; }

std::optional<Diagnostics> accumulator_fault(const Family& family, Shape shape, MmaTypes types) {
    if (!has(family.accumulators, types.d) || !has(family.accumulators, types.c)) {
        return fail(fmt::format("{} mma.sync accumulates in {}, found D {} and C {}", family.name,
                                names(family.accumulators), traits(types.d).name, traits(types.c).name))
            .error();
    }
    if (types.d != types.c && !(is_quad(shape, types.a) && types.d == f32)) {
        return fail(fmt::format("mma.sync wants D and C of one type, found D {} and C {}", traits(types.d).name,
                                traits(types.c).name),
                    "only m8n8k4 takes C f16 with D f32")
            .error();
    }
    return std::nullopt;
}

}  // namespace

std::string to_string(Shape shape) { return fmt::format("m{}n{}k{}", shape.m, shape.n, shape.k); }

Result<MmaAtom> mma_sync(Shape shape, MmaTypes types, Major a_major, Major b_major, MmaKind kind) {
    auto family = std::ranges::find_if(families(),
                                       [&](const Family& row) { return row.kind == kind && has(row.inputs, types.a); });
    if (family == families().end()) {
        return fail(fmt::format("mma.sync multiplies no {} matrices here", traits(types.a).name),
                    "6- and 4-bit floats need .kind; f32 data is multiplied as tf32");
    }
    if (!has(family->inputs, types.b) || (types.a != types.b && !family->mixed)) {
        return fail(fmt::format("{} mma.sync wants B of {}, found {}", family->name,
                                family->mixed ? names(family->inputs) : std::string(traits(types.a).name),
                                traits(types.b).name));
    }
    auto rule = std::ranges::find(family->shapes, shape, &ShapeRule::shape);
    if (rule == family->shapes.end()) {
        return fail(fmt::format("{} mma.sync has no shape {}", family->name, to_string(shape)),
                    "its shapes: " + shape_names(*family));
    }
    if (auto fault = accumulator_fault(*family, shape, types)) return std::unexpected(*std::move(fault));
    if (!is_quad(shape, types.a) && (a_major != Major::row || b_major != Major::column)) {
        return fail("mma.sync wants .row.col",
                    "only f16 m8n8k4 has other orders; load the operand transposed (ldmatrix.trans)");
    }
    MmaAtom atom;
    atom.name = fmt::format("{}.{}.{}.{}.{}.{}.{}", to_string(shape), name(a_major), name(b_major),
                            traits(types.d).name, traits(types.a).name, traits(types.b).name, traits(types.c).name);
    atom.shape = shape;
    atom.types = types;
    atom.a_major = a_major;
    atom.b_major = b_major;
    atom.kind = kind;
    atom.minimum_sm = rule->minimum_sm;
    fragments(atom);
    return atom;
}

std::vector<MmaAtom> all_mma_sync() {
    std::vector<MmaAtom> all;
    auto take = [&](const Family& family, Shape shape, MmaTypes types) {
        for (Major a_major : {Major::row, Major::column}) {
            for (Major b_major : {Major::row, Major::column}) {
                if (auto atom = mma_sync(shape, types, a_major, b_major, family.kind)) all.push_back(*std::move(atom));
            }
        }
    };
    for (const Family& family : families())
        for (const ShapeRule& rule : family.shapes)
            for (Format a : family.inputs)
                for (Format b : family.inputs)
                    for (Format d : family.accumulators)
                        for (Format c : family.accumulators) take(family, rule.shape, {d, a, b, c});
    return all;
}

}  // namespace tilepath::atom
