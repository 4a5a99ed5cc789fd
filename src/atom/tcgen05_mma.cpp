#include "atom/tcgen05_mma.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "atom/rules.h"
#include "atom/tcgen05_paths.h"
#include "base/assert.h"

namespace tilepath::atom {
namespace {

using enum number::Format;
using number::Format;
using number::traits;

Result<void> check_types(const Tcgen05KindTraits& kind, MmaTypes types) {
    for (const Format input : {types.a, types.b})
        if (!has(kind.inputs, input))
            return fail(
                fmt::format("kind::{} multiplies {}, found {}", kind.name, names(kind.inputs), traits(input).name));
    if (types.c != types.d) return fail("tcgen05.mma accumulates in place: C is D");
    if (!has(kind.accumulators, types.d))
        return fail(fmt::format("kind::{} accumulates in {}, found {}", kind.name, names(kind.accumulators),
                                traits(types.d).name));
    if (kind.kind == Tcgen05Kind::f16 && types.d == f16 && (types.a != f16 || types.b != f16))
        return fail("kind::f16 accumulates in f16 only what is f16 itself, found bf16");
    return {};
}

std::string form(const Tcgen05KindTraits& kind, int cta_group, bool ws, bool sparse) {
    return fmt::format("tcgen05.mma{}{}.cta_group::{}.kind::{}", ws ? ".ws" : "", sparse ? ".sp" : "", cta_group,
                       kind.name);
}

Result<void> check_shape(const Tcgen05KindTraits& kind, Shape shape, int cta_group, bool ws, bool sparse) {
    const std::string name = form(kind, cta_group, ws, sparse);
    if (cta_group != 1 && cta_group != 2)
        return fail(fmt::format("expected cta_group::1 or ::2, found ::{}", cta_group));
    if (ws && !kind.weight_stationary) return fail(fmt::format("kind::{} has no .ws form", kind.name));
    if (ws && cta_group == 2) return fail(".ws has only cta_group::1");
    const bool k96 = shape.k == 96 && kind.k96 && !sparse;
    if (const int k = sparse ? 2 * kind.k : kind.k; shape.k != k && !k96)
        return fail(fmt::format("{} has k of {}{}, found {}", name, k, kind.k96 && !sparse ? " or 96" : "", shape.k),
                    shape.k == 96 ? "k of 96 is for dense mxf4 and mxf4nvf4, on sm_103a" : "");
    std::vector<int> rows = ws               ? std::vector{32, 64, 128}
                            : cta_group == 1 ? std::vector{64, 128}
                                             : std::vector{128, 256};
    if (kind.block_scaled) rows = cta_group == 1 ? std::vector{128} : sparse ? std::vector{256} : std::vector{128, 256};
    if (std::ranges::find(rows, shape.m) == rows.end())
        return fail(fmt::format("{} has m of {}, found {}", name, fmt::join(rows, " or "), shape.m));
    if (ws) {
        const std::vector<int> columns = sparse ? std::vector{64, 128} : std::vector{64, 128, 256};
        if (std::ranges::find(columns, shape.n) == columns.end())
            return fail(fmt::format("{} has n of {}, found {}", name, fmt::join(columns, " or "), shape.n));
        return {};
    }
    const bool integer = kind.kind == Tcgen05Kind::i8;
    const int step = cta_group == 1 && !k96 ? 8 : integer ? 32 : 16;
    const bool coarse = integer && cta_group == 1 && shape.n > 24 && shape.n % 16 != 0;
    if (shape.n < step || shape.n > 256 || shape.n % step != 0 || coarse)
        return fail(fmt::format("{} has no n of {}", name, shape.n),
                    integer && cta_group == 1 ? "n is 8, 16, 24, 32, then steps of 16 to 256"
                                              : fmt::format("n is {0} to 256 in steps of {0}", step));
    return {};
}

/// The manual's table of shapes (PTX ISA 9.7.16.2.1) has k of 96 for pairs of CTAs with m of 256; CUTLASS instantiates
/// more.
std::string_view evidence_of(Shape shape, int cta_group) {
    if (shape.k != 96 || (cta_group == 2 && shape.m == 256)) return "manual";
    return "CUTLASS (SM103_MXF4_ULTRA); the manual has k of 96 with m of 256 only";
}

DataPath path_of(int m, int cta_group, bool ws, bool sparse) {
    if (ws) return m == 32 ? DataPath::g : m == 64 ? DataPath::e : DataPath::d;
    if (cta_group == 1) return m == 64 ? DataPath::f : DataPath::d;
    return m == 256 ? DataPath::a : sparse ? DataPath::c : DataPath::b;
}

struct SparsityOf {
    Sparsity sparsity;
    int chunk;
};
SparsityOf sparsity_of(Tcgen05Kind kind) {
    switch (kind) {
        case Tcgen05Kind::tf32: return {Sparsity::one_of_two, 2};
        case Tcgen05Kind::mxf4:
        case Tcgen05Kind::mxf4nvf4: return {Sparsity::pairs_of_eight, 8};
        case Tcgen05Kind::f16:
        case Tcgen05Kind::f8f6f4:
        case Tcgen05Kind::i8:
        case Tcgen05Kind::mxf8f6f4: return {Sparsity::two_of_four, 4};
    }
    TILEPATH_ASSERT(false, "a kind that is none");
    return {};
}

}  // namespace

std::span<const Tcgen05KindTraits> all_tcgen05_kinds() {
    static const std::vector<Format> narrow{e4m3, e5m2, e2m3, e3m2, e2m1};
    // kind, name, inputs, accumulators, k, k of 96, container, scaled, .ws, transposes, negates
    static const std::vector<Tcgen05KindTraits> rows{
        {Tcgen05Kind::f16, "f16", {f16, bf16}, {f16, f32}, 16, false, 16, false, true, true, true},
        {Tcgen05Kind::tf32, "tf32", {tf32}, {f32}, 8, false, 32, false, true, true, true},
        {Tcgen05Kind::f8f6f4, "f8f6f4", narrow, {f16, f32}, 32, false, 8, false, true, true, true},
        {Tcgen05Kind::i8, "i8", {s8, u8}, {s32}, 32, false, 8, false, true, true, false},
        {Tcgen05Kind::mxf8f6f4, "mxf8f6f4", narrow, {f32}, 32, false, 8, true, false, true, true},
        {Tcgen05Kind::mxf4, "mxf4", {e2m1}, {f32}, 64, true, 4, true, false, false, true},
        {Tcgen05Kind::mxf4nvf4, "mxf4nvf4", {e2m1}, {f32}, 64, true, 4, true, false, false, true},
    };
    return rows;
}

const Tcgen05KindTraits& traits(Tcgen05Kind kind) { return all_tcgen05_kinds()[static_cast<std::size_t>(kind)]; }

std::optional<Tcgen05Kind> tcgen05_kind_named(std::string_view name) {
    for (const Tcgen05KindTraits& row : all_tcgen05_kinds())
        if (row.name == name) return row.kind;
    return std::nullopt;
}

char letter(DataPath path) { return static_cast<char>('A' + static_cast<int>(path)); }

Result<Tcgen05Mma> tcgen05_mma(Tcgen05Kind kind, Shape shape, MmaTypes types, int cta_group, bool ws, bool sparse) {
    const Tcgen05KindTraits& row = traits(kind);
    if (auto ok = check_types(row, types); !ok) return std::unexpected(ok.error());
    if (auto ok = check_shape(row, shape, cta_group, ws, sparse); !ok) return std::unexpected(ok.error());
    Tcgen05Mma atom;
    atom.name = fmt::format("{}.{}.{}.{}.{}", form(row, cta_group, ws, sparse), to_string(shape), traits(types.d).name,
                            traits(types.a).name, traits(types.b).name);
    atom.kind = kind;
    atom.shape = shape;
    atom.types = types;
    atom.cta_group = cta_group;
    atom.weight_stationary = ws;
    atom.sparse = sparse;
    atom.data_path = path_of(shape.m, cta_group, ws, sparse);
    atom.sparsity = sparsity_of(kind).sparsity;
    atom.chunk = sparsity_of(kind).chunk;
    atom.shape_evidence = evidence_of(shape, cta_group);
    atom.d = tensor_memory_d(atom.data_path, shape.m, shape.n, cta_group);
    atom.d_columns = shape.n / column_parts(atom.data_path);
    const int offset = row.container_bits == 8 && traits(types.a).bits == 4 ? 2 : 0;  // 00SEEM00
    atom.a_tensor_memory =
        tensor_memory_a(atom.data_path, shape.m, atom.stored_k(), row.container_bits, offset, cta_group);
    return atom;
}

Result<SharedTile> Tcgen05Mma::shared_a(OperandMajor major, layout::SwizzleMode swizzle) const {
    return shared_operand_tile(kind, types.a, major, swizzle, rows_per_cta(), stored_k());
}

Result<SharedTile> Tcgen05Mma::shared_b(OperandMajor major, layout::SwizzleMode swizzle) const {
    return shared_operand_tile(kind, types.b, major, swizzle, shape.n / cta_group, shape.k);
}

}  // namespace tilepath::atom
