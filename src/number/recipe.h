#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "number/fused_dot.h"

namespace tilepath::number {

/// Devices whose tensor cores compute alike.
enum class Generation : std::uint8_t {
    turing,        ///< sm_75
    ampere,        ///< sm_80, 86, 87, 88
    ada,           ///< sm_89
    hopper,        ///< sm_90
    blackwell,     ///< sm_100, 101, 103, 110: tcgen05
    blackwell_rtx  ///< sm_120, 121
};

/// From `sm_80`, `sm_90a`, `sm_103f`, …; the error names what exists.
Result<Generation> generation_of(std::string_view arch);
std::string_view name(Generation generation);
std::string_view name(Instruction instruction);  ///< `mma.sync`, `wgmma`, `tcgen05.mma`, `wmma`
Result<Instruction> instruction_named(std::string_view name);

/// What tells one instruction's arithmetic from another's.
struct DotRequest {
    Generation device = Generation::ampere;
    Instruction instruction = Instruction::mma_sync;
    Format a = Format::f16, b = Format::f16, d = Format::f32;
    Scaling scaling = Scaling::none;  ///< per_dot: kind mxf8f6f4; per_group: mxf4, mxf4nvf4
    Format scale = Format::ue8m0;
    int scale_block = 32;   ///< 32; 16 for the 4X forms of mxf4nvf4
    bool saturate = false;  ///< integers: .satfinite
    Rounding f64_rounding = Rounding::rn;
    bool exclusive_or = false;     ///< b1: .xor.popc in place of .and.popc
    bool separate_halves = false;  ///< FP8 mma.sync on sm_90 and sm_100 as CUDA 12.4 lowered it
    bool m8n8k4 = false;           ///< the Volta shape of f16, which no later tensor core executes
};

/// On what a row of the table rests.
enum class Evidence : std::uint8_t {
    manual,   ///< exact arithmetic, defined by the manual
    model,    ///< agrees with published models, or is inferred from a recorded neighbour
    hardware  ///< recorded on that generation, no difference
};
std::string_view name(Evidence evidence);

struct RecipeFound {
    DotRecipe recipe;
    Evidence evidence;
};

/// The row of the table for this request, or an error that names what that device and instruction have.
Result<RecipeFound> find_recipe(const DotRequest& request);
Result<DotRecipe> recipe(const DotRequest& request);

}  // namespace tilepath::number
