#pragma once
#include <optional>
#include <string>
#include <vector>

#include "atom/mma.h"
#include "atom/mma_sp.h"
#include "atom/shared_operand.h"

namespace tilepath::atom {

/// D = A B + D by a warpgroup: B in shared memory, A there or in registers, D in registers. PTX ISA 9.7.15; sm_90a
/// only.
struct WgmmaAtom {
    std::string name;  ///< `m64n128k16.f32.f16.f16`
    Shape shape;       ///< k counts logical columns; sparse A stores half of them
    MmaTypes types;    ///< c is d
    bool sparse = false;
    Sparsity sparsity = Sparsity::two_of_four;  ///< of a sparse one
    int chunk = 4, selectors = 1;               ///< as SparseMmaAtom's
    bool may_negate = true;                     ///< has imm-scale-a and -b
    bool may_transpose = false;                 ///< has tnsp-a and -b: operands in shared memory may be MN-major
    Fragment a;  ///< if A is in registers: 64 × k (k/2 if sparse), over wid_in_wg, laneid, reg, bit
    Fragment d;  ///< 64 × n

    /// (0, row, chunk) to wid_in_wg, laneid, bit of the metadata register.
    Fragment metadata(int selector) const;
};

Result<WgmmaAtom> wgmma(Shape shape, MmaTypes types, bool sparse = false);
/// Every legal one.
std::vector<WgmmaAtom> all_wgmma();

}  // namespace tilepath::atom
