#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "atom/mma.h"
#include "atom/mma_sp.h"
#include "atom/scale_factors.h"
#include "atom/shared_operand.h"
#include "atom/tcgen05_words.h"

namespace tilepath::atom {

/// What a kind multiplies, and how its elements lie in memory and Tensor Memory. PTX ISA 9.7.16.2.1, 9.7.16.10.4.
struct Tcgen05KindTraits {
    Tcgen05Kind kind;
    std::string_view name;  ///< `f16`
    std::vector<number::Format> inputs;
    std::vector<number::Format> accumulators;
    int k;               ///< of a dense instruction; sparse ones have twice as many logical columns
    bool k96;            ///< on sm_103a a dense one may have k of 96 too
    int container_bits;  ///< that an element of A takes in Tensor Memory
    bool block_scaled;
    bool weight_stationary;  ///< has `.ws`
    bool transposes;         ///< A and B may be MN-major in shared memory
    bool negates;
};
const Tcgen05KindTraits& traits(Tcgen05Kind kind);
std::span<const Tcgen05KindTraits> all_tcgen05_kinds();
std::optional<Tcgen05Kind> tcgen05_kind_named(std::string_view name);

/// How the rows of A and D lie over the 128 lanes of Tensor Memory, as the manual letters it (PTX ISA 9.7.16.10.5). The
/// manual draws them; the maps are CuTe's (mma_traits_sm100.hpp) and TVM's (tmem_datapath_layout), which agree.
///
///   A  cta_group::2, M = 256            lane m, column n
///   B  cta_group::2, M = 128, dense     lane m + 64 (n ≥ N/2), column n mod N/2
///   C  cta_group::2, M = 128, sparse    lane 32 (m/16) + m mod 16, column n
///   D  cta_group::1, M = 128            lane m, column n
///   E  .ws, M = 64                      as B
///   F  M = 64                           as C
///   G  .ws, M = 32                      lane m + 32 (n / (N/4)), column n mod N/4
///
/// m counts the CTA's own rows: a pair of CTAs has the upper and the lower half.
enum class DataPath : std::uint8_t { a, b, c, d, e, f, g };
char letter(DataPath path);

/// Sparsity metadata in Tensor Memory, and on what the knowledge of it rests.
struct TmemMetadata {
    layout::Layout layout;  ///< (m, chunk) to cluster_ctarank, TLane, TCol, bit
    std::string_view evidence;
};

/// D = A B + D in Tensor Memory. PTX ISA 9.7.16.10; sm_100a, sm_103a, sm_110a and their families.
struct Tcgen05Mma {
    std::string name;  ///< `tcgen05.mma.cta_group::1.kind::f16.m128n256k16.f32.f16.f16`
    Tcgen05Kind kind = Tcgen05Kind::f16;
    Shape shape;  ///< of the pair's product for cta_group::2; k counts logical columns
    MmaTypes types;
    int cta_group = 1;
    bool weight_stationary = false, sparse = false;
    DataPath data_path = DataPath::d;
    Sparsity sparsity = Sparsity::two_of_four;
    int chunk = 4;                    ///< logical columns of A that four bits of metadata describe
    bool names_scale_vec = false;     ///< the name has .scale_vec::NX, which only specific targets take
    std::string_view shape_evidence;  ///< who has this shape
    int d_columns = 0;                ///< 32-bit columns of Tensor Memory that D takes in each CTA
    layout::Layout d;  ///< (m, n) to cluster_ctarank (of a pair), TLane, TCol; f16 in the lower half of a cell
    layout::Layout a_tensor_memory;  ///< (m, stored k) to cluster_ctarank, TLane, TCol, bit: A in Tensor Memory

    int stored_k() const { return sparse ? shape.k / 2 : shape.k; }
    int rows_per_cta() const { return shape.m / cta_group; }
    /// From a column on that is a multiple of four: the selector is the column's low bits for f16 and tf32, 0 for the
    /// others. PTX ISA 9.7.16.10.8.4; `evidence` says what it does not settle.
    Result<TmemMetadata> metadata(int selector) const;
    /// The columns of a chunk that its four bits select: mma.sp's, and 0b0110, which PTX ISA 9.7.16.10.8 lists too.
    std::optional<SelectedColumns> selected(unsigned metadata) const;
    /// The scale factors of A, or of B, or the rule that the choice breaks (PTX ISA 9.7.16.10.7.1).
    Result<ScaleFactors> scales(bool of_b, ScaleVector vector, int id) const;
    /// What .block_scale without a size means for this kind and k; 4X or 6X for mxf4nvf4, which must name one.
    ScaleVector default_scale_vector() const;
    /// What a CTA's descriptor of A or of B describes, of the tile that one instruction reads, packed as `shared_tile`
    /// packs.
    Result<SharedTile> shared_a(OperandMajor major, layout::SwizzleMode swizzle) const;
    Result<SharedTile> shared_b(OperandMajor major, layout::SwizzleMode swizzle) const;
};

/// The instruction, or the rule that it breaks. types.c is D's.
Result<Tcgen05Mma> tcgen05_mma(Tcgen05Kind kind, Shape shape, MmaTypes types, int cta_group,
                               bool weight_stationary = false, bool sparse = false);

}  // namespace tilepath::atom
