#include "atom/mma_sp.h"

#include <utility>

#include "atom/families.h"
#include "atom/rules.h"
#include "base/assert.h"

namespace tilepath::atom {
namespace {

using layout::Axis;
using layout::Layout;
using layout::Mode;
using number::Format;

struct SparsityRow {
    Sparsity sparsity;
    int chunk;
};
constexpr SparsityRow sparsities[] = {
    {Sparsity::one_of_two, 2}, {Sparsity::two_of_four, 4}, {Sparsity::pairs_of_eight, 8}};

/// By the pitch of A's elements in registers.
SparsityRow sparsity_of(int pitch) { return sparsities[pitch == 32 ? 0 : pitch == 4 ? 2 : 1]; }

/// Lanes of a quad whose metadata word counts: a word holds eight chunks.
int contributing_lanes(const SparseMmaAtom& atom) { return atom.shape.m * (atom.shape.k / atom.chunk) / 8 / 8; }

}  // namespace

Fragment SparseMmaAtom::metadata(int selector) const {
    TILEPATH_ASSERT(selector >= 0 && selector < selectors, "a sparsity selector out of range");
    int chunks = shape.k / chunk;
    int lanes = contributing_lanes(*this);
    // Wide elements: rows g and g+8 share a word, four chunks each. Narrow ones: a word is eight chunks of one row.
    bool shared = packing_of(types.a, kind).pitch >= 16;
    Mode row =
        shared ? Mode{{2, 16, Axis::bit}, {8, 4, Axis::laneid}} : Mode{{2, 1, Axis::laneid}, {8, 4, Axis::laneid}};
    Mode column = shared ? Mode{{chunks / 4, 1, Axis::laneid}, {4, 4, Axis::bit}}
                         : Mode{{chunks / 8, 2, Axis::laneid}, {8, 4, Axis::bit}};
    Fragment made;
    made.operand = "metadata";
    made.rows = shape.m;
    made.columns = chunks;
    made.element_bits = 4;
    made.registers = 1;
    made.layout = Layout::of({{{1, 0}}, std::move(row), std::move(column)}, {}, {{selector * lanes, Axis::laneid}});
    return made;
}

Result<SparseMmaAtom> mma_sp(Shape shape, MmaTypes types, MmaKind kind) {
    Result<FamilyShape> found = find_family("mma.sp", &MmaFamily::sparse, shape, types, kind);
    if (!found) return std::unexpected(found.error());
    SparseMmaAtom atom;
    atom.name = mma_name(shape, types, Major::row, Major::column, kind);
    atom.shape = shape;
    atom.types = types;
    atom.kind = kind;
    Packing packing = packing_of(types.a, kind);
    SparsityRow row = sparsity_of(packing.pitch);
    atom.sparsity = row.sparsity;
    atom.chunk = row.chunk;
    atom.selectors = 4 / contributing_lanes(atom);
    atom.minimum_sm = found->rule->minimum_sm;
    // fp8 with f16 results and narrower floats came with sm_120a (ptxas 13.0), both without the unordered form, as all
    // kinds.
    const bool half_of_bytes = number::traits(types.a).floating && packing.pitch == 8 && types.d == Format::f16;
    if (half_of_bytes || has_narrow_floats(types)) atom.minimum_sm = 120;
    atom.ordered_metadata_only = atom.minimum_sm >= 120 || kind != MmaKind::none;
    atom.a = a_fragment(shape.m, shape.k / 2, types.a, packing);
    atom.b = b_fragment(shape.k, shape.n, types.b, packing_of(types.b, kind));
    atom.c = c_fragment("C", shape.m, shape.n, types.c);
    atom.d = c_fragment("D", shape.m, shape.n, types.d);
    return atom;
}

std::vector<SparseMmaAtom> all_mma_sp() {
    std::vector<SparseMmaAtom> all;
    for (const MmaFamily& family : mma_families())
        for (const ShapeRule& rule : family.sparse)
            for (Format a : family.inputs)
                for (Format b : family.inputs)
                    for (Format d : family.accumulators)
                        if (auto atom = mma_sp(rule.shape, {d, a, b, d}, family.kind)) all.push_back(*std::move(atom));
    return all;
}

std::optional<SelectedColumns> selected_columns(Sparsity sparsity, unsigned metadata) {
    int low = metadata & 3, high = metadata >> 2 & 3;
    switch (sparsity) {
        case Sparsity::one_of_two:
            if (metadata == 0b0100) return SelectedColumns{1, {0}};
            if (metadata == 0b1110) return SelectedColumns{1, {1}};
            return std::nullopt;
        case Sparsity::two_of_four:
            if (low >= high || metadata > 15) return std::nullopt;
            return SelectedColumns{2, {low, high}};
        case Sparsity::pairs_of_eight:
            if (low >= high || metadata > 15) return std::nullopt;
            return SelectedColumns{4, {2 * low, 2 * low + 1, 2 * high, 2 * high + 1}};
    }
    std::unreachable();
}

}  // namespace tilepath::atom
