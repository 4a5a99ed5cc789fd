#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "atom/fragment.h"
#include "atom/mma.h"

namespace tilepath::atom {

/// Which elements of a chunk of A's row are stored; a chunk is described by four bits of metadata.
enum class Sparsity : std::uint8_t {
    one_of_two,     ///< tf32: one of two elements
    two_of_four,    ///< 16- and 8-bit elements: two of four
    pairs_of_eight  ///< 4-bit elements: two pairs of four pairs
};

/// D = A B + C where A stores half of its columns and metadata names which. PTX ISA 9.7.14.6.
struct SparseMmaAtom {
    std::string name;
    Shape shape;  ///< k counts logical columns: A stores k / 2
    MmaTypes types;
    MmaKind kind = MmaKind::none;
    Sparsity sparsity = Sparsity::two_of_four;
    int chunk = 4;      ///< logical columns that four bits of metadata describe
    int selectors = 1;  ///< the sparsity selector runs from 0 to this less 1
    int minimum_sm = 80;
    bool ordered_metadata_only = false;  ///< only as mma.sp::ordered_metadata
    Fragment a;                          ///< m × k/2, the stored elements in order
    Fragment b, c, d;

    /// (0, row, chunk) to the four bits that describe it, in register 0 of the lanes that this selector makes
    /// contribute. Contents recorded on an H200 for every shape of f16, bf16, tf32 and integers.
    Fragment metadata(int selector) const;
};

Result<SparseMmaAtom> mma_sp(Shape shape, MmaTypes types, MmaKind kind = MmaKind::none);
std::vector<SparseMmaAtom> all_mma_sp();

/// The columns of a chunk whose elements A stores, in the order stored.
struct SelectedColumns {
    int count = 0;
    std::array<int, 4> columns{};
};
/// What four bits of metadata select; nothing for bits that the manual leaves undefined.
std::optional<SelectedColumns> selected_columns(Sparsity sparsity, unsigned metadata);

}  // namespace tilepath::atom
