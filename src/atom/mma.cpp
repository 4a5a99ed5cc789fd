#include "atom/mma.h"

#include <fmt/format.h>

#include <algorithm>

#include "atom/families.h"
#include "atom/rules.h"

namespace tilepath::atom {
namespace {

using number::Format;

void set_fragments(MmaAtom& atom) {
    if (is_quad(atom.shape, atom.types.a)) return set_quad_fragments(atom);
    auto [m, n, k] = atom.shape;
    atom.a = a_fragment(m, k, atom.types.a, packing_of(atom.types.a, atom.kind));
    atom.b = b_fragment(k, n, atom.types.b, packing_of(atom.types.b, atom.kind));
    atom.c = c_fragment("C", m, n, atom.types.c);
    atom.d = c_fragment("D", m, n, atom.types.d);
}

/// kind::f8f6f4 takes bytes from sm_100a on, narrower floats from sm_120a on, and those not with k of 16 (ptxas 13.0).
int minimum_sm(const ShapeRule& rule, MmaTypes types) {
    return has_narrow_floats(types) ? std::max(rule.minimum_sm, 120) : rule.minimum_sm;
}

}  // namespace

std::string to_string(Shape shape) { return fmt::format("m{}n{}k{}", shape.m, shape.n, shape.k); }

Result<MmaAtom> mma_sync(Shape shape, MmaTypes types, Major a_major, Major b_major, MmaKind kind) {
    Result<FamilyShape> found = find_family("mma.sync", &MmaFamily::dense, shape, types, kind);
    if (!found) return std::unexpected(found.error());
    bool quad = is_quad(shape, types.a);
    if (!quad && (a_major != Major::row || b_major != Major::column)) {
        return fail("mma.sync wants .row.col",
                    "only f16 m8n8k4 has other orders; load the operand transposed (ldmatrix.trans)");
    }
    if (kind == MmaKind::f8f6f4 && shape.k == 16 && has_narrow_floats(types))
        return fail("mma.sync.kind::f8f6f4 multiplies 6- and 4-bit floats as m16n8k32 only");
    MmaAtom atom;
    atom.name = mma_name(shape, types, a_major, b_major, kind);
    atom.shape = shape;
    atom.types = types;
    atom.a_major = a_major;
    atom.b_major = b_major;
    atom.kind = kind;
    atom.blocks = quad ? 4 : 1;
    atom.minimum_sm = minimum_sm(*found->rule, types);
    set_fragments(atom);
    return atom;
}

std::vector<MmaAtom> all_mma_sync() {
    std::vector<MmaAtom> all;
    auto take = [&](const MmaFamily& family, Shape shape, MmaTypes types) {
        for (Major a_major : {Major::row, Major::column}) {
            for (Major b_major : {Major::row, Major::column}) {
                if (auto atom = mma_sync(shape, types, a_major, b_major, family.kind)) all.push_back(*std::move(atom));
            }
        }
    };
    for (const MmaFamily& family : mma_families())
        for (const ShapeRule& rule : family.dense)
            for (Format a : family.inputs)
                for (Format b : family.inputs)
                    for (Format d : family.accumulators)
                        for (Format c : family.accumulators) take(family, rule.shape, {d, a, b, c});
    return all;
}

}  // namespace tilepath::atom
