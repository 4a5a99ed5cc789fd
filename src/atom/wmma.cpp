#include "atom/wmma.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "atom/rules.h"
#include "base/assert.h"

namespace tilepath::atom {
namespace {

using layout::Axis;
using layout::Layout;
using enum number::Format;
using number::Format;
using number::traits;

struct WmmaRule {
    std::vector<Format> inputs;  ///< A and B alike
    std::vector<Format> accumulators;
    std::vector<Shape> shapes;
    int minimum_sm;
};

const std::vector<WmmaRule>& rules() {
    static const std::vector<Shape> by_16{{16, 16, 16}, {8, 32, 16}, {32, 8, 16}};
    static const std::vector<WmmaRule> rows{
        {{f16}, {f16, f32}, by_16, 70},   {{s8, u8}, {s32}, by_16, 72}, {{s4, u4}, {s32}, {{8, 8, 32}}, 75},
        {{b1}, {s32}, {{8, 8, 128}}, 75}, {{bf16}, {f32}, by_16, 80},   {{tf32}, {f32}, {{16, 16, 8}}, 80},
        {{f64}, {f64}, {{8, 8, 4}}, 80},
    };
    return rows;
}

/// f16's A and B take eight registers in every shape: those that the tile needs, over again.
Fragment filled(Fragment fragment) {
    if (fragment.format != f16 || fragment.registers == 8) return fragment;
    Result<Layout> layout = Layout::make(
        fragment.layout.shard(), {{8 / fragment.registers, fragment.registers, Axis::reg}}, fragment.layout.offset());
    TILEPATH_ASSERT(layout, "a repeated fragment is malformed");
    fragment.layout = *std::move(layout);
    fragment.registers = 8;
    return fragment;
}

void set_fragments(WmmaAtom& atom) {
    auto [m, n, k] = atom.shape;
    Packing packing = packed(atom.types.a);
    auto accumulator = [&](std::string operand, Format format) {
        // m8n32 is m32n8 of the transposed product.
        if (n == 32) return transposed(c_fragment(operand, n, m, format), operand);
        return c_fragment(operand, m, n, format);
    };
    if (n == 32) {
        atom.a = filled(transposed(b_fragment(k, m, atom.types.a, packing), "A"));
        atom.b = filled(transposed(a_fragment(n, k, atom.types.b, packing), "B"));
    } else {
        atom.a = filled(a_fragment(m, k, atom.types.a, packing));
        atom.b = filled(b_fragment(k, n, atom.types.b, packing));
    }
    atom.c = accumulator("C", atom.types.c);
    atom.d = accumulator("D", atom.types.d);
}

}  // namespace

Result<WmmaAtom> wmma(Shape shape, MmaTypes types) {
    auto rule = std::ranges::find_if(rules(), [&](const WmmaRule& row) { return has(row.inputs, types.a); });
    if (rule == rules().end()) return fail(fmt::format("wmma multiplies no {} matrices", traits(types.a).name));
    if (types.a != types.b) {
        return fail(
            fmt::format("wmma wants A and B of one type, found {} and {}", traits(types.a).name, traits(types.b).name));
    }
    if (!has(rule->accumulators, types.c) || !has(rule->accumulators, types.d)) {
        std::string names;
        for (Format format : rule->accumulators)
            names += fmt::format("{}{}", names.empty() ? "" : " or ", traits(format).name);
        return fail(fmt::format("{} wmma accumulates in {}, found D {} and C {}", traits(types.a).name, names,
                                traits(types.d).name, traits(types.c).name));
    }
    if (std::ranges::find(rule->shapes, shape) == rule->shapes.end()) {
        std::string names;
        for (Shape known : rule->shapes) names += fmt::format("{}{}", names.empty() ? "" : ", ", to_string(known));
        return fail(fmt::format("{} wmma has no shape {}", traits(types.a).name, to_string(shape)),
                    "its shapes: " + names);
    }
    WmmaAtom atom;
    atom.name = fmt::format("{}.{}.{}.{}.{}", to_string(shape), traits(types.d).name, traits(types.a).name,
                            traits(types.b).name, traits(types.c).name);
    atom.shape = shape;
    atom.types = types;
    atom.row_col_only = traits(types.a).bits < 8;
    atom.minimum_sm = rule->minimum_sm;
    set_fragments(atom);
    return atom;
}

std::vector<WmmaAtom> all_wmma() {
    std::vector<WmmaAtom> all;
    for (const WmmaRule& rule : rules())
        for (Shape shape : rule.shapes)
            for (Format input : rule.inputs)
                for (Format d : rule.accumulators)
                    for (Format c : rule.accumulators)
                        if (auto atom = wmma(shape, {d, input, input, c})) all.push_back(*std::move(atom));
    return all;
}

}  // namespace tilepath::atom
