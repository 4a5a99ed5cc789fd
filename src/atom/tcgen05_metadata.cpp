// Sparsity metadata and scale factors of tcgen05.mma in Tensor Memory.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "atom/tcgen05_paths.h"

namespace tilepath::atom {
namespace {

using layout::Axis;
using layout::Iter;
using layout::Mode;

constexpr std::string_view from_cute =
                               "CuTe's map (mma_traits_sm100_frag.hpp) and, for m of 128 and 256 and selectors 0 and "
                               "1, JAX's Mosaic GPU, whose "
                               "tests run on a B200",
                           from_lanes =
                               "inferred: metadata share the lanes of A and D (PTX ISA 9.7.16.10.8.5), rows in "
                               "CuTe's order; the manual draws 64 rows, its text does not tell",
                           from_field =
                               "inferred: CuTe adds bit 0 of the selector to the column; what 2 and 3 select the "
                               "manual draws, its text does not tell";

/// Which sizes of scale vectors a kind has; the first is .block_scale's own.
std::vector<ScaleVector> scale_vectors(Tcgen05Kind kind, bool k96) {
    switch (kind) {
        case Tcgen05Kind::mxf8f6f4: return {ScaleVector::x1};
        case Tcgen05Kind::mxf4: return {k96 ? ScaleVector::x3 : ScaleVector::x2};
        case Tcgen05Kind::mxf4nvf4:
            return k96 ? std::vector{ScaleVector::x6, ScaleVector::x3} : std::vector{ScaleVector::x4, ScaleVector::x2};
        case Tcgen05Kind::f16:
        case Tcgen05Kind::tf32:
        case Tcgen05Kind::f8f6f4:
        case Tcgen05Kind::i8: return {};
    }
    return {};
}

}  // namespace

Result<TmemMetadata> Tcgen05Mma::metadata(int selector) const {
    if (!sparse) return fail("a dense instruction has no metadata");
    const bool wide = kind == Tcgen05Kind::f16 || kind == Tcgen05Kind::tf32;
    if (selector < 0 || selector > (wide ? 3 : 0))
        return fail(fmt::format("kind::{} has a sparsity selector of {}, found {}", traits(kind).name,
                                wide ? "0 to 3" : "0", selector));
    const int rows = rows_per_cta(), chunks = shape.k / chunk;
    const bool half = rows < 128 && !weight_stationary;  // layouts C and F: 16 lanes of each warp's window
    const int next_sixteen = half ? 32 : 16;
    Mode row{{cta_group, 1, Axis::cluster_ctarank}}, column;
    if (wide) {  // lane m%8 + 16 (m/16) + 8 (chunk/4), bits 4 (chunk%4) + 16 ((m/8)%2)
        row.insert(row.end(), {{rows / 16, next_sixteen, Axis::tlane}, {2, 16, Axis::bit}, {8, 1, Axis::tlane}});
        column = {{chunks / 4, 8, Axis::tlane}, {4, 4, Axis::bit}};
    } else {
        row.insert(row.end(), {{rows / 16, next_sixteen, Axis::tlane}, {16, 1, Axis::tlane}});
        column = {{chunks / 8, 1, Axis::tcol}, {8, 4, Axis::bit}};
    }
    std::vector<Iter> copies;
    if (rows < 128 && !half) copies.push_back({128 / rows, rows, Axis::tlane});
    return TmemMetadata{
        tensor_memory_layout(std::move(row), std::move(column), std::move(copies), {selector, Axis::tcol}),
        half           ? from_lanes
        : selector > 1 ? from_field
                       : from_cute};
}

std::optional<SelectedColumns> Tcgen05Mma::selected(unsigned bits) const {
    if (sparsity == Sparsity::two_of_four && bits == 0b0110) return SelectedColumns{2, {2, 1}};
    return selected_columns(sparsity, bits);
}

ScaleVector Tcgen05Mma::default_scale_vector() const {
    const std::vector<ScaleVector> all = scale_vectors(kind, shape.k == 96);
    return all.empty() ? ScaleVector::x1 : all.front();
}

Result<ScaleFactors> Tcgen05Mma::scales(bool of_b, ScaleVector vector, int id) const {
    const std::vector<ScaleVector> all = scale_vectors(kind, shape.k == 96);
    if (all.empty()) return fail(fmt::format("kind::{} has no scale factors", traits(kind).name));
    if (std::ranges::find(all, vector) == all.end()) {
        std::vector<std::string_view> names;
        for (const ScaleVector each : all) names.push_back(atom::name(each));
        return fail(fmt::format("kind::{} with k of {} has scale vectors of {}, found {}", traits(kind).name, shape.k,
                                fmt::join(names, " or "), atom::name(vector)),
                    "3X and 6X are block32 and block16 with k of 96");
    }
    // B's factors are those of all of N in each CTA, filled up to 128 as CUTLASS allocates them.
    return scale_factors(vector, of_b ? (shape.n + 127) / 128 * 128 : rows_per_cta(), id,
                         of_b && data_path == DataPath::b);
}

}  // namespace tilepath::atom
