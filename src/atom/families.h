#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "atom/mma.h"

namespace tilepath::atom {

struct ShapeRule {
    Shape shape;
    int minimum_sm;
};

/// One class of operand types of mma.sync and mma.sp, and what it allows.
struct MmaFamily {
    std::string_view name;
    MmaKind kind;
    std::vector<number::Format> inputs;  ///< for A and for B
    bool mixed;                          ///< A and B may differ
    std::vector<number::Format> accumulators;
    std::vector<ShapeRule> dense, sparse;
};

/// PTX ISA 9.7.14.5 and 9.7.14.6; architectures as ptxas 13.0 has them.
const std::vector<MmaFamily>& mma_families();

/// The family of these types whose `shapes` (dense or sparse) hold `shape`, or the rule that they break. `instruction`
/// is what messages call it.
struct FamilyShape {
    const MmaFamily* family;
    const ShapeRule* rule;
};
Result<FamilyShape> find_family(std::string_view instruction, std::vector<ShapeRule> MmaFamily::*shapes, Shape shape,
                                MmaTypes types, MmaKind kind);

/// How the family's kind lays elements of a format in registers.
struct Packing;
Packing packing_of(number::Format format, MmaKind kind);

/// Whether A or B has floats of less than 8 bits.
bool has_narrow_floats(MmaTypes types);

/// Four independent products by four quads of lane pairs: f16 m8n8k4.
inline bool is_quad(Shape shape, number::Format a) { return shape == Shape{8, 8, 4} && a == number::Format::f16; }
/// Fills in its fragments; the other fields are set.
void set_quad_fragments(MmaAtom& atom);

/// `m16n8k16.row.col.f32.f16.f16.f32`, with the kind where there is one.
std::string mma_name(Shape shape, MmaTypes types, Major a_major, Major b_major, MmaKind kind);

}  // namespace tilepath::atom
