#include "atom/wgmma.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "atom/rules.h"
#include "base/assert.h"

namespace tilepath::atom {
namespace {

using layout::Axis;
using layout::Layout;
using layout::Mode;
using enum number::Format;
using number::Format;
using number::traits;

constexpr int k_bytes = 32;  // of an instruction's dense K

struct WgmmaRule {
    std::string_view name;
    std::vector<Format> inputs;
    bool mixed;
    std::vector<Format> accumulators;
    bool sparse;
    bool negates, transposes;
    bool coarse_n;  ///< n above 32 in steps of 16
};

const std::vector<WgmmaRule>& rules() {
    static const std::vector<WgmmaRule> rows{
        {"f16", {f16}, false, {f16, f32}, true, true, true, false},
        {"bf16", {bf16}, false, {f32}, true, true, true, false},
        {"tf32", {tf32}, false, {f32}, true, true, false, false},
        {"fp8", {e4m3, e5m2}, true, {f16, f32}, true, true, false, false},
        {"8-bit integer", {s8, u8}, true, {s32}, true, false, false, true},
        {"b1", {b1}, false, {s32}, false, false, false, true},
    };
    return rows;
}

bool legal_n(int n, bool coarse) {
    if (n < 8 || n > 256 || n % 8 != 0) return false;
    return !coarse || n <= 24 || n % 16 == 0;
}

/// The warp's fragment for each of the four warps: rows 16w to 16w + 15.
Fragment by_warp(Fragment fragment) {
    std::vector<Mode> modes = fragment.layout.shard();
    modes[1].insert(modes[1].begin(), {4, 1, Axis::wid_in_wg});
    Result<Layout> layout = Layout::make(std::move(modes), fragment.layout.replica(), fragment.layout.offset());
    TILEPATH_ASSERT(layout, "a warpgroup's fragment is malformed");
    fragment.layout = *std::move(layout);
    fragment.rows *= 4;
    return fragment;
}

/// The warp's part of a sparse product: metadata is the warp's as in mma.sp.
Result<SparseMmaAtom> warp_part(Shape shape, MmaTypes types) {
    // fp8 keeps mma.sp's f32 form; only A's packing matters here.
    MmaTypes of_warp = types.d == f16 && types.a != f16 ? MmaTypes{f32, types.a, types.b, f32} : types;
    return mma_sp({16, 8, shape.k}, of_warp);
}

std::string either(const std::vector<Format>& formats) {
    std::string text;
    for (Format format : formats) text += fmt::format("{}{}", text.empty() ? "" : " or ", traits(format).name);
    return text;
}

Result<void> check_types(const WgmmaRule& rule, MmaTypes types, bool sparse) {
    if (!has(rule.inputs, types.b) || (types.a != types.b && !rule.mixed)) {
        return fail(fmt::format("{} wgmma wants B of {}, found {}", rule.name,
                                rule.mixed ? either(rule.inputs) : std::string(rule.name), traits(types.b).name));
    }
    if (types.c != types.d) return fail("wgmma accumulates in place: C is D");
    if (!has(rule.accumulators, types.d)) {
        return fail(fmt::format("{} wgmma accumulates in {}, found {}", rule.name, either(rule.accumulators),
                                traits(types.d).name));
    }
    if (sparse && !rule.sparse) return fail(fmt::format("{} wgmma has no sparse form", rule.name));
    return {};
}

}  // namespace

Fragment WgmmaAtom::metadata(int selector) const {
    TILEPATH_ASSERT(sparse, "a dense wgmma has no metadata");
    Result<SparseMmaAtom> part = warp_part(shape, types);
    TILEPATH_ASSERT(part, "wgmma's sparse shapes are mma.sp's");
    return by_warp(part->metadata(selector));
}

Result<WgmmaAtom> wgmma(Shape shape, MmaTypes types, bool sparse) {
    auto rule = std::ranges::find_if(rules(), [&](const WgmmaRule& row) { return has(row.inputs, types.a); });
    if (rule == rules().end()) return fail(fmt::format("wgmma multiplies no {} matrices", traits(types.a).name));
    if (auto ok = check_types(*rule, types, sparse); !ok) return std::unexpected(ok.error());
    Packing packing = packed(types.a);
    int k = k_bytes * 8 / packing.pitch * (sparse ? 2 : 1);
    if (shape.m != 64 || shape.k != k) {
        return fail(fmt::format("{}{} wgmma has shape m64n…k{}, found {}", sparse ? "sparse " : "", rule->name, k,
                                to_string(shape)));
    }
    if (!legal_n(shape.n, rule->coarse_n)) {
        return fail(fmt::format("{} wgmma has no n of {}", rule->name, shape.n),
                    rule->coarse_n ? "n is 8, 16, 24, 32, then steps of 16 to 256" : "n is 8 to 256 in steps of 8");
    }
    WgmmaAtom atom;
    atom.name =
        fmt::format("{}.{}.{}.{}", to_string(shape), traits(types.d).name, traits(types.a).name, traits(types.b).name);
    atom.shape = shape;
    atom.types = types;
    atom.sparse = sparse;
    atom.may_negate = rule->negates;
    atom.may_transpose = rule->transposes;
    if (sparse) {
        Result<SparseMmaAtom> part = warp_part(shape, types);
        TILEPATH_ASSERT(part, "wgmma's sparse shapes are mma.sp's");
        atom.sparsity = part->sparsity;
        atom.chunk = part->chunk;
        atom.selectors = part->selectors;
    }
    atom.a = by_warp(a_fragment(16, sparse ? shape.k / 2 : shape.k, types.a, packing));
    atom.d = by_warp(c_fragment("D", 16, shape.n, types.d));
    return atom;
}

std::vector<WgmmaAtom> all_wgmma() {
    std::vector<WgmmaAtom> all;
    for (const WgmmaRule& rule : rules())
        for (Format a : rule.inputs)
            for (Format b : rule.inputs)
                for (Format d : rule.accumulators)
                    for (bool sparse : {false, true})
                        for (int n = 8; n <= 256; n += 8) {
                            int k = k_bytes * 8 / packed(a).pitch * (sparse ? 2 : 1);
                            if (auto atom = wgmma({64, n, k}, {d, a, b, d}, sparse)) all.push_back(*std::move(atom));
                        }
    return all;
}

}  // namespace tilepath::atom
