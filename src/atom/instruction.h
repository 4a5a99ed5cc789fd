#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "atom/ldmatrix.h"
#include "atom/mma.h"
#include "atom/mma_sp.h"
#include "atom/tcgen05_mma.h"
#include "atom/tmem_copy.h"
#include "atom/tmem_shift.h"
#include "atom/tmem_transfer.h"
#include "atom/wgmma.h"
#include "atom/wmma.h"
#include "base/result.h"

namespace tilepath::atom {

/// ldmatrix or stmatrix.
struct MatrixMove {
    MatrixTransfer transfer;
    bool store = false;
};

/// Any tensor instruction, found by name.
struct Instruction {
    std::string name;  ///< as PTX writes it; tcgen05.mma with the shape and types that its descriptor holds
    std::variant<MmaAtom, SparseMmaAtom, WmmaAtom, WgmmaAtom, MatrixMove, MatrixTranspose, Tcgen05Mma, TmemTransfer,
                 TmemCopy, TmemShift>
        atom;
    std::vector<std::string> others;  ///< what else the text may mean, if it leaves something open
};

/// `mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32`, or any part of it whose words come in that order: what is left
/// out is taken as f32 results, f16 elements, if there are such, and `others` names the rest. tcgen05.mma takes
/// `m128n256k16` and types too. CuTe's atom names are accepted as well: `SM80_16x8x16_F32F16F16F32_TN`. An error names
/// the rule that is broken.
Result<Instruction> instruction_named(std::string_view text);

/// The PTX name of CuTe's atom; nothing if the text does not look like one.
std::optional<std::string> ptx_name_of_cute(std::string_view atom);

/// The words between dots.
std::vector<std::string_view> words_of(std::string_view name);
/// `m16n8k16`.
std::optional<Shape> shape_named(std::string_view word);

}  // namespace tilepath::atom
