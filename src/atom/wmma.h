#pragma once
#include <string>
#include <vector>

#include "atom/fragment.h"
#include "atom/mma.h"

namespace tilepath::atom {

/// D = A B + C of wmma: larger tiles whose registers the manual calls opaque. As recorded on an H200
/// (tests/vectors/wmma_fragments.txt) they are mma.sync's fragments side by side, f16's A and B repeated to fill eight
/// registers. Neither `.row` nor `.col` of a load changes who holds which element. PTX ISA 9.7.14.4.
struct WmmaAtom {
    std::string name;  ///< `m16n16k16.f32.f16.f16.f32`
    Shape shape;
    MmaTypes types;
    bool row_col_only = false;  ///< sub-byte types: A must be .row and B .col
    int minimum_sm = 80;
    Fragment a, b, c, d;
};

Result<WmmaAtom> wmma(Shape shape, MmaTypes types);
std::vector<WmmaAtom> all_wmma();

}  // namespace tilepath::atom
