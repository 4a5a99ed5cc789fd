// A recipe in the kernels' terms, worked out once per engine.
#pragma once
#include <memory>

#include "number/engine_kernels.h"

namespace tilepath::number::engine {

struct Plan {
    enum class Kind : std::uint8_t { floats, integers, bits, fp4 } kind = Kind::floats;

    struct Operand {
        int block = 0;           ///< rows per block
        int bits = 0;            ///< per element as given
        int chunk_elements = 0;  ///< per 16 bytes
        int prepared_bits = 0;   ///< per element: value and exponent, a 16-bit integer, or the bit
        bool is_signed = false;
        FloatRule floats;
    };
    Operand a, b;
    int accumulator_bytes = 4;

    FusedRule fused;
    IntegerRule integers;
    Fp4Rule fp4;
    PrepareKernels prepare;
    FusedKernel multiply_fused = nullptr;
    IntegerKernel multiply_integers = nullptr;
    Fp4Kernel multiply_fp4 = nullptr;
};

/// Null where the scalar reference has to do: no kernel for the recipe, or no vectors in this CPU.
std::shared_ptr<const Plan> make_plan(const DotRecipe& recipe, bool half_zero);

}  // namespace tilepath::number::engine
