#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "atom/fragment.h"
#include "atom/mma_words.h"
#include "base/result.h"

namespace tilepath::atom {

struct Shape {
    int m = 0, n = 0, k = 0;

    friend bool operator==(const Shape&, const Shape&) = default;
};

/// `m16n8k16`.
std::string to_string(Shape shape);

/// In PTX's order.
struct MmaTypes {
    number::Format d, a, b, c;

    friend bool operator==(const MmaTypes&, const MmaTypes&) = default;
};

/// D = A B + C by one warp, everything in registers.
struct MmaAtom {
    std::string name;  ///< `m16n8k16.row.col.f32.f16.f16.f32`
    Shape shape;
    MmaTypes types;
    Major a_major = Major::row, b_major = Major::column;
    MmaKind kind = MmaKind::none;
    int blocks = 1;       ///< independent products: four for f16 m8n8k4, otherwise one
    int minimum_sm = 80;  ///< the first architecture that has it: 80 for sm_80. With a kind: that one's "a" target
    Fragment a, b, c, d;
};

/// The dense mma.sync of that shape and those types, or the rule that it breaks. PTX ISA 9.7.14.5.
Result<MmaAtom> mma_sync(Shape shape, MmaTypes types, Major a_major = Major::row, Major b_major = Major::column,
                         MmaKind kind = MmaKind::none);

/// `kind::mxf4`; none for the empty word.
std::optional<MmaKind> mma_kind_named(std::string_view word);
/// Of kinds that scale blocks.
inline bool is_block_scaled(MmaKind kind) { return kind != MmaKind::none && kind != MmaKind::f8f6f4; }

/// Every legal dense mma.sync, for tables and tests.
std::vector<MmaAtom> all_mma_sync();

}  // namespace tilepath::atom
